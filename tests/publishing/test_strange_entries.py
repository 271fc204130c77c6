"""Entries that hold more than an entry has, or the same in another order."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from bot.publishing.changes import differences
from bot.publishing.entry import Entry, entry_of
from bot.publishing.layout import read_row
from tests.evaluation.judging import base, judgement_of


def entry() -> Entry:
    made = entry_of(judgement_of({"r.json": base()}).rows[0])
    assert made is not None
    return made


@pytest.mark.parametrize("at", ["", "tasks/0", "tasks/1/leaves/0", "evidence/0", "model"])
def test_a_field_that_no_entry_has_is_named(at: str) -> None:
    value = json.loads(entry().to_bytes())
    inner = value
    for part in filter(None, at.split("/")):
        inner = inner[int(part)] if part.isdecimal() else inner[part]
    inner["endorsed_by"] = "somebody"
    assert "has the field endorsed_by" in str(read_row(entry().path, json.dumps(value).encode()))


def test_another_layout_of_the_same_entry_is_an_entry() -> None:
    value = json.loads(entry().to_bytes())
    assert read_row(entry().path, json.dumps(value | {"samples": []}).encode()) == entry()


def test_an_average_that_is_a_text_is_named() -> None:
    value = json.loads(entry().to_bytes()) | {"average": "39.1"}
    assert "is not an entry" in str(read_row(entry().path, json.dumps(value).encode()))


def test_tasks_in_another_order_do_not_follow() -> None:
    made = entry()
    (found,) = differences(replace(made, tasks=made.tasks[::-1]), made)
    assert found.name == "order of tasks"
    assert differences(made, made) == ()
