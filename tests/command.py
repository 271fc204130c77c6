"""The command line as a process: its status and both streams.

Most of what a command costs is to load its modules and declarations. A process that has done that forks for each call
of `bot`, with the folder, the environment and the streams of that call; what decides how Python starts gets a process
of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

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
    with TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/status")
        orders = launcher().stdin
        assert orders is not None
        orders.write(json.dumps({"args": args, "cwd": cwd, "environ": environ, "folder": folder}) + "\n")
        orders.flush()
        status, seconds = Path(folder, "status").read_text().split()
        BY_LAUNCHER.append(float(seconds))
        return int(status), *(Path(folder, name).read_bytes().decode() for name in ("out", "err"))


@cache
def launcher() -> subprocess.Popen[str]:
    """Ends with this process, because its input does."""
    return subprocess.Popen([sys.executable, "-m", "tests.launcher"], cwd=ROOT, stdin=subprocess.PIPE, text=True)
