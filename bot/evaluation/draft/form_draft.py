"""Draft a form for result files that no format reads: compare the files, and find models, numbers and their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import PurePosixPath
from typing import Any

from bot.errors import MalformedResult
from bot.evaluation.finding import counted, examples
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import precision, seconds
from bot.evaluation.formats.numbers import is_placeholder, number_of
from bot.evaluation.places import as_text, key_text
from bot.evaluation.toml_file import toml_text

ID = "own"
MOST_FILES, MOST_ROWS, MOST_ELEMENTS = 2_000, 5_000, 300
DEEPEST = 5
ALIKE = 0.5  # of the keys of two files or objects that make them alike
ANY = "*"  # an element of a list, in the path of a number
NAMES = ("task", "part", "subset", "kind")  # of what is remembered, from the outermost one inwards
MODEL_KEYS = ("model_name", "model", "model_id", "model_name_or_path", "model_path", "modelname", "hf_model",
              "model_key", "display_name", "name", "system", "agent_name", "submission_name", "submission", "id",
              "agent", "method")  # fmt: skip
TASK_KEYS = ("task", "task_name", "name", "dataset", "dataset_name", "benchmark", "domain", "subset", "category",
             "language", "lang", "split", "subtask", "group", "id", "metric", "metric_name")  # fmt: skip
METRIC_KEYS = frozenset({"metric", "metric_name", "metric_id"})
REVISIONS = ("revision", "model_sha", "model_revision", "sha", "commit_hash")
DATES = ("date", "submission_date", "timestamp", "created", "created_at", "evaluated", "eval_date", "run_date", "time")
VERSIONS = ("version", "framework_version", "harness_version", "eval_version", "benchmark_version", "lib_version")
PRECISION_KEYS = ("precision", "dtype", "model_dtype", "torch_dtype")
AGENTS = ("agent", "agent_name", "scaffold", "framework")
SETTINGS = ("temperature", "top_p", "num_fewshot", "n_shot", "shots", "max_tokens", "reasoning_effort", "thinking",
            "prompt", "prompt_version", "mode", "seed", "prompted")  # fmt: skip
COUNTS = ("n", "samples", "num_samples", "n_samples", "num", "count", "total", "size", "num_examples", "n_examples",
          "support")  # fmt: skip
AVERAGES = frozenset({"average", "avg", "mean", "overall", "average_score", "avg_score", "macro_avg"})
ERRORS = ("stderr", "se", "sem", "std_err", "standard_error")
COSTS = re.compile(r"(^|_)(costs?|price|usd|dollars?|seconds?|secs?|time|latency|duration|tokens?)(_|$)", re.IGNORECASE)
# Numbers that are no scores, by the words of their keys.
NO_SCORE = re.compile(
    r"(^|_)(version|date|year|number|eps|epsilon|timestamp|seed|id|ids|size|params|parameters|num|n|count|counts|total|temperature|top_p|top_k|"
    r"max|batch|epoch|epochs|rank|index|samples|shots?|fewshot|stderr|se|sem|std|stdev|ci|lower|upper|gpus?|workers?|"
    r"length|limit|price|context|k|trials)(_|$)",
    re.IGNORECASE,
)
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
Path = tuple[str, ...]
MOST_VALUES = 200
# The keys that a field may have, and what its texts are.
FIELDS: dict[str, tuple[tuple[str, ...], Callable[[str], bool]]] = {
    "revision": (REVISIONS, lambda text: len(text) >= 7),
    "date": (DATES, lambda text: seconds(text.replace("/", "-")) is not None),
    "precision": (PRECISION_KEYS, lambda text: bool(precision(text))),
    "version": (VERSIONS, bool),
    "agent": (AGENTS, bool),
}


@dataclass(frozen=True)
class DraftedRow:
    """One measurement of a file as it may be: its value, and what the way to it and the path of the file say."""

    value: Any
    names: Mapping[str, str]


@dataclass(frozen=True)
class DraftedRows:
    """A way to find the measurements in files: the place of rows ("" for the whole file), and the rows."""

    place: str
    rows: tuple[DraftedRow, ...]
    files: int
    has_lines: bool


@dataclass(frozen=True)
class DraftedValue:
    """A table of `[[formats.values]]`, and what a person must decide about it."""

    keys: Mapping[str, Any]
    todo: str = ""


@dataclass(frozen=True)
class DraftedForm:
    """A form for files, as the keys of its table; `models` are some of the names that it finds."""

    keys: Mapping[str, Any]
    values: tuple[DraftedValue, ...]
    todo: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    files: int = 0
    of: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def table(self) -> dict[str, Any]:
        """The table, as a declaration has it."""
        return {**self.keys, "values": [dict(one.keys) for one in self.values]}

    @property
    def said(self) -> list[str]:
        """What was understood, in three lines."""
        model = self.keys.get("model")
        rows = f", each at {self.keys['rows']}" if "rows" in self.keys else ""
        places = examples([one.keys["value"] for one in self.values])
        return [
            f"the model at {model} ({examples(self.models)}){rows}" if model else "the model: TODO",
            f"{counted(len(self.values), 'kind')} of numbers at {places}",
            f"in {self.files} of {counted(self.of, 'file')}",
        ]

    @property
    def text(self) -> str:
        """The table as TOML, what is not sure as comments with TODO."""
        lines = ["# Where the numbers of these files are; docs/forms.md explains each key.", "[[formats]]"]
        lines += [f"{key} = {toml_text(value)}" for key, value in self.keys.items()]
        lines += [f"# TODO {one}" for one in self.todo]
        for one in self.values:
            lines += ["[[formats.values]]", *(f"{key} = {toml_text(value)}" for key, value in one.keys.items())]
            lines += [f"# TODO {one.todo}"] if one.todo else []
        lines += [f"# Not in the table, and left out: {', '.join(self.left_out)}"] if self.left_out else []
        return "\n".join(lines) + "\n"


def draft_form(files: Mapping[str, bytes], is_model: Callable[[str], bool] | None = None) -> DraftedForm | None:
    """The form that files of one layout have; None where there is no number in them.

    `is_model` tells of a text whether a table names a model so; without it the names of keys decide.
    """
    read = dict(_decoded(files))
    best: tuple[tuple[float, ...], DraftedRows, str, list[DraftedValue]] | None = None
    for group in _alike(read):
        for rows in _ways({path: read[path] for path in group}):
            plain = _values(rows)
            for model, named in _models(rows) if plain else ():
                apart = _apart(rows, model) if 2 * len(set(named)) <= len(named) else ()
                values = _values(rows, apart) if apart else plain
                rank = _rank(rows, model, named, values, is_model)
                if best is None or rank > best[0]:
                    best = rank, rows, model, values
    if best is None:
        return None
    _, rows, model, values = best
    return _form(rows, model, values, len(files))


def _decoded(files: Mapping[str, bytes]) -> Iterator[tuple[str, tuple[Any, bool]]]:
    for path, data in list(files.items())[:MOST_FILES]:
        try:
            document = Content({"": data}, path).document
        except MalformedResult:
            continue
        if isinstance(document.value, dict | list) and document.value:
            yield path, (document.value, document.has_lines)


def _alike(read: Mapping[str, tuple[Any, bool]]) -> list[list[str]]:
    """The files in groups of one layout each."""
    groups: list[tuple[set[str], str, list[str]]] = []
    for path, (value, has_lines) in read.items():
        kind = f"{PurePosixPath(path).suffix} {type(value).__name__} {has_lines}"
        first = value if isinstance(value, dict) else value[0] if isinstance(value[0], dict) else {}
        keys = set(first)
        group = next((one for one in groups if one[1] == kind and _is_alike(one[0], keys)), None)
        if group is None:
            groups.append((keys, kind, [path]))
        else:
            group[2].append(path)
    return [paths for _, _, paths in groups]


def _is_alike(one: Collection[Any], other: Collection[Any]) -> bool:
    both = len(set(one) & set(other))
    return both >= ALIKE * max(1, min(len(one), len(other)))


def _ways(read: Mapping[str, tuple[Any, bool]]) -> Iterator[DraftedRows]:
    """The ways in which these files may hold measurements: whole, in lists of objects, or in objects by name."""
    named = _path_names(list(read))
    places: dict[str, list[DraftedRow]] = {}
    seen: Counter[str] = Counter()
    for path, (value, _) in read.items():
        for place, rows in _rows_in(value, named[path], "", 0):
            seen[place] += 1
            if len(places.setdefault(place, [])) < MOST_ROWS:
                places[place] += rows
    has_lines = any(lines for _, lines in read.values())
    for place, found in places.items():
        if 2 * seen[place] > len(read):
            yield DraftedRows(place, tuple(found[:MOST_ROWS]), seen[place], has_lines)


def _rows_in(value: Any, names: Mapping[str, str], place: str, depth: int) -> Iterator[tuple[str, list[DraftedRow]]]:
    if isinstance(value, dict):
        if not place:
            yield "", [DraftedRow(value, names)]
        inner = [one for one in value.values() if isinstance(one, dict)]
        alike = [one for one in inner if _is_alike(inner[0], one)]
        if len(inner) == len(value) and inner and 5 * len(alike) >= 4 * len(inner):
            at = f"{place}.{{model}}" if place else "{model}"
            yield at, [DraftedRow(one, {**names, "model": key}) for key, one in value.items()]
        for key, one in value.items() if depth < 2 and len(value) <= MOST_ELEMENTS else ():
            if isinstance(one, dict | list):
                yield from _rows_in(one, names, f"{place}.{key_text(key)}" if place else key_text(key), depth + 1)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield f"{place}[*]", [DraftedRow(one, names) for one in value]


def _path_names(paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """What the paths of files may say of their models: the name of the file, and those of the folders above it."""
    return {
        path: {f"path{level}": part for level, part in enumerate(PurePosixPath(path).with_suffix("").parts[:-4:-1])}
        for path in paths
    }


def _models(rows: DraftedRows) -> Iterator[tuple[str, list[str]]]:
    """The places at which the rows may name their models, each with the names."""
    found: dict[str, list[str]] = {}
    for row in rows.rows:
        for place, text in _texts(row.value, "", 0):
            found.setdefault(place, []).append(text)
        for name, text in row.names.items():
            found.setdefault(f"{{{name}}}", []).append(text)
    for place, texts in found.items():
        if 2 * len(texts) > len(rows.rows):
            yield place, texts
    yield "", []


def _texts(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        return
    for key, one in list(value.items())[:MOST_ELEMENTS]:
        at = f"{place}.{key_text(key)}" if place else key_text(key)
        if isinstance(one, str) and 0 < len(one) <= 200 and number_of(one)[0] is None:
            yield at, one
        elif isinstance(one, dict) and depth < 2:
            yield from _texts(one, at, depth + 1)


def _last(place: str) -> str:
    return place.rpartition(".")[2].strip('"{}').lower()


def _rank(
    rows: DraftedRows,
    model: str,
    named: Sequence[str],
    values: Sequence[DraftedValue],
    is_model: Callable[[str], bool] | None,
) -> tuple[float, ...]:
    """How likely this way is: the models that the table names, the key's name, then what it leaves to be guessed."""
    distinct = set(named)
    known = len([one for one in distinct if is_model(one)]) if is_model is not None else 0
    key = _last(model)
    prior = len(MODEL_KEYS) - MODEL_KEYS.index(key) if key in MODEL_KEYS and not model.startswith("{") else 0
    ids = sum(HUB_ID.fullmatch(one) is not None for one in distinct) / max(1, len(distinct))
    is_path = model.startswith("{path")
    spread = len(distinct) / max(1, len(rows.rows))
    sure = prior + 10 * ids - (0 if prior or ids or model == "{model}" else 8) - 4 * is_path
    share = known / max(1, len(distinct))
    return (known, share >= 0.2, sure if model else -20, spread, -len(rows.place), min(len(values), 5), -len(model))


