"""Submissions, waivers and calls in; verdicts and reports that are the same wherever a file lies, out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.errors import RuleCrashed
from bot.finding import Severity
from bot.leaderboard import Leaderboard, Waiver, parse_leaderboard
from bot.pipeline import Submission, entry_of, judge
from bot.render.report import make_report, to_json
from bot.rules.rule import Case, Facts, Rule, Violation
from tests.judging import ABSENT, EXAMPLES, KESTREL, ROOT, base, declared, dumps, patched, rules_of, verdict_of

DAY = date(2026, 6, 1)
LIMITED = patched({"/config/limit": 50.0})
CLEAN_PATH = "acme__atlas/results_1.json"


# ---- a rule that crashes ----


def crashing(_: Case) -> Iterator[Violation]:
    yield Violation("seen before the fault")
    raise KeyError("the fault")


def test_a_rule_that_crashes_fails_closed_and_names_itself() -> None:
    rule = Rule("crashing-rule", Severity.NOTICE, "0.1.0", False, crashing, "Crashes.")
    with pytest.raises(RuleCrashed, match="crashing-rule failed: KeyError: 'the fault'") as caught:
        judge(Submission("x.json", dumps(base()), 1), declared(), rules=[rule])
    assert caught.value.rule == "crashing-rule"
    assert caught.value.status == 70


def test_the_rules_that_are_asked_are_the_ones_handed_in() -> None:
    verdict = judge(Submission("x.json", dumps(LIMITED), 1), declared(), rules=[])
    assert (verdict.findings, verdict.status) == ((), "accepted")


# ---- waivers ----

DECLARATION = (ROOT / "bot" / "leaderboards" / "open-llm-v2.toml").read_text(encoding="utf-8")


def waiving(rule: str, submission: str, until: str = "2026-12-31") -> Leaderboard:
    text = f"""
