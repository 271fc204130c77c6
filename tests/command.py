"""The command line as a process: its status and both streams.

Most of what a command costs is to load its modules and declarations. A process that has done that, one for all workers
of a run, forks for each call of `bot`, with the folder, the environment and the streams of that call; what decides how
Python starts gets a process of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from tests.costs import BY_LAUNCHER

BOT = [sys.executable, "-m", "bot"]
ROOT = Path(__file__).parents[1]
OF_START = (
    "PYTHON",
    "LC_",
    "LANG",
    "HF_HUB_",
    "HF_HOME",
)  # variables that Python and the Hub's client read when they start
LAUNCHERS: list[subprocess.Popen[bytes]] = []  # of this process: a second one, where another worker's ended before


def bot(*args: object, **more: object) -> tuple[int, str, str]:
    """Run it in a process of its own: status, standard output, standard error."""
    environ = dict(more.get("env") or os.environ)  # type: ignore[call-overload]
    if environ.get("PYTHONPATH") == str(ROOT):  # where the launcher has found it already
        del environ["PYTHONPATH"]
    is_plain = all(os.environ.get(name) == value for name, value in environ.items() if name.startswith(OF_START))
    cwd = Path(str(more.get("cwd") or Path.cwd()))
    is_ours = cwd == ROOT or not (cwd / "bot").exists()  # Python begins there to look for the module
    if is_plain and is_ours and more.keys() <= {"cwd", "env"}:
        return forked([str(arg) for arg in args], str(cwd), environ)
    done = subprocess.run([*BOT, *map(str, args)], capture_output=True, check=False, **more)  # type: ignore[call-overload]
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def completed(*args: object, **more: object) -> subprocess.CompletedProcess[str]:
    """The same as `subprocess.run` would give it."""
    return subprocess.CompletedProcess(args, *bot(*args, **more))


def forked(args: list[str], cwd: str, environ: dict[str, str]) -> tuple[int, str, str]:
    with TemporaryDirectory() as folder, to_launcher() as connection:
        connection.sendall(json.dumps({"args": args, "cwd": cwd, "environ": environ, "folder": folder}).encode())
        connection.shutdown(socket.SHUT_WR)
        status, seconds = connection.recv(100).split()
        BY_LAUNCHER.append(float(seconds))
        return int(status), *(Path(folder, name).read_bytes().decode() for name in ("out", "err"))


def to_launcher() -> socket.socket:
    """A connection to the launcher of this run; the first worker that needs one starts it."""
    at = Path(gettempdir(), f"bot-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}")
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        connection = socket.socket(socket.AF_UNIX)
        with suppress(FileNotFoundError, ConnectionRefusedError):
            connection.connect(str(at))
            return connection
        start_launcher(at)
        connection.connect(str(at))
        return connection
    finally:
        os.close(folder)


def start_launcher(at: Path) -> None:
    """It ends with this process, because its input does."""
    at.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(at))
        listener.listen()
        command = [sys.executable, "-m", "tests.launcher", str(listener.fileno())]
        LAUNCHERS.append(subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, pass_fds=[listener.fileno()]))
