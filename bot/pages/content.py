"""The content of a board's pages, and the rendering of one page from its template."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from math import fsum
from typing import Any, NamedTuple

import msgspec

from bot.audits.board.audit import BoardAudit, audit_board, complete
from bot.audits.ranks import places
from bot.audits.score_table import PublishedTable
from bot.evaluation.evidence import EVIDENCE_WORDS, EvidenceWord
from bot.evaluation.finding import counted, examples, grouped
from bot.evaluation.score import TaskScore
from bot.evaluation.task import Task
from bot.pages.addresses import root_of, row_names
from bot.pages.environment import asset, fingerprint, templates
from bot.pages.outliers import odd_scores
from bot.publishing.board import (
    CONTRADICTS,
    HAS_MORE,
    LACKS,
    SPELLED,
    WEAK,
    Board,
    BoardRow,
    Record,
    board_of,
    is_separable,
    rank_sentence,
    records,
)
from bot.publishing.changes import BoardChange, additions
from bot.publishing.entry import Entry, Remark, digest_of, raws_of
from bot.publishing.models import UNKNOWN, ModelFacts, Verified, other_size, with_file
from bot.reporting.comparison import OverTasks, sign_test

SEVERAL = 5  # rows
UNFOLDED = 12  # tasks that stand beside each other
SOURCES = 3  # repositories that pages name as those to which one submits
OTHERS = 10  # rows of the same model that a row's page names
FAULTS = {
    CONTRADICTS: "contradicts itself",
    SPELLED: "stands twice",
    WEAK: "evidence too weak",
    LACKS: "lacks a task of today",
    HAS_MORE: "has a task of before",
}  # why a row has no rank
ACCEPTED = frozenset({"older-scorer-version"})  # rules whose warning the board accepts: no reason to look at a row


class FieldPlace(NamedTuple):
    """The place of a score in its column, where 0 is the lowest score and 100 the highest, and the median's.

    `better` is the percentage of the other rows that it beats, 100 only if these are all, and 0 only if it is none.
    All are rounded, so that small changes of other rows do not change a row's page.
    """

    own: int
    median: int
    better: int


def _place(score: float, field: Sequence[float]) -> FieldPlace:
    low, width = field[0], (field[-1] - field[0]) or 1.0
    middle = field[len(field) // 2]
    beaten, others = bisect_left(field, score), len(field) - 1
    share = (200 * beaten + others) // (2 * others) if others else 0  # half up
    return FieldPlace(
        min(round(100 * (score - low) / width), 100 if score == field[-1] else 99),
        round(100 * (middle - low) / width),
        share if beaten in {0, others} else min(max(share, 1), 99),
    )


def _setup(entry: Entry) -> str:
    template = {True: ", chat", False: ", plain", None: ""}[entry.model.chat_template]
    return f"{entry.model.precision or 'unknown precision'}{template}"


@dataclass(frozen=True)
class PageContent:
    """A board with its history; `target` is how people write where it lies, "" if nobody needs to know.

    Without `history` the rows count as added when they were measured; `is_partial` says that it begins with a first
    look at a board that had rows already. `heads` has, by the id of a model, the commit at its main branch; None is
    where that was not looked up. `days` has the day on which it was first seen there, where somebody keeps that.
    `facts` has what the Hub said of the models, and `verified` what `verify` last said, by the keys of rows.
    `pushed_to` is where results are pushed, "" where no settings say it.
    """

    board: Board
    target: str = ""
    history: Sequence[BoardChange] | None = None
    heads: Mapping[str, str] | None = None
    days: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, ModelFacts] = field(default_factory=dict)
    verified: Mapping[str, Verified] = field(default_factory=dict)
    is_partial: bool = False
    pushed_to: str = ""

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each row in addresses, by its key."""
        return row_names(row.entry for row in self.board.rows)

    @cached_property
    def rows(self) -> dict[str, BoardRow]:
        """The rows by their names in addresses."""
        return {self.names[row.entry.key]: row for row in self.board.rows}

    @cached_property
    def rows_of(self) -> dict[str, list[BoardRow]]:
        """The rows of each model by its id, the best first."""
        return grouped((row.entry.model.id, row) for row in self.board.rows)

    @cached_property
    def setups(self) -> dict[str, str]:
        """By key, what tells the rows of one model apart, such as "bfloat16, chat"; not for a model with one row."""
        found: dict[str, str] = {}
        for rows in (some for some in self.rows_of.values() if len(some) > 1):
            said = {row.entry.key: _setup(row.entry) for row in rows}
            times = Counter(said.values())
            ends = {key: self.names[key].rpartition("/")[2] for key in said}
            found |= {key: ends[key] if times[text] > 1 else text for key, text in said.items()}
        return found

    def named(self, entry: Entry) -> str:
        """The model of a row in a sentence, with what tells it from others of that model."""
        told = self.setups.get(entry.key)
        return f"{entry.model.id or '(no name)'}{f' ({told})' if told else ''}"

    def others_of(self, entry: Entry) -> list[BoardRow]:
        """The best other rows of the model of a row."""
        return [row for row in self.rows_of[entry.model.id][: OTHERS + 1] if row.entry.key != entry.key][:OTHERS]

    @cached_property
    def changes(self) -> tuple[BoardChange, ...]:
        """The rows that were added, changed and removed, the newest first."""
        return additions(row.entry for row in self.board.rows) if self.history is None else tuple(self.history)

    @property
    def changed(self) -> str:
        """The day of the newest change, "" where the history of the board is not known."""
        return self.changes[0].date[:10] if self.history else ""

    @cached_property
    def newest(self) -> tuple[str, str]:
        """What the newest day of the rows is, "measured" where any file gives one, and that day, "" if unknown."""
        entries = [row.entry for row in self.board.rows]
        measured = max((entry.measured for entry in entries), default="")
        newest = measured or max((entry.date for entry in entries), default="")
        return "measured" if measured or not newest else "pushed", newest[:10]

    @cached_property
    def changes_by_key(self) -> dict[str, list[BoardChange]]:
        """The changes of each row."""
        return grouped((change.key, change) for change in self.changes)

    @cached_property
    def table(self) -> PublishedTable:
        """The scores as columns."""
        return board_of((row.entry for row in self.board.rows), self.board.leaderboard.id)

    @cached_property
    def formats(self) -> dict[str, set[str]]:
        """By leaf the formats of the files that rows have it from."""
        found = defaultdict[str, set[str]](set)
        for entry in (row.entry for row in self.board.rows):
            of_file = {file.path: file.format for file in entry.evidence}
            for leaf in (leaf for task in entry.tasks for leaf in task.leaves):
                if leaf.file in of_file:
                    found[leaf.id].add(of_file[leaf.file])
        return found

    @cached_property
    def audit(self) -> BoardAudit:
        """The audit of the columns against each other."""
        return audit_board(self.table)

    @cached_property
    def whole(self) -> tuple[tuple[str, ...], dict[str, tuple[float, ...]]]:
        """The names in addresses and the columns of the rows that have every score."""
        names, columns, _ = complete(replace(self.table, names=tuple(self.rows)))
        return names, columns

    @cached_property
    def places(self) -> list[int]:
        """The places of these rows by the sums of their columns."""
        return places([fsum(row) for row in zip(*self.whole[1].values(), strict=True)])

    @cached_property
    def no_errors(self) -> str:
        """Why no average has a standard error: the files give none, or none of these columns."""
        found = {task.id for row in self.board.rows for task in row.entry.tasks if task.stderr is not None}
        bare = [task.title for task in self.board.leaderboard.tasks if task.id not in found]
        if not found or not bare:
            return "the files give no standard errors"
        return f"{examples(bare)} {'has' if len(bare) == 1 else 'have'} no standard error, so no average has one"

    @property
    def has_quarantined(self) -> bool:
        """Tell whether a column is in doubt, so that the average without it is shown, too."""
        return any(task.quarantined for task in self.board.leaderboard.tasks)

    @cached_property
    def known(self) -> dict[str, ModelFacts]:
        """What is known of the model of each row, by the row's key; the size that its file states comes first."""
        found = {
            entry.key: with_file(self.facts.get(entry.key, UNKNOWN), entry.model.parameters)
            for entry in (row.entry for row in self.board.rows)
        }
        return {key: facts for key, facts in found.items() if facts != UNKNOWN}

    @cached_property
    def common_warnings(self) -> frozenset[str]:
        """The rules of which each of several rows has a warning: a mark on every row would tell none apart."""
        warned = [frozenset(one.rule for one in row.entry.warnings) for row in self.board.rows]
        return frozenset.intersection(*warned) if len(warned) >= SEVERAL else frozenset()

    @cached_property
    def usual_warnings(self) -> frozenset[str]:
        """The rules of which more than half of the rows have a warning: another row's lack of it is no merit."""
        times = Counter(rule for row in self.board.rows for rule in {one.rule for one in row.entry.warnings})
        return frozenset(rule for rule, count in times.items() if 2 * count > len(self.board.rows))

    @cached_property
    def warnings_differ(self) -> bool:
        """Tell whether rows have different numbers of warnings."""
        return len({len(row.entry.warnings) for row in self.board.rows}) > 1

    def is_marked(self, entry: Entry) -> bool:
        """Tell whether a row has a warning that not every row has, and that the board does not accept."""
        return any(warning.rule not in self.common_warnings | ACCEPTED for warning in entry.warnings)

    @cached_property
    def evidence_words(self) -> list[EvidenceWord]:
        """What rows rest on, each word once, from the weakest to the strongest."""
        return sorted({row.evidence for row in self.board.rows}, key=EVIDENCE_WORDS.index)

    @cached_property
    def has_verified(self) -> bool:
        """Tell whether `verify` found of any row that it follows."""
        return any(self.is_verified(row.entry) for row in self.board.rows)

    @property
    def has_evidence(self) -> bool:
        """Tell whether any row has something in the column of the evidence."""
        return self.evidence_words != ["file"] or self.has_verified

    def is_verified(self, entry: Entry) -> bool:
        """Tell whether `verify` found that a row follows from its evidence, and the row is still the same."""
        found = self.verified.get(entry.key)
        return found is not None and found.outcome == "follows" and found.row == digest_of(entry)

    def said_of(self, entry: Entry) -> str:
        """The last result of `verify` on a row as a sentence; "" if it was not verified."""
        found = self.verified.get(entry.key)
        if found is None:
            return ""
        if found.row != digest_of(entry):
            return f"The row has changed since verify looked at it on {found.date}."
        if found.outcome == "follows":
            return f"On {found.date} every number followed from the files."
        return f"On {found.date}: {found.outcome}{f', {found.why}' if found.why else ''}."

    @cached_property
    def sources(self) -> list[str]:
        """The repositories to which results are pushed, the one of the settings first, and those of most rows."""
        found = Counter(file.source for row in self.board.rows for file in row.entry.evidence)
        named = [self.pushed_to, *(source for source, _ in found.most_common(SOURCES))]
        return [source for source in dict.fromkeys(named) if "://" in source]

    @cached_property
    def records(self) -> list[Record]:
        """The rows of the CSV and of the JSON."""
        return records(self.board, self.known or None, self.verified or None)

    @cached_property
    def has_licences(self) -> bool:
        """Tell whether the licence or the type of any model is known."""
        return any(facts.licence or facts.kind for facts in self.known.values())

    @cached_property
    def ranked(self) -> int:
        """The number of rows with a rank."""
        return sum(row.rank is not None for row in self.board.rows)

    @cached_property
    def fields(self) -> dict[str, list[float]]:
        """The scores of each column, from the lowest up."""
        return {
            task: sorted(score for score in scores if score is not None) for task, scores in self.table.columns.items()
        }

    def rank_sentence(self, row: BoardRow) -> str:
        """The sentence about a row's place on the board."""
        return self._sentences[row.position - 1]

    @cached_property
    def _sentences(self) -> list[str]:
        return [rank_sentence(row, self.board.rows, self.ranked) for row in self.board.rows]

    def placed(self, row: BoardRow) -> str:
        """The rank of a row in a few words; that by its average where ranks are over tasks."""
        return f"rank {row.position if row.is_over_tasks else row.ranks} of {self.ranked:,}"

    def tested_beside(self, row: BoardRow, other: BoardRow) -> OverTasks:
        """The sign test of a row against another over their tasks."""
        pairs = [(row.entry.tasks[task], other.entry.tasks[task]) for task in row.over_tasks]
        differences = [(one.score or 0.0) - (two.score or 0.0) for one, two in pairs]
        same = len(row.entry.tasks) - len(differences)
        return sign_test(differences, is_above=row.position < other.position, same=same)

    def doubts(self, entry: Entry) -> list[str]:
        """What has a mark on the board of a row, in words."""
        return [*self._unlikely(entry), *self.warned(entry)]

    def is_doubted(self, entry: Entry) -> bool:
        """Tell whether a row has a mark on the board that is more than a warning that most rows have."""
        accepted = self.common_warnings | self.usual_warnings | ACCEPTED
        return bool(self._unlikely(entry)) or any(one.rule not in accepted for one in entry.warnings)

    def _unlikely(self, entry: Entry) -> list[str]:
        odd = self.odd.get(entry.key, {})
        found = [
            f"{task.title} is far from what its other columns make likely"
            for task in (self.board.leaderboard.tasks if odd else ())
            if task.id in odd
        ]
        found += [f"its values are all those of {twin.model.id or '(no name)'}" for twin in self.twins_of(entry)[:1]]
        if named := other_size(entry.model.id, self.facts_of(entry).params):
            found.append(f"its name says {named}, and its size is another")
        return found

    def warned(self, entry: Entry) -> list[str]:
        """What the warnings that a row has alone say of its tasks, and the number of the others."""
        own = [one for one in entry.warnings if one.rule not in self.common_warnings | ACCEPTED]
        named = [remark for _, remark in self.named_by_warnings(entry) if remark in own]
        said = [remark.message.partition(" on ")[0] for remark in named]
        rest = len(own) - len(named)
        return [*said, *([counted(rest, "other warning" if said else "warning")] if rest else [])]

    def named_by_warnings(self, entry: Entry) -> list[tuple[Task, Remark]]:
        """The tasks with whose titles the messages of a row's warnings begin, each with its warning."""
        return [
            (task, remark)
            for remark in entry.warnings
            for task in self.board.leaderboard.tasks
            if remark.rule not in self.common_warnings and remark.message.startswith(f"{task.title} ")
        ]

    def places_in_field(self, row: BoardRow) -> dict[str, FieldPlace]:
        """Where a row's score of each task lies among all of them."""
        return {
            score.id: _place(score.score, self.fields[score.id])
            for score in row.entry.tasks
            if score.score is not None and self.fields.get(score.id)
        }

    @cached_property
    def is_folded(self) -> bool:
        """Tell whether the tasks of each group are opened by a click: there are many, and some have a group."""
        return len(self.board.leaderboard.tasks) > UNFOLDED and bool(self.board.leaderboard.groups)

    @cached_property
    def odd(self) -> dict[str, dict[str, float]]:
        """By the key of a row its scores that its other columns make unlikely, each with what they would give."""
        names, columns = self.whole
        entries = [self.rows[name].entry for name in names]
        known = [{one.id: one.stderr or 0.0 for one in entry.tasks} for entry in entries]
        errors = {task: [row[task] for row in known] for task in columns}
        found: dict[str, dict[str, float]] = {}
        for task, places_of in odd_scores(columns, errors).items():
            for place, expected in places_of.items():
                found.setdefault(entries[place].key, {})[task] = expected
        return found

    def beside(self, row: BoardRow) -> list[BoardRow]:
        """The ranked rows above and below a row."""
        near = (row.position - 2, row.position)
        return [self.board.rows[place] for place in near if row.rank is not None and 0 <= place < self.ranked]

    @cached_property
    def _equal(self) -> dict[str, list[Entry]]:
        raws = ((raws_of(row.entry), row.entry) for row in self.board.rows)
        alike = grouped((values, entry) for values, entry in raws if values is not None and len(set(values)) > 1)
        return {entry.key: same for same in alike.values() if len(same) > 1 for entry in same}

    def twins_of(self, entry: Entry) -> list[Entry]:
        """The rows of other models whose raw values are all equal to those of a row, to the last bit."""
        return [other for other in self._equal.get(entry.key, []) if other.model.id != entry.model.id][:OTHERS]

    @cached_property
    def has_doubts(self) -> bool:
        """Tell whether any row has a mark on the board."""
        return any(self.doubts(row.entry) for row in self.board.rows)

    @cached_property
    def scores(self) -> dict[str, list[tuple[BoardRow, TaskScore]]]:
        """By task the rows that name it, in order, each with what it has of it."""
        return grouped((score.id, (row, score)) for row in self.board.rows for score in row.entry.tasks)

    @cached_property
    def alike(self) -> dict[str, dict[str, int]]:
        """How many other scores chance cannot separate from the highest and the lowest of a task, by row and task.

        Scores without an error of their own are left out.
        """
        found: dict[str, dict[str, int]] = {}
        for task, values in self.fields.items():
            scored = self.scores.get(task, [])
            scores = [(one.score, one.stderr) for _, one in scored if one.score is not None]
            counts: dict[tuple[float, float], int] = {}
            for row, one in scored:
                if one.score is None or one.stderr is None or one.score not in {values[0], values[-1]}:
                    continue
                own = (one.score, one.stderr)
                if own not in counts:
                    counts[own] = sum(not is_separable(own, other) for other in scores) - 1
                found.setdefault(row.entry.key, {})[task] = counts[own]
        return found

    def head_of(self, model: str) -> str | None:
        """The commit at the main branch of a model; None if it is not known."""
        return None if self.heads is None else self.heads.get(model)

    def facts_of(self, entry: Entry) -> ModelFacts:
        """What is known of the model of a row."""
        return self.known.get(entry.key, UNKNOWN)

    def stamp(self, row: BoardRow) -> str:
        """A digest of everything that a row's page depends on: a page with the same stamp need not be made again."""
        entry = row.entry
        others = [(self.names[one.entry.key], one.entry.average) for one in self.others_of(entry)]
        parts = (
            self.names[entry.key], entry, others, self.rank_sentence(row), self.places_in_field(row), self.target,
            self.changes_by_key.get(entry.key, []), self.board.leaderboard.digest, self.head_of(entry.model.id),
            self.days.get(entry.model.id), self.facts_of(entry), self.said_of(entry),
            self.sources, sorted(self.common_warnings), row.evidence, row.ranks, row.position,
            [other.key for other in self.twins_of(entry)], self.alike.get(entry.key, {}),
            {task: round(score) for task, score in self.odd.get(entry.key, {}).items()},
            [
                (self.names[one.entry.key], one.entry.average, row.is_over_tasks and self.tested_beside(row, one))
                for one in self.beside(row)
            ],
            self.ranked,
        )  # fmt: skip
        return blake2b(fingerprint() + msgspec.json.encode(parts), digest_size=8).hexdigest()

    def page(self, path: str, template: str = "", *, stamp: str = "", **values: Any) -> bytes:
        """The bytes of the page at a path, by the template of its name or another; it knows this content, too."""
        fixed = {
            "content": self,
            "declared": self.board.leaderboard,
            "path": path,
            "root": root_of(path),
            "style": asset("site.css")[0],
            "board_title": self.board.leaderboard.title,
            "stamp": stamp,
        }
        return templates().get_template(template or path).render(**fixed, **values).encode()
