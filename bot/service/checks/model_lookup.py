"""Check whether a model's measured revision is still on the Hub, and whether its main branch has moved on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.errors import CallError, Refused
from bot.platforms.registry import Opener

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class ModelState:
    """What the Hub has of a model: `said` is a sentence about it, "" if there is nothing to say."""

    said: str = ""
    is_gone: bool = False


@dataclass
class ModelLookup:
    """Asks the Hub about models, once about each revision."""

    opener: Opener
    _known: dict[tuple[str, str], ModelState] = field(default_factory=dict, repr=False)

    def look(self, model: str, revision: str) -> ModelState:
        """What the Hub has of a model at a revision. Raises Unavailable if it cannot be asked."""
        if (model, revision) not in self._known:
            self._known[model, revision] = self._ask(model, revision)
        return self._known[model, revision]

    def _ask(self, model: str, revision: str) -> ModelState:
        if not COMMIT.fullmatch(revision):
            return ModelState("the row names no commit of the model")
        try:
            source = self.opener.source(f"hf://models/{model}")
        except CallError:
            return ModelState("the model's name is not a Hub id")
        try:
            if not source.knows(revision):
                return ModelState(f"{model} is on the Hub, but its revision {revision[:12]} is not", is_gone=True)
            head = source.head()
        except Refused:
            return ModelState("the model is not on the Hub, or this token may not see it")
        return ModelState() if head == revision else ModelState(f"the model's main branch has moved on to {head[:12]}")
