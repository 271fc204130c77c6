"""The files of one submission, each decoded only once for all formats: whole, strictly, every key of it looked at."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from jiter import from_json

from bot.errors import MalformedResult, UnknownFormat
from bot.evaluation.finding import shown
from bot.evaluation.result import RepeatedKey, escape_pointer

MAX_DEPTH = 200  # levels, the limit of the decoder
MAX_VALUES = 500_000  # of a file of the largest size that is read; a real one of 100 KB holds 4,000
MAX_REPEATED = 20  # repeated keys that one file lists
LONGEST_POINTER = 2_000  # characters
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LINE = re.compile(r" at line (\d+) column (\d+)$")
LIKE_NUMBER = re.compile(r"[-+.\d]+(?:[eE][-+]?\d+)?|true|false|null|None|True|False|NaN|-?Infinity")
OTHER_TOOL = (
    "upload the result file that the harness wrote; convert one of another tool to a record of Every Eval Ever, "
    "which leaderboard-bot reads"
)
TWICE = "Detected duplicate key"  # how the error of the decoder begins


class Content:
    """The bytes of a submission: one file, or the files of a run's folder by their names in it."""

    def __init__(self, files: Mapping[str, bytes], path: str = "") -> None:
        self.files, self.path = files, path
        self.repeated: list[RepeatedKey] = []
        self._values: dict[str, Any] = {}

    @property
    def data(self) -> bytes:
        """The bytes of the first file, which is the only one unless the format is a folder."""
        return next(iter(self.files.values()), b"")

    @cached_property
    def start(self) -> bytes:
        """The first bytes of the first file, after white space."""
        return self.data[:100].lstrip()

    @cached_property
    def top(self) -> dict[str, Any]:
        """The first file as a JSON object, such as a result file of lm-eval. Raises MalformedResult if it is none."""
        if not isinstance(self.value, dict):
            raise UnknownFormat(f"holds a JSON {_kind(self.value)}, not an object", hint=OTHER_TOOL)
        return self.value

    def table(self, key: str) -> dict[str, Any] | None:
        """The object under a key of it, None if there is none: a field of another type counts as absent."""
        value = self.top.get(key)
        return value if type(value) is dict else None

    @property
    def results(self) -> dict[str, Any] | None:
        """The rows of a result file, unchecked; None if it has none."""
        return self.table("results")

    @property
    def config(self) -> dict[str, Any] | None:
        """What the harness was called with, None if it is not recorded."""
        return self.table("config")

    @property
    def bare(self) -> dict[str, Any]:
        """The whole object where it has no `results`, an empty one elsewhere."""
        return self.top if self.results is None else {}

    @property
    def has_bars(self) -> bool:
        """Tell whether a bar is in the key of a row."""
        return "|" in "".join(self.results or ())

    @property
    def recorded_config(self) -> dict[str, Any]:
        """The `config` of a decoded single file, else an empty object."""
        value = self.__dict__.get("value") if len(self.files) == 1 else None
        return (self.config or {}) if isinstance(value, dict) else {}

    @cached_property
    def value(self) -> Any:
        """The first file as plain JSON values. Raises MalformedResult."""
        return self.decode("", self.data)

    def json(self, name: str) -> Any:
        """One file of a run's folder as plain JSON values. Raises MalformedResult, which then names the file."""
        if name not in self._values:
            try:
                self._values[name] = self.decode(name, self.files[name])
            except MalformedResult as error:
                raise MalformedResult(f"holds a {name} that {error.why}") from None
        return self._values[name]

    def decode(self, name: str, data: bytes) -> Any:
        """Decode a file, and note its repeated keys in `repeated`. Raises MalformedResult.

        `name` is its name in the submission, "" if it is the only file.
        """
        value, repeats = parse_json(data)
        if repeats:
            above = f"{name}#" if name else ""
            found = {key.pointer: key for key in islice(repeated_keys(data, above), MAX_REPEATED)}
            self.repeated += found.values()
        return value


def parse_json(data: bytes) -> tuple[Any, bool]:
    """Decode a whole file, with bare NaN and integers of any size; and whether an object of it has a key twice.

    Of a key that is there twice the last value counts, as everywhere. Raises MalformedResult.
    """
    values = count_values(data)
    if values > MAX_VALUES:
        raise MalformedResult(f"holds {values:,} JSON values; more than {MAX_VALUES:,} are not read")
    try:
        return from_json(data, catch_duplicate_keys=True), False
    except ValueError as error:
        if not str(error).startswith(TWICE):
            raise _not_json(data, str(error)) from None
    try:
        return from_json(data), True
    except ValueError as error:
        raise _not_json(data, str(error)) from None


def count_values(data: bytes) -> int:
    """The approximate number of JSON values in a file, 0 if it is too small for many; each follows `,`, `[` or `{`."""
    return 0 if len(data) < 2 * MAX_VALUES else sum(map(data.count, (b",", b"[", b"{")))


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
    first = data.lstrip()
    if not first.startswith((b"{", b"[")):  # such as a page to sign in, which a download got in place of the file
        reason = f'it begins with "{shown(first[:80].decode(errors="replace").splitlines()[0], 20)}"'
    return MalformedResult(f"is not JSON: {reason}", line=line)


@dataclass(slots=True)
class _Object:
    """An object with all its pairs, so that no value hides another."""

    pairs: list[tuple[str, Any]]


@dataclass(slots=True)
class _Number:
    """A number as it is spelled: 1, 1.0 and "1" are three values."""

    text: str


def repeated_keys(data: bytes, above: str = "") -> Iterator[RepeatedKey]:
    """The keys of a JSON file that one object has twice with different values, from the outermost object inwards.

    Values are compared as they are spelled, but for white space and the escapes of a text. `above` stands before each
    pointer. What lies in a value that another one hides is looked at, too.
    """
    top = json.loads(
        data.decode(), object_pairs_hook=_Object, parse_int=_Number, parse_float=_Number, parse_constant=_Number
    )
    yield from _repeated(above, top)


def _repeated(above: str, value: Any) -> Iterator[RepeatedKey]:
    """The repeated keys of the value at `above`: its own, then those inside it."""
    by_key: dict[str, list[Any]] = {}
    members: Iterable[tuple[Any, Any]] = value.pairs if isinstance(value, _Object) else enumerate(value)
    for key, one in value.pairs if isinstance(value, _Object) else ():
        by_key.setdefault(key, []).append(one)
    for key, values in by_key.items():
        if _differ(values):
            yield RepeatedKey(_below(above, key), tuple(map(_shown, values[:MAX_REPEATED])))
    for key, one in members:
        if isinstance(one, _Object | list):
            yield from _repeated(_below(above, str(key)), one)


def _below(above: str, name: str) -> str:
    """The pointer to a member of what lies at `above`; of a very long one the object that holds it."""
    whole = f"{above}/{escape_pointer(name[:LONGEST_POINTER])}"
    return whole if len(whole) <= LONGEST_POINTER else above


def _differ(values: list[Any]) -> bool:
    try:
        return any(value != values[0] for value in values)
    except RecursionError:  # equal as deep as anybody looks
        return True


def _shown(value: Any) -> str:
    """A value in a message; a text that reads like something else is quoted."""
    if isinstance(value, _Object):
        return shown({})
    if isinstance(value, str):
        return shown(f'"{value}"' if LIKE_NUMBER.fullmatch(value) else value)
    if value in (True, False, None):
        return json.dumps(value)
    return shown(value.text if isinstance(value, _Number) else value)
