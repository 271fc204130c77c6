"""The first sentences of the operator's page: what fails, what waits for a person, what is under way."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, urlencode

from markupsafe import Markup

from bot.evaluation.finding import counted, first_few
from bot.publishing.addresses import requests_url
from bot.publishing.plan import Plan, cause_of, effect_of
from bot.server.views import WatchView
from bot.service.store.items import FailureCause

# What people call the kinds of items that they do not know by their own names.
WORDS = {
    "sweep": "search for duplicates", "reviews": "list of requests", "merged": "merged request", "judge": "judgement",
    "plan": "comment on a plan", "alarm": "check of the columns", "site": "web site",
}  # fmt: skip
WITH_DISCUSSIONS = ("hf://datasets/", "github://")  # elsewhere nobody is told at the source of a faulty file
ZERO = re.compile(r",? 0 (?:on main|open|held|declined|unexplained)")
ALL = re.compile(r"^([0-9,]+) accepted: \1 ([a-z ]+)$")  # rows that are at one place
MANY_WAITING = 50  # files and rows that wait: fewer are done soon
OLDEST, NEWEST = 900.0, 10.0  # seconds: the span over which the speed is measured
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with its tone: "stop" where something fails, "runs" where nobody has to act, else "".

    `has_plan` says that it is about plans, which wait for an answer; `watch` is where the reader finds more. `cause` is
    the one cause for which the watch fails: the button that tries it again stands behind the sentence. `is_outage` says
    that most of what fails ends by itself.
    """

    text: str
    tone: str = ""
    watch: str = ""
    has_plan: bool = False
    cause: FailureCause | None = None
    is_outage: bool = False


def situation(
    watches: Sequence[WatchView],
    causes: Mapping[str, Sequence[FailureCause]],
    plans: Sequence[tuple[str, Plan]],
    now: float,
    hub: str,
) -> Iterator[Sentence]:
    """Yield what fails and needs a person, the plans that wait for one, then outages; `now` in Unix seconds.

    Each plan comes with the name of its watch.
    """
    failures = [one for watch in watches for one in _failures(watch, causes[watch.name], now)]
    yield from (one for one in failures if not one.is_outage)
    if plans:
        only = plans[0][1] if len(plans) == 1 else None
        effect = f" {effect_of(only).capitalize()}{cause_of(only)}." if only else ""
        count, names = f"{counted(len(plans), 'plan')} of", first_few(list(dict.fromkeys(name for name, _ in plans)), 3)
        yield Sentence(f"{count} {names} {'waits' if only else 'wait'} for you.{effect}", has_plan=True)
    yield from (one for one in failures if one.is_outage)
    is_calm = not plans and not any(causes[one.name] or one.failure or one.status == "failed" for one in watches)
    begin = "Nothing fails. " if is_calm else ""
    for watch in watches:
        for text in _requests(watch, hub):
            yield Sentence(Markup(begin) + text, "runs")  # noqa: S704 - our own words
            begin = ""
        if (refused := watch.submissions.get("rejected")) and not watch.source.startswith(WITH_DISCUSSIONS):
            link = f"submissions?{urlencode({'watch': watch.name, 'status': 'rejected'})}"
            words = Markup('{}: <a href="{}">{}</a>; the source has no discussions, so this page and the log say it.')
            yield Sentence(words.format(watch.name, link, counted(refused, "rejected file")), "runs")
        if watch.commit and not watch.submissions and not any(watch.items.values()):
            yield Sentence(
                f"{watch.name}: no file of the source fits `paths` of the watch, or there is none yet.", "runs"
            )


def still_at_work(watches: Sequence[WatchView], now: float) -> Iterator[Sentence]:
    """Yield why not all is well yet and until when, for watches about which `situation` says nothing."""
    for watch in watches:
        for state in ("waiting", "held"):
            if waiting := watch.items.get(state, 0):
                link = f"items?{urlencode({'watch': watch.name, 'state': state})}"
                until = f"the next pass, {_at(watch.next, now)}" if state == "waiting" else "the answer to a plan"
                words = Markup('{}: <a href="{}">{}</a> for {}.')
                yield Sentence(words.format(watch.name, link, counted_words(waiting, "item"), until), "runs")
        if watch.recount and not sum(watch.items.values()):
            words = Markup('<a href="#{}">{}</a>: something changed since the rows were counted; the next count is {}.')
            yield Sentence(words.format(quote(watch.name), watch.name, _at(watch.recount, now)), "runs")


def _at(moment: str | None, now: float) -> str:
    """When something is due: `at 02:13 UTC`, or `now`."""
    due = datetime.fromisoformat(moment).timestamp() if moment else now
    return f"at {shown_time(due, now)}" if due > now else "now"


def counted_alone(watches: Sequence[WatchView]) -> WatchView | None:
    """The watch with the only ledger of the service, if nothing happened since that was made; else None."""
    counted_ones = [watch for watch in watches for _ in watch.ledgers]
    return counted_ones[0] if len(counted_ones) == 1 and not counted_ones[0].recount else None


