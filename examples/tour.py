"""The tour that `make run` takes: five result files checked, scored, explained and published on this machine.

Each step prints the command, so that it can be run by hand; everything is written below `demo/`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "demo"
BOT = [sys.executable, "-m", "bot"]
PORT = 7861
HINT = '{"event":{"scope":"repo.content","action":"update"},"repo":{"type":"watch","name":"demo"}}'
# What `curl -d @hint.json` does, on machines without curl too.
HOOK = (
    f"{sys.executable} -c 'import sys, urllib.request as r; "
    f'r.urlopen("http://127.0.0.1:{PORT}/webhooks/hub", open(sys.argv[1], "rb").read())\' '
    f"{DEMO / 'hint.json'}"
)
SETTINGS = """[[watches]]
name = "demo"
leaderboard = "open-llm-v2"
source = "results"
settle_every = "1h"
[[watches.targets]]
to = "served"
"""
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


def serve_and_push() -> None:
    """Start the service on a repository of results, commit one there, and wait for the request on the board."""
    (DEMO / "bot.toml").write_text(SETTINGS, encoding="utf-8")
    show("git init --quiet --initial-branch=main demo/results")
    hook = DEMO / "results" / ".git" / "hooks" / "post-commit"
    (DEMO / "hint.json").write_text(HINT, encoding="utf-8")
    hook.write_text(f"#!/bin/sh\n{HOOK}\n", encoding="utf-8")
    hook.chmod(0o755)
    print(f"$ leaderboard-bot serve --config demo/bot.toml --port {PORT} &", flush=True)  # noqa: T201
    command = [*BOT, "serve", "--config", "demo/bot.toml", "--port", str(PORT)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "WEBHOOK_SECRET": ""}
    with (DEMO / "serve.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_for(lambda: "healthy" if is_serving() else "")
        show("cp -r examples/results/example-org__osprey-7b demo/results/")
        show("git -C demo/results add .")
        show(
            "git -C demo/results -c user.name=you -c user.email=you@localhost commit --quiet -m 'Add results of osprey'"
        )
        wait_for(lambda: branches(DEMO / "served"))
        show("git -C demo/served branch --list --format=%(refname:short)")
    finally:
        server.terminate()
        server.wait()


def is_serving() -> bool:
    """Whether the service answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/healthz", timeout=5):
            return True
    except OSError:
        return False


def branches(folder: Path) -> str:
    """The requests that stand at a board."""
    words = ["git", "branch", "--list", "--format=%(refname:short)", "leaderboard-bot/*"]
    return (
        subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stdout if folder.exists() else ""
    )


def wait_for(look: Callable[[], str]) -> None:
    """Look until there is something to see; stop the tour after a minute."""
    end = time.monotonic() + 60
    while not look():
        if time.monotonic() > end:
            sys.exit(f"the service did not do it; {DEMO / 'serve.log'} says why")
        time.sleep(0.1)


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
    say(
        "8. The same with nobody typing: a server keeps a board in step with a repository of results; a commit tells it"
    )
    serve_and_push()
    say("Everything is in demo/board, a git repository like any other. README.md says how to go on.")


if __name__ == "__main__":
    main()
