"""Look up commits of repositories on GitHub: their full ids, and which of two is before the other.

Answers are kept between runs; losing them costs time only.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bot.errors import Gone, Unavailable
from bot.evaluation.benchmarks.harness import known_commit, repository
from bot.platforms.github.client import GitHubClient

DAY = 86_400.0
NOWHERE = "-"  # the kept answer for a commit that is not there
HEX = re.compile(r"[0-9a-f]{7,40}")


class Answers(Protocol):
    """What keeps answers; times are in seconds since 1970, None for an answer that can never change."""

    def answer(self, question: str, now: float) -> str | None:
        """The kept answer; None if there is none or it is too old."""
        ...

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep an answer."""
        ...


class AnswersInFile:
    """Answers in a JSON file, written whole each time; what cannot be read or written is as good as empty.

    Without a file they last as long as this object.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.kept: dict[str, tuple[str, float | None]] = {}
        with suppress(OSError, ValueError, TypeError, AttributeError):
            rows = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
            self.kept = {str(key): (str(answer), until) for key, (answer, until) in rows.items()}

    def answer(self, question: str, now: float) -> str | None:
        """The kept answer; None if there is none or it is too old."""
        answer, until = self.kept.get(question, (None, None))
        return None if until is not None and until < now else answer

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep an answer, and the file with it."""
        self.kept[question] = (answer, until)
        if self.path is None:
            return
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        with suppress(OSError):  # a read-only home: the next run asks again
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(self.kept), encoding="utf-8")
            beside.replace(self.path)


@dataclass
class Commits:
    """Looks commits up, each question once; once `unreachable` says why GitHub cannot be asked, nothing is."""

    client: GitHubClient
    answers: Answers = field(default_factory=AnswersInFile)
    unreachable: str = ""
    clock: Callable[[], float] = time.time

    def full(self, repo: str, name: str) -> str | None:
        """The full id of a commit by any of its names; None if the repository has none or several.

        Full ids are asked for from then on, because a short one may also be the name of a branch.
        """
        known = known_commit(name)
        if known is not None and repo == repository():
            return known.commit
        answer = self._kept(f"{repo} commit {name}")
        if answer is None:
            try:
                answer = str(self.ask(f"/repos/{repo}/commits/{name}")["sha"])
            except Gone:
                answer = NOWHERE
            # An abbreviation that is unique today may not be so tomorrow, and what is not there may be pushed.
            self._keep(f"{repo} commit {name}", answer, None if answer == name else DAY)
        return None if answer == NOWHERE else answer

    def is_ancestor(self, repo: str, base: str, head: str) -> bool:
        """Tell whether base is head or before it. A yes stays true; a no does too, unless an end is a branch."""
        question = f"{repo} {base}...{head}"
        answer = self._kept(question)
        if answer is None:
            try:
                answer = str(self.ask(f"/repos/{repo}/compare/{base}...{head}")["status"])
            except Gone:  # no common ancestor, or one of them is gone
                answer = "diverged"
            moves = not HEX.fullmatch(head) and answer not in {"ahead", "identical"}
            self._keep(question, answer, DAY if moves else None)
        return answer in {"ahead", "identical"}

    def default_branch(self, repo: str) -> str:
        """The name of a repository's main branch."""
        answer = self._kept(f"{repo} default branch")
        if answer is None:
            answer = str(self.ask(f"/repos/{repo}")["default_branch"])
            self._keep(f"{repo} default branch", answer, DAY)
        return answer

    def _kept(self, question: str) -> str | None:
        return self.answers.answer(question, self.clock())

    def _keep(self, question: str, answer: str, lasts: float | None) -> None:
        self.answers.set_answer(question, answer, None if lasts is None else self.clock() + lasts)

    def ask(self, path: str) -> dict[str, object]:
        """One request; `per_page` keeps commits and files out of the answer."""
        if self.unreachable:
            raise Unavailable("GitHub", self.unreachable)
        answer: dict[str, object] = self.client.get(path, per_page=1)
        return answer
