"""`compare` as people call it: files, rows of a board, exit statuses."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.audits.samples.pairs import pair_logs
from bot.evaluation.formats import parse_result
from bot.evaluation.formats.format import Rerun
from bot.evaluation.formats.lm_eval_04 import LM_EVAL_04
from tests.audits.samples.test_check import STAMP, inspect_log
from tests.cli.test_samples import RIGHT, rows
from tests.command import completed
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, result

REFERENCE = os.environ.get("LEADERBOARD_BOT_REFERENCE", "")
ROOT = Path(__file__).resolve().parents[2]
KESTREL, OSPREY = (f"examples/results/example-org__{name}-7b" for name in ("kestrel", "osprey"))


def call(*args: str) -> subprocess.CompletedProcess[str]:
    return completed("compare", *args, cwd=ROOT)


def test_files_that_call_one_model_by_several_paths_are_compared_under_one_name(tmp_path: Path) -> None:
    """Like latxa-13b-v1 of hitz-zentroa/latxa `a25de157`, whose 24 files call it by four paths of their cluster."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number, called in enumerate(("/gpfs/latxa", "/gpfs//latxa/step-10")):
            config = {"model": "hf-causal", "model_args": f"pretrained={called}", "num_fewshot": 5, "no_cache": False}
            task = {f"task_{number}": {"acc": 0.5, "acc_stderr": 0.05025189076296062}}
            text = json.dumps({"results": task, "versions": {f"task_{number}": 0}, "config": config})
            (tmp_path / name / f"{number}.json").write_text(text)
    folders = [str(tmp_path / name) for name in ("a", "b")]
    refused = call(*folders)
    assert refused.returncode == 2
    assert (
        "2 models, /gpfs/latxa, /gpfs//latxa/step-10: name the files of one, or say with --model-name" in refused.stderr
    )
    twice = call(
        *folders, "--model-name", f"{tmp_path.name}/*/=a/b@{{1}}", "--model-name", f"{tmp_path.name}/*/=a/c@{{1}}"
    )
    assert twice.returncode == 2
    assert f"{tmp_path.name}/*/ is a/b@{{1}} and a/c@{{1}}; name folders that have one model each" in twice.stderr
    done = call(*folders, "--model-name", "HiTZ/latxa")
    assert done.returncode == 0
    assert "B is not separable in 2." in done.stdout
    names = [word for name in ("a", "b", "c") for word in ("--model-name", f"{name}/=HiTZ/{name}")]
    unused = "--model-name c/=HiTZ/c is not used: no file is there, or calls its model so"
    (tmp_path / "board.toml").write_text(completed("leaderboards", "draft", *folders).stdout)
    for args in [], ["--leaderboard", str(tmp_path / "board.toml")]:
        assert call(*folders, *names, *args).stderr.splitlines() == [unused]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> str:
    target = str(tmp_path_factory.mktemp("board") / "target")
    done = completed("publish", KESTREL, "--to", target, "--as", "commit", "--quiet", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return target


def test_two_folders_are_compared() -> None:
    done = call(KESTREL, OSPREY)
    assert done.returncode == 0, done.stderr
    assert "B is 4.11 ± 1.65 points higher than A on the average of 6 tasks" in done.stdout
    assert "chance alone does not explain this. Task by task, B is higher in 4" in done.stdout


def test_a_lower_task_can_end_with_1() -> None:
    assert call(KESTREL, OSPREY, "--fail-on", "lower").returncode == 1
    assert call(KESTREL, OSPREY, "--fail-on", "lower", "--margin", "20").returncode == 0
    assert call(KESTREL, KESTREL, "--fail-on", "lower").returncode == 0


def test_a_file_meets_the_row_of_its_model(board: str) -> None:
    done = call(KESTREL, "--board", board, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {one["verdict"] for one in report["tasks"]} == {"not separable"}
    assert {one["difference"] for one in report["tasks"]} == {0.0}


def test_a_row_that_contradicts_itself_is_named(board: str, tmp_path: Path) -> None:
    target = shutil.copytree(board, tmp_path / "target")
    (path,) = (one for one in target.rglob("entries/**/*.json") if "kestrel" in str(one))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"average": 99.0}))
    key = json.loads(path.read_text())["key"]
    git(target, "commit", "-qam", "Edit by hand")

    for names in ([KESTREL], [key, OSPREY]):
        done = call(*names, "--board", str(target))
        assert done.returncode == 0, done.stderr
        assert f"{key} is not to be believed: the average is 99" in done.stderr


