"""The API: every answer has the fields of its type, paged without a gap, with an ETag; wrong calls are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec import defstruct
from starlette.routing import Route
from starlette.testclient import TestClient

from bot.publishing.board import records
from bot.publishing.entry import Entry
from bot.publishing.plan import PlannedRow
from bot.server.app import make_pages
from bot.server.service import Service
from bot.server.views import ItemView, PlanView, SubmissionView, VerdictView, WatchView
from tests.pages.boards import HOSTILE, board_of_rows, generated, hostile
from tests.server.services import make_service, make_web, read_examples

WATCH = "/api/v1/watches/open-llm"
Following = ("next", str | None)
WatchList = defstruct(
    "WatchList",
    [("status", str), ("refused_settings", str), ("watches", list[WatchView]), ("budgets", dict[str, float])],
)
BoardView = defstruct(
    "BoardView",
    [
        *((name, str) for name in ("watch", "target", "leaderboard", "head")),
        ("count", int),
        ("rows", list[dict[str, str | int | float | bool | None]]),
        Following,
    ],
)
RowList = defstruct("RowList", [("count", int), ("rows", list[Entry]), Following])
SubmissionList = defstruct("SubmissionList", [("submissions", list[SubmissionView]), Following])
ItemList = defstruct("ItemList", [("items", list[ItemView]), Following])
PlanList = defstruct("PlanList", [("plans", list[PlanView])])
PlannedRowList = defstruct("PlannedRowList", [("plan", PlanView), ("rows", list[PlannedRow]), Following])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = make_service(tmp_path_factory.mktemp("api"))
    yield made
    made.contexts.store.close()


@pytest.fixture(scope="module")
def web(service: Service) -> TestClient:
    return TestClient(make_web(service), base_url="http://localhost")


def answers(service: Service) -> dict[str, tuple[str, type, tuple[str, ...]]]:
    """For each route an address, the type of its answer, and the parameters that can be wrong."""
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    key, path = quote(generated(4)[0].key), quote(read_examples()[0].path)
    watch = "/api/v1/watches/{watch}"
    return {
        "/api/v1/watches": ("/api/v1/watches", WatchList, ()),
        "/api/v1/plans": ("/api/v1/plans", PlanList, ()),
        f"{watch}/board": (f"{WATCH}/board?limit=3", BoardView, ("first", "limit")),
        f"{watch}/rows": (f"{WATCH}/rows?limit=2", RowList, ("first", "limit")),
        f"{watch}/rows/{{key:path}}": (f"{WATCH}/rows/{key}", Entry, ()),
        f"{watch}/submissions": (f"{WATCH}/submissions?limit=2&q=json", SubmissionList, ("status", "limit")),
        f"{watch}/submissions/{{path:path}}": (f"{WATCH}/submissions/{path}", VerdictView, ()),
        f"{watch}/items": (f"{WATCH}/items?state=failing&limit=1", ItemList, ("state", "after", "limit")),
        f"{watch}/plans/{{digest}}": (f"{WATCH}/plans/{plan.digest}?limit=4", PlannedRowList, ("first", "limit")),
    }


def test_every_answer_has_the_fields_of_its_type_and_a_wrong_parameter_is_told(
    service: Service, web: TestClient
) -> None:
    routes = [route for route in make_pages(service, None, "127.0.0.1") if isinstance(route, Route)]
    assert {route.path for route in routes if route.path.startswith("/api/")} == set(answers(service))
    for address, of, parameters in answers(service).values():
        answer = web.get(address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json"), address
        assert msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(answer.content, type=of))) == answer.json()
        assert web.get(address, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
        for name in parameters:
            refused = web.get(address.partition("?")[0], params={name: "wrong"})
            assert (refused.status_code, list(refused.json())) == (400, ["error"]), (address, name)


def pages_of(web: TestClient, address: str, name: str) -> list[Any]:
    found, base = [], address.partition("?")[0]
    while address:
        answer = web.get(address).json()
        found += answer[name]
        address = f"{base}{answer['next']}" if answer["next"] else ""
    return found


def test_pages_follow_each_other_without_a_gap(service: Service, web: TestClient) -> None:
    board = board_of_rows((*hostile(), *generated(4)))
    assert pages_of(web, f"{WATCH}/board?limit=5", "rows") == records(board)
    assert [row["key"] for row in pages_of(web, f"{WATCH}/rows?limit=1", "rows")] == [
        row.entry.key for row in board.rows
    ]
    paths = [one["path"] for one in pages_of(web, f"{WATCH}/submissions?limit=2", "submissions")]
    assert len(paths) == len(set(paths)) == 13
    items = pages_of(web, f"{WATCH}/items?state=failing&limit=3", "items")
    assert len(items) == len(HOSTILE)
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    assert len(pages_of(web, f"{WATCH}/plans/{plan.digest}?limit=3", "rows")) == len(HOSTILE)


@pytest.mark.parametrize(
    "address",
    [
        "/api/v1/watches/none/board",
        "/api/v1/watches/none/items",
        "/api/v1/watches/none/submissions",
        "/api/v1/watches/second.one/board",
        f"{WATCH}/rows/absent",
        f"{WATCH}/submissions/absent",
        f"{WATCH}/plans/absent",
    ],
)
def test_what_is_not_there_is_404_with_a_reason(web: TestClient, address: str) -> None:
    answer = web.get(address)
    assert answer.status_code == 404
    assert answer.json() == {"error": "not found"}


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=²", "first=x", "first=99999999999999", "limit="])
def test_a_wrong_number_is_told(web: TestClient, query: str) -> None:
    assert web.get(f"{WATCH}/board?{query}").status_code == 400


def test_whole_entries_come_few_at_a_time(web: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.server.api.MOST_ENTRIES", 3)
    answer = web.get(f"{WATCH}/rows?limit=1000").json()
    assert len(answer["rows"]) == 3
    assert len(pages_of(web, f"{WATCH}/rows?limit=1000", "rows")) == answer["count"] == len(HOSTILE) + 4


def test_nothing_can_be_posted(web: TestClient) -> None:
    assert web.post(f"{WATCH}/board").status_code == 405
