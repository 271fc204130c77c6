"""A push costs the same whatever the watch holds: no statement reads all files or submissions of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from bot.service.store.engine import connect
from bot.service.store.items import Mark
from bot.service.store.memory import SOURCE, SourceRead
from bot.service.store.state import Store
from tests.service.stories import Story
from tests.service.worker_processes import push_rows
from tests.world.hub import Hub

EVERYTHING = re.compile(r"SCAN (submissions|files|rows)|SEARCH (submissions|files|rows) .*\(watch=\?\)")

# The question whether there is any row reads one of them.
IS_THERE_ANY = re.compile(r"^SELECT (?!.*ORDER BY).*LIMIT \? OFFSET \?$", re.DOTALL)


@contextmanager
def plans_of(store: Store) -> Iterator[dict[str, str]]:
    """What SQLite plans for each statement of the block."""
    plans: dict[str, str] = {}

    def explain(connection: Any, _: Any, statement: str, values: Any, __: Any, is_many: bool) -> None:
        ours: sqlite3.Connection = connection.connection.driver_connection
        if statement.startswith(("SELECT", "UPDATE", "DELETE")) and not is_many:
            found = ours.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            plans[statement] = "; ".join(row[3] for row in found)

    event.listen(store.engine, "before_cursor_execute", explain)
    yield plans
    event.remove(store.engine, "before_cursor_execute", explain)


def test_no_statement_of_a_push_reads_everything(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=1000)
    push_rows(story, 3)
    story.settle()
    assert story.acts() == ["request"] * 3
    story.push()
    with plans_of(story.contexts.store) as plans:
        story.settle()

    assert story.acts() == ["request"]
    found = [(plan, statement) for statement, plan in plans.items() if EVERYTHING.search(plan)]
    assert [one for one in found if not IS_THERE_ANY.search(one[1])] == []
    assert any("submissions_by_key (watch=? AND key=?)" in plan for plan in plans.values())
    story.end()


@pytest.mark.parametrize(
    ("form", "style"), [("pull-request", "entry"), ("pull-request", "rolling"), ("commit", "entry")]
)
def test_the_state_is_asked_little(form: str, style: str, hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form=form, style=style, limit=1000)
    push_rows(story, 3)
    story.settle()
    story.settle()
    assert story.news() != []
    assert statements_of(story) <= 40
    assert story.acts() == []
    story.push()
    assert statements_of(story) <= 150
    assert story.news() != []
    story.end()


def test_statements_are_counted_as_the_database_sees_them(tmp_path: Path) -> None:
    store, seen = Store(connect(f"sqlite:///{tmp_path / 'state.db'}")), list[str]()
    event.listen(store.engine, "before_cursor_execute", lambda *given: seen.append(given[2]))
    state = store.of("tiny")
    state.items.mark([Mark("source"), Mark("reviews")], 1.0)
    state.remember(SOURCE, SourceRead("c" * 40))
    assert len(state.items.due("source", 2.0)) == 1
    assert (store.asked, store.asked_by_all, len(seen)) == (3, 3, 3)
    store.close()


def statements_of(story: Story) -> int:
    """How many statements to the state one pass makes."""
    store = story.contexts.store
    before = store.asked
    story.settle()
    return store.asked - before


def test_the_folders_of_rejected_files_cost_what_is_rejected(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=1000)
    push_rows(story, 3)
    story.push(path="b/c/results_1.json", right=(150, 60, 70))
    story.push(path="a/results_1.json", right=(150, 60, 70), model="acme/borea-1b")
    story.settle()
    with plans_of(story.contexts.store) as plans:
        assert story.state.submissions.rejected_folders() == ["a", "b/c"]

    assert [plan for plan in plans.values() if EVERYTHING.search(plan)] == []
    assert any("submissions_by_status (watch=? AND status=?)" in plan for plan in plans.values())
    story.contexts.store.close()
