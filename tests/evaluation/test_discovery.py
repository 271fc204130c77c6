"""Files as they lie on disks: which are submissions, which belong together, and what the others are."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.evaluation import discovery
from bot.evaluation.discovery import ListedFile, candidates_in, read_candidate
from bot.evaluation.formats import BUILT_IN_FORMATS, Content
from bot.evaluation.formats.format import MAX_BYTES, Format
from bot.evaluation.formats.other_files import kinds
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from bot.evaluation.submission import Parsed, UnreadPath
from tests.evaluation.discovering import discover, found_in
from tests.evaluation.judging import base, dumps, patched

SAMPLE = {"doc_id": 0, "doc": {"question": "?"}, "target": "4", "resps": [["4"]]}
REQUEST = {
    "model": "acme/a",
    "revision": "main",
    "precision": "bfloat16",
    "weight_type": "Original",
    "status": "PENDING",
}
OTHERS: dict[str, tuple[str, bytes]] = {
    "samples.jsonl": ("sample-log", (json.dumps(SAMPLE) + "\n").encode() * 3),
    "samples_of_0.4.0.jsonl": ("sample-log", json.dumps([SAMPLE, SAMPLE], indent=2).encode()),
    "predictions.jsonl": ("sample-log", b'{"doc_id": 0, "native_id": "a", "metrics": {"acc": 1}}\n' * 2),
    "samples_of_lmms_eval.jsonl": ("sample-log", b'{"doc_id": 0, "target": "A", "filtered_resps": "A"}\n' * 2),
    "record_samples.jsonl": ("sample-log", b'{"evaluation_id": "a/b/1", "sample_id": "0", "input": {}}\n' * 2),
    "metrics-all.jsonl": (
        "olmes",
        b'{"task_name": "a", "task_hash": "0", "task_config": {}, "metrics": {}, "model_config": {}}\n' * 2,
    ),
    "large.jsonl": ("sample-log", (json.dumps(SAMPLE) + "\n").encode()),  # a line of it, see `content_of`
    "pointer.json": ("git-lfs-pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
    "entry.json": (
        "entry",
        b'{"schema": "leaderboard-bot/entry/2", "key": "tiny/a", "leaderboard": {"id": "tiny"}, "evidence": []}',
    ),
    "marked.json": ("byte-order-mark", b'\xef\xbb\xbf{"results": {"arc": {"acc,none": 0.5}}}'),
    "wide.json": ("utf-16", '{"results": {"arc": {"acc,none": 0.5}}}'.encode("utf-16")),
    "request.json": ("request-file", json.dumps(REQUEST).encode()),
    "gpqa.yaml": ("hub-eval-results", b"# mine\n- dataset:\n    id: Idavidrein/gpqa\n  value: 5.2\n"),
    "summary.txt": ("opencompass", b"20240101_120000\ntabulate format\n^^^^\ndataset  version  metric  mode  m\n"),
    "humaneval.json": ("bigcode", b'{"humaneval": {"pass@1": 0.5}, "config": {"model": "acme/a"}}'),
    "harbor.json": (
        "harbor",
        b'{"trial_name": "a", "agent_info": {}, "verifier_result": {"rewards": {"reward": 1.0}}}',
    ),
    "nemo.yml": ("nemo-evaluator", b"command: |\n  lm-eval\nconfig:\n  output_dir: /results\nresults:\n  groups: {}\n"),
    "nemo.json": (
        "nemo-evaluator",
        b'{"groups": {}, "tasks": {"ifeval": {"metrics": {"acc": {"scores": {"acc": {"value": 0.5}}}}}}}',
    ),
    "tau.json": ("tau2", b'{"timestamp": "x", "info": {}, "tasks": [], "simulations": []}'),
    "foo.json": ("promptfoo", b'{"evalId": "a", "results": {"version": 3, "results": []}}'),
    "deep.json": ("deepeval", b'{"testCases": [], "metricsScores": []}'),
    ".latest_test_run.json": ("deepeval", b'{"testRunData": {"testCases": [], "metricsScores": []}}'),
    "simple.json": ("simple-evals", b'{"score": 0.5, "score:std": 0.5, "chars": 10.0}'),
    "evals.jsonl": ("openai-evals", b'{"spec": {"eval_name": "a"}}\n{"final_report": {"accuracy": 0.5}}\n'),
    "acc.csv": ("vlmevalkit", b'"split","Overall","OCR"\n"none","0.5","0.5"\n'),
    "alpaca.csv": ("alpaca-eval", b",win_rate,standard_error\natlas,50.0,1.0\n"),
    "alpaca_site.csv": ("alpaca-eval", b"name,win_rate,avg_length,link,samples,filter\natlas,50.0,9,,,community\n"),
    "alpaca_2.csv": ("alpaca-eval", b"name,length_controlled_winrate,win_rate,avg_length\natlas,5.5,5.0,9\n"),
    "judgment.jsonl": ("mt-bench", b'{"question_id": 81, "model": "a", "judge": ["gpt-4", "x"], "score": 9}\n' * 2),
    "arena.jsonl": ("arena-hard", b'{"uid": "a", "judge": "b", "games": []}\n' * 2),
    "bench_speed.json": ("speed", b'{"request_throughput": 1.0, "mean_ttft_ms": 2.0}'),
    "data_overall.csv": ("bfcl", b"Rank,Overall Acc,Model,Model Link\n1,50.0%,atlas,x\n"),
    "data_live.csv": ("bfcl", b"Rank,Model,Live Overall Acc,AST Summary\n1,atlas,50.0%,50.0%\n"),
    "data_non_live.csv": ("bfcl", b"Rank,Model,Non-Live Overall Acc,AST Summary\n1,atlas,50.0%,50.0%\n"),
    "data_agentic.csv": ("bfcl", b"Rank,Model,Agentic Overall Acc,Web Search Summary\n1,atlas,50.0%,50.0%\n"),
    "data_format_sensitivity.csv": ("bfcl", b"Rank,Model,Format Sensitivity Max Delta,x\n1,atlas,5,5\n"),
    "data_preds.json": ("other", b'[{"instance_id": "astropy__astropy-14369", "model_patch": ""}]'),
    "display_predictions.json": ("helm", b'[{"instance_id": "id8", "train_trial_index": 0, "predicted_text": "A"}]'),
    "per_instance.json": ("helm", b'[{"instance_id": "pacemaker_tampering", "train_trial_index": 0, "stats": []}]'),
    "reviews.jsonl": ("evalscope", b'{"index": 0, "input": "a", "target": "b", "sample_score": {}}\n' * 2),
    "answers.jsonl": ("evalscope", b'{"index": 0, "model": "a", "model_output": {}, "messages": []}\n' * 2),
    "model_meta.json": (
        "mteb",
        b'{"name": "acme/a", "revision": "external", "release_date": null, "languages": [], "embed_dim": 32}',
    ),
    "run_settings.jsonl": (
        "mteb",
        b'{"task": "ArguAna", "splits": ["test"], "version": {}, "encode_kwargs": {}, "subsets": ["default"]}\n',
    ),
    "java_result.json": ("bfcl", b'{"id": "simple_java_4", "result": [{"a": "{}"}], "latency": 1.5}\n' * 2),
    "report.json": ("swe-bench", b'{"total_instances": 1, "resolved_ids": ["a"], "submitted_ids": []}'),
    "multi.json": ("swe-bench", b'{"total_instances": 1, "resolved_instances": 1, "resolved": ["a"]}'),
    "lists.json": ("swe-bench", b'{"no_generation": [], "applied": ["a"], "resolved": ["a"]}'),
    "few_lists.json": ("swe-bench", b'{"no_generation": [], "no_logs": [], "resolved": ["a"]}'),
    "instance.json": ("swe-bench", b'{"astropy__astropy-14369": {"patch_exists": true, "resolved": false}}'),
    "bench.json": ("terminal-bench", b'{"results": [], "n_resolved": 1, "resolved_ids": [], "accuracy": 0.5}'),
    "trial.json": ("terminal-bench", b'{"trial_name": "a", "task_id": "b", "is_resolved": true}'),
    "summary.jsonl": ("other", b'{"model": "acme/a", "results": {"mmlu": 0.5}}\n' * 2),
    "mine.json": ("other", b'{"model": "acme/a", "benchmarks": {"mmlu": 0.5}}'),
    "machine.json": ("other", b'{"spec": {"chip": "a"}, "mmlu": {"accuracy": 0.5}}'),
    "row.json": ("other", b'{"acc,none": 0.5, "alias": "arc"}'),
    "package.json": ("other", b'{"name": "x", "version": "1"}'),
    "broken.json": ("other", b'{"name": "x", '),
    "list.json": ("other", b"[1, 2]"),
    "notes.txt": ("other", b"results"),
    "empty.json": ("other", b""),
    "weights.safetensors": ("other", b"{" * 100),
    "huge.json": ("other", b'{"vocabulary": [' + b"1," * (MAX_BYTES // 2) + b"1]}"),
    "packed.json": ("gzip", b"\x1f\x8b\x08 and so on"),
    "log.eval": ("archive", b"PK\x03\x04 and so on"),
}


def reading(files: dict[str, bytes], asked: list[tuple[str, int]] | None = None) -> Callable[[str, int], bytes | None]:
    def read(path: str, limit: int) -> bytes | None:
        if asked is not None:
            asked.append((path, limit))
        return files[path][:limit] if path in files else None

    return read


def content_of(name: str) -> bytes:
    """A large log has more bytes than are read."""
    return OTHERS[name][1] * (120_000 if name == "large.jsonl" else 1)


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_result_is_named_as_what_it_is(name: str) -> None:
    kind, data = OTHERS[name][0], content_of(name)
    found = found_in({f"runs/{name}": data})[f"runs/{name}"]
    assert isinstance(found, UnreadPath)
    assert (found.kind, bool(found.why)) == (kind, True)


@pytest.mark.parametrize("name", OTHERS)
def test_one_that_is_named_itself_is_a_submission_that_says_so(name: str) -> None:
    kind, data = OTHERS[name][0], content_of(name)
    found = found_in({name: data}, (name,))[name]
    if isinstance(found, UnreadPath):  # as a pattern of a shell or a hook for commits names it, in nobody's way
        assert (found.kind, found.why.startswith("nothing needs to be done")) == (kind, True)
        return
    assert found.problem is not None
    assert not found.problem.hint.startswith("nothing needs to be done")
    title = next((known.title for known in kinds() if known.id == kind), None)
    assert title is None or found.problem.why == f"is {title}, not a result"


def test_a_result_is_told_by_its_content_whatever_it_is_called() -> None:
    files = {"a/arc.json": dumps(base()), "b.txt": dumps(base()), "results_.json": b"{}", "x": dumps(base())}
    found = found_in(files)
    assert {path for path, one in found.items() if isinstance(one, Parsed)} == {"a/arc.json", "b.txt", "x"}


@pytest.mark.parametrize(
    ("path", "said"), [("page_1.json", "upload it as the harness"), ("notes", "nothing needs to be done")]
)
def test_a_page_that_was_saved_as_json_is_said_to_be_none(path: str, said: str) -> None:
    """Like a page to sign in, which a download got in place of the file."""
    found = found_in({path: b"<html><body>Sign in</body></html>"})[path]
    assert isinstance(found, UnreadPath)
    assert said in found.why
    (named,) = found_in({"page.json": b"\n<html>\xff<body>Sign in</body></html>"}, ("page.json",)).values()
    assert isinstance(named, Parsed)
    assert named.problem is not None
    assert named.problem.why == 'is not JSON: it begins with "<html>\N{REPLACEMENT CHARACTER}<body>Sign i…"'


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:40_000],
        lambda data: data.replace(b": 250,", b": 2 50,"),
        lambda data: data + b" " * MAX_BYTES,
    ],
    ids=["cut", "a number in two", "too large"],
)
def test_a_damaged_result_is_a_submission_that_is_rejected(damage: Callable[[bytes], bytes]) -> None:
    found = found_in({"runs/results.json": damage(dumps(base()))})["runs/results.json"]
    assert isinstance(found, Parsed)
    assert found.problem is not None


def test_everything_is_found_once() -> None:
    files = {f"f/{name}": content_of(name) for name in OTHERS} | {"f/g/results.json": dumps(base())}
    listing = [ListedFile(path, len(data)) for path, data in files.items()]
    assert sorted(one.path for one in candidates_in(listing)) == sorted(files)


def test_large_files_are_refused_by_their_first_bytes() -> None:
    files = {
        "samples.jsonl": content_of("large.jsonl"),
        "weights.bin": b"x" * 10,
        "photo": b"\x89PNG" + b"x" * 3_000_000,
    }
    asked: list[tuple[str, int]] = []
    listing = [ListedFile(path, len(data)) for path, data in files.items()]
    assert all(isinstance(found, UnreadPath) for found in discover(listing, reading(files, asked)).values())
    assert dict(asked) == {"samples.jsonl": discovery.HEAD, "photo": discovery.HEAD}


def test_a_file_that_is_gone_and_one_that_cannot_be_read_in_part() -> None:
    gone, cut = (discover([ListedFile("a.json", size)], read)["a.json"] for size, read in (
        (5, lambda *_: None), (MAX_BYTES + 1, lambda *_: b""),
    ))  # fmt: skip
    assert isinstance(gone, Parsed)
    assert gone.problem is not None
    assert gone.problem.why == "is gone"
    assert isinstance(cut, UnreadPath)


@settings(max_examples=60)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_one_or_the_other(data: bytes, is_named: bool) -> None:
    found = found_in({"a.json": data}, ("a.json",) if is_named else ())["a.json"]
    assert isinstance(found, Parsed) or not is_named or found.kind != "other"


# ---- runs of several files ----


def parse_run(content: Content) -> Result:
    spec, stats = content.json("spec.json"), content.json("stats.json")
    return Result(
        model=Model(spec["model"]),
        harness=HarnessVersion("runner"),
        leaves={"a": LeafResult({"acc": stats[1]["mean"]}, pointers={"acc": "stats.json#/1/mean"})},
        places={"model": "spec.json#/model"},
    )


RUN = Format(
    id="run", title="Run", recognise=lambda _: True, parse=parse_run,
    members=("spec.json", "stats.json"), optional=("more.json",), beside=("requests.json",),
)  # fmt: skip
FOLDER = {
    "runs/a/spec.json": b'{"model": "acme/a"}',
    "runs/a/stats.json": b'[{"mean": 0.1},\n {"mean": 0.5}]',
    "runs/a/requests.json": b"[" * 9,
    "runs/a/notes.json": b"{}",
    "runs/b/stats.json": b"[]",
}


@pytest.fixture
def _with_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bot.evaluation.discovery", "bot.evaluation.formats"):
        monkeypatch.setattr(f"{module}.formats", lambda: (RUN, *BUILT_IN_FORMATS))


@pytest.mark.usefixtures("_with_runs")
def test_the_files_of_a_run_are_one_submission() -> None:
    candidates = candidates_in(ListedFile(path, len(data)) for path, data in FOLDER.items())
    assert [candidate.path for candidate in candidates] == ["runs/a", "runs/a/notes.json", "runs/b/stats.json"]
    assert [file.path for file in candidates[0].files] == ["runs/a/spec.json", "runs/a/stats.json"]
    assert candidates[0].others == ("runs/a/requests.json",)
    found = read_candidate(candidates[0], reading(FOLDER))
    assert isinstance(found, Parsed)
    assert found.result is not None
    assert (found.format, found.result.model.id) == ("run", "acme/a")
    assert found.result.pointer_to("value", "a", "acc") == "stats.json#/1/mean"
    assert found.sha256


@pytest.mark.usefixtures("_with_runs")
def test_a_run_of_which_a_file_is_too_large_is_not_read() -> None:
    files = FOLDER | {"runs/a/stats.json": b"[" + b" " * MAX_BYTES + b"]"}
    (candidate, *_) = candidates_in(ListedFile(path, len(data)) for path, data in files.items())
    found = read_candidate(candidate, reading(files))
    assert isinstance(found, Parsed)
    assert found.problem is not None
    assert found.sha256 == ""


# ---- names of models ----

SHA = "0f3c9a61d2b84e7590c1a8d3b6e2f4a5c7d8e901"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (f"/root/.cache/huggingface/hub/models--acme--atlas-7b/snapshots/{SHA}", "acme/atlas-7b"),
        (f"/data/hub/models--gpt2/snapshots/{SHA}/", "gpt2"),
        (f"models--acme--atlas.7b_x/snapshots/{SHA}", "acme/atlas.7b_x"),
    ],
)
def test_a_path_of_the_hub_s_cache_gives_model_and_commit(path: str, name: str) -> None:
    args = f"pretrained={path},dtype=bfloat16"
    unknown = {"/config/model_sha": "", "/config/model_revision": "main"}
    data = patched({"/model_name": path, "/config/model_args": args} | unknown)
    found = found_in({"a.json": dumps(data)})["a.json"]
    assert isinstance(found, Parsed)
    assert found.result is not None
    model = found.result.model
    assert (model.id, model.revision, model.args) == (name, SHA, f"pretrained={name},dtype=bfloat16")


@pytest.mark.parametrize("path", ["/data/models/atlas", f"/x/models--a--b/snapshots/{SHA[:9]}", "models--a--b"])
def test_another_path_is_left_as_it_is(path: str) -> None:
    found: Any = found_in({"a.json": dumps(patched({"/model_name": path}))})["a.json"]
    assert found.result.model.id == path


def test_all_of_the_wild_files_of_no_result_are_named(reference: Path) -> None:
    kinds = {
        "bigcode": "bigcode", "swebench": "swe-bench", "terminal-bench": "terminal-bench",
        "hf-eval-results": "hub-eval-results", "lm-eval-samples": "sample-log",
    }  # fmt: skip
    for folder, kind in kinds.items():
        paths = [path for path in (reference / "wild" / folder).rglob("*") if path.is_file()]
        files = {str(path): path.read_bytes() for path in paths}
        found = found_in(files)
        assert {one.kind for one in found.values() if isinstance(one, UnreadPath)} == {kind}
        assert len(found) == len(files) > 0


def test_what_is_found_can_be_handed_to_another_process() -> None:
    run = [ListedFile(f"run/{name}", 10) for name in ("run_spec.json", "stats.json")]
    found = candidates_in([*run, ListedFile("results.json", 10)])
    assert len(found) == 2
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("data", "why"),
    [
        # log_for_all_models of AudioLLMs/AudioBench `e991641d`
        (b'{"wer": 0.3238620391393664, "sample_wer": []}', "its keys are wer, sample_wer"),
        # what LiveCodeBench writes for each question, and the answers to EvalPlus
        (b'[{"question_id": "1", "graded_list": [true], "pass@1": 1.0}]', "holds a JSON array, not an object"),
        (b'{"task_id": "HumanEval/0", "solution": ""}\n{"task_id": "HumanEval/1"}', "is a file of JSON lines"),
    ],
)
def test_a_file_of_another_tool_is_told_how_it_can_be_read(data: bytes, why: str) -> None:
    named = found_in({"out.json": data}, named=["out.json"])["out.json"]
    assert isinstance(named, Parsed)
    assert named.problem is not None
    assert why in named.problem.why
    assert "init FOLDER --results PATH" in named.problem.hint


@pytest.mark.parametrize(
    ("name", "table"),
    [
        # saucam/model_evals `eee94aa6`
        ("README.md", b"| Model | mmlu |\n| --- | --- |\n| Proteus-8B | 64.71 |\n"),
        ("summary.txt", b"dataset  version  metric  mode  m\nmmlu  -  accuracy  gen  64.71\n"),
    ],
)
def test_a_table_is_told_what_can_be_done_with_it(name: str, table: bytes) -> None:
    named = found_in({name: table}, named=[name])[name]
    assert isinstance(named, Parsed)
    assert named.problem is not None
    assert named.problem.why == "is a table or a text, not a result"
    assert "init FOLDER --table FILE" in named.problem.hint
