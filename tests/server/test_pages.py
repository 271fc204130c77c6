"""The operator's pages: what they show, who may try an item, and that they cost no more with more in the state."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urljoin

import pytest
from msgspec.structs import replace
from sqlalchemy import event
from starlette.testclient import TestClient

from bot.errors import OUTAGE
from bot.platforms.hub.client import TOKEN
from bot.server.health import PAUSED
from bot.server.operator import TRIED
from bot.server.service import Service
from bot.server.situation import accounted
from bot.server.views import place_of
from bot.service.store.items import Mark, held_by
from bot.service.store.memory import LEDGER, KeptLedger
from bot.service.watch.workers import WatchWorker
from tests.pages.boards import HOSTILE, Found, found, hostile
from tests.server.services import NOW, TARGET, item, make_service, make_web, read_examples
from tests.service.test_service_boards import wait_until
from tests.service.test_store import submission

LOCAL = "http://localhost"
PAGES = (
    "/",
    "/items",
    "/items?state=failing",
    "/items?state=held",
    "/submissions",
    "/submissions?q=harrier",
    "/plans",
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = make_service(tmp_path)
    yield service
    service.contexts.store.close()


@pytest.fixture
def web(service: Service) -> TestClient:
    return TestClient(make_web(service), base_url=LOCAL, follow_redirects=False)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The pages of a service for tests that only read."""
    service = make_service(tmp_path_factory.mktemp("pages"))
    yield TestClient(make_web(service), base_url=LOCAL, follow_redirects=False)
    service.contexts.store.close()


def read(web: TestClient, path: str) -> Found:
    answer = web.get(path)
    assert answer.status_code == 200, answer.text
    page = found(answer.content)
    page.tables = [[[cell.strip() for cell in line] for line in table] for table in page.tables]
    return page


def one_by_one_of(page: Found) -> str:
    """The address at which the items of the first cause of a page stand one by one."""
    return "/" + next(link for link in page.links if "cause=" in link)


def test_submissions_are_chosen_by_their_verdict_with_a_link_that_keeps_the_search(unchanged: TestClient) -> None:
    page = read(unchanged, "/submissions?watch=open-llm&q=harrier")
    assert "submissions?watch=open-llm&status=rejected&q=harrier" in page.links
    chosen = unchanged.get("/submissions?watch=open-llm&status=rejected&q=harrier").text
    assert '<input type="hidden" name="status" value="rejected">' in chosen
    assert '<th scope="col">Row</th>' not in chosen  # a rejected file has no row on the board


def test_what_fails_has_its_button_in_its_notice_and_a_submission_its_findings_before_its_facts(
    unchanged: TestClient,
) -> None:
    notice = re.search(r'<p class="lead note [^>]*>.*?open-llm: .*?</p>', unchanged.get("/").text, re.DOTALL)
    assert notice is not None
    assert "<button" in notice[0]
    path = next(one.path for one in read_examples() if one.status == "rejected")
    page = unchanged.get(f"/submissions/open-llm/{quote(path)}").text
    assert page.index("Findings in this file") < page.index("SHA-256")


def test_watches_say_how_they_stand(unchanged: TestClient) -> None:
    text = " ".join(read(unchanged, "/").text.split())
    assert "Last push2026-03-31 22:31 UTC, 1 h ago" in text
    assert "2026-03-31 23:32 UTC at cccccccccccc" in text
    assert "Next check2026-03-31 23:33 UTC" in text
    assert (
        "4 files accepted 1 file rejected 8 files unread 1 waiting for the next pass 8 failing 1 held by a plan" in text
    )
    assert "second.one" in text
    assert "board/open-llm/" in read(unchanged, "/").links


