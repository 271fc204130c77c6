"""Finds passwords and tokens in the configuration that a file records, and takes them out of it.

A result names where they lie and never holds them: what it holds is stored, shown and published.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from bot.evaluation.formats.fields import ARGUMENT
from bot.evaluation.result import escape_pointer

# Names of fields for a credential, their humps parted. Not any "token": `eos_token` and `max_tokens` are no secrets.
NAME = re.compile(
    r"(?i)(?:^|[_.-])(?:(?:api|private|subscription|openai|anthropic|openrouter)[_-]?key|server[_-]?auth|authorization"
    r"|(?:api|access|auth|bearer|session|security|refresh|hf|hub|github|gitlab|wandb)[_-]?token|passw(?:or)?d|pwd"
    r"|passphrase|cookies?|secret(?:[_-](?:access[_-])?key)?)$|^(?:token|bearer)$"
)
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# What is one in the query of an address besides: a key, and what signs an address.
IN_QUERY = re.compile(r"(?i)(?:^|[_.-])(?:key|sig|signature|token|auth|code|pass)$")
# Tokens of the Hub, OpenAI and those like it, GitHub, GitLab, Amazon, Google, Groq, xAI, NVIDIA, Replicate, Perplexity,
# Databricks, Together and Slack, by the form that each service gives them, and signed claims (JWT).
VALUE = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}|gh[opsur]_[A-Za-z0-9]{36}|github_pat_\w{30,}|A[KS]IA[0-9A-Z]{16}"
    r"|AIza[\w-]{35}|ya29\.[\w-]{20,}|glpat-[\w-]{20,}|gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}"
    r"|nvapi-[\w-]{30,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{30,}|dapi[0-9a-f]{32}|tgp_v1_[\w-]{20,}"
    r"|xox[abeprs]-[\w-]{20,}|eyJ[\w-]{10,1000}\.eyJ[\w-]{10,2000}\.[\w-]{10,})"
)
# Where a text holds one besides: an address with a password, or with a long name alone; its query; a header; an option.
BEFORE_HOST = re.compile(r"://(?:[^\s/?#@:'\"]{0,100}:([^\s/?#@'\"]{1,500})|([\w-]{16,500}))@")
QUERY = re.compile(r"[?&]([A-Za-z][\w.-]{0,60})=([^\s&#'\",]{8,2000})")
HEADER = re.compile(r"(?i)\bbearer[ +]((?=[^\s'\",]{0,100}\d)[\w.~+/=-]{8,2000})")
OPTION = re.compile(r"(?:^|\s)--?([A-Za-z][\w-]{0,60})[ =]['\"]?([^\s'\"]{1,2000})")
SHORTEST = 20  # characters of such a token
MAY_HOLD = re.compile("=|--|://|earer|EARER")  # what a shorter text has that holds a credential
# What people write where a client demands a key and the server does not.
NO_SECRET = re.compile(
    r"(?i)\W*(?:|empty|none|null|true|false|dummy|fake|token|key|secret|x+|api[_-]?key|redacted|removed|hidden|your\W.*"
    r"|\$\{?\w+\}?|not?\W.*)\W*"
)
HIDDEN = "[secret]"
NOTHING = "(?!)"  # a pattern that is found nowhere
LOOKED_INTO = frozenset({str, dict, list})
MAX_FOUND = 20  # places that are named
MAX_LOOKED_AT = 100_000  # values that are looked at
LONGEST_TEXT = 10_000  # characters of a text that are looked through for more than the form of a token
LONGEST_LOOKED_AT = 200  # characters of a value that show whether it is a credential


def secrets_in(value: Any, pointer: str) -> tuple[str, ...]:
    """The JSON pointers of the fields below `pointer` that hold a credential; none of their values."""
    if not holds_secret("", value):
        return ()
    found: list[str] = []
    waiting: list[tuple[str, str, Any]] = [("", pointer, value)]
    for _ in range(MAX_LOOKED_AT):
        if not waiting or len(found) == MAX_FOUND:
            break
        name, at, inner = waiting.pop()
        if isinstance(inner, str) and _is_secret(name, inner):
            found.append(at)
        elif isinstance(inner, dict | list):
            waiting += _below(name, at, inner)
    return tuple(sorted(found))


def holds_secret(name: str, value: Any) -> bool:
    """Tell whether a field, or anything in it, holds a credential."""
    if isinstance(value, str):
        return _is_secret(name, value)
    if isinstance(value, dict):
        for key, inner in value.items():  # a loop, because nearly every file is looked through for nothing
            if type(inner) in LOOKED_INTO and holds_secret(key, inner):
                return True
    return isinstance(value, list) and any(holds_secret(name, one) for one in value if type(one) in LOOKED_INTO)


def _below(name: str, at: str, value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, dict):
        yield from ((key, f"{at}/{escape_pointer(key)}", inner) for key, inner in value.items())
    else:
        yield from ((name, f"{at}/{place}", inner) for place, inner in enumerate(value))


def _is_secret(name: str, value: str) -> bool:
    """Tell whether a field holds a credential, by its name or within its text."""
    if len(value) < SHORTEST and not MAY_HOLD.search(value):
        return _holds(name, value)
    return _holds(name, value) or next(_within(value), None) is not None


def _within(value: str) -> Iterator[str]:
    """The credentials in a text: by their form, as an argument "api_key=…", in an address, a header, an option."""
    if len(value) >= SHORTEST:
        yield from (match[0] for match in VALUE.finditer(value))
    yield from (inner.strip() for key, inner in arguments(value) if _holds(key, inner) and inner.strip())
    text = value[:LONGEST_TEXT]
    if "://" in text:
        passwords = (match[1] or match[2] for match in BEFORE_HOST.finditer(text))
        yield from (inner for inner in passwords if not NO_SECRET.fullmatch(inner))
        yield from (inner for key, inner in QUERY.findall(text) if IN_QUERY.search(key) or _holds(key, inner))
    if "earer" in text or "EARER" in text:
        yield from (match[1] for match in HEADER.finditer(text))
    if "--" in text:
        yield from (inner for key, inner in OPTION.findall(text) if _holds(key, inner))


def _holds(name: str, value: Any) -> bool:
    """Tell whether a field of this name holds a credential; a long text of punctuation is not a credential."""
    return isinstance(value, str) and _names_one(name) and not NO_SECRET.fullmatch(value[:LONGEST_LOOKED_AT])


def _names_one(name: str) -> bool:
    """Tell whether a field's name is that of a credential; the files of a board have the same names."""
    return _names_short(name) if len(name) <= LONGEST_LOOKED_AT else bool(NAME.search(name))


