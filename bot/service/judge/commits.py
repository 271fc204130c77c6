"""Decides whether a harness commit belongs to an accepted range, by its ancestry on GitHub.

Forks share objects with their parent, so that a commit *exists* below a repository's name proves nothing. A commit is
accepted when it descends from the range's beginning and lies on the way to its end: the declared `until`, else the
repository's default branch or one of the declared commits. Answers are kept between runs; losing them costs time only.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bot.errors import Gone, Refused, Stale, Unavailable
from bot.evaluation.benchmarks.harness import RELEASE, is_same_commit, known_commit, parse_git_hash, repository
from bot.evaluation.leaderboard import Accepted, Leaderboard
from bot.evaluation.verdict import CommitFact
from bot.platforms.github.client import GitHubClient
from bot.platforms.platform import Access
from bot.service.judge.facts import LookUp

DAY = 86_400.0
NOWHERE = "-"  # the kept answer for a commit that is not there
HEX = re.compile(r"[0-9a-f]{7,40}")


class Answers(Protocol):
    """Keeps what GitHub answered. Times are Unix seconds, None for an answer that can never change."""

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


def open_look_up(access: Access, kept: Answers, say: Callable[[str], None]) -> LookUp:
    """A function that looks harness commits up on GitHub. `say` is called once with the reason if it cannot.

    `kept` keeps answers between runs.
    """
    lookup = CommitLookup(_client(access), kept)

    def look_up(git_hashes: Iterable[str], leaderboard: Leaderboard) -> Mapping[str, CommitFact]:
        before = lookup.unreachable
        found = lookup.look_up(git_hashes, leaderboard)
        if lookup.unreachable and not before:
            say(f"harness commits are not looked up: {lookup.unreachable}")
        return found

    return look_up


def open_cached_look_up(kept: Answers) -> LookUp:
    """A function that looks harness commits up among the kept answers, however old; GitHub is not asked."""
    return CommitLookup(_client(Access()), kept, "only kept answers are read", clock=lambda: 0.0).look_up


def _client(access: Access) -> GitHubClient:
    return GitHubClient(access.github_token, access.github_api_url, patience=0, app=access.github_app)


@dataclass
class CommitLookup:
    """Looks harness commits up on GitHub; each question is asked once.

    After the first rate limit, lost connection or refusal it asks no more in this run. `unreachable` then says why, and
    the commits without an answer are judged as without a network.
    """

    client: GitHubClient
    answers: Answers = field(default_factory=AnswersInFile)
    unreachable: str = ""
    clock: Callable[[], float] = time.time

    def look_up(self, git_hashes: Iterable[str], leaderboard: Leaderboard) -> dict[str, CommitFact]:
        """The answers for all hashes that neither declaration nor shipped table settles, as far as there are any."""
        accepted = leaderboard.harness.accepted
        wanted = [text for text in dict.fromkeys(git_hashes) if accepted and not is_settled(text, accepted)]
        looked = {text: self.judge(text, accepted) for text in wanted}
        return {text: answer for text, answer in looked.items() if answer is not None}

    def judge(self, git_hash: str, accepted: Iterable[Accepted]) -> CommitFact | None:
        """Tell whether one of the accepted ranges holds a commit; None if no answer could be had."""
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

    def _judge(self, name: str, accepted: list[Accepted]) -> CommitFact:
        found_in: list[str] = []
        for span in accepted:
            commit = self.full(span.repository, name)
            if commit is None:
                continue
            if self.lies_in(commit, span):
                why = f"commit {commit[:12]} is in the accepted range of {span.repository}"
                return CommitFact("accepted", span.repository, why)
            found_in.append(span.repository)
        if found_in:
            where = " or ".join(dict.fromkeys(found_in))
            return CommitFact("unaccepted", why=f"commit {name} is in no accepted range of {where}")
        where = " or ".join(dict.fromkeys(span.repository for span in accepted))
        return CommitFact(
            "unknown", why=f"there is no commit {name} in {where}: perhaps it is of the user's own repository"
        )

    def lies_in(self, commit: str, span: Accepted) -> bool:
        """Tell whether a full commit id descends from the begin of a range and is an ancestor of one of its ends."""
        since = self.full(span.repository, span.since) if span.since else None
        if span.since and (since is None or not self.is_ancestor(span.repository, since, commit)):
            return False
        return any(self.is_ancestor(span.repository, commit, end) for end in self.ends(span))

    def ends(self, span: Accepted) -> Iterable[str]:
        """The commits at which a range may end, the likeliest first."""
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


def askable(git_hash: str) -> str:
    """A `git_hash` that may stand in a URL, a commit id or the tag of a release; "" for anything else."""
    described = parse_git_hash(git_hash)
    if described.sha:
        return described.sha
    return described.tag if RELEASE.fullmatch(described.tag) else ""


def is_settled(git_hash: str, accepted: Iterable[Accepted]) -> bool:
    """Tell whether the declaration or the shipped table answers for a commit, without a network."""
    sha = parse_git_hash(git_hash).sha
    declared = [commit for span in accepted for commit in (*span.commits, span.since or "", span.until or "")]
    return known_commit(git_hash) is not None or any(is_same_commit(sha, commit) for commit in declared)
