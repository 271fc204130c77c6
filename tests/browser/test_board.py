"""The board's script in a real browser: sort, filter, columns, the address, the keyboard, what can be taken away."""

from __future__ import annotations

import csv
import io
import json
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bot.evaluation.rounding import half_up
from bot.pages.compare_page import compare_page
from bot.pages.content import PageContent
from bot.pages.site import Site
from bot.pages.write import write_site
from bot.publishing.board import make_board
from bot.publishing.entry import Remark
from tests.browser.conftest import HERE, Opener, launch
from tests.evaluation.judging import declared
from tests.pages.boards import (
    FAR_OFF,
    GROUPS,
    board_of_rows,
    examples,
    found,
    generated,
    site_of,
    site_of_groups,
    site_of_long_names,
    site_of_sixty_tasks,
    sized,
    varied,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page

BBH = "th[data-name=bbh]"
AVERAGES = "#board tbody tr > :nth-child(3)"


def column(page: Page, name: str) -> list[str]:
    """The texts of a column of the ranked rows that are shown, from the top down."""
    return page.evaluate(
        """name => {
            const heads = [...document.querySelectorAll('#board thead th')];
            const place = heads.findIndex(head => head.dataset.name === name);
            return [...document.querySelectorAll('#board tbody tr')].map(
                row => row.cells[place].firstChild?.textContent ?? '');
        }""",
        name,
    )


def numbers(page: Page, name: str) -> list[float]:
    return [float(text.partition(" ±")[0]) for text in column(page, name)]


def test_a_click_sorts_by_a_column_and_says_so(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    assert numbers(page, "average") == sorted(numbers(page, "average"), reverse=True)
    assert page.get_attribute("#board th[data-name=average]", "aria-sort") == "descending"
    page.click("#board th[data-name=average] button")
    assert numbers(page, "average") == sorted(numbers(page, "average"))
    page.click(f"{BBH} button")
    assert numbers(page, "bbh") == sorted(numbers(page, "bbh"), reverse=True)
    assert page.get_attribute(BBH, "aria-sort") == "descending"
    assert page.inner_text("#said-of-rows") == "200 of 200 rows shown, sorted by BBH, descending."
    page.click(f"{BBH} button")
    assert numbers(page, "bbh") == sorted(numbers(page, "bbh"))
    assert page.get_attribute(BBH, "aria-sort") == "ascending"
    page.click("th[data-name=model] button")
    assert column(page, "model")[0] == "org-0/model-000"
    assert page.locator("[aria-sort]").count() == 1
    assert page.url.endswith("?sort=model")


@pytest.mark.parametrize("width", [360, 1280])
def test_a_second_click_at_the_same_place_turns_the_order_round(watch: Opener, width: int) -> None:
    """Sorting puts a line above the table, which moves down: the head stays below the pointer."""
    page = watch("generated", width=width).open("index.html")
    head = "#board th[data-name=average]"
    box = page.locator(f"{head} button").bounding_box()
    assert box is not None
    for order in ("ascending", "descending"):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.get_attribute(head, "aria-sort") == order


# Of each head in sight: the middle of its name is the button that sorts, and the link is beside or above the name.
COVERED = """() => [...document.querySelectorAll('#board thead th')].flatMap(head => {
    const [button, link] = ['button:not(.fold)', 'a'].map(kind => head.querySelector(kind));
    const range = new Range();
    range.selectNodeContents(button);
    const [name, about] = [range, link].map(one => one?.getBoundingClientRect());
    const [x, y] = [(name.left + name.right) / 2, (name.top + name.bottom) / 2];
    if (!name.width || x > innerWidth - 40) return [];
    const isOver = about && about.left < name.right - 1 && name.left < about.right - 1 && about.bottom > name.top + 1;
    return isOver || document.elementFromPoint(x, y) !== button ? [button.textContent] : [];
})"""


@pytest.mark.parametrize("make", [site_of_groups, sized])
def test_the_link_of_a_head_covers_no_part_of_its_name(
    browser: Browser, tmp_path: Path, make: Callable[[], Site]
) -> None:
    write_site(make(), tmp_path / "site")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    for query in ("", "#open=Retrieval"):
        page.goto(f"file://{tmp_path}/site/index.html{query}")
        assert page.evaluate(COVERED) == []
    page.hover("#board th[data-name=rank]")
    page.click("#board th[data-name=rank] button")
    assert page.url.endswith("sort=rank")
    page.context.close()


def test_a_chip_pressed_on_a_phone_stays_in_sight(watch: Opener) -> None:
    page = watch("sized", width=360, has_touch=True).open("index.html")
    page.evaluate("document.getElementById('chips').scrollLeft = 1000")
    last = page.locator("#chips button:not([hidden])").last
    last.tap()
    assert page.evaluate("document.getElementById('chips').scrollLeft") == 0
    page.locator("#chips button:not([hidden], [aria-pressed=true])").first.tap()
    ends = page.locator("#chips, #chips [aria-pressed=true]").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(one => [one.left, one.right])"
    )
    assert len(ends) == 3
    assert ends[0][0] <= ends[1][0]
    assert ends[1][1] <= ends[0][1] - 32  # before it fades


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_filters_open_and_close_at_the_same_place(watch: Opener, width: int) -> None:
    page = watch("sized", width=width).open("index.html")
    box = page.locator("#filters").bounding_box()
    assert box is not None
    for is_open in (True, False):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.locator("#panel").is_visible() == is_open
        assert page.locator("#filters").bounding_box() == box | {"width": pytest.approx(box["width"], abs=4)}
        assert page.locator("#panel").evaluate("one => one.scrollHeight <= one.clientHeight + 1")
        assert page.locator("#chips [aria-pressed=true]").count() == 0


@pytest.mark.parametrize(
    "query", ["", "sort=-bbh", "sort=-size", "licence=open&size=-10", "rows=look", "q=org&rows=look"]
)
@pytest.mark.parametrize("site", ["sized", "hostile"])
def test_the_table_of_a_phone_begins_above_400_pixels(watch: Opener, site: str, query: str) -> None:
    page = watch(site, width=360).open(f"index.html?{query}")
    page.set_viewport_size({"width": 360, "height": 740})
    if page.locator("#board").is_visible():
        assert page.locator("#board thead").evaluate("one => one.getBoundingClientRect().top") < 400


def test_a_phone_says_what_chance_cannot_tell_from_the_best_of_a_filter(watch: Opener) -> None:
    page = watch("generated", width=360).open("index.html?q=1")
    assert " Not separable from " in page.inner_text("#whole")
    page = watch("generated", width=360).open("index.html?sort=-bbh")
    assert page.inner_text("#whole").strip().startswith("Highest in BBH: ")


def test_a_board_of_two_rows_has_no_tints_and_the_lines_of_any_other_on_a_phone(
    browser: Browser, tmp_path: Path
) -> None:
    write_site(site_of(generated(2)), tmp_path / "site")
    page = browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True)
    page.goto(f"file://{tmp_path}/site/index.html")
    assert page.locator("#board.chosen").is_visible()
    assert page.locator("#near").is_visible()
    assert page.locator("#controls, #q, #chips, #filters").locator("visible=true").count() == 0
    assert page.locator("#board :is(.q1, .q5, .q9)").count() == 0
    assert page.evaluate(
        "document.querySelector('.frame').scrollWidth <= document.querySelector('.frame').clientWidth + 1"
    )
    page.context.close()