@lru_cache(2_000)
def _names_short(name: str) -> bool:
    return bool(NAME.search(HUMP.sub("_", name)))


def arguments(text: str) -> list[tuple[str, str]]:
    """The pairs of a text "a=1,b=2"."""
    return ARGUMENT.findall(text[:LONGEST_TEXT]) if "=" in text else []


def without_secrets(value: Any) -> Any:
    """The value with every credential hidden: of an object its fields, of a text its arguments.

    A text with more of them than are named is hidden as a whole.
    """
    return _hidden(value) if holds_secret("", value) else value


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: HIDDEN if _holds(key, inner) else _hidden(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_hidden(inner) for inner in value]
    if not isinstance(value, str):
        return value
    named = set(_within(value))
    return HIDDEN if len(named) > MAX_FOUND else hider(named).sub(HIDDEN, value) if named else value


def hider(texts: Collection[str]) -> re.Pattern[str]:
    """What finds all of the texts in one pass, the longest first; nothing where there are none."""
    return re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))) or NOTHING)


def credentials(name: str, value: Any) -> set[str]:
    """The credentials themselves, to take them out of whatever was made of the value."""
    if isinstance(value, dict | list):
        return {text for key, _, inner in _below(name, "", value) for text in credentials(key, inner)}
    if not isinstance(value, str):
        return set()
    return {value} if _holds(name, value) else set(_within(value))
