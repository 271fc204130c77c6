"""Take the pictures of the README and the tour from the running program: `make browser && python docs/pictures.py`.

They show the board of the tour, a request as a local GitHub has it, and a service that watches a local repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from markupsafe import Markup  # noqa: E402 - the folders above are found first
from playwright.sync_api import Page, sync_playwright  # noqa: E402 - the same
from prometheus_client import CollectorRegistry  # noqa: E402 - the same
from site_pages import as_html, environment  # noqa: E402 - the same
from starlette.testclient import TestClient  # noqa: E402 - the same

from bot.pages.addresses import row_page  # noqa: E402 - the same
from bot.pages.environment import asset  # noqa: E402 - the same
from bot.pages.write import write_site  # noqa: E402 - the same
from bot.platforms.platform import Access, Opener  # noqa: E402 - the same
from bot.server.app import make_app, make_pages  # noqa: E402 - the same
from bot.server.service import Service  # noqa: E402 - the same
from bot.service.context import ContextFactory  # noqa: E402 - the same
from bot.service.publish.one_call import publish  # noqa: E402 - the same
from bot.service.settings.config import parse_settings  # noqa: E402 - the same
from bot.service.store.engine import connect  # noqa: E402 - the same
from bot.service.store.items import Mark  # noqa: E402 - the same
from bot.service.store.state import Store  # noqa: E402 - the same
from examples.make_results import make_result  # noqa: E402 - the same
from tests.browser.conftest import FLAGS, UNPACKED  # noqa: E402 - the same
from tests.evaluation.judging import entry_from  # noqa: E402 - the same
from tests.pages.boards import examples, site_of  # noqa: E402 - the same
from tests.world.github_server import local_github  # noqa: E402 - the same

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 600}
SETTINGS = """
[[watches]]
name = "open-llm"
leaderboard = "open-llm-v2"
source = "results"
targets = [{ to = "board", as = "commit" }]
"""
WHY = {
    "example-org/heron-3b": "GitHub could not be reached: github://acme/leaderboard: 502: Bad Gateway",
    "example-org/plover-1b": "the Hub could not be reached: 429: Too Many Requests (it asks to wait 240 s)",
}
REQUEST = """{% extends "shell.html" %}{% block title %}Request{% endblock %}
{% block main %}<h1>{{ title }} <small>#1</small></h1>{{ body }}{% endblock %}"""


@contextmanager
def browsing() -> Iterator[Page]:
    """A page of the browser that the tests use."""
    executable = os.environ.get("LEADERBOARD_BOT_BROWSER") or UNPACKED / "chromium"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser.new_page(viewport=SIZE, locale="en-US", reduced_motion="reduce")
        browser.close()


def take(page: Page, name: str, address: str, part: str = "header") -> None:
    """Take one picture, from a part of the page on."""
    page.goto(address)
    page.locator(part).first.evaluate("part => part.scrollIntoView()")
    page.screenshot(path=PICTURES / f"{name}.png")


def take_board(page: Page, folder: Path) -> None:
    """The board, a row, and two rows compared."""
    strengths = Random(1)  # noqa: S311 - drawn numbers, no secret
    made = [entry_from(make_result(f"example-org/model-{i:02}", strengths.uniform(0.05, 0.8))) for i in range(30)]
    site = site_of((*examples(), *made))
    kestrel, osprey = (next(name for name in site.content.rows if word in name) for word in ("kestrel", "osprey"))
    write_site(site, folder / "site")
    take(page, "board", f"file://{folder}/site/index.html")
    take(page, "row", f"file://{folder}/site/{row_page(kestrel)}")
    take(page, "compare", f"file://{folder}/site/compare.html?rows={osprey},{kestrel}")


def take_request(page: Page, folder: Path) -> None:
    """A pull request, with the text that a local GitHub was sent."""
    with local_github() as server:
        server.state.add_repo("acme/leaderboard", {"README.md": b"# Leaderboard"})
        server.state.add_account("bot-token", "leaderboard-bot")
        target = Opener(Access(github_token="bot-token", github_api_url=server.url)).target("github://acme/leaderboard")  # noqa: S106 - of the local one
        publish([one for one in examples() if "kestrel" in one.model.id], target, "pull-request")
        (request,) = server.state.repos["acme/leaderboard"].pulls()
    style, data = asset("site.css")
    (folder / style).write_bytes(data)
    values = {"title": request.title, "body": Markup(as_html(request.body)), "root": "", "style": style, "stamp": ""}  # noqa: S704 - the text of the bot
    text = environment().from_string(REQUEST).render(**values)
    (folder / "request.html").write_text(text, encoding="utf-8")
    take(page, "request", f"file://{folder}/request.html")


def take_service(page: Page, folder: Path) -> None:
    """The pages of a service that has settled the example files once."""
    shutil.copytree(ROOT / "examples" / "results", folder / "results")
    who = ("-c", "user.name=you", "-c", "user.email=you@localhost")
    for words in (("init", "--quiet", "--initial-branch=main"), ("add", "."), (*who, "commit", "--quiet", "-m", "Add")):
        subprocess.run(["git", *words], cwd=folder / "results", check=True)
    settings = parse_settings(SETTINGS, "bot.toml")
    store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
    service = Service(ContextFactory(Access(), store, folder), settings.watches, CollectorRegistry())
    service.settle(settings.watches[0])
    now = service.clock()
    store.of("open-llm").items.mark([Mark("row", f"open-llm-v2/{name}", "board") for name in WHY], now - 400)
    for item, why in zip(store.of("open-llm").items.all(), WHY.values(), strict=True):
        store.of("open-llm").items.fail(item, why, now + 240)
    pages = make_pages(service, None, "127.0.0.1")
    web = TestClient(make_app(service, secret=None, registry=CollectorRegistry(), pages=pages))
    for name, path in (("service", "/"), ("items", "/items")):
        (folder / f"{name}.html").write_bytes(web.get(path).content)
        take(page, name, f"file://{folder}/{name}.html")
    store.close()


def main() -> None:
    """Take all of them."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made, browsing() as page:
        for take_some in (take_board, take_request, take_service):
            take_some(page, Path(made))


if __name__ == "__main__":
    main()