def test_a_name_of_many_letters_takes_two_lines_and_has_the_whole_in_its_title(watch: Opener) -> None:
    page = watch("hostile").open("index.html")
    link = page.locator("#board th a[title]").first
    assert len(link.get_attribute("title") or "") > 190
    box = link.locator("span").bounding_box()
    assert box is not None
    assert box["height"] < 40


@pytest.mark.parametrize("name", ["bbh", "mmlu_pro"])
def test_a_link_that_sorts_by_a_column_brings_it_into_sight_on_a_phone(watch: Opener, name: str) -> None:
    page = watch("generated", width=360).open(f"index.html?sort=-{name}")
    head = page.locator(f"#board th[data-name={name}]").bounding_box()
    average = page.locator("#board th[data-name=average]").bounding_box()
    assert head is not None
    assert average is not None
    assert average["x"] + average["width"] - 1 <= head["x"]
    assert head["x"] + head["width"] <= 360


@pytest.mark.parametrize("disk", [False, True], ids=["served", "disk"])
def test_back_and_reload_keep_what_was_chosen(watch: Opener, *, disk: bool) -> None:
    page = watch("generated", disk=disk).open("index.html")
    first = column(page, "model")
    page.click(f"{BBH} button")
    by_bbh = column(page, "model")
    page.click("#filters")
    page.select_option("#org", "org-3")
    page.uncheck("input[value=gpqa]")
    page.fill("#q", "MODEL-01")
    page.wait_for_url(lambda url: url.endswith("sort=-bbh&org=org-3&hide=gpqa&q=MODEL-01"))
    chosen = column(page, "model")
    assert chosen
    assert all(name.startswith("org-3/model-01") for name in chosen)
    page.reload()
    assert column(page, "model") == chosen
    assert page.input_value("#q") == "MODEL-01"
    assert not page.locator("th[data-name=gpqa]").first.is_visible()
    page.go_back()
    assert page.locator("th[data-name=gpqa]").first.is_visible()
    page.go_back()
    assert column(page, "model") == by_bbh
    page.go_back()
    assert column(page, "model") == first
    page.go_forward()
    assert column(page, "model") == by_bbh
    page.click("a.switch")
    page.wait_for_url("**/raw.html*")
    assert page.get_attribute(BBH, "aria-sort") == "descending"
    assert column(page, "model")[0] == by_bbh[0]


def test_filters_and_reset(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    page.click("#filters")
    page.fill("#since", "2026-03-01")
    dates = column(page, "date")
    assert 0 < len(dates) < 200
    assert min(dates) >= "2026-03-01"
    assert page.locator("#org option").count() == 8
    page.click("#reset")
    assert len(column(page, "date")) == 200
    assert "?" not in page.url


def test_columns_stand_below_their_heads_in_every_body_and_a_search_leaves_no_gap(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    places = """() => [...document.querySelectorAll('#board tr')].map(row => {
        row.scrollIntoView();
        return [...row.cells].map(cell => Math.round(cell.getBoundingClientRect().right)).join();
    })"""
    assert page.locator("#board tbody").count() == 8
    assert len(set(page.evaluate(places))) == 1
    page.fill("#q", "model-1")
    page.wait_for_url("**q=model-1")
    assert page.locator("#board tbody").count() == 4
    heights = page.locator("#board tbody").evaluate_all("all => all.map(one => one.offsetHeight / one.rows.length)")
    assert max(heights) - min(heights) < 2


@pytest.mark.slow
def test_rows_far_from_the_screen_are_rows_of_a_table_for_a_screen_reader(browser: Browser, served: str) -> None:
    reader = launch(browser.browser_type, "--force-renderer-accessibility")  # as the browser is where one runs
    page = reader.new_page()
    page.goto(f"{served}/generated/index.html")
    session = page.context.new_cdp_session(page)
    session.send("Accessibility.enable")

    def count(role: str) -> int:
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
        return sum(node["role"]["value"] == role for node in nodes if not node["ignored"])

    for _ in range(50):
        if count("row") == 201:
            break
        page.wait_for_timeout(100)  # the tree grows while the page is idle
    columns = page.locator("#board thead th").count()
    assert [count(role) for role in ("table", "row", "rowheader", "columnheader")] == [1, 201, 200, columns]
    assert count("cell") == 200 * (columns - 1)
    reader.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (768, 1024)])
def test_the_frame_ends_in_the_window_with_a_shade_until_its_last_row(watch: Opener, width: int, height: int) -> None:
    page = watch("generated", width=width).open("index.html")
    page.set_viewport_size({"width": width, "height": height})
    frame, shade = page.locator(".frame").first, "one => getComputedStyle(one, '::before').opacity"
    assert frame.evaluate("one => one.getBoundingClientRect().bottom") <= height
    assert float(frame.evaluate(shade)) == 1
    page.wait_for_function("""() => {  // rows that come near the screen change the height of all
        const frame = document.querySelector('.frame');
        frame.scrollTo({top: frame.scrollHeight, behavior: 'instant'});
        return Number(getComputedStyle(frame, '::before').opacity) < 0.1;
    }""")


def test_the_titles_of_both_tables_stand_on_a_line(watch: Opener) -> None:
    page = watch("varied").open("index.html")
    feet = page.evaluate("""() => [...document.querySelectorAll('.board')].map(table =>
        [...table.querySelectorAll('thead th > button, thead th > span')].filter(one => one.offsetParent)
            .map(one => Math.round(one.getBoundingClientRect().bottom)))""")
    assert [len(set(each)) for each in feet] == [1, 1]


def test_an_incomplete_row_stands_apart_without_rank_and_average(watch: Opener) -> None:
    page = watch("examples").open("index.html")
    assert page.locator("table.board").count() == 2
    page.click(f"{BBH} button")
    row = page.locator("table.board >> nth=1").locator("tbody tr td")
    assert row.nth(0).inner_text() == "–"
    assert row.nth(1).inner_text() == "no BBH"


