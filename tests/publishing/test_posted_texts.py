"""The texts that the bot posts, word by word: what a person reads at a target and at a source."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.publishing.addresses import evidence_link
from bot.publishing.answers import faults_corrected
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.model_layout import WAYS_OUT, model_mark, model_request_text, model_withdrawn_text
from bot.publishing.layout import CellChange, Draft
from bot.publishing.plan import Plan, PlannedRow
from bot.publishing.publication import Marker, MarkerKind, PostText
from bot.publishing.repeat import LATER
from bot.publishing.texts import (
    BODY_LIMIT,
    CUT,
    FOOT,
    PLAN_ROWS_NAMED,
    ROOM_FOR_NOTES,
    SHARED_ROWS_NAMED,
    TITLE_LIMIT,
    board_text,
    fitted,
    import_text,
    migration_text,
    plan_done_text,
    plan_text,
    rolling_text,
    with_notes,
)
from bot.publishing.verdict_texts import FOLDER_ROWS, push_text, success_text
from tests.platforms.github.entries import entry

MARK = Marker("board", "tiny", "tiny")
PLAN_MARK = Marker("plan", "tiny from hf://datasets/acme/results", "tiny")
COMMANDS = "Commands: `/recheck`, `/explain [TASK]`; maintainers: `/ignore RULE until YYYY-MM-DD because REASON`"
GONE = PlannedRow("tiny/a", "acme/a", "removed", 50.0, None, "its file is gone")
MOVED = PlannedRow("tiny/b", "acme/b", "changed", 50.0, 60.0, "the declaration changed", "", "1", "2–3")
NEW = PlannedRow("tiny/c", "acme/c", "added", None, 60.0)
RESULTS = "https://github.com/acme/results/blob"
NAME = "results_2026-03-02T10-00-00.000000.json"
FILE = f"[`{NAME}`]({RESULTS}/{'c' * 40}/acme__atlas-7b/{NAME})"
MANY = (GONE,) * (PLAN_ROWS_NAMED + 2)


def said(text: PostText, mark: Marker = MARK) -> str:
    """The text between nothing and the last two lines: who wrote it, and the mark."""
    assert text.body.endswith(f"\n\n{mark.render()}")
    body = text.body.removesuffix(f"\n\n{mark.render()}")
    assert body.endswith(f"\n{FOOT}")
    return body.removesuffix(FOOT).rstrip("\n")


def test_a_plan_that_waits() -> None:
    text = plan_text(Plan("t", "tiny", (NEW, MOVED, GONE)), PLAN_MARK)

    assert text.title == "Held: 1 row of tiny to be removed, 1 to be changed"
    assert (
        said(text, PLAN_MARK)
        == """\
1 row would be removed and 1 changed, which the settings do not allow without approval. Nothing changes until a \
maintainer writes `/approve a5a7ddf741677ad23f6da4a3872bac02` here; `/decline a5a7ddf741677ad23f6da4a3872bac02` \
leaves the rows as they are. Source: `hf://datasets/acme/results`.

- 1 row: the declaration changed
- 1 row: its file is gone

| Row | Action | Average before and after |
| --- | --- | ---: |
| `tiny/a` | removed | 50.00 → – |
| `tiny/b` | changed | 50.00 → 60.00, rank 1 → 2–3 |"""
    )


def test_a_plan_that_no_longer_waits() -> None:
    text = plan_done_text(PLAN_MARK)
    assert text.title == "No plan waits"
    assert said(text, PLAN_MARK) == ("No plan of `tiny` waits for a maintainer. Source: `hf://datasets/acme/results`.")


def test_a_migration() -> None:
    text = migration_text((GONE, NEW, MOVED), MARK)

    assert text.title == "Score 2 rows of tiny again"
    assert (
        said(text)
        == """\
The declaration of `tiny` changed. No result was measured again.

