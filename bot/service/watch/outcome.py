"""The outcomes of one pass: as text for people, and as a note of each failure for the next try."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.errors import BotError, LeaseLost
from bot.evaluation.finding import grouped
from bot.evaluation.rules import ALL_RULES
from bot.platforms.net import check_lease
from bot.publishing.plan import Plan, answers_text, held_text, plan_lines
from bot.reporting.escape import visible
from bot.service.context import WatchContext
from bot.service.publish.ledger import Ledger
from bot.service.store.items import Item
from bot.service.waits import FIRST_RETRY, LONGEST_RETRY, REFUSED_RETRY

OutcomeName = Literal["proposed", "written", "unchanged", "rejected", "held", "failed"]
DONE = frozenset({"proposed", "written"})
SUBJECTS_NAMED = 3  # things that one line names
WAITING = frozenset({"held", "rejected", "failed"})  # outcomes that a person should hear of
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a pass for one subject, such as a row or a folder; `status` is the exit status that it means.

    `is_new` is False for what an earlier pass said already and still waits for a person. `answers` says how a person
    answers in a terminal; the pages have buttons for that.
    """

    outcome: OutcomeName
    subject: str
    text: str
    status: int = 0
    is_new: bool = True
    answers: str = ""


@dataclass(frozen=True, slots=True)
class WatchPass:
    """The result of the pass over one watch: the outcomes, and what was done, or would be done, at each target.

    `is_whole` is False if the pass lost its lease, and left the rest to the next one. `failure` is the first failure of
    something that no item stands for.
    """

    watch: str
    outcomes: Sequence[Outcome]
    plans: Sequence[Plan] = ()
    ledgers: Sequence[Ledger] = ()
    is_whole: bool = True
    failure: str = ""

    def lines(self, *, dry_run: bool, quiet: bool = False) -> list[str]:
        """The lines to show: the plans of a dry run, else the outcomes; with `quiet` only those that newly wait."""
        if quiet:
            new = [one for one in self.outcomes if one.is_new and one.outcome in WAITING and one.status]
            return [visible(f"{self.watch}: {line}") for line in outcome_lines(new)]
        shown = [one for one in self.outcomes if not dry_run or one.outcome not in DONE]  # its plans say that
        said = [f"{self.watch}: {line}" for line in outcome_lines(shown)]
        if dry_run:
            said += [f"{self.watch}: {line}" for plan in self.plans for line in plan_lines(plan)]
        lines = [visible(line) for line in said] or [f"{self.watch}: unchanged"]
        return lines + [visible(f"{self.watch}: {line}") for one in self.ledgers for line in one.lines]

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        outcomes = [
            {"outcome": one.outcome, "subject": one.subject, "text": one.text + one.answers} for one in self.outcomes
        ]
        return {
            "watch": self.watch,
            "outcomes": outcomes,
            "plans": [plan.to_json() for plan in self.plans],
            "ledgers": [one.to_json() for one in self.ledgers],
        }


