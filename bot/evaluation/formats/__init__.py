"""The result formats: one file for each, and the list by which a submission is recognised.

A format is one file here and one line in `BUILT_IN_FORMATS`, or an entry point of another package in the group
`leaderboard_bot.formats` that names a Format.

What is stored, published and shown of a result is bounded here: a field that is too long, or has characters that nobody
sees, is cut and cleaned, and the result lists it for the rule `malformed-field`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.metadata import entry_points
from importlib.resources import files
from math import inf
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.errors import CallError, MalformedResult, UnknownFormat
from bot.evaluation.finding import examples, in_units, shown
from bot.evaluation.formats import contradictions
from bot.evaluation.formats.bfcl import BFCL
from bot.evaluation.formats.content import OTHER_TOOL, Content
from bot.evaluation.formats.euroeval import EUROEVAL
from bot.evaluation.formats.evalchemy import EVALCHEMY
from bot.evaluation.formats.evalplus import EVALPLUS
from bot.evaluation.formats.evalscope import EVALSCOPE
from bot.evaluation.formats.every_eval_ever import EVERY_EVAL_EVER
from bot.evaluation.formats.fields import PRECISIONS, precision, table
from bot.evaluation.formats.form import declared_only, format_of_form
from bot.evaluation.formats.form_reading import FilePart
from bot.evaluation.formats.format import MAX_BYTES, Format, check_rows
from bot.evaluation.formats.harbor import HARBOR
from bot.evaluation.formats.helm import HELM
from bot.evaluation.formats.inspect_log import INSPECT
from bot.evaluation.formats.lighteval import LIGHTEVAL
from bot.evaluation.formats.lm_eval_03 import LM_EVAL_03
from bot.evaluation.formats.lm_eval_04 import LM_EVAL_04
from bot.evaluation.formats.lmms_eval import LMMS_EVAL
from bot.evaluation.formats.mteb import MTEB
from bot.evaluation.formats.olmes import OLMES
from bot.evaluation.formats.open_compass import OPEN_COMPASS
from bot.evaluation.formats.open_llm_v1 import OPEN_LLM_V1
from bot.evaluation.formats.sameness import as_measured
from bot.evaluation.formats.secrets import HIDDEN, credentials, hider, holds_secret, secrets_in, without_secrets
from bot.evaluation.result import HarnessVersion, LeafResult, MalformedField, Model, Result

# Arguments of a harness with a password or token contain one of these; searching for more would take too long.
SIGNS = (b"key", b"token", b"auth", b"pass", b"pwd", b"secret", b"bearer", b"cookie", b"://", b"hf_", b"sk-", b"gh",
         b"glpat", b"akia", b"asia", b"aiza", b"ya29", b"gsk_", b"xai-", b"nvapi", b"r8_", b"pplx", b"dapi", b"tgp_",
         b"xox", b"eyj")  # fmt: skip
# How the Hub's client lays a model out in its cache.
CACHED = re.compile(r"(?:.*/)?models--(?:(?P<org>[^/]+?)--)?(?P<name>[^/]+)/snapshots/(?P<revision>[0-9a-f]{40})/?")


def finished(result: Result, content: Content) -> Result:
    """The result within its bounds, without secrets, its model as other files call it. Raises MalformedResult."""
    result = bounded(result)
    if content.repeated:
        result = replace(result, repeated=tuple(content.repeated))
    recorded = content.recorded_call
    if _may_hold_secret((recorded.get("config"), _arguments_of_tasks(recorded), result.settings)):
        result = _without_secret_settings(_without_call_secrets(result, recorded))
    result = _from_cache(result)
    if of_weights := contradictions.of_weights(result):
        result = replace(result, contradictions=(*result.contradictions, *of_weights))
    measured = as_measured(result.model)
    return _spelled(result if measured is result.model else replace(result, model=measured))


def _without_call_secrets(result: Result, recorded: dict[str, Any]) -> Result:
    """Find what lm-eval was called with; formats that record more look for themselves."""
    found = secrets_in(recorded, "")
    if not found:
        return result
    texts = credentials("", recorded)
    if len(texts) > MAX_FOUND:
        raise MalformedResult(f"holds {len(texts):,} passwords or tokens; more than {MAX_FOUND} are not read")
    clean = msgspec.convert(_without(msgspec.to_builtins(result), hider(texts)), Result)
    return replace(clean, secrets=tuple(sorted({*result.secrets, *found})))


def _arguments_of_tasks(recorded: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What lm-eval repeats of its call for each task, once."""
    tasks = recorded.get("configs", {}).values()
    return list({(name, str(value)) for task in tasks for name, value in task["metadata"].items()})


