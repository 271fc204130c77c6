"""Calls that cannot be answered: one line on standard error, nothing on standard output, the right status, no trace."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.service.settings.environment import read_access
from tests.command import BOT, bot
from tests.evaluation.judging import KESTREL
from tests.variants import crossed, one_of

MEMORY = 400 * 1024 * 1024  # bytes of address space that a check may take; a 2 GB file does not fit


def dangling(folder: Path) -> Path:
    (folder / "results_a.json").symlink_to("gone")
    return folder / "results_a.json"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "results_a.json")
    return folder / "results_a.json"


def memory(folder: Path) -> Path:
    return Path("/proc/self/mem")


UNREADABLE: list[tuple[Callable[[Path], Path], str]] = [
    (lambda folder: folder, "there is no result file in this folder or below it"),
    (lambda folder: folder / "gone.json", "there is no such file or folder"),
    (lambda folder: folder / ("x" * 5000), "File name too long"),
    (lambda folder: Path(f"{folder}/\x1b[31mred"), r"\x1b[31mred: there is no such file or folder"),
    (dangling, "there is no such file or folder"),
    (pipe, "is neither a file nor a folder"),
    (memory, "cannot be read: Input/output error"),
]


def test_a_board_in_the_place_of_a_file_is_told_how_its_rows_are_read() -> None:
    status, _, err = bot("explain", "github://acme/board")
    assert status == 2
    assert (
        "files are read on this machine, at hf://datasets/…, hf://buckets/… and at github://owner/name[@commit]/path"
        in err
    )
    assert "`explain BOARD --model ID` reads a row of a board" in err


@pytest.mark.slow
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
    assert "the file has 2 GB; the limit is 8 MB" in out


TASK = (
    '[[tasks]]\nid = "a"\ntitle = "A"\nnum_fewshot = 0\nmetrics = [{ name = "b" }]\n'
    'leaves = [{ id = "a", samples = 9 }]\n'
)
BASE = 'title = "A"\ndescription = "B"\n[harness]\nformats = ["lm-eval-0.4"]\n'
TORN = {
    "no.toml": ("x = 'a", 'is not valid TOML: Expected "\'" (at end of document)'),
    "key.toml": (f"{BASE}{TASK}colour = 'red'\n", "tasks.0.colour: is not a known key"),
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
    return "is not a git repository and not empty"


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
    assert err == "leaderboard-bot: git is not installed, and a target that is a folder needs it\n"
    assert not (tmp_path / "board").exists()


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (
            ["explain", KESTREL, "gsm8k"],
            "open-llm-v2 has no task 'gsm8k'; it has ifeval, bbh, math, gpqa, musr, mmlu_pro",
        ),
        (["rules", "no-such"], "there is no rule 'no-such'; `leaderboard-bot rules` lists them"),
        (["check", KESTREL, "-l", "v3"], "there is no leaderboard 'v3': name a TOML file, or one of open-llm-v1, "),
        (
            ["publish", KESTREL, "--to", "ftp://x"],
            "ftp://x: write a folder, hf://datasets/org/name or github://",
        ),
        *(
            (call, "an argument is empty: write a value, or leave the option out")
            for call in (
                ["check", ""],
                ["publish", KESTREL, "--to", ""],
                ["explain", KESTREL, "--reported="],
                ["settle", "--approve", ""],
            )
        ),
        (["board", " "], "the address is empty: name a folder, "),
        (["publish", KESTREL, "--to", "./a\nb"], r"./a\nb: an address has no line break and no other control "),
        (["verify", "hf://datasets/a/\x1b[31mb"], r"hf://datasets/a/\x1b[31mb: an address has no line break"),
        (["board", "./" + "x" * 300], "./" + "x" * 50),
        *(
            (call, "acme/board: write hf://datasets/acme/board, github://acme/board, or ./acme/board for a folder")
            for call in (["publish", KESTREL, "--to", "acme/board"], ["verify", "acme/board"], ["board", "acme/board"])
        ),
        (["verify", "./acme/board"], "./acme/board: there is no such folder"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_what_to_do(call: list[object], why: str) -> None:
    status, out, err = bot(*call)

    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"leaderboard-bot: {why}")


def test_a_log_format_that_there_is_not_is_refused() -> None:
    status, out, err = bot("rules", env={**os.environ, "LOG_FORMAT": "jsonl"})
    assert (status, out, err) == (2, "", "leaderboard-bot: LOG_FORMAT is 'jsonl': set it to json, or unset it\n")
    assert bot("rules", env={**os.environ, "LOG_FORMAT": "json"})[0] == 0


@pytest.mark.parametrize("command", one_of(["settle", "rescore", "serve"]))
def test_settings_that_cannot_be_read_leave_nothing_behind(command: str, tmp_path: Path) -> None:
    (tmp_path / "typo.toml").write_text('[[watches]]\nnam = "w"\n')

    for name in ("typo.toml", "gone.toml"):
        assert bot(command, "--config", tmp_path / name)[:2] == (2, "")

    assert [path.name for path in tmp_path.iterdir()] == ["typo.toml"]


@pytest.mark.parametrize("call", [["chekc"], ["check", KESTREL, "-f", "yaml"], ["serve", "--port", "65536"]])
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


def test_an_output_that_takes_no_more_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*BOT, "check", str(KESTREL)], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.stderr == b"leaderboard-bot: the output: cannot be written: No space left on device\n"
    assert done.returncode == 2


@pytest.mark.slow
def test_closed_streams_are_no_failure() -> None:
    for closing in (">&-", ">&- 2>&- <&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$0" -m bot check "$1" {closing}', sys.executable, KESTREL], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), closing


@pytest.mark.parametrize("variables", one_of([{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}]))
def test_an_old_locale_changes_letters_and_no_verdict(variables: dict[str, str]) -> None:
    status, out, err = bot("check", KESTREL, env={**os.environ, **variables})

    assert (status, err) == (0, "")
    assert " accepted  example-org/kestrel-7b  average 33.60" in out


@crossed(
    name=["GITHUB_TOKEN", "HF_TOKEN"],
    token=["t-SECRET\nX: y", "t-SECRET x", "t-SECRET\x07", "t-SECRETé", "t-SECRET”"],
)
def test_a_token_that_no_header_can_carry_is_named_and_never_shown(tmp_path: Path, name: str, token: str) -> None:
    status, out, err = bot("publish", KESTREL, "--to", tmp_path / "board", env={**os.environ, name: token})

    assert (status, out) == (2, "")
    assert err == (
        f"leaderboard-bot: {name} holds a character that no token has, such as a space or a line break: set it again\n"
    )
    assert not (tmp_path / "board").exists()


def test_a_line_break_after_a_copied_token_does_no_harm() -> None:
    access = read_access({"HF_TOKEN": "hf_a\n", "GITHUB_TOKEN": " ghp_b\r\n", "HF_OIDC_RESOURCE": "datasets/a/b"})

    assert (access.hf_token, access.github_token, access.hf_keyless) == ("hf_a", "ghp_b", False)


ODD_ADDRESSES = [
    "huggingface.co",
    "https://",
    "http://[::1",
    "http://a\nb",
    "https://a:99999",
    "https://a:b",
    "ftp://a",
]
ODD_ADDRESSES += ["http://a..b", "https://ann:SECRET@a", " https://a", "https://a?b=1", "https://" + "a" * 300, "/"]


@pytest.mark.slow
@pytest.mark.parametrize("address", ODD_ADDRESSES)
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("HF_ENDPOINT", ["check", "hf://datasets/acme/results"]),
        ("HF_ENDPOINT", ["webhook", "list"]),
        ("GITHUB_API_URL", ["board", "github://acme/board"]),
    ],
)
def test_an_address_that_no_client_can_ask_is_one_line_without_it(address: str, name: str, call: list[str]) -> None:
    status, out, err = bot(*call, env={**os.environ, "HF_TOKEN": "hf_x", "GITHUB_TOKEN": "x", name: address})

    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith(
        (f"leaderboard-bot: {name} is not the address of a service, ", "leaderboard-bot: a variable HF_…")
    )
    assert "SECRET" not in err


@crossed(
    proxy=["http://[::1", "http://a\nb", "https://a:b", "ftp://a", "http://a..b"],
    target=["hf://datasets/acme/board", "github://acme/board"],
)
def test_a_proxy_that_is_none_is_one_line(proxy: str, target: str) -> None:
    told = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "HF_TOKEN": "x", "GITHUB_TOKEN": "x"}
    told |= {"HF_ENDPOINT": "http://127.0.0.2:1", "GITHUB_API_URL": "http://127.0.0.2:1"}
    status, out, err = bot("board", target, env={**os.environ, "NO_PROXY": "", "no_proxy": "", **told})

    assert (status, out, err.count("\n")) == (2, "", 1), err


@pytest.mark.parametrize(
    ("name", "value"),
    one_of([("SSL_CERT_FILE", "/none"), ("HF_HUB_DOWNLOAD_TIMEOUT", "ten"), ("HF_HUB_ETAG_TIMEOUT", "-")]),
)
def test_other_odd_settings_of_the_clients_are_one_line(name: str, value: str) -> None:
    told = {**os.environ, name: value, "HF_ENDPOINT": "http://127.0.0.1:1"}
    status, out, err = bot("check", "hf://datasets/acme/results", env=told)

    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert bot("check", KESTREL, env=told)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["HF_HOME", "XDG_CACHE_HOME", "HF_TOKEN_PATH"])
def test_a_home_that_is_a_file_does_no_harm(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    told = {**os.environ, folder: str(tmp_path / "file"), "HF_ENDPOINT": "http://127.0.0.1:1"}
    status, _, err = bot("check", "hf://datasets/acme/results", env=told)

    assert (status, err.count("\n")) == (3, 1), err
    assert (tmp_path / "file").read_text() == "mine"


def test_pointers_of_git_lfs_alone_are_said_to_be_fetched(tmp_path: Path) -> None:
    """As a clone of huggingface/lighteval `3fd15266` without Git LFS has them in tests/reference_scores."""
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0f' * 32}\nsize 7\n"
    (tmp_path / "SmolLM2-1.7B-Instruct-results-vllm.json").write_text(pointer)
    status, _, err = bot("check", str(tmp_path), "--format", "summary")
    assert status == 1
    what_to_do = "keep results in git itself, or run `git lfs pull` to get the file"
    why = f"no result file was found; 1 file (git-lfs-pointer): {what_to_do}"
    assert err == f"leaderboard-bot: {why}\n"


def test_on_windows_one_line_says_where_it_runs() -> None:
    code = "import sys; from bot.cli.app import run; sys.platform = 'win32'; run()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "on Windows, install it in WSL" in done.stderr
