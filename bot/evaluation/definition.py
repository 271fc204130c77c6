"""What a leaf asked: the deciding fields of its definition in one spelling, with a short digest for each.

Two runs of one task by one harness give equal digests. A default counts as absent, and what differs from run to run
(addresses in memory) is removed. `bot/data/definitions/` holds the definitions of harness releases, made by
`.github/renew_definitions.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Generic, TypeVar

import msgspec

from bot.evaluation.finding import shown
from bot.evaluation.result import AskedField, Result

CODE = re.compile(r"(?:def|lambda|@\w[\w.]*\s+def)\s")
# A quote that is not closed takes the rest of the text, so that each text is looked through once.
QUOTE = r"(?P<quote>\"\"\"|\'\'\'|\"(?!\"\")|\'(?!\'\'))"
STRING = rf"(?P<string>[rbfuRBFU]{{0,2}}{QUOTE}(?:\\.|[^\\])*?(?P=quote))"
TOKEN = re.compile(rf"{STRING}|[\"'].*|(?P<comment>#[^\n]*)|(?P<space>\s+)|\w+|.", re.DOTALL)
INSERTED = re.compile(r"(?<!\{)\{([^{}\"':!\n]{1,200})\}(?!\})")  # an expression in an f-string
LONGEST_CODE = 20_000  # characters of a function that is brought into one layout
ADDRESS = re.compile(r"(<[^<>]{1,200}?) at 0x[0-9a-fA-F]+")
NAMED_FUNCTION = re.compile(r'"<function[^"]*"')
DIGITS = 16  # of a digest
LONGEST_VALUE = 240  # characters of a value that a result keeps
MOST_TEXT = 4_000  # characters of all values that a result keeps
BEFORE, AROUND = 24, 80  # characters before the first difference, and in all
DEEPEST = 24  # levels of a value that are compared
REMEMBERED, LONGEST_REMEMBERED = 1_024, 8_000  # definitions that are derived once, and the bytes of the longest
SHA256 = "sha256:"
OF_RELEASES = "lm-eval-0.4"  # the format whose definitions are shipped
NONE = ""  # the digest of a field that a definition does not have
FUNCTION = "<function>"  # stands for a function of which the file has an address and no text: it may be any
ABSENT = frozenset({NONE})
ENCODE = msgspec.msgpack.Encoder().encode

Fields = Mapping[str, AskedField]
T = TypeVar("T")
Derive = Callable[[dict[str, Any]], Mapping[str, Any]]


class AcceptedDefinition(msgspec.Struct, frozen=True, gc=False):
    """A definition that counts: for each field the digests of the values that it may have.

    `versions` are the releases or commits of the harness that have it, empty where it counts for all of them. `digest`
    is that of the whole definition, "" where a field may have several values. `texts` are the values that are declared
    as text, by their digests.
    """

    fields: Mapping[str, frozenset[str]]
    versions: frozenset[str] = frozenset()
    digest: str = ""
    texts: Mapping[str, str] = {}

    def values(self, field: str) -> list[AskedField]:
        """The values that a field may have; that of a field which must be absent is NONE."""
        return [AskedField(field, one, self.texts.get(one, "")) for one in sorted(self.fields.get(field, ABSENT))]

    def wanted(self, field: str) -> AskedField:
        """One of the values that a field may have."""
        return self.values(field)[-1]

    def counts_for(self, version: str) -> bool:
        """Tell whether it counts for a version of the harness; "" is any."""
        return not (version and self.versions) or version in self.versions


class Remembered(Generic[T]):
    """A function of what files record, which keeps what it derived from short values, by how they are spelled."""

    def __init__(self, derive: Callable[..., T]) -> None:
        self.derive = derive
        self.kept: dict[bytes | tuple[Any, ...], T] = {}

    def __call__(self, value: Any, *further: Any) -> T:
        try:
            spelled = ENCODE(value)
        except (OverflowError, UnicodeEncodeError):  # an integer of more than 64 bits, or half a character
            spelled = json.dumps(value).encode()
        key = (spelled, *further) if further else spelled
        found = self.kept.get(key)
        if found is None:
            found = self.derive(value, *further)
            if len(self.kept) >= REMEMBERED:
                self.cache_clear()
            if len(spelled) <= LONGEST_REMEMBERED:
                self.kept[key] = found
        return found

    def cache_clear(self) -> None:
        """Forget everything."""
        self.kept.clear()


@Remembered
def _sorted(value: Any) -> str:
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)


def canonical(value: object) -> str:
    """A value in one spelling: a function in one layout, other text as it is, the rest as JSON with sorted keys."""
    if not isinstance(value, str):
        spelled = _sorted(value)
    elif len(value) <= LONGEST_CODE and CODE.match(value):
        spelled = one_layout(value)
    else:
        spelled = value
    return ADDRESS.sub(r"\1", spelled) if " at 0x" in spelled else spelled


@lru_cache(REMEMBERED)
def one_layout(code: str) -> str:
    """A Python function in a layout that no formatter changes: without spaces, comments, and breaks within brackets.

    Text in quotes and the indentation of lines stay as they are.
    """
    found: list[str] = []
    depth, space = 0, ""
    for token in TOKEN.finditer(code):
        text = token[0]
        if token["space"] or token["comment"]:
            space += text if token["space"] else ""
            continue
        depth += (text in "([{") - (text in ")]}")
        if "\n" in space and text in ")]}" and found and found[-1] == ",":
            found.pop()
        if "\n" in space and depth - (text in "([{") <= 0 and text not in ")]}":
            found.append("\n" + space.rpartition("\n")[2])
        elif space and found and _is_word(found[-1][-1]) and _is_word(text[0]):
            found.append(" ")
        found.append(_without_spaces(text, token) if token["string"] else text)
        space = ""
    return "".join(found)


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_\"'"


def _without_spaces(text: str, token: re.Match[str]) -> str:
    """A string as it is; of an f-string the expressions lose their spaces."""
    prefix = text[: token.start("quote") - token.start()]
    return INSERTED.sub(lambda found: f"{{{''.join(found[1].split())}}}", text) if "f" in prefix.lower() else text


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


UNRECORDED = digest_of(FUNCTION)
LOST = f'"{FUNCTION}"'  # within a value
LOST_PART = re.compile(rf'"(\w+)": {LOST}')


def digest_of_fields(digests: Mapping[str, str]) -> str:
    """The digest of a whole definition, made of the digests of its fields."""
    return digest_of("\n".join([f"{field}={digest}" for field, digest in sorted(digests.items())]))


def digest_of_leaves(definitions: Mapping[str, str], leaves: Iterable[str]) -> str:
    """One digest of the definitions of leaves: that of the only one, or of all; "" where one is not recorded."""
    found = {leaf: definitions.get(leaf, "") for leaf in leaves}
    if not found or "" in found.values():
        return ""
    return next(iter(found.values())) if len(found) == 1 else digest_of_fields(found)


@cache
def released(name: str) -> Mapping[str, Any]:
    """A shipped file of definitions.

    `leaves` has for each leaf the digests of its definitions, each with the `asked` versions of the harness that have
    it, `task_versions` the same for the versions of tasks, `definitions` the digests of the fields of each definition,
    and `values` the texts behind those.
    """
    found: dict[str, Any] = json.loads(files("bot").joinpath("data", "definitions", f"{name}.json").read_bytes())
    return found


@cache
def released_names() -> frozenset[str]:
    """The names of the shipped files."""
    folder = files("bot").joinpath("data", "definitions")
    return frozenset(one.name.removesuffix(".json") for one in folder.iterdir() if one.name.endswith(".json"))


def definitions_in(name: str, leaf_ids: Collection[str]) -> Iterator[dict[str, Any]]:
    """The definitions of leaves in a shipped file, as a declaration spells them."""
    found = released(name)
    leaves: dict[tuple[str, ...], list[str]] = {}
    for leaf_id in found["leaves"].keys() & set(leaf_ids):
        for digest, versions in found["leaves"][leaf_id].items():
            leaves.setdefault((digest, *versions), []).append(leaf_id)
    for (digest, *versions), ids in sorted(leaves.items()):
        fields = {field: (f"{SHA256}{value}",) for field, value in found["definitions"][digest].items()}
        yield {"leaves": sorted(ids), "formats": (OF_RELEASES,), "versions": versions, "fields": fields}


@cache
def task_versions(repository: str) -> Mapping[str, Mapping[str, str]]:
    """For each task of a shipped board, by its name, its version in releases and commits of a harness."""
    found: dict[str, dict[str, str]] = {}
    for one in (one for one in map(released, sorted(released_names())) if one["repository"] == repository):
        for key, versions in one["task_versions"].items():
            found.setdefault(key, {}).update({name: version for version, names in versions.items() for name in names})
    return found


@cache
def _shipped(table: str) -> Mapping[str, Any]:
    """All `values` or all `definitions` of the shipped files, by their digests."""
    return {digest: one for name in sorted(released_names()) for digest, one in released(name)[table].items()}


def picked(recorded: Mapping[str, Any], defaults: Mapping[str, object] = {}) -> dict[str, Any]:
    """The fields of a configuration without absent ones and defaults."""
    return {
        field: value
        for field, value in recorded.items()
        if (value or value == 0) and (field not in defaults or value != defaults[field])
    }


@Remembered
def _derived(values: list[Any], fields: tuple[str, ...], derive: Derive) -> tuple[str, tuple[AskedField, ...]]:
    return digested(derive(dict(zip(fields, values, strict=True))))


def digested(found: Mapping[str, Any]) -> tuple[str, tuple[AskedField, ...]]:
    """The digest of a definition, and its fields by their places below `Result.pointer_to("definition")`."""
    texts = [(field, value if type(value) is str else canonical(value)) for field, value in found.items()]
    asked = [(_field if len(text) <= LONGEST_REMEMBERED else _field.__wrapped__)(field, text) for field, text in texts]
    return digest_of_fields({one.field: one.digest for one in asked}), tuple(asked)


@lru_cache(REMEMBERED)
def _field(field: str, value: str) -> AskedField:
    if value == NONE:
        return AskedField(field, NONE, "")
    text = canonical(value)
    digest = digest_of(text)
    is_known = digest in _shipped("values")
    return AskedField(field, digest, "" if is_known else text[:LONGEST_VALUE].encode("utf-8", "replace").decode())


class AskedDefinitions:
    """Collects the definitions of one result's leaves; the fields of those that are not shipped are kept once."""

    def __init__(self) -> None:
        self.fields: dict[AskedField, int] = {}
        self.definitions: dict[str, tuple[int, ...]] = {}

    def add(self, config: Mapping[str, Any], fields: tuple[str, ...], derive: Derive = picked) -> str:
        """Note the definition in these fields of a configuration; returns its digest, "" where all fields are absent.

        `derive` gives the fields that decide, and NONE for a field that the format always records and this file leaves
        out. Files of one release record equal values, so what was derived of them is kept.
        """
        values = [*map(config.get, fields)]
        if values.count(None) == len(values):
            return ""
        return self.note(*_derived(values, fields, derive))

    def note(self, digest: str, asked: Sequence[AskedField]) -> str:
        """Note the definition with this digest and these fields; returns the digest."""
        if digest not in self.definitions and digest not in _shipped("definitions"):
            number = self.fields.setdefault
            self.definitions[digest] = tuple([number(field, len(self.fields)) for field in asked])
        return digest

    @property
    def asked(self) -> tuple[AskedField, ...]:
        """The fields by their number; the first ones with their texts, as far as a result keeps texts."""
        left, found = MOST_TEXT, []
        for one in self.fields:
            kept = one.text[:left]
            left -= len(kept)
            found.append(one if kept == one.text else AskedField(one.field, one.digest, kept))
        return tuple(found)


