"""Draft a form for result files that no format reads: compare the files, and find models, numbers and their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from bot.evaluation.draft.form_rows import (
    NO_MODEL,
    PRECISION_KEYS,
    NamedRows,
    is_written,
    last_key,
    named_ways,
    sureness,
)
from bot.evaluation.draft.form_sets import is_set, set_level, set_places
from bot.evaluation.draft.form_values import NAMED, DraftedValue, drafted_values, numbers_in
from bot.evaluation.finding import counted, examples, grouped
from bot.evaluation.formats.fields import precision, seconds
from bot.evaluation.places import as_text, key_text
from bot.evaluation.toml_file import toml_text

ID, OTHER_ID = "own", "own-2"
MOST_DRAFTS = 8
MOST_LEFT = 30  # places that a comment names
SAID_ONCE = 3  # values of one doubt
MOST_OF_ONE = 2  # drafts of one way to cut files into measurements
ALIKE, SEVERAL = 6, 5  # parts of the ranks of two ways that leave it to the number of their kinds of numbers
MOST_KEYS, DEEPEST_KEY = 300, 5
UNWRITTEN = "left out, because a form cannot name keys with braces or of several lines"
BESIDE = re.compile(r"\{\.([^{}.]+)\}")  # in a text, what stands beside a number
PLACES = ("value", "right", "solved", "trials", "of", "samples", "stderr", "interval")
NO_SCORES = "no scores by their keys, and left out; add [[formats.values]] for one that is"
REVISIONS = ("revision", "model_sha", "model_revision", "sha", "commit_hash")
DATES = ("date", "submission_date", "timestamp", "created", "created_at", "evaluated", "eval_date", "run_date",
         "submission_time", "submitted", "submitted_at",
         "time")  # fmt: skip
OF_CODE = re.compile(r"(^|[._])(env|environment|git|code|repo|repository|harness|framework)[._]")  # not of a model
VERSIONS = ("version", "framework_version", "harness_version", "eval_version", "benchmark_version", "lib_version")
AGENTS = ("agent", "agent_name", "scaffold", "framework")
SETTINGS = ("temperature", "top_p", "num_fewshot", "n_shot", "shots", "max_tokens", "reasoning_effort", "thinking",
            "reasoning_enabled", "prompt", "prompt_version", "mode", "seed", "prompted")  # fmt: skip
# What scored the answers: a judge, or its version, as `hhem_version`; the version of a program or a layout is none.
JUDGE = re.compile(
    r"(^|_)(judge|grader|evaluator|scorer)(_(model|name|id|version))?$"
    r"|^(?!.*(python|torch|transformers|cuda|vllm|driver|lib|library|package|schema|format|file|api|client|os)_version$)\w+_version$"
)
# The keys that a field may have, and what its texts are.
FIELDS: dict[str, tuple[tuple[str, ...], Callable[[str], bool]]] = {
    "revision": (REVISIONS, lambda text: len(text) >= 7),
    "date": (DATES, lambda text: seconds(text.replace("/", "-")) is not None),
    "precision": (PRECISION_KEYS, lambda text: bool(precision(text))),
    "version": (VERSIONS, bool),
    "agent": (AGENTS, bool),
}


@dataclass(frozen=True)
class DraftedForm:
    """A form for files, as the keys of its table; `models` are some of the names that it finds.

    `unwritten` are keys of the files that no form can name, `unscored` the last keys of numbers that are not drafted;
    `other` is the form of files of another layout that have the same tasks.
    """

    keys: Mapping[str, Any]
    values: tuple[DraftedValue, ...]
    todo: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    files: int = 0
    of: int = 0
    left_out: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
    unscored: tuple[str, ...] = ()
    has_lines: bool = False
    other: DraftedForm | None = None

    @property
    def of_layout(self) -> DraftedForm:
        """The form of those files alone that have a model and a number where its files have them."""
        model, rows = self.keys.get("model", ""), self.keys.get("rows", "/")
        if "has" in self.keys:
            return self
        places = [*([model] if model and "{" not in model else []), self.values[0].place]
        inside = "" if rows == "/" or self.has_lines else f"{rows}."
        return replace(self, keys={**self.keys, "has": [NAMED.sub("*", inside + one) for one in places]})

    def without(self, leaves: Collection[str]) -> DraftedForm | None:
        """The form without the numbers of these leaves, None if it has no others.

        Where a name stands for keys of which some are left out, the others are written out.
        """
        kept, left = list[DraftedValue](), list[str]()
        for one in self.values:
            every = one.each if any(str(part.keys["leaf"]) in leaves for part in one.each) else [one]
            kept += [part for part in every if part.keys["leaf"] not in leaves]
            left += [part.place for part in every if part.keys["leaf"] in leaves]
        other = self.other and self.other.without(leaves)
        if not kept:
            return other
        return replace(self, values=tuple(kept), left_out=(*self.left_out, *left), other=other)

    @property
    def both(self) -> list[DraftedForm]:
        """The form, and that of the other layout."""
        return [self, self.other] if self.other else [self]

    @property
    def table(self) -> dict[str, Any]:
        """The table, as a declaration has it."""
        return {**self.keys, "values": [dict(one.keys) for one in self.values]}

    @property
    def said(self) -> list[str]:
        """What was understood, in three lines, one more for keys that were left out, and the same of another layout."""
        model = self.keys.get("model")
        rows = f", each at {self.keys['rows']}" if "rows" in self.keys else ""
        scores = [one for one in self.values if not one.is_other] or self.values
        places = examples(list(dict.fromkeys(one.place for one in scores)))
        return [
            f"the model at {model} ({examples(self.models)}){rows}" if model else "the model: TODO",
            f"{counted(len(scores), 'kind')} of numbers at {places}",
            f"in {self.files} of {counted(self.of, 'file')}",
            *(f"TODO {one}" for one in self.todo if " other parts are like " in one),
            *([f"{NO_SCORES}: {examples(self.unscored, 6)}"] if self.unscored else []),
            *([f"{UNWRITTEN}: {examples(self.unwritten)}"] if self.unwritten else []),
            *([f"another layout: {self.other.said[0]}", *self.other.said[1:]] if self.other else []),
        ]

    @property
    def text(self) -> str:
        """The table as TOML, what is not sure as comments with TODO."""
        lines = ["# Where the numbers of these files are; docs/forms.md explains each key.", "[[formats]]"]
        lines += [f"{key} = {toml_text(value)}" for key, value in self.keys.items()]
        lines += [f"# TODO {one}" for one in self.todo]
        alike = grouped((one.todo, one.place) for one in self.values if one.todo)
        shared = {todo: places for todo, places in alike.items() if len(places) >= SAID_ONCE}
        lines += [f"# TODO of {examples(places)}: {todo}" for todo, places in shared.items()]
        for one in self.values:
            lines += ["[[formats.values]]", *(f"{key} = {toml_text(value)}" for key, value in one.keys.items())]
            lines += [f"# TODO {one.todo}"] if one.todo and one.todo not in shared else []
        lines += [f"# Left out: {examples(self.left_out, MOST_LEFT)}"] if self.left_out else []
        return "\n".join(lines) + "\n" + (self.other.text if self.other else "")


def draft_forms(
    files: Mapping[str, bytes], is_model: Callable[[str], bool] | None = None, *, is_by_name: bool = True
) -> Iterator[DraftedForm]:
    """The forms that these files may have, the likeliest first.

    `is_model` tells of a text whether a table names a model so: then the table chooses, and several are tried;
    without it the names of keys decide. Where it names models of one way, others of which it names none are left out,
    unless models get other names than files call them (`is_by_name` is False).
    """
    ways = sorted(named_ways(files), key=lambda way: _rank(way, is_model), reverse=True)
    if is_model is not None and is_by_name:
        ways = [way for way in ways if any(map(is_model, way.distinct))] or ways
        ways = [way for way in ways if sureness(way) > NO_MODEL] or ways
    cut, tried = Counter[tuple[str, tuple[str, ...]]](), set[tuple[str, tuple[str, ...], tuple[str, ...]]]()
    found: list[tuple[tuple[float, ...], NamedRows, tuple[str, ...], list[DraftedValue]]] = []
    for way in ways:
        place = (way.rows.place, way.rows.paths)
        if cut[place] >= MOST_OF_ONE or len(found) >= MOST_DRAFTS or (*place, way.names) in tried:
            continue
        tried.add((*place, way.names))
        for sets in _ways_to_tell(way, is_searched=is_model is not None):
            values = drafted_values(way, sets, is_searched=is_model is not None)
            if values:
                found.append(((*_rank(way, is_model)[:ALIKE], min(len(values), SEVERAL)), way, sets, values))
        cut[place] += 1 if values else MOST_OF_ONE
    for _, way, sets, values in sorted(found, key=lambda one: one[0], reverse=True):
        yield _form(way, sets, values, len(files))


def _ways_to_tell(way: NamedRows, *, is_searched: bool) -> list[tuple[str, ...]]:
    """The places of texts that are parts of a task's name; of those with unknown keys a table decides."""
    places = set_places(way) if set_level(way) is None else ()
    known = tuple(filter(is_set, places))
    return [places, known] if is_searched and places != known else [known]


