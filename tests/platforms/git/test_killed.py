"""A publication to a folder is killed anywhere, or races another: the next one ends where an undisturbed one does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from bot.platforms.git.target import LOCK, MEMORY
from tests.world.local_git import git

ROOT = Path(__file__).resolve().parents[3]
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # the id that git gives to it everywhere


class Publisher:
    """The warm process that forks a child for each job."""

    def __init__(self) -> None:
        command = [sys.executable, str(ROOT / "tests" / "platforms" / "git" / "publisher.py")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words: object) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def run(self, folder: Path, job: str) -> int:
        return self.ask("wait", self.ask("start", folder, job))


@pytest.fixture(scope="module")
def publisher() -> Iterator[Publisher]:
    started = Publisher()
    yield started
    started.process.kill()
    started.process.communicate()


def state(folder: Path) -> dict[str, str]:
    """All that a person finds: files and messages of all refs, files of the work tree, what git says of both.

    Commands in texts name the folder by its last part, so boards that are compared have the same one.
    """
    names = git(folder, "for-each-ref", "--format=%(refname)").split()
    found = {name: git(folder, "log", "-1", "--format=%B", name) + contents(folder, name) for name in names}
    files = [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts]
    found |= {str(path.relative_to(folder)): path.read_text() for path in files}
    rests = [*folder.glob(".leaderboard-bot-*"), *(path for path in folder.rglob("*.lock") if path.name != LOCK)]
    found["status"] = git(folder, "status", "--porcelain")
    found["fsck"] = git(folder, "fsck", "--strict", "--no-dangling", "--no-progress")
    return found | {"rests": str(rests)}


def contents(folder: Path, name: str) -> str:
    """The files of a ref, without the ids of their contents, which may name the folder."""
    lines = git(folder, "diff", "--no-color", EMPTY_TREE, name).splitlines()
    return "\n".join(line for line in lines if not line.startswith("index "))


def kill(publisher: Publisher, folder: Path, after: float) -> int:
    child = publisher.ask("start", folder, "all")
    time.sleep(after)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return publisher.ask("wait", child)


def kill_many(publisher: Publisher, folder: Path, times: int, seed: int) -> None:
    """Kill a first publication at random moments, some twice in a row, and let the next one finish."""
    started = time.perf_counter()
    assert publisher.run(folder / "undisturbed" / "board", "all") == 0
    length = time.perf_counter() - started
    expected = state(folder / "undisturbed" / "board")
    random = Random(seed)
    killed = 0
    for number in range(times):
        board = folder / str(number) / "board"
        is_killed = kill(publisher, board, random.uniform(0, length)) != 0
        killed += is_killed
        length *= 1.2 if is_killed else 0.5  # the machine does other things, too
        if number % 4 == 3:
            kill(publisher, board, random.uniform(0, length))
        assert publisher.run(board, "all") == 0, number
        assert state(board) == expected, number
    assert killed


@pytest.mark.slow
def test_a_publication_killed_at_any_moment_is_finished_by_the_next(publisher: Publisher, tmp_path: Path) -> None:
    kill_many(publisher, tmp_path, 10, 0)


@pytest.mark.campaign
def test_a_publication_killed_at_200_moments_is_finished_by_the_next(publisher: Publisher, tmp_path: Path) -> None:
    kill_many(publisher, tmp_path, 200, 1)


@pytest.mark.slow
def test_a_request_that_was_not_yet_remembered_is_remembered_by_the_next(publisher: Publisher, tmp_path: Path) -> None:
    """Git moves one ref after the other: a bot that is killed between the two leaves a request and no memory of it."""
    assert publisher.run(tmp_path, "all") == 0
    [memory] = git(tmp_path, "for-each-ref", "--format=%(refname)", MEMORY).split()
    before = git(tmp_path, "rev-parse", memory)
    git(tmp_path, "update-ref", "-d", memory)
    (tmp_path / ".git" / LOCK).write_text("held\n")

    assert publisher.run(tmp_path, "1") == 0
    assert git(tmp_path, "rev-parse", memory) == before


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [("all", "all"), ("1", "2"), ("2", "1"), ("3", "1", "2")])
def test_publishers_at_once_end_where_one_after_the_other_does(
    publisher: Publisher, tmp_path: Path, jobs: tuple[str, ...]
) -> None:
    together, alone = tmp_path / "together" / "board", tmp_path / "alone" / "board"
    children = [publisher.ask("start", together, job) for job in jobs]

    assert [publisher.ask("wait", child) for child in children] == [0] * len(jobs)
    for job in sorted(jobs):
        assert publisher.run(alone, job) == 0

    ours, theirs = state(together), state(alone)
    files = [name for name in theirs if name.endswith(".csv") or not name.startswith(("refs/", "entries/"))]
    assert {name: ours[name] for name in files} == {name: theirs[name] for name in files}
    assert ours.keys() == theirs.keys()
