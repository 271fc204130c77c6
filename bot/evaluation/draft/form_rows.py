"""The ways in which files of one layout may hold measurements: what is one measurement, and where its model stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from bot.errors import MalformedResult
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import ONE_LINE, seconds
from bot.evaluation.formats.numbers import number_of
from bot.evaluation.identity import without_provider
from bot.evaluation.places import key_text

MOST_FILES, MOST_ROWS, MOST_ELEMENTS = 2_000, 2_000, 300
FEW_ROWS, MOST_SAID, LONGEST_SAID = 3, 30, 40  # of each further file, and texts of a key of which each is in a row
ALIKE = 0.5  # of the keys of two files or objects that make them alike
MOST_OPENED = 30  # members of an object: one of more has no rows of its own, as one question of many has none
MOST_KINDS, FEWEST_OF_KIND = 8, 5  # of objects by name in one file, and objects of a further kind
LEVELS = 4  # of a path: the name of the file, and three folders above it
MODEL_KEYS = ("model_name", "model", "model_id", "model_name_or_path", "model_path", "modelname", "hf_model", "llm",
              "model_key", "model_slug", "assistant", "display_name", "name", "system", "tool_name", "agent_name",
              "system_name", "method_name", "submission_name", "submission", "participant", "extractor", "id",
              "agent", "method", "solver", "engine", "checkpoint")  # fmt: skip
OF_TASKS = frozenset({"task", "task_name", "tasks", "dataset", "dataset_name", "benchmark", "benchmark_name",
                      "domain", "subset", "category", "language", "lang", "split", "subtask", "metric", "metric_name",
                      "main_score", "version", "task_version", "status", "mode", "problem", "question", "suite",
                      "difficulty"})  # fmt: skip
OF_JUDGE = re.compile(r"(^|_)(judges?|graders?|evaluators?|scorers?)(_|$)")  # what scores the answers
PRECISION_KEYS = ("precision", "dtype", "model_dtype", "torch_dtype")
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
PATH_ID = re.compile(r"[\w.-]*[^\W_]__[^\W_][\w.-]*")  # an id in the name of a folder, such as acme__atlas-7b
# Keys of what something is called, where the key of the object around says what it is: `system.label`.
CALLED = frozenset({"label", "title", "name", "id", "slug", "key"})
CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
NO_WORD = re.compile(r"[^a-z0-9]+")
FILE_NAME = re.compile(r"\.(json|jsonl|ya?ml|csv|tsv|md|txt|html?|py|toml|gz|zip)$", re.IGNORECASE)
HASH = re.compile(r"[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+", re.IGNORECASE)
STAMP = re.compile(r"\d{6}|\d{4}-\d\d")  # a date in the name of a file
TIME = re.compile(r"(?:19|20)\d\d([-_./])\d{1,2}\1\d{1,2}(?:[T _-][\d:_.-]+)?")  # one that is not written as ISO has it
TOKEN = re.compile(r"<[^<>]*>|\[[A-Z]+\]")  # of a tokenizer, such as <|endoftext|>
OF_MODELS = frozenset(MODEL_KEYS[:7])  # keys at which a path is that of a model
LONGEST_NAME, MOST_WORDS = 120, 9
UNNAMED = -20  # how sure a way without a place for the model is
FROM_PATH, BY_KEY, OTHER_TEXT, NO_MODEL = -6, 0, -8, -16


@dataclass(frozen=True)
class DraftedRow:
    """One measurement of a file as it may be: its value, its file, and what the way to it and the path say."""

    value: Any
    names: Mapping[str, str]
    path: str


@dataclass(frozen=True, eq=False)
class DraftedRows:
    """A way to find the measurements in files: the place of rows ("" for the whole file), and the rows.

    Each is its own, for its rows are many.
    """

    place: str
    rows: tuple[DraftedRow, ...]
    paths: tuple[str, ...]
    has_lines: bool
    alike: int = 0  # other parts of the files that hold the like, as of other tasks


@dataclass(frozen=True)
class NamedRows:
    """A way with the place of its models ("" for none), and the model of each row."""

    rows: DraftedRows
    model: str
    names: tuple[str, ...]

    @property
    def distinct(self) -> list[str]:
        """The models, each once."""
        return list(dict.fromkeys(name for name in self.names if name))

    def of_model(self) -> list[list[DraftedRow]]:
        """The rows of each model in each file."""
        found: dict[tuple[str, str], list[DraftedRow]] = {}
        for name, row in zip(self.names, self.rows.rows, strict=True):
            found.setdefault((name, row.path), []).append(row)
        return list(found.values())

    @property
    def is_whole(self) -> bool:
        """Tell whether every measurement names its model."""
        return all(self.names)

    @property
    def level(self) -> int | None:
        """The part of the path that names the model, 0 for the file itself."""
        return int(self.model[5:-1]) if self.model.startswith("{path") else None


@lru_cache(maxsize=5_000)
def words_of(key: str) -> str:
    """A key in lower letters with _ between its words: `maxScore`, `Max Score` and `max-score` are `max_score`."""
    return NO_WORD.sub("_", CAPITAL.sub("_", key).lower()).strip("_")


def is_written(key: str) -> bool:
    """Tell whether a form can name a key everywhere: it is one line, and braces in a text are always names."""
    return bool(key) and "{" not in key and "}" not in key and re.fullmatch(ONE_LINE, key) is not None


def last_key(place: str) -> str:
    """The words of the last key of a place."""
    return words_of(place.rpartition(".")[2])


def words_of_keys(place: str) -> list[str]:
    """The words of each key of a place."""
    return [words_of(key) for key in place.split(".")]


def named_ways(files: Mapping[str, bytes]) -> Iterator[NamedRows]:
    """All ways to read the files, for each group of files of one layout."""
    read = dict(_decoded(files))
    for group in _alike(read):
        for rows in _ways({path: read[path] for path in group}):
            yield from _named(rows)


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
        group = next((one for one in groups if one[1] == kind and is_alike(one[0], keys)), None)
        if group is None:
            groups.append((keys, kind, [path]))
        else:
            group[2].append(path)
    return [paths for _, _, paths in groups]


def is_alike(one: AbstractSet[Any], other: AbstractSet[Any]) -> bool:
    """Tell whether two sets of keys share half of the smaller one."""
    return len(one & other) >= ALIKE * max(1, min(len(one), len(other)))


def _shares_most(one: AbstractSet[Any], other: AbstractSet[Any]) -> bool:
    """Tell whether two sets of keys share half of the larger one."""
    return len(one & other) >= ALIKE * max(len(one), len(other))


def _ways(read: Mapping[str, tuple[Any, bool]]) -> Iterator[DraftedRows]:
    """The ways in which these files may hold measurements: whole, in lists of objects, or in objects by name."""
    places: dict[str, list[DraftedRow]] = {}
    seen: Counter[str] = Counter()
    said: dict[tuple[str, str], set[str]] = {}
    for path, (value, _) in read.items():
        parts = path_names(path)
        for place, values in _rows_in(value, "", 0):
            seen[place] += 1
            found = places.setdefault(place, [])
            count = max(FEW_ROWS, MOST_ROWS - len(found))
            kept = [*values[:count], *(one for one in values[count:] if _says_more(one[0], place, said))]
            found += [DraftedRow(one, {**parts, **names}, path) for one, names in kept]
    has_lines = any(lines for _, lines in read.values())
    for place, found in places.items():
        if 2 * seen[place] > len(read):
            shape = (place.count("."), place.endswith(".{model}"))
            alike = sum((one.count("."), one.endswith(".{model}")) == shape for one in places) - 1 if shape[1] else 0
            yield DraftedRows(place, tuple(found), tuple(read), has_lines, alike)
            layouts = _of_alike_rows(found) if place else []
            for rows in layouts if len(layouts) > 1 else ():
                yield DraftedRows(place, rows, tuple(dict.fromkeys(row.path for row in rows)), has_lines)


def _says_more(row: Any, place: str, said: dict[tuple[str, str], set[str]]) -> bool:
    """Tell whether a row has a text that no other left-out row has at its key, as that of a rare outcome."""
    is_new = False
    for key, text in row.items() if isinstance(row, dict) else ():
        texts = said.setdefault((place, key), set())
        if isinstance(text, str) and len(text) <= LONGEST_SAID and len(texts) < MOST_SAID and text not in texts:
            texts.add(text)
            is_new = True
    return is_new


def _of_alike_rows(rows: Sequence[DraftedRow]) -> list[tuple[DraftedRow, ...]]:
    """The rows of the files whose first rows share most keys: files with one frame may list other things."""
    of_file: dict[str, list[DraftedRow]] = {}
    for row in rows:
        of_file.setdefault(row.path, []).append(row)
    groups: list[list[DraftedRow]] = []
    for some in of_file.values():
        group = next((one for one in groups if _shares_most(one[0].value.keys(), some[0].value.keys())), None)
        if group is None:
            groups.append(some)
        else:
            group += some
    return [tuple(group) for group in groups]


def _rows_in(value: Any, place: str, depth: int) -> Iterator[tuple[str, list[tuple[Any, dict[str, str]]]]]:
    if isinstance(value, dict):
        if not place:
            yield "", [(value, {})]
        inner = [one for one in value.values() if isinstance(one, dict)]
        if inner and len(inner) == len(value) and _are_alike(inner) and not _is_by_task(last_key(place)):
            at = f"{place}.{{model}}" if place else "{model}"
            yield at, [(one, {"model": key}) for key, one in value.items()]
        inner_keys = [key for key, one in value.items() if is_written(key) and isinstance(one, dict | list)]
        for key in inner_keys if depth < 2 and len(inner_keys) <= MOST_OPENED else ():
            one = value[key]
            yield from _rows_in(one, f"{place}.{key_text(key)}" if place else key_text(key), depth + 1)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield f"{place}[*]", [(one, {}) for one in value]


def _is_by_task(key: str) -> bool:
    """Tell whether a key says that its object has a part for each task, as `per_problem` does."""
    by, _, what = key.partition("_")
    return by in {"per", "by"} and what in OF_TASKS


def _are_alike(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether objects are of few kinds: nearly all of one, or, as of older and newer models, many of each."""
    kinds: list[list[Mapping[str, Any]]] = []
    for one in objects:
        kind = next((some for some in kinds[:MOST_KINDS] if is_alike(some[0].keys(), one.keys())), None)
        if kind is None:
            kinds.append([one])
        else:
            kind.append(one)
    alike = sum(len(some) for number, some in enumerate(kinds) if not number or len(some) >= FEWEST_OF_KIND)
    return 5 * alike >= 4 * len(objects)


