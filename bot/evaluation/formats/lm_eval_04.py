"""Result files of lm-evaluation-harness 0.4.0 to 0.4.13.

Keys came over time (`n-samples` and `higher_is_better` with 0.4.3, `lm_eval_version` with 0.4.9), so all but `results`
may be absent. A metric's key is "name,filter".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from bot.evaluation.benchmarks.harness import commit_of, order_of
from bot.evaluation.definition import (
    CODE,
    FUNCTION,
    NONE,
    AskedDefinitions,
    Remembered,
    canonical,
    digested,
    picked,
)
from bot.evaluation.formats import contradictions
from bot.evaluation.formats.conditions import conditions_of
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import (
    arguments,
    items,
    number,
    release,
    revision,
    row,
    setting,
    shots,
    table,
    text,
    version,
    whole,
)
from bot.evaluation.formats.format import Format, Rerun, command_line
from bot.evaluation.formats.sameness import adapter_of, name_in
from bot.evaluation.formats.secrets import without_secrets
from bot.evaluation.result import (
    AskedField,
    GroupRow,
    HarnessVersion,
    LeafResult,
    Model,
    Result,
    Scoring,
    escape_pointer,
    model_size,
)

BATCHED = ("hf", "huggingface", "vllm")  # beginnings of model classes that find their batch size themselves
# What a model class and a task need besides.
EXTRAS_OF_MODELS = {"hf": ("hf", "huggingface"), "vllm": ("vllm",), "api": ("local-", "openai-", "anthropic-")}
EXTRAS_OF_TASKS = {"math": re.compile("^(leaderboard|minerva)_math"), "ifeval": re.compile("ifeval")}
UPSTREAM, SAYS_ITS_RELEASE = "EleutherAI/lm-evaluation-harness", (0, 4, 9)
SAYS_WEIGHTS, DAY_OF_WEIGHTS = (0, 4, 3), "2024-05-03"  # since when files have the model's commit and dtype
OF_TRANSFORMERS = ("hf", "huggingface", "mamba", "steered")  # beginnings of model classes that transformers loads
HAS_HF = (0, 4, 10)  # the first release with the extra `hf`; before, all installed what it has
ROUNDS = re.compile(r"load_in_[48]bit\W+[Tt]rue|bnb_4bit")  # what transformers hands to bitsandbytes
EMPTY: dict[str, Any] = {}
SEED = 1234  # that picks the examples, unless --seed says another; with it before release 0.4.3
INDENTED = re.compile(r"( +)- ")
BLANK = " "  # the key of an empty cell, which the harness writes into rows of aggregates
PLACES = {
    "model": "/model_name",
    "revision": "/config/model_sha",
    "precision": "/config/model_dtype",
    "arguments": "/config/model_args",
    "chat_template": "/chat_template",
    "commit": "/git_hash",
    "release": "/lm_eval_version",
    "limit": "/config/limit",
    "date": "/date",
    "leaves": "/results",
    "leaf": "/results/{leaf}",
    "value": "/results/{leaf}/{value}",
    "num_fewshot": "/n-shot/{leaf}",
    "version": "/versions/{leaf}",
    "samples": "/n-samples/{leaf}",
    "definition": "/configs/{leaf}",
}
# The fields of a task's configuration that decide what is asked, and the values that count as absent.
DECIDING = dict.fromkeys((
    "doc_to_text", "doc_to_target", "doc_to_choice", "doc_to_image", "doc_to_audio", "use_prompt", "description",
    "gen_prefix", "dataset_path", "dataset_name", "dataset_kwargs", "custom_dataset", "training_split",
    "validation_split", "test_split", "fewshot_split", "process_docs", "target_delimiter", "fewshot_delimiter",
    "fewshot_config", "output_type", "generation_kwargs", "repeats", "filter_list", "process_results", "metric_list",
    "lmms_eval_specific_kwargs",
))  # fmt: skip
# Those that may be functions: whoever writes a file again may make `{}` of an object without text.
FUNCTIONS = ("doc_to_text", "doc_to_target", "doc_to_choice", "process_docs", "process_results")
DEFAULTS = {"target_delimiter": " ", "fewshot_delimiter": "\n\n", "repeats": 1}
ALWAYS = ("doc_to_text", "dataset_path", "output_type")  # the harness writes them for each task
# What the harness takes where a task names no metrics or filters, and keys of a metric that are no options.
USUAL_METRICS = {"loglikelihood": ("acc",), "multiple_choice": ("acc", "acc_norm"), "generate_until": ("exact_match",)}
USUAL_FILTERS = [{"name": "none", "filter": [{"function": "take_first"}]}]
NO_OPTIONS = ("metric", "aggregation", "higher_is_better", "hf_evaluate")
LONGEST_DELIMITER, LONGEST_TARGET, LONGEST_OPTIONS = 20, 100, 4_000  # characters
# What a task asked, see `digested`; how its answers are scored, with its encoding; and where answers end.
ToldOfTask = tuple[str, tuple[AskedField, ...], tuple[bytes, Scoring] | None, list[Any]]
NOT_TOLD: ToldOfTask = ("", (), None, [])
FUNCTION_NAME = re.compile(r"<function ([\w.]+)")
ADDRESS = re.compile(r"<function [^<>]{1,200} at 0x[0-9a-fA-F]+>")


def recognise(content: Content) -> bool:
    """Recognise it by `configs` and `n-shot` at the top, or by a metric's key with a comma."""
    if content.results is None:
        return False
    if content.table("configs") is not None and content.table("n-shot") is not None:
        return True
    rows = (value for value in content.results.values() if isinstance(value, dict))
    return any("," in key for values in rows for key in values)


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object."""
    config = content.config or EMPTY
    top, rows = content.top, content.results or EMPTY
    subtasks = subtasks_of(content)
    commit, version = text(top.get("git_hash")) or None, release(top.get("lm_eval_version")) or None
    asked = AskedDefinitions()
    scorings: dict[bytes, tuple[int, Scoring]] = {}
    leaves = _leaves(content, subtasks.keys() | (content.table("groups") or EMPTY).keys(), asked, scorings)
    return Result(
        model=model_of(content, config),
        harness=HarnessVersion("lm-evaluation-harness", None, commit, version),
        leaves=leaves,
        limit=number(config.get("limit")),
        date=number(top.get("date")),
        settings=settings_of(content, config),
        groups=(*_groups(rows, "/results", leaves), *_groups(content.table("groups") or EMPTY, "/groups", EMPTY)),
        subtasks=subtasks,
        task_hashes=content.table("task_hashes") or EMPTY,
        places=PLACES,
        definitions=asked.definitions,
        asked=asked.asked,
        scorings=tuple(way for _, way in scorings.values()),
        contradictions=contradictions.of_lm_eval(top, config),
        conditions=conditions_of(top, config),
    )


def deciding(recorded: dict[str, Any]) -> dict[str, Any]:
    """The fields that decide, of those that are not null; NONE for one that was left out."""
    functions = [name for name, value in recorded.items() if type(value) is str and value[:1] == "<"]
    lost = [name for name in FUNCTIONS if name in recorded and recorded[name] == {}]
    config = recorded | dict.fromkeys([*lost, *(name for name in functions if _is_address(recorded[name]))], FUNCTION)
    found = {**config, "metric_list": _options(config.get("metric_list"))}
    if data := table(config.get("dataset_kwargs")):
        found["dataset_kwargs"] = _without(without_secrets(data), "trust_remote_code")
    if generation := table(config.get("generation_kwargs")):
        found["generation_kwargs"] = _generation(generation)
    if shown := table(config.get("fewshot_config")):
        shown = {**shown, "samples": FUNCTION} if shown.get("samples") == {} else shown
        task = {**DEFAULTS, **config, "split": config.get("fewshot_split"), "sampler": "default"}
        found["fewshot_config"] = _examples({name: [value, task.get(name)] for name, value in shown.items()})
    if prompts := table(config.get("lmms_eval_specific_kwargs")):  # by model, and beside them those of this model
        found["lmms_eval_specific_kwargs"] = {
            name: one for name, one in prompts.items() if type(one) is dict
        } or prompts
    return picked(found, DEFAULTS) | {name: NONE for name in ALWAYS if name not in found}


def _is_address(value: Any) -> bool:
    return type(value) is str and ADDRESS.fullmatch(value) is not None


@Remembered
def _options(metrics: Any) -> dict[str, Any]:
    """What a task sets of its metrics, by their names: options, and an aggregation that is a function of its own."""
    found = {}
    for one in items(metrics):
        metric, aggregation = table(one).get("metric"), table(one).get("aggregation")
        name = canonical(FUNCTION if _is_address(metric) else metric)
        options = {
            key: value
            for key, value in _without(table(one), *NO_OPTIONS).items()
            if value is not None and value is not False
        }
        if CODE.match(text(aggregation)):
            options["aggregation"] = canonical(aggregation)
        if options or CODE.match(name):
            found[name] = options
    return found


def _without(members: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name not in names}


def _generation(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of generation; a temperature of 0 is greedy, which is the default."""
    if not settings.get("do_sample") and not settings.get("temperature"):
        return _without(settings, "do_sample", "temperature")
    return dict(settings)


