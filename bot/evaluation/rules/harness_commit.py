"""Determine which harness measured a result, and whether the leaderboard accepts it.

Three rules and the joining of files read it. Order of evidence: the release number (lm-eval 0.4.9 and later record it),
what was looked up and handed in, the declared commits, the shipped table of releases, the shipped lists of commits. A
commit that none of these knows is not wrong, it is unverifiable: the harness records the commit of the working
directory, which may be the user's own repository.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from bot.evaluation.benchmarks.harness import (
    RELEASE,
    DatedCommit,
    commit_of,
    is_same_commit,
    known_commit,
    order_of,
    parse_git_hash,
    repository,
)
from bot.evaluation.finding import shown
from bot.evaluation.leaderboard import Accepted, Leaderboard
from bot.evaluation.result import HarnessVersion
from bot.evaluation.verdict import CommitAnswer

if TYPE_CHECKING:
    from bot.evaluation.rules.rule import Facts


class HarnessAnswer(msgspec.Struct, frozen=True, gc=False):
    """The answer about a result's harness, and why; `span` is the number of the accepted range that it lies in."""

    answer: CommitAnswer
    why: str
    span: int | None = None


def judge_harness(harness: HarnessVersion, leaderboard: Leaderboard, facts: Facts) -> HarnessAnswer:
    """Say whether a harness is one that the declaration accepts."""
    accepted = leaderboard.harness.accepted
    if not accepted:
        return HarnessAnswer("accepted", "the leaderboard does not pin the harness", 0)
    if harness.repository is not None:
        return _of_tool(harness, harness.repository, accepted, facts)
    if harness.version is not None and harness.version.strip():
        by_release = _by_release(harness.version, accepted, f"the file records release {shown(harness.version)}")
        if by_release.answer != "unknown":
            return by_release
    if harness.git_hash is None:
        return HarnessAnswer("unknown", "the file records no commit of the harness")
    return _by_commit(harness.git_hash, accepted, facts)


def range_of(harness: HarnessVersion, format_id: str, leaderboard: Leaderboard, facts: Facts) -> int | None:
    """The number of the accepted range in which a file counts; of an unverifiable harness the only possible one."""
    span = judge_harness(harness, leaderboard, facts).span
    if span is not None:
        return span
    written = [number for number, one in enumerate(leaderboard.harness.accepted) if format_id in one.formats]
    possible = written or range(len(leaderboard.harness.accepted))
    return possible[0] if len(possible) == 1 else None


def _of_tool(harness: HarnessVersion, repository: str, accepted: tuple[Accepted, ...], facts: Facts) -> HarnessAnswer:
    """Judge a tool other than lm-eval by the ranges of its own repository: no table here knows its releases."""
    spans = [(number, span) for number, span in enumerate(accepted) if span.repository.lower() == repository.lower()]
    release, commit = (harness.version or "").strip(), harness.git_hash or ""
    looked_up, sha = facts.commits.get(commit), parse_git_hash(commit).sha
    for number, span in spans:
        if release and release in span.releases:
            return HarnessAnswer("accepted", f"the file records release {shown(release)}", number)
        if _declared_in(sha, (span,)) is not None:
            return HarnessAnswer("accepted", f"commit {sha} is declared", number)
        if looked_up and looked_up.answer == "accepted" and looked_up.repository == span.repository:
            return HarnessAnswer("accepted", looked_up.why, number)
    if not spans:
        return HarnessAnswer("unknown", f"no version of {repository} is declared")
    if release and any(span.releases for _, span in spans):
        return HarnessAnswer("unaccepted", f"the file records release {shown(release)}, which is not accepted")
    what = f"commit {shown(commit)} is not declared" if commit else "the file records neither release nor commit"
    return HarnessAnswer("unknown", f"{what} of {repository}")


