"""Each way to deceive with a log of any harness has its rule, and sound logs have none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from posixpath import dirname
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from bot.evaluation.discovery import ListedFile
from bot.evaluation.result import CheckedSamples
from bot.platforms.git.source import GitSource
from bot.platforms.inputs import find_places
from bot.platforms.platform import Access
from bot.service.judge.samples import LogSamples, with_local_samples
from tests.audits.samples.test_check import STAMP, faults, hashed, inspect_log, result_of
from tests.evaluation.inspect_logs import archive
from tests.evaluation.judging import stderr
from tests.evaluation.test_helm import spec, stat
from tests.evaluation.test_lighteval import release_011
from tests.platforms.git.test_source import Folder
from tests.variants import one_of

QUESTIONS = 20
RIGHT = [number % 4 == 0 for number in range(QUESTIONS)]  # what the model answers rightly
LEAVES = {"helm": "mmlu:subject=philosophy,method=multiple_choice_joint", "lighteval": "leaderboard|arc|0"}
Rows = list[dict[str, Any]]


def helm_rows() -> Rows:
    """A state and the statistics of each question; the first letter is the right one."""
    rows = []
    for number, is_right in enumerate(RIGHT):
        texts = [f"the sum is {number}", "no sum"]
        state = {
            "instance": {"id": f"id{number}", "input": {"text": f"Question {number}"}, "split": "test",
                         "references": [{"output": {"text": one}, "tags": ["correct"] * (not place)}
                                        for place, one in enumerate(texts)]},
            "train_trial_index": 0,
            "output_mapping": dict(zip("AB", texts, strict=True)),
            "request": {"model": "openai/gpt2", "prompt": f"Question {number}\nAnswer:"},
            "result": {"completions": [{"text": " A" if is_right else " B"}]},
        }  # fmt: skip
        values = [stat("exact_match", float(is_right)), stat("quasi_exact_match", float(is_right))]
        rows.append(state | {"own": {"instance_id": f"id{number}", "train_trial_index": 0, "stats": values}})
    return rows


def write_helm(folder: Path, rows: Rows, value: float) -> Path:
    run = folder / "runs" / "mmlu"
    run.mkdir(parents=True)
    states = [{name: one for name, one in row.items() if name != "own"} for row in rows]
    settings = spec()
    settings["adapter_spec"]["max_eval_instances"] = None
    files = {
        "run_spec": settings,
        "stats": [stat("exact_match", value), stat("num_instances", float(QUESTIONS))],
        "scenario_state": {"request_states": states},
        "per_instance_stats": [row["own"] for row in rows],
    }
    for name, one in files.items():
        (run / f"{name}.json").write_text(json.dumps(one))
    return run


def lighteval_rows() -> Rows:
    return [
        {
            "doc": {"query": f"Question {number}", "choices": [" a", " b"], "gold_index": [0], "id": str(number)},
            "model_response": {"input": f"Question {number}", "text": [],
                               "logprobs": [-1.0, -2.0] if is_right else [-3.0, -2.0]},
            "metric": {"acc": float(is_right)},
        }
        for number, is_right in enumerate(RIGHT)
    ]  # fmt: skip


def old_lighteval_rows() -> Rows:
    """As releases before 0.10 write them."""
    return [
        {
            "example": row["doc"]["query"], "full_prompt": row["model_response"]["input"], "gold_index": [0],
            "choices": row["doc"]["choices"], "gold": [" a"], "metrics": row["metric"],
            "predictions": row["model_response"]["logprobs"],
        }
        for row in lighteval_rows()
    ]  # fmt: skip


def write_lighteval(folder: Path, rows: Rows, value: float) -> Path:
    task = LEAVES["lighteval"]
    data = release_011()
    data["results"] = {task: {"acc": value, "acc_stderr": stderr(value, QUESTIONS)}}
    counted = QUESTIONS if "predictions" in rows[0] else -1  # since 0.11 nothing is counted
    counts = {"original_num_docs": counted, "effective_num_docs": counted}
    data |= {"versions": {task: 0}, "config_tasks": {task: counts}}
    path = folder / "results" / "acme" / "a" / f"results_{STAMP}.json"
    details = folder / "details" / "acme" / "a" / STAMP
    for one in (path.parent, details):
        one.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    pq.write_table(pa.Table.from_pylist(rows), details / f"details_{task}_{STAMP}.parquet")
    return path


def said(letter: str) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": f"I think so. ANSWER: {letter}"}}]}


def inspect_rows() -> Rows:
    rows: Rows = inspect_log([float(one) for one in RIGHT])["samples"]
    return [
        row | {"scores": {"choice": {"value": "C" if is_right else "I", "answer": "A" if is_right else "B"}},
               "output": said("A" if is_right else "B")}
        for row, is_right in zip(rows, RIGHT, strict=True)
    ]  # fmt: skip


def write_inspect(folder: Path, rows: Rows, value: float) -> Path:
    log = inspect_log([float(one) for one in RIGHT]) | {"samples": rows}
    log["results"]["scores"][0]["metrics"]["accuracy"]["value"] = value
    (folder / "log.json").write_text(json.dumps(log))
    return folder / "log.json"


def write_archive(folder: Path, rows: Rows, value: float) -> Path:
    """The same log as an archive: a header, and a member for each sample."""
    log = json.loads(write_inspect(folder, [], value).read_text())
    samples = {f"samples/{place}_epoch_1.json": row for place, row in enumerate(rows)}
    (folder / "log.json").unlink()
    (folder / "log.eval").write_bytes(
        archive({"header.json": {k: v for k, v in log.items() if k != "samples"}} | samples)
    )
    return folder / "log.eval"


def lm_eval_rows() -> Rows:
    """As releases since 0.4.7 write them; their hashes are made when the log is."""
    return [
        {
            "doc_id": number, "doc": {"question": f"Question {number}"}, "target": "0", "filter": "none",
            "arguments": {f"gen_args_{n}": {"arg_0": f"Question {number}", "arg_1": text}
                          for n, text in enumerate((" a", " b"))},
            "resps": [[["-1.0" if is_right else "-3.0", "False"]], [["-2.0", "False"]]],
            "filtered_resps": [], "acc": float(is_right),
        }
        for number, is_right in enumerate(RIGHT)
    ]  # fmt: skip


def old_lm_eval_rows() -> Rows:
    """As the first releases of 0.4 write them: without a filter and without hashes."""
    return [
        {name: value for name, value in row.items() if name != "filter"}
        | {"arguments": [list(one.values()) for one in row["arguments"].values()]}
        for row in lm_eval_rows()
    ]


def write_lm_eval(folder: Path, rows: Rows, value: float) -> Path:
    path = folder / f"results_{STAMP}.json"
    path.write_text(json.dumps(result_of("arc", [], {"acc,none": value}) | {
        "n-samples": {"arc": {"original": QUESTIONS, "effective": QUESTIONS}}, "task_hashes": {},
    }))  # fmt: skip
    lines = [hashed(row) if isinstance(row["arguments"], dict) else row for row in rows]
    (folder / f"samples_arc_{STAMP}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    return path


LOGS: dict[str, tuple[Callable[[], Rows], Callable[[Path, Rows, float], Path]]] = {
    "helm": (helm_rows, write_helm),
    "lighteval": (lighteval_rows, write_lighteval),
    "lighteval before 0.10": (old_lighteval_rows, write_lighteval),
    "inspect": (inspect_rows, write_inspect),
    "inspect archive": (inspect_rows, write_archive),
    "lm-eval": (lm_eval_rows, write_lm_eval),
    "lm-eval before 0.4.3": (old_lm_eval_rows, write_lm_eval),
}
VALUE = sum(RIGHT) / QUESTIONS
# Where each log has the metric, and what the model answered, of the question that it answered wrongly: (place, value).
METRIC: dict[str, tuple[str, Any]] = {
    "helm": ("own/stats/0/mean", 1.0),
    "lighteval": ("metric/acc", 1.0),
    "lighteval before 0.10": ("metrics/acc", 1.0),
    "inspect": ("scores/choice/value", "C"),
    "inspect archive": ("scores/choice/value", "C"),
    "lm-eval": ("acc", 1.0),
    "lm-eval before 0.4.3": ("acc", 1.0),
}
ANSWER: dict[str, tuple[str, Any]] = {
    "helm": ("result/completions/0/text", " A"),
    "lighteval": ("model_response/logprobs/0", -0.5),
    "lighteval before 0.10": ("predictions/0", -0.5),
    "inspect": ("scores/choice/answer", "A"),
    "inspect archive": ("scores/choice/answer", "A"),
    "lm-eval": ("resps/0/0/0", "-0.5"),
    "lm-eval before 0.4.3": ("resps/0/0/0", "-0.5"),
}
QUESTION = {
    "helm": "instance/input/text",
    "lighteval": "doc/query",
    "lighteval before 0.10": "example",
    "inspect": "input",
    "inspect archive": "input",
    "lm-eval": "doc/question",
    "lm-eval before 0.4.3": "doc/question",
}


def edited(rows: Rows, number: int, place: str, value: Any) -> Rows:
    rows = copy.deepcopy(rows)
    *path, last = place.split("/")
    inner: Any = rows[number]
    for step in path:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    inner[int(last) if isinstance(inner, list) else last] = value
    return rows


def found(folder: Path, form: str, rows: Rows, value: float = VALUE) -> tuple[set[str], str]:
    """The rules that a run breaks, and the digest of its documents."""
    folder.mkdir(exist_ok=True)
    path = LOGS[form][1](folder, rows, value)
    parsed = next(one for place in find_places([str(path)], Access()) for one in [place.parse()])
    (one,) = with_local_samples(parsed, path).samples  # type: ignore[arg-type,misc]
    numbers = parsed.result.leaves[one.leaf].numbers  # type: ignore[union-attr]
    return faults(one, {"results": {one.leaf: numbers}}), one.documents


@pytest.mark.parametrize("form", LOGS)
def test_a_sound_log_breaks_no_rule(tmp_path: Path, form: str) -> None:
    assert found(tmp_path, form, LOGS[form][0]())[0] == set()


@pytest.mark.slow
@pytest.mark.parametrize("form", LOGS)
def test_a_log_in_a_repository_shows_what_it_shows_on_this_machine(tmp_path: Path, form: str) -> None:
    repository = Folder(tmp_path / "results")
    path = LOGS[form][1](repository.path, LOGS[form][0](), VALUE)
    source, commit = GitSource(repository.path), repository.push({})
    files = [ListedFile(change.path, change.size) for change in source.changes(None, commit)]
    [place] = find_places([str(path)], Access())
    parsed = replace(place.parse(), path=path.relative_to(repository.path).as_posix())

    def shown(listed: list[ListedFile], **more: Any) -> tuple[CheckedSamples, ...]:
        def listing(folder: str) -> Iterable[ListedFile]:
            return [one for one in listed if dirname(one.path) == folder]

        return LogSamples(source.save, commit, listing, **more).look(parsed).samples or ()

    assert shown(files) == with_local_samples(parsed, path).samples
    assert shown(files, left=sum(one.size for one in files)) == shown(files)
    [large] = shown(files, left=1)
    assert large.unreadable.endswith("1 GB of logs are read at once")
    if not form.startswith("inspect"):  # of which the log is the result
        assert shown([one for one in files if one.path == parsed.path]) == ()
    [longer] = shown([ListedFile(one.path, one.size - 1) for one in files])
    assert longer.unreadable == "it is gone, or larger than its listing says"


def test_a_log_counts_once_for_each_leaf_that_it_is_read_for(tmp_path: Path) -> None:
    """A log of Inspect with very many scores would be read as often."""
    log, repository = inspect_log([1.0, 0.0]), Folder(tmp_path / "results")
    [score] = log["results"]["scores"]
    log["results"]["scores"] = [score | {"name": f"s{number}", "scorer": f"s{number}"} for number in range(3)]
    (repository.path / "log.json").write_text(json.dumps(log))
    commit, size = repository.push({}), (repository.path / "log.json").stat().st_size
    [place] = find_places([str(repository.path / "log.json")], Access())
    logs = LogSamples(GitSource(repository.path).save, commit, lambda _: [ListedFile("log.json", size)], left=2 * size)
    found = logs.look(replace(place.parse(), path="log.json")).samples or ()
    assert [one.unreadable.endswith("of logs are read at once") for one in found] == [True] * 3


@pytest.mark.parametrize("form", LOGS)
def test_an_edited_value_disagrees(tmp_path: Path, form: str) -> None:
    assert found(tmp_path / "value", form, LOGS[form][0](), 0.75)[0] == {"samples-disagree"}


def test_a_run_of_helm_names_the_model_of_its_log(tmp_path: Path) -> None:
    rows = [row | {"request": row["request"] | {"model": "acme/better-7b"}} for row in helm_rows()]
    assert found(tmp_path, "helm", rows)[0] == {"other-questions"}


@pytest.mark.parametrize(("used", "is_other"), [
    ({"acme/better-7b": {}}, True),
    ({"acme/better": {}}, False),  # a grader whose name begins as that of the model, which answered from a cache
    ({"acme/better-7b": {}, "mockllm/model": {}}, False),
    ({}, False),
])  # fmt: skip
def test_a_log_of_inspect_names_the_model_of_its_answers(tmp_path: Path, used: dict[str, Any], is_other: bool) -> None:
    rows = [
        row | {"output": row["output"] | {"model": "better-7b-2026-01-02"}, "model_usage": used}
        for row in inspect_rows()
    ]
    assert found(tmp_path, "inspect", rows)[0] == ({"other-questions"} if is_other else set())


@pytest.mark.parametrize("form", LOGS)
def test_an_edited_metric_and_an_edited_answer_are_scored_again(tmp_path: Path, form: str) -> None:
    rows = LOGS[form][0]()
    more = VALUE + 1 / QUESTIONS
    assert found(tmp_path / "metric", form, edited(rows, 1, *METRIC[form]), more)[0] == {"answer-scored-otherwise"}
    assert found(tmp_path / "answer", form, edited(rows, 1, *ANSWER[form]))[0] == {"answer-scored-otherwise"}


@pytest.mark.parametrize("form", one_of(LOGS))
def test_hard_samples_left_out_and_doubled_ones_are_other_questions(tmp_path: Path, form: str) -> None:
    rows = LOGS[form][0]()
    easy = [row for row, is_right in zip(rows, RIGHT, strict=True) if is_right]
    if form != "lighteval":  # since 0.11 neither result nor log says how many there are: the leaderboard does
        assert "other-questions" in found(tmp_path / "hard", form, easy, 1.0)[0]
    assert "other-questions" in found(tmp_path / "more", form, [*rows, rows[0]])[0]
    if form != "lighteval before 0.10":  # such rows have no number, so one that replaces another is another document
        assert "other-questions" in found(tmp_path / "doubled", form, [*rows[:-1], rows[0]])[0]


@pytest.mark.slow
@pytest.mark.parametrize("form", LOGS)
def test_other_questions_have_another_digest_than_those_on_the_board(tmp_path: Path, form: str) -> None:
    rows = LOGS[form][0]()
    digest = found(tmp_path / "own", form, rows)[1]
    assert found(tmp_path / "answers", form, edited(edited(rows, 1, *ANSWER[form]), 1, *METRIC[form]))[1] == digest
    assert found(tmp_path / "other", form, edited(rows, 0, QUESTION[form], "Easy?"))[1] != digest
    assert found(tmp_path / "twice", form, [*rows[:-1], rows[0]])[1] != digest
    assert found(tmp_path / "fewer", form, rows[:-1])[1] != digest
