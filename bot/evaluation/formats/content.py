"""The files of one submission, each decoded only once for all formats: whole, strictly, every key of it looked at."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import islice
from typing import Any

import msgspec
from jiter import from_json

from bot.errors import MalformedResult, UnknownFormat
from bot.evaluation.finding import shown
from bot.evaluation.places import Shape, shape_of
from bot.evaluation.result import RepeatedKey, escape_pointer

MAX_DEPTH = 200  # levels, the limit of the decoder
MAX_VALUES = 500_000  # of a file of the largest size that is read; a real one of 100 KB holds 4,000
MAX_YAML = 1_000_000  # bytes; YAML is read slowly
MAX_YAML_DEPTH = 50
TABLES, YAML, JSON_LINES = (".csv", ".tsv"), (".yaml", ".yml"), (".jsonl", ".ndjson")
MAX_REPEATED = 20  # repeated keys that one file lists
LONGEST_POINTER = 2_000  # characters
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LINE = re.compile(r" at line (\d+) column (\d+)$")
LIKE_NUMBER = re.compile(r"[-+.\d]+(?:[eE][-+]?\d+)?|true|false|null|None|True|False|NaN|-?Infinity")
PROPOSES = "`leaderboard-bot init FOLDER --results PATH` drafts a form that reads files of any layout (docs/forms.md)"
OTHER_TOOL = f"upload the result file that the harness wrote; {PROPOSES}"
TWICE = "Detected duplicate key"  # how the error of the decoder begins


@dataclass
class Document:
    """The values of a file; `has_lines` says that they are a list of its lines, `lines` where each begins."""

    value: Any
    has_lines: bool = False
    lines: tuple[int, ...] = ()

    @cached_property
    def shape(self) -> Shape:
        """Where places lead in it, as in all files of its shape."""
        return shape_of(self.value)


def csv_rows(data: bytes) -> Document:
    """The lines of a CSV file as objects by the names of its columns. Raises MalformedResult."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MalformedResult("is not UTF-8 text") from None
    head = text.partition("\n")[0]
    mark = max((",", ";", "\t"), key=head.count)
    if text.count(mark) + text.count("\n") > MAX_VALUES:
        raise MalformedResult(f"has more than {MAX_VALUES:,} cells; more are not read")
    reader, begin = csv.reader(StringIO(text, newline=""), delimiter=mark, strict=True), 1
    found: dict[int, list[str]] = {}  # by the number of the line at which each begins
    try:
        for line in reader:
            found |= {begin: line} if any(line) else {}
            begin = reader.line_num + 1
    except csv.Error as error:
        raise MalformedResult(f"is not CSV: {error}") from None
    if not found:
        raise MalformedResult("is empty")
    numbers, lines = tuple(found), list(found.values())
    names = [name.strip() for name in lines[0]]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise MalformedResult(f"has two columns {shown(twice[0])}", line=1)
    for number, line in zip(numbers[1:], lines[1:], strict=True):
        if len(line) > len(names):
            raise MalformedResult(f"has a line of {len(line)} cells under {len(names)} columns", line=number)
    is_cut = len(lines[-1]) < len(names) and all(len(line) == len(names) for line in lines[:-1])
    if is_cut and len(lines) > 2 and not text.endswith("\n"):
        why = f"is truncated: its last line, {numbers[-1]:,}, ends after {len(lines[-1])} of {len(names)} cells"
        raise MalformedResult(why, line=numbers[-1])
    rows = [dict(zip(names, map(str.strip, line), strict=False)) for line in lines[1:]]
    return Document(rows, has_lines=True, lines=numbers[1:])