def test_a_file_that_the_board_rejects_is_compared_all_the_same(board: str, tmp_path: Path) -> None:
    """Whoever asks why a number is not the board's has such a file."""
    (path,) = (ROOT / KESTREL).glob("results_*.json")
    value = json.loads(path.read_text())
    value["config"]["limit"] = 50.0
    value["results"]["leaderboard_mmlu_pro"]["acc,none"] = 0.5
    (tmp_path / path.name).write_text(json.dumps(value))

    done = call(str(tmp_path), "--board", board, "--format", "json")

    assert done.returncode == 0, done.stderr
    head, *said = done.stderr.splitlines()
    assert head == f"{tmp_path}: open-llm-v2 takes no such row; `leaderboard-bot check` says what to do"
    assert "  limited-run: the run was limited to 50 samples of each task (--limit)" in said
    assert {one["id"]: one["verdict"] for one in json.loads(done.stdout)["tasks"]}["mmlu_pro"] == "higher"

    value["results"] = {"other_task": {"acc,none": 0.5}}
    (tmp_path / path.name).write_text(json.dumps(value))
    nothing = call(str(tmp_path), "--board", board)
    assert nothing.returncode == 2
    assert "no number of open-llm-v2 (" in nothing.stderr


def test_a_task_without_a_score_is_named(tmp_path: Path) -> None:
    (path,) = (ROOT / KESTREL).glob("results_*.json")
    value = json.loads(path.read_text())
    row = value["results"].pop("leaderboard_mmlu_pro")
    (tmp_path / "results_a.json").write_text(json.dumps(value))
    value["n-shot"]["leaderboard_mmlu_pro"], value["results"] = 0, {"leaderboard_mmlu_pro": row}
    (tmp_path / "results_b.json").write_text(json.dumps(value))
    done = call(str(tmp_path), KESTREL, "-l", "open-llm-v2")
    said = "leaderboard_mmlu_pro was run with 0 shots, 5 are required (wrong-num-fewshot)"
    assert f"{tmp_path}: MMLU-PRO is not compared, as it has no score: {said}\n" in done.stderr
    assert " 5 tasks" in done.stdout


def test_a_board_of_ones_own_is_compared_by_the_declaration_that_it_keeps(tmp_path: Path) -> None:
    (tmp_path / "board.toml").write_text(TINY)
    file, target = str(tmp_path / "results.json"), str(tmp_path / "target")
    (tmp_path / "results.json").write_bytes(result())
    own = ["--leaderboard", str(tmp_path / "board.toml"), "--quiet"]
    published = completed("publish", file, "--to", target, "--as", "commit", *own)
    assert published.returncode == 0, published.stderr
    for measured in ((file,), ("acme/atlas-7b", file)):
        done = call(*measured, "--board", target)
        assert (done.returncode, "have the same numbers" in done.stdout) == (0, True), done.stderr


ONE_NUMBER = """title = "Edits"
description = "How many edits a model gets right."
[harness]
formats = ["own"]
[models]
plain = true
[[formats]]
id = "own"
rows = "[*]"
model = "model"
[[formats.values]]
value = "pass_rate"
leaf = "pass_rate"
unit = "percent"
[[tasks]]
id = "pass_rate"
title = "Pass rate"
metrics = [{ name = "score", integral = false }]
leaves = [{ id = "pass_rate", samples = 225 }]
unit = "percent"
"""


