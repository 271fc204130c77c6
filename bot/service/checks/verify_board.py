"""Compare what readers see of a board, leaderboard.csv and the table in its card, with what its entries give."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.errors import BotError
from bot.evaluation.finding import counted
from bot.evaluation.leaderboard import Leaderboard
from bot.publishing.board import CSV_NAME, make_board
from bot.publishing.card import CARD, derived_files
from bot.publishing.changes import Difference
from bot.service.checks.verify import VerifiedRow, Verifier
from bot.service.checks.verify_evidence import Unfounded
from bot.service.publish.reconcile import words_at

MOST_DECLARATIONS_TRIED = 20  # of one board that are tried: the table may be of an older one than most rows
Cells = dict[tuple[str, str], str]  # by the row's entry and the column


@dataclass(frozen=True, slots=True)
class VerifiedBoard:
    """What was read and compared, in one sentence, and each file that readers see and the entries do not give."""

    said: str
    wrong: tuple[VerifiedRow, ...] = ()


def verify_board(verifier: Verifier) -> VerifiedBoard:
    """Compare the files that readers see with the entries at the same commit; a table of people is not compared here.

    They follow if they follow under today's declaration, or under one that the rows name.
    """
    target = verifier.target
    at = f"{target.name} was read at commit {target.head()}"
    if verifier.table is not None:
        return VerifiedBoard(f"{at}: the entries, and the cells of the table")
    try:
        files = target.read_files((CSV_NAME,))
        if not files:
            return VerifiedBoard(f"{at}: entries only, there is no {CSV_NAME}")
        wrong = _wrong(verifier, {**files, **target.read_files((CARD,))})
    except (BotError, Unfounded) as failure:
        return VerifiedBoard(f"{at}: entries only: {failure}")
    said = f"{' and '.join(one.key for one in wrong)} is not what they give" if wrong else "and what they give"
    return VerifiedBoard(f"{at}: the entries, {said}", wrong)


def _wrong(verifier: Verifier, files: Mapping[str, bytes]) -> tuple[VerifiedRow, ...]:
    """The files that do not follow. Raises BotError or Unfounded where nothing can be said."""
    entries = verifier.stored.entries
    first: tuple[VerifiedRow, ...] | None = None
    for declared in _declarations(verifier):
        own = [entry for entry in entries if entry.leaderboard.id == declared.id]
        words = words_at(verifier.target, own) if b"remeasured" in files[CSV_NAME] else {}
        given = derived_files(make_board(own, declared, words), files.get)
        found = tuple(filter(None, (compare_file(path, files[path], given[path]) for path in files if path in given)))
        if not found:
            return ()
        first = first or found
    if first is None:
        raise Unfounded("untraceable", "no row names a declaration of the board")
    return first


def _declarations(verifier: Verifier) -> Iterator[Leaderboard]:
    """Today's declaration, the board's and those of rows, of the leaderboard with most rows, which has the table."""
    entries, today = verifier.stored.entries, verifier.today
    rows = Counter(entry.leaderboard.id for entry in entries)
    board = max(rows, key=lambda name: (rows[name], name), default="")
    if today is not None and today.id == board:
        yield today
    if board and (own := verifier.board_declaration(board)) is not None:
        yield own
    named = Counter(entry.leaderboard.digest for entry in entries if entry.leaderboard.id == board)
    of_digest = {entry.leaderboard.digest: entry for entry in entries}
    for digest, _ in named.most_common(MOST_DECLARATIONS_TRIED):
        yield verifier.declaration(of_digest[digest])


def compare_file(path: str, there: bytes, given: bytes) -> VerifiedRow | None:
    """A file that does not follow, with the cells that differ where it is the table.

    A column that an older version did not write is no difference.
    """
    if path != CSV_NAME:
        return VerifiedRow(path, "board", "its table is not what the entries give")
    old, new = _cells(there), _cells(given)
    columns = {column for _, column in old}
    new = {place: value for place, value in new.items() if place[1] in columns}
    if old and list(old.items()) == list(new.items()):
        return None
    places = [place for place in dict.fromkeys([*new, *old]) if old.get(place) != new.get(place)]
    places.sort(key=lambda place: place[1].startswith("rank"))  # one edited row moves the ranks of others
    cells = tuple(
        Difference(f"{column} of {entry}", old.get((entry, column)), new.get((entry, column)))
        for entry, column in places
    )
    are = "is" if len(cells) == 1 else "are"
    said = f"{counted(len(cells), 'cell')} {are} not what the entries give"
    what = said if cells else "its rows stand in another order"
    return VerifiedRow(path, "board", what, cells)


def _cells(data: bytes) -> Cells:
    """The cells of a board's table; a row without an entry is named by its line."""
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return {}
    return {
        (row.get("entry") or f"line {number}", column): value
        for number, row in enumerate(rows, start=2)
        for column, value in row.items()
        if isinstance(column, str) and isinstance(value, str)
    }