def parse_yaml(data: bytes) -> Any:
    """The values of a small YAML file, without aliases. Raises MalformedResult."""
    import yaml  # no command but for such files needs it

    if len(data) > MAX_YAML:
        raise MalformedResult(f"is YAML of {len(data):,} bytes; more than {MAX_YAML:,} are not read: write it as JSON")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(data, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_YAML_DEPTH:
                raise MalformedResult(f"is nested more than {MAX_YAML_DEPTH} levels deep")
            if isinstance(event, yaml.AliasEvent):
                raise MalformedResult("is YAML with aliases, which are not read")
        return _as_json(yaml.load(data, Loader=loader))  # noqa: S506 - both loaders are safe
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MalformedResult(f"is not YAML: {shown(' '.join(str(error).split()), 100)}") from None


def _as_json(value: Any) -> Any:
    """The values of YAML as those of JSON: keys and dates are texts."""
    if isinstance(value, dict):
        return {str(key): _as_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_json(inner) for inner in value]
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


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
    def first_line(self) -> bytes:
        """The first line of the first file, after white space."""
        data = self.data.lstrip()
        end = data.find(b"\n")
        return data if end < 0 else data[:end]

    @property
    def has_lines(self) -> bool:
        """Tell whether the first line looks like a JSON object, and more follows."""
        line = self.first_line
        is_object = line.startswith(b"{") and line.rstrip().endswith(b"}")
        return is_object and bool(self.data.lstrip()[len(line) :].strip())

    @cached_property
    def top(self) -> dict[str, Any]:
        """The first file as a JSON object, such as a result file of lm-eval. Raises MalformedResult if it is none."""
        if not isinstance(self.value, dict):
            raise UnknownFormat(f"holds a JSON {_kind(self.value)}, not an object", hint=OTHER_TOOL)
        return self.value

    @cached_property
    def object(self) -> dict[str, Any] | None:
        """The first file if it is a JSON object, None elsewhere: whoever asks such a file for more gets the error."""
        try:
            return self.top if self.start.startswith(b"{") else None
        except MalformedResult:
            return None

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
    def recorded_call(self) -> dict[str, Any]:
        """What a decoded single file says of its call: `config`, and the arguments that lm-eval repeats for tasks."""
        value = self.__dict__.get("value") if len(self.files) == 1 else None
        if not isinstance(value, dict):
            return {}
        tasks = {key: one.get("metadata") for key, one in (self.table("configs") or {}).items() if type(one) is dict}
        repeated = {key: {"metadata": one} for key, one in tasks.items() if type(one) is dict and len(one) > 1}
        return {"config": self.config or {}, "configs": repeated}

    @cached_property
    def value(self) -> Any:
        """The first file as plain JSON values. Raises MalformedResult."""
        return self.decode("", self.data)

    @cached_property
    def document(self) -> Document:
        """The first file as its name and its beginning say: JSON, JSON lines, CSV or YAML. Raises MalformedResult."""
        name = self.path.lower()
        if name.endswith(TABLES):
            return csv_rows(self.data)
        if name.endswith(YAML):
            return Document(parse_yaml(self.data))
        if name.endswith(JSON_LINES):
            return self._lines()
        is_lines = self.has_lines and self.data.lstrip()[len(self.first_line) :].lstrip().startswith(b"{")
        return self._lines() if is_lines else Document(self.value)

    def _lines(self) -> Document:
        """The values of the lines. Raises MalformedResult with the line that is none."""
        if count_values(self.data) > MAX_VALUES:
            raise MalformedResult(f"holds more than {MAX_VALUES:,} JSON values; more are not read")
        found: dict[int, Any] = {}
        for number, line in enumerate(self.data.splitlines(), 1):
            if line.strip():
                try:
                    found[number] = self.decode(f"line {number}", line)
                except MalformedResult as error:
                    raise MalformedResult(f"has a line that {error.why}", line=number) from None
        return Document(list(found.values()), has_lines=True, lines=tuple(found))

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


class _Object(msgspec.Struct, gc=False):
    """An object with all its pairs, so that no value hides another."""

    pairs: list[tuple[str, Any]]


class _Number(msgspec.Struct, gc=False):
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