def test_fields_that_a_form_does_not_read_are_named_where_they_differ(tmp_path: Path) -> None:
    """Like `edit_format` in the tables of Aider, which moves its numbers."""
    (tmp_path / "board.toml").write_text(ONE_NUMBER)
    for name, way, rate in (("a", "diff", 40.0), ("b", "whole", 45.8)):
        row = {"model": "qwen3-32b", "edit_format": way, "language": "all", "pass_rate": rate, "seconds": 3.5 + rate}
        (tmp_path / f"{name}.json").write_text(json.dumps([row]))
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    done = call(*files, "--leaderboard", str(tmp_path / "board.toml"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Fields that the form does not read differ: edit_format; name in its settings what matters." in done.stdout


def sampled(folder: Path) -> str:
    """The run of the board's row with another temperature."""
    (path,) = (ROOT / KESTREL).glob("results_*.json")
    value = json.loads(path.read_text())
    value["config"]["gen_kwargs"] = "temperature=0.7"
    (folder / path.name).write_text(json.dumps(value))
    return str(folder)


def test_files_differ_in_their_settings_by_the_declaration_of_a_board_too(tmp_path: Path) -> None:
    done = call(KESTREL, sampled(tmp_path), "--leaderboard", "open-llm-v2")
    assert done.returncode == 0, done.stderr
    assert "They were measured differently: generation gen_kwargs." in done.stdout
    assert 'generation gen_kwargs: (not set) → {"temperature": 0.7}  [all tasks]' in done.stdout


def test_the_files_of_a_row_say_what_the_row_does_not_record(tmp_path: Path) -> None:
    """In a folder that is no git repository, such as an unpacked release, the folder of a file names it."""
    shutil.copytree(ROOT / KESTREL, tmp_path / "runs" / "kestrel")
    board, mine = str(tmp_path / "target"), sampled(tmp_path)
    published = completed("publish", str(tmp_path / "runs" / "kestrel"), "--to", board, "--as", "commit", "--quiet")
    assert published.returncode == 0, published.stderr
    done = call(mine, "--board", board, "--sources", str(tmp_path / "runs"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "They were measured differently: generation gen_kwargs." in done.stdout

    without = call(mine, "--board", board)
    assert without.returncode == 0
    assert "gen_kwargs" not in without.stdout  # that the row records none does not say that there were none
    unread = "the files of this row cannot be read, so generation settings are not compared: "
    assert f": {unread}" in without.stdout.splitlines()[3]
    assert "name the folder that holds it with --sources DIR.\n" in without.stdout
    assert "35 settings equal of those that the rows record." in without.stdout


def test_the_files_of_a_row_are_read_where_the_row_says_that_they_are(tmp_path: Path, hub: Hub) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    own, env = ["--leaderboard", str(tmp_path / "tiny.toml")], {"HF_ENDPOINT": hub.url}
    prompts = ({"logic": {"doc_to_text": text, "dataset_path": "x", "output_type": "y"}} for text in ("A", "B"))
    there, mine = (result(configs=configs) for configs in prompts)
    hub.push(hub.repository("acme/results"), {"atlas/results.json": there})
    (tmp_path / "mine.json").write_bytes(mine)
    target = str(tmp_path / "target")
    published = completed("publish", "hf://datasets/acme/results", "--to", target, "--as", "commit", *own, env=env)
    assert published.returncode == 0, published.stderr

    done = completed("compare", str(tmp_path / "mine.json"), "--board", target, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'definition: doc_to_text: "A" → "B"  [logic]' in done.stdout


def test_logs_are_paired_where_the_declaration_has_its_own_ids(tmp_path: Path) -> None:
    ids = [(f'id = "{name}"', f'id = "{name}_2", keys = {{ "lm-eval-0.4" = "{name}" }}') for name in RIGHT]
    text = TINY
    for old, new in ids:
        text = text.replace(f"{{ {old}", f"{{ {new}")
    (tmp_path / "tiny.toml").write_text(text)
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40))
    done = call(*runs, "--leaderboard", str(tmp_path / "tiny.toml"), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [task["method"] for task in json.loads(done.stdout)["tasks"]] == ["paired-exact", "paired-exact"]


def test_a_file_is_compared_with_a_row_that_is_named(board: str) -> None:
    done = call("example-org/kestrel-7b", OSPREY, "--board", board)
    assert done.returncode == 0, done.stderr
    assert "B is 5.17 ± 2.16 points higher than A" in done.stdout


def test_two_logs_of_inspect_are_paired_by_their_samples(tmp_path: Path) -> None:
    right = [float(number % 2) for number in range(40)]
    logs = {"a": right, "b": [1.0] * 20 + right[20:]}
    for name, values in logs.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(inspect_log(values)))
    done = call(*(str(tmp_path / f"{name}.json") for name in logs), "--format", "json")
    assert done.returncode == 0, done.stderr
    (task,) = json.loads(done.stdout)["tasks"]
    assert (task["method"], task["verdict"]) == ("paired-exact", "higher")
    assert task["pairs"] == {"both": 20, "first": 0, "second": 10, "neither": 10}


def test_logs_of_inspect_with_other_numbers_of_answers_are_compared_by_their_errors(tmp_path: Path) -> None:
    (tmp_path / "once.json").write_text(json.dumps(inspect_log([float(number % 2) for number in range(40)])))
    often = inspect_log([0.5] * 40, ["C"] * 40)
    often["eval"]["config"]["epochs"] = 3
    often["results"]["completed_samples"] = 120
    often["results"]["scores"][0]["metrics"]["stderr"] = {"name": "stderr", "value": 0.05}
    often["samples"] = [one | {"epoch": epoch} for one in often["samples"] for epoch in (1, 2, 3)]
    (tmp_path / "often.json").write_text(json.dumps(often))
    done = call(str(tmp_path / "once.json"), str(tmp_path / "often.json"), "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    (task,) = report["tasks"]
    assert (task["method"], task["verdict"]) == ("independent-normal", "not separable")
    assert task["why"] == "one run answered each question once, the other 3 times"
    assert [one["name"] for one in report["settings"]] == ["answers to each question"]


def test_the_seed_of_the_examples_is_named_and_given_again(tmp_path: Path) -> None:
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (50, 60, 70))
    path = Path(runs[1]) / f"results_{STAMP}.json"
    changed = json.loads(path.read_bytes())
    changed["config"]["fewshot_seed"] = 77
    path.write_text(json.dumps(changed))
    report = json.loads(call(*runs, "--format", "json").stdout)
    assert [(one["name"], one["values"]) for one in report["settings"]] == [
        ("prompt fewshot_seed", ["(not set)", "77"])
    ]
    assert report["average"]["verdict"] == "not separable"  # nothing differs, and that is known
    assert "With sample logs beside" not in call(*runs).stdout
    again = parse_result(path.read_bytes())
    assert LM_EVAL_04.rerun is not None
    assert "--seed 0,1234,1234,77" in LM_EVAL_04.rerun(Rerun(again.model, tuple(again.leaves), 0, again.settings))


def logged(folder: Path, right: tuple[int, int, int], task: str = "") -> str:
    """A run of the tiny leaderboard with the logs of its three tasks; `task` spells the questions of `logic`."""
    folder.mkdir()
    (folder / f"results_{STAMP}.json").write_bytes(result(f"acme/{folder.name}", right=right))
    for name, count in zip(RIGHT, right, strict=True):
        texts = rows(task if task and name == "logic" else name, count)
        (folder / f"samples_{name}_{STAMP}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in texts))
    return str(folder)


def test_samples_in_the_results_themselves_are_paired(tmp_path: Path) -> None:
    """As in results.json of mattdepaolis/llm-evaluation `8e6e6b86`, which hold all that `simple_evaluate` returns."""
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40))
    beside = call(*runs)
    for folder in map(Path, runs):
        (file,) = folder.glob("results_*")
        logs = {
            log: log.name.removeprefix("samples_").removesuffix(f"_{STAMP}.jsonl") for log in folder.glob("*.jsonl")
        }
        held = {task: [json.loads(line) for line in log.read_text().splitlines()] for log, task in logs.items()}
        file.write_text(json.dumps(json.loads(file.read_bytes()) | {"samples": held}))
        for log in logs:
            log.unlink()
    done = call(*runs)
    assert (done.returncode, done.stdout) == (0, beside.stdout)
    assert "Test: McNemar's, of paired right answers: " in done.stdout
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {"samples": {"logic": [1], "sums_plus": {}}}))
    assert "Test: Fisher's, of right answers: all tasks." in call(*runs).stdout


