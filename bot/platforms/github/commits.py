"""The commits of repositories on GitHub: their full ids, and which of two is before the other."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.errors import Unavailable
from bot.evaluation.harness import known_commit, repository
from bot.platforms.github.answers import Answers, AnswersInMemory
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.errors import NotThere

DAY = 86_400.0
NOWHERE = "-"  # the kept answer for a commit that is not there
HEX = re.compile(r"[0-9a-f]{7,40}")


@dataclass
class Commits:
    """Looks commits up, each question once; once `unreachable` says why GitHub cannot be asked, nothing is."""

    client: GitHubClient
    answers: Answers = field(default_factory=AnswersInMemory)
    unreachable: str = ""

    def full(self, repo: str, name: str) -> str | None:
        """The full id of a commit by any of its names; None if the repository has none or several.

        Full ids are asked for from then on, because a short one may also be the name of a branch.
        """
        known = known_commit(name)
        if known is not None and repo == repository():
            return known.commit
        answer = self.answers.get(f"{repo} commit {name}")
        if answer is None:
            try:
                answer = str(self.ask(f"/repos/{repo}/commits/{name}")["sha"])
            except NotThere:
                answer = NOWHERE
            # An abbreviation that is unique today may not be so tomorrow, and what is not there may be pushed.
            self.answers.put(f"{repo} commit {name}", answer, None if answer == name else DAY)
        return None if answer == NOWHERE else answer

    def is_ancestor(self, repo: str, base: str, head: str) -> bool:
        """Tell whether base is head or before it. A yes stays true; a no does too, unless an end is a branch."""
        question = f"{repo} {base}...{head}"
        answer = self.answers.get(question)
        if answer is None:
            try:
                answer = str(self.ask(f"/repos/{repo}/compare/{base}...{head}")["status"])
            except NotThere:  # no common ancestor, or one of them is gone
                answer = "diverged"
            moves = not HEX.fullmatch(head) and answer not in {"ahead", "identical"}
            self.answers.put(question, answer, DAY if moves else None)
        return answer in {"ahead", "identical"}

    def default_branch(self, repo: str) -> str:
        """The name of a repository's main branch."""
        answer = self.answers.get(f"{repo} default branch")
        if answer is None:
            answer = str(self.ask(f"/repos/{repo}")["default_branch"])
            self.answers.put(f"{repo} default branch", answer, DAY)
        return answer

    def ask(self, path: str) -> dict[str, object]:
        """One request; `per_page` keeps commits and files out of the answer."""
        if self.unreachable:
            raise Unavailable("GitHub", self.unreachable)
        answer: dict[str, object] = self.client.get(path, per_page=1)
        return answer
