"""A key that stands twice in one object, in every spelling: found where it is, and nowhere else."""

from __future__ import annotations

import json
import os
import re
from random import Random
from typing import Any

import pytest

from bot.errors import MalformedResult
from bot.evaluation.formats import parse_result
from bot.evaluation.formats.content import Content
from bot.evaluation.result import escape_pointer
from tests.evaluation.judging import base, dumps, outcome_of, rules_of

FILES = int(os.environ.get("REPEATED_KEY_FILES", "600"))
KEYS = ("acc,none", "alias", "a/b", "m~n", "", ":", '"', "\\", '": ', "\u00e9", "\U0001f600", "configs", "x y")
SCALARS = ("1", "1.0", '"1"', "-0.0", "0", "1e2", "100.0", "true", "null", "NaN", '":"', '"\\u003a"', '"\\u0022:"',
           '"\\\\\\": "', "[]", "{}", '""', "12345678901234567890123")  # fmt: skip


class Writer:
    """Writes objects at random, each part in a spelling of its own; at most one key of one object a second time."""

    def __init__(self, seed: int, *, repeats: bool) -> None:
        self.random = Random(seed)
        self.repeats, self.expected, self.objects = repeats, "", 0

    def file(self) -> bytes:
        text = ""
        while not text or (self.repeats and not self.expected):
            text = self.value("", 4)
        return f"{self.space()}{text}{self.space()}".encode()

    def value(self, pointer: str, depth: int) -> str:
        kind = self.random.random()
        if depth == 4 or (depth and kind < 0.5):
            return self.object(pointer, depth)
        if depth and kind < 0.6:
            inner = [self.value(f"{pointer}/{n}", depth - 1) for n in range(self.random.randrange(4))]
            return f"[{self.space()}{f'{self.space()},{self.space()}'.join(inner)}{self.space()}]"
        return self.random.choice(SCALARS)

    def object(self, pointer: str, depth: int) -> str:
        keys = self.random.sample(KEYS, self.random.randrange(1, 6))
        pairs = [(key, self.value(f"{pointer}/{escape_pointer(key)}", depth - 1)) for key in keys]
        if self.repeats and not self.expected and self.random.random() < 0.3:
            key, value = self.random.choice(pairs)
            other = self.random.choice([one for one in SCALARS if meaning(one) != meaning(value)])
            pairs.insert(self.random.randrange(len(pairs) + 1), (key, other))
            self.expected = f"{pointer}/{escape_pointer(key)}"
        elif self.random.random() < 0.1:
            pairs.append(self.random.choice(pairs))  # the same value again is no fault
        members = [f"{self.key(key)}{self.space()}:{self.space()}{value}" for key, value in pairs]
        return "{" + self.space() + f"{self.space()},{self.space()}".join(members) + self.space() + "}"

    def key(self, key: str) -> str:
        way = self.random.randrange(3)
        if way == 2:
            spelled = (f"\\u{ord(char):04x}" if ord(char) < 65_536 else char for char in key)
            return f'"{"".join(spelled)}"'
        return json.dumps(key, ensure_ascii=way == 0)

    def space(self) -> str:
        return self.random.choice(("", "", " ", "\n  ", "\t", "\r\n"))


def meaning(text: str) -> Any:
    """A value as it is spelled, but for the escapes of a text."""
    return ("text", json.loads(text)) if text.startswith('"') else "".join(text.split())


@pytest.mark.parametrize("repeats", [True, False])
def test_a_repeated_key_is_found_where_it_is_and_nowhere_else(repeats: bool) -> None:
    for seed in range(FILES // 2):
        writer = Writer(seed, repeats=repeats)
        data = writer.file()
        content = Content({"": data})
        assert content.value == json.loads(data) or b"NaN" in data
        assert [found.pointer for found in content.repeated] == ([writer.expected] if repeats else []), (seed, data)


@pytest.mark.parametrize("where", ["results", "configs", "higher_is_better", "config", "versions", "n-shot"])
@pytest.mark.parametrize("form", ["indented", "compact", "mixed"])
def test_no_part_of_a_file_hides_a_repeated_key(where: str, form: str) -> None:
    """Attacks that balance colons: an escaped colon beside the doubled key, a part that is written compactly."""
    data = base() | {"higher_is_better": {"x": True}, "note": ":"}
    data[where]["doubled"] = {}
    text = json.dumps(
        data, indent=None if form == "compact" else 2, separators=(",", ":") if form == "compact" else None
    )
    spelled = '"note" :' if form == "mixed" else '"note":'
    text = re.sub(r'"note": ?":"', spelled + r' "\\u003a"', text)
    text = text.replace('"doubled"', '"doubled": {"a": 1}, "doub\\u006ced"', 1)

    assert [found.pointer for found in parse_result(text.encode()).repeated] == [f"/{where}/doubled"]
    assert "repeated-key" in rules_of(outcome_of(text.encode()).verdict)


@pytest.mark.parametrize(
    ("one", "other"), [("1", '"1"'), ("1", "1.0"), ("true", "1"), ("null", '"null"'), ("[]", "{}")]
)
def test_values_of_other_types_differ(one: str, other: str) -> None:
    content = Content({"": f'{{"a": {one}, "a": {other}}}'.encode()})
    assert content.value
    [found] = content.repeated
    assert found.values[0] != found.values[1]
    assert found.values[0] in {one, "an array"}


def test_a_repeated_key_within_a_hidden_value_is_found() -> None:
    content = Content({"": b'{"a": [{"b": 1, "b": 2}], "a": [{"b": 2}]}'})
    assert content.value
    assert [found.pointer for found in content.repeated] == ["/a", "/a/0/b"]


def test_long_names_above_many_objects_take_no_memory() -> None:
    name = "x" * 1_000_000
    data = f'{{"{name}": [{",".join(["{}"] * 100_000)}], "b": 1, "b": 2}}'.encode()
    content = Content({"": data})
    assert content.value
    assert [found.pointer for found in content.repeated] == ["/b"]


@pytest.mark.parametrize("text", ['{"a": "\t"}', '{"a": "\\ud800"}', '{"a": 1}{', '{"a": 01}', '{"a": 1,}'])
def test_what_is_not_json_is_refused_wherever_it_stands(text: str) -> None:
    data = dumps(base()).replace(b'"note"', b'"note"', 1).rstrip().removesuffix(b"}") + f', "extra": {text}}}'.encode()
    with pytest.raises(MalformedResult, match="is not JSON"):
        parse_result(data)
