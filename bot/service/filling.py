"""Fill a target with very many rows: by its own bulk write if it has one, else by ordinary publications."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.errors import Stale
from bot.platforms.filling import Filling
from bot.platforms.target import Target
from bot.publishing.entry import entry_path
from bot.publishing.publication import CurrentState, Form, Marker, PostText, decide


def open_filling(target: Target, mark: Marker, form: Form) -> Filling:
    """The cheapest way to fill a target."""
    return target.filling(mark, form) or PlainFilling(target, mark, form)


@dataclass(frozen=True)
class PlainFilling:
    """Fills a target by its ordinary publications."""

    target: Target
    mark: Marker
    form: Form

    def paths(self) -> set[str]:
        """The entries that stand there, or are proposed there."""
        request = self.target.read_state(self.mark, ()).request
        return {*(entry_path(entry.key) for entry in self.target.read_entries()), *(request.files if request else ())}

    def standing(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The current or proposed content at the paths of these files."""
        return _standing(files, self.target.read_state(self.mark, tuple(files)))

    def write(self, files: Mapping[str, bytes], text: PostText) -> str:
        """Write new files, and say where. Raises Stale if one of them is not new any more."""
        state = self.target.read_state(self.mark, tuple(files))
        if others := _standing(files, state):
            were = "row was" if len(others) == 1 else "rows were"
            raise Stale(f"{len(others):,} {were} written there meanwhile")
        proposed = dict(state.request.files) if state.request else {}
        decision = decide(self.mark, text, {**proposed, **files}, state, self.form)
        return self.target.apply(decision.publication) if decision.publication else ""


def _standing(files: Iterable[str], state: CurrentState) -> dict[str, bytes]:
    """The current or proposed content at these paths."""
    proposed = state.request.files if state.request else {}
    found = {path: proposed.get(path) or state.files.get(path) for path in files}
    return {path: data for path, data in found.items() if data is not None}