def path_names(path: str) -> dict[str, str]:
    """The parts of a path from its end: the name of the file, and the folders above it."""
    parts = PurePosixPath(path).with_suffix("").parts[: -LEVELS - 1 : -1]
    return {f"path{level}": part for level, part in enumerate(parts)}


def _named(rows: DraftedRows) -> Iterator[NamedRows]:
    """The way with each place at which most of its rows may name their models, and without one."""
    found: dict[str, dict[int, str]] = {}
    for number, row in enumerate(rows.rows):
        for place, text in texts_in(row.value):
            is_path = text.startswith("/") and last_key(place) in OF_MODELS
            if is_name("/".join(PurePosixPath(text).parts[-2:]) if is_path else text):
                found.setdefault(place, {})[number] = text
        for name, text in row.names.items():
            if name == "model" and number_of(text)[0] is not None:
                continue  # an answer by its number
            found.setdefault(f"{{{name}}}", {})[number] = text
    for place, texts in found.items():
        names = tuple(texts.get(number, "") for number in range(len(rows.rows)))
        if 2 * len(texts) > len(rows.rows) and not (place.startswith("{path") and len(set(names)) == 1 < len(names)):
            yield NamedRows(rows, place, names)
    yield NamedRows(rows, "", ("",) * len(rows.rows))


