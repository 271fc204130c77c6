"""The checks at GitHub: token, rights, repositories, webhooks, schedules, secret, and the remaining requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot.errors import BotError, Refused
from bot.platforms.github.address import parse_address
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.platform import GitHubPlatform
from bot.platforms.github.wire import SERVICE
from bot.service.checks.diagnosis import (
    OF_SHELL,
    Diagnosis,
    ServiceCase,
    attempt,
    check_reach,
    compare_clocks,
    github_headers,
    scheme_of,
    unchecked,
)
from bot.service.settings.config import WatchTarget

PATH = "/webhooks/github"  # where the service takes deliveries
EVENTS = ("push", "pull_request", "issues", "issue_comment")
HOOK_ADVICE = "in the settings of the repository, as docs/github.md says under The webhook"
MOST_BYTES = 200_000  # of a workflow
CRON = re.compile(r"^[ \t]*+(?:-[ \t]*+)?cron:[ \t]*+[\"']?[ \t]*+([^\"'#\s](?:[^\"'#\n]*[^\"'#\s])?)", re.MULTILINE)
WRITING = frozenset({"repo", "public_repo"})  # scopes of a classic token that writes


def check_github(case: ServiceCase) -> Iterator[Diagnosis]:
    """All checks at GitHub; those that need the account only where it is known."""
    client = GitHubPlatform.client(case.opener)
    targets = [target for target in case.targets if scheme_of(target.to) == "github"]
    token = check_token(client, is_needed=bool(targets))
    yield token
    for target in targets:
        if target.form != "comment":
            name = f"right to write {target.to}"
            yield check_right(client, target, name) if token.status == "ok" else unchecked(name, "it needs the token")
    if token.status == "ok":
        yield from check_sources(case, client)
    yield check_secret(case)
    for name in dict.fromkeys(parse_address(one).name for one in case.addresses("github")):
        yield from check_webhooks(case, client, name)
        yield from check_schedules(case, client, name)
    yield from check_budget(case, client)


def check_token(client: GitHubClient, *, is_needed: bool) -> Diagnosis:
    """Tell whether there is a token, and who it is; reading works without one, slowly."""
    name = "token for GitHub"
    if not client.has_account:
        text = "GITHUB_TOKEN is not set" + ("" if is_needed else ": 60 requests an hour")
        return Diagnosis(name, "wrong" if is_needed else "warning", text, "make a token and set GITHUB_TOKEN")

    def call() -> str:
        headers = client(lambda: client.github.requester.requestJsonAndCheck("GET", "/rate_limit")[0])
        said = headers.get("x-oauth-scopes")  # of a classic token alone
        scopes = None if said is None else [scope for scope in said.replace(" ", "").split(",") if scope]
        if scopes is not None and not WRITING.intersection(scopes):
            raise Refused(SERVICE, f"{client.user} has a token with the scopes {', '.join(scopes) or 'none'}")
        known = client.user if scopes is None else f"{client.user}, with the scopes {', '.join(scopes)}"
        return known + OF_SHELL

    variable = "GITHUB_APP_ID" if client.app else "GITHUB_TOKEN"
    return attempt(name, call, f"check that {variable} is complete, not expired, and has the scope repo or public_repo")


def check_right(client: GitHubClient, target: WatchTarget, name: str) -> Diagnosis:
    """Tell whether the account may push: a commit needs it, and a request for its branch."""
    repository = parse_address(target.to).name
    try:
        row = client.get(f"/repos/{repository}")
        is_empty = not client.get(f"/repos/{repository}/branches", per_page=1)
    except BotError as error:
        return unchecked(name, error.in_one_line)
    if row.get("archived"):
        return Diagnosis(name, "wrong", "the repository is archived", "unarchive it, or name another target")
    if is_empty:
        return Diagnosis(name, "wrong", "the repository has no commit yet", "make a first commit, for example a README")
    # GitHub answers for the account, not for what a fine-grained token was given; of an app it says nothing.
    permissions = row.get("permissions")
    if not isinstance(permissions, dict) or client.user.endswith("[bot]"):
        return unchecked(name, "GitHub does not show the rights of this token")
    if permissions.get("push"):
        return Diagnosis(name, "ok", f"{client.user} may push")
    return Diagnosis(name, "wrong", f"{client.user} may not push", f"give {client.user} the right to write there")


def check_budget(case: ServiceCase, client: GitHubClient) -> Iterator[Diagnosis]:
    """The remaining requests of this hour; and the clock, where nobody asks the Hub for it."""
    name = "limits of GitHub"

    def call() -> tuple[dict[str, int], str | None]:
        headers, data = client.github.requester.requestJsonAndCheck("GET", "/rate_limit")  # which costs no request
        core = data["resources"]["core"]
        return {each: int(core[each]) for each in ("remaining", "limit", "reset")}, headers.get("date")

    try:
        found, date = client(call)
    except BotError as error:
        yield unchecked(name, error.in_one_line)
        return
    if not case.addresses("hf"):
        yield compare_clocks(date, case.clock(), "GitHub")
    text = f"{found['remaining']:,} of {found['limit']:,} requests left"
    wait = f"wait {max(0.0, found['reset'] - case.clock()):.0f} s"
    yield Diagnosis(name, "ok", text) if found["remaining"] else Diagnosis(name, "warning", text, wait)


def check_sources(case: ServiceCase, client: GitHubClient) -> Iterator[Diagnosis]:
    """Tell whether the bot can comment at the sources: not where they are archived, or their issues are disabled."""
    for watch in case.watches:
        if scheme_of(watch.source) != "github" or not watch.comments:
            continue
        name = f"reviews at {watch.source}"
        try:
            row = client.get(f"/repos/{parse_address(watch.source).name}")
        except BotError as error:
            yield unchecked(name, error.in_one_line)
            continue
        if row.get("archived"):
            yield Diagnosis(name, "wrong", "the repository is archived", "set comments = false, or unarchive it")
        elif not row.get("has_issues", True):
            text = "issues are disabled: only the page shows faulty pushes"
            yield Diagnosis(name, "warning", text, "enable issues in the settings of the repository")
        else:
            yield Diagnosis(name, "ok", "people with the right may write to pull requests and issues")


def check_secret(case: ServiceCase) -> Diagnosis:
    """Tell whether a secret is set, without which nobody can tell GitHub's deliveries from those of strangers."""
    name, advice = "GITHUB_WEBHOOK_SECRET", "set it here, where serve runs, and in the webhook at GitHub"
    if not case.github_secret:
        why = "is not set: only a server on loopback takes webhooks of GitHub without it"
        return Diagnosis(name, "warning", why, advice)
    return Diagnosis(name, "ok", "is set")


