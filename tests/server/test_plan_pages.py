"""The pages of plans over a real watch: a plan is held by a pass, answered on its page, and carried out by the next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from bot.pages.environment import templates
from bot.publishing.plan import Plan, PlannedRow
from bot.server.service import Service
from bot.service.watch.passes import settle_watches
from tests.pages.boards import found
from tests.server.services import make_web
from tests.service.stories import Story
from tests.service.test_plans import ROWS, board, do_break
from tests.world.hub import Hub
from tests.world.postgres import running

LOCAL = "http://localhost"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    """A board whose source was emptied: the removal of all rows is held."""
    story = board(hub, tmp_path, "pull-request")
    do_break(story, "the source is emptied")
    story.settle()
    yield story
    story.contexts.store.close()


def open_web(story: Story, token: str | None = None) -> TestClient:
    service = Service(story.contexts, (story.watch,), CollectorRegistry())
    return TestClient(make_web(service, token), base_url=LOCAL, follow_redirects=False)


def digest_of(story: Story) -> str:
    (plan,) = story.state.plans.all()
    return plan.digest


def answer(web: TestClient, digest: str, word: str) -> None:
    fields = {"watch": "tiny", "digest": digest, "answer": word}
    assert web.post("/plans/answer", data=fields, headers={"origin": LOCAL}).status_code == 303


def test_the_links_to_a_plan_that_was_carried_out_lead_to_what_was_decided_and_done(story: Story) -> None:
    web, digest = open_web(story), digest_of(story)
    answer(web, digest, "approve")
    story.settle()
    (request,) = story.requests

    assert story.state.plans.all() == []
    links = {link for link in found(web.get("/").content).links if link.startswith("plans/")}
    assert links == {f"plans/tiny/{digest}"}
    page = web.get(f"/plans/tiny/{digest}")
    assert page.status_code == 200
    assert "Approved 20" in page.text
    assert f"/discussions/{request.num}" in page.text
    assert 'name="answer"' not in page.text


@pytest.mark.slow
def test_a_plan_that_others_replaced_says_so_and_one_that_nobody_knows_is_not_there(story: Story) -> None:
    web, digest = open_web(story), digest_of(story)
    story.push(model="acme/m0", lm_eval_version="0.4.9")
    story.settle()

    assert digest_of(story) != digest
    page = web.get(f"/plans/tiny/{digest}")
    assert "other changes took its place" in page.text
    assert f"{ROWS} rows would be removed" in page.text
    for unknown in ("0" * 32, digest[:8], "e"):
        assert web.get(f"/plans/tiny/{unknown}").status_code == 404
    assert web.get(f"/plans/other/{digest}").status_code == 404


@pytest.mark.slow
def test_a_wrong_token_is_said_at_its_field_on_the_page_of_the_plan(story: Story) -> None:
    web, digest = open_web(story, "MARKER"), digest_of(story)
    fields = {"watch": "tiny", "digest": digest, "answer": "approve"}
    for token, status, words in (
        ("wrong", 403, "This token is not the operator"),
        ("", 401, "The operator token is missing."),
    ):
        page = web.post("/plans/answer", data={**fields, "token": token}, headers={"origin": LOCAL})
        assert page.status_code == status
        assert f"{ROWS} rows would be removed" in page.text
        assert 'aria-describedby="wrong"' in page.text
        assert words in page.text
        links = [urljoin(f"{LOCAL}/plans/answer", link) for link in found(page.content).links]
        ours = [link for link in links if link.startswith(f"{LOCAL}/")]
        assert f"{LOCAL}/" in ours
        assert [link for link in ours if web.get(link).status_code != 200] == [f"{LOCAL}/plans/answer#main"]
    assert story.state.plans.all()[0].waits
    elsewhere = web.post(
        "/plans/answer", data={**fields, "token": "MARKER"}, headers={"origin": "https://evil.example"}
    )
    assert elsewhere.status_code == 403
    assert "token is not" not in elsewhere.text  # the token is not what is wrong


def test_rows_that_a_plan_holds_are_one_line_with_the_first_names_and_a_short_digest(story: Story) -> None:
    web, digest = open_web(story), digest_of(story)
    held = found(web.get("/items?state=held").content)
    ((_, line),) = held.tables
    assert line[:2] == [f"held by plan {digest[:12]}", f"{ROWS} rows"]
    assert line[2].count("acme/m") == 3
    assert f"and {ROWS - 3} more" in line[2]
    assert f"plans/tiny/{digest}" in held.links
    one_by_one = found(web.get("/" + next(link for link in held.links if "cause=" in link)).content)
    assert len(one_by_one.tables[-1]) == 1 + ROWS
    plan = found(web.get(f"/plans/tiny/{digest}").content)
    assert f"Of the first ten {ROWS} go: acme/m" in " ".join(plan.text.split())
    assert sum(link.startswith("../../board/tiny/rows/acme/m") for link in plan.links) == 3 * ROWS  # names and ranks
    assert not any("submissions?" in link and "q=" in link for link in plan.links)  # their files are gone


def test_a_plan_about_rows_that_nobody_merged_says_so(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=5)
    gone = tuple(PlannedRow(f"tiny/acme/m{n}", f"acme/m{n}", "removed", 60.0, None, "gone") for n in range(9))
    story.state.plans.hold(Plan("hf://datasets/acme/contents", "tiny", gone))
    page = " ".join(found(open_web(story).get(f"/plans/tiny/{digest_of(story)}").content).text.split())
    assert "The board has no rows yet: these stand in open requests" in page
    assert "main has none of these rows" in page
    assert "would stay as they are" not in page
    story.contexts.store.close()


def test_the_rows_that_a_plan_removes_come_first(story: Story) -> None:
    """Who approves it ticks to have seen which rows go."""
    (held,) = story.state.plans.all()
    rows = [PlannedRow(f"tiny/acme/m{n}", f"acme/m{n}", "changed", 60.0 + n, 70.0 + n) for n in range(12)]
    leaving = PlannedRow("tiny/acme/worst", "acme/worst", "removed", 1.0, None, "gone")
    story.state.plans.hold(Plan(held.target, "tiny", (*rows, leaving)))
    web = open_web(story)
    for path in ("/plans", f"/plans/tiny/{digest_of(story)}"):
        assert "acme/worst" in " ".join(found(web.get(path).content).tables[0][1])


@pytest.mark.slow
def test_what_happened_to_many_rows_alike_is_one_line(story: Story) -> None:
    web = open_web(story)
    rows = [(f"tiny/acme/m{n}", f"another request proposes it: {story.hub.url}/datasets/acme/contents/discussions/{n}")
            for n in range(20)]  # fmt: skip
    story.state.add_outcomes([("proposed", name, text) for name, text in rows])
    page = web.get("/").text
    (line,) = [line for line in found(page.encode()).tables[-1] if "20 times" in line[1]]
    assert line[3].strip() == "another request proposes it: …"
    assert page.count("another request proposes it: …") == 1
    assert "and 17 more" in line[2]
    assert all(name in line[2] and text.split()[-1] in line[2] for name, text in rows)


@pytest.mark.slow
def test_links_lead_to_the_hub_that_the_service_uses(story: Story) -> None:
    story.push(model="acme/new-1b", lm_eval_version="0.4.9")
    service, hub = Service(story.contexts, (story.watch,), CollectorRegistry()), story.hub.url
    assert service.settle(story.watch)
    web = TestClient(make_web(service), base_url=LOCAL)
    path = story.state.submissions.page().pop().path
    pages = ("/", "/items?state=held", "/plans", f"/plans/tiny/{digest_of(story)}", f"/submissions/tiny/{path}")
    links = [link for page in pages for link in found(web.get(page).content).links]
    assert not [link for link in links if "huggingface.co" in link]
    contents, results = f"{hub}/datasets/acme/contents", f"{hub}/datasets/acme/results"
    assert {contents, results, f"{contents}/discussions/1"} <= set(links)
    for start in (f"{results}/blob/", f"{results}/tree/"):
        assert any(link.startswith(start) for link in links)


def test_the_held_line_leads_to_the_page_of_the_plan_and_to_no_command_and_a_dry_run_names_all_rows(
    story: Story,
) -> None:
    web, digest = open_web(story), digest_of(story)
    page = web.get("/")
    (line,) = [line for line in found(page.content).tables[-1] if line[1].strip() == "held"]
    assert f"approve plan {digest[:12]} to allow this" in line[3]
    assert f"plans/tiny/{digest}" in found(page.content).links
    assert "settle" not in page.text
    [settled] = settle_watches(story.contexts, [story.watch])
    assert f"`settle --approve {digest}`" in "".join(settled.lines(dry_run=False))
    [planned] = settle_watches(story.contexts, [story.watch], dry_run=True)
    shown = "".join(planned.lines(dry_run=True))
    assert all(f"removed  tiny/acme/m{n}/" in shown for n in range(ROWS))


def test_a_button_while_the_state_is_out_of_reach_says_so(hub: Hub, tmp_path: Path) -> None:
    with running() as cluster:
        story = Story(hub, tmp_path, database=cluster.database())
        web = open_web(story)
        cluster.stop()
        for path, fields in (("plans/answer", {"answer": "approve"}), ("items/try", {"cause": "tiny failed"})):
            said = web.post(f"/{path}", data={"watch": "tiny", "digest": "a" * 32} | fields, headers={"origin": LOCAL})
            assert said.status_code == 503
            assert "cannot be used" in said.text
        story.contexts.store.close()


def test_rows_of_a_plan_stand_by_what_becomes_of_them_and_a_shared_reason_at_none_of_them(story: Story) -> None:
    (held,) = story.state.plans.all()
    gone = [
        PlannedRow(f"tiny/acme/m{n}", f"acme/m{n}", "removed", 60.0 + n, None, "the file is gone") for n in range(15)
    ]
    others = [
        PlannedRow("tiny/acme/a", "acme/a", "changed", 1.0, 2.0, "other shots"),
        PlannedRow("tiny/acme/b", "acme/b", "changed", 3.0, 4.0, "other bounds"),
        PlannedRow("tiny/acme/c", "acme/c", "added", None, 5.0),
    ]
    story.state.plans.hold(Plan(held.target, "tiny", (*others, *gone)))
    page = open_web(story).get(f"/plans/tiny/{digest_of(story)}")

    best, changed, added = found(page.content).tables  # no row that goes is folded
    assert [line[0] for line in best[1:]] == [f"acme/m{n}" for n in reversed(range(15))]
    assert "Reason" not in best[0]
    assert changed == [["Row", "Average", "Reason"], ["acme/b", "3.00 → 4.00", "other bounds"],
                       ["acme/a", "1.00 → 2.00", "other shots"]]  # fmt: skip
    assert added == [["Row", "Average"], ["acme/c", "5.00"]]


@pytest.mark.parametrize(
    ("values", "heads"),
    [("Avg 1 → 2", ["Row", "Values"]), ("", ["Row", "Average"])],
)
def test_rows_of_a_table_show_their_values_and_no_empty_averages(values: str, heads: list[str]) -> None:
    rows = [PlannedRow("tiny/a/b/1-x", "a/b", "changed", values=values)]
    found_plan = SimpleNamespace(digest="0" * 32, watch="tiny")
    group = SimpleNamespace(action="changed", reason="")
    shown = templates().get_template("operator/lists.html").module.plan_rows(found_plan, rows, group, "")  # type: ignore[attr-defined]
    assert re.findall(r"<th scope=\"col\"[^>]*>(\w+)</th>", shown) == heads
    assert shown.count("<td") == len(heads) - 1
