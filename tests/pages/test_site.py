"""The pages of a board: links lead somewhere, numbers are those of the entries, and names stay text."""

from __future__ import annotations

import csv
import io
import json
import posixpath
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

import pytest
from msgspec.structs import replace

from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.rounding import significant
from bot.pages.addresses import row_page
from bot.pages.content import PageContent
from bot.pages.environment import POLICY, rule_title
from bot.pages.site import Site
from bot.publishing.addresses import evidence_url
from bot.publishing.board import make_board
from bot.publishing.changes import BoardChange
from bot.publishing.entry import Entry, Evidence
from bot.reporting.escape import cell
from tests.evaluation.judging import declared
from tests.pages.boards import Found, board_of_rows, data_of, examples, found, generated, hostile, site_of
from tests.variants import one_of

ATOM = "{http://www.w3.org/2005/Atom}"
ROWS = {"examples": examples, "generated": lambda: generated(30), "hostile": hostile}


class KeptSite(Site):
    """Makes each of its files once."""

    def __init__(self, content: PageContent) -> None:
        super().__init__(content)
        self.files: dict[str, bytes] = {}

    def __getitem__(self, path: str) -> bytes:
        if path not in self.files:
            self.files[path] = super().__getitem__(path)
        return self.files[path]


@pytest.fixture(scope="module", params=one_of(["hostile", "examples", "generated"]))
def site(request: pytest.FixtureRequest) -> Site:
    return KeptSite(site_of(ROWS[request.param]()).content)


def pages(site: Site) -> Iterator[tuple[str, Found]]:
    return ((path, found(site[path])) for path in site if path.endswith(".html"))


def test_every_link_leads_to_a_file_of_the_site_or_to_a_place_on_the_web(site: Site) -> None:
    ids = {path: set(page.ids) for path, page in pages(site)}
    for path, page in pages(site):
        for address in [*page.links, *page.loads]:
            if address.startswith(("https://", "data:,")):
                continue
            target, _, part = address.partition("#")
            target = target.removesuffix(f"?{urlsplit(address).query}")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target))) if target else path
            assert there in site, f"{path} links to {address}"
            if part:
                assert unquote(part) in ids[there], f"{path} links to {address}"


def test_no_page_loads_anything_from_elsewhere_or_holds_script_or_style_of_its_own(site: Site) -> None:
    for path, page in pages(site):
        assert all(not address.startswith(("http", "//")) for address in page.loads), path
        assert "style" not in page.elements | page.attributes
        assert not [name for name in page.attributes if name.startswith("on")], path
        assert f'content="{POLICY}"' in site[path].decode()
        assert "<script>" not in site[path].decode()


def test_ids_are_unique(site: Site) -> None:
    for path, page in pages(site):
        assert len(page.ids) == len(set(page.ids)), path


def test_the_table_without_script_has_the_rows_and_numbers_of_the_csv(site: Site) -> None:
    rows = list(csv.DictReader(io.StringIO(site["leaderboard.csv"].decode())))
    shown = [row for table in found(site["index.html"]).tables if table[0][0] == "Rank i" for row in table[1:]]
    assert len(shown) == len(rows)
    tasks = [task.id for task in declared().tasks]
    for line, row in zip(shown, rows, strict=True):
        best, worst = row["rank_best"], row["rank_worst"]
        assert line[0] == ("–" if not best else best if best == worst else f"{best}–{worst}")
        cells = [row["average"], *(row[task] for task in tasks)]
        average, *scores = [cell.partition(" ±")[0] for cell in line[2 : 3 + len(tasks)]]
        assert [average.replace(f"no {_lacking(row)}", "–"), *scores] == [
            f"{float(cell):.2f}" if cell else "–" for cell in cells
        ]


def _lacking(row: dict[str, str]) -> str:
    """What stands for an average that is missing: the column without a score."""
    missing = [task.title for task in declared().tasks if not row[task.id]]
    return missing[0] if len(missing) == 1 else f"{len(missing)} columns"


def test_every_number_of_an_entry_stands_on_its_page(site: Site) -> None:
    for name, row in site.content.rows.items():
        entry, page = row.entry, found(site[row_page(name)])
        leaves = [[cell.strip().rstrip("*") for cell in line] for table in page.tables for line in table]
        for task in entry.tasks:
            assert task.score is None or (significant(task.raw) in page.text and cell(task.score, 2) in page.text)
            for leaf in task.leaves:
                assert any(cell(leaf.raw, 4) in line and cell(leaf.score, 2) in line for line in leaves), leaf
        assert entry.average is None or cell(entry.average, 2) in page.text
        for file in entry.evidence:
            assert file.sha256 in page.text


def test_a_page_of_raw_values_shows_those_of_the_entries(site: Site) -> None:
    shown = [row for table in found(site["raw.html"]).tables for row in table[1:]]
    for line, row in zip(shown, site.content.board.rows, strict=True):
        assert line[3 : 3 + len(row.entry.tasks)] == [cell(task.raw, 4) for task in row.entry.tasks]


