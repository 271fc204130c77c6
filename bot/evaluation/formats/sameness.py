"""What makes two measurements the same: one table says it of every setting and argument that a format records.

`bot/data/sameness.toml` is the table. A setting is of another model, asked otherwise, or of no matter; one that the
table does not know counts as asked otherwise. Joining, reruns, `compare`, the model of a result and the findings ask
here, and nothing else decides.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import translate
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from bot.evaluation.finding import shown
from bot.evaluation.formats.fields import LONGEST_SETTING, arguments, precision, setting
from bot.evaluation.result import Model, Result

Kind = Literal["identity", "model", "asked", "no matter"]
LONGEST_VALUE = 2_000  # characters of a value that is looked into
NOT_SET = frozenset({"", "none", "null", "false", "auto", "default", "{}", "[]", "()", "unset"})
WIDELY = frozenset({"", "none", "null", "auto", "default", "{}", "[]", "()", "unset"})
ON = frozenset({"true", "1", "yes"})
SLASHES = re.compile(r"(?<!:)/{2,}")
PATHS = ("/", ".", "~")  # how the path of a model begins
# Folders in which runs leave weights: nobody's name on the Hub, or that of somebody who is not meant.
FOLDERS = frozenset("""
adapters checkpoint checkpoints ckpt ckpts data exp experiments exps finetuned home log logs lora merged mnt model
models out output outputs result results run runs save saved_models saves tmp trained_models weights work_dirs workspace
""".split())  # fmt: skip  # noqa: SIM905 - a list would have a line for each
MEMBER = re.compile(r"""["']?([A-Za-z_]\w*)["']?\s*[=:]\s*["']?([\w.+-]+)""")
CLASS = re.compile(r"([A-Za-z]\w*?)(?:Config)?\b(?=[\"'\s]*(?:[({<]|$)|(?<=Config))")
NO_ROUNDING = frozenset({"unquant", "unquantized", "no"})
FULL = frozenset({"bfloat16", "float16", "float32", "float64"})
BITS = {"2": "2bit", "3": "3bit", "4": "4bit", "8": "8bit"}
OFF = re.compile(r"(?i)\b(?:false|off|no|none|null|0|disabled?|never|no_think\w*)\b")  # of a switch that has more words
IN_PROMPT = re.compile(r"(?i)(?<!\S)/think\b|detailed thinking on")  # what Qwen, SmolLM and Nemotron take as a switch
GGUF_NAME = re.compile(r"(?i)\.gguf$|-gguf:[\w-]+$")  # a file, or what llama.cpp calls a file of a repository
GGUF_KIND = re.compile(r"(?i)(?:^|[-_./:])((?:I?Q[1-8](?:_[A-Z0-9]+)*)|BF16|F16|F32)(?=\.gguf$|[-.]|$)")
RANDOM = "dummy"  # the format from which servers load random weights
NO_WEIGHTS = frozenset(
    {"tokenizer", "tokenizer_path", "tokenizer_name", "mmproj", "mm_projector"}
)  # that may be files too
QUANTIZED = "quantized"  # weights that are rounded, the file does not say how in a word that is known


class _Table(msgspec.Struct, frozen=True):
    """A table of the data; which of its lists it has depends on the table."""

    names: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    no_name: tuple[str, ...] = ()
    no_matter: tuple[str, ...] = ()
    changing: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    holding: tuple[str, ...] = ()
    switches: Mapping[str, str] = {}
    load_formats: Mapping[str, str] = {}
    defaults: Mapping[str, str] = {}
    own_default: frozenset[str] = frozenset()
    of_examples: frozenset[str] = frozenset()
    switches_of_thinking: tuple[str, ...] = ()


class GivenArgument(NamedTuple):
    """An argument that was given: its name, and its value as a text in one spelling."""

    name: str
    value: str


@cache
def _tables() -> dict[str, _Table]:
    text = files("bot").joinpath("data", "sameness.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, _Table])


class _Names(msgspec.Struct, frozen=True, dict=True):
    """Names of arguments: those that are written out, and those with stars."""

    whole: frozenset[str]
    with_stars: tuple[str, ...]

    @cached_property
    def starred(self) -> re.Pattern[str]:
        """The pattern of those with stars, which most names do not need."""
        return re.compile("|".join(map(translate, self.with_stars)) or "(?!)")

    def has(self, name: str) -> bool:
        return name in self.whole or self.starred.match(name) is not None


def _list_of(names: Collection[str]) -> _Names:
    starred = tuple([name for name in names if "*" in name])
    return _Names(frozenset(names) - set(starred), starred)


@cache
def _kinds() -> list[tuple[_Names, Kind]]:
    found = _tables()
    adapters, quantization = found["adapters"], found["quantization"]
    parts = [f"*{part}*" for part in adapters.parts]
    return [
        (_list_of([*found["identity"].names, *found["identity"].others]), "identity"),
        (_list_of(adapters.no_matter), "no matter"),
        (_list_of([*adapters.names, *adapters.no_name]), "model"),
        (_list_of(quantization.names), "model"),
        (_list_of(found["weights"].names), "model"),
        (_list_of(found["asked"].names), "asked"),
        (_list_of([*quantization.details, *parts]), "model"),
        (_list_of(found["no_matter"].names), "no matter"),
    ]


def kind_of(name: str) -> Kind:
    """What a setting or argument of this name makes of a measurement; one that nobody knows was asked otherwise."""
    return known_kind(name) or "asked"


@lru_cache(maxsize=4_096)
def known_kind(name: str) -> Kind | None:
    """What the table says of a name, None for one that it does not have."""
    spelled = _spelled(name)
    return next((kind for names, kind in _kinds() if names.has(spelled)), None)


@lru_cache(maxsize=4_096)
def _spelled(name: str) -> str:
    return name.strip().lstrip("-").replace("-", "_").lower()


@cache
def _lists(table: str, field: str) -> _Names:
    return _list_of(getattr(_tables()[table], field))


def is_set(name: str, value: str) -> bool:
    """Tell whether a value is another one than the absent argument has; most switches are off where they are absent."""
    word, asked = value.strip().lower(), _tables()["asked"]
    spelled = _spelled(name)
    if spelled in asked.own_default:
        return word not in WIDELY
    if spelled in asked.defaults and (word == asked.defaults[spelled] or _number(word) == asked.defaults[spelled]):
        return False
    return word not in NOT_SET


def _number(word: str) -> str:
    """A number in one spelling: 0.0 is 0."""
    try:
        return f"{float(word):.12g}"
    except ValueError:
        return word


@lru_cache(maxsize=4_096)
def arguments_of(args: str) -> tuple[GivenArgument, ...]:
    """The arguments of a model that were given, with those that other ones hold.

    A value is a text in one spelling: `True` and `true` are equal, and so are 0.6 and 0.60.
    """
    found: dict[str, str] = {}
    for name, value in arguments(args)[0].items():
        for one in _given(name, value):
            found.setdefault(*one)
    for name in ("tokenizer", "tokenizer_path", "tokenizer_name"):  # that of the model itself is no other
        if name in found and found[name] in (found.get(one) for one in _tables()["identity"].names):
            del found[name]
    return tuple(GivenArgument(name, value) for name, value in found.items())


@lru_cache(maxsize=4_096)
def written_in(args: str) -> Mapping[str, str]:
    """Every argument that a text has, also those that say what is so without them, each in one spelling."""
    found: dict[str, str] = {}
    for key, value in _flat(arguments(args)[0].items()):
        found.setdefault(_spelled(key), in_one_spelling(value))
    return found


@lru_cache(maxsize=2_000)
def _given(name: str, value: str) -> tuple[GivenArgument, ...]:
    """What one argument gives, of those that hold others these; most are the same in all files of a board."""
    return tuple([
        GivenArgument(_spelled(key), in_one_spelling(one)) for key, one in _flat([(name, value)]) if is_set(key, one)
    ])  # fmt: skip


@lru_cache(maxsize=4_096)
def _of_weights(args: str) -> tuple[GivenArgument, ...]:
    """Those of the arguments that may say which weights a model has, see `_may_be_of_weights`."""
    return tuple([one for one in arguments_of(args) if _may_be_of_weights(*one)])


@lru_cache(maxsize=2_000)
def _may_be_of_weights(name: str, value: str) -> bool:
    """Tell whether an argument may add an adapter, round weights, change them or load others."""
    lists = [("quantization", "names"), ("weights", "changing"), ("weights", "elsewhere")]
    is_named = kind_of(name) == "model" or any(_lists(*one).has(name) for one in lists)
    return is_named or name == "load_format" or GGUF_NAME.search(value) is not None


def _flat(pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, str]]:
    """The arguments as texts, those that hold others replaced by these."""
    for name, value in pairs:
        inner = value if isinstance(value, dict) else value_of(str(value))
        if isinstance(inner, dict) and _lists("holders", "names").has(_spelled(str(name))):
            yield from _flat((str(key), one) for key, one in inner.items())
        else:
            yield str(name), setting(value) if isinstance(value, dict | list) else str(value)


def value_of(text: str) -> Any:
    """An object or a list that a text spells in JSON or in Python, the text itself where it spells none."""
    if text[:1] not in {"{", "["} or len(text) > LONGEST_VALUE:
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return text


def in_one_spelling(value: str) -> str:
    """A value as a text that can be compared."""
    inner = value_of(value.strip())
    if isinstance(inner, dict | list):
        return setting(_plain(inner))
    word = value.strip().strip("\"'")
    return {"true": "True", "false": "False"}.get(word.lower(), _number(word))


def _plain(value: Any) -> Any:
    """An object without members that are not set, its numbers in one spelling."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def generation_of(value: str) -> str:
    """Generation settings in one spelling, whether they are written `a=1,b=2` or as an object."""
    if value[:1] == "{" or "=" not in value:
        return in_one_spelling(value)
    pairs = {name: in_one_spelling(one) for name, one in arguments(value)[0].items()}
    return setting({name: _typed(one) for name, one in pairs.items() if one not in {"", "None"}})


