"""The one way to a verdict: gather the facts for any caller, then judge, also what a watch has stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import inf
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from bot.evaluation.finding import grouped
from bot.evaluation.identity import identified, is_hub_id
from bot.evaluation.join import join_rows
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.likeness import Peer, originals
from bot.evaluation.row_key import key_of, may_be_one, model_folder, model_in, reading_of, twins
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import NO_FACTS, Facts, KnownDocuments
from bot.evaluation.rules.wrong_owner import deciding_owners
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import CommitFact, Judgement, Row, RowFacts, Verdict

if TYPE_CHECKING:  # commands and the Action judge without a database and without the Hub's client
    from bot.service.settings.config import Watch
    from bot.service.store.sources import StoredSubmission
    from bot.service.store.state import WatchState

LookUp = Callable[[Iterable[str], Leaderboard], Mapping[str, CommitFact]]


def no_look_up(git_hashes: Iterable[str], leaderboard: Leaderboard) -> Mapping[str, CommitFact]:
    """The look-up of a caller that asks nobody: no answers."""
    del git_hashes, leaderboard
    return {}


class KnownRows(Protocol):
    """The rows that submissions are compared with: those of the board, and of other submissions."""

    def spellings(self, readings: Collection[str]) -> Sequence[tuple[float, str, str]]:
        """The rows of these models, see `reading_of`: when their files came, their keys, and the paths of the files.

        The time is in Unix seconds, `-inf` for a row that is on the board; of twins there only the first is given.
        """
        ...

    @property
    def documents(self) -> Mapping[tuple[str, str], KnownDocuments]:
        """By leaf and format the documents that most rows on the board have in their sample logs."""
        ...

    def logs(self, digests: Collection[str]) -> Mapping[str, str]:
        """The models on the board whose rows name sample logs with these SHA-256, by the SHA-256."""
        ...

    def peers(self, marks: Iterable[str]) -> Iterable[Peer]:
        """The rows with one of these marks: on the board, and those that the source's submissions make."""
        ...