| Row | Average before and after | Reason |
| --- | ---: | --- |
| `tiny/b` | 50.00 → 60.00, rank 1 → 2–3 | the declaration changed |
| `tiny/a` | 50.00 → – | its file is gone |"""
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: migration_text(MANY, MARK),
        lambda: plan_text(Plan("t", "tiny", MANY), MARK),
        lambda: rolling_text([(entry(), None)] * (SHARED_ROWS_NAMED + 2), MARK),
    ],
)
def test_of_very_many_rows_the_first_are_named_and_the_others_counted(make: Callable[[], PostText]) -> None:
    lines = said(make()).splitlines()
    assert sum(line.startswith(("| `", "| [")) for line in lines) in {PLAN_ROWS_NAMED, SHARED_ROWS_NAMED}
    assert lines[-2:] == ["", "… and 2 more."]


def test_as_many_rows_as_a_text_names_have_no_others() -> None:
    assert "more." not in said(migration_text(MANY[:PLAN_ROWS_NAMED], MARK))
    assert "more." not in said(plan_text(Plan("t", "tiny", MANY[:PLAN_ROWS_NAMED]), MARK))
    assert "more." not in said(rolling_text([(entry(), None)] * SHARED_ROWS_NAMED, MARK))
    assert "more." not in said(success_text("a", [("acme/a", 50.0)] * FOLDER_ROWS, [], MARK))
    assert said(success_text("a", [("acme/a", 50.0)] * (FOLDER_ROWS + 3), [], MARK)).endswith("\n\n… and 3 more.")


def test_one_request_for_rows_that_come_change_and_go() -> None:
    rows = [(None, entry()), (entry(), entry(right=(1, 2, 3))), (entry(), None), (None, None)]
    text = rolling_text(rows, MARK)

    assert text.title == "Add 1 row, update 1 row and remove 2 rows of tiny"
    assert (
        said(text)
        == f"""\
4 rows of `tiny`.

