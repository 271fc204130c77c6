"""Check that the service answers at a webhook's address and accepts the secret, with an empty delivery."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import urlsplit

import httpx

from bot.service.diagnosis import Diagnosis, unchecked

SECONDS = 10.0  # for an answer
EMPTY = b"{}"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def hub_headers(secret: str) -> dict[str, str]:
    """How the Hub shows a secret."""
    return {"X-Webhook-Secret": secret}


def github_headers(secret: str) -> dict[str, str]:
    """How GitHub shows a secret."""
    signature = hmac.new(secret.encode(), EMPTY, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Event": "ping"}


def check_reach(address: str, headers: dict[str, str], variable: str) -> Diagnosis:
    """Deliver nothing to an address, and say what came back; `variable` names the secret that the headers show.

    The secret is sent over TLS only, or to this machine.
    """
    name = f"delivery to {address}"
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        return Diagnosis(name, "wrong", "the address is not https: everybody could read the secret", "use https")
    try:
        answer = httpx.post(address, content=EMPTY, headers=headers, timeout=SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        advice = "check that serve runs, and that the address reaches it from everywhere"
        return Diagnosis(name, "warning", f"no answer from here ({type(error).__name__})", advice)
    if answer.status_code == 202:
        return Diagnosis(name, "ok", "the service answers, and accepts the secret")
    if answer.status_code in {401, 403}:
        text = f"the service answers, but rejects the secret ({answer.status_code})"
        return Diagnosis(name, "wrong", text, f"set the same {variable} where serve runs, and start it again")
    if answer.status_code in {429, 503}:
        return unchecked(name, f"the service is busy ({answer.status_code})")
    text = f"the answer is {answer.status_code}, so this is not the service"
    return Diagnosis(
        name, "wrong", text, "check that the address is complete and ends in /webhooks/hub or /webhooks/github"
    )