def _may_hold_secret(value: Any) -> bool:
    """Tell whether a sign of a credential is anywhere in a value."""
    try:
        small = ENCODE(value).lower()
    except (OverflowError, UnicodeEncodeError):  # an integer of more than 64 bits, or half a character
        small = repr(value).lower().encode("utf-8", "replace")
    return any(at >= 0 for at in map(small.find, SIGNS))  # `in` takes long: it first tries each sign as a number


def _without_secret_settings(result: Result) -> Result:
    """Find those in any other setting: a system prompt, what a form of a board names."""
    if not holds_secret("", result.settings):
        return result
    found = {*result.secrets, result.pointer_to("settings")}
    return replace(result, settings=without_secrets(result.settings), secrets=tuple(sorted(found)))


def _without(value: Any, texts: re.Pattern[str]) -> Any:
    """Plain values with each of the texts hidden, in keys too."""
    if isinstance(value, str):
        return texts.sub(HIDDEN, value)
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
    return replace(result, model=replace(model, id=name, revision=revision, args=args))


def _spelled(result: Result) -> Result:
    """The result with its precision in its one spelling, so that a row has one; a word that is none is a fault."""
    named = result.model.precision
    spelled = precision(named)
    if spelled is None:
        why = f"{shown(named)} is none that leaderboard-bot knows: write one of {', '.join(PRECISIONS)}"
        fault = MalformedField("precision", result.pointer_to("precision"), why)
        return replace(result, malformed=(*result.malformed, fault))
    return result if spelled == named else replace(result, model=replace(result.model, precision=spelled))


FORM_HINT = "mend the places of the form in the declaration, or the file"
GROUP = "leaderboard_bot.formats"
# In the order in which they are tried: JSON lines come before formats that are whole JSON. Bars in a row's key are of
# lighteval or of v1, told apart by the suite; `annotator_model` is of evalchemy, which may have keys of lm-eval 0.4;
# lmms-eval has these too; elsewhere a comma in a metric's key is of lm-eval 0.4 alone, and `no_cache` of lm-eval 0.3.
BUILT_IN_FORMATS = (BFCL, EUROEVAL, EVERY_EVAL_EVER, INSPECT, LIGHTEVAL, OPEN_LLM_V1, EVALCHEMY, LMMS_EVAL, LM_EVAL_04,
                    LM_EVAL_03, OLMES, MTEB, EVALPLUS, EVALSCOPE, HARBOR, OPEN_COMPASS, HELM)  # fmt: skip


@cache
def formats() -> tuple[Format, ...]:
    """All formats in the order in which they are tried; those of other packages come first. Raises CallError."""
    return (
        *(_loaded(point.name, point.load()) for point in entry_points(group=GROUP)),
        *BUILT_IN_FORMATS,
        *shipped_forms(),
    )


@cache
def shipped_forms() -> tuple[Format, ...]:
    """The forms of public tools whose layout is data: a file for each in `bot/data/formats/`."""
    folder = files("bot").joinpath("data", "formats")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    return tuple(
        format_of_form(
            {
                "id": name.removesuffix(".toml"),
                "starts": ("{",),
                **tomllib.loads(folder.joinpath(name).read_text("utf-8")),
            }
        )
        for name in names
    )


def _loaded(name: str, found: object) -> Format:
    if not isinstance(found, Format):
        raise CallError(f"the entry point {name!r} in {GROUP} does not name a Format")
    if found.id in _built_in():
        raise CallError(f"the entry point {name!r} in {GROUP} has the id of a built-in format, {found.id}")
    return found


