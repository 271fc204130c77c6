"""Generated values, files and bytes in; what must hold of each of them out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import hypot
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.entry import Entry, EntryModel, Remark, entry_key, entry_path, is_same_row, parse_entry
from bot.errors import MalformedEntry, MalformedResult
from bot.formats import parse_result
from bot.formats.locate import Locator
from bot.leaderboard import Leaderboard, Task, shipped
from bot.measure import take_measures
from bot.pipeline import entry_of
from bot.render.report import make_report, to_json
from bot.render.text import Ink, verdict_text
from bot.result import LeafResult, Measured, Model, Result, escape_pointer
from bot.score import Scores, make_scores
from tests.judging import EXAMPLES, ROOT, base, base_v1, declared, dumps, patch, stderr, verdict_of

SHARES = st.floats(0, 1)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from([10**400, -(10**30), 2**63, 1e308, "N/A", " ", "a|b|5", "acc,none", "leaderboard", 0.5, "Yaml"])
)  # fmt: skip
KEYS = st.text(max_size=8) | st.sampled_from([
    "results", "groups", "group_subtasks", "configs", "versions", "n-shot", "n-samples", "config", "config_general",
    "git_hash", "date", "lm_eval_version", "task_hashes", "model_name", "chat_template", "limit", "model_args",
    "no_cache", "num_fewshot", "acc,none", "acc_stderr,none", "effective", "original", "leaderboard_mmlu_pro", "all",
    "leaderboard_bbh", "harness|gsm8k|5", "hendrycksTest-anatomy", "mmlu_virology", "acc", "acc_norm", " ", "bare",
])  # fmt: skip
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6))


# ---- scores ----


def scores(leaderboard: Leaderboard, values: dict[str, float]) -> Scores:
    spelled = leaderboard.harness.formats[0]
    leaves = {
        leaf.key(spelled): LeafResult({metric.key(spelled): values[leaf.id] for metric in task.metrics})
        for task, leaf in leaderboard.leaves()
    }
    result = Result(format=spelled, model=Model(), harness=Measured("test"), leaves=leaves)
    return make_scores(take_measures(result, leaderboard), leaderboard)


@settings(max_examples=60)
@given(st.sampled_from(shipped()), st.data())
def test_a_better_leaf_never_makes_a_score_worse(name: str, data: st.DataObject) -> None:
    leaderboard = declared(name)
    ids = [leaf.id for _, leaf in leaderboard.leaves()]
    values = dict(zip(ids, data.draw(st.lists(SHARES, min_size=len(ids), max_size=len(ids))), strict=True))
    better = data.draw(st.sampled_from(ids))
    before = scores(leaderboard, values)
    after = scores(leaderboard, values | {better: data.draw(st.floats(values[better], 1))})
    for one, other in zip(before.tasks, after.tasks, strict=True):
        assert one.score is not None
        assert other.score is not None
        assert 0 <= one.score <= 100
        assert other.score >= one.score - 1e-12
        if all(leaf.id != better for leaf in one.leaves):
            assert other == one
    assert after.average is not None
    assert before.average is not None
    assert after.average >= before.average - 1e-12


@pytest.mark.parametrize("name", shipped())
def test_a_score_is_exactly_0_at_the_lower_bound_and_100_at_the_upper(name: str) -> None:
    leaderboard = declared(name)
    lower = {leaf.id: float(task.leaf_lower_bound(leaf)) for task, leaf in leaderboard.leaves()}
    upper = {leaf.id: float(task.upper_bound) for task, leaf in leaderboard.leaves()}
    assert {task.score for task in scores(leaderboard, lower).tasks} == {0.0}
    assert {task.score for task in scores(leaderboard, upper).tasks} == {100.0}
    assert scores(leaderboard, lower).average == 0.0
    assert scores(leaderboard, upper).average == 100.0


@given(st.sampled_from([(task, leaf) for name in shipped() for task, leaf in declared(name).leaves()]), SHARES)
def test_a_value_below_its_bound_scores_nothing(where: tuple[Task, Any], share: float) -> None:
    task, leaf = where
    leaderboard = next(board for board in map(declared, shipped()) if task in board.tasks)
    bound = float(task.leaf_lower_bound(leaf))
    values = {leaf.id: 1.0 for _, leaf in leaderboard.leaves()} | {leaf.id: share * bound}
    found = {one.id: one for column in scores(leaderboard, values).tasks for one in column.leaves}
    assert found[leaf.id].score == 0.0


def test_standard_errors_are_those_of_the_leaves_put_together_by_hand() -> None:
    verdict = verdict_of(base())
    assert verdict.scores is not None
    found = {task.id: task for task in verdict.scores.tasks}

    def error(task: str, leaf: str, span: float) -> float:
        (one,) = [one for one in found[task].leaves if one.id == leaf]
        assert one.samples is not None
        return stderr(one.raw, one.samples) / span

    ids = {task.id: [(leaf.id, leaf.samples) for leaf in task.leaves] for task in declared().tasks}
    prompts, instructions = (
        stderr(one.raw, samples) for one, samples in zip(found["ifeval"].leaves, (541, 834), strict=True)
    )
    by_hand = {
        "ifeval": (prompts + instructions) / 2,  # of the same answers, so they are added whole
        "musr": hypot(
            error("musr", "leaderboard_musr_murder_mysteries", 1 / 2),
            error("musr", "leaderboard_musr_object_placements", 4 / 5),
            error("musr", "leaderboard_musr_team_allocation", 2 / 3),
        )
        / 3,
        "gpqa": hypot(*(error("gpqa", leaf, 3 / 4) * samples / 1192 for leaf, samples in ids["gpqa"])),
        "math": hypot(*(error("math", leaf, 1) * samples / 1324 for leaf, samples in ids["math"])),
        "mmlu_pro": error("mmlu_pro", "leaderboard_mmlu_pro", 9 / 10),
    }
    for task, expected in by_hand.items():
        assert found[task].stderr == pytest.approx(100 * expected, rel=1e-12), task
    every = [task.stderr or 0.0 for task in verdict.scores.tasks]
    assert verdict.scores.stderr == pytest.approx(hypot(*every) / 6, rel=1e-12)


# ---- entries ----


def an_entry() -> Entry:
    entry = entry_of(verdict_of(base()), source="acme/results", commit="0" * 40)
    assert entry is not None
    return entry


ENTRY = an_entry()
entries = st.builds(
    lambda model, average, remarks, versions: msgspec.structs.replace(
        ENTRY, model=model, average=average, warnings=tuple(remarks), versions=versions
    ),
    st.builds(EntryModel, st.text(), st.text(), st.text(), st.booleans()),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.lists(st.builds(Remark, st.text(), st.text()), max_size=3),
    st.dictionaries(st.text(), st.text(), max_size=3),
)


@given(entries)
def test_an_entry_reads_back_as_it_was_written(entry: Entry) -> None:
    data = entry.to_bytes()
    assert parse_entry(data) == entry
    assert parse_entry(data).to_bytes() == data
    assert json.loads(data)["model"]["id"] == entry.model.id
    assert data.endswith(b"}\n")


def test_the_same_file_gives_the_same_bytes_wherever_its_keys_stand() -> None:
    turned = dict(reversed(base().items()))
    turned["results"] = dict(reversed(turned["results"].items()))
    one, other = entry_of(verdict_of(base())), entry_of(verdict_of(turned))
    assert one is not None
    assert other is not None
    same_file = msgspec.structs.replace(other, evidence=one.evidence)
    assert same_file.to_bytes() == one.to_bytes()


@given(entries, entries)
def test_rows_are_the_same_only_where_all_but_the_tool_is(one: Entry, other: Entry) -> None:
    assert is_same_row(one.to_bytes(), msgspec.structs.replace(one, tool="9.9.9").to_bytes())
    assert is_same_row(one.to_bytes(), other.to_bytes()) == (one == other)
    assert not is_same_row(one.to_bytes(), None)
    assert not is_same_row(None, one.to_bytes())


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_what_is_no_entry_is_the_same_as_itself_alone(one: bytes, other: bytes) -> None:
    assert is_same_row(one, other) == (one == other)
    assert not is_same_row(one, ENTRY.to_bytes())
    with pytest.raises(MalformedEntry):
        parse_entry(one)


NAMES = st.text(max_size=12) | st.sampled_from(
    ["..", ".", "a/../b", "x.lock", ".git", "a..b", "a.", "org/model-7.5b", "a@{b"]
)


@given(st.builds(Model, id=NAMES, revision=NAMES, precision=NAMES, chat_template=st.booleans()))
def test_the_path_of_an_entry_stays_in_its_folder(model: Model) -> None:
    entries_folder, folder, name = entry_path(entry_key(model)).split("/")
    assert entries_folder == "entries"
    for part in (folder, name):
        assert part.isascii()
        assert re.fullmatch(r"[\w-][\w.-]*[\w-]|[\w-]", part)
        assert ".." not in part
        assert not part.removesuffix(".json").endswith(".lock")


# ---- any bytes, any JSON ----


def survives(data: bytes, leaderboard: str = "open-llm-v2") -> None:
    try:
        parse_result(data)
        is_read = True
    except MalformedResult:
        is_read = False
    verdict = verdict_of(data, leaderboard)
    assert (verdict.result is not None) == is_read
    assert is_read or verdict.status == "rejected"
    json.loads(to_json(make_report([verdict], verdict.leaderboard)), parse_constant=pytest.fail)
    assert verdict_text(verdict, Ink(colour=False))


@settings(max_examples=150)
@given(JSON)
def test_any_json_value_is_read_or_refused(value: Any) -> None:
    survives(dumps(value))


@settings(max_examples=60)
@given(st.dictionaries(KEYS, JSON, max_size=8), st.sampled_from(shipped()))
def test_any_results_are_read_or_refused(results: dict[str, Any], leaderboard: str) -> None:
    survives(dumps({"results": results, "configs": {}, "n-shot": {}}), leaderboard)
    survives(dumps({"results": results, "config": {"no_cache": True}}), leaderboard)


def pointers(value: Any, above: str = "") -> Iterator[str]:
    yield above
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from pointers(inner, f"{above}/{escape_pointer(key)}")


PLACES = [p for p in pointers(base()) if not p.startswith(("/configs/", "/higher_is_better/"))]
PLACES_V1 = list(pointers(base_v1()))


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(PLACES), JSON), min_size=1, max_size=3))
def test_a_real_file_with_anything_anywhere_is_read_or_refused(changes: list[tuple[str, Any]]) -> None:
    data = base()
    for pointer, value in changes:
        try:
            data = patch(data, pointer, value)
        except (AttributeError, TypeError, IndexError):  # an earlier change took the place away
            continue
    survives(dumps(data))


@settings(max_examples=60)
@given(st.sampled_from(PLACES_V1), JSON)
def test_a_v1_file_with_anything_anywhere_is_read_or_refused(pointer: str, value: Any) -> None:
    survives(dumps(patch(base_v1(), pointer, value)), "open-llm-v1")


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    survives(data)


@pytest.mark.parametrize("leaderboard", shipped())
@pytest.mark.parametrize("file", sorted((ROOT / "tests" / "fuzz" / "found").iterdir()), ids=lambda path: path.name)
def test_what_fuzzing_found_is_read_or_refused(file: Path, leaderboard: str) -> None:
    survives(file.read_bytes(), leaderboard)


@settings(max_examples=60)
@given(st.sampled_from(EXAMPLES), st.integers(0, 70_000), st.binary(max_size=3), st.booleans())
def test_a_damaged_file_is_read_or_refused(file: Any, at: int, put: bytes, is_cut: bool) -> None:
    data = file.read_bytes()
    survives(data[:at] + put + (b"" if is_cut else data[at + 1 :]))


# ---- lines ----


class Writer:
    """Writes JSON with line breaks anywhere, and notes the line of every member's value: the reference for Locator."""

    def __init__(self, random: Random) -> None:
        self.random, self.text, self.lines = random, "", {}

    def gap(self) -> None:
        self.text += self.random.choice(["", "", " ", "\n", "\r\n", "\n\n \t"])

    def write(self, value: Any, pointer: str) -> None:
        self.gap()
        self.lines[pointer] = self.text.count("\n") + 1
        if isinstance(value, dict):
            self.text += "{"
            for number, (key, inner) in enumerate(value.items()):
                self.text += "," if number else ""
                self.gap()
                self.text += json.dumps(key, ensure_ascii=self.random.random() < 0.5)
                self.gap()
                self.text += ":"
                self.write(inner, f"{pointer}/{escape_pointer(key)}")
                self.gap()
            self.text += "}"
        else:
            self.text += json.dumps(value, ensure_ascii=False, indent=self.random.choice([None, 1]))


