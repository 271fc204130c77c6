"""The result formats: one file for each, and the list by which a submission is recognised.

A format is one file here and one line in `BUILT_IN`, or an entry point of another package in the group
`leaderboard_bot.formats` that names a Format.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.errors import CallError, UnknownFormat
from bot.evaluation.finding import examples, shown
from bot.evaluation.formats.bfcl import BFCL
from bot.evaluation.formats.bounds import bounded
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.euroeval import EUROEVAL
from bot.evaluation.formats.evalchemy import EVALCHEMY
from bot.evaluation.formats.evalplus import EVALPLUS
from bot.evaluation.formats.evalscope import EVALSCOPE
from bot.evaluation.formats.every_eval_ever import EVERY_EVAL_EVER
from bot.evaluation.formats.fields import PRECISIONS, precision, table
from bot.evaluation.formats.format import MAX_BYTES, Format
from bot.evaluation.formats.helm import HELM
from bot.evaluation.formats.inspect_log import INSPECT
from bot.evaluation.formats.lighteval import LIGHTEVAL
from bot.evaluation.formats.lm_eval_03 import LM_EVAL_03
from bot.evaluation.formats.lm_eval_04 import LM_EVAL_04
from bot.evaluation.formats.lmms_eval import LMMS_EVAL
from bot.evaluation.formats.mteb import MTEB
from bot.evaluation.formats.olmes import OLMES
from bot.evaluation.formats.open_llm_v1 import OPEN_LLM_V1
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


GROUP = "leaderboard_bot.formats"
# In the order in which they are tried: JSON lines come before formats that are whole JSON. Bars in a row's key are of
# lighteval or of v1, told apart by the suite; `annotator_model` is of evalchemy, which may have keys of lm-eval 0.4;
# lmms-eval has these too; elsewhere a comma in a metric's key is of lm-eval 0.4 alone, and `no_cache` of lm-eval 0.3.
BUILT_IN = (BFCL, EUROEVAL, INSPECT, LIGHTEVAL, OPEN_LLM_V1, EVALCHEMY, LMMS_EVAL, LM_EVAL_04, LM_EVAL_03, OLMES,
            EVERY_EVAL_EVER, MTEB, EVALPLUS, EVALSCOPE, HELM)  # fmt: skip


@cache
def formats() -> tuple[Format, ...]:
    """All formats in the order in which they are tried; those of other packages come first. Raises CallError."""
    return (*(_loaded(point.name, point.load()) for point in entry_points(group=GROUP)), *BUILT_IN)


def _loaded(name: str, found: object) -> Format:
    if not isinstance(found, Format):
        raise CallError(f"the entry point {name!r} in {GROUP} does not name a Format")
    if any(found.id == known.id for known in BUILT_IN):
        raise CallError(f"the entry point {name!r} in {GROUP} has the id of a built-in format, {found.id}")
    return found


def find_format(format_id: str) -> Format | None:
    """The format of an id, None if there is none."""
    built_in = next((known for known in BUILT_IN if known.id == format_id), None)
    return built_in or next((known for known in formats() if known.id == format_id), None)


def format_of(format_id: str) -> Format:
    """The format of an id that was checked. Raises CallError if its package is gone."""
    found = find_format(format_id)
    if found is None:
        raise CallError(f"there is no result format {format_id!r}; there are {', '.join(sorted(format_ids()))}")
    return found


def format_ids() -> frozenset[str]:
    """The ids of all formats."""
    return frozenset(known.id for known in formats())


def most_bytes(path: str) -> int:
    """The most bytes of a file that are fetched from afar, where its name is known before its content."""
    larger = [limit for known in formats() if path.endswith(known.suffixes) for limit in known.larger.values()]
    return max(larger, default=MAX_BYTES)


def parse_content(content: Content) -> Result:
    """Recognise a submission by its content and read it. Raises MalformedResult, and nothing else."""
    for known in formats():
        if known.may_be(content) and known.recognise(content):
            return finished(known.parse(content), content)
    raise UnknownFormat(_unknown(content))


def parse_result(data: bytes) -> Result:
    """Read a result of one file. Raises MalformedResult, and nothing else."""
    return parse_content(Content({"": data}))


def _unknown(content: Content) -> str:
    top = content.document.top
    if any("," in key and type(value) is float for key, value in top.items()):
        return "looks like one row of a file of lm-evaluation-harness: its run is not in it"
    if top and all("eval" in table(one) and "status" in table(one) for one in top.values()):
        return "looks like a list of the logs of Inspect: name the logs themselves"
    if content.document.results is None:
        keys = f"; its keys are {examples(list(top))}" if top else ""
        return f'has no "results" object, so it is not a result file that leaderboard-bot reads{keys}'
    return f"has none of the formats that leaderboard-bot reads: {', '.join(known.title for known in formats())}"


__all__ = [
    "MAX_BYTES",
    "Content",
    "Format",
    "find_format",
    "format_ids",
    "format_of",
    "formats",
    "most_bytes",
    "parse_content",
]
