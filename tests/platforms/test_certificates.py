"""A private authority's certificates are named by one variable, for every client."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bot.errors import CallError
from bot.platforms.github.client import GitHubClient
from tests.world.loopback import LoopbackServer

CALLS = """
import sys
from bot.platforms.github.client import GitHubClient
from bot.platforms.hub.client import install_client_factory
from bot.platforms.git import program
from huggingface_hub.utils import get_session

url = sys.argv[1]
assert GitHubClient("token", url).get("/repos/acme/board")["name"] == "board"
install_client_factory()
assert get_session().get(f"{url}/api/datasets/acme/board").json() == {"name": "board"}
with program.start("ls-remote", f"{url}/acme/board", git_dir=None, protocol="https") as process:
    sys.exit(process.wait())
"""


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_git = "info/refs" in self.path
        body = b"" if is_git else b'{"name": "board"}'
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if is_git else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def make_certificate(path: Path) -> None:
    """A certificate of 127.0.0.1 that only itself vouches for, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    certificate = tmp_path / "own.pem"
    make_certificate(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = LoopbackServer(("127.0.0.1", 0), Answers)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_address[1]}", certificate
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("is_named", [True, False])
def test_every_client_takes_the_certificates_that_one_variable_names(
    served: tuple[str, Path], *, is_named: bool
) -> None:
    url, certificate = served
    told = {name: value for name, value in os.environ.items() if not name.startswith(("SSL_", "REQUESTS_", "GIT_"))}
    told |= {"SSL_CERT_FILE": str(certificate)} if is_named else {}

    done = subprocess.run([sys.executable, "-c", CALLS, url], env=told, capture_output=True, text=True, check=False)

    assert (done.returncode == 0) is is_named, done.stderr
    assert ("CERTIFICATE_VERIFY_FAILED" in done.stderr) is not is_named


def test_a_variable_that_names_no_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/none")
    with pytest.raises(CallError, match="SSL_CERT_FILE names no certificates: there is no file /none"):
        GitHubClient("token", "http://127.0.0.1:1").get("/repos/acme/board")