@dataclass
class _Node:
    """A part of the rows: how often it is there, the numbers at it, and the parts inside it."""

    count: int = 0
    numbers: list[float] = field(default_factory=list)
    others: int = 0  # texts that are no numbers
    is_percent: bool = False
    inside: dict[str, _Node] = field(default_factory=dict)
    elements: list[dict[str, Any]] = field(default_factory=list)
    outcomes: int = 0

    @property
    def is_number(self) -> bool:
        """Tell whether nearly everything here is a number."""
        return len(self.numbers) > 4 * self.others

    def paths(self, depth: int = 0) -> frozenset[Path]:
        """The ways to numbers from here."""
        own = {()} if self.is_number else set()
        below = {(key, *rest) for key, one in self.inside.items() if depth < DEEPEST for rest in one.paths(depth + 1)}
        return frozenset(own | below)


def _apart(rows: DraftedRows, model: str) -> tuple[str, ...]:
    """The texts that tell several rows of one model apart, such as the task of each line of a CSV."""
    firsts: dict[str, list[dict[str, Any]]] = {}
    for row in rows.rows:
        if isinstance(row.value, dict):
            texts = dict(_texts(row.value, "", 0))
            name = texts.get(model) or row.names.get(model.strip("{}"), "")
            others = {key: one for key, one in row.value.items() if key_text(key) != model}
            firsts.setdefault(name, []).append(others)
    group = max(firsts.values(), key=len, default=[])
    return _naming(group) if len(group) > 1 else ()


