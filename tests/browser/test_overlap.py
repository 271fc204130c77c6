"""No text lies over another, however long names and titles are; numbers are whole, and the menu stays in sight."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from bot.pages.addresses import column_page, row_page
from bot.pages.content import PageContent
from bot.pages.environment import asset
from bot.pages.site import Site
from bot.publishing.board import make_board
from bot.publishing.plan import Plan, planned_row, with_ranks
from bot.server.service import Service
from tests.browser.conftest import Opener
from tests.browser.test_service import kinds
from tests.evaluation.judging import declared
from tests.pages.boards import generated, hostile, site_of, site_of_long_names, site_of_sixty_tasks
from tests.server.services import TARGET, make_service, make_web

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Pairs of texts that lie over each other by more than two pixels in both directions; what is cut away is not seen, and
# the cells of the board that stay in sight lie over others on purpose.
OVERLAPS = """() => {
    const seen = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.data.trim() || node.parentElement.closest('.skip, .unseen, script, noscript, .board')) continue;
        if (!node.parentElement.checkVisibility({contentVisibilityAuto: true})) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) {
            let {left, right, top, bottom} = box;
            for (let at = node.parentElement; at; at = at.parentElement) {
                const style = getComputedStyle(at);
                if (style.overflowX === 'visible' || style.display === 'inline') continue;
                const frame = at.getBoundingClientRect();
                left = Math.max(left, frame.left); right = Math.min(right, frame.right);
                top = Math.max(top, frame.top); bottom = Math.min(bottom, frame.bottom);
            }
            const text = node.data.trim().slice(0, 40);
            if (right - left > 1 && bottom - top > 1) seen.push({left, right, top, bottom, text, node});
        }
    }
    seen.sort((one, other) => one.top - other.top);
    const found = [];
    seen.forEach((one, i) => {
        for (const other of seen.slice(i + 1)) {
            if (other.top > one.bottom - 3) break;
            const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const down = Math.min(one.bottom, other.bottom) - other.top;
            if (across > 2 && down > 3 && one.node !== other.node) found.push(`${one.text} / ${other.text}`);
        }
    });
    return found;
}"""
CUT = """() => [...document.querySelectorAll('.board td:not(.beside), .scores td, td.n')]
    .filter(cell => cell.checkVisibility() && /\\d/.test(cell.textContent) && cell.scrollWidth > cell.clientWidth + 1
        && !cell.matches('.board tr > :first-child, .place')).map(cell => cell.textContent)"""
BOX = "name => document.querySelector(name).getBoundingClientRect().toJSON()"
# Links that look like buttons, whose text does not stand in the middle of their height.
LOW_OR_HIGH = """() => [...document.querySelectorAll('a.switch')].filter(link => {
    const range = document.createRange();
    range.selectNodeContents(link);
    const [outer, inner] = [link.getBoundingClientRect(), range.getBoundingClientRect()];
    return link.checkVisibility() && Math.abs(inner.top - outer.top - outer.bottom + inner.bottom) > 2;
}).map(link => link.textContent)"""
MENU = """() => [...document.querySelectorAll('nav a:not(.home)')].map(link => link.getBoundingClientRect())
    .every(box => box.left >= 0 && box.right <= innerWidth)"""


def look(browser: Browser, site: Site, folder: Path, paths: list[str], width: int) -> list[str]:
    """What is wrong on pages, at a width."""
    page: Page = browser.new_page(viewport={"width": width, "height": 740})
    for path in site:
        if path in paths or (path.endswith((".css", ".js")) and "/" not in path):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(site[path])
    faults = []
    for path in paths:
        page.goto(f"file://{folder}/{path}")
        faults += [f"{path}: {pair}" for pair in page.evaluate(OVERLAPS)]
        faults += [f"{path} cuts {number}" for number in page.evaluate(CUT)]
        faults += [f"{path}: the text of {link}" for link in page.evaluate(LOW_OR_HIGH)]
        faults += [] if page.evaluate(MENU) else [f"{path}: the menu"]
        faults += [] if page.evaluate("document.documentElement.scrollWidth <= innerWidth") else [f"{path}: wide"]
    page.close()
    return faults


def test_no_text_lies_over_another_on_the_board_and_the_page_of_a_row(browser: Browser, tmp_path: Path) -> None:
    site = site_of_long_names(20)
    assert look(browser, site, tmp_path, ["index.html", row_page(next(iter(site.content.rows)))], 360) == []


def test_the_difference_of_two_long_names_is_seen_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    site = site_of_long_names(20)
    assert look(browser, site, tmp_path, ["compare.html"], 360) == []
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(f"file://{tmp_path}/compare.html?rows={','.join(list(site.content.rows)[:2])}")
    cells = page.locator("#found .beside > div:nth-child(2) tbody tr >> nth=0").locator("td")
    ends = cells.evaluate_all("all => all.map(cell => cell.getBoundingClientRect().right)")
    page.close()
    assert len(ends) == 3
    assert max(ends) <= 360


@pytest.mark.parametrize("width", [360, 1280])
def test_a_name_of_200_letters_leaves_the_verdict_whole_and_settings_on_the_grid(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    long, other = hostile()[4], replace(hostile()[6], num_fewshot={"leaderboard_ifeval": 3})
    assert len(long.model.id) > 200
    site = site_of((long, other))
    assert look(browser, site, tmp_path, ["compare.html"], width) == []
    page = browser.new_page(viewport={"width": width, "height": 740})
    page.goto(f"file://{tmp_path}/compare.html#rows={','.join(site.content.names[one.key] for one in (long, other))}")
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = {
        name: page.evaluate(BOX, name)
        for name in (".versus .chip", ".versus .big", "#found figure", "#found .beside > :last-child table")
    }
    page.close()
    assert max(box["bottom"] for box in (boxes[".versus .chip"], boxes[".versus .big"])) < 400
    figure, settings = boxes["#found figure"], boxes["#found .beside > :last-child table"]
    assert (settings["left"], settings["right"]) == (figure["left"], figure["right"])


@pytest.mark.parametrize("width", [360, *(pytest.param(width, marks=pytest.mark.slow) for width in (768, 1280, 1920))])
def test_no_text_lies_over_another_on_the_pages_of_the_service(watch: Opener, service: Service, width: int) -> None:
    watched, faults = watch("service", width=width), []
    for path in kinds(service):
        page = watched.open(path)
        faults += [f"{path}: {pair}" for pair in page.evaluate(OVERLAPS)]
        faults += [f"{path} cuts {number}" for number in page.evaluate(CUT)]
        faults += [f"{path}: the text of {link}" for link in page.evaluate(LOW_OR_HIGH)]
        faults += [] if page.evaluate(MENU) else [f"{path}: the menu"]
        faults += [] if page.evaluate("document.documentElement.scrollWidth <= innerWidth") else [f"{path}: wide"]
    assert faults == []


@pytest.mark.parametrize("width", [360, 1280])
def test_the_tables_of_a_plan_stand_on_one_grid_with_whole_numbers(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    service = make_service(tmp_path)
    state, rows = service.contexts.store.of("open-llm"), generated(4)
    gone = [planned_row(row.key, row, None, "no file measures it any more") for row in rows[:2]]
    moved = [planned_row(row.key, row, replace(row, average=99.0), "another harness") for row in rows[2:]]
    plan = with_ranks(Plan(TARGET, "open-llm-v2", (*gone, *moved), 8), rows, {})
    state.plans.hold(plan)
    made = TestClient(make_web(service), base_url="http://localhost").get(f"/plans/open-llm/{plan.digest}").text
    service.contexts.store.close()
    page = browser.new_page(viewport={"width": width, "height": 740}, bypass_csp=True)
    page.set_content(made)
    page.add_style_tag(content=asset("site.css")[1].decode())
    assert page.evaluate(CUT) == []
    heads = page.locator("table.files thead tr").evaluate_all(
        "all => all.map(row => [...row.cells].slice(0, 3).map(cell => cell.getBoundingClientRect().left))"
    )
    page.close()
    assert len(heads) == 2
    assert heads[0] == heads[1]


def test_scores_with_an_error_are_whole_where_no_row_has_an_average(browser: Browser, tmp_path: Path) -> None:
    assert look(browser, site_of_sixty_tasks(), tmp_path, ["index.html"], 1280) == []


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [6, 20, 52])
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_no_text_lies_over_another_on_any_page(browser: Browser, tmp_path: Path, tasks: int, width: int) -> None:
    site = site_of_long_names(tasks)
    rows = list(site.content.rows)[:2]
    paths = ["index.html", "changes.html", "scores.html", "about.html", column_page("t0"), *map(row_page, rows)]
    assert look(browser, site, tmp_path, paths, width) == []


@pytest.mark.parametrize(("width", "height", "most"), [(1280, 800, 330), (360, 740, 400)])
def test_the_table_begins_high_on_the_page(
    browser: Browser, tmp_path: Path, width: int, height: int, most: int
) -> None:
    site = site_of_long_names(6)
    assert look(browser, site, tmp_path, ["index.html"], width) == []
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(f"file://{tmp_path}/index.html")
    foot = page.evaluate("document.querySelector('#board thead').getBoundingClientRect().top")
    page.close()
    assert foot < most


# Of each row of the board, the names, owners and setups that are cut, or lie over each other.
NAMES = """() => [...document.querySelectorAll('.board tbody th')].filter(cell => {
    const parts = [...cell.querySelectorAll('bdi > span, bdi > i, small')].map(part => part.getBoundingClientRect());
    const frame = cell.getBoundingClientRect();
    return parts.some((one, i) => one.right > frame.right + 1 || one.bottom > frame.bottom + 1 || parts.slice(i + 1)
        .some(two => Math.min(one.right, two.right) - Math.max(one.left, two.left) > 2
            && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 2));
}).map(cell => cell.textContent)"""


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_what_tells_rows_apart_is_whole(browser: Browser, tmp_path: Path, width: int) -> None:
    owner = "an-organization-with-a-name-of-sixty-letters-and-more-0123456"
    names = ["Meta-Llama-3.1-70B-Instruct-abliterated-GGUF-Q4_K_M-dpo-merged-v2.1-final", "short", "\u0645\u062e" * 30]
    rows = [
        replace(
            row, key=f"{row.key}-{place}", model=replace(row.model, id=f"{owner}/{names[place % 3]}", precision=kind)
        )
        for place, row in enumerate(generated(9))
        for kind in ["bfloat16" if place < 5 else "float16"]
    ]
    site = Site(PageContent(make_board((*rows, *hostile()), declared())))
    assert look(browser, site, tmp_path, ["index.html"], width) == []
    page = browser.new_page(viewport={"width": width, "height": 740})
    page.goto(f"file://{tmp_path}/index.html")
    found = page.evaluate(NAMES)
    page.close()
    assert found == []