def test_back_from_the_page_of_a_row_the_table_stands_where_it_stood(watch: Opener) -> None:
    page = watch("generated").open("index.html?q=model-1")
    frame = page.locator(".frame >> nth=0")
    frame.evaluate("frame => { frame.scrollTop = 900 }")
    page.locator("#board tbody a >> nth=40").evaluate("link => link.click()")
    page.wait_for_url("**/rows/**")
    page.go_back()
    page.wait_for_selector("#controls:not([hidden])")
    assert frame.evaluate("frame => frame.scrollTop") == 900
    assert page.input_value("#q") == "model-1"


def test_the_whole_head_of_a_column_sorts_but_for_the_link_in_it(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    page.click(BBH, position={"x": 3, "y": 3})
    assert page.get_attribute(BBH, "aria-sort") == "descending"
    page.click(f"{BBH} a")
    page.wait_for_url("**/columns/bbh.html")


def test_rows_without_warnings_are_those_that_have_none(watch: Opener) -> None:
    rows = site_of(varied()).content.board.rows
    clean = sum(not row.entry.warnings for row in rows)
    page = watch("varied").open("index.html?rows=clean")
    assert 0 < clean < len(rows)
    assert page.inner_text("#status").startswith(f"{clean} of {len(rows)} rows shown, rows without warnings.")
    page.click("#filters")
    page.select_option("#rows", "warned")
    assert page.inner_text("#status").startswith(f"{len(rows) - clean} of {len(rows)} rows shown, rows with warnings.")


def test_the_best_of_a_filter_is_said_with_what_chance_cannot_tell_from_it(watch: Opener) -> None:
    page = watch("generated").open("index.html?q=1")
    averages = [[float(number) for number in cell.split("±")] for cell in page.locator(AVERAGES).all_text_contents()]
    (best, half), *others = averages
    alike = sum(best - other <= hypot(half, reach) for other, reach in others)
    assert 1 < alike < 10
    assert f" ±{half:.1f}. Not separable from {alike} others of these. Rank " in page.inner_text("#whole")
    assert page.get_attribute("#whole a", "href") == page.get_attribute("#board tbody a", "href")
    assert page.inner_text("#whole").startswith("Of these, ")
    lacking = watch("varied").open("index.html?q=row-0")  # incomplete ones among them
    rows = [[float(number) for number in cell.split("±")] for cell in lacking.locator(AVERAGES).all_text_contents()]
    alike = sum(rows[0][0] - other <= hypot(rows[0][1], reach) for other, reach in rows[1:])
    said = f"Not separable from {alike} other{'s' * (alike > 1)}" if alike else "Better than all others"
    assert f". {said} of these." in lacking.inner_text("#whole")
    page.click("#reset")
    assert page.inner_text("#whole").endswith(watch("generated").open("index.html").inner_text("#whole .quiet"))
    assert not page.inner_text("#whole").startswith("Of these")
    page = watch("generated").open("index.html?q=12")
    assert ". Better than all others of these. Rank " in page.inner_text("#whole")
    page = watch("hostile").open("index.html?q=evil")
    assert " Better than all others of these. Rank 2 of all. To look at: 1 warning on its page." in page.inner_text(
        "#whole"
    )


@pytest.mark.parametrize(("size", "ranks"), [("hundreds", "118–250"), ("thousands", "1384–1450")])
@pytest.mark.parametrize("width", [360, 1280])
def test_ranks_of_a_large_board_and_the_box_beside_them_are_whole(
    watch: Opener, size: str, ranks: str, width: int
) -> None:
    page = watch("generated", width=width).open("index.html")
    assert page.locator("#board.hundreds").count() == 1
    box, cell, average = page.evaluate(
        """([size, ranks]) => {
            const board = document.getElementById('board');
            board.classList.replace('hundreds', size);
            const row = board.tBodies[0].rows[0];
            row.cells[0].firstChild.textContent = ranks;
            row.cells[0].dataset.place = ranks.split('–')[1]; // of each rank that is a range
            const text = document.createRange();
            text.selectNodeContents(row.cells[0].firstChild);
            const edges = (one) => { const found = one.getBoundingClientRect(); return [found.left, found.right]; };
            return [text, row.cells[0], row.cells[2]].map(edges);
        }""",
        [size, ranks],
    )
    assert cell[0] <= box[0]
    assert box[1] <= cell[1]
    assert average[1] <= width


def test_a_wheel_over_the_size_changes_no_filter(watch: Opener) -> None:
    page = watch("sized").open("index.html")
    page.click("#filters")
    page.fill("#to", "10")
    page.wait_for_url("**?size=-10")
    page.hover("#to")
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(300)
    assert page.input_value("#to") == "10"
    assert page.url.endswith("?size=-10")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("licence=mit,zzz", "10 of 20 rows shown, licence mit or zzz."),
        ("licence=zzz", "0 of 20 rows shown, licence zzz."),
        ("org=zzz", "0 of 20 rows shown, organization zzz."),
        ("since=zzz&size=zzz&rows=zzz&sort=zzz", "20 of 20 rows shown."),
    ],
)
def test_what_a_link_asks_for_is_said_also_where_no_row_has_it(watch: Opener, query: str, said: str) -> None:
    page = watch("sized").open(f"index.html?{query}")
    assert page.text_content("#status").startswith(said)


def test_an_empty_filter_says_so_and_shows_no_empty_table(watch: Opener) -> None:
    page = watch("generated").open("index.html?q=nobody&since=2026-01-01")
    filters = "with “nobody” in their names, since 2026-01-01"
    assert page.inner_text("#said-of-rows") == f"0 of 200 rows shown, {filters}. Change a filter, or reset them all."
    assert not page.locator("#board, #near, #among, #csv, #extent").locator("visible=true").count()
    page.click("#reset")
    assert page.locator("#board").is_visible()
    wide = watch("generated", width=1920).open("index.html?q=nobody")
    assert wide.locator("#legend").evaluate("one => one.offsetWidth") > 500
    page = watch("hostile").open("index.html?q=nobody")
    assert not page.locator("#incomplete").is_visible()


STOP = """[document.activeElement.id || document.activeElement.textContent.trim(),
    getComputedStyle(document.activeElement).outlineStyle, Boolean(document.activeElement.closest('#board tbody'))]"""


def test_the_keyboard_alone_does_everything_with_few_stops_before_the_first_row(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name, outline, is_row = page.evaluate(STOP)
        reached.append(name)
        assert outline != "none", name  # where the focus is can be seen
        if is_row:
            break
    assert reached[0] == "Skip to the table"
    assert len(reached) - 1 <= 20
    page.keyboard.press("/")
    page.keyboard.type("model-0")
    page.wait_for_url("**q=model-0")
    assert len(column(page, "model")) == 100
    page.focus("th[data-name=rank] button")
    for _ in range(20):
        if page.evaluate(STOP)[0] == "BBH":
            break
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.get_attribute(BBH, "aria-sort") == "descending"
    page.focus("#filters")
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(STOP)[0])
    assert {"q", "rows", "org", "since", "tint", "copy", "csv", "json", "link", "reset"} <= {*reached}


