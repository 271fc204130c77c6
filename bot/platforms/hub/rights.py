"""Rights of an account at the Hub, and the headers of its answers: reads that change nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from huggingface_hub.utils import (  # type: ignore[attr-defined]  # they are loaded when asked for
    get_session,
    parse_ratelimit_headers,
)

from bot.platforms.hub.address import HubAddress
from bot.platforms.hub.client import HubClient


@dataclass(frozen=True, slots=True)
class SaidBeside:
    """What an answer says of the service: its date as in the header, and what is left of a budget of requests.

    `reset` are the seconds until the budget is whole again. None stands for what the answer does not say.
    """

    date: str | None = None
    remaining: int | None = None
    reset: float | None = None


def role_of(account: Mapping[str, Any]) -> str:
    """What kind of token we have: "read", "write", "fineGrained", "" if the Hub does not say."""
    auth = account.get("auth")
    token = auth.get("accessToken") if isinstance(auth, dict) else None
    return str(token.get("role") or "") if isinstance(token, dict) else ""


def check_write(client: HubClient, address: HubAddress) -> None:
    """Ask whether we may write the content of a repository. Raises Refused if we may not, or Unavailable."""
    client.read(client.api.auth_check, address.name, repo_type=address.kind, write=True)


def said_beside(client: HubClient, address: HubAddress) -> SaidBeside:
    """The date and the limit in the headers of an answer about a repository, also of a refusal. Raises Unavailable."""
    url = f"{client.endpoint}/api/{address.kind}s/{address.name}"
    headers = client.patiently(lambda: get_session().get(url, headers=client.headers).headers, address.url)
    limit = parse_ratelimit_headers(headers)
    left, reset = (None, None) if limit is None else (limit.remaining, float(limit.reset_in_seconds))
    return SaidBeside(headers.get("date"), left, reset)