@cache
def _built_in() -> Mapping[str, Format]:
    return {known.id: known for known in (*BUILT_IN_FORMATS, *shipped_forms())}


def find_format(format_id: str) -> Format | None:
    """The installed format with an id; None if there is none."""
    return _built_in().get(format_id) or _installed().get(format_id)


@cache
def _installed() -> Mapping[str, Format]:
    return {known.id: known for known in reversed(formats())}  # of two with one id the first counts


@lru_cache(maxsize=200)
def format_of(format_id: str) -> Format:
    """The format of an id that was checked; one that is not installed is a form of a declaration."""
    return find_format(format_id) or declared_only(format_id)


def format_ids() -> frozenset[str]:
    """The ids of all formats."""
    return frozenset(known.id for known in formats())


def most_bytes(path: str) -> int:
    """The most bytes of a remote file that are fetched, by its name, before its content is known."""
    larger = [limit for known in formats() if path.endswith(known.suffixes) for limit in known.larger.values()]
    return max(larger, default=MAX_BYTES)


def most_of(start: bytes, forms: tuple[Format, ...] = ()) -> int:
    """The most bytes that are read of a single file that begins so, 0 if none of any format does."""
    return next((limit for limit, begins in _limits(forms) if start.startswith(begins)), 0)


@lru_cache(maxsize=16)
def _limits(forms: tuple[Format, ...]) -> list[tuple[int, tuple[bytes, ...]]]:
    """The most bytes of single files of any format, the largest first, each with how such files begin."""
    found: dict[bytes, int] = {}
    for known in (*forms, *formats()):
        for begin in known.starts if not known.members else ():
            limits = {begin: known.max_bytes, **known.larger}
            for start, limit in limits.items():
                found[start] = max(limit, found.get(start, 0))
    return [
        (limit, tuple(begin for begin in found if found[begin] == limit)) for limit in sorted({*found.values()})[::-1]
    ]


def parse_content(content: Content) -> Result:
    """Recognise a submission by its content and read it. Raises MalformedResult, and nothing else."""
    return parse_parts(content)[0].result


def parse_parts(content: Content, forms: Sequence[Format] = (), *, alone: bool = False) -> list[FilePart]:
    """Recognise a submission by its content and read its measurements; nearly all formats have one in a file.

    `forms` are those of the declaration, which come first, or `alone`. Raises MalformedResult, and nothing else.
    """
    for known in forms if alone else (*forms, *formats()):
        if known.may_be(content) and known.recognise(content):
            try:
                parts = known.parts(content) if known.parts else [(known.parse(content), None)]
                return [FilePart(finished(replace(one, format=known.id), content), rows) for one, rows in parts]
            except MalformedResult as error:
                error.is_recognised = True
                raise
    raise UnknownFormat("is of none of these forms") if alone else _unknown(content, forms)


def parse_result(data: bytes) -> Result:
    """Read a result of one file. Raises MalformedResult, and nothing else."""
    return parse_content(Content({"": data}))


def _unknown(content: Content, forms: Sequence[Format]) -> UnknownFormat:
    if forms:
        said = "; ".join(f"the form {one.id} does not read it: it {one.why_not(content)}" for one in forms[:3])
        return UnknownFormat(f"is of no format that leaderboard-bot reads; {said}", hint=FORM_HINT)
    top = content.top
    if any("," in key and type(value) is float for key, value in top.items()):
        return UnknownFormat("looks like one row of a file of lm-evaluation-harness: its run is not in it")
    if top and all("eval" in table(one) and "status" in table(one) for one in top.values()):
        return UnknownFormat("looks like a list of the logs of Inspect: name the logs themselves")
    if content.results is None and "results" not in top:
        keys = f"; its keys are {examples(list(top))}" if top else ""
        why = f'has no "results" object, so it is not a result file that leaderboard-bot reads{keys}'
        return UnknownFormat(why, hint=OTHER_TOOL)
    titles = ", ".join(dict.fromkeys(known.title for known in formats()))
    return UnknownFormat(f"has none of the formats that leaderboard-bot reads: {titles}", hint=OTHER_TOOL)


__all__ = ["MAX_BYTES", "Content", "Format"]


