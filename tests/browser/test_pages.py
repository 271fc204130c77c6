"""Every kind of page in a real browser: no accessibility fault, nothing leaves, names run nothing, right numbers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from bot.pages.addresses import column_page, row_page
from bot.reporting.escape import cell
from tests.browser.conftest import HERE, Opener
from tests.evaluation.judging import declared
from tests.pages.boards import examples, generated, hostile, site_of

FIXED = (
    "index.html",
    "raw.html",
    "compare.html",
    "changes.html",
    "rules.html",
    "scores.html",
    "about.html",
)
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}
# Each width and each scheme once; the other two pairs are looked at by `make test-all`.
SCREENS = pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (360, "light"),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
        pytest.param(360, "dark", marks=pytest.mark.campaign),
        pytest.param(1280, "light", marks=pytest.mark.campaign),
    ],
)


def kinds(*, disk: bool = False) -> list[str]:
    """One page of each kind of the hostile site, two rows compared, and a complete and an incomplete row."""
    names = list(site_of((*hostile(), *generated(4))).content.names.values())
    mark = "#" if disk else "?"
    return [
        *FIXED,
        f"compare.html{mark}rows={names[0]},{names[1]}",
        column_page("bbh"),
        row_page(names[0]),
        row_page(names[-1]),
    ]


@SCREENS
def test_axe_finds_nothing(watch: Opener, width: int, scheme: str) -> None:
    source = (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    watched = watch("hostile", width=width, color_scheme=scheme, bypass_csp=True)
    for path in kinds():
        page = watched.open(path)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        page.evaluate(source)
        found = page.evaluate("rules => axe.run(document, rules)", RULES)
        seen = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found["violations"]]
        assert seen == [], path
        assert len(found["passes"]) > 10


@pytest.mark.parametrize("disk", [False, True], ids=["served", "disk"])
def test_no_page_is_wider_than_a_telephone_and_a_row_opens_its_page(watch: Opener, *, disk: bool) -> None:
    watched = watch("hostile", disk=disk, width=360)
    for path in kinds(disk=disk):
        page = watched.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        assert page.evaluate("getComputedStyle(document.body).marginTop") == "0px"  # the style sheet is there
    page = watched.open("index.html")
    page.click("#board tbody th a >> nth=0")
    page.wait_for_url("**/rows/**")
    assert page.title().startswith(f"{page.locator('h1').inner_text()} · ")


def test_on_a_telephone_every_number_of_a_subtask_is_in_sight_below_its_name(watch: Opener) -> None:
    page = watch("generated", width=360).open("index.html")
    page.click("#board tbody th a >> nth=0")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    for cells in (".scores td", ".leaves td"):
        ends = page.locator(cells).evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().right)")
        assert max(ends) <= 360
    line = page.locator(".leaves tr:has(td)").first
    foot, *tops = line.evaluate(
        "line => [...line.cells].map((cell, i) => cell.getBoundingClientRect()[i ? 'top' : 'bottom'])"
    )
    assert all(top >= foot for top in tops)


def test_names_of_strangers_run_nothing_and_are_read_as_they_are(watch: Opener) -> None:
    watched = watch("hostile")
    page = watched.open("index.html")
    shown = page.locator(".board tbody th").all_text_contents()
    for name in ("evil/<script>alert(1)</script>", 'evil/"><img src=x onerror=alert(1)>', "evil/{{ 7 * 7 }}"):
        assert name in shown
    assert "evil/\\u202etxt.exe" in shown
    for link in page.locator(".board tbody th a").evaluate_all("links => links.map(link => link.href)"):
        page.goto(link)
        assert page.locator("h1").count() == 1
    page.wait_for_timeout(100)  # a picture that fails to load says so later


def test_without_script_the_board_has_the_rows_and_numbers_of_the_csv(watch: Opener, folders: dict[str, Path]) -> None:
    page = watch("generated", java_script_enabled=False).open("index.html")
    shown = page.locator("#board tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.firstChild ? cell.textContent : ''))"
    )
    rows = list(csv.DictReader(io.StringIO((folders["generated"] / "leaderboard.csv").read_text(encoding="utf-8"))))
    assert len(shown) == len(rows) == 200
    for line, row in zip(shown, rows, strict=True):
        cells = [row["average"], *(row[task.id] for task in declared().tasks)]
        assert line[1] == row["model"]
        assert [cell.partition(" ±")[0] for cell in line[2 : 2 + len(cells)]] == [
            f"{float(cell):.2f}" for cell in cells
        ]
    assert not page.locator("#controls").is_visible()


@pytest.mark.parametrize(
    ("site", "step"), [("examples", 1), ("generated", 5), pytest.param("generated", 1, marks=pytest.mark.campaign)]
)
def test_the_numbers_of_every_row_are_those_of_its_entry(watch: Opener, site: str, step: int) -> None:
    watched = watch(site)
    content = site_of({"examples": examples, "generated": lambda: generated(200)}[site]()).content
    for name, row in list(content.rows.items())[::step]:
        page = watched.open(row_page(name))
        cells = page.locator(".scores tbody tr:not(.of) td:nth-child(2)").evaluate_all(
            "all => all.map(one => one.firstChild.data)"
        )
        tasks = [cell.strip() for cell in cells]
        averages = [text.split()[1] for text in page.locator(".big").all_inner_texts()]
        assert averages == ([] if row.entry.average is None else [cell(row.entry.average, 2)])
        assert sorted(tasks) == sorted(cell(task.score, 2) for task in row.entry.tasks)
        place = page.locator(".leaves thead th").all_text_contents().index("Score") + 1
        cells = page.locator(f".leaves td:nth-child({place})").evaluate_all(
            "all => all.map(one => one.firstChild.data)"
        )
        leaves = [cell(leaf.score, 2) for task in row.entry.tasks for leaf in task.leaves]
        assert [cell.strip().rstrip("*") for cell in cells] == leaves


def test_a_rule_is_found_by_its_words_and_opened_by_a_link(watch: Opener) -> None:
    page = watch().open("rules.html#implausibly-low")
    assert page.locator("details[open]").count() == 1
    assert page.locator("#implausibly-low").is_visible()
    every = page.locator("details.rule").count()
    page.fill("#find", "limit samples run")
    assert page.locator("details.rule:visible strong").first.inner_text() == "limited-run"
    assert page.inner_text("#found") == f"{page.locator('details.rule:visible').count()} of {every}"
    page.fill("#find", "zzz")
    assert page.locator(".rules:visible").count() == 0
    bare = watch(java_script_enabled=False).open("rules.html#implausibly-low")
    assert bare.locator("details.rule").count() == every
    assert bare.locator("#finder").is_hidden()


def test_print_shows_the_table_and_no_controls(watch: Opener) -> None:
    page = watch().open("index.html")
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator("#board").is_visible()
