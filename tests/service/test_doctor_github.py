"""What doctor says of a watch at the local GitHub: token, rights, webhooks, secret, whether the service answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from bot.platforms.platform import Access
from bot.service.checks.diagnosis import Diagnosis, ServiceCase, check_reach, hub_headers
from bot.service.checks.doctor import examine
from bot.service.checks.doctor_github import CRON
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.platforms.github.fixtures import github
from tests.service.answering import SECRET, Idle, answering
from tests.service.github_stories import SETTINGS, SOURCE, TARGET
from tests.world.github_server import GitHubServer
from tests.world.results import TINY

__all__ = ["github"]

EVENTS = ["push", "pull_request", "issues", "issue_comment"]


@pytest.fixture(scope="module")
def service() -> Idle:
    return Idle()


@pytest.fixture(scope="module")
def url(service: Idle) -> Iterator[str]:
    with answering(service) as base:
        yield f"{base}/webhooks/github"


def hook(url: str, **more: Any) -> dict[str, Any]:
    config = {"url": url, "content_type": "json", "insecure_ssl": "0", "secret": "********"}
    told = {"id": 12, "active": True, "events": EVENTS, "last_response": {"code": None, "status": "unused"}}
    return told | {"config": config} | more


@pytest.fixture
def case(github: GitHubServer, url: str, tmp_path: Path) -> Iterator[ServiceCase]:
    """A service in which all is right."""
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "bot.toml").write_text(SETTINGS.format(maintainers="[]"))
    for name in (SOURCE, TARGET):
        github.state.add_repo(name, {"README.md": b"x", "acme__m/results_2026.json": b"{}"}).hooks.append(hook(url))
    github.state.accounts["bot-token"].administers = True
    access = Access(github_token="bot-token", github_api_url=github.url)
    database = f"sqlite:///{tmp_path / 'state.db'}"
    store = Store(connect(database))
    yield ServiceCase(tmp_path / "bot.toml", access, database, None, SECRET)
    store.close()


def again(case: ServiceCase) -> ServiceCase:
    """The same service, of which nothing is known yet."""
    return ServiceCase(case.path, case.access, case.database, case.secret, case.github_secret)


def faults(case: ServiceCase, status: str = "wrong") -> list[Diagnosis]:
    return [one for one in examine(again(case)) if one.status == status]


def test_nothing_is_said_against_a_service_in_which_all_is_right(
    github: GitHubServer, case: ServiceCase, service: Idle, url: str
) -> None:
    for account in github.state.accounts.values():
        account.scopes = "repo" if account.login == "leaderboard-bot" else None
    found = list(examine(case))

    assert [one for one in found if one.status != "ok" and one.name != "clock"] == []
    assert [one.name for one in found] == [
        "settings", "declaration of tiny", "git", "state", "token for GitHub", f"right to write github://{TARGET}",
        f"reviews at github://{SOURCE}", "GITHUB_WEBHOOK_SECRET",
        f"webhook of github://{SOURCE}", f"delivery to {url}", f"webhook of github://{TARGET}", f"delivery to {url}",
        "clock", "limits of GitHub", f"source github://{SOURCE}", f"target github://{TARGET}",
    ]  # fmt: skip
    assert found[4].text.startswith("leaderboard-bot, with the scopes repo (this shell's token; ")
    assert service.events == []
    assert github.state.writes() == 0
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"active": False}, "it is not active"),
        ({"events": ["push"]}, "it does not send pull_request, issues, issue_comment"),
        ({"last_response": {"code": 403}}, "its secret is not that of the service"),
        ({"last_response": {"code": 502}}, "its last delivery was answered with 502"),
    ],
)
def test_each_fault_of_a_webhook_is_said(
    github: GitHubServer, case: ServiceCase, url: str, more: dict[str, Any], said: str
) -> None:
    github.state.repos[SOURCE].hooks[:] = [hook(url, **more)]

    (found,) = faults(case)
    assert said in found.text
    assert "docs/github.md" in found.advice


def test_a_webhook_without_secret_or_certificates_is_wrong(github: GitHubServer, case: ServiceCase, url: str) -> None:
    github.state.repos[SOURCE].hooks[:] = [hook(url, config={"url": url, "insecure_ssl": "1"})]

    (found,) = faults(case)
    assert "it has no secret; it does not check certificates" in found.text


def test_a_missing_or_doubled_webhook_is_wrong(github: GitHubServer, case: ServiceCase, url: str) -> None:
    github.state.repos[SOURCE].hooks.clear()
    github.state.repos[TARGET].hooks.append(hook(url, id=13, events=["*"]))

    assert [one.text.partition(":")[0] for one in faults(case)] == [
        "no webhook tells this service about pushes; it sees them only after settle_every",
        f"2 webhooks deliver to {url.partition(':')[0]}",
    ]


def test_who_does_not_administer_cannot_see_webhooks_and_nothing_is_wrong(
    github: GitHubServer, case: ServiceCase
) -> None:
    github.state.accounts["bot-token"].administers = False

    assert faults(case) == []
    names = [one.name for one in faults(case, "warning") if one.name.startswith("webhook")]
    assert names == [f"webhook of github://{SOURCE}", f"webhook of github://{TARGET}"]


def test_another_secret_than_the_service_has_is_wrong(case: ServiceCase) -> None:
    case.github_secret = "other"

    found = faults(case)
    assert {one.text for one in found} == {"the service answers, but rejects the secret (403)"}
    assert "set the same GITHUB_WEBHOOK_SECRET where serve runs" in found[0].advice


def test_a_token_that_only_reads_by_its_scopes_is_wrong(github: GitHubServer, case: ServiceCase) -> None:
    github.state.accounts["bot-token"].scopes = "read:org, gist"

    assert "with the scopes read:org, gist" in faults(case)[0].text


def test_a_source_that_cannot_be_written_to_is_named(github: GitHubServer, case: ServiceCase) -> None:
    github.state.repos[SOURCE].has_issues = False
    assert "issues are disabled" in str(faults(case, "warning"))

    github.state.repos[SOURCE].archived = True
    assert [one.text for one in faults(case)] == ["the repository is archived"]


def test_an_address_that_nobody_answers_at_is_a_warning_and_one_of_another_is_wrong(url: str) -> None:
    base = url.removesuffix("/webhooks/github")
    closed = check_reach("http://127.0.0.1:9/webhooks/hub", hub_headers(SECRET), "WEBHOOK_SECRET")
    assert (closed.status, "no connection from here to port" in closed.text) == ("warning", True)
    assert check_reach(f"{base}/webhooks/hub", hub_headers(SECRET), "WEBHOOK_SECRET").status == "ok"
    assert check_reach(f"{base}/nothing", hub_headers(SECRET), "WEBHOOK_SECRET").status == "wrong"
    assert "not https" in check_reach("http://bot.example/webhooks/hub", {}, "WEBHOOK_SECRET").text


def test_a_workflow_of_spaces_takes_no_time() -> None:
    began = process_time()
    assert CRON.findall(f"{' ' * 200_000}x\ncron:{' ' * 200_000}\n  - cron: '1 2 * * *'  # daily") == ["1 2 * * *"]
    assert process_time() - began < 10


@pytest.mark.parametrize(
    ("state", "why"), [("active", ""), ("disabled_inactivity", "GitHub does not start it: disabled_inactivity")]
)
def test_a_schedule_that_github_does_not_start_is_wrong(
    github: GitHubServer, case: ServiceCase, state: str, why: str
) -> None:
    path = ".github/workflows/settle.yml"
    text = 'on:\n  schedule:\n    - cron: "17 3 * * *"\njobs:\n  a:\n    steps:\n      - run: leaderboard-bot settle\n'
    repo = github.state.repos[SOURCE.removeprefix("github://")]
    repo.git.push("heads/main", {path: text.encode()})
    repo.workflows.append({"path": path, "state": state})
    found = faults(case)
    assert [one.name for one in found] == ([f"schedule of {path}"] if why else [])
    assert all(why in one.text and one.advice for one in found)
