"""The files that follow from the rows at a target: the table, the card that shows it, and the declaration.

A card (README.md) belongs to the maintainers: only the text between the two marks is written, and nothing without the
marks.
"""

from __future__ import annotations

from collections.abc import Callable

from bot.errors import Unwritable
from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Leaderboard, shipped
from bot.publishing.board import CSV_NAME, PARQUET_NAME, Board, BoardRow, to_csv, to_parquet
from bot.publishing.entry import board_declaration_path, declaration_path
from bot.reporting.escape import cell, code_in_table, plain_markup
from bot.reporting.scores import column_cells

CARD = "README.md"
BEGIN, END = "<!-- leaderboard-bot table -->", "<!-- leaderboard-bot table end -->"
OUR_COLUMNS = 3  # columns by which a table of the bot is known
CARD_ROWS = 100  # rows: a card is read by people; the CSV has all rows


def derived_files(board: Board, read: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """The table, card and declaration where they differ from what follows from the board.

    `read` gives a file at the target. Raises Unwritable if somebody else wrote the table there.
    """
    if board.rival:
        return _declaration(board, read)
    table, card, there = to_csv(board), read(CARD), read(CSV_NAME)
    if there is None and not board.rows:
        return {}
    if there is not None and not _is_ours(there, table):
        raise Unwritable(f"{CSV_NAME} was not made by leaderboard-bot, so it is not overwritten; rename it")
    files = {CSV_NAME: table} if there != table else {}
    files |= _declaration(board, read)
    shown = None if card is None else with_table(card, board)
    return files if shown is None or shown == card else {**files, CARD: shown}


def parquet_beside(board: Board, read: Callable[[str], bytes | None]) -> bytes | None:
    """The rows as a Parquet file beside the table; None without the extra `tables`.

    Raises Unwritable where there is such a file and no table of ours: it is somebody else's.
    """
    if read(CSV_NAME) is None and read(PARQUET_NAME) is not None:
        raise Unwritable(f"{PARQUET_NAME} was not made by leaderboard-bot, so it is not overwritten; rename it")
    return to_parquet(board)


def _declaration(board: Board, read: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """The declaration, once a row names it: by its digest, and as that of the board, unless it is shipped."""
    declared = board.leaderboard
    if all(row.entry.leaderboard.digest != declared.digest for row in board.rows):
        return {}
    kept, made_by, text = declaration_path(declared.digest), board_declaration_path(declared.id), declared.text.encode()
    files = {made_by: text} if declared.id not in shipped() and read(made_by) != text else {}
    return {**files, kept: text} if read(kept) is None else files


def _is_ours(there: bytes, table: bytes) -> bool:
    """Tell whether a table begins with the bot's columns; its tasks may have changed since."""
    return there.split(b",")[:OUR_COLUMNS] == table.split(b",")[:OUR_COLUMNS]


def with_table(card: bytes, board: Board) -> bytes | None:
    """The card with the board's table between its marks, in the card's line ends.

    None if it has not both marks, or is not a text.
    """
    try:
        text = card.decode()
    except UnicodeDecodeError:
        return None
    before, begin, rest = text.partition(BEGIN)
    between, end, after = rest.partition(END)
    kept = f"{before}{begin}{between}".rpartition(BEGIN)[0]  # the text of people, where a mark lost its end
    table = f"\n{card_table(board)}\n"
    if "\r\n" in text:
        table = table.replace("\n", "\r\n")
    return f"{kept}{begin}{table}{end}{after}".encode() if begin and end else None


def card_table(board: Board) -> str:
    """The best rows as a table of Markdown."""
    tasks = board.leaderboard.tasks
    shown = [*board.leaderboard.groups, *(task.title for task in tasks)]
    shown += [column.title for column in board.leaderboard.columns]
    titles = ["Rank", "Model", "Average", *(title.replace("|", r"\|") for title in shown)]
    lines = [f"| {' | '.join(titles)} |", f"| ---: | --- |{' ---: |' * (len(shown) + 1)}"]
    lines += [_line(row, board.leaderboard) for row in board.rows[:CARD_ROWS]]
    more = len(board.rows) - CARD_ROWS
    return "\n".join([*lines, *([f"\n{counted(more, 'more row')} in `{CSV_NAME}`."] if more > 0 else [])])


def _line(row: BoardRow, leaderboard: Leaderboard) -> str:
    entry = row.entry
    scores = {task.id: task.score for task in entry.tasks}
    chat = ", chat template" if entry.model.chat_template else ""
    name = f"{code_in_table(entry.model.id)} {code_in_table(entry.model.precision or 'unknown precision')}{chat}"
    name = name.replace("<!--", "<! --")  # or a word of the file could end the table
    groups = {group.title: group.score for group in entry.groups}
    numbers = [cell(entry.average, 2), *(cell(groups.get(title), 2) for title in leaderboard.groups)]
    numbers += [cell(scores.get(task.id), 2) for task in leaderboard.tasks]
    numbers += map(plain_markup, column_cells(entry.columns, leaderboard))
    return f"| {row.ranks} | {name} | {' | '.join(numbers)} |"