def _rank(way: NamedRows, is_model: Callable[[str], bool] | None) -> tuple[float, ...]:
    """How likely a way is: the models that the table names, the place of the names, then what is left to guess."""
    known = len([one for one in way.distinct if is_model(one)]) if is_model is not None else 0
    share = known / max(1, len(way.distinct))
    spread = len(way.distinct) / max(1, len(way.rows.rows))
    place, files = len(way.rows.place), len(way.rows.paths)
    is_said = sureness(way) > 0 and way.is_whole  # in each file, under a key that names models
    are_models = known > 0 and sureness(way) > NO_MODEL  # what a table shows of each may be tasks
    return (are_models, known, share >= 0.2, is_said, sureness(way), files, spread, -place, -len(way.model))


def _form(way: NamedRows, sets: Sequence[str], values: Sequence[DraftedValue], files: int) -> DraftedForm:
    """The table of a form, with what else the rows say of a measurement."""
    rows, keys, todo = way.rows, dict[str, Any](id=ID), list[str]()
    remembered = {} if way.level is None else {way.level: "model"}
    if (level := set_level(way)) is not None and level not in remembered:
        remembered[level] = "set"
        values = [replace(one, keys={**one.keys, "leaf": f"{{set}} {one.keys['leaf']}"}) for one in values]
    if remembered:
        keys["files"] = _pattern(rows.paths, remembered)
    if rows.place and not (rows.place == "[*]" and rows.has_lines):
        keys["rows"] = rows.place
    if not rows.place and rows.has_lines:
        keys["rows"] = "/"
    if way.model:
        keys["model"] = "{model}" if way.level is not None or way.model == "{model}" else way.model
    else:
        todo.append('where the model stands: `model = "…"`, or `files = "{model}.json"` and `model = "{model}"`')
    if way.model and not way.is_whole:
        missing = sum(not name for name in way.names)
        todo.append(
            f"{missing} of {counted(len(way.names), 'measurement')} have no text at {way.model}, and are rejected"
        )
    if rows.alike:
        whole = re.sub(r"[^.]+[.]{model}$", "{set}.{model}", rows.place)
        said = f'for all write rows = "{whole}", and {{set}} into each leaf'
        todo.append(f"{rows.alike} other parts are like {rows.place}: {said}")
    keys |= _described(way, sets)
    if others := [place for place in set_places(way) if place not in sets and set_level(way) is None]:
        keys["settings"] = list(dict.fromkeys([*keys.get("settings", ()), *others]))
        todo.append(
            f"files of one model differ at {examples(others)}, and the newest one counts: if that is of a task, "
            f"write {{/{others[0]}}} into each `leaf`; if of a model, into `model`"
        )
    unwritten = dict.fromkeys(key for row in rows.rows for key in _unwritten(row.value))
    places = (one.replace("[*]", ".*").removeprefix(".") for one in _places_in(keys, values))
    named = [re.compile(NAMED.sub(".+", re.sub(r"[^{}\w]", ".", one))) for one in places]
    numbers = dict.fromkeys(one for one in numbers_in(rows) if not any(each.fullmatch(one) for each in named))
    models = tuple(way.distinct[:3])
    found = DraftedForm(
        keys,
        tuple(values),
        tuple(todo),
        models,
        len(rows.paths),
        files,
        unwritten=tuple(unwritten),
        unscored=tuple(dict.fromkeys(".".join(one.split(".")[-2:]) for one in numbers)),
        has_lines=rows.has_lines,
    )
    above = values[0].place.rpartition(".")[0]
    if "set" in remembered.values() and "{" in above and not rows.place:  # the file of each task may have other metrics
        return replace(found, keys={**keys, "has": [NAMED.sub("*", above)]})
    return found.of_layout if "files" in keys else found


