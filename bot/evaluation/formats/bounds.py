"""Bounds what a file brings: the length and the characters of every field, and the size of the whole result.

What is stored, published and shown comes out of here. A field outside its bounds is cut and cleaned, and the result
lists it; the rule `malformed-field` then reports it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain
from math import inf
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.errors import MalformedResult
from bot.evaluation.finding import in_units
from bot.evaluation.result import GroupRow, HarnessVersion, LeafResult, MalformedField, Model, Result

MAX_ROWS = 10_000  # leaves and groups of one file, or members of its groups; real files have some hundred
MAX_ROW_BYTES = 1_000_000  # of all rows together, as MessagePack
MAX_FOUND = 20  # malformed fields that one result lists
NAME, WORD, LONG = 500, 200, 10_000  # characters: of a name, of a version or precision, of model arguments
ENCODE = msgspec.msgpack.Encoder().encode


def bounded(result: Result) -> Result:
    """Bound all fields of a result. Raises MalformedResult if it holds more rows than are read."""
    members = sum(map(len, result.subtasks.values()))
    count = max(len(result.leaves) + len(result.groups) + len(result.subtasks), members)
    if count > MAX_ROWS:
        pointer = result.pointer_to("leaves")
        raise MalformedResult(f"holds {count:,} rows; more than {MAX_ROWS:,} are not read", pointer=pointer)
    return _plain(result if _is_bounded(result) else _Bounds(result).bound())


def _is_bounded(result: Result) -> bool:
    """Tell whether nothing is to be cut, as in nearly every file; all texts of a kind are looked at together."""
    model, harness = result.model, result.harness
    names = [*result.leaves, *result.subtasks, *chain.from_iterable(result.subtasks.values())]
    names += [*result.task_hashes, *result.original_keys.values(), *[group.key for group in result.groups]]
    words = [model.revision, model.precision, model.source, harness.name, harness.git_hash or "", harness.version or ""]
    words += [leaf.reducer for leaf in result.leaves.values()]
    words += [leaf.version for leaf in result.leaves.values() if type(leaf.version) is str]
    words += [harness.repository or "", model.requested_revision, result.unfinished]
    words += [value if type(value) is str else "\n" for value in result.task_hashes.values()]
    return (
        _is_printable(names, NAME)
        and _is_printable(words, WORD)
        and "".join(words).isascii()
        and max(map(len, [model.args, *result.settings.values()])) <= LONG
        and len(model.id) <= NAME
        and _is_printable([result.quoted_from], NAME)
        and len(result.secrets) <= MAX_FOUND
        and _is_printable(result.secrets, NAME)
    )


def _is_printable(texts: Collection[str], limit: int) -> bool:
    return "".join(texts).isprintable() and max(map(len, texts), default=0) <= limit


class _Bounds:
    """Cuts and cleans the fields of one result and notes which it had to."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.found: list[MalformedField] = []

    def bound(self) -> Result:
        """The result with every field within its bounds."""
        result = self.result
        model, harness = self.model(result.model), self.harness(result.harness)
        settings = {key: self.cut("setting", value, LONG, "") for key, value in result.settings.items()}
        return replace(
            result,
            model=model,
            harness=harness,
            leaves=self.leaves(),
            groups=self.groups(),
            subtasks=self.subtasks(),
            settings=settings,
            original_keys={self.name(key): self.name(spelled) for key, spelled in result.original_keys.items()},
            task_hashes=self.hashes(),
            unfinished=self.word("status", result.unfinished, result.pointer_to("unfinished")),
            quoted_from=_clean(result.quoted_from),
            secrets=tuple(map(_clean, result.secrets[:MAX_FOUND])),
            malformed=tuple(self.found[:MAX_FOUND]),
        )

    def model(self, model: Model) -> Model:
        """Bound the model; the characters of its name are judged by the rule on model names."""
        pointer = self.result.pointer_to
        return Model(
            id=self.cut("model name", model.id, NAME, pointer("model")),
            revision=self.word("model revision", model.revision, pointer("revision")),
            precision=self.word("precision", model.precision, pointer("precision")),
            chat_template=model.chat_template,
            source=self.word("model class", model.source, pointer("arguments")),
            args=self.cut("list of model arguments", model.args, LONG, pointer("arguments")),
            requested_revision=self.cut("requested revision", model.requested_revision, WORD, pointer("revision")),
            is_named=model.is_named,
        )

    def harness(self, harness: HarnessVersion) -> HarnessVersion:
        """Bound what measured."""
        commit, release = self.result.pointer_to("commit"), self.result.pointer_to("release")
        return HarnessVersion(
            name=self.word("harness name", harness.name, ""),
            git_hash=None if harness.git_hash is None else self.word("harness commit", harness.git_hash, commit),
            version=None if harness.version is None else self.word("harness version", harness.version, release),
            repository=None if harness.repository is None else self.word("repository", harness.repository, commit),
        )

    def leaves(self) -> dict[str, LeafResult]:
        """The leaves, with names and versions within their bounds."""
        return {self.name(key): self.leaf(key, leaf) for key, leaf in self.result.leaves.items()}

    def leaf(self, key: str, leaf: LeafResult) -> LeafResult:
        """One leaf with a version and a reducer within their bounds."""
        reducer = self.word("reducer", leaf.reducer, self.result.pointer_to("reducer", key))
        if not isinstance(leaf.version, str):
            return replace(leaf, reducer=reducer)
        pointer = self.result.pointer_to("version", key)
        return replace(leaf, version=self.word("task version", leaf.version, pointer), reducer=reducer)

    def groups(self) -> tuple[GroupRow, ...]:
        """The aggregate rows, with names within their bounds."""
        return tuple(replace(group, key=self.name(group.key)) for group in self.result.groups)

    def subtasks(self) -> dict[str, tuple[str, ...]]:
        """The members of the groups, with names within their bounds."""
        return {self.name(key): tuple(map(self.name, names)) for key, names in self.result.subtasks.items()}

    def hashes(self) -> dict[str, str]:
        """The hashes of samples, where they are such."""
        hashes = self.result.task_hashes.items()
        return {_clean(key): value for key, value in hashes if type(value) is str and _is_word(value)}

    def name(self, value: str) -> str:
        """A task's name without characters that cannot be printed, cut where it is too long."""
        pointer = self.result.pointer_to("leaves")
        if len(value) > NAME:
            self.note("task name", pointer, f"has {len(value):,} characters; it may have {NAME:,}")
        elif not value.isprintable():
            self.note("task name", pointer, "holds characters that cannot be printed")
        return _clean(value)

    def word(self, name: str, value: str, pointer: str) -> str:
        """A text of printable ASCII, cut where it is too long."""
        if not (value.isascii() and value.isprintable()):
            self.note(name, pointer, "holds characters other than printable ASCII")
            value = "".join(char if " " <= char <= "~" else "?" for char in value[: WORD + 1])
        return self.cut(name, value, WORD, pointer)

    def cut(self, name: str, value: str, limit: int, pointer: str) -> str:
        """A text of any characters, cut where it is too long."""
        if len(value) > limit:
            self.note(name, pointer, f"has {len(value):,} characters; it may have {limit:,}")
        return value[:limit]

    def note(self, name: str, pointer: str, why: str) -> None:
        """Note that a field is outside its bounds."""
        self.found.append(MalformedField(name, pointer, why))


