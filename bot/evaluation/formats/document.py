"""Decodes the JSON of a result file, typed as far as lm-eval and the formats like it need it.

Two ways give the same Document: typed decoders of the fields that formats look at, which skip all others, and, where
one of them refuses bare NaN or loose types, an untyped one that takes a field of the wrong type as absent.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec
import msgspec.structs
from msgspec import UNSET, UnsetType
from pydantic_core import from_json

from bot.errors import MalformedResult, UnknownFormat
from bot.evaluation.formats.fields import shots
from bot.evaluation.formats.top_level import SharedText, Top, decode_top

MAX_DEPTH = 100
MAX_VALUES = 500_000  # of a file of the largest size that is read; a real one of 100 KB holds 4,000
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LINE = re.compile(r" at line (\d+) column (\d+)$")


# Untyped values: a union of scalars costs the decoder half as much again, and what a rule needs it checks.
Rows = dict[str, dict[str, Any]]


NOTHING = msgspec.Raw(b"null")


class TaskConfig(msgspec.Struct, frozen=True):
    """What is read of `configs[task]`: shots that are recorded nowhere else, and where generation stops."""

    num_fewshot: Any = None
    generation_kwargs: Any = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """The top level of a result file; `bare` is the whole object where there is no `results`.

    A file that the typed decoder reads has these types; one that it refuses may hold anything inside its objects.
    `configs` is most of a file and hardly ever needed, so it is kept as bytes: see `task_configs`. `top` has the bytes
    of every member, where the typed decoders read the file, `parts` the members that say how tasks were run; `shared`
    is the text among them that other files have, too.
    """

    results: Rows | None = None
    groups: Rows | None = None
    group_subtasks: dict[str, Any] | None = None
    configs: msgspec.Raw = NOTHING
    versions: dict[str, Any] | None = None
    num_fewshot: dict[str, Any] | None = msgspec.field(name="n-shot", default=None)
    num_samples: dict[str, dict[str, int | None]] | None = msgspec.field(name="n-samples", default=None)
    config: dict[str, Any] | None = None
    config_general: dict[str, Any] | None = None
    git_hash: Any = None
    date: Any = None
    lm_eval_version: Any = None
    task_hashes: dict[str, Any] | None = None
    model_source: Any = None
    model_name: Any = None
    chat_template: Any = None
    chat_template_sha: Any = None
    system_instruction: Any = None
    fewshot_as_multiturn: Any = None
    bare: dict[str, Any] | UnsetType | None = UNSET
    top: dict[str, msgspec.Raw] | None = None
    parts: dict[str, Part] = {}
    shared: SharedText | None = None

    @property
    def has_bars(self) -> bool:
        """Tell whether a bar is in the key of a row."""
        return "|" in "".join(self.results or ())


class Part(msgspec.Struct, frozen=True, eq=False):
    """A field as decoded, which nobody changes, and whether its colons are those of its keys: none can stand twice.

    Files that have the same bytes share one object.
    """

    value: Any
    has_each_key_once: bool


# How the tasks were run: files of one harness and one call share these fields byte for byte.
PROTOCOL = frozenset({"group_subtasks", "versions", "n-shot", "n-samples"})
KEPT, LARGEST_KEPT = 128, 16_384  # fields, and bytes of each
CONFIGS = msgspec.json.Decoder(dict[str, TaskConfig])
OWN = frozenset({"bare", "top", "parts", "shared"})
FIELDS = [field for field in msgspec.structs.fields(Document) if field.name not in OWN]
FIELD_OF = {field.encode_name: field.name for field in FIELDS}
DECODERS = {field.encode_name: msgspec.json.Decoder(field.type) for field in FIELDS if field.type is not msgspec.Raw}
OBJECTS = frozenset({
    "results", "groups", "group_subtasks", "versions", "n-shot", "n-samples", "config", "config_general", "task_hashes",
})  # fmt: skip


def parse_document(data: bytes) -> Document:
    """Decode a result file. Raises MalformedResult if it is not a JSON object, truncated, or nested too deep."""
    _refuse_many_values(data)
    try:
        top, shared = decode_top(data)
        parts = _parts_of(top, shared)
        fields = {
            name: parts[key].value if key in parts else _decoded(key, top[key])
            for key, name in FIELD_OF.items()
            if key in top
        }
        document = Document(**fields, top=top, parts=parts, shared=shared)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _loose_document(data)
    if document.results is None:
        return _loose_document(data)
    _refuse_depth(document)
    return document


def _parts_of(top: Top, shared: SharedText | None) -> dict[str, Part]:
    """The parts that are small enough to be kept; those of a shared text are known by it."""
    if shared is None:
        return dict(_parts_among(top))
    if "parts" not in shared.decoded:
        shared.decoded["parts"] = dict(_parts_among(shared.members))
    known: dict[str, Part] = shared.decoded["parts"]
    others = {key: top[key] for key in PROTOCOL & top.keys() if key not in shared.members}
    return known | dict(_parts_among(others))


def _parts_among(members: Top) -> Iterator[tuple[str, Part]]:
    for key in PROTOCOL & members.keys():
        if len(memoryview(members[key])) <= LARGEST_KEPT:
            yield key, part_of(key, bytes(members[key]))


def _decoded(key: str, raw: msgspec.Raw) -> Any:
    """A field of the top level; `configs` stays as it is."""
    decoder = DECODERS.get(key)
    return raw if decoder is None else decoder.decode(raw)


@lru_cache(maxsize=KEPT)
def part_of(key: str, raw: bytes) -> Part:
    """A field of the top level that says how tasks were run, decoded once for all files that have the same bytes."""
    value = DECODERS[key].decode(raw)
    return Part(value, raw.count(b":") == count_keys(value or {}))


def count_keys(part: dict[str, Any]) -> int:
    """The keys of an object and of the objects in it, two levels deep."""
    return len(part) + sum([len(row) for row in part.values() if type(row) is dict])


def count_values(data: bytes) -> int:
    """About how many JSON values a file holds, 0 if it is too small for many; each follows `,`, `[` or `{`."""
    return 0 if len(data) < 2 * MAX_VALUES else sum(map(data.count, (b",", b"[", b"{")))


def _refuse_many_values(data: bytes) -> None:
    """Refuse a file of more values than any real one has, before they take memory."""
    values = count_values(data)
    if values > MAX_VALUES:
        raise MalformedResult(f"holds {values:,} JSON values; more than {MAX_VALUES:,} are not read")


def _refuse_depth(document: Document) -> None:
    for part in (document.config, document.config_general):
        if part and _is_deeper(part, MAX_DEPTH):
            raise MalformedResult(f"is nested more than {MAX_DEPTH} levels deep")


def _is_deeper(value: dict[str, Any] | list[Any], levels: int) -> bool:
    """Tell whether containers lie in each other more than `levels` deep; level by level, so nothing recurses."""
    layer: list[Any] = [value]
    while layer and levels:
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        levels -= 1
    return bool(layer)


def parse_loosely(data: bytes) -> Any:
    """Decode any JSON, with bare NaN and integers of any size. Raises MalformedResult."""
    _refuse_many_values(data)
    try:
        value = from_json(data)
    except ValueError as error:
        raise _not_json(data, str(error)) from None
    if isinstance(value, dict | list) and _is_deeper(value, MAX_DEPTH):
        raise MalformedResult(f"is nested more than {MAX_DEPTH} levels deep")
    return value


def _loose_document(data: bytes) -> Document:
    top = parse_loosely(data)
    if not isinstance(top, dict):
        raise UnknownFormat(f"holds a JSON {_kind(top)}, not an object")
    fields = {
        FIELD_OF[key]: value
        for key, value in top.items()
        if key in FIELD_OF and (key not in OBJECTS or isinstance(value, dict))
    }
    configs = top.get("configs")
    fields["configs"] = _encoded(configs) if isinstance(configs, dict) else NOTHING
    return Document(**fields, bare=None if isinstance(top.get("results"), dict) else top)


def _encoded(configs: dict[str, Any]) -> msgspec.Raw:
    """Only the fields that `task_configs` reads: an integer of more than 64 bits cannot be encoded."""
    rows = ((task, config) for task, config in configs.items() if type(config) is dict)
    kept = {
        task: {
            "num_fewshot": shots(config.get("num_fewshot")),
            "generation_kwargs": {"until": _texts_of(config.get("generation_kwargs"))},
        }
        for task, config in rows
    }
    return msgspec.Raw(msgspec.json.encode(kept))


def _texts_of(settings: Any) -> list[str]:
    """The stop words among generation settings that can be encoded."""
    found = settings.get("until") if isinstance(settings, dict) else None
    words = found if isinstance(found, list) else [found]
    return [word.encode("utf-8", "replace").decode() for word in words if isinstance(word, str)]


def task_configs(document: Document) -> dict[str, TaskConfig]:
    """Decode `configs`; one that is not an object of objects counts as absent."""
    try:
        return CONFIGS.decode(document.configs)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def _kind(value: object) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _not_json(data: bytes, error: str) -> MalformedResult:
    if not data.strip():
        return MalformedResult("is empty")
    if data.startswith(MARKS):
        return MalformedResult("is not plain UTF-8: it begins with a byte order mark")
    place = LINE.search(error)
    line = int(place[1]) if place else 0
    reason = LINE.sub("", error)
    if "recursion limit" in reason:
        return MalformedResult(f"is nested more than {MAX_DEPTH} levels deep", line=line)
    if reason.startswith("EOF"):
        return MalformedResult(f"is truncated: it ends in the middle of the JSON, after {len(data):,} bytes", line=line)
    return MalformedResult(f"is not JSON: {reason}", line=line)