@settings(max_examples=100)
@given(st.dictionaries(KEYS, JSON, max_size=5), st.integers(0, 10**6))
def test_a_locator_finds_the_line_that_a_slow_writer_noted(value: dict[str, Any], seed: int) -> None:
    writer = Writer(Random(seed))
    writer.write(value, "")
    locator = Locator(writer.text.encode())
    for pointer, line in writer.lines.items():
        if pointer:
            assert locator.line_of(pointer) == line, pointer
            assert locator.line_of(f"{pointer}/not there") in {line, *writer.lines.values()}
    assert locator.line_of("") == 0


@settings(max_examples=100)
@given(st.binary(max_size=60), st.text(max_size=20))
def test_a_locator_answers_for_any_bytes_and_pointer(data: bytes, pointer: str) -> None:
    assert 0 <= Locator(data).line_of(pointer) <= data.count(b"\n") + 1


@pytest.mark.parametrize(
    ("text", "pointer", "line"),
    [
        ('{"a": 1,\n"a": 2}', "/a", 2),
        ('{"a": {"b": 1},\n"a": {"b": 1,\n"b": NaN}}', "/a/b", 3),
        ('\n{"a":\nNaN,\n"b": "\u00e4\U0001f600",\n"c": 1}', "/c", 5),
        ('{"a/b": {"~":\n1}}', "/a~1b/~0", 2),
        ('{"\\u0061": \n1}', "/a", 2),
        ('{"a": [\n{"b": 1}]}', "/a/0/b", 1),
        ('{"a": "\\"b\\": {",\n"b": 2}', "/b", 2),
    ],
)
def test_a_locator_knows_the_odd_spellings(text: str, pointer: str, line: int) -> None:
    assert Locator(text.encode()).line_of(pointer) == line
