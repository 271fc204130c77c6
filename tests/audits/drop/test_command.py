"""`leaderboard-bot audit drop`: what a person reads, what a program reads, and the exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.audits.drop.audit import audit_drop
from bot.audits.drop.report import document, drop_json
from bot.reporting.prose import markdown, text
from tests.audits.drop.drop_logs import SOUND, plain_log, row_03, row_04, row_plain, rows_04, write_array, write_lines
from tests.command import bot

HOSTILE = "10\n\x1b[2J\u202e`<script>alert(1)</script>` | @everyone [x](http://evil.example) \ud800"


def run(*args: object) -> tuple[int, str, str]:
    """Run the command: status, standard output, standard error."""
    return bot("audit", "drop", *args)


def unwrapped(out: str) -> str:
    """A report without its line breaks."""
    return " ".join(out.split())


def test_sound_log_gives_status_0_and_the_whole_report(tmp_path: Path) -> None:
    path = plain_log(tmp_path / "s.jsonl", SOUND)

    status, out, err = run(path)

    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "DROP is sound: the scores show what the models answered",
        "",
        "36 samples (36 plain); 36 with a logged score, of which 0 differ; decimal answers right: 0 of 0;",
        "whole-number answers right: 12 of 12; length and f1 correlate with r = -0.50.",
        "",
        "Scores with and without the repair",
        "----------------------------------",
        "generations                        em      f1  better  worse",
        "as the harness scores it       0.6667  0.6667       -      -",
        "cut at the first line break    0.6667  0.6667       0      0",
        "cut at the first line of text  0.6667  0.6667       0      0",
        "",
        "Flaws, as shares of all samples",
        "-------------------------------",
        "flaw                                             samples   share",
        "number glued to white space other than a space         0       0",
        "  of these, the score rises without it                 0       0",
        'decimal answer cut at the stop word "."                0       0',
        "decimal destroyed with its punctuation                 0       0",
        "generation goes on after the line of the answer        0       0",
        'ends with a digit: perhaps cut at "."                 12  0.3333',
        "few-shot answers are field names, not answers          0       0",
        "logged target is field names, not the answer           0       0",
        "begins with a line break                               0       0",
        "  of these, the literal cut scores lower               0       0",
        "score decided by the cut or by white space             0       0",
        "",
        "Samples to run again",
        "--------------------",
        "Of what is not cut, 33.3% ends with a digit.",
        "to run again                          samples   share  after the cut  share after",
        "at least: decimals cut                      0       0              0            0",
        "perhaps: also what ends with a digit       12  0.3333             12       0.3333",
        "at most: also glued numbers                12  0.3333             12       0.3333",
        "settled by the cut alone                    0       0              -            -",
    ]


def test_broken_benchmark_gives_status_1_and_says_why(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "samples_drop_x.jsonl", rows_04("0.4.7", times=10))

    status, out, err = run(tmp_path, "--examples", 1)

    assert (status, err) == (1, "")
    assert out.startswith("DROP is broken: the scores do not measure the models\n\n")
    assert "Findings\n--------\nerror[drop-distorted-scores] 37.5%" in out
    shown = unwrapped(out)
    assert 'stop words ["."]' in shown
    assert (
        f'{path}:2: " 10\\n\\nPassage: The 2011 census recorded 1,001 people" for "10": em 0, f1 0.00'
        " -> em 0, f1 0.25 repaired"
    ) in shown


def test_edited_log_is_caught_with_line_and_both_scores(tmp_path: Path) -> None:
    rows = [row_plain(number, *sample) for number, sample in enumerate(SOUND)]
    rows[2]["f1"] = 0.5

    status, out, _ = run(write_lines(tmp_path / "s.jsonl", rows))

    assert status == 1
    assert "1 of 36 logged scores differ from what the harness's scorer gives" in unwrapped(out)
    assert 's.jsonl:3: " wrong" for "x": logged em 0.0, f1 0.5 -> em 0, f1 0.00' in unwrapped(out)


def test_bad_lines_give_one_line_each_reason_and_the_sound_part(tmp_path: Path) -> None:
    path = plain_log(tmp_path / "s.jsonl", SOUND)
    with path.open("a", encoding="utf-8") as log:
        log.write('{"cut\n{"doc": {}, "filtered_resps": ["x"]}\n{"cut again\n')

    status, out, err = run(path)

    assert (status, err) == (1, "")
    for finding in (
        f"{path}:37: 2 of 39 records were skipped: not valid JSON (lines 37, 39; the figures count the other 36 ",
        f"{path}:38: 1 of 39 records was skipped: a sample of another task (line 38; the figures count the other 36 ",
    ):
        assert finding in unwrapped(out)
    assert out.count("error[") == 2
    assert "36 samples (36 plain)" in out


def test_log_of_another_task_is_one_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "samples_gsm8k.jsonl", [{"doc": {"question": "q"}, "filtered_resps": ["4"]}] * 9)

    status, out, err = run(path)

    assert (status, err) == (1, "")
    assert unwrapped(out) == (
        "DROP is undetermined: fewer than 30 samples could be scored 0 samples; 0 with a logged score, of which 0"
        " differ; decimal answers right: 0 of 0; whole-number answers right: 0 of 0."
        f" Findings -------- error[drop-skipped-records] {path}:1: 9 of 9 records were skipped: a sample of another"
        " task (lines 1, 2, 3, 4, 5, …; the figures count the other 0 samples)"
    )


def test_write_out_of_the_old_harness_needs_its_golds(tmp_path: Path) -> None:
    path = write_array(tmp_path / "drop_write_out_info.json", [row_03(n, *one) for n, one in enumerate(SOUND)])
    golds = write_lines(tmp_path / "golds.jsonl", [row_04(n, *one, "0.4.7") for n, one in enumerate(SOUND)])

    without, _, _ = run(path)
    with_golds, out, _ = run(path, "--golds", golds)

    assert (without, with_golds) == (1, 0)
    assert "36 samples (36 lm-eval-0.3)" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["absent.jsonl"], "absent.jsonl: there is no such file or folder"),
        (["log.jsonl", "--golds", "absent"], "absent: cannot be read: No such file or directory"),
        (["log.jsonl", "--golds", "log.txt"], "log.txt: holds no gold answers: line 1: not valid JSON"),
        ([], "Missing argument"),
        (["log.jsonl", "--examples", "-1"], "Invalid value for '--examples'"),
    ],
)
def test_wrong_call_gives_status_2_and_one_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    plain_log(tmp_path / "log.jsonl", SOUND)
    (tmp_path / "log.txt").write_text("no JSON\n", encoding="utf-8")

    status, out, err = run(*args)

    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_text_and_markdown_show_hostile_samples_as_plain_text(tmp_path: Path) -> None:
    rows: list[Any] = [row_plain(0, HOSTILE, ((HOSTILE, "\x9b31m"),)) | {"em": 0.0}]
    audit = audit_drop([write_lines(tmp_path / "a|`b`\n.jsonl", rows)])

    for line in (text(*document(audit)) + markdown(*document(audit))).splitlines():
        assert line.isprintable()
    assert "&#64;everyone" in markdown(*document(audit))
    assert "@everyone" not in markdown(*document(audit))
    assert "\\x1b[2J" in text(*document(audit))


def test_json_report_is_versioned_and_whole(tmp_path: Path) -> None:
    rows: list[Any] = [row_plain(0, HOSTILE, (("10",),)) | {"f1": float("nan")}, {"prediction": 3}]
    status, out, _ = run(write_lines(tmp_path / "s.jsonl", rows), "--format", "json")

    report = json.loads(out)
    (log,) = report["logs"]
    assert status == 1
    assert report["schema"] == "leaderboard-bot/audit-drop/1"
    assert set(report) == {"schema", "tool", "health", "findings", "figures", "ranks", "logs"}
    assert set(log) == {"path", "health", "findings", "skipped", "figures", "examples"}
    assert set(log["figures"]) == {
        "samples", "forms", "until", "logged", "differing", "scored", "first_line", "first_text_line",
        "starts_with_break", "literal_cut_is_worse", "flaws", "glued_number_costs", "distorted", "decimals",
        "correlation", "rerun",
    }  # fmt: skip
    assert log["skipped"] == [{"why": "no generated text", "count": 1, "lines": [2]}]
    (example,) = log["examples"]["differs-from-log"]
    assert (example["prediction"], example["logged"]) == (HOSTILE, {"em": 0.0, "f1": None})


def test_report_is_the_same_for_the_same_logs(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", rows_04("0.4.7", times=7))

    assert drop_json(audit_drop([path])) == drop_json(audit_drop([path]))


def test_no_examples_are_shown_where_none_are_asked_for(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", rows_04("0.4.7"))

    assert "Examples" not in text(*document(audit_drop([path], examples=0)))


@pytest.mark.slow
def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path) -> None:
    logs = [write_lines(tmp_path / f"samples_drop_{n}.jsonl", rows_04("0.4.7", times=n)) for n in (3, 7, 5)]
    with logs[1].open("a", encoding="utf-8") as log:
        log.write('{"cut\n')

    one, three = (run(*logs, "--format", "json", "--jobs", jobs) for jobs in (1, 3))

    assert one == three
    assert one[0] == 1
