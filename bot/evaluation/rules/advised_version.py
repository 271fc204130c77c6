"""Choose the version of a harness to measure tasks with: the new file joins the old one, and compares with others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from bot.evaluation.benchmarks.harness import RELEASE, commit_of, known_commit, repository
from bot.evaluation.benchmarks.silent_changes import SilentChange, silent_changes
from bot.evaluation.definition import OF_RELEASES, task_versions
from bot.evaluation.leaderboard import Leaderboard, leaves_like
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rules.harness_commit import judge_harness, named_version
from bot.evaluation.task import Leaf, Task

if TYPE_CHECKING:
    from bot.evaluation.rules.rule import Facts


class Advised(NamedTuple):
    """A version of a tool to measure with: a release or a commit."""

    repository: str
    version: str

    @property
    def title(self) -> str:
        """Its name for people."""
        if "." not in self.version:
            return f"{self.repository} at {self.version[:10]}"
        return f"{'lm-eval' if self.repository == repository() else self.repository} {self.version}"


def advised_version(
    harness: HarnessVersion,
    format_id: str,
    leaf_keys: Iterable[str],
    leaderboard: Leaderboard,
    facts: Facts,
    *,
    newest: bool = False,
) -> Advised | None:
    """The version to measure leaves with so that they join a result: its harness, else the newest that is accepted.

    Where the leaderboard accepts every one it is the result's own release, None if it records none. `newest` passes
    over the result's own. No version counts that is known to measure one of the leaves wrongly; one whose numbers are
    known to be less comparable comes after those whose are not. Of a file's texts only a release is part of it: a
    commit is named as the declaration or the shipped lists spell it.
    """
    accepted, keys = leaderboard.harness.accepted, list(leaf_keys)
    bad = {
        version
        for one in leaderboard.harness.known_bad
        if any(leaves_like(pattern, keys) for pattern in one.leaves)
        for version in (one.release, *one.commits)
    }
    recorded = RELEASE.fullmatch((harness.version or "").strip())
    if not (accepted or newest) and recorded and recorded["version"] not in bad:
        return Advised(harness.repository or repository(), recorded["version"])
    named = {*keys}
    asked = [(task, leaf) for task, leaf in leaderboard.leaves() if leaf.key(format_id) in named]
    best: tuple[tuple[int, int], Advised] | None = None
    for one in _candidates(harness, format_id, leaderboard, facts, newest=newest):
        if one.version and one.version not in bad:
            faults = _faults(one, format_id, asked)
            if best is None or faults < best[0]:
                best = faults, one
            if faults == (0, 0):
                break
    return best[1] if best else None


def _candidates(
    harness: HarnessVersion, format_id: str, leaderboard: Leaderboard, facts: Facts, *, newest: bool
) -> Iterator[Advised]:
    """The accepted versions that the new file may be of, the result's own first, then from the newest to the oldest."""
    accepted = leaderboard.harness.accepted
    number = judge_harness(harness, leaderboard, facts).span if accepted else None
    of_format = [span for span in accepted if not span.formats or format_id in span.formats]
    tool = (harness.repository or repository()).lower()
    of_tool = [span for span in of_format if span.repository.lower() == tool] or of_format
    listed = commit_of(harness.git_hash or "")
    for span in of_tool if number is None else [accepted[number]]:
        own = [named_version(harness, [*span.releases, *span.commits])]
        if number is not None and listed is not None and listed.repository == span.repository:
            own.append(listed.short)
        ends = [*reversed(span.releases), *reversed(span.commits), span.until, span.since]
        for version in ends if newest else [*own, *ends]:
            yield Advised(span.repository, version or "")


def _faults(one: Advised, format_id: str, asked: Sequence[tuple[Task, Leaf]]) -> tuple[int, int]:
    """How many leaves a version measures in a task version that is not accepted, and in a less comparable way."""
    if format_id != OF_RELEASES:
        return 0, 0
    of_release = known_commit(one.version)
    name = of_release.version if of_release and of_release.version else one.version
    versions, changes = task_versions(one.repository), _changes_in(name)
    refused = less = 0
    for task, leaf in asked:
        key = leaf.key(format_id)
        known = versions.get(key, {})
        version, takes = known.get(name, ""), task.versions_of(format_id)
        refused += bool(version and takes and version not in takes)
        less += version in task.older_versions or (not version and bool(known) and "." in name)
        less += any(declared.versions and declared.covers(format_id, version) for declared in task.not_comparable)
        less += any(change.covers(key, task.num_fewshot, version or None) for change in changes)
    return refused, less


@cache
def _changes_in(release: str) -> tuple[SilentChange, ...]:
    """The silent changes that a release has.

    After a change of the fork most of its rows were scored again: only the releases' changes count.
    """
    measured = HarnessVersion("", version=release)
    return tuple(change for change in silent_changes() if change.release and change.is_in(measured))
