"""A context with all that a watch needs in, its targets brought to what its source implies, and the outcomes out.

What must stand follows from the source at its head, the declaration, and what people decided at the targets. The
store only says what has not changed since: emptied, it costs a full reading and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Literal

from bot import __version__
from bot.errors import BotError, Unavailable
from bot.evaluation.judgement import Judgement
from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.rules.rule import Facts
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.source import HubSource
from bot.platforms.source import Change, Source
from bot.platforms.target import Target
from bot.publishing.entry import Entry
from bot.publishing.verdict_texts import check_command, preformatted
from bot.reporting.markdown import judgement_markdown
from bot.service.alarms import watch_columns
from bot.service.config import Watch, WatchTarget
from bot.service.judging import Judge
from bot.service.pushes import ALL, Pushes, by_folder
from bot.service.reading import CachedVerdict, Reader, decode, encode, wanted
from bot.service.reconcile import rebuild_board
from bot.service.reviews import Reviews
from bot.service.rows import RowPublisher
from bot.service.store import Store
from bot.service.waivers import all_waivers, answer_pushes, dump_waivers, parse_waivers

OutcomeName = Literal["published", "unchanged", "rejected", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a settlement ended for one subject, such as a row or a folder."""

    outcome: OutcomeName
    subject: str
    text: str


@dataclass(frozen=True)
class WatchContext:
    """Everything that one watch needs. `talk` is None where nothing is said at the source."""

    watch: Watch
    leaderboard: Leaderboard
    source: Source
    targets: Sequence[tuple[Target, WatchTarget]]
    store: Store
    judge: Judge
    today: date
    talk: HubDiscussions | None = None
    dry_run: bool = False


def settle(context: WatchContext) -> list[Outcome]:
    """Bring the targets of one watch to the state that its source implies; done twice, the second does nothing.

    Raises the first failure of a service, after everything that could be done was done; what failed is done by
    the next call.
    """
    return Settlement(context).run()


