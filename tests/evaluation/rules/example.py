"""Reads examples, in a rule's page or in a file of a case, and judges what they describe.

A line is `/pointer: value` (a JSON pointer and what is there, `(absent)` for nothing), `leaderboard: ID` (the
declaration that judges), `(declaration) FIELD: value` (what that declaration says instead, as `tasks/0/unit`), `(a file
of open-llm-v1)` (what is changed is a complete file of that format, `… by harness 0.4` one of its tasks as they are run
today), `(another file)` (the row has a sound file of another day besides), `(folders) A and B` (the file
and the other one lie in these folders, and differ in their results alone), `(result) FIELD: value` (what the reader of
some format finds, where the formats of the examples do not record it; the fields of a leaf are `leaves/KEY/FIELD`),
`(logs) MODEL` (the model whose row names the same sample logs), `(samples) KEY/FIELD: value` (what the sample log of a
leaf shows; `KEY: null` for no log; where the declaration asks for logs, every other leaf has a sound one), `(scored)
LEAF: digest` (how the logs of the other rows are asked and scored),
`(file with) TEXT` (the file has this text after its first brace), `(board) MODEL` (the board has that model's row with
the same values), `(alike) MODEL` (the board has that model's row with 5 of 6 values of this one), `(row) KEY` (the
board has the row of this key), `(owners) PREFIX belongs to ORGANIZATION`, or `(file) TEXT` (the whole file). A text
that starts with no such line is a sentence for people, and describes the sound file as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.likeness import Alike, originals
from bot.evaluation.result import CheckedSamples, Result
from bot.evaluation.row_key import key_of, twins
from bot.evaluation.rules.rule import Facts, KnownDocuments
from bot.evaluation.submission import Parsed, parse_submission
from bot.service.judge.facts import peer_of
from tests.evaluation.judging import (
    ABSENT,
    Outcome,
    base,
    base_v1,
    base_v1_today,
    declared,
    dumps,
    judgement_of,
    patch,
    patched,
)

FILE, BOARD, ANOTHER, RESULT, WITH = "(file) ", "(board)", "(another file)", "(result) ", "(file with) "
SAMPLES, LOGS, ALIKE, SCORED = "(samples) ", "(logs) ", "(alike) ", "(scored) "
OWNERS, DECLARATION, ROW, FOLDERS = "(owners) ", "(declaration) ", "(row) ", "(folders) "
STARTS = {
    "(a file of open-llm-v1-drop)": partial(base_v1, "open-llm-v1-drop"),
    "(a file of open-llm-v1)": base_v1,
    "(a file of open-llm-v1 by harness 0.4)": base_v1_today,
}
TODAY = date(2026, 11, 1)


@dataclass
class Example:
    """What an example describes, before it is judged."""

    changes: dict[str, Any] = field(default_factory=dict)
    leaderboard: str = "open-llm-v2"
    declaration: dict[str, Any] = field(default_factory=dict)
    board: str = ""
    alike: str = ""
    scored: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    start: Callable[[], dict[str, Any]] = base
    has_another: bool = False
    folders: tuple[str, str] = ("", "")
    fields: dict[str, Any] = field(default_factory=dict)
    inserted: str = ""
    samples: dict[str, Any] = field(default_factory=dict)
    first_owner: str = ""
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    rows: list[str] = field(default_factory=list)

    def data(self) -> bytes:
        """The bytes of the file."""
        if self.text:
            return self.text.encode()
        data = dumps(patched(self.changes, None if self.start is base else self.start()))
        return data.replace(b"{", b"{" + self.inserted.encode(), 1)

    @cached_property
    def declared(self) -> Leaderboard:
        """The declaration that judges."""
        if not self.declaration:
            return declared(self.leaderboard)
        changes = {f"/{way}": value for way, value in self.declaration.items()}
        return Leaderboard.model_validate(patched(changes, _shipped(self.leaderboard)))

    def outcome(self) -> Outcome:
        """Judge it."""
        logs = {"0" * 64: self.first_owner} if self.first_owner else {}
        known = {(leaf, "lm-eval-0.4"): KnownDocuments("d", 0, one, one) for leaf, one in self.scored.items()}
        outcome = self._judged(Facts(today=TODAY, owners=self.owners, logs=logs, documents=known))
        if self.rows and outcome.result is not None:
            key = key_of(self.leaderboard, outcome.result.model).text
            spellings = twins([*((0, row) for row in self.rows), (1, key)])
            outcome = self._judged(Facts(today=TODAY, owners=self.owners, spellings=spellings))
        if self.alike and outcome.row is not None:
            alike = {outcome.row.key.text: Alike(self.alike, "5 of 6 values")}
            outcome = self._judged(Facts(today=TODAY, alike=alike))
        if not self.board or outcome.result is None:
            return outcome
        assert outcome.row is not None
        own = peer_of(outcome.row, {})
        there = own._replace(key="b", row=replace(own.row, model=self.board), is_there=True)
        copies = {key: model for key, model, _ in originals([own], [there]) if model}
        return self._judged(Facts(today=TODAY, same_values=copies))

    def _judged(self, facts: Facts) -> Outcome:
        """The file's outcome, in a row with the other file where there is one."""
        first, second = self.folders
        files = {f"{first}results_x.json": self.data()}
        if self.has_another:
            own = ("/results", *(("/date",) if self.changes.get("/date") is not ABSENT else ()))
            same = {pointer: value for pointer, value in self.changes.items() if not pointer.startswith(own)}
            files[f"{second}results_sound.json"] = dumps(patched(same, base()) if second else base())
        judgement = judgement_of(files, self.declared, facts, self._read)
        return Outcome(judgement.verdicts[0], next(iter(judgement.rows), None), judgement)

    def _read(self, path: str, files: Mapping[str, bytes]) -> Parsed:
        """Read a file; the result of the first has the fields of the example."""
        parsed = parse_submission(path, files)
        if parsed.result is not None and self.declared.asks_samples:
            parsed = replace(parsed, samples=self._logs(parsed.result))
        if not self.fields or parsed.result is None or not path.endswith("results_x.json"):
            return parsed
        plain = msgspec.to_builtins(parsed.result)
        for way, value in self.fields.items():
            patch(plain, f"/{way}", value)
        return replace(parsed, result=msgspec.convert(plain, Result))

    def _logs(self, result: Result) -> tuple[CheckedSamples, ...]:
        """A sound log for each leaf, with what the example changes."""
        logs = {
            key: msgspec.to_builtins(
                CheckedSamples(key, f"samples_{key}.jsonl", "0" * 64, leaf.samples or 0, "d", _floats(leaf.numbers))
            )
            for key, leaf in result.leaves.items()
        }
        for way, value in self.samples.items():
            key, _, name = way.partition("/")
            logs[key] = logs[key] | {name: value} if name else value
        return msgspec.convert([one for one in logs.values() if one], tuple[CheckedSamples, ...])


