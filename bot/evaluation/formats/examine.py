"""Check a file for problems that are the same in all formats: repeated keys and secrets."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from bot.evaluation.formats.content import Content
from bot.evaluation.formats.repeated import repeated_keys
from bot.evaluation.formats.secrets import HIDDEN, credentials, secrets_in
from bot.evaluation.result import Result

BEGINNINGS = (b"{", b"[")
# Arguments of a harness with a password or token contain one of these; searching for more would take too long.
SIGNS = (b"key", b"token", b"auth", b"passw", b"secret", b"hf_", b"sk-", b"gh", b"akia", b"aiza")


def examined(result: Result, content: Content) -> Result:
    """Add repeated keys and secrets of its files to a result; secrets are named and removed."""
    return _without_config_secrets(_with_repeated(result, content), content)


def _with_repeated(result: Result, content: Content) -> Result:
    repeated = [
        replace(key, pointer=f"{name}#{key.pointer}") if name else key
        for name, data in content.files.items()
        if data[:100].lstrip().startswith(BEGINNINGS)
        for key in repeated_keys(data, content.decoded)
    ]
    return replace(result, repeated=tuple(repeated)) if repeated else result


def _without_config_secrets(result: Result, content: Content) -> Result:
    """Find what lm-eval was called with among its `config`; formats that record more look for themselves."""
    config = content.decoded.config if content.decoded else None
    if not config:
        return result
    spelled = msgspec.json.encode(config).lower()
    if not [sign for sign in SIGNS if sign in spelled]:
        return result
    found = secrets_in(config, "/config")
    if not found:
        return result
    clean = msgspec.convert(_without(msgspec.to_builtins(result), credentials("", config)), Result)
    return replace(clean, secrets=tuple(sorted({*result.secrets, *found})))


def _without(value: Any, texts: list[str]) -> Any:
    """Plain values with each of the texts hidden, in keys too."""
    if isinstance(value, str):
        for text in texts:
            value = value.replace(text, HIDDEN)
        return value
    if isinstance(value, dict):
        return {_without(key, texts): _without(inner, texts) for key, inner in value.items()}
    return [_without(inner, texts) for inner in value] if isinstance(value, list | tuple) else value