def texts_in(value: Any, place: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts in an object and the objects in it that are no numbers, each with its place."""
    for key, one in list(value.items())[:MOST_ELEMENTS] if isinstance(value, dict) else ():
        at = f"{place}.{key_text(key)}" if place else key_text(key)
        if not is_written(key):
            continue
        if isinstance(one, str) and 0 < len(one) <= 2 * LONGEST_NAME and number_of(one)[0] is None:
            yield at, one
        elif isinstance(one, dict) and depth < 2:
            yield from texts_in(one, at, depth + 1)


def is_name(text: str) -> bool:
    """Tell whether a text may be what a model is called: no date, address, name of a file, hash or sentence."""
    return (
        len(text) <= LONGEST_NAME
        and "\n" not in text
        and "://" not in text
        and text[:1] not in {"", "/", ".", "~"}
        and TOKEN.fullmatch(text) is None
        and without_provider(text).count("/") <= 3
        and len(text.split()) <= MOST_WORDS
        and FILE_NAME.search(text) is None
        and HASH.fullmatch(text) is None
        and seconds(text) is None
        and TIME.fullmatch(text) is None
    )


def _is_constant(way: NamedRows, key: str) -> bool:
    """Tell whether one text stands in all of several files: it is of them all, such as their layout, and no model.

    A key that names models alone may say one in each of several files.
    """
    is_same = len(way.distinct) == 1 < len(way.rows.paths)
    return (
        is_same
        and not way.model.startswith("{")
        and (key not in MODEL_KEYS or not HUB_ID.fullmatch(way.distinct[0]))
        and key not in OF_MODELS
    )


def sureness(way: NamedRows) -> float:
    """How likely the texts of a way are names of models: by the key, by ids of the Hub, or by the files' paths."""
    if not way.model:
        return UNNAMED
    key, around = last_key(way.model), last_key(way.model.rpartition(".")[0])
    is_of_judge = any(map(OF_JUDGE.search, words_of_keys(way.model)))
    if key in OF_TASKS or key in PRECISION_KEYS or is_of_judge or _is_constant(way, key):
        return NO_MODEL
    known = [one for one in (key, around if key in CALLED else "") if one in MODEL_KEYS]
    prior = (
        0 if way.model.startswith("{") else max((len(MODEL_KEYS) - MODEL_KEYS.index(one) for one in known), default=0)
    )
    ids = sum(HUB_ID.fullmatch(one) is not None for one in way.distinct) / max(1, len(way.distinct))
    if way.level is not None:
        own = len(set(way.distinct)) == len({row.path for row in way.rows.rows})
        stamps = sum(STAMP.search(one) is not None for one in way.distinct) / max(1, len(way.distinct))
        spelled = sum(PATH_ID.fullmatch(one) is not None for one in way.distinct) / max(1, len(way.distinct))
        return FROM_PATH - way.level + (0 if own else OTHER_TEXT) - 4 * stamps + 10 * (spelled >= ALIKE)
    files = len(way.rows.paths)
    if way.model == "{model}" and not ids and len(way.rows.rows) < 2 * files and 2 * len(way.distinct) <= files:
        return NO_MODEL  # the few languages or splits that the file of each task has
    return prior + 10 * ids + (BY_KEY if prior or ids or way.model == "{model}" else OTHER_TEXT)
