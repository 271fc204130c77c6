"""Files of MTEB: values and versions as real files have them, in shapes built anew; the model from the path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.errors import UnknownFormat
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import format_of, parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.result import Model, Result
from bot.evaluation.submission import Parsed, parse_submission
from bot.platforms.inputs import local_places
from bot.reporting.draft import draft_text
from tests.evaluation.judging import dumps, outcome_of

SHA = "4ac16754f3d81aba76cc32955dc9ee4122df96eb"
DATA = "d522bb117c32f5e0207344f69f7075fc9941168b"
ARABIC = {
    "accuracy": 0.4,
    "f1": 0.391749,
    "ap": None,
    "scores_per_experiment": [{"accuracy": 0.335938}],
    "main_score": 0.4,
    "hf_subset": "arabic",
    "languages": ["ara-Arab"],
}


def task(name: str, scores: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "dataset_revision": DATA,
        "task_name": name,
        "mteb_version": "1.18.0",
        "scores": scores,
        "evaluation_time": 31.6,
        "kg_co2_emissions": None,
        **more,
    }


def read(data: dict[str, Any], path: str = "Task.json") -> Result:
    parsed = parse_submission(path, {"": dumps(data)})
    assert parsed.result is not None
    return parsed.result


def test_each_subset_of_each_split_is_a_leaf() -> None:
    english = ARABIC | {"hf_subset": "english", "main_score": 0.484375, "accuracy": 0.484375}
    result = read(task("TweetSentimentClassification", {"test": [ARABIC, english], "train": [ARABIC]}))
    name = "TweetSentimentClassification"
    assert list(result.leaves) == [f"{name}/arabic/test", f"{name}/english/test", f"{name}/arabic/train"]
    leaf = result.leaves[f"{name}/english/test"]
    assert dict(leaf.numbers) == {"accuracy": 0.484375, "f1": 0.391749, "main_score": 0.484375}
    assert (leaf.version, leaf.samples, leaf.num_fewshot) == (DATA, None, None)
    assert result.pointer_to("value", f"{name}/english/test", "main_score") == "/scores/test/1/main_score"
    assert (result.format, result.harness.name, result.harness.version) == ("mteb", "mteb", "1.18.0")


@pytest.mark.parametrize(
    ("name", "split", "value", "revision", "version"),
    [
        ("CovidRetrieval", "dev", 0.0, "1271c7809071a13532e05f25fb53511ffce77117", "1.18.0"),
        ("Birdsnap", "test", 0.47088060507833607, "fd23015508be94f0b5b59d61630e4ea2536509e4", "1.14.15"),
        ("CQADupstackAndroidRetrieval", "test", 0.42549, "None", None),
    ],
)
def test_values_and_revisions_are_those_of_the_file(
    name: str, split: str, value: float, revision: str, version: str | None
) -> None:
    row = {"main_score": value, "hf_subset": "default", "languages": ["eng-Latn"]}
    result = read(task(name, {split: [row]}, dataset_revision=revision, mteb_version=version))
    leaf = result.leaves[f"{name}/default/{split}"]
    assert (dict(leaf.numbers), leaf.version) == ({"main_score": value}, None if revision == "None" else revision)
    assert result.harness.version == version


@pytest.mark.parametrize(
    ("path", "model", "revision", "asked"),
    [
        (f"results/manu__sentence_v0.3/{SHA}/T.json", "manu/sentence_v0.3", SHA, SHA),
        (f"hf://datasets/a/b@0123456789ab/results/a__b__c/{SHA}/T.json", "a/b__c", SHA, SHA),
        ("mteb__baseline/1/T.json", "mteb/baseline", "", "1"),
        ("/x/minishlab__potion/external/T.json", "minishlab/potion", "", "external"),
        ("results/m3e-base/v1/T.json", "", "", ""),
        ("T.json", "", "", ""),
        (f"results/a\udcff__b/{SHA}/T.json", "a?/b", SHA, SHA),
    ],
)
def test_the_model_stands_in_the_path(path: str, model: str, revision: str, asked: str) -> None:
    result = read(task("T", {"test": [ARABIC]}), path)
    assert (result.model.id, result.model.revision, result.model.requested_revision) == (model, revision, asked)
    assert dict(result.settings) == {}


def test_a_file_that_is_named_from_within_its_folder_is_of_the_model_of_the_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "acme__atlas" / SHA
    folder.mkdir(parents=True)
    (folder / "T.json").write_bytes(dumps(task("T", {"test": [ARABIC]})))
    monkeypatch.chdir(folder)
    for name in ("T.json", ".", "../"):
        (place,) = local_places(name)
        parsed = place.parse()
        assert isinstance(parsed, Parsed)
        assert parsed.result is not None
        assert (parsed.result.model.id, parsed.result.model.revision) == ("acme/atlas", SHA)


def test_an_experiment_is_a_setting_of_its_own() -> None:
    result = read(task("T", {"test": [ARABIC]}), f"results/a__b/{SHA}/experiments/truncate_dim=256/T.json")
    assert (result.model.id, dict(result.settings)) == ("a/b", {"experiment": "truncate_dim=256"})


def test_a_file_of_before_1_11_is_read_by_its_splits() -> None:
    old = {"dataset_revision": DATA, "mteb_dataset_name": "AJGT", "mteb_version": "1.7.39"}
    old["train"] = {"accuracy": 0.7455, "accuracy_stderr": 0.036, "evaluation_time": 35.8, "main_score": 0.7455}
    old["test"] = {"de": {"accuracy": 0.5, "main_score": 0.5}, "evaluation_time": 3.0}
    result = read(old)
    assert {key: dict(leaf.numbers) for key, leaf in result.leaves.items()} == {
        "AJGT/default/train": {"accuracy": 0.7455, "accuracy_stderr": 0.036, "main_score": 0.7455},
        "AJGT/de/test": {"accuracy": 0.5, "main_score": 0.5},
    }
    assert result.pointer_to("value", "AJGT/de/test", "main_score") == "/test/de/main_score"


@pytest.mark.parametrize(
    ("scores", "main"),
    [
        ({"map": 0.5879109720839415, "mrr": 0.7179615705931495}, "map"),
        (
            {"cos_sim": {"accuracy": 0.8403, "ap": 0.6767, "f1": 0.6349}, "max": {"ap": 0.6767, "f1": 0.6349}},
            "cosine_ap",
        ),
        ({"map_at_10": 0.40976, "mrr_at_10": 0.41252, "ndcg_at_10": 0.49819, "recall_at_10": 0.78378}, "ndcg_at_10"),
    ],
)
def test_a_draft_of_old_files_counts_what_mteb_calls_their_main_score(scores: dict[str, Any], main: str) -> None:
    """Like mteb_results of Griffin-McCauley/lodestone-base-4096-v1 `48029ecb`: AskUbuntuDupQuestions and others."""
    old = {"mteb_dataset_name": "Task", "mteb_version": "1.1.0", "dataset_revision": DATA, "test": scores}
    assert [one.name for one in parse_leaderboard(draft_text(draft_of([read(old)])), "x", "x").tasks[0].metrics] == [
        main
    ]


@pytest.mark.parametrize("name", [None, "", 5, {}])
def test_an_old_file_without_a_name_of_its_task_is_no_result(name: Any) -> None:
    with pytest.raises(UnknownFormat):
        parse_result(dumps({"mteb_dataset_name": name, "train": {"main_score": 0.5}, "test": {"main_score": 0.5}}))


def test_a_task_of_376_subsets_is_read() -> None:
    """As BelebeleRetrieval of 191 models in embeddings-benchmark/results `f4cc6c8b`, which was refused as too large."""
    metrics = {f"nauc_precision_at_{k}_{kind}": 0.123456 for k in range(50) for kind in ("max", "std", "diff1")}
    subsets = [ARABIC | metrics | {"hf_subset": f"s{number}"} for number in range(376)]
    assert len(read(task("BelebeleRetrieval", {"test": subsets})).leaves) == 376


def test_a_subset_that_stands_twice_is_two_leaves() -> None:
    result = read(task("T", {"test": [ARABIC, ARABIC | {"main_score": 0.5}, 7, None]}))
    assert list(result.leaves) == ["T/arabic/test", "T/arabic/test (2)"]


def test_splits_of_one_task_are_columns_of_their_own_and_a_person_decides() -> None:
    english = ARABIC | {"hf_subset": "english"}
    found = [read(task("Tone", {split: [ARABIC, english]})) for split in ("test", "validation")]
    assert [{name: len(leaves) for name, leaves in one.subtasks.items()} for one in found] == [
        {"Tone": 2}, {"Tone/validation": 2}
    ]  # fmt: skip
    drafted = draft_of(found).tasks
    assert [len(one.keys["leaves"]) for one in drafted] == [2, 2]
    todo = "the files have the splits test, validation of it: keep the column of the one that counts"
    assert all(todo in one.todo for one in drafted)


def test_what_a_fault_asks_for_is_what_mteb_can_do() -> None:
    board = parse_leaderboard(draft_text(draft_of([read(task("T", {"test": [ARABIC]}))])), "board", "board.toml")
    hints = {found.rule: found.hint for found in outcome_of(task("T", {"test": [ARABIC]}), board).findings}
    assert hints == {
        "unidentified-model": "lay the file at <organization>__<name>/<commit>/, as mteb does, or say which model it "
        "is: for one call with --model-name, for all by the board's maintainer, under [models] in the declaration",
        "unpinned-revision": "run with --model_revision <40 hex digits>, which becomes a folder's name, for all tasks "
        "of the row, as files with a commit do not join files without; the model's page on the Hub shows it under "
        "Files",
    }


def test_a_command_measures_whole_tasks() -> None:
    rerun = format_of("mteb").rerun
    assert rerun is not None
    keys = ("T/arabic/test", "T/english/test", "a/b/default/dev")
    command = f"mteb run -m acme/atlas -t T a/b --model_revision {SHA} --output_folder results"
    assert rerun(Rerun(Model("acme/atlas", SHA), keys, None, {})) == command
    assert rerun(Rerun(Model("acme/atlas"), keys, None, {"experiment": "x"})) == ""
    assert rerun(Rerun(Model(""), keys, None, {})) == ""
    assert parse_result(dumps(task("T", {}))).leaves == {}
