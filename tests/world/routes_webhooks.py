"""The webhooks of an account of the local Hub: listed, made, changed, enabled again and deleted."""

from __future__ import annotations

import json
from typing import Any

from .deliver import Webhook
from .hub import Call, Hub
from .reply import Failure, Reply, answer


def webhooks(hub: Hub, call: Call, below: list[str]) -> Reply:
    if not call.user:
        raise Failure(401, "Sign in first")
    if below and below[0] not in hub.webhooks:
        raise Failure(404, "Webhook not found")
    match call.method, below:
        case "GET", []:
            return answer([vars(webhook) for webhook in hub.webhooks.values()])
        case "POST", []:
            made = Webhook(f"hook{next(hub.numbers):020}", "", [], [])
            hub.webhooks[made.id] = made
            return answer({"webhook": change(made, json.loads(call.body))})
        case "POST", [name]:
            return answer({"webhook": change(hub.webhooks[name], json.loads(call.body))})
        case "POST", [name, "enable"]:
            hub.webhooks[name].disabled = False
            return answer({"webhook": vars(hub.webhooks[name])})
        case "DELETE", [name]:
            del hub.webhooks[name]
            return answer({})
        case _:
            raise Failure(404, "Not found")


def change(webhook: Webhook, asked: dict[str, Any]) -> dict[str, Any]:
    """Write what was asked for; a call that names nothing to watch wipes what was watched, as the Hub does."""
    webhook.url, webhook.watched = asked.get("url", webhook.url), asked.get("watched", [])
    if "jobSourceId" in asked:  # a copy of that job, without its secrets; values of secrets are never shown
        named = dict.fromkeys(asked.get("secrets", {}), "")
        webhook.url, webhook.job = None, {"dockerImage": "image", "command": ["settle"], "secrets": named}
    webhook.domains, webhook.secret = asked.get("domains", webhook.domains), asked.get("secret", webhook.secret)
    return vars(webhook)