def test_items_stand_by_their_state_with_reason_age_and_next_try(unchanged: TestClient) -> None:
    failing = read(unchanged, "/items")
    (by_cause,) = failing.tables  # rows of one cause are one line with one button
    assert [line[1] for line in by_cause[1:]] == [f"{len(HOSTILE)} rows"]
    _, one_by_one = read(unchanged, one_by_one_of(failing)).tables
    assert all(line[0].strip().startswith("Row ") for line in one_by_one[1:])
    _, reason, tries, age, due, act = one_by_one[1]
    assert (tries, age, due, act) == ("1", "1 min", "2026-03-31 23:35 UTC", "Try now")
    assert reason.startswith("403 open-llm-v2/")
    waiting = read(unchanged, "/items?state=waiting").tables[0]
    assert [line[0].split() for line in waiting[1:]] == [["Board", "hf://datasets/acme/contents"]]
    held = read(unchanged, "/items?state=held").tables[0]
    assert held[1][1] == "waits for the approval of a plan"
    assert "Nothing of second.one is failing." in read(unchanged, "/items?watch=second.one").text


def test_an_item_says_its_model_before_its_revision(web: TestClient, service: Service) -> None:
    items, key = (
        service.contexts.store.of("open-llm").items,
        f"open-llm-v2/acme/atlas-7b/{'abc1234' + 'd' * 33}-bfloat16",
    )
    items.mark([Mark("row", key, TARGET)], NOW)
    shown = [" ".join(line[0].split()) for line in read(web, "/items?state=waiting").tables[0]]
    assert "Row acme/atlas-7b abc1234-bfloat16" in shown


def test_items_are_those_of_the_first_watch_in_which_something_fails(service: Service, web: TestClient) -> None:
    found = service.contexts.store.of("open-llm").items
    found.finish(found.all())
    service.contexts.store.of("second.one").items.mark([Mark("board", "", "hf://datasets/acme/contents")], NOW)
    [failing] = service.contexts.store.of("second.one").items.all()
    service.contexts.store.of("second.one").items.fail(failing, "403", NOW + 120)
    assert [line[0].split()[0] for line in read(web, "/items").tables[0][1:]] == ["Board"]


def test_a_submission_has_its_verdict_at_an_address_that_stays(web: TestClient) -> None:
    page = read(web, "/submissions?q=HARRIER")
    assert [line[1] for line in page.tables[0][1:]] == ["rejected limited-run"]
    for path in ("/submissions", "/submissions?status=rejected"):
        assert "Rejected for: limited-run (1 file)" in read(web, path).text
    [cause] = [link for link in read(web, "/submissions").links if link.endswith("&q=limited-run")]
    assert read(web, f"/{cause}").tables == page.tables
    assert "Rejected for" not in page.text + read(web, "/submissions?status=accepted").text
    address = next(link for link in page.links if "harrier" in link)
    verdict = read(web, f"/{address}")
    assert "Rejected: the run was limited to 50 samples of each task (--limit)." in verdict.text
    assert any(link.endswith("rules.md#limited-run") for link in verdict.links)
    assert "run it again without --limit" in verdict.text
    for link in read(web, "/submissions?status=unread").links:
        if link.startswith("submissions/"):
            assert "is a <b>sample log</b>" in read(web, f"/{link}").text
    kestrel = next(link for link in read(web, "/submissions?q=kestrel").links if link.startswith("submissions/"))
    assert "Nothing was found." in read(web, f"/{kestrel}").text


def test_only_a_row_that_is_on_the_board_is_a_link_to_it(web: TestClient, service: Service) -> None:
    waiting = read(web, "/submissions?status=accepted")
    assert waiting.text.count("not on the board yet") == len(waiting.tables[0]) - 1
    [one] = service.contexts.store.of("open-llm").submissions.page("accepted", limit=1)
    assert one.key is not None
    boards = service.contexts.store.of("open-llm").boards
    kept, entries = boards.at(TARGET), boards.entries(TARGET)
    assert kept is not None
    merged = replace(next(one for one in entries if one.average is not None), key=one.key)
    boards.keep(TARGET, kept, [*entries, merged], "2026-03-02T00:00:00Z")
    shown = read(web, "/submissions?status=accepted")
    assert shown.text.count("not on the board yet") == len(shown.tables[0]) - 2
    [link] = [link for link in shown.links if link.startswith("board/open-llm/")]
    assert web.get(f"/{link}").status_code == 200
    file = read(web, f"/submissions/open-llm/{one.path}")
    place = f"On the board as {merged.model.id}, average {merged.average:.2f}, rank "
    assert place in file.text
    assert f"../../../{link}" in file.links