def test_a_column_of_several_subtasks_is_compared_in_points_of_its_score(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40))
    done = call(*runs, "--leaderboard", str(tmp_path / "tiny.toml"), "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["average"]["method"] == "mean-of-tests"
    for task in [*report["tasks"], report["average"]]:
        assert task is report["average"] or task["method"] == "paired-exact"
        assert task["difference"] == pytest.approx(task["values"][1] - task["values"][0])
    sums = report["tasks"][0]
    logs = [pair_logs([Path(run) / f"samples_{name}_{STAMP}.jsonl" for run in runs][:1],
                      [Path(run) / f"samples_{name}_{STAMP}.jsonl" for run in runs][1:], "acc,none")
            for name in ("sums_plus", "sums_times")]  # fmt: skip
    errors = [one.contrast.stderr or 0.0 for one in logs if not isinstance(one, str)]
    # The first subtask has a lower bound of 1/4, and each counts a half.
    assert sums["stderr"] == pytest.approx(((errors[0] * 100 / 0.75 / 2) ** 2 + (errors[1] * 100 / 2) ** 2) ** 0.5)


def test_logs_on_the_hub_are_paired(tmp_path: Path, hub: Hub) -> None:
    repository = hub.repository("acme/results")
    for name, right in (("a", (50, 60, 70)), ("b", (62, 75, 40))):
        logged(tmp_path / name, right)
        files = {f"{name}/{one.name}": one.read_bytes() for one in (tmp_path / name).iterdir()}
        hub.push(repository, files)
    runs = (f"hf://datasets/acme/results/{name}" for name in "ab")
    done = completed("compare", *runs, "--format", "json", env={"HF_ENDPOINT": hub.url})
    assert done.returncode == 0, done.stderr
    assert [task["pairs"]["first"] for task in json.loads(done.stdout)["tasks"]] == [0, 0, 30]


def test_a_clipped_score_is_compared_without_its_samples(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    runs = logged(tmp_path / "a", (20, 60, 70)), logged(tmp_path / "b", (62, 75, 40))
    done = call(*runs, "--leaderboard", str(tmp_path / "tiny.toml"), "--format", "json")
    tasks = {one["id"]: one for one in json.loads(done.stdout)["tasks"]}
    assert (tasks["sums"]["method"], tasks["logic"]["method"]) == ("independent-normal", "paired-exact")
    assert tasks["sums"]["difference"] == pytest.approx(tasks["sums"]["values"][1] - tasks["sums"]["values"][0])


def test_other_questions_under_one_name_are_not_compared(tmp_path: Path) -> None:
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40), "other logic")
    done = call(*runs, "--fail-on", "lower")
    assert done.returncode == 0, done.stderr
    assert "logic: no question is the same in both logs of 100; `--samples none` compares without them" in done.stdout
    assert "1 of 3 tasks is not comparable (logic: no question is the same" in done.stdout


