"""Boards as the service shows them: the bytes of the site, no request of a visitor's, and comparing without script."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from bot.errors import StateUnavailable
from bot.pages.addresses import row_page
from bot.pages.environment import POLICY
from bot.pages.site import Site
from bot.publishing.board import TIE
from bot.server.app import make_app
from bot.server.boards import BoardCache, board_routes
from bot.service.publish.boards import board_content
from bot.service.store.boards import Boards
from tests.pages.boards import found
from tests.server.test_server import Taken
from tests.service.stories import Story
from tests.service.test_service_boards import wait_until
from tests.world.hub import Hub
from tests.world.results import path_of
from tests.world.server import served

MODELS = ("acme/atlas-7b", "acme/bison-7b")


@contextmanager
def board_of_two(hub: Hub, folder: Path) -> Iterator[Story]:
    story = Story(hub, folder, form="commit")
    for model in MODELS:
        story.push(model=model, path=path_of(model))
    story.settle()
    yield story
    story.contexts.store.close()


def web_of(story: Story) -> TestClient:
    boards = BoardCache(story.contexts.store, lambda: [story.watch])
    app = make_app(Taken(), secret=None, registry=CollectorRegistry(), pages=board_routes(boards))
    return TestClient(app)


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    with board_of_two(hub, tmp_path) as story:
        yield story


@pytest.fixture
def web(story: Story) -> TestClient:
    return web_of(story)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The board for tests that only read."""
    with served(Hub(), is_direct=True) as hub, board_of_two(hub, tmp_path_factory.mktemp("board")) as story:
        yield web_of(story)


def site_kept(story: Story) -> Site:
    store, target = story.contexts.store, story.watch.targets[0].to
    kept = store.of("tiny").boards.at(target)
    assert kept is not None
    return Site(board_content(store.of("tiny"), target, kept, story.watch.source))


def test_every_file_has_the_bytes_of_the_site_and_says_what_it_is(story: Story, web: TestClient) -> None:
    site = site_kept(story)
    assert len(site.content.rows) == 2
    for path in site:
        if path == "compare.html":
            continue
        answer = web.get(f"/board/tiny/{path}")
        assert (answer.status_code, answer.content) == (200, site[path]), path
    assert web.get("/board/tiny/").content == site["index.html"]
    assert web.get("/board/tiny").url.path == "/board/tiny/"
    elsewhere = web.get("/board/http:evil.example", follow_redirects=False)
    assert elsewhere.headers["location"] == "./http:evil.example/"
    types = {
        name: web.get(f"/board/tiny/{name}").headers["content-type"] for name in ("leaderboard.csv", "changes.atom")
    }
    assert types == {"leaderboard.csv": "text/csv; charset=utf-8", "changes.atom": "application/atom+xml"}


def test_the_list_of_boards_leads_to_each_and_each_is_as_it_is_exported(story: Story, web: TestClient) -> None:
    listed, board = found(web.get("/board/").content), site_kept(story)
    assert web.get("/board").url.path == "/board/"
    assert "1 board with 2 rows." in " ".join(listed.text.split())
    for row in board.content.board.rows:
        reach = f" ±{TIE * row.entry.stderr:.1f}" if row.entry.stderr else ""
        words = re.escape(row.entry.model.id), re.escape(f"{row.entry.average:.2f}{reach}")
        assert re.search(r"{} (?:to look at: .*?)?{}".format(*words), " ".join(listed.text.split()))  # once it was made
    ranks = [f'data-ranks="{row.ranks}"' for row in board.content.board.rows]
    assert re.findall(r'data-ranks="[^"]*"', web.get("/board/").text) == ranks
    assert {"tiny/", "tiny/changes.html", "tiny/about.html#submit", "../"} <= set(listed.links)
    assert {f"tiny/{row_page(name)}" for name in board.content.rows} <= set(listed.links)
    for path in ("index.html", next(path for path in board if path.startswith("rows/"))):
        assert web.get(f"/board/tiny/{path}").content == board[path]  # as in an exported site


def test_a_board_without_rows_is_not_listed_and_two_of_one_title_are_told_apart(hub: Hub, tmp_path: Path) -> None:
    with board_of_two(hub, tmp_path) as story:
        again = story.watch.model_copy(update={"name": "again"})
        boards = BoardCache(story.contexts.store, lambda: [story.watch, again])
        app = make_app(Taken(), secret=None, registry=CollectorRegistry(), pages=board_routes(boards))
        assert [line.name for line in boards.lines()] == ["tiny"]
        target, state = story.watch.targets[0].to, story.contexts.store.of("tiny")
        kept = state.boards.at(target)
        assert kept is not None
        story.contexts.store.of("again").boards.keep(target, kept, state.boards.entries(target), "2026-03-01T00:00:00Z")
        text = " ".join(found(TestClient(app).get("/board/").content).text.split())
        title = boards.lines()[0].declared.title
        assert f"{title} tiny" in text
        assert f"{title} again" in text


def test_no_visit_costs_a_request_to_the_hub(story: Story, web: TestClient) -> None:
    before = len(story.hub.calls)
    for path in ("", "raw.html", "compare.html?rows=a,b", "leaderboard.csv", "changes.html"):
        assert web.get(f"/board/tiny/{path}").status_code == 200
    assert len(story.hub.calls) == before


