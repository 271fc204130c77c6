"""Which harness measured, as far as it can be told: a case in, an answer with its reason out.

Three rules read it. Order of evidence: the release number (lm-eval 0.4.9 and later record it), what was looked up and
handed in, the declared commits, the shipped table. A commit that none of these knows is not wrong, it is unverifiable:
the harness records the commit of the working directory, which may be the user's own repository.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.finding import shown
from bot.harness import RELEASE, is_same_commit, known_commit, parse_git_hash, repository
from bot.leaderboard import Accepted
from bot.rules.rule import Case, CommitAnswer


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of the harness of a result, and why."""

    answer: CommitAnswer
    why: str


def judge_harness(case: Case) -> Answer:
    """Say whether the harness of a result is one that the declaration accepts."""
    accepted = case.leaderboard.harness.accepted
    harness = case.result.harness
    if not accepted:
        return Answer("accepted", "the leaderboard does not pin the harness")
    if harness.version is not None and harness.version.strip():
        by_release = _by_release(harness.version, accepted, f"the file records release {shown(harness.version)}")
        if by_release.answer != "unknown":
            return by_release
    if harness.git_hash is None:
        return Answer("unknown", "the file records no commit of the harness (git_hash is null)")
    return _by_commit(harness.git_hash, case)


def _by_commit(git_hash: str, case: Case) -> Answer:
    looked_up = case.facts.commits.get(git_hash)
    if looked_up is not None and looked_up != "unknown":
        return Answer(looked_up, case.facts.reasons.get(git_hash, f"commit {shown(git_hash)} was looked up"))
    described, accepted = parse_git_hash(git_hash), case.leaderboard.harness.accepted
    if described.sha and _is_declared(described.sha, accepted):
        return Answer("accepted", f"commit {described.sha} is declared")
    known = known_commit(git_hash)
    if known is not None and known.version and (described.sha or not described.ahead):
        return _by_release(known.version, accepted, f"{shown(git_hash)} is release {known.version} of {repository()}")
    if known is not None:
        return Answer("unaccepted", f"{shown(git_hash)} is known ({known.note}) and not accepted")
    why = f"commit {shown(git_hash)} is in no table here and was not looked up"
    if described.tag:
        why = f"git_hash {shown(git_hash)} is what git describe printed in some repository, perhaps the user's own"
    return Answer("unknown", case.facts.reasons.get(git_hash, why))


def _is_declared(sha: str, accepted: tuple[Accepted, ...]) -> bool:
    return any(
        is_same_commit(sha, commit)
        for span in accepted
        for commit in (*span.commits, *filter(None, (span.since, span.until)))
    )


def _by_release(text: str, accepted: tuple[Accepted, ...], what: str) -> Answer:
    release = RELEASE.fullmatch(text.strip())
    number = release["version"] if release else ""
    if number and any(number in span.releases for span in accepted):
        return Answer("accepted", what)
    if number and known_commit(number) is not None:
        return Answer("unaccepted", f"{what}, which is not accepted")
    return Answer("unknown", f"{what}, which is in no table here")


def accepted_versions(case: Case) -> str:
    """What to install instead, in words."""
    spans = case.leaderboard.harness.accepted
    releases = [release for span in spans for release in span.releases]
    if releases:
        return f"measure with lm-eval {releases[-1]} (accepted are {', '.join(releases)})"
    return "measure with " + " or ".join(f"{span.repository} at {(span.commits or ('?',))[-1]}" for span in spans)
