"""Logs of Inspect: `.eval` archives, of which the header is read and not the samples, and JSON.

A log without a header was cut off while it ran: its beginning says what was run, and there are no scores. Each score
stands once for each reducer of the epochs. A metric with a `group` is that of a part of the samples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.errors import UnknownFormat
from bot.evaluation.definition import AskedDefinitions, picked
from bot.evaluation.finding import shown
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import (
    arguments,
    free_name,
    items,
    number,
    revision,
    seconds,
    setting,
    table,
    text,
    version,
    whole,
)
from bot.evaluation.formats.format import Format, Kind, Rerun, command_line
from bot.evaluation.formats.sameness import kind_of
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.evaluation.formats.zip_members import MAGIC, ZipMembers
from bot.evaluation.result import Contradiction, HarnessVersion, LeafResult, Model, Result, Scoring, escape_pointer

MAX_ARCHIVE = 128 * 1024 * 1024
HEADER, START = "header.json", "_journal/start.json"
MAX_HEADER = 32 * 1024 * 1024
MAX_SAMPLES = 32 * 1024 * 1024  # bytes of samples that are looked through for edits, all together
# What an archive that may be a log begins with, behind the 30 bytes before the name of its first member.
FIRST_MEMBERS = (b"_journal/", b"samples/", b"header.json", b"summaries.json", b"reductions.json")
WORDS = (b'"eval"', b'"plan"', b'"status"', b'"task"')
EDITED = re.compile(rb'"history"\s*:\s*\[\s*\{')
# Providers that run a model of the Hub, by its id there.
LONGEST_OPTIONS, LONGEST_SCORER = 2_000, 200  # characters of a scorer's options as JSON, and of its name
OF_HUB = ("hf", "vllm", "sglang")
# Settings of a call that `inspect eval` takes as options of the same names (its page "Options").
OPTIONS = ("max_tokens", "temperature", "top_p", "top_k", "seed", "frequency_penalty", "presence_penalty",
           "reasoning_effort", "reasoning_tokens")  # fmt: skip
UNNAMED = "local"  # a model that is named by a path in its arguments
# Arguments of a task that say how it is carried out, and not what is asked.
OPERATION = re.compile(r"(^|_)(timeout|retries|connections|workers|concurrency|verbose|debug|cache|cache_dir|log_dir)$")
# Where the parts of a log lie that decide what is asked; the arguments that were given are in the leaf's key, too.
DECIDING = (
    "eval/dataset/name", "eval/dataset/shuffled", "eval/task_args", "eval/config/message_limit",
    "eval/config/token_limit", "plan/steps", "plan/config", "eval/scorers", "eval/model_roles",
)  # fmt: skip
PLACES = {
    "definition": "",
    "model": "/eval/model",
    "revision": "/eval/model_args/revision",
    "arguments": "/eval/model_args",
    "release": "/eval/packages/inspect_ai",
    "limit": "/eval/config/limit",
    "date": "/eval/created",
    "leaves": "/results/scores",
    "version": "/eval/task_version",
    "samples": "/results",
    "unfinished": "/status",
    "invalidated": "/invalidated",
    "reducer": "/eval/config/epochs_reducer",
}

MOCK = "mockllm/"  # stands in for a model in tests of a task


def recognise(content: Content) -> bool:
    """Recognise an archive by its header or its beginning, JSON by `status`, `eval` and `plan`.

    Raises MalformedResult if an archive is damaged, or a file is not JSON.
    """
    if content.data.startswith(MAGIC):
        archive = ZipMembers(content.data)
        if HEADER not in archive and START not in archive:
            raise UnknownFormat(f"is an archive without {HEADER}, so it is not a log of Inspect")
        return True
    log = table(content.value)
    run = table(log.get("eval"))
    return type(log.get("status")) is str and "plan" in log and "task" in run and "model" in run


def parse(content: Content) -> Result:
    """Read the log. Raises MalformedResult if its header is not an object, or an archive is damaged."""
    member, value, edited = read_header(content)
    log, above = table(value), f"{member}#" if member else ""
    run, asked = table(log.get("eval")), AskedDefinitions()
    status = text(log.get("status")) or "started"
    scorings: list[Scoring] = []
    definition = asked.add({one: _at(log, one) for one in DECIDING}, DECIDING, deciding)
    return Result(
        model=_model(run),
        harness=HarnessVersion(
            "inspect_ai",
            version=text(table(run.get("packages")).get("inspect_ai")) or None,
            repository="UKGovernmentBEIS/inspect_ai",
        ),
        leaves=_leaves(log, run, above, definition, scorings),
        limit=_limit(run),
        date=_date(log, run),
        settings=_settings(run),
        places=_places(member),
        unfinished="" if status == "success" else status,
        invalidated=log.get("invalidated") is True,
        edited=edited,
        secrets=secrets_in(run, f"{above}/eval"),
        definitions=asked.definitions,
        asked=asked.asked,
        scorings=tuple(scorings),
        contradictions=tuple(_contradictions(run, above)),
    )


def _contradictions(run: Mapping[str, Any], above: str) -> Iterator[Contradiction]:
    if text(run.get("model")).startswith(MOCK):
        yield Contradiction("the answers are made up: mockllm is no model", f"{above}/eval/model", is_error=True)
    name, path = text(run.get("model")), text(table(run.get("model_args")).get("model_path"))
    if path and not name.endswith(("/local", f"/{path}")):
        what = f"the model is {shown(name)} by its name, and {shown(path)} by its arguments"
        yield Contradiction(what, f"{above}/eval/model_args/model_path", is_error=True)


def _at(log: Any, pointer: str) -> Any:
    """The value at a pointer into the log, None where there is none."""
    for name in pointer.split("/"):
        log = table(log).get(name)
    return log


def deciding(recorded: dict[str, Any]) -> dict[str, Any]:
    """What decides."""
    found = without_secrets(recorded)
    given, config = table(found["eval/task_args"]), table(found["plan/config"])
    found["eval/task_args"] = {name: value for name, value in given.items() if not OPERATION.search(name)}
    found["plan/config"] = _counting(config)
    scorers = {text(table(one).get("name")): table(one).get("options") for one in items(found["eval/scorers"])}
    found["eval/scorers"] = {name: options for name, options in scorers.items() if options}
    roles = table(found["eval/model_roles"])
    found["eval/model_roles"] = {role: table(one).get("model") or one for role, one in roles.items()}
    return picked(found, {"eval/dataset/shuffled": False})


def read_header(content: Content) -> tuple[str, Any, bool]:
    """The member of an archive that has the header ("" in JSON), the header, and whether samples' scores were edited.

    Raises MalformedResult if it is not JSON, or an archive is damaged.
    """
    if not content.data.startswith(MAGIC):
        return "", content.value, EDITED.search(content.data) is not None
    archive = ZipMembers(content.data)
    name = HEADER if HEADER in archive else START
    value = content.decode(name, archive.read(name, MAX_HEADER))
    samples = {member: size for member, size in archive.sizes().items() if member.startswith("samples/")}
    if name == START or sum(samples.values()) > MAX_SAMPLES:
        return name, value, False
    return name, value, any(EDITED.search(archive.read(member, MAX_SAMPLES)) for member in samples)


def _places(member: str) -> dict[str, str]:
    """Where fields lie: in JSON, or in the member of an archive, whose samples are members of their own."""
    above = f"{member}#" if member else ""
    return {field: above + pointer for field, pointer in PLACES.items()} | ({} if member else {"edited": "/samples"})


def _model(run: Mapping[str, Any]) -> Model:
    named = text(run.get("model"))
    provider, _, name = named.partition("/")
    is_of_hub = provider in OF_HUB and bool(name)
    pairs, args = arguments(without_secrets(run.get("model_args")))
    asked = pairs.get("revision", "")
    return Model(
        id=name if is_of_hub else named,
        revision=revision(asked),
        precision=pairs.get("torch_dtype") or pairs.get("dtype") or "",
        source=provider if name else "",
        args=args,
        requested_revision=asked,
    )


def _limit(run: Mapping[str, Any]) -> float | None:
    """The samples that the run was limited to, None if that is all of them."""
    limit = table(run.get("config")).get("limit")
    ends = [number(end) for end in items(limit)]
    if len(ends) == 2 and None not in ends:
        count: float | None = (ends[1] or 0.0) - (ends[0] or 0.0)
    else:
        count = number(limit)
    size = number(table(run.get("dataset")).get("samples"))
    return None if count is None or (size is not None and count >= size) else count


def _date(log: Mapping[str, Any], run: Mapping[str, Any]) -> float | None:
    """When the run ended, else when it began, in Unix seconds."""
    ended = seconds(text(table(log.get("stats")).get("completed_at")))
    return seconds(text(run.get("created"))) if ended is None else ended


def _settings(run: Mapping[str, Any]) -> dict[str, str]:
    """The model's settings in all tasks; a setting of a single task is a part of that task.

    Logs without `task_args_passed` do not say which arguments of a task were given, so all of them must agree.
    """
    config = table(without_secrets(run.get("model_generate_config")))
    found = {name: setting(value) for name, value in _counting(config).items()}
    found |= {name: setting(without_secrets(run.get(name))) for name in ("solver", "solver_args")}
    if "task_args_passed" not in run:
        found["task_args"] = setting(without_secrets(run.get("task_args")))
    return {name: value for name, value in found.items() if value}


def _counting(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a call that answers depend on."""
    return {name: one for name, one in config.items() if one is not None and kind_of(name) != "no matter"}