def test_what_is_shown_can_be_copied_as_markdown(watch: Opener) -> None:
    page = watch("generated", permissions=["clipboard-read", "clipboard-write"]).open("index.html?q=model-00&hide=date")
    page.click("#filters")
    page.click("#copy")
    page.locator("#status", has_text="copied").wait_for()
    head, _, *lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    first = next(row for row in board_of_rows(generated(200)).rows if "model-00" in row.entry.model.id)
    error = 1.96 * (first.entry.stderr or 0.0)
    assert len(lines) == 10
    assert head.startswith("| Rank | Model | Average | IFEval | BBH |")
    assert "Date" not in head
    start = f"| {first.ranks} | {first.entry.model.id} | {first.entry.average:.2f} ±{error:.1f} |"
    assert lines[0].startswith(start)


def test_the_rows_that_are_shown_can_be_saved_with_full_numbers(watch: Opener) -> None:
    page = watch("generated").open("index.html?q=model-00&sort=bbh")
    shown = column(page, "model")
    expected = {row.entry.model.id: row.entry.average for row in board_of_rows(generated(200)).rows}
    with page.expect_download() as saved:
        page.click("#csv")
    rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text(encoding="utf-8"))))
    assert [row["model"] for row in rows] == shown
    assert [float(row["average"]) for row in rows] == [expected[name] for name in shown]
    page.click("#filters")
    with page.expect_download() as saved:
        page.click("#json")
    data = json.loads(saved.value.path().read_text(encoding="utf-8"))
    assert [(row["model"], row["average"]) for row in data["rows"]] == [(name, expected[name]) for name in shown]
    assert data["schema"] == "leaderboard-bot/board/1"


@pytest.mark.parametrize("disk", [False, True], ids=["served", "disk"])
def test_two_picked_rows_are_compared_with_the_sentence_that_the_server_makes(watch: Opener, *, disk: bool) -> None:
    content = site_of(examples()).content
    names = list(content.rows)[:2]
    page = watch("examples", disk=disk).open("index.html")
    for place in range(2):
        page.check(f"#board tbody input >> nth={place}")
    page.click("#picked a")
    expected = found(compare_page(content, names))
    assert page.locator("#found .lead").inner_text() in expected.text
    lines = page.locator("#found .beside .wide tbody tr:not(figure *)")
    shown = lines.evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")
    assert shown == expected.tables[-1][1:]
    assert "Measured alike: bounds of the score" in page.locator("#found").inner_text()
    page.reload()
    assert page.locator("#found figure svg").count() == 1


FOUND = """pairs => pairs.map(pair => {
  history.replaceState(null, "", `?rows=${pair.map(encodeURIComponent).join(",")}`);
  dispatchEvent(new PopStateEvent("popstate"));
  const tables = [...document.querySelectorAll("#found table:not(figure table)")];
  const texts = document.querySelectorAll("#found .beside > :last-child .quiet, #found caption");
  return [[...texts].at(-1)?.textContent ?? "",
    tables.map(table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent)))];
})"""


def test_the_script_finds_the_same_settings_and_scores_as_the_server(watch: Opener) -> None:
    content = site_of(varied()).content
    names = list(content.rows)
    pairs = [[one, other] for one in names[::2] for other in names[1::2]]
    captions = set()
    for pair, (caption, tables) in zip(pairs, watch("varied").open("compare.html").evaluate(FOUND, pairs), strict=True):
        made = compare_page(content, pair)
        expected = [table for table in found(made).tables if table[0][0] in {"Setting", "Score"}]
        assert tables == expected, pair
        assert caption in found(made).text
        captions.add(caption.partition(";")[0].partition(":")[0])
    assert captions == {"Measured differently", "Measured alike", ""}  # "": no task in common


def test_the_script_rounds_as_the_server_does(watch: Opener) -> None:
    values = [88.335, 1.005, -0.125, -0.004, 0.0, 2.5, 99.995, 12.344999]
    shown = watch("varied").open("compare.html").evaluate("all => all.map(one => page.halfUp(one, 2))", values)
    assert shown == [str(half_up(value, 2)) for value in values]


def test_a_fifth_row_is_not_picked_and_enter_compares(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    boxes = page.locator("#board tbody input")
    for place in range(4):
        boxes.nth(place).check()
    boxes.nth(4).click()
    assert [boxes.nth(place).is_checked() for place in range(5)] == [True] * 4 + [False]
    assert "first take one away" in page.inner_text("#picked")
    for place in (1, 2):
        boxes.nth(place).uncheck()
    boxes.nth(3).press("Enter")
    page.wait_for_url(lambda address: "compare.html?rows=" in address)
    names = list(site_of(generated(200)).content.rows)
    assert page.url.endswith(f"rows={names[0]},{names[3]}")


def test_a_command_is_copied_as_it_stands(watch: Opener) -> None:
    page = watch("examples").open(f"rows/{next(iter(site_of(examples()).content.rows))}.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = page.locator("#from ~ .copied pre").first.text_content()
    button = page.locator("#from ~ .copied button").first
    next_word = button.evaluate_handle("""button => ({said: new Promise(
        say => new MutationObserver(() => say(button.textContent)).observe(button, {childList: true}))})""")
    button.click()
    assert next_word.evaluate("word => word.said") == "Copied"  # it stands for two seconds only
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_a_row_to_compare_is_found_by_a_part_of_its_name(watch: Opener) -> None:
    page = watch("generated").open("compare.html")
    assert page.inner_text("#status") == "Choose two to four rows."
    page.fill("#compare input >> nth=0", "model-012")
    page.fill("#compare input >> nth=1", "ORG-3")
    page.click("#compare button")
    assert "“ORG-3” is taken as org-3/model-" in page.inner_text("#status")
    assert "the best of 29 rows that have it in their names" in page.inner_text("#status")
    assert "rows=org-5/model-012/" in page.url  # a link keeps its meaning when the board grows
    assert "ORG-3" not in page.url
    assert "model-012" in page.locator("#found .lead").inner_text()


def test_rows_are_ticked_on_the_empty_page_of_the_comparison(watch: Opener) -> None:
    names = list(site_of(generated(200)).content.rows)
    page = watch("generated", width=360).open("compare.html")
    assert all(box["height"] >= 24 for link in page.locator("footer a").all() if (box := link.bounding_box()))
    beside = page.locator("#begin section a >> nth=2")
    assert beside.get_attribute("href") == f"compare.html?rows={names[2]},{names[3]}"
    for place in (1, 4):
        page.click(f"#begin label >> nth={place}")
    page.click("#begin button")
    assert page.url.endswith(f"rows={names[1]},{names[4]}")
    assert page.locator("#found .lead").is_visible()


def test_a_single_row_is_offered_the_rows_beside_it(watch: Opener) -> None:
    content = site_of(generated(200)).content
    name = list(content.rows)[4]
    made = found(compare_page(content, [name]))
    beside = [link for link in made.links if link.startswith("compare.html?rows=")][:6]
    page = watch("generated").open(f"compare.html?rows={name}")
    links = page.locator("#found p a")
    assert page.inner_text("#status") == "Choose a second row."
    assert [link.partition(",")[2] for link in beside] == [
        one.replace("%2F", "/")
        for one in links.evaluate_all("all => all.map(link => link.getAttribute('href').split(',')[1])")
    ]
    links.nth(5).click()
    page.wait_for_selector("#found .lead")


def test_on_a_phone_the_page_scrolls_and_a_reader_chooses_the_column(watch: Opener) -> None:
    page = watch("generated", width=360, has_touch=True).open("index.html?sort=-bbh")
    seen = """() => {
        const row = document.querySelectorAll('#board tbody tr')[40];
        window.scrollTo(0, scrollY + row.getBoundingClientRect().top - 300);
        const names = [...document.querySelectorAll('#board thead th')].filter(head => {
            const {left, width, top, height} = head.getBoundingClientRect();
            return document.elementFromPoint(left + width / 2, top + height - 8)?.closest('th') === head;
        }).map(head => head.dataset.name);
        const cells = [...row.cells].filter(cell => cell.checkVisibility()).map(cell => cell.getBoundingClientRect());
        return [names, cells.length, cells.every(box => box.left >= 0 && box.right <= innerWidth)];
    }"""
    assert page.evaluate(seen) == [["rank", "model", "average", "bbh", "math"], 5, True]
    page.select_option("#beside", "gpqa")
    assert page.evaluate(seen) == [["rank", "model", "average", "gpqa", "musr"], 5, True]
    page.evaluate("scrollTo(0, 0)")
    cells = page.locator("#board tbody >> nth=0").locator("tr >> nth=1").locator("td:visible")
    assert cells.count() == 4
    for place in range(4):
        for share in (0.1, 0.9):
            box = cells.nth(place).bounding_box()
            assert box is not None
            page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + share * box["height"])
            assert page.locator(".opened").count() == 1
            page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + share * box["height"])
            assert page.locator(".opened").count() == 0
    page.tap("#board tbody tr:nth-child(2) td:nth-child(3)")
    page.tap(".opened button")
    assert page.inner_text("#picked").startswith("1 of at most 4 picked")