def _by_commit(git_hash: str, accepted: tuple[Accepted, ...], facts: Facts) -> HarnessAnswer:
    looked_up = facts.commits.get(git_hash)
    if looked_up is not None and looked_up.answer != "unknown":
        spans = [number for number, span in enumerate(accepted) if looked_up.repository in {"", span.repository}]
        is_inside = looked_up.answer == "accepted" and spans
        return HarnessAnswer(looked_up.answer, looked_up.why, spans[0] if is_inside else None)
    described = parse_git_hash(git_hash)
    span = _declared_in(described.sha, accepted)
    if span is not None:
        return HarnessAnswer("accepted", f"commit {described.sha} is declared", span)
    known = known_commit(git_hash)
    if known is not None and known.version:
        return _by_release(known.version, accepted, f"{shown(git_hash)} is release {known.version} of {repository()}")
    if known is not None:
        return HarnessAnswer("unaccepted", f"{shown(git_hash)} is known ({known.note}) and not accepted")
    dated = commit_of(git_hash)
    if dated is not None and looked_up is None:
        return _by_date(dated, accepted)
    why = f"commit {shown(git_hash)} is not in the shipped table and was not looked up"
    if described.tag:
        why = f"git_hash {shown(git_hash)} is what git describe printed in some repository, perhaps the user's own"
    return HarnessAnswer("unknown", why if looked_up is None else looked_up.why)


def _by_date(found: DatedCommit, accepted: tuple[Accepted, ...]) -> HarnessAnswer:
    """Judge a commit of the shipped lists by its place in them.

    One of the default branch is in a range when it lies between both of its ends. Of the fork, whose branches differ,
    that cannot be told from the places, nor of a range with an end that the lists do not have.
    """
    what = f"commit {found.short} is of {found.repository}, {found.day}"
    spans = [(number, span) for number, span in enumerate(accepted) if span.repository == found.repository]
    if spans and found.repository == repository():
        inside = {number: _is_inside(found, span) for number, span in spans}
        number = next((number for number, is_inside in inside.items() if is_inside), None)
        if number is not None:
            return HarnessAnswer("accepted", what, number)
        if None not in inside.values():
            return HarnessAnswer("unaccepted", f"{what}, which is in no accepted range")
    return HarnessAnswer("unknown", f"{what}; whether that is in an accepted range was not looked up")


def _is_inside(found: DatedCommit, span: Accepted) -> bool | None:
    """Tell whether a range has a commit of the lists; None if an end decides that the lists do not have."""
    since, until = (commit_of(end) if end else None for end in (span.since, span.until))
    if (since and found.place < since.place) or (until and until.place < found.place):
        return False
    return True if bool(since) == bool(span.since) and bool(until) == bool(span.until) else None


def _declared_in(sha: str, accepted: tuple[Accepted, ...]) -> int | None:
    """The number of the range that names a commit."""
    for number, span in enumerate(accepted):
        named = (*span.commits, *filter(None, (span.since, span.until)))
        if sha and any(is_same_commit(sha, commit) for commit in named):
            return number
    return None


def _by_release(text: str, accepted: tuple[Accepted, ...], what: str) -> HarnessAnswer:
    release = RELEASE.fullmatch(text.strip())
    version = release["version"] if release else ""
    spans = [number for number, span in enumerate(accepted) if version and version in span.releases]
    if spans:
        return HarnessAnswer("accepted", what, spans[0])
    if version and known_commit(version) is not None:
        return HarnessAnswer("unaccepted", f"{what}, which is not accepted")
    return HarnessAnswer("unknown", f"{what}, which is not in the shipped table")


def named_version(harness: HarnessVersion, versions: Collection[str]) -> str:
    """The one of some releases and commits that a file names as its harness, "" if it names none of them."""
    if not versions:
        return ""
    release = RELEASE.fullmatch((harness.version or "").strip())
    if release is not None:
        return release["version"] if release["version"] in versions else ""
    sha, known = parse_git_hash(harness.git_hash or "").sha, known_commit(harness.git_hash or "")
    if known is not None and known.version in versions:
        return known.version
    return next((one for one in versions if is_same_commit(sha, one)), "")


def development_of(harness: HarnessVersion, named: str, versions: frozenset[str]) -> str:
    """The release after the one that a file records, "" if there is none.

    A copy of the repository calls itself by the last release while it has what comes with the next.
    """
    return "" if harness.version is None else _release_after(named, versions)


@lru_cache(maxsize=256)
def _release_after(named: str, versions: frozenset[str]) -> str:
    if not RELEASE.fullmatch(named):
        return ""
    later = [one for one in versions if RELEASE.fullmatch(one) and order_of(one) > order_of(named)]
    return min(later, key=order_of, default="")
