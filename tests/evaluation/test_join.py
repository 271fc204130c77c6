"""Joining: any split of a result, in any order and with copies, gives the same row; what is measured again shows."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.evaluation.join import join_rows
from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.row import Row
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.submission import one_file, parse_submission
from bot.evaluation.verdict import judge
from bot.publishing.entry import Entry, entry_of
from bot.reporting.report import make_report
from tests.evaluation.judging import ROOT, base, base_v1, declared, dumps, judgement_of, patched, rules_of
from tests.evaluation.parts import leaves_of, only, parts_of

LEAVES = leaves_of(base())
MMLU = "leaderboard_mmlu_pro"


def value(number: float) -> dict[str, Any]:
    """Changes that give one leaf another sound value."""
    return {f"/results/{MMLU}/acc,none": number, f"/results/{MMLU}/acc_stderr,none": "N/A"}


def row_of(files: dict[str, Any], leaderboard: Leaderboard | str = "open-llm-v2", facts: Facts = NO_FACTS) -> Row:
    (row,) = judgement_of(files, leaderboard, facts).rows
    return row


def without_evidence(row: Row) -> Entry:
    """The row's entry without what says where its numbers come from."""
    entry = entry_of(row)
    assert entry is not None
    tasks = tuple(replace(task, leaves=tuple(replace(leaf, file="") for leaf in task.leaves)) for task in entry.tasks)
    return replace(entry, tasks=tasks, evidence=())


WHOLE = without_evidence(row_of({"whole.json": base()}))


