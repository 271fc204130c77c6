"""The command line as a real process: its status and both streams."""

from __future__ import annotations

import subprocess
import sys

BOT = [sys.executable, "-m", "bot"]


def bot(*args: object, **more: object) -> tuple[int, str, str]:
    """Run it in a process of its own: status, standard output, standard error."""
    done = subprocess.run([*BOT, *map(str, args)], capture_output=True, check=False, **more)  # type: ignore[call-overload]
    return done.returncode, done.stdout.decode(), done.stderr.decode()
