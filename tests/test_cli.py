"""The command line as people meet it: real processes, their two streams, and their exit statuses."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from bot import __version__
from bot.cli import app
from bot.rules import ALL_RULES
from tests.judging import EXAMPLES, KESTREL, ROOT

BOT = [sys.executable, "-m", "bot"]
COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
MEMORY = 400 * 1024 * 1024  # bytes of address space that a check may take; a 2 GB file does not fit


def bot(*args: object, **more: object) -> tuple[int, str, str]:
    """Run it in a process of its own: status, standard output, standard error."""
    done = subprocess.run([*BOT, *map(str, args)], capture_output=True, check=False, **more)  # type: ignore[call-overload]
    return done.returncode, done.stdout.decode(), done.stderr.decode()


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
    assert out.splitlines()[-1] == "1 submission: 1 accepted; 0 errors"


def test_check_as_json_is_the_report_of_all_files_and_the_status_says_that_one_is_wrong() -> None:
    status, out, err = bot("check", ROOT / "examples" / "results", "--format", "json")
    report = json.loads(out)

    assert (status, err) == (1, "")
    assert report["summary"] == {"accepted": 2, "incomplete": 1, "rejected": 2}
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
    assert commands.startswith(f"::error title=limited-run,file={EXAMPLES[1]},line=1645::the run was limited to 50")


def test_score_as_csv_and_json_gives_full_doubles() -> None:
    _, out, _ = bot("score", KESTREL, "-f", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    _, report, _ = bot("score", KESTREL, "-f", "json")
    scores = json.loads(report)["submissions"][0]["scores"]

    assert float(row["average"]) == scores["average"]
    assert [float(row[task["id"]]) for task in scores["tasks"]] == [task["score"] for task in scores["tasks"]]
    assert (row["model"], row["verdict"]) == ("example-org/kestrel-7b", "accepted")


def test_score_as_markdown_is_one_table() -> None:
    status, out, _ = bot("score", KESTREL, "-f", "markdown")

    assert status == 0
    assert MarkdownIt("gfm-like", {"linkify": False}).parse(out)[0].type == "table_open"


@pytest.mark.parametrize("command", ["check", "score", "explain", "board", "rules", "leaderboards"])
def test_what_is_meant_for_people_fits_80_columns(command: str, board: Path) -> None:
    paths = {"board": [board], "rules": [], "leaderboards": []}.get(command, [ROOT / "examples" / "results"])
    _, out, _ = bot(command, *paths)
    lines = [line for line in out.splitlines() if "lm_eval --" not in line and ".json" not in line]

    assert lines
    assert [line for line in lines if len(line) > 80] == []


def test_the_board_ranks_complete_rows_and_shows_the_hole_of_the_other(board: Path) -> None:
    status, out, err = bot("board", board)

    assert (status, err) == (0, "")
    assert [line.split()[:3] for line in out.splitlines()[1:4]] == [
        ["1", "…mple-org/osprey-7b", "38.78"],
        ["2", "…ple-org/kestrel-7b", "33.60"],
        ["–", "…mple-org/merlin-1b", "–"],
    ]


def test_colour_is_for_terminals() -> None:
    assert "\x1b[1;32m✓ accepted\x1b[0m" in on_terminal("check", KESTREL)
    assert "\x1b" not in bot("check", KESTREL)[1]


def test_a_rule_and_a_declaration_are_shown_and_the_version_is_said() -> None:
    assert bot("rules", "missing-task")[1].startswith("missing-task (error, since 0.1.0)\n\nA task, or one of")
    assert len([line for line in bot("rules")[1].splitlines() if line[0] != " "]) == len(ALL_RULES)
    assert bot("leaderboards", "open-llm-v1")[1].startswith("Open LLM Leaderboard v1  (open-llm-v1)\n")
    assert bot("--version") == (0, f"leaderboard-bot {__version__}\n", "")


def test_publish_says_what_it_does_on_one_stream_and_why_on_the_other(tmp_path: Path) -> None:
    call = ("publish", KESTREL, "--to", tmp_path / "board")

    assert bot(*call, "--dry-run")[:2] == (0, "would open-request  example-org__kestrel-7b/651099358104-bfloat16\n")
    assert not (tmp_path / "board").exists()
    status, out, err = bot(*call)
    assert (status, err) == (0, "  nothing is proposed yet\n")
    assert out.startswith("open-request  example-org__kestrel-7b/651099358104-bfloat16  ")
    assert bot(*call)[:2] == (0, "unchanged  example-org__kestrel-7b/651099358104-bfloat16\n")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help(command: str) -> None:
    shown = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="leaderboard-bot")

    assert shown.exit_code == 0
    assert shown.stdout.startswith(f"Usage: leaderboard-bot {command}".rstrip())


def dangling(folder: Path) -> Path:
    (folder / "results_a.json").symlink_to("gone")
    return folder / "results_a.json"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "results_a.json")
    return folder / "results_a.json"


def only_others(folder: Path) -> Path:
    (folder / "samples_a.jsonl").write_text("{}")
    dangling(folder)
    return folder


def memory(folder: Path) -> Path:
    return Path("/proc/self/mem")


UNREADABLE: list[tuple[Callable[[Path], Path], str]] = [
    (lambda folder: folder, "there is no result file (results*.json) in this folder or below it"),
    (lambda folder: folder / "gone.json", "there is no such file or folder"),
    (lambda folder: folder / ("x" * 5000), "is no path of this machine"),
    (lambda folder: Path(f"{folder}/\x1b[31mred"), r"\x1b[31mred: there is no such file or folder"),
    (dangling, "there is no such file or folder"),
    (pipe, "is neither a file nor a folder"),
    (only_others, "there is no result file (results*.json) in this folder or below it"),
    (memory, "cannot be read: Input/output error"),
]


@pytest.mark.parametrize(("make", "why"), UNREADABLE)
def test_a_path_that_cannot_be_read_is_one_line_and_status_2(
    make: Callable[[Path], Path], why: str, tmp_path: Path
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    path = make(folder)
    before = sorted(tmp_path.rglob("*"))

    status, out, err = bot("publish", path, "--to", tmp_path / "board", timeout=60)

    assert (status, out) == (2, "")
    assert err.startswith("leaderboard-bot: ")
    assert err.endswith(f"{why}\n")
    assert err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_of_2_gigabytes_is_a_finding_and_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "results_a.json"
    with path.open("wb") as file:
        file.truncate(2 << 30)

    limits = (resource.RLIMIT_DATA, (MEMORY, MEMORY))
    status, out, err = bot("check", path, preexec_fn=lambda: resource.setrlimit(*limits))

    assert (status, err) == (1, "")
    assert "the file has 2,147,483,648 bytes; more than 33,554,432 are not read" in out


TASK = (
    '[[tasks]]\nid = "a"\ntitle = "A"\nnum_fewshot = 0\nmetrics = [{ name = "b" }]\n'
    'leaves = [{ id = "a", samples = 9 }]\n'
)
BASE = 'title = "A"\ndescription = "B"\n[harness]\nformats = ["lm-eval-0.4"]\n'
TORN = {
    "no.toml": ("x = 'a", 'is no TOML: Expected "\'" (at end of document)'),
    "key.toml": (f"{BASE}{TASK}colour = 'red'\n", "tasks.0.colour: Extra inputs are not permitted"),
    "bytes.toml": ("title = '\udcff'", "is not UTF-8 text"),
}


@pytest.mark.parametrize("name", TORN)
def test_a_declaration_that_is_refused_is_one_line_with_the_key(name: str, tmp_path: Path) -> None:
    text, why = TORN[name]
    (tmp_path / name).write_text(text, encoding="utf-8", errors="surrogateescape")

    status, out, err = bot("publish", KESTREL, "--to", tmp_path / "board", "-l", tmp_path / name)

    assert (status, out) == (2, "")
    assert err == f"leaderboard-bot: {tmp_path / name}: {why}\n"
    assert not (tmp_path / "board").exists()


def file_target(folder: Path) -> str:
    (folder / "board").write_text("mine")
    return "is a file"


def full_target(folder: Path) -> str:
    (folder / "board").mkdir()
    (folder / "board" / "notes.txt").write_text("mine")
    return "is no git repository and not empty"


@pytest.mark.parametrize("make", [file_target, full_target])
def test_a_target_that_is_none_is_one_line_and_nothing_is_written(make: Callable[[Path], str], tmp_path: Path) -> None:
    why = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))

    status, out, err = bot("publish", KESTREL, "--to", tmp_path / "board")

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert why in err
    assert sorted(tmp_path.rglob("*")) == before


def test_without_git_a_folder_is_no_target_and_none_is_made(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    status, out, err = bot(
        "publish", KESTREL, "--to", tmp_path / "board", env={**os.environ, "PATH": str(tmp_path / "empty")}
    )

    assert (status, out) == (2, "")
    assert err == "leaderboard-bot: git is not installed, and a folder as target needs it\n"
    assert not (tmp_path / "board").exists()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (
            ["explain", KESTREL, "gsm8k"],
            "open-llm-v2 has no task 'gsm8k'; it has ifeval, bbh, math, gpqa, musr, mmlu_pro",
        ),
        (["rules", "no-such"], "there is no rule 'no-such'; leaderboard-bot rules lists them"),
        (["check", KESTREL, "-l", "v3"], "there is no leaderboard 'v3': name a TOML file, or one of open-llm-v1, "),
        (
            ["publish", KESTREL, "--to", "ftp://x"],
            "ftp://x: a target is a folder, hf://datasets/org/name, or github://",
        ),
        (["check", ""], "a path is empty: name a file or a folder"),
        (["publish", KESTREL, "--to", ""], "the target is empty: name a folder, "),
    ],
)
def test_a_wrong_call_is_one_line_that_says_what_to_do(call: list[object], why: str) -> None:
    status, out, err = bot(*call)

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"leaderboard-bot: {why}")


@pytest.mark.parametrize("call", [["chekc"], ["check", KESTREL, "-f", "yaml"]])
def test_a_call_that_does_not_parse_shows_how_to_call_it(call: list[object]) -> None:
    status, out, err = bot(*call)

    assert (status, out) == (2, "")
    assert err.startswith("Usage: ")
    assert "Traceback" not in err


def test_a_reader_that_goes_away_is_no_failure_of_ours() -> None:
    with subprocess.Popen([*BOT, "rules"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()

    assert err == b""
    assert process.returncode in {0, 1}


def test_closed_streams_are_no_failure() -> None:
    for closing in (">&-", ">&- 2>&- <&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$0" -m bot check "$1" {closing}', sys.executable, KESTREL], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), closing


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_an_old_locale_changes_letters_and_no_verdict(variables: dict[str, str]) -> None:
    status, out, err = bot("check", KESTREL, env={**os.environ, **variables})

    assert (status, err) == (0, "")
    assert " accepted  example-org/kestrel-7b  average 33.60" in out
