"""What one file says in two places and says differently: its model, commit, data type, settings and templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from bot.evaluation.finding import examples, shown
from bot.evaluation.formats.fields import arguments, number, precision, revision, table, text
from bot.evaluation.formats.sameness import adapter_of, changes_of, elsewhere_in, in_one_spelling, names_in
from bot.evaluation.result import Contradiction, Result, escape_pointer

# Of n answers to each question pass@1 is estimated by their mean, which is avg@n.
ONE_OF = re.compile(r"pass(?:@k:k=1[&,]n=|@1:)(\d+)(?:_samples)?")
MEAN_OF = re.compile(r"(?:avg|mean)@(?:n:n=)?(\d+)")
EQUAL = 1e-6
MOST = 10  # contradictions that one result lists
OTHER_MODEL = "measure the model as it is, or give the changed one a name of its own"
DUMMY = "dummy"  # the class of lm-eval that answers at random
GREEDY = {"do_sample": "False", "temperature": "0"}  # one may stand for the other
GENERATING = frozenset({"generate_until", "generate_until_multi_round"})
NO_LETTERS = re.compile(r"[^a-z0-9]+")
OF_PATH = ("lora_local_path", "steer_path")  # adapters that the harness leaves out of the model's name


def of_lm_eval(top: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[Contradiction, ...]:
    """The contradictions of a file of lm-eval 0.4, or of a tool that writes its frame."""
    pairs, args = arguments(config.get("model_args"))
    asked = pairs.get("revision")
    commits = [*_two("commit", config.get("model_sha"), asked, "/config/model_sha", revision)]
    found = [
        *_names(text(top.get("model_name")), pairs, args, "/model_name"),
        *_class(top, config),
        *_folder(text(top.get("model_name")), text(top.get("model_name_sanitized"))),
        *(commits or _two("revision", config.get("model_revision"), asked, "/config/model_revision", text)),
        *_two("data type", config.get("model_dtype"), _dtype(pairs), "/config/model_dtype", _data_type),
        *_generation(config.get("gen_kwargs"), table(top.get("configs"))),
        *_twice(table(top.get("configs")), top),
        *_hash("chat_template", top),
        *_hash("system_instruction", top),
    ]
    return tuple(found[:MOST])


def unequal_means(numbers: Mapping[str, Any]) -> dict[str, str]:
    """The figures of a task that must be equal and are not, by their keys: pass@1 and the mean of the same answers."""
    ones = {match[1]: key for key in numbers if (match := ONE_OF.fullmatch(key))}
    found: dict[str, str] = {}
    for key in numbers:
        match = MEAN_OF.fullmatch(key)
        other = ones.get(match[1], "") if match else ""
        mean, one = number(numbers[key]), number(numbers.get(other))
        if match and mean is not None and one is not None and abs(mean - one) > EQUAL:
            found |= {
                key: f"{other} of the same answers is {one:.8g}",
                other: f"{key} of the same answers is {mean:.8g}",
            }
    return found


def of_weights(result: Result) -> tuple[Contradiction, ...]:
    """A model's name beside arguments after which the weights are none that it has, or that load others."""
    model, pointer = result.model, result.pointer_to("arguments")
    if not model.id or not model.args:
        return ()
    named = f"the model is {shown(model.id)} by its name, and"
    changed = [f"{named} {name}={shown(value)} changes its weights" for name, value in changes_of(model.args)]
    loaded = [f"{named} its weights were loaded by {name}={shown(value)}" for name, value in elsewhere_in(model)]
    found = [Contradiction(what, pointer, is_error=what in changed, hint=OTHER_MODEL) for what in (*changed, *loaded)]
    return tuple(found[:MOST])


def of_lighteval(general: Mapping[str, Any], config: Mapping[str, Any], args: str) -> tuple[Contradiction, ...]:
    """The contradictions of a file of lighteval."""
    name = text(general.get("model_name")) if config.get("model_name") else ""
    found = [
        *_names(name, {"model_name": text(config.get("model_name"))}, args, "/config_general/model_name"),
        *_two("commit", general.get("model_sha"), config.get("revision"), "/config_general/model_sha", revision),
        *_two("data type", general.get("model_dtype"), config.get("dtype"), "/config_general/model_dtype", _data_type),
    ]  # fmt: skip
    return tuple(found[:MOST])


def _names(name: str, pairs: Mapping[str, str], args: str, pointer: str) -> Iterator[Contradiction]:
    """Two models: one by name and another one in the arguments, or an adapter beside the name of its base."""
    adapter, named = adapter_of(args), names_in(pairs)
    if not name:
        return
    called = {_bare(one) for one in named}
    if adapter is not None and adapter.argument not in OF_PATH and _bare(name) != _bare(adapter.name):
        what = f"the model is {shown(name)} by its name, and {adapter.argument}={shown(adapter.name)} by its arguments"
        yield Contradiction(what, pointer, is_error=True)
    elif adapter is None and called and _bare(name) not in called:
        what = f"the model is {shown(name)} by its name, and {shown(named[0])} by its arguments"
        yield Contradiction(what, pointer, is_error=True)