MAX_ROW_BYTES = 2_000_000  # of all rows together, as MessagePack; BelebeleRetrieval of MTEB has 1,500,000
MAX_FOUND = 20  # malformed fields that one result lists
NAME, WORD, LONG = 500, 200, 10_000  # characters: of a name, of a version or precision, of model arguments
ENCODE = msgspec.msgpack.Encoder().encode


def bounded(result: Result) -> Result:
    """The result with all fields within their bounds. Raises MalformedResult if it holds more rows than are read."""
    members = sum(map(len, result.subtasks.values()))
    count = max(len(result.leaves) + len(result.groups) + len(result.subtasks), members)
    check_rows(count, result.pointer_to("leaves"))
    return _plain(_Bounds(result).bound())


class _Bounds:
    """Cuts and cleans the fields of one result, and notes which needed it."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.found: list[MalformedField] = []

    def bound(self) -> Result:
        """The result with every field within its bounds."""
        result = self.result
        model, harness = self.model(result.model), self.harness(result.harness)
        settings = {key: self.cut("setting", value, LONG, "") for key, value in result.settings.items()}
        names = {} if self._are_fit(result) else self._names(result)
        leaves = names.pop("leaves", None) or self._leaves(result.leaves)
        return replace(
            result,
            model=model,
            harness=harness,
            leaves=leaves,
            settings=settings,
            task_hashes=_hashes(result.task_hashes),
            prompts=_hashes(result.prompts),
            unfinished=self.word("status", result.unfinished, "unfinished"),
            quoted_from=_clean(result.quoted_from),
            secrets=tuple([_clean(one) for one in result.secrets[:MAX_FOUND]]),
            malformed=tuple(self.found[:MAX_FOUND]),
            **names,
        )

    def _are_fit(self, result: Result) -> bool:
        """Tell whether all names of leaves and groups may stay as they are."""
        names = [*result.leaves, *result.subtasks, *result.original_keys, *result.original_keys.values()]
        names += [group.key for group in result.groups]
        for members in result.subtasks.values():
            names += members
        return "".join(names).isprintable() and max(map(len, names), default=0) <= NAME

    def _leaves(self, leaves: Mapping[str, LeafResult]) -> Mapping[str, LeafResult]:
        """The leaves, each with version and reducer within their bounds; nearly always those that are given."""
        with_words = [(key, one) for key, one in leaves.items() if one.reducer or type(one.version) is str]
        changed = {key: bound for key, one in with_words if (bound := self.leaf(key, one)) is not one}
        return {**leaves, **changed} if changed else leaves

    def _names(self, result: Result) -> dict[str, Any]:
        """The fields with names of leaves and groups, these within their bounds."""
        return {
            "leaves": {self.name(key): self.leaf(key, leaf) for key, leaf in result.leaves.items()},
            "groups": tuple([replace(group, key=self.name(group.key)) for group in result.groups]),
            "subtasks": {self.name(key): tuple(map(self.name, names)) for key, names in result.subtasks.items()},
            "original_keys": {self.name(key): self.name(spelled) for key, spelled in result.original_keys.items()},
        }

    def model(self, model: Model) -> Model:
        """Bound the model; the characters of its name are judged by the rule on model names."""
        words = f"{model.revision}{model.precision}{model.source}{model.requested_revision}"
        is_short = len(words) <= WORD and len(model.id) <= NAME and len(model.args) <= LONG
        if is_short and words.isascii() and words.isprintable():  # nearly all
            return model
        return replace(
            model,
            id=self.cut("model name", model.id, NAME, "model"),
            revision=self.word("model revision", model.revision, "revision"),
            precision=self.word("precision", model.precision, "precision"),
            source=self.word("model class", model.source, "arguments"),
            args=self.cut("list of model arguments", model.args, LONG, "arguments"),
            requested_revision=self.cut("requested revision", model.requested_revision, WORD, "revision"),
        )

    def harness(self, harness: HarnessVersion) -> HarnessVersion:
        """The harness within its bounds."""
        return HarnessVersion(
            name=self.word("harness name", harness.name, ""),
            git_hash=harness.git_hash and self.word("harness commit", harness.git_hash, "commit"),
            version=harness.version and self.word("harness version", harness.version, "release"),
            repository=harness.repository and self.word("repository", harness.repository, "commit"),
        )

    def leaf(self, key: str, leaf: LeafResult) -> LeafResult:
        """One leaf with version and reducer within their bounds."""
        reducer = self.word("reducer", leaf.reducer, "reducer", key) if leaf.reducer else ""
        version = leaf.version
        if isinstance(version, str):
            version = self.word("task version", version, "version", key)
        is_same = reducer is leaf.reducer and version is leaf.version
        return leaf if is_same else replace(leaf, version=version, reducer=reducer)

    def name(self, value: str) -> str:
        """A task's name without unprintable characters, cut where it is too long."""
        if len(value) <= NAME and value.isprintable():
            return value
        if len(value) > NAME:
            self.note("task name", f"has {len(value):,} characters; it may have {NAME:,}", "leaves")
        else:
            self.note("task name", "holds characters that cannot be printed", "leaves")
        return _clean(value)

    def word(self, name: str, value: str, field: str, key: str = "") -> str:
        """A text of printable ASCII, cut where it is too long."""
        if not (value.isascii() and value.isprintable()):
            self.note(name, "holds characters other than printable ASCII", field, key)
            value = "".join(char if " " <= char <= "~" else "?" for char in value[: WORD + 1])
        return self.cut(name, value, WORD, field, key)

    def cut(self, name: str, value: str, limit: int, field: str, key: str = "") -> str:
        """A text of any characters, cut where it is too long."""
        if len(value) > limit:
            self.note(name, f"has {len(value):,} characters; it may have {limit:,}", field, key)
            value = value[:limit]
        return value

    def note(self, name: str, why: str, field: str, key: str = "") -> None:
        """Note that a field, of the leaf of a key where one is given, is outside its bounds."""
        self.found.append(MalformedField(name, self.result.pointer_to(field, key), why))