def _leaves(
    log: Mapping[str, Any], run: Mapping[str, Any], above: str, definition: str, scorings: list[Scoring]
) -> dict[str, LeafResult]:
    """A leaf for each score: task, score, and the reducer where it is another than the mean."""
    found: dict[str, LeafResult] = {}
    results, config = table(log.get("results")), table(run.get("config"))
    epochs, task = whole(config.get("epochs")) or 1, _task(run)
    for at, score in _scores(results):
        reducer = text(score.get("reducer")) or ("mean" if epochs > 1 else "")
        spelled = [task, text(score.get("name")), "" if reducer == "mean" else reducer]
        metrics = dict(_metrics(table(score.get("metrics"))))
        pointers = {key: f"{above}{at}/metrics/{escape_pointer(name)}/value" for key, (name, _) in metrics.items()}
        found[free_name(" ".join(filter(None, spelled)), found)] = LeafResult(
            {key: value for key, (_, value) in metrics.items()},
            None,
            version(run.get("task_version")),
            _scored(score, results, epochs),
            whole(table(run.get("dataset")).get("samples")),
            pointers,
            unscored=whole(score.get("unscored_samples")),
            errored=_errored(results, epochs),
            reducer=reducer if epochs > 1 else "",
            epochs=epochs,
            definition=definition,
            scoring=_scoring(score, scorings),
        )
    return found


