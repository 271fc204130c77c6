"""The tour that `make run` takes: from five result files to a board that can be browsed, all on this machine.

Each step prints the command, so that it can be run by hand; everything is written below `demo/`. On a terminal the tour
ends with the board at an address, until it is stopped.
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
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from socket import gethostname, socket

from make_results import dumps, make_result

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "demo"
BOT = [sys.executable, "-m", "bot"]
MORE = 30  # rows that fill the board


def free_port(first: int) -> int:
    """A port that nobody listens on, the first one if it is free."""
    for port in (first, 0):
        with suppress(OSError), socket() as tried:
            tried.bind(("127.0.0.1", port))
            return int(tried.getsockname()[1])
    return first


PORT = free_port(7861)
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
REQUEST = "leaderboard-bot/open-llm-v2/example-org/kestrel-7b/"


def say(text: str) -> None:
    """Print a heading between the steps."""
    print(f"\n\x1b[1m{text}\x1b[0m\n" if sys.stdout.isatty() else f"\n{text}\n", flush=True)  # noqa: T201


def show(command: str, *, expected: int = 0) -> None:
    """Print a command as a person types it, run it, and stop the tour where it ends in another way than expected."""
    print(f"$ {command}", flush=True)  # noqa: T201
    asked, _, silent = command.partition(" 2> ")
    words = shlex.split(asked)
    words = [*BOT, *words[1:]] if words[0] == "leaderboard-bot" else words
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GIT_PAGER": "cat"}
    done = subprocess.run(words, cwd=ROOT, env=environment, check=False, stderr=subprocess.DEVNULL if silent else None)
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
    """Look until there is something to see; stop the tour after three minutes, which a slow machine may need."""
    end = time.monotonic() + 180
    while not look():
        if time.monotonic() > end:
            sys.exit(f"the service did not do it; {DEMO / 'serve.log'} says why")
        time.sleep(0.1)


def fill_board() -> None:
    """Put the rows of models that do not exist on the board, so that there is something to browse."""
    strengths = Random(1)  # noqa: S311 - drawn numbers, no secret
    for number in range(MORE):
        model = f"example-org/model-{number:02}"
        file = DEMO / "more" / model.replace("/", "__") / "results_2026-03-01T00-00-00.000000.json"
        file.parent.mkdir(parents=True)
        file.write_text(dumps(make_result(model, strengths.uniform(0.05, 0.8))), encoding="utf-8")


def publish_more() -> None:
    """Publish them; a line for each would only be long."""
    words = [*BOT, "publish", "demo/more", "--to", "./demo/board", "--as", "commit", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    print(f"… {done.stdout.count('commit')} rows")  # noqa: T201


class Pages(SimpleHTTPRequestHandler):
    """The files of the site, without a line for each request."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def is_headless() -> bool:
    """Whether this machine is one that nobody sits at: reached over the network, or Linux without a screen."""
    has_screen = sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return bool(os.environ.get("SSH_CONNECTION")) or not has_screen


def elsewhere(port: int) -> str:
    """How to look at the board from another machine."""
    served = "" if sys.stdout.isatty() else f"run `python3 -m http.server {port} --bind 127.0.0.1 -d demo/site` here, "
    return (
        f"From another machine: {served}run `ssh -L {port}:127.0.0.1:{port} {gethostname()}` there, and open"
        f" http://127.0.0.1:{port}/ in a browser."
    )


def serve_site() -> None:
    """Serve the site until the tour is stopped, where a person looks on."""
    if not sys.stdout.isatty():
        say(f"The board is in demo/site: open demo/site/index.html in a browser. {elsewhere(7862)}")
        return
    handler = lambda *args: Pages(*args, directory=str(DEMO / "site"))  # noqa: E731 - the form that the server calls
    with ThreadingHTTPServer(("127.0.0.1", free_port(7862)), handler) as server:
        say(f"The board: http://127.0.0.1:{server.server_port}/ or the file demo/site/index.html; Ctrl-C ends this.")
        if is_headless():
            say(elsewhere(server.server_port))
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def main() -> None:
    """Take the tour."""
    shutil.rmtree(DEMO, ignore_errors=True)
    results, kestrel = "examples/results", "examples/results/example-org__kestrel-7b"
    say("1. Five models were evaluated. Are their results sound?")
    show(f"leaderboard-bot check {results} --format summary", expected=1)
    say("2. What is wrong with one of them, and what repairs it?")
    show(f"leaderboard-bot check {results}/example-org__harrier-3b --quiet", expected=1)
    say("3. How does a number come about?")
    show(f"leaderboard-bot explain {kestrel} musr")
    say("4. Somebody reports 51.85 for this model: which reading of its file is that?")
    show(f"leaderboard-bot explain {kestrel} --reported 51.85")
    say("5. Publish what is not rejected: each row is a request that a person merges (in a folder, a branch)")
    show(f"leaderboard-bot publish {results} --to ./demo/board --quiet 2> /dev/null", expected=1)
    show(f"git -C demo/board -c user.name=you -c user.email=you@localhost merge --quiet --no-edit {branch_of(REQUEST)}")
    say("6. The same with nobody typing: a server hears of a commit, and opens the request")
    serve_and_push()
    say(f"7. A board to browse: {MORE} more rows, published without review, and the site that is made of all")
    fill_board()
    print("$ leaderboard-bot publish demo/more --to ./demo/board --as commit --quiet", flush=True)  # noqa: T201
    publish_more()
    show("leaderboard-bot site demo/board --out demo/site")
    say("8. Does each row follow from its evidence? The files are read again, and every number is compared")
    folders = f"--sources . --sources {results} --sources demo/more"
    show(f"leaderboard-bot verify demo/board {folders} --quiet")
    serve_site()


if __name__ == "__main__":
    main()