def _typed(word: str) -> Any:
    if word in {"True", "False"}:
        return word == "True"
    try:
        return _plain(float(word)) if "." in word or "e" in word else int(word)
    except ValueError:
        return value_of(word)


class Adapter(NamedTuple):
    """The weights that an argument adds to a model: the argument, what it names them, and whether it takes a path."""

    argument: str
    name: str
    takes_path: bool


def adapter_of(args: str) -> Adapter | None:
    """The adapter that names the measured model, None if its arguments have none.

    What an argument for a path gives is a path, whatever it looks like: `./adapters/mine` for `adapters/mine`.
    """
    given = dict(_of_weights(args))
    if not given:
        return None
    adapters = _tables()["adapters"]
    silent = _lists("adapters", "no_name")
    for name in [*filter(given.__contains__, adapters.names), *given]:
        is_adapter = kind_of(name) == "model" and (name in adapters.names or _has_part(name))
        if is_adapter and given[name] not in {"", "True"} and not silent.has(name):
            takes_path = name in adapters.paths
            begins = "./" if takes_path and not given[name].startswith(PATHS) else ""
            return Adapter(name, f"{begins}{given[name]}", takes_path)
    return None


def is_path(name: str) -> bool:
    """Tell whether what a file calls its model is a path on somebody's disk, as `checkpoints/dpo` is."""
    folder, slash, _ = name.partition("/")
    return name.startswith(PATHS) or bool(slash and folder.lower() in FOLDERS)