def _errored(results: Mapping[str, Any], epochs: int) -> int | None:
    """The samples that did not complete; one that failed in a single epoch is one."""
    total, completed = whole(results.get("total_samples")), whole(results.get("completed_samples"))
    return None if total is None or completed is None or completed > total else -((completed - total) // epochs)


def _scoring(score: Mapping[str, Any], scorings: list[Scoring]) -> int:
    """The place of how a score is made: its scorer and the options; -1 where the log does not say."""
    scorer, options = text(score.get("scorer")), json.dumps(score.get("params"), sort_keys=True)
    if not scorer or len(options) > LONGEST_OPTIONS or len(scorer) > LONGEST_SCORER:
        return -1
    way = Scoring(f"inspect {scorer.removeprefix('inspect_ai/')}", metrics={scorer: options})
    if way not in scorings:
        scorings.append(way)
    return scorings.index(way)


def _scores(results: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every score and where it stands; the first logs have one scorer beside its metrics."""
    if "scores" not in results and "metrics" in results:
        scorer = results.get("scorer")
        yield "/results", {"name": text(scorer) or text(table(scorer).get("name")), "metrics": results["metrics"]}
    for place, score in enumerate(items(results.get("scores"))):
        if type(score) is dict:
            yield f"/results/scores/{place}", score


def _task(run: Mapping[str, Any]) -> str:
    """The task with the arguments that were given to it and change what is asked or how an answer is scored."""
    passed = table(without_secrets(run.get("task_args_passed")))
    asked = [(name, value) for name, value in sorted(passed.items()) if not OPERATION.search(name)]
    spelled = ",".join(f"{name}={setting(value)}" for name, value in asked)
    return f"{text(run.get('task'))}({spelled})" if spelled else text(run.get("task"))


def _metrics(metrics: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Every metric's key here, its name in the log, and its value; of a part of the samples its group stands before."""
    for name, metric in metrics.items():
        group = text(table(metric).get("group"))
        value = metric.get("value") if type(metric) is dict else metric
        yield f"{group}/{name}" if group else name, (name, value)


def _scored(score: Mapping[str, Any], results: Mapping[str, Any], epochs: int) -> int | None:
    """The samples behind a score; the log counts each of them once for each epoch."""
    scored, completed = whole(score.get("scored_samples")), whole(results.get("completed_samples"))
    if scored is not None or completed is None or epochs < 1:
        return scored
    return completed // epochs


def rerun(wanted: Rerun) -> str:
    """The call of Inspect for tasks of inspect_evals; others lie in a file that the log does not hold."""
    model, settings = wanted.model, wanted.settings
    tasks = list(dict.fromkeys(key.partition(" ")[0] for key in wanted.leaf_keys))
    is_known = all(task.startswith("inspect_evals/") and "(" not in task for task in tasks)
    if not is_known or settings.keys() - OPTIONS or not model.source or model.id in {"", UNNAMED}:
        return ""
    is_of_hub = model.source in OF_HUB
    named = model.id if model.id.startswith(f"{model.source}/") and not is_of_hub else f"{model.source}/{model.id}"
    asked = (model.revision or model.requested_revision) if is_of_hub else ""  # of a service the day stands there
    words = ["inspect", "eval", *tasks, "--model", named, *(["-M", f"revision={asked}"] if asked else [])]
    words += [word for name in OPTIONS if name in settings for word in (f"--{name.replace('_', '-')}", settings[name])]
    return command_line([*words, "--log-dir", "results"])


def only_questions(ids: Mapping[str, Sequence[int | str]], _: str) -> tuple[str, str]:
    """The option of Inspect that names the samples; it is the same for all tasks of a call."""
    every = sorted({str(one) for some in ids.values() for one in some})
    return command_line(["--sample-id", ",".join(every)]), ""


def when_large(head: bytes) -> str:
    """The hint for a JSON log that is too large to read."""
    is_log = all(word in head for word in WORDS[:1] + WORDS[2:])
    return "convert it: inspect log convert --to eval --output-dir logs <the log>" if is_log else ""


INSPECT = Format(
    id="inspect",
    title="Inspect",
    recognise=recognise,
    parse=parse,
    marks=("plan",),
    rerun=rerun,
    only_questions=only_questions,
    stderr_key=lambda _: "stderr",  # a score has one, whatever its metrics
    starts=(b"{", MAGIC),
    larger={MAGIC: MAX_ARCHIVE},
    suffixes=(".eval",),
    naming="run with --model hf/<organization>/<name> of a model on the Hub",
    logging="measure with --log-samples",
    pinning="run with -M revision=<40 hex digits>",
    shows=frozenset({"samples"}),
    when_large=when_large,
    others=(
        Kind(
            "archive",
            "a zip archive",
            "unpack it and name the results in it",
            lambda head: head.startswith(MAGIC) and not head[30:].startswith(FIRST_MEMBERS),
        ),
    ),
)