def text_of(field: AskedField) -> str:
    """The text of a value as far as it is known, "" where it is not."""
    return str(_shipped("values").get(field.digest, field.text))


def definition_of(result: Result, leaf_key: str) -> Fields | None:
    """The fields of a leaf's definition by their names; None where the file does not record it."""
    digest = result.leaves[leaf_key].definition
    if not digest:
        return None
    if digest in result.definitions:
        return {result.asked[place].field: result.asked[place] for place in result.definitions[digest]}
    return {field: AskedField(field, value) for field, value in _shipped("definitions").get(digest, {}).items()}


def field_of(result: Result, leaf_key: str, field: str) -> AskedField | None:
    """One field of a leaf's definition; None where the file does not record it."""
    digest = result.leaves[leaf_key].definition if leaf_key in result.leaves else ""
    if digest in result.definitions:
        return next((one for place in result.definitions[digest] if (one := result.asked[place]).field == field), None)
    value = _shipped("definitions").get(digest, {}).get(field)
    return None if value is None else AskedField(field, value)


def is_whole(definition: Fields) -> bool:
    """Tell whether a file records every field of a definition that its format always records."""
    return all(one.digest != NONE for one in definition.values())


def lost_fields(result: Result) -> Mapping[str, tuple[str, ...]]:
    """By the digests of definitions the places in them that have a function's address, or nothing, for its text."""
    lost = {place: name for place, one in enumerate(result.asked) if (name := _lost_in(one))}
    found = result.definitions.items() if lost else ()
    return {digest: places for digest, fields in found if (places := tuple(lost[one] for one in fields if one in lost))}


