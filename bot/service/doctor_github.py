"""The checks at GitHub: token, rights, and what is left of the requests."""

from __future__ import annotations

from collections.abc import Iterator

from bot.errors import BotError
from bot.platforms.github.client import GitHubClient, parse_address
from bot.platforms.github.platform import GitHubPlatform
from bot.platforms.github.rights import budget, may_push
from bot.service.config import WatchTarget
from bot.service.diagnosis import Diagnosis, ServiceCase, attempt, compare_clocks, line_of, scheme_of, unchecked


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
    yield from check_budget(case, client)


def check_token(client: GitHubClient, *, is_needed: bool) -> Diagnosis:
    """Whether there is a token, and who it is; reading works without one, slowly."""
    name = "token for GitHub"
    if not client.has_account:
        text = "GITHUB_TOKEN is not set" + ("" if is_needed else ": 60 requests an hour")
        return Diagnosis(name, "wrong" if is_needed else "warning", text, "make a token and set GITHUB_TOKEN")
    return attempt(name, lambda: client.login, f"see that {client.account_name} is whole and not expired")


def check_right(client: GitHubClient, target: WatchTarget, name: str) -> Diagnosis:
    """Whether the account may push: a commit needs it, and a request for its branch."""
    try:
        is_allowed = may_push(client, parse_address(target.to).name)
    except BotError as error:
        return unchecked(name, line_of(error))
    if is_allowed is None:
        return unchecked(name, "GitHub does not say it of this token")
    if is_allowed:
        return Diagnosis(name, "ok", f"{client.login} may push")
    return Diagnosis(name, "wrong", f"{client.login} may not push", f"give {client.login} the right to write there")


def check_budget(case: ServiceCase, client: GitHubClient) -> Iterator[Diagnosis]:
    """What is left of the requests of this hour; and the clock, where nobody asks the Hub for it."""
    name = "limits of GitHub"
    try:
        found = budget(client)
    except BotError as error:
        yield unchecked(name, line_of(error))
        return
    if not case.addresses("hf"):
        yield compare_clocks(found.date, case.clock(), "GitHub")
    text = f"{found.left:,} of {found.limit:,} requests left"
    wait = f"wait {max(0.0, found.reset - case.clock()):.0f} s"
    yield Diagnosis(name, "ok", text) if found.left else Diagnosis(name, "warning", text, wait)
