"""What every check of `doctor` uses: the set-up that is checked, the result of one check, and a trial delivery."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import httpx

from bot.errors import BotError, Unavailable
from bot.platforms.net import in_words
from bot.platforms.platform import Access, Opener
from bot.service.settings.config import Settings, Watch, WatchTarget

Status = Literal["ok", "warning", "wrong"]
CLOCK = 300.0  # seconds that our clock may be off
TRY_AGAIN = "try again; if it continues, check the network, and HF_ENDPOINT or GITHUB_API_URL"
WAIT = "wait so long; if it comes again and again, find out what else uses this account"
ANSWER_WITHIN = 10.0  # for an answer
EMPTY = b"{}"
OF_SHELL = " (this shell's token; serve has the one that it was started with)"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check: `text` says what was found, `advice` what to do, "" if nothing is to be done.

    A `warning` works but may surprise, or stands for a check that cannot be made.
    """

    name: str
    status: Status
    text: str
    advice: str = ""


@dataclass
class ServiceCase:
    """The set-up that is checked: the settings file, the accounts, the state, and the secrets of webhooks.

    `clock` gives Unix seconds. `settings` are None before they were read, and where they cannot be read.
    """

    path: Path
    access: Access
    database: str
    secret: str | None = None
    github_secret: str | None = None
    clock: Callable[[], float] = time.time
    settings: Settings | None = field(default=None, init=False)

    @cached_property
    def opener(self) -> Opener:
        """Opens what the settings name; relative folders start beside them."""
        return Opener(self.access, self.path.resolve().parent)

    @property
    def watches(self) -> Sequence[Watch]:
        """The watches of the settings."""
        return self.settings.watches if self.settings else ()

    @property
    def sources(self) -> list[str]:
        """The addresses of all sources, each once."""
        return list(dict.fromkeys(watch.source for watch in self.watches))

    @property
    def targets(self) -> list[WatchTarget]:
        """All targets, each address and form once."""
        found = [target for watch in self.watches for target in watch.targets]
        return list({(target.to, target.form): target for target in found}.values())

    def addresses(self, scheme: str) -> list[str]:
        """The sources and targets of one platform; folders have the scheme "", `hf://models` is not a repository."""
        found = dict.fromkeys([*self.sources, *(target.to for target in self.targets if target.kind != "models")])
        return [name for name in found if scheme_of(name) == scheme]


def scheme_of(address: str) -> str:
    """The scheme of an address, "" of a folder."""
    scheme, separator, _ = address.partition("://")
    return scheme if separator else ""


def attempt(name: str, call: Callable[[], str], advice: str) -> Diagnosis:
    """The result of a check that makes a call: `ok` with its text, or `wrong` with the reason for its failure."""
    try:
        return Diagnosis(name, "ok", call())
    except Unavailable as error:
        return Diagnosis(name, "wrong", error.in_one_line, WAIT if error.retry_after else TRY_AGAIN)
    except BotError as error:
        return Diagnosis(name, "wrong", error.in_one_line, advice)


def unchecked(name: str, why: str) -> Diagnosis:
    """The result of a check that cannot be made: whether anything is wrong is not known."""
    return Diagnosis(name, "warning", f"cannot be checked: {why}")


def compare_clocks(date: str | None, ours: float, service: str) -> Diagnosis:
    """Tell whether our clock, in Unix seconds, agrees with the Date header of a service."""
    try:
        off = ours - parsedate_to_datetime(date or "").timestamp()
    except ValueError:
        return unchecked("clock", f"{service} sends no date")
    text = f"{abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} the clock of {service}"
    if abs(off) > CLOCK:
        return Diagnosis("clock", "wrong", text, "set the clock of this machine, for example with NTP")
    return Diagnosis("clock", "ok", text)


def hub_headers(secret: str) -> dict[str, str]:
    """The header in which the Hub sends the secret of a webhook."""
    return {"X-Webhook-Secret": secret}


def github_headers(secret: str) -> dict[str, str]:
    """The headers of an empty delivery by GitHub, which proves the secret with a signature."""
    signature = hmac.new(secret.encode(), EMPTY, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Event": "ping"}


def check_reach(address: str, headers: dict[str, str], variable: str) -> Diagnosis:
    """Send an empty delivery to an address, and say what came back.

    `variable` is the environment variable that holds the secret, which is sent only over TLS or to this machine.
    """
    name = f"delivery to {address}"
    parts = urlsplit(address)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK:
        return Diagnosis(name, "wrong", "the address is not https: everybody could read the secret", "use https")
    try:
        answer = httpx.post(address, content=EMPTY, headers=headers, timeout=ANSWER_WITHIN)
    except httpx.ConnectError as error:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        advice = f"check that serve runs there, and that firewall and proxy let port {port} in from everywhere"
        return Diagnosis(name, "warning", f"no connection from here to port {port} ({in_words(error)})", advice)
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