def _lost_in(one: AskedField) -> str:
    """The place of a function without its text: the field, or a part of it; "" where it has none."""
    inner = LOST_PART.search(one.text)
    if one.digest == UNRECORDED or LOST in one.text:
        return f"{one.field}/{inner[1]}" if inner else one.field
    return ""


def is_shortened(result: Result) -> bool:
    """Tell whether a file leaves out a part of every definition, so that only the rest can be compared."""
    digests = {leaf.definition for leaf in result.leaves.values()} - {""}
    found = [result.definitions.get(digest) for digest in digests]
    return all(places and any(result.asked[one].digest == NONE for one in places) for places in found)


def differing(one: Fields, accepted: AcceptedDefinition, *, shortened: bool = False) -> list[str]:
    """The fields of a definition that match none of the accepted ones; of a shortened one, the recorded fields."""
    known = accepted.fields
    others = [field for field, value in one.items() if value.digest not in known.get(field, ABSENT)]
    found = [
        field
        for field in others
        if not any(_may_be_one_function(one[field], other) for other in accepted.values(field))
    ]
    if shortened:
        return [field for field in found if one[field].digest != NONE]
    return found + [field for field in known if field not in one and NONE not in known[field]]


def _may_be_one_function(one: AskedField, other: AskedField) -> bool:
    """Tell whether one value is, or has, a function without its text, and the other a function or text not known."""
    digests, texts = (one.digest, other.digest), (text_of(one), text_of(other))
    if any(LOST in text for text in texts):
        return len({NAMED_FUNCTION.sub(LOST, text) for text in texts}) == 1
    if UNRECORDED not in digests or NONE in digests:
        return False
    return all(not text or text == FUNCTION or CODE.match(text) for text in texts)