@pytest.mark.parametrize("width", [768, 1280, 1920])
def test_head_name_and_average_are_in_sight_at_row_500_and_at_the_last_column(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    rows = [
        replace(row, key=f"{row.key}-{part}", model=replace(row.model, id=f"{row.model.id}-{part}"))
        for row in generated(200)
        for part in range(3)
    ]
    site = site_of(tuple(rows))
    for path in (
        "index.html",
        *(path for path in site if path.endswith((".css", ".js")) and path != "compare-data.js"),
    ):
        (tmp_path / path).write_bytes(site[path])
    page = browser.new_page(viewport={"width": width, "height": 740})
    page.goto(f"file://{tmp_path}/index.html")
    for _ in range(50):
        page.evaluate("""() => {
            const frame = document.querySelector('.frame'), row = document.querySelectorAll('#board tbody tr')[499];
            frame.scrollIntoView();
            frame.scrollLeft = 1e5;
            frame.scrollTop += row.getBoundingClientRect().top - frame.getBoundingClientRect().top - 200;
        }""")
        page.wait_for_timeout(100)  # the heights of the parts above become known as they come near the screen
        seen = page.evaluate("""() => {
            const row = document.querySelectorAll('#board tbody tr')[499];
            const isSeen = cell => {
                const {left, top, width, height} = cell.getBoundingClientRect();
                return document.elementFromPoint(left + width / 2, top + height / 2)?.closest('td, th') === cell;
            };
            const cells = one => [one.cells[1], one.cells[2], one.cells[one.cells.length - 1]];
            return [document.querySelector('#board thead tr'), row].flatMap(cells).map(isSeen);
        }""")
        if all(seen):
            break
    page.close()
    assert seen == [True] * 6


def test_sixty_tasks_are_reached_with_the_names_in_sight(browser: Browser, tmp_path: Path) -> None:
    write_site(site_of_sixty_tasks(), tmp_path / "site")
    page = browser.new_page(viewport={"width": 1280, "height": 740})
    page.goto(f"file://{tmp_path}/site/index.html")
    hidden = page.evaluate("""() => {
        const row = document.querySelectorAll('.frame tbody tr')[5], frame = row.closest('.frame');
        const heads = frame.querySelectorAll('thead tr')[0].cells;
        frame.scrollIntoView({behavior: 'instant'});
        const isSeen = cell => {
            const {right, top, height} = cell.getBoundingClientRect();
            return document.elementFromPoint(right - 6, top + height / 2)?.closest('td, th') === cell;
        };
        const hidden = [];
        for (const [place, head] of [...heads].entries()) {
            if (!head.dataset.name?.match(/_[0-9]$/)) continue;
            const past = head.getBoundingClientRect().right - frame.getBoundingClientRect().right + 4;
            frame.scrollBy({left: past, behavior: 'instant'});
            if (![head, row.cells[place], row.cells[1], row.cells[2]].every(isSeen)) hidden.push(head.dataset.name);
        }
        return [heads.length > 60, hidden];
    }""")
    page.close()
    assert hidden == [True, []]


def test_the_name_of_a_group_stands_once_above_its_columns_and_stays_in_sight(browser: Browser, tmp_path: Path) -> None:
    board = declared()
    tasks = tuple(
        board.tasks[0].model_copy(update={"id": f"t{place}", "title": f"{'bbh' if place < 20 else 'musr'} part{place}"})
        for place in range(24)
    )
    rows = tuple(
        replace(row, tasks=tuple(replace(row.tasks[0], id=task.id, title=task.title) for task in tasks))
        for row in generated(3)
    )
    write_site(Site(PageContent(make_board(rows, board.model_copy(update={"tasks": tasks})))), tmp_path / "site")
    page = browser.new_page(viewport={"width": 1280, "height": 740})
    page.goto(f"file://{tmp_path}/site/index.html")
    table = page.locator("table.board").first
    assert table.locator("thead .first small b").all_inner_texts() == ["bbh", "musr"]
    spans = table.locator("thead .first").evaluate_all("all => all.map(one => one.style.getPropertyValue('--span'))")
    assert spans == ["20", "4"]
    places = table.evaluate("""table => {
        const [name, average] = [table.querySelector('.first b'), table.tHead.rows[0].cells[2]];
        table.closest('.frame').scrollLeft = 500;
        return [name.getBoundingClientRect().left, average.getBoundingClientRect().right];
    }""")
    page.emulate_media(media="print")  # each head has its own texts inside
    label = table.locator(".first small").first.evaluate("one => getComputedStyle(one).position")
    page.close()
    assert label == "static"
    assert places[1] <= places[0] < places[1] + 20


AXE = HERE / "node_modules" / "axe-core" / "axe.min.js"
SHOWN = """() => [...document.querySelectorAll('#board thead th')].filter(one => one.checkVisibility())
    .map(one => one.dataset.name)"""
# What is cut: a word of a head, a number, or a column at the right edge of the frame.
CUT = """() => {
    const frame = document.querySelector('.frame'), edge = frame.getBoundingClientRect().left + frame.clientWidth + 1;
    const heads = [...document.querySelectorAll('#board thead th')].filter(one => one.checkVisibility());
    const parts = heads.flatMap(head => [head, ...head.children]).concat([...document.querySelectorAll('#board td')]);
    return [
        ...parts.filter(one => one.checkVisibility() && !one.matches('td:first-child')
            && one.scrollWidth > one.clientWidth + 1).map(one => one.textContent),
        ...heads.filter(head => {
            const {left, right} = head.getBoundingClientRect();
            return frame.scrollLeft === 0 && left < edge - 2 && right > edge;
        }).map(head => head.dataset.name),
    ];
}"""


@pytest.mark.parametrize("width", [1280, pytest.param(768, marks=pytest.mark.slow)])
def test_a_click_opens_the_tasks_of_a_group_beside_it(browser: Browser, tmp_path: Path, width: int) -> None:
    write_site(site_of_groups(), tmp_path / "site")
    page = browser.new_page(viewport={"width": width, "height": 740})
    page.goto(f"file://{tmp_path}/site/index.html")
    fixed = ["rank", "model", "average"]
    columns = ["SummEval" if group == "Summarization" else group for group in GROUPS]  # its only task
    assert page.evaluate(SHOWN) == [*fixed, *columns, "IFEval", "date"]
    assert page.evaluate(CUT) == []
    for _ in range(4):  # the keyboard passes what is folded
        page.focus("th[data-name=Retrieval] .fold")
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('th').dataset.name") == "Retrieval"
    page.click("th[data-name=Retrieval] .fold")
    before, (name, *tasks, after) = page.evaluate(SHOWN)[:6], page.evaluate(SHOWN)[6:13]
    assert (before, name, tuple(tasks), after) == (
        [*fixed, *columns[:3]],
        "Retrieval",
        GROUPS["Retrieval"],
        "IFEval",
    )
    frame = page.locator(".frame").first.bounding_box()
    last = page.locator(f"th[data-name={tasks[-1]}]").bounding_box()
    assert frame is not None
    assert last is not None
    assert last["x"] + last["width"] <= frame["x"] + frame["width"] + 1
    assert page.locator("#board .odd:visible").count() == 2
    page.click("th[data-name=Retrieval] button:not(.fold)")
    assert ", sorted by Retrieval, descending" in page.inner_text("#said-of-rows")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate("async () => (await axe.run()).violations.map(one => one.id)") == []
    page.close()


def test_a_comparison_marks_an_unlikely_score_and_says_in_whose_favour_it_is(browser: Browser, tmp_path: Path) -> None:
    site = site_of_groups()
    write_site(site, tmp_path / "site")
    first, *_ = names = list(site.content.rows)
    odd = next(name for name in names if site.content.odd.get(site.content.rows[name].entry.key))
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/site/compare.html#rows={odd},{first}")
    made = compare_page(site.content, [odd, first]).decode()
    assert page.locator("#found .odd").all_inner_texts() == [f"{FAR_OFF[1]:.2f}"]
    assert made.count('class="n odd"') == 1
    assert f"{page.locator('#found caption').first.inner_text()}</caption>" in made
    assert page.inner_text(".versus .chip") == "model-013 higher"
    page.close()


def test_a_tap_on_a_phone_shows_the_tasks_of_a_group_two_at_a_time(browser: Browser, tmp_path: Path) -> None:
    write_site(site_of_groups(), tmp_path / "site")
    page = browser.new_page(viewport={"width": 360, "height": 740}, has_touch=True)
    page.goto(f"file://{tmp_path}/site/index.html")
    first, second, third, fourth = GROUPS["Classification"]
    assert page.evaluate(SHOWN)[3:] == ["Classification", "PairClassification"]
    table = page.locator("#board").bounding_box()
    assert table is not None
    assert table["x"] + table["width"] > 350  # no room is left beside it
    page.tap("th[data-name=Classification] .fold")
    assert page.evaluate(SHOWN)[3:] == ["Classification", first]  # the mean stays
    page.tap("#after")
    assert page.evaluate(SHOWN)[3:] == [second, third]
    assert page.inner_text("#extent").startswith("3–4 of ")
    page.tap("#after")
    assert page.evaluate(SHOWN)[3] == fourth
    page.tap("#before")
    assert page.evaluate(SHOWN)[3:] == [second, third]
    page.tap("#board tbody tr:nth-child(2) td:nth-child(3)")
    page.tap(".opened summary >> nth=0")
    opened = [*GROUPS["Classification"], "SummEval", "IFEval", "Date"]
    assert page.locator(".opened dt:visible").all_inner_texts() == opened
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate("async () => (await axe.run()).violations.map(one => one.id)") == []
    (close,) = (one for one in page.locator("#board .close").all() if one.is_visible())
    assert close.inner_text() == "Classification"
    assert close.evaluate("one => one.scrollWidth <= one.clientWidth && one.offsetHeight >= 24")
    close.tap()
    assert page.evaluate(SHOWN)[3:] == ["Classification", "PairClassification"]
    page.goto(f"file://{tmp_path}/site/index.html#open=Retrieval")  # a link from a screen begins where it points
    page.reload()
    assert page.evaluate(SHOWN)[3:] == ["Retrieval", GROUPS["Retrieval"][0]]
    page.close()


def test_a_link_that_opens_a_group_brings_its_tasks_into_sight_on_a_tablet(browser: Browser, tmp_path: Path) -> None:
    write_site(site_of_groups(), tmp_path / "site")
    page = browser.new_page(viewport={"width": 768, "height": 1024})
    page.goto(f"file://{tmp_path}/site/index.html#open=Retrieval")
    boxes = [page.locator(f"#board th[data-name={name}]").bounding_box() for name in GROUPS["Retrieval"]]
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 768 for box in boxes)
    page.close()


