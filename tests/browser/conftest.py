"""A real Chromium, boards served on loopback as a static host serves them, and what went wrong on each page.

The browser is LEADERBOARD_BOT_BROWSER, or the one that `make browser` unpacks. Where there is none these tests are
skipped, but where CI is set they fail.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from socket import socket
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
import uvicorn

from bot.pages.environment import POLICY
from bot.pages.write import write_site
from bot.server.service import Service
from tests.pages.boards import examples, generated, hostile, site_of, sized, varied
from tests.server.services import make_service, make_web
from tests.world.loopback import LoopbackServer

if TYPE_CHECKING:  # comes with `make browser`
    from playwright.sync_api import Browser, BrowserType, Page

HERE = Path(__file__).parent
UNPACKED = HERE / ".chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def is_absent(what: str) -> NoReturn:
    """Skip the test, or fail it where CI is set."""
    why = f"there is no {what}; make browser gets it"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def launch(kind: BrowserType, *flags: str) -> Browser:
    """Start the browser, with more flags than the usual ones."""
    path = Path(os.environ.get("LEADERBOARD_BOT_BROWSER") or UNPACKED / "chromium")
    listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    libraries = {"LD_LIBRARY_PATH": str(UNPACKED / "al2023" / "lib")} if "not found" in listed else {}
    return kind.launch(executable_path=path, args=[*FLAGS, *flags], env={**os.environ, **libraries})


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = Path(os.environ.get("LEADERBOARD_BOT_BROWSER") or UNPACKED / "chromium")
    if not path.exists():
        is_absent(f"browser at {path}")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        is_absent("playwright")
    with sync_playwright() as driver:
        started = launch(driver.chromium)
        yield started
        started.close()


@dataclass
class Watched:
    """A page, and what must not happen on it: requests to elsewhere, errors, dialogs, complaints on the console."""

    page: Page
    origin: str
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(120_000)  # milliseconds; a busy machine may take longer than the usual 30 s
        self.page.on("console", lambda said: self.faults.append(f"console: {said.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        self.page.on("requestfailed", self._note_failed)
        self.page.on("request", self._look)

    def _note_failed(self, request: Any) -> None:
        # A page that is left takes its running look for news with it.
        if request.resource_type != "fetch" or request.failure != "net::ERR_ABORTED":
            self.faults.append(f"failed: {request.url}")

    def _look(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.faults.append(f"request: {request.url}")

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.origin}/{path}")
        return self.page


class Handler(SimpleHTTPRequestHandler):
    """A static host that sends the policy as the service does, and logs nothing."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Sites as folders: the example rows, 200 made ones, hostile and varied ones, and some with sizes."""
    root = tmp_path_factory.mktemp("sites")
    rows = {
        "examples": examples(),
        "generated": generated(200),
        "hostile": (*hostile(), *generated(4)),
        "varied": varied(),
    }
    for name, entries in rows.items():
        write_site(site_of(entries), root / name)
    write_site(sized(), root / "sized")
    write_site(sized(9), root / "half-sized")
    return {name: root / name for name in (*rows, "sized", "half-sized")}


@pytest.fixture(scope="session")
def served(folders: dict[str, Path]) -> Iterator[str]:
    """The address below which the sites stand."""
    root = next(iter(folders.values())).parent
    server = LoopbackServer(("127.0.0.1", 0), partial(Handler, directory=str(root)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose state holds hostile names everywhere."""
    made = make_service(tmp_path_factory.mktemp("service"))
    yield made
    made.contexts.store.close()


@pytest.fixture(scope="session")
def live(service: Service) -> Iterator[str]:
    """The address of that service."""
    config = uvicorn.Config(make_web(service), port=0, log_config=None, access_log=False, ws="none", lifespan="off")
    server = uvicorn.Server(config)
    with socket() as bound:
        bound.bind(("127.0.0.1", 0))
        thread = Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        server.should_exit = True
        thread.join(10)


Opener = Callable[..., Watched]


@pytest.fixture
def watch(browser: Browser, served: str, live: str, folders: dict[str, Path]) -> Iterator[Opener]:
    """Open pages of a site, or of the service; the test fails where anything happened that must not."""
    opened: list[Watched] = []

    def start(site: str = "examples", *, disk: bool = False, width: int = 1280, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        origin = live if site == "service" else f"file://{folders[site]}" if disk else f"{served}/{site}"
        opened.append(Watched(context.new_page(), origin))
        return opened[-1]

    yield start
    for one in opened:
        one.page.context.close()
        assert one.faults == []
