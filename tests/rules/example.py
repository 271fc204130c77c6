"""The lines of an example, in a rule's page or in a file of a case, in; the verdict on what they describe out.

A line is `/pointer: value` (a JSON pointer and what stands there, `(absent)` for nothing), `leaderboard: ID` (the
declaration that judges), `(a file of open-llm-v1)` (what is changed is a complete file of that format),
`(board) MODEL` (the board has that model's row with the same values), or `(file) TEXT` (the whole file). A text that
starts with no such line is a sentence for people, and describes the sound file as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from bot.measure import raw_values, take_measures
from bot.pipeline import Verdict
from bot.result import Result
from bot.rules.rule import Facts
from tests.judging import ABSENT, base, base_v1, declared, dumps, patched, verdict_of

FILE, BOARD, V1 = "(file) ", "(board)", "(a file of open-llm-v1)"
TODAY = date(2026, 11, 1)


@dataclass
class Example:
    """What an example describes, before it is judged."""

    changes: dict[str, Any] = field(default_factory=dict)
    leaderboard: str = "open-llm-v2"
    board: str = ""
    text: str = ""
    is_v1: bool = False

    def data(self) -> bytes:
        """The bytes of the file."""
        if self.text:
            return self.text.encode()
        return dumps(patched(self.changes, base_v1() if self.is_v1 else base()))

    def verdict(self) -> Verdict:
        """Judge it."""
        verdict = verdict_of(self.data(), self.leaderboard, Facts(today=TODAY))
        if not self.board or verdict.result is None:
            return verdict
        return verdict_of(self.data(), self.leaderboard, self._facts(verdict.result))

    def _facts(self, result: Result) -> Facts:
        leaderboard = declared(self.leaderboard)
        values = raw_values(take_measures(result, leaderboard), leaderboard)
        return Facts(today=TODAY, same_values={values: self.board})


def parse_example(text: str) -> Example:
    """Read the lines of an example."""
    example = Example()
    lines = text.strip().splitlines()
    if not lines or not lines[0].startswith(("/", "(", "leaderboard: ")):
        return example
    for line in lines:
        _read(line, example)
    return example


def _read(line: str, example: Example) -> None:
    if line.startswith(FILE):
        example.text = line.removeprefix(FILE)
    elif line == V1:
        example.is_v1 = True
    elif line.startswith(BOARD):
        example.board = line.removeprefix(BOARD).strip()
    elif line.startswith("leaderboard: "):
        example.leaderboard = line.removeprefix("leaderboard: ")
    else:
        pointer, colon, value = line.partition(": ")
        assert pointer.startswith("/"), line
        assert colon, line
        example.changes[pointer] = ABSENT if value == "(absent)" else json.loads(value)


def sound(example: Example) -> Example:
    """The same file and declaration with nothing changed."""
    return Example(leaderboard=example.leaderboard, is_v1=example.is_v1)
