"""The files that follow from the rows at a target: the table, the card that shows it, and the declaration.

A card (README.md) belongs to the maintainers: only the text between the two marks is written, and nothing without them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import yaml

from bot.errors import Unwritable
from bot.evaluation.finding import counted
from bot.publishing.board import CSV_NAME, Board, BoardRow, to_csv
from bot.publishing.tables.sheet import Splice, spliced
from bot.publishing.yaml_text import compose, entries, front_matter
from bot.reporting.escape import code_in_table
from bot.reporting.markdown import cell

CARD = "README.md"
BEGIN, END = "<!-- leaderboard-bot table -->", "<!-- leaderboard-bot table end -->"
OUR_COLUMNS = 3  # columns by which a table of the bot is known
SHOWN = 100  # rows: a card is read by people; the CSV has all rows


def derived_files(board: Board, read: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """The table, the card and the declaration that differ from what the board gives.

    `read` gives a file at the target. Raises Unwritable if the table there is not ours.
    """
    table, card, there = to_csv(board), read(CARD), read(CSV_NAME)
    if there is None and not board.rows:
        return {}
    if there is not None and not _is_ours(there, table):
        raise Unwritable(f"{CSV_NAME} was not made by leaderboard-bot, so it is not overwritten; rename it")
    files = {CSV_NAME: table} if there != table else {}
    files |= _declaration(board, read)
    shown = None if card is None else with_table(card, board)
    return files if shown is None or shown == card else {**files, CARD: shown}


def declaration_path(digest: str) -> str:
    """Where a target keeps the declaration with this digest, so that anybody can compute its rows again."""
    return f"declarations/{digest.removeprefix('sha256:')}.toml"


def _declaration(board: Board, read: Callable[[str], bytes | None]) -> dict[str, bytes]:
    """The declaration that rows of the board name, where the target does not keep it yet."""
    declared = board.leaderboard
    is_named = any(row.entry.leaderboard.digest == declared.digest for row in board.rows)
    path = declaration_path(declared.digest)
    return {path: declared.text.encode()} if is_named and read(path) is None else {}


def _is_ours(there: bytes, table: bytes) -> bool:
    """Tell whether a table has the first columns of the bot; the tasks may be others by now."""
    return there.split(b",")[:OUR_COLUMNS] == table.split(b",")[:OUR_COLUMNS]


def with_table(card: bytes, board: Board) -> bytes | None:
    """The card with the board's table between its marks, None if it has not both, or is not a text."""
    try:
        text = card.decode()
    except UnicodeDecodeError:
        return None
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n{card_table(board)}\n{end}{after}".encode() if begin and end else None


def card_table(board: Board) -> str:
    """The best rows as a table of Markdown."""
    tasks = board.leaderboard.tasks
    titles = ["Rank", "Model", "Average", *(task.title.replace("|", r"\|") for task in tasks)]
    lines = [f"| {' | '.join(titles)} |", f"| ---: | --- |{' ---: |' * (len(tasks) + 1)}"]
    lines += [_line(row) for row in board.rows[:SHOWN]]
    more = len(board.rows) - SHOWN
    return "\n".join([*lines, *([f"\n{counted(more, 'more row')} in `{CSV_NAME}`."] if more > 0 else [])])


def _line(row: BoardRow) -> str:
    entry = row.entry
    chat = ", chat template" if entry.model.chat_template else ""
    name = f"{code_in_table(entry.model.id)} {code_in_table(entry.model.precision or 'unknown precision')}{chat}"
    name = name.replace("<!--", "<! --")  # or a word of the file could end the table
    numbers = [cell(entry.average, 2), *(cell(task.score, 2) for task in entry.tasks)]
    return f"| {row.ranks} | {name} | {' | '.join(numbers)} |"


INFO = "dataset_info"
COUNT = re.compile(r"[0-9]{1,18}")
Counted = tuple[int, int, int]  # where a number begins and ends in the card, and the number


@dataclass(frozen=True, slots=True)
class Growth:
    """What an edit adds to a split: rows, bytes in memory, bytes of the files."""

    rows: int
    memory: int
    files: int


def counts_of(card: str, config: str, split: str) -> Mapping[str, Counted] | None:
    """The counts that a card gives for a split, None if it has no `dataset_info` at all.

    Raises Unwritable if it has one, and not `num_examples` for this split.
    """
    place = front_matter(card)
    if place is None:
        return None
    root = compose(card[slice(*place)])
    info = _inside(root, INFO)
    if info is None:
        return None
    if isinstance(info, yaml.SequenceNode):
        info = next((each for each in info.value if _text(_inside(each, "config_name"), "default") == config), None)
    splits = _inside(info, "splits")
    rows = splits.value if isinstance(splits, yaml.SequenceNode) else []
    ours = next((each for each in rows if _text(_inside(each, "name")) == split), None)
    places = {
        "num_examples": _inside(ours, "num_examples"),
        "num_bytes": _inside(ours, "num_bytes"),
        "download_size": _inside(info, "download_size"),
        "dataset_size": _inside(info, "dataset_size"),
    }
    counts = {name: _count(node, place[0]) for name, node in places.items() if node is not None}
    if "num_examples" not in counts:
        raise Unwritable(f"the card has {INFO} without num_examples for the split {split!r}: readers would fail")
    return counts


def grown(card: str, counts: Mapping[str, Counted], growth: Growth) -> str:
    """The card with the counts after an edit, with all other text as it was."""
    by = {
        "num_examples": growth.rows,
        "num_bytes": growth.memory,
        "download_size": growth.files,
        "dataset_size": growth.memory,
    }
    return spliced(card, [Splice(start, end, str(count + by[name])) for name, (start, end, count) in counts.items()])


def _inside(node: yaml.Node | None, name: str) -> yaml.Node | None:
    return next((value for key, value in entries(node) if key.value == name), None)


def _text(node: yaml.Node | None, default: str = "") -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else default


def _count(node: yaml.Node, start: int) -> Counted:
    if not isinstance(node, yaml.ScalarNode) or node.style or not COUNT.fullmatch(node.value):
        raise Unwritable(f"the card has a count in {INFO} that is not a plain number")
    return start + node.start_mark.index, start + node.end_mark.index, int(node.value)