def test_the_page_of_a_file_says_what_its_row_waits_for(web: TestClient, service: Service) -> None:
    items = service.contexts.store.of("open-llm").items
    [one] = service.contexts.store.of("open-llm").submissions.page("accepted", limit=1)
    assert one.key is not None
    address, digest = f"/submissions/open-llm/{one.path}", "d" * 32
    assert "It is not on the board yet: the watch says what it waits for." in read(web, address).text
    items.mark([Mark("row", one.key, TARGET)], NOW)
    assert "It is not on the board yet. Its row waits for the next pass." in read(web, address).text
    row = items.get("row", TARGET, one.key)
    assert row is not None
    items.fail(row, "the Hub refuses writes", NOW + 240)
    assert "Its row fails: the Hub refuses writes. Next try 23:37 UTC." in read(web, address).text
    items.hold([row], held_by(digest, is_declined=False))
    assert f"../../../plans/open-llm/{digest}" in read(web, address).links


@pytest.mark.parametrize(
    "path",
    [
        "/submissions/open-llm/absent.json",
        "/submissions/none/x.json",
        "/plans/open-llm/000",
        "/plans/none/0",
        "/plans/x/y/z",
        "/nosuch",
        "/items/",
        "/board/nope/",
        "/board/open-llm/nope.html",
    ],
)
def test_what_is_not_there_is_said_on_a_page_that_leads_to_the_first(unchanged: TestClient, path: str) -> None:
    answer = unchanged.get(path)
    assert answer.status_code == 404
    assert "There is no such page" in answer.text
    links = [urljoin(f"{LOCAL}{path}", link) for link in found(answer.content).links]
    assert links.count(f"{LOCAL}/") == 3  # twice in the menu, and behind the sentence


def test_the_list_of_boards_says_how_many_rows_are_to_look_at_once_their_pages_are_made(web: TestClient) -> None:
    said, link = f"{len(HOSTILE)} to look at", "open-llm/?rows=look"
    wait_until(lambda: said in web.get("/board/").text)
    assert link in read(web, "/board/").links
    assert "to look at: 1 warning" in web.get("/board/").text  # of the first rows


def test_an_address_that_only_takes_what_a_button_sends_says_so(unchanged: TestClient) -> None:
    for path in ("/plans/answer", "/items/try"):
        answer = unchanged.get(path)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
        assert "<nav" in answer.text


def test_programs_get_no_page(unchanged: TestClient) -> None:
    assert unchanged.get("/api/nosuch").json() == {"error": "not found"}
    assert unchanged.post("/api/v1/watches").json() == {"error": "method not allowed"}
    assert unchanged.get("/webhooks/hub").text == "Method Not Allowed"
    assert unchanged.get("/webhooks/nosuch").text == "Not Found"


def test_a_held_plan_shows_its_rows_and_how_to_approve_it(web: TestClient, service: Service) -> None:
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    page = read(web, "/plans")
    address = f"plans/open-llm/{plan.digest}"
    assert address in page.links
    assert len(page.tables[0]) == 1 + len(HOSTILE)
    assert 'value="approve"' in web.get("/plans").text
    shown = read(web, f"/{address}")
    assert len(shown.tables[0]) == 1 + len(HOSTILE)
    assert f"--watch open-llm \\\n  --approve {plan.digest}" in shown.text
    removed, board = len(HOSTILE), len(hostile()) + 4
    assert "The first row of the board goes" not in shown.text
    told = f"{removed} rows would be removed. The board has {board} rows now, and {board - removed} once merged."
    assert told in " ".join(shown.text.split())