def _bare(name: str) -> str:
    return name.strip().rstrip("/").removeprefix("./").casefold()


def _class(top: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Contradiction]:
    if DUMMY in {text(config.get("model")), text(top.get("model_source"))}:
        what = "the answers are random: the model's class is dummy"
        yield Contradiction(
            what, "/config/model", is_error=True, hint="measure a model: this class only tries a run out"
        )
    ours, summary = text(config.get("model")), text(top.get("model_source"))
    if ours and summary and ours != summary:
        yield Contradiction(f"the model's class is {shown(ours)}, and {shown(summary)} in its summary", "/model_source")


def _folder(name: str, sanitized: str) -> Iterator[Contradiction]:
    """Two models: one by name and another one by the name of the run's folder, which is made of the first."""
    ours, folder = (NO_LETTERS.sub("", one.casefold()) for one in (name.rpartition("/")[2], sanitized))
    if ours and folder and ours not in folder:
        what = f"the model is {shown(name)} by its name, and {shown(sanitized)} by model_name_sanitized"
        yield Contradiction(what, "/model_name_sanitized", is_error=True)


def _twice(configs: Mapping[str, Any], top: Mapping[str, Any]) -> Iterator[Contradiction]:
    """What the configuration of a task says of its shots and version, and the file once more; and one that is missing.

    The harness writes a configuration for each task that it runs.
    """
    rows, groups = table(top.get("results")), _groups(top)
    missing = [key for key in table(top.get("n-shot")) if key in rows and key not in configs and key not in groups]
    if configs and missing and 2 * len(missing) < len(rows):
        yield Contradiction(f"no configuration of {examples(missing)}, and the other tasks have one", "/configs")
    for name, what, member in (("n-shot", "number of shots", "num_fewshot"), ("versions", "version", "version")):
        differing: dict[tuple[Any, Any], list[str]] = {}
        for key, one in table(top.get(name)).items():
            config = table(configs.get(key))
            there = (table(config.get("metadata")) if name == "versions" else config).get(member)
            if there != one and type(there) in {int, float} and type(one) in {int, float}:
                differing.setdefault((one, there), []).append(key)
        for (one, there), keys in differing.items():
            said = f"the {what} of {examples(keys)} is {one} in {name}, and {there} in its configuration"
            yield Contradiction(said, f"/{name}/{escape_pointer(keys[0])}")


def _groups(top: Mapping[str, Any]) -> set[str]:
    listed = table(top.get("group_subtasks"))
    return {*(key for key in listed if listed[key]), *table(top.get("groups"))}


def _two(what: str, one: object, other: object, pointer: str, spell: Any) -> Iterator[Contradiction]:
    """Two values of one thing, where both are recorded."""
    ours, theirs = spell(one), spell(other)
    if ours and theirs and ours != theirs:
        said = f"the {what} is {shown(ours)} where the run recorded it, and {shown(theirs)} in the arguments"
        yield Contradiction(said, pointer)


def _dtype(pairs: Mapping[str, str]) -> str:
    return next((pairs[name] for name in ("dtype", "torch_dtype", "precision") if pairs.get(name)), "")


def _data_type(value: object) -> str:
    return precision(text(value)) or ""


def _generation(given: Any, configs: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Generation settings of the call that the tasks do not have; the harness writes them into each task."""
    pairs = given if isinstance(given, dict) else arguments(given)[0]
    wanted = {name: in_one_spelling(_text_of(one)) for name, one in pairs.items() if name != "until"}
    differing: dict[str, tuple[str, list[str]]] = {}
    for key, one in configs.items() if wanted else ():
        config = table(one)
        has = table(config.get("generation_kwargs"))
        for name, value in wanted.items() if config.get("output_type") in GENERATING else ():
            there = in_one_spelling(_text_of(has[name])) if name in has else GREEDY.get(name, value)
            if there != value:
                differing.setdefault(name, (f"{shown(value)} in gen_kwargs, and {shown(there)}", []))[1].append(key)
    for name, (said, keys) in differing.items():
        yield Contradiction(f"{shown(name)} is {said} for {examples(keys)}", "/config/gen_kwargs")


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _hash(name: str, top: Mapping[str, Any]) -> Iterator[Contradiction]:
    """A template or system prompt whose hash is another text's."""
    digest, said = top.get(f"{name}_sha"), top.get(name)
    if isinstance(said, str) and isinstance(digest, str) and said and digest:
        if sha256(said.encode("utf-8", "surrogatepass")).hexdigest() != digest:
            yield Contradiction(f"{name}_sha is not the hash of {name}", f"/{name}_sha")
    elif digest and name in top and not said:
        yield Contradiction(f"{name}_sha is the hash of a text, and {name} is empty", f"/{name}_sha")