def test_the_data_of_the_comparison_are_those_of_the_entries(site: Site) -> None:
    data = data_of(site["compare-data.js"])
    assert data["names"] == list(site.content.rows)
    for row, board_row in zip(data["rows"], site.content.board.rows, strict=True):
        entry = board_row.entry
        average, _, kind, tasks = row
        assert average == (None if entry.average is None else round(entry.average, 6))
        scored = [task for task in entry.tasks if task.score is not None]
        assert [one[0] for one in tasks if one] == [pytest.approx(task.score) for task in scored]
        settings, warned = data["kinds"][kind]
        assert data["texts"][warned] == " ".join(sorted({rule_title(warning.rule) for warning in entry.warnings}))
        assert [len(of_tasks) for of_tasks in settings] == [len(scored)] * len(data["settings"])


def test_what_strangers_wrote_is_text() -> None:
    site = site_of(hostile())
    for path, page in pages(site):
        assert "x" not in page.loads, path
        assert "alert(2)" not in site[path].decode() or "&lt;script&gt;alert(2)" in site[path].decode()
        assert "\u202e" not in site[path].decode()
    assert "\\u202etxt.exe" in found(site["index.html"]).text
    assert "{{ 7 * 7 }}" in found(site["index.html"]).text
    ET.fromstring(site["changes.atom"])