| Model | Average before and after | File |
| --- | ---: | --- |
| [`acme/atlas-7b`](https://huggingface.co/acme/atlas-7b) | 58.33 ± 6.08 | {FILE} |
| [`acme/atlas-7b`](https://huggingface.co/acme/atlas-7b) | 58.33 → 2.00 ± 1.93 | {FILE} |
| [`acme/atlas-7b`](https://huggingface.co/acme/atlas-7b) | 58.33 → removed |  |
| `unreadable` | removed |  |"""
    )


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([], "Update the table of tiny"),
        ([(None, entry())], "Add 1 row of tiny"),
        ([(entry(), None)], "Remove 1 row of tiny"),
    ],
)
def test_the_title_of_one_request_counts_each_kind(rows: list[tuple[Entry | None, Entry | None]], title: str) -> None:
    assert rolling_text(rows, MARK).title == title


def test_the_first_filling_of_a_board() -> None:
    text = import_text(1, "hf://datasets/acme/results", MARK)
    assert text.title == "Import the rows of tiny"
    assert said(text) == "1 row of `tiny`, made from the result files of `hf://datasets/acme/results`."


@pytest.mark.parametrize(
    ("kind", "title", "body"),
    [
        (
            "plan",
            "Plans of tiny that wait for a maintainer",
            "One comment for each source shows the plan that waits. The bot edits it when the plan changes.",
        ),
        (
            "alarm",
            "Columns of tiny that do not follow the rest",
            "One comment names the columns. The bot edits it when they change.",
        ),
        (
            "board",
            "Rows of tiny",
            "Rows of `tiny`, one comment for each. The bot edits the comment when its row changes.",
        ),
    ],
)
def test_the_discussion_that_holds_comments(kind: MarkerKind, title: str, body: str) -> None:
    mark = Marker(kind, "tiny", "tiny")
    assert (board_text(mark).title, said(board_text(mark), mark)) == (title, body)


def test_pushed_files_that_were_rejected() -> None:
    text = push_text("a/b", ["### one", "### two"], MARK, COMMANDS, ["- rival one", "- rival two"], later=LATER)
    rejected = "were rejected for `tiny`. Push corrected files, or delete these, and the bot closes this."

    assert text.title == "Results in a/b were rejected"
    assert said(text) == (
        f"2 files in `a/b` {rejected}\n\n- rival one\n- rival two\n\n### one\n\n### two\n\n{LATER}\n\n{COMMANDS}"
    )
    text = push_text("", ["### one"], MARK, COMMANDS)
    assert text.title == "Results in the top folder were rejected"
    assert said(text) == (
        f"1 file at the top of the repository {rejected.replace('were', 'was')}\n\n### one\n\n{COMMANDS}"
    )


def test_pushed_files_that_others_measured_otherwise() -> None:
    text = push_text("", [], MARK, COMMANDS, ["- rival"], later=LATER)
    assert text.title == "Results in the top folder differ from those of others"
    assert said(text) == f"- rival\n\n{COMMANDS}"


def test_accepted_files_of_a_folder() -> None:
    text = success_text("a/b", [("tiny/acme/a/1-x", 50.0), ("tiny/acme/a/2-x", None)], ["[#1](x)", "[#2](y)"], MARK)

    assert text.title == "Results in a/b"
    assert said(text) == (
        "Accepted for `tiny`:\n\n| Row | Average |\n| --- | ---: |\n| `tiny/acme/a/1-x` | 50.00 |\n"
        "| `tiny/acme/a/2-x` | incomplete |\n\nProposed in [#1](x), [#2](y)."
    )
    assert said(success_text("", [], [], MARK)) == "No result is accepted here any more."
    assert success_text("", [], [], MARK).title == "Results in the top folder"
    assert faults_corrected("a") == "Corrected: no result in `a` is rejected any more."
    assert faults_corrected("") == "Corrected: no result in `/` is rejected any more."


def test_a_request_at_a_model() -> None:
    row, mark = entry(), model_mark("acme/atlas-7b", "tiny")
    cells = (CellChange("sums", None, "50"), CellChange("logic", "60", "70"))
    text = model_request_text(row, "Tiny", Draft(cells={row.key: cells}, remarks=("One.", "Two.")), mark)
    assert mark == Marker("model", "tiny of acme/atlas-7b", "tiny")
    assert text.title == "Add evaluation results: sums, logic"
    assert said(text, mark) == (
        "Evaluation results of `acme/atlas-7b`, from `Tiny`.\n\n"
        "| Task | Value | Before |\n| --- | ---: | ---: |\n| `sums` | 50 | – |\n| `logic` | 70 | 60 |\n\n"
        f"- Evidence: <{evidence_link(row)}>\n- One.\n- Two.\n\n{WAYS_OUT}"
    )
    text = model_withdrawn_text("acme/atlas-7b", "Tiny", mark)
    assert text.title == "Remove evaluation results of Tiny"
    assert said(text, mark) == (
        "The people who measured the evaluation results of `acme/atlas-7b` from `Tiny` withdrew them."
    )


def test_links_to_other_targets_stand_before_the_mark() -> None:
    text = PostText("T", f"Body.\n\n{MARK.render()}")
    assert with_notes(text, []) == text
    assert with_notes(text, ["The same rows go to [a](x), [b](y)."]) == PostText(
        "T", f"Body.\n\nThe same rows go to [a](x), [b](y).\n\n{MARK.render()}"
    )


def test_a_text_at_the_limits_is_whole_and_one_beyond_is_cut_at_the_end_of_a_line() -> None:
    room = BODY_LIMIT - ROOM_FOR_NOTES - len(f"\n\n{MARK.render()}")
    last, cut = f"\n\n{MARK.render()}", "\n\n… cut: there is more than a comment can hold."
    assert fitted("t" * TITLE_LIMIT, "b" * room, MARK) == PostText("t" * TITLE_LIMIT, "b" * room + last)
    assert fitted("t" * (TITLE_LIMIT + 1), "", MARK).title == "t" * (TITLE_LIMIT - 1) + "…"
    assert fitted("", "first\n" + "b" * room, MARK).body == f"first{cut}{last}"


def test_what_is_open_in_a_text_that_is_cut_is_closed() -> None:
    long = "x" * BODY_LIMIT
    cut = "\n\n… cut: there is more than a comment can hold."
    opened = "<details>\n\n<details>\n\n```\na\n```\n\n  ```json\nb"
    body = fitted("", f"{opened}\n{long}", MARK).body
    assert body.startswith(f"{opened}\n```\n\n</details>\n\n</details>{cut}")
    closed = "<details>\n\n```\na\n```\n\n</details>"
    assert fitted("", f"{closed}\n{long}", MARK).body.startswith(f"{closed}{cut}")


def test_a_text_that_is_cut_leaves_the_room_that_links_need() -> None:
    cut = fitted("", "a line\n" * BODY_LIMIT, MARK).body
    assert BODY_LIMIT - ROOM_FOR_NOTES - 2 * CUT < len(cut) <= BODY_LIMIT - ROOM_FOR_NOTES
    assert "```" not in fitted("", "a ``` b\n" + "x" * BODY_LIMIT, MARK).body.partition("\n")[2]