def _values(rows: DraftedRows, apart: tuple[str, ...] = ()) -> list[DraftedValue]:
    """The numbers of the rows, with the names that tell them apart; `apart` are those of several rows of one model."""
    root = _Node()
    for row in rows.rows:
        _add(root, row.value, 0)
    found: list[DraftedValue] = []
    _collect(root, _Way(told=apart), found)
    return _by_leaf(found[:MOST_VALUES])


def _by_leaf(values: Sequence[DraftedValue]) -> list[DraftedValue]:
    """The values, each metric of a leaf after the first as a leaf of its own: a declaration counts each leaf once."""
    first: dict[str, str] = {}
    found = []
    for value in {one.keys["value"]: one for one in values}.values():  # objects of two kinds may share a place
        leaf, metric = str(value.keys["leaf"]), str(value.keys.get("metric", ""))
        is_first = first.setdefault(leaf, metric) == metric
        keys = {**value.keys, "leaf": leaf if is_first else f"{leaf} {metric}"}
        found.append(DraftedValue(keys, value.todo))
    return found


def _add(node: _Node, value: Any, depth: int) -> None:
    node.count += 1
    if isinstance(value, dict):
        for key, one in list(value.items())[: 3 * MOST_ELEMENTS] if depth < DEEPEST else ():
            _add(node.inside.setdefault(key, _Node()), one, depth + 1)
    elif isinstance(value, list):
        if value and all(isinstance(one, dict) for one in value):
            for one in value[:MOST_ELEMENTS]:
                node.elements.append(one)
                _add(node.inside.setdefault(ANY, _Node()), one, depth + 1)
        elif value and all(isinstance(one, bool) or one in {0, 1} for one in value if not isinstance(one, list | dict)):
            node.outcomes += 1
    elif not isinstance(value, bool):
        number, _ = number_of(value)
        if number is not None:
            node.numbers.append(number)
            node.is_percent |= isinstance(value, str) and "%" in value
        elif isinstance(value, str) and not is_placeholder(value):
            node.others += 1


