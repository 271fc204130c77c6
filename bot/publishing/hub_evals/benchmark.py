"""The `eval.yaml` of a benchmark dataset: which tasks it has, and which framework it names.

Task ids cannot be guessed: the Hub's documentation, its tools and published tables disagree about four of four
benchmarks. So they are read from the benchmark at its head, within limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import yaml

from bot.errors import Unwritable
from bot.publishing.tables.values import Unit
from bot.publishing.yaml_text import compose, entries

PATH = "eval.yaml"
LARGEST = 1_000_000  # bytes
MOST_TASKS = 1_000
LONGEST = 200  # characters of an id
TEXT = "tag:yaml.org,2002:str"
# Harnesses that are frameworks of the Hub, by the name that results give them.
FRAMEWORKS = {"inspect": "inspect-ai", "inspect_ai": "inspect-ai", "inspect-ai": "inspect-ai", "mteb": "mteb"}


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The fields of an `eval.yaml` that the bot needs."""

    framework: str
    task_ids: tuple[str, ...]


def parse_benchmark(data: bytes) -> Benchmark:
    """Read an `eval.yaml`; keys that frameworks add to a task are ignored. Raises Unwritable with the first fault."""
    if len(data) > LARGEST:
        raise Unwritable(f"{PATH} has {len(data):,} bytes, and the limit is {LARGEST:,}")
    try:
        root = compose(data.decode())
    except UnicodeDecodeError:
        raise Unwritable(f"{PATH} is not UTF-8 text") from None
    except Unwritable as error:
        raise Unwritable(f"{PATH}: {error}") from None
    fields = {str(key.value): value for key, value in entries(root)}
    tasks = fields.get("tasks")
    if not isinstance(tasks, yaml.SequenceNode) or not 0 < len(tasks.value) <= MOST_TASKS:
        raise Unwritable(f"{PATH} has no list of at most {MOST_TASKS} tasks")
    ids = tuple(_text(dict(_named(task)).get("id"), "the id of a task") for task in tasks.value)
    if len(set(ids)) < len(ids):
        raise Unwritable(f"{PATH} has a task twice")
    return Benchmark(_text(fields.get("evaluation_framework"), "evaluation_framework"), ids)


def _named(node: yaml.Node) -> Iterable[tuple[str, yaml.Node]]:
    return ((str(key.value), value) for key, value in entries(node))


def _text(node: yaml.Node | None, name: str) -> str:
    text = node.value if isinstance(node, yaml.ScalarNode) and node.tag == TEXT else ""
    if not text or len(text) > LONGEST or not text.isprintable():
        raise Unwritable(f"{PATH}: {name} is not a short text")
    return str(text)


def check_benchmark(data: bytes | None, dataset: str, task_id: str, harness: str, differs: str | None) -> str:
    """The benchmark's framework. Raises Unwritable if the task is not one of its tasks, or was run by another.

    `differs` is the reason that the declaration gives for publishing all the same.
    """
    if data is None:
        raise Unwritable(f"{dataset} has no {PATH}, so it is not a benchmark of the Hub")
    benchmark = parse_benchmark(data)
    if task_id not in benchmark.task_ids:
        known = ", ".join(benchmark.task_ids[:20])
        raise Unwritable(f"{dataset} has no task {task_id!r}; {PATH} has {known}")
    if FRAMEWORKS.get(harness.lower()) != benchmark.framework and differs is None:
        named = f"{dataset} names the framework {benchmark.framework}, but this was run with {harness}"
        raise Unwritable(f"{named}; the declaration may say framework_differs with a reason")
    return benchmark.framework


def check_unit(unit: Unit, published: Iterable[Decimal], dataset: str) -> None:
    """Raise Unwritable where the values on a benchmark's board are in another unit than the declaration says."""
    values = list(published)
    if unit == "percent" and values and max(values) <= 1:
        raise Unwritable(f'no value on the board of {dataset} is above 1: the unit seems to be "proportion"')
    if unit == "proportion" and values and max(values) > 1:
        raise Unwritable(f'the board of {dataset} has values above 1: the unit seems to be "percent"')