@Remembered
def _examples(settings: Mapping[str, list[Any]]) -> dict[str, Any]:
    """How examples are picked, of each setting its value and what the task says of its questions.

    Release 0.4.11 and later repeat that.
    """
    return {
        name: value for name, (value, of_task) in settings.items() if value is not None and not _is_same(value, of_task)
    }


def _is_same(value: Any, of_task: Any) -> bool:
    """Tell whether a value is the task's, which of a function is its source and not its name."""
    match = FUNCTION_NAME.match(value) if isinstance(value, str) else None
    return value == of_task or (match is not None and f"def {match[1]}(" in text(of_task))


def subtasks_of(content: Content) -> dict[str, tuple[str, ...]]:
    """The members of each group that has some.

    Files of harness 0.4.0 do not list them. They name a group "mmlu", the groups in it " - humanities" and the tasks in
    those "  - formal_logic": what is indented belongs to the last row before it that is indented less. A row with a
    configuration is a task and no group.
    """
    listed = content.table("group_subtasks")
    if listed is not None:
        return {
            group: tuple([member for member in members if type(member) is str])
            for group, members in listed.items()
            if type(members) is list and members
        }
    members: dict[str, list[str]] = {}
    above: list[tuple[int, str]] = []
    for key, values in (content.results or EMPTY).items():
        match = INDENTED.match(text(table(values).get("alias")))
        depth = len(match[1]) if match else 0
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            members.setdefault(above[-1][1], []).append(key)
        if key not in _configs(content):
            above.append((depth, key))
    return {group: tuple(found) for group, found in members.items()}