@dataclass(frozen=True)
class _Way:
    """The way to a part of the rows: its place, and the texts with names that tell numbers inside it apart."""

    place: str = ""
    told: tuple[str, ...] = ()
    depth: int = 0  # names that were remembered

    def to(self, key: str) -> _Way:
        """The way on to a key; what stands beside a number is one object further out then."""
        return _Way(_join(self.place, key_text(key)), self._out, self.depth)

    def to_any(self) -> _Way:
        """The way on to any key, remembered."""
        name = f"{{{NAMES[self.depth]}}}"
        return _Way(_join(self.place, name), (*self._out, name), self.depth + 1)

    def to_elements(self, naming: tuple[str, ...]) -> _Way:
        """The way on to the elements of a list, which are told apart by what stands in each."""
        return _Way(f"{self.place}[*]", (*self._out, *naming), self.depth)

    @property
    def _out(self) -> tuple[str, ...]:
        return tuple(re.sub(r"^\{(\.+)", r"{\1.", one) for one in self.told)


def _collect(node: _Node, way: _Way, found: list[DraftedValue]) -> None:
    """Add the numbers inside of a node."""
    if ANY in node.inside:
        _collect(node.inside[ANY], way.to_elements(_naming(node.elements)), found)
        return
    numbers = {key: one for key, one in node.inside.items() if one.is_number and not one.inside}
    scores = {key: one for key, one in numbers.items() if _is_score(key, numbers)}
    if len(scores) > 1 and way.place and not way.told:
        merged = _Node()
        for one in scores.values():
            _merge(merged, one)
        found.append(_value(merged, way.to_any(), "", {}))
    else:
        found += [_value(one, way, key, numbers) for key, one in scores.items()]
    groups = {key: one for key, one in node.inside.items() if one.inside and one.paths()}
    for alike in _alike_nodes(groups):
        if len(alike) > 1 and way.depth < len(NAMES) and (way.place or len(alike) == len(groups)):
            merged = _Node()
            for key in alike:
                _merge(merged, groups[key])
            _collect(merged, way.to_any(), found)
        else:
            for key in alike:
                _collect(groups[key], way.to(key), found)


