"""The one place that starts git.

Git gets an environment of its own: no secret, no settings of the user or the machine, and no protocol but the one that
a fetch needs. It is always told which repository it works on, and that one has no settings but ours.
"""

from __future__ import annotations

import io
import os
import re
import select
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, TypeVar

from bot.errors import CallError, Unavailable
from bot.platforms.source import TooLarge

T = TypeVar("T")

OLDEST = (2, 34)
PASSED = ("PATH", "TMPDIR")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
NETWORK = (*PROXIES, *map(str.lower, PROXIES), "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR")
PIECE = 1_000_000  # bytes of an answer that are read at once
LOOK = 0.2  # seconds between two looks at what git has done so far
MOST_PRINTED = 250_000_000  # bytes: the lines of more than a million files
# For walks through folders, which may hold each other many times over: the memory of the largest list that git makes,
# enough for a folder of 200,000 files, and for two million files that differ.
WALKING = {"GIT_ALLOC_LIMIT": "16m"}
# For a fetch: a pack of a few kilobytes may unpack to any size, and GitHub takes no file of more than 100 MB into git.
FETCHING = {"GIT_ALLOC_LIMIT": "128m"}
NAME, ADDRESS = "leaderboard-bot", "leaderboard-bot@localhost"
ALWAYS = {
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_AUTHOR_EMAIL": ADDRESS,
    "GIT_AUTHOR_NAME": NAME,
    "GIT_COMMITTER_EMAIL": ADDRESS,
    "GIT_COMMITTER_NAME": NAME,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# They outrank the settings of any repository; each of them could start a program, or make git ask another machine.
SETTINGS = {
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.quotePath": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "transfer.unpackLimit": "1",  # what a fetch brings is there whole or not at all, however few objects it is
}


def start(
    *args: str,
    git_dir: Path | None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
    more: Mapping[str, str] | None = None,
    protocol: str = "",
) -> subprocess.Popen[bytes]:
    """Start git on the repository in `git_dir`, which must be one of ours; None is for `init` and `version`.

    `protocol` is the only one that it may fetch by, "" for none. `more` are further variables. Raises CallError where
    git is not installed.
    """
    passed = (*PASSED, *NETWORK) if protocol else PASSED
    environment = {name: os.environ[name] for name in passed if name in os.environ}
    if protocol and "SSL_CERT_FILE" in environment:
        environment.setdefault("GIT_SSL_CAINFO", environment["SSL_CERT_FILE"])
    environment |= ALWAYS | {"GIT_ALLOW_PROTOCOL": protocol} | dict(more or {})
    if git_dir is not None:
        environment["GIT_DIR"] = str(git_dir.resolve())
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    try:
        return subprocess.Popen(
            ["git", *settings, *args],
            cwd=git_dir or "/",
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
    except FileNotFoundError:
        raise CallError("git is not installed, and a folder with results or rows needs it") from None


def run(
    *args: str,
    git_dir: Path | None,
    data: bytes = b"",
    more: Mapping[str, str] | None = None,
    timeout: float,
    most: int | None = None,
) -> tuple[int, bytes, bytes]:
    """Run git to its end: its exit status, its standard output, and its standard error.

    Raises Unavailable where it takes longer than `timeout` seconds or prints more than `most` bytes (MOST_PRINTED
    unless given).
    """
    pipe, end, most = subprocess.PIPE, time.monotonic() + timeout, MOST_PRINTED if most is None else most
    with tempfile.TemporaryFile() as out:
        process = start(*args, git_dir=git_dir, stdin=pipe, stdout=out, stderr=pipe, more=more)
        err = wait(process, timeout, lambda _: os.fstat(out.fileno()).st_size > most, data)
        if os.fstat(out.fileno()).st_size > most:
            raise Unavailable("git", f"{' '.join(args[:2])}: printed more than {most // 1_000_000} MB")
        if process.returncode < 0 and time.monotonic() > end:
            raise Unavailable("git", f"{' '.join(args[:2])}: took over {timeout:.0f} s")
        out.seek(0)
        return process.returncode, out.read(), err


def wait(
    process: subprocess.Popen[bytes], seconds: float, is_enough: Callable[[bytes], bool], data: bytes = b""
) -> bytes:
    """Send git its input and wait for its end; returns its standard error.

    It is killed after so many seconds, or when `is_enough` of its standard error so far.
    """
    end, unsent = time.monotonic() + seconds, data or None
    while True:
        try:
            return process.communicate(unsent, LOOK)[1]
        except subprocess.TimeoutExpired as running:
            unsent = None
            if time.monotonic() > end or is_enough(running.stderr or b""):
                process.kill()


@cache
def is_recent() -> bool:
    """Tell whether git answers each move of refs at once, which older ones do not."""
    found = re.search(r"(\d+)\.(\d+)", version()[1])
    return found is None or (int(found[1]), int(found[2])) >= OLDEST


def version() -> tuple[int, str]:
    """The exit status of `git --version`, and what it says."""
    status, out, err = run("--version", git_dir=None, timeout=10)
    return status, " ".join((out or err).decode("utf-8", "replace").split())


class Pipes(io.RawIOBase):
    """The pipes to a process and from it, on which nothing waits beyond `end`: then it raises TimeoutError.

    A thread that looks at the time would cost more than most answers.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        self._to, self._from, self.end = process.stdin.fileno(), process.stdout.fileno(), 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # what BufferedReader gives
        self._wait(self._from, select.POLLIN)
        return os.readv(self._from, [buffer])

    def send(self, data: bytes) -> None:
        """Write all of it: a pipe that is ready takes so many bytes at once."""
        for at in range(0, len(data), select.PIPE_BUF):
            self._wait(self._to, select.POLLOUT)
            os.write(self._to, data[at : at + select.PIPE_BUF])

    def _wait(self, pipe: int, event: int) -> None:
        ready = select.poll()
        ready.register(pipe, event)
        if not ready.poll(max(0.0, self.end - time.monotonic()) * 1000):
            raise TimeoutError("it took too long")


@dataclass
class Talk:
    """One git process that answers many questions: a process for each of them would cost far more."""

    args: tuple[str, ...]
    git_dir: Path
    timeout: float
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _pipes: Pipes = field(init=False, repr=False)
    _answers: IO[bytes] = field(init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def ask(self, question: bytes, read: Callable[[IO[bytes]], T]) -> T:
        """Write a question, and return what `read` makes of the answer; `read` raises ValueError if there is none.

        Raises Unavailable where git ends, or takes longer than `timeout` seconds.
        """
        with self._lock:
            if self._process is None:
                pipe = subprocess.PIPE
                self._process = start(*self.args, git_dir=self.git_dir, stdin=pipe, stdout=pipe)
                self._pipes = Pipes(self._process)
                self._answers = io.BufferedReader(self._pipes)
            self._pipes.end = time.monotonic() + self.timeout
            try:
                self._pipes.send(question)
                return read(self._answers)
            except (OSError, ValueError) as error:
                self.close()
                raise Unavailable("git", f"{self.args[0]} gave no answer: {error}") from None

    def close(self) -> None:
        """End git."""
        if self._process is not None:
            self._process.kill()
            with suppress(OSError, ValueError):
                self._process.communicate()
            self._process = None


def read_head(answer: IO[bytes], question: bytes) -> tuple[str, str, int] | None:
    """The id, kind and size in bytes of an object, from a line of `cat-file`; None if there is no such object.

    Raises ValueError where git has ended.
    """
    line = answer.readline()
    if line == question.rstrip(b"\n") + b" missing\n":
        return None
    oid, kind, size = line.decode("ascii", "replace").split()
    return oid, kind, int(size)


def save_object(answer: IO[bytes], question: bytes, into: IO[bytes], limit: int | None = None) -> str | None:
    """Write an object from the answer of `cat-file --batch` into a file; returns its kind, None for no object.

    Raises ValueError where git has ended, and TooLarge past the limit; the next question may follow after that.
    """
    head = read_head(answer, question)
    if head is None:
        return None
    _, kind, left = head
    is_too_large = limit is not None and left > limit
    while left > 0:
        piece = answer.read(min(PIECE, left))
        if not piece:
            raise ValueError("it ended too early")
        left -= len(piece)
        if not is_too_large:
            into.write(piece)
    if answer.read(1) != b"\n":
        raise ValueError("it ended too early")
    if is_too_large:
        raise TooLarge(f"more than {limit:,} bytes")
    return kind
