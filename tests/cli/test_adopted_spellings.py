"""Adopting tables of which the rows are spelled in more ways than one, as people's tables are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.evaluation.leaderboard import load_leaderboard
from tests.cli.test_adopt import COLUMNS, MODELS, TASKS, adopted, mapping, markdown, numbers, reproduced
from tests.command import bot
from tests.world.local_git import git
from tests.world.results import path_of, result

WHOLE = "3 of 3 rows reproduced to the printed digit"


def settled(folder: Path) -> str:
    done = CliRunner().invoke(app, ["settle", "--config", str(folder / "ours" / "bot.toml")])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_numbers_that_are_texts_are_right_with_any_number_of_decimals(tmp_path: Path) -> None:
    """Like leaderboard_data.json of MMMU-Benchmark/mmmu-benchmark.github.io `9092d1b4`: 191 texts of one decimal."""
    table = [{"Model": row["Model"], **{one: f"{row[one]:.0f}" for one in COLUMNS}} for row in numbers()]
    table[1]["logic"] = "53.00"
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert reproduced(done.stdout.rstrip()) == WHOLE, done.output
    assert "guessing" not in (tmp_path / "ours" / "board.toml").read_text()  # raw columns: no bound is left to decide
    assert "3 on main, 0 open" in settled(tmp_path)


def test_of_rows_that_mean_one_model_the_one_with_its_numbers_is_its_row(tmp_path: Path) -> None:
    """Like DeepCoder-14B-Preview and its row of other settings in bigcode-bench.github.io `81f56354`."""
    table: dict[str, object] = {}
    for number, row in enumerate(numbers()):
        link = {"link": f"https://huggingface.co/{row.pop('Model')}"}
        table |= {f"Our {number}": {**link, **row}}
        table |= {f"Our {number} (tools)": {**link, **dict.fromkeys(row, None if number else 12.5)}}
    done = adopted(tmp_path, "keyed.json", json.dumps(table))
    assert "2 of 3 rows reproduced" in done.stdout, done.output
    assert mapping(tmp_path).columns["model"].names == {model: f"Our {number}" for number, model in enumerate(MODELS)}


def test_lines_between_rows_are_neither_gaps_nor_rows_of_a_model(tmp_path: Path) -> None:
    """Like README.md of openai/simple-evals `ee3b0318`: a line `**o3-mini**` of empty cells above the row o3-mini."""
    lines = ["| Model | sums plus | sums times | logic |", "|---|---|---|---|", "| **atlas-7b** | | | |"]
    lines += [f"| {model.partition('/')[2]} | {a}.0 | {b}.0 | {c}.0 |" for model, (a, b, c) in MODELS.items()]
    table = "\n".join([*lines, "| nobody | n/a | 3.0 | n/a |", ""])
    done = adopted(tmp_path, "README.md", f"# Ours\n\n{table}")
    first, *rest = done.stdout.splitlines()
    assert (reproduced(first), rest) == (WHOLE, ["without a result: nobody"]), done.output
    assert {column.missing for label, column in mapping(tmp_path).columns.items() if label == "logic"} == {"n/a"}


def test_error_rates_of_files_are_percentages_of_a_table(tmp_path: Path) -> None:
    """Like the README.md of Picovoice/speech-to-text-benchmark `94dcc73e`, where files have the rates as fractions."""
    files = {}
    for model, right in MODELS.items():
        rates = {one: {"wer,none": (100.25 - count) / 100} for one, count in zip(TASKS, right, strict=True)}
        files[path_of(model)] = json.dumps(json.loads(result(model)) | {"results": rates}).encode()
    table = [{"Model": row["Model"], **{one: f"{100.25 - row[one]:.2f}%" for one in COLUMNS}} for row in numbers()]
    for row, right in zip(table, MODELS.values(), strict=True):
        row["Average"] = f"{100.25 - sum(right) / 3:.1f}%"
    done = adopted(tmp_path, "list.json", json.dumps(table), **files)
    assert reproduced(done.stdout.rstrip()) == WHOLE, done.output
    shown = [mapping(tmp_path).columns[one] for one in (*COLUMNS, "Average")]
    wanted = [*(f"tasks.{task}.raw" for task in TASKS), "average_raw"]
    assert [(column.value, column.unit) for column in shown] == [(value, "percent") for value in wanted]


@pytest.mark.slow
def test_entries_of_right_rows_come_with_the_first_request_whenever_it_is(tmp_path: Path) -> None:
    table = [{key: value for key, value in row.items() if key != "Avg"} for row in numbers()]
    assert reproduced(adopted(tmp_path, "list.json", json.dumps(table)).stdout.rstrip()) == WHOLE
    assert "3 on main, 0 open" in settled(tmp_path)
    (tmp_path / "results" / path_of("acme/new-1b")).parent.mkdir(parents=True)
    (tmp_path / "results" / path_of("acme/new-1b")).write_bytes(result("acme/new-1b", right=(11, 12, 13)))
    git(tmp_path / "results", "add", ".")
    git(tmp_path / "results", "commit", "--quiet", "--message=New")
    assert "3 on main, 1 open" in settled(tmp_path)
    board = tmp_path / "board"
    [branch] = git(board, "branch", "--list", "leaderboard-bot/*", "--format=%(refname:short)").split()
    assert len(git(board, "diff", "--name-only", f"HEAD..{branch}", "--", "entries").split()) == 4
    assert "3 on main, 1 open" in settled(tmp_path)
    git(board, "merge", "--quiet", branch)
    assert "4 on main, 0 open" in settled(tmp_path)


def test_a_second_line_of_headings_is_no_row(tmp_path: Path) -> None:
    """Like README.md of yahoojapan/JGLUE `6f071c00`: below the headings a line without a name says `acc`."""
    lines = [
        "|Model|sums plus|sums times|logic|",
        "|---|---|---|---|",
        "||acc|acc|EM/F1|",
        "|Human|0.99|0.98|0.99/0.99|",
    ]
    lines += [f"|{model.partition('/')[2]}|{a / 100}|{b / 100}|{c / 100}/0.9|" for model, (a, b, c) in MODELS.items()]
    done = adopted(tmp_path, "README.md", "\n".join(["# Ours", "", *lines, ""]))
    first, *rest = done.stdout.splitlines()
    assert (reproduced(first), rest) == (WHOLE, ["without a result: Human"]), done.output
    assert "logic" not in mapping(tmp_path).columns


def test_a_table_of_html_or_of_several_numbers_in_each_cell_is_said_to_be_so(tmp_path: Path) -> None:
    """Like README.md of coastalcph/lex-glue `419a49d1`, and of kbulutozler/medical-llm-benchmark `4e78a1b2`."""
    html = "<table><tr><td>Model</td></tr><tr><td>atlas-7b</td></tr></table>\n"
    done = adopted(tmp_path / "html", "README.md", html)
    assert str(done.exception) == "data/README.md: no table was found in it; one of HTML is not read"
    mixed = "|Model|sums plus|\n|---|---|\n|atlas-7b|0.76/0.79/0.77|\n|lynx-1b|0.89/0.87/0.88|\n"
    done = adopted(tmp_path / "mixed", "README.md", mixed)
    assert "no column shows a number of these results (none has one number in each cell)" in str(done.exception)


def test_a_table_of_means_alone_is_said_to_lack_the_columns_of_its_tasks(tmp_path: Path) -> None:
    """Like README.md of nlpai-lab/KURE: other names would not help, for the named rows have other numbers."""
    table = "|Model|Average NDCG|\n|---|---|\n|atlas-7b|0.60551|\n|Lynx (large)|0.60394|\n"
    said = str(adopted(tmp_path, "README.md", table).exception)
    assert "; 1 of its 2 rows names a model of the results (atlas-7b); a mean of tasks is known by the columns" in said


def test_a_faulty_result_is_named_with_what_to_do_and_not_passed_over(tmp_path: Path) -> None:
    """Like euroeval_benchmark_results.jsonl of Mikeriess/scandeval_benchmarking: the results of 25 models in one."""
    lines = [
        {"dataset": "allocine", "model": name, "results": {"total": {"test_mcc": 94.7}}, "euroeval_version": "15.3.1"}
        for name in ("acme/atlas-7b", "acme/lynx-1b")
    ]
    file = tmp_path / "in" / "all.jsonl"
    file.parent.mkdir()
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "board.csv").write_text("Model,allocine\nacme/atlas-7b,94.7\n", encoding="utf-8")
    words = ("--table", tmp_path / "board.csv", "--results", file.parent)
    status, _, err = bot("init", tmp_path / "ours", *words)
    assert status == 2
    assert "the file holds the results of 2 models" in err
    assert "→ put the lines of each model into a file of its own" in err
    file.with_suffix(".json").write_text('{"Classification": 1}', encoding="utf-8")
    file.unlink()
    assert "the model at" in bot("init", tmp_path / "ours", *words)[2]
    assert "you describe the columns yourself" in bot("init", tmp_path / "ours", *words[:2])[2]


def test_tables_that_nothing_tells_apart_stop_until_one_is_named(tmp_path: Path) -> None:
    """Like README.md of yahoojapan/JGLUE `6f071c00`: the models, and scores of two sets, all below one heading."""
    models = "|Model|Units|\n|---|---|\n|atlas-7b|words|\n|lynx-1b|words|\n"
    table = "|Model|sums plus|\n|---|---|\n|atlas-7b|0.5|\n|lynx-1b|0.31|\n"
    done = adopted(tmp_path, "README.md", f"# Ours\n\n{models}\n{table}\nOn the test set:\n\n{table}")
    said = "2 of its tables show these results equally well; name one of them: --at Ours, --at 3"
    assert str(done.exception).endswith(f": {said}"), done.output
    assert not (tmp_path / "ours").exists()


def test_one_number_with_more_decimals_is_not_how_a_column_is_printed(tmp_path: Path) -> None:
    """Like leaderboard_data.json of MMMU-Benchmark/mmmu-benchmark.github.io `9092d1b4`: one of 192 has two decimals."""
    values = {f"acme/model-{number}": 0.3117 + number * 0.01271 for number in range(12)}
    files = {}
    for model, value in values.items():
        acc = {task: {"acc,none": value} for task in TASKS[:1]}
        files[path_of(model)] = json.dumps(json.loads(result(model)) | {"results": acc}).encode()
    table = [{"Model": model, "sums plus": round(value * 100, 1)} for model, value in values.items()]
    table[5]["sums plus"] = round(values["acme/model-5"] * 100, 2)
    done = adopted(tmp_path, "list.json", json.dumps(table), **files)
    # More digits are compared at those that are there: they are right, so the cell stays.
    assert reproduced(done.stdout.splitlines()[0]) == "12 of 12 rows reproduced to the printed digit", done.output
    assert mapping(tmp_path).columns["sums plus"].decimals == 1


def test_numbers_in_code_marks_stay_in_them(tmp_path: Path) -> None:
    """Like README.md of CanCLID/asr-bench `e30b686f`, of which no row could be written."""
    lines = ["| Model | sums plus | sums times | logic |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| `{model}` | `{a / 100}` | `{b / 100}` | **`{c / 100}`** |" for model, (a, b, c) in MODELS.items()]
    table = "\n".join(["# Ours", "", *lines, ""])
    assert reproduced(adopted(tmp_path, "README.md", table).stdout.rstrip()) == WHOLE
    (tmp_path / "results" / path_of("acme/new-1b")).parent.mkdir(parents=True)
    (tmp_path / "results" / path_of("acme/new-1b")).write_bytes(result("acme/new-1b", right=(11, 12, 13)))
    git(tmp_path / "results", "add", ".")
    git(tmp_path / "results", "commit", "--quiet", "--message=New")
    assert "3 on main, 1 open" in settled(tmp_path)
    [branch] = git(tmp_path / "board", "branch", "--list", "leaderboard-bot/*", "--format=%(refname:short)").split()
    written = git(tmp_path / "board", "show", f"{branch}:data/README.md")
    assert written.splitlines() == [*table.splitlines(), "| `acme/new-1b` | `0.11` | `0.12` | **`0.13`** |"]


def test_a_column_of_numbers_with_one_text_in_it_is_a_todo_that_names_the_text(tmp_path: Path) -> None:
    """Like param_count in results/results-imagenet-real.csv of huggingface/pytorch-image-models `aa4b5850`."""
    table = [{**row, **{one: f"{row[one]:.0f}" for one in COLUMNS}} for row in numbers()]
    table[2]["logic"] = "1,069"
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert "TODO logic: '1,069' is among its cells, and is no number" in done.stderr, done.output
    assert mapping(tmp_path).columns.keys() == {"Model", *COLUMNS[:2]}


def test_marks_that_nobody_sees_are_no_part_of_a_number(tmp_path: Path) -> None:
    """As in english/summarization.md of sebastianruder/NLP-progress `379f03f4`, and beside text from right to left."""
    table = [{"Model": row["Model"], **{one: f"\u200f{row[one]:.1f}%" for one in COLUMNS}} for row in numbers()]
    table[2]["logic"] = "\ufeff69.0%"
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert reproduced(done.stdout.rstrip()) == WHOLE, done.output
    assert "3 on main, 0 open" in settled(tmp_path)
    table[0]["Model"] = "\u200fatlas-7b"
    done = adopted(tmp_path / "name", "list.json", json.dumps(table))
    assert "the name '\\u200fatlas-7b' has a mark that nobody sees: take it away first" in str(done.exception)


def test_a_remark_behind_a_name_does_not_hide_the_model(tmp_path: Path) -> None:
    """As in tables of model cards: `org/name (5-shot)`."""
    table = [{**{one: f"{row[one]:.0f}" for one in COLUMNS}, "Model": f"{row['Model']} (5-shot)"} for row in numbers()]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert reproduced(done.stdout.rstrip()) == WHOLE, done.output
    assert "3 on main, 0 open" in settled(tmp_path)


def test_braces_in_a_name_are_no_placeholder(tmp_path: Path) -> None:
    names = [f"{{model.id https://huggingface.co/{row['Model']}" for row in numbers()]
    table = [{"Model": name, **{one: row[one] for one in COLUMNS}} for name, row in zip(names, numbers(), strict=True)]
    done = adopted(tmp_path, "list.json", json.dumps(table))
    assert reproduced(done.stdout.rstrip()) == WHOLE, done.output
    assert mapping(tmp_path).columns["Model"].template == "{{model.id https://huggingface.co/{model.id}"


def test_a_break_in_a_heading_is_a_space_and_a_mark_is_no_part_of_a_title(tmp_path: Path) -> None:
    """Like README.md of Stability-AI/StableLM `93eea082`, with `ARC<br>Challenge`, `HellaSwag (✱)` and `88.85 (?)`."""
    table = markdown().replace("sums plus", "sums<br>plus").replace("logic", "logic (✱)").replace("72 %", "72 % (?)")
    done = adopted(tmp_path, "README.md", table)
    assert "logic (✱)" not in done.stdout  # the number is equal, whatever stands around it
    assert {"sums plus", "logic (✱)"} <= mapping(tmp_path).columns.keys()
    declared = load_leaderboard(str(tmp_path / "ours" / "board.toml"))
    assert [task.title for task in declared.tasks] == ["sums plus", "sums times", "logic"]
