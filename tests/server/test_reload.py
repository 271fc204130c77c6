"""Settings that change while the service runs are taken over; broken ones are refused and said once."""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path

import pytest

from bot.errors import CallError
from bot.server.run import Reloader
from bot.service.settings.config import Settings, load_settings

WATCH = '[[watches]]\nname = "{}"\nleaderboard = "open-llm-v2"\nsource = "results"\n[[watches.targets]]\nto = "board"\n'


class ServiceCache:
    """A service that remembers which settings it was given, and refuses a watch of the name `refused`."""

    def __init__(self) -> None:
        self.names: list[list[str]] = []

    def apply(self, settings: Settings) -> None:
        names = [watch.name for watch in settings.watches]
        if "refused" in names:
            raise CallError("results: is no repository\x1b[2J")
        self.names.append(names)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "bot.toml"
    file.write_text(WATCH.format("one"))
    return file


def test_nothing_is_read_until_the_file_changes(file: Path) -> None:
    kept = ServiceCache()
    reloader = Reloader(file, load_settings, kept.apply)
    assert not reloader.look()
    assert kept.names == []

    file.write_text(WATCH.format("one") + WATCH.format("two"))
    assert reloader.look()
    assert not reloader.look()
    assert kept.names == [["one", "two"]]


@pytest.mark.parametrize("broken", ["[[", WATCH.format("refused"), WATCH.format("a b"), "", None])
def test_what_is_broken_is_refused_said_once_and_mended_later(
    file: Path, caplog: pytest.LogCaptureFixture, broken: str | None
) -> None:
    kept = ServiceCache()
    reloader = Reloader(file, load_settings, kept.apply)
    file.unlink()
    if broken is not None:
        file.write_text(broken)

    assert not reloader.look()
    assert not reloader.look()
    assert reloader.refusal
    assert reloader.refusal.isprintable()
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    assert kept.names == []

    file.write_text(WATCH.format("mended"))
    assert reloader.look()
    assert (kept.names, reloader.refusal) == ([["mended"]], "")


def test_what_is_mended_outside_the_file_is_found_and_a_refusal_is_not_said_again(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    declaration = file.with_name("board.toml")

    def apply(_: Settings) -> None:
        if not declaration.exists():
            raise CallError("board.toml: there is no such file")

    reloader = Reloader(file, load_settings, apply, refused=0.0)
    assert not reloader.look(always=True)
    assert not reloader.look()
    assert reloader.refusal == caplog.messages[0].rpartition("force: ")[2]
    assert len(caplog.messages) == 1

    declaration.touch()
    assert reloader.look()
    assert reloader.refusal == ""


def test_a_fault_of_ours_stops_nothing(file: Path) -> None:
    def fail(_: Settings) -> None:
        raise ZeroDivisionError

    reloader = Reloader(file, load_settings, fail)
    assert not reloader.look(always=True)
    assert reloader.refusal == "internal error; the log has the traceback"


def test_a_signal_has_the_file_read_at_once(file: Path) -> None:
    kept, before = ServiceCache(), signal.getsignal(signal.SIGHUP)
    reloader = Reloader(file, load_settings, kept.apply)
    reloader.start()
    try:
        os.kill(os.getpid(), signal.SIGHUP)
        end = time.monotonic() + 60
        while not kept.names and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        reloader.stop()
        signal.signal(signal.SIGHUP, before)
    assert kept.names == [["one"]]