def _clean(name: str) -> str:
    cut = name[:NAME]
    if cut.isprintable():
        return cut
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in cut)


def _hashes(found: Mapping[str, str]) -> Mapping[str, str]:
    return {_clean(key): value for key, value in found.items() if _is_hash(value)} if found else found


def _is_hash(value: object) -> bool:
    return type(value) is str and len(value) <= WORD and value.isascii() and value.isprintable()


def _plain(result: Result) -> Result:
    """The result with rows that can be stored: plain values, together within a bound."""
    rows = [[leaf.numbers for leaf in result.leaves.values()], [group.numbers for group in result.groups]]
    try:
        size = len(ENCODE(rows))
    except (OverflowError, UnicodeEncodeError, RecursionError, TypeError, ValueError):
        size = MAX_ROW_BYTES + 1
    if size <= MAX_ROW_BYTES:
        return result
    plain = replace(
        result,
        leaves={key: replace(leaf, numbers=_plain_row(leaf.numbers)) for key, leaf in result.leaves.items()},
        groups=tuple(replace(group, numbers=_plain_row(group.numbers)) for group in result.groups),
    )
    size = len(ENCODE([[leaf.numbers for leaf in plain.leaves.values()], [group.numbers for group in plain.groups]]))
    if size > MAX_ROW_BYTES:
        why = f"holds rows of {in_units(size)} in all; the limit is {in_units(MAX_ROW_BYTES)}"
        raise MalformedResult(why, pointer=result.pointer_to("leaves"))
    return plain


def _plain_row(numbers: Mapping[str, Any]) -> dict[str, Any]:
    return {_clean(key): _plain_value(value) for key, value in numbers.items()}


def _plain_value(value: Any) -> Any:
    """A value of a row that can be stored: not nested, not longer than is shown, and not larger than a double."""
    if isinstance(value, dict | list):
        return type(value)()
    if isinstance(value, str):
        return value[:WORD].encode("utf-8", "replace").decode()
    if type(value) is int and not -(2**63) <= value < 2**63:
        try:
            return float(value)
        except OverflowError:
            return inf if value > 0 else -inf
    return value
