"""Random rows go to the two repositories of a template board, change and leave: foreign files stay, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from bot.publishing.layout import Draft, RowChange
from tests.publishing.tables.boards import Files
from tests.publishing.tables.test_random_edits import CALM, HOSTILE, LONG, PLAIN, SHARES, SHORT
from tests.publishing.tables.test_template import TASKS, requests, results, row, shown

MODELS = ("acme/heron", "acme/wren", "o/heron")
PRECISIONS = ("bfloat16", "float16", "4bit")
STATUSES = ("PENDING", "RUNNING", "FINISHED", "FINISHED_1_2", "FAILED", "CANCELLED", "ß\u2028", "")
MODEL = st.one_of(st.sampled_from(MODELS), st.sampled_from(MODELS), PLAIN, HOSTILE)
WORDS = st.text(st.sampled_from('ab:{}[]",\\/🦅\u2028\n\x00 '), max_size=8)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | WORDS, st.lists, max_leaves=4)
STEPS = st.lists(
    st.tuples(MODEL, st.sampled_from(PRECISIONS[:2]), SHARES, SHARES, st.booleans()), min_size=1, max_size=4
)
Step = tuple[str, str, float | None, float | None, bool]


def change(step: Step) -> RowChange:
    model, precision, one, other, withdrawn = step
    whole = row(model, {"bbh": one, "gpqa": other}, precision=precision)
    key = f"{model}/{precision}"
    return RowChange(key, None, whole.entry) if withdrawn else RowChange(key, whole.entry)


def applied(files: Files, draft: Draft) -> Files:
    after = {path: data for path, data in {**files, **draft.files}.items() if data is not None}
    assert not draft.refused or not draft.files  # one row in each step
    return after


@st.composite
def result_files(draw: st.DrawFn) -> Files:
    """Results of somebody else, by other models or precisions, in any layout of the JSON."""
    files: Files = {}
    for model, precision in draw(st.sets(st.tuples(st.sampled_from(MODELS), st.sampled_from(PRECISIONS)), max_size=4)):
        kind = precision if precision == "4bit" else f"torch.{precision}"
        values = {benchmark: {metric: draw(st.integers(0, 1000)) / 1000} for benchmark, metric in TASKS.values()}
        content = {"config": {"model_dtype": kind, "model_name": model, "x": draw(WORDS)}, "results": values}
        data = json.dumps(content, indent=draw(st.sampled_from([None, 2])), ensure_ascii=draw(st.booleans()))
        files[f"{model}/results_2025-01-0{len(files)}.json"] = data.encode()
    return files


@st.composite
def member(draw: st.DrawFn, name: str, value: Any) -> str:
    """A member of an object, with white space anywhere, and escapes or none."""
    gaps = [draw(st.sampled_from(["", " ", "\n\t", "\r\n  "])) for _ in range(4)]
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return f"{gaps[0]}{json.dumps(name)}{gaps[1]}:{gaps[2]}{text}{gaps[3]}"


@st.composite
def request_files(draw: st.DrawFn) -> Files:
    """Request files of somebody else, with keys in any order, escapes, spaces and a status of any kind."""
    files: Files = {}
    for model in draw(st.sets(st.sampled_from(MODELS))):
        for precision in draw(st.sets(st.sampled_from(PRECISIONS))):
            said = [("model", model), ("precision", precision), ("status", draw(st.sampled_from(STATUSES)))]
            said += [(f"k{number}", value) for number, value in enumerate(draw(st.lists(VALUES, max_size=3)))]
            members = [draw(member(name, value)) for name, value in draw(st.permutations(said))]
            files[f"{model}_eval_request_False_{precision}_Original.json"] = f"{{{','.join(members)}}}".encode()
    return files


def check_results(foreign: Files, steps: list[Step]) -> None:
    files, before = dict(foreign), shown(foreign)
    for step in steps:
        files = applied(files, results(change(step), files=files))
        assert {path: files.get(path) for path in foreign} == foreign
        board = shown(files)
        assert {name: board.get(name) for name in before} == before
    if files == foreign:
        reject()  # it does not count among the thousand edits


def check_requests(foreign: Files, steps: list[Step]) -> None:
    files = dict(foreign)
    changed = 0
    for step in steps:
        after = applied(files, requests(change(step), files=files, create_requests=True))
        different = [path for path in after if after[path] != files.get(path)]
        assert after.keys() >= files.keys()
        for path in different:
            assert path.startswith(f"{step[0]}_eval_request_")
            if path in files:
                _check_status(files[path].decode(), after[path].decode())
        changed += len(different)
        files = after
    if not changed:
        reject()


def _check_status(before: str, after: str) -> None:
    """Nothing but the value of `status` changed."""
    old, new = json.loads(before), json.loads(after)
    assert repr({**old, "status": ""}) == repr({**new, "status": ""})
    (cut,) = {
        (before[:at], before[at + len(text) :])
        for text in (json.dumps(old["status"]), json.dumps(old["status"], ensure_ascii=False))
        for at in range(len(before))
        if before.startswith(text, at) and before[:at] + json.dumps(new["status"]) + before[at + len(text) :] == after
    }
    assert cut[0].rstrip().endswith(":")


def check_board(name: str, data: st.DataObject, steps: list[Step]) -> None:
    files, check = BOARDS[name]
    check(data.draw(files), steps)


BOARDS: dict[str, Any] = {"results": (result_files(), check_results), "requests": (request_files(), check_requests)}


@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=SHORT, deadline=None, suppress_health_check=CALM)
@given(data=st.data(), steps=STEPS)
def test_every_foreign_byte_stays(name: str, data: st.DataObject, steps: list[Step]) -> None:
    check_board(name, data, steps)


@pytest.mark.campaign
@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=LONG, deadline=None, suppress_health_check=CALM)
@given(data=st.data(), steps=STEPS)
def test_every_foreign_byte_stays_a_thousand_times(name: str, data: st.DataObject, steps: list[Step]) -> None:
    check_board(name, data, steps)