def test_the_name_of_a_task_is_not_broken_inside_of_a_word_at_768(browser: Browser, tmp_path: Path) -> None:
    board = declared()
    titles = dict(zip([task.id for task in board.tasks], ("HellaSwag", "Winogrande", "TruthfulQA"), strict=False))
    tasks = tuple(task.model_copy(update={"title": titles.get(task.id, "ARC")}) for task in board.tasks)
    made = make_board(generated(3), board.model_copy(update={"tasks": tasks}))
    write_site(Site(PageContent(made)), tmp_path / "site")
    page = browser.new_page(viewport={"width": 768, "height": 740})
    page.goto(f"file://{tmp_path}/site/index.html")
    heads = [page.locator(f"#board th[data-name={name}] button") for name in titles]
    heights = [head.evaluate("one => one.clientHeight") for head in heads]
    page.close()
    assert [height < 30 for height in heights] == [True] * 3  # pixels: one line


def test_each_number_opens_where_its_link_leads(watch: Opener) -> None:
    page = watch("examples").open(f"rows/{next(iter(site_of(examples()).content.rows))}.html")
    page.click("text=Each number >> nth=0")
    assert page.locator("#numbers tbody td").first.is_visible()
    page = watch("examples").open(f"rows/{next(iter(site_of(examples()).content.rows))}.html#task-bbh")
    opened = page.locator("#task-bbh")
    assert opened.locator("td").first.is_visible()
    shades = opened.locator("th, td").evaluate_all("all => all.map(one => getComputedStyle(one).backgroundColor)")
    assert len(shades) > 4
    assert len(set(shades)) == 1


