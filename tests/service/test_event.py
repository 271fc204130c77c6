"""Deliveries as they come: known ones say what moved, unknown ones are nothing of ours, none is an error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.service.watch.event import Event, concerns_us, parse_event
from tests.texts import any_text
from tests.world import payloads
from tests.world.hub import Hub

KEYS = st.sampled_from(["event", "repo", "scope", "type", "name", "updatedRefs", "ref"]) | any_text()
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | any_text(),
    lambda below: st.lists(below) | st.dictionaries(KEYS, below),
)


@pytest.fixture
def hub() -> Hub:
    hub = Hub()
    hub.repository("acme/results")
    return hub


def parsed(payload: dict[str, Any]) -> Event:
    event = parse_event(json.dumps(payload).encode())
    assert event is not None
    return event


def push(hub: Hub, ref: str = "refs/heads/main") -> dict[str, Any]:
    return payloads.push(hub, hub.repositories["dataset", "acme/results"], ref, "a" * 40, "b" * 40)


def test_a_push_names_the_repository_and_what_moved(hub: Hub) -> None:
    event = parsed(push(hub))

    assert event == Event("datasets/acme/results", "repo.content", "update", (("refs/heads/main", "b" * 40),))


def test_a_later_version_with_new_words_is_read_all_the_same(hub: Hub) -> None:
    payload = push(hub) | {"webhook": {"version": 9}, "more": [1]}
    payload["event"] = {"action": "rebase", "scope": "repo.content.lfs"}

    assert parsed(payload).moves_content


@pytest.mark.parametrize("kind", ["bucket", "kernel", "model"])
def test_kinds_of_repository_that_we_never_watch_are_read(hub: Hub, kind: str) -> None:
    payload = push(hub)
    payload["repo"]["type"] = kind

    assert parsed(payload).repository == f"{kind}s/acme/results"


def test_our_own_commits_comments_and_requests_do_not_concern_us(hub: Hub) -> None:
    repository = hub.repositories["dataset", "acme/results"]
    row = hub.open_discussion(repository, "A title", "text", "bot")
    talk = payloads.discussion(hub, repository, row, "discussion.comment", "create", row.events[0])
    ours = {"our_ids": {hub.user_id("bot")}, "our_commits": {"b" * 40}}

    assert not concerns_us(parsed(talk), **ours)
    assert not concerns_us(parsed(push(hub, "refs/pr/3")), **ours)
    assert not concerns_us(parsed(push(hub)), **ours)


def test_what_others_push_and_say_concerns_us(hub: Hub) -> None:
    repository = hub.repositories["dataset", "acme/results"]
    row = hub.open_discussion(repository, "A title", "text", "ann")
    talk = payloads.discussion(hub, repository, row, "discussion.comment", "create", row.events[0])
    nobody: dict[str, Any] = {"our_ids": {hub.user_id("bot")}, "our_commits": set()}

    assert concerns_us(parsed(talk), **nobody)
    assert concerns_us(parsed(push(hub)), **nobody)
    assert concerns_us(parsed(push(hub, "refs/pr/3")), **nobody)


def test_tags_branches_and_settings_do_not_concern_us(hub: Hub) -> None:
    nobody: dict[str, Any] = {"our_ids": set(), "our_commits": set()}
    config = push(hub) | {"event": {"action": "update", "scope": "repo.config"}}

    assert not concerns_us(parsed(push(hub, "refs/tags/v1")), **nobody)
    assert not concerns_us(parsed(push(hub, "refs/heads/draft")), **nobody)
    assert not concerns_us(parsed(config), **nobody)


@given(st.binary())
def test_bytes_that_are_no_payload_are_nothing(body: bytes) -> None:
    assert parse_event(body) is None


@given(json_values)
def test_any_json_is_read_without_an_error(value: Any) -> None:
    event = parse_event(json.dumps(value).encode())

    assert event is None or isinstance(concerns_us(event, our_ids=(), our_commits=()), bool)


def test_a_deep_payload_is_nothing() -> None:
    assert parse_event(b"[" * 100_000 + b"]" * 100_000) is None
