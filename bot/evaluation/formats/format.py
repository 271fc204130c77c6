"""The type of a result format: how files are recognised and read, how values are spelled, how to run again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from bot.errors import MalformedResult
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import NESTED, ONE_LINE, arguments
from bot.evaluation.formats.sameness import adapter_of, is_path
from bot.evaluation.formats.secrets import HIDDEN
from bot.evaluation.metric_kinds import NOT_SCORED, PLACEHOLDERS, kind_of, place_of
from bot.evaluation.result import Model, Result

STARTS = 100  # bytes of a file that tell by their beginning which formats it may be of
MAX_BYTES = 8 * 1024 * 1024
MAX_ROWS = 10_000  # leaves and groups of one file, or members of its groups; real files have some hundred
NAMING = "run with --model_args pretrained=<organization>/<name>,revision=<commit> of a model on the Hub"
PINNING = "add revision=<40 hex digits> to --model_args"
# The model classes that load weights, which have a commit and a data type; the others call a service.
LOADING = ("hf", "huggingface", "vllm", "sglang", "mamba", "gptqmodel", "steered")
# Further classes that load weights themselves, which take other arguments.
LOCAL = ("nemo", "neuron", "openvino", "optimum", "ipex", "habana", "winml", "deepsparse", "sparseml", "gpt2", "dummy",
         "neox", "transformer", "nnterp", "mockllm", "llava", "qwen", "accelerate")  # fmt: skip
UNCALLED = ("neox", "dummy")  # classes whose arguments are those of no call
CHATS = frozenset({"chat", "anthropic", "litellm"})  # words of classes that call services which take chats alone
COMPLETIONS, ECHOING = "openai-completions", ("babbage-002", "davinci-002")  # of which lm-eval asks log-likelihoods
INFERENCE = "hf-inference"  # a service of the Hub
NAME = re.compile(r"[A-Za-z][\w-]{0,60}")
DTYPES = frozenset({"bfloat16", "float16", "float32", "float64"})
REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")  # as the Hub names a model; other names load nothing
REMOTE_CODE = re.compile(r"(?:^|,)\s*trust_remote_code\s*=[^,]*")
REVISION = re.compile(r"((?:^|,)\s*revision\s*=\s*)[^,]*")
ONE_LINE_KEY = re.compile(rf"(?=.){ONE_LINE}")
NO_METRICS = frozenset({"alias", "name", "sample_len", "sample_count", "samples", "num_examples", "num_instances"})
FILTERS = ("strict-match", "strict_match", "none", "get-answer", "get_response", "custom-extract", "remove_whitespace")
NOTHING_TO_DO = "nothing needs to be done"  # how advice on a file begins that is in nobody's way
LAST_FILTER = "flexible-extract"  # what it finds wherever it stands is the more generous of two


class Rerun(msgspec.Struct, frozen=True, gc=False):
    """The tasks of a model to measure again, by their keys in the format.

    `num_fewshot` is None if any number of shots will do, `settings` are the generation settings of the result that
    the new one must join, `version` is the release or commit of the tool that is installed, "" for its newest release.
    """

    model: Model
    leaf_keys: tuple[str, ...]
    num_fewshot: int | None
    settings: Mapping[str, str]
    version: str = ""

    def arguments(self) -> str:
        """`pinned_arguments` of the model; "" too where a setting is too long for a result to hold it."""
        is_long = any(value.startswith("sha256:") for value in self.settings.values())
        return "" if is_long else pinned_arguments(self.model)

    def options(self, *names: str) -> list[str]:
        """Those of these settings that the result has, as options of a command."""
        return [word for one in names if one in self.settings for word in (f"--{one}", self.settings[one])]


def stderr_beside(value_key: str) -> str:
    """Spell a standard error as lm-eval does: `acc_stderr`, or `acc_stderr,none` beside `acc,none`."""
    name, comma, answer_filter = value_key.partition(",")
    return f"{name}_stderr{comma}{answer_filter}"


def stderr_after(value_key: str) -> str:
    """Spell a standard error after the whole key, whose name may hold commas (`pass@k:k=1,n=16`)."""
    return f"{value_key}_stderr"


def has_keys(*keys: str) -> Callable[[Any], bool]:
    """What tells whether a JSON value is an object with all of these keys."""
    return lambda value: isinstance(value, dict) and all(key in value for key in keys)


class Kind(msgspec.Struct, frozen=True, gc=False):
    """A kind of file that is no result.

    `title` is its name with an article, `advice` says what to do, or begins with NOTHING_TO_DO. `has_head` tests the
    first bytes, `has_value` the JSON value of the whole file, or of the first of its lines.
    """

    id: str
    title: str
    advice: str
    has_head: Callable[[bytes], bool] = lambda _: False
    has_value: Callable[[Any], bool] = lambda _: False


class Format(msgspec.Struct, frozen=True, eq=False):
    """A result format.

    `recognise` looks at the content alone, never at a name; it may raise MalformedResult where the content is broken.
    `parse` is called where it said yes, and raises MalformedResult and nothing else. A format of one file lists in
    `starts` the bytes that a file of it begins with (after white space); a format of folders lists in `members` the
    files that a run's folder must have, in `optional` those that are read where they are there, and in `beside` those
    that belong to the run and are not read. A JSON object of it has one of `marks` among its keys: `recognise` is asked
    only then, without marks always. `others` are the kinds of files that the tool writes beside its results.

    `naming` and `pinning` say how a run is called so that its file names the model and its commit, "" if no call
    does that; `limiting` and `templating` are its options for a part of the samples and for the chat template, and
    `logging` says how it writes sample logs, "" if none of it are read. `shows` says which counts files of the format
    can show at all: what a draft asks of a person.

    `rerun` writes the command that measures tasks again, "" if it cannot; a format without one is None. `writes` is the
    format of the files that it makes, and `written_keys` how these call leaves, where they are others. `install` writes
    the command before it, which installs a release or commit of a repository, without one the newest that makes them.
    `records_weights` tells of a release or commit ("" for any) and a model class whether a file has the commit and the
    precision of the model, which older files may lack.
    `only_questions` writes the options that limit such a command to questions, by their ids in each leaf: "" if it
    cannot, and beside it the text of the file of the given name if they name that. `metric_key` and `stderr_key` spell
    what a declaration gives no key for. Files over `max_bytes` are not read; those that begin with a key of `larger`
    have a limit of their own, and are called by one of `suffixes`. `when_large` says by the first bytes of a file over
    the limit what to do with it, "" if it is not of this format. `is_percent` tells of a metric whether its values are
    percentages, however small they are, and `has_order` whether a file has the metric that counts before the others;
    `has_splits` that the last part of a leaf's key is the split of its data; `names_by_path` that the path alone names
    the model. `parts` reads a file that may have several measurements, each with the rows that it was made from;
    `why_not` says what a file lacks to be of the format. `is_form` says that the layout is data, and
    `only_leaves` has the keys of all leaves that its files can have, where it names them.
    """

    id: str
    title: str
    recognise: Callable[[Content], bool]
    parse: Callable[[Content], Result]
    rerun: Callable[[Rerun], str] | None = None
    writes: str = ""
    written_keys: Mapping[str, str] = {}
    install: Callable[[str, str, Rerun], str] | None = None
    records_weights: Callable[[str, str], bool] = lambda *_: False
    only_questions: Callable[[Mapping[str, Sequence[int | str]], str], tuple[str, str]] | None = None
    metric_key: Callable[[str, str], str] = lambda name, _: name
    stderr_key: Callable[[str], str] = stderr_beside
    starts: tuple[bytes, ...] = (b"{",)
    marks: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    others: tuple[Kind, ...] = ()
    max_bytes: int = MAX_BYTES
    naming: str = NAMING
    pinning: str = PINNING
    limiting: str = "--limit"
    templating: str = "the chat template"
    logging: str = ""
    shows: frozenset[Literal["num_fewshot", "samples"]] = frozenset({"num_fewshot", "samples"})
    larger: Mapping[bytes, int] = {}
    suffixes: tuple[str, ...] = ()
    when_large: Callable[[bytes], str] = lambda _: ""
    is_percent: Callable[[str], bool] = lambda _: False
    has_order: bool = False
    has_splits: bool = False
    names_by_path: bool = False
    parts: Callable[[Content], Sequence[tuple[Result, Any]]] | None = None
    why_not: Callable[[Content], str] = lambda _: ""
    is_form: bool = False
    only_leaves: frozenset[str] | None = None

    def may_be(self, content: Content) -> bool:
        """Tell whether the files are of the right number, begin as this format's do, and have its marks."""
        if self.members:
            return all(name in content.files for name in self.members)
        if len(content.files) != 1 or not content.start.startswith(self.starts):
            return False
        top = content.object if self.marks else None
        return top is None or not top.keys().isdisjoint(self.marks)

    def split_key(self, key: str) -> tuple[str, str]:
        """A value's key as the metric's name and the answer filter, "none" where the format has no filters."""
        name, _, answer_filter = key.rpartition(",")
        if name and answer_filter and self.metric_key(name, answer_filter) == key:
            return name, answer_filter
        return key, "none"

    def metrics_in(self, numbers: Mapping[str, Any]) -> Iterator[str]:
        """The keys of a row that are metrics, as they come, without those that no declaration can hold."""
        errors = set(map(self.stderr_key, numbers))
        for key, value in numbers.items():
            is_value = type(value) in {int, float} and "stderr" not in key and key not in errors
            is_metric = is_value and key not in NO_METRICS and ONE_LINE_KEY.fullmatch(key)
            if is_metric and not _is_placeholder(self.split_key(key)[0], value):
                yield key

    def metric_keys(self, numbers: Mapping[str, Any]) -> list[str]:
        """`metrics_in` with the one first that counts: as the file has them, or by filter and name."""
        found = list(self.metrics_in(numbers))
        return found if self.has_order else sorted(found, key=lambda key: _rank(*self.split_key(key)))


