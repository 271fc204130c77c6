"""Records of Every Eval Ever (schema 0.1 to 0.3): results that a converter or a scraper brought into one form.

A leaf is an `evaluation_name`, a value's key its `metric_id`. Where there is no id, a description of one word names the
metric (the converter for lm-eval writes "acc", or "acc (filter: strict-match)"), and else it is `score`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.evaluation.definition import NONE, AskedDefinitions, picked
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import free_name, items, number, number_in, revision, seconds, table, text, whole
from bot.evaluation.formats.format import Format, stderr_after
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

TOP = ("schema_version", "evaluation_id", "evaluation_results")
WORD = re.compile(r"(\S+)(?: \(filter: [^)]*\))?")
QUOTED, SCORE, UNKNOWN = "documentation", "score", "unknown"
DETAILS = "/model_info/additional_details"
PLACES = {
    "model": "/model_info/id",
    "revision": f"{DETAILS}/sha",
    "precision": f"{DETAILS}/dtype",
    "arguments": f"{DETAILS}/model_args",
    "release": "/eval_library/version",
    "date": "/evaluation_timestamp",
    "quoted_from": "/source_metadata/source_type",
    "leaves": "/evaluation_results",
    "definition": "/evaluation_results/{leaf}",
}
AGENT = ("agent_name", "agent_scaffold")  # what adapters of boards of agents call the program around the model
# What decides what was asked: the dataset, and how answers were generated, if the record says that.
DATA, GENERATION = "source_data", "generation_config/generation_args"
DECIDING = {
    DATA: ("dataset_name", "hf_repo", "hf_split"),
    GENERATION: ("temperature", "top_p", "top_k", "max_tokens", "reasoning", "prompt_template", "max_attempts"),
}


class Measured(NamedTuple):
    """One member of the list: its leaf and the key of its value, its parts, and its number in the list."""

    name: str
    key: str
    members: Mapping[str, Any]
    number: int


def recognise(content: Content) -> bool:
    """Recognise it by its schema's version, its id, and the list of results."""
    top = content.bare
    return all(key in top for key in TOP) and type(top["evaluation_results"]) is list


def parse(content: Content) -> Result:
    """Read the record; a member of the list without name or score is passed over."""
    top = content.bare
    library, source = table(top.get("eval_library")), table(top.get("source_metadata"))
    info, release = table(top.get("model_info")), text(library.get("version"))
    shown = table(without_secrets(info))
    places = [text(source.get(name)) for name in ("source_name", "source_organization_name")]  # of quoted numbers
    agents = [name for key in AGENT if (name := text(table(shown.get("additional_details")).get(key)))]
    leaves, asked = _leaves(items(top.get("evaluation_results"))), AskedDefinitions()
    return Result(
        model=_model(shown),
        harness=HarnessVersion(
            text(library.get("name")) or UNKNOWN, version=None if release in {"", UNKNOWN} else release
        ),
        leaves={name: _leaf([*found.values()], asked) for name, found in leaves.items()},
        date=_date(text(top.get("evaluation_timestamp"))),
        settings={"agent": agents[0]} if agents else {},
        places=PLACES,
        secrets=secrets_in(info, "/model_info"),
        quoted_from=next(filter(None, places), QUOTED) if source.get("source_type") == QUOTED else "",
        original_keys={name: str(next(iter(found.values())).number) for name, found in leaves.items()},
        definitions=asked.definitions,
        asked=asked.asked,
    )


def _model(info: Mapping[str, Any]) -> Model:
    details = table(info.get("additional_details"))
    asked = text(details.get("revision"))
    return Model(
        id=text(info.get("id")),
        revision=revision(details.get("sha"), asked),
        precision=text(details.get("dtype")) or text(details.get("precision")),
        args=text(details.get("model_args")),
        requested_revision=asked,
    )


def _leaves(listed: list[Any]) -> dict[str, dict[str, Measured]]:
    """The results by their names and the keys of their values; two of one name and metric are two leaves."""
    leaves: dict[str, dict[str, Measured]] = {}
    for place, members in enumerate(listed):
        name = text(table(members).get("evaluation_name"))
        if not name or SCORE not in table(members.get("score_details")):
            continue
        one = Measured(name, _metric(table(members.get("metric_config"))), members, place)
        known = leaves.setdefault(name, {})
        if one.key in known:
            known = leaves.setdefault(free_name(name, leaves), {})
        known[one.key] = one
    return leaves


def _metric(config: Mapping[str, Any]) -> str:
    """The key of a value: what it is called, where one word says so."""
    word = WORD.fullmatch(text(config.get("evaluation_description")))
    return text(config.get("metric_id")) or text(config.get("metric_name")) or (word[1] if word else SCORE)


def _leaf(found: list[Measured], asked: AskedDefinitions) -> LeafResult:
    """The values of one name, with their standard errors, and how many samples are behind them."""
    numbers: dict[str, Any] = {}
    pointers: dict[str, str] = {}
    for one in found:
        above = f"/evaluation_results/{one.number}/score_details"
        details = table(one.members.get("score_details"))
        numbers[one.key], pointers[one.key] = details[SCORE], f"{above}/score"
        error = table(table(details.get("uncertainty")).get("standard_error")).get("value")
        if error is not None:
            numbers[stderr_after(one.key)] = error
            pointers[stderr_after(one.key)] = f"{above}/uncertainty/standard_error/value"
    configs = {one.key: table(one.members.get("metric_config")) for one in found}
    ranges = ((key, number(one.get("min_score")), number(one.get("max_score"))) for key, one in configs.items())
    first = found[0].members
    generation = table(first.get("generation_config"))
    recorded = {DATA: first.get(DATA), GENERATION: generation.get("generation_args")}
    return LeafResult(
        {key: value for key, value in numbers.items() if type(value) not in {dict, list}},
        _shots(table(generation.get("additional_details")).get("num_fewshot")),
        samples=whole(table(table(first.get("score_details")).get("uncertainty")).get("num_samples")),
        original=whole(table(first.get(DATA)).get("samples_number")),
        pointers=pointers,
        definition=asked.add(recorded, tuple(DECIDING), deciding),
        less_is_better=tuple(key for key, config in configs.items() if config.get("lower_is_better") is True),
        ranges={key: (low, high) for key, low, high in ranges if low is not None and high is not None},
    )


def deciding(recorded: dict[str, Any]) -> dict[str, str]:
    """What decides as canonical texts; NONE where the generation settings are not told."""
    found = {f"{place}/{name}": table(recorded[place]).get(name) for place, names in DECIDING.items() for name in names}
    return picked(found) if recorded[GENERATION] else picked(found) | {GENERATION: NONE}


def _shots(value: object) -> int | None:
    """The shots, which the schema only has as a text."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 4 else whole(value)


def _date(stamp: str) -> float | None:
    """When it was measured: seconds since 1970 as a text, or ISO 8601. When the record was made does not count."""
    since = number_in(stamp)
    return seconds(stamp) if since is None else since


EVERY_EVAL_EVER = Format(
    id="every-eval-ever",
    title="Every Eval Ever",
    recognise=recognise,
    parse=parse,
    stderr_key=stderr_after,
    naming="",
    pinning="",
)