class Judge(msgspec.Struct, frozen=True):
    """Judges submissions for one caller: a command, the Action, a watch, a page, or `verify`.

    `today`, `waivers`, `owners` and `names` are the facts of these names, see `Facts`. `look_up` answers for harness
    commits, by `git_hash`, that the declaration and the shipped tables do not settle. `known` are the rows with which
    the submissions are compared, as they are with each other; None where there are none. `recorded` has by key what
    rows say themselves of rows like them, which counts instead.
    """

    leaderboard: Leaderboard
    today: date | None
    waivers: Sequence[Waiver] = ()
    owners: Mapping[str, tuple[str, ...]] = {}
    names: Mapping[str, str] = {}
    look_up: LookUp = no_look_up
    known: KnownRows | None = None
    recorded: Mapping[str, RowFacts] = {}

    def judge(
        self,
        submissions: Iterable[Parsed],
        committed: Mapping[str, float] | None = None,
        unread: Iterable[UnreadPath] = (),
    ) -> Judgement:
        """Judge submissions and join them into rows.

        `committed` has, by path, the date in Unix seconds of the commit that brought a file, where that is known.
        """
        found = list(submissions)
        facts = self._facts(found, committed or {})
        return self._beside_others(judge_all(found, self.leaderboard, facts, unread=unread), facts)

    def _beside_others(self, judgement: Judgement, facts: Facts) -> Judgement:
        """The judgement with findings about other models' rows that are equal or alike, which only rows can show."""
        rows = {row.key.text: row for row in judgement.rows if row.measurements.present}
        peers = [peer_of(row, facts.committed) for row in rows.values()]
        known: Iterable[Peer] = ()
        if self.known is not None and (marks := dict.fromkeys(mark for one in peers for mark in one.row.marks)):
            known = self.known.peers(marks)
        others = [one for one in known if one.is_there or one.key not in rows]
        others += [one for one in peers if rows[one.key].status != "rejected"]
        found = list(originals(peers, others))
        same = {key: model for key, model, _ in found if model}
        alike = {key: one for key, _, one in found if one is not None}
        same |= {key: one.same_values for key, one in self.recorded.items() if one.same_values}
        alike |= {key: one.alike for key, one in self.recorded.items() if one.alike is not None}
        if not same and not alike:
            return judgement
        copies = {row.key for row in judgement.rows if row.key.text in same or row.key.text in alike}
        again = join_rows(judgement.verdicts, self.leaderboard, replace(facts, same_values=same, alike=alike), copies)
        told = {row.key: row for row in again}
        return replace(judgement, rows=tuple([told.get(row.key, row) for row in judgement.rows]))

    def _facts(self, found: Iterable[Parsed], committed: Mapping[str, float]) -> Facts:
        return Facts(
            today=self.today,
            commits=self._commits(found),
            waivers=tuple(self.waivers),
            committed=committed,
            owners=self.owners,
            names=self.names,
            spellings=self._spellings(found, committed),
            documents=self.known.documents if self.known is not None and self.leaderboard.asks_samples else {},
            logs=self._logs(found, committed),
        )

    def _logs(self, found: Iterable[Parsed], committed: Mapping[str, float]) -> Mapping[str, str]:
        """The model that each sample log was first submitted for: on the board, or else among these submissions."""
        if not self.leaderboard.asks_samples:
            return {}
        named = [
            (committed.get(one.path, inf), one.path, one.result.model.id, {log.sha256 for log in one.samples or ()})
            for one in found
            if one.result is not None and one.samples
        ]
        first = {sha: model for *_, model, logs in sorted(named, reverse=True) for sha in logs if sha}
        return first | (dict(self.known.logs(first)) if self.known is not None and first else {})

    def _spellings(self, found: Iterable[Parsed], committed: Mapping[str, float]) -> Mapping[str, str]:
        """The rows among these submissions and the known rows that read alike."""
        came: list[tuple[float, str, str]] = []
        for one in found:
            board = self.leaderboard
            named = identified(one, self.names, board)
            if named.result is not None:
                key = key_of(self.leaderboard.id, named.result.model).text
                came.append((committed.get(one.path, inf), key, one.path))
        known = self.known.spellings({reading_of(key) for _, key, _ in came}) if self.known is not None and came else ()
        return twins(((self._makes_no_row(path, key, when), when), key) for when, key, path in (*came, *known))

    def _makes_no_row(self, path: str, key: str, when: float) -> bool:
        """Tell whether a file may not count for the model of its key, so that it stands first of no others."""
        model = model_in(key)
        is_named = self.leaderboard.served_models or self.leaderboard.takes_plain_names or is_hub_id(model)
        owned_elsewhere = deciding_owners(path, model.partition("/")[0], self.owners)
        return when != -inf and (not is_named or bool(owned_elsewhere))

    def _commits(self, found: Iterable[Parsed]) -> Mapping[str, CommitFact]:
        """The answers about the commits that files and declaration alone do not settle."""
        if self.look_up is no_look_up:
            return {}
        harnesses = [one.result.harness for one in found if one.result is not None]
        unknown = (
            harness.git_hash
            for harness in harnesses
            if harness.git_hash and judge_harness(harness, self.leaderboard, NO_FACTS).answer == "unknown"
        )
        return self.look_up(unknown, self.leaderboard)


def peer_of(row: Row, committed: Mapping[str, float]) -> Peer:
    """What other rows are compared with; `committed` has the dates of the commits that brought files."""
    came = max((committed.get(file.path, inf) for file in row.files), default=inf)
    return Peer(came, row.lead.date, row.key.text, row.fingerprint)


MOST_FILES, MOST_BYTES = 200, 16_000_000  # of one row that are judged for a page