[[waivers]]
rule = "{rule}"
submission = "{submission}"
reason = "a smoke test"
who = "the maintainers"
until = {until}
"""
    return parse_leaderboard(DECLARATION + text, "open-llm-v2", "x.toml")


SHA = "sha256:" + sha256(dumps(LIMITED)).hexdigest()


@pytest.mark.parametrize("submission", ["acme__atlas/*", CLEAN_PATH, "*", "example-org/kestrel-7b", SHA])
def test_a_living_waiver_turns_the_error_into_a_warning_that_says_who_why_and_until(submission: str) -> None:
    verdict = verdict_of(LIMITED, waiving("limited-run", submission), Facts(today=DAY), CLEAN_PATH)
    (finding,) = verdict.findings
    assert finding.severity is Severity.WARNING
    for part in ("the maintainers", "a smoke test", "2026-12-31"):
        assert part in finding.message
    assert verdict.status == "accepted"
    assert verdict.scores is not None
    assert verdict.scores.average is not None
    entry = entry_of(verdict)
    assert entry is not None
    assert [remark.rule for remark in entry.warnings] == ["limited-run"]


@pytest.mark.parametrize(
    ("rule", "submission", "until"),
    [
        ("limited-run", "*", "2026-05-31"),
        ("wrong-sample-count", "*", "2026-12-31"),
        ("limited-run", "other/*", "2026-12-31"),
        ("limited-run", "example-org/kestrel", "2026-12-31"),
        ("limited-run", "sha256:" + "0" * 64, "2026-12-31"),
        ("limited-run", SHA[:30], "2026-12-31"),
    ],
)
def test_a_waiver_that_expired_or_is_of_something_else_changes_nothing(rule: str, submission: str, until: str) -> None:
    verdict = verdict_of(LIMITED, waiving(rule, submission, until), Facts(today=DAY), CLEAN_PATH)
    assert verdict.status == "rejected"
    assert {finding.severity for finding in verdict.findings} == {Severity.ERROR}


def test_a_waiver_holds_on_its_last_day_and_never_where_no_day_is_known() -> None:
    board = waiving("limited-run", "*", "2026-06-01")
    assert verdict_of(LIMITED, board, Facts(today=DAY)).status == "accepted"
    assert verdict_of(LIMITED, board).status == "rejected"


def test_a_waiver_handed_in_counts_like_a_declared_one() -> None:
    waiver = Waiver(rule="limited-run", submission="*", reason="a test", who="me", until=DAY)
    assert verdict_of(LIMITED, facts=Facts(today=DAY, waivers=(waiver,))).status == "accepted"


def test_a_waiver_makes_no_number_where_there_is_none() -> None:
    hole = patched({"/results/leaderboard_mmlu_pro": ABSENT})
    nan = patched({"/results/leaderboard_mmlu_pro/acc,none": None})
    for data, rule in ((hole, "missing-task"), (nan, "non-finite-value")):
        verdict = verdict_of(data, waiving(rule, "*"), Facts(today=DAY))
        assert {finding.severity for finding in verdict.findings} <= {Severity.WARNING}
        assert verdict.status == "incomplete"
        entry = entry_of(verdict)
        assert entry is not None
        assert (entry.verdict, entry.average) == ("incomplete", None)


# ---- the report ----


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


def without_paths(report: dict[str, Any]) -> dict[str, Any]:
    for submission in report["submissions"]:
        submission["path"] = ""
        for finding in submission["findings"]:
            finding["location"]["path"] = ""
    return report


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.parent.name)
def test_a_file_its_folder_and_a_copy_elsewhere_give_one_report(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "results_renamed.json"
    copy.parent.mkdir()
    shutil.copy(file, copy)
    reports = [report_of(file), report_of(file.parent), report_of(copy), report_of(Path(copy.name), cwd=copy.parent)]
    assert len({report["submissions"][0]["digest"] for report in reports}) == 1
    assert len({report["submissions"][0]["path"] for report in reports}) == 3
    first, *others = map(without_paths, reports)
    assert all(other == first for other in others)


def test_another_byte_or_another_declaration_gives_another_digest() -> None:
    def digest(data: bytes, leaderboard: str = "open-llm-v2") -> str:
        report = make_report([verdict_of(data, leaderboard)], declared(leaderboard))
        return str(report["submissions"][0]["digest"])

    data = dumps(base())
    assert len({digest(data), digest(data + b" "), digest(data, "open-llm-v1"), digest(data, "open-llm-v1-drop")}) == 4
    assert digest(data) == digest(data)


SUBMISSION = {
    "path": str, "sha256": str, "format": (str, type(None)), "model": (dict, type(None)), "verdict": str,
    "harness": (dict, type(None)), "coverage": (dict, type(None)), "findings": list, "scores": (dict, type(None)),
    "digest": str,
}  # fmt: skip
FINDING = {"rule": str, "severity": str, "message": str, "hint": str, "location": dict, "url": str}
LOCATION = {"path": str, "pointer": str, "line": int}
TASK = {
    "id": str, "title": str, "raw": (float, type(None)), "score": (float, type(None)), "stderr": (float, type(None)),
    "leaves": list,
}  # fmt: skip
LEAF = {
    "id": str, "metric": str, "samples": (int, type(None)), "raw": (float, type(None)), "lower_bound": str,
    "upper_bound": str, "score": (float, type(None)),
}  # fmt: skip


def holds(value: dict[str, Any], fields: dict[str, Any]) -> None:
    """The fields of the design are there with their types; further ones may come."""
    for name, kind in fields.items():
        assert isinstance(value[name], kind), (name, value[name])


@pytest.mark.parametrize(
    "data", [base(), LIMITED, {}, patched({"/results/leaderboard_mmlu_pro/acc,none": float("inf")})]
)
def test_a_report_has_the_fields_of_its_schema(data: dict[str, Any]) -> None:
    report = json.loads(to_json(make_report([verdict_of(data)], declared())), parse_constant=pytest.fail)
    assert report["schema"] == "leaderboard-bot/report/1"
    assert set(report["tool"]) == {"version"}
    assert set(report["leaderboard"]) == {"id", "digest"}
    assert sum(report["summary"].values()) == 1
    assert set(report["summary"]) == {"accepted", "incomplete", "rejected"}
    (submission,) = report["submissions"]
    holds(submission, SUBMISSION)
    for finding in submission["findings"]:
        holds(finding, FINDING)
        holds(finding["location"], LOCATION)
    for task in (submission["scores"] or {"tasks": []})["tasks"]:
        holds(task, TASK)
        for leaf in task["leaves"]:
            holds(leaf, LEAF)
    if submission["coverage"]:
        assert submission["coverage"]["leaves"] == {"present": 39, "required": 39}
        assert set(submission["model"]) >= {"id", "revision", "precision", "chat_template"}
        assert set(submission["harness"]) >= {"name", "repository", "git_hash", "version"}


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_a_name_of_a_megabyte_fills_no_report(form: str, tmp_path: Path) -> None:
    file = tmp_path / "results_x.json"
    huge = {"/model_name": "k" * 10**6, "/config/model_dtype": "d" * 10**6, "/git_hash": "g" * 10**6}
    file.write_bytes(dumps(patched({**huge, "/lm_eval_version": "9" * 10**6})))
    done = CliRunner().invoke(app, ["check", str(file), "--format", form])
    assert done.exit_code == 1
    assert len(done.stdout) < 10_000
    assert len(CliRunner().invoke(app, ["score", str(file), "--format", "markdown"]).stdout) < 10_000


# ---- bad calls ----


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, so that a traceback would show."""
    return subprocess.run(
        [sys.executable, "-m", "bot", *args],
        cwd=cwd, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def big_file(folder: Path) -> list[str]:
    with (folder / "results_big.json").open("wb") as file:
        file.truncate(2 * 1024**3)  # sparse: nothing is written
    return ["check", "results_big.json"]


def undeclared(folder: Path) -> list[str]:
    (folder / "mine.toml").write_text("title = [", encoding="utf-8")
    return ["check", str(KESTREL), "--leaderboard", "mine.toml"]


def no_repository(folder: Path) -> list[str]:
    (folder / "target").mkdir()
    (folder / "target" / "notes.txt").write_text("mine", encoding="utf-8")
    return ["publish", str(KESTREL), "--to", "target"]


@pytest.mark.parametrize(
    ("prepare", "status", "said"),
    [
        (lambda folder: ["check", str(folder)], 2, "no result file"),
        (lambda _: ["check", "nowhere.json"], 2, "no such file"),
        (lambda _: ["check", "x" * 5000], 2, ""),
        (lambda _: ["check", "/dev/null"], 2, "neither a file nor a folder"),
        (lambda _: ["check", str(KESTREL), "--leaderboard", "nothing"], 2, "no leaderboard 'nothing'"),
        (lambda _: ["explain", str(KESTREL), "nothing"], 2, "no task 'nothing'"),
        (lambda _: ["rules", "nothing"], 2, "no rule 'nothing'"),
        (undeclared, 2, "mine.toml: is no TOML"),
        (no_repository, 2, "target"),
    ],
)
def test_a_bad_call_is_one_line_with_its_status_and_nothing_written(
    prepare: Any, status: int, said: str, tmp_path: Path
) -> None:
    call = prepare(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = run(*call, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_of_two_gigabytes_is_reported_without_being_read(tmp_path: Path) -> None:
    done = run(*big_file(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert "2,147,483,648 bytes" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "results_secret.json"
    file.write_text("{}", encoding="utf-8")
    file.chmod(0)
    done = run("check", file.name, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_verdict_of_several_files_fails_where_one_has_an_error(tmp_path: Path) -> None:
    (tmp_path / "results_1.json").write_bytes(dumps(base()))
    assert run("check", ".", cwd=tmp_path).returncode == 0
    (tmp_path / "results_2.json").write_bytes(dumps(LIMITED))
    assert run("check", ".", cwd=tmp_path).returncode == 1
    assert rules_of(verdict_of(LIMITED)) == {"limited-run"}
