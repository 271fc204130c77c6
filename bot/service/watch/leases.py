"""The lease of an import: while it holds, no pass writes to the same target, and the other way round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import InUse
from bot.service.settings.config import Watch
from bot.service.store import Store
from bot.service.store.leases import LOOK

PATIENCE = 10.0  # seconds that an import waits for a pass that runs, and for the rows that workers have


def lease_name(to: str, folder: Path) -> str:
    """The name of the lease on a target, the same for each form of its address; paths start at `folder`."""
    if "://" not in to:
        return f"import into {(folder / to).resolve()}"
    return f"import into {to.partition('#')[0].partition('@')[0].rstrip('/').casefold()}"


def pass_leases(watch: Watch, folder: Path) -> tuple[str, list[str]]:
    """The name of the lease that a pass over a watch needs alone, and of those that it shares with other passes."""
    return f"watch {watch.name}", [lease_name(one.to, folder) for one in watch.targets]


@contextmanager
def import_lease(store: Store, to: str, folder: Path, row_targets: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Keep a target for the block. Raises InUse, which names who writes there, where it is not free soon.

    `row_targets` gives the targets of the rows that workers publish; what they take later they leave alone.
    """
    name, end = lease_name(to, folder), time.monotonic() + PATIENCE
    with store.lease(name, PATIENCE) as claim:
        if not claim.is_ours:
            raise InUse(f"{to}: another process writes there now ({claim.rival}); wait until it ends, or stop it")
        while any(lease_name(one, folder) == name for one in row_targets()):
            if time.monotonic() >= end:
                raise InUse(f"{to}: a worker publishes a row there now; try again when it has finished")
            time.sleep(LOOK)
        yield