def nearest(
    one: Fields, accepted: Iterable[AcceptedDefinition], *, shortened: bool
) -> tuple[AcceptedDefinition, list[str]]:
    """The accepted definition that differs in the fewest fields, and these fields."""
    found = ((other, differing(one, other, shortened=shortened)) for other in accepted)
    return min(found, key=lambda pair: len(pair[1]))


def differences(one: Result, one_key: str, other: Result, other_key: str) -> list[tuple[str, str, str]]:
    """The fields in which the definitions of two leaves differ, with both values around the first difference.

    Empty where they are equal, where one is not recorded, and for results of two formats, whose fields are others.
    """
    found, wanted = definition_of(one, one_key), definition_of(other, other_key)
    if found is None or wanted is None or one.format != other.format:
        return []
    is_part = not (is_whole(found) and is_whole(wanted))
    fields = [field for field in {**found, **wanted} if _differs(found.get(field), wanted.get(field), is_part=is_part)]
    return [(field, *both(found.get(field), wanted.get(field))) for field in fields]


def _differs(one: AskedField | None, other: AskedField | None, *, is_part: bool) -> bool:
    digests = [value.digest if value else NONE for value in (one, other)]
    if digests[0] == digests[1] or (is_part and NONE in digests):
        return False
    return not (one and other and _may_be_one_function(one, other))


def both(one: AskedField | None, other: AskedField | None) -> tuple[str, str]:
    """Two values of a field, cut to the part around the first difference."""
    texts = [text_of(value) if value else "" for value in (one, other)]
    least = min(map(len, texts))
    at = next((place for place, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), least)
    if at == least == LONGEST_VALUE:  # of one of them nothing further is kept
        return f"other text after its first {at} characters", _excerpt(other, texts[1], at)
    return _excerpt(one, texts[0], at), _excerpt(other, texts[1], at)


def _excerpt(value: AskedField | None, text: str, at: int) -> str:
    if value is None or value.digest == NONE:
        return "nothing"
    if not text:
        return f"a value with the digest {value.digest}" if value.digest != digest_of("") else '""'
    start = max(0, at - BEFORE) if at > AROUND - BEFORE else 0
    cut = text[start : start + AROUND].replace("\n", "\\n")
    return f'"{"…" * (start > 0)}{shown(cut, 2 * AROUND)}{"…" * (start + AROUND < len(text))}"'


def declared_definition(fields: Mapping[str, Sequence[str]], versions: Iterable[str]) -> AcceptedDefinition:
    """The definition that a declaration gives: for each field texts, or `sha256:` and a digest; "" is no value."""
    accepted = {field: frozenset(map(_declared_digest, values)) for field, values in fields.items()}
    only = {field: next(iter(digests)) for field, digests in accepted.items() if len(digests) == 1}
    digest = digest_of_fields(only) if len(only) == len(accepted) else ""
    spelled_out = (value for values in fields.values() for value in values if not value.startswith(SHA256))
    texts = {_declared_digest(value): canonical(value) for value in spelled_out if value}
    return AcceptedDefinition(accepted, frozenset(versions), digest, texts)


def _declared_digest(value: str) -> str:
    return value.removeprefix(SHA256) if value.startswith(SHA256) else digest_of(canonical(value)) if value else NONE


def spelled(value: AskedField) -> str:
    """A value as a declaration spells it: its text where the whole text is known, else its digest."""
    text = text_of(value)
    is_whole = bool(text) and digest_of(text) == value.digest and len(text) <= LONGEST_VALUE
    return text if is_whole and not text.startswith(SHA256) else f"{SHA256}{value.digest}"
