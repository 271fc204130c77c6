"""Result files of lm-evaluation-harness 0.2 and 0.3: {results, versions, config}, no commit, one shot count for all.

Some of 0.2 have no `config`, and those of BigScience's fork have the results as a list, with a row for each metric of a
task and a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bot.evaluation.definition import AskedDefinitions
from bot.evaluation.formats.conditions import conditions_of
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import arguments, items, number, revision, row, table, text, version, whole
from bot.evaluation.formats.fields import shots as same_shots
from bot.evaluation.formats.format import Format, Rerun, command_line, pinned_arguments
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result, escape_pointer

# The model classes of its main.py; forks of it, such as that of GPT-NeoX, have a program of their own.
CLASSES = ("hf-causal", "hf-causal-experimental", "hf-seq2seq", "hf", "gpt2", "gpt3", "openai", "anthropic",
           "textsynth", "dummy")  # fmt: skip
PLACES = {
    "chat_template": "",  # it has none
    "model": "/config/model_args",
    "revision": "/config/model_args",
    "precision": "/config/model_args",
    "arguments": "/config/model_args",
    "limit": "/config/limit",
    "leaves": "/results",
    "leaf": "/results/{leaf}",
    "value": "/results/{leaf}/{value}",
    "num_fewshot": "/config/num_fewshot",
    "version": "/versions/{leaf}",
    "definition": "/config",
}
V1 = "EleutherAI/lm-evaluation-harness", "b281b0921b636bc36ad05c0b0b0763bd6dd43463"  # of the Open LLM Leaderboard v1
SPELLED = {"arc:challenge": "arc_challenge", "truthfulqa:mc": "truthfulqa_mc"}  # as that leaderboard's files call them
LISTED_PLACES = {**PLACES, "leaf": "/results", "value": "/results", "definition": "/results/{leaf}"}
# The members of a listed row that decide what is asked; of other files the description in front of a task's prompts.
DECIDING = ("dataset_path", "dataset_name", "subset", "prompt_jinja", "fixed_answer_choice_list")
DESCRIPTION = "description_dict"


def recognise(content: Content) -> bool:
    """Recognise it by a `config` that has `no_cache`, else by `versions` of the very rows, and no key of 0.4.

    A file that was cut down to its `results` is known by a value and its standard error.
    """
    if content.table("configs") is not None:
        return False
    if content.results is None:
        return content.table("versions") is not None and bool(_listed(content))
    if content.config is not None:
        return "no_cache" in content.config
    if content.top.keys() == {"results"}:
        return any(f"{key}_stderr" in one for one in map(table, content.results.values()) for key in one)
    return bool(content.results) and (content.table("versions") or {}).keys() == content.results.keys()


class ListedRow(NamedTuple):
    """The metrics of a task and a prompt in a list of results, where each lies, and the first row and its number."""

    metrics: dict[str, Any]
    pointers: dict[str, str]
    first: dict[str, Any]
    number: int


def _listed(content: Content) -> dict[str, ListedRow]:
    """The results of a list by "task+prompt", as `versions` calls them; of a row its numbers alone are metrics."""
    found: dict[str, ListedRow] = {}
    for place, one in enumerate(items(content.top.get("results"))):
        task, prompt = text(table(one).get("task_name")), text(table(one).get("prompt_name"))
        if task:
            metrics = {key: value for key, value in one.items() if type(value) in {int, float}}
            known = found.setdefault(f"{task}+{prompt}" if prompt else task, ListedRow({}, {}, one, place))
            known.metrics.update(metrics)
            known.pointers.update({key: f"/results/{place}/{escape_pointer(key)}" for key in metrics})
    return found


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object."""
    config = content.config or {}
    pairs, args = arguments(config.get("model_args"))
    named = pairs.get("pretrained") or pairs.get("engine") or ""
    listed, asked = _listed(content) if content.results is None else {}, AskedDefinitions()
    shots = _shots(content, config, listed or content.results or {})
    return Result(
        model=Model(
            id=named,
            revision=revision(pairs.get("revision")),
            precision=pairs.get("dtype", ""),
            chat_template=False,
            source=text(config.get("model")),
            args=args,
            requested_revision=pairs.get("revision", ""),
        ),
        harness=HarnessVersion("lm-evaluation-harness"),
        leaves=_listed_leaves(content, shots, listed, asked) if listed else _leaves(content, shots, asked),
        limit=_limit(config.get("limit")),
        places=LISTED_PLACES if listed else PLACES,
        original_keys={key: str(one.number) for key, one in listed.items()},
        definitions=asked.definitions,
        asked=asked.asked,
        conditions=conditions_of(content.top, config),
    )


