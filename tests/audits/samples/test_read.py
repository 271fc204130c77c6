"""Sample logs of each harness as one stream of samples: made by hand in its form, and real ones."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bot.audits.samples import inspect_log, lighteval, records
from bot.audits.samples.read import read_log
from bot.audits.samples.records import SkippedRecord
from bot.audits.samples.sample import Sample, sha256
from bot.errors import CallError
from tests.platforms.hub.test_git import command_lines
from tests.variants import one_of

SECONDS = 15  # of the processor
ROW = {
    "doc_id": 3,
    "doc": {"question": "2 + 2?"},
    "target": "4",
    "arguments": {"gen_args_0": {"arg_0": "Q: 2 + 2?", "arg_1": {"until": ["\n"]}}},
    "resps": [[" 4\n"]],
    "filtered_resps": ["4"],
    "filter": "strict",
    "metrics": ["exact_match"],
    "exact_match": 1.0,
    "doc_hash": "d",
    "prompt_hash": "p",
    "target_hash": "t",
}


def samples(path: Path) -> list[Sample]:
    found = list(read_log(path))
    assert not [one for one in found if isinstance(one, SkippedRecord)]
    return [one for one in found if isinstance(one, Sample)]


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_generated_answer_of_lm_eval(tmp_path: Path) -> None:
    (one,) = samples(lines(tmp_path / "samples_x.jsonl", ROW))
    assert (one.form, one.doc_id, one.doc) == ("lm-eval-0.4.7", 3, {"question": "2 + 2?"})
    assert (one.prompt, one.target, one.response, one.answer) == ("Q: 2 + 2?", "4", " 4\n", "4")
    assert (one.doc_hash, one.prompt_hash) == ("d", "p")
    assert (one.metrics, one.filter, one.settings) == ({"exact_match": 1.0}, "strict", {"until": ["\n"]})


def test_log_likelihoods_of_lm_eval_and_the_hashes_that_old_releases_leave_out(tmp_path: Path) -> None:
    row = {"doc_id": 0, "doc": {"q": "é"}, "target": " b", "acc": 0.0, "acc_norm": True}
    row |= {"arguments": [["Q", " a"], ["Q", " b"]], "resps": [[[-1.5, True]], [[-2.0, False]]]}
    (one,) = samples(lines(tmp_path / "x.jsonl", row | {"filtered_resps": [[-1.5, True], [-2.0, False]]}))
    assert (one.form, one.answer) == ("lm-eval-0.4.0", None)
    assert (one.continuations, one.logprobs, one.greedy) == ((" a", " b"), (-1.5, -2.0), (True, False))
    assert one.metrics == {"acc": 0.0, "acc_norm": 1.0}
    assert one.prompt_hash == sha256("Q")
    assert one.doc_hash == sha256('{\n  "q": "é"\n}')


def test_real_logs_of_lm_eval_keep_their_own_hashes(reference: Path) -> None:
    logs = list((reference / "lm_eval_04").rglob("samples_*.jsonl"))
    assert len(logs) == 4
    for log in logs:
        for one in samples(log):
            assert sha256(one.prompt) == one.prompt_hash
            assert one.metrics
            assert one.answer is not None or one.logprobs


def test_a_helm_run_gives_prompts_answers_and_metrics(reference: Path) -> None:
    (run,) = (reference / "helm").iterdir()
    found = samples(run)
    assert len(found) == 10
    first = found[0]
    assert (first.doc_id, first.target, first.response) == ("id147", "internalmeaning", " D")
    assert first.doc["choices"][0] == "external meaning"
    assert all("exact_match" in one.metrics for one in found)
    assert first.filter == "test"


def test_statistics_in_another_order_are_joined_by_their_keys(tmp_path: Path) -> None:
    states, stats = [], []
    for i in range(20):
        instance = {"id": f"id{i}", "input": {"text": f"Q{i}"}, "references": [], "split": "test"}
        result = {"completions": [{"text": "A"}]}
        states.append({"instance": instance, "request": {"prompt": f"P{i}"}, "result": result, "train_trial_index": 0})
        mean = {"name": {"name": "exact_match"}, "mean": float(i)}
        stats.append({"instance_id": f"id{i}", "train_trial_index": 0, "stats": [mean]})
    Random(1).shuffle(stats)
    odd = {"instructions": 'say "request_states": [ ]'}
    (tmp_path / "scenario_state.json").write_text(json.dumps({"adapter_spec": odd, "request_states": states}))
    (tmp_path / "per_instance_stats.json").write_text(json.dumps(stats))
    assert [one.metrics["exact_match"] for one in samples(tmp_path)] == [float(i) for i in range(20)]


def inspect_sample(i: int, **more: Any) -> dict[str, Any]:
    output = {"choices": [{"message": {"role": "assistant", "content": [{"type": "text", "text": "No"}]}}]}
    scores = {"match": {"value": "C", "answer": "no"}, "many": {"value": {"a": 0.25, "b": "I"}}}
    return {"id": i, "epoch": 1, "input": f"Q{i}", "target": ["no", "No"], "output": output, "scores": scores, **more}


def test_inspect_samples_from_an_archive_and_from_json_are_equal(tmp_path: Path) -> None:
    rows = [inspect_sample(i) for i in range(3)]
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        for row in rows:
            archive.writestr(f"samples/{row['id']}_epoch_1.json", json.dumps(row))
    whole = {"version": 2, "status": "success", "eval": {"dataset": {"samples": 3}}, "samples": rows}
    (tmp_path / "log.json").write_text(json.dumps(whole, indent=2))
    found = samples(tmp_path / "log.eval")
    assert [one.doc_id for one in found] == [0, 1, 2]
    assert (found[0].prompt, found[0].target, found[0].response, found[0].answer) == ("Q0", "no | No", "No", "no")
    assert found[0].metrics == {"match": 1.0, "a": 0.25, "b": 0.0}
    assert found == samples(tmp_path / "log.json")


def test_real_archives_of_inspect_are_read(reference: Path) -> None:
    archives = list((reference / "wild/inspect-eval").rglob("*.eval"))
    assert len(archives) == 3
    found = [one for archive in archives for one in samples(archive)]
    assert found
    assert all(one.prompt and one.doc_hash for one in found)


def test_details_of_lighteval_before_and_since_0_10(tmp_path: Path) -> None:
    old = {"example": "Q", "full_prompt": "P Q", "predictions": ["[-1.5, -0.5]"], "gold": ["b"], "choices": ["a", "b"]}
    pq.write_table(pa.Table.from_pylist([old | {"metrics": {"acc": 1.0}}]), tmp_path / "old.parquet")
    doc = {"query": "Q", "choices": ["a", "b"], "gold_index": [1], "id": "7"}
    response = {"input": "P Q", "text": [], "logprobs": [-1.5, -0.5]}
    new = {"doc": doc, "model_response": response, "metric": {"acc": 1.0}}
    pq.write_table(pa.Table.from_pylist([new]), tmp_path / "new.parquet")

    (before,), (since,) = samples(tmp_path / "old.parquet"), samples(tmp_path / "new.parquet")
    assert (before.doc_id, before.prompt, before.target, before.metrics) == (0, "P Q", "b", {"acc": 1.0})
    assert (since.doc_id, since.prompt, since.target, since.metrics) == ("7", "P Q", "b", {"acc": 1.0})
    assert (since.continuations, since.logprobs) == (("a", "b"), (-1.5, -0.5))


@pytest.mark.parametrize("name", ["x.jsonl", "x.parquet", "x.eval"])
def test_a_log_that_is_cut_says_so(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "x.jsonl":
        lines(path, ROW, ROW)
    elif name == "x.eval":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("samples/1_epoch_1.json", json.dumps(inspect_sample(1)))
    else:
        pq.write_table(pa.Table.from_pylist([{"full_prompt": "P"}]), path)
    path.write_bytes(path.read_bytes()[:-20])
    if name == "x.jsonl":
        whole, cut = read_log(path)
        assert isinstance(whole, Sample)
        assert cut == SkippedRecord(2, "not valid JSON")
    else:
        with pytest.raises(CallError, match=name):
            list(read_log(path))


JUNK = (None, True, 1, -0.5, float("nan"), "x", "", [], ["x"], [["x"]], {}, {"a": 1}, 10**400, "\ud800")


def damaged(value: Any, random: Random) -> Any:
    if isinstance(value, dict):
        return {
            key: random.choice(JUNK) if random.random() < 0.1 else damaged(one, random) for key, one in value.items()
        }
    if isinstance(value, list):
        return [random.choice(JUNK) if random.random() < 0.1 else damaged(one, random) for one in value]
    return value


@pytest.mark.parametrize("seed", range(10))
def test_damage_is_skipped_or_read_and_never_ends_in_a_traceback(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    instance = {"id": "1", "input": {"text": "Q"}, "references": [{"output": {"text": "a"}, "tags": ["correct"]}]}
    state = {"instance": instance, "request": {"prompt": "P"}, "result": {"completions": [{"text": "A"}]}}
    stats = {"instance_id": "1", "stats": [{"name": {"name": "exact_match"}, "mean": 1.0}]}
    for name, key, row in (
        ("x.jsonl", "", ROW),
        ("scenario_state.json", "request_states", state),
        ("per_instance_stats.json", "", stats),
        ("x.json", "samples", inspect_sample(1)),
    ):
        rows = [damaged(row, random) for _ in range(50)]
        start = {"version": 2} if key == "samples" else {}
        (tmp_path / name).write_text(json.dumps(start | {key: rows} if key else rows))
    for path in (tmp_path / "x.jsonl", tmp_path, tmp_path / "x.json"):
        assert len(list(read_log(path))) == 50


@pytest.mark.slow
def test_an_element_of_16_mb_in_a_packed_array_is_not_read_again_for_each_piece(tmp_path: Path) -> None:
    """It took minutes: of random content, gzip gives a few kilobytes at once."""
    path = tmp_path / "samples_x.jsonl"
    path.write_bytes(gzip.compress(f"[{Random(1).choices(range(100_000), k=2_400_000)}]".encode(), 1))
    start = process_time()
    assert list(read_log(path)) == [SkippedRecord(1, "not a sample of a known format")]
    assert process_time() - start < SECONDS


@pytest.mark.parametrize("data", [b"\n" * 300_000, b"[" + b" " * 3_000_000 + b"]"], ids=["lines", "array"])
def test_a_packed_log_that_unpacks_to_any_size_is_read_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(records, "MOST_UNPACKED", 200_000)
    (tmp_path / "x.jsonl").write_bytes(gzip.compress(data))
    assert [one.why for one in read_log(tmp_path / "x.jsonl") if isinstance(one, SkippedRecord)] == [records.TOO_MUCH]


def test_an_archive_whose_samples_unpack_to_any_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_log, "MAX_SAMPLES", 1)
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "{}")
    with pytest.raises(CallError, match="its samples unpack to more than"):
        list(read_log(tmp_path / "x.eval"))


@pytest.mark.parametrize("kept", one_of(["once", "in each row"]))
def test_a_parquet_log_that_unpacks_to_any_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    monkeypatch.setattr(lighteval, "MEMORY", 150 << 20)
    prompt, answers = "a" * 10_000_000, pa.array([["x"]] * 20)
    same = pa.DictionaryArray.from_arrays(pa.array([0] * 20, pa.int32()), pa.array([prompt]))
    prompts = same if kept == "once" else pa.array([prompt] * 20)
    table = pa.table({"full_prompt": prompts, "predictions": answers, "gold": answers})
    pq.write_table(table, tmp_path / "x.parquet", compression="zstd", use_dictionary=kept == "once")
    assert (tmp_path / "x.parquet").stat().st_size < 50_000

    with pytest.raises(CallError, match="after row 0: it unpacks to more than 150 MB"):
        list(read_log(tmp_path / "x.parquet"))


def test_a_row_of_a_parquet_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lighteval, "LONGEST_ROW", 1 << 20)
    rows = [{"full_prompt": "a" * n, "predictions": ["x"], "gold": ["x"]} for n in (1, 2_000_000)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "x.parquet")

    with pytest.raises(CallError, match="row 2 has more than 1 MB"):
        list(read_log(tmp_path / "x.parquet"))


@pytest.mark.parametrize("limit", one_of(["MOST_ROWS", "MOST_PRINTED"]))
def test_a_parquet_log_of_very_many_rows_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(lighteval, limit, 1000)
    rows = 4_000_000
    places = pa.array(pa.repeat(pa.scalar(0, pa.int32()), rows))
    table = pa.table({"full_prompt": pa.DictionaryArray.from_arrays(places, pa.array(["?"]))})
    pq.write_table(table, tmp_path / "x.parquet", compression="zstd", row_group_size=rows)
    assert (tmp_path / "x.parquet").stat().st_size < 100_000

    with pytest.raises(CallError, match="it unpacks to more than"):
        list(read_log(tmp_path / "x.parquet"))


def test_a_reader_that_wants_no_more_rows_ends_the_process_that_reads_them(tmp_path: Path) -> None:
    row = {"full_prompt": "?", "predictions": ["a"], "gold": ["a"], "metrics": {"acc": 1.0}}
    pq.write_table(pa.Table.from_pylist([row] * 20_000), tmp_path / "x.parquet")
    found = read_log(tmp_path / "x.parquet")
    assert isinstance(next(iter(found)), Sample)
    found.close()  # type: ignore[attr-defined]
    assert not [line for line in command_lines(os.getpid()) if "parquet_rows" in line]