def model_name(name: str) -> str:
    """What a file calls its model; of a path without a last slash, and each slash once."""
    return SLASHES.sub("/", name).rstrip("/") if is_path(name) else name


def changes_of(args: str) -> list[GivenArgument]:
    """The arguments after which the weights are none that the named model has."""
    changing = _lists("weights", "changing")
    return [one for one in _of_weights(args) if changing.has(one.name) or one == ("load_format", RANDOM)]


def elsewhere_in(model: Model) -> list[GivenArgument]:
    """The arguments that load weights from elsewhere than the named model, as far as their values show."""
    names, called = _lists("weights", "elsewhere"), model.id.rpartition("/")[2].casefold()
    given = [one for one in _of_weights(model.args) if names.has(one.name) and one.value != model.id]
    return [one for one in given if not _is_within(one.value, called) and not GGUF_NAME.search(one.value)]


def _is_within(path: str, name: str) -> bool:
    """Tell whether a path leads through a folder that is called like the model, or is only a switch."""
    return path in {"True", "False"} or name in path.casefold().split("/")


def _has_part(name: str) -> bool:
    return any(part in name for part in _tables()["adapters"].parts)


def names_in(pairs: Mapping[str, str]) -> list[str]:
    """Everything that the arguments call the model."""
    return [pairs[name] for name in _tables()["identity"].names if pairs.get(name)]