def _shots(content: Content, config: Mapping[str, Any], keys: Iterable[str]) -> Mapping[str, int | None]:
    """The shots of each task; a list has those of the tasks in the order of `versions`, in which a fork asks them."""
    versions, asked = content.table("versions") or {}, config.get("num_fewshot")
    if (same := same_shots(asked)) is not None or len(items(asked)) != len(versions):
        return dict.fromkeys(keys, same)
    found = {key: whole(one) for key, one in zip(versions, items(asked), strict=True)}
    return {key: found.get(key) for key in keys}


def _limit(asked: object) -> float | None:
    """The limit of samples, of a list of those of the tasks the smallest."""
    limits = [found for one in items(asked) if (found := number(one)) is not None]
    return min(limits) if limits else number(asked)


def _leaves(content: Content, shots: Mapping[str, int | None], asked: AskedDefinitions) -> dict[str, LeafResult]:
    """The rows of `results`."""
    results, versions, config = content.results or {}, content.table("versions") or {}, content.config or {}
    descriptions = table(config.get(DESCRIPTION))
    return {
        key: LeafResult(
            row(results, key, "/results"),
            shots[key],
            version(versions.get(key)),
            definition=asked.add({DESCRIPTION: descriptions.get(key) or {}}, (DESCRIPTION,), _described)
            if DESCRIPTION in config
            else "",
        )
        for key in results
    }


def _listed_leaves(
    content: Content, shots: Mapping[str, int | None], listed: Mapping[str, ListedRow], asked: AskedDefinitions
) -> dict[str, LeafResult]:
    """The rows of a list, by task and prompt."""
    versions = content.table("versions") or {}
    return {
        key: LeafResult(
            one.metrics,
            shots[key],
            version(versions.get(key)),
            pointers=one.pointers,
            definition=asked.add(one.first, DECIDING),
        )
        for key, one in listed.items()
    }


def _described(recorded: dict[str, Any]) -> dict[str, Any]:
    """The description in front of the prompts of a task; an empty object where it had none."""
    return {DESCRIPTION: recorded[DESCRIPTION]}


def rerun(wanted: Rerun) -> str:
    """The call of harness 0.3, which overwrites the file that it is given."""
    args = pinned_arguments(wanted.model) if (wanted.model.source or CLASSES[0]) in CLASSES else ""
    tasks = ",".join(SPELLED.get(key, key) for key in wanted.leaf_keys)
    shots = wanted.num_fewshot or 0
    words = ["python", "main.py", "--model", wanted.model.source or CLASSES[0], "--model_args", args, "--tasks", tasks]
    file = f"{wanted.model.id.rpartition('/')[2]}_{tasks.partition(',')[0]}_{shots}-shot.json"
    return args and command_line([*words, "--num_fewshot", str(shots), "--output_path", file])


def install(repository: str, version: str, _: Rerun) -> str:
    """The calls that go into a clone at a version, where its `main.py` lies; the clone may be there."""
    repository, version = (repository, version) if version else V1
    at = f"v{version}" if "." in version else version
    folder = repository.rpartition("/")[2]
    return f"git clone https://github.com/{repository}; cd {folder} && git checkout {at} && pip install -e ."


LM_EVAL_03 = Format(
    id="lm-eval-0.3",
    title="lm-evaluation-harness 0.2 and 0.3",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    install=install,
)
