"""All limits on what strangers may ask of the service; the maintainers of a watch have none."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bot.service.context import WatchContext

REVIEW_FILES = 50  # result files of one request that are judged
REVIEW_READS = 200  # files of one request that are looked at, those that turn out to be no results among them
REVIEW_BYTES = 64 * 1024 * 1024  # of those files together
REVIEW_LEAVES = 20_000  # values that those files bring together
REVIEW_ROWS = 500  # rows of one request that are compared with the board
COMMANDS_OF_ONE = 20  # commands of one account that are answered in an hour
COMMANDS_OF_ALL = 100  # commands of all strangers that are answered in an hour
REVIEWS_OF_ONE = 20  # open requests of one account that are reviewed, the oldest first
REVIEWS_OF_ALL = 200  # open requests of all strangers that are reviewed
HOUR = 3600.0  # seconds
EVERYBODY = "*"  # no account has this name


@dataclass(frozen=True)
class CommandQuota:
    """Counts the commands of strangers on one watch."""

    context: WatchContext

    def take(self, author: str) -> bool:
        """Tell whether one more command of an account may be answered now; if so, it is counted."""
        if author in self.context.maintainers:
            return True
        store, name, now = self.context.store, self.context.name, self.context.clock()
        limits = {author: COMMANDS_OF_ONE, EVERYBODY: COMMANDS_OF_ALL}
        with store.transaction():
            recent = {who: self._recent(who, now) for who in limits}
            if any(len(recent[who]) >= most for who, most in limits.items()):
                return False
            for who, times in recent.items():
                store.set_cursor(name, "commands", json.dumps([*times, now]), who)
        return True

    def _recent(self, who: str, now: float) -> list[float]:
        times = json.loads(self.context.store.cursor(self.context.name, "commands", who) or "[]")
        return [time for time in times if now - HOUR < time <= now]
