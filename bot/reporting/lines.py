"""Adds line numbers to findings that are about to be shown, from the bytes of their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from bot.evaluation.finding import Finding
from bot.evaluation.verdict import Judgement
from bot.reporting.locate import Locator

Read = Callable[[str], bytes | None]


class Lines:
    """Looks lines up in files, each of which is read when the first line in it is asked for.

    `read` gives a file's bytes by its path, None if there are none any more.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._path = ""
        self._locator: Locator | None = None

    def located(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings with the line of each; one file at a time stays in memory."""
        return tuple(map(self._with_line, findings))

    def _with_line(self, finding: Finding) -> Finding:
        place = finding.location
        if place.line or not place.pointer:
            return finding
        if place.path != self._path:
            data = self._read(place.path)
            self._path, self._locator = place.path, None if data is None else Locator(data)
        line = self._locator.line_of(place.pointer) if self._locator else 0
        return replace(finding, location=replace(place, line=line))


def with_lines(judgement: Judgement, read: Read) -> Judgement:
    """The judgement with the line of every finding."""
    lines = Lines(read)
    return replace(
        judgement,
        verdicts=tuple(replace(one, findings=lines.located(one.findings)) for one in judgement.verdicts),
        rows=tuple(replace(row, findings=lines.located(row.findings)) for row in judgement.rows),
    )
