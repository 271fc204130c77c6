"""Find the facts that decided about a row, which its entry records, so that anyone can judge it again."""

from __future__ import annotations

from collections.abc import Iterator

from bot.evaluation.finding import Finding
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import raw_values
from bot.evaluation.rules.duplicate_scores import duplicate_scores
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import NO_FACTS, Facts
from bot.evaluation.rules.unaccepted_harness_commit import unaccepted_harness_commit
from bot.evaluation.rules.unverifiable_harness_commit import unverifiable_harness_commit
from bot.evaluation.rules.wrong_owner import deciding_owners, wrong_owner
from bot.evaluation.submission import believed_date, latest_date, own_date
from bot.evaluation.verdict import CommitFact, Row, RowFacts, Verdict

NOTHING = RowFacts()
OF_HARNESS = frozenset({unaccepted_harness_commit.id, unverifiable_harness_commit.id})


def row_facts(row: Row, facts: Facts) -> RowFacts | None:
    """The facts without which the same files would give another row, None if there are none."""
    if facts is NO_FACTS:
        return None
    is_copy = any(finding.rule == duplicate_scores.id for finding in row.findings)
    found = RowFacts(
        today=str(facts.today) if any(_is_decided_by_day(file, facts) for file in row.files) else "",
        commits=dict(_commits(row, facts)),
        same_values=facts.same_values[raw_values(row.measurements, row.leaderboard)] if is_copy else "",
        owners={prefix: names for file in row.files for prefix, names in _owners(file, facts).items()},
        names={file.called: facts.names[file.called] for file in row.files if file.called},
    )
    return None if found == NOTHING else found


def _is_decided_by_day(file: Verdict, facts: Facts) -> bool:
    """Tell whether a file's date is believed, or called one of the future, because of the day of judging."""
    own, committed = own_date(file.result, file.path), facts.committed.get(file.path)
    if believed_date(own, committed, facts.today) != believed_date(own, committed):
        return True
    return own is not None and latest_date(facts.today, committed) < own <= latest_date(None, committed)


def _commits(row: Row, facts: Facts) -> Iterator[tuple[str, CommitFact]]:
    """The answers about harness commits that decided, by the commit as the file spells it."""
    for file in row.files:
        commit = file.result.harness.git_hash if file.result is not None else None
        if commit is not None and commit in facts.commits:
            found = _commit_fact(file, row.leaderboard, facts)
            if found is not None:
                yield commit, found


def _commit_fact(file: Verdict, leaderboard: Leaderboard, facts: Facts) -> CommitFact | None:
    if file.result is None:
        return None
    harness = file.result.harness
    judged, alone = judge_harness(harness, leaderboard, facts), judge_harness(harness, leaderboard, NO_FACTS)
    is_told = any(_is_waived(finding) for finding in file.findings)
    if (judged.answer, judged.span) == (alone.answer, alone.span) and not is_told:
        return None
    repository = leaderboard.harness.accepted[judged.span].repository if judged.span is not None else ""
    return CommitFact(judged.answer, repository, judged.why if is_told else "")


def _is_waived(finding: Finding) -> bool:
    return finding.waived is not None and finding.rule in OF_HARNESS


def _owners(file: Verdict, facts: Facts) -> dict[str, tuple[str, ...]]:
    is_asked = any(finding.rule == wrong_owner.id for finding in file.findings)
    organization = file.result.model.id.partition("/")[0] if file.result is not None else ""
    return deciding_owners(file.path, organization, facts.owners) if is_asked else {}
