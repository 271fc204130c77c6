"""A watch on the local Hub whose target is a table that people keep, told in verbs."""

from __future__ import annotations

from dataclasses import dataclass

from bot.service.settings.config import Watch, parse_settings
from bot.service.watch.outcome import Outcome
from tests.service.stories import TABLE_TARGET, Story, settings_of

ABOVE = b'\xef\xbb\xbfModel,Average,Note\r\n"olympus/zeus",  90.10 ,"kept, by hand"\r\n'
BELOW = b"olympus/hera,1.5E1,\r\n"
TABLE = ABOVE + BELOW
NEW = b"acme/atlas-7b,58.33,\r\n"
CHANGED = b"acme/atlas-7b,61.67,\r\n"
OTHER = b"acme/borea-1b,58.33,\r\n"
BETTER = (60, 60, 70)
CONTENTS = "hf://datasets/acme/contents"


def watch_of(source: str, target: str, form: str, more: str = "") -> Watch:
    text = settings_of(source, target, form, TABLE_TARGET) + more
    return parse_settings(text, "bot.toml").watches[0]


@dataclass
class TableStory(Story):
    """A watch whose target on the Hub is a table."""

    table: bytes = TABLE
    options: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.hub.push(self.target, {"board.csv": self.table})

    @property
    def watch(self) -> Watch:
        return watch_of("hf://datasets/acme/results", CONTENTS, self.form, self.options)

    def board(self, revision: str = "main") -> bytes:
        return self.hub.file(self.target, "board.csv", revision) or b""

    def board_file(self, path: str) -> bytes:
        return self.hub.file(self.target, path) or b""

    def proposed(self) -> bytes:
        """The table in the one open request."""
        [request] = self.requests
        return self.board(request.ref)


def said(outcomes: list[Outcome], name: str) -> list[str]:
    return [one.text for one in outcomes if one.outcome == name]