def _is_placeholder(name: str, value: float) -> bool:
    """Tell whether a value says that nothing was measured: `bypass`, and -1 or 999 where a metric cannot have these."""
    if name in NOT_SCORED:
        return True
    kind = kind_of(name) if value in PLACEHOLDERS else None
    return kind is not None and not (kind.range[0] <= value <= max(kind.range[1], 100))


def _rank(name: str, answer_filter: str) -> tuple[int, int]:
    late = len(FILTERS) + (answer_filter == LAST_FILTER)
    return place_of(name), FILTERS.index(answer_filter) if answer_filter in FILTERS else late


def check_rows(count: int, pointer: str) -> None:
    """Raise MalformedResult for more rows than are read."""
    if count > MAX_ROWS:
        raise MalformedResult(f"holds {count:,} rows; more than {MAX_ROWS:,} are not read", pointer=pointer)


def is_loaded(source: str) -> bool:
    """Tell whether a model class loads weights itself, instead of calling a service."""
    return source.startswith((*LOADING, *LOCAL)) and not source.startswith(INFERENCE)


def hides_log_likelihoods(model: Model) -> bool:
    """Tell whether a model was called at a service that gives the log-likelihood of no answer."""
    is_generated = model.source == COMPLETIONS and model.id.rpartition("/")[2] not in ECHOING
    return is_generated or not CHATS.isdisjoint(model.source.split("-"))


