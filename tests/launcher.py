"""Loads what commands load, and forks for each connection to a socket: see `command.py`."""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

COMMANDS = ("app", "audits", "checks", "compare", "init", "leaderboards", "publish", "results", "service", "webhooks")
# Commands load these when they are called.
LATER = (
    "cli.adopt",
    "cli.propose",
    "cli.recomputed",
    "platforms.github.platform",
    "platforms.hub.platform",
    "service.watch.passes",
)
LOADED = [*(f"bot.cli.{name}" for name in COMMANDS), *(f"bot.{name}" for name in LATER), "sqlalchemy"]


def warm_up() -> None:
    """Carry out what most commands do: what is loaded and compiled then, no command has to load and compile anew."""
    from typer.testing import CliRunner

    from bot.cli.app import app

    with TemporaryDirectory() as folder:
        board = f"{folder}/board"
        for words in (
            ["check", "examples/results"],
            ["publish", "examples/results", "--to", board, "--as", "commit"],
            ["verify", board, "--sources", "."],
            ["site", board, "-o", f"{folder}/site"],
        ):
            CliRunner().invoke(app, words)
    assert threading.active_count() == 1  # a fork would lose them


def next_command() -> None:
    """Return in a new process for each order that comes; leave where the process that began this one ends."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    listener.set_inheritable(False)
    ended, told = os.pipe()  # a byte for each command that ends; a process that waits for one would be a second fork
    os.set_blocking(told, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(told)
    waiting: dict[int, socket.socket] = {}
    is_over = False
    while True:
        asked = [listener, ended] if is_over else [listener, ended, sys.stdin]
        ready = select.select(asked, [], [], 0 if is_over and not waiting else None)[0]
        if listener in ready:
            connection, _ = listener.accept()
            with connection.makefile() as sent:
                order = json.load(sent)
            command = os.fork()
            if command == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for inherited in (listener, connection, *waiting.values()):
                    inherited.close()
                os.close(ended)
                os.close(told)
                begin(order)
                return
            waiting[command] = connection
        elif ended in ready:
            os.read(ended, 4096)
            answer(waiting)
        elif ready:
            Path(listener.getsockname()).unlink()
            is_over = True  # nobody finds it any more; who did gets an answer
        else:
            os._exit(0)


def answer(waiting: dict[int, socket.socket]) -> None:
    """Tell those whose commands have ended their status and their seconds of the processor."""
    for command in list(waiting):
        ended, status, used = os.wait4(command, os.WNOHANG)
        if ended:
            with waiting.pop(command) as connection, suppress(OSError):  # nobody may be there any more
                connection.sendall(f"{os.waitstatus_to_exitcode(status)} {used.ru_utime + used.ru_stime}".encode())


def begin(order: dict[str, Any]) -> None:
    """Be a process that was started with these words, in this folder, with this environment."""
    for descriptor, name in ((0, os.devnull), (1, f"{order['folder']}/out"), (2, f"{order['folder']}/err")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), descriptor)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode, closefd=False) for number, mode in enumerate("rww"))  # noqa: SIM115
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environ"])
    sys.argv[1:] = order["args"]
    sys.path[0] = order["cwd"]


def leave(status: str | int | None) -> NoReturn:
    """End as a process does, but for taking apart its modules, which costs as much as many a command."""
    if isinstance(status, str):
        print(status, file=sys.stderr)  # noqa: T201 - as Python does
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if isinstance(status, str) else status or 0)


if __name__ == "__main__":
    sys.modules["pandas"] = None  # type: ignore[assignment]  # pyarrow would load it where it is; no command needs it
    for module in LOADED:
        importlib.import_module(module)
    warm_up()
    gc.collect()  # a git that an object in a cycle keeps would be waited for by each fork, and end with none of them
    gc.freeze()
    gc.set_threshold(50_000)
    next_command()
    from bot.cli.app import run

    try:
        run()
    except SystemExit as ended:
        leave(ended.code)
    leave(0)
