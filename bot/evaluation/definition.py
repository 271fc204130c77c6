"""What a leaf asked: the fields of its definition that decide, in one spelling, with a short digest for each.

Two runs of one task by one harness give equal digests. A default counts as absent, and what differs from run to run
(addresses in memory) is removed. `bot/data/definitions/` holds the definitions that harness releases have, made by
`.github/renew_definitions.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bot.evaluation.finding import shown

if TYPE_CHECKING:
    from bot.evaluation.result import AskedField, Result

ADDRESS = re.compile(r"(<[^<>]{1,200}?) at 0x[0-9a-fA-F]+")
DIGITS = 16  # of a digest
LONGEST = 240  # characters of a value that a result keeps
MOST_TEXT = 4_000  # characters of all values that a result keeps
BEFORE, AROUND = 24, 80  # characters before the first difference, and in all
DEEPEST = 24  # levels of a value that are compared
SHA256 = "sha256:"
NONE = ""  # the digest of a field that a definition does not have

Values = Mapping[str, frozenset[str]]


def canonical(value: object) -> str:
    """A value in one spelling: text as it is, all else as JSON with sorted keys, in which 0.0 is 0."""
    spelled = value if isinstance(value, str) else json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)
    return ADDRESS.sub(r"\1", spelled) if " at 0x" in spelled else spelled


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        return "too deep"
    if isinstance(value, dict):
        return {str(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def digest_of(text: str) -> str:
    """The digest of a canonical value."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


@cache
def released(name: str) -> Mapping[str, Any]:
    """A shipped file of definitions: `values` by digest, and for each of `leaves` the digests of each field."""
    text = files("bot").joinpath("data", "definitions", f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def released_names() -> frozenset[str]:
    """The names of the shipped files."""
    folder = files("bot").joinpath("data", "definitions")
    return frozenset(one.name.removesuffix(".json") for one in folder.iterdir() if one.name.endswith(".json"))


@cache
def known_values() -> Mapping[str, str]:
    """The text of every value of the shipped definitions, by its digest."""
    return {digest: text for name in sorted(released_names()) for digest, text in released(name)["values"].items()}


class AskedDefinition:
    """Collects the definitions of one result's leaves; each value is kept once, and its text only where needed."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], int] = {}
        self._left = MOST_TEXT
        self._fields: list[tuple[str, str, str]] = []

    def add(self, definition: Mapping[str, str] | None) -> tuple[int, ...] | None:
        """The numbers of a definition's fields, given as canonical texts; None where none is recorded."""
        if definition is None:
            return None
        return tuple(self._place(field, text) for field, text in definition.items())

    def _place(self, field: str, text: str) -> int:
        place = self._places.get((field, text))
        if place is None:
            place = self._places[field, text] = len(self._fields)
            digest = digest_of(text)
            kept = "" if digest in known_values() else text[: min(LONGEST, self._left)]
            self._left -= len(kept)
            self._fields.append((field, digest, kept.encode("utf-8", "replace").decode()))
        return place

    def fields(self, make: type[AskedField]) -> tuple[AskedField, ...]:
        """All fields, by their number."""
        return tuple(make(*field) for field in self._fields)


def text_of(digest: str, kept: str = "") -> str:
    """The text behind a digest as far as it is known, "" where it is not."""
    return known_values().get(digest, kept)


def definition_digest(result: Result, leaf_key: str) -> str:
    """One digest for the whole definition of a leaf, "" where the file does not record it."""
    found = result.definition_of(leaf_key)
    if found is None:
        return ""
    spelled = "\n".join(f"{field}={value.digest}" for field, value in sorted(found.items()))
    return digest_of(spelled)


def differing(one: Mapping[str, AskedField], accepted: Values) -> Iterator[str]:
    """The fields in which a definition is none of the accepted ones, in the order of its file."""
    for field, value in one.items():
        if value.digest not in accepted.get(field, frozenset({NONE})):
            yield field
    for field, digests in accepted.items():
        if field not in one and NONE not in digests:
            yield field


def both(one: AskedField | None, other: AskedField | None) -> tuple[str, str]:
    """Two values of a field, shortened around the first place where they differ."""
    texts = [text_of(value.digest, value.text) if value else "" for value in (one, other)]
    at = next((place for place, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    return _excerpt(one, texts[0], at), _excerpt(other, texts[1], at)


def _excerpt(value: AskedField | None, text: str, at: int) -> str:
    if value is None:
        return "nothing"
    if not text:
        return f"a value with the digest {value.digest}" if value.digest != digest_of("") else '""'
    start = max(0, at - BEFORE) if at > AROUND - BEFORE else 0
    cut = text[start : start + AROUND].replace("\n", "\\n")
    return f'"{"…" * (start > 0)}{shown(cut, 2 * AROUND)}{"…" * (start + AROUND < len(text))}"'


def declared_digest(value: str) -> str:
    """The digest of a value in a declaration: a text, or `sha256:` and its digest; "" is a field without a value."""
    return value.removeprefix(SHA256) if value.startswith(SHA256) else digest_of(value) if value else NONE


def spelled(value: AskedField) -> str:
    """A value as a declaration spells it: its text where all of it is known."""
    text = text_of(value.digest, value.text)
    is_whole = bool(text) and digest_of(text) == value.digest and len(text) <= LONGEST
    return text if is_whole and not text.startswith(SHA256) else f"{SHA256}{value.digest}"


def picked(config: object, fields: Iterable[str], defaults: Mapping[str, object]) -> dict[str, str]:
    """The fields of a configuration as canonical texts, without those that are absent or have their default."""
    found = config if isinstance(config, dict) else {}
    values = ((field, found.get(field)) for field in fields)
    return {
        field: canonical(value)
        for field, value in values
        if value is not None and value not in ("", [], {}) and value != defaults.get(field)
    }