def _configs(content: Content) -> dict[str, Any]:
    return content.table("configs") or EMPTY


def settings_of(content: Content, config: Mapping[str, Any]) -> dict[str, str]:
    """The other settings that affect answers; a digest stands for the template, which 0.4.3 and later record."""
    top = content.top
    found = {
        "gen_kwargs": setting(config.get("gen_kwargs")),
        "system_instruction": setting(top.get("system_instruction")),
    }
    if template := top.get("chat_template") or top.get("chat_template_sha"):
        digest = text(top.get("chat_template_sha")) or sha256(setting(template).encode()).hexdigest()
        found["chat_template"] = setting(digest)
    if _is_chat(top, config):
        found["fewshot_as_multiturn"] = setting(top.get("fewshot_as_multiturn"))
    if (seed := whole(config.get("fewshot_seed"))) not in {None, SEED}:
        found["fewshot_seed"] = str(seed)
    return {name: value for name, value in found.items() if value}


def _leaves(
    content: Content, groups: Collection[str], asked: AskedDefinitions, scorings: dict[bytes, tuple[int, Scoring]]
) -> dict[str, LeafResult]:
    """The rows of `results` that are not aggregates. Raises MalformedResult if a row is not an object."""
    results, configs = content.results or EMPTY, {key: table(config) for key, config in _configs(content).items()}
    fewshot, versions, counts = (content.table(name) or EMPTY for name in ("n-shot", "versions", "n-samples"))
    directions = content.table("higher_is_better") or EMPTY
    told = {key: _told([*map(one.get, DECIDING), "target_delimiter" in one]) for key, one in configs.items()}
    # The rules judge no stop word but a full stop.
    judges_stops = ["."] in [words[:1] for *_, words in told.values()]
    leaves = {}
    for key in results:
        numbers = row(results, key, "/results")
        if key in groups or BLANK in numbers:
            continue
        shot, count = fewshot.get(key), counts.get(key)
        count = count if type(count) is dict else EMPTY
        config = configs.get(key, EMPTY)
        definition, fields, scored, words = told.get(key) or NOT_TOLD
        place = -1 if scored is None else scorings.setdefault(scored[0], (len(scorings), scored[1]))[0]
        leaves[key] = LeafResult(
            numbers,
            shots(config.get("num_fewshot") if shot is None else shot),
            version(versions.get(key)),
            whole(count.get("effective")),
            whole(count.get("original")),
            until="\n".join(map(str, words)) if judges_stops else "",
            definition=asked.note(definition, fields) if definition else "",
            less_is_better=_less_is_better(numbers, table(directions.get(key))),
            scoring=place,
        )
    return leaves


