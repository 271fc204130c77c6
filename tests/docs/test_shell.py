"""The `sh` blocks of the pages: each is run as a reader would run it, on the local Hub, or named with the reason."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from tests.docs.test_docs import PAGES
from tests.evaluation.judging import ROOT
from tests.platforms.git.test_source import Folder
from tests.server.test_service import SECRET, answers, environment, wait_for
from tests.service.test_local_loop import branches
from tests.world.hub import Hub
from tests.world.postgres import Cluster

BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent
RESULTS = ROOT / "examples" / "results"
# The first word of a block that is run, or that no test can run, and where.
KNOWN = {
    "pip install 'leaderboard-bot @": "`make release-check`, from a clone",
    "#!/bin/sh": "test_reference.py, as an extension of `hf`",
    "curl -fsS": "tests/service/test_local_loop.py, as a hook",
    "docker build": "nowhere: it takes Docker, and tests/server/test_image.py takes the steps of the image",
    "hf jobs": "nowhere: it takes a computer of the Hub, and test_clients.py asks the client for the options",
    "pip install '.[server]'": "here",
    "git clone": "here",
    "leaderboard-bot serve": "here",
    "PATH=/opt": "here",
}


def blocks(page: Path) -> list[str]:
    return [dedent(text) for text in BLOCK.findall(page.read_text(encoding="utf-8"))]


def block_of_deploying(start: str) -> str:
    [text] = [one for one in blocks(ROOT / "docs" / "deploy.md") if one.startswith(start)]
    return text


def test_every_block_is_run_or_named() -> None:
    found = [text for page in PAGES if ".github" not in page.parts for text in blocks(page)]
    unknown = [text for text in found if not text.startswith(tuple(KNOWN))]
    assert len(found) >= len(KNOWN)
    assert unknown == []


@contextmanager
def started(words: str, folder: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command of a page that runs until it is stopped."""
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(["sh", "-c", f"exec {words}"], cwd=folder, env=environ, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(120)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sh(words: str, folder: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(["sh", "-c", words], cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"$ {words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_steps_on_a_machine_end_with_a_doctor_who_is_content(hub: Hub, sockets: None, tmp_path: Path) -> None:
    """In place of the questions of `init` stand options, and the address is that of the local service."""
    results = hub.repository("acme/results")
    hub.push(results, {path.relative_to(RESULTS).as_posix(): path.read_bytes() for path in RESULTS.rglob("*.json")})
    hub.repository("acme/board")
    hub.writers.add(("bot", "acme/board"))
    port = free_port()
    environ = environment(hub) | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    _, init, dry_run, serve, create, doctor = block_of_deploying("pip install '.[server]'").splitlines()
    asked = "--like open-llm-v2 --source hf://datasets/acme/results --to hf://datasets/acme/board"

    sh(f"{init.partition('#')[0]} {asked} --title Ours --description Small.", tmp_path, environ)
    assert "3 added" in sh(dry_run, tmp_path, environ)
    secrets, _, command = serve.partition("leaderboard-bot ")
    assert secrets.split() == ["WEBHOOK_SECRET=…", "HF_TOKEN=…"]
    assert environ["WEBHOOK_SECRET"] == SECRET
    command = command.replace("--host 0.0.0.0 --port 7860", f"--port {port}")
    with started(f"leaderboard-bot {command}", tmp_path, environ):
        wait_for(lambda: answers(f"http://127.0.0.1:{port}/healthz"))
        sh(create.replace("https://your.host", f"http://127.0.0.1:{port}"), tmp_path, environ)
        said = sh(doctor, tmp_path, environ)
    assert "✗" not in said


@pytest.mark.slow
def test_the_steps_for_a_space_fill_it_with_what_its_image_copies(tmp_path: Path) -> None:
    Folder(tmp_path / "space").push({"README.md": b"of the Hub"})
    (tmp_path / "leaderboard-bot").mkdir()
    for name in ("Dockerfile", "requirements-image.txt", "LICENSE", "bot.example.toml"):
        shutil.copy(ROOT / name, tmp_path / "leaderboard-bot")
    for name in ("bot", "docs"):
        shutil.copytree(ROOT / name, tmp_path / "leaderboard-bot" / name, ignore=shutil.ignore_patterns("*.pyc"))
    environ = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    sh("leaderboard-bot init ours --like open-llm-v2 --source results --to board", tmp_path, environ)
    clone, *copies = block_of_deploying("git clone").splitlines()

    assert re.findall(r"git clone \S+/(\S+)", clone) == ["leaderboard-bot", "<space>"]
    for line in copies:
        sh(line, tmp_path, environ)

    image = (tmp_path / "space" / "Dockerfile").read_text(encoding="utf-8")
    copied = [word for line in re.findall(r"^COPY (.*) \S+$", image, re.MULTILINE) for word in line.split()]
    assert copied
    assert [name for name in copied if not list((tmp_path / "space").glob(name))] == []
    assert "sdk: docker" in (tmp_path / "space" / "README.md").read_text(encoding="utf-8")


def settings(folder: Path, environ: dict[str, str]) -> None:
    """A watch of the examples in the folder, as `init` writes it."""
    shutil.copytree(RESULTS, folder / "results")
    Folder(folder / "results").push({})
    sh("leaderboard-bot init --like open-llm-v2 --source results --to board", folder, environ)


@pytest.mark.slow
def test_the_line_of_cron_settles_without_a_word(tmp_path: Path) -> None:
    path, line = block_of_deploying("PATH=/opt").splitlines()
    path = path.replace("/opt/leaderboard-bot/bin", str(BIN))
    settings(tmp_path, {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"})
    (tmp_path / "environment").write_text("LOG_FORMAT=json\n")
    command = line.split(maxsplit=5)[5].replace("/srv/leaderboard-bot", str(tmp_path))
    environ = {"HOME": str(tmp_path), "PATH": path.removeprefix("PATH=")}

    assert sh(command, tmp_path, environ) == ""
    assert len(branches(tmp_path / "board")) == 3


@pytest.mark.slow
def test_many_processes_share_a_state(postgres: Cluster, tmp_path: Path) -> None:
    serve, work = (line.partition("#")[0] for line in block_of_deploying("leaderboard-bot serve").splitlines())
    environ = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    environ |= {"DATABASE_URL": postgres.database(), "WEBHOOK_SECRET": SECRET}
    settings(tmp_path, environ)
    port = free_port()
    with (
        started(f"{serve} --port {port}", tmp_path, environ) as server,
        started(work, tmp_path, environ) as worker,
    ):
        wait_for(lambda: len(branches(tmp_path / "board")) == 3)
        assert (server.poll(), worker.poll()) == (None, None)