def _clean(name: str) -> str:
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name[:NAME])


def _is_word(text: str) -> bool:
    return _is_printable([text], WORD) and text.isascii()


def _plain(result: Result) -> Result:
    """The result with rows that can be stored: plain values, together within a bound."""
    rows = [[leaf.numbers for leaf in result.leaves.values()], [group.numbers for group in result.groups]]
    try:
        size = len(ENCODE(rows))
    except (OverflowError, UnicodeEncodeError, RecursionError, TypeError, ValueError):
        size = MAX_ROW_BYTES + 1
    if size <= MAX_ROW_BYTES:
        return result
    plain = replace(
        result,
        leaves={key: replace(leaf, numbers=_plain_row(leaf.numbers)) for key, leaf in result.leaves.items()},
        groups=tuple(replace(group, numbers=_plain_row(group.numbers)) for group in result.groups),
    )
    size = len(ENCODE([[leaf.numbers for leaf in plain.leaves.values()], [group.numbers for group in plain.groups]]))
    if size > MAX_ROW_BYTES:
        why = f"holds rows of {in_units(size)} in all; the limit is {in_units(MAX_ROW_BYTES)}"
        raise MalformedResult(why, pointer=result.pointer_to("leaves"))
    return plain


def _plain_row(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {_clean(key): _plain_value(value) for key, value in numbers.items()}


def _plain_value(value: Any) -> Any:
    """A value of a row that can be stored: no deeper than itself, no longer than is shown, no larger than a double."""
    if isinstance(value, dict | list):
        return type(value)()
    if isinstance(value, str):
        return value[:WORD].encode("utf-8", "replace").decode()
    if type(value) is int and not -(2**63) <= value < 2**63:
        try:
            return float(value)
        except OverflowError:
            return inf if value > 0 else -inf
    return value
