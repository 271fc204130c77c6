"""Asks GitHub whether a harness commit belongs to an accepted range, by its ancestry.

Forks share objects with their parent, so that a commit *exists* below a repository's name proves nothing. A commit is
accepted when it descends from the range's beginning and lies on the way to its end: the declared `until`, else the
repository's default branch or one of the declared commits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bot.errors import Refused, Stale, Unavailable
from bot.evaluation.harness import RELEASE, is_same_commit, known_commit, parse_git_hash, repository
from bot.evaluation.leaderboard import Accepted, Leaderboard
from bot.platforms.github.answers import Answers, AnswersInMemory
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.errors import NotThere

DAY = 86_400.0
NOWHERE = "-"  # the kept answer for a commit that is not there
HEX = re.compile(r"[0-9a-f]{7,40}")
Word = Literal["accepted", "unaccepted", "unknown"]


@dataclass(frozen=True, slots=True)
class LookupResult:
    """What GitHub said of one `git_hash`, and why; "unknown" where no accepted repository has it.

    `repository` is the one in whose accepted range it lies, "" if it lies in none.
    """

    answer: Word
    why: str
    repository: str = ""


@dataclass
class Commits:
    """Looks commits up, each question once.

    After the first rate limit, lost line or refusal it asks no more in this run; `unreachable` then says why, and what
    was not answered is judged as without a network.
    """

    client: GitHubClient
    answers: Answers = field(default_factory=AnswersInMemory)
    unreachable: str = ""

    def look_up(self, git_hashes: Iterable[str], leaderboard: Leaderboard) -> dict[str, LookupResult]:
        """Answer for every hash that neither the declaration nor the table settles, as far as there is an answer."""
        accepted = leaderboard.harness.accepted
        wanted = [text for text in dict.fromkeys(git_hashes) if accepted and not is_settled(text, accepted)]
        looked = {text: self.judge(text, accepted) for text in wanted}
        return {text: answer for text, answer in looked.items() if answer is not None}

    def judge(self, git_hash: str, accepted: Iterable[Accepted]) -> LookupResult | None:
        """Ask for one hash in every accepted range, until one takes it; None if no answer could be had."""
        name = askable(git_hash)
        if not name:
            return None
        try:
            return self._judge(name, list(accepted))
        except Unavailable as error:
            self.unreachable = self.unreachable or str(error)
        except (Refused, Stale) as error:
            self.unreachable = str(error)
        return None

    def _judge(self, name: str, accepted: list[Accepted]) -> LookupResult:
        found_in: list[str] = []
        for span in accepted:
            commit = self.full(span.repository, name)
            if commit is None:
                continue
            if self.lies_in(commit, span):
                why = f"commit {commit[:12]} is in the accepted range of {span.repository}"
                return LookupResult("accepted", why, span.repository)
            found_in.append(span.repository)
        if found_in:
            where = " or ".join(dict.fromkeys(found_in))
            return LookupResult("unaccepted", f"commit {name} is in no accepted range of {where}")
        where = " or ".join(dict.fromkeys(span.repository for span in accepted))
        return LookupResult(
            "unknown", f"there is no commit {name} in {where}: perhaps it is of the user's own repository"
        )

    def lies_in(self, commit: str, span: Accepted) -> bool:
        """Tell whether a full commit id descends from the range's beginning and leads to one of its ends."""
        since = self.full(span.repository, span.since) if span.since else None
        if span.since and (since is None or not self.is_ancestor(span.repository, since, commit)):
            return False
        return any(self.is_ancestor(span.repository, commit, end) for end in self.ends(span))

    def ends(self, span: Accepted) -> Iterable[str]:
        """The commits that a range may lead to, the likeliest first."""
        if span.until:
            yield self.full(span.repository, span.until) or span.until
            return
        yield self.default_branch(span.repository)
        yield from (commit for text in span.commits if (commit := self.full(span.repository, text)))

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


def askable(git_hash: str) -> str:
    """The part of a `git_hash` that may stand in a URL: a commit id or the tag of a release, "" for all else."""
    described = parse_git_hash(git_hash)
    if described.sha:
        return described.sha
    return described.tag if RELEASE.fullmatch(described.tag) else ""


def is_settled(git_hash: str, accepted: Iterable[Accepted]) -> bool:
    """Tell whether the declaration or the shipped table answers without a network."""
    sha = parse_git_hash(git_hash).sha
    declared = [commit for span in accepted for commit in (*span.commits, span.since or "", span.until or "")]
    return known_commit(git_hash) is not None or any(is_same_commit(sha, commit) for commit in declared)
