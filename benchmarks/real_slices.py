"""How often `audit board` names a sound column on slices of real boards, and how often it finds a planted floor.

python benchmarks/real_slices.py v2.csv v1.csv    the slices that the thresholds were not chosen on
python benchmarks/real_slices.py --learn ...      the other half, on which they were

A slice is what people publish as a board: the rows of one range of sizes, one family, "dpo", "merge", the weaker or
stronger half, or some rows at random. Rows go to one of two halves by a digest of their
name, so no row is in both.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from math import fsum
from pathlib import Path
from random import Random

from bot.audits.board.audit import audit_board
from bot.audits.score_table import Cells, PublishedTable, read_score_table

FEWEST = 25
FAMILIES = (
    "llama", "mistral", "mixtral", "qwen", "gemma", "phi", "yi", "falcon", "solar", "gpt", "pythia", "opt", "vicuna",
    "hermes", "zephyr", "dolphin", "orca", "platypus", "neural", "una", "tiny",
)  # fmt: skip
METHODS = ("dpo", "merge", "slerp", "ties", "sft", "instruct", "chat", "base", "lora", "moe", "orpo", "simpo", "-v0")
SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)[bB]\b")
SIZES = ((0, 2), (2, 4), (4, 7.5), (7.5, 10), (10, 16), (16, 40), (40, 1000))
SHARES, POINTS, PLANTED_ROWS = (0.3, 0.45, 0.6), (-5.0, 0.0, 3.0), (50, 100, 200, 400)


def half(table: PublishedTable, *, learn: bool) -> PublishedTable:
    """Return the rows of one half."""
    kept = [i for i, name in enumerate(table.names) if (sha256(name.encode()).digest()[0] % 2 == 0) == learn]
    return rows_of(table, kept)


def rows_of(table: PublishedTable, rows: Sequence[int]) -> PublishedTable:
    """Return the table with these rows."""
    columns: Mapping[str, Cells] = {name: tuple(cells[i] for i in rows) for name, cells in table.columns.items()}
    return PublishedTable(tuple(table.names[i] for i in rows), columns)


def slices(table: PublishedTable) -> Iterator[tuple[str, list[int]]]:
    """Yield the name and the rows of each slice that has enough rows."""
    every = range(len(table.names))
    found: list[tuple[str, list[int]]] = [("all", list(every))]
    found += [(word, [i for i in every if word in table.names[i].lower()]) for word in (*FAMILIES, *METHODS)]
    found += [
        (f"{low} to {high} B", [i for i in every if low < size_of(table.names[i]) <= high]) for low, high in SIZES
    ]
    averages = [fsum(cells[i] or 0.0 for cells in table.columns.values()) for i in every]
    ordered = sorted(every, key=averages.__getitem__)
    middle, third = len(ordered) // 2, len(ordered) // 3
    found += [("weaker half", ordered[:middle]), ("stronger half", ordered[middle:])]
    found += [("weakest third", ordered[:third]), ("strongest third", ordered[2 * third :])]
    for count in (30, 60, 120, 240):
        for seed in range(6):
            random = Random(seed * 1000 + count)
            found.append((f"{count} at random", sorted(random.sample(every, min(count, len(ordered))))))
            weaker = ordered[:middle]
            found.append((f"{count} of the weaker half", sorted(random.sample(weaker, min(count, middle)))))
    for name, rows in found:
        if len(rows) >= FEWEST:
            yield name, rows


def size_of(name: str) -> float:
    """Return the billions of parameters that a name gives, 0 where it gives none."""
    found = SIZE.search(name)
    return float(found[1]) if found else 0.0


def planted(table: PublishedTable, column: str, share: float, points: float, random: Random) -> PublishedTable:
    """Put a share of the rows on a floor of 5 points, which begins `points` above the lowest 2 %."""
    cells = [cell or 0.0 for cell in table.columns[column]]
    bottom = sorted(cells)[int(0.02 * len(cells))] + points
    floored = tuple(bottom + 5 * random.random() if random.random() < share else cell for cell in cells)
    return PublishedTable(table.names, {**table.columns, column: floored})


def false_alarms(path: str, table: PublishedTable) -> tuple[int, int, int, int]:
    """Print each slice with a named column; return boards, boards with one, columns, named columns."""
    boards = hit = columns = named = 0
    for name, rows in slices(table):
        found = audit_board(rows_of(table, rows))
        boards, hit = boards + 1, hit + bool(found.named)
        columns, named = columns + len(found.columns), named + len(found.named)
        for column in found.columns:
            for alarm in column.alarms:
                print(f"  {path}, {name} ({len(rows)} rows): {column.column}: {alarm.kind}: {alarm.why}")
    return boards, hit, columns, named


def power(table: PublishedTable, times: int) -> Counter[tuple[int, float, float, bool]]:
    """Count planted floors by rows, share, width in points, and whether they were found."""
    counts: Counter[tuple[int, float, float, bool]] = Counter()
    columns = list(table.columns)
    for rows in PLANTED_ROWS:
        for share in SHARES:
            for points in POINTS:
                for seed in range(times):
                    random = Random(f"{rows} {share} {points} {seed}")
                    board = rows_of(table, random.sample(range(len(table.names)), min(rows, len(table.names))))
                    column = columns[seed % len(columns)]
                    found = audit_board(planted(board, column, share, points, random))
                    counts[rows, share, points, column in found.named] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--learn", action="store_true", help="the half on which thresholds are chosen")
    parser.add_argument("--times", type=int, default=12, help="planted floors of each kind")
    call = parser.parse_args()
    totals, counts = [0, 0, 0, 0], Counter[tuple[int, float, float, bool]]()
    for path in call.tables:
        table = half(read_score_table(path.read_bytes(), str(path)), learn=call.learn)
        totals = [a + b for a, b in zip(totals, false_alarms(path.stem, table), strict=True)]
        counts += power(table, call.times)
    boards, hit, columns, named = totals
    print(f"{boards} slices, {hit} with an alarm; {columns} columns, {named} named: {named / columns:.1%} (bar: 2 %)")
    for rows in PLANTED_ROWS:
        for share in SHARES:
            cells = [
                f"{points:g} points {counts[rows, share, points, True]} of"
                f" {counts[rows, share, points, True] + counts[rows, share, points, False]}"
                for points in POINTS
            ]
            print(f"planted, {rows} rows, {share:.0%} on the floor: {', '.join(cells)}")


if __name__ == "__main__":
    main()