@Remembered
def _told(recorded: list[Any]) -> ToldOfTask:
    """What the values of the fields that decide say of a task, the last of which tells whether it has a delimiter.

    One that is null is none, one that is left out is the usual one.
    """
    *values, has_delimiter = recorded
    config = {name: value for name, value in zip(DECIDING, values, strict=True) if value is not None}
    asked = digested(deciding(config)) if config else ("", ())
    stops = items(table(config.get("generation_kwargs")).get("until"))
    return *asked, _scoring_of(config, config.get("target_delimiter") if has_delimiter else " "), stops


def _scoring_of(config: Mapping[str, Any], delimiter: Any) -> tuple[bytes, Scoring] | None:
    """How the harness scores the answers of a task; None where its configuration does not say."""
    output, target = text(config.get("output_type")), text(config.get("doc_to_target"))
    if not output:
        return None
    delimiter = delimiter if type(delimiter) is str and len(delimiter) <= LONGEST_DELIMITER else None
    target = target if len(target) <= LONGEST_TARGET else ""
    is_own, listed, filters = "process_results" in config, config.get("metric_list"), config.get("filter_list")
    return _scoring([output, is_own, listed, filters, delimiter, target])


@Remembered
def _scoring(recorded: list[Any]) -> tuple[bytes, Scoring]:
    output, is_own, listed, filters, delimiter, target = recorded
    metrics = {text(one.get("metric")): _without(one, *NO_OPTIONS) for one in items(listed) if type(one) is dict}
    metrics = metrics if listed else dict.fromkeys(USUAL_METRICS.get(output, ()), EMPTY)
    named = [one for one in items(filters or USUAL_FILTERS) if type(one) is dict]
    way = Scoring(
        output,
        is_own,
        {name: spelled for name, options in metrics.items() if (spelled := _short_json(options))},
        {text(one.get("name")): spelled for one in named if (spelled := _short_json(one.get("filter")))},
        delimiter,
        target,
    )
    return msgspec.json.encode(way), way


def _short_json(value: Any) -> str:
    """A value as JSON, "" for one that is longer than the settings of any metric."""
    spelled = json.dumps(value, sort_keys=True)
    return spelled if len(spelled) <= LONGEST_OPTIONS else ""