def check_webhooks(case: ServiceCase, client: GitHubClient, repository: str) -> Iterator[Diagnosis]:
    """Tell whether one webhook of a repository delivers to the service, and how its last delivery ended."""
    name = f"webhook of github://{repository}"
    try:
        rows = client.get(f"/repos/{repository}/hooks", per_page=100)
    except BotError as error:
        yield unchecked(name, f"only administrators of the repository see its webhooks ({error.in_one_line})")
        return
    found = [hook for hook in rows if _address_of(hook).endswith(PATH)]
    if not found:
        text = "no webhook tells this service about pushes; it sees them only after settle_every"
        yield Diagnosis(name, "wrong" if case.github_secret else "warning", text, HOOK_ADVICE)
    for address in dict.fromkeys(map(_address_of, found)):
        diagnosis = _diagnosis_of(name, address, [hook for hook in found if _address_of(hook) == address])
        yield diagnosis
        if diagnosis.status == "ok" and case.github_secret:
            yield check_reach(address, github_headers(case.github_secret), "GITHUB_WEBHOOK_SECRET")


def check_schedules(case: ServiceCase, client: GitHubClient, repository: str) -> Iterator[Diagnosis]:
    """Tell whether GitHub still starts each workflow that runs the bot on a schedule."""
    try:
        listed = client.get(f"/repos/{repository}/actions/workflows").get("workflows") or []
        source = case.opener.source(f"github://{repository}")
        head = source.head()
        texts = {
            one["path"]: (source.read(one["path"], head, MOST_BYTES) or b"").decode(errors="replace") for one in listed
        }
    except BotError:
        return  # a token without the right to see workflows, or a repository without commits
    for one in listed:
        crons = CRON.findall(texts[one["path"]])
        name, state = f"schedule of {one['path']}", one.get("state")
        if not crons or "leaderboard-bot" not in texts[one["path"]]:
            continue
        if state == "active":
            yield Diagnosis(name, "ok", f"runs at {', '.join(crons)}")
        else:
            advice = "enable the workflow in the tab Actions; GitHub disables it after 60 days without a commit"
            yield Diagnosis(name, "wrong", f"GitHub does not start it: {state}", advice)


def _address_of(hook: dict[str, Any]) -> str:
    """The address of a webhook without its query, which may hold a secret."""
    return str((hook.get("config") or {}).get("url") or "").partition("?")[0].rstrip("/")


def _diagnosis_of(name: str, address: str, found: Sequence[dict[str, Any]]) -> Diagnosis:
    """What is wrong with the webhooks that deliver to one address."""
    if len(found) > 1:
        return Diagnosis(name, "wrong", f"{len(found)} webhooks deliver to {address}", "delete all but one")
    faults, shown = list(_faults(found[0])), f"{found[0]['id']} → {address}"
    if faults:
        return Diagnosis(name, "wrong", f"{shown}: {'; '.join(faults)}", HOOK_ADVICE)
    return Diagnosis(name, "ok", shown)


def _faults(hook: dict[str, Any]) -> Iterator[str]:
    config, events = hook.get("config") or {}, hook.get("events") or ()
    answer = (hook.get("last_response") or {}).get("code")
    if not hook.get("active"):
        yield "it is not active"
    if missing := [event for event in EVENTS if event not in events and "*" not in events]:
        yield f"it does not send {', '.join(missing)}"
    if not config.get("secret"):
        yield "it has no secret"
    if str(config.get("insecure_ssl", "0")) != "0":
        yield "it does not check certificates"
    if answer in {401, 403}:
        yield f"its last delivery was refused ({answer}): its secret is not that of the service"
    elif isinstance(answer, int) and answer >= 300:
        yield f"its last delivery was answered with {answer}"
