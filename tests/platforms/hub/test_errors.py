"""What the Hub's client raises becomes an error of ours, with the reason and without a secret."""

from __future__ import annotations

from json import JSONDecodeError

import httpx2
import pytest
from huggingface_hub.errors import HFValidationError, OIDCError

from bot.errors import BotError, CallError, Refused, Unavailable
from bot.platforms.hub.client import hub_errors

CASES: list[tuple[Exception, type[BotError], str]] = [
    (ConnectionResetError("by peer"), Unavailable, "the connection broke off (by peer)"),
    (httpx2.ReadTimeout("too slow"), Unavailable, "no answer in time (too slow)"),
    (httpx2.ConnectError("[Errno 111] Connection refused"), Unavailable, "reached: no connection (Connection refused)"),
    (httpx2.RemoteProtocolError(""), Unavailable, "reached: the connection broke off"),
    (JSONDecodeError("no JSON", "<html>", 0), Unavailable, "refs: the answer is not from the Hub (JSONDecode"),
    (KeyError("sha"), Unavailable, "refs: the answer is not from the Hub (KeyError)"),
    (HFValidationError("Repo id\n  is odd"), Refused, "Repo id is odd"),
    (ValueError("the card\n is odd"), Refused, "the card is odd"),
    (OIDCError("no\n id-token"), Refused, "trusted publishing: no id-token"),
    (httpx2.InvalidURL("odd"), CallError, ""),
    (UnicodeError("encoding with 'idna' codec failed"), CallError, ""),
]


@pytest.mark.parametrize(("error", "ours", "why"), CASES, ids=[type(error).__name__ for error, *_ in CASES])
def test_an_error_of_the_client_is_one_of_ours_with_the_reason(
    error: Exception, ours: type[BotError], why: str
) -> None:
    with pytest.raises(ours) as raised, hub_errors("refs"):
        raise error

    assert type(raised.value) is ours
    assert why in str(raised.value)


def test_a_hub_that_is_away_is_one_cause_whatever_it_was_asked_for() -> None:
    for path in ("/api/datasets/acme/results", "/api/datasets/acme/contents", "/api/whoami-v2"):
        request = httpx2.Request("GET", f"https://huggingface.co{path}")
        with pytest.raises(Unavailable) as raised, hub_errors("refs"):
            raise httpx2.ConnectError("[Errno 111] Connection refused", request=request)
        assert str(raised.value) == "the Hub could not be reached: no connection (Connection refused)"


def test_a_header_that_cannot_be_sent_is_not_told_for_it_may_be_the_token() -> None:
    with pytest.raises(Unavailable) as raised, hub_errors():
        raise httpx2.LocalProtocolError("Illegal header value b'Bearer hf_secret'")

    assert "the request cannot be sent" in str(raised.value)
    assert "secret" not in str(raised.value)


def test_what_is_not_the_hub_s_doing_stays_as_it_is() -> None:
    with pytest.raises(PermissionError), hub_errors():
        raise PermissionError(13, "a file of this machine")