def test_a_plan_is_answered_on_its_page(web: TestClient, service: Service) -> None:
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    fields, rows = {"watch": "open-llm", "digest": plan.digest}, f"remove {len(HOSTILE)} rows by request"
    page = f"/plans/open-llm/{plan.digest}"
    assert f"Approve: {rows}" in read(web, page).text
    for answer, approved, title, button in (
        ("decline", False, "A declined plan", f"Approve after all: {rows}"),
        ("approve", True, "An approved plan", ""),
    ):
        done = web.post("/plans/answer", data={**fields, "answer": answer}, headers={"origin": LOCAL})
        (held,) = service.contexts.store.of("open-llm").plans.all()
        assert (done.status_code, done.headers["location"]) == (303, "../plans")
        assert (held.waits, held.is_approved) == (False, approved)
        said = service.contexts.store.of("open-llm").outcomes()[0]
        assert (said["outcome"], said["subject"]) == (f"{answer}d", f"plan {plan.digest}")
        assert f'href="plans/open-llm/{plan.digest}"' in web.get("/").text
        shown = read(web, page).text
        assert title in shown
        assert button in shown
        assert ("once merged" in shown) == approved
    for wrong in (
        {**fields, "answer": "x"},
        {**fields, "digest": "0" * 32, "answer": "approve"},
        {"answer": "approve"},
    ):
        assert web.post("/plans/answer", data=wrong, headers={"origin": LOCAL}).status_code == 404
    done = web.post("/plans/answer", data={**fields, "answer": "approve"}, headers={"origin": "https://evil.example"})
    assert done.status_code == 403


def test_only_addresses_of_the_watch_become_links(web: TestClient, service: Service) -> None:
    ours, other = "https://huggingface.co/datasets/acme/contents/discussions/7", "https://evil.example/x"
    service.contexts.store.of("open-llm").add_outcomes([("written", "a row", f"{ours} {other}")])
    links = read(web, "/").links
    assert links.count(ours) == 1
    assert not any(link.startswith("https://evil") for link in links)


def test_the_first_page_says_where_the_accepted_rows_are_and_that_one_is_unexplained(
    web: TestClient, service: Service
) -> None:
    store, line = service.contexts.store, "60 accepted: 57 on main, 1 open, 0 held, 1 declined, 1 unexplained"
    assert "accepted row" not in read(web, "/").text
    known = KeptLedger(line, unexplained=3, waiting=3, at=NOW, declined=["tiny/acme/atlas-7b/x"])
    store.of("open-llm").remember(LEDGER, known, target=TARGET)
    shown = read(web, "/").text
    assert "tiny/acme/atlas-7b/x" in shown
    assert "60 accepted: 57 on main, 1 in open requests, 1 declined, 1 without a place yet." in shown
    assert "no place at the target" not in shown  # the cause of each stands there
    store.of("open-llm").remember(LEDGER, replace(known, waiting=2), target=TARGET)
    sentence = "open-llm: 1 accepted row has no place at the target; leaderboard-bot status says why."
    assert sentence in read(web, "/").text


def test_rows_at_one_place_are_counted_once() -> None:
    assert accounted("8 accepted: 8 on main, 0 open, 0 held, 0 declined, 0 unexplained") == "8 accepted, all on main"
    assert accounted("1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained") == (
        "1 accepted, in an open request"
    )
    assert accounted("9 accepted: 8 on main, 1 open, 0 held, 0 declined, 0 unexplained") == (
        "9 accepted: 8 on main, 1 in open requests"
    )


def test_a_commit_is_seven_digits_and_its_link_is_whole(web: TestClient, service: Service) -> None:
    key = f"open-llm-v2/acme/atlas-7b/{'abc1234' + 'd' * 33}-bfloat16"
    service.contexts.store.of("open-llm").add_outcomes([("proposed", key, f"a new request proposes it: {key}")])
    page = read(web, "/")
    assert page.text.count("open-llm-v2/acme/atlas-7b/abc1234-bfloat16") == 2
    assert key not in page.text
    assert any(quote(key, safe="") in link for link in page.links)


def test_a_long_reading_shows_how_far_it_is(web: TestClient, service: Service) -> None:
    service.contexts.store.of("open-llm").items.mark([Mark("file", f"y/{i:05}.json") for i in range(800)], NOW)
    assert "open-llm: 13 of 813 files are read" in read(web, "/").text


def test_a_watch_whose_target_is_filled_waits(web: TestClient, service: Service) -> None:
    store, state = service.contexts.store, service.states["second.one"]
    store.of("open-llm").items.finish([one for one in store.of("open-llm").items.all() if not one.is_held])
    state.settled = state.reached = NOW - 60
    service.states["open-llm"].failure = PAUSED
    page = web.get("/").text
    assert (
        'note runs"><span>open-llm: an import runs; publishing is paused until it ends. Pushes are looked at then.'
        in page
    )
    assert 'id="open-llm">open-llm <span class="chip runs">an import runs' in page
    assert "degraded" not in page


