"""The tour that `make run` takes: five result files checked, scored, explained and published on this machine.

Each step prints the command, so that it can be run by hand; everything is written below `demo/`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "demo"
BOT = [sys.executable, "-m", "bot"]
REQUEST = "leaderboard-bot/example-org__kestrel-7b"


def say(text: str) -> None:
    """Print a heading between the steps."""
    print(f"\n\x1b[1m{text}\x1b[0m\n" if sys.stdout.isatty() else f"\n{text}\n", flush=True)  # noqa: T201


def show(command: str, *, expected: int = 0) -> None:
    """Print a command as a person types it, run it, and stop the tour where it ends in another way than expected."""
    print(f"$ {command}", flush=True)  # noqa: T201
    words = shlex.split(command)
    words = [*BOT, *words[1:]] if words[0] == "leaderboard-bot" else words
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GIT_PAGER": "cat"}
    done = subprocess.run(words, cwd=ROOT, env=environment, check=False)
    if done.returncode != expected:
        sys.exit(f"the tour expected status {expected} and got {done.returncode}: {command}")


def branch_of(prefix: str) -> str:
    """The request whose name begins like this."""
    listed = subprocess.run(
        ["git", "branch", "--list", "--format=%(refname:short)", f"{prefix}*"],
        cwd=DEMO / "board",
        capture_output=True,
        text=True,
        check=True,
    )
    return listed.stdout.split()[0]


def main() -> None:
    """Take the tour."""
    shutil.rmtree(DEMO, ignore_errors=True)
    say("1. Five result files: what is wrong with them, and where?")
    show("leaderboard-bot check examples/results --quiet", expected=1)
    say("2. What are they worth on the Open LLM Leaderboard v2?")
    show("leaderboard-bot score examples/results", expected=1)
    say("3. How did one of these numbers come about?")
    kestrel = "examples/results/example-org__kestrel-7b/results_2026-02-14T09-30-00.000000.json"
    show(f"leaderboard-bot explain {kestrel} musr")
    say("4. Publish what is sound: each row as a request that a person can read and merge (a branch, here)")
    show("leaderboard-bot publish examples/results --to demo/board --quiet", expected=1)
    say("5. Publishing again changes nothing")
    show("leaderboard-bot publish examples/results --to demo/board --quiet", expected=1)
    say("6. One request, as a reviewer sees it")
    request = branch_of(REQUEST)
    show(f"git -C demo/board log -1 --format=%B {request}")
    say("7. Merge it; the next publication rebuilds the board")
    show(f"git -C demo/board -c user.name=you -c user.email=you@localhost merge --quiet --no-edit {request}")
    show(f"leaderboard-bot publish {kestrel} --to demo/board --quiet")
    show("leaderboard-bot board demo/board")
    say("Everything is in demo/board, a git repository like any other. README.md says how to go on.")


if __name__ == "__main__":
    main()
