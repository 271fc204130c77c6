"""What the service remembers, and that losing or breaking it costs no more than reading again."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.dialects.sqlite import dialect as sqlite_dialect
from sqlalchemy.schema import CreateTable

from bot.errors import CallError, StateUnavailable, Unsettled
from bot.evaluation.submission import UnreadPath
from bot.publishing.plan import Plan, PlannedRow
from bot.service.store import memory
from bot.service.store.engine import connect, open_engine, prepare, try_out
from bot.service.store.items import Mark, marks
from bot.service.store.leases import state_lock
from bot.service.store.memory import (
    CLOCK,
    LEDGER,
    MODEL_PLACE,
    MOVED,
    REVIEW,
    SOURCE,
    KeptLedger,
    ModelPlace,
    ReviewState,
    SourceRead,
)
from bot.service.store.sources import IndexedFile, StoredSubmission
from bot.service.store.state import HISTORY, Store, WatchState
from bot.service.store.tables import VERSION, form, metadata
from tests.world.postgres import Cluster


@pytest.fixture(scope="module")
def shared(postgres: Cluster) -> Iterator[Engine]:
    """A state on a server, for one test after the other: to make a database takes longer than most of them."""
    engine = connect(postgres.database())
    yield engine
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'state.db'}"
    engine: Engine = request.getfixturevalue("shared")
    kept = ", ".join(table.name for table in metadata.sorted_tables if table is not form)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"TRUNCATE {kept} RESTART IDENTITY")
    return engine.url.render_as_string(hide_password=False)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = Store(connect(url))
    yield store
    store.close()


@pytest.fixture
def state(store: Store) -> WatchState:
    return store.of("w")


REQUEST = {"kind": "pull_request", "status": "open", "mark": "m"}


def submission(path: str, key: str | None = None, status: str = "accepted") -> StoredSubmission:
    content = UnreadPath(path, "other", "is something else")
    return StoredSubmission(path, key, status, "0" * 40, "c" * 40, 1.5, content)


def test_what_was_remembered_is_found_in_the_next_process(store: Store, state: WatchState, url: str) -> None:
    state.remember(SOURCE, SourceRead("a" * 40))
    state.remember(SOURCE, SourceRead("b" * 40))
    state.submissions.keep([submission("x.json", "key"), submission("y.json")])
    state.submissions.keep([submission("x.json", "other")], ["y.json"])
    store.known_threads("t").put(4, REQUEST)
    again = Store(connect(url))

    assert again.of("w").commit == "b" * 40
    assert again.of("w").submissions.at(["x.json", "y.json"]) == {"x.json": submission("x.json", "other")}
    assert again.of("w").submissions.of(["other"]) == {"x.json": submission("x.json", "other")}
    assert again.known_threads("t").of("pull_request") == [(4, REQUEST)]
    again.close()


def test_the_files_of_a_folder_are_those_in_it_and_no_others(state: WatchState) -> None:
    paths = ["top.json", "a/1.json", "a/b/2.json", "a0/3.json", "a/4.json", "a-/5.json", "é/6.json"]
    state.files.keep([IndexedFile(path, "0" * 40, 1) for path in paths])
    state.submissions.keep(map(submission, paths))

    for folder, found in {"a": ["a/1.json", "a/4.json"], "": ["top.json"], "é": ["é/6.json"], "b": []}.items():
        assert sorted(state.files.in_folder(folder)) == found
        assert [one.path for one in state.submissions.in_folder(folder)] == found


def test_all_submissions_come_in_parts(state: WatchState) -> None:
    state.submissions.keep([submission(f"{n:03}.json") for n in range(25)])

    parts = list(state.submissions.all(size=10))

    assert [len(part) for part in parts] == [10, 10, 5]
    assert [one.path for part in parts for one in part] == [f"{n:03}.json" for n in range(25)]


def test_the_submissions_of_one_row_come_in_one_part(state: WatchState) -> None:
    state.submissions.keep([submission(f"{n:03}.json", f"row {n % 5}") for n in range(25)])
    state.submissions.keep([submission("a.json"), submission("b.json")])

    parts = [[one.key for one in part] for part in state.submissions.all(size=2)]

    assert parts[0] == [None, None]
    assert [(set(part), len(part)) for part in parts[1:]] == [
        ({"row 0", "row 1"}, 10),
        ({"row 2", "row 3"}, 10),
        ({"row 4"}, 5),
    ]


def test_an_item_that_is_marked_while_it_is_worked_on_is_not_finished(state: WatchState) -> None:
    state.items.mark(marks("row", ["a", "b"], ["t"]), 10.0)
    taken = state.items.due("row", 10.0)
    state.items.mark([Mark("row", "a", "t")], 11.0)
    state.items.finish(taken)

    assert [(item.subject, item.marked, item.since) for item in state.items.all()] == [("a", 1, 10.0)]


def test_a_failed_item_waits_and_a_held_one_is_not_due(state: WatchState) -> None:
    state.items.mark(marks("row", ["a", "b", "c"], ["t"]), 10.0)
    a, b, _ = state.items.due("row", 10.0)
    state.items.fail(a, "no", 70.0)
    state.items.hold([b], "waits for a plan")

    assert [item.subject for item in state.items.due("row", 11.0)] == ["c"]
    assert [(item.subject, item.attempts, item.reason) for item in state.items.due("row", 70.0)] == [
        ("a", 1, "no"),
        ("c", 0, ""),
    ]
    assert state.items.counts() == {("row", "failing"): 1, ("row", "held"): 1, ("row", "waiting"): 1}
    state.items.retry_all(12.0)
    assert [item.subject for item in state.items.due("row", 12.0)] == ["a", "c"]


def test_a_push_is_not_hidden_by_a_changed_declaration(state: WatchState) -> None:
    state.items.mark([Mark("row", "a", "t", "push"), Mark("row", "b", "t", "declaration")], 1.0)
    state.items.mark([Mark("row", "a", "t", "declaration"), Mark("row", "b", "t", "push")], 2.0)

    assert {item.subject: item.cause for item in state.items.all()} == {"a": "push", "b": "push"}


def test_another_plan_needs_another_approval(state: WatchState) -> None:
    one, two = (Plan("t", "tiny", (PlannedRow(key, key, "removed"),), 0) for key in ("a", "b"))
    state.plans.hold(one)
    assert not state.plans.approve(two.digest)
    assert state.plans.approve(one.digest)
    assert [(held.plan, held.is_approved) for held in state.plans.all()] == [(one, True)]
    state.plans.hold(two)

    assert [(held.plan, held.is_approved) for held in state.plans.all()] == [(two, False)]


def test_a_copy_for_a_dry_run_changes_nothing(store: Store, state: WatchState) -> None:
    state.remember(SOURCE, SourceRead("a"))
    copy = store.scratch()
    copy.of("w").remember(SOURCE, SourceRead("b"))

    assert (state.commit, copy.of("w").commit) == ("a", "b")
    copy.close()


@pytest.mark.parametrize(("code", "said"), [("readonly", "it is read-only"), ("full", "the disk is full")])
def test_a_state_that_cannot_be_written_says_why_and_stays(tmp_path: Path, code: str, said: str) -> None:
    path = tmp_path / "state.db"
    store = Store(connect(f"sqlite:///{path}"))
    with store.engine.connect() as connection:
        setting = "query_only = 1" if code == "readonly" else "max_page_count = 1"
        connection.exec_driver_sql(f"PRAGMA {setting}")
    with pytest.raises(StateUnavailable, match=said):
        store.of("w").submissions.keep([submission(f"{n}.json") for n in range(5000)])

    assert path.is_file()
    assert not path.with_suffix(".db.broken").exists()
    store.close()


def test_a_full_disk_leaves_no_half_made_state(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'state.db'}")
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 9"))
    with pytest.raises(StateUnavailable, match="the disk is full"):
        prepare(engine)
    assert try_out(engine).endswith("is empty; the first settlement makes its tables")
    engine.dispose()


def test_a_file_system_that_processes_cannot_share_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(StateUnavailable, match=r"no shared memory, as a mounted bucket .* DATABASE_URL=postgresql://"):
        connect(f"sqlite:///file:{tmp_path / 'state.db'}?vfs=unix-dotfile&uri=true")


def test_a_state_that_another_process_holds_says_so(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = Store(connect(f"sqlite:///{path}"))
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout = 1")
    other = sqlite3.connect(path)
    other.execute("begin exclusive")
    with pytest.raises(StateUnavailable, match="another process holds it"):
        store.of("w").remember(SOURCE, SourceRead("a"))
    other.close()
    store.close()


def test_a_url_of_no_database_is_a_wrong_call() -> None:
    with pytest.raises(CallError, match="DATABASE_URL"):
        connect("nonsense://x")


@pytest.mark.parametrize(
    "url",
    [
        "x", "mysql://a/b", "postgresql://h:port/x", "postgresql://[::1/x", "postgresql://u:p@SECRET@h/x",
        "sqlite:///x%00y.db", "postgresql://h/x\ny", "postgresql://localhost:1/x?SECRETS=no",
    ],
)  # fmt: skip
def test_an_address_of_no_database_is_a_wrong_call_that_shows_no_password(url: str) -> None:
    with pytest.raises(CallError, match="DATABASE_URL") as caught:
        connect(url)
    assert "SECRET@" not in str(caught.value)


@pytest.mark.parametrize("name", ["bot.toml", "results", "table.csv"])
def test_a_file_of_another_kind_is_never_put_aside(tmp_path: Path, name: str) -> None:
    """A maintainer mistypes the address: the file that it names stays, and no lock lies beside it."""
    (tmp_path / name).write_text("[[watches]]")
    url = f"sqlite:///{tmp_path / name}"
    with pytest.raises(CallError, match="is a file of another kind"):
        connect(url)
    with pytest.raises(CallError, match="is a file of another kind"), state_lock(url):
        pass

    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "[[watches]]"


def test_the_newest_outcomes_are_kept(state: WatchState) -> None:
    state.add_outcomes([("written", f"s{n}", "") for n in range(HISTORY + 20)])
    shown = state.outcomes(limit=1000)

    assert len(shown) == HISTORY
    assert shown[0]["subject"] == f"s{HISTORY + 19}"


@pytest.mark.parametrize("content", [b"this is no database at all, whatever its name says", b"\x00" * 5000])
def test_a_broken_file_is_put_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(content)
    store = Store(connect(f"sqlite:///{path}"))

    assert store.of("w").recall(SOURCE) is None
    assert path.with_suffix(".db.broken").read_bytes() == content
    store.close()


def test_a_file_with_one_broken_page_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    Store(connect(f"sqlite:///{path}")).close()
    with sqlite3.connect(path) as state:
        [page] = state.execute("select rootpage from sqlite_master where name = 'memories'").fetchone()
    state.close()
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    store = Store(connect(f"sqlite:///{path}"))

    assert store.of("w").recall(SOURCE) is None
    assert path.with_suffix(".db.broken").read_bytes() == data
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        ["update form set version = 0"],
        ["delete from form"],
        ["drop table form"],
        [
            "drop table form",
            "drop table memories",
            "create table cursors (watch text, subject text, value text)",
            "insert into cursors values ('', 'version', '5')",
        ],
    ],
    ids=["another version", "no version", "no table of it", "other columns"],
)
def test_a_store_of_another_form_is_emptied_and_says_so(
    store: Store, state: WatchState, url: str, caplog: pytest.LogCaptureFixture, change: list[str]
) -> None:
    state.remember(SOURCE, SourceRead("a"))
    with store.engine.begin() as connection:
        for statement in change:
            connection.exec_driver_sql(statement)
    store.close()
    again = Store(connect(url))

    assert again.of("w").recall(SOURCE) is None
    assert [one.getMessage().partition(" has ")[2] for one in caplog.records] == [
        "the tables of another version; it is emptied, and everything is read again"
    ]
    again.of("w").remember(SOURCE, SourceRead("b"))
    again.close()


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_only_its_owner_reads_the_state(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "state.db"
    before = os.umask(umask)
    try:
        store = Store(connect(f"sqlite:///{path}"))
        store.of("w").remember(SOURCE, SourceRead("a"))
        assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == dict.fromkeys(
            ["state.db", "state.db-wal", "state.db-shm"], "0o600"
        )
        store.close()
        path.chmod(0o644)
        Store(connect(f"sqlite:///{path}")).close()
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_rows_below_a_model_are_those_of_no_near_twin(store: Store, state: WatchState) -> None:
    keys = [f"t/acme/{name}" for name in ("a/0-x", "a/1-x", "a-7b/0-x", "a.1/0-x", "a0/0-x", "A/0-x", "a", "a/")]
    state.submissions.keep([submission(f"{number}.json", key) for number, key in enumerate(keys)])
    store.of("other").submissions.keep([submission("x.json", "t/acme/a/2-x")])

    assert state.submissions.keys_below("t/acme/a") == {"t/acme/a/0-x", "t/acme/a/1-x"}


def test_a_kind_s_subjects_and_targets_are_apart(state: WatchState) -> None:
    state.remember(MODEL_PLACE, ModelPlace(refused="one"), "acme/a", target="x")
    state.remember(MODEL_PLACE, ModelPlace(refused="two"), "acme/a-7b", target="x")
    state.remember(MODEL_PLACE, ModelPlace(refused="three"), "acme/a", target="x y")
    state.remember(REVIEW, ReviewState("four"), "1")

    assert state.recall_all(MODEL_PLACE, target="x") == {
        "acme/a": ModelPlace(refused="one"),
        "acme/a-7b": ModelPlace(refused="two"),
    }
    assert state.recall(MODEL_PLACE, "acme/a", target="x y") == ModelPlace(refused="three")
    assert state.recall(REVIEW, "11") is None
    state.remember(MODEL_PLACE, None, "acme/a", target="x")
    assert state.recall_all(MODEL_PLACE, target="x") == {"acme/a-7b": ModelPlace(refused="two")}


def remember_and_fail(state: WatchState) -> None:
    with state.transaction():
        state.remember(CLOCK, 9.0)
        raise ZeroDivisionError


def test_what_is_remembered_is_recalled_as_it_was_in_a_phase_and_out_of_it(state: WatchState, store: Store) -> None:
    ledger = KeptLedger("2 accepted", unexplained=1, declined=["a", "b"], at=1.5)
    with state.phase():
        state.remember(LEDGER, ledger, target="x")
        state.remember(MOVED, 2.5)
        asked = store.asked
        state.remember(MOVED, 2.5)  # as it is
        assert (state.recall(LEDGER, target="x"), state.recall(MOVED), state.recall(CLOCK)) == (ledger, 2.5, None)
        assert store.asked == asked
        other = threading.Thread(target=lambda: store.of("w").remember(MOVED, 3.5))
        other.start()
        other.join()
        assert state.recall(MOVED) == 2.5
        with pytest.raises(ZeroDivisionError):
            remember_and_fail(state)
        assert (state.recall(CLOCK), state.recall(MOVED)) == (None, 3.5)
    state.remember(LEDGER, None, target="x")
    assert state.recall(LEDGER, target="x") is None
    with state.phase(), state.phase():
        state.remember(CLOCK, 1.0)
    assert state.recall(CLOCK) == 1.0


def test_words_that_a_database_may_refuse_are_kept(state: WatchState) -> None:
    state.files.keep([IndexedFile("a\0b/é😀.json", "0" * 64, 5_000_000_000)])
    state.add_outcomes([("failed", "s\0", "why\0")])

    assert [one.size for one in state.files.at(["a\0b/é😀.json"]).values()] == [5_000_000_000]
    assert state.outcomes()[0]["subject"] == "s\ufffd"


def test_paths_are_sorted_by_their_bytes(state: WatchState) -> None:
    paths = ["B.json", "a.json", "a/b.json", "a-b.json", "Ä.json", "_.json"]
    state.submissions.keep(map(submission, paths))

    assert [one.path for part in state.submissions.all(size=2) for one in part] == sorted(paths)


def test_what_was_written_into_a_table_is_kept_by_watch_and_target(store: Store, state: WatchState) -> None:
    state.published.keep("board", {"a": (b"1", None), "b": (b"2", b"1")})
    state.published.keep("board", {"a": (b"3", b"1")})
    state.published.keep("other", {"a": (b"9", None)})
    state.published.forget("board", ["b", "none"])

    assert state.published.at("board") == {"a": (b"3", b"1")}
    assert state.published.at("other") == {"a": (b"9", None)}
    assert store.scratch().of("w").published.at("board") == {"a": (b"3", b"1")}


def test_what_one_process_writes_no_other_does_until_it_is_known_how_that_ended(store: Store, url: str) -> None:
    killed, other = Store(connect(url)), Store(connect(url))
    with store.intend("row", 60.0), store.intend("another row", 60.0):
        with pytest.raises(Unsettled, match="another process") as refused, other.intend("row", 60.0):
            pass
        assert 0.0 < refused.value.retry_after <= 60.0
    with other.intend("row", 60.0):
        pass
    with pytest.raises(KeyboardInterrupt), killed.intend("interrupted row", 60.0):
        raise KeyboardInterrupt
    with pytest.raises(Unsettled), other.intend("interrupted row", 60.0):
        pass
    held, over = killed.intend("row", 60.0), killed.intend("old row", -1.0)
    held.__enter__()
    over.__enter__()
    with pytest.raises(Unsettled), other.intend("row", 60.0):
        pass
    with other.intend("old row", 60.0):  # the time of that one is over
        pass
    for one in (killed, other):
        one.close()


def test_a_changed_schema_has_a_new_version() -> None:
    """If this fails: raise `VERSION` in tables.py, which empties older states, and write both values here."""
    tables = [str(CreateTable(table).compile(dialect=sqlite_dialect())) for table in metadata.sorted_tables]
    kinds = sorted((name, one) for name, one in vars(memory).items() if isinstance(one, memory.Memory))
    schemas = [(name, one.name, msgspec.json.schema(one.decoder.type)) for name, one in kinds]
    said = json.loads(json.dumps([tables, schemas]), object_hook=lambda one: {**one, "description": ""})
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    assert (VERSION, digest[:16]) == (22, "e093383984475e52")
