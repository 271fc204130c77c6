"""The pages of a running service in a real browser: the operator's, and the board below `/board/`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from bot.pages.addresses import column_page, row_page
from bot.pages.compare_page import compare_page, sentence, titles_of
from bot.pages.write import write_site
from bot.publishing.compared_rows import compared_rows
from bot.reporting.comparison import sentence_of
from bot.server.operator import TRIED
from bot.server.service import Service
from bot.service.store.items import Mark
from tests.browser.conftest import HERE, Opener
from tests.browser.test_pages import RULES, SCREENS
from tests.pages.boards import HOSTILE, found, generated, hostile, site_of, site_of_answers, varied
from tests.server.services import NOW, TARGET, item, read_examples, unread

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from playwright.sync_api import Browser, Page

OPERATOR = (
    "",
    "items",
    "items?state=waiting",
    "items?state=held",
    "submissions",
    "submissions?q=zzz",
    "plans",
)
PAST = "a" * 32  # the digest of a plan that waits no more


def kinds(service: Service) -> list[str]:
    """An address of every kind of page of the service."""
    names = list(site_of((*hostile(), *generated(4))).content.names.values())
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    files = [next(one.path for one in read_examples() if one.status == "rejected"), unread()[0].path]
    service.contexts.store.of("open-llm").add_outcomes(
        [("approved", f"plan {PAST}", "answered"), ("written", "x", PAST)]
    )
    board = ("", "raw.html", "changes.html", "scores.html", "rules.html", "about.html", column_page("bbh"))
    compared = f"compare.html?rows={names[0]},{names[1]},{names[-1]}"
    return [
        *OPERATOR,
        *(f"submissions/open-llm/{quote(path)}" for path in files),
        f"plans/open-llm/{plan.digest}",
        f"plans/open-llm/{PAST}",
        "board/",
        *(f"board/open-llm/{path}" for path in (*board, compared, row_page(names[0]))),
    ]


@SCREENS
def test_axe_finds_nothing_on_any_page(watch: Opener, service: Service, width: int, scheme: str) -> None:
    source = (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    watched = watch("service", width=width, color_scheme=scheme, bypass_csp=True)
    for path in kinds(service):
        page = watched.open(path)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.evaluate(source)
        found = page.evaluate("rules => axe.run(document, rules)", RULES)
        seen = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found["violations"]]
        assert seen == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_names_of_strangers_are_read_as_they_are_and_run_nothing(watch: Opener, service: Service) -> None:
    watched = watch("service")
    shown = ""
    for path in kinds(service):
        shown += watched.open(path).inner_text("main")
    for name in HOSTILE[:2]:
        assert name in shown
    watched.page.wait_for_timeout(100)  # a picture that fails to load says so later


def test_an_item_is_tried_by_the_keyboard_alone(watch: Opener, service: Service) -> None:
    store = service.contexts.store
    store.of("open-llm").items.mark([Mark("sweep", "by the keyboard", TARGET)], NOW)
    store.of("open-llm").items.fail(
        next(one for one in store.of("open-llm").items.all() if one.kind == "sweep"), "failed", NOW + 500
    )
    page = watch("service").open("items?state=failing")
    for _ in range(60):
        page.keyboard.press("Tab")
        label, outline = page.evaluate(
            "[document.activeElement.getAttribute('aria-label'), getComputedStyle(document.activeElement).outlineStyle]"
        )
        assert outline != "none", label
        if label == "Try now: sweep by the keyboard":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/items?*&tried=*")
    assert TRIED in page.inner_text("main")
    assert item(service, "sweep").due == NOW


def test_a_page_keeps_itself_up_to_date_and_the_focus_where_it_is(watch: Opener, service: Service) -> None:
    watched = watch("service")
    watched.page.clock.install()
    page = watched.open("items?state=waiting")
    page.focus("button >> nth=0")
    focused = page.evaluate("document.activeElement.id")
    service.contexts.store.of("open-llm").items.mark([Mark("folder", "zz new")], NOW)
    page.clock.fast_forward(6000)
    page.wait_for_selector("text=zz new")
    assert page.evaluate("document.activeElement.id") == focused
    assert page.inner_text("#live-status") == "This page keeps itself up to date."


def test_what_a_person_unfolded_stays_so_when_the_page_renews_itself(watch: Opener, service: Service) -> None:
    state = service.contexts.store.of("open-llm")
    state.add_outcomes([("proposed", f"open-llm-v2/acme/m{n}", "alike") for n in range(9)])
    watched = watch("service")
    watched.page.clock.install()
    page = watched.open("")
    page.click("#last-open-llm")
    page.click("text=and 6 more")
    state.add_outcomes([("written", "zz new", "another")])
    page.clock.fast_forward(6000)
    page.wait_for_selector("text=zz new")
    assert page.locator("text=open-llm-v2/acme/m0").is_visible()


STYLE = "(one, name) => getComputedStyle(one)[name]"


def test_a_tile_looks_like_the_link_that_it_is(watch: Opener) -> None:
    page = watch("service").open("")
    tile, link = page.locator(".tiles a").first, page.locator("dd a").first
    for name in ("color", "textDecorationLine"):
        assert tile.evaluate(STYLE, name) == link.evaluate(STYLE, name)


def test_the_button_that_removes_rows_is_red_and_stands_beside_the_other(watch: Opener, service: Service) -> None:
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    page = watch("service", java_script_enabled=False).open(f"plans/open-llm/{plan.digest}")
    removes, leaves = page.locator("button:has-text('remove')"), page.locator("button:has-text('Decline')")
    assert removes.evaluate(STYLE, "backgroundColor") != "rgb(179, 32, 27)"  # it does nothing yet
    page.check("[type=checkbox]")
    assert removes.evaluate(STYLE, "backgroundColor") == "rgb(179, 32, 27)"
    assert leaves.evaluate(STYLE, "backgroundColor") != "rgb(179, 32, 27)"
    assert removes.bounding_box()["y"] == leaves.bounding_box()["y"]


def test_the_search_for_submissions_is_one_line_on_a_phone(watch: Opener) -> None:
    page = watch("service", width=360).open("submissions")
    field, button = (page.locator(f"form {one}").bounding_box() for one in ("[type=search]", "button"))
    assert field is not None
    assert button is not None
    assert button["height"] < 36  # pixels: its word is not broken
    assert abs(field["y"] + field["height"] - button["y"] - button["height"]) < 2


def test_rows_go_only_once_a_person_says_that_they_were_seen(watch: Opener, service: Service) -> None:
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    page = watch("service", java_script_enabled=False).open(f"plans/open-llm/{plan.digest}")
    page.click("button:has-text('remove')")
    assert page.url.endswith(plan.digest)
    assert page.locator("input:invalid").count() == 1
    (plan,) = service.contexts.store.of("open-llm").plans.all()
    assert not plan.is_approved


def test_a_plan_is_declined_and_a_cause_is_tried_by_buttons(
    watch: Opener, service: Service, request: pytest.FixtureRequest
) -> None:
    state = service.contexts.store.of("open-llm")
    (plan,) = state.plans.all()
    # It waits again for the tests that come after this one, in whatever order.
    request.addfinalizer(lambda: (state.plans.forget(plan.target), state.plans.hold(plan.plan)))
    page = watch("service").open(f"plans/open-llm/{plan.digest}")
    page.click("button:has-text('Decline')")
    page.wait_for_url("**/plans")
    assert "declined" in page.inner_text("main")
    assert not state.plans.all()[0].waits
    page.goto(page.url.removesuffix("plans"))
    page.click("button:has-text('Try all') >> nth=0")
    page.wait_for_url("**/?watch=open-llm&tried=*")
    assert TRIED in page.inner_text("main")
    assert all(one.due <= NOW for one in state.items.all() if one.kind == "row")


def test_without_script_everything_is_there(watch: Opener, service: Service) -> None:
    store = service.contexts.store
    store.of("open-llm").items.mark([Mark("sweep", "without script", TARGET)], NOW)
    store.of("open-llm").items.fail(
        next(one for one in store.of("open-llm").items.all() if one.subject == "without script"),
        "failed at once",
        NOW + 500,
    )
    watched = watch("service", java_script_enabled=False)
    page = watched.open("items?state=failing")
    page.click('[aria-label="Try now: sweep without script"]')
    page.wait_for_url("**/items?*&tried=*")
    assert TRIED in page.inner_text("main")
    page = watched.open("submissions")
    page.click(".choice a:has-text('rejected')")
    page.fill("[name=q]", "harrier")
    page.click("text=Search >> nth=-1")
    page.wait_for_url("**/submissions?*status=rejected*q=harrier*")
    assert page.locator("tbody tr").count() == 1
    page.click("tbody th a")
    page.wait_for_url(lambda url: "/submissions?" not in url)
    assert "limited-run" in page.inner_text("main")
    page.go_back()
    assert page.input_value("[name=q]") == "harrier"
    compare_rows(watched.open("board/open-llm/compare.html"))


def compare_rows(page: Page) -> None:
    names = page.locator("datalist option").evaluate_all("all => all.map(one => one.value)")
    page.fill("input >> nth=0", names[0])
    page.fill("input >> nth=1", names[1])
    page.click("#compare button")
    page.wait_for_url("**/compare.html?*")
    assert page.locator("#found table").count() == 3  # settings, the numbers of the figure, scores
    assert page.inner_text("#status") == "2 rows are compared."


def test_script_and_server_compare_the_same(watch: Opener) -> None:
    names = list(site_of((*hostile(), *generated(4))).content.names.values())
    query = f"?rows={names[-1]},{names[0]},{names[2]}"
    cells = "all => all.map(one => [one.textContent, one.querySelector('a')?.getAttribute('href')])"
    tables = [
        watch(site)
        .open(f"{folder}compare.html{query}")
        .locator("#found caption, #found th, #found td")
        .evaluate_all(cells)
        for site, folder in (("service", "board/open-llm/"), ("hostile", ""))
    ]
    assert tables[0] == tables[1]
    assert len(tables[0]) > 80
    assert {href for _, href in tables[0]} == {
        None,
        *(f"rows/{quote(name)}.html" for name in (names[-1], names[0], names[2])),
    }


def test_four_rows_are_compared_in_the_width_of_a_tablet(watch: Opener) -> None:
    names = list(site_of(generated(200)).content.rows)[:4]
    page = watch("generated", width=768).open(f"compare.html?rows={','.join(names)}")
    assert page.locator(".wide:has(th:nth-child(8))").evaluate("one => one.scrollWidth <= one.clientWidth")


@pytest.mark.parametrize("count", [3, 4])
def test_on_a_phone_each_difference_stands_below_its_score(watch: Opener, count: int) -> None:
    names = list(site_of(generated(200)).content.rows)[:count]
    page = watch("generated", width=360).open(f"compare.html?rows={','.join(names)}")
    table = page.locator("#found table:has(th:nth-child(6))")
    lines = table.locator("tr").evaluate_all(
        """rows => rows.map(row => [...row.cells].slice(1).map(cell => cell.getBoundingClientRect())
            .map(one => [Math.round(one.right), Math.round(one.top), Math.round(one.bottom)]))"""
    )
    assert len(lines) == 8
    for cells in lines:
        scores, differences = cells[:count], cells[count:]
        assert [right for right, *_ in differences] == [right for right, *_ in scores[1:]]
        assert max(bottom for *_, bottom in scores) <= min(top for _, top, _ in differences) + 1
        assert max(right for right, *_ in cells) <= 360
    assert table.evaluate("one => one.scrollWidth <= one.parentElement.clientWidth")


SENTENCES = """pairs => pairs.map(pair => {
  history.replaceState(null, "", `?rows=${pair.map(encodeURIComponent).join(",")}`);
  dispatchEvent(new PopStateEvent("popstate"));
  const parts = [...document.querySelector("#found .lead").childNodes].filter(node => !node.matches?.(".chip"));
  return parts.map(node => node.textContent).join("").trim();
})"""


def test_the_page_says_the_sentence_of_the_command_about_many_pairs(watch: Opener) -> None:
    entries = varied()
    content = site_of(entries).content
    titles = {content.rows[name].entry.key: title.split("/")[1] for name, title in titles_of(content).items()}
    names = {row.entry.key: name for name, row in content.rows.items()}
    pairs = [(one, other) for one in entries for other in entries if one is not other]

    page = watch("varied").open("compare.html")
    said = page.evaluate(SENTENCES, [[names[one.key], names[other.key]] for one, other in pairs])

    for (one, other), words in zip(pairs, said, strict=True):
        heads = (titles[one.key], titles[other.key])
        compared = compared_rows(one, other, heads)
        if words != sentence(compared, *heads):  # told from the higher row
            compared, heads = compared_rows(other, one, heads[::-1]), heads[::-1]
        assert compared is None or words == sentence_of(compared, *heads)
        assert words == sentence(compared, *heads)
        assert "lower than" not in words
    for words in (
        "may be chance",
        "chance alone does not explain this",
        "not comparable",
        "measured differently",
        "no task in common",
        "tasks that both have",
    ):
        assert any(words in one for one in said), words


def test_page_and_script_give_the_verdict_of_the_board_where_files_have_no_errors(
    browser: Browser, tmp_path: Path
) -> None:
    site = site_of_answers()
    write_site(site, tmp_path / "site")
    first, *others = site.content.rows
    best, *rest = (site.content.rows[name] for name in site.content.rows)
    page = browser.new_page()
    for other, row in zip(others, rest, strict=True):
        page.goto(f"file://{tmp_path}/site/compare.html?rows={first},{other}")
        told, served = page.inner_text("#found"), found(compare_page(site.content, [first, other]))
        tested = site.content.tested_beside(best, row)
        assert f"over tasks it is higher in {tested.wins} of 7: {tested.verdict}" in told
        assert page.inner_text("#found .verdict").endswith("not separable")  # by questions, too
        assert (" higher in most tasks, by questions " in page.inner_text("#found .verdict")) == tested.is_more
        assert not page.locator("#found .verdict.well").count()
        assert page.inner_text("#found .lead") in served.text
        cells = (
            page.locator("#found table")
            .nth(1)
            .locator("tr")
            .evaluate_all("rows => rows.map(row => [...row.cells].map(one => one.textContent))")
        )
        assert cells in served.tables
        assert "±" not in "".join(cells[1])  # that of the average
    page.close()


def test_print_shows_the_tables_and_no_controls(watch: Opener) -> None:
    page = watch("service").open("items")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator("form").is_visible()
    assert page.locator("table").last.is_visible()
