"""Write one entry of an `.eval_results` file, and read the values in any.

The Hub's own client accepts nearly everything (an invalid date, a text as value), and the Hub hides a whole
file for one fault in it, so what is written is read back first. PyYAML and the Hub's reader differ in
numbers with exponents, so a value is a plain decimal; texts are quoted unless every dialect reads them alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

import yaml

from bot.errors import Unwritable
from bot.publishing.yaml_text import compose, entries, is_safe, load, single_quoted

LARGEST = 100_000  # bytes of one file
WIDEST = 400  # digits before or behind the point: more than any double has
ADDRESS = re.compile(r"https?://[^\s<>\"']+")


@dataclass(frozen=True, slots=True)
class HubEvalResult:
    """A value of one benchmark task in the unit of the benchmark's board; "" if an optional text is not given.

    `date` is an ISO 8601 date or time.
    """

    dataset_id: str
    task_id: str
    value: Decimal
    date: str = ""
    source_url: str = ""
    source_name: str = ""
    source_user: str = ""
    source_org: str = ""
    notes: str = ""


def has_tools(notes: str) -> bool:
    """Tell whether a value with these notes was measured with tools, which is another result than one without."""
    return notes.strip().lower().startswith("with tools")


def to_yaml(result: HubEvalResult) -> str:
    """The YAML of one entry. Raises Unwritable if it would not read back as it is."""
    dataset = {"id": result.dataset_id, "task_id": result.task_id}
    source = {"url": result.source_url, "name": result.source_name}
    source |= {"user": result.source_user, "org": result.source_org}
    source = {name: text for name, text in source.items() if text}
    lines = ["- dataset:", *_texts("    ", dataset), f"  value: {result.value:f}"]
    lines += [f"  date: {single_quoted(result.date)}"] if result.date else []
    lines += ["  source:", *_texts("    ", source)] if source else []
    lines += _texts("  ", {"notes": result.notes}) if result.notes else []
    text = "".join(f"{line}\n" for line in lines)
    said = {"date": result.date, "source": source, "notes": result.notes}
    said = {name: value for name, value in said.items() if value}
    if load(text) != [{"dataset": dataset, "value": float(result.value), **said}]:
        raise Unwritable("the entry does not read back as it was written")
    return text


def _texts(indent: str, texts: Mapping[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        yield f"{indent}{name}: {text if is_safe(text) else single_quoted(text)}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A value that some file gives for a task: `value` is None if it cannot be compared as a number.

    `place` is the path, or the path and the request in which it is proposed. `date` and `notes` are "" if it has none.
    `is_ours` says that the bot wrote it.
    """

    place: str
    dataset_id: str
    task_id: str
    value: Decimal | None
    date: str = ""
    notes: str = ""
    is_ours: bool = False


def claims_in(data: bytes, place: str, *, is_ours: bool = False) -> tuple[Claim, ...]:
    """The values in any file, read leniently, since every value can be a conflict; empty where nothing can be read."""
    if len(data) > LARGEST:
        return ()
    try:
        root = compose(data.decode())
    except (UnicodeDecodeError, Unwritable):
        return ()
    found = []
    for node in root.value if isinstance(root, yaml.SequenceNode) else ():
        fields = dict(entries(node))
        dataset = {name: str(value.value) for name, value in entries(fields.get("dataset"))}
        if {"id", "task_id"} <= dataset.keys():
            said = {name: str(each.value) for name, each in fields.items() if isinstance(each, yaml.ScalarNode)}
            value, date, notes = number_of(said.get("value", "")), said.get("date", ""), said.get("notes", "")
            found.append(Claim(place, dataset["id"], dataset["task_id"], value, date, notes, is_ours))
    return tuple(found)


def number_of(text: str) -> Decimal | None:
    """A value in any form; None if it is not a finite number, or far from every double."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < WIDEST else None
