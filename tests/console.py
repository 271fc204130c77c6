"""The console blocks of a Markdown page, and what their commands really print.

A block ```` ```console ```` holds lines `$ command` with what a terminal shows after each; a line `…` alone stands for
any lines, and ` …` at the end of one for the rest of it. A block whose fence says `title="path"` is a file that the
reader writes first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

REST = re.compile(r"\\ …(?=\\\n|\Z)")  # of a line, in an escaped pattern
TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Step:
    """A file to write (`path`), or a command to run, with the text of it or the output that is quoted."""

    text: str
    path: str = ""
    command: str = ""


def steps_of(page: str) -> list[Step]:
    """What a reader of the page does, in order."""
    steps: list[Step] = []
    for token in MarkdownIt().parse(page):
        if token.type != "fence":
            continue
        title = TITLE.search(token.info)
        if title:
            steps.append(Step(token.content, path=title[1]))
        elif token.info.split(" ")[0] == "console":
            steps += _commands(token.content)
    return steps


def _commands(block: str) -> Iterator[Step]:
    _, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    for part in parts:
        command, _, output = part.partition("\n")
        yield Step(output.strip("\n"), command=command)


def follow(page: str, folder: Path) -> list[tuple[str, str, str]]:
    """Do all steps in a folder; give each command with what the page quotes and what was really printed."""
    seen = []
    for step in steps_of(page):
        if step.path:
            file = folder / step.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(step.text, encoding="utf-8")
        else:
            seen.append((step.command, step.text, run(step.command, folder)))
    return seen


def run(command: str, folder: Path) -> str:
    """What a person sees of a command: both streams in one."""
    commands = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}", "GIT_PAGER": "cat"}
    environment |= {f"GIT_{who}_{what}": "you" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.stdout.decode().strip("\n")


def is_quoted(quoted: str, real: str) -> bool:
    """Whether the page shows what was printed, `…` standing for any lines, or for the rest of one."""
    said = re.split(r"^ *…$\n?", quoted, flags=re.MULTILINE)
    parts = [REST.sub(" .*", re.escape(part)) for part in said]
    return re.fullmatch(r"(?:.*\n)*?".join(parts) + r"\n?", real + "\n") is not None
