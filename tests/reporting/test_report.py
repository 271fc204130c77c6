"""The JSON report: the same wherever a file lies, with the fields of its schema."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from bot.cli.app import app
from bot.evaluation.formats.other_files import kinds
from bot.evaluation.submission import UnreadPath
from bot.reporting.markdown import judgement_markdown
from bot.reporting.report import make_report, to_json
from bot.reporting.shell import shell_lines
from bot.reporting.table import Table, text_table
from bot.reporting.text import ABOVE, SCREEN, Ink, _cause_lines, short_revision, summary_text, terminal_text
from tests.evaluation.judging import EXAMPLES, base, dumps, judgement_of, patched

ADVICE, PLAIN = next(kind.advice for kind in kinds() if kind.id == "sample-log"), Ink(colour=False)
LIMITED = patched({"/config/limit": 50.0})
VALUE = {"/results/leaderboard_mmlu_pro/acc,none": 0.5, "/results/leaderboard_mmlu_pro/acc_stderr,none": "N/A"}


def report_of(*paths: Path, cwd: Path | None = None) -> dict[str, Any]:
    """What `check --format json` prints."""
    before = Path.cwd()
    os.chdir(cwd or before)
    try:
        done = CliRunner().invoke(app, ["check", *map(str, paths), "--format", "json"])
    finally:
        os.chdir(before)
    assert done.exit_code in {0, 1}, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.parent.name)
def test_a_file_its_folder_and_a_copy_elsewhere_give_one_report(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "results_renamed.json"
    copy.parent.mkdir()
    shutil.copy(file, copy)
    reports = [report_of(file), report_of(file.parent), report_of(copy), report_of(Path(copy.name), cwd=copy.parent)]
    assert len({report["digest"] for report in reports}) == 1
    assert len({report["submissions"][0]["path"] for report in reports}) == 3


def test_the_order_and_the_place_of_files_leave_the_digest_as_it_is() -> None:
    one, other = patched({"/date": 1e9}), patched({"/date": 2e9} | VALUE)
    named = make_report(judgement_of({"a.json": one, "b.json": other}))
    turned = make_report(judgement_of({"x/c.json": other, "d.json": one}))
    assert named["digest"] == turned["digest"]
    assert [finding["rule"] for finding in named["rows"][0]["findings"]] == ["rerun-differs"]


def test_another_byte_or_another_declaration_gives_another_digest() -> None:
    def digest(data: bytes, leaderboard: str = "open-llm-v2") -> str:
        return str(make_report(judgement_of({"x.json": data}, leaderboard))["digest"])

    data = dumps(base())
    assert len({digest(data), digest(data + b" "), digest(data, "open-llm-v1"), digest(data, "open-llm-v1-drop")}) == 4
    assert digest(data) == digest(data)


SUBMISSION = {
    "path": str, "sha256": str, "format": (str, type(None)), "key": (str, type(None)), "model": (dict, type(None)),
    "verdict": str, "harness": (dict, type(None)), "leaves": int, "findings": list,
}  # fmt: skip
ROW = {"key": str, "model": dict, "verdict": str, "coverage": dict, "scores": dict, "findings": list, "files": list}
FINDING = {"rule": str, "severity": str, "message": str, "hint": str, "location": dict, "url": str}
LOCATION = {"path": str, "pointer": str, "line": int}
TASK = {
    "id": str, "title": str, "raw": (float, type(None)), "score": (float, type(None)), "stderr": (float, type(None)),
    "leaves": list,
}  # fmt: skip
LEAF = {
    "id": str, "metric": str, "samples": (int, type(None)), "raw": (float, type(None)), "lower_bound": str,
    "upper_bound": str, "score": (float, type(None)), "stderr": (float, type(None)), "file": str,
}  # fmt: skip


def holds(value: dict[str, Any], fields: dict[str, Any]) -> None:
    """The fields of the design are there with their types; further ones may come."""
    for name, kind in fields.items():
        assert isinstance(value[name], kind), (name, value[name])


@pytest.mark.parametrize(
    "data", [base(), LIMITED, {}, patched({"/results/leaderboard_mmlu_pro/acc,none": float("inf")})]
)
def test_a_report_has_the_fields_of_its_schema(data: dict[str, Any]) -> None:
    report = json.loads(to_json(make_report(judgement_of({"x.json": data}))), parse_constant=pytest.fail)
    assert report["schema"] == "leaderboard-bot/report/2"
    assert set(report["tool"]) == {"version"}
    assert set(report["leaderboard"]) == {"id", "digest", "scoring_digest"}
    assert sum(report["summary"][verdict] for verdict in ("accepted", "incomplete", "rejected")) == 1
    (submission,) = report["submissions"]
    holds(submission, SUBMISSION)
    for found in [*submission["findings"], *(finding for row in report["rows"] for finding in row["findings"])]:
        holds(found, FINDING)
        holds(found["location"], LOCATION)
    assert len(report["rows"]) == (1 if data else 0)
    for row in report["rows"]:
        holds(row, ROW)
        assert row["coverage"]["required"] == submission["leaves"] == 39
        assert set(row["model"]) >= {"id", "revision", "precision", "chat_template"}
        assert row["key"] == submission["key"]
        for task in row["scores"]["tasks"]:
            holds(task, TASK)
            for leaf in task["leaves"]:
                holds(leaf, LEAF)
                assert leaf["file"] == "x.json"


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_a_name_of_a_megabyte_fills_no_report(form: str, tmp_path: Path) -> None:
    file = tmp_path / "results_x.json"
    huge = {"/model_name": "k" * 10**6, "/config/model_dtype": "d" * 10**6, "/git_hash": "g" * 10**6}
    file.write_bytes(dumps(patched({**huge, "/lm_eval_version": "9" * 10**6})))
    done = CliRunner().invoke(app, ["check", str(file), "--format", form])
    assert done.exit_code == 1
    assert len(done.stdout) < 10_000
    assert len(CliRunner().invoke(app, ["score", str(file), "--format", "markdown"]).stdout) < 10_000


def test_neither_a_path_nor_a_command_is_wrapped_and_a_summary_fits_100_columns() -> None:
    path = f"/scratch/{'somebody/' * 12}results_x.json"
    data = patched({"/model_name": path})
    text = terminal_text(replace(judgement_of({path: data}), unread=(UnreadPath(path, "sample-log", ADVICE),)), PLAIN)
    assert path in text
    assert "`leaderboard-bot audit drop FILE`" in text
    lines = summary_text(judgement_of({path: data}), PLAIN).splitlines()
    assert max(map(len, lines)) <= 100
    assert "…" in lines[0]


def test_a_long_name_goes_on_below_after_a_mark_of_it() -> None:
    table = Table(("task", "score"), (("bigbench_logical_deduction_five_objects", 0.29),))
    assert [line.split("  ")[0] for line in text_table(table, 30).splitlines()] == [
        "task", "bigbench_logical_", "deduction_five_objects"
    ]  # fmt: skip


def test_each_part_of_a_wide_table_names_its_rows(tmp_path: Path) -> None:
    tasks = [f"task_{n}" for n in range(30)]
    task = '[[tasks]]\nid = "{0}"\ntitle = "{0}"\nmetrics = [{{ name = "acc" }}]\nleaves = [{{ id = "{0}" }}]\n'
    head = 'title = "Wide"\ndescription = "Thirty."\n[harness]\nformats = ["lm-eval-0.4"]\n'
    declared = tmp_path / "wide.toml"
    declared.write_text(head + "".join(map(task.format, tasks)))
    for name in ("kestrel", "osprey"):
        rows = {"/results": {one: {"acc,none": 0.5} for one in tasks}, "/model_name": f"example-org/{name}-instruct-7b"}
        (tmp_path / f"{name}.json").write_bytes(dumps(patched(rows)))

    parts = CliRunner().invoke(app, ["score", str(tmp_path), "-l", str(declared)]).stdout.strip().split("\n\n")

    assert len(parts) > 1
    for part in parts:
        assert [line.split()[1] for line in part.splitlines()[1:]] == [
            "…rel-instruct-7b",
            "…rey-instruct-7b",
        ]


def test_a_table_fits_the_terminal_and_100_columns_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(("name", *"abcdefgh"), tuple((f"a name of some length {i}", *[1234.5678] * 8) for i in range(3)))
    assert 60 < max(map(len, text_table(table).splitlines())) <= 100
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for columns in (60, 80, 300):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert max(map(len, text_table(table).splitlines())) <= min(columns, 100)


def without(*tasks: str) -> bytes:
    """The example with no result of some tasks, which their subtasks begin with."""
    content = base()
    content["results"] = {name: one for name, one in content["results"].items() if not name.startswith(tasks)}
    return dumps(content)


def test_a_text_of_more_than_a_screen_says_each_cause_once_with_its_files_and_columns() -> None:
    model = json.loads(without())["model_name"]
    missing = without("leaderboard_bbh", "leaderboard_gpqa", "leaderboard_musr")
    files = {f"runs/{i}/results_x.json": missing.replace(model.encode(), f"acme/model-{i}".encode()) for i in range(12)}
    files["runs/limited.json"] = LIMITED
    judgement = judgement_of(files)

    text = terminal_text(judgement, PLAIN, quiet=True)

    lines = text.splitlines()
    above, _, end = text.partition("→ for acme/model-0: to repair all of this, measure everything again")
    assert len([line for line in above.splitlines() if not line.endswith(" \\")]) <= SCREEN
    assert "The commands of 11 more rows: check --all ends each row with its own." in end
    assert text.count("error[missing-task]  36 findings in 12 rows") == 1
    assert "    columns in all of them: BBH, GPQA, MUSR" in lines
    assert "    in acme/model-0, acme/model-1, acme/model-10 and 9 more" in lines
    assert "    in limited.json" in lines
    assert lines[-1].startswith("13 rows from 13 files")
    whole = terminal_text(judgement, PLAIN, quiet=True, whole=True)
    assert whole.count("error[missing-task]") == 36


def test_a_grouped_text_about_one_row_names_each_of_its_errors() -> None:
    content = base()
    content["configs"]["leaderboard_mmlu_pro"]["dataset_path"] = "me/leaked"
    content["configs"]["leaderboard_gpqa_main"]["doc_to_text"] = "{{Answer}}"
    content["configs"]["leaderboard_ifeval"]["generation_kwargs"] = {"temperature": 1.0, "do_sample": True}
    content["n-shot"] |= {leaf: 7 for leaf in content["n-shot"] if "math" in leaf or "musr" in leaf}
    content["config"]["model_sha"] = ""
    text = terminal_text(judgement_of({"results_x.json": dumps(content)}), PLAIN)
    assert "This is grouped by rule" in text
    for value in ("me/leaked", "{{Answer}}", "temperature"):
        assert value in text


def test_a_message_with_and_without_advice_is_said_once_with_it() -> None:
    """Like 'the file does not record the commit' of logs of Inspect, which is no advice for a model of a service."""
    judgement = judgement_of({"limited.json": LIMITED})
    [found] = [one for one in judgement.verdicts[0].findings if one.rule == "limited-run"]
    lines = list(_cause_lines([("a", replace(found, hint="")), ("b", found)], judgement, set()))
    told = "the run was limited to 50 samples of each task (--limit)"
    assert lines == [
        f"    {told}",
        "    → run it again without --limit (lm-eval 0.4.9):",
        *(f"      {line}" for line in shell_lines(found.command)),
        "    in a, b",
    ]


def test_a_command_of_one_file_is_named_by_it_where_another_file_needs_another() -> None:
    judgement = judgement_of({"limited.json": LIMITED})
    [found] = [one for one in judgement.verdicts[0].findings if one.rule == "limited-run"]
    other = replace(found, command="lm_eval --tasks arc_challenge")
    lines = list(_cause_lines([("a", found), ("b", other)], judgement, set()))
    assert lines[1:-1] == [
        "    → for a: run it again without --limit (lm-eval 0.4.9):",
        *(f"      {line}" for line in shell_lines(found.command)),
        "    → for b: run it again without --limit (lm-eval 0.4.9):",
        "      lm_eval --tasks arc_challenge",
    ]


def test_a_message_says_each_advice_of_its_files_and_of_many_rows_how_many_there_are() -> None:
    """As where a service gives no log-likelihoods for one file, and can measure what is in another."""
    judgement = judgement_of({"limited.json": LIMITED})
    [found] = [one for one in judgement.verdicts[0].findings if one.rule == "limited-run"]
    advised = [(name, replace(found, hint=f"measure {name} locally", command="")) for name in "abc"]
    lines = list(_cause_lines(advised, judgement, set()))
    assert lines[1:-1] == [f"    → for {name}: measure {name} locally" for name in "abc"]
    rows = judgement_of({"a.json": LIMITED, "b.json": LIMITED | {"model_name": "acme/atlas"}})
    lines = list(_cause_lines(advised, rows, set()))
    assert lines[1:-1] == ["    → for a: measure a locally", "    and 2 more: check --all shows what to do in each"]
    above: set[str] = set()
    advised = [("a", replace(found, hint=ABOVE, command="")), ("b", replace(found, command="lm_eval --tasks arc"))]
    lines = list(_cause_lines([*advised, ("c", replace(found, command="lm_eval --tasks gsm8k"))], rows, above))
    assert lines[1].startswith("    → for b: run it again")
    assert lines[2:4] == ["      lm_eval --tasks arc", "    and 2 more: check --all shows what to do in each"]
    assert above == {"lm_eval --tasks arc"}, "what was not shown is not above"


def steps() -> dict[str, bytes]:
    """Checkpoints of one model, as evals/pythia-v1 of EleutherAI/pythia `a19eecb3` has them; two lack GPQA."""
    made = {}
    for step in ("1", "2", "3"):
        data = base() if step == "1" else json.loads(without("leaderboard_gpqa"))
        data["config"] |= {"model_sha": step * 40, "limit": 50.0}
        made[f"step{step}.json"] = dumps(data)
    return made


def test_rows_of_one_model_are_told_apart_by_their_revisions() -> None:
    judgement = judgement_of(steps())
    lines = summary_text(judgement, PLAIN).splitlines()
    assert [f"@{step * 12}  " in line for step, line in zip("123", lines[:3], strict=True)] == [True] * 3
    text = terminal_text(judgement, PLAIN)
    assert "error[limited-run]  3 findings in 3 files" in text
    assert "error[missing-task]  2 findings in 2 rows" in text


def test_a_revision_that_is_a_branch_is_named_whole() -> None:
    """As those of the checkpoints of Neelectric/open-r1_safety, of whose names only the ends differ."""
    assert [short_revision(one) for one in ("a" * 40, "v00.01-step-000001172", "")] == [
        "a" * 12,
        "v00.01-step-000001172",
        "",
    ]


def test_the_keys_of_one_file_are_said_of_no_other() -> None:
    """As of the results and the workflows of Rye-A1/danish-asr-leaderboard `ab7c4212`."""
    unread = [UnreadPath(f"results/{name}.json", "other", f'has no "results" object; its keys are {keys}')
              for name, keys in (("a", "model and mean_wer"), ("b", "model and mean_cer"))]  # fmt: skip
    unread.append(UnreadPath("deploy.yml", "other", "nothing needs to be done"))
    text = terminal_text(replace(judgement_of({}), unread=tuple(unread)), PLAIN)
    assert 'not read: results/a.json and 1 more (other): has no "results" object\n' in text
    assert "not read: deploy.yml (other): nothing needs to be done\n" in text


def test_the_command_that_measures_all_missing_tasks_is_printed_once() -> None:
    content = json.loads(without("leaderboard_bbh", "leaderboard_gpqa")) | {"lm_eval_version": None, "git_hash": "01ab"}
    judgement = judgement_of({"x.json": content})
    assert len({one.command for one in judgement.rows[0].findings if one.rule == "missing-task"}) == 1
    for text in (
        terminal_text(judgement, PLAIN),
        terminal_text(judgement, PLAIN, whole=True),
        judgement_markdown(judgement),
    ):
        assert (text.count("BBH is missing"), text.count("GPQA is missing"), text.count("pip install")) == (1, 1, 1)


def test_what_every_row_lacks_is_said_once_of_all_and_a_short_text_stays_whole() -> None:
    missing = without("leaderboard_bbh", "leaderboard_gpqa")
    files = {f"{i}.json": missing.replace(b'"model_name": "', f'"model_name": "m{i}'.encode()) for i in range(20)}

    assert "    columns in all of them: BBH, GPQA" in terminal_text(judgement_of(files), PLAIN).splitlines()
    one = judgement_of({"limited.json": LIMITED})
    assert terminal_text(one, PLAIN, quiet=True) == terminal_text(one, PLAIN, quiet=True, whole=True)