def test_readers_of_feeds_find_the_feed_and_it_names_each_change_once() -> None:
    site = site_of(generated(30))
    named = '<link rel="alternate" type="application/atom+xml" title="Changes" href="changes.atom">'
    assert named in site["index.html"].decode().partition("<body")[0]
    feed = ET.fromstring(site["changes.atom"])
    assert len({entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")}) == 30
    assert feed.findtext(f"{ATOM}updated") == max(e.findtext(f"{ATOM}updated") or "" for e in feed.iter(f"{ATOM}entry"))


def test_changes_are_lines_of_json_the_newest_first() -> None:
    changes = [json.loads(line) for line in site_of(generated(30))["changes.jsonl"].splitlines()]
    assert [change["date"] for change in changes] == sorted((c["date"] for c in changes), reverse=True)
    assert {change["schema"] for change in changes} == {"leaderboard-bot/change/1"}


def test_rows_whose_names_differ_in_capitals_only_have_different_addresses() -> None:
    one = generated(1)[0]
    other = replace(one, key=one.key.replace("org-0", "ORG-0"))
    third = replace(
        one, key=one.key.replace("/model-000/" + one.model.revision, "/model-000/" + one.model.revision[:39] + "x")
    )
    names = site_of((one, other, third)).content.names
    assert len({name.casefold() for name in names.values()}) == 3


def test_a_row_of_an_earlier_declaration_says_so() -> None:
    one = generated(1)[0]
    older = replace(one, leaderboard=replace(one.leaderboard, scoring_digest="sha256:0"))
    site = site_of((older,))
    assert (
        "another declaration than the board"
        in found(next(site[path] for path in site if path.startswith("rows/"))).text
    )
    assert "sha256:0" in found(site["about.html"]).text


def test_the_command_for_submitters_names_a_declaration_that_their_machine_finds() -> None:
    board = declared("open-llm-v2")
    own = parse_leaderboard(f"{board.text}\n# ours\n", "ours", "ours.toml")
    rows = make_board([replace(one, leaderboard=replace(one.leaderboard, id="ours")) for one in generated(2)], own)
    for one, target, name in (
        (board, "hf://datasets/acme/contents", "open-llm-v2"),
        (own, "hf://datasets/acme/contents", "hf://datasets/acme/contents/declarations/ours.toml"),
        (own, "", "ours.toml"),
    ):
        site = Site(PageContent(make_board(generated(2), board) if one is board else rows, target))
        about = found(site["about.html"]).text.replace(" \\\n  ", " ")
        board_id = site.content.board.leaderboard.id
        kept = parse_leaderboard(site[f"{board_id}.toml"].decode(), board_id, "")
        assert kept.digest == site.content.board.leaderboard.digest
        assert f"leaderboard-bot check results --leaderboard {name}" in about
        assert f"leaderboard-bot explain results --reported VALUE --leaderboard {name}" in about
        assert (f"leaderboard-bot compare results --board {target}" in about) is bool(target)
        there = parse_leaderboard(site[f"{one.id}.toml"].decode(), one.id, "board.toml")
        assert there.digest == one.digest


def test_where_to_submit_is_named_as_far_as_settings_or_rows_say_it() -> None:
    rows = generated(2)
    other = tuple(replace(file, source="github://acme/runs") for file in rows[1].evidence)
    rows = (rows[0], replace(rows[1], evidence=other))
    for pushed_to, rest, links in (
        ("hf://datasets/acme/results", "Where: hf://datasets/acme/results or github://acme/runs", 1),
        ("/srv/results", "Where: github://acme/runs", 0),
    ):
        page = found(Site(PageContent(board_of_rows(rows), pushed_to=pushed_to))["about.html"])
        assert rest in " ".join(page.text.split())
        assert page.links.count("https://huggingface.co/datasets/acme/results") == links
        assert "https://github.com/acme/runs" in page.links
    home, nowhere = (
        Site(PageContent(make_board(rows[:1], declared().model_copy(update={"homepage": homepage}))))
        for homepage in ("https://acme.example/board", None)
    )
    asked = found(home["about.html"])
    assert "repository for results. Ask at the home page of the board." in " ".join(asked.text.split())
    assert asked.links.count("https://acme.example/board") == 2  # there, and above
    about = found(nowhere["about.html"]).text
    assert "Where: these pages do not know the repository for results. Ask the maintainer of the board." in " ".join(
        about.split()
    )
    assert '<iframe src="ADDRESS/index.html" title="Open LLM Leaderboard v2" width=' in about


def test_a_row_and_the_board_are_cited() -> None:
    site = site_of(generated(1))
    page = next(site[path] for path in site if path.startswith("rows/")).decode()
    assert "@misc{org-0-model-000-" in page
    about = found(site["about.html"]).text
    assert "@misc{open-llm-v2," in about
    # The declaration's home page is that of another board, where somebody else uses the declaration.
    assert r"howpublished = {\url{ADDRESS}}" in about
    there = found(site_of(generated(1), "hf://datasets/acme/board")["about.html"]).text
    assert r"howpublished = {\url{https://huggingface.co/datasets/acme/board}}" in there


def test_the_changes_of_one_commit_are_one_line_and_those_before_and_after_are_not() -> None:
    rows = generated(8)
    added = [
        BoardChange("2026-11-02T10:00:00Z", "added", row.key, row.model.id, None, row.average, "filled", "c" * 40)
        for row in rows[1:7]
    ]
    ends = [
        BoardChange(
            f"2026-11-0{day}T10:00:00Z", "added", row.key, row.model.id, None, row.average, "alone", str(day) * 40
        )
        for day, row in ((4, rows[0]), (1, rows[7]))
    ]
    site = Site(PageContent(board_of_rows(rows), "hf://datasets/acme/board", [ends[0], *added, ends[1]]))
    page = site["changes.html"].decode()

    assert len(re.findall(r"<details class=.?batch", page)) == 1
    assert "2026-11-02: 6 rows" in page
    assert [len(table) - 1 for table in found(site["changes.html"]).tables[-3:]] == [1, 6, 1]


def test_a_citation_says_the_day_and_the_commit_of_the_board() -> None:
    [row] = generated(1)
    change = BoardChange("2026-11-02T10:00:00Z", "added", row.key, row.model.id, None, row.average, "new", "c" * 40)
    site = Site(PageContent(board_of_rows((row,)), "hf://datasets/acme/board", [change]))
    page = next(site[path] for path in site if path.startswith("rows/")).decode()
    assert "as of 2026-11-02, board at cccccccccccc}" in page
    assert "year = {2026}" in page


@pytest.mark.parametrize(
    ("file", "url"),
    [
        (
            Evidence("hf://datasets/a/b", "x y/r#.json", "0" * 40),
            f"https://huggingface.co/datasets/a/b/blob/{'0' * 40}/x%20y/r%23.json",
        ),
        (Evidence("github://a/b", "r.json", "0" * 40), f"https://github.com/a/b/blob/{'0' * 40}/r.json"),
        (Evidence("github://a/b", "r.json", ""), ""),
        (Evidence("javascript:alert(1)", "r.json", "0" * 40), ""),
        (Evidence("", "r.json", ""), ""),
        (Evidence("hf://datasets/a/b", "../../../../../eve/x", "0" * 40), ""),
        (Evidence("hf://datasets/a/b", "r.json", "0/../../../../eve"), ""),
        (Evidence("github://../eve", "r.json", "0" * 40), ""),
    ],
)
def test_a_file_is_linked_where_people_can_read_it(file: Evidence, url: str) -> None:
    assert evidence_url(file) == url


def test_a_board_of_one_row_has_all_pages() -> None:
    entry: Entry = generated(1)[0]
    assert all(page.text for _, page in pages(site_of((entry,))))


def test_only_the_highest_score_of_a_column_stands_at_its_end() -> None:
    highest, other, third = generated(3)
    scores = ((highest, 100.0), (other, 99.7), (third, 0.0))
    rows = [replace(row, tasks=tuple(replace(task, score=score) for task in row.tasks)) for row, score in scores]
    content = site_of(tuple(rows)).content
    places = {row.entry.key: content.places_in_field(row)["bbh"].own for row in content.board.rows}
    assert places == {highest.key: 100, other.key: 99, third.key: 0}
