"""Finish what a format read, the same for all: repeated keys, secrets, the model's name and precision."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.evaluation.finding import shown
from bot.evaluation.formats.bounds import bounded
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import PRECISIONS, precision
from bot.evaluation.formats.secrets import HIDDEN, credentials, secrets_in
from bot.evaluation.result import MalformedField, Result

# Arguments of a harness with a password or token contain one of these; searching for more would take too long.
SIGNS = ("key", "token", "auth", "passw", "secret", "hf_", "sk-", "gh", "akia", "aiza")
# How the Hub's client lays a model out in its cache.
CACHED = re.compile(r"(?:.*/)?models--(?:(?P<org>[^/]+?)--)?(?P<name>[^/]+)/snapshots/(?P<revision>[0-9a-f]{40})/?")


def finished(result: Result, content: Content) -> Result:
    """The result within its bounds, without secrets, its model as other files call it. Raises MalformedResult."""
    result = bounded(result)
    if content.repeated:
        result = replace(result, repeated=tuple(content.repeated))
    return _spelled(_from_cache(_without_config_secrets(result, content.recorded_config)))


def _without_config_secrets(result: Result, config: dict[str, Any]) -> Result:
    """Find what lm-eval was called with among its `config`; formats that record more look for themselves."""
    spelled = repr(config).lower()
    if not any(sign in spelled for sign in SIGNS):
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


def _from_cache(result: Result) -> Result:
    """The result with the model's id and commit where it was loaded from the Hub's cache by a path."""
    model = result.model
    cached = CACHED.fullmatch(model.id)
    if cached is None:
        return result
    name = "/".join(filter(None, (cached["org"], cached["name"])))
    revision = model.revision or cached["revision"]
    args = model.args.replace(model.id, name)
    return replace(result, model=replace(model, id=name, revision=revision, args=args, is_named=True))


def _spelled(result: Result) -> Result:
    """The result with its precision in its one spelling, so that a row has one; a word that is none is a fault."""
    named = result.model.precision
    spelled = precision(named)
    if spelled is None:
        why = f"{shown(named)} is none that leaderboard-bot knows: write one of {', '.join(PRECISIONS)}"
        fault = MalformedField("precision", result.pointer_to("precision"), why)
        return replace(result, malformed=(*result.malformed, fault))
    return result if spelled == named else replace(result, model=replace(result.model, precision=spelled))
