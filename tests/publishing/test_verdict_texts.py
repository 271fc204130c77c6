"""What the bot says on a request at the source, word by word: what merging does, each row's place, and the status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bot.publishing.answers import Answer, answer_text
from bot.publishing.publication import Marker
from bot.publishing.repeat import LATER
from bot.publishing.texts import FOOT
from bot.publishing.verdict_texts import (
    NAMES,
    VERDICT_ROOM,
    BoardPlace,
    Comparison,
    Effects,
    comparison_table,
    effect_lines,
    fitting,
    is_merged_text,
    merged_text,
    names,
    preformatted,
    rank,
    review_text,
    status_line,
)
from tests.publishing.test_posted_texts import COMMANDS, MARK, said

FIRST = BoardPlace(60.0, "Rank 1 of 5; better than all others.")
OLD = Comparison("acme/a", BoardPlace(50.0, "Rank 2 to 3 of 5; not separable from |."), FIRST)
NEW = Comparison("acme/b", None, BoardPlace(None, ""))
NOTHING = Effects({}, (), (), 0, (), (), (), {}, {}, is_cut=False)
EVERYTHING = Effects(
    unread={"it is not JSON": ["x.json", "y.json"]},
    deleted=["old.json"],
    replaced=["one.json", "two.json"],
    others=3,
    comparisons=[OLD, NEW],
    removed=["acme/gone"],
    unchanged=["acme/same"],
    disputed={"acme/a": "zoe/a"},
    refused={"tiny/c": "it is too large"},
    is_cut=True,
)
LINES = [
    "- **2 files not judged** (it is not JSON): `x.json`, `y.json`",
    "- **deletes 1 file** of the main branch: `old.json`",
    "- **replaces 2 files** of the main branch: `one.json`, `two.json`",
    "- changes 3 files that the settings of the leaderboard do not select",
    "- changes 1 row of the board",
    "- **removes 1 row** of the board: `acme/gone`",
    "- the row of `acme/a` was first submitted in `zoe/a`; this request changes it",
    "- leaves 1 row unchanged: `acme/same`",
    "- the row `tiny/c` cannot be published: `it is too large`",
    "- touches more rows than are compared here",
]
TABLE = """\
| Model | Average | Before | Change | Rank | Rank before |
| --- | ---: | ---: | ---: | --- | --- |
| `acme/a` | 60.00 | 50.00 | +10.00 | 1 of 5; better than all others | 2 to 3 of 5; not separable from \\| |
| `acme/b` | – | – | – | none | new |"""


def test_what_merging_does_is_said_line_by_line() -> None:
    assert list(effect_lines(EVERYTHING)) == LINES
    assert list(effect_lines(NOTHING)) == []
    assert list(effect_lines(replace(NOTHING, comparisons=[NEW]))) == []


def test_of_very_many_contested_and_refused_rows_the_first_are_named() -> None:
    many = {f"acme/{number}": "zoe" for number in range(NAMES + 1)}
    assert len(list(effect_lines(replace(NOTHING, disputed=many, refused=many)))) == 2 * NAMES


def test_each_row_has_its_place_before_and_after() -> None:
    assert comparison_table([OLD, NEW]) == TABLE
    assert comparison_table([]) == ""
    plain = comparison_table([OLD, NEW], has_ranks=False).split("\n")
    assert [line.count("|") for line in plain if line.startswith("|")] == [5] * 4
    worse = Comparison("acme/a", FIRST, BoardPlace(50.0, "Rank 2 of 5; better than 3."))
    assert "| 50.00 | 60.00 | -10.00 | 2 of 5; better than 3 | 1 of 5;" in comparison_table([worse])
    assert [rank(None), rank(NEW.after)] == ["new", "none"]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([], ""),
        (["a"] * NAMES, ", ".join(["`a`"] * NAMES)),
        (["a"] * (NAMES + 1_000), ", ".join(["`a`"] * NAMES) + " and 1,000 more"),
    ],
)
def test_the_first_names_and_how_many_more(words: Sequence[str], shown: str) -> None:
    assert names(words) == shown


def test_a_review_begins_with_what_merging_does() -> None:
    text = review_text("a" * 40, ["### one", "### two"], EVERYTHING, MARK, COMMANDS, files=2, later=LATER)

    assert text.title == ""
    assert said(text) == "\n\n".join(
        [
            "2 result files judged for `tiny`, at `aaaaaaaaaaaa`.",
            "\n".join(LINES),
            TABLE,
            "### one",
            "### two",
            LATER,
            COMMANDS,
        ]
    )
    assert (
        said(review_text("a" * 40, [], NOTHING, MARK, COMMANDS, files=0))
        == f"0 result files judged for `tiny`, at `aaaaaaaaaaaa`.\n\n{COMMANDS}"
    )


def test_verdicts_that_do_not_fit_are_counted() -> None:
    verdict = "v" * (VERDICT_ROOM // 2)
    assert list(fitting([verdict] * 3)) == [verdict] * 2
    assert list(fitting([verdict * 3, verdict])) == [verdict * 3]
    text = said(review_text("a" * 40, [verdict] * 4, NOTHING, MARK, COMMANDS, files=4))
    assert text.endswith(f"{verdict}\n\n… and 2 more verdicts, which do not fit here.\n\n{COMMANDS}")


@pytest.mark.parametrize(
    ("verdicts", "unread", "line"),
    [
        ([], {}, ("success", "no result file is changed")),
        (["accepted", "incomplete", "accepted"], {}, ("success", "2 accepted, 1 incomplete")),
        (["rejected", "accepted"], {}, ("failure", "1 accepted, 1 rejected")),
        (["accepted"], {"a": ["x", "y"], "b": ["z"]}, ("failure", "1 accepted, 3 not judged")),
        ([], {"a": ["x"]}, ("failure", "1 not judged")),
    ],
)
def test_a_review_in_one_line(
    verdicts: Sequence[str], unread: Mapping[str, Sequence[str]], line: tuple[str, str]
) -> None:
    assert status_line(verdicts, unread) == line


@pytest.mark.parametrize(
    ("head", "links", "current", "words"),
    [
        ("a", [], [], "**Merged.**"),
        ("", ["[#1](x)", "[#2](y)"], [], "**Merged.** Its rows are proposed in [#1](x), [#2](y)."),
        ("a", [], ["t", "u"], "**Merged.** Its rows are at t, u."),
        ("a", ["[#1](x)"], ["t"], "**Merged.** Its rows are proposed in [#1](x). Once that is merged, they are at t."),
        (
            "b",
            [],
            ["t"],
            "**Merged.** The commit `bbbbbbbbbbbb` was merged, which is not judged above. Its rows are at t.",
        ),
    ],
)
def test_a_review_that_was_merged_says_where_its_rows_are(
    head: str, links: list[str], current: list[str], words: str
) -> None:
    review = review_text("a" * 40, [], NOTHING, MARK, COMMANDS, files=0).body
    start = review.removesuffix(MARK.render()).rstrip()

    merged = merged_text(review, head * 40, links, current, MARK)

    assert merged == f"{start}\n\n{words}\n\n{MARK.render()}"
    assert merged_text(merged, head * 40, links, current, MARK) == merged
    assert (is_merged_text(review), is_merged_text(merged)) == (False, True)
    assert start.endswith(FOOT)


def test_an_answer_names_the_comment_that_it_answers() -> None:
    mark = Marker("reply", "42", "tiny")
    assert answer_text(Answer("Words."), "42", "tiny") == f"Words.\n\n{mark.render()}"


def test_nothing_in_a_code_block_ends_it() -> None:
    assert preformatted("a\n```\nb") == "````\na\n```\nb\n````"
    assert preformatted("`````\x1b") == "``````\n`````\\x1b\n``````"
    assert preformatted("a") == "```\na\n```"
