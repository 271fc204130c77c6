"""Renews the lists of harness commits in bot/data/commits/ from the two repositories.

    python .github/renew_commits.py [UPSTREAM FORK]

Without arguments both are cloned from GitHub without files, which takes a minute. Each list holds the first eight
digits of every commit, the oldest first: of the default branch upstream, and of all branches of the fork what is not
there.
"""

# ruff: noqa: INP001, T201 -- a script that prints, in a folder that is no package
from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

LISTS = Path(__file__).resolve().parent.parent / "bot" / "data" / "commits"
UPSTREAM, FORK = "EleutherAI/lm-evaluation-harness", "huggingface/lm-evaluation-harness"
DIGITS = 8


def log(clone: Path, *revisions: str) -> list[tuple[str, str]]:
    """All commits of some revisions as (day, id), the oldest first."""
    command = ["git", "-C", str(clone), "log", "--reverse", "--date-order", "--format=%cs %H", *revisions]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [(line[:10], line[11:]) for line in text.splitlines()]


def listed(title: str, commits: list[tuple[str, str]]) -> str:
    """The text of a list: a line for each run of commits of one day."""
    lines = [f"# {title}; made by .github/renew_commits.py"]
    for day, run in groupby(commits, key=lambda commit: commit[0]):
        lines.append(" ".join([day, *(commit[:DIGITS] for _, commit in run)]))
    return "\n".join(lines) + "\n"


def name_of(repository: str) -> str:
    """The file of a repository's list."""
    return f"{repository.replace('/', '__')}.txt"


def renew(upstream: Path, fork: Path, folder: Path = LISTS) -> None:
    """Write both lists."""
    folder.mkdir(exist_ok=True)
    ours = log(upstream, "HEAD")
    known = {commit for _, commit in ours}
    theirs = [(day, commit) for day, commit in log(fork, "--all") if commit not in known]
    (folder / name_of(UPSTREAM)).write_text(listed(f"default branch of {UPSTREAM}", ours), encoding="ascii")
    (folder / name_of(FORK)).write_text(listed(f"commits that only {FORK} has", theirs), encoding="ascii")
    print(f"{len(ours):,} commits upstream, {len(theirs):,} of the fork alone")


def main() -> None:
    """Clone what is not named, and renew."""
    with tempfile.TemporaryDirectory() as folder:
        clones = [Path(name) for name in sys.argv[1:3]]
        for name in (UPSTREAM, FORK)[len(clones) :]:
            clone = Path(folder) / name_of(name)
            url = f"https://github.com/{name}"
            subprocess.run(["git", "clone", "--bare", "--filter=tree:0", "--quiet", url, str(clone)], check=True)
            clones.append(clone)
        renew(*clones)


if __name__ == "__main__":
    main()
