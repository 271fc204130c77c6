"""What must hold for generated values, files and bytes of any kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import hypot, sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, shipped
from bot.evaluation.measurement import take_measurements
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result, escape_pointer
from bot.evaluation.score import Scores, make_scores
from bot.evaluation.submission import Parsed, parse_submission
from bot.evaluation.task import Task
from bot.publishing.entry import entry_of, parse_entry
from bot.reporting.locate import Locator, with_lines
from bot.reporting.report import make_report, to_json
from bot.reporting.text import Ink, terminal_text
from tests.evaluation.judging import EXAMPLES, ROOT, base, base_v1, declared, dumps, outcome_of, patch, stderr
from tests.texts import any_text

SHARES = st.floats(0, 1)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | any_text(max_size=20)
    | st.sampled_from([10**400, -(10**30), 2**63, 1e308, "N/A", " ", "a|b|5", "acc,none", "leaderboard", 0.5, "Yaml"])
)  # fmt: skip
KEYS = any_text(max_size=8) | st.sampled_from([
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
    result = Result(format=spelled, model=Model(), harness=HarnessVersion("test"), leaves=leaves)
    return make_scores(take_measurements(result, leaderboard), leaderboard)


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
    verdict = outcome_of(base())
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
        "gpqa": sqrt(  # 198 of 448 of 546 questions: what n of m answers share with all m is sqrt(n / m)
            sum(
                error("gpqa", one, 3 / 4) * error("gpqa", other, 3 / 4) * n * m / 1192**2 * sqrt(min(n, m) / max(n, m))
                for one, n in ids["gpqa"]
                for other, m in ids["gpqa"]
            )
        ),
        "math": hypot(*(error("math", leaf, 1) * samples / 1324 for leaf, samples in ids["math"])),
        "mmlu_pro": error("mmlu_pro", "leaderboard_mmlu_pro", 9 / 10),
    }
    for task, expected in by_hand.items():
        assert found[task].stderr == pytest.approx(100 * expected, rel=1e-12), task
    every = [task.stderr or 0.0 for task in verdict.scores.tasks]
    assert verdict.scores.stderr == pytest.approx(hypot(*every) / 6, rel=1e-12)


# ---- any bytes, any JSON ----


def survives(data: bytes, leaderboard: str = "open-llm-v2") -> None:
    """Any bytes get a verdict that can be stored, shown and published, and judging what was stored gives the same."""
    parsed = parse_submission("results_x.json", {"": data})
    assert Parsed.from_bytes(parsed.to_bytes()).to_bytes() == parsed.to_bytes()
    judgement = judge_all([parsed], declared(leaderboard))
    again = judge_all([Parsed.from_bytes(parsed.to_bytes())], declared(leaderboard))
    (verdict,) = judgement.verdicts
    assert len(judgement.rows) == (parsed.result is not None)
    assert parsed.result is not None or verdict.status == "rejected"
    report = to_json(make_report(with_lines(judgement, lambda _: data)))
    json.loads(report, parse_constant=pytest.fail)
    assert make_report(again)["digest"] == make_report(judgement)["digest"]
    assert terminal_text(judgement, Ink(colour=False))
    for row in judgement.rows:
        entry = entry_of(row)
        assert entry is None or parse_entry(entry.to_bytes()) == entry


@pytest.mark.slow
@given(JSON)
def test_any_json_value_is_read_or_refused(value: Any) -> None:
    survives(dumps(value))


@pytest.mark.slow
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


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(PLACES), JSON), min_size=1, max_size=3))
def test_a_real_file_with_anything_anywhere_is_read_or_refused(changes: list[tuple[str, Any]]) -> None:
    data = base()
    for pointer, value in changes:
        try:
            data = patch(data, pointer, value)
        except (AttributeError, TypeError, IndexError, ValueError):  # an earlier change took the place away
            continue
    survives(dumps(data))


@given(st.sampled_from(PLACES_V1), JSON)
def test_a_v1_file_with_anything_anywhere_is_read_or_refused(pointer: str, value: Any) -> None:
    survives(dumps(patch(base_v1(), pointer, value)), "open-llm-v1")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    survives(data)


@pytest.mark.parametrize("leaderboard", shipped())
@pytest.mark.parametrize(
    "file", sorted((ROOT / "tests" / "evaluation" / "fuzz" / "found").iterdir()), ids=lambda path: path.name
)
def test_what_fuzzing_found_is_read_or_refused(file: Path, leaderboard: str) -> None:
    survives(file.read_bytes(), leaderboard)


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


@given(st.dictionaries(KEYS, JSON, max_size=5), st.integers(0, 10**6))
def test_a_locator_finds_the_line_that_a_slow_writer_noted(value: dict[str, Any], seed: int) -> None:
    writer = Writer(Random(seed))
    writer.write(value, "")
    for is_plain in (False, True):
        locator = Locator(writer.text.encode(), is_plain=is_plain)
        for pointer, line in sorted(writer.lines.items(), key=lambda _: writer.random.random()):
            if pointer:
                assert locator.line_of(pointer) == line, pointer
                assert locator.line_of(f"{pointer}/not there") in {line, *writer.lines.values()}
        assert locator.line_of("") == 0


@given(st.binary(max_size=60), any_text(max_size=20))
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
        ('{"a": [\n{"b": 1}]}', "/a/0/b", 2),
        ('[1,\n[2, 3],\n{"a":\n NaN}]', "/2/a", 4),
        ('[1,\n[2, 3],\n{"a":\n 4}]', "/2/a", 4),
        ('[\n[[],\n{"a":\n 4}]]', "/0/1/a", 4),
        ('["]", \n"x"]', "/7", 1),
        ('{"a": "\\"b\\": {",\n"b": 2}', "/b", 2),
    ],
)
def test_a_locator_knows_the_odd_spellings(text: str, pointer: str, line: int) -> None:
    assert Locator(text.encode()).line_of(pointer) == line