def test_a_cut_log_is_named_and_its_task_compared_without_pairs(tmp_path: Path) -> None:
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40))
    (cut,) = (tmp_path / "b").glob("samples_logic_*")
    cut.write_text(cut.read_text()[:-40])
    done = call(*runs)
    assert done.returncode == 0, done.stderr
    assert f"logic: compared without pairs, because {cut.name}: record 100: not valid JSON" in done.stdout
    assert "Test: McNemar's, of paired right answers: sums_plus (100 pairs)" in done.stdout
    assert "- logic&#58; compared without pairs, because " in call(*runs, "--format", "markdown").stdout
    tasks = json.loads(call(*runs, "--format", "json").stdout)["tasks"]
    assert {task["id"]: f"{cut.name}: record 100: not valid JSON" in task["why"] for task in tasks}["logic"]


def test_a_log_that_does_not_give_the_value_of_its_result_makes_no_pairs(tmp_path: Path) -> None:
    runs = logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40))
    done = call(*runs, "--samples", str(tmp_path / "a"), "--format", "json")  # the same logs for both
    for task in json.loads(done.stdout)["tasks"]:
        assert task["difference"] == pytest.approx(task["values"][1] - task["values"][0])
        assert (task["method"], task["why"]) == ("independent-exact", "the results are not the means of their samples")