def _less_is_better(numbers: Mapping[str, Any], directions: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys of the metrics that the harness says are better where they are less."""
    if False not in directions.values():
        return ()
    return tuple(key for key in numbers if directions.get(key.partition(",")[0]) is False)


def _groups(rows: Mapping[str, Any], above: str, leaves: Mapping[str, Any]) -> Iterator[GroupRow]:
    """The aggregates, which `groups` holds a second time. Raises MalformedResult if one is not an object."""
    for key in rows:
        if key not in leaves:
            yield GroupRow(key, f"{above}/{escape_pointer(key)}", row(rows, key, above))


def model_of(content: Content, config: Mapping[str, Any]) -> Model:
    """The model that a file of harness 0.4 names, or of one that writes its frame."""
    top = content.top
    pairs, args = arguments(config.get("model_args"))
    parameters = whole(config.get("model_num_parameters")) or 0  # -1 where the harness does not know
    adapter = adapter_of(args)
    if adapter is not None:  # it has its own commit
        named, commits = adapter.name, [config.get(f"{adapter.argument}_sha")]
    else:
        named = text(top.get("model_name")) or name_in(pairs)
        commits = [config.get("model_sha"), config.get("model_revision"), pairs.get("revision")]
    return Model(
        id=named,
        revision=revision(*commits),
        precision=text(config.get("model_dtype")) or pairs.get("dtype", ""),
        chat_template=_is_chat(top, config),
        source=_source(top, config),
        args=args,
        requested_revision="" if adapter else text(config.get("model_revision")) or pairs.get("revision", ""),
        parameters=model_size(parameters),
    )


def _source(top: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    return text(top.get("model_source")) or text(config.get("model"))


def _is_chat(top: Mapping[str, Any], config: Mapping[str, Any]) -> bool | None:
    """Whether a template was applied: here, or by a service that takes chats alone, which writes an empty one.

    None where the key is missing beside one that came with it, as in what `simple_evaluate` returns.
    """
    if top.get("chat_template_sha") or top.get("chat_template") or "chat" in _source(top, config).split("-"):
        return True
    is_returned = "n-samples" in top and "model_name" not in top
    return None if ("model_name_sanitized" in top or is_returned) and "chat_template" not in top else False


def rerun(wanted: Rerun) -> str:
    """The call of lm-eval 0.4; with the chat template, the settings and the commit that a new file must share."""
    if any("|" in key for key in wanted.leaf_keys):
        return ""  # a task of lighteval: none of lm-eval is called so
    args = wanted.arguments()
    source = wanted.model.source or "hf"
    words = ["lm_eval", "--model", source, "--model_args", args, "--tasks", ",".join(wanted.leaf_keys)]
    words += [] if wanted.num_fewshot is None else ["--num_fewshot", str(wanted.num_fewshot)]
    if wanted.model.chat_template:
        is_multiturn = wanted.settings.get("fewshot_as_multiturn", "true") == "true"
        words += ["--apply_chat_template", *(["--fewshot_as_multiturn"] if is_multiturn else [])]
    words += wanted.options("gen_kwargs", "system_instruction")
    if seed := wanted.settings.get("fewshot_seed"):
        words += ["--seed", f"0,{SEED},{SEED},{seed}"]  # of random, numpy, torch and the examples
    words += ["--batch_size", "auto"] if source.startswith(BATCHED) else []
    return command_line([*words, "--output_path", "results", "--log_samples"]) if args else ""


def install(repository: str, version: str, wanted: Rerun) -> str:
    """The call of pip that installs a release or commit with what the model class and the tasks need besides.

    Files of lm-eval before 0.4.9 record no release, and the commit of the repository in which it was called: these are
    installed in a clone, in which the next call runs.
    """
    extras = [extra for extra, of in EXTRAS_OF_MODELS.items() if (wanted.model.source or "hf").startswith(of)]
    extras += [extra for extra, of in EXTRAS_OF_TASKS.items() if any(of.search(key) for key in wanted.leaf_keys)]
    is_release = "." in version or not version
    if version and is_release and order_of(version) < HAS_HF and "hf" in extras:
        extras.remove("hf")
    more = f"[{','.join(extras)}]" if extras else ""
    name, besides = f"lm_eval{more}", ["bitsandbytes"] if ROUNDS.search(wanted.model.args) else []
    if not version:
        return command_line(["pip", "install", name, *besides])
    at = f"v{version}" if is_release else version
    if not is_release or order_of(version) < SAYS_ITS_RELEASE:
        folder, installing = repository.rpartition("/")[2], command_line(["pip", "install", "-e", f".{more}", *besides])
        return f"git clone https://github.com/{repository}; cd {folder} && git checkout {at} && {installing}"
    if repository == UPSTREAM:
        return command_line(["pip", "install", f"{name}=={version}", *besides])
    return command_line(["pip", "install", f"{name} @ git+https://github.com/{repository}@{at}", *besides])


def records_weights(version: str, source: str) -> bool:
    """Tell whether a release or commit writes the commit and the dtype of what transformers loads."""
    if "." in version:
        is_old = order_of(version) < SAYS_WEIGHTS
    else:
        listed = commit_of(version)
        is_old = listed is not None and listed.day < DAY_OF_WEIGHTS
    return not is_old and (source or "hf").startswith(OF_TRANSFORMERS)


SHORT_IDS = 100_000  # characters of questions that a command names itself; more stand in a file


def only_questions(ids: Mapping[str, Sequence[int | str]], file: str) -> tuple[str, str]:
    """The option of lm-eval 0.4 that has the questions of each task as JSON, or names a file of it."""
    text = json.dumps({leaf: sorted(one for one in some if isinstance(one, int)) for leaf, some in ids.items()})
    is_long = len(text) > SHORT_IDS
    return command_line(["--samples", file if is_long else text]), text if is_long else ""


LM_EVAL_04 = Format(
    id="lm-eval-0.4",
    title="lm-evaluation-harness 0.4",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    install=install,
    records_weights=records_weights,
    only_questions=only_questions,
    templating="--apply_chat_template",
    logging="measure with --log_samples",
    metric_key="{},{}".format,
)
