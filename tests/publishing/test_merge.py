"""Merging three ways, held against git: what merges here merges there, with the same bytes."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from bot.publishing.merge import Merged, merge_files, merge_lines

BASE = b"Model,Average\na,1\nb,2\nc,3\n"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (b"Model,Average\nx,9\na,1\nb,2\nc,3\n", BASE + b"d,4\n", b"Model,Average\nx,9\na,1\nb,2\nc,3\nd,4\n"),
        (BASE + b"x,9\n", BASE + b"d,4\n", None),  # two rows come at one place
        (b"Model,Average\na,1\nb,2\nc,9\n", BASE + b"d,4\n", None),  # the row beside the new one changes
        (BASE + b"d,4\n", BASE + b"d,4\n", BASE + b"d,4\n"),
        (b"Model,Average\nb,2\nc,3\na,1\n", BASE + b"d,4\n", None),  # a row moves to where one comes
        (b"Model,Average\na,1\nb,2\nc,3", BASE + b"d,4\n", None),  # the last line loses its end
        (b"Model,Average\0\na,1\nb,2\nc,3\n", BASE + b"d,4\n", None),  # binary
        (b"", BASE + b"d,4\n", None),
    ],
)
def test_changes_that_touch_do_not_merge(one: bytes, other: bytes, expected: bytes | None) -> None:
    assert merge_lines(BASE, one, other) == merge_lines(BASE, other, one) == expected


def test_a_file_that_only_one_side_touches_is_as_that_side_has_it() -> None:
    base = {"ours": b"1", "theirs": b"1", "both": b"1", "gone": b"1", "kept": b"1"}
    main = {"ours": b"1", "theirs": b"2", "both": b"2", "kept": b"2"}
    ours = {"ours": b"2", "theirs": b"1", "both": b"2", "gone": b"2", "kept": None, "new": b"1"}
    expected = {"ours": b"2", "theirs": b"2", "both": b"2", "gone": b"2", "kept": None, "new": b"1"}
    assert merge_files(base, main, ours) == Merged(expected, frozenset({"gone", "kept"}))


def test_a_table_of_20_000_rows_merges_in_its_lines() -> None:
    rows = [b"acme/m%d,%d\n" % (number, number) for number in range(20_000)]
    one = [*rows[:10], b"person,1\n", *rows[10:]]
    other = [*rows[:-1], b"acme/last,2\n", rows[-1]]
    both = [*rows[:10], b"person,1\n", *rows[10:-1], b"acme/last,2\n", rows[-1]]
    assert merge_lines(*map(b"".join, (rows, one, other))) == b"".join(both)


def merged_by_git(folder: Path, base: bytes, one: bytes, other: bytes) -> bytes | None:
    for name, data in (("base", base), ("one", one), ("other", other)):
        (folder / name).write_bytes(data)
    done = subprocess.run(
        ["git", "merge-file", "-p", "one", "base", "other"], cwd=folder, capture_output=True, check=False
    )
    return None if done.returncode else done.stdout


def row(chance: random.Random, form: str) -> list[bytes]:
    name, value = b"m%d" % chance.randint(0, 1_000_000), b"%d" % chance.randint(0, 9)  # no two rows are of one model
    if form == "csv":
        return [name + b"," + value + b"\n"]
    return [b"  {\n", b'    "name": "' + name + b'",\n', b'    "value": ' + value + b"\n", b"  },\n"]


def edited(chance: random.Random, form: str, rows: list[list[bytes]]) -> list[list[bytes]]:
    """Some rows come, go, change, or move; or all are sorted."""
    rows = list(rows)
    for _ in range(chance.randint(1, 3)):
        act, at = chance.randint(0, 9), chance.randint(0, len(rows))
        if act < 4:
            rows.insert(at, row(chance, form))
        elif act < 6:
            del rows[at : at + 1]
        elif act < 8 and at < len(rows):
            rows[at] = row(chance, form)
        elif act < 9 and rows:
            rows.insert(at, rows.pop(chance.randrange(len(rows))))
        else:
            rows.sort()
    return rows


@pytest.mark.parametrize("count", [60, pytest.param(3_000, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_merges_here_merges_in_git(tmp_path: Path, form: str, count: int) -> None:
    chance, clean = random.Random(count), 0
    for _ in range(count):
        start = [row(chance, form) for _ in range(chance.randint(0, 12))]
        sides = [start, edited(chance, form, start), edited(chance, form, start)]
        texts = [b"[\n" + b"".join(line for one in rows for line in one) + b"]\n" for rows in sides]
        merged = merge_lines(*texts)
        if merged is not None:
            clean += 1
            assert merged == merged_by_git(tmp_path, *texts), texts
    assert clean > count / 10
