"""The first filling of a board: large commits, rows that stand already, kills and outages on the way."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import Any

import pytest

from bot.platforms.hub.platform import HubPlatform
from bot.platforms.net import BUDGETS
from bot.platforms.platform import Access
from bot.publishing.publication import Form
from bot.service.context import ContextFactory
from bot.service.fill.importing import Import, ImportResult, import_watch
from bot.service.store.engine import connect
from bot.service.store.state import Store
from bot.service.watch.settle import run_pass
from tests.variants import one_of
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

SOURCE, TARGET = "hf://datasets/acme/results", "hf://datasets/acme/contents"


@pytest.fixture
def target(hub: Hub) -> Repository:
    hub.writers.add(("bot", "acme/contents"))
    return hub.repository("acme/contents")


def models(*numbers: int) -> dict[str, bytes | None]:
    return {path_of(f"acme/m-{n}"): result(f"acme/m-{n}") for n in numbers}


def opened(hub: Hub, folder: Path, to: str = TARGET, form: Form = "commit", **how: Any) -> Import:
    (folder / "tiny.toml").write_text(TINY)
    store = Store(connect(f"sqlite:///{folder / 'state.db'}"))
    contexts = ContextFactory(
        Access(hf_token=hub.person("bot"), hf_endpoint=hub.url, cache=folder / "cache"), store, folder
    )
    client = HubPlatform.client(contexts.opener)
    client.pause, client.unknown_fate = 0.01, 0.1
    watch = import_watch(SOURCE, to, form, str(folder / "tiny.toml"))
    return Import(contexts.open_context(watch), sleep=lambda _: None, **how)


def imported(hub: Hub, folder: Path, **how: Any) -> ImportResult:
    run = opened(hub, folder, **how)
    run.plan()
    done = run.run()
    run.context.state.db.close()
    return done


def entries(repository: Repository, ref: str = "main") -> set[str]:
    commit = repository.resolve(ref)
    assert commit is not None
    return {path for path, _ in commit.tree.files() if path.startswith("entries/")}


@pytest.mark.slow
@pytest.mark.parametrize("form", one_of(["commit", "pull-request"]))
def test_a_board_is_filled_in_commits_of_a_hundred(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path, form: Form
) -> None:
    hub.push(repository, models(*range(230)))
    hub.calls.clear()
    done = imported(hub, tmp_path, form=form)

    ref = "main" if form == "commit" else "refs/pr/1"
    assert (done.written, done.adopted, done.unread) == (230, 0, 0)
    assert len(entries(target, ref)) == 230
    messages = [commit.message for commit in target.refs[f"refs/heads/{ref}" if ref == "main" else ref].history()]
    assert sum(message.startswith("230 rows of `tiny`") for message in messages) == 3
    commits = [call for call in hub.calls if "/commit/" in call.raw_path]
    assert len(commits) == (4 if form == "commit" else 3)  # the last one is the table
    derived = {path for path, _ in target.main.tree.files() if not path.startswith("entries/")}
    assert ("leaderboard.csv" in derived, any(path.startswith("declarations/") for path in derived)) == (
        (True, True) if form == "commit" else (False, False)
    )
    assert len(hub.requests(target)) == (form == "pull-request")
    again = imported(hub, tmp_path, form=form)
    assert (again.written, again.adopted) == (0, 0)
    (tmp_path / "state.db").unlink()
    lost = imported(hub, tmp_path, form=form)
    assert (lost.written, lost.adopted, lost.different) == (0, 230, [])
    assert len(entries(target, ref)) == 230
    context = opened(hub, tmp_path, form=form).context
    [ledger] = run_pass(context, counts=True).ledgers
    context.state.db.close()
    where = "230 on main, 0 open" if form == "commit" else "0 on main, 230 open"
    assert ledger.line == f"230 accepted: {where}, 0 held, 0 declined, 0 unexplained"


def test_rows_that_stand_already_are_adopted_and_others_left_alone(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path
) -> None:
    hub.push(repository, models(1, 2, 3))
    imported(hub, tmp_path)
    (tmp_path / "state.db").unlink()
    path = next(iter(sorted(entries(target))))
    before = hub.file(target, path)
    assert before is not None
    foreign = before.replace(b'"average":', b'"average":1', 1)
    hub.push(target, {path: foreign, "leaderboard.csv": b"model,score\n", "entries/tiny/a/b/c.json": b"{}"})
    hub.push(repository, models(4))
    done = imported(hub, tmp_path)

    assert (done.written, done.adopted, len(done.different)) == (1, 2, 1)
    assert hub.file(target, path) == foreign
    assert hub.file(target, "leaderboard.csv") == b"model,score\n"
    assert any("other numbers" in line for line in done.lines())


def test_rejected_files_and_incomplete_rows_are_named(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path
) -> None:
    broken = {f"acme__bad-{n}/results_1.json": b"{" for n in range(4)}
    hole = result("acme/hole", right=(50, None, 70))
    hub.push(repository, {**models(1), **broken, path_of("acme/hole"): hole, "notes.json": b"[]"})

    done = imported(hub, tmp_path)
    again = imported(hub, tmp_path)

    assert (done.written, done.rejected, len(done.incomplete)) == (2, 4, 1)
    [first, incomplete, rejected, *commands] = done.lines()[:6]
    assert first.startswith("wrote 2 rows")
    assert incomplete.startswith("1 row without an average, because subtasks are missing: tiny/acme/hole/")
    assert rejected == "rejected 4 files; to see why, run:"
    head = repository.main.oid
    declared = tmp_path / "tiny.toml"
    assert commands == [
        f"  leaderboard-bot check {SOURCE}@{head}/acme__bad-{n}/results_1.json --leaderboard {declared}"
        for n in range(3)
    ]
    assert (again.written, again.rejected, again.why) == (0, 4, done.why)


def test_a_plan_says_what_it_costs_and_writes_nothing(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path
) -> None:
    hub.push(repository, models(*range(12)))
    run = opened(hub, tmp_path)
    plan = run.plan()
    run.context.state.db.close()

    assert (plan.files, plan.unread, plan.current) == (12, 12, 0)
    assert plan.size == sum(len(blob.data) for _, blob in repository.main.tree.files())
    assert hub.by("bot") == []


@pytest.mark.slow
def test_a_wait_that_the_hub_asks_for_loses_nothing(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.push(repository, models(*range(150)))
    hub.faults.order("/commit/", status=429, headers={"RateLimit": '"api";r=0;t=300'}, times=2)
    hub.faults.order("/resolve/", status=500, times=30)
    waited: list[float] = []
    monkeypatch.setattr(BUDGETS, "clock", lambda: time.monotonic() + sum(waited))
    run = opened(hub, tmp_path)
    run.sleep = waited.append
    run.plan()
    done = run.run()
    run.context.state.db.close()

    assert done.written == 150
    assert len(entries(target)) == 150
    assert 299.0 <= max(waited) <= 300.0
    titles = [one.text for one in hub.by("bot") if one.act == "commit"]
    assert titles == [*(f"Import the rows of tiny ({n} of 2)" for n in (1, 2)), "Rebuild the board"]


def test_a_main_that_moves_meanwhile_is_read_again(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path
) -> None:
    hub.push(repository, models(*range(5)))
    hub.faults.order("/commit/", before=lambda: hub.push(target, {"README.md": b"mine"}), status=0)
    done = imported(hub, tmp_path)

    assert done.written == 5
    assert hub.file(target, "README.md") == b"mine"


def test_a_folder_is_filled_too(hub: Hub, repository: Repository, tmp_path: Path) -> None:
    hub.push(repository, models(1, 2))
    done = imported(hub, tmp_path, to=str(tmp_path / "board"))

    assert done.written == 2
    assert len(list((tmp_path / "board").rglob("entries/**/*.json"))) == 2


def _work(folder: Path, url: str) -> None:
    hub = Hub(url)
    run = opened(hub, folder)
    run.plan()
    run.run()


@pytest.mark.slow
def test_kills_at_any_moment_double_and_lose_nothing(
    hub: Hub, repository: Repository, target: Repository, tmp_path: Path
) -> None:
    hub.person("bot")
    hub.push(repository, models(*range(520)))
    hub.faults.order("/commit/", delay=0.3, times=-1)
    context = multiprocessing.get_context("forkserver")
    for seconds in (0.5, 1.5, 2.5, 3.5, 4.5):
        process = context.Process(target=_work, args=(tmp_path, hub.url), daemon=True)
        process.start()
        time.sleep(seconds)
        process.kill()  # where it has not come to its end by then
        process.join()
    imported(hub, tmp_path)

    assert len(entries(target)) == 520
    touched: dict[str, int] = {}
    for commit in target.main.history():
        before = set() if commit.parent is None else {path for path, _ in commit.parent.tree.files()}
        for path, _ in commit.tree.files():
            touched[path] = touched.get(path, 0) + (path not in before)
    assert set(touched.values()) == {1}
    assert len([one for one in hub.by("bot") if one.act == "commit"]) <= 6 + 5
