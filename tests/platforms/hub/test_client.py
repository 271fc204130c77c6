"""The way to the Hub under faults: what is no answer is an outage, no other host gets the token, everything ends."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable

import pytest

from bot.errors import DiscussionsDisabled, Gone, Locked, NoWriteAccess, Refused, TooLong, Unavailable
from bot.platforms.hub.address import parse_address
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.files import HubCommits
from bot.platforms.hub.source import HubSource
from bot.platforms.net import BUDGETS, QUOTA_WAIT, bulk_work
from bot.platforms.source import TooLarge
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.server import served

PAGE = b"<!doctype html><html>The Hub is being repaired</html>"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def talk(source: HubSource) -> HubDiscussions:
    return HubDiscussions(source, {})


CALLS: dict[str, tuple[str, Callable[[HubSource, HubDiscussions], object]]] = {
    "refs": ("/refs", lambda source, _: source.head()),
    "listing": ("/tree/", lambda source, _: list(source.tree("main", ""))),
    "paths": ("/paths-info/", lambda source, _: source.files_at(["a.json"], "main")),
    "commits": ("/commits/", lambda source, _: list(source.history("main"))),
    "discussions": ("/discussions$", lambda _, talk: talk.listed("discussion", "open")),
    "discussion": ("/discussions/1$", lambda _, talk: talk.read(1)),
    "account": ("/whoami-v2", lambda _, talk: talk.source.client.user),
}


@pytest.mark.slow
def test_an_answer_that_unpacks_to_far_more_than_the_hub_gives_is_refused(hub: Hub, source: HubSource) -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join([packer.compress(b" " * 10_000_000) for _ in range(60)]) + packer.flush()
    hub.faults.order("/refs", body=bomb, headers={**JSON, "Content-Encoding": "gzip"}, times=-1)

    assert len(bomb) < 1_000_000
    with pytest.raises(TooLong, match="the answer is too large"):
        source.head()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "answer",
    [(PAGE, {}), (b'[{"name": "a', JSON), (b"3", JSON), (b"null", JSON)],
    ids=["page", "truncated", "number", "null"],
)
def test_what_is_no_answer_is_an_outage_and_asked_for_again(
    hub: Hub, source: HubSource, talk: HubDiscussions, call: str, answer: tuple[bytes, dict[str, str]]
) -> None:  # fmt: skip
    repository = hub.repository("acme/results")
    hub.push(repository, {"a.json": b"1"})
    hub.open_discussion(repository, "Question", "Why?")
    path, ask = CALLS[call]
    expected = ask(source, talk)
    talk.source.client.__dict__.pop("account", None)
    fault = hub.faults.order(path, body=answer[0], headers=answer[1], times=2)

    assert ask(source, talk) == expected
    talk.source.client.__dict__.pop("account", None)
    fault.times = -1
    with pytest.raises(Unavailable) as failure:
        ask(source, talk)
    assert call == "account" or "acme/results" in str(failure.value)


def test_a_listing_that_goes_on_at_another_host_gets_no_token_there(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    commit = hub.push(repository, {"a.json": b"1"}).oid
    with served(Hub()) as other:
        other.repository("acme/results")
        link = f'<{other.url}/api/datasets/acme/results/tree/main?recursive=true>; rel="next"'
        hub.faults.order("/tree/", body=b"[]", headers={**JSON, "Link": link})

        with pytest.raises(Unavailable, match="listing"):  # an empty listing of a commit with files
            source.walk(commit, "")
        assert [call.headers.get("authorization") for call in other.calls] == [None]


def test_a_file_that_lies_at_another_host_is_fetched_there_without_token(
    hub: Hub, repository: Repository, source: HubSource
) -> None:
    commit = hub.push(repository, {"a.json": b"1"}).oid
    with served(Hub()) as other:
        other.faults.order("/blob", body=b"1", times=-1)
        headers = {"Location": f"{other.url}/blob?signature=x", "X-Repo-Commit": commit, "X-Linked-ETag": '"x"'}
        hub.faults.order("/resolve/", status=302, body=b"", headers=headers)

        assert source.read("a.json", commit, 100) == b"1"
        assert [call.headers.get("authorization") for call in other.calls] == [None]


def test_pages_that_name_themselves_as_the_next_end(hub: Hub, repository: Repository, source: HubSource) -> None:
    link = f"<{hub.url}/api/datasets/acme/results/tree/main?recursive=true&expand=false>"
    hub.faults.order("/tree/", body=b"[]", headers={**JSON, "Link": f'{link}; rel="next"'}, times=-1)

    with pytest.raises(Unavailable, match="hf://datasets/acme/results: its list of pages does not end"):
        source.walk("main", "")
    assert len(hub.calls) == 2


def test_an_answer_that_comes_drop_by_drop_ends_with_its_operation(hub: Hub, repository: Repository) -> None:
    source = HubSource(HubClient(hub.url, pause=0.01, deadline=0.5), parse_address("hf://datasets/acme/results"))
    hub.faults.order("/tree/", body=b"[" + b" " * 1000, headers=JSON, drip=0.05, times=-1)

    with pytest.raises(Unavailable, match=r"takes too long|no time is left"):
        list(source.tree("main", ""))
    assert len(hub.calls) == 1


def test_a_large_file_is_not_read_to_find_its_size(hub: Hub, repository: Repository, source: HubSource) -> None:
    commit = hub.push(repository, {"a.json": b"1" * 1000}).oid

    with pytest.raises(TooLarge):
        source.read("a.json", commit, 999)


def test_a_renamed_repository_is_named_with_its_new_name(hub: Hub, repository: Repository, source: HubSource) -> None:
    hub.rename(repository, "acme/evals", redirects=True)

    with pytest.raises(Gone, match="hf://datasets/acme/results was renamed to hf://datasets/acme/evals"):
        source.head()


def test_a_locked_conversation_is_named(hub: Hub, repository: Repository, talk: HubDiscussions) -> None:
    row = hub.open_discussion(repository, "Question", "Why?")
    row.is_locked = True

    for act in (lambda: talk.comment(1, "Because."), lambda: talk.set_status(1, "closed", "Done.")):
        with pytest.raises(Locked, match=r"hf://datasets/acme/results #1: 403: This discussion has been locked"):
            act()


def test_disabled_discussions_are_named(repository: Repository, talk: HubDiscussions) -> None:
    repository.has_discussions = False

    with pytest.raises(DiscussionsDisabled, match="hf://datasets/acme/results: 403: Discussions are disabled"):
        talk.listed("discussion", "open")
    with pytest.raises(DiscussionsDisabled):
        talk.open_discussion("Title", "text")


def test_no_right_to_write_is_named_and_reading_goes_on(
    repository: Repository, source: HubSource, talk: HubDiscussions
) -> None:
    with pytest.raises(NoWriteAccess, match=r"hf://datasets/acme/results: 403: Forbidden: .*; see whether the bot"):
        HubCommits(talk).write({"a.json": b"1"}, "Add", "text")
    assert source.head() == repository.main.oid


def test_a_ref_that_is_gone_is_named(talk: HubDiscussions, repository: Repository) -> None:
    with pytest.raises(Gone, match="hf://datasets/acme/results refs/pr/7: 404"):
        HubCommits(talk).write({"a.json": b"1"}, "Add", "text", revision="refs/pr/7")


def test_the_seconds_asked_for_are_named(hub: Hub, repository: Repository, talk: HubDiscussions) -> None:
    hub.open_discussion(repository, "Question", "Why?")
    hub.faults.order("/comment$", status=429, headers={"RateLimit": '"api";r=0;t=290'})

    with pytest.raises(Unavailable, match=r"comments wait until \d\d:\d\d UTC, because it said: 429: ") as failure:
        talk.comment(1, "Because.")
    assert failure.value.retry_after == 290
    assert not failure.value.may_have_landed


def test_a_quota_holds_its_kind_of_write_and_no_other(
    hub: Hub, repository: Repository, talk: HubDiscussions, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = b'{"error": "You have exceeded our hourly quotas for action: comment. We invite you to retry later."}'
    hub.open_discussion(repository, "Question", "Why?")
    hub.writers.add(("bot", "acme/results"))
    plenty = {"RateLimit": '"api";r=900;t=200', "Content-Type": "application/json"}
    hub.faults.order("/comment$", status=429, body=said, headers=plenty)
    for _ in range(3):
        with pytest.raises(Unavailable, match=r"comments wait until .* hourly quotas for action: comment") as failure:
            talk.comment(1, "Because.")
        assert 890 < (failure.value.retry_after or 0) <= QUOTA_WAIT
    assert len([call for call in hub.calls if call.raw_path.endswith("/comment")]) == 1
    talk.read(1)
    HubCommits(talk).write({"a.json": b"1"}, "Add", "text")

    now = time.monotonic()
    monkeypatch.setattr(BUDGETS, "clock", lambda: now + QUOTA_WAIT)
    talk.comment(1, "Because.")
    assert [posted.text for posted in hub.by("bot") if posted.act == "comment"] == ["Because."]


@pytest.mark.parametrize("time", ["31536000", "9" * 400, "\xb2", "-1", "1e9"])
@pytest.mark.parametrize("form", ["Retry-After", "RateLimit"])
def test_an_odd_time_to_wait_is_an_outage_like_others(
    hub: Hub, repository: Repository, talk: HubDiscussions, form: str, time: str
) -> None:
    hub.open_discussion(repository, "Question", "Why?")
    said = time if form == "Retry-After" else f'"api";r=0;t={time}'
    hub.faults.order("/discussions/1$", status=429, headers={form: said}, times=-1)

    with pytest.raises(Unavailable, match="acme/results #1: 429"):
        talk.read(1)


def test_a_wrong_token_is_a_plain_refusal(hub: Hub, repository: Repository) -> None:
    source = HubSource(HubClient(hub.url, "hf_wrong", pause=0.01), parse_address("hf://datasets/acme/results"))

    with pytest.raises(
        Refused, match=r": 401: the token is missing, wrong or no longer valid; set HF_TOKEN"
    ) as failure:
        source.head()
    assert type(failure.value) is Refused


def test_a_listing_of_another_shape_is_an_outage(hub: Hub, repository: Repository, source: HubSource) -> None:
    hub.faults.order("/tree/", body=json.dumps([{"type": "file"}]).encode(), headers=JSON, times=-1)

    with pytest.raises(Unavailable, match="hf://datasets/acme/results"):
        list(source.tree("main", ""))


def test_bulk_work_uses_half_of_a_window_and_people_the_rest(hub: Hub, source: HubSource) -> None:
    hub.allowed = 40
    with bulk_work(), pytest.raises(Unavailable) as failure:
        [source.head() for _ in range(100)]
    assert len(hub.calls) == 20
    assert failure.value.retry_after == pytest.approx(300, abs=20)
    for _ in range(20):
        source.head()
    with pytest.raises(Unavailable, match="all requests of this window are used"):
        source.head()
    assert len(hub.calls) == 40


def test_a_token_is_not_shown_where_no_header_can_carry_it(hub: Hub) -> None:
    hub.repository("acme/results")
    source = HubSource(HubClient(hub.url, "hf_SECRET\nX: y"), parse_address("hf://datasets/acme/results"))

    with pytest.raises(Unavailable, match="the request cannot be sent") as failure:
        source.head()
    assert "SECRET" not in str(failure.value)


def test_a_client_without_a_token_says_which_variable_is_to_be_set(hub: Hub) -> None:
    with pytest.raises(Refused, match="the token is missing, wrong or no longer valid; set HF_TOKEN"):
        _ = HubClient(hub.url).user