def _failures(watch: WatchView, causes: Sequence[FailureCause], now: float) -> Iterator[Sentence]:
    """Yield what fails of a watch: the pass itself, its most frequent cause, rows without a place."""
    if watch.failure and not any(watch.failure.endswith(one.reason) for one in causes):
        yield Sentence(f"{watch.name}: {watch.failure.rstrip('.')}.", "stop", watch.name)
    elif watch.status == "failed" and not causes:
        last = f"since {shown_time(datetime.fromisoformat(watch.settled).timestamp(), now)}" if watch.settled else "yet"
        text = f"{watch.name}: no pass has ended {last}. If the log shows no progress, start the service again."
        yield Sentence(text, "stop", watch.name)
    if causes:
        only = causes[0] if len(causes) == 1 else None
        is_outage = causes[0].is_outage and watch.status != "failed"
        tone = "" if is_outage else "stop"
        yield Sentence(_cause(causes, watch.name, now), tone, watch.name, cause=only, is_outage=is_outage)
    if watch.untried:  # a row that fails has its cause above
        rows, have = counted(watch.untried, "accepted row"), "has" if watch.untried == 1 else "have"
        text = f"{watch.name}: {rows} {have} no place at the target; leaderboard-bot status says why."
        yield Sentence(text, "stop", watch.name)


def _cause(causes: Sequence[FailureCause], watch: str, now: float) -> str:
    """The one cause: what fails for it, since when, why, what comes next; of several how much, and the first."""
    cause, due = causes[0], min(one.due for one in causes)
    next_try = shown_time(due, now) if due > now else "now"
    if len(causes) > 1:
        count, since = sum(one.count for one in causes), shown_time(cause.since, now)
        why = cause.reason.rstrip(".") or "something failed"
        return f"{watch}: {count:,} failing for {len(causes)} reasons, next try {next_try}; most since {since}: {why}."
    what = "the source cannot be read" if cause.kind == "source" else (
        f"{counted(cause.count, noun_of(cause.kind))} {'fails' if cause.count == 1 else 'fail'}"
    )  # fmt: skip
    begin = f"{watch}: {what} since {shown_time(cause.since, now)}: {cause.reason.rstrip('.') or 'something failed'}"
    if cause.needs_token:
        return f"{begin}, and start it again: nothing else helps."
    # An address with a typo looks like an outage, too.
    wrong = (
        " Is `source` spelled right, and may the token read it?" if cause.kind == "source" and " 404" in begin else ""
    )
    return f"{begin}. Next try {next_try}.{wrong}"


def noun_of(kind: str) -> str:
    """What people call an item of a kind, "" for several kinds."""
    return WORDS.get(kind, kind or "item")


def accounted(ledger: str) -> str:
    """The line of a ledger for people: `9 accepted: 8 on main, 1 in an open request`, without what is 0."""
    if ledger.startswith("0 accepted") and ";" not in ledger:
        return "no row is accepted yet"
    said = ZERO.sub("", ledger).replace(":,", ":").replace("accepted:;", "accepted;")
    said = said.replace(" open", " in open requests").replace(" unexplained", " without a place yet").removesuffix(":")
    if said == "1 accepted: 1 in open requests":
        return "1 accepted, in an open request"
    return ALL.sub(lambda found: f"{found[1]} accepted, {'' if found[1] == '1' else 'all '}{found[2]}", said)


def _requests(watch: WatchView, hub: str) -> Iterator[str]:
    """Yield what waits at the targets to be merged, in a sentence for each."""
    for target, text in watch.requests.items():
        link, at = requests_url(target, hub), f" at {target}" if len(watch.targets) > 1 else ""
        at += " (when last counted)" if watch.recount else ""
        words = Markup('<a href="{}" rel="noreferrer">{}</a>').format(link, text) if link else text
        at += "" if "://" in target else f", as a branch of {target}"
        yield Markup("{}: {}{}.").format(watch.name, words, at)


@dataclass
class Progress:
    """What was left of each watch at earlier requests of the page."""

    seen: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def sentences(self, watch: WatchView, counts: Mapping[tuple[str, str], int], now: float) -> Iterator[str]:
        """Yield how far a watch is with many files and rows, where there are many."""
        files, rows = counts.get(("file", "waiting"), 0), counts.get(("row", "waiting"), 0)
        if files + rows < MANY_WAITING:
            self.seen.pop(watch.name, None)
            if watch.settled is None:
                yield f"{watch.name} is read for the first time."
            return
        read = sum(watch.submissions.values())
        parts = [f"{read:,} of {read + files:,} files are read"] if files else []
        parts += [f"{rows:,} rows wait to be published"] if rows else []
        left = self._time_left(watch.name, files + rows, now)
        yield f"{watch.name}: {', '.join(parts)}{f'; {left} left' if left else ''}."

    def _time_left(self, watch: str, waiting: int, now: float) -> str:
        """The approximate time left at the speed of the last minutes, "" if that is not known yet."""
        seen = [one for one in self.seen.get(watch, []) if 0 <= now - one[0] < OLDEST]
        self.seen[watch] = [*seen, (now, waiting)][-1000:]
        if not seen or now - seen[0][0] < NEWEST or seen[0][1] <= waiting:
            return ""
        return duration(waiting * (now - seen[0][0]) / (seen[0][1] - waiting))


def duration(seconds: float) -> str:
    """An approximate duration: `about 3 minutes`, `about 2 hours`."""
    hours, minutes = round(seconds / 3600), max(1, round(seconds / 60))
    if minutes > 90:
        return f"about {hours} hours"
    return f"about {minutes} minute{'' if minutes == 1 else 's'}"


def shown_time(moment: float, now: float) -> str:
    """A moment for people: the time of this day, else also the date."""
    form = "%H:%M UTC" if abs(now - moment) < DAY / 2 else "%Y-%m-%d %H:%M UTC"
    return time.strftime(form, time.gmtime(moment))


def counted_words(count: int, noun: str) -> str:
    """A number of things that wait: `1 plan waits`, `2 plans wait`."""
    return f"{count:,} {noun} waits" if count == 1 else f"{count:,} {noun}s wait"