def name_in(pairs: Mapping[str, str]) -> str:
    """What the arguments call the model: the first of its names that is given."""
    return next(iter(names_in(pairs)), "")


def quantization_of(args: str) -> str:
    """How the arguments round the weights, as a precision of a row; "" if they do not."""
    given = dict(_of_weights(args))
    if not given:
        return ""
    table, details = _tables()["quantization"], _lists("quantization", "details")
    for name in filter(given.__contains__, table.names):
        if found := _rounded(name, given[name]):
            return found
    for name, value in given.items():
        if GGUF_NAME.search(value) and name not in NO_WEIGHTS and not _has_part(name):
            return _of_gguf(value)
        if details.has(name) and name.endswith(table.holding) and name not in table.names and kind_of(name) == "model":
            return precision(name.partition("_")[0]) or QUANTIZED
    return ""


def _rounded(name: str, value: str) -> str:
    """How one argument rounds the weights."""
    words, word = _tables()["quantization"], value.lower()
    own = words.switches.get(name) or precision(name) or QUANTIZED  # what the argument itself is named after
    if name == "load_format":
        return words.load_formats.get(word, "")
    if own == "GGUF":
        return _of_gguf(value)
    if word.isdecimal() and word != "1":
        return BITS.get(word, "")
    if word in NO_ROUNDING or precision(value) in FULL:
        return ""
    if word in ON or own != QUANTIZED:
        return own
    return precision(value) or _of_object(value)


def _of_gguf(name: str) -> str:
    """The precision that a file of llama.cpp has by its name."""
    kind = GGUF_KIND.search(name)
    return f"GGUF-{kind[1].upper()}" if kind else "GGUF"


def _of_object(value: str) -> str:
    """The precision that the configuration of a quantization says, written as JSON or as Python prints it."""
    cut = value[:LONGEST_VALUE]
    members: dict[str, str] = {}
    for name, inner in MEMBER.findall(cut):
        members.setdefault(name.lstrip("_"), inner)
    switches = [members.get(f"load_in_{bits}bit", "") for bits in ("4", "8")]
    if any(switches):
        return "4bit" if switches[0].lower() in ON else "8bit" if switches[1].lower() in ON else ""
    said = [members.get(name, "").rpartition(".")[2] for name in ("quant_method", "quant_type", "quant_algo", "method")]
    classes = CLASS.findall(cut)[::-1]
    known = [*map(precision, said), *map(precision, map(_snake, classes)), *map(precision, classes)]
    bits = [BITS.get(members.get(name, "")) for name in ("bits", "nbits", "w_bit", "num_bits")]
    parts = [precision(part) for part in reversed(re.split(r"[^A-Za-z0-9]", cut))] if not members else []
    return next(filter(None, (*known, *bits, *parts)), QUANTIZED)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.removesuffix("Config")).lower()


