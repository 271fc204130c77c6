"""The table in a dataset card: written between its marks, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.errors import Unwritable
from bot.publishing.board import CSV_NAME, Board, make_board, to_csv
from bot.publishing.card import BEGIN, CARD, CARD_ROWS, END, card_table, derived_files, with_table
from bot.publishing.entry import Entry, EntryModel, declaration_path
from tests.command import bot
from tests.evaluation.judging import EXAMPLES, base, declared, entry_from, patched
from tests.world.local_git import git

OURS = f"---\ntitle: Board\n---\nOurs.\n\n{BEGIN}\nold\n{END}\n\nAlso ours.\n"


def entry(**changes: object) -> Entry:
    return entry_from(patched(changes, base()), source="acme/results", path="x/results.json")


def board(*entries: Entry) -> Board:
    return make_board(entries or [entry()], declared())


def test_the_table_stands_between_the_marks_and_the_rest_is_kept() -> None:
    card = with_table(OURS.encode(), board())

    assert card is not None
    assert card.decode() == (
        f"---\ntitle: Board\n---\nOurs.\n\n{BEGIN}\n"
        "| Rank | Model | Average | IFEval | BBH | MATH Lvl 5 | GPQA | MUSR | MMLU-PRO |\n"
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| 1 | `example-org/kestrel-7b` `bfloat16` | 33.60 | 24.81 | 34.54 | 35.88 | 45.41 | 27.12 | 33.87 |\n"
        f"{END}\n\nAlso ours.\n"
    )
    assert with_table(card, board()) == card


def test_the_table_takes_the_line_ends_of_the_card() -> None:
    card = OURS.replace("\n", "\r\n").encode()
    made = with_table(card, board()) or b""
    assert made.replace(b"\r\n", b"\n") == with_table(OURS.encode(), board())
    assert made.count(b"\n") == made.count(b"\r\n")
    assert with_table(made, board()) == made


def test_a_card_without_both_marks_or_that_is_no_text_is_left_alone() -> None:
    for card in (b"# Board\n", f"# Board\n{BEGIN}\n".encode(), f"{END} {BEGIN}".encode(), b"\xff" + OURS.encode()):
        assert with_table(card, board()) is None


def test_what_stands_after_the_first_end_is_kept_even_where_the_marks_stand_again() -> None:
    twice = f"{OURS}{OURS}"

    assert with_table(twice.encode(), board()) == (with_table(OURS.encode(), board()) or b"") + OURS.encode()


def test_what_stands_between_a_mark_without_its_end_and_the_next_is_kept() -> None:
    card = f"# Board\n{BEGIN}\nNotes of people.\n{BEGIN}\nold\n{END}\nAfter.\n".encode()
    made = with_table(card, board()) or b""
    assert made.startswith(f"# Board\n{BEGIN}\nNotes of people.\n{BEGIN}\n| Rank |".encode())
    assert made.endswith(f"\n{END}\nAfter.\n".encode())
    assert with_table(made, board()) == made


def test_a_long_board_shows_its_best_and_says_where_the_rest_is() -> None:
    row = entry()
    many = [replace(row, key=f"o__m{n:03}/x-bfloat16", average=float(n)) for n in range(CARD_ROWS + 7)]
    lines = card_table(board(*many)).splitlines()

    assert sum(line.startswith("| ") for line in lines) == CARD_ROWS + 2
    assert lines[-1] == f"7 more rows in `{CSV_NAME}`."
    assert card_table(board(*many[: CARD_ROWS + 1])).endswith(f"\n1 more row in `{CSV_NAME}`.")
    assert len(card_table(board(*many[:CARD_ROWS])).splitlines()) == CARD_ROWS + 2


def test_a_row_names_its_chat_template_and_says_that_a_precision_is_unknown() -> None:
    row = replace(entry(), model=EntryModel("acme/m", "a" * 40, "", chat_template=True))

    assert "| 1 | `acme/m` `unknown precision`, chat template | 33.60 |" in card_table(board(row))


def test_a_bar_in_the_title_of_a_task_makes_no_column() -> None:
    first, *others = declared().tasks
    barred = declared().model_copy(update={"tasks": (first.model_copy(update={"title": "a|b"}), *others)})

    assert card_table(make_board([entry()], barred)).startswith(r"| Rank | Model | Average | a\|b | BBH |")


def test_words_of_strangers_are_no_markup_there() -> None:
    hostile = replace(entry(), model=replace(entry().model, precision="a|b<img src=x>`"))
    card = with_table(OURS.encode(), board(hostile))

    assert card is not None
    assert "`` a\\|b<img src=x>` ``" in card.decode()


def test_a_word_that_says_where_the_table_ends_does_not_end_it() -> None:
    made = board(replace(entry(), model=replace(entry().model, precision=f"x{END}y")))
    card = with_table(OURS.encode(), made)

    assert card is not None
    assert with_table(card, made) == card


def test_what_stands_there_already_is_not_written() -> None:
    made = board()
    card = with_table(OURS.encode(), made)
    kept = {declaration_path(made.leaderboard.digest): made.leaderboard.text.encode()}
    there = {CSV_NAME: to_csv(made), CARD: card, **kept}

    assert derived_files(made, there.get) == {}
    assert derived_files(made, {CARD: OURS.encode()}.get) == {CSV_NAME: to_csv(made), CARD: card, **kept}
    assert derived_files(made, {CARD: b"no marks", **kept}.get) == {CSV_NAME: to_csv(made)}
    assert derived_files(made, kept.get) == {CSV_NAME: to_csv(made)}


def test_the_last_row_leaves_an_empty_table_and_without_any_row_none_is_made() -> None:
    empty = make_board([], declared())

    assert derived_files(empty, {CARD: OURS.encode()}.get) == {}
    left = derived_files(empty, {CSV_NAME: to_csv(board()), CARD: OURS.encode()}.get)
    assert left == {CSV_NAME: to_csv(empty), CARD: with_table(OURS.encode(), empty)}


def test_a_table_that_is_not_ours_is_not_overwritten() -> None:
    with pytest.raises(Unwritable, match=f"{CSV_NAME} was not made by leaderboard-bot.*; rename it"):
        derived_files(board(), {CSV_NAME: b"Model,Score\na,1\n"}.get)
    other = to_csv(board()).replace(b",ifeval,", b",hellaswag,")
    assert CSV_NAME in derived_files(board(), {CSV_NAME: other}.get)


@pytest.mark.slow
def test_a_folder_s_card_follows_what_is_merged(tmp_path: Path) -> None:
    target = tmp_path / "board"
    publish = ("publish", *map(str, EXAMPLES), "--to", str(target), "--as", "commit", "--quiet")
    bot(*publish)
    (target / CARD).write_text(OURS)
    for words in (["add", CARD], ["commit", "-qm", "Card"]):
        git(target, *words)
    bot(*publish)

    assert "| 1 | `example-org/osprey-7b` `bfloat16` | 38.78 |" in (target / CARD).read_text()
    head = git(target, "rev-parse", "main")
    bot(*publish)
    assert head == git(target, "rev-parse", "main")


def test_a_name_cannot_end_the_table() -> None:
    row = entry()
    hostile = replace(row, model=replace(row.model, id=f"acme/{END}"))
    assert card_table(make_board([hostile], declared())).count("| `acme/<! -- ") == 1