def test_what_a_browser_has_is_not_sent_again(unchanged: TestClient) -> None:
    first = unchanged.get("/board/tiny/", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in first.headers
    again = unchanged.get("/board/tiny/", headers={"if-none-match": f'"x", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert unchanged.get("/board/tiny/", headers={"if-none-match": '"other"'}).status_code == 200
    with unchanged.stream("GET", "/board/tiny/", headers={"accept-encoding": "br, gzip;q=0.5"}) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert gzip.decompress(b"".join(packed.iter_raw())) == first.content


@pytest.mark.parametrize(
    "path", ["/board/tiny/nothing.html", "/board/other/", "/board/tiny/../../etc/passwd", "/board/tiny/rows"]
)
def test_what_is_not_there_is_said_in_a_line(unchanged: TestClient, path: str) -> None:
    assert unchanged.get(path).status_code == 404


def test_every_answer_says_what_its_page_may_do_and_sets_no_cookie(unchanged: TestClient) -> None:
    for path in (
        "/",
        "/healthz",
        "/metrics",
        "/board/tiny/",
        "/board/tiny/leaderboard.csv",
        "/nothing",
        "/webhooks/hub",
    ):
        headers = unchanged.get(path).headers
        assert headers["content-security-policy"].startswith(POLICY), path
        assert "unsafe" not in headers["content-security-policy"]
        referrer = "same-origin" if path == "/" else "no-referrer"  # a page with a form is asked for its own origin
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", referrer)
        assert "set-cookie" not in headers


def test_rows_are_compared_without_script(story: Story, web: TestClient) -> None:
    one, other = site_kept(story).content.rows
    by_form = web.get("/board/tiny/compare.html?" + urlencode([("row", one), ("row", other), ("row", "")]))
    assert by_form.content == web.get(f"/board/tiny/compare.html?rows={one},{other}").content
    page = found(by_form.content)
    assert "script" not in page.elements
    first, second = (name.split("/")[-2] for name in (one, other))
    assert page.tables[-2][0][:3] == ["Score", first, second]
    assert page.tables[-2][0][3] == "Difference"
    assert page.tables[-2][1][0] == "Average"
    assert {f"rows/{quote(name)}.html" for name in (one, other)} < set(page.links)
    assert "number of samples, precision, harness." in page.text
    for asked in ("", "?rows=" + one, "?row=nobody", "?rows=%3Cscript%3E,x", "?" + "row=x&" * 900):
        answer = web.get(f"/board/tiny/compare.html{asked}")
        assert answer.status_code == 200
        assert "<script>" not in answer.text


def test_a_board_that_moves_is_shown_as_soon_as_it_is_made(story: Story, web: TestClient) -> None:
    web.get("/board/tiny/")
    story.push(model="acme/crane-7b", path=path_of("acme/crane-7b"))
    story.settle()
    wait_until(lambda: "crane-7b" in web.get("/board/tiny/").text)
    assert "crane-7b" in web.get("/board/tiny/changes.html").text


def test_each_target_has_a_board_of_its_own(story: Story) -> None:
    store, first = story.contexts.store, story.watch.targets[0]
    second = first.model_copy(update={"to": "hf://datasets/acme/second"})
    watch = story.watch.model_copy(update={"targets": (first, second)})
    entries = store.of("tiny").boards.entries(first.to)
    kept = store.of("tiny").boards.at(first.to)
    assert kept is not None
    store.of("tiny").boards.keep(second.to, kept, entries[:1], "2026-03-01T00:00:00Z")
    boards = BoardCache(store, lambda: [watch])
    assert boards.names(watch) == {first.to: "tiny", second.to: "tiny@2"}
    web = TestClient(make_app(Taken(), secret=None, registry=CollectorRegistry(), pages=board_routes(boards)))
    rows = {name: len(web.get(f"/board/{name}/changes.jsonl").text.splitlines()) for name in ("tiny", "tiny@2")}
    assert rows == {"tiny": 2, "tiny@2": 1}
    assert "acme/second" in web.get("/board/tiny@2/about.html").text
    for name in ("tiny@0", "tiny@1", "tiny@02", "tiny@002", "tiny@3", "tiny@x", "tiny@-1", "tiny@²", "tiny@99999"):
        assert web.get(f"/board/{name}/").status_code == 404, name


def test_boards_that_nobody_asks_for_leave_the_memory(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.server.boards.MOST_ROWS_KEPT", 3)
    store, target = story.contexts.store, story.watch.targets[0]
    kept = store.of("tiny").boards.at(target.to)
    assert kept is not None
    store.of("other").boards.keep(target.to, kept, store.of("tiny").boards.entries(target.to), "2026-03-01T00:00:00Z")
    boards = BoardCache(store, lambda: [story.watch, story.watch.model_copy(update={"name": "other"})])
    for name in ("tiny", "other", "tiny"):
        assert boards.page(name, "") is not None
        assert list(boards.shown) == [name]


def test_a_board_without_rows_is_none(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit", more='max_removed = "100%"')
    story.settle()
    boards = BoardCache(story.contexts.store, lambda: [story.watch])
    web = TestClient(make_app(Taken(), secret=None, registry=CollectorRegistry(), pages=board_routes(boards)))
    assert boards.names(story.watch) == {}
    empty = web.get("/board/tiny/")
    assert empty.status_code == 404
    assert "The board of tiny shows its first row once it is merged." in empty.text
    assert "No board has a row yet." in web.get("/board/").text
    assert web.get("/board/tiny/columns/tiny.html").status_code == 404
    story.contexts.store.close()


def test_a_state_that_cannot_be_read_now_is_said_on_the_page(
    story: Story, web: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StateUnavailable("bot.db", "the disk failed")

    monkeypatch.setattr(Boards, "at", fail)
    answer = web.get("/board/tiny/")
    assert answer.status_code == 503
    assert "the disk failed" in answer.text