class Settlement:
    """One run over one watch."""

    def __init__(self, context: WatchContext) -> None:
        self.context, self.store, self.name = context, context.store, context.watch.name
        self.outcomes: list[Outcome] = []
        self.failures: list[BotError] = []
        self.waivers: list[Waiver] = []
        self.is_lost = False  # whether nothing is remembered: what was withdrawn meanwhile shows at the targets only

    def run(self) -> list[Outcome]:
        """Read what changed, publish, say what is wrong, review; remember how far it came only where all went well."""
        context = self.context
        if self.store.cursor(self.name, "definition") not in {None, self.definition()}:
            self.store.forget_watch(self.name)
        old, head = self.store.cursor(self.name, "source"), context.source.head()
        self.is_lost = old is None
        self.waivers = self.known_waivers()
        changes = wanted(context.source.changes(old, head), context.watch.paths)
        changes += self.asked_again({change.path for change in changes})
        before = self.rows_at(paths=[change.path for change in changes])
        after = self.judge(changes, head)
        self.publish(before, after)
        self.say(after)
        self.attempt("reviews", self.review)
        self.rebuild_boards()
        self.finish(after, head)
        return self.outcomes

    def definition(self) -> str:
        """What decides over everything that was read: where it changes, everything is read again."""
        watch = self.context.watch.model_dump(mode="json", exclude={"settle_every", "maintainers"})
        text = json.dumps([__version__, self.context.leaderboard.digest, watch], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def attempt(self, subject: str, call: Callable[[], object]) -> None:
        """Do one part; what a service refuses it is told, and does not keep the others from being done."""
        try:
            call()
        except BotError as failure:
            self.failures.append(failure)
            self.outcomes.append(Outcome("failed", subject, str(failure)))

    # reading

    def facts(self) -> Facts:
        """What lies outside the results."""
        return Facts(today=self.context.today, waivers=tuple(self.waivers))

    def reader(self) -> Reader:
        """Reads and judges with what is waived by now."""
        context = self.context
        return Reader(context.source, context.leaderboard, context.judge, self.facts(), self.describe)

    def describe(self, judgement: Judgement, commit: str) -> str:
        """A file and its row as Markdown, with the command that repeats the verdict."""
        path = judgement.verdicts[0].path
        call = check_command(self.context.source.name, commit, path, self.context.leaderboard.id)
        return f"{judgement_markdown(judgement)}\n{preformatted(call)}"

    def judge(self, changes: Sequence[Change], head: str) -> dict[str, CachedVerdict | None]:
        """What the changed files came to, by path; None for those that are gone.

        A long reading notes how far it came, so that a killed one goes on there.
        """
        noted = {path: decode(data) for path, data in self.store.submissions(f"{self.name} reading").items()}
        after: dict[str, CachedVerdict | None] = {change.path: None for change in changes}
        known = {change.path for change in changes if (row := noted.get(change.path)) and row.oid == change.oid}
        after |= {path: noted[path] for path in known}
        for batch in self.reader().read_all([change for change in changes if change.path not in known], head):
            after |= {row.path: row for row in batch}
            if len(changes) > len(batch):
                self.store.set_submissions(f"{self.name} reading", {row.path: encode(row) for row in batch})
        return after

    def rows_at(self, *, paths: Sequence[str] = (), keys: Sequence[str] = ()) -> dict[str, CachedVerdict]:
        """What the store has of files, by path."""
        found = self.store.submissions_at(self.name, paths=paths, keys=keys)
        return {path: decode(data) for path, data in found.items()}

    def rows_in(self, folder: str, now: Mapping[str, CachedVerdict | None]) -> list[CachedVerdict]:
        """What the files of one folder came to, these as they are now."""
        known = {path: decode(data) for path, data in self.store.submissions_in(self.name, folder).items()}
        return [row for row in (known | dict(now)).values() if row is not None]

    def everything(self, after: dict[str, CachedVerdict | None]) -> list[CachedVerdict]:
        """What every file of the source came to, these as they are now."""
        rows: dict[str, CachedVerdict | None] = {
            path: decode(data) for path, data in self.store.submissions(self.name).items()
        }
        return [row for row in (rows | after).values() if row is not None]

    # publishing

    def publish(self, before: dict[str, CachedVerdict], after: dict[str, CachedVerdict | None]) -> None:
        """Bring every target to the rows of the keys that changed."""
        rows = [*before.values(), *filter(None, after.values())]
        keys = list(dict.fromkeys(row.key for row in rows if row.key is not None))
        known: dict[str, CachedVerdict | None] = dict(self.rows_at(keys=keys))
        rivals: dict[str, list[Entry]] = {key: [] for key in sorted(keys)}
        for row in (known | after).values():
            if row is not None and row.key in rivals and (entry := row.row()) is not None:
                rivals[row.key].append(entry)
        for target, settings in self.context.targets:
            self.attempt(settings.to, partial(self.publish_to, target, settings, rivals))

    def publish_to(self, target: Target, settings: WatchTarget, rivals: dict[str, list[Entry]]) -> None:
        """Bring one target to these rows."""
        watch = self.context.watch
        rows = RowPublisher(
            target=target,
            form=settings.form,
            leaderboard_id=self.context.leaderboard.id,
            source=self.context.source.name,
            is_rolling=watch.pull_requests == "rolling",
            limit=watch.backfill_limit,
            dry_run=self.context.dry_run,
        )
        lost = sorted(rows.lost_keys() - rivals.keys()) if self.is_lost else []
        for done in rows.settle({**rivals, **{key: [] for key in lost}}):
            if done.decision.publication is not None:
                self.outcomes.append(Outcome("published", done.subject, f"{done.decision.why}: {done.where}"))

    def rebuild_boards(self) -> None:
        """Bring the tables to what was merged, at every target whose main branch moved."""
        for target, settings in self.context.targets:
            if settings.form != "comment" and not self.context.dry_run:
                self.attempt(f"board of {settings.to}", partial(self.rebuild, target, settings.to))

    def rebuild(self, target: Target, to: str) -> None:
        """Rebuild one table, unless main is where it was after the last time."""
        cursor = f"board {to}"
        if self.store.cursor(self.name, cursor) == (head := target.head()) and head:
            return
        if rebuild_board(target, self.context.leaderboard):
            self.outcomes.append(Outcome("published", f"board of {to}", "rebuilt from what was merged"))
        # Not only after a rebuilding: the process may have ended between the table and the alarm.
        if alarm := watch_columns(target, self.context.leaderboard):
            self.outcomes.append(Outcome("published", f"columns of {to}", alarm))
        self.store.set_cursor(self.name, cursor, target.head())

    # saying

    def pushes(self) -> Pushes | None:
        """The discussions about pushes, where there may be any."""
        talk = self.context.talk
        if talk is None or self.context.dry_run:
            return None
        return Pushes(talk, self.context.leaderboard.id, self.context.watch.backfill_limit)

    def say(self, after: dict[str, CachedVerdict | None]) -> None:
        """Say what is wrong with pushed files, for each folder that changed."""
        for row in filter(None, after.values()):
            if row.status != "accepted":
                self.outcomes.append(Outcome("failed" if row.status == "failed" else "rejected", row.path, row.status))
        pushes, folders = self.pushes(), by_folder(after)
        if pushes is None:
            return
        if self.is_lost:
            folders |= {folder: {} for folder in pushes.ours.keys() - folders.keys() - {ALL}}
        if not folders:
            return
        rows = {folder: self.rows_in(folder, now) for folder, now in sorted(folders.items())}
        self.attempt("discussions", lambda: pushes.settle(rows, lambda: self.everything(after)))

    def review(self) -> None:
        """Review the requests that others opened at the source."""
        context = self.context
        if context.talk is None or context.dry_run or not isinstance(context.source, HubSource):
            return
        target = context.targets[0][0]
        reviews = Reviews(
            name=self.name,
            source=context.source,
            talk=context.talk,
            reader=self.reader(),
            store=self.store,
            patterns=context.watch.paths,
            maintainers=context.watch.maintainers,
            today=context.today,
            read_entries=target.read_entries,
            state=target.head(),
        )
        said, waivers = reviews.settle()
        self.outcomes += [Outcome("published", f"review {subject}", "the comment is up to date") for subject in said]
        self.waivers += [waiver for waiver in waivers if waiver not in self.waivers]

    # what was waived, and what was asked for in discussions about pushes

    def known_waivers(self) -> list[Waiver]:
        """What maintainers waived by comments: as remembered, or as all discussions at the source say."""
        if self.is_lost and self.context.talk is not None and self.context.watch.maintainers:
            return all_waivers(self.context.talk, self.context.watch.maintainers)
        return parse_waivers(self.store.cursor(self.name, "waivers"))

    def asked_again(self, changed: Iterable[str]) -> list[Change]:
        """Files that are judged again because somebody asked for it in the discussion about them."""
        pushes = self.pushes()
        if pushes is None or not pushes.ours:
            return []
        rows = {
            folder: self.rows_in(folder, {}) if folder != ALL else self.everything({}) for folder in pushes.open_ones()
        }
        waivers, again = answer_pushes(pushes, rows, self.context.watch.maintainers, self.context.today)
        new = [waiver for waiver in waivers if waiver not in self.waivers]
        self.waivers += new
        waived = {waiver.submission for waiver in new}
        found = [row for some in rows.values() for row in some]
        again |= {row.path for row in found if f"sha256:{row.sha256}" in waived}
        skip = set(changed)
        return [Change(row.path, row.oid, 0) for row in found if row.path in again and row.path not in skip]

    def finish(self, after: dict[str, CachedVerdict | None], head: str) -> None:
        """Remember how far it came, or raise what kept it from coming there."""
        store, name = self.store, self.name
        store.add_outcomes(name, [(o.outcome, o.subject, o.text) for o in self.outcomes])
        store.set_cursor(name, "waivers", dump_waivers(self.waivers))
        if self.failures:
            raise next((f for f in self.failures if isinstance(f, Unavailable)), self.failures[0])
        if self.context.dry_run:
            return
        store.set_submissions(name, {path: encode(row) if row else None for path, row in after.items()})
        store.set_cursor(name, "definition", self.definition())
        store.set_cursor(name, "source", head)
        store.forget_watch(f"{name} reading")
