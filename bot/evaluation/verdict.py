"""Verdicts on submissions, the rows that they make, and the judgement of one call, which holds both; all are values.

None of them ever needs the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import msgspec
from msgspec.structs import replace

from bot.evaluation.evidence import STRENGTH, RowWord
from bot.evaluation.finding import Finding, Status, grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.likeness import Alike, Fingerprint, fingerprint
from bot.evaluation.measurement import Coverage, Measurements, coverage_of
from bot.evaluation.result import CheckedSamples, Model, Result
from bot.evaluation.row_key import RowKey, key_of
from bot.evaluation.score import Scores
from bot.evaluation.submission import Parsed, UnreadPath


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """Findings and measurements of one submission.

    `status` is "rejected" where anything is wrong with the submission itself; that it does not bring every task is no
    fault of it. `measurements` is None if no format reads it. `date` is when it was measured, in Unix seconds,
    believed no further than the commit that brought it; 0 if it is unknown. `called` is the file's name of a model that
    the facts name, "" where they name none. `own` is the model as the file itself and its mapping name it, where files
    beside it say more (`bot.evaluation.sources`); None elsewhere.
    """

    parsed: Parsed
    leaderboard: Leaderboard
    status: Literal["accepted", "rejected"]
    findings: tuple[Finding, ...]
    measurements: Measurements | None
    date: float = 0.0
    called: str = ""
    own: Model | None = None

    @property
    def own_key(self) -> RowKey | None:
        """The key of the row that the file makes alone; None if no format reads it."""
        if self.result is None:
            return None
        return key_of(self.leaderboard.id, self.own or self.result.model)

    @property
    def path(self) -> str:
        """The path of the submission."""
        return self.parsed.path

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes, "" if it was too large to be read."""
        return self.parsed.sha256

    @property
    def result(self) -> Result | None:
        """Its result; None if no format reads it."""
        return self.parsed.result


class LeafRun(msgspec.Struct, frozen=True, gc=False):
    """One value of a leaf that was run several times: the mean of its metrics, in the metric's unit.

    `is_dated` tells whether the file itself says when it was measured, and not that it was when the newest was.
    """

    file: str
    value: float
    is_dated: bool = True


class Repeat(msgspec.Struct, frozen=True, gc=False):
    """A leaf that was run several times with different sound values, the newest run of each value first."""

    task_id: str
    leaf_id: str
    runs: tuple[LeafRun, ...]


CommitAnswer = Literal["accepted", "unaccepted", "unknown"]


class CommitFact(msgspec.Struct, frozen=True, omit_defaults=True):
    """What GitHub answered about a commit of the harness; `why` is kept where a warning of the row repeats it."""

    answer: CommitAnswer
    repository: str = ""
    why: str = ""


class RowFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What decided about a row without being in its files or in the declaration.

    `today` is the day (ISO 8601) on which it was judged, "" where another day gives the same row. `commits` has the
    answers about harness commits, `same_values` is another model with the same value in every task,
    `alike` one with nearly the same values or answers, `owners` and `names` are the settings that `Facts` has under
    these names.
    """

    today: str = ""
    commits: dict[str, CommitFact] = msgspec.field(default_factory=dict)
    same_values: str = ""
    owners: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    names: dict[str, str] = msgspec.field(default_factory=dict)
    alike: Alike | None = None


class Repair(msgspec.Struct, frozen=True, gc=False):
    """What to do for all findings of a row, and the one list of commands that do it; "" where no file needs repair.

    `is_whole` says that the new files have everything, so that they need none of the old ones.
    """

    hint: str
    command: str
    is_whole: bool = False


class Row(msgspec.Struct, frozen=True, dict=True):
    """One row.

    `status` is "accepted" where every leaf has a sound number, else "incomplete", or "rejected" where no file with a
    sound number is without errors; where no leaf is sound the scores are those of the best file, for information.
    `files` are the submissions that numbers come from, newest first, and one without errors where all of these have
    some; `lead` is the first of them, or the best of the key where none counts. `blocked` names the leaves that were
    measured with errors only, and the rules that found these; `left_out` has, by the path of a sound file that does
    not join, a setting that differs, `prompts` how those of them differ that asked something else. `other_weights` says
    how the weights of two files of the key differ, "" where nothing tells that they do. `findings` are about the row;
    those about a file are in the file's verdict. `facts` are None where the files and the declaration decided alone,
    `repair` is None where at most one finding has a command, and no newer row stands in for this one.
    """

    key: RowKey
    leaderboard: Leaderboard
    status: Status
    measurements: Measurements
    scores: Scores
    lead: Verdict
    files: tuple[Verdict, ...]
    blocked: Mapping[str, tuple[str, ...]] = {}
    repeats: tuple[Repeat, ...] = ()
    left_out: Mapping[str, str] = {}
    prompts: Mapping[str, str] = {}
    other_weights: str = ""
    findings: tuple[Finding, ...] = ()
    facts: RowFacts | None = None
    repair: Repair | None = None

    @property
    def result(self) -> Result:
        """The result of the lead."""
        result = self.lead.result
        if result is None:
            raise ValueError("a row is made of submissions that a format reads")
        return result

    @property
    def model(self) -> Model:
        """The model as the lead describes it."""
        return self.result.model

    @property
    def is_unneeded(self) -> bool:
        """Tell whether a newer row of the model stands in for this one."""
        return self.repair is not None and not self.repair.command

    @property
    def coverage(self) -> Coverage:
        """How many of the leaderboard's leaves the row has, and which it lacks."""
        return coverage_of(self.measurements, self.leaderboard)

    def does_without(self, submission: Verdict) -> bool:
        """Tell whether the row is accepted in spite of a rejected submission, or has its numbers from newer ones.

        The newest file is needed if the row takes some of its numbers.
        """
        if submission.status != "rejected" or not self.files:
            return False
        if self.status == "accepted":
            is_used = any(file.path == submission.path for file in self.files)
            return not is_used or submission.date <= self._newest_beside(submission)
        return submission.date < self._newest_beside(submission) and self._elsewhere(submission, None) != ""

    def replaced_by(self, submission: Verdict, finding: Finding) -> str:
        """The first file from which the row has the numbers that a finding in another is about; "" if it has not.

        One that would count if it were sound is not replaced.
        """
        is_older = submission.date < self._newest_beside(submission) or self.does_without(submission)
        return self._elsewhere(submission, finding) if is_older and not self.would_take(submission) else ""

    def would_take(self, submission: Verdict) -> bool:
        """Tell whether a submission is newer than the files from which the row has what it measured, or anything."""
        about = {one.required.leaf.id for one in (submission.measurements.present if submission.measurements else ())}
        taken = {one.file for one in self.measurements.present if not about or one.required.leaf.id in about}
        dates = [file.date for file in self.files if file.path in taken - {submission.path}]
        return submission.date > max(dates, default=self._newest_beside(submission))

    def _newest_beside(self, submission: Verdict) -> float:
        """The date of the newest other file that numbers come from, -1 without any."""
        return max((file.date for file in self.files if file.path != submission.path), default=-1.0)

    def _elsewhere(self, submission: Verdict, finding: Finding | None) -> str:
        """The first other file from which the row has all that a submission, or a finding in it, is about; else ""."""
        about = {
            one.required.leaf.id
            for one in (submission.measurements.present if submission.measurements else ())
            if finding is None
            or (
                finding.task in {"", one.required.task.id}
                and (not finding.leaves or one.required.leaf.id in finding.leaves)
            )
        }
        files = {one.required.leaf.id: one.file for one in self.measurements.present}
        found = [files.get(leaf, "") for leaf in sorted(about)]
        return found[0] if found and "" not in found and submission.path not in found else ""

    @cached_property
    def logs(self) -> Mapping[str, tuple[CheckedSamples, Literal["samples", "rescored"]]]:
        """By leaf the sample log that shows all its numbers, and how far, where the leaderboard asks for logs."""
        if not self.leaderboard.asks_samples:
            return {}
        logs = {(file.path, one.leaf): one for file in self.files for one in file.parsed.samples or ()}
        by_leaf = grouped((measurement.required.leaf.id, measurement) for measurement in self.measurements.present)
        found: dict[str, tuple[CheckedSamples, Literal["samples", "rescored"]]] = {}
        for leaf, present in by_leaf.items():
            log = logs.get((present[0].file, present[0].required.leaf_key))
            keys = [one.required.value_key for one in present]
            if log is not None and all(key in log.answers or key in log.means for key in keys):
                found[leaf] = log, "rescored" if all(key in log.answers for key in keys) else "samples"
        return found

    @property
    def fingerprint(self) -> Fingerprint:
        """What of the row is compared with the rows of other models."""
        return fingerprint(self.model.id, self.scores.tasks, {leaf: log.mark for leaf, (log, _) in self.logs.items()})

    @property
    def rests_on(self) -> RowWord:
        """What the numbers rest on: the weakest word of the leaves."""
        quoted = {file.path for file in self.files if file.result is not None and file.result.quoted_from}
        if not quoted and not self.logs:
            return "file"
        leaves = {one.required.leaf.id: one.file for one in self.measurements.present}
        words: list[RowWord] = [
            "quoted" if file in quoted else self.logs[leaf][1] if leaf in self.logs else "file"
            for leaf, file in leaves.items()
        ]
        return min(words, key=STRENGTH.__getitem__, default="file")


