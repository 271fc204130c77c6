"""The command line as people meet it: real processes, their two streams, and their exit statuses."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from bot import __version__
from bot.cli.app import SOURCES, app
from bot.evaluation.rules import ALL_RULES
from tests.command import BOT, bot
from tests.evaluation.judging import EXAMPLES, KESTREL, ROOT, base_v1, patched
from tests.evaluation.parts import only
from tests.service.test_rows_beside import BESIDE, LOWER
from tests.world.local_git import git
from tests.world.results import TINY, result

COMMANDS = sorted(SOURCES)


def on_terminal(*args: object) -> str:
    """What it writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*BOT, *map(str, args)], stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # the terminal is gone with the process
                break
            if not part:
                break
            seen += part
        process.wait()
    os.close(ours)
    return seen.decode()


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with all examples that are not rejected."""
    folder = tmp_path_factory.mktemp("target") / "board"
    status, _, _ = bot("publish", ROOT / "examples" / "results", "--to", folder, "--as", "commit")
    assert status == 1
    return folder


def test_check_as_text_says_the_verdict_first() -> None:
    status, out, err = bot("check", KESTREL)

    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "✓ accepted  example-org/kestrel-7b  average 33.60"
    assert out.splitlines()[-1] == "1 row from 1 file: 1 accepted; 0 errors"


@pytest.mark.parametrize(
    ("form", "head"), [("text", "     raw    score  stderr\n"), ("markdown", " Score | Stderr |\n")]
)
def test_check_calls_a_standard_error_so_and_not_by_the_sign_of_an_interval(form: str, head: str) -> None:
    """Requests and pages show ± 1.96 standard errors: of one row people would read two different ±."""
    _, out, _ = bot("check", KESTREL, "--format", form)
    assert head in out
    assert "±" not in out


def test_check_as_json_is_the_report_of_all_files_and_the_status_says_that_one_is_wrong() -> None:
    status, out, err = bot("check", ROOT / "examples" / "results", "--format", "json")
    report = json.loads(out)

    assert (status, err) == (1, "")
    assert report["summary"] == {
        "accepted": 2, "incomplete": 1, "rejected": 2, "submissions": {"accepted": 3, "rejected": 2}, "unread": {},
    }  # fmt: skip
    assert [found["path"] for found in report["submissions"]] == [str(path) for path in EXAMPLES]


def test_the_report_of_a_file_is_the_same_wherever_it_lies_but_for_its_path(tmp_path: Path) -> None:
    copy = tmp_path / "another place" / "results_copy.json"
    copy.parent.mkdir()
    copy.write_bytes(EXAMPLES[1].read_bytes())
    calls = [
        bot("check", EXAMPLES[1], "-f", "json"),
        bot("check", EXAMPLES[1].parent, "-f", "json"),
        bot("check", "results_copy.json", "-f", "json", cwd=copy.parent, env={**os.environ, "PYTHONPATH": str(ROOT)}),
    ]

    file, folder, elsewhere = (out for _, out, _ in calls)
    assert file == folder
    assert elsewhere.replace('"results_copy.json"', json.dumps(str(EXAMPLES[1]))) == file


def test_check_as_markdown_and_for_github() -> None:
    status, markdown, _ = bot("check", EXAMPLES[1], "-f", "markdown")
    headings = [token.content for token in MarkdownIt().parse(markdown) if token.type == "inline"]
    assert status == 1
    assert headings[0] == "❌ rejected: `example-org/harrier-3b`"

    status, commands, _ = bot("check", EXAMPLES[1], "-f", "github")
    assert status == 1
    assert commands.startswith(f"::error title=limited-run,file={EXAMPLES[1]},line=2394::the run was limited to 50")


def test_score_as_csv_and_json_gives_full_doubles() -> None:
    _, out, _ = bot("score", KESTREL, "-f", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    _, report, _ = bot("score", KESTREL, "-f", "json")
    scores = json.loads(report)["rows"][0]["scores"]

    assert float(row["average"]) == scores["average"]
    assert [float(row[task["id"]]) for task in scores["tasks"]] == [task["score"] for task in scores["tasks"]]
    assert (row["model"], row["verdict"]) == ("example-org/kestrel-7b", "accepted")


def test_check_as_summary_is_a_line_for_each_row_and_one_for_all() -> None:
    status, out, err = bot("check", ROOT / "examples" / "results", "-f", "summary")

    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert len(lines) == 6
    assert lines[2].split() == ["✓", "accepted", "33.60", "39/39", "example-org/kestrel-7b", "bfloat16"]
    assert lines[-1] == "5 rows from 5 files: 2 accepted, 1 incomplete, 2 rejected; 3 errors"


def test_explain_as_json_is_the_report() -> None:
    assert json.loads(bot("explain", KESTREL, "-f", "json")[1]) == json.loads(bot("score", KESTREL, "-f", "json")[1])


def test_the_average_alone_is_explained() -> None:
    whole, alone = bot("explain", KESTREL)[1], bot("explain", KESTREL, "average")[1]
    assert alone.startswith("Average: ")
    assert whole.endswith(alone)


@pytest.mark.parametrize("task", ["MATH Lvl 5", "math lvl 5", "MATH"])
def test_explain_takes_the_title_of_a_column_as_the_board_shows_it(task: str) -> None:
    assert bot("explain", KESTREL, task) == bot("explain", KESTREL, "math")


def test_the_board_in_every_format(board: Path) -> None:
    rows = json.loads(bot("board", board, "-f", "json")[1])["rows"]
    table = list(csv.DictReader(io.StringIO(bot("board", board, "-f", "csv")[1])))
    assert [float(row["average"]) for row in table[:2]] == [row["average"] for row in rows[:2]]
    assert [(row["rank_best"], row["rank_worst"]) for row in rows] == [(1, 1), (2, 2), (None, None)]
    shown = bot("board", board, "-f", "markdown")[1]
    assert MarkdownIt("gfm-like", {"linkify": False}).parse(shown)[0].type == "table_open"


def test_score_as_markdown_is_one_table() -> None:
    status, out, _ = bot("score", KESTREL, "-f", "markdown")

    assert status == 0
    assert MarkdownIt("gfm-like", {"linkify": False}).parse(out)[0].type == "table_open"


@pytest.mark.parametrize("command", ["check", "score", "explain", "board", "rules", "leaderboards"])
def test_what_is_meant_for_people_fits_80_columns(command: str, board: Path) -> None:
    paths = {"board": [board], "rules": [], "leaderboards": []}.get(command, [ROOT / "examples" / "results"])
    _, out, _ = bot(command, *paths)
    lines = [line for line in out.splitlines() if "--model_args" not in line and ".json" not in line]

    assert lines
    assert [line for line in lines if len(line) > 80] == []


def test_the_board_ranks_complete_rows_and_shows_the_hole_of_the_other(board: Path) -> None:
    status, out, err = bot("board", board)

    assert (status, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()[1:4]] == [
        ["1", "…org/osprey-7b", "38.78"],
        ["2", "…rg/kestrel-7b", "33.60"],
        ["–", "…org/merlin-1b", "–"],
    ]


def test_colour_is_for_terminals() -> None:
    assert "\x1b[32m\x1b[1m✓ accepted\x1b[0m" in on_terminal("check", KESTREL)
    assert "\x1b" not in bot("check", KESTREL)[1]


def test_a_rule_and_a_declaration_are_shown_and_the_version_is_said() -> None:
    assert bot("rules", "missing-task")[1].startswith("missing-task (error, since 0.1.0)\n\nA task, or one of")
    assert len([line for line in bot("rules")[1].splitlines() if line[0] != " "]) == len(ALL_RULES)
    assert bot("leaderboards", "open-llm-v1")[1].startswith("Open LLM Leaderboard v1  (open-llm-v1)\n")
    assert bot("--version") == (0, f"leaderboard-bot {__version__}\n", "")


def test_publish_says_why_its_status_is_1_for_a_row_that_it_publishes_incomplete(tmp_path: Path) -> None:
    merlin = ROOT / "examples" / "results" / "example-org__merlin-1b"
    status, out, err = bot("publish", merlin, "--to", tmp_path / "board")

    assert (status, out.count("open-request")) == (1, 1)
    assert "not published, or not all of it:\n◐ incomplete  example-org/merlin-1b  no average\n" in err
    assert "leaderboard_bbh_snarks is missing" in err


def test_publish_says_what_it_does_on_one_stream_and_why_on_the_other(tmp_path: Path) -> None:
    call = ("publish", KESTREL, "--to", tmp_path / "board")
    key = "open-llm-v2/example-org/kestrel-7b/651099358104a2b2aea7ef80fd8a9035fe2729e8-bfloat16"

    assert bot(*call, "--dry-run", "--quiet")[:2] == (0, f"would open-request  {key}\n")
    shown = bot(*call, "--dry-run")[1]
    assert not (tmp_path / "board").exists()
    status, out, err = bot(*call)
    assert status == 0
    assert err.startswith("  a new request proposes it\nevidence lies on this machine: ")
    assert "--sources DIR" in err
    assert out.startswith(f"open-request  {key}  ")
    assert bot(*call)[:2] == (0, f"unchanged  {key}\n")
    [path, *_] = git(tmp_path / "board", "show", "--name-only", "--format=", "--branches=leaderboard-bot/*").split()
    [title, *body] = git(tmp_path / "board", "log", "-1", "--format=%B", "--branches=leaderboard-bot/*").split("\n")
    assert f"\n  {title}\n\n  {body[1]}\n" in shown
    assert f"\n  new file {path}, 2" in shown
    assert "<!--" not in shown


def test_a_dry_run_shows_the_change_of_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "one.json").write_bytes(result())
    call = ("publish", tmp_path / "one.json", "--leaderboard", tmp_path / "tiny.toml", "--to", tmp_path / "board")
    assert bot(*call, "--as", "commit")[0] == 0
    (tmp_path / "one.json").write_bytes(result(right=(10, 20, 30), date=1_790_000_100.0))
    shown = bot(*call, "--dry-run")[1].split("\n")
    sides = [[line for line in shown if line.startswith(f"  {sign}") and '"average": ' in line] for sign in "-+"]
    assert all(len(side) == 1 for side in sides)


@pytest.mark.parametrize("command", ["check", "score", "explain"])
def test_results_of_another_shipped_leaderboard_are_said_to_be_its(command: str, tmp_path: Path) -> None:
    (tmp_path / "v1.json").write_text(json.dumps(base_v1()))
    status, shown, said = bot(command, tmp_path / "v1.json")
    if command == "score":
        assert said.endswith("add --leaderboard open-llm-v1\n")
    else:  # no line for each task that is not there
        assert (status, shown) == (2, "")
        assert f"they have the tasks of open-llm-v1: leaderboard-bot {command} {tmp_path}/v1.json -" in said
    assert "open-llm-v1" not in bot(command, KESTREL)[2] + bot(command, tmp_path / "v1.json", "-l", "open-llm-v1")[2]


def test_tasks_of_the_default_leaderboard_with_another_metric_are_not_called_foreign(tmp_path: Path) -> None:
    leaf = "leaderboard_gpqa_diamond"
    data = only(patched({f"/results/{leaf}": {"exact_match,get-answer": 0.4}}), {leaf})
    (tmp_path / "x.json").write_text(json.dumps(data))
    shown = bot("check", tmp_path / "x.json")
    assert shown[:2] == bot("check", tmp_path / "x.json", "-l", "open-llm-v2")[:2]
    assert "has no acc_norm,none, which GPQA needs; it has exact_match,get-answer" in " ".join(shown[1].split())


def test_a_new_row_says_how_it_differs_from_another_of_its_model(tmp_path: Path) -> None:
    files = {"first": result(), "second": result(right=(40, 40, 40), revision=2)}
    (tmp_path / "tiny.toml").write_text(TINY)
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_bytes(content)
    call = ("--leaderboard", tmp_path / "tiny.toml", "--to", tmp_path / "board", "--as")
    assert bot("publish", tmp_path / "first.json", *call, "commit")[0] == 0
    assert bot("publish", tmp_path / "second.json", *call, "pull-request")[0] == 0
    said = git(tmp_path / "board", "log", "--all", "--format=%B")
    assert said.count(BESIDE) == 1
    assert LOWER in said


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command: str) -> None:
    shown = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="leaderboard-bot")

    assert shown.exit_code == 0
    assert shown.stdout.startswith(f"Usage: leaderboard-bot {command}".rstrip())


def test_the_version_is_told_without_what_judges_and_publishes() -> None:
    """Most of a command's start is to load modules, and shells ask for the version often."""
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules)); from bot.cli.app import run; run()"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "bot.cli.app" in loaded
    assert loaded & {"bot.platforms.platform", "bot.evaluation.leaderboard", "pydantic", "msgspec", "yaml"} == set()
