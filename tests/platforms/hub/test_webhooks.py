"""The webhook of a service: made once, renewed, moved, deleted; what else the account has stays as it is."""

from __future__ import annotations

import pytest

from bot.errors import CallError
from bot.platforms.hub.webhooks import create, create_for_job, delete, listed, update
from bot.platforms.platform import Access
from tests.world.deliver import Webhook
from tests.world.hub import Hub

URL = "https://bot.example/webhooks/hub"
RESULTS, CONTENTS = ({"type": "dataset", "name": f"acme/{name}"} for name in ("results", "contents"))
FOREIGN = Webhook("foreign", "https://other.example/hook", [RESULTS], ["repo"], "theirs")


@pytest.fixture
def access(hub: Hub) -> Access:
    hub.webhooks["foreign"] = FOREIGN
    return Access(hf_token=hub.person("bot"), hf_endpoint=hub.url)


def ours(hub: Hub) -> list[Webhook]:
    return [hook for hook in hub.webhooks.values() if hook.id != "foreign"]


def test_create_renews_what_has_its_address_and_deletes_doubles(hub: Hub, access: Access) -> None:
    create(access, URL, [RESULTS], "old")
    first = ours(hub)[0]
    hub.webhooks["double"] = Webhook("double", f"{URL}?secret=old", [RESULTS], ["repo"])
    first.disabled = True

    said = create(access, URL, [RESULTS, CONTENTS], "new")
    again = create(access, URL, [RESULTS, CONTENTS], "new")

    assert ours(hub) == [Webhook(first.id, URL, [RESULTS, CONTENTS], ["repo", "discussion"], "new")]
    assert said == (
        f"{first.id} renewed: dataset acme/contents, dataset acme/results → {URL}; 1 more with this address deleted"
    )
    assert again.startswith(f"{first.id} already exists")
    assert hub.webhooks["foreign"] == FOREIGN


def test_update_moves_the_only_one_and_keeps_its_watch_list_whole(hub: Hub, access: Access) -> None:
    create(access, URL, [RESULTS], "old")

    said = update(access, "", "https://new.example/webhooks/hub", [RESULTS, CONTENTS], "new")

    (hook,) = ours(hub)
    assert (hook.url, hook.watched) == ("https://new.example/webhooks/hub", [RESULTS, CONTENTS])
    assert hook.secret == "new"
    assert "renewed" in said
    assert "new.example" in said


@pytest.mark.parametrize(("which", "why"), [("", "0 webhooks end in /webhooks/hub"), ("nothing", "0 webhooks have")])
def test_update_of_none_says_so(access: Access, which: str, why: str) -> None:
    with pytest.raises(CallError, match=why):
        update(access, which, "", [RESULTS], "new")


def test_delete_takes_an_id_or_an_address(hub: Hub, access: Access) -> None:
    for url in (URL, "https://b.example/webhooks/hub", "https://c.example/webhooks/hub"):
        create(access, url, [RESULTS], "old")
    by_id = ours(hub)[1].id

    assert len([*delete(access, f"{URL}?secret=any"), *delete(access, by_id)]) == 2
    assert [hook.url for hook in ours(hub)] == ["https://c.example/webhooks/hub"]
    assert len(list(listed(access))) == 2
    with pytest.raises(CallError, match="no webhook of this account"):
        list(delete(access, by_id))


def test_a_job_gets_its_secrets_with_the_webhook_for_the_hub_does_not_copy_them(hub: Hub, access: Access) -> None:
    said = create_for_job(access, "job1", [RESULTS], {"HF_TOKEN": "hf_secret"})

    (hook,) = ours(hub)
    assert hook.job is not None
    assert hook.job["secrets"] == {"HF_TOKEN": ""}
    assert (hook.url, hook.watched) == (None, [RESULTS])
    assert said == f"{hook.id} created: dataset acme/results → a job with HF_TOKEN"
    assert "hf_secret" not in said