def test_an_outage_asks_nothing_of_anybody(web: TestClient, service: Service) -> None:
    store, state = service.contexts.store, service.states["second.one"]
    state.settled = NOW - 60
    store.of("second.one").items.mark([Mark("row", "open-llm-v2/x/y", TARGET)], NOW)
    store.of("second.one").items.fail(store.of("second.one").items.all()[0], f"the Hub {OUTAGE}: 503", NOW + 60)
    text = read(web, "/").text
    assert text.count("leaderboard-bot doctor") == 2  # once for each watch
    assert "An outage is tried again without you. If it lasts, call leaderboard-bot doctor on the machine" in text
    health = web.get("/healthz").json()["watches"]
    assert [one["status"] for one in health.values()] == ["degraded", "degraded"]
    assert text.count("degraded") == 2  # the word of /healthz


@pytest.mark.parametrize("host", ["[", "[::1", "x:y", ""])
def test_a_broken_host_breaks_no_answer(unchanged: TestClient, host: str) -> None:
    compared = "/board/open-llm/compare.html?rows=a,b"
    for path, status in (
        ("/", 200),
        (compared, 200),
        ("/nothing/here", 404),
        ("/plans/open-llm/none", 404),
        ("/items/", 404),
    ):
        assert unchanged.get(path, headers={"host": host}).status_code == status, path


@pytest.mark.parametrize(
    "path",
    [
        "/items?after=" + quote('["a","b","\\ud800"]'),
        "/items?after=" + quote('["a","b","\\u0000"]'),
        "/items?tried=%ED%A0%80&watch=%00",
        "/submissions?after=%00&q=%25_%5C",
        "/submissions?status=%00&watch=%00",
        "/submissions?q=" + "a" * 5_000,
        "/plans/open-llm/%27?first=-1",
        "/submissions/open-llm/%ED%A0%80",
        "/submissions/open-llm/..%2F..%2Fetc%2Fpasswd",
        "/board/open-llm/%00",
        "/board/open-llm/rows/%2e%2e/%2e%2e/index.html",
        "/board/open-llm//etc/passwd",
        "/api/v1/watches/open-llm/rows/%00",
        "/api/v1/watches/open-llm/submissions?after=%ED%A0%80&q=%00",
        "/api/v1/watches/open-llm/items?state=failing&after=" + quote('["a","b","\\ud800"]'),
    ],
)
def test_what_a_stranger_writes_into_an_address_breaks_no_answer(unchanged: TestClient, path: str) -> None:
    assert unchanged.get(path).status_code in {200, 400, 404}


@pytest.mark.parametrize("path", PAGES)
def test_no_page_takes_names_for_markup_or_sets_a_cookie(unchanged: TestClient, path: str) -> None:
    answer = unchanged.get(path)
    page = found(answer.content)
    assert page.elements.isdisjoint({"img", "style", "b"})
    assert answer.text.count("<script ") == (path != "/plans")  # a button that decides stays where it is
    assert "style" not in page.attributes
    assert not [name for name in page.attributes if name.startswith("on")]
    assert "set-cookie" not in answer.headers
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert len(page.ids) == len(set(page.ids))


def test_what_a_browser_has_is_not_sent_again(unchanged: TestClient) -> None:
    for path in PAGES:
        etag = unchanged.get(path).headers["etag"]
        assert unchanged.get(path, headers={"if-none-match": etag}).status_code == 304


