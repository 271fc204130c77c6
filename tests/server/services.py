"""A service whose state holds everything that its pages show, with names that are meant to break them."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp

from bot.evaluation.row_key import key_of
from bot.evaluation.submission import UnreadPath, parse_submission
from bot.platforms.platform import Access
from bot.publishing.plan import Plan, PlannedRow
from bot.server.app import make_app, make_pages
from bot.server.service import Service
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.boards import StoredBoard
from bot.service.store.engine import connect
from bot.service.store.items import Item, Mark
from bot.service.store.memory import SOURCE, SourceRead
from bot.service.store.sources import StoredSubmission
from bot.service.store.state import Store, WatchState
from tests.evaluation.judging import EXAMPLES, declared
from tests.pages.boards import HOSTILE, generated, hostile

NOW = 1_775_000_000.0
TARGET = "hf://datasets/acme/contents"
SETTINGS = f"""
[[watches]]
name = "open-llm"
leaderboard = "open-llm-v2"
source = "hf://datasets/acme/results"
targets = [{{ to = "{TARGET}" }}]
[[watches]]
name = "second.one"
leaderboard = "open-llm-v2"
source = "hf://datasets/acme/more"
targets = [{{ to = "{TARGET}" }}]
"""


def make_service(folder: Path) -> Service:
    """A service that was never started, on a state with two watches, of which one holds nothing."""
    settings = parse_settings(SETTINGS, "bot.toml")
    store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
    service = Service(ContextFactory(Access(), store, folder), settings.watches, CollectorRegistry(), clock=lambda: NOW)
    store.of("open-llm").submissions.keep([*read_examples(), *unread()])
    store.of("open-llm").remember(SOURCE, SourceRead("c" * 40))
    fill_items(store.of("open-llm"))
    store.of("open-llm").add_outcomes([("rejected", name, f"{name}\n<script>alert(3)</script>") for name in HOSTILE])
    rows = tuple(PlannedRow(f"k{i}", name, "removed", 50.0, None, name) for i, name in enumerate(HOSTILE))
    plan = Plan(TARGET, "open-llm-v2", rows, 3)
    store.of("open-llm").plans.hold(plan)
    board = StoredBoard("h" * 40, "open-llm-v2", declared().text)
    store.of("open-llm").boards.keep(TARGET, board, [*hostile(), *generated(4)], "2026-03-01T00:00:00Z")
    state = service.states["open-llm"]
    state.settled = state.reached = NOW - 60
    state.heard = NOW - 3700
    return service


def read_examples() -> list[StoredSubmission]:
    """The example files as they were read: one of them is rejected."""
    found = []
    for number, file in enumerate(EXAMPLES):
        path = f"{file.parent.name}/{file.name}"
        parsed = parse_submission(path, {"": file.read_bytes()})
        status = "rejected" if "harrier" in path else "accepted"
        key = key_of("open-llm-v2", parsed.result.model).text if parsed.result else None
        why = "limited-run" if status == "rejected" else ""
        stamps = ("0" * 40, "c" * 40, NOW - number)
        found.append(StoredSubmission(path, key, status, *stamps, parsed, why))
    return found


def unread() -> list[StoredSubmission]:
    """Files that are no results, with the names of strangers."""
    names = [f"evil{i}/{name.replace('/', '_')[:150]}.json" for i, name in enumerate(HOSTILE)]
    content = "is a <b>sample log</b>"
    return [
        StoredSubmission(name, None, "unread", "0" * 40, "c" * 40, None, UnreadPath(name, "samples", content))
        for name in names
    ]


def fill_items(state: WatchState) -> None:
    """Items that wait, that failed, and that are held."""
    state.items.mark([Mark("row", f"open-llm-v2/{name}", TARGET) for name in HOSTILE], NOW - 90)
    state.items.mark([Mark("board", "", TARGET), Mark("file", "held.json")], NOW - 7200)
    found = state.items.all()
    for one in found:
        if one.kind == "row":
            state.items.fail(one, f"403 {one.subject} <img src=x onerror=alert(4)>", NOW + 120)
    state.items.hold([one for one in found if one.kind == "file"], "waits for the approval of a plan")


def item(service: Service, kind: str) -> Item:
    """The first item of a kind."""
    return next(one for one in service.contexts.store.of("open-llm").items.all() if one.kind == kind)


def make_web(service: Service, token: str | None = None, bound_to: str = "127.0.0.1") -> ASGIApp:
    """The application of a service."""
    pages = make_pages(service, token, bound_to)
    return make_app(service, secret=None, registry=CollectorRegistry(), pages=pages)