def loads_path(model: Model) -> bool:
    """Tell whether a call would load weights from a path, which tells nobody else what they are."""
    adapter, base = adapter_of(model.args), arguments(model.args)[0].get("pretrained", "")
    named = base or model.id if adapter is None else adapter.name
    return (is_path(named) and not model.is_mapped) or (adapter is not None and is_path(base))


def runs_own_code(model: Model) -> bool:
    """Tell whether the model's own code was allowed to run, which no command asks for."""
    return arguments(model.args)[0].get("trust_remote_code", "").lower() == "true"


@lru_cache(maxsize=64)  # a file may have a finding for each of its tasks
def pinned_arguments(model: Model) -> str:
    """The model's arguments with the commit and the dtype that were measured; "" if no command line can have them.

    Only a run at the same commit and of the same precision joins the row; a branch may have moved since. What a person
    named is loaded from the Hub, whatever the file loaded in its place. No command can
    have a password, an object, or the arguments of a class that is not a name but an object of Python. A comma in the
    name of a model or of its commit would begin another argument. Whether a model's own code may run is left to whoever
    runs the command.
    """
    pairs, args = arguments(model.args)
    if "," in model.revision or ("," in model.id and not args):
        return ""
    named = f"pretrained={model.id}" if REPOSITORY.fullmatch(model.id) else ""
    args = REMOTE_CODE.sub("", args).removeprefix(",") or named
    if not args or HIDDEN in args or NESTED.search(args) or not NAME.fullmatch(model.source or "hf"):
        return ""
    if model.source.startswith(UNCALLED) or (model.source and not model.source.islower()):
        return ""  # its arguments are no call, or it was an object of Python
    if model.source and not model.source.startswith(LOADING):
        return args
    adapter = adapter_of(model.args)
    loaded = adapter.name if adapter else pairs.get("pretrained", "")
    if model.is_mapped and loaded and not (adapter and adapter.takes_path):
        args = re.sub(rf"(=\s*){re.escape(loaded)}(?=\s*(?:,|$))", lambda found: found[1] + model.id, args)
    commit = "" if adapter else model.revision  # at an adapter's, the tool would load the base, too
    if commit and "revision" in pairs:
        args = REVISION.sub(lambda match: f"{match[1]}{commit}", args)
    elif commit:
        args += f",revision={commit}"
    if model.precision in DTYPES and "dtype" not in pairs:
        args += f",dtype={model.precision}"
    return args


def calls(
    known: Format | None, runs: Sequence[Rerun], taken: Container[str], repository: str = "", version: str = ""
) -> list[str]:
    """The calls that make some runs of a model, the first after the installation.

    None where one cannot be written, or makes files of a format that is not `taken`.
    """
    runs = [replace(run, version=version) for run in runs]
    found = [known.rerun(run) for run in runs] if known is not None and known.rerun else []
    if known is None or not found or not all(found) or (known.writes or known.id) not in taken:
        return []
    every = replace(runs[0], leaf_keys=tuple(key for run in runs for key in run.leaf_keys))
    installed = known.install(repository, version, every) if known.install else ""
    return [f"{installed} && {found[0]}", *found[1:]] if installed else found


def command_line(words: Iterable[str]) -> str:
    """A command in one line for a shell; "" if a word cannot stand in one line."""
    words = list(words)
    return " ".join(map(_quoted, words)) if all(map(str.isprintable, words)) else ""


_quoted = lru_cache(maxsize=1_000)(shlex.quote)  # the commands of a board repeat tasks and options