def outcome_lines(outcomes: Iterable[Outcome]) -> list[str]:
    """A line for each outcome, and one line for all that ended alike for the same reason, or for many of one rule."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in outcomes:
        found.setdefault((one.outcome, one.text + one.answers), []).append(one.subject)
    lines = []
    by_rule = grouped(((what, _rule_of(text)), (text, subjects)) for (what, text), subjects in found.items())
    for (what, rule), some in by_rule.items():
        said = some
        if rule and len(some) > SUBJECTS_NAMED:  # as of hundreds of models that nobody identified
            first = f"{some[0][0]}; {len(some) - 1:,} messages like this: `check` shows each"
            said = [(first, [one for _, subjects in some for one in subjects])]
        for text, subjects in said:
            more = f" and {len(subjects) - SUBJECTS_NAMED} more" if len(subjects) > SUBJECTS_NAMED else ""
            lines.append(f"{what} {', '.join(subjects[:SUBJECTS_NAMED])}{more}: {text}")
    return lines


def _rule_of(text: str) -> str:
    """The rule whose finding a text is, "" for another one."""
    rule = text.partition(": ")[0]
    return rule if any(rule == one.id for one in ALL_RULES) else ""


@dataclass
class Report:
    """Collects the outcomes of one pass, and notes in the state why items failed.

    `written` counts the repositories that were written to, at targets with a limit of them. `failed` are the items that
    failed, `failure` is the first failure without an item.
    """

    context: WatchContext
    outcomes: list[Outcome] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)
    failed: list[Item] = field(default_factory=list)
    failure: str = ""

    def say(self, outcome: OutcomeName, subject: str, text: str, status: int = 0, *, is_new: bool = True) -> None:
        """Add an outcome."""
        self.outcomes.append(Outcome(outcome, subject, text, status, is_new))

    def say_held(self, plan: Plan, *, is_new: bool) -> None:
        """Note that a plan waits for a person."""
        self.outcomes.append(Outcome("held", plan.target, held_text(plan), 1, is_new, answers_text(plan)))

    def refuse(self, item: Item, why: str) -> None:
        """Add a row that cannot be written with the target or the settings as they are; it is looked at again later."""
        again = self.context.clock() + max(wait_after(item.attempts, BotError(why)), REFUSED_RETRY)
        self.context.state.items.refuse(item, why, again)
        self.say("rejected", item.subject, why, status=1, is_new=(item.attempts, item.reason) == (0, ""))

    def say_plans(self) -> None:
        """Add an outcome for every plan that waits for a person, whether this pass looked at its rows or not."""
        held = {one.target: one for one in self.context.state.plans.all()}
        waiting = {target: one for target, one in held.items() if one.waits}
        planned = {plan.target for plan in self.plans}
        self.plans += [one.plan for target, one in waiting.items() if target not in planned]
        self.outcomes[:] = [one for one in self.outcomes if one.outcome != "held" or one.subject in waiting]
        said = {one.subject for one in self.outcomes if one.outcome == "held"}
        for target in waiting.keys() - said:
            self.say_held(waiting[target].plan, is_new=False)

    def attempt(
        self, items: Sequence[Item], call: Callable[[], object], *, finish: bool = True, subject: str = ""
    ) -> None:
        """Call something for items. Where it fails, all of them are tried again later, and the caller goes on.

        What every pass does has no item: its failure is reported under `subject`. Raises LeaseLost.
        """
        check_lease()
        try:
            call()
        except LeaseLost:
            raise
        except Exception as failure:  # noqa: BLE001 - one thing never stops the others
            for item in items:
                self.fail(item, failure)
            if not items and subject:
                self.say_failed(subject, failure)
                self.failure = self.failure or f"{subject}: {reason_of(failure)}"
        else:
            if finish:
                self.context.finish(items)

    def fail(self, item: Item, failure: Exception) -> None:
        """Note that an item failed, and when it is tried again. Raises LeaseLost: then the item did not fail."""
        check_lease()
        wait = wait_after(item.attempts, failure)
        if item.kind == "source":
            wait = min(wait, self.context.watch.settle_every)  # each pass looks at it
        due = self.context.clock() + wait
        self.context.state.items.fail(item, reason_of(failure), due)
        self.failed.append(item)
        self.say_failed(item.name, failure)

    def say_failed(self, subject: str, failure: Exception) -> None:
        """Add a failure. The log has the traceback of an error that is not a BotError."""
        if not isinstance(failure, BotError):
            log.error("%s: %s failed", self.context.name, visible(subject), exc_info=failure)
        self.say("failed", subject, reason_of(failure), failure.status if isinstance(failure, BotError) else 1)


def wait_after(attempts: int, failure: Exception) -> float:
    """Seconds until a failed item is tried again: as long as the service asks, else 1 minute to 6 hours."""
    asked = getattr(failure, "retry_after", None)
    wait = min(FIRST_RETRY * 2 ** min(attempts, 20), LONGEST_RETRY)
    return wait if asked is None else min(max(float(asked), 1.0), LONGEST_RETRY)


def reason_of(failure: Exception) -> str:
    """Why an item failed, in one line."""
    if isinstance(failure, BotError):
        return failure.in_one_line[:500]
    return f"internal error: {type(failure).__name__}; the log has the traceback"
