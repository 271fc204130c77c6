"""Write one entry of an `.eval_results` file, and read one strictly.

The Hub's own client accepts nearly everything (an invalid date, a text as value), and the Hub hides a whole
file for one fault in it, so the bot's files follow stricter rules than both. PyYAML and the Hub's reader differ in
numbers with exponents, so a value is a plain decimal; texts are quoted unless every dialect reads them alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

import yaml

from bot.errors import Unwritable
from bot.publishing.yaml_text import compose, entries, is_safe, single_quoted

LARGEST = 100_000  # bytes of one file
LONGEST = 1_000  # characters of one text
WIDEST = 400  # digits before or behind the point: more than any double has
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})?)?")
ADDRESS = re.compile(r"https?://[^\s<>\"']+")
TEXT = "tag:yaml.org,2002:str"
# The keys of an entry and of the mappings in it; those that must be there come first.
KEYS = ("dataset", "value", "verifyToken", "date", "source", "notes")
DATASET = ("id", "task_id", "revision")
SOURCE = ("url", "name", "user", "org")


@dataclass(frozen=True, slots=True)
class HubEvalResult:
    """A value of one benchmark task in the unit of the benchmark's board; "" if an optional text is not given.

    `date` is an ISO 8601 date or time. `has_token` says that somebody proved the value in an HF Job; the bot never
    writes such a proof.
    """

    dataset_id: str
    task_id: str
    value: Decimal
    dataset_revision: str = ""
    date: str = ""
    source_url: str = ""
    source_name: str = ""
    source_user: str = ""
    source_org: str = ""
    notes: str = ""
    has_token: bool = False

    @property
    def has_tools(self) -> bool:
        """Tell whether the value was measured with tools, which is another result than one without."""
        return self.notes.strip().lower().startswith("with tools")


def to_yaml(result: HubEvalResult) -> str:
    """The YAML of one entry. Raises Unwritable if it would not read back as it is."""
    dataset = {"id": result.dataset_id, "task_id": result.task_id, "revision": result.dataset_revision}
    source = {"url": result.source_url, "name": result.source_name}
    source |= {"user": result.source_user, "org": result.source_org}
    lines = ["- dataset:", *_texts("    ", dataset), f"  value: {result.value:f}"]
    lines += [f"  date: {single_quoted(result.date)}"] if result.date else []
    lines += ["  source:", *_texts("    ", source)] if any(source.values()) else []
    lines += _texts("  ", {"notes": result.notes})
    text = "".join(f"{line}\n" for line in lines)
    if parse_eval_results(text.encode()) != (result,):
        raise Unwritable("the entry does not read back as it was written")
    return text


def _texts(indent: str, texts: Mapping[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        if text:
            yield f"{indent}{name}: {text if is_safe(text) else single_quoted(text)}"


def parse_eval_results(data: bytes) -> tuple[HubEvalResult, ...]:
    """The entries of a file, each key and each type checked. Raises Unwritable with the first fault."""
    root = _root(data)
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise Unwritable("it is not a list of entries")
    found = tuple(_entry(node) for node in root.value)
    names = [(result.dataset_id, result.task_id, result.has_tools) for result in found]
    if len(set(names)) < len(names):
        raise Unwritable("it has two entries for one task")
    return found


def _root(data: bytes) -> yaml.Node:
    if len(data) > LARGEST:
        raise Unwritable(f"it has {len(data):,} bytes, and the limit is {LARGEST:,}")
    try:
        return compose(data.decode())
    except UnicodeDecodeError:
        raise Unwritable("it is not UTF-8 text") from None


def _entry(node: yaml.Node) -> HubEvalResult:
    fields = _fields(node, KEYS, 2, "an entry")
    dataset = _fields(fields["dataset"], DATASET, 2, "dataset")
    source = _fields(fields["source"], SOURCE, 1, "source") if "source" in fields else {}
    result = HubEvalResult(
        dataset_id=_text(dataset, "id"),
        task_id=_text(dataset, "task_id"),
        value=_value(fields["value"]),
        dataset_revision=_text(dataset, "revision"),
        date=_text(fields, "date"),
        source_url=_text(source, "url"),
        source_name=_text(source, "name"),
        source_user=_text(source, "user"),
        source_org=_text(source, "org"),
        notes=_text(fields, "notes"),
        has_token=bool(_text(fields, "verifyToken")),
    )
    if result.date and not DATE.fullmatch(result.date):
        raise Unwritable(f"date {result.date!r} is not an ISO 8601 date")
    if result.source_url and not ADDRESS.fullmatch(result.source_url):
        raise Unwritable("source.url is not an address of the web")
    return result


def _fields(node: yaml.Node, known: tuple[str, ...], required: int, name: str) -> dict[str, yaml.Node]:
    """The members of a mapping by key. Raises Unwritable for an unknown, double or missing key."""
    if not isinstance(node, yaml.MappingNode):
        raise Unwritable(f"{name} is not a mapping")
    found: dict[str, yaml.Node] = {}
    for key, value in entries(node):
        if key not in known or key in found:
            raise Unwritable(f"{name} has the key {key[:40]!r}, which is unknown or there twice")
        found[key] = value
    missing = [key for key in known[:required] if key not in found]
    if missing:
        raise Unwritable(f"{name} has no {missing[0]}")
    return found


def _text(fields: Mapping[str, yaml.Node], key: str) -> str:
    text = line_of(fields.get(key), LONGEST)
    if not text and key in fields:
        raise Unwritable(f"{key} is not a text of one line (a date needs quotes)")
    return text


def line_of(node: yaml.Node | None, longest: int) -> str:
    """The text of a node; "" if it is not a text of one line and of so many characters."""
    text = str(node.value) if isinstance(node, yaml.ScalarNode) and node.tag == TEXT else ""
    return text if len(text) <= longest and text.isprintable() else ""


def _value(node: yaml.Node) -> Decimal:
    if not isinstance(node, yaml.ScalarNode) or node.style or not NUMBER.fullmatch(node.value):
        raise Unwritable("value is not a plain decimal number")
    return Decimal(node.value)


@dataclass(frozen=True, slots=True)
class Claim:
    """A value that some file gives for a task: `value` is None if it cannot be compared as a number.

    `place` is the path, or the path and the request in which it is proposed. `is_ours` says that the bot wrote it.
    """

    place: str
    dataset_id: str
    task_id: str
    value: Decimal | None
    has_tools: bool
    is_ours: bool = False


def claims_in(data: bytes, place: str, *, is_ours: bool = False) -> tuple[Claim, ...]:
    """The values in any file, read leniently, since every value can be a conflict; empty where nothing can be read."""
    try:
        root = _root(data)
    except Unwritable:
        return ()
    found = []
    for node in root.value if isinstance(root, yaml.SequenceNode) else ():
        fields = dict(entries(node))
        dataset = {name: str(value.value) for name, value in entries(fields.get("dataset"))}
        if {"id", "task_id"} <= dataset.keys():
            notes = fields["notes"].value if isinstance(fields.get("notes"), yaml.ScalarNode) else ""
            tools = HubEvalResult("", "", Decimal(0), notes=notes).has_tools
            said = fields.get("value")
            value = number_of(str(said.value)) if isinstance(said, yaml.ScalarNode) else None
            found.append(Claim(place, dataset["id"], dataset["task_id"], value, tools, is_ours))
    return tuple(found)


def number_of(text: str) -> Decimal | None:
    """A value in any form; None if it is not a finite number, or far from every double."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < WIDEST else None