def test_an_item_is_tried_at_once_where_this_machine_asks(web: TestClient, service: Service) -> None:
    settled = threading.Event()
    service.workers["open-llm"] = worker = WatchWorker("open-llm", settled.set, 900.0, quiet=0.0)
    worker.start()
    assert settled.wait(30.0)
    settled.clear()
    listed = web.get(one_by_one_of(read(web, "/items"))).text
    name = next(link for link in listed.split('name="item" value="')[1:]).partition('"')[0]
    place = place_of(name.replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'"))
    assert place is not None
    body = {
        "watch": "open-llm",
        "state": "failing",
        "item": f'["{place[0]}","{place[1]}","open-llm-v2/evil/{{{{ 7 * 7 }}}}"]',
    }
    answer = web.post("/items/try", data=body, headers={"origin": LOCAL})
    address = answer.headers["location"]
    assert address == "../items?watch=open-llm&state=failing&tried=yes"
    tried = next(
        one for one in service.contexts.store.of("open-llm").items.all() if one.subject.endswith("{{ 7 * 7 }}")
    )
    assert (tried.due, tried.attempts) == (NOW, 1)
    assert settled.wait(30.0)
    assert worker.stop(30.0)
    assert TRIED in web.get(address.removeprefix("..")).text


def test_a_held_or_unknown_item_is_not_tried(web: TestClient, service: Service) -> None:
    for fields in (
        {"watch": "open-llm", "item": '["file","","held.json"]'},
        {"watch": "open-llm", "item": '["file","","absent.json"]'},
        {"watch": "none", "item": '["file","","held.json"]'},
        {"watch": "open-llm", "item": "x"},
        {},
    ):
        assert web.post("/items/try", data=fields).status_code == 404
    assert web.post("/items/try", content=b"x" * 30_000).status_code == 413
    assert web.get("/items/try").status_code == 405
    assert item(service, "file").is_held


def test_strangers_may_try_nothing(service: Service) -> None:
    body = {"watch": "open-llm", "item": '["board","hf://datasets/acme/contents",""]'}
    open_to_all = TestClient(make_web(service, None, "0.0.0.0"), base_url=LOCAL, follow_redirects=False)
    assert open_to_all.post("/items/try", data=body).status_code == 403
    assert "OPERATOR_TOKEN is not set" in open_to_all.get("/items").text
    guarded = TestClient(make_web(service, "MARKER", "0.0.0.0"), base_url="https://b.example", follow_redirects=False)
    assert 'name="token"' in guarded.get("/items").text
    for fields, origin, status in (
        ({}, "https://b.example", 401),
        ({"token": "wrong"}, "https://b.example", 403),
        ({"token": "MARKER"}, "https://evil.example", 403),
        ({"token": "MARKER"}, "null", 403),
        ({"token": "MARKER"}, "https://b.example", 303),
    ):
        answer = guarded.post("/items/try", data={**body, **fields}, headers={"origin": origin})
        assert answer.status_code == status
        assert "MARKER" not in answer.text + str(answer.headers)


@pytest.mark.slow
def test_a_page_reads_as_much_with_a_thousand_times_as_much_in_the_state(web: TestClient, service: Service) -> None:
    store = service.contexts.store
    asked: list[int] = []
    event.listen(store.engine, "after_cursor_execute", lambda *_: asked.append(1))

    def cost(path: str) -> int:
        before = len(asked)
        page = read(web, path)
        assert sum(map(len, page.tables)) <= 60
        return len(asked) - before

    before = {path: cost(path) for path in PAGES}
    store.of("open-llm").submissions.keep([submission(f"x/{i:05}.json", f"k{i}") for i in range(2_000)])
    store.of("open-llm").items.mark([Mark("file", f"x/{i:05}.json") for i in range(2_000)], NOW)
    assert all(cost(path) <= before[path] for path in PAGES)
    pages, address = 0, "submissions?q=x/"
    while address:
        page = read(web, f"/{address}")
        pages += 1
        address = next((link for link in page.links if "after=" in link), "")
    assert pages == 40


def test_the_first_line_says_what_fails_and_one_button_tries_all_of_a_cause(web: TestClient, service: Service) -> None:
    store, reason = service.contexts.store, "the Hub refuses writes"
    store.of("open-llm").items.mark([Mark("row", f"open-llm-v2/x/{i}", "board") for i in range(12)], NOW)
    for one in store.of("open-llm").items.all():
        if one.subject.startswith("open-llm-v2/x/"):
            store.of("open-llm").items.fail(one, reason, NOW + 240)
    text = " ".join(read(web, "/").text.split())
    assert "1 plan of open-llm waits for you." in text
    assert "open-llm: 20 failing for 2 reasons, next try 23:" in text
    assert text.count(reason) == 2  # in the table, and what to do about it
    assert "All well." not in text
    answer = web.post("/items/try", data={"cause": f"open-llm {reason}"}, headers={"origin": LOCAL})
    address = answer.headers["location"].removeprefix("..")
    assert address == "/?watch=open-llm&tried=yes"
    assert TRIED in read(web, address).text
    assert "open-llm: 20 failing for 2 reasons, next try now; most since " in read(web, "/").text
    assert {one.due for one in store.of("open-llm").items.all() if one.reason == reason} == {NOW}
    assert web.post("/items/try", data={"cause": "open-llm nothing"}, headers={"origin": LOCAL}).status_code == 404


def test_an_outage_stands_below_the_plan_and_its_button_says_what_a_service_asked_for(
    web: TestClient, service: Service
) -> None:
    store, name = service.contexts.store, "second.one"
    store.of(name).items.mark([Mark("source"), Mark("reviews")], NOW)
    for one in store.of(name).items.all():
        store.of(name).items.fail(one, f"the Hub {OUTAGE}: 429: Too Many Requests (it asks to wait 240 s)", NOW + 240)
    text = " ".join(read(web, "/").text.split())
    assert text.index("waits for you") < text.index(f"{name}: 2 items fail since ")
    assert "Try all 2 before the wait ends" in text
    listed = " ".join(read(web, f"/items?watch={name}").text.split())
    assert ", when the wait ends" in listed
    assert "What to do: " not in listed  # it ends without a person


def test_what_fails_is_red_and_first_and_a_plan_that_waits_is_not_red(web: TestClient, service: Service) -> None:
    page = web.get("/").text
    assert page.count('class="chip stop"') == 1
    failing, waiting = re.findall(r'<p class="lead note (\w*)">.*?</p>', page, re.DOTALL)[:2]
    assert (failing, waiting) == ("stop", "")
    items = service.contexts.store.of("open-llm").items
    items.finish([one for one in items.all() if not one.is_held])
    assert "stop" not in web.get("/").text


def test_a_service_that_does_nothing_is_red(web: TestClient, service: Service) -> None:
    service.started = NOW - 5 * 900
    assert web.get("/healthz").status_code == 503
    page = web.get("/").text
    assert page.count('class="chip stop"') == 2
    assert 'class="lead note stop"' in page


def test_a_watch_that_only_waits_for_an_answer_leads_to_its_plan(web: TestClient, service: Service) -> None:
    items = service.contexts.store.of("open-llm").items
    items.finish([one for one in items.all() if not one.is_held])
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    assert f'degraded: <a href="plans/open-llm/{plan.digest}">a plan waits</a>' in web.get("/").text


def test_a_page_has_one_name_in_the_menu_at_its_head_and_in_its_title(unchanged: TestClient) -> None:
    for path, name in (("/", "Watches"), ("/items", "Items"), ("/submissions", "Submissions"), ("/plans", "Plans")):
        page = unchanged.get(path).text
        assert f'aria-current="page">{name}</a>' in page
        assert page.count("aria-current") == 1
        assert f"<h1>{name}</h1>" in page
        assert f"<title>{name} · " in page
    assert "<title>Watches · 1 of 2 fails</title>" in unchanged.get("/").text


def test_a_refused_token_is_not_said_to_be_tried_again(web: TestClient, service: Service) -> None:
    store, name = service.contexts.store, "second.one"
    store.of(name).items.mark([Mark("source"), Mark("reviews")], NOW)
    for one in store.of(name).items.all():
        store.of(name).items.fail(one, f"the Hub refused: hf://datasets/acme/more: 401: {TOKEN}", NOW + 60)
    part = web.get("/").text.partition(f'id="{name}"')
    said = part[0].replace("<code>", "`").replace("</code>", "`")
    assert f"{name}: 2 items fail since " in said
    assert f"{TOKEN}, and start it again: nothing else helps." in said
    listed = web.get(f"/items?watch={name}").text
    assert "set HF_TOKEN (or GITHUB_TOKEN) and start the bot again; nothing else helps." in listed
    assert "tried again by itself" not in part[2]
    assert "Try all" not in part[2]
