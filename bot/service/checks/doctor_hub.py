"""The checks at the Hub: token, rights, webhook, secret, clock and the remaining requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bot.errors import BotError, DiscussionsDisabled, Gone, Refused
from bot.platforms.hub.address import BUCKETS, parse_address
from bot.platforms.hub.client import HubClient, has_right, role_of, service_headers
from bot.platforms.hub.platform import HubPlatform
from bot.platforms.hub.webhooks import DOMAINS, address_of, delivers_to_service, hooks, names
from bot.service.checks.diagnosis import (
    OF_SHELL,
    Diagnosis,
    ServiceCase,
    Status,
    attempt,
    check_reach,
    compare_clocks,
    hub_headers,
    scheme_of,
    unchecked,
)
from bot.service.context import watched_by
from bot.service.settings.config import WatchTarget

NOBODY = "it is not known whose token this is; see the token for the Hub"
WHERE = "make one at https://huggingface.co/settings/tokens and set HF_TOKEN"
Names = set[tuple[str, str]]


def check_hub(case: ServiceCase) -> Iterator[Diagnosis]:
    """All checks at the Hub; those that need the account only where it is known."""
    client = HubPlatform.client(case.opener)
    token = check_token(case, client)
    is_known = "account" in client.__dict__
    yield token
    yield check_secret(case)
    targets = [one for one in case.targets if scheme_of(one.to) == "hf" and one.form != "comment" and not one.models]
    if is_known:
        yield from (check_right(client, target) for target in targets)
        yield from check_talk(case, client)
        yield from check_discussions(case, client)
        yield from check_webhooks(case, client)
    else:
        yield from (unchecked(f"right to write {target.to}", NOBODY) for target in targets)
        yield unchecked("webhook", NOBODY)
    yield from check_beside(case, client)


def check_token(case: ServiceCase, client: HubClient) -> Diagnosis:
    """Tell whether there is a token, and who it is; one that only reads cannot publish."""
    name = "token for the Hub"
    if case.access.hf_keyless:
        return unchecked(name, "trusted publishing gives one for a single repository")
    if not case.access.hf_token:
        return Diagnosis(name, "wrong", "HF_TOKEN is not set", WHERE)
    found = attempt(name, lambda: client.user, f"check that HF_TOKEN is complete and not revoked, or {WHERE}")
    if found.status != "ok":
        return found
    role = role_of(client.account)
    if role == "read":
        return Diagnosis(name, "wrong", f"{client.user}, but the token may only read", f"let it write: {WHERE}")
    kinds = {"fineGrained": ", a fine-grained token", "": ""}
    return Diagnosis(name, "ok", client.user + kinds.get(role, f", a token that may {role}") + OF_SHELL)


def check_secret(case: ServiceCase) -> Diagnosis:
    """Tell whether a secret is set, without which nobody can tell the Hub's deliveries from those of strangers."""
    name, advice = "WEBHOOK_SECRET", "set it here, where serve runs, and by: leaderboard-bot webhook update"
    if not case.secret:
        why = "is not set: only a server on loopback takes webhooks of the Hub without it"
        return Diagnosis(name, "warning", why, advice)
    if not case.secret.isascii():
        return Diagnosis(name, "wrong", "has characters that are not ASCII, which the Hub does not send", advice)
    return Diagnosis(name, "ok", "is set")


def check_right(client: HubClient, target: WatchTarget) -> Diagnosis:
    """Tell whether the account may do what a form needs: commits need the right to write, requests do not."""
    name, by_request = f"right to write {target.to}", target.form == "pull-request"
    address = parse_address(target.to)
    if not by_request and has_right(client.account, "repo.write", address) is False:
        advice = f"give the token `repo.write` for {address.name}: https://huggingface.co/settings/tokens"
        return Diagnosis(name, "wrong", "the fine-grained token may not write there", advice)
    try:
        client.read(client.api.auth_check, address.name, repo_type=address.kind, write=True)
    except Gone as error:
        return unchecked(name, error.in_one_line)
    except Refused as error:
        if by_request:
            return Diagnosis(
                name, "ok", "not needed: the bot proposes rows and table in requests, which anybody may open"
            )
        advice = f'give {client.user} the right to write there, or set as = "pull-request"'
        return Diagnosis(name, "wrong", error.in_one_line, advice)
    except BotError as error:
        return unchecked(name, error.in_one_line)
    return Diagnosis(name, "ok", f"{client.user} may write")


def check_talk(case: ServiceCase, client: HubClient) -> Iterator[Diagnosis]:
    """Name the repositories where a fine-grained token may not open requests and discussions, or comment."""
    needed = [watch.source for watch in case.watches if watch.comments and not watch.source.startswith(BUCKETS)]
    needed += [one.to for one in case.targets if one.form != "commit" and not one.models]
    for name in (one for one in case.addresses("hf") if one in needed):
        if has_right(client.account, "discussion.write", parse_address(name)) is False:
            advice = "give the token `discussion.write`: https://huggingface.co/settings/tokens"
            text = "the fine-grained token may not open pull requests and discussions there, nor comment"
            yield Diagnosis(f"right to talk at {name}", "wrong", text, advice)


