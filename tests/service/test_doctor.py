"""What doctor says of a service on the local Hub: nothing where all is right, else one line with what to do."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.platforms.hub.webhooks import create
from bot.platforms.platform import Access
from bot.service.checks.diagnosis import Diagnosis, ServiceCase
from bot.service.checks.doctor import examine
from bot.service.context import watched_by
from bot.service.settings.config import load_settings
from bot.service.store.engine import connect
from bot.service.store.leases import state_lock
from bot.service.store.state import Store
from tests.command import bot
from tests.service.answering import SECRET, Idle, answering
from tests.service.stories import SETTINGS
from tests.world.github_server import local_github
from tests.world.hub import Hub
from tests.world.results import TINY


@pytest.fixture(scope="module")
def service() -> Idle:
    return Idle()


@pytest.fixture(scope="module")
def url(service: Idle) -> Iterator[str]:
    """Where a service that runs takes the deliveries of the Hub."""
    with answering(service) as base:
        yield f"{base}/webhooks/hub"


@pytest.fixture
def case(hub: Hub, url: str, tmp_path: Path) -> Iterator[ServiceCase]:
    """A service in which all is right."""
    (tmp_path / "tiny.toml").write_text(TINY)
    path, database = tmp_path / "bot.toml", f"sqlite:///{tmp_path / 'state.db'}"
    path.write_text(SETTINGS.format(form="commit", style="entry", limit=20, more=""))
    for name in ("acme/results", "acme/contents"):
        hub.repository(name)
    hub.push(hub.repositories["dataset", "acme/results"], {"acme__m/results_2026.json": b"{}"})
    hub.writers.add(("bot", "acme/contents"))
    access = Access(hf_token=hub.person("bot"), hf_endpoint=hub.url)
    create(access, url, watched_by(load_settings(path)), SECRET)
    store = Store(connect(database))
    yield ServiceCase(path, access, database, SECRET)
    store.close()


def faults(case: ServiceCase, status: str = "wrong") -> list[Diagnosis]:
    return [one for one in examine(case) if one.status == status]


def edit(case: ServiceCase, old: str, new: str, file: str = "bot.toml") -> None:
    path = case.path.with_name(file)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_nothing_is_said_against_a_service_in_which_all_is_right(
    hub: Hub, case: ServiceCase, service: Idle, url: str
) -> None:
    posted, asked = len(hub.log), len(hub.calls)

    found = list(examine(case))

    assert [one for one in found if one.status != "ok" or one.advice] == []
    assert [one.name for one in found] == [
        "settings", "declaration of tiny", "git", "state", "token for the Hub", "WEBHOOK_SECRET",
        "right to write hf://datasets/acme/contents", "webhook", f"delivery to {url}", "clock", "limits of the Hub",
        "source hf://datasets/acme/results", "target hf://datasets/acme/contents",
    ]  # fmt: skip
    said = {one.name: one.text for one in found}
    assert (
        said["token for the Hub"]
        == "bot, a token that may write (this shell's token; serve has the one that it was started with)"
    )
    assert said["limits of the Hub"] == "990 requests left for the next 200 s"
    assert said["source hf://datasets/acme/results"].endswith(hub.repositories["dataset", "acme/results"].main.oid[:12])
    assert len(hub.log) == posted
    assert service.events == []
    assert {call.method for call in hub.calls[asked:]} == {"GET"}


def test_without_a_token_nothing_that_needs_one_is_called_wrong(case: ServiceCase) -> None:
    case.access = replace(case.access, hf_token=None)

    assert [(one.name, one.text) for one in faults(case)] == [("token for the Hub", "HF_TOKEN is not set")]
    unknown = faults(case, "warning")
    assert [one.name for one in unknown] == ["right to write hf://datasets/acme/contents", "webhook"]
    assert all(one.text.endswith("see the token for the Hub") for one in unknown)


def test_a_wrong_token_is_named_and_never_shown(case: ServiceCase) -> None:
    case.access = replace(case.access, hf_token="hf_MARKER")

    found = list(examine(case))

    token = next(one for one in found if one.name == "token for the Hub")
    assert (token.status, "HF_TOKEN is complete" in token.advice) == ("wrong", True)
    assert "MARKER" not in repr(found)
    assert next(one for one in found if one.name == "clock").status == "ok"


def test_a_token_that_only_reads_is_wrong(hub: Hub, case: ServiceCase) -> None:
    hub.roles["bot"] = "read"

    (found,) = faults(case)

    assert found.text == "bot, but the token may only read"


def test_the_rights_of_a_fine_grained_token_are_looked_at(hub: Hub, case: ServiceCase) -> None:
    board = {"entity": {"type": "dataset", "name": "acme/contents"}, "permissions": ["repo.content.read"]}
    hub.rights["bot"] = {"global": [], "scoped": [board]}

    talk, write = sorted(faults(case), key=lambda one: one.name)
    assert talk.name == "right to talk at hf://datasets/acme/results"
    assert "`discussion.write`" in talk.advice
    assert (write.name, write.text) == (
        "right to write hf://datasets/acme/contents",
        "the fine-grained token may not write there",
    )

    owner = {"entity": {"type": "org", "name": "acme"}, "permissions": ["repo.write", "discussion.write"]}
    enough = {"global": ["discussion.write"], "scoped": [board | {"permissions": ["repo.write"]}]}
    for rights in (enough, {"scoped": [owner]}):
        hub.rights["bot"] = rights
        again = ServiceCase(case.path, case.access, case.database, SECRET)  # asks anew who we are
        assert faults(again) == []


def test_commits_need_the_right_to_write_and_requests_do_not(hub: Hub, case: ServiceCase) -> None:
    hub.writers.clear()

    (found,) = faults(case)
    edit(case, '"commit"', '"pull-request"')

    assert found.name == "right to write hf://datasets/acme/contents"
    assert "give bot the right to write there" in found.advice
    assert faults(case) == []


def test_a_repository_that_takes_no_discussions_is_named_where_the_bot_would_write(hub: Hub, case: ServiceCase) -> None:
    source, target = (hub.repositories["dataset", f"acme/{name}"] for name in ("results", "contents"))
    target.has_discussions = False  # commits need none
    assert faults(case) == faults(case, "warning") == []

    edit(case, '"commit"', '"pull-request"')
    (found,) = faults(case)
    target.has_discussions, source.has_discussions = True, False
    (noted,) = faults(case, "warning")

    assert found.name == "discussions of hf://datasets/acme/contents"
    assert found.text == "discussions and pull requests are disabled: the bot cannot propose rows there"
    assert (noted.name, faults(case)) == ("discussions of hf://datasets/acme/results", [])


def test_a_missing_webhook_is_wrong_where_a_secret_waits_for_deliveries(hub: Hub, case: ServiceCase) -> None:
    hub.webhooks.clear()

    (found,) = faults(case)
    case.secret = None

    assert (found.name, found.advice) == ("webhook", "leaderboard-bot webhook create https://…/webhooks/hub")
    assert faults(case) == []
    assert [one.name for one in faults(case, "warning")] == ["WEBHOOK_SECRET", "webhook"]


def test_a_doubled_webhook_is_repaired_by_what_is_advised(hub: Hub, case: ServiceCase, url: str) -> None:
    (first,) = hub.webhooks.values()
    hub.webhooks["double"] = replace(first, id="double", url=f"{url}?secret={SECRET}")

    (found,) = faults(case)
    create(case.access, found.advice.rpartition(" ")[2], watched_by(load_settings(case.path)), SECRET)

    assert found.text == f"doubled: {first.id}, double all deliver to {url}"
    assert SECRET not in repr(found)
    assert faults(case) == []


@pytest.mark.parametrize("secrets", [{}, {"HF_TOKEN": ""}])
def test_a_webhook_that_starts_a_job_without_a_token_is_named(
    hub: Hub, case: ServiceCase, secrets: dict[str, str]
) -> None:
    (hook,) = hub.webhooks.values()
    hub.webhooks = {"job": replace(hook, id="job", url=None, job={"dockerImage": "image", "secrets": secrets})}

    found = faults(case, "wrong")

    assert [one.name for one in found] == ["webhook"] * (not secrets)
    assert all("its job has no HF_TOKEN" in one.text for one in found)
    assert all("webhook create --job ID" in one.advice for one in found)


def test_each_fault_of_a_webhook_is_said(hub: Hub, case: ServiceCase) -> None:
    (hook,) = hub.webhooks.values()
    hook.disabled, hook.secret, hook.domains = True, "other", ["repo"]
    hook.watched = [{"type": "dataset", "name": "acme/results"}]

    (found,) = faults(case)

    assert found.text.partition(": ")[2] == (
        "it is disabled; it does not watch dataset acme/contents; it does not send discussion events; "
        "its secret is not WEBHOOK_SECRET"
    )
    assert found.advice == f"leaderboard-bot webhook update {hook.id}"


def test_what_a_draft_left_to_a_person_is_named(case: ServiceCase) -> None:
    declared = case.path.parent / "tiny.toml"
    text = declared.read_text().replace("Two tasks, three leaves, for stories.", "TODO: one sentence")
    declared.write_text(text.replace('"guessing among four"', '"TODO: why"'))
    [left] = [one for one in faults(case, "warning") if one.name == "declaration of tiny"]
    assert left.text == "description, tasks.sums.leaves.sums_plus.bound_reason still say TODO, and readers see it"


def test_all_faults_of_settings_and_declaration_are_named(case: ServiceCase) -> None:
    edit(case, "num_fewshot", "num_fewshots", "tiny.toml")
    assert {one.name for one in faults(case)} == {"declaration of tiny"}
    assert len(faults(case)) > 1

    edit(case, "backfill_limit", "backfil_limit")
    edit(case, '"entry"', '"entries"')
    found = faults(case)
    assert [one.name for one in found] == ["settings", "settings"]
    assert "backfil_limit" in found[0].text + found[1].text


def test_a_source_that_is_not_there_is_wrong(hub: Hub, case: ServiceCase) -> None:
    hub.delete(hub.repositories["dataset", "acme/results"])

    (found,) = faults(case)

    assert found.name == "source hf://datasets/acme/results"
    assert "404" in found.text
    assert "check that its name is right" in found.advice


def test_a_service_that_asks_to_wait_is_not_called_a_fault_of_the_network(hub: Hub, case: ServiceCase) -> None:
    hub.faults.order("/api/datasets/", status=429, headers={"Retry-After": "290"}, times=-1)
    [source] = [one for one in examine(case) if one.name == "source hf://datasets/acme/results"]
    assert source.text.endswith("429: Too Many Requests (it asks to wait 290 s)")
    assert source.advice == "wait so long; if it comes again and again, find out what else uses this account"


def test_a_source_of_which_a_watch_selects_no_file_is_named(hub: Hub, case: ServiceCase) -> None:
    hub.push(hub.repositories["dataset", "acme/results"], {"acme__m/results_2026.json": None, "m.csv": b"a,b"})

    (found,) = [one for one in faults(case, "warning") if one.name.startswith("source")]

    assert "watch tiny selects none of its files: paths = " in found.text
    assert "set `paths`" in found.advice
    assert not faults(case)


@pytest.mark.parametrize(("off", "count"), [(280, 0), (-600, 1), (86400, 1)])
def test_a_clock_more_than_five_minutes_off_is_wrong(hub: Hub, case: ServiceCase, off: float, count: int) -> None:
    hub.clock_is_off = -off

    found = faults(case)

    assert [one.name for one in found] == ["clock"] * count
    assert all(("ahead of" if off > 0 else "behind") in one.text for one in found)


def test_a_full_disk_is_wrong_before_there_is_a_state_and_while_serve_has_it(
    case: ServiceCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(case.path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=4096) if Path(path).exists() else None)
    new = replace(case, database=f"sqlite:///{case.path.parent}/none/new.db")
    with state_lock(case.database):
        for one in (case, new):
            [wrong] = faults(one)
            assert (wrong.name, wrong.text.rpartition(": ")[2]) == ("state", "the disk is full")
            assert "room" in wrong.advice


def test_a_state_is_looked_at_and_left_as_it_is(case: ServiceCase) -> None:
    with state_lock(case.database):
        kept = next(one for one in examine(case) if one.name == "state")
    assert (kept.status, "another process uses" in kept.text) == ("ok", True)

    file = case.path.with_name("other.db")
    case.database = f"sqlite:///{file}"
    assert "does not exist yet" in next(one.text for one in examine(case) if one.name == "state")
    assert not list(file.parent.glob("other.db*"))
    older = Store(connect(f"sqlite:///{file}"))
    with older.engine.begin() as connection:
        connection.exec_driver_sql("update form set version = 0")
    older.close()
    assert "the next settlement empties it" in next(one.text for one in examine(case) if one.name == "state")
    for part in file.parent.glob("other.db*"):
        part.unlink()
    file.write_bytes(b"no database" * 500)
    (found,) = faults(case)
    assert (found.name, file.read_bytes()) == ("state", b"no database" * 500)
    assert "and the next settlement renames it" in found.text
    away = replace(case, database="postgresql://bot@127.0.0.1:1/none")
    assert not any("renames" in f"{one.text} {one.advice}" for one in examine(away) if one.name == "state")
    case.database = "nonsense"
    assert [one.name for one in faults(case)] == ["state"]


def test_github_is_asked_who_we_are_and_whether_we_may_push(hub: Hub, case: ServiceCase) -> None:
    edit(case, "hf://datasets/acme/contents", "github://acme/board")
    edit(case, '"meg"', '"github:meg"')
    with local_github() as github:
        github.state.add_repo("acme/board", {"README.md": b"# Board\n"})
        github.state.add_account("good", "our-bot")
        github.state.add_account("poor", "poor-bot", frozenset())
        case.access = replace(case.access, github_api_url=github.url)
        assert next(one.text for one in faults(case)) == "GITHUB_TOKEN is not set"
        for token, wrong in (("good", []), ("poor", ["poor-bot may not push"]), ("bad", None)):
            again = ServiceCase(case.path, replace(case.access, github_token=token), case.database, case.secret)
            found = list(examine(again))
            said = {one.name: one for one in found}
            if wrong is None:
                assert said["token for GitHub"].status == "wrong"
            else:
                assert [one.text for one in found if one.status == "wrong"] == wrong
                assert said["limits of GitHub"].text == "4,990 of 5,000 requests left"


def test_the_command_shows_a_line_for_each_check_and_ends_with_1_where_one_is_wrong(
    hub: Hub, case: ServiceCase
) -> None:
    hub.clock_is_off = 1200.0
    ours = {"HF_TOKEN": "hf_bot", "HF_ENDPOINT": hub.url, "WEBHOOK_SECRET": SECRET, "DATABASE_URL": case.database}
    environment = {**os.environ, **ours}

    status, out, err = bot("doctor", "--config", case.path, env=environment)
    assert (status, err) == (1, "")
    lines = out.splitlines()
    (wrong,) = [line for line in lines if not line.startswith("✓ ")]
    assert wrong.startswith("✗ clock: 1")
    assert wrong.endswith(" s behind the clock of the Hub → set the clock of this machine, for example with NTP")

    hub.clock_is_off = 0.0
    status, out, err = bot("doctor", "--config", case.path, "--format", "json", env=environment)
    assert (status, err) == (0, "")
    assert [set(one) for one in json.loads(out)] == [{"name", "status", "text", "advice"}] * len(lines)
    assert SECRET not in out
