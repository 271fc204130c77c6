"""Real files of public repositories: what recognises each, its leaves, its model, and a value, as `expected.csv` says.

The files are not part of the project; without them the tests are skipped.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from bot.evaluation.benchmarks.catalogue import catalogue
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.submission import Parsed, UnreadPath
from bot.reporting.text import SCREEN, Ink, terminal_text
from tests.evaluation import discovering
from tests.evaluation.discovering import found_below
from tests.evaluation.drafting import drafted
from tests.evaluation.judging import declared

# Folders of the kinds that are read or named, and how many files each has.
FOLDERS = {
    "bigcode": 15,
    "evalchemy": 11,
    "evalplus": 8,
    "every_eval_ever": 3,
    "helm": 28,
    "hf-eval-results": 10,
    "inspect-eval": 3,
    "inspect-json": 21,
    "lighteval": 13,
    "lm-eval-0.3": 55,
    "lm-eval-0.4": 34,
    "lm-eval-samples": 9,
    "mteb": 26,
    "olmes": 7,
    "swebench": 5,
    "terminal-bench": 14,
}

# Kinds that `expected.csv` calls no result, and that have a reader today: their leaves, base and plus.
READ_TODAY = {"evalplus": 2}

Found = Parsed | UnreadPath


def expected(wild: Path, folder: str) -> list[dict[str, str]]:
    with (wild / "expected.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["file"].startswith(f"{folder}/")]


def found_in(wild: Path, folder: str) -> dict[str, Found]:
    """What each file comes to; a file of a run's folder has the folder's path."""
    files = [str(file.relative_to(wild)) for file in (wild / folder).rglob("*") if file.is_file()]
    found = found_below(wild, files)
    folders = {path: one for path, one in found.items() if (wild / path).is_dir()}
    return found | {file: one for file in files for path, one in folders.items() if file.startswith(path)}


# Of these the reports of whole runs are read by shipped forms, and the files of single trials are named.
READ_AS_FORMS = frozenset({"swe-bench", "terminal-bench"})


def as_read_today(row: dict[str, str]) -> dict[str, str]:
    """What is expected where the kind has a reader; its values are in `test_wild_by_hand`."""
    if row["id"] not in READ_TODAY:
        return row
    return row | {"read": "yes", "leaves": str(READ_TODAY[row["id"]]), "model": "(a local path)"}


def faults(row: dict[str, str], one: Found | None) -> Iterator[str]:
    """What differs from what is expected of a file."""
    if row["read"] == "no" and row["id"] in READ_AS_FORMS and isinstance(one, Parsed):
        if one.result is None or (one.result.format, len(one.result.leaves)) != (row["id"], 1):
            yield f"is not read as {row['id']}"
        return
    if row["read"] == "no":
        if not isinstance(one, UnreadPath) or one.kind != row["id"]:
            yield f"is not told to be {row['id']}"
        return
    if not isinstance(one, Parsed) or one.result is None:
        if row["read"] == "yes":
            yield "is not read"
        return
    result = one.result
    if row["read"] == "either" and result.format == row["id"]:
        return
    if (result.format, str(len(result.leaves))) != (row["id"].replace("0.2", "0.3"), row["leaves"]):
        yield f"is {result.format} of {len(result.leaves)} leaves"
    if row["model"] != "(a local path)" and result.model.id != row["model"]:
        yield f"names the model {result.model.id!r}"
    if row["leaf"]:
        leaf = result.leaves.get(row["leaf"])
        if leaf is None or leaf.numbers.get(row["metric"]) != float(row["value"]):
            yield f"has no {row['metric']} of {row['value']} in {row['leaf']}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_real_file_is_read_as_what_it_is(reference: Path, folder: str) -> None:
    wild = reference / "wild"
    rows, found = expected(wild, folder), found_in(wild, folder)
    assert len(rows) == FOLDERS[folder]
    rows = [as_read_today(row) for row in rows]
    wrong = [f"{row['file']}: {fault}" for row in rows for fault in faults(row, found.get(row["file"]))]
    assert wrong == []


@pytest.mark.parametrize("folder", ["lm-eval-0.3", "lm-eval-0.4", "evalchemy"])
def test_a_harness_file_gives_its_row_and_leaves_whatever_its_name(reference: Path, folder: str) -> None:
    """Of the 83 real files of the harness every one is found by its content; `results_*.json` is no condition."""
    wild = reference / "wild"
    rows = [row for row in expected(wild, folder) if row["read"] == "yes"]
    usual = {row["file"]: f"{number}/results_2026-01-01T00-00-00.json" for number, row in enumerate(rows)}
    odd = {row["file"]: f"{number} copy/notes ({number}).txt" for number, row in enumerate(rows)}

    def found_under(names: dict[str, str]) -> list[tuple[object, ...]]:
        found = discovering.found_in({name: (wild / file).read_bytes() for file, name in names.items()})
        read = [found[name] for name in names.values()]
        return [(one.result.model, tuple(one.result.leaves)) for one in read if isinstance(one, Parsed) and one.result]

    assert len(found_under(odd)) == len(rows)
    assert found_under(odd) == found_under(usual)


def test_the_catalogue_knows_nine_in_ten_leaves_of_the_harness_by_their_keys(reference: Path) -> None:
    found = [one for folder in ("lm-eval-0.3", "lm-eval-0.4") for one in found_in(reference / "wild", folder).values()]
    results = [one.result for one in found if isinstance(one, Parsed) and one.result is not None]
    known = [catalogue().find(result.format, key) is not None for result in results for key in result.leaves]
    assert len(known) > 1_400
    assert sum(known) > 0.9 * len(known)


def lines_of_check(found: dict[str, Found], board: Leaderboard) -> int:
    parsed = [one for one in found.values() if isinstance(one, Parsed)]
    judgement = judge_all(parsed, board, unread=[one for one in found.values() if isinstance(one, UnreadPath)])
    return len(terminal_text(judgement, Ink(colour=False), quiet=True).splitlines())


def test_half_of_the_real_folders_are_checked_on_one_screen(reference: Path) -> None:
    drafts, shipped = [], []
    for folder in FOLDERS:
        found = found_in(reference / "wild", folder)
        results = [one.result for one in found.values() if isinstance(one, Parsed) and one.result is not None]
        if results:
            drafts.append(lines_of_check(found, drafted(*results)[0]))
            shipped.append(lines_of_check(found, declared()))
    assert len(drafts) == 13
    assert median(drafts) <= SCREEN
    assert median(shipped) <= SCREEN
