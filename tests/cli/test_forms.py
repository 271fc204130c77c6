"""`init` proposes how to read files that no format reads, and `check` says so."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from bot.cli.judging import read_by, told_if_slow
from bot.evaluation.draft.form_draft import draft_forms
from bot.evaluation.draft.form_values import DraftedValue
from bot.evaluation.leaderboard import load_leaderboard
from bot.platforms.inputs import find_places
from bot.service.settings.config import load_settings
from bot.service.settings.environment import read_access
from tests.command import bot
from tests.world.local_git import git
from tests.world.results import result

MODELS = {"acme/atlas-7b": (57.5, 46.0), "acme/borea-1b": (40.25, 12.5), "other/heron-3b": (61.0, 33.75)}
TABLE = "| Model | Retail | Airline |\n|---|---|---|\n" + "".join(
    f"| {name} | {retail} | {airline} |\n" for name, (retail, airline) in MODELS.items()
)


def nested(name: str, retail: float, airline: float) -> object:
    return {"who": {"hf": name}, "scores": {"retail": {"ok": retail, "cost": 3}, "airline": {"ok": airline, "cost": 4}}}


def listed(name: str, retail: float, airline: float) -> object:
    runs = [
        {"task": "retail", "metrics": {"acc": retail / 100}},
        {"task": "airline", "metrics": {"acc": airline / 100}},
    ]
    return {"model": name, "date": "2026-01-02", "runs": runs}


def texts(name: str, retail: float, airline: float) -> object:
    return {"name": name, "retail": f"{retail}%", "airline": f"{airline}%", "notes": "fine"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "README.md").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize("layout", [nested, listed, texts])
def test_a_table_and_files_of_any_layout_give_a_form_that_recomputes_every_row(folder: Path, layout: object) -> None:
    for number, (name, values) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(layout(name, *values)))  # type: ignore[operator]
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit" in stdout, stderr
    assert "the model at" in stderr
    assert "in 3 of 3 files" in stderr
    board = load_leaderboard("board/board.toml")
    assert len(board.tasks) == 2
    (form,) = board.formats
    assert form.id == "own"
    assert bot("check", "runs", "--leaderboard", "board/board.toml")[0] == 0


def test_a_reported_number_that_the_form_does_not_read_is_found_in_the_file(folder: Path) -> None:
    """As in mlfoundations/dclm 361714b: 62.7 is `eval_metrics.icl.mmlu_fewshot`, and a form has the totals alone."""
    for number, (name, (retail, airline)) in enumerate(MODELS.items()):
        parts = {"icl": {"mmlu_fewshot": 0.6267 + number / 10}, "of": [{"x.y": f"{11.37 + number}%"}]}
        file = {"model": name, "retail": retail, "airline": airline, "more": parts}
        (folder / "runs" / f"{number}.json").write_text(json.dumps(file))
    assert bot("init", "board", "--results", "runs", "--table", "README.md")[0] == 0
    for reported, place in (("62.7", "more.icl.mmlu_fewshot"), ("11.37", 'more.of[0]."x.y"')):
        call = ("explain", "runs/0.json", "-l", "board/board.toml", "--reported", reported)
        status, shown, _ = bot(*call)
        assert (status, f"It stands at {place}, which is not read." in shown) == (1, True), shown
        assert json.loads(bot(*call, "-f", "json")[1])["unread"] == [place]
    assert "It stands at" not in bot("explain", "runs/0.json", "-l", "board/board.toml", "--reported", "57.5")[1]


def test_rows_of_one_file_and_files_named_after_their_models_are_read(folder: Path) -> None:
    lines = ["model,task,score", *(f"{name},{task},{value}" for name, values in MODELS.items()
                                   for task, value in zip(("retail", "airline"), values, strict=True))]  # fmt: skip
    (folder / "runs" / "all.csv").write_text("\n".join(lines) + "\n")
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit" in stdout, stderr
    _, stdout, _ = bot("check", "runs", "--leaderboard", "board/board.toml")
    assert stdout.splitlines()[-1] == "3 rows from 1 file: 3 accepted; 0 errors"
    (folder / "runs" / "all.csv").unlink()
    for name, (retail, airline) in MODELS.items():
        (folder / "runs" / f"{name.replace('/', '__')}.json").write_text(
            json.dumps({"retail": retail, "airline": airline})
        )
    _, stdout, stderr = bot("init", "other", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit" in stdout, stderr


def test_without_a_terminal_results_alone_are_enough_for_a_dry_run(folder: Path) -> None:
    for number, (name, values) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(nested(name, *values)))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "results")
    status, _, stderr = bot("init", "ours", "--results", "runs")
    assert status == 0, stderr
    (watch,) = load_settings(folder / "ours" / "bot.toml").watches
    assert (watch.source, [target.to for target in watch.targets]) == ("..", ["./board"])
    status, stdout, stderr = bot("settle", "--config", "ours/bot.toml", "--dry-run")
    assert status == 0, stderr
    assert "3 added, 0 changed, 0 removed" in stdout


def test_results_alone_are_compared_with_each_other(folder: Path) -> None:
    for number, (name, values) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(nested(name, *values)))
    _, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert "the model at who.hf (acme/atlas-7b, acme/borea-1b, other/heron-3b)" in stderr
    assert "scores.{task}.ok" in stderr
    assert bot("score", "runs", "--leaderboard", "board/board.toml")[0] == 0


def test_a_file_that_no_form_reads_is_told_the_command_that_proposes_one(folder: Path) -> None:
    (folder / "runs" / "one.json").write_text(json.dumps(nested("acme/atlas-7b", 1, 2)))
    _, stdout, _ = bot("check", "runs/one.json")
    assert "leaderboard-bot init FOLDER --results" in stdout
    assert "convert" not in stdout.lower()
    places = ("--source", "./runs", "--to", "./target")
    assert bot("init", "board", "--results", "runs/one.json", *places)[0] == 0
    assert bot("check", "runs/one.json", "--leaderboard", "board/board.toml")[0] == 0


def test_the_table_in_the_folder_of_results_is_no_result(folder: Path) -> None:
    for number, (name, (retail, airline)) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(nested(name, retail, airline)))
    rows = [{"model": name, "retail": retail, "airline": airline} for name, (retail, airline) in MODELS.items()]
    (folder / "runs" / "board.json").write_text(json.dumps(rows))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "runs/board.json")
    assert "3 of 3 rows reproduced to the printed digit" in stdout
    assert "the model at who.hf" in stderr
    _, _, alone = bot("init", "other", "--results", "runs/board.json", "--table", "runs/board.json")
    assert "the results are the table itself" in alone


def test_names_of_api_models_are_ids_of_a_board_of_its_own_results(folder: Path) -> None:
    for name, value in (("Opus 5", 0.75), ("openrouter/acme/atlas", 0.5), ("models/acme/borea", 0.25)):
        (folder / "runs" / f"{value}.json").write_text(json.dumps({"model": name, "f1": value}))
    _, _, stderr = bot("init", "board", "--results", "runs")
    assert "names without an organization are ids of this board: models/acme/borea, Opus 5" in stderr
    assert bot("check", "runs", "--leaderboard", "board/board.toml")[0] == 0


def test_names_of_folders_of_weights_are_no_ids_of_the_hub(folder: Path) -> None:
    """As result files call checkpoints of training runs; two of one name keep their folders."""
    named = (("checkpoints/dpo", 0.75), ("outputs/dpo", 0.5), ("/data/models/x", 0.25), ("acme/atlas", 0.125))
    for name, value in named:
        (folder / "runs" / f"{value}.json").write_text(json.dumps({"model": name, "f1": value}))
    assert bot("init", "board", "--results", "runs")[0] == 0
    declared = tomllib.loads((folder / "board" / "board.toml").read_text())
    assert sorted(declared["models"].values()) == ["checkpoints-dpo", "dpo", "x"]
    assert bot("check", "runs", "--leaderboard", "board/board.toml")[0] == 0


def test_a_table_of_which_counts_alone_are_found_makes_no_board(folder: Path) -> None:
    """As a list of models with the number of files of each, among other columns that no file has."""
    lines = ["| Model | Runs |", "| --- | --- |"]
    for name, (runs, _) in zip(MODELS, ((12, 0), (7, 0), (31, 0), (5, 0)), strict=False):
        (folder / "runs" / f"{runs}.json").write_text(json.dumps({"model": name, "runs": runs}))
        lines.append(f"| {name} | {runs} |")
    (folder / "board.md").write_text("\n".join(lines) + "\n")
    status, _, stderr = bot("init", "board", "--results", "runs", "--table", "board.md")
    assert (status, "no board is ranked by counts alone" in stderr) == (2, True), stderr
    assert not (folder / "board").exists()


COUNTED = {"acme/atlas-7b": (7, 12), "acme/borea-1b": (3, 0), "other/heron-3b": (5, 15), "nova/coral-2b": (0, 9)}


@pytest.mark.parametrize("is_rounded", [False, True])
def test_cells_with_counts_alone_are_read_compared_and_written(folder: Path, *, is_rounded: bool) -> None:
    """As tables that show `7/7` and `0/15`: the files have the counts, or shares of three digits."""

    def write(name: str, math: int, code: int) -> None:
        counts = {"math": {"passed": math, "total": 7}, "code": {"passed": code, "total": 15}}
        shares = {key: {"pass_rate": round(one["passed"] / one["total"], 3)} for key, one in counts.items()}
        suites = shares if is_rounded else counts
        (folder / "runs" / f"{name[-3:]}.json").write_text(json.dumps({"model": name, "suites": suites}))

    lines = ["| Model | Math | Code |", "| --- | --- | --- |"]
    for name, (math, code) in COUNTED.items():
        write(name, math, code)
        mark = "**" if code == 15 else ""
        lines.append(f"| {name} | {math}/7 | {mark}{code}/15{mark} |")
    (folder / "README.md").write_text("\n".join([*lines, ""]))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Results")
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "4 of 4 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stdout + stderr
    write("acme/dune-9b", 6, 11)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "One more")
    _, stdout, stderr = bot("settle", "--config", "board/bot.toml", "--dry-run")
    assert "1 added, 0 changed, 0 removed, 4 unchanged" in stdout, stdout + stderr


def test_a_log_of_samples_is_no_file_of_a_form(folder: Path) -> None:
    lines = [{"doc_id": number, "doc": {"level": f"Level {number}"}, "exact_match": 0.5} for number in range(4)]
    (folder / "runs" / "samples_math.jsonl").write_text("\n".join(map(json.dumps, lines)))
    status, _, stderr = bot("leaderboards", "draft", "runs/samples_math.jsonl")
    assert status == 2
    assert "the file is a log of samples" in stderr
    assert "name the result file beside it" in stderr


def test_a_cell_that_is_another_number_of_the_file_says_which(folder: Path) -> None:
    names = [f"model-{number}" for number in range(6)]
    for number, name in enumerate(names):
        file = {
            "name": name,
            "clean": 80.25 + number,
            "robust": 50.5 + number,
            "external": 41.75 if number == 2 else None,
        }
        (folder / "runs" / f"{name}.json").write_text(json.dumps(file))
    rows = [f"| {name} | {80.25 + n} | {41.75 if n == 2 else 50.5 + n} |" for n, name in enumerate(names)]
    (folder / "README.md").write_text("| Model | Clean | Robust |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "model-2, Robust: there 41.75, computed 52.50: another number of its files: score of external" in stdout, (
        stderr
    )


def test_counts_that_the_table_shows_are_taken_and_no_side_file(folder: Path) -> None:
    """Of each file the cost is shown, and a file beside them has another count of few of them."""
    names = {f"tool-{number}": 1200 + 137 * number for number in range(12)}
    for name, tokens in names.items():
        place = folder / "results" / name / "measured.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"status": "measured", "totalTokens": tokens, "toolCount": tokens % 7}))
    side = {"servers": {name: {"full": tokens + (name == "tool-3")} for name, tokens in list(names.items())[:6]}}
    (folder / "results" / "side.json").write_text(json.dumps(side))
    rows = "".join(f"{name},{tokens}\n" for name, tokens in names.items())
    (folder / "board.csv").write_text(f"name,tokens\n{rows}")
    _, stdout, stderr = bot("init", "ours", "--table", "board.csv", "--results", "results")
    assert "12 of 12 rows reproduced to the printed digit, in 1 of 1 column" in stdout, stderr
    assert "not used" not in stderr
    for name in names:
        (folder / "results" / name / "measured.json").write_text(json.dumps({"status": "measured"}))
    folder.joinpath("results", "side.json").write_text(
        json.dumps({"servers": {name: {"full": tokens} for name, tokens in list(names.items())[:5]}})
    )
    _, _, stderr = bot("init", "few", "--table", "board.csv", "--results", "results")
    assert "7 of its 12 rows have no result, and the numbers come from 1 file of 13; not used: " in stderr


def test_results_after_one_option_are_told_the_option_for_each(folder: Path) -> None:
    status, _, stderr = bot("init", "ours", "--results", "a b.json", "c.json", "d.json")
    assert status == 2
    assert "of several results name each so: --results 'a b.json' --results c.json --results d.json" in stderr
    assert not (folder / "ours").exists()


def test_files_with_one_frame_and_other_rows_are_held_against_the_table(folder: Path) -> None:
    """More files list other things below the same keys, and the models stand in two of them, by benchmark."""
    models = {f"model {name}": number for number, name in enumerate(("atlas", "borea", "heron", "ibis"))}
    folder.joinpath("results").mkdir(exist_ok=True)
    for part, least in (("one", 0.5), ("two", 0.6017)):
        found = [
            {"runner": name, "bench": f"{part}-{bench}", "auc": least + 0.0731 * number + 0.0113 * bench}
            for name, number in models.items()
            for bench in (1, 2)
        ]
        (folder / "results" / f"{part}.json").write_text(json.dumps({"version": 1, "made": "", "rows": found}))
    for number in range(4):
        other = [{"runner": name, "set": number, "risk": 0.9, "band": 0.1, "wait": 3} for name in models]
        (folder / "results" / f"a{number}.json").write_text(json.dumps({"version": 1, "made": "", "rows": other}))
    lines = [
        f"| {name} | {0.5 + 0.0731 * number + 0.0113:.3f} | {0.5 + 0.0731 * number + 0.0226:.3f} |"
        for name, number in models.items()
    ]
    (folder / "board.md").write_text("\n".join(["| Model | First | Second |", "|---|---|---|", *lines, ""]))
    _, stdout, stderr = bot("init", "ours", "--table", "board.md", "--results", "results")
    assert "4 of 4 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stderr


def test_where_no_form_gives_a_column_no_more_is_said_than_was_tried(folder: Path) -> None:
    for number, name in enumerate(MODELS):
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": name, "acc": 0.1117 * number + 0.3}))
    (folder / "README.md").write_text(TABLE + "| another | 33.5 | 21.75 |\n")
    status, _, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert status == 2
    assert "Retail, Airline: none of the forms that were tried gives its numbers" in stderr
    assert "; 3 of its 4 rows name a model of the likeliest form (" in stderr


def test_a_workflow_that_writes_the_table_is_said_in_a_line(folder: Path) -> None:
    for number, (name, values) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(texts(name, *values)))
    git(folder, "init", "-q")
    flow = folder / ".github" / "workflows" / "sweep.yml"
    flow.parent.mkdir(parents=True)
    flow.write_text("on: push\njobs:\n  one:\n    steps:\n      - run: git add README.md && git push\n")
    _, _, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "the bot will not write README.md: .github/workflows/sweep.yml names README.md" in stderr
    assert "# hand_edited = true" in (folder / "board" / "bot.toml").read_text()


def test_costs_and_counts_of_a_table_are_columns_that_do_not_count_and_names_with_marks_are_ids(folder: Path) -> None:
    """A mean that no number beside it gives ranks alone; the table is sorted by it, and not by what has ties."""
    rows = [
        {
            "model": f"acme/{name}@effort={effort}",
            "mean": mean,
            "hard": hard,
            "easy": easy,
            "cost_usd": cost,
            "errors": n,
        }
        for name, effort, mean, hard, easy, cost, n in (
            ("atlas", "high", 1.897, 0.5, 0.912, 12.25, 0),
            ("atlas", "low", 1.5, 0.5, 0.803, 3.5, 2),
            ("borea", "high", 1.25, 0.25, 0.801, 7.75, 2),
            ("heron", "none", 0.75, 0.125, 0.704, 0.5, 11),
        )
    ]
    lines = ["model,hard,easy,mean,cost_usd,error_count"]
    lines += [f"{r['model']},{r['hard']},{r['easy']},{r['mean']},{r['cost_usd']},{r['errors']}" for r in rows]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    written = [{("error_count" if key == "errors" else key): value for key, value in row.items()} for row in rows]
    (folder / "runs" / "all.json").write_text(json.dumps({"board": written}))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Results")

    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "table.csv")
    assert "4 of 4 rows reproduced to the printed digit, in 5 of 5 columns" in stdout, stderr
    board = load_leaderboard("board/board.toml")
    assert "the board ranks by mean alone, as the table does: the others do not count" in stderr
    assert {task.id for task in board.tasks} == {"mean"}
    assert {(one.id, one.unit, one.higher_is_better) for one in board.columns if one.id not in {"hard", "easy"}} == {
        ("cost_usd", "$", False),
        ("error_count", "plain", False),
    }
    assert {one.id for one in board.columns} == {"hard", "easy", "cost_usd", "error_count"}
    [watch] = load_settings(Path("board/bot.toml")).watches
    assert watch.targets[0].table is not None
    assert watch.targets[0].table.sorted_by == "mean"

    new = {"model": "other/new@effort=low", "mean": 1.0, "hard": 0.2, "easy": 0.611, "cost_usd": 4.5, "error_count": 7}
    (folder / "runs" / "all.json").write_text(json.dumps({"board": [*written, new]}))
    git(folder, "commit", "-q", "-a", "-m", "One more")
    _, stdout, stderr = bot("settle", "--config", "board/bot.toml", "--dry-run")
    assert "1 added, 0 changed, 0 removed, 4 unchanged" in stdout, stderr
    assert "cost_usd – → 4.5" in stdout
    assert "error_count – → 7" in stdout


def test_numbers_of_which_less_is_better_are_no_scores(folder: Path) -> None:
    """With a table its arrow says so, without one the key."""
    rows = [("acme/atlas-7b", 61.25, 7.31), ("acme/borea-1b", 48.5, 19.84), ("other/heron-3b", 55.75, 123.66)]
    for number, (name, arc, ppl) in enumerate(rows):
        scores = {"arc": arc, "ppl": ppl}
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": name, "scores": scores}))
    lines = "".join(f"| {name} | {arc} | {ppl} |\n" for name, arc, ppl in rows)
    (folder / "README.md").write_text(f"| Model | ARC ↑ | PPL (WikiText-2) ↓ |\n|---|---|---|\n{lines}")
    for place, further in (("with", ("--table", "README.md")), ("without", ("--source", "./runs", "--to", "./target"))):
        status, stdout, stderr = bot("init", place, "--results", "runs", *further)
        assert status == 0, stderr
        board = load_leaderboard(f"{place}/board.toml")
        assert [(task.id, task.unit, task.higher_is_better) for task in board.tasks] == [("arc", "percent", True)]
        assert [(one.id, one.unit, one.higher_is_better) for one in board.columns] == [("ppl", "plain", False)]
        assert "3 of 3 rows reproduced" in stdout or place == "without", (stdout, stderr)
        scores = bot("score", "runs", "--leaderboard", f"{place}/board.toml")[1]
        assert "7.31" in scores
        assert "124" in scores


def test_files_of_two_layouts_get_a_form_each(folder: Path) -> None:
    others = {"other/owl-1b": (22.75, 18.5), "zed/kite-2b": (35.5, 28.25)}
    rows = "".join(f"| {name} | {retail} | {airline} |\n" for name, (retail, airline) in others.items())
    (folder / "README.md").write_text(TABLE + rows)
    for number, (name, values) in enumerate((MODELS | others).items()):
        layout = nested if name in MODELS else texts
        (folder / "runs" / f"{number}.json").write_text(json.dumps(layout(name, *values)))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "5 of 5 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stderr
    assert "another layout: the model at" in stderr
    board = load_leaderboard("board/board.toml")
    assert {form.id for form in board.formats} == {"own", "own-2"} == set(board.harness.formats)
    assert [task.id for task in board.tasks] == ["retail", "airline"]
    status, stdout, _ = bot("check", "runs", "--leaderboard", "board/board.toml")
    assert (status, stdout.splitlines()[-1]) == (0, "5 rows from 5 files: 5 accepted; 0 errors")


def test_files_in_no_format_beside_results_that_are_read_are_named(folder: Path) -> None:
    (folder / "runs" / "own.json").write_text(json.dumps({"model": "acme/atlas-7b", "note": "no number"}))
    (folder / "runs" / "run.json").write_bytes(result())
    status, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert status == 0, stderr
    assert "1 of 2 files in no format that is read: runs/own.json; of these alone `leaderboard-bot init" in stderr


def test_files_of_a_harness_and_of_a_form_are_drafted_as_one_board(folder: Path) -> None:
    for number, model in enumerate(MODELS):
        own = {"model_name": model, "precision": "bf16", "scores": {"retail": 0.5 + number / 10}}
        (folder / "runs" / f"own-{number}.json").write_text(json.dumps(own))
        (folder / "runs" / f"run-{number}.json").write_bytes(result(model))
    status, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert status == 0, stderr
    board = load_leaderboard("board/board.toml")
    assert set(board.harness.formats) == {"lm-eval-0.4", "own"}
    status, stdout, _ = bot("check", "runs", "--leaderboard", "board/board.toml")
    count = len(MODELS)
    assert stdout.splitlines()[-1] == f"{count} rows from {2 * count} files: {count} accepted; 0 errors", stdout


@pytest.mark.parametrize("place", ["", "scores"])
def test_numbers_that_files_of_a_harness_have_too_are_left_out_of_the_form(folder: Path, place: str) -> None:
    """The copies are rounded and have no standard error, and their one number would choose the metric."""
    for number, model in enumerate(MODELS):
        scores = {"retail": 0.5 + number / 10, "sums_plus": 0.41, "logic": 0.7}
        own = {"model": model, **({place: scores} if place else scores)}
        (folder / "runs" / f"own-{number}.json").write_text(json.dumps(own))
        (folder / "runs" / f"run-{number}.json").write_bytes(result(model))
    status, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert status == 0, stderr
    [line] = [line for line in stderr.splitlines() if line.startswith("left out of")]
    assert set(line.partition(": ")[2].split(", ")) == {"sums_plus", "logic"}
    assert "several rows" not in stderr
    board = load_leaderboard("board/board.toml")
    assert [value.leaf for value in board.formats[0].values] == ["retail"]
    assert not any("own" in metric.keys for task in board.tasks for metric in task.metrics if task.id != "retail")
    _, stdout, _ = bot("check", "runs", "--leaderboard", "board/board.toml")
    count = len(MODELS)
    assert stdout.splitlines()[-1] == f"{count} rows from {2 * count} files: {count} accepted; 0 errors", stdout


def test_tasks_that_the_harness_alone_measures_need_no_form(folder: Path) -> None:
    for number, model in enumerate(MODELS):
        own = {"model": model, "retail": 0.5 + number / 10, "sums_plus": 0.41}
        (folder / "runs" / f"own-{number}.json").write_text(json.dumps(own))
        (folder / "runs" / f"run-{number}.json").write_bytes(result(model))
    places = ("--results", "runs", "--source", "./runs", "--to", "./target")
    status, _, stderr = bot("init", "board", *places, "--tasks", "sums_*,logic")
    assert status == 0, stderr
    assert "rejected" not in stderr
    assert load_leaderboard("board/board.toml").formats == ()


def test_what_makes_one_row_of_files_that_do_not_join_is_said_as_it_is_to_be_written(folder: Path) -> None:
    """A file of rows stays whole, so that its copies differ from the harness's numbers."""
    for number, model in enumerate(MODELS):
        runs = [{"task": "sums_plus", "acc": 0.41 + number / 50}, {"task": "retail", "acc": 0.5 + number / 10}]
        rows = [{"model": model, **run} for run in runs]
        (folder / "runs" / f"own-{number}.json").write_text(json.dumps(rows))
        (folder / "runs" / f"run-{number}.json").write_bytes(result(model))
    _, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    start = 'if they are of one model, write precision = "bfloat16" at the top and "acme/atlas-7b" = "acme/atlas-7b@'
    [line] = [line for line in stderr.splitlines() if start in line]
    assert line.endswith('" under [models] of board/board.toml, and so for each model')
    assert "take away the #" not in stderr


