"""One pass over each of several watches, as `settle` makes it, and the leases that keep passes and imports apart."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from bot.errors import BotError, CallError, InUse, Refused, Unavailable
from bot.evaluation.finding import counted
from bot.publishing.decisions import NOTHING
from bot.reporting.escape import visible
from bot.service.context import ContextFactory
from bot.service.publish.ledger import Ledger
from bot.service.settings.config import Watch
from bot.service.store.leases import lease_name, pass_leases
from bot.service.store.memory import FAILURES
from bot.service.store.state import Plans, Store, WatchState
from bot.service.waits import LEASE_LOOK, LEASE_PATIENCE
from bot.service.watch.outcome import Outcome, WatchPass
from bot.service.watch.settle import run_pass


@contextmanager
def import_lease(store: Store, to: str, folder: Path, row_targets: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Hold a target alone for the block. Raises InUse where it is not free soon.

    `row_targets` gives the targets of the rows that workers publish; rows that they take later leave the target alone.
    """
    name, end = lease_name(to, folder), time.monotonic() + LEASE_PATIENCE
    with store.lease(name, LEASE_PATIENCE) as claim:
        if not claim.is_ours:
            raise InUse(f"{to}: another process writes there now; wait until it ends, or stop it")
        while any(lease_name(one, folder) == name for one in row_targets()):
            if time.monotonic() >= end:
                raise InUse(f"{to}: a worker publishes a row there now; try again when it has finished")
            time.sleep(LEASE_LOOK)
        yield


def settle_watches(
    contexts: ContextFactory,
    watches: Sequence[Watch],
    *,
    dry_run: bool = False,
    approve: str = "",
    decline: str = "",
    rescore: bool = False,
    counts: bool = True,
) -> list[WatchPass]:
    """Settle each watch; one that cannot even be opened is a failure of its own. `rescore` looks at every row again.

    Where it `counts`, each pass gives the ledgers of its targets.

    Raises CallError if `approve` or `decline` is not the digest of a plan that is held.
    """
    passes = [_settle_one(contexts, watch, dry_run=dry_run, rescore=rescore, counts=counts) for watch in watches]
    for digest, answer in ((approve, Plans.approve), (decline, Plans.decline)) if not dry_run else ():
        answered = [watch for watch in watches if digest and answer(contexts.store.of(watch.name).plans, digest)]
        if digest and not answered:
            raise CallError(f"no plan with the digest {digest!r} is held; `settle --dry-run` shows the held plans")
        passes = [
            _settle_one(contexts, watch, dry_run=False) if watch in answered else done
            for watch, done in zip(watches, passes, strict=True)
        ]
    return passes


def _settle_one(
    contexts: ContextFactory, watch: Watch, *, dry_run: bool, rescore: bool = False, counts: bool = True
) -> WatchPass:
    try:
        done = _pass_alone(contexts, watch, dry_run=dry_run, rescore=rescore, counts=counts)
    except BotError as failure:
        failed = Outcome("failed", watch.name, failure.in_one_line, failure.status)
        return WatchPass(watch.name, _with_new_causes(contexts.store.of(watch.name), [failed], dry_run=dry_run))
    outcomes = [*done.outcomes, *([] if dry_run else _nowhere(done.ledgers))]
    outcomes = _with_new_causes(contexts.store.of(watch.name), outcomes, dry_run=dry_run)
    return replace(done, outcomes=outcomes)


def _nowhere(ledgers: Sequence[Ledger]) -> Iterator[Outcome]:
    """What to say of rows that no item stands for, so that cron reports them too."""
    for one in ledgers:
        if count := sum(why == NOTHING for why in one.unexplained.values()):
            text = f"{counted(count, 'accepted row')} neither on main nor proposed; `status` names them"
            yield Outcome("failed", one.target, text, status=1)


def _with_new_causes(state: WatchState, outcomes: Sequence[Outcome], *, dry_run: bool) -> list[Outcome]:
    """The outcomes, in which one failure of each cause counts as new if the pass before had none of that cause."""
    before = state.recall(FAILURES)
    known = set(before or ())
    causes, found = set[str](), list[Outcome]()
    for one in outcomes:
        cause = re.sub(r"[0-9]+", "0", one.text)  # seconds and numbers of requests make no other cause
        is_new = one.is_new if one.outcome != "failed" else cause not in known | causes
        causes |= {cause} if one.outcome == "failed" else set()
        found.append(replace(one, is_new=is_new))
    if not dry_run and causes != known:
        state.remember(FAILURES, sorted(causes) or None)
    return found


def _pass_alone(contexts: ContextFactory, watch: Watch, *, dry_run: bool, rescore: bool, counts: bool) -> WatchPass:
    """Make one pass, while no other process makes one over the same watch. Raises InUse."""
    if dry_run:
        context = contexts.open_context(watch, dry_run=True)
        with closing(context.state.db):
            return run_pass(context, rescore=rescore, counts=counts)
    name, boards = pass_leases(watch, contexts.folder)
    with contexts.store.lease(name, LEASE_PATIENCE, beside=boards) as claim:
        if claim.what in boards:
            raise InUse(f"{name}: an import fills its target now; wait until it ends")
        if not claim.is_ours:
            raise InUse(f"{name}: another process works on it now")
        return run_pass(contexts.open_context(watch), rescore=rescore, counts=counts)


def status_lines(passes: Sequence[WatchPass]) -> list[str]:
    """The ledger of each target with the rows that people declined, and each plan that waits."""
    found = [f"{one.watch}: {line}" for one in passes for ledger in one.ledgers for line in ledger.whole]
    waits = [(one.watch, said) for one in passes for said in one.outcomes if said.outcome in {"held", "failed"}]
    return [visible(line) for line in found] + [
        visible(f"{name}: {o.outcome} {o.subject}: {o.text}") for name, o in waits
    ]


def status_of_ledgers(passes: Sequence[WatchPass]) -> int:
    """The exit status of `status`: that of a pass, and 1 where a row is unexplained."""
    is_wrong = any(ledger.unexplained for one in passes for ledger in one.ledgers)
    held = [o for one in passes for o in one.outcomes if o.outcome in {"held", "failed"}]
    return 1 if is_wrong else exit_status([WatchPass("", held)])


def exit_status(passes: Sequence[WatchPass]) -> int:
    """1 where an item failed, a plan is held or a row is unexplained, 3 or 4 where only a service failed, else 0."""
    statuses = {outcome.status for one in passes for outcome in one.outcomes} - {0}
    services = {Unavailable.status, Refused.status}
    if not statuses:
        return int(any(ledger.unexplained for one in passes for ledger in one.ledgers))
    return min(statuses) if statuses <= services or len(statuses) == 1 else 1