@dataclass(frozen=True)
class StoredRows:
    """The rows that a watch knows: those on its boards, and those of its submissions.

    At some `paths` submissions have no other spelling.
    """

    state: WatchState
    paths: Collection[str] = ()

    def spellings(self, readings: Collection[str]) -> Sequence[tuple[float, str, str]]:
        """The rows of these models; one on a board came before all others, and there the one measured first."""
        on_boards = [(measured or "~", key) for measured, key in self.state.boards.spellings(readings)]
        first = {key for _, key in on_boards} - twins(on_boards).keys()
        return [*self.state.submissions.spellings(readings, self.paths), *((-inf, key, "") for key in first)]

    @property
    def documents(self) -> Mapping[tuple[str, str], KnownDocuments]:
        """The documents that most rows have."""
        return self.state.boards.documents()

    def logs(self, digests: Collection[str]) -> Mapping[str, str]:
        """The models whose rows name these sample logs."""
        return self.state.boards.logs(digests)

    def peers(self, marks: Iterable[str]) -> Iterable[Peer]:
        """The rows on the boards and those of the submissions that have one of these marks.

        A row of the boards that was one of the submissions' and is none any more, as after a new name, waits to go.
        """
        wanted = list(marks)
        on_boards = self.state.boards.peers(wanted)
        without = [key for key, digest in self.state.rows.digests([one.key for one in on_boards]).items() if not digest]
        left = set(without) - {one.key for one in self.state.submissions.of(without).values()}
        return [*(one for one in on_boards if one.key not in left), *self.state.rows.peers(wanted)]


def with_near(keys: Iterable[str], leaderboard: Leaderboard, state: WatchState) -> list[str]:
    """These rows, and those that may share files with them, where the leaderboard joins files of several sources.

    A file that does not say the commit of its model stands in the one row that does, so that also the rows near to
    those near to a row decide which files it has.
    """
    found = dict.fromkeys(keys)
    if not leaderboard.has_sources:
        return list(found)
    for model, own in grouped((model_folder(key), key) for key in found.copy()).items():
        every = sorted(state.submissions.keys_below(model))
        near = [key for key in every if any(may_be_one(key, one) for one in own)]
        found |= dict.fromkeys(key for key in every if any(may_be_one(key, one) for one in near))
    return list(found)


def judge_for(
    watch: Watch,
    leaderboard: Leaderboard,
    today: date,
    waivers: Sequence[Waiver],
    look_up: LookUp,
    *,
    known: KnownRows | None = None,
) -> Judge:
    """The judge of the submissions of a watch, the same for its passes and its pages."""
    look_up = look_up if watch.look_up_commits else no_look_up
    names = {one.path: one.value for one in watch.identity}
    return Judge(leaderboard, today, waivers, watch.owners, names, look_up=look_up, known=known)


def judge_stored(judge: Judge, found: Iterable[StoredSubmission]) -> Judgement:
    """Judge stored submissions and join them into rows; files that are not results are left out."""
    results = [one for one in found if one.parsed is not None]
    committed = {one.path: one.committed for one in results if one.committed is not None}
    return judge.judge([one.parsed for one in results if one.parsed is not None], committed)


def verdict_on(
    judge: Judge, state: WatchState, path: str
) -> tuple[StoredSubmission, Verdict | None, Row | None] | None:
    """The submission of a watch at a path, the verdict on it, and its row; None if there is no submission.

    A file that is not a result has no verdict, and one that gives no number no row.
    """
    stored = state.submissions.at([path]).get(path)
    if stored is None:
        return None
    found = {path: stored}
    for key in with_near([stored.key], judge.leaderboard, state) if stored.key else ():
        found |= state.submissions.first_of(key, MOST_FILES, MOST_BYTES)
    judged = judge_stored(judge, found.values())
    verdict = next((one for one in judged.verdicts if one.path == path), None)
    row = next((row for row in judged.rows if any(file.path == path for file in row.files)), None)
    return stored, verdict, row