@pytest.mark.parametrize("has_counts", [False, True])
def test_of_a_list_of_tasks_those_of_the_harness_are_left_out(folder: Path, *, has_counts: bool) -> None:
    for number, model in enumerate(MODELS):
        runs = [{"task": task, "acc": 0.4 + number / 50} for task in ("sums_plus", "retail", "air line")]
        runs = [{**run, "n": 20 + len(run["task"])} for run in runs] if has_counts else runs
        (folder / "runs" / f"own-{number}.json").write_text(json.dumps({"model": model, "runs": runs}))
        (folder / "runs" / f"run-{number}.json").write_bytes(result(model))
    status, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert (status, "because result files of a harness have them: sums_plus\n" in stderr) == (0, True), stderr
    board = load_leaderboard("board/board.toml")
    assert {"retail", "air line"} <= {leaf.key("own") for task in board.tasks for leaf in task.leaves}
    _, stdout, stderr = bot("check", "runs", "--leaderboard", "board/board.toml")
    assert stdout.splitlines()[-1] == "3 rows from 6 files: 3 accepted; 0 errors", stdout + stderr


def test_own_files_with_nothing_that_a_harness_does_not_measure_need_no_form(folder: Path) -> None:
    for number, model in enumerate(MODELS):
        own = {"model": model, "sums_plus": 0.41, "logic": 0.7 + number / 100}
        (folder / "runs" / f"own-{number}.json").write_text(json.dumps(own))
        (folder / "runs" / f"run-{number}.json").write_bytes(result(model))
    status, _, stderr = bot("init", "board", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert status == 0, stderr
    assert "left out of files of your own" in stderr
    assert load_leaderboard("board/board.toml").formats == ()


def test_means_of_tasks_and_counts_are_columns_beside_them_and_other_layouts_are_left_alone(
    folder: Path,
) -> None:
    rows = {}
    for number, name in enumerate(MODELS):
        own = {"retail": 0.5013 + number / 9, "airline": 0.25 + number / 7, "maze": 0.125 + number / 11}
        parts = {key: {"acc": value, "f1": value / 2 + 0.1} for key, value in own.items()}
        place = folder / "runs" / str(number)
        place.mkdir()
        (place / "summary.json").write_text(json.dumps({"model": name, "parts": parts, "moves": 31 * number + 7}))
        (place / "by_part.csv").write_text("part,acc\n" + "".join(f"{key},{value}\n" for key, value in own.items()))
        rows[name] = (*own.values(), parts["retail"]["f1"], sum(own.values()) / 3, 31 * number + 7)
    heading = "| Model | Retail | Airline | Maze | Retail F1 | Average | Moves |"
    lines = [f"| {name} | " + " | ".join(f"{value:.4f}" if value < 1 else str(value) for value in row) + " |"
             for name, row in rows.items()]  # fmt: skip
    (folder / "README.md").write_text("\n".join([heading, "|---" * 7 + "|", *lines, ""]))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Results")
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit, in 6 of 6 columns" in stdout, stderr
    board = load_leaderboard("board/board.toml")
    assert {task.title for task in board.tasks} == {"Retail", "Airline", "Maze", "Retail F1"}
    assert {(one.title, len(one.leaves), one.unit, one.higher_is_better) for one in board.columns} == {
        ("Average", 3, "fraction", True),
        ("Moves", 1, "plain", True),
    }
    _, stdout, stderr = bot("settle", "--config", "board/bot.toml", "--dry-run")
    assert "unchanged" in stdout, stderr
    assert "rejected" not in stdout


def test_patterns_of_results_are_those_of_the_watch(folder: Path) -> None:
    for number, (name, values) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(texts(name, *values)))
    git(folder, "init", "-q", "-b", "main")
    each = [word for number in range(3) for word in ("--results", f"runs/{number}.json")]
    for place, results in (("quoted", ["--results", "runs/*.json"]), ("named", each)):
        status, _, stderr = bot("init", place, *results)
        assert status == 0, stderr
        assert load_settings(Path(place, "bot.toml")).watches[0].paths == ("runs/*.json",)
    assert "other/*.json: no file matches this pattern" in bot("init", "none", "--results", "other/*.json")[2]