class Judgement(msgspec.Struct, frozen=True, gc=False):
    """The verdicts on submissions, the rows that they make, and the files that are no results."""

    leaderboard: Leaderboard
    verdicts: tuple[Verdict, ...]
    rows: tuple[Row, ...]
    unread: tuple[UnreadPath, ...] = ()

    @property
    def key_of_path(self) -> dict[str, str]:
        """By the path of each submission that a format reads the key of the row that it is for."""
        board = self.leaderboard.id
        return {one.path: key_of(board, one.result.model).text for one in self.verdicts if one.result is not None}

    @property
    def counting(self) -> tuple[Verdict, ...]:
        """The verdicts without those on rejected submissions that their row does without."""
        rows = {row.key: row for row in self.rows}
        keys = [one.result and key_of(self.leaderboard.id, one.result.model) for one in self.verdicts]
        pairs = zip(self.verdicts, keys, strict=True)
        return tuple(one for one, key in pairs if not (key in rows and rows[key].does_without(one)))

    @property
    def has_errors(self) -> bool:
        """Tell whether a row is rejected or incomplete, or needs a rejected submission."""
        rows = any(row.status != "accepted" for row in self.rows)
        return rows or any(one.status == "rejected" for one in self.counting)

    @property
    def unreadable(self) -> tuple[Verdict, ...]:
        """The verdicts on submissions that no format reads, which are in no row."""
        return tuple(verdict for verdict in self.verdicts if verdict.result is None)


def only_rows_of(judgement: Judgement, wider: Judgement) -> Judgement:
    """The rows of a judgement as a wider one has them: further files may hold rows that it is not about."""
    keys = {row.key.text for row in judgement.rows}
    rows = tuple(row for row in wider.rows if row.key.text in keys)
    of_path, faulty = wider.key_of_path, {one.path for one in wider.counting if one.status == "rejected"}
    paths = {one.path for one in judgement.verdicts} | {file.path for row in rows for file in row.files}
    paths |= {path for path in faulty if of_path.get(path) in keys}
    verdicts = tuple(one for one in wider.verdicts if one.path in paths)
    return replace(wider, rows=rows, verdicts=verdicts, unread=judgement.unread)