def test_each_row_to_look_at_says_which_task_its_warning_is_about(browser: Browser, tmp_path: Path) -> None:
    first, second, *rest = generated(6)
    low = [
        replace(row, warnings=(Remark("implausibly-low", f"{title} is exactly 0 on 1,324 samples"),))
        for row, title in ((first, "MATH Lvl 5"), (second, "GPQA"))
    ]
    write_site(site_of((*low, *rest)), tmp_path / "site")
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/site/index.html#rows=look")
    page.locator("#board .why").nth(1).wait_for()
    said = page.locator("#board .why").all_inner_texts()
    page.close()
    assert sorted(one.strip() for one in said) == [
        f"It has a warning: {title} is exactly 0." for title in ("GPQA", "MATH Lvl 5")
    ]


def test_of_many_tasks_those_come_first_that_differ_most(browser: Browser, tmp_path: Path) -> None:
    site = site_of_long_names(20)
    write_site(site, tmp_path / "site")
    page = browser.new_page()
    page.goto(f"file://{tmp_path}/site/compare.html?rows={','.join(list(site.content.rows)[1::-1])}")
    cells = page.locator("#found .wide tbody tr:not(figure *)").evaluate_all(
        "rows => rows.slice(1).map(row => row.cells[row.cells.length - 1].textContent)"
    )
    assert page.locator("#found .wide tbody tr:not(figure *):visible").count() == 11  # the average, and ten tasks
    assert (
        page.inner_text("#found .beside .quiet") == "The tasks that differ most:"
    )  # the sentence above has the counts
    regions = page.locator("#found [role=region]").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert regions[-2:] == ["Score", "The other 10 tasks"]
    page.close()
    found = [abs(float(cell.partition(" ")[0].replace("−", "-"))) for cell in cells if cell[:1] in "+−0"]
    assert len(found) > 12
    assert found == sorted(found, reverse=True)


def test_six_tasks_are_uncut_at_1280(watch: Opener) -> None:
    page = watch("generated").open("index.html")
    frame = page.locator(".frame").first
    right = page.locator("th[data-name=mmlu_pro]").first.bounding_box()
    box = frame.bounding_box()
    assert right is not None
    assert box is not None
    assert right["x"] + right["width"] <= box["x"] + box["width"] <= 1280
    cut = frame.evaluate("one => [...one.querySelectorAll('td')].filter(at => at.scrollWidth > at.clientWidth).length")
    assert cut == 0
    page.set_viewport_size({"width": 1265, "height": 800})  # with a bar for scrolling
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")  # to the last column


def test_the_best_of_a_size_licence_and_type_is_found_by_filters(watch: Opener) -> None:
    page = watch("sized").open("index.html")
    assert page.locator("#board tbody tr").count() == 20
    page.click("#filters")
    page.fill("#to", "10")
    page.wait_for_url("**?size=-10")
    sizes = numbers(page, "size")
    assert sizes
    assert max(sizes) <= 10
    assert " To look at: 8 billion parameters, but the name says 14B." in page.inner_text("#whole")
    assert " The first of these without such a mark is org-" in page.inner_text("#whole")
    assert numbers(page, "average") == sorted(numbers(page, "average"), reverse=True)
    page.click("#licence label:has-text('mit')")
    assert set(column(page, "licence")) == {"mit"}
    page.click("#licence label:has-text('apache-2.0')")
    assert set(column(page, "licence")) == {"mit", "apache-2.0"}
    assert ", size up to 10 billion, licence " in page.inner_text("#status")
    page.reload()
    assert page.input_value("#to") == "10"
    assert set(column(page, "licence")) == {"mit", "apache-2.0"}
    page.emulate_media(media="print")
    assert page.locator("#status").is_visible()
    assert page.locator("#board thead .printed").first.inner_text() == "Rank"
    assert not page.locator("#board thead button").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.inner_text("figcaption >> nth=0").startswith("Average by size, with the best up to each size")


def test_the_mark_of_a_day_of_a_push_stands_below_it(watch: Opener) -> None:
    cell = watch("generated").open("index.html").locator("#board td.date").first
    cell.evaluate("one => one.insertAdjacentHTML('beforeend', ' <small>pushed</small>')")
    assert cell.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_no_chip_has_a_size_where_most_rows_have_none(watch: Opener) -> None:
    page = watch("half-sized").open("index.html")
    assert page.locator("th[data-name=size]").count() == 1
    assert page.locator("#chips button:has-text('open licence')").count() == 1
    assert page.locator("#chips button:has-text('B')").filter(has_text="≤").count() == 0


def test_each_chip_has_the_number_of_rows_that_it_leaves(watch: Opener) -> None:
    page = watch("sized").open("index.html")
    known = [facts for facts in sized().content.known.values() if facts.params]
    chips = [chip.rsplit(maxsplit=1) for chip in page.locator("#chips button").all_inner_texts()]
    counts = {label: int(count) for label, count in chips}
    sizes = [(facts.params or 0) / 1e9 for facts in known]
    assert counts["≤ 3B"] == sum(0 < size <= 3 for size in sizes)
    assert counts["≤ 10B"] == sum(0 < size <= 10 for size in sizes)
    assert counts["3–10B"] == sum(3 <= size < 10 for size in sizes)
    assert counts["open licence"] == sum(facts.licence in {"mit", "apache-2.0"} for facts in known)
    page.click("#chips button:has-text('open licence')")
    assert "rows shown, open licence: one of apache-2.0, mit." in page.inner_text("#status")
    page.click("#chips button:has-text('open licence')")
    page.click("#chips button:has-text('3–10B')")
    assert len(column(page, "size")) == counts["3–10B"]
    both = sum(3 <= (facts.params or 0) / 1e9 < 10 and facts.licence == "mit" for facts in known)
    page.goto(f"{page.url}&licence=mit")
    assert len(column(page, "size")) == both
    chip = page.inner_text("#chips button[aria-pressed=true]")
    assert int(chip.split()[-1]) == both


