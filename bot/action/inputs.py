"""The inputs of the Action, read from the environment of the runner and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from bot.errors import CallError
from bot.publishing.publication import Form

Mode = Literal["check", "publish", "verify"]
When = Literal["on-findings", "always", "never"]
FailOn = Literal["error", "warning", "never"]
DEFAULT = "open-llm-v2"
Word = TypeVar("Word", bound=str)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of `action.yml`; tokens are not among them, they are read with the other secrets."""

    results: tuple[str, ...]
    leaderboard: str
    mode: Mode
    to: str
    form: Form
    comment: When
    fail_on: FailOn
    changed_only: bool
    claimed_report: str = ""
    site: str = ""
    badge: str = ""
    config: str = ""
    sources: tuple[str, ...] = ()


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """Read the inputs that `action.yml` hands over as INPUT_…; raises CallError with the input's name."""
    mode = one_of(environ, "mode", get_args(Mode))
    to = environ.get("INPUT_TO", "").strip()
    if mode != "check" and not to:
        raise CallError(f"the input `to` names no target, and `mode: {mode}` needs one")
    results = tuple(line.strip() for line in environ.get("INPUT_RESULTS", "").splitlines() if line.strip())
    if not results:
        raise CallError("the input `results` names no path: give paths, globs or hf://… addresses, one a line")
    return Inputs(
        results=results,
        leaderboard=environ.get("INPUT_LEADERBOARD", "").strip() or DEFAULT,
        mode=mode,  # type: ignore[arg-type]
        to=to,
        form=one_of(environ, "as", get_args(Form)),  # type: ignore[arg-type]
        comment=one_of(environ, "comment", get_args(When)),  # type: ignore[arg-type]
        fail_on=one_of(environ, "fail-on", get_args(FailOn)),  # type: ignore[arg-type]
        changed_only=one_of(environ, "changed-only", ("true", "false")) == "true",
        badge=environ.get("INPUT_BADGE", "").strip(),
        config=environ.get("INPUT_CONFIG", "").strip(),
        sources=tuple(line.strip() for line in environ.get("INPUT_SOURCES", "").splitlines() if line.strip()),
        claimed_report=environ.get("INPUT_CLAIMED_REPORT", "").strip(),
        site=_site(environ, mode),
    )


def _site(environ: Mapping[str, str], mode: str) -> str:
    """Where the board is published as a web site, "" for nowhere; raises CallError where nothing is published."""
    site = environ.get("INPUT_SITE", "").strip()
    if site and mode != "publish":
        raise CallError("the input `site` goes with `mode: publish`: the site shows what was published")
    return site


def one_of(environ: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """One input that takes one of a few words; empty is the first of them."""
    value = environ.get(f"INPUT_{name.upper().replace('-', '_')}", "").strip() or words[0]
    if value not in words:
        raise CallError(f"the input `{name}` is {value[:80]!r}; it takes {', '.join(words)}")
    return value