@st.composite
def splits(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The whole result dealt out to some files, with leaves in several of them, shuffled, some files twice."""
    count = draw(st.integers(1, 6))
    places = draw(st.lists(st.sets(st.integers(0, count - 1), min_size=1), min_size=len(LEAVES), max_size=len(LEAVES)))
    dealt = [{leaf for leaf, where in zip(LEAVES, places, strict=True) if part in where} for part in range(count)]
    files = [only(base(), leaves) for leaves in dealt if leaves]
    return draw(st.permutations(files + draw(st.lists(st.sampled_from(files), max_size=3))))


@settings(max_examples=40)
@given(splits())
def test_any_split_in_any_order_with_any_copies_gives_the_same_entry(files: list[dict[str, Any]]) -> None:
    row = row_of({f"{number}.json": data for number, data in enumerate(files)})
    assert without_evidence(row) == WHOLE
    assert row.findings == ()
    assert sum(len(file.measurements.present) for file in row.files if file.measurements) >= len(LEAVES)


RUNS = st.lists(
    st.tuples(
        st.sets(st.sampled_from(LEAVES), min_size=1, max_size=4),
        st.sampled_from([0.25, 0.5, 0.75, float("nan"), 7.0]),
        st.sampled_from([1e9, 2e9]),
        st.sampled_from([None, {"temperature": 0.8}]),
        st.sampled_from(["0.4.9", "0.4.12", "0.4.3", None]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60)
@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_of_any_kind_never_matters(runs: list[tuple[Any, ...]], random: Random) -> None:
    files = []
    for leaves, number, day, gen_kwargs, release in runs:
        changes = {"/date": day, "/config/gen_kwargs": gen_kwargs, "/lm_eval_version": release, "/git_hash": None}
        files.append(only(patched(changes | value(number)), leaves | {MMLU}))
    named = {f"{number}.json": data for number, data in enumerate(files)}
    shuffled = list(named.items())
    random.shuffle(shuffled)
    one, other = make_report(judgement_of(named)), make_report(judgement_of(dict(shuffled)))
    assert (one["rows"], one["digest"]) == (other["rows"], other["digest"])


# ---- which run counts ----


def test_the_newest_sound_value_counts_and_all_are_named() -> None:
    old, new = patched({"/date": 1.7e9}), patched({"/date": 1.8e9} | value(0.5))
    row = row_of({"old.json": old, "new.json": new})
    assert leaf_of(row, MMLU) == (0.5, "new.json")
    (finding,) = row.findings
    assert finding.rule == "rerun-differs"
    assert "0.5 (new.json)" in finding.message
    assert "(old.json)" in finding.message
    assert leaf_of(row_of({"old.json": old, "new.json": patched({"/date": 1.6e9} | value(0.5))}), MMLU)[1] == "old.json"


def leaf_of(row: Row, leaf_id: str) -> tuple[float, str]:
    (leaf,) = [leaf for task in row.scores.tasks for leaf in task.leaves if leaf.id == leaf_id]
    return leaf.raw, leaf.file


def test_of_two_runs_of_one_date_the_content_decides() -> None:
    """Turned round, renamed or copied, the same bytes count."""
    one, other = patched(value(0.25)), patched(value(0.5))
    found = {leaf_of(row_of(files), MMLU)[0] for files in (
        {"a.json": one, "b.json": other}, {"a.json": other, "b.json": one}, {"b.json": other, "a.json": one},
        {"c.json": other, "z/d.json": one, "e.json": one},
    )}  # fmt: skip
    assert len(found) == 1


def test_a_newer_run_with_an_error_takes_nothing_away() -> None:
    sound, broken = patched({"/date": 1.7e9}), patched({"/date": 1.8e9, f"/results/{MMLU}/acc,none": float("nan")})
    judgement = judgement_of({"sound.json": sound, "broken.json": broken})
    (row,) = judgement.rows
    assert [verdict.status for verdict in judgement.verdicts] == ["accepted", "rejected"]
    assert (row.status, row.findings) == ("accepted", ())
    assert leaf_of(row, MMLU)[1] == "sound.json"
    assert row.scores.average == WHOLE.average


def test_a_leaf_that_was_run_wrongly_is_mended_by_a_file_of_that_leaf_alone() -> None:
    wrong = patched({f"/n-shot/{MMLU}": 0})
    assert row_of({"wrong.json": wrong}).status == "rejected"
    row = row_of({"wrong.json": wrong, "right.json": only(base(), {MMLU})})
    assert (row.status, row.scores.average) == ("accepted", WHOLE.average)


def test_a_faulty_file_never_takes_a_row_away() -> None:
    """What a sound file brings stays, whatever is pushed beside it."""
    part = only(base(), {MMLU})
    alone = row_of({"part.json": part})
    wrong = patched({"/date": 1.9e9, "/n-shot/leaderboard_ifeval": 3})
    limited = patched({"/date": 1.9e9, "/config/limit": 5.0})
    assert alone.status == "incomplete"
    assert row_of({"part.json": part, "wrong.json": wrong}).status == "incomplete"
    assert row_of({"part.json": part, "limited.json": limited}).coverage == alone.coverage


def test_a_file_that_brings_one_task_is_not_at_fault_and_its_row_is_incomplete() -> None:
    judgement = judgement_of({"part.json": only(base(), {MMLU})})
    ((verdict,), (row,)) = (judgement.verdicts, judgement.rows)
    assert (verdict.status, verdict.findings) == ("accepted", ())
    assert (row.status, row.coverage.present, row.scores.average) == ("incomplete", 1, None)
    assert rules_of(row) == {"missing-task"}
    assert len(row.findings) == 5


def test_where_nothing_of_the_leaderboard_is_there_one_line_says_so() -> None:
    row = row_of({"part.json": only(base(), {MMLU})}, "open-llm-v1-drop")
    other = patched({"/results": {"arc_challenge": {"acc_norm,none": 0.5}}, "/groups": {}, "/group_subtasks": {}})
    (finding,) = row_of({"other.json": other}).findings
    assert finding.rule == "missing-task"
    assert "none of the 39 subtasks of open-llm-v2 is there" in finding.message
    assert finding.command == ""
    assert row.findings == ()  # the format says enough


def test_a_commit_s_date_bounds_that_of_the_file() -> None:
    """A file that claims to come from the future is as old as the commit that brought it."""
    honest, boasting = patched({"/date": 1.75e9}), patched({"/date": 3.9e9} | value(0.5))
    files = {"honest.json": honest, "boasting.json": boasting}
    assert leaf_of(row_of(files), MMLU)[1] == "boasting.json"
    facts = Facts(committed={"honest.json": 1.76e9, "boasting.json": 1.70e9})
    row = row_of(files, facts=facts)
    assert leaf_of(row, MMLU)[1] == "honest.json"
    entry = entry_of(row)
    assert entry is not None
    assert {file.path: file.date[:4] for file in entry.evidence} == {"honest.json": "2025"}


def test_the_time_in_a_name_counts_where_the_file_has_none() -> None:
    first = patched({"/date": None})
    names = ("results_2026-01-02T00-00-00.json", "results_2026-01-01T00-00-00.json")
    row = row_of({names[0]: first, names[1]: patched({"/date": None} | value(0.5))})
    assert leaf_of(row, MMLU)[1] == names[0]


# ---- what may be joined ----


@pytest.mark.parametrize(
    "changes",
    [
        {"/config/gen_kwargs": {"temperature": 0.8}},
        {"/system_instruction": "Answer briefly."},
        {"/lm_eval_version": None, "/git_hash": "493d432b"},
        {"/lm_eval_version": None, "/git_hash": None},
    ],
)
def test_what_was_measured_in_another_way_does_not_join(changes: dict[str, Any]) -> None:
    one, other = parts_of(base(), 2)
    row = row_of({"one.json": one, "other.json": patched(changes, other)})
    assert row.status == "incomplete"
    assert "settings-differ" in rules_of(row)
    assert {leaf.file for task in row.scores.tasks for leaf in task.leaves} == {"one.json"}


def test_two_chat_templates_do_not_join() -> None:
    one, other = (patched({"/chat_template": text, "/chat_template_sha": sha}, part) for part, text, sha in zip(
        parts_of(base(), 2), ("{{x}}", "{{y}}"), ("a" * 64, "b" * 64), strict=True
    ))  # fmt: skip
    row = row_of({"one.json": one, "other.json": other})
    assert row.key.chat_template
    assert row.status == "incomplete"


def test_releases_of_one_accepted_range_join() -> None:
    parts = [patched({"/lm_eval_version": release}, part) for release, part in zip(
        ("0.4.9", "0.4.12", "0.4.5"), parts_of(base(), 3), strict=True
    )]  # fmt: skip
    assert row_of(dict(zip("abc", parts, strict=True))).status == "accepted"


@pytest.mark.parametrize(
    "changes",
    [
        {"/model_name": "example-org/other"},
        {"/config/model_sha": "1" * 40},
        {"/config/model_dtype": "torch.float16"},
        {"/chat_template": "{{x}}"},
    ],
)
def test_another_model_revision_precision_or_template_is_another_row(changes: dict[str, Any]) -> None:
    one, other = parts_of(base(), 2)
    judgement = judgement_of({"one.json": one, "other.json": patched(changes, other)})
    assert [row.status for row in judgement.rows] == ["incomplete", "incomplete"]


def declared_never() -> Leaderboard:
    text = (ROOT / "bot" / "data" / "leaderboards" / "open-llm-v2.toml").read_text(encoding="utf-8")
    return parse_leaderboard(f'{text}\n[join]\nsettings = "never"\n', "open-llm-v2", "x.toml")


def test_never_keeps_one_file_to_a_row() -> None:
    one, other = parts_of(base(), 2)
    row = row_of({"one.json": one, "other.json": other}, declared_never())
    assert (row.status, len(row.files), row.coverage.present) == ("incomplete", 1, 20)
    runs = {"old.json": patched({"/date": 1.7e9}), "new.json": patched({"/date": 1.8e9} | value(0.5))}
    assert rules_of(row_of(runs, declared_never())) == {"rerun-differs"}


# ---- other formats ----


def one_shot_count(num_fewshot: int, *tasks: str) -> dict[str, Any]:
    """A file of lm-eval 0.3, with the one shot count that the harness of then knew."""
    board = declared("open-llm-v1")
    leaves = [(task, leaf) for task, leaf in board.leaves() if task.id in tasks]
    rows = {
        leaf.key("lm-eval-0.3"): {task.metrics[0].key("lm-eval-0.3"): round(0.4 * leaf.samples) / leaf.samples}
        for task, leaf in leaves
    }
    args = "pretrained=example-org/kestrel-7b,dtype=float16,revision=" + "a1" * 20
    return {
        "results": rows,
        "versions": {leaf.key("lm-eval-0.3"): int(task.versions[-1]) for task, leaf in leaves},
        "config": {
            "model": "hf-causal",
            "model_args": args,
            "num_fewshot": num_fewshot,
            "no_cache": True,
            "limit": None,
        },
    }


def test_files_of_one_shot_count_each_complete_the_first_leaderboard() -> None:
    tasks = {task.id: task.num_fewshot for task in declared("open-llm-v1").tasks}
    by_shots = {shots: [task for task, count in tasks.items() if count == shots] for shots in set(tasks.values())}
    files = {f"{shots}.json": one_shot_count(shots, *found) for shots, found in by_shots.items()}
    row = row_of(files, "open-llm-v1")
    assert len(row.files) == len(files) == 4
    assert row.status == "accepted"


def test_one_file_of_each_format_makes_one_row() -> None:
    """The v1 file of one task, the harness files of the others: one accepted range, so they join."""
    v1 = base_v1()
    v1["config_general"] |= {"model_sha": "a1" * 20, "model_dtype": "torch.float16"}
    v1["results"] = {key: row for key, row in v1["results"].items() if "hellaswag" in key}
    tasks = {task.id: task.num_fewshot for task in declared("open-llm-v1").tasks if task.id != "hellaswag"}
    files = {f"{name}.json": one_shot_count(shots, name) for name, shots in tasks.items()}
    row = row_of({"v1.json": v1} | files, "open-llm-v1")
    assert row.status == "accepted"
    assert {file.parsed.format for file in row.files} == {"open-llm-v1", "lm-eval-0.3"}


# ---- what the rules say of a hole ----


def test_the_command_for_a_missing_task_measures_what_joins() -> None:
    """The command's model, commit, precision, template and settings are those of the file that it completes."""
    changes = {
        "/config/model_args": "pretrained=example-org/kestrel-7b,revision=main",
        "/config/gen_kwargs": {"temperature": 0.8},
        "/chat_template": "{{x}}",
        "/chat_template_sha": "a" * 64,
        "/fewshot_as_multiturn": True,
    }
    part = only(patched(changes), set(LEAVES) - {MMLU})
    (finding,) = row_of({"part.json": part}).findings
    sha = base()["config"]["model_sha"]
    assert f"--model_args pretrained=example-org/kestrel-7b,revision={sha},dtype=bfloat16 " in finding.command
    assert f"--tasks {MMLU} --num_fewshot 5 --apply_chat_template --fewshot_as_multiturn" in finding.command
    assert """--gen_kwargs '{"temperature": 0.8}'""" in finding.command


def test_a_setting_that_is_too_long_to_repeat_gets_no_command() -> None:
    part = only(patched({"/system_instruction": "x" * 5_000}), set(LEAVES) - {MMLU})
    (finding,) = row_of({"part.json": part}).findings
    assert (finding.command, finding.hint) == ("", "measure it with 5 shots")


# ---- the published rows ----


def test_reference_models_cut_into_one_file_for_each_task_give_their_published_scores(reference: Path) -> None:
    folder = reference / "openllm_v2"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["files"]
    random, files, averages = Random(0), [], {}
    for row in expected:
        data = json.loads((folder / row["file"]).read_text(encoding="utf-8"))
        if not row["file"].startswith("results/"):
            continue
        averages[row["fullname"]] = row["average"]
        files += [only(deepcopy(data), {leaf.id for leaf in task.leaves}) for task in declared().tasks]
    random.shuffle(files)
    judgement = judged(files)
    assert len(judgement.rows) == len(averages) == 12
    for made in judgement.rows:
        assert (made.status, len(made.files)) == ("accepted", 6)
        assert made.scores.average == pytest.approx(averages[made.model.id], abs=1e-9)


def judged(files: list[dict[str, Any]]) -> Judgement:
    return judgement_of({f"{number}.json": data for number, data in enumerate(files)})


def test_rows_come_in_the_order_of_their_keys() -> None:
    parsed = [parse_submission(one_file(name, dumps(patched({"/model_name": f"org/{name}"})))) for name in "cab"]
    rows = join_rows([judge(one, declared()) for one in parsed], declared())
    assert [row.model.id for row in rows] == ["org/a", "org/b", "org/c"]
