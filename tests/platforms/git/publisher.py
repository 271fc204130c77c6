"""Jobs in on standard input, publications to a folder carried out in child processes, one line for each out.

Started once and warm: a child is forked for each job, in a process group of its own, so that a test can kill it at any
moment. `start FOLDER JOB` answers with the child's id, `wait ID` with how it ended.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.git.target import Folder
from bot.publishing.entry import Entry
from bot.publishing.publication import Form
from bot.service.publish.one_call import publish
from bot.service.publish.reconcile import rebuild_board
from tests.evaluation.judging import entry_from
from tests.world.results import TINY, path_of, result

DECLARED = parse_leaderboard(TINY, "tiny", "tiny.toml")


def entry(model: str = "acme/atlas-7b", day: int = 1, **more: object) -> Entry:
    """The row of a result of the tiny leaderboard, measured on a day of November 2026."""
    data = result(model, date=1_793_400_000.0 + 86_400 * day, **more)  # type: ignore[arg-type]
    return entry_from(data, DECLARED, path_of(model, f"2026-11-{day:02}T10-00-00"))


ALL: tuple[tuple[Form, tuple[str, ...]], ...] = (
    ("pull-request", ("acme/atlas-7b",)),
    ("commit", ("acme/ceres-7b",)),
    ("comment", ("acme/atlas-7b",)),
)


def run(folder: str, job: str) -> None:
    """`all` publishes in every form; `3` commits what was measured of some models on day 3."""
    target = Folder(folder)
    if job == "all":
        for form, models in ALL:
            publish([entry(model) for model in models], target, form)
    else:
        for model in ("acme/ceres-7b", "acme/delos-7b"):
            publish([entry(model, int(job), right=(int(job), 60, 70))], target, "commit")
            rebuild_board(target, DECLARED)
    rebuild_board(target, DECLARED)


def start(folder: str, job: str) -> int:
    """Fork a child for a job; its process id is that of its group, too."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.setpgid(0, 0)
        run(folder, job)
        status = 0
    except Exception:  # noqa: BLE001 - a child tells of any failure
        traceback.print_exc()
    finally:
        os._exit(status)


def main() -> None:
    """Answer each line with a line."""
    sys.modules["pyarrow"] = None  # type: ignore[assignment] # no threads of a library in a process that forks
    entry()
    for line in sys.stdin:
        verb, *args = line.rstrip("\n").split("\t")
        answer = start(*args) if verb == "start" else os.waitstatus_to_exitcode(os.waitpid(int(args[0]), 0)[1])
        print(answer, flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    main()
