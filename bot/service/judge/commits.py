"""Decides whether a harness commit belongs to an accepted range, by its ancestry on GitHub.

Forks share objects with their parent, so that a commit *exists* below a repository's name proves nothing. A commit is
accepted when it descends from the range's beginning and lies on the way to its end: the declared `until`, else the
repository's default branch or one of the declared commits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bot.errors import Refused, Stale, Unavailable
from bot.evaluation.benchmarks.harness import RELEASE, is_same_commit, known_commit, parse_git_hash
from bot.evaluation.leaderboard import Accepted, Leaderboard
from bot.evaluation.verdict import CommitFact
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.commits import Answers, Commits
from bot.platforms.platform import Access
from bot.service.judge.facts import LookUp


def open_look_up(access: Access, kept: Answers, say: Callable[[str], None]) -> LookUp:
    """Return what looks harness commits up on GitHub; `say` hears, once, why it could not.

    `kept` keeps answers between runs.
    """
    lookup = CommitLookup(Commits(_client(access), kept))

    def look_up(git_hashes: Iterable[str], leaderboard: Leaderboard) -> Mapping[str, CommitFact]:
        before = lookup.unreachable
        found = lookup.look_up(git_hashes, leaderboard)
        if lookup.unreachable and not before:
            say(f"harness commits are not looked up: {lookup.unreachable}")
        return found

    return look_up


def open_cached_look_up(kept: Answers) -> LookUp:
    """Return what looks harness commits up among the last kept answers, however old, and asks nobody."""
    return CommitLookup(Commits(_client(Access()), kept, "only kept answers are read", clock=lambda: 0.0)).look_up


def _client(access: Access) -> GitHubClient:
    return GitHubClient(access.github_token, access.github_api_url, patience=0, app=access.github_app)


@dataclass(frozen=True)
class CommitLookup:
    """Looks harness commits up, each question once.

    After the first rate limit, lost line or refusal it asks no more in this run; `unreachable` then says why, and what
    was not answered is judged as without a network.
    """

    commits: Commits

    @property
    def unreachable(self) -> str:
        """Why GitHub cannot be asked, "" while it can."""
        return self.commits.unreachable

    def look_up(self, git_hashes: Iterable[str], leaderboard: Leaderboard) -> dict[str, CommitFact]:
        """Answer for every hash that neither the declaration nor the table settles, as far as there is an answer."""
        accepted = leaderboard.harness.accepted
        wanted = [text for text in dict.fromkeys(git_hashes) if accepted and not is_settled(text, accepted)]
        looked = {text: self.judge(text, accepted) for text in wanted}
        return {text: answer for text, answer in looked.items() if answer is not None}

    def judge(self, git_hash: str, accepted: Iterable[Accepted]) -> CommitFact | None:
        """Ask for one hash in every accepted range, until one takes it; None if no answer could be had."""
        name = askable(git_hash)
        if not name:
            return None
        try:
            return self._judge(name, list(accepted))
        except Unavailable as error:
            self.commits.unreachable = self.commits.unreachable or str(error)
        except (Refused, Stale) as error:
            self.commits.unreachable = str(error)
        return None

    def _judge(self, name: str, accepted: list[Accepted]) -> CommitFact:
        found_in: list[str] = []
        for span in accepted:
            commit = self.commits.full(span.repository, name)
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
        """Tell whether a full commit id descends from the range's beginning and leads to one of its ends."""
        since = self.commits.full(span.repository, span.since) if span.since else None
        if span.since and (since is None or not self.commits.is_ancestor(span.repository, since, commit)):
            return False
        return any(self.commits.is_ancestor(span.repository, commit, end) for end in self.ends(span))

    def ends(self, span: Accepted) -> Iterable[str]:
        """The commits that a range may lead to, the likeliest first."""
        if span.until:
            yield self.commits.full(span.repository, span.until) or span.until
            return
        yield self.commits.default_branch(span.repository)
        yield from (commit for text in span.commits if (commit := self.commits.full(span.repository, text)))


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
