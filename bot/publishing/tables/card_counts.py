"""The counts of rows and bytes in a dataset card, which `datasets` compares with what it loads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from bot.errors import Unwritable
from bot.publishing.tables.sheet import Splice, spliced
from bot.publishing.yaml_text import compose, entries, front_matter

INFO = "dataset_info"
COUNT = re.compile(r"[0-9]{1,18}")
Counted = tuple[int, int, int]  # where a number begins and ends in the card, and the number


@dataclass(frozen=True, slots=True)
class Growth:
    """What an edit adds to a split: rows, bytes in memory, bytes of the files."""

    rows: int
    memory: int
    files: int


def counts_of(card: str, config: str, split: str) -> Mapping[str, Counted] | None:
    """The counts that a card gives for a split, None if it has no `dataset_info` at all.

    Raises Unwritable if it has one, and not `num_examples` for this split.
    """
    place = front_matter(card)
    if place is None:
        return None
    root = compose(card[slice(*place)])
    info = _inside(root, INFO)
    if info is None:
        return None
    if isinstance(info, yaml.SequenceNode):
        info = next((each for each in info.value if _text(_inside(each, "config_name"), "default") == config), None)
    splits = _inside(info, "splits")
    rows = splits.value if isinstance(splits, yaml.SequenceNode) else []
    ours = next((each for each in rows if _text(_inside(each, "name")) == split), None)
    places = {
        "num_examples": _inside(ours, "num_examples"),
        "num_bytes": _inside(ours, "num_bytes"),
        "download_size": _inside(info, "download_size"),
        "dataset_size": _inside(info, "dataset_size"),
    }
    counts = {name: _count(node, place[0]) for name, node in places.items() if node is not None}
    if "num_examples" not in counts:
        raise Unwritable(f"the card has {INFO} without num_examples for the split {split!r}: readers would fail")
    return counts


def grown(card: str, counts: Mapping[str, Counted], growth: Growth) -> str:
    """The card with the counts after an edit, with all other text as it was."""
    by = {
        "num_examples": growth.rows,
        "num_bytes": growth.memory,
        "download_size": growth.files,
        "dataset_size": growth.memory,
    }
    return spliced(card, [Splice(start, end, str(count + by[name])) for name, (start, end, count) in counts.items()])


def _inside(node: yaml.Node | None, name: str) -> yaml.Node | None:
    return next((value for key, value in entries(node) if key.value == name), None)


def _text(node: yaml.Node | None, default: str = "") -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else default


def _count(node: yaml.Node, start: int) -> Counted:
    if not isinstance(node, yaml.ScalarNode) or node.style or not COUNT.fullmatch(node.value):
        raise Unwritable(f"the card has a count in {INFO} that is not a plain number")
    return start + node.start_mark.index, start + node.end_mark.index, int(node.value)
