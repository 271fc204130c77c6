"""Whatever stands in the records of a sample log: the readers give samples or reasons, and the checker a verdict."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.audits.samples.check import check_leaf
from bot.audits.samples.lighteval import read_row
from bot.audits.samples.pairs import pair_logs
from bot.audits.samples.read import read_log
from bot.audits.samples.records import SkippedRecord
from bot.audits.samples.sample import Sample
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from tests.audits.samples.test_attacks import helm_rows, inspect_rows, lighteval_rows, old_lighteval_rows
from tests.audits.samples.test_check import CHOICE, DROP, TEXT
from tests.evaluation.test_properties import JSON

Row = dict[str, Any]
METRICS = ("acc", "acc_norm", "em", "f1", "exact_match", "quasi_exact_match", "accuracy")
NUMBERS = {f"{name}{end}": 0.5 for name in METRICS for end in ("", ",none", ",strict-match")}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values inside of a value are."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(one, (*path, key))


def changed(row: Row) -> st.SearchStrategy[Row]:
    """The row with other values in up to three places."""
    change = st.tuples(st.sampled_from(list(places(row))), JSON)
    return st.lists(change, max_size=3).map(lambda changes: _with(row, changes))


def _with(row: Row, changes: list[tuple[tuple[Any, ...], Any]]) -> Row:
    made = copy.deepcopy(row)
    for (*path, last), value in changes:
        inner: Any = made
        for step in path:
            known = inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
            inner = inner[step] if step in known else None
        if isinstance(inner, dict) or (isinstance(inner, list) and last in range(len(inner))):
            inner[last] = value
    return made


def write_lines(folder: Path, rows: list[Row]) -> Path:
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "log.jsonl"


def write_run(folder: Path, rows: list[Row]) -> Path:
    states = [{name: one for name, one in row.items() if name != "own"} for row in rows]
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    (folder / "per_instance_stats.json").write_text(json.dumps([row.get("own") for row in rows]))
    return folder


def write_inspect(folder: Path, rows: list[Row]) -> Path:
    (folder / "log.json").write_text(json.dumps({"version": 2, "samples": rows}))
    return folder / "log.json"


LOGS: dict[str, tuple[Row, str, str, Callable[[Path, list[Row]], Path]]] = {
    "likelihoods": (CHOICE[0], "lm-eval-0.4", "arc", write_lines),
    "texts": (TEXT[0], "lm-eval-0.4", "gsm8k", write_lines),
    "drop": (DROP[0], "lm-eval-0.4", "drop", write_lines),
    "helm": (helm_rows()[0], "helm", "mmlu", write_run),
    "inspect": (inspect_rows()[0], "inspect", "arc choice", write_inspect),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", LOGS)
@given(data=st.data())
def test_any_log_is_read_paired_and_checked(form: str, data: st.DataObject) -> None:
    row, harness, leaf, write = LOGS[form]
    rows = data.draw(st.lists(changed(row), min_size=1, max_size=3))
    result = Result(Model(id="acme/a-1b"), HarnessVersion(harness), {leaf: LeafResult(NUMBERS)}, format=harness)
    with TemporaryDirectory() as folder:
        log = write(Path(folder), rows)
        assert all(isinstance(one, Sample | SkippedRecord) for one in read_log(log))
        pairs = pair_logs([log], [log], "acc")
        assert isinstance(pairs, str) or pairs.shared == pairs.larger
        found = check_leaf(result, leaf, log, "log")
        assert found is None or found.unreadable or found.count
        msgspec.json.encode(found)


@pytest.mark.parametrize("row", [lighteval_rows()[0], old_lighteval_rows()[0]], ids=["since 0.10", "before"])
@given(data=st.data())
def test_any_row_of_details_is_a_sample_or_has_a_reason(row: Row, data: st.DataObject) -> None:
    assert isinstance(read_row(data.draw(changed(row)), 1), Sample | SkippedRecord)
