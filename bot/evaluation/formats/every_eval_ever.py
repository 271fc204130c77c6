"""Records of Every Eval Ever (schema 0.1 to 0.3): results that a converter or a scraper brought into one form.

One record, or one on each line, as EuroEval writes them since 16.17 (`eee_utils.py` there): its names are those of
metrics, so the dataset is the leaf, its values are percentages, and half of its interval is 1.96 standard errors.

A leaf is an `evaluation_name`, a value's key its `metric_id`. Where there is no id, a description of one word names the
metric (the converter for lm-eval writes "acc", or "acc (filter: strict-match)"), and else it is `score`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from jiter import from_json

from bot.errors import MalformedResult
from bot.evaluation.definition import NONE, AskedDefinitions, picked
from bot.evaluation.finding import grouped
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.euroeval import HALF, MOST_LINES, START, means_of_rounds
from bot.evaluation.formats.fields import (
    Given,
    arguments,
    contradicted,
    free_name,
    items,
    number,
    number_in,
    revision,
    seconds,
    table,
    text,
    whole,
)
from bot.evaluation.formats.format import Format, stderr_after
from bot.evaluation.formats.sameness import names_weights
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result, model_size

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
LEVEL, MOST_DIGITS = 0.95, 16  # of a confidence interval that is read; of a number of parameters
FURTHER = frozenset({"macro_f1", "micro_f1", "weighted_f1", "rouge1", "rouge2", "rougel", "chrf", "chrf++", "ndcg@10"})
TOOLS = {"euroeval": "EuroEval"}
REPOSITORIES = {"EuroEval": "EuroEval/EuroEval"}
AGENT = ("agent_name", "agent_scaffold")  # what adapters of boards of agents call the program around the model
# What decides what was asked: the dataset, and how answers were generated, if the record says that.
DATA, GENERATION = "source_data", "generation_config/generation_args"
DECIDING = {
    DATA: ("dataset_name", "hf_repo", "hf_split"),
    GENERATION: ("temperature", "top_p", "top_k", "max_tokens", "reasoning", "prompt_template", "max_attempts"),
}


class EvaluatedLeaf(NamedTuple):
    """One member of a list: its leaf and the key of its value, its parts, the pointer to it, and its record."""

    name: str
    key: str
    members: Mapping[str, Any]
    pointer: str
    record: Mapping[str, Any]

    @property
    def number(self) -> str:
        """Its number in the list."""
        return self.pointer.rpartition("/")[2]


def recognise(content: Content) -> bool:
    """Recognise a record by its schema's version, its id, and the list of results; of JSON lines the first one."""
    line = first_line(content)
    if line is not None:
        return is_record(line)
    return is_record(content.bare)


def is_record(value: Any) -> bool:
    """Tell whether a JSON value is a record."""
    return isinstance(value, dict) and all(key in value for key in TOP) and type(value["evaluation_results"]) is list


def first_line(content: Content) -> Any:
    """The first of several JSON lines, None where the file is one JSON value."""
    if not content.has_lines:
        return None
    try:
        return from_json(content.first_line)
    except ValueError:
        return None


def parse(content: Content) -> Result:
    """Read the records of the first model. Raises MalformedResult if one of them is none."""
    return parts(content)[0][0]


def parts(content: Content) -> list[tuple[Result, Any]]:
    """The result of each model in the records, with its records. Raises MalformedResult if one of them is none."""
    by_model = grouped((text(table(one.get("model_info")).get("id")), (at, one)) for at, one in _records(content))
    return [(result_of(records), [one for _, one in records]) for records in by_model.values()]


def result_of(records: Sequence[tuple[str, Mapping[str, Any]]]) -> Result:
    """The result of records of one model, each with the pointer to it."""
    first = records[0][1]
    library, source = table(first.get("eval_library")), table(first.get("source_metadata"))
    info = table(first.get("model_info"))
    releases = [text(table(one.get("eval_library")).get("version")) for _, one in records]
    release = max((one for one in releases if one not in {"", UNKNOWN}), key=_order, default=None)
    name = text(library.get("name")) or UNKNOWN
    shown = table(without_secrets(info))
    places = [text(source.get(name)) for name in ("source_name", "source_organization_name")]  # of quoted numbers
    leaves, asked = _leaves(records), AskedDefinitions()
    dates = [date for _, one in records if (date := _date(text(one.get("evaluation_timestamp")))) is not None]
    tool = TOOLS.get(name.lower(), name)
    return Result(
        model=_model(shown),
        harness=HarnessVersion(
            tool,
            git_hash=text(table(library.get("additional_details")).get("commit")) or None,
            version=release,
            repository=REPOSITORIES.get(tool),
        ),
        leaves={name: _leaf([*found.values()], asked) for name, found in leaves.items()},
        date=max(dates, default=None),
        settings=_settings(shown, records),
        places=PLACES | ({"leaves": ""} if len(records) > 1 else {}),
        secrets=() if shown is info else secrets_in(info, "/model_info"),
        quoted_from=next(filter(None, places), QUOTED) if source.get("source_type") == QUOTED else "",
        original_keys={name: str(next(iter(found.values())).number) for name, found in leaves.items()},
        definitions=asked.definitions,
        asked=asked.asked,
    )