def check_discussions(case: ServiceCase, client: HubClient) -> Iterator[Diagnosis]:
    """Name the repositories where the bot would write and people disabled discussions, which disables requests too."""
    needed: dict[str, tuple[Status, str]] = {
        watch.source: ("warning", "only the page shows faulty pushes") for watch in case.watches if watch.comments
    }
    needed |= {one.to: ("wrong", "the bot cannot propose rows there") for one in case.targets if one.form != "commit"}
    for name in (one for one in case.addresses("hf") if one in needed):
        status, effect = needed[name]
        talk = HubPlatform().open_discussions(name, case.opener)
        try:
            if talk is not None:  # only our own are listed: strangers may have opened thousands
                talk.listed("discussion", "open", client.user)
        except DiscussionsDisabled:
            text = f"discussions and pull requests are disabled: {effect}"
            yield Diagnosis(f"discussions of {name}", status, text, "enable them in the settings of the repository")
        except BotError as error:
            yield unchecked(f"discussions of {name}", error.in_one_line)


def check_webhooks(case: ServiceCase, client: HubClient) -> Iterator[Diagnosis]:
    """Tell whether one webhook covers all repositories of the settings; a line for each address of a webhook."""
    try:
        wanted = {(one["type"], one["name"]) for one in watched_by(case.settings)} if case.settings else set()
        found = [hook for hook in hooks(client) if _is_ours(hook, wanted)]
    except BotError as error:
        yield unchecked("webhook", error.in_one_line)
        return
    if not found:
        text = "no webhook tells this service about pushes; it sees them only after settle_every"
        advice = "leaderboard-bot webhook create https://…/webhooks/hub"
        yield Diagnosis("webhook", "wrong" if case.secret else "warning", text, advice)
    for address in dict.fromkeys(map(address_of, found)):
        outcome = check_address([hook for hook in found if address_of(hook) == address], wanted, case.secret)
        yield outcome
        if outcome.status == "ok" and case.secret and address.startswith("http"):
            yield check_reach(address, hub_headers(case.secret), "WEBHOOK_SECRET")


def check_address(found: Sequence[Any], wanted: Names, secret: str | None) -> Diagnosis:
    """Tell whether an address has exactly one webhook, and whether that one is enabled and covers everything."""
    hook, address = found[0], address_of(found[0])
    if len(found) > 1 and hook.url:
        text = f"doubled: {', '.join(one.id for one in found)} all deliver to {address}"
        return Diagnosis("webhook", "wrong", text, f"keep one: leaderboard-bot webhook create {address}")
    faults = list(_faults(hook, wanted, secret))
    if faults:
        again = f"leaderboard-bot webhook create --job ID, and then leaderboard-bot webhook delete {hook.id}"
        advice = f"leaderboard-bot webhook update {hook.id}" if hook.url else again
        return Diagnosis("webhook", "wrong", f"{hook.id} → {address}: {'; '.join(faults)}", advice)
    return Diagnosis("webhook", "ok", f"{hook.id} → {address}, watches the {len(wanted)} repositories of the settings")


def _faults(hook: Any, wanted: Names, secret: str | None) -> Iterator[str]:
    if hook.disabled:
        yield "it is disabled"
    if missing := [f"{kind} {name}" for kind, name in sorted(wanted) if not _watches(hook, kind, name)]:
        yield f"it does not watch {', '.join(missing)}"
    if missing := [domain for domain in DOMAINS if domain not in hook.domains]:
        yield f"it does not send {' and '.join(missing)} events"
    if hook.job is not None and "HF_TOKEN" not in (hook.job.secrets or ()):
        yield "its job has no HF_TOKEN, for the Hub does not copy the secrets of a job to its webhook"
    given = hook.secret or next(iter(parse_qs(urlsplit(hook.url or "").query).get("secret", [])), None)
    if secret and given and given != secret:
        yield "its secret is not WEBHOOK_SECRET"


def _is_ours(hook: Any, wanted: Names) -> bool:
    """Tell whether a webhook for a repository of the settings delivers to a service like ours, or starts a job."""
    is_for_service = delivers_to_service(hook) or not hook.url
    return is_for_service and any(_watches(hook, kind, name) for kind, name in wanted)


def _watches(hook: Any, kind: str, name: str) -> bool:
    """Tell whether a webhook watches a repository, or all repositories of its owner."""
    owner = name.partition("/")[0]
    return bool(names(hook) & {(kind, name), ("org", owner), ("user", owner)})


def check_beside(case: ServiceCase, client: HubClient) -> Iterator[Diagnosis]:
    """The checks that the headers of an answer allow: the Hub's clock, and how many requests are left."""
    name = "limits of the Hub"
    try:
        date, limit = service_headers(client, parse_address(case.addresses("hf")[0]))
    except BotError as error:
        yield from (unchecked(one, error.in_one_line) for one in ("clock", name))
        return
    yield compare_clocks(date, case.clock(), "the Hub")
    if limit is None:
        yield unchecked(name, "it does not say what is left")
    elif limit.remaining <= 0:
        yield Diagnosis(name, "warning", "no request is left", f"wait {limit.reset_in_seconds} s")
    else:
        yield Diagnosis(name, "ok", f"{limit.remaining:,} requests left for the next {limit.reset_in_seconds} s")