def test_a_path_gets_no_id_that_is_another_models_and_models_of_another_table_are_told(folder: Path) -> None:
    """The last part of a path may be what another file calls its own model."""
    times = {"atlas-7b": 0.511, "host_b/acme/atlas-7b": 0.633, "host_c/models/borea-1b": 1.375, "tiny-1b": 0.257}
    for number, (name, value) in enumerate(times.items()):
        keys = {f"ttft_s_{part}": value * factor for part, factor in (("mean", 1.0), ("p50", 0.9), ("p95", 1.7))}
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": name, **keys}))
    head = "\n\n| Model | Mean | Median | P95 |\n|---|---|---|---|\n"

    def row(name: str) -> str:
        return f"| {name} | {times[name]:.3f} | {times[name] * 0.9:.3f} | {times[name] * 1.7:.3f} |\n"

    large, small = "".join(map(row, [*times][:3])), row("tiny-1b")
    (folder / "README.md").write_text(f"## Large{head}{large}\n## Small{head}{small}")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "results")
    _, stdout, stderr = bot("init", "ours", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit" in stdout, stdout + stderr
    assert "no row here, as `without` says, for 1 model of another table of the file (Small): tiny-1b" in stderr
    _, stdout, stderr = bot("settle", "--config", "ours/bot.toml", "--dry-run")
    assert "0 added, 0 changed, 0 removed, 3 unchanged" in stdout, stdout + stderr
    _, _, stderr = bot("init", "large", "--results", "runs", "--table", "README.md", "--at", "Large")
    assert "for 1 model of another table of the file (Small): tiny-1b" in stderr
    board = load_leaderboard("ours/board.toml")
    assert board.model_names["host_b/acme/atlas-7b"] == "host_b-acme-atlas-7b"
    assert not any(task.higher_is_better for task in board.tasks)
    assert bot("settle", "--config", "ours/bot.toml")[0] == 0  # the state that it keeps has the row of tiny-1b, too
    (folder / "README.md").write_text(f"## Large{head}{large.replace('0.511', '0.999')}\n## Small{head}{small}")
    git(folder, "commit", "-qam", "another number")
    _, stdout, stderr = bot("settle", "--config", "ours/bot.toml", "--dry-run")
    assert "0 added, 1 changed, 0 removed, 2 unchanged" in stdout, stdout + stderr
    assert "; from " in stdout


def test_a_mark_in_brackets_may_be_part_of_a_models_name(folder: Path) -> None:
    for name, value in {"bird-b": 57.5, "bird-b_lt": 46.0, "bird-s": 40.25}.items():
        (folder / "runs" / f"{name}.json").write_text(json.dumps({"retail": value, "airline": value / 2}))
    rows = "| bird-b | 57.50 | 28.75 |\n| bird-b (LT) | 46.00 | 23.00 |\n| bird-s | 40.25 | 20.12 |\n"
    (folder / "README.md").write_text("| Model | Retail | Airline |\n|---|---|---|\n" + rows)
    _, stdout, stderr = bot("init", "ours", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stdout + stderr


def test_a_column_may_be_the_mean_of_the_tasks_that_all_models_have(folder: Path) -> None:
    lines = {"old": range(4), "older": range(4), "new": range(6), "newer": range(6)}
    values = {name: [0.31 + 0.07 * task + 0.013 * len(name) for task in tasks] for name, tasks in lines.items()}
    for name, found in values.items():
        rows = [{"dataset": f"set {task}", "metrics": {"main": value}} for task, value in enumerate(found)]
        (folder / "runs" / f"bird-{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    head = "| Model | set 0 | Mean of 4 sets |\n|---|---|---|\n"
    rows = [f"| bird-{name} | {100 * found[0]:.2f} | {25 * sum(found[:4]):.2f} |\n" for name, found in values.items()]
    (folder / "README.md").write_text(head + "".join(rows))
    _, stdout, stderr = bot("init", "ours", "--results", "runs", "--table", "README.md")
    assert "4 of 4 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stdout + stderr


def test_further_metrics_are_shown_many_tasks_get_groups_and_titles_lose_what_all_share(folder: Path) -> None:
    for number, name in enumerate(MODELS):
        sets = [f"{kind}/set{count}/default/test" for kind in ("search", "sort") for count in range(7)]
        lines = [
            {"model": name, "dataset": one, "ndcg": 0.5 + place / 100 + number / 10, "recall": 0.25 + number / 10}
            for place, one in enumerate(sets)
        ]
        (folder / "runs" / f"{number}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    status, _, stderr = bot("init", "ours", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert status == 0, stderr
    board = load_leaderboard("ours/board.toml")
    assert {task.metrics[0].name for task in board.tasks} == {"ndcg"}
    assert (len(board.tasks), len(board.columns), board.tasks[0].title) == (14, 12, "search/set0")
    assert {group: len(tasks) for group, tasks in board.groups.items()} == {"search": 7, "sort": 7}
    assert "# 2 more numbers that do not count: " in (folder / "ours" / "board.toml").read_text()


def test_errors_alone_are_the_scores_of_a_board_and_better_where_they_are_less(folder: Path) -> None:
    for number, name in enumerate(MODELS):
        rows = [(one, 0.7 + number + place, 0.25 + number) for place, one in enumerate(("taxi", "power"))]
        lines = [f"{name},{one},{error},{other},{other * 3}" for one, error, other in rows]
        (folder / "runs" / f"{number}.csv").write_text("\n".join(["model,dataset,MASE,WQL,ND", *lines]))
    _, _, stderr = bot("init", "ours", "--results", "runs", "--source", "./runs", "--to", "./target")
    board = load_leaderboard("ours/board.toml")
    assert [(task.title, task.metrics[0].name, task.higher_is_better) for task in board.tasks] == [
        ("taxi", "MASE", False),
        ("power", "MASE", False),
    ], stderr
    assert {task.lower_bound for task in board.tasks} == {board.tasks[0].lower_bound}
    assert {column.title for column in board.columns} == {"taxi WQL", "power WQL", "taxi ND", "power ND"}


def test_of_hundreds_of_tasks_those_of_the_outermost_level_are_drafted(folder: Path) -> None:
    for number, name in enumerate(MODELS):
        games = {
            f"game{game}": {
                "score": 40.5 + game + number,
                "levels": {f"level{level}": {"share": 10.5 + level + number} for level in range(30)},
            }
            for game in range(3)
        }
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": name, "games": games}))
    _, _, stderr = bot("init", "ours", "--results", "runs", "--source", "./runs", "--to", "./target")
    assert "93 tasks are more than a table shows: those of the outermost level are drafted" in stderr
    assert [task.title for task in load_leaderboard("ours/board.toml").tasks] == ["game0", "game1", "game2"]


def test_a_model_without_a_value_of_a_column_is_incomplete_in_every_command(folder: Path) -> None:
    for number, (name, (retail, airline)) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(
            json.dumps({"model": name, "retail": retail, "airline": airline})
        )
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "results")
    assert "would be" not in bot("init", "ours", "--results", "runs", "--table", "README.md")[2]
    assert "board: ..: 0 added, 0 changed, 0 removed, 3 unchanged" in bot(
        "settle", "--config", "ours/bot.toml", "--dry-run"
    )[1].replace(folder.name, "..")
    (folder / "runs" / "new.json").write_text(json.dumps({"model": "acme/new-2b", "retail": 12.5}))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "more results")
    assert (
        "1 model of the results would be incomplete, and no row yet: acme/new-2b"
        in bot("init", "more", "--results", "runs", "--table", "README.md")[2]
    )
    _, stdout, stderr = bot("check", "runs", "--leaderboard", "ours/board.toml")
    assert "incomplete" in stdout
    assert "README.md gets no row of acme/new-2b: the row is incomplete: it has no value for Airline" in stderr
    _, stdout, _ = bot("settle", "--config", "ours/bot.toml", "--dry-run")
    assert "the row is incomplete: it has no value for Airline (tasks.airline.score)" in stdout
    assert "0 added, 0 changed, 0 removed, 3 unchanged" in stdout


def test_a_draft_names_the_rows_that_it_does_not_accept(folder: Path) -> None:
    for number, name in enumerate(MODELS):
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": name, "retail": 5.5, "airline": 7.5}))
    (folder / "runs" / "new.json").write_text(json.dumps({"model": "acme/new-2b", "retail": 12.5}))
    _, stdout, stderr = bot("leaderboards", "draft", "runs")
    assert "[[formats]]" in stdout
    assert "the draft: 4 rows from 4 results: 3 accepted, 1 incomplete; most often missing-task" in stderr


def test_only_the_numbers_that_the_table_shows_stay_in_the_form(folder: Path) -> None:
    games = {f"{game}{number}": (game, name) for game in "xy" for number, name in enumerate([*MODELS, *"abcdefgh"] * 2)}
    for path, (game, name) in games.items():
        retail, airline = MODELS.get(name, (1.5, 2.5)) if game == "y" else (7.5, 8.5)
        scores = {"scores": {"retail": retail, "airline": airline}, "extra": {"quality": 99.5}}
        (folder / "runs" / f"{path}.json").write_text(json.dumps({"llm": name, "game": game, **scores}))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit" in stdout, stderr
    (form,) = load_leaderboard("board/board.toml").formats
    assert {value.value for value in form.values} == {"scores.{task}"}


def test_a_value_that_misreads_most_files_is_left_out_of_the_form(folder: Path) -> None:
    for number, (name, values) in enumerate(MODELS.items()):
        (folder / "runs" / f"{number}.json").write_text(json.dumps(texts(name, *values)))
    places = find_places(["runs"], read_access())
    form = next(draft_forms({place.name: Path(place.name).read_bytes() for place in places}))
    wrong = [
        DraftedValue({"value": at, "leaf": leaf, "unit": "percent"})
        for at, leaf in (("notes", "a note"), ("retail", "{..name} b"))
    ]
    found, _ = read_by(replace(form, values=(*form.values, *wrong)), places)
    assert found.form == form
    assert not any(one.result.misread for one in found.read if one.result)


def test_of_several_runs_of_a_row_it_is_said_which_counts_and_no_row_is_left_unsaid(folder: Path) -> None:
    turns = dict(zip(MODELS, (12.5, 7.25, 9.75), strict=True))
    table = [f"{line} {turns.get(line[2:].partition(' ')[0], 'Turns')} |" for line in TABLE.splitlines()]
    (folder / "README.md").write_text("\n".join(line.replace("|---| Turns", "|---|---") for line in table) + "\n")
    runs = {f"{name[-2:]}/{name[-4]}.json": {**texts(name, *xy), "turns": turns[name]} for name, xy in MODELS.items()}  # type: ignore[dict-item]
    first = {**runs["7b/s.json"], "retail": "51.5%", "airline": "44.5%", "turns": 8.5, "temperature": 0.7}
    tried = (first | {"notes": f"fine {pad}"} for pad in range(100))
    older = sha256(json.dumps(runs["7b/s.json"]).encode()).hexdigest()
    runs["7b/z.json"] = next(one for one in tried if sha256(json.dumps(one).encode()).hexdigest() > older)
    runs["3b/z.json"] = {**runs["3b/n.json"], "retail": "60.25%"}
    for path, run in runs.items():
        (folder / "runs" / path).parent.mkdir(exist_ok=True)
        (folder / "runs" / path).write_text(json.dumps(run))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "1 of 2 rows reproduced to the printed digit, in 3 of 3 columns" in stdout, stderr
    assert stdout.count("another file: runs/7b/s.json") == 3
    assert stdout.count("write those that the table does not show") == 1
    assert "their results are rejected: other/heron-3b: " in stdout
    assert "of several files of acme/atlas-7b counts runs/7b/z.json, whose digest is larger" in stdout
    (folder / "runs/3b/z.json").unlink()
    (folder / "runs/7b/z.json").write_text(json.dumps({**runs["7b/s.json"], "notes": "the same again"}))
    _, stdout, stderr = bot("init", "again", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit, in 3 of 3 columns" in stdout, stderr
    assert "write those that the table does not show" not in stdout


@pytest.mark.parametrize("others", [0, 1])
def test_what_a_run_was_asked_is_a_column_fewer_turns_are_a_todo_and_a_provider_is_no_part_of_a_model(
    others: int, folder: Path
) -> None:
    games = dict(zip(MODELS, (50, 25, 100), strict=True))
    lines = [
        f"| openrouter/{name} | {games[name]} | {retail} | {airline / 4} |"
        for name, (retail, airline) in MODELS.items()
    ]
    (folder / "README.md").write_text(
        "\n".join(["| Model | Games | Retail | Avg Turns |", "|---|---|---|---|", *lines, ""])
    )
    for number, (name, (retail, airline)) in enumerate([*MODELS.items(), ("acme/crane-1b", (70.5, 8.0))]):
        metrics = {"retail": retail, "avg_turns": airline / 4}
        run = {"llm": f"openrouter/{name}", "config": {"bench": {"num_games": games.get(name, 10)}}, "metrics": metrics}
        other = {
            **run,
            "game": "b",
            "config": {"bench": {"num_games": 7}},
            "metrics": {"retail": 9.5, "avg_turns": 3.5},
        }
        for game, one in [("a", run | {"game": "a"}), ("b", other)][: 1 + others]:
            (folder / "runs" / f"{number}{game}.json").write_text(json.dumps(one))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit, in 3 of 3 columns" in stdout, stderr
    assert f"Model = model.id, Games = columns.{'a_' * others}num_games.value" in stderr
    assert "1 model of the results would be a new row: acme/crane-1b" in stderr
    text = (folder / "board" / "board.toml").read_text()
    asked = "higher_is_better = false, if less is better" if others else "whether fewer is better, as is drafted"
    assert f"# TODO: {asked}: neither its name nor the table tells" in text
    assert bot("check", "runs", "--leaderboard", "board/board.toml")[0] == 0


def test_what_takes_long_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    said = ""
    with told_if_slow("reading 9 files", 0.0):
        while "reading" not in said:
            said += capsys.readouterr().err
    assert said == "reading 9 files …\n"


def test_words_of_failures_are_gaps_that_no_new_row_gets(folder: Path) -> None:
    """As LEADERBOARD.md of Infatoshi/KernelBench-Hard `649cfb9`."""
    models = {**MODELS, "other/ibis-3b": (None, 8.5), "acme/crane-1b": (22.5, 9.25)}
    rows = [{"model": name, "retail": retail, "airline": airline} for name, (retail, airline) in models.items()]
    (folder / "runs" / "all.json").write_text(json.dumps(rows))
    lines = [f"| {name} | {retail or 'FAIL'} | {airline} |" for name, (retail, airline) in models.items()]
    (folder / "README.md").write_text("\n".join(["| Model | Retail | Airline |", "|---|---|---|", *lines, ""]))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "in 2 of 2 columns" in stdout, stderr
    assert "3 of 3 columns mapped" in stderr
    assert "missing" not in (folder / "board" / "bot.toml").read_text()


def test_a_model_that_a_row_names_whole_is_not_that_of_a_row_of_another_service(folder: Path) -> None:
    """As ray-project/llmperf-leaderboard `27aa9b6`: one model of three services, one of which adds a version."""
    served = {"atlas-7b-chat": "atlas-7b-chat", "acme/atlas-7b-chat": f"acme/atlas-7b-chat:{'0f' * 16}"}
    served |= {"together_ai/acmeai/atlas-7b-chat": "together_ai/acmeai/atlas-7b-chat", "acme/heron-3b": "acme/heron-3b"}
    lines = []
    for number, (name, model) in enumerate(served.items()):
        values = {key: round(17.3 * (number + 2) / place, 2) for place, key in enumerate(("retail", "airline"), 1)}
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": model, **values}))
        lines.append(f"| {name} | {values['retail']} | {values['airline']} |")
    (folder / "README.md").write_text("\n".join(["| Model | Retail | Airline |", "|---|---|---|", *lines, ""]))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "4 of 4 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stderr
    assert f"acme/atlas-7b-chat = {served['acme/atlas-7b-chat']}" in stderr


def test_a_heading_that_is_the_metric_of_several_tasks_that_fit_shows_none_of_them(folder: Path) -> None:
    """The column `Scenario` is taken for the task of the others, and no model has both."""
    rows = [("a", "sea", 40.25, 31.5), ("b", "sea", 50.75, 22.25), ("c", "air", 61.5, 47.75), ("d", "air", 72.25, 18.5)]
    lines = ["Model,Scenario,Hybrid,Physics", *(f"acme/{name}-7b,{rest},{x},{y}" for name, rest, x, y in rows)]
    (folder / "runs" / "top.csv").write_text("\n".join([*lines, ""]))
    table = [f"| acme/{name}-7b | {rest} | {x} | {y} |" for name, rest, x, y in rows]
    (folder / "README.md").write_text(
        "\n".join(["| Model | Scenario | Hybrid | Physics |", "|---|---|---|---|", *table])
    )
    _, _, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "Physics of sea_Physics and Physics of air_Physics give its numbers equally well" in stderr


def test_only_the_numbers_of_the_named_tasks_stay_in_the_form_and_a_doubt_of_several_stands_once(folder: Path) -> None:
    """Like jang1563/SpaceOmicsBench `9720e4e`: points from 1 to 5, in a table under headings such as Hard."""
    for number, name in enumerate(MODELS):
        means = {f"avg_{one}": 3.25 + number / 4 + place / 8 for place, one in enumerate(("easy", "med", "hard"))}
        means["n_scored"] = 8
        (folder / "runs" / f"{number}.json").write_text(json.dumps({"model": name, "means": means}))
    rows = [f"| {name} | {3.25 + at / 4} | {3.375 + at / 4} | {3.5 + at / 4} |" for at, name in enumerate(MODELS)]
    (folder / "README.md").write_text("\n".join(["| Model | Easy | Med | Hard |", "|---|---|---|---|", *rows, ""]))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "3 of 3 rows reproduced to the printed digit, in 3 of 3 columns" in stdout, stderr
    assert "Hard = tasks.avg_hard" in stderr
    declared = Path("board/board.toml").read_text()
    assert declared.count("whether these are percentages") == 1
    assert "# TODO of means.avg_easy, means.avg_med, means.avg_hard: whether these are percentages" in declared
    assert "[[harness.accepted]]" not in declared  # no file says of which harness it is
    assert bot("init", "few", "--results", "runs", "--tasks", "avg_hard")[0] == 0
    board = load_leaderboard("few/board.toml")
    assert [task.id for task in board.tasks] == ["avg_hard"]
    assert Path("few/board.toml").read_text().count("[[formats.values]]") == 1


def test_numbers_of_a_sheet_tell_no_tasks_apart(folder: Path) -> None:
    """Like maferrag/AgentDrive `6d361d1`: a task is called Scenario, and each number in a CSV file is a text."""
    values = {
        "acme/atlas": (57.5, 46.0),
        "acme/borea": (40.25, 12.5),
        "acme/cygnus": (61.0, 46.0),
        "o/heron": (50, 12.5),
    }
    rows = [f"{name},{retail},{airline}" for name, (retail, airline) in values.items()]
    (folder / "runs" / "all.csv").write_text("\n".join(["Model,Retail,Scenario", *rows, ""]))
    lines = [f"| {row.replace(',', ' | ')} |" for row in rows]
    (folder / "README.md").write_text("\n".join(["| Model | Retail | Scenario |", "|---|---|---|", *lines, ""]))
    _, stdout, stderr = bot("init", "board", "--results", "runs", "--table", "README.md")
    assert "4 of 4 rows reproduced to the printed digit, in 2 of 2 columns" in stdout, stderr


def test_files_of_one_question_each_make_one_task_which_is_their_mean(folder: Path) -> None:
    for place, name in enumerate(("atlas", "borea", "heron")):
        for number in range(70):
            file = folder / "runs" / name / f"q{number}.json"
            file.parent.mkdir(exist_ok=True)
            answer = {"model": name, "task_id": f"T{number}", "overall_score": (number + place) / 80}
            file.write_text(json.dumps(answer | {"result": {"depth": 0.5}}))
    _, _, stderr = bot("init", "ours", "--results", "runs")
    assert "are more than a table shows: they are drafted as one, the mean of 70 at overall_score" in stderr
    stdout = bot("check", "runs", "-l", "ours/board.toml")[1]
    assert "45.63  70/70  heron" in stdout  # 36.5 of 80
