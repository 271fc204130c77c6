"""Adopting a table that exists: each format, from the table and the result files to the one cell that is wrong."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import CallError
from bot.evaluation.leaderboard import load_leaderboard
from bot.publishing.tables.mapping import TableOptions
from bot.service.settings.config import load_settings
from tests.command import bot
from tests.evaluation.judging import KESTREL
from tests.platforms.git.test_source import Folder
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result

MODELS = {"acme/atlas-7b": (50, 61, 72), "acme/lynx-1b": (31, 44, 53), "zoo/heron-3b": (48, 57, 69)}
WRONG = "zoo/heron-3b"  # its mean is not that of its columns: 58.1 and not 58
MEAN = {model: sum(right) / 3 for model, right in MODELS.items()} | {WRONG: 58.1}
COLUMNS = ("sums plus", "sums times", "logic")
TASKS = ("sums_plus", "sums_times", "logic")


def rows(spelled: str = "{:.0f}", mean: str = "{:.1f}") -> list[dict[str, str]]:
    """The rows of the table as texts."""
    return [
        {"Model": model, **dict(zip(COLUMNS, map(spelled.format, right), strict=True)), "Avg": mean.format(MEAN[model])}
        for model, right in MODELS.items()
    ]


def numbers() -> list[dict[str, Any]]:
    return [{key: value if key == "Model" else float(value) for key, value in row.items()} for row in rows()]


def markdown() -> str:
    lines = ["# Our board", "", "| # | Model | sums plus | sums times | logic | Avg |", "|---|---|---|---|---|---|"]
    for place, row in enumerate(rows("{:.0f} %"), start=1):
        name = row["Model"].partition("/")[2]
        link = f"[{name}](https://huggingface.co/{row['Model']})"
        lines.append("| " + " | ".join([str(place), link, *(row[key] for key in (*COLUMNS, "Avg"))]) + " |")
    return "\n".join([*lines, "", "| other | table |", "|---|---|", "| 1 | 2 |", ""])


def sections() -> str:
    """Like README.md of haonan-li/CMMLU `d6e7b716`, a line between rows; here the names have no heading, too."""
    rule = "|---|---|---|---|---|---|\n"
    return markdown().replace("| Model |", "| |", 1).replace(rule, f"{rule}| Open models |\n", 1)


def commas() -> str:
    lines = [";".join(["Model", *COLUMNS, "Avg", "Licence"])]
    for row in rows("{:.1f}", "{:.2f}"):
        name = row["Model"].partition("/")[2].replace("-", " ").title()
        lines.append(";".join([name, *(row[key].replace(".", ",") for key in (*COLUMNS, "Avg")), "MIT"]))
    return "\r\n".join(lines) + "\r\n"


def parquet(kind: str = "double") -> bytes:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    out, table = io.BytesIO(), pa.Table.from_pylist(numbers())
    fields = [pa.field(one.name, kind) if str(one.type) == "double" else one for one in table.schema]
    pq.write_table(table.cast(pa.schema(fields)), out)
    return out.getvalue()


def nested() -> str:
    boards = [
        {"name": "Old", "results": [{"name": "x", "score": 1}]},
        {
            "name": "New",
            "results": [
                {"model": {"id": row["Model"]}, "scores": {key: row[key] for key in (*COLUMNS, "Avg")}}
                for row in numbers()
            ],
        },
    ]
    return json.dumps({"leaderboards": boards}, indent=4)


FORMS: dict[str, Any] = {
    "board.csv": "".join(",".join(cells) + "\n" for cells in [[*rows()[0]], *([*row.values()] for row in rows())]),
    "index.csv": "".join(",".join(row) + "\n" for row in [("", *COLUMNS, "Avg"), *(one.values() for one in rows())]),
    "commas.csv": commas(),
    "list.json": json.dumps(numbers(), indent=2),
    "nested.json": nested(),
    "keyed.json": json.dumps({row.pop("Model"): row for row in numbers()}, indent=1),
    "board.jsonl": "".join(json.dumps(row) + "\n" for row in numbers()),
    "board.yml": yaml.safe_dump(numbers(), sort_keys=False),
    "README.md": markdown(),
    "sections.md": sections(),
    "board.parquet": parquet,
    "single.parquet": lambda: parquet("float"),
}  # fmt: skip
EVERY_DAY = {"README.md"}  # the form that `make test` tries; `make test-slow` tries the others


def commit_files(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Files")


def adopted(folder: Path, name: str, data: str | bytes | Callable[[], bytes], *words: str, **results: bytes) -> Any:
    """A repository with the table, one with the results, and what `init` makes of both."""
    content = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else data()
    commit_files(folder / "board", {f"data/{name}": content})
    files = {path_of(model): result(model, right=right) for model, right in MODELS.items()}
    commit_files(folder / "results", {**files, **results})
    table = folder / "board" / "data" / name
    made = ["--title", "Ours", "--description", "Three tasks."]
    call = ["init", str(folder / "ours"), "--table", str(table), "--results", str(folder / "results"), *made, *words]
    return CliRunner().invoke(app, call)


SENTENCE = re.compile(
    r"[\w./]+(?:, table .+?)?: (?P<rows>\d+ of \d+ rows?) reproduced to the printed digit"
    r", in (?P<columns>\d+) of (?P<all>\d+) columns?(?P<rest>.*)"
)


def reproduced(line: str) -> str:
    """The sentence without the name of the table and the number of columns, which must be there."""
    found = SENTENCE.fullmatch(line)
    assert found is not None, line
    assert int(found["columns"]) <= int(found["all"])
    return f"{found['rows']} reproduced to the printed digit{found['rest']}"


def mapping(folder: Path) -> TableOptions:
    [watch] = load_settings(folder / "ours" / "bot.toml").watches
    [target] = watch.targets
    assert target.table is not None
    return target.table


def test_a_watch_reads_all_results_of_a_table_whatever_they_are_called(tmp_path: Path) -> None:
    """A file without an ending counted for the table, and settle never read it."""
    adopted(tmp_path, "board.csv", FORMS["board.csv"], "--results", str(tmp_path / "results" / "crane"), crane=result())
    [watch] = load_settings(tmp_path / "ours" / "bot.toml").watches
    assert watch.paths == ("**/*.json", "**/*.eval", "**/crane", "crane")


@pytest.mark.parametrize(
    "name", [name if name in EVERY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in FORMS]
)
def test_a_table_is_adopted_up_to_the_request_that_changes_its_wrong_cell(name: str, tmp_path: Path) -> None:
    done = adopted(tmp_path, name, FORMS[name])
    assert done.exit_code == 0, done.output
    first, cell, *rest = done.stdout.splitlines()
    assert (reproduced(first), rest) == ("2 of 3 rows reproduced to the printed digit; 1 cell of 1 row differs:", [])
    assert "eron" in cell
    assert "computed 58" in cell
    assert "without" not in cell  # a mean with a task left out gives nothing here
    options = mapping(tmp_path)
    values = {column.value for column in options.columns.values() if column.value}
    assert {"average"} <= values
    assert sum(value.startswith("tasks.") for value in values) == 3
    assert load_leaderboard(str(tmp_path / "ours" / "board.toml")).title == "Ours"

    settings = str(tmp_path / "ours" / "bot.toml")
    assert CliRunner().invoke(app, ["settle", "--config", settings]).exit_code == 0
    board = tmp_path / "board"
    branch = git(board, "branch", "--list", "leaderboard-bot/*", "--format=%(refname:short)").strip()
    changed = git(board, "diff", "--numstat", f"HEAD..{branch}", "--", "data")
    assert changed.split()[:2] == (["-", "-"] if name.endswith("parquet") else ["1", "1"])
    assert len(git(board, "diff", "--name-only", f"HEAD..{branch}", "--", "entries").split()) == 3
    assert CliRunner().invoke(app, ["settle", "--config", settings]).exit_code == 0
    assert git(board, "branch", "--list", "leaderboard-bot/*", "--format=%(refname:short)").strip() == branch

    git(board, "merge", "--quiet", branch)
    assert "3 on main, 0 open" in CliRunner().invoke(app, ["settle", "--config", settings]).stdout
    verified = CliRunner().invoke(app, ["verify", str(board), "--config", settings])  # which names the local source
    assert verified.exit_code == 0, verified.output
    assert CliRunner().invoke(app, ["site", str(board), "--out", str(tmp_path / "site")]).exit_code == 0


def test_a_table_on_the_hub_is_adopted(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.setenv("HF_TOKEN", hub.person("bot"))
    pushed = {path_of(model): result(model, right=right) for model, right in MODELS.items()}
    hub.push(hub.repository("acme/results"), dict(pushed))
    hub.push(hub.repository("acme/board"), {"data/board.csv": FORMS["board.csv"].encode(), "README.md": b"x"})
    name = "hf://datasets/acme/board/data/board.csv"
    words = ["init", str(tmp_path / "ours"), "--table", name, "--results", "hf://datasets/acme/results"]
    done = CliRunner().invoke(app, words)
    assert "2 of 3 rows reproduced" in done.stdout, done.output
    [target] = load_settings(tmp_path / "ours" / "bot.toml").watches[0].targets
    assert (target.to, target.kind) == ("hf://datasets/acme/board", "table")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("", "", ""),
        ("Avg = ", "Mean = ", "exactly one column 'Mean'"),
        ('at = "Our board"', 'at = "Their board"', "there is no table at 'Their board'"),
        ('path = "data/README.md"', 'path = "README.md"', "README.md: there is no such file at the target"),
    ],
)
def test_the_doctor_reads_the_table_and_names_what_it_lacks(old: str, new: str, why: str, tmp_path: Path) -> None:
    adopted(tmp_path, "README.md", markdown())
    settings = tmp_path / "ours" / "bot.toml"
    text = settings.read_text(encoding="utf-8")
    assert old in text
    settings.write_text(text.replace(old, new), encoding="utf-8")
    done = CliRunner().invoke(app, ["doctor", "--config", str(settings)])
    [line] = [line for line in done.stdout.splitlines() if "table of" in line]
    assert line.startswith("✗" if why else "✓")
    assert (why or "has 3 rows, and all columns of the mapping") in line


def test_the_doctor_names_a_workflow_that_writes_the_table(tmp_path: Path) -> None:
    adopted(tmp_path, "README.md", markdown())
    flow = "on: push\njobs:\n  a:\n    steps:\n      - run: python table.py data/README.md && git push\n"
    commit_files(tmp_path / "board", {".github/workflows/table.yml": flow.encode()})
    done = CliRunner().invoke(app, ["doctor", "--config", str(tmp_path / "ours" / "bot.toml")])
    assert done.exit_code == 1
    assert ".github/workflows/table.yml names data/README.md or adds its folder, and pushes" in done.stdout


def test_names_of_its_own_are_written_into_the_mapping(tmp_path: Path) -> None:
    adopted(tmp_path, "commas.csv", commas())
    options = mapping(tmp_path)
    assert options.decimal == ","
    assert options.columns["Model"].names == {
        "acme/atlas-7b": "Atlas 7B", "acme/lynx-1b": "Lynx 1B", "zoo/heron-3b": "Heron 3B"
    }  # fmt: skip
    assert "Licence" not in options.columns


def test_columns_of_a_metric_of_which_less_is_better_show_its_raw_values(tmp_path: Path) -> None:
    """Like scripts/data/en_shortform.csv of huggingface/open_asr_leaderboard `d1e99b25`: AMI WER is 8.13.

    Its `Avg. WER` is the mean of these.
    """
    files = {}
    for model, right in MODELS.items():
        rates = {one: {"wer,none": 100.25 - count} for one, count in zip(TASKS, right, strict=True)}
        files[path_of(model)] = json.dumps(json.loads(result(model)) | {"results": rates}).encode()
    table = [{"Model": row["Model"], **{f"{one} WER": 100.25 - row[one] for one in COLUMNS}} for row in numbers()]
    for row, right in zip(table, MODELS.values(), strict=True):
        row["Avg. WER"] = round(100.25 - sum(right) / 3, 2)
    done = adopted(tmp_path, "list.json", json.dumps(table), **files)
    assert [*map(reproduced, done.stdout.splitlines())] == ["3 of 3 rows reproduced to the printed digit"], done.output
    values = [column.value for label, column in mapping(tmp_path).columns.items() if "WER" in label]
    assert values == [*(f"tasks.{task}.raw" for task in TASKS), "average_raw"]
    table[0]["Avg. WER"] += 5
    done = adopted(tmp_path / "again", "list.json", json.dumps(table), **files)
    assert "1 cell of 1 row differs:\n  acme/atlas-7b, Avg. WER: there 44.25, computed 39.25" in done.stdout, (
        done.output
    )


def test_a_column_of_numbers_that_are_links_is_a_todo(tmp_path: Path) -> None:
    """Like README.md of LudwigStumpp/llm-leaderboard `1c717628`, whose numbers lead to their sources."""
    linked = markdown()
    for row in rows("{:.0f} %"):
        linked = linked.replace(f"| {row['logic']} |", f"| [{row['logic']}](https://example.org/source) |")
    done = adopted(tmp_path, "README.md", linked)
    assert "TODO logic: its numbers are links, which the bot does not write" in done.stderr, done.output
    assert [label for label in mapping(tmp_path).columns if label in COLUMNS] == list(COLUMNS[:2])


def test_a_column_that_no_result_gives_is_a_todo_with_its_name(tmp_path: Path) -> None:
    table = [{**row, "Elo": 1000 + 7 * number} for number, row in enumerate(numbers())]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert "TODO Elo: no result gives its numbers" in done.stderr
    assert "# TODO Elo: no result gives its numbers" in (tmp_path / "ours" / "bot.toml").read_text(encoding="utf-8")
    assert "Elo" not in mapping(tmp_path).columns


@pytest.mark.parametrize(
    ("overall", "by"),
    [((12.65, 12.32, 9.81), None), ((1, 2, 3), "logic"), ((7.5, 9.5, 8.5), "logic"), ((8.856, 8.922, 8.95), "logic")],
)
def test_a_table_may_be_sorted_by_a_column_that_no_result_gives(
    overall: tuple[float, ...], by: str | None, tmp_path: Path
) -> None:
    """As data_overall.csv of gianmarcoalessio/AAFV `61a9e77f` is by Overall Acc, and by chance by one of its parts.

    The last is top1_err of timm, which is what is left of the column that sorts the table.
    """
    ordered = sorted(numbers(), key=lambda row: -row["logic"])
    table = [
        {"Model": row["Model"], "Elo": number, "logic": row["logic"]}
        for row, number in zip(ordered, overall, strict=True)
    ]
    adopted(tmp_path, "list.json", json.dumps(table))
    assert mapping(tmp_path).sorted_by == by


def test_a_column_of_mostly_zeros_is_a_todo_although_a_subtask_of_zeros_gives_them(tmp_path: Path) -> None:
    """The same zero in many rows is one number that agrees, not many: weak models have it in every hard task."""
    right = {f"acme/model-{number}": (20 + 3 * number, 30 + 7 * number, 0) for number in range(7)}
    right["acme/model-6"] = (71, 83, 31)
    files = {path_of(model): result(model, right=counts) for model, counts in right.items()}
    table = [
        {"Model": model, "sums plus": float(counts[0]), "Contest": 0.0 if counts[2] == 0 else 3.7}
        for model, counts in right.items()
    ]
    done = adopted(tmp_path, "list.json", json.dumps(table), **files)
    assert "TODO Contest: no result gives its numbers" in done.stderr
    assert mapping(tmp_path).columns.keys() == {"Model", "sums plus"}


def test_a_heading_and_values_that_disagree_are_a_todo(tmp_path: Path) -> None:
    """Two columns whose headings are exchanged: the numbers of each are those of the other."""
    table = [{**row, "logic": row["sums plus"], "sums plus": row["logic"]} for row in numbers()]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert "TODO logic: its heading names logic" in done.stderr
    assert {"logic", "sums plus"}.isdisjoint(mapping(tmp_path).columns)


def test_a_column_of_the_other_metric_has_its_samples_and_names_the_first(tmp_path: Path) -> None:
    """As salvatore373/lm-evaluation-harness `5f2592f4`: its table shows acc_norm, of 1169 samples."""
    files = {}
    for model, right in MODELS.items():
        row = (whole := json.loads(result(model, right=right)))["results"]["logic"]
        value = row["acc,none"] - 0.25
        row |= {"acc_norm,none": value, "acc_norm_stderr,none": (value * (1 - value) / 99) ** 0.5}
        del whole["n-samples"]
        files[path_of(model)] = json.dumps(whole).encode()
    table = [{"Model": model, "logic✱ (x)": right[2] - 25.0} for model, right in MODELS.items()]
    adopted(tmp_path, "list.json", json.dumps(table), **files)
    board = (tmp_path / "ours" / "board.toml").read_text()
    assert 'title = "logic (x)"\nmetrics = [{ name = "acc_norm" }]\n' in board
    assert 'leaves = [{ id = "logic", samples = 100 }]\n' in board
    assert "# also measured: acc,none\n" in board


def test_a_heading_that_only_begins_a_name_takes_no_task_of_half_of_the_rows(tmp_path: Path) -> None:
    """Multi Turn Acc, a mean, is once Multi Turn Miss Param by chance: bbrowning/bfcl-vllm-results `f98223ae`."""
    table = [
        {"Model": "acme/atlas-7b", "sums t": 70.25, "sums times": 61.0},
        {"Model": "acme/lynx-1b", "sums t": 44.0, "sums times": 44.0},
    ]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert "TODO sums t: its heading names sums_times, and acc of sums_times gives its numbers in 1 of 2 rows" in (
        done.stderr
    )
    assert mapping(tmp_path).columns.keys() == {"Model", "sums times"}


def test_a_heading_that_is_the_name_of_a_subtask_takes_no_mean_of_several(tmp_path: Path) -> None:
    table = [
        {"Model": model, "sums plus": (plus + times) / 2, "logic": logic}
        for model, (plus, times, logic) in MODELS.items()
    ]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert "TODO sums plus: its heading names sums_plus" in done.stderr
    assert "sums plus" not in mapping(tmp_path).columns


def test_a_heading_that_says_raw_takes_no_normalized_score(tmp_path: Path) -> None:
    shutil.copytree(KESTREL.parent, tmp_path / "results")
    judged = CliRunner().invoke(app, ["score", str(KESTREL), "--format", "json"])
    [row] = json.loads(judged.stdout)["rows"]
    of = {task["id"]: task for task in row["scores"]["tasks"]}
    cells = {"Model": "kestrel-7b", "BBH Raw": of["bbh"]["score"], "BBH": of["bbh"]["raw"], "GPQA": of["gpqa"]["score"]}
    (tmp_path / "board.json").write_text(json.dumps([cells]), encoding="utf-8")
    words = ["--table", str(tmp_path / "board.json"), "--results", str(tmp_path / "results")]
    done = CliRunner().invoke(app, ["init", str(tmp_path / "ours"), *words])
    assert done.exit_code == 0, done.output
    assert "TODO BBH Raw: its heading names leaderboard_bbh" in done.stderr
    assert {"BBH", "GPQA"} <= mapping(tmp_path).columns.keys()


def test_raw_and_normalized_percentages_side_by_side_keep_what_each_shows(tmp_path: Path) -> None:
    """No heading says raw: the column of raw values would be filled with scores."""
    shutil.copytree(KESTREL.parent, tmp_path / "results")
    judged = CliRunner().invoke(app, ["score", str(KESTREL), "--format", "json"])
    [row] = json.loads(judged.stdout)["rows"]
    of = {task["id"]: task for task in row["scores"]["tasks"]}
    cells: dict[str, Any] = {"Model": "kestrel-7b"}
    for name in ("bbh", "gpqa"):
        cells |= {f"{name} a": of[name]["raw"] * 100, f"{name} b": of[name]["score"]}
    (tmp_path / "board.json").write_text(json.dumps([cells]), encoding="utf-8")
    words = ["--table", str(tmp_path / "board.json"), "--results", str(tmp_path / "results")]
    done = CliRunner().invoke(app, ["init", str(tmp_path / "ours"), *words])
    assert [*map(reproduced, done.stdout.splitlines())] == ["1 of 1 row reproduced to the printed digit"], done.output
    values = {label: column.value for label, column in mapping(tmp_path).columns.items()}
    assert [values[label].rpartition(".")[2] for label in ("bbh a", "bbh b", "gpqa a", "gpqa b")] == [
        "raw", "score", "raw", "score"
    ]  # fmt: skip


def test_numbers_of_ten_decimals_are_no_full_doubles(tmp_path: Path) -> None:
    right = {model: (one + 1 / 3, *rest) for model, (one, *rest) in MODELS.items()}
    results = {path_of(model): result(model, right=values) for model, values in right.items()}
    table = [{"Model": model, "sums plus": round(values[0], 10)} for model, values in right.items()]
    done = adopted(tmp_path, "list.json", json.dumps(table), **results)
    assert [*map(reproduced, done.stdout.splitlines())] == ["3 of 3 rows reproduced to the printed digit"], done.output
    assert mapping(tmp_path).columns["sums plus"].decimals == 10


def test_nested_columns_that_no_result_gives_are_one_todo(tmp_path: Path) -> None:
    costs = {f"task-{number}": {"calls": 17 * number + 3, "cost": 0.5 + number} for number in range(60)}
    done = adopted(tmp_path, "list.json", json.dumps([{**row, "details": costs} for row in numbers()]))
    assert done.stderr.count("TODO details") == 1
    assert "6 of 6 columns" not in done.stderr
    assert "5 of 6 columns mapped" in done.stderr


def test_what_lies_in_no_git_repository_is_adopted_with_a_word_about_it(tmp_path: Path) -> None:
    adopted(tmp_path, "list.json", FORMS["list.json"])
    for place in ("board", "results"):
        shutil.rmtree(tmp_path / place / ".git")
    words = ["--table", str(tmp_path / "board" / "data" / "list.json"), "--results", str(tmp_path / "results")]
    done = CliRunner().invoke(app, ["init", str(tmp_path / "new"), *words])
    assert "2 of 3 rows reproduced" in done.stdout, done.output
    assert "results and " in done.stderr
    assert "in no git repository, and settle reads only those" in done.stderr
    shutil.copy(tmp_path / "board" / "data" / "list.json", tmp_path / "results" / "list.json")
    words[1] = str(tmp_path / "results" / "list.json")
    one = CliRunner().invoke(app, ["init", str(tmp_path / "one"), *words])
    assert "results and " not in one.stderr
    assert "results: in no git repository, and settle reads only those" in one.stderr


@pytest.mark.parametrize("key", ["/disk/atlas", "results/atlas/"])
def test_models_that_files_name_by_paths_or_folders_are_adopted_under_their_ids(key: str, tmp_path: Path) -> None:
    path, model = path_of("acme/atlas-7b"), "acme/atlas-7b"
    commit_files(tmp_path / "board", {"list.json": json.dumps(numbers()).encode()})
    files = {path_of(name): result(name, right=right) for name, right in MODELS.items()}
    data = files.pop(path).replace(model.encode(), b"/disk/atlas")
    commit_files(tmp_path / "results", {**files, "atlas/results.json": data})
    words = ["--table", str(tmp_path / "board" / "list.json"), "--results", str(tmp_path / "results")]
    call = ["init", str(tmp_path / "ours"), *words, "--model-name", f"{key}={model}"]
    done = CliRunner().invoke(app, call)
    assert "2 of 3 rows reproduced" in done.stdout, done.output
    assert "names" not in mapping(tmp_path).columns["Model"].model_fields_set
    [watch] = load_settings(tmp_path / "ours" / "bot.toml").watches
    models = load_leaderboard(str(tmp_path / "ours" / "board.toml")).models
    assert ([one.path for one in watch.identity], dict(models)) == (
        ([], {key: model}) if key.startswith("/") else (["atlas/"], {})
    )
    if not models:
        done = CliRunner().invoke(app, ["settle", "--config", str(tmp_path / "ours" / "bot.toml"), "--dry-run"])
        assert "0 added, 1 changed, 0 removed, 2 unchanged" in done.output, done.output
        assert "is not committed" not in done.output
        (tmp_path / "board" / "list.json").write_text("[]")
        done = CliRunner().invoke(app, ["settle", "--config", str(tmp_path / "ours" / "bot.toml"), "--dry-run"])
        assert "board: list.json is not committed as it is, and settle reads what is: `git commit` it" in done.output


def test_a_model_that_files_do_not_name_by_its_id_has_the_id_of_its_row(tmp_path: Path) -> None:
    """Like stabilityai/stablelm-3b-4e1t of Stability-AI/StableLM `93eea082`, whose file says `stablelm-3b-4e1t`."""
    model = "acme/atlas-7b"
    adopted(tmp_path, "README.md", markdown().replace(f"[{model[5:]}](https://huggingface.co/{model})", f"**{model}**"),
            **{path_of(model): result(model, right=MODELS[model]).replace(model.encode(), b"atlas-7b")})  # fmt: skip
    assert dict(load_leaderboard(str(tmp_path / "ours" / "board.toml")).models) == {"atlas-7b": model}
    done = CliRunner().invoke(app, ["settle", "--config", str(tmp_path / "ours" / "bot.toml"), "--dry-run"])
    assert "0 added, 1 changed" in done.stdout


def test_other_rows_are_named_and_never_guessed(tmp_path: Path) -> None:
    table = [*numbers(), {"Model": "else/where-9b", **dict.fromkeys((*COLUMNS, "Avg"), 12.0)}]
    half = {path_of("acme/half-1b"): result("acme/half-1b", right=(40, None, 30))}
    done = adopted(tmp_path, "list.json", json.dumps([*table, {**table[0], "Model": "acme/half-1b"}]), **half)
    assert "not compared: acme/half-1b" in done.stdout
    assert "without a result: else/where-9b" in done.stdout


def test_an_average_in_the_table_leaves_the_columns_that_it_is_the_mean_of(tmp_path: Path) -> None:
    """A board with two averages: whichever stands first would count the subtasks of all columns beside it."""
    table = [
        {"Model": model, "Sums": (right[0] + right[1]) / 2, "plus": float(right[0]), "times": float(right[1])}
        for model, right in MODELS.items()
    ]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    values = {label: column.value for label, column in mapping(tmp_path).columns.items()}
    assert values["plus"] == "tasks.sums_plus.score", done.output
    assert values["times"] == "tasks.sums_times.score"
    assert values["Sums"] == "average"


@pytest.mark.parametrize("host", ["huggingface.co", "hf.co"])
def test_a_member_with_a_display_name_is_found_by_the_link_in_its_row(host: str, tmp_path: Path) -> None:
    """Such as hf.co in the tables of EuroEval/leaderboards `1a77f1d2`."""
    table = {
        f"Our {number}": {"link": f"https://{host}/{row.pop('Model')}", **row} for number, row in enumerate(numbers())
    }
    done = adopted(tmp_path, "keyed.json", json.dumps(table))
    assert "2 of 3 rows reproduced" in done.stdout, done.output
    assert mapping(tmp_path).columns["model"].names == {model: f"Our {number}" for number, model in enumerate(MODELS)}


def test_rows_are_those_of_the_models_and_not_of_their_children_or_namesakes(tmp_path: Path) -> None:
    """A column of base models names more rows than the column of models; another organization may take a name."""
    fine_tuned = [{"Model": f"tuner/atlas-7b-v{number}", "Avg": 10.0 + number} for number in range(5)]
    others = [*fine_tuned, {"Model": "other/lynx-1b", "Avg": 12.5}]
    gaps = dict.fromkeys(COLUMNS, 1.0)
    table = [{"Base": row["Model"], **row} for row in numbers()]
    table += [{"Base": "acme/atlas-7b", **gaps, **row} for row in others]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert "2 of 3 rows reproduced to the printed digit, in 4 of 4 columns; 1 cell of 1 row differs:" in done.stdout, (
        done.output
    )
    assert mapping(tmp_path).key == ("Model",)


def test_a_row_is_found_by_its_numbers_and_a_model_without_a_row_is_named(tmp_path: Path) -> None:
    """Otherwise the results of a row under another name would be proposed as a second row of the same model."""
    ninth = dict(zip(COLUMNS, (37.0, 41.0, 29.0), strict=True))
    table = [*numbers(), {"Model": "<b>Number Nine</b> (prompt)", **ninth, "Avg": 35.7}]
    files = {path_of("acme/nine"): result("acme/nine", right=(37, 41, 29)), path_of("acme/new"): result("acme/new")}
    done = adopted(tmp_path, "list.json", json.dumps(table), **files)
    assert "3 of 4 rows reproduced" in done.stdout
    assert "1 row found by the numbers, not by the name: Number Nine (prompt) = acme/nine" in done.stderr
    assert "1 model of the results would be a new row: acme/new\n" in done.stderr
    assert mapping(tmp_path).columns["Model"].names == {"acme/nine": "<b>Number Nine</b> (prompt)"}


def test_a_row_of_two_columns_is_found_by_its_numbers_too(tmp_path: Path) -> None:
    """Like results/leaderboard_for_display.csv of boson-ai/RPBench-Auto `01a25792`: Claude-3 Opus (2024-02-29)."""
    table = [{"Model": row["Model"], **{one: row[one] / 7 for one in COLUMNS[:2]}} for row in numbers()]
    right = {model: (first / 7, second / 7, 1) for model, (first, second, _) in MODELS.items()}
    table[0]["Model"] = "Number Nine"
    files = {path_of(model): result(model, right=each) for model, each in right.items()}
    done = adopted(tmp_path, "list.json", json.dumps(table), **files)
    assert "1 row found by the numbers, not by the name: Number Nine = acme/atlas-7b" in done.stderr
    assert [*map(reproduced, done.stdout.splitlines())] == ["3 of 3 rows reproduced to the printed digit"]


def test_a_name_with_a_mark_is_kept_and_its_row_is_found(tmp_path: Path) -> None:
    """Like GPT-4.5-preview * in data/leaderboard.csv of cybench/cybench.github.io `1885dfd6`."""
    adopted(tmp_path, "board.csv", FORMS["board.csv"].replace("acme/lynx-1b", "acme/lynx-1b *"))
    assert mapping(tmp_path).columns["Model"].names == {"acme/lynx-1b": "acme/lynx-1b *"}
    done = CliRunner().invoke(app, ["settle", "--config", str(tmp_path / "ours" / "bot.toml"), "--dry-run"])
    assert "0 added, 1 changed" in done.stdout


def test_a_table_of_which_one_row_names_a_model_says_so(tmp_path: Path) -> None:
    """Like 00_summary_scores.csv of nikolas-rauscher/t5-sci-en2de-continued-pretraining `eb250b38`, which is right."""
    names = ("acme/atlas-7b", "Lynx + 15k", "Heron (487k)")
    table = [
        {"Model": name, "en": row["sums plus"], "de": row["logic"]} for row, name in zip(numbers(), names, strict=True)
    ]
    said = str(adopted(tmp_path, "list.json", json.dumps(table)).exception)
    assert "(en, de: no result gives its numbers)" in said
    assert "; 1 of its 3 rows names a model of the results (acme/atlas-7b): spell the other names" in said


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("list.json", '[{"Model": "none/of-these", "logic": 1}]', "name another table of the file with --at"),
        (
            "list.json",
            '[{"task": "logic", "lynx-1b": 1}]',
            "first cells are logic: these are tasks, and a row is of a model",
        ),
        ("list.json", '[{"Model": "acme/lynx-1b", "licence": "MIT"}]', "no column shows a number of these results"),
        ("list.json", "{", "it is not valid JSON"),
        ("board.xlsx", "", "a table is a file that ends in .json"),
    ],
)
def test_a_table_that_cannot_be_adopted_is_one_line_and_nothing_is_written(
    name: str, data: str, why: str, tmp_path: Path
) -> None:
    done = adopted(tmp_path, name, data)
    assert isinstance(done.exception, CallError)
    assert why in str(done.exception)
    assert not (tmp_path / "ours").exists()


def test_the_page_of_a_table_on_github_is_answered_with_its_address(tmp_path: Path) -> None:
    page = "https://github.com/acme/board/blob/main/docs/README.md"
    status, _, err = bot("init", tmp_path / "ours", "--table", page, "--results", tmp_path)
    assert (status, err.endswith(": write github://acme/board/docs/README.md\n")) == (2, True)


@pytest.mark.parametrize(
    ("above", "title"),
    [("# Our board\n\n", "Our board"), ("# Birds\n\n## Results\n\n", "Birds"), ("## Leaderboard\n\n", "Board")],
)
def test_the_title_is_that_of_a_heading_with_a_name_or_of_the_repository(
    tmp_path: Path, above: str, title: str
) -> None:
    text = markdown().replace("# Our board\n\n", above)
    commit_files(tmp_path / "board", {"README.md": text.encode()})
    commit_files(tmp_path / "results", {path_of(model): result(model, right=right) for model, right in MODELS.items()})
    words = ["--table", str(tmp_path / "board" / "README.md"), "--results", str(tmp_path / "results")]
    (tmp_path / "results" / "more.json").write_bytes(result("acme/more"))
    done = CliRunner().invoke(app, ["init", str(tmp_path / "ours"), *words])
    assert load_leaderboard(str(tmp_path / "ours" / "board.toml")).title == title
    assert "1 result not committed as it is, and settle reads what is: " in done.stderr


def test_nothing_that_exists_is_replaced(tmp_path: Path) -> None:
    adopted(tmp_path, "board.csv", FORMS["board.csv"])
    before = (tmp_path / "ours" / "bot.toml").read_bytes()
    shutil.rmtree(tmp_path / "board")
    shutil.rmtree(tmp_path / "results")
    done = adopted(tmp_path, "board.csv", FORMS["board.csv"], "--title", "Other")
    assert "board.toml and bot.toml are there already" in str(done.exception)
    assert (tmp_path / "ours" / "bot.toml").read_bytes() == before


def test_a_shipped_declaration_is_taken_where_it_is_asked_for(tmp_path: Path) -> None:
    shutil.copytree(KESTREL.parent, tmp_path / "results")
    judged = CliRunner().invoke(app, ["score", str(KESTREL), "--format", "json"])
    [row] = json.loads(judged.stdout)["rows"]
    [bbh] = [round(task["score"], 2) for task in row["scores"]["tasks"] if task["id"] == "bbh"]
    cells = {"Model": "kestrel 7B", "BBH": bbh, "Mean": round(row["scores"]["average"], 2)}
    (tmp_path / "board.json").write_text(json.dumps([cells]), encoding="utf-8")
    words = ["--table", str(tmp_path / "board.json"), "--results", str(tmp_path / "results"), "--like", "open-llm-v2"]
    done = CliRunner().invoke(app, ["init", str(tmp_path / "ours"), *words])
    assert [*map(reproduced, done.stdout.splitlines())] == ["1 of 1 row reproduced to the printed digit"], done.output
    columns = mapping(tmp_path).columns
    assert (columns["BBH"].value, columns["Mean"].value) == ("tasks.bbh.score", "average")


def test_results_of_another_leaderboard_are_named_with_what_can_be_drafted(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(result())
    status, out, err = bot("check", tmp_path / "run.json")
    assert (status, out) == (2, "")
    assert "1 result (lm-eval-0.4) of acme/atlas-7b: sums_plus, sums_times, logic" in err
    assert f"leaderboard-bot init ours --results {tmp_path}/run.json" in err
    assert bot("check", tmp_path / "run.json", "--leaderboard", "open-llm-v2")[0] == 1
    assert "could not be read" not in err
    (tmp_path / "cut.json").write_bytes(result()[:-9])  # as lm_eval_results.json beside the results of a public project
    assert f"\nleaderboard-bot: 1 file could not be read: {tmp_path}/cut.json: the file is" in bot("check", tmp_path)[2]
    shutil.copy(tmp_path / "cut.json", tmp_path / "dut.json")
    assert f": 2 files could not be read, such as {tmp_path}/cut.json: the file is" in bot("check", tmp_path)[2]


@pytest.mark.usefixtures("pyarrow")
def test_a_board_with_one_leaderboard_needs_no_name_of_it(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    (tmp_path / "run.json").write_bytes(result())
    target = str(tmp_path / "board")
    made = ["publish", str(tmp_path / "run.json"), "--to", target, "--as", "commit", "-l", str(tmp_path / "tiny.toml")]
    assert CliRunner().invoke(app, made).exit_code == 0
    (tmp_path / "tiny.toml").unlink()
    shown = CliRunner().invoke(app, ["board", target])
    assert "acme/atlas-7b" in shown.stdout, shown.output
    assert CliRunner().invoke(app, ["site", target, "--out", str(tmp_path / "site")]).exit_code == 0
    why = CliRunner().invoke(app, ["explain", target, "logic", "--model", "acme/atlas-7b"])
    assert why.stdout.startswith("Logic: 70.0000"), why.output
    assert f"  from {tmp_path.name}/run.json, sha256 {sha256(result()).hexdigest()}\n" in why.stdout
    whole = CliRunner().invoke(app, ["explain", target, "--model", "acme/atlas-7b"])
    assert "Average: 58.3333" in whole.stdout
    missing = CliRunner().invoke(app, ["explain", target, "--model", "acme/none"])
    assert "has no row of acme/none" in str(missing.exception)


def test_a_declaration_that_is_not_what_its_name_says_explains_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    (tmp_path / "run.json").write_bytes(result())
    board = Folder(tmp_path / "board")
    made = ("publish", tmp_path / "run.json", "--to", board.path, "--as", "commit", "-l", tmp_path / "tiny.toml")
    assert bot(*made)[0] == 0
    kept, made_by = sorted(board.git("ls-tree", "--name-only", "main", "declarations/").splitlines())
    assert made_by == "declarations/tiny.toml"
    board.push({kept: TINY.replace('"1/4"', '"1/5"').encode()})
    assert bot("board", board.path)[0] == 0  # which stands for the declaration of its table
    board.push({made_by: None})
    for command in (("board",), ("explain", "--model", "acme/atlas-7b"), ("site", "--out", tmp_path / "site")):
        status, out, err = bot(*command[:1], board.path, *command[1:])
        assert (status, out, "is missing or different: run `settle` once after a merge" in err) == (2, "", True), err
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("field", one_of(["metric", "id"]))
def test_a_row_with_a_number_that_its_declaration_does_not_have_is_not_explained(tmp_path: Path, field: str) -> None:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    (tmp_path / "run.json").write_bytes(result())
    board = Folder(tmp_path / "board")
    made = ("publish", tmp_path / "run.json", "--to", board.path, "--as", "commit", "-l", tmp_path / "tiny.toml")
    assert bot(*made)[0] == 0
    [path] = board.git("ls-tree", "-r", "--name-only", "main", "entries/").splitlines()
    whole = json.loads(board.git("show", f"main:{path}"))
    whole["tasks"][1]["leaves"][0][field] = "x\u001b[31m"
    board.push({path: json.dumps(whole).encode()})
    status, out, err = bot("explain", board.path, "--model", "acme/atlas-7b")
    assert (status, out) == (2, "")
    assert "is not to be believed: its declaration of logic has no" in err
    assert "\x1b" not in err


def test_a_column_may_be_the_mean_of_subtasks_that_begin_alike(tmp_path: Path) -> None:
    table = [{"Model": model, "Sums": (right[0] + right[1]) / 2, "logic": right[2]} for model, right in MODELS.items()]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert [*map(reproduced, done.stdout.splitlines())] == ["3 of 3 rows reproduced to the printed digit"], done.output
    [sums, _] = load_leaderboard(str(tmp_path / "ours" / "board.toml")).tasks
    assert [leaf.id for leaf in sums.leaves] == ["sums_plus", "sums_times"]


def test_a_table_of_which_each_row_lacks_a_column_is_not_said_to_be_reproduced(tmp_path: Path) -> None:
    """As where each model was measured in some of the languages of a board."""
    table, results = rows(), dict[str, bytes]()
    for row, lacking, label in zip(table, TASKS, COLUMNS, strict=True):
        model, data = row["Model"], json.loads(result(row["Model"], right=MODELS[row["Model"]]))
        del data["results"][lacking]
        row[label] = row["Avg"] = ""
        results[path_of(model)] = json.dumps(data).encode()
    text = "".join(",".join(cells) + "\n" for cells in [[*table[0]], *([*row.values()] for row in table)])
    done = adopted(tmp_path, "board.csv", text, **results)
    first, *rest = done.stdout.splitlines()
    assert (
        first == "data/board.csv: no row could be recomputed completely, so nothing shows whether the mapping is right"
    ), done.output
    assert sum(line.startswith("incomplete, not compared: ") for line in rest) == 3


def test_the_table_that_the_results_reproduce_is_taken_among_several(tmp_path: Path) -> None:
    """Like research/C_MTEB/README.md of FlagOpen/FlagEmbedding: nine tables of the same models, one for each kind."""
    rows = "".join(f"| {model} | {at}.5 | {at}.25 |\n" for at, model in enumerate([*MODELS, "acme/more"]))
    done = adopted(tmp_path, "README.md", f"## Other\n\n| Model | a | b |\n|---|---|---|\n{rows}\n{markdown()}")
    assert "2 of 3 rows reproduced to the printed digit" in done.stdout
    assert mapping(tmp_path).at == "Our board"


def test_sections_footnotes_emoji_and_tags_stand_in_nobodys_way(tmp_path: Path) -> None:
    """`**o3**` above `o3 [^9]` in README.md of openai/simple-evals; `:mage_woman: 6.3` in one of pm-llm-benchmark."""
    text = markdown().replace(" %", "").replace("[heron-3b](https://huggingface.co/zoo/heron-3b)", "heron-3b [^9]")
    text = text.replace("| 1 | [atlas", "| | **heron-3b** | | | | |\n| 1 | [atlas", 1)
    text = text.replace("| 50 |", "| :crown: **50** |").replace("| 44 |", '| <span class="grey">44</span> |')
    text = text.replace("| 69 |", "| **_69_** |")  # the second best in README.md of KLUE-benchmark/KLUE
    done = adopted(tmp_path, "README.md", text)
    why = "no reading of its files gives it; the nearest is 58"
    assert done.stdout.splitlines()[1] == f"  heron-3b [^9], Avg: there 58.1, computed 58.0: {why}"
    assert "TODO" not in done.stdout

    settings = str(tmp_path / "ours" / "bot.toml")
    better = {path_of("acme/atlas-7b"): result("acme/atlas-7b", right=(49, 61, 72))}
    commit_files(tmp_path / "results", better)
    assert CliRunner().invoke(app, ["settle", "--config", settings]).exit_code == 0
    written = git(tmp_path / "board", "show", "leaderboard-bot/rolling/board:data/README.md")
    assert "| :crown: **49** |" in written
    assert "| | **heron-3b** | | | | |" in written


def test_two_headings_that_changed_places_are_left_to_a_person(tmp_path: Path) -> None:
    """The numbers alone decided where a heading was no whole name, and the columns kept the wrong headings."""
    text = str(FORMS["board.csv"]).replace("sums plus,sums times", "times,plus")
    done = adopted(tmp_path, "board.csv", text)
    assert "TODO times: its heading names sums_times, and acc of sums_times gives its numbers in 0 of 3" in done.stderr
    assert "TODO plus: its heading names sums_plus" in done.stderr


def test_a_row_with_a_remark_and_none_of_the_numbers_is_another_model(tmp_path: Path) -> None:
    """Its numbers were to become those of the model without the remark, as of `o3 (high)` and `o3`."""
    text = str(FORMS["board.csv"]).replace("acme/lynx-1b,31,44,53,42.7", "lynx-1b (8 bit),12,13,14,13.0")
    done = adopted(tmp_path, "board.csv", text)
    assert (
        reproduced(done.stdout.splitlines()[0])
        == "1 of 2 rows reproduced to the printed digit; 1 cell of 1 row differs:"
    )
    assert "without a result: lynx-1b (8 bit)" in done.stdout
    said = (
        "1 model of the results would be a new row: acme/lynx-1b; if a row without a result is one of these, write its"
    )
    assert f"{said} name into `names` of its column" in done.stderr
