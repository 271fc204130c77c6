"""Which rows and numbers of a table are whose: means that the files give, second numbers, and the first rows alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tomlkit

from tests.command import bot
from tests.world.local_git import git

NAMES = ("wren", "ibis", "crane", "heron", "egret", "stork", "grebe", "teal", "smew", "scaup")


def init(folder: Path, table: str, *results: Any) -> tuple[str, Any]:
    """Adopt a table from files of results; what was said, and the settings of the table."""
    (folder / "results").mkdir(exist_ok=True)
    for number, one in enumerate(results):
        (folder / "results" / ("all.json" if len(results) == 1 else f"{number}.json")).write_text(json.dumps(one))
    (folder / "board.md").write_text(table)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "A board")
    status, out, err = bot("init", folder / "ours", "--table", folder / "board.md", "--results", folder / "results")
    assert status == 0, out + err
    settings = tomlkit.parse((folder / "ours" / "bot.toml").read_text()).unwrap()
    return out + err, settings["watches"][0]["targets"][0]["table"]


def lines(head: str, rows: list[list[Any]]) -> str:
    cells = [[one.strip() for one in head.split("|")], ["---"] * len(head.split("|")), *rows]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in cells)


def test_a_number_of_the_files_that_gives_every_row_is_no_mean_that_gives_fewer(tmp_path: Path) -> None:
    """Like README.md of run-llama/ParseBench, where one right cell would have changed."""
    results = [
        {"model": name, "overall": round((one + two) / 2, 2), "tables": one, "charts": two}
        for name, one, two in [("wren", 71.24, 63.18), ("ibis", 66.02, 59.4), ("crane", 58.36, 61.3)]
    ]
    results[1]["overall"] = 62.72  # of more digits than the file has
    rows = [[one["model"], one["overall"], one["tables"], one["charts"]] for one in results]
    said, table = init(tmp_path, lines("Model | Overall | Tables | Charts", rows), results)
    assert "3 of 3 rows reproduced to the printed digit, in 3 of 3 columns" in said
    assert table["columns"]["Overall"]["value"] == "tasks.overall.score"
    assert "the board ranks by Overall alone, as the table does" in said


def test_a_mean_that_gives_every_row_stays_the_mean(tmp_path: Path) -> None:
    results = [
        {"model": name, "overall": (one + two) / 2, "tables": one, "charts": two}
        for name, one, two in [("wren", 71.24, 63.18), ("ibis", 66.02, 59.4), ("crane", 58.36, 61.3)]
    ]
    rows = [[one["model"], f"{one['overall']:.2f}", one["tables"], one["charts"]] for one in results]
    _, table = init(tmp_path, lines("Model | Overall | Tables | Charts", rows), results)
    assert table["columns"]["Overall"]["value"] == "average"


def test_of_two_columns_near_one_number_the_one_with_other_cells_is_another_number(tmp_path: Path) -> None:
    """Like leaderboard.csv of Cohere-Labs-Community/iol-ai-2026-results: `score_of_best_run` beside `score`."""
    scores = [19.79, 18.85, 18.19, 17.91, 16.73, 16.72, 16.51, 15.85, 15.12, 14.67]
    results = [{"model": name, "score": score} for name, score in zip(NAMES, scores, strict=True)]
    best = [score + (2.31 if score in {16.51, 15.12} else 0) for score in scores]
    rows = [[name, *cells] for name, *cells in zip(NAMES, scores, best, strict=True)]
    said, table = init(tmp_path, lines("Model | Score | Best run", rows), results)
    assert "10 of 10 rows reproduced to the printed digit, in 1 of 2 columns" in said
    assert list(table["columns"]) == ["Model", "Score"]


def test_a_table_of_the_first_rows_keeps_to_them(tmp_path: Path) -> None:
    """Like README.md of run-llama/ParseBench: ten rows of 85."""
    results = [{"model": name, "score": 90.5 - 3.25 * place} for place, name in enumerate(NAMES)]
    rows = [[one["model"], one["score"]] for one in results[:5]]
    said, table = init(tmp_path, "## Top 5\n\n" + lines("Model | Score", rows), results)
    assert (table["first"], table["sorted_by"], "without" in table) == (5, "Score", False)
    assert "the table shows the first 5 rows by Score, as `first` says: 5 models below these get no row" in said
    settle = ("settle", "--config", tmp_path / "ours" / "bot.toml", "--dry-run")
    _, out, err = bot(*settle)
    assert "0 added, 0 changed, 0 removed, 5 unchanged" in out, out + err
    more = [{"model": "gull", "score": 89.0}, {"model": "tern", "score": 3.5}]
    (tmp_path / "results" / "all.json").write_text(json.dumps([*results, *more]))
    git(tmp_path, "commit", "-qam", "Two more")
    _, out, err = bot(*settle)
    assert "1 added, 0 changed, 0 removed, 5 unchanged" in out, out + err
    _, out, err = bot(*settle[:-1])
    assert "6 accepted: 5 on main, 1 open" in out, out + err
    assert "6 rows below the first ones" in out


def test_a_table_of_all_but_few_rows_is_no_list_of_the_first(tmp_path: Path) -> None:
    results = [{"model": name, "score": 90.5 - 3.25 * place} for place, name in enumerate(NAMES)]
    rows = [[one["model"], one["score"]] for one in results[:8]]
    said, table = init(tmp_path, "## Results\n\n" + lines("Model | Score", rows), results)
    assert "first" not in table
    assert "2 models of the results would be a new row: " in said


def test_a_row_with_all_tasks_that_the_table_refuses_fails_the_check(tmp_path: Path) -> None:
    results: list[dict[str, Any]] = [
        {"model": name, "accuracy": 80.5 - place, "cost_usd": 12.25 + place} for place, name in enumerate(NAMES[:4])
    ]
    rows = [[one["model"], one["accuracy"], one["cost_usd"]] for one in results]
    _, table = init(tmp_path, lines("Model | Accuracy | Cost", rows), results)
    assert table["columns"]["Cost"]["value"] == "columns.cost_usd.value"
    check = ("check", tmp_path / "results", "--leaderboard", tmp_path / "ours" / "board.toml")
    assert bot(*check)[0] == 0
    (tmp_path / "results" / "all.json").write_text(json.dumps([*results, {"model": "gull", "accuracy": 9.5}]))
    status, out, err = bot(*check)
    assert (status, "board.md gets no row of gull" in err) == (1, True), out + err


def test_rows_of_one_name_are_told_apart_by_more_columns(tmp_path: Path) -> None:
    runs = [("wren", "2026-01-03", 71.5), ("wren", "2026-02-14", 74.25), ("ibis", "2026-01-03", 66.0)]
    runs += [("crane", "2026-03-01", 64.5), ("heron", "2026-03-02", 61.5)]
    results = [{"author": name, "date": day, "accuracy": score} for name, day, score in runs]
    _, table = init(tmp_path, lines("Author | Date | Accuracy", [list(run) for run in runs]), *results)
    assert table["key"] == ["Author", "Date"]


def test_rows_of_one_name_that_nothing_tells_apart_are_said(tmp_path: Path) -> None:
    runs = [("wren", "one", 71.5), ("wren", "two", 74.25), ("ibis", "one", 66.0), ("crane", "one", 64.5)]
    results = [{"author": name, "run": run, "accuracy": score} for name, run, score in runs]
    said, table = init(tmp_path, lines("Author | Run | Accuracy", [list(run) for run in runs]), results)
    assert table["key"] == ["Author"]
    assert "TODO 2 rows share a name in Author (wren), and are not written" in said


def test_numbers_with_a_unit_written_to_them_are_numbers(tmp_path: Path) -> None:
    """Like README.md of run-llama/ParseBench (`1.25¢`) and LEADERBOARD.md of aleclindz/seo-skill-bench (`779s`)."""
    results = [
        {"model": name, "accuracy": 80.5 - place, "latency": 779.0 - 41 * place, "cost_usd": 1.25 + place}
        for place, name in enumerate(NAMES[:5])
    ]
    rows = [
        [one["model"], one["accuracy"], f"{one['latency']:.0f}s", f"{one['cost_usd']:.2f}¢"]  # as boards write them
        for one in results
    ]
    said, table = init(tmp_path, lines("Model | Accuracy | Median latency | Cost", rows), results)
    assert "5 of 5 rows reproduced to the printed digit, in 3 of 3 columns" in said
    assert table["columns"]["Median latency"]["template"] == "{value}s"
    assert table["columns"]["Cost"]["template"] == "{value}¢"


def of_many_files(folder: Path, name: str, **keys: str) -> tuple[int, str]:
    """Adopt a table of means over four files of each model, with these keys in each."""
    rows = []
    for place, model in enumerate(NAMES[:5]):
        scores = [(37 * place + 11 * number) % 100 / 100 for number in range(4)]
        for number, score in enumerate(scores):
            path = folder / "results" / model / name.format(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            own = {key: text.format(number) for key, text in keys.items()}
            whole = {key: int(text) if text.isdecimal() else text for key, text in own.items()}
            path.write_text(json.dumps({"model": model, "accuracy": score, **whole}))
        rows.append([model, f"{25 * sum(scores):.2f}"])
    (folder / "board.md").write_text(lines("Model | Accuracy", rows))
    status, out, err = bot("init", folder / "ours", "--table", folder / "board.md", "--results", folder / "results")
    return status, out + err


def test_a_mean_over_seeds_is_the_mean_of_a_leaf_for_each(tmp_path: Path) -> None:
    status, said = of_many_files(tmp_path, "2026-02-0{}T10-11-22.json", seed="{}")
    assert (status, "5 of 5 rows reproduced to the printed digit, in 1 of 1 column" in said) == (0, True), said
    assert 'leaf = "{.seed}"' in (tmp_path / "ours" / "board.toml").read_text()


def test_a_mean_over_runs_that_nothing_names_is_said(tmp_path: Path) -> None:
    status, said = of_many_files(tmp_path, "2026-02-0{}T10-11-22.json", timestamp="2026-02-0{}T10:11:22")
    assert (status, "it is the mean of score of accuracy over the files of each model" in said) == (2, True), said
