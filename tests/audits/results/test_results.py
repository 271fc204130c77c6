"""Forensics of result files: counts, groups, hashes, copies; each contradiction is found, and none in sound files."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.audits.results import audit as audits
from bot.audits.results import numbers
from bot.audits.results.audit import FileForensics, ResultsAudit, audit_of, examine
from bot.audits.samples.sample import document_hash
from bot.cli.audits import audit
from bot.errors import CallError
from bot.evaluation.aggregates import expected_stderr
from bot.evaluation.submission import parse_submission
from tests.evaluation.drafting import modern
from tests.evaluation.test_helm import run as helm_run

TIME = "2026-03-02T10-00-00.000000"


def audit_results(files: Sequence[tuple[str, bytes]]) -> ResultsAudit:
    return audit_of([examine(parse_submission(path, {"": data})) for path, data in files])


def leaf(right: int, samples: int) -> dict[str, Any]:
    return {"acc,none": right / samples, "acc_stderr,none": expected_stderr(right / samples, samples)}


def document(rows: dict[str, dict[str, Any]], counts: dict[str, int], **more: Any) -> dict[str, Any]:
    return {
        "results": rows,
        "configs": {},
        "n-shot": {},
        "versions": {},
        "n-samples": {task: {"original": n, "effective": n} for task, n in counts.items()},
        "model_name": "org/model",
    } | more


def judged(value: dict[str, Any]) -> FileForensics:
    return audit_results([("x.json", json.dumps(value).encode())]).files[0]


def verdicts(file: FileForensics) -> dict[str, str]:
    return {count.task: count.verdict for count in file.counts}


def test_each_contradiction_of_a_value_has_its_name() -> None:
    rows = {
        "sound": leaf(50, 100),
        "unrecorded": leaf(37, 90),
        "limited": leaf(5, 10),
        "rounded": {"acc,none": 0.333, "acc_stderr,none": "N/A"},
        "pooled": {"acc,none": 0.5, "acc_stderr,none": 0.0301},
        "nan": {"acc,none": float("nan")},
        "huge": {"acc,none": 10**400},
        "bare": {"acc,none": 0.5},
        "other": {"f1,none": 0.1234, "f1_stderr,none": 0.01},
    }
    counts = {"sound": 100, "limited": 1000, "rounded": 100}
    assert verdicts(judged(document(rows, counts))) == {
        "sound": numbers.AGREES,
        "unrecorded": numbers.RECOVERED,
        "limited": numbers.CONTRADICTS,
        "rounded": numbers.NOT_INTEGRAL,
        "pooled": numbers.NOT_WHOLE,
        "nan": numbers.NOT_FINITE,
        "huge": numbers.NOT_FINITE,
        "bare": numbers.SILENT,
    }


def test_what_is_recovered_is_the_count_and_the_right_answers() -> None:
    (count,) = judged(document({"t": leaf(37, 90)}, {})).counts
    assert (count.recorded, count.right) == (None, 37)
    assert count.recovered == pytest.approx(90)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.3, numbers.GROUP_AGREES),
        (0.4, numbers.GROUP_AGREES),
        (0.31, numbers.GROUP_DIFFERS),
        (float("nan"), "no finite number"),
    ],
)
def test_a_group_is_the_weighted_or_the_plain_mean_of_its_leaves(value: float, verdict: str) -> None:
    rows = {"g": {"acc,none": value, "alias": "g"}, "a": leaf(60, 300), "b": leaf(60, 100)}
    groups = {"groups": {"g": rows["g"]}, "group_subtasks": {"g": ["a", "b"]}}
    (group,) = judged(document(rows, {"a": 300, "b": 100}, **groups)).groups
    assert group.verdict == verdict


def test_a_group_of_groups_may_be_the_plain_mean_of_its_groups() -> None:
    rows = {"a": leaf(60, 300), "b": leaf(60, 100), "c": leaf(10, 100)}
    tops = {"top": {"acc,none": (0.3 + 0.1) / 2}, "g": {"acc,none": 0.3}}
    subtasks = {"top": ["g", "c"], "g": ["a", "b"]}
    counts = {"a": 300, "b": 100, "c": 100}
    file = judged(document({**tops, **rows}, counts, groups=tops, group_subtasks=subtasks))
    assert {group.verdict for group in file.groups} == {numbers.GROUP_AGREES}


def test_leaves_without_recorded_counts_are_weighted_by_recovered_ones() -> None:
    rows = {"g": {"acc,none": 0.3}, "a": leaf(60, 300), "b": leaf(60, 100)}
    (group,) = judged(document(rows, {}, groups={"g": rows["g"]}, group_subtasks={"g": ["a", "b"]})).groups
    assert group.weighted == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(-0.3, numbers.IMPOSSIBLE), (7.6e30, numbers.IMPOSSIBLE), (41.2, numbers.IMPOSSIBLE), ("0.76", numbers.NOT_FINITE),
     ("NaN", numbers.NOT_FINITE), (10**400, numbers.NOT_FINITE), (-1, numbers.SILENT)],
)  # fmt: skip
def test_a_value_that_no_measurement_gives_is_counted_and_no_sound_one(value: Any, verdict: str) -> None:
    file = judged(document({"t": {"acc,none": value, "acc_stderr,none": "N/A", "alias": "3"}, "b": leaf(1, 3)}, {}))
    assert verdicts(file)["t"] == verdict
    assert (len(file.counts), file.is_sound) == (2, verdict == numbers.SILENT)


def test_a_number_beside_the_score_that_is_undefined_is_no_fault() -> None:
    """As `ap` of tasks with many classes and `nauc_*` of small ones in files of MTEB."""
    file = judged(document({"t": leaf(1, 3) | {"ap,none": float("nan"), "nauc_ndcg_at_1_max,none": "NaN"}}, {"t": 3}))
    assert (len(file.counts), file.is_sound) == (1, True)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sample(i: int, acc: float) -> dict[str, Any]:
    prompt, target = f"Question {i}\nAnswer:", " A"
    arguments = {"gen_args_0": {"arg_0": prompt, "arg_1": " A"}}
    doc = {"question": f"Question {i}", "answer": "A"}
    named = {"doc_hash": document_hash(doc), "prompt_hash": sha(prompt), "target_hash": sha(target)}
    return {"doc_id": i, "doc": doc, "target": target, "arguments": arguments, "acc": acc, "filter": "none", **named}


def run(
    folder: Path, samples: list[Any], *, rows: list[dict[str, Any]] | None = None, name: str = "results"
) -> audits.LogCheck:
    """Write a result whose hash is that of `rows` and a log of `samples`; return what is found."""
    rows = rows if rows is not None else samples
    digest = sha("".join(row["doc_hash"] + row["prompt_hash"] + row["target_hash"] for row in rows))
    right = sum(row["acc"] for row in rows)
    value = document({"t": leaf(int(right), len(rows))}, {"t": len(rows)}, task_hashes={"t": digest})
    path = folder / f"{name}_{TIME}.json"
    path.write_text(json.dumps(value))
    lines = (json.dumps(row) if isinstance(row, dict) else row for row in samples)
    (folder / f"samples_t_{TIME}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (found,) = audit_results([(str(path), path.read_bytes())]).files[0].logs
    return found


ROWS = [sample(0, 1.0), sample(1, 0.0), sample(2, 1.0)]


def test_samples_that_the_result_was_made_from_give_its_hash(tmp_path: Path) -> None:
    found = run(tmp_path, ROWS)
    assert (found.verdict, found.samples, found.why) == (audits.EQUAL, 3, "")


@pytest.mark.parametrize("name", ["kestrel-7b", "my run", "x_2024-01-01T00-00-00.000000", "samples_t"])
def test_a_result_of_any_name_has_the_samples_of_its_time_beside_it(tmp_path: Path, name: str) -> None:
    """The harness names a result so where `--output_path` is a file: `<name>_<time>.json` beside `samples_*`."""
    (tmp_path / "samples_t_2024-01-01T00-00-00.000000.jsonl").write_text("{")
    found = run(tmp_path, ROWS, name=name)
    assert (found.verdict, found.samples, Path(found.log).name) == (audits.EQUAL, 3, f"samples_t_{TIME}.jsonl")


def test_the_samples_are_those_that_check_finds(tmp_path: Path) -> None:
    """A compressed log is one, and a link that somebody put in its place is none."""
    log, result = tmp_path / f"samples_t_{TIME}.jsonl", tmp_path / f"results_{TIME}.json"
    run(tmp_path, ROWS)
    (tmp_path / f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
    for there, verdict in ((True, audits.EQUAL), (False, audits.NO_LOG)):
        log.unlink()
        log.symlink_to(tmp_path / "elsewhere.jsonl")
        if not there:
            (tmp_path / f"{log.name}.gz").rename(tmp_path / "elsewhere.jsonl")
        (found,) = audit_results([(str(result), result.read_bytes())]).files[0].logs
        assert found.verdict == verdict


@pytest.mark.parametrize(
    ("samples", "verdict"),
    [
        (ROWS[:2], audits.DIFFERENT),
        (ROWS[::-1], audits.DIFFERENT),
        ([*ROWS[:2], ROWS[2] | {"acc": 0.0}], audits.VALUE_DIFFERS),
        ([*ROWS[:2], ROWS[2] | {"target": " B"}], audits.DIFFERENT),
        ([*ROWS[:2], ROWS[2] | {"arguments": {"gen_args_0": {"arg_0": "x"}}}], audits.DIFFERENT),
        ([*ROWS, "{"], audits.UNREADABLE),
        ([], audits.UNREADABLE),
    ],
)
def test_samples_that_were_changed_are_found_out(tmp_path: Path, samples: list[Any], verdict: str) -> None:
    assert run(tmp_path, samples, rows=ROWS).verdict == verdict


def test_samples_in_the_file_itself_are_held_against_it_and_what_is_not_scored_again_is_said(tmp_path: Path) -> None:
    """As lm_eval_results.json of people who write all that `simple_evaluate` returns, with fields of their own."""
    rows = [
        {"doc_id": number, "doc": {"q": asked}, "target": "1", "metrics": ["pass@1"], "pass@1": value,
         "arguments": [[asked, {"until": []}]], "resps": [[f"code {number}"]], "filtered_resps": [f"code {number}"],
         "output_matches_target": True}
        for number, (asked, value) in enumerate({"Sort a list": 1.0, "Reverse words": 0.0, "Add primes": 0.0}.items())
    ]  # fmt: skip
    for right, verdict in ((1, audits.NOT_SCORED), (2, audits.VALUE_DIFFERS)):
        path = tmp_path / f"{right}.json"
        path.write_text(json.dumps(document({"t": {"pass@1,none": right / 3}}, {"t": 3}, samples={"t": rows})))
        (file,) = audit_results([(str(path), path.read_bytes())]).files
        assert [(one.log, one.samples, one.verdict) for one in file.logs] == [(audits.IN_FILE, 3, verdict)]
        assert file.is_sound == (verdict == audits.NOT_SCORED)
        assert file.logs[0].why.startswith("pass@1")


def test_a_hash_without_samples_is_said_and_is_no_fault(tmp_path: Path) -> None:
    value = document({"t": leaf(1, 3)}, {"t": 3}, task_hashes={"t": "0" * 64})
    file = audit_results([(str(tmp_path / f"results_{TIME}.json"), json.dumps(value).encode())]).files[0]
    assert [one.verdict for one in file.logs] == [audits.NO_LOG]
    assert file.is_sound


@pytest.mark.parametrize("task", ["../x", "a/b", "\x00", "x" * 5000, ".."])
def test_a_task_that_names_no_file_has_no_log(tmp_path: Path, task: str) -> None:
    value = document({task: leaf(1, 3)}, {task: 3}, task_hashes={task: "0" * 64})
    file = audit_results([(str(tmp_path / f"results_{TIME}.json"), json.dumps(value).encode())]).files[0]
    assert [one.verdict for one in file.logs] == [audits.NO_LOG]


def copies(*names: str, values: int = 3, zeros: int = 0) -> ResultsAudit:
    rows = {f"t{i}": leaf(i + 1, 7) for i in range(values)} | {f"z{i}": leaf(0, 7) for i in range(zeros)}
    files = [document(rows, dict.fromkeys(rows, 7), model_name=name) for name in names]
    return audit_results([(f"{i}.json", json.dumps(file).encode()) for i, file in enumerate(files)])


def test_the_same_values_under_another_name_are_a_copy() -> None:
    found = copies("org/a", "org/b")
    assert [(one.models, one.values) for one in found.duplicates] == [(("org/a", "org/b"), 3)]
    assert not found.is_sound


def test_the_same_file_twice_is_told_and_two_equal_values_are_chance() -> None:
    assert copies("org/a", "org/a").is_sound
    assert len(copies("org/a", "org/a").duplicates) == 1
    assert copies("org/a", "org/b", values=2).duplicates == ()


def test_models_that_score_nothing_are_no_copies_and_zeros_beside_equal_values_hide_none() -> None:
    assert copies("org/a", "org/b", values=0, zeros=40).is_sound
    assert copies("org/a", "org/b", values=2, zeros=40).is_sound
    assert copies("org/a", "org/b", values=3, zeros=40).duplicates[0].values == 43


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"{", "is truncated"), (b"[]", "holds a JSON array"), (b"\xff", "is not JSON")],
)
def test_what_cannot_be_read_is_one_line_beside_the_others(data: bytes, why: str) -> None:
    sound = json.dumps(document({"t": leaf(1, 3)}, {"t": 3})).encode()
    bad, good = audit_results([("bad.json", data), ("good.json", sound)]).files
    assert why in bad.problem
    assert "\n" not in bad.problem
    assert good.is_sound


def test_the_command_reports_in_every_form_with_status_1(tmp_path: Path) -> None:
    rows = {"<b>|t": leaf(5, 10)}
    path = tmp_path / f"results_{TIME}.json"
    path.write_text(json.dumps(document(rows, {"<b>|t": 1000}, model_name="a\x1b[31m/b")))
    for form in ("text", "json", "markdown"):
        result = CliRunner().invoke(audit, ["results", str(tmp_path), "--format", form])
        assert result.exit_code == 1
        assert "contradicts n-samples" in result.stdout
        assert "\x1b" not in result.stdout
    report = json.loads(CliRunner().invoke(audit, ["results", str(path), "--format", "json"]).stdout)
    assert (report["schema"], report["sound"]) == ("leaderboard-bot/audit-results/1", False)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert isinstance(CliRunner().invoke(audit, ["results", str(empty)]).exception, CallError)
    (empty / "scores.json").write_text('{"who": "knows"}')
    silent = CliRunner().invoke(audit, ["results", str(empty)])
    assert str(silent.exception).startswith(f"there is no result in {empty}; ")


def audited(folder: Path) -> tuple[int, str]:
    result = CliRunner().invoke(audit, ["results", str(folder)])
    return result.exit_code, result.stdout


def test_the_folder_of_a_run_is_one_result(tmp_path: Path) -> None:
    """Like the run of HELM in mkeohane01/LLMresearch `2ceace83`, whose files alone are no results."""
    folder = tmp_path / "mmlu:subject=philosophy,model=openai_gpt2"
    folder.mkdir()
    for name, data in helm_run().items():
        (folder / name).write_bytes(data)
    status, text = audited(tmp_path)
    assert (status, "1 file: 0 unsound or unreadable files" in text) == (0, True)
    assert "helm of openai/gpt2: 1 value: agrees" in text


def test_what_was_found_is_counted_and_samples_that_are_not_there_make_no_table(tmp_path: Path) -> None:
    rows = {"first": leaf(50, 100), "second": leaf(37, 90)}
    value = document(rows, {"first": 100, "second": 90}, task_hashes=dict.fromkeys(rows, "0" * 64))
    (tmp_path / f"results_{TIME}.json").write_text(json.dumps(value))
    _, text = audited(tmp_path)
    assert "lm-eval-0.4 of org/model: 2 values: agrees, 2 tasks: no samples beside it" in text
    assert "samples beside the file\n" not in text


def test_a_file_of_counts_that_contradict_its_value_is_named_in_its_folder_and_first(tmp_path: Path) -> None:
    """A score file of gianmarcoalessio/AAFV `61a9e77f` with another accuracy."""
    folder = tmp_path / "Qwen_Qwen2.5-7B-Instruct"
    folder.mkdir()
    counts = {"accuracy": 1.0, "correct_count": 200, "total_count": 200}  # without a wrong answer it names no category
    (folder / "BFCL_v3_multiple_score.json").write_text(json.dumps(counts))
    assert audited(tmp_path)[0] == 0
    (folder / "BFCL_v3_parallel_score.json").write_text(json.dumps(counts | {"accuracy": 0.99}))
    status, text = audited(tmp_path)
    assert (status, "2 files: 1 unsound or unreadable file;" in text) == (1, True)
    assert text.index("It has counts that do not give the accuracy.") < text.index("bfcl of Qwen_Qwen2.5-7B-Instruct")


def real(reference: Path, pattern: str) -> ResultsAudit:
    return audit_results([(str(path), path.read_bytes()) for path in sorted(reference.glob(pattern))])


def test_complete_real_files_are_sound(reference: Path) -> None:
    found = real(reference, "openllm_v2/results/*/*.json")
    assert len(found.files) == 12
    assert found.is_sound
    assert {count.verdict for file in found.files for count in file.counts} == {numbers.AGREES}
    assert {group.verdict for file in found.files for group in file.groups} == {numbers.GROUP_AGREES}


def test_real_files_of_2023_give_back_their_sample_counts(reference: Path) -> None:
    found = real(reference, "lm_eval_old/*_mmlu_*.json")
    assert [len(file.counts) for file in found.files] == [114, 114]
    assert {count.verdict for file in found.files for count in file.counts} == {numbers.RECOVERED}


def test_the_hashes_of_real_logs_are_equal_and_a_shortened_log_is_not(reference: Path) -> None:
    found = real(reference, "lm_eval_04/*/results_*.json")
    told = {one.task: one.verdict for file in found.files for one in file.logs}
    assert told == {
        "toy_mc": audits.EQUAL,
        "toy_gen": audits.EQUAL,
        "asdiv": audits.EQUAL,
        "math_perturbed_full": audits.DIFFERENT,
        "math_rephrased_full": audits.NO_LOG,
    }
    assert sum(one.samples for file in found.files for one in file.logs if one.verdict == audits.EQUAL) == 58


def test_stale_numbers_and_a_renamed_copy_are_found_in_the_odd_files(reference: Path) -> None:
    (stale,) = real(reference, "openllm_v2/odd/01-ai__Yi-34B-Chat*.json").files
    bad = {count.task for count in stale.counts if count.verdict in numbers.BAD}
    assert bad
    assert all(task.startswith("leaderboard_math_") for task in bad)
    pair = ("openllm_v2/odd/duplicate_scores_new_name.json", "openllm_v2/results/EleutherAI__pythia-12b/*.json")
    files = [path for pattern in pair for path in reference.glob(pattern)]
    found = audit_results([(str(path), path.read_bytes()) for path in files])
    assert [one.models for one in found.duplicates] == [("EleutherAI/pythia-12b", "example-org/Aurora-12B-Instruct")]


def test_a_task_that_files_of_one_folder_asked_otherwise_is_named_with_both_prompts(tmp_path: Path) -> None:
    for number, prompt in enumerate(("Is it so? ", "Is it so? ", "Is it so?\n")):
        data = modern({"quiz": {"acc,none": 0.5 + number / 100}})
        asked = {"doc_to_text": "{{q}}", "dataset_path": "acme/quiz", "output_type": "multiple_choice"}
        data["configs"]["quiz"] = asked | {"description": prompt}
        (tmp_path / f"{number}.json").write_text(json.dumps(data))
    found = audit_results([(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())])
    assert [(one.task, one.paths) for one in found.mixed] == [("quiz", (("0.json", "1.json"), ("2.json",)))]
    assert [one.fields for one in found.mixed] == [(("description", '"Is it so? "', '"Is it so?\\n"'),)]
    assert found.is_sound
    called = CliRunner().invoke(audit, ["results", str(tmp_path)])
    assert "Asked in several ways" in called.stdout
    assert "description" in called.stdout


def test_many_sound_files_are_summed_up(tmp_path: Path) -> None:
    """saucam/model_evals `eee94aa6` has 101 of them, of which each had a table."""
    for i in range(5):
        (tmp_path / f"{i}.json").write_text(json.dumps(document({"t": leaf(10 + i, 90)}, {}, model_name=f"a/{i}")))
    said = CliRunner().invoke(audit, ["results", str(tmp_path)]).stdout
    assert "5 files of 5 models: 5 values: recovered. --format json has every count." in said
    assert "0.json" not in said
    (tmp_path / "0.json").write_text(json.dumps(document({"t": leaf(37, 90)}, {"t": 1000})))
    said = CliRunner().invoke(audit, ["results", str(tmp_path)]).stdout
    assert "4 files of 4 models" in said
    assert "0.json" in said


def test_the_files_of_one_copy_are_named_whole_up_to_three(tmp_path: Path) -> None:
    """The untrained checkpoints of EleutherAI/pythia `a19eecb3` are alike, under long paths."""
    folder = tmp_path / "a-folder-of-a-long-name" / "pythia-1.4b-deduped" / "zero-shot"
    folder.mkdir(parents=True)
    rows = {task: leaf(30 + i, 90) for i, task in enumerate("abc")}
    for i in range(5):
        (folder / f"1.4b-deduped_step{i}.json").write_text(json.dumps(document(rows, {}, model_name=f"a/{i}")))
    said = CliRunner().invoke(audit, ["results", str(tmp_path), "--format", "markdown"]).stdout
    assert [f"1.4b-deduped_step{i}.json" in said for i in range(5)] == [True, True, True, False, False]
    assert "and 2 more" in said