def test_a_folder_with_the_logs_of_both_models_is_paired_by_the_names_of_their_folders(tmp_path: Path) -> None:
    runs = [logged(tmp_path / "a", (50, 60, 70)), logged(tmp_path / "b", (62, 75, 40))]
    for of_folder in ("logs/a", "logs/acme__b", "unnamed/one", "unnamed/two"):
        (tmp_path / of_folder).mkdir(parents=True)
    for run, names in zip(runs, (("logs/a", "unnamed/one"), ("logs/acme__b", "unnamed/two")), strict=True):
        for log in Path(run).glob("samples_*"):
            for name in names:
                (tmp_path / name / log.name).write_bytes(log.read_bytes())
            log.unlink()
    done = call(*runs, "--samples", str(tmp_path / "logs"), "--format", "json")
    assert done.returncode == 0, done.stderr
    assert [one["pairs"]["first"] for one in json.loads(done.stdout)["tasks"]] == [0, 0, 30]
    done = call(*runs, "--samples", str(tmp_path / "unnamed"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "in one and two, and neither folder is called as that of results_" in " ".join(done.stderr.split())


def test_a_prompt_that_differs_is_named_before_the_result(tmp_path: Path) -> None:
    path = next((ROOT / KESTREL).glob("*.json"))
    result = json.loads(path.read_text())
    result["configs"]["leaderboard_mmlu_pro"]["doc_to_text"] = "Think well. {{question}}"
    (tmp_path / path.name).write_text(json.dumps(result))
    done = call(KESTREL, str(tmp_path / path.name), "--samples", "none")
    assert done.returncode == 0, done.stderr
    assert "They were measured differently: definition" in done.stdout
    assert "definition: doc_to_text" in done.stdout


def test_three_are_compared_with_the_first() -> None:
    report = json.loads(call(KESTREL, OSPREY, KESTREL, "--format", "json").stdout)
    [third] = report["against"]
    assert (report["sentence"][:11], third["sentence"][:8]) == ("Two models:", "A and C ")
    text = call(KESTREL, OSPREY, KESTREL).stdout
    assert [f"{letter} - A" in text and f"\n{letter}  " in text for letter in "BCD"] == [True, True, False]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((KESTREL,), "compare takes two to four measurements"),
        ((KESTREL, "nothing/there"), "is no file, and no row; name the board with --board"),
        ((KESTREL, "README.md"), "README.md: is a table or a text, not a result: `leaderboard-bot init FOLDER --table"),
        ((KESTREL, "--board", "README.md"), "README.md is a file; a board is a folder"),
        ((KESTREL, "examples/results"), "holds results of"),
        ((KESTREL, OSPREY, "--samples", "nowhere"), "write auto, none, or a folder"),
        ((KESTREL, OSPREY, "--task", "nothing"), "has no task nothing"),
        (
            (KESTREL, OSPREY, "--sources", "."),
            "--sources names the folders of the files of rows, and rows need --board",
        ),
        ((KESTREL, "--board", "b", "--sources", "nowhere"), "nowhere: --sources names a folder, and there is none"),
    ],
)
def test_what_cannot_be_compared_ends_with_2_and_one_line(args: tuple[str, ...], message: str) -> None:
    done = call(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_board_whose_requests_nobody_merged_says_what_to_do(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "Begin")
    refused = call(KESTREL, "--board", str(tmp_path))
    assert refused.returncode == 2
    assert f"{tmp_path} has no row: publish one there and merge its request" in refused.stderr


@pytest.mark.skipif(not REFERENCE, reason="LEADERBOARD_BOT_REFERENCE is not set")
def test_a_number_of_another_mmlu_leads_to_its_audit() -> None:
    mmlu = Path(REFERENCE) / "lm_eval_old" / "llama-7B_mmlu_5-shot.json"
    told = completed("explain", str(mmlu), "--reported", "35.1")
    assert told.returncode == 1
    assert "  MMLU implementation the harness of early 2023 (choice texts are scored): " in told.stdout
    assert told.stdout.startswith("No reading of these results gives 35.1 (")
    assert told.stdout.endswith(
        "\nThese are tasks of open-llm-v1 and not of open-llm-v2: add --leaderboard open-llm-v1\n"
    )
    settings = json.loads(completed("explain", str(mmlu), "--reported", "35.1", "-f", "json").stdout)["settings"]
    assert settings[0]["values"] == "the harness of early 2023 (choice texts are scored)"


def test_a_number_that_may_be_found_by_accident_is_told_with_what_the_board_wants_otherwise(tmp_path: Path) -> None:
    """Like the 74.2 of Qwen2.5-7B, which is MMLU with 5 examples, and nearly its plain mean without any."""
    data = json.loads(next(Path(KESTREL).rglob("*.json")).read_bytes())
    data["n-shot"] |= {name: 3 for name in data["n-shot"] if "musr" in name}
    for name in [one for one in data["configs"] if "musr" in one]:
        data["configs"][name]["num_fewshot"] = 3
    (tmp_path / "results.json").write_text(json.dumps(data))
    told = completed("explain", str(tmp_path), "musr", "--reported", "51.85").stdout
    assert told.startswith("51.85 may be musr: mean over the samples of 3 subtasks")
    assert "few-shot examples 3: " in told
    assert "The leaderboard wants it measured otherwise:\n\n" in told
    assert "was run with 3 shots, 0 are required" in told


def test_what_is_no_result_has_no_reported_number() -> None:
    refused = completed("explain", "README.md", "--reported", "51.85", cwd=ROOT)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "README.md: the file is a table or a text, not a result: `leaderboard-bot init FOLDER" in refused.stderr
    several = completed("explain", "examples/results", "--reported", "51.85", cwd=ROOT)
    assert "rows, example-org/" in several.stderr
