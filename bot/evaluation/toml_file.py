"""Check a TOML file against a pydantic model, and name all its faults at once, in the words of the file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, ValidationError

from bot.errors import MalformedDeclaration
from bot.evaluation.finding import in_units

MOST_TEXT = 1024 * 1024
MOST_PARTS = 250  # of a dotted key
MOST_TABLES = 25_000  # in one file; each is checked, and each may be at fault
# A quote that is not closed takes the rest of its line, so that each line is looked through once.
STRING = re.compile(r""" "(?:[^"\\\n]|\\.)*+("?) | '[^'\n]*+('?) """, re.VERBOSE)
PART = re.compile(r"\.[ \t]*[\w-]")
UNKNOWN = "extra_forbidden"
LIST = "write a list: values in [ ], or tables that each begin with [[ ]]"
TABLE = "write a table"
NUMBER, WHOLE = "write a number", "write a whole number"
# By the type of pydantic's error; its own words speak of Python's types.
WORDS = {
    UNKNOWN: "is not a known key",
    "missing": "is missing",
    "string_type": "write a text in quotes",
    "string_too_short": "is empty",
    "list_type": LIST,
    "tuple_type": LIST,
    "dict_type": TABLE,
    "mapping_type": TABLE,
    "model_type": TABLE,
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": "write a finite number",
    "literal_error": "write {expected}",
    "greater_than": "write a number greater than {gt}",
    "greater_than_equal": "write a number of at least {ge}",
    "less_than_equal": "write a number of at most {le}",
    "too_short": "has too few values: write at least {min_length}",
}


def fault_of(kind: str, context: Mapping[str, Any], message: str) -> str:
    """The text of one pydantic error: the bot's own words, or pydantic's `message` if the bot has none."""
    words = WORDS.get(kind)
    return message.removeprefix("Value error, ") if words is None else words.format(**context)


def spelled(pattern: str, words: str) -> AfterValidator:
    """A text that must match a pattern; `words` say what to write otherwise."""
    form = re.compile(pattern)

    def check(value: str) -> str:
        if form.fullmatch(value) is None:
            raise ValueError(words)
        return value

    return AfterValidator(check)


Checked = TypeVar("Checked", bound=BaseModel)
Fault = tuple[str, str]
BARE = re.compile(r"[\w-]+", re.ASCII)
MARK = "\ufeff"  # some editors begin a file with it


def toml_text(value: Any) -> str:
    """A value as TOML: tables inline, each of a list of several on a line of its own."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{toml_key(key)} = {toml_text(inner)}' for key, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        has_lines = len(value) > 1 and isinstance(value[0], dict)
        start, between, end = ("[\n    ", ",\n    ", ",\n]") if has_lines else ("[", ", ", "]")
        return f"{start}{between.join(map(toml_text, value))}{end}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which JSON does not escape


def toml_key(key: str) -> str:
    """A key as TOML, in quotes where it needs them."""
    return key if BARE.fullmatch(key) else toml_text(key)


def read_toml(path: Path) -> str:
    """The text of a file; of one that is too large, such as an endless device, only the begin."""
    with path.open(encoding="utf-8") as file:
        return file.read(MOST_TEXT + 1)


def parse_toml(
    text: str,
    path: str,
    model: type[Checked],
    prepare: Callable[[Mapping[str, Any]], tuple[dict[str, Any], list[Fault]]] = lambda data: (dict(data), []),
    context: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda _: {},
) -> Checked:
    """Check the text of a file; `path` names it in errors.

    `prepare` makes what is checked from what is written, of any type, and gives the key and the reason of each fault
    that no table shows by itself; `context` what the checks of single values need to know of the file. Raises
    MalformedDeclaration with the path of every key at fault.
    """
    if text.startswith(MARK):
        raise MalformedDeclaration(path, [("", "begins with a byte order mark; save it as UTF-8 without one")])
    if why := _too_large(text):
        raise MalformedDeclaration(path, [("", why)])
    try:
        written = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is a ValueError of its own
        raise MalformedDeclaration(path, [("", f"is not valid TOML: {error}")]) from None
    if _tables_in(written) > MOST_TABLES:
        raise MalformedDeclaration(path, [("", f"has more than {MOST_TABLES:,} tables")])
    data, faults = prepare(written)
    found, known = None, context(written)
    try:
        found = model.model_validate(data, context=known)
    except ValidationError as error:
        faults += _all_faults(error, data, model, known)
    if faults or found is None:
        raise MalformedDeclaration(path, faults)
    return found


def _tables_in(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_tables_in, value.values()))
    return sum(map(_tables_in, value)) if isinstance(value, list) else 0


def _too_large(text: str) -> str:
    """Why a file would take too long to read, "" where it does not: the time grows with the square of a dotted key."""
    if len(text) > MOST_TEXT:
        return f"has more than {in_units(MOST_TEXT)}"
    bare = STRING.sub(lambda found: "x" if found[1] or found[2] else found[0], text)
    if any(len(PART.findall(line)) > MOST_PARTS for line in bare.splitlines()):
        return f"has a key with more than {MOST_PARTS} parts"
    return ""


def _all_faults(
    error: ValidationError, data: Mapping[str, Any], model: type[BaseModel], known: Mapping[str, Any]
) -> list[Fault]:
    """The faults of a file, with those that appear only where unknown keys are left out."""
    faults = _faults(error)
    rest = deepcopy(dict(data))
    for one in error.errors():
        if one["type"] == UNKNOWN:
            _remove(rest, one["loc"])
    try:
        model.model_validate(rest, context=known)
    except ValidationError as further:
        faults += _faults(further)
    return list(dict.fromkeys(faults))


def _faults(error: ValidationError) -> list[Fault]:
    """Each fault, but for lists that are called too short because of the faults inside them."""
    found = error.errors()
    return [
        (".".join(map(str, one["loc"])), fault_of(one["type"], one.get("ctx", {}), one["msg"]))
        for one in found
        if one["type"] != "too_short" or not any(_is_inside(other["loc"], one["loc"]) for other in found)
    ]


def _is_inside(location: tuple[str | int, ...], outer: tuple[str | int, ...]) -> bool:
    return len(location) > len(outer) and location[: len(outer)] == outer


def _remove(data: Any, location: tuple[str | int, ...]) -> None:
    for part in location[:-1]:
        data = data[part]
    del data[location[-1]]


def unfinished_keys(value: Any, key: str = "") -> Iterator[str]:
    """The keys in whose texts a draft left a TODO for a person: readers see them."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from unfinished_keys(one, f"{key}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for one in value:
            yield from unfinished_keys(one, f"{key}.{one['id']}" if isinstance(one, dict) and "id" in one else key)
    elif isinstance(value, str) and value.startswith("TODO"):
        yield key