@cache
def _shipped(leaderboard: str) -> dict[str, Any]:
    return declared(leaderboard).model_dump(mode="json")


def _floats(numbers: Mapping[str, Any]) -> dict[str, float]:
    return {name: one for name, one in numbers.items() if isinstance(one, float)}


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
    elif line in STARTS:
        example.start = STARTS[line]
    elif line.startswith(WITH):
        example.inserted = line.removeprefix(WITH)
    elif line.startswith((RESULT, SAMPLES, DECLARATION, SCORED)):
        ways = {
            RESULT: example.fields,
            SAMPLES: example.samples,
            DECLARATION: example.declaration,
            SCORED: example.scored,
        }
        start, fields = next((start, fields) for start, fields in ways.items() if line.startswith(start))
        way, _, value = line.removeprefix(start).partition(": ")
        fields[way] = json.loads(value)
    elif line.startswith((ROW, OWNERS, BOARD, LOGS, ALIKE)):
        _read_fact(line, example)
    elif line == ANOTHER:
        example.has_another = True
    elif line.startswith(FOLDERS):
        first, _, second = line.removeprefix(FOLDERS).partition(" and ")
        example.folders = (first, second)
    elif line.startswith("leaderboard: "):
        example.leaderboard = line.removeprefix("leaderboard: ")
    else:
        pointer, colon, value = line.partition(": ")
        assert pointer.startswith("/"), line
        assert colon, line
        example.changes[pointer] = ABSENT if value == "(absent)" else json.loads(value)


def _read_fact(line: str, example: Example) -> None:
    if line.startswith(ROW):
        example.rows.append(line.removeprefix(ROW))
    elif line.startswith(LOGS):
        example.first_owner = line.removeprefix(LOGS)
    elif line.startswith(ALIKE):
        example.alike = line.removeprefix(ALIKE)
    elif line.startswith(BOARD):
        example.board = line.removeprefix(BOARD).strip()
    else:
        prefix, _, organization = line.removeprefix(OWNERS).partition(" belongs to ")
        example.owners[prefix] = () if organization == "nobody" else (organization,)


def sound(example: Example) -> Example:
    """The same file and declaration with nothing changed."""
    return Example(leaderboard=example.leaderboard, declaration=example.declaration, start=example.start)