def _is_score(key: str, numbers: Mapping[str, _Node]) -> bool:
    """Tell whether a number may be a score: a mean beside several numbers follows from them, and a cost is none."""
    if key.lower() in AVERAGES and len(numbers) > 2:
        return False
    return COSTS.search(key) is None and NO_SCORE.search(key) is None


def _alike_nodes(groups: Mapping[str, _Node]) -> list[list[str]]:
    """The keys of objects in groups of those that hold the same kinds of numbers."""
    made: list[tuple[frozenset[Path], list[str]]] = []
    for key, node in groups.items():
        paths = node.paths()
        group = next((one for one in made if _is_alike(one[0], paths)), None)
        if group is None:
            made.append((paths, [key]))
        else:
            group[1].append(key)
    return [keys for _, keys in made]


def _merge(into: _Node, other: _Node) -> None:
    into.count += other.count
    into.numbers += other.numbers
    into.others += other.others
    into.is_percent |= other.is_percent
    into.elements += other.elements
    for key, one in other.inside.items():
        _merge(into.inside.setdefault(key, _Node()), one)


def _naming(elements: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The keys whose texts tell the elements of a list apart, as texts beside a number."""
    texts = [key for key in TASK_KEYS if all(isinstance(one.get(key), str) and one[key] for one in elements)]
    others = [key for key in (elements[0] if elements else {}) if key not in texts and not NO_SCORE.search(key)]
    texts += [key for key in others if all(isinstance(one.get(key), str) and len(one[key]) < 80 for one in elements)]
    if not texts:
        return ()
    some = elements[:40]
    for count in (1, 2, 3):
        for keys in combinations(texts[:6], count):
            if len({tuple(one[key] for key in keys) for one in some}) > len(some) / 2:
                return tuple(f"{{.{key_text(key)}}}" for key in keys)
    return tuple(f"{{.{key_text(key)}}}" for key in texts[:1])


def _value(node: _Node, way: _Way, metric: str, siblings: Mapping[str, _Node]) -> DraftedValue:
    """The table of one kind of number; `metric` is its key, "" where any key is a task."""
    place = _join(way.place, key_text(metric)) if metric else way.place
    metrics = [one for one in way.told if one.strip("{}.").strip('"') in METRIC_KEYS]
    leaf = " ".join(one for one in way.told if one not in metrics) or _words(way.place) or metric
    keys: dict[str, Any] = {"value": place, "leaf": leaf}
    if metrics or (metric and leaf != metric):
        keys["metric"] = metrics[0] if metrics else metric
    keys["unit"], todo = _unit(node)
    if metric and way.told and "[*]" not in way.place:
        count = next((key for key in COUNTS if key in siblings), "")
        error = next((key for key in (*(f"{metric}_{one}" for one in ERRORS), *ERRORS) if key in siblings), "")
        keys |= {"samples": _join(way.place, key_text(count)) + "?"} if count else {}
        keys |= {"stderr": _join(way.place, key_text(error)) + "?"} if error else {}
    return DraftedValue(keys, todo)


def _unit(node: _Node) -> tuple[str, str]:
    least, most = min(node.numbers), max(node.numbers)
    if node.is_percent or (least >= -100 and 1 < most <= 100):
        return "percent", ""
    if least >= -1 and most <= 1:
        return "fraction", "" if most else "whether these are fractions or percentages: all are 0"
    return "plain", ""


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _words(place: str) -> str:
    return re.sub(r"[^\w ]+", " ", place.replace("[*]", "")).strip()


def _form(rows: DraftedRows, model: str, values: list[DraftedValue], files: int) -> DraftedForm:
    """The table of a form, with what else the rows say of a measurement."""
    keys: dict[str, Any] = {"id": ID}
    todo: list[str] = []
    level = re.fullmatch(r"\{path(\d)\}", model)
    if level is not None:
        keys["files"] = "{model}" + ("/*" * int(level[1]) or ".*")
    if rows.place and not (rows.place == "[*]" and rows.has_lines):
        keys["rows"] = rows.place
    if not rows.place and rows.has_lines:
        keys["rows"] = "/"
    if model:
        keys["model"] = "{model}" if level is not None or model == "{model}" else model
    else:
        todo.append('where the model stands: `model = "…"`, or `files = "{model}.json"` and `model = "{model}"`')
    keys |= _described(rows, model)
    names = list(dict.fromkeys(text for place, named in _models(rows) if place == model for text in named))
    return DraftedForm(keys, tuple(values), tuple(todo), tuple(names[:3]), rows.files, files)


def _described(rows: DraftedRows, model: str) -> dict[str, Any]:
    """The places of what else the rows say: revision, date, precision, version, agent and settings."""
    texts: dict[str, list[str]] = {}
    for row in rows.rows:
        for place, text in _scalars(row.value, "", 0):
            if place != model:
                texts.setdefault(place, []).append(text)
    keys: dict[str, Any] = {}
    for name, (wanted, is_it) in FIELDS.items():
        if place := _place_of(texts, wanted, is_it):
            keys[name] = _optional(place, texts, rows)
    asked = [place for place in texts if _last(place) in SETTINGS]
    return keys | ({"settings": [_optional(place, texts, rows) for place in asked[:6]]} if asked else {})


def _scalars(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    for key, one in list(value.items())[:MOST_ELEMENTS] if isinstance(value, dict) else ():
        at = _join(place, key_text(key))
        if isinstance(one, dict) and depth < 2:
            yield from _scalars(one, at, depth + 1)
        elif text := as_text(one):
            yield at, text


def _place_of(texts: Mapping[str, Sequence[str]], wanted: Iterable[str], is_it: Callable[[str], bool]) -> str:
    """The first place with one of these keys at which every text is what is wanted."""
    for key in wanted:
        for place, found in texts.items():
            if _last(place) == key and all(map(is_it, found)):
                return place
    return ""


def _optional(place: str, texts: Mapping[str, Sequence[str]], rows: DraftedRows) -> str:
    return place if len(texts[place]) == len(rows.rows) else f"{place}?"
