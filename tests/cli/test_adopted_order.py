"""A table's own order stays: the board ranks by the column that ranks its rows, and less is better where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.evaluation.leaderboard import load_leaderboard
from tests.command import bot
from tests.world.local_git import git

SIGN = "\N{PLUS-MINUS SIGN}"
SUMMARY = {
    "wren": {"mean": 2.51, "median": 1.96, "most": 12.24},
    "ibis": {"mean": 3.16, "median": 2.95, "most": 16.36},
    "crane": {"mean": 3.33, "median": 3.14, "most": 16.36},
    "heron": {"mean": 24.63, "median": 25.47, "most": 100.0},
}


def init(folder: Path, table: str, results: dict[str, Any]) -> tuple[int, str, str]:
    (folder / "results").mkdir()
    for name, data in results.items():
        (folder / "results" / f"{name}.json").write_text(json.dumps(data))
    (folder / "board.md").write_text(table)
    return bot("init", folder / "ours", "--table", folder / "board.md", "--results", folder / "results")


def test_rows_in_ascending_order_are_ranked_by_the_column_of_which_less_is_better(tmp_path: Path) -> None:
    """Like README.md of kenimo49/ai-blue-color-bias: the board was the table turned round."""
    lines = [f"| {name} | {one['mean']} | {one['median']} |" for name, one in SUMMARY.items()]
    table = "\n".join(["| Model | Mean ΔE | Median |", "|---|---|---|", *lines, ""])
    status, out, err = init(tmp_path, table, {"summary": {"summary": SUMMARY}})
    assert (status, "4 of 4 rows reproduced to the printed digit" in out) == (0, True), out + err
    assert "the board ranks by Mean ΔE alone, as the table does" in err
    board = load_leaderboard(str(tmp_path / "ours" / "board.toml"))
    assert [(one.title, one.higher_is_better) for one in board.tasks] == [("Mean ΔE", False)]
    assert [(one.title, one.higher_is_better) for one in board.columns] == [("Median", False)]


def test_rows_from_small_models_to_large_ones_say_nothing_of_what_is_better(tmp_path: Path) -> None:
    files = {"wren-1b": (40.5, 31.3), "ibis-3b": (52.3, 44.5), "crane-7b": (61.5, 58.1), "heron-30b": (70.2, 66.4)}
    results = {name: {"model": name, "clean": one, "noisy": two} for name, (one, two) in files.items()}
    lines = [f"| {name} | {one} | {two} |" for name, (one, two) in files.items()]
    table = "\n".join(["| Model | Clean | Noisy |", "|---|---|---|", *lines, ""])
    status, out, err = init(tmp_path, table, results)
    assert (status, "4 of 4 rows reproduced to the printed digit" in out) == (0, True), out + err
    tasks = load_leaderboard(str(tmp_path / "ours" / "board.toml")).tasks
    assert [(one.title, one.higher_is_better) for one in tasks] == [("Clean", True), ("Noisy", True)]
    assert "higher_is_better = false, if less is better" in (tmp_path / "ours" / "board.toml").read_text()


@pytest.mark.parametrize(
    ("heading", "is_more", "todo"),
    [
        ("Wrong%", False, "the worst percentage"),
        ("Refused%", True, "neither its name nor the table tells"),
        ("Right", True, ""),
    ],
)
def test_a_share_is_better_by_what_it_is_a_share_of(tmp_path: Path, heading: str, is_more: bool, todo: str) -> None:
    """Like README.md of mikhailsal/current-date-bench, where 100 % of hallucinations were the best."""
    shares = {"wren": 12.5, "ibis": 37.25, "crane": 4.75, "heron": 81.5}
    key = {"Wrong%": "wrong_pct", "Refused%": "refused_pct", "Right": "accuracy"}[heading]
    lines = [f"| {name} | {one}% |" for name, one in shares.items()]
    table = "\n".join([f"| Model | {heading} |", "|---|---|", *lines, ""])
    status, out, err = init(tmp_path, table, {name: {"model": name, key: one} for name, one in shares.items()})
    assert (status, "4 of 4 rows reproduced to the printed digit" in out) == (0, True), out + err
    [task] = load_leaderboard(str(tmp_path / "ours" / "board.toml")).tasks
    assert task.higher_is_better is is_more
    assert todo in (tmp_path / "ours" / "board.toml").read_text()


def test_the_text_above_a_table_says_what_is_better(tmp_path: Path) -> None:
    """Like results/summary.md of spoiledwit/asr-models: word error rates that only the text calls so."""
    rates = {"wren": (5.32, 11.72), "ibis": (4.91, 6.84), "crane": (7.71, 30.01), "heron": (5.04, 17.81)}
    files = {name: {"model": name, "rtfx": 9.5, "clean": one, "babble": two} for name, (one, two) in rates.items()}
    lines = [f"| {name} | {one:.2f} | {two:.2f} |" for name, (one, two) in rates.items()]
    head = ["# Speech", "", "Values are WER%. Lower is better.", "", "| Model | clean | babble |", "|---|---|---|"]
    status, out, err = init(tmp_path, "\n".join([*head, *lines, ""]), files)
    assert (status, "4 of 4 rows reproduced to the printed digit" in out) == (0, True), out + err
    tasks = load_leaderboard(str(tmp_path / "ours" / "board.toml")).tasks
    assert [(one.title, one.higher_is_better) for one in tasks] == [("clean", False), ("babble", False)]
    assert bot("check", tmp_path / "results", "--leaderboard", tmp_path / "ours" / "board.toml")[0] == 0


def test_a_column_of_few_numbers_is_said_with_what_gives_them(tmp_path: Path) -> None:
    """Like README.md of mikhailsal/current-date-bench: refusals are nearly what is left of wrong answers."""
    counts = {"wren": (92.0, 8.0), "ibis": (100.0, 0.0), "crane": (97.0, 0.0), "heron": (0.0, 0.0)}
    files = {name: {"model": name, "wrong_pct": wrong, "refusal_pct": no} for name, (wrong, no) in counts.items()}
    lines = [f"| {name} | {no:.0f}% | {wrong:.0f}% | {no / 10:.1f}/10 |" for name, (wrong, no) in counts.items()]
    table = "\n".join(["| Model | Honest% | Hallucination% | Grade |", "|---|---|---|---|", *lines, ""])
    status, out, err = init(tmp_path, table, files)
    assert (status, "4 of 4 rows reproduced to the printed digit, in 1 of 2 columns" in out) == (0, True), out + err
    assert "TODO Honest%: score of refusal_pct gives its numbers in 4 of 4 rows, which may be chance" in err
    assert "TODO Grade: '0.8/10' is among its cells, and is no plain number" in err


def test_a_number_below_0_that_only_a_further_file_has_is_in_the_drafted_range(tmp_path: Path) -> None:
    """Like results/gpt-4.1.json of ztsalexey/epoch-bench: rejected, although its row is in the table."""
    gains = {"wren": (0.41, 0.82), "ibis": (0.2, 0.91), "crane": (0.37, 0.53), "heron": (-0.12, 0.6)}
    files = {name: {"model": name, "scores": {"gain": one, "logic": two}} for name, (one, two) in gains.items()}
    lines = [f"| {name} | {one} | {two} |" for name, (one, two) in list(gains.items())[:3]]
    table = "\n".join(["| Model | gain | logic |", "|---|---|---|", *lines, ""])
    status, out, err = init(tmp_path, table, files)
    assert (status, "3 of 3 rows reproduced to the printed digit" in out) == (0, True), out + err
    assert "TODO: which task ranks the rows, or all: the average is the bot's own" in err
    assert bot("check", tmp_path / "results", "--leaderboard", tmp_path / "ours" / "board.toml")[0] == 0


@pytest.mark.parametrize("title", ["mean", "Score"])
def test_a_score_that_is_the_mean_of_the_columns_beside_it_is_the_average(tmp_path: Path, title: str) -> None:
    """The files have it, too: the columns beside it stay tasks."""
    files = {"wren": (80.5, 70.3), "ibis": (75.3, 60.5), "crane": (61.5, 62.0), "heron": (50.0, 40.0)}
    scores = {
        name: {"easy": one, "hard": two, title.lower(): round((one + two) / 2, 2)} for name, (one, two) in files.items()
    }
    lines = [f"| {name} | {' | '.join(map(str, one.values()))} |" for name, one in scores.items()]
    table = "\n".join([f"| Model | easy | hard | {title} |", "|---|---|---|---|", *lines, ""])
    status, out, err = init(tmp_path, table, {name: {"model": name, **one} for name, one in scores.items()})
    assert (status, "4 of 4 rows reproduced to the printed digit, in 3 of 3 columns" in out) == (0, True), out + err
    assert "alone" not in err
    assert {one.id for one in load_leaderboard(str(tmp_path / "ours" / "board.toml")).tasks} == {"easy", "hard"}


def test_a_column_whose_numbers_say_how_far_they_may_be_off_is_sorted_by_and_written_as_one_number(
    tmp_path: Path,
) -> None:
    scores = {"wren": (60.5, 44.25), "ibis": (51.5, 48.5), "crane": (41.25, 39.0), "heron": (22.75, 36.5)}
    results = {name: {"model": name, "accuracy": one, "f1": two, "runs": 3} for name, (one, two) in scores.items()}
    git(tmp_path, "init", "-q", "-b", "main")
    lines = [
        f"| {name} | {one:.2f} | {two} (±1.5) | 3 | {(one + two) / 2:.2f} ±1.1 |" for name, (one, two) in scores.items()
    ]
    head = ["| Model | Accuracy | F1 | Runs | Avg (95% CI) |", "|---|---|---|---|---|"]
    status, out, err = init(tmp_path, "\n".join([*head, *lines, ""]), results)
    assert (status, "4 of 4 rows reproduced to the printed digit, in 4 of 4 columns" in out) == (0, True), out + err
    assert "Runs = columns.runs.value, Avg (95% CI) = average" in err  # few numbers, and a heading that names them
    settings = tmp_path / "ours" / "bot.toml"
    assert 'sorted_by = "Avg (95% CI)"' in settings.read_text()
    (tmp_path / "results" / "tern.json").write_text(json.dumps({**results["ibis"], "model": "tern", "accuracy": 52.0}))
    git(tmp_path, "add", "results", "board.md")
    git(tmp_path, "commit", "-qm", "results")
    status, out, err = bot("settle", "--config", settings)
    assert (status, "5 accepted: 4 on main, 1 open" in out) == (0, True), out + err
    branch = "leaderboard-bot/rolling/board"
    after = git(tmp_path, "show", f"{branch}:board.md").splitlines()
    assert after[3:5] == ["| tern | 52.00 | 48.50 | 3 | 50.25 |", lines[1]]
    said = f"has numbers such as `52.38 {SIGN}1.1`; the bot writes the first one alone: `tern`."
    assert said in git(tmp_path, "log", "-1", "--format=%B", branch)


def test_a_row_for_each_model_and_task_is_said_with_what_to_do(tmp_path: Path) -> None:
    scores = {"wren": (60.5, 44.25), "ibis": (51.5, 48.5), "crane": (41.25, 39.0)}
    results = {name: {"model": name, "scores": {"plan": one, "act": two}} for name, (one, two) in scores.items()}
    lines = [f"| {name} | {task} | {value} |" for name, one in results.items() for task, value in one["scores"].items()]
    status, _, err = init(tmp_path, "\n".join(["| Model | Task | Score |", "|---|---|---|", *lines, ""]), results)
    said = (
        "its rows are of one model and one Task each: make it a table with a row for each model and a column for each"
    )
    assert (status, said in err) == (2, True), err


def test_an_object_in_a_table_of_several_sets_names_no_task(tmp_path: Path) -> None:
    scores = {"wren": (60.5, 44.25), "ibis": (51.5, 48.5), "crane": (41.25, 39.0)}
    (tmp_path / "results").mkdir()
    for name, (one, two) in scores.items():
        file = {"model": name, "scores": {"plan": one, "act": two}}
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(file))
    rows = [
        {"model": name, "set": number, "parts": {"plan": {"n": number}, "act": one + number}}
        for name, (one, _) in scores.items()
        for number in (1, 2)
    ]
    (tmp_path / "board.json").write_text(json.dumps(rows))
    call = ("--table", tmp_path / "board.json", "--results", tmp_path / "results")
    status, _, err = bot("init", tmp_path / "ours", *call)
    assert (status, "make it a table with a row for each model" in err) == (2, False), err


def test_names_that_begin_alike_are_made_by_the_form_and_columns_of_equal_numbers_are_proposed(tmp_path: Path) -> None:
    """Like leaderboard.csv of an olympiad, which calls each team by its folder: a new one needed a line."""
    scores = {"01_wren": 41.25, "02_ibis": 33.5, "03_crane": 27.75, "04_heron": 19.5}
    for name, score in scores.items():
        (tmp_path / "submissions" / name).mkdir(parents=True)
        data = {"score": score, "runs_evaluated": 15, "breach_rate": 0.0, "split": "test"}
        (tmp_path / "submissions" / name / "metrics.json").write_text(json.dumps(data))
    lines = [f"submissions/{name},{score},15,0.0000" for name, score in scores.items()]
    (tmp_path / "board.csv").write_text("\n".join(["record,score,Runs,Breaches rate found", *lines, ""]))
    table = ("--table", tmp_path / "board.csv", "--results", tmp_path / "submissions")
    status, out, err = bot("init", tmp_path / "ours", *table)
    assert (status, "4 of 4 rows reproduced to the printed digit" in out) == (0, True), out + err
    board = load_leaderboard(str(tmp_path / "ours" / "board.toml"))
    assert not board.models
    assert [form.model for form in board.formats] == ["submissions/{model}"]
    settings = (tmp_path / "ours" / "bot.toml").read_text()
    assert '# Runs = { value = "columns.runs_evaluated.value", decimals = 0 }' in settings
    assert 'record = "model.id"' in settings
    judged = bot("check", tmp_path / "submissions" / "01_wren", "--leaderboard", tmp_path / "ours" / "board.toml")[1]
    assert "accepted  submissions/01_wren" in judged