def test_the_ranks_among_the_rows_that_are_shown_are_those_of_a_board_of_them(watch: Opener) -> None:
    page = watch("generated").open("index.html?q=1&ranks=shown")
    kept = tuple(entry for entry in generated(200) if "1" in entry.model.id)
    page.wait_for_function("document.querySelector('#board tbody td[data-ranks]')")
    assert column(page, "rank") == [row.ranks for row in board_of_rows(kept).rows]
    page.uncheck("#anew")
    whole = [row.ranks for row in board_of_rows(generated(200)).rows if "1" in row.entry.model.id]
    assert column(page, "rank") == whole


def test_a_figure_answers_the_keyboard_and_shows_what_a_filter_leaves(watch: Opener) -> None:
    page = watch("sized").open("index.html?size=-10")
    page.focus("svg[data-x=size]")
    page.keyboard.press("ArrowRight")
    smallest = min(numbers(page, "size"))
    assert f"; {smallest:g} billion" in page.inner_text(".tip:visible")
    pale = page.locator("svg[data-x=size] .dots.pale")
    assert pale.evaluate_all("all => all.map(one => getComputedStyle(one).opacity)") == ["0.2"]
    assert page.inner_text("figcaption >> nth=0").endswith("Pale: what the filter leaves out.")
    named = page.locator("svg[data-x=size] .name")
    shown = {name.split("/")[-1] for name in column(page, "model")}
    assert len(named.all()) > 1
    assert [one.get_attribute("class") == "name" for one in named.all()] == [
        one.text_content() in shown for one in named.all()
    ]
    page.keyboard.press("Enter")
    page.wait_for_url("**/rows/**")


def test_picked_rows_are_picked_after_back_and_rows_outside_a_filter_have_boxes_too(watch: Opener) -> None:
    page = watch("sized").open("index.html?size=-10")
    boxes = page.locator("#board tbody input")
    boxes.nth(1).check()
    page.click("#board tbody tr:nth-child(3) td", position={"x": 2, "y": 2})  # beside the box
    page.click("#picked a")
    page.wait_for_selector("#found .lead")
    page.go_back()
    page.wait_for_selector("#picked:has-text('2 of at most 4 picked')")
    assert page.locator("#board tbody input:checked").count() == 2
    page.click("#reset")
    assert boxes.count() == page.locator("#board tbody tr").count() == 20
    assert not page.locator("#reset").is_visible()


def test_the_menu_of_columns_says_which_languages_their_codes_are(browser: Browser, tmp_path: Path) -> None:
    board = declared()
    codes = ("de", "fr", "pt-BR", "ja", "af", "zh")
    tasks = tuple(task.model_copy(update={"title": code}) for task, code in zip(board.tasks, codes, strict=True))
    made = make_board(generated(4), board.model_copy(update={"tasks": tasks}))
    write_site(Site(PageContent(made)), tmp_path / "site")
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(f"file://{tmp_path}/site/index.html")
    assert page.locator("#beside option").all_inner_texts()[:3] == [
        "de · German",
        "fr · French",
        "pt-BR · Brazilian Portuguese",
    ]
    page.close()


def test_incomplete_rows_have_the_heads_of_the_others(watch: Opener) -> None:
    page = watch("varied").open("index.html")
    heads = [table.locator("thead th button:not(.fold)") for table in page.locator("table.board").all()]
    assert len(heads) == 2
    assert heads[0].all_inner_texts() == heads[1].all_inner_texts()
    heads[1].nth(3).click()
    assert page.locator("th[aria-sort=descending]").count() == 2
    assert "sort=-ifeval" in page.url


def test_groups_open_from_the_incomplete_rows(browser: Browser, tmp_path: Path) -> None:
    site = site_of_groups()
    rows = [row.entry for row in site.content.board.rows]
    holes = [replace(row, key=f"{row.key}-hole", average=None, stderr=None) for row in rows[:2]]
    write_site(Site(PageContent(make_board((*rows, *holes), site.content.board.leaderboard))), tmp_path / "site")
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"file://{tmp_path}/site/index.html")
    shown = "all => all.filter(one => getComputedStyle(one).boxShadow.includes('inset') && one.dataset.holds).length"
    counts = [page.locator("thead th").evaluate_all(shown)]
    page.locator("table.board >> nth=1").locator(".fold").first.click()
    counts.append(page.locator("thead th").evaluate_all(shown))
    states = page.locator("thead th[data-holds] .fold").evaluate_all("all => all.map(one => one.ariaExpanded)")
    page.close()
    assert counts == [0, 2]
    assert states == [*(["true", "false", "false"] * 2)]


def test_a_phone_changes_the_column_far_down_the_board(watch: Opener) -> None:
    page = watch("generated", width=360).open("index.html")
    page.evaluate("scrollTo(0, 4000)")
    assert page.locator("#near").evaluate("one => one.getBoundingClientRect().top") == 0
    head = page.locator("#board thead").evaluate("one => one.getBoundingClientRect().top")
    assert head == page.locator("#near").evaluate("one => one.getBoundingClientRect().bottom")
    page.locator("#after").click()
    assert page.locator("#board thead .beside .printed").all_text_contents() == ["MATH Lvl 5", "GPQA"]


def test_an_empty_box_of_the_dark_theme_is_no_grey_one(watch: Opener) -> None:
    page = watch("sized", color_scheme="dark").open("index.html")
    page.locator("#filters").click()
    box = page.locator("#licence input").first
    assert box.evaluate("one => getComputedStyle(one).appearance") == "none"
    assert box.evaluate("one => getComputedStyle(one).backgroundColor") == "rgb(13, 17, 23)"
    hint = "getComputedStyle(document.querySelector('#q'), '::placeholder').color"
    assert page.evaluate(hint) == "rgb(177, 186, 196)"


@pytest.mark.parametrize("site", ["sized", "varied"])
def test_the_filters_of_a_phone_stand_on_one_grid(watch: Opener, site: str) -> None:
    page = watch(site, width=360).open("index.html")
    page.locator("#filters").click()
    lefts = page.locator(".panel p > label > :is(input, select)").evaluate_all(
        "all => all.map(one => Math.round(one.getBoundingClientRect().left))"
    )
    assert len(lefts) > 2
    assert len(set(lefts)) == 1
    assert page.locator(".panel").evaluate("one => one.scrollWidth <= one.clientWidth")