def _unwritten(value: Any, depth: int = 0) -> Iterator[str]:
    for key, one in list(value.items())[:MOST_KEYS] if isinstance(value, dict) and depth < DEEPEST_KEY else ():
        if is_written(key):
            yield from _unwritten(one, depth + 1)
        elif key:
            yield key


def _pattern(paths: Sequence[str], names: Mapping[int, str]) -> str:
    """The pattern of paths in which parts are remembered, by level; parts that all files share are written out."""
    parts = [PurePosixPath(path).parts[: -max(names) - 2 : -1] for path in paths]
    suffixes = {PurePosixPath(path).suffix for path in paths}
    shown = []
    for number in range(max(names), -1, -1):
        same = {one[number] for one in parts if len(one) > number}
        fixed = next(iter(same)) if len(same) == 1 and all(map(is_written, same)) else "*"
        shown.append(f"{{{names[number]}}}" if number in names else fixed)
    if 0 in names or shown[-1] == "*":
        shown[-1] += next(iter(suffixes)) if len(suffixes) == 1 else ".*"
    return "/".join(shown)


def _described(way: NamedRows, sets: Sequence[str]) -> dict[str, Any]:
    """The places of what else the rows say: revision, date, precision, version, agent and settings."""
    texts: dict[str, list[str]] = {}
    seen: dict[tuple[str, str, str], str] = {}
    several: set[str] = set()  # places that differ between the rows of one model in one file
    for model, row in zip(way.names, way.rows.rows, strict=True):
        for place, text in _scalars(row.value):
            texts.setdefault(place, []).append(text)
            if seen.setdefault((row.path, model, place), text) != text:
                several.add(place)
    for place in (*several, *sets, way.model):
        texts.pop(place, None)
    keys: dict[str, Any] = {}
    count = len(way.rows.rows)
    places: dict[str, list[str]] = {}  # by the words of their last keys
    for place in texts:
        places.setdefault(last_key(place), []).append(place)
    for name, (wanted, is_it) in FIELDS.items():
        asked = [at for key in wanted for at in places.get(key, ()) if name != "revision" or not OF_CODE.search(at)]
        if found := next((at for at in asked if all(map(is_it, texts[at]))), ""):
            keys[name] = found if len(texts[found]) == count else f"{found}?"
    settings = {at for key in SETTINGS for at in places.get(key, ())}
    judges = (at for key, some in places.items() if JUDGE.search(key) and key not in VERSIONS for at in some)
    settings |= {at for at in judges if at not in keys.values() and f"{at}?" not in keys.values()}
    shown = [at if len(texts[at]) == count else f"{at}?" for at in [at for at in texts if at in settings][:6]]
    return keys | ({"settings": shown} if shown else {})


def _places_in(keys: Mapping[str, Any], values: Sequence[DraftedValue]) -> Iterator[str]:
    """The places in the table of a form, without the mark of one that may be missing."""
    of_values = [str(value.keys[key]) for value in values for key in PLACES if key in value.keys]
    said = [str(keys[key]) for key in (*FIELDS, "model") if key in keys and "{" not in str(keys[key])]
    beside = [
        found
        for value in values
        for key in ("leaf", "metric", "question")
        for found in BESIDE.findall(str(value.keys.get(key, "")))
    ]
    yield from (place.removesuffix("?") for place in (*of_values, *said, *beside, *keys.get("settings", ())))


def _scalars(value: Any, place: str = "", depth: int = 0, deepest: int = 2) -> Iterator[tuple[str, str]]:
    for key, one in list(value.items())[:MOST_KEYS] if isinstance(value, dict) else ():
        at = f"{place}.{key_text(key)}" if place else key_text(key)
        if not is_written(key):
            continue
        if isinstance(one, dict) and depth < deepest:
            yield from _scalars(one, at, depth + 1, deepest)
        elif text := as_text(one):
            yield at, text
