"""The table in a dataset card: written between its marks, and nowhere else."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from bot.publishing.board import CSV_NAME, Board, make_board, to_csv
from bot.publishing.card import BEGIN, CARD, END, SHOWN, declaration_path, derived_files, with_table
from bot.publishing.entry import Entry
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


def test_a_card_without_both_marks_or_that_is_no_text_is_left_alone() -> None:
    for card in (b"# Board\n", f"# Board\n{BEGIN}\n".encode(), f"{END} {BEGIN}".encode(), b"\xff" + OURS.encode()):
        assert with_table(card, board()) is None


def test_a_long_board_shows_its_best_and_says_where_the_rest_is() -> None:
    many = [replace(entry(), key=f"o__m{n:03}/x-bfloat16", average=float(n)) for n in range(SHOWN + 7)]
    card = with_table(OURS.encode(), board(*many))

    assert card is not None
    assert card.decode().count("\n| ") == SHOWN + 2
    assert f"\n7 more rows stand in `{CSV_NAME}`.\n{END}" in card.decode()


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