def _order(release: str) -> list[int]:
    """The sort key of a release number."""
    return [int(part) for part in re.findall(r"\d{1,9}", release)]


def _records(content: Content) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records, each with the pointer to it. Raises MalformedResult with the line that is none."""
    if first_line(content) is None:
        yield "", content.top
        return
    lines = content.data.splitlines()
    if len(lines) > MOST_LINES:
        raise MalformedResult(f"has {len(lines):,} lines; more than {MOST_LINES:,} are not read")
    count = 0
    # The same line twice is one measurement: files are put together by hand.
    for line, place in {line: place for place, line in enumerate(lines)}.items():
        if not line.strip():
            continue
        try:
            record = from_json(line)
        except ValueError:
            raise MalformedResult("is not JSON in one of its lines", line=place + 1) from None
        if not isinstance(record, dict):
            raise MalformedResult("holds a line that is no record", line=place + 1)
        if not is_record(record):
            continue  # such as the marks that EuroEval writes beside its records
        count += 1
        yield f"/{place}", record
    if not count:
        raise MalformedResult("holds no record")


def _settings(info: Mapping[str, Any], records: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """How the model was asked, where the record says it beside the definition of each leaf."""
    details = table(info.get("additional_details"))
    agent = next((name for key in AGENT if (name := text(details.get(key)))), "")
    _, _, mode = text(info.get("id")).partition("#") if _is_euroeval(records[0][1]) else ("", "", "")
    kind = text(details.get("generative_type"))
    found = {"agent": agent, "generative_type": kind, "mode": mode}
    return {name: value for name, value in found.items() if value}


def _is_euroeval(record: Mapping[str, Any]) -> bool:
    return text(table(record.get("eval_library")).get("name")).lower() == "euroeval"


def _model(info: Mapping[str, Any]) -> Model:
    details = table(info.get("additional_details"))
    name, _, branch = text(info.get("id")).partition("#")[0].partition("@")
    asked = text(details.get("revision")) or branch
    return Model(
        id=name,
        revision=revision(details.get("sha"), asked),
        precision=text(details.get("dtype")) or text(details.get("precision")),
        chat_template={"true": True, "false": False}.get(str(details.get("chat_template")).lower()),
        args=_arguments(details),
        requested_revision=asked,
        parameters=_parameters(details.get("num_model_parameters")),
    )


def _arguments(details: Mapping[str, Any]) -> str:
    """The arguments of the model, with what else of the details says that its weights are others."""
    others = {name: value for name, value in details.items() if names_weights(name)}
    return ",".join(filter(None, (text(details.get("model_args")), arguments(others)[1] if others else "")))


def _parameters(value: object) -> int | None:
    count = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < MOST_DIGITS else whole(value)
    return model_size(count)


def _leaves(records: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, dict[str, EvaluatedLeaf]]:
    """The results by their names and the keys of their values; two of one name and metric are two leaves.

    Where the names of a record are those of metrics, the dataset is the leaf.
    """
    leaves: dict[str, dict[str, EvaluatedLeaf]] = {}
    for above, record in records:
        listed = items(record.get("evaluation_results"))
        dataset = _dataset(record, listed)
        for place, members in enumerate(listed):
            name = text(table(members).get("evaluation_name"))
            if not name or SCORE not in table(table(members).get("score_details")):
                continue
            key = name.removeprefix(START) if dataset else _metric(table(members.get("metric_config")))
            one = EvaluatedLeaf(dataset or name, key, members, f"{above}/evaluation_results/{place}", record)
            known = leaves.setdefault(one.name, {})
            if one.key in known:
                known = leaves.setdefault(free_name(one.name, leaves), {})
            known[one.key] = one
    return leaves


def _dataset(record: Mapping[str, Any], listed: Sequence[Any]) -> str:
    """The dataset of a record whose names are only those of metrics, and how it was asked; "" for other records."""
    names = [text(table(one).get("evaluation_name")) for one in listed]
    datasets = {text(table(table(one).get(DATA)).get("dataset_name")) for one in listed}
    is_metric = _is_euroeval(record) or all(map(_is_name_of_metric, names))
    if len(datasets) != 1 or not is_metric:
        return ""
    details = table(table(record.get("eval_library")).get("additional_details"))
    marks = {"zero-shot": details.get("few_shot") == "false", "validation": details.get("validation_split") == "true"}
    shown = ", ".join(mark for mark, is_so in marks.items() if is_so)
    dataset = datasets.pop()
    return f"{dataset} ({shown})" if shown and dataset else dataset


@cache
def _metrics() -> frozenset[str]:
    """The names of the metrics that are known; patterns would match names of benchmarks."""
    text = files("bot").joinpath("data", "metrics.toml").read_text(encoding="utf-8")
    kinds = msgspec.toml.decode(text, type=dict[str, list[dict[str, Any]]])["kinds"]
    return FURTHER | {name for kind in kinds for name in kind["names"] if "*" not in name}


def _is_name_of_metric(name: str) -> bool:
    return name.removeprefix(START).lower().replace(" ", "_") in _metrics()


def _metric(config: Mapping[str, Any]) -> str:
    """The key of a value: what it is called, where one word says so."""
    word = WORD.fullmatch(text(config.get("evaluation_description")))
    return text(config.get("metric_id")) or text(config.get("metric_name")) or (word[1] if word else SCORE)


def _leaf(found: list[EvaluatedLeaf], asked: AskedDefinitions) -> LeafResult:
    """The values of one name, with their standard errors, and how many samples are behind them."""
    numbers: dict[str, Any] = {}
    pointers: dict[str, str] = {}
    for one in found:
        details = table(one.members.get("score_details"))
        numbers[one.key], pointers[one.key] = details[SCORE], f"{one.pointer}/score_details/score"
        error, where = _standard_error(table(details.get("uncertainty")))
        if error is not None:
            numbers[stderr_after(one.key)] = error
            pointers[stderr_after(one.key)] = f"{one.pointer}/score_details/uncertainty/{where}"
    configs = {one.key: table(one.members.get("metric_config")) for one in found}
    ranges = ((key, number(one.get("min_score")), number(one.get("max_score"))) for key, one in configs.items())
    first = found[0].members
    generation = table(first.get("generation_config"))
    recorded = {DATA: first.get(DATA), GENERATION: generation.get("generation_args")}
    count = whole(table(table(first.get("score_details")).get("uncertainty")).get("num_samples"))
    is_rounds = _is_euroeval(found[0].record)  # what it counts are runs over parts of the dataset
    return LeafResult(
        {key: value for key, value in numbers.items() if type(value) not in {dict, list}},
        _shots(table(generation.get("additional_details")).get("num_fewshot")),
        samples=None if is_rounds else count,
        original=whole(table(first.get(DATA)).get("samples_number")),
        epochs=count if is_rounds and count else 1,
        reducer="mean" if is_rounds else "",
        pointers=pointers,
        definition=asked.add(recorded, tuple(DECIDING), deciding),
        less_is_better=tuple(key for key, config in configs.items() if config.get("lower_is_better") is True),
        ranges={key: (low, high) for key, low, high in ranges if low is not None and high is not None},
        contradicted=contradicted(numbers, _means(numbers, found[0].record)) if is_rounds else {},
    )


def _standard_error(uncertainty: Mapping[str, Any]) -> tuple[Any, str]:
    """The standard error and where it stands; else half of a 95% interval that lies evenly, in standard errors."""
    error = table(uncertainty.get("standard_error")).get("value")
    if error is not None:
        return error, "standard_error/value"
    interval = table(uncertainty.get("confidence_interval"))
    low, high = number(interval.get("lower")), number(interval.get("upper"))
    if low is None or high is None or not low <= high or number(interval.get("confidence_level")) != LEVEL:
        return None, ""
    return (high - low) / 2 / HALF, "confidence_interval"


def _means(numbers: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[Given]:
    """The mean of the rounds of each metric, which EuroEval keeps as a text beside its release."""
    said = table(table(record.get("eval_library")).get("additional_details")).get("raw_results")
    try:
        rounds = [table(one) for one in items(from_json(said.encode()))] if isinstance(said, str) else []
    except ValueError:
        rounds = []
    yield from means_of_rounds(numbers, rounds)


def deciding(recorded: dict[str, Any]) -> dict[str, Any]:
    """What decides; NONE where the generation settings are not told."""
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
    marks=("evaluation_results",),
    parts=parts,
    stderr_key=stderr_after,
    naming="",
    pinning="",
    has_order=True,
)