def as_measured(model: Model) -> Model:
    """The model with the name of its adapter and with the precision that its arguments round it to.

    The commit of a base model is not that of an adapter.
    """
    if not model.args:
        return model
    adapter, rounded = adapter_of(model.args), quantization_of(model.args)
    if adapter is not None and adapter.name != model.id:
        model = replace(model, id=adapter.name, revision="", requested_revision="")
    return replace(model, precision=rounded) if rounded else model


def settings_of(result: Result) -> dict[str, str]:
    """How a result was asked: every setting and argument that counts, in one spelling.

    Two results of one format are asked in the same way where these are equal.
    """
    without = frozenset() if has_examples(result) else _tables()["asked"].of_examples
    found = {
        name: generation_of(value)
        for name, value in result.settings.items()
        if name not in without and kind_of(name) == "asked" and is_set(name, value)
    }
    given = ((name, value) for name, value in arguments_of(result.model.args) if kind_of(name) == "asked")
    return {**{f"argument {name}": value for name, value in given if name not in result.settings}, **found}


def has_examples(result: Result) -> bool:
    """Tell whether a task of the run showed examples, or may have."""
    return any(leaf.num_fewshot != 0 for leaf in result.leaves.values())


def is_of_examples(name: str) -> bool:
    """Tell whether a setting says how examples are shown, and nothing of a task without any."""
    return name in _tables()["asked"].of_examples


def thinks(result: Result) -> bool:
    """Tell whether the run switched thinking on."""
    given = dict(arguments_of(result.model.args))
    switches = _tables()["asked"].switches_of_thinking
    found = {**given, **{_spelled(name): value for name, value in result.settings.items()}}
    if any(is_set(name, found[name]) and not OFF.search(found[name]) for name in switches if name in found):
        return True
    return any(IN_PROMPT.search(found.get(name, "")) for name in ("system_instruction", "system_prompt"))


def names_weights(name: str) -> bool:
    """Tell whether an argument of this name adds an adapter or rounds the weights."""
    return any(_lists(table, "names").has(_spelled(name)) for table in ("adapters", "quantization"))


def weights_of(result: Result) -> dict[str, str]:
    """The arguments that say which weights it has, beyond what names the model."""
    adapter = adapter_of(result.model.args)
    named = adapter.argument if adapter is not None else ""
    return {name: value for name, value in arguments_of(result.model.args) if _is_of_weights(name, value, named)}


def _is_of_weights(name: str, value: str, named: str = "") -> bool:
    return kind_of(name) == "model" and name != named and (name != "load_format" or bool(_rounded(name, value)))


LARGER = 1.02  # two sizes of one model as harnesses print them differ by less


def other_weights(one: Result, other: Result) -> str:
    """How the weights of two results of one key differ, "" if nothing in them says that they do."""
    ours, theirs = weights_of(one), weights_of(other)
    for name in sorted({*ours, *theirs}):
        is_told = name in _tables()["quantization"].names  # the precision in the key says whether it is there
        if ours.get(name) != theirs.get(name) and not (is_told and not (ours.get(name) and theirs.get(name))):
            return f"{name} is {_said(ours, name)} in the first and {_said(theirs, name)} in the second"
    for what, a, b in (
        ("size in bytes", one.model.size, other.model.size),
        ("number of parameters", one.model.parameters, other.model.parameters),
    ):
        if a and b and max(a, b) > LARGER * min(a, b):
            return f"the {what} is {a:,} in the first and {b:,} in the second"
    return ""


def _said(weights: Mapping[str, str], name: str) -> str:
    return shown(weights[name]) if name in weights else "not set"


def shown_arguments(result: Result) -> dict[str, str]:
    """Every argument by the name that a comparison has for it: those of the weights, and those of how it was asked."""
    kinds = {"model": "weights ", "asked": "argument "}
    return {
        f"{kinds[kind_of(name)]}{name}": value[:LONGEST_SETTING]
        for name, value in arguments_of(result.model.args)
        if name not in result.settings and (kind_of(name) == "asked" or _is_of_weights(name, value))
    }
