"""The numbers of files of one layout as parts of a form: which of them are scores, and what tells them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import combinations
from math import isclose
from typing import Any

from bot.evaluation.benchmarks.catalogue import catalogue
from bot.evaluation.draft.form_rows import (
    MOST_ELEMENTS,
    OF_JUDGE,
    DraftedRows,
    NamedRows,
    is_alike,
    is_name,
    is_written,
    words_of,
)
from bot.evaluation.draft.scales import (
    FEW_POINTS,
    are_counts,
    is_less_better,
    is_share_of_faults,
    is_speed,
    may_be_counts,
)
from bot.evaluation.finding import examples
from bot.evaluation.formats.form_reading import NO_ANSWER, RUNS, SWITCH, WRONG, outcome
from bot.evaluation.formats.form_reading import RIGHT as RIGHT_WORDS
from bot.evaluation.formats.numbers import is_placeholder, number_of
from bot.evaluation.places import as_text, key_text

DEEPEST, MOST_VALUES = 7, 200
# Lists that are compared, elements with a leaf each, and parts of questions.
MOST_LISTS, MOST_NAMED, MOST_PARTS = 20, 200, 30
MOST_TEXTS = 50  # of a key that are looked at
NAMED = re.compile(r"\{[^{}]*\}")
ANY = "*"  # an element of a list, in the path of a number
NAMES = ("task", "part", "subset", "kind")  # of what is remembered, from the outermost one inwards
TASK_KEYS = ("task", "task_name", "name", "dataset", "dataset_name", "benchmark", "domain", "subset", "category",
             "language", "lang", "split", "subtask", "group", "id", "metric", "metric_name")  # fmt: skip
OF_ROWS = frozenset({"track", "task", "task_name", "dataset", "dataset_name", "benchmark", "benchmark_name", "suite",
                     "scenario", "subtask", "split", "game"})  # fmt: skip
METRIC_KEYS = frozenset({"metric", "metric_name", "metric_id"})
QUESTION = re.compile(
    r"(^|_)(question|sample|example|instance|problem|item|case|riddle|(?<!system_)prompt|doc|query|eval|task)(_|$)"
)
PLAIN_ID = re.compile("id|uid|uuid|idx|index|key|number|nr|no")
COUNTS = ("n", "samples", "num_samples", "n_samples", "num", "count", "total", "size", "num_examples", "n_examples",
          "support")  # fmt: skip
SUMS = frozenset({"num", "count", "total", "size"})
COUNTED = re.compile(
    r"^((n|num|number_of|total|count)_(pairs|samples|examples|questions|items|instances|docs|documents|problems|prompts|"
    r"cases|tests|queries|utterances|sentences|images|evaluated|scored)|"
    r"(pairs|samples|examples|questions|items|instances|docs|documents|problems|prompts|cases|queries|utterances|sentences|"
    r"images)(_count|_total|_evaluated)?)$"
)
AVERAGES = frozenset({"average", "avg", "mean", "overall", "average_score", "avg_score", "macro_avg", "mean_score"})
ERRORS = ("stderr", "se", "sem", "std_err", "standard_error")
# Numbers that are no scores, by the words of their keys.
NO_SCORE = re.compile(
    r"(^|_)(version|date|year|month|number|eps|epsilon|timestamp|seed|id|ids|size|params|parameters|num|n|count|counts|"
    r"total|temperature|top_p|top_k|max|batch|epoch|epochs|rank|index|samples|stderr|se|sem|std|stdev|ci|"
    r"ci95|runs|lower|upper|lo|low|high|gpus?|workers?|threads?|processes|cpus?|cores?|length|limit|k|trials?|attempts?|iterations?|turns?|calls?|steps?|"
    r"horizon|seasonality|confidence|possible|tier|threshold|cutoff|bootstrap|intensity|sentinel|dimensions?|context|"
    r"concurrency|multiplier|timeout|retries|costs?|price|pricing|usd|dollars?|seconds?|secs?|ms|minutes?|hours?|time|latency|duration|runtime|walltime|tokens?|min|log_?probs?|bytes|[kmg]i?b|wall|elapsed|"
    r"variance|deviation|variation|percentiles?|p(5|10|25|50|75|90|95|99)(ms|s)?|sum|repeats?|repetitions?|[tf][pn])(_|$)"
    r"|^(few_?)?shots?$"  # `mmlu_fewshot` is a score
)
# Times of an answer, which readers compare beside scores; a percentile or mean of them lies in an object of that name.
LATENCY = re.compile(r"(^|_)(latency|latencies|p\d\d_(m?s|secs?|seconds))(_|$)")
SUM = re.compile(r"total(_scores?|_points)?|sum(_of_(scores|points))?")
OF_RUNS = "whether each number is of a run: then `samples` counts runs, and the error is that between them"
PERCENTILE = re.compile(r"p\d\d(_|$)|median(_|$)")
# What went wrong in a run, and says of no answer how good it is.
FAULT = re.compile(
    r"((is|was|has|num|n)_)?(un(parse?able|parsed|readable)|parse_(errors?|failures?)|errors?|error(ed)?|fail(ed|ures?)|timeouts?|"
    r"timed_out|refus(al|als|ed)|crash(ed|es)?|skipped|invalid|missing|aborted|truncated|exceptions?)"
    r"(_to_\w+|_count|_total)?"
)
RIGHT = re.compile(r"(^|_)(num_|n_)?(correct|right|passed|solved|resolved|successes|hits)(?=_|$)")
OF = re.compile(r"(^|_)(num_|n_)?(total|count|n|all|asked|questions|samples|items|tasks)(?=_|$)")
GIVEN = re.compile(r"(^|_)(accuracy|acc|rate|score|pct|percent|percentage|share)(?=_|$)")
SOLVED = re.compile(r"(^|_)(solved|resolved|passed|correct|done|completed)(_|$)")
ASKED = re.compile(r"(^|_)(total|all|asked|questions|tasks|instances|submitted)(_|$)")
SAME = 1e-2  # how far a share of two digits may be from its counts
TINY = 0.1  # of numbers up to 1 the largest, if they may be percentages
FEW_ROWS = 20  # of which one has a number, if it is that of few
GRADES = (RIGHT_WORDS | WRONG) - SWITCH.keys()
MOST_UNGRADED = 4  # texts beside right and wrong, such as ungraded, refused and unclear
NEARLY = 0.8  # of answers that say right or wrong
MOST_RUNS = 10  # answers to one question on average: of more it is no question, but as a system prompt is
WITHOUT = " without "  # in the name of a task, before answers that are left out
MOST_UNSURE = 3  # of these and failures, of which each may be wrong or left out
FEWEST_OUTCOMES = 8  # questions by their names, of which each has one outcome
# Objects that say how a run was made, or what a model is, and not how good it was.
NO_RESULTS = re.compile(
    r"(^|_)(config|configuration|settings?|params|parameters|hyperparams|hyperparameters|pricing|metadata|meta|usage|"
    r"environment|env|args|arguments|hardware|info|versions?|dates|run|provenance|training|authors)$"
)
LONG_DIGITS = re.compile(r"\d{20}")  # answers to questions in one text, such as 1101, or an id
Path = tuple[str, ...]
PLACES = ("value", "right", "solved", "of", "samples", "stderr")  # keys that are places of an element
LISTED = re.compile(r"\{\.+(?P<key>[A-Za-z_]\w*)\}")  # a leaf that is what stands beside a number
ELEMENT = r"\[\*\]|[.]\{element\}"


@dataclass(frozen=True)
class DraftedValue:
    """A table of `[[formats.values]]`, and what a person must decide about it; `keys` that it remembers are `seen`.

    `listed` are the texts that tell the elements of its list apart, where one key alone does.
    `is_other` says that its key names no score: it counts only where a table shows it.
    """

    keys: Mapping[str, Any]
    todo: str = ""
    seen: frozenset[str] = frozenset()
    is_other: bool = False
    listed: frozenset[str] = frozenset()

    @property
    def place(self) -> str:
        """Where its numbers are."""
        return str(next(self.keys[kind] for kind in ("value", "right", "solved", "trials") if kind in self.keys))

    @property
    def each(self) -> list[DraftedValue]:
        """The value for each key that it remembers, or each element of its list; itself alone where it has neither."""
        told = LISTED.fullmatch(str(self.keys["leaf"]))
        if self.listed and told and len(re.findall(ELEMENT, self.place)) == 1:
            return [self._of_element(told["key"], text) for text in sorted(self.listed)]
        names = {name for text in self.keys.values() for name in NAMED.findall(str(text))}
        if not self.seen or len(names) != 1:
            return [self]
        [name] = names
        return [
            replace(
                self,
                seen=frozenset(),
                keys={
                    kind: text.replace(name, key if kind in {"leaf", "metric"} else key_text(key))
                    if isinstance(text, str)
                    else text
                    for kind, text in self.keys.items()
                },
            )
            for key in sorted(self.seen)
        ]

    def _of_element(self, key: str, text: str) -> DraftedValue:
        """The value of the element of the list whose text is this."""
        chosen = f"[{key}={key_text(text)}]"
        keys = {
            kind: text if kind == "leaf" else re.sub(ELEMENT, lambda _: chosen, str(one)) if kind in PLACES else one
            for kind, one in self.keys.items()
        }
        return replace(self, keys=keys, listed=frozenset())


@dataclass
class _Node:
    """A part of the rows: how often it is there, the numbers and outcomes at it, and the parts inside it."""

    count: int = 0
    numbers: list[float] = field(default_factory=list)
    outcomes: int = 0
    true: int = 0  # of the outcomes those that are `true`
    trials: int = 0  # lists of outcomes
    solved: int = 0  # lists of texts, each once
    others: int = 0  # texts that are no numbers
    texts: set[str] = field(default_factory=set)  # some of them
    failures: set[str] = field(default_factory=set)  # words of outcomes without an answer
    is_percent: bool = False
    inside: dict[str, _Node] = field(default_factory=dict)
    lists: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def is_number(self) -> bool:
        """Tell whether nearly everything here is a number."""
        return len(self.numbers) > 4 * self.others and bool(self.numbers)

    @property
    def is_outcome(self) -> bool:
        """Tell whether everything here says right or wrong."""
        return self.outcomes == self.count > 0

    @property
    def ungraded(self) -> tuple[str, ...]:
        """The few texts of answers that are neither right nor wrong, where most texts here are one of these."""
        is_graded = self.outcomes > self.others > 0 and self.outcomes + self.others == self.count and not self.numbers
        return tuple(sorted(self.texts)) if is_graded and len(self.texts) <= MOST_UNGRADED else ()

    @property
    def is_graded(self) -> bool:
        """Tell whether nearly everything here says right or wrong."""
        return self.is_outcome or bool(self.ungraded)

    @property
    def is_part(self) -> bool:
        """Tell whether everything here is between 0 and 1."""
        return self.is_number and not self.is_percent and min(self.numbers) >= 0 and max(self.numbers) <= 1

    @property
    def is_sure_part(self) -> bool:
        """Tell whether these are parts of 1 that would be tiny as percentages."""
        return self.is_part and max(self.numbers) > TINY and any(number % 1 for number in self.numbers)

    def paths(self, depth: int = 0) -> frozenset[Path]:
        """The ways to numbers from here."""
        own = {()} if self.is_number or self.is_graded or self.solved else set()
        below = {(key, *rest) for key, one in self.inside.items() if depth < DEEPEST for rest in one.paths(depth + 1)}
        return frozenset(own | below)


@dataclass(frozen=True)
class _Told:
    """What tells the elements of a list apart: texts beside their numbers, and which text is that of a question.

    `is_uneven` says that some questions have more elements than others, `has_runs` that a question has several.
    `apart` is the question with the part that it is of, where parts have ids alike.
    """

    texts: tuple[str, ...] = ()
    question: str = ""
    apart: str = ""
    parts: tuple[str, ...] = ()  # texts that several questions share, such as their domain
    tasks: tuple[str, ...] = ()  # those of parts that are tasks of their own
    runs: tuple[str, ...] = ()  # keys that number the runs
    todo: str = ""
    is_uneven: bool = False
    has_runs: bool = False
    listed: frozenset[str] = frozenset()  # what the only text is in the elements

    @property
    def is_of_questions(self) -> bool:
        """Tell whether each element is an answer to a question, and not a score of its own."""
        return not self.texts


@dataclass(frozen=True)
class _Way:
    """The way to a part of the rows: its place, and the texts with names that tell numbers inside it apart."""

    place: str = ""
    told: tuple[str, ...] = ()
    depth: int = 0  # names that were remembered
    questions: _Told | None = None  # where each number is of a question
    is_listed: bool = False  # texts of the elements of a list are among those that tell numbers apart
    listed: frozenset[str] = frozenset()  # these texts, where they are of one key
    seen: frozenset[str] = frozenset()
    count: str = ""  # the place of the number of questions in the object that holds this one
    asked: str = ""  # the same, also where a list lies between

    def to(self, key: str) -> _Way:
        """The way on to a key; what stands beside a number is one object further out then."""
        told, questions = tuple(map(_out, self.told)), self.questions
        if questions is not None:
            parts, tasks = tuple(map(_out, questions.parts)), tuple(map(_out, questions.tasks))
            question, apart = _out(questions.question), _out(questions.apart)
            questions = replace(questions, question=question, apart=apart, parts=parts, tasks=tasks)
        return replace(self, place=_join(self.place, key_text(key)), told=told, questions=questions, count="")

    def to_any(self, keys: Sequence[str]) -> _Way:
        """The way on to any of these keys, remembered."""
        name = f"{{{NAMES[self.depth]}}}"
        on = self.to("x")
        return replace(
            on, place=_join(self.place, name), told=(*on.told, name), depth=self.depth + 1, seen=frozenset(keys)
        )

    def to_questions(self) -> _Way:
        """The way on to any of many keys, each of which names a question."""
        on = self.to("x")
        return replace(on, place=_join(self.place, "{question}"), questions=_Told())

    def to_elements(self, told: _Told) -> _Way:
        """The way on to the elements of a list, which are told apart by what stands in each; a list is no object.

        Those of a question that the way names are its runs.
        """
        questions = told if told.is_of_questions else None
        if questions is not None and self.questions is not None:
            questions = replace(questions, question=self.questions.question, is_uneven=False)
        texts = (*self.told, *told.texts)
        on = replace(self, place=f"{self.place}[*]", told=texts, questions=questions, count="")
        return replace(on, is_listed=True, listed=told.listed)


def _out(text: str) -> str:
    return re.sub(r"\{(\.+)", r"{\1.", text)


def drafted_values(way: NamedRows, sets: Sequence[str], *, is_searched: bool) -> list[DraftedValue]:
    """The numbers of the rows, with the names that tell them apart; with `is_searched` also those of each part.

    `sets` are places of texts that tell files of one model apart. A table says which of them it shows; without one each
    question counts once.
    """
    root = _node_of(way.rows)
    of_model = [[row.value for row in rows] for rows in way.of_model()]
    count = sum(map(len, of_model))
    is_repeated = way.model and 2 * count > len(way.rows.rows) and 2 * count >= 3 * len(of_model)
    told = _telling([_without(rows, way.model) for rows in of_model]) if is_repeated else _Told(_sets_of_rows(way))
    texts = told.texts if any(told.texts) else ()
    told_by = (*(f"{{.{place}}}" for place in sets), *texts)
    start = _Way(told=told_by, questions=told if told.is_of_questions else None, is_listed=bool(texts))
    found: list[DraftedValue] = []
    _collect(root, start, found, is_searched=is_searched)
    if is_searched:
        setup = _Node()
        for row in way.rows.rows:
            _add_setup(setup, row.value, 0)
        found += [*_others(root, start, root.count / 2), *_others(setup, start, root.count / 2)]
    if len(found) > MOST_VALUES:  # what lies deepest is left out, as it is of parts of a measurement
        found.sort(key=lambda one: one.place.count("."))
    return _apart(found[:MOST_VALUES]) if is_searched or not all(one.is_other for one in found) else []


def numbers_in(rows: DraftedRows) -> Iterator[str]:
    """The places of all numbers and outcomes in the rows; `*` is an element of a list."""
    return (".".join(path) for path in sorted(_node_of(rows).paths()))


@lru_cache(maxsize=2)
def _node_of(rows: DraftedRows) -> _Node:
    """All that is in the rows, of which several places may name the models."""
    root = _Node()
    for row in rows.rows:
        _add(root, row.value, 0)
    return root


def _sets_of_rows(way: NamedRows) -> tuple[str, ...]:
    """The texts that say of which track or data set each row of a file is, "" alone where none does."""
    every = [row.value for row in way.rows.rows if isinstance(row.value, dict)]
    several = len(every) > len({row.path for row in way.rows.rows}) and len(every) == len(way.rows.rows)
    keys = [key for key in every[0] if words_of(key) in OF_ROWS and _is_text(key, every)] if several else []
    keys = [key for key in keys if not _is_measured(key, every)]
    counts = {key: len({one[key] for one in every}) for key in keys}
    most = min(MOST_PARTS, len(every) // 2)
    return tuple(f"{{.{key_text(key)}}}" for key, count in counts.items() if 1 < count <= most) or ("",)


def _without(rows: Sequence[Any], model: str) -> list[dict[str, Any]]:
    return [{key: one for key, one in row.items() if key_text(key) != model} for row in rows if isinstance(row, dict)]


def _apart(values: Sequence[DraftedValue]) -> list[DraftedValue]:
    """The values, each with a leaf of its own: a declaration counts each leaf once."""
    used: list[tuple[str, frozenset[str]]] = []
    found = []
    for value in {(one.place, str(one.keys["leaf"])): one for one in values}.values():
        leaf, metric = str(value.keys["leaf"]), str(value.keys.get("metric", ""))
        where = " ".join(filter(None, (_words(_fixed(value.place)), *NAMED.findall(leaf))))
        ways = [leaf, f"{leaf} {metric}".strip(), where, f"{where} {metric}".strip()]
        ways += [f"{leaf} {number}" for number in range(2, len(values) + 2)]
        name = next(one for one in ways if one and not _is_used(one, value.seen, used))
        used.append((name, value.seen))
        found.append(replace(value, keys={**value.keys, "leaf": name}))
    return found


def _is_used(leaf: str, seen: frozenset[str], used: Sequence[tuple[str, frozenset[str]]]) -> bool:
    """Tell whether another value has this leaf; with a name in it, for one of the same keys."""
    leaf, names = _level(leaf), _leaves(leaf, seen)
    return any(
        names & _leaves(other, keys) or (leaf == _level(other) and (not seen or not keys or seen & keys))
        for other, keys in used
    )


@lru_cache(maxsize=1_000)
def _leaves(leaf: str, seen: frozenset[str]) -> set[str]:
    """The leaves that a text with one name gives for the keys that it stands for."""
    before, name, after = _level(leaf).partition("{task}")
    is_alone = "{" not in re.sub(r"\{\.[^{}]*\}", "", before + after)  # but for what stands beside the number
    return {f"{before}{key}{after}" for key in seen} if name and is_alone else {_level(leaf)}


def _level(leaf: str) -> str:
    """A leaf with all that stands beside its numbers written alike, however far out it stands."""
    return re.sub(r"\{\.+", "{.", leaf)


def _fixed(place: str) -> str:
    """A place without the names that it remembers."""
    return re.sub(r"\{[^{}]*\}", "", place)


def _add(node: _Node, value: Any, depth: int) -> None:
    node.count += 1
    if isinstance(value, dict):
        for key, one in list(value.items())[: 3 * MOST_ELEMENTS] if depth < DEEPEST else ():
            if is_written(key) and not (isinstance(one, dict) and (NO_RESULTS.search(words_of(key)) or is_schema(one))):
                _add(node.inside.setdefault(key, _Node()), one, depth + 1)
    elif isinstance(value, list):
        if value and all(isinstance(one, dict) for one in value):
            node.lists.append(value[:MOST_ELEMENTS])
            for one in value[:MOST_ELEMENTS]:
                _add(node.inside.setdefault(ANY, _Node()), one, depth + 1)
        elif value and all(not isinstance(one, list | dict) and outcome(one) in {0, 1} for one in value):
            node.outcomes += 1
            node.trials += 1
        elif all(isinstance(one, str) for one in value) and len(set(value)) == len(value):
            node.solved += 1
    else:
        _add_scalar(node, value)


def is_schema(value: Mapping[str, Any]) -> bool:
    """Tell whether an object says what another may hold, as a JSON schema does; its numbers are no results."""
    return "$schema" in value or (isinstance(value.get("properties"), dict) and value.get("type") == "object")


def _add_setup(node: _Node, value: Any, depth: int) -> None:
    """Add the objects that say how a run was made: a table may show one of their numbers, such as how many games."""
    for key, one in list(value.items())[:MOST_ELEMENTS] if isinstance(value, dict) and depth < DEEPEST else ():
        if isinstance(one, dict) and is_written(key):
            if is_schema(one):
                continue
            add = _add if NO_RESULTS.search(words_of(key)) else _add_setup
            add(node.inside.setdefault(key, _Node()), one, depth + 1)


def _add_scalar(node: _Node, value: Any) -> None:
    number, _ = (None, "") if isinstance(value, str) and LONG_DIGITS.search(value) else number_of(value)
    if isinstance(value, bool):
        node.outcomes += 1
        node.true += value
    elif number is not None:
        node.numbers.append(number)
        node.is_percent |= isinstance(value, str) and "%" in value
    elif isinstance(value, str) and outcome(value) is not None:
        node.outcomes += 1
        node.failures |= {value.strip().lower()} & NO_ANSWER
    elif isinstance(value, str) and not is_placeholder(value):
        node.others += 1
        if len(node.texts) < MOST_TEXTS:
            node.texts.add(value)


def _collect(node: _Node, way: _Way, found: list[DraftedValue], *, is_searched: bool) -> None:
    """Add the numbers inside of a node."""
    if ANY in node.inside:
        _collect(node.inside[ANY], way.to_elements(_telling(node.lists)), found, is_searched=is_searched)
        return
    numbers = {key: one for key, one in node.inside.items() if one.is_number and not one.inside}
    latencies = _latencies(numbers, way) if not is_searched else {}
    counted = list(_pairs(node))
    pairs = [(right, of) for right, of, is_given in counted if not is_given]
    scores = {
        key: one
        for key, one in numbers.items()
        if (_is_score(key, numbers, is_searched=is_searched) or _is_sum(key, node, numbers))
        and key not in latencies
        and not any(key == right for right, *_ in counted)
    }
    if len(scores) > MOST_PARTS:  # such as the points of a rubric that each question has of its own
        scores = {key: one for key, one in scores.items() if FEW_ROWS * len(one.numbers) >= node.count}
    sound = {key: one for key, one in scores.items() if not FAULT.fullmatch(words_of(key))}
    if pairs or any(any(one.numbers) for one in sound.values()):
        scores = {key: one for key, one in scores.items() if key in sound or (is_less_better(key) and any(one.numbers))}
    if way.questions is not None:
        runs = list(_of_runs(node, way, way.questions))
        found += runs or _of_questions(node, way, way.questions, is_searched=is_searched)
    elif (
        len(scores) > 1
        and way.place
        and not way.is_listed
        and not way.depth
        and len(scores) == len(numbers)
        and not any(map(is_less_better, scores))
        and not (
            any(one.is_sure_part for one in scores.values()) and any(max(one.numbers) > 1 for one in scores.values())
        )
    ):
        merged = _Node()
        for one in scores.values():
            _merge(merged, one)
        named = way.to_any(list(scores))  # what stands beside these numbers is no further out than they are
        found.append(_value(merged, replace(named, told=(*way.told, named.told[-1])), "", {}))
    else:
        said = _named_metric(node, scores)
        less = {"higher_is_better": False} if _is_said_to_be_less(node) else {}
        values = [_value(one, way, key, numbers, said) for key, one in scores.items()]
        found += [replace(one, keys={**one.keys, **less}) for one in values]
        found += latencies.values()
    if way.questions is None:
        found += [_of_counts(right, of, way, kind="right") for right, of in pairs]
        found += [_of_counts(key, of, way, kind="solved") for key, of in _solved(node)]
        found += _of_trials(node, way)
    groups = {key: one for key, one in node.inside.items() if one.inside and one.paths()}
    if way.questions is not None and any(one.is_graded for one in node.inside.values()):
        groups = {key: one for key, one in groups.items() if not OF_JUDGE.search(words_of(key))}  # the last word counts
    sure = next(_sure_counts(numbers), "")
    count = _join(way.place, key_text(sure)) if sure else ""
    for alike in _alike_nodes(groups):
        if len(alike) > MOST_PARTS and way.questions is None and way.depth == 0:
            merged = _Node()
            for key in alike:
                _merge(merged, groups[key])
            if _are_answers(merged):
                _collect(merged, way.to_questions(), found, is_searched=is_searched)
                continue
        if len(alike) > MOST_PARTS and all(map(str.isdecimal, alike)):
            continue  # something of questions, by their numbers
        others = [one for key, one in groups.items() if key not in alike]
        is_alone = not any(_begins(groups[key]) & _begins(one) for key in alike for one in others)
        if len(alike) > 1 and way.depth < len(NAMES) and (is_alone if way.place else not others):
            merged = _Node()
            for key in alike:
                _merge(merged, groups[key])
            _collect(merged, replace(way.to_any(alike), count=count, asked=count), found, is_searched=is_searched)
        else:
            for key in alike:
                _collect(groups[key], replace(way.to(key), count=count, asked=count), found, is_searched=is_searched)


def _is_said_to_be_less(node: _Node) -> bool:
    """Tell whether each object here says that less of its numbers is better."""
    said = {words_of(key): one for key, one in node.inside.items() if one.is_outcome and one.count == node.count}
    less, more = said.get("lower_is_better"), said.get("higher_is_better")
    return (less is not None and less.true == less.count) or (more is not None and not more.true)


def _named_metric(node: _Node, scores: Collection[str]) -> tuple[str, _Node] | None:
    """The text beside the only score that says which metric it is, as `"metric": "WER"` beside `"value": 5.2`."""
    texts = ((key, one) for key, one in node.inside.items() if words_of(key) in METRIC_KEYS)
    is_said = (
        (key, one) for key, one in texts if one.others == one.count == node.count and all(map(is_name, one.texts))
    )
    return next(is_said, None) if len(scores) == 1 else None


def _others(node: _Node, way: _Way, fewest: float) -> Iterator[DraftedValue]:
    """The numbers of most rows whose keys say that they are no scores, such as counts and costs: a table may show them.

    Those in lists are left out: there they are of parts of a measurement.
    """
    if way.questions is not None:
        return
    for key, one in node.inside.items():
        if one.is_number and not one.inside and len(one.numbers) >= fewest and _is_no_score(key, one):
            value = _value(one, way, key, {})
            unit = "count" if are_counts(key, one.numbers) else "plain"
            yield replace(value, keys={**value.keys, "unit": unit}, todo="", is_other=True)
        elif key != ANY:
            yield from _others(one, way.to(key), fewest)


def _is_score(key: str, numbers: Mapping[str, _Node], *, is_searched: bool) -> bool:
    """Tell whether a number may be a score: a mean beside several numbers follows from them.

    A table may show one that is called a mean and is not exactly that of the numbers beside it.
    """
    words = words_of(key)
    if words in AVERAGES and len(numbers) > 2:
        return is_searched and not _is_mean(key, numbers)
    return not _is_no_score(key, numbers[key])


def _is_sum(key: str, node: _Node, numbers: Mapping[str, _Node]) -> bool:
    """Tell whether a total is the only number of its object, as the sum of points is, and no number of questions."""
    is_counted = any(RIGHT.search(words_of(one)) or SOLVED.search(words_of(one)) for one in node.inside)
    values = numbers[key].numbers
    return SUM.fullmatch(words_of(key)) is not None and len(numbers) == 1 and not is_counted and len(set(values)) > 1


def _is_no_score(key: str, node: _Node) -> bool:
    """Tell whether a key says that its numbers are no scores, or how many questions were asked."""
    words = words_of(key)
    return NO_SCORE.search(words) is not None or (COUNTED.search(words) is not None and _is_whole(node))


def _is_mean(key: str, numbers: Mapping[str, _Node]) -> bool:
    """Tell whether a number is the mean of the scores beside it in each of the rows, which have all of them."""
    others = ((words_of(other), one.numbers) for other, one in numbers.items())
    beside = [one for words, one in others if words not in AVERAGES and NO_SCORE.search(words) is None]
    own = numbers[key].numbers
    if not beside or any(len(one) != len(own) for one in beside):
        return True
    means = [sum(values) / len(values) for values in zip(*beside, strict=True)]
    return all(isclose(mean, value, rel_tol=1e-9, abs_tol=1e-9) for mean, value in zip(means, own, strict=True))


def _pairs(node: _Node) -> Iterator[tuple[str, str, bool]]:
    """The numbers that count right answers, each with that which counts all, and whether their share is given, too."""
    counts = {
        key: one for key, one in node.inside.items() if one.is_number and all(number % 1 == 0 for number in one.numbers)
    }
    for right, one in counts.items():
        rest = RIGHT.sub("", words_of(right))
        of = next((key for key in counts if key != right and OF.sub("", words_of(key)) == rest != words_of(key)), "")
        is_given = any(GIVEN.sub("", words_of(key)) == rest != words_of(key) for key in node.inside)
        is_given |= bool(of) and any(_is_share(each, one, counts[of]) for each in node.inside.values())
        if rest != words_of(right) and of and all(map(float.__le__, one.numbers, counts[of].numbers)):
            yield right, of, is_given


def _is_share(given: _Node, right: _Node, of: _Node) -> bool:
    """Tell whether numbers are those of right answers as parts of all, or as percentages."""
    if not len(given.numbers) == len(right.numbers) == len(of.numbers):
        return False
    shares = [part / whole if whole else 0.0 for part, whole in zip(right.numbers, of.numbers, strict=True)]
    unit = 100.0 if max(given.numbers) > 1 else 1.0
    return all(abs(one - unit * share) <= SAME * unit for one, share in zip(given.numbers, shares, strict=True))


def _solved(node: _Node) -> Iterator[tuple[str, str]]:
    """The lists of solved ids of an object, each with the list or the number of all."""
    for key, one in node.inside.items():
        of = next((other for other in node.inside if other != key and ASKED.search(words_of(other))), "")
        if of and one.solved and SOLVED.search(words_of(key)):
            yield key, of


def _of_counts(right: str, of: str, way: _Way, kind: str) -> DraftedValue:
    """The table of a number that is made from counts, or from a list of solved ids."""
    rest = (RIGHT if kind == "right" else SOLVED).sub("", words_of(right)).strip("_")
    leaf = " ".join(filter(None, (*way.told, rest))) or _words(way.place) or words_of(right)
    keys = {kind: _join(way.place, key_text(right)), "of": _join(way.place, key_text(of)), "leaf": leaf}
    keys |= {"metric": words_of(right)} if leaf != words_of(right) else {}
    return DraftedValue(keys, "", way.seen, listed=way.listed)


def _of_runs(node: _Node, way: _Way, told: _Told) -> Iterator[DraftedValue]:
    """The counts of right answers of several runs of the same questions: the mean of their quotients."""
    last = words_of(way.place.removesuffix("[*]").rpartition(".")[2]).removesuffix("s")
    if told.question or not (told.runs or last in RUNS):
        return
    inside = way.place.replace("[*]", ".{run}")
    outer = " ".join((*way.told, *told.tasks))
    pairs = [(right, _join(inside, key_text(of))) for right, of, _ in _pairs(node)]
    alone = (
        [key for key, one in node.inside.items() if RIGHT.search(words_of(key)) and _counts(one)] if way.asked else []
    )
    for right, of in pairs or [(key, way.asked) for key in alone]:
        keys = {"right": _join(inside, key_text(right)), "of": of, "reduce": "mean"}
        leaf = outer or _words(way.place) or words_of(right)
        yield DraftedValue({**keys, "leaf": leaf, "metric": words_of(right)}, "", way.seen)


def _counts(node: _Node) -> bool:
    """Tell whether numbers are whole, and some are above 1."""
    return node.is_number and all(number >= 0 and number % 1 == 0 for number in node.numbers) and max(node.numbers) > 1


def _latencies(numbers: Mapping[str, _Node], way: _Way) -> dict[str, DraftedValue]:
    """The times of answers by their keys: less is better, and they are no scores."""
    around = words_of(way.place.rpartition(".")[2])
    found = {}
    for key, one in numbers.items():
        words = words_of(key)
        is_inside = LATENCY.search(around) is not None and (words in AVERAGES or PERCENTILE.match(words) is not None)
        if LATENCY.search(words) or is_inside:
            metric = f"{around}_{words}" if is_inside else words
            leaf = " ".join((*way.told, metric))
            keys = {**_value(one, way, key, {}).keys, "leaf": leaf, "metric": metric, "unit": "plain"}
            found[key] = DraftedValue({**keys, "higher_is_better": False}, "", way.seen, is_other=True)
    return found


def _of_trials(node: _Node, way: _Way) -> Iterator[DraftedValue]:
    """The outcomes of questions by their names: lists of trials, or one outcome of each."""
    outcomes = {key: one for key, one in node.inside.items() if one.is_outcome and not one.numbers and not one.inside}
    fewest = 2 if any(one.trials for one in outcomes.values()) else FEWEST_OUTCOMES
    if way.place and len(outcomes) == len(node.inside) >= fewest:
        yield DraftedValue({"trials": _join(way.place, "{question}"), "leaf": " ".join(way.told) or _words(way.place)})


def _of_questions(node: _Node, way: _Way, told: _Told, *, is_searched: bool) -> Iterator[DraftedValue]:
    """The outcomes and parts of points of the questions, as trials: over all, and for each part where one looks."""
    kept = {key: one for key, one in node.inside.items() if not one.inside and _is_graded(key, one)}
    scored = {key: one for key, one in kept.items() if not FAULT.fullmatch(words_of(key)) and _is_ever_right(one)}
    for key in scored or kept:
        place = _join(way.place, key_text(key))
        outer = " ".join(text for text in way.told)
        named = told.question if is_searched else told.apart or told.question
        question = {"question": named} if named else {}
        is_answer = kept[key].is_outcome or {0.0, 1.0}.issuperset(kept[key].numbers)
        todo = told.todo if is_answer else OF_RUNS if told.todo else ""
        for part in ("", *told.parts) if is_searched else (" ".join(told.tasks),):
            leaf = " ".join(filter(None, (outer, part))) or key
            metric = {"metric": key} if leaf != key else {}
            asked = {"trials": place, **question, "leaf": leaf, **metric}
            yield from _of_outcomes(node.inside[key], asked, todo, is_searched=is_searched)
            if is_searched and told.is_uneven and not part:  # ids of several domains may be alike: each line counts
                each = {"trials": place, "leaf": f"{leaf} of each", "metric": key}
                yield from _of_outcomes(node.inside[key], each, "", is_searched=True)
            if node.inside[key].ungraded:
                continue
            if (
                is_searched and told.has_runs and "{question}[*]" in place
            ):  # a table may count the last run of each question alone
                last = place.replace("{question}[*]", "{question}[-1]")
                yield DraftedValue({"trials": last, "leaf": f"{leaf} last run", "metric": key})


def _is_graded(key: str, node: _Node) -> bool:
    """Tell whether everything here says right or wrong, or is a part of all points."""
    is_scored = node.is_part and len(node.numbers) == node.count and NO_SCORE.search(words_of(key)) is None
    return node.is_graded or is_scored


def _is_ever_right(node: _Node) -> bool:
    """Tell whether numbers are not all 0, which is what never happened."""
    return not node.is_number or any(node.numbers)


def _of_outcomes(node: _Node, asked: Mapping[str, Any], todo: str, *, is_searched: bool) -> Iterator[DraftedValue]:
    """The trials; a table says which of those that are neither right nor wrong, or failed, are wrong or left out."""
    ungraded = node.ungraded
    wrong, unsure = dict.fromkeys(ungraded, 0), [*ungraded, *sorted(node.failures)]
    if not is_searched:
        doubt = f'whether {examples(ungraded)} is wrong: write "gap" instead of 0 where such an answer does not count'
        yield DraftedValue({**asked, "outcomes": wrong} if wrong else asked, doubt if wrong else todo)
        return
    counts = range(len(unsure) + 1) if len(unsure) <= MOST_UNSURE else (0, len(unsure))
    for left_out in (some for count in counts for some in combinations(unsure, count)):
        outcomes = wrong | dict.fromkeys(left_out, "gap")
        keys = {**asked, "outcomes": outcomes} if outcomes else dict(asked)
        if left_out:
            words = WITHOUT + " ".join(left_out)
            keys["leaf"], keys["metric"] = asked["leaf"] + words, asked.get("metric", asked["leaf"]) + words
        yield DraftedValue(keys, todo)


def _are_answers(node: _Node) -> bool:
    """Tell whether parts of the rows that lie by names are answers to questions, or lists of runs of each."""
    if ANY in node.inside:
        return _telling(node.lists).is_of_questions and _has_outcomes(node.inside[ANY])
    return any(one.is_graded for one in node.inside.values())


def _has_outcomes(node: _Node) -> bool:
    return any(one.is_graded or _has_outcomes(one) for one in node.inside.values())


def _alike_nodes(groups: Mapping[str, _Node]) -> list[list[str]]:
    """The keys of objects in groups of those that hold the same kinds of numbers."""
    made: list[tuple[frozenset[Path], list[str]]] = []
    for key, node in groups.items():
        paths = node.paths()
        alike = (one for one in made if is_alike(one[0], paths))
        group = next((one for one in alike if not _is_of_other_units(groups[one[1][0]], node)), None)
        if group is None:
            made.append((paths, [key]))
        else:
            group[1].append(key)
    return [keys for _, keys in made]


def _begins(node: _Node) -> set[str]:
    """The first keys on the ways to numbers: a name for any object reads what is below the same key of the others."""
    return {way[0] for way in node.paths() if way}


def _has_two_units(nodes: Collection[_Node]) -> bool:
    """Tell whether some are surely parts of 1, and others larger."""
    return any(one.is_sure_part for one in nodes) and any(max(one.numbers) > 1 for one in nodes)


def _is_of_other_units(one: _Node, other: _Node) -> bool:
    """Tell whether numbers are surely parts of 1 in one place, and larger in the other."""
    if one.numbers and other.numbers:
        return _has_two_units([one, other])
    shared = one.inside.keys() & other.inside.keys()
    different = (key for key in shared if _is_of_other_units(one.inside[key], other.inside[key]))
    return any(not NO_SCORE.search(words_of(key)) for key in different)


def _merge(into: _Node, other: _Node) -> None:
    into.count += other.count
    into.outcomes += other.outcomes
    into.true += other.true
    into.trials += other.trials
    into.solved += other.solved
    into.numbers += other.numbers
    into.others += other.others
    into.texts |= other.texts
    into.failures |= other.failures
    into.is_percent |= other.is_percent
    into.lists += other.lists
    for key, one in other.inside.items():
        _merge(into.inside.setdefault(key, _Node()), one)


def _telling(lists: Sequence[Sequence[Mapping[str, Any]]]) -> _Told:
    """What tells the elements of lists apart: the fewest texts that differ in each list, else they are questions."""
    some = [one for one in lists if len(one) > 1][:MOST_LISTS] or list(lists[:MOST_LISTS])
    every = [element for one in some for element in one[:: 1 + len(one) // MOST_ELEMENTS]]
    if not every:
        return _Told()
    written = [key for key in every[0] if is_written(key)]
    known = sorted(
        (key for key in written if words_of(key) in TASK_KEYS), key=lambda key: TASK_KEYS.index(words_of(key))
    )
    others = [key for key in written if key not in known and not NO_SCORE.search(words_of(key))]
    texts = [key for key in (*known, *others) if _is_text(key, every)]
    questions = [key for key in written if _is_question(key, every)]
    names, longest = [key for key in texts if not _is_measured(key, every)], max(map(len, some))
    for count in (1, 2, 3):
        for keys in combinations([key for key in names if key not in questions][:6], count):
            is_of_tasks = longest <= MOST_PARTS or _recur(keys, some)
            if longest <= MOST_NAMED and is_of_tasks and all(_differ(keys, one) for one in some):
                told = tuple(f"{{.{key_text(key)}}}" for key in keys)
                found = (one.get(keys[0]) for elements in lists for one in elements) if count == 1 else ()
                return _Told(told, listed=frozenset(text for text in found if isinstance(text, str)))
    return _answers(every, some, questions, texts)


def _answers(
    every: Sequence[Mapping[str, Any]],
    some: Sequence[Sequence[Mapping[str, Any]]],
    questions: Sequence[str],
    texts: Sequence[str],
) -> _Told:
    """What tells answers apart: the question that with the number of the run makes each the only one of its task."""
    counts = {key: len({as_text(one.get(key)) for one in every}) for key in dict.fromkeys((*texts, *questions))}
    runs = [key for key in every[0] if words_of(key) in RUNS and all(as_text(one.get(key)) for one in every)]
    shared = [key for key in texts if 1 < counts[key] <= MOST_PARTS and 3 * counts[key] <= len(every)]
    of_tasks = [key for key in shared if words_of(key) in OF_ROWS and not _is_measured(key, every)]

    def tells(*keys: str) -> bool:
        return all(_differ((*keys, *runs), one) for one in some)

    ways = [(key, tuple(one for one in of_tasks if one != key)) for key in questions]
    sure = next((way for way in ways if tells(way[0], *way[1])), None)
    several = ((one, way) for way in ways for one in shared if one != way[0] and one not in way[1])
    in_part = None if sure else next(((one, way) for one, way in several if tells(one, way[0], *way[1])), None)
    ids = [way for way in ways if way[0] not in of_tasks and not PLAIN_ID.fullmatch(words_of(way[0]))]
    ids = [
        way for way in ids if all(len({as_text(one.get(way[0])) for one in few}) * MOST_RUNS > len(few) for few in some)
    ]
    asked, tasks = sure or (in_part and in_part[1]) or next(iter(ids), ("", tuple(of_tasks)))
    parts = [key for key in shared if key != asked and not any(_is_grade(one.get(key)) for one in every)]
    said = {key: f"{key} " if _is_measured(key, every) else "" for key in parts}  # "False" says nothing alone
    asked_in = [Counter(as_text(each[asked]) for each in one) for one in some] if asked else []
    question = f"{{.{key_text(asked)}}}" if asked else ""
    todo = ""
    if runs and not asked:
        todo = f"which question each answer is of: no key tells, so that those of each {runs[0]} count as further ones"
    return _Told(
        question=question,
        apart=f"{{.{key_text(in_part[0])}}} {question}" if in_part else "",
        parts=tuple(f"{said[key]}{{.{key_text(key)}}}" for key in parts[:3]),
        tasks=tuple(f"{{.{key_text(key)}}}" for key in tasks),
        runs=tuple(runs),
        todo=todo,
        is_uneven=any(len(set(one.values())) > 1 for one in asked_in),
        has_runs=any(len(one) > 1 for one in some),
    )


def _is_text(key: str, elements: Sequence[Mapping[str, Any]]) -> bool:
    return all(isinstance(text := one.get(key), str) and text and is_name(text) for one in elements)


def _is_measured(key: str, elements: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the texts at a key are numbers, or say right and wrong, as all of a CSV file are texts."""
    texts = [one[key] for one in elements]
    return all(number_of(text)[0] is not None for text in texts) or all(outcome(text) is not None for text in texts)


def _differ(keys: Sequence[str], elements: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the texts at keys tell all elements of a list apart."""
    return len({tuple(as_text(one.get(key)) for key in keys) for one in elements}) == len(elements)


def _recur(keys: Sequence[str], lists: Sequence[Sequence[Mapping[str, Any]]]) -> bool:
    """Tell whether texts at keys recur in other lists, as those of tasks do, and ids of single answers do not."""
    texts = [{tuple(as_text(one.get(key)) for key in keys) for one in some} for some in lists]
    return len(texts) < 2 or 5 * len(set[Any]().union(*texts)) <= 4 * sum(map(len, texts))


def _is_question(key: str, elements: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a key names the question of each element, and elements have an outcome beside it."""
    words = words_of(key)
    is_id = PLAIN_ID.fullmatch(words) is not None
    if not (is_id or QUESTION.search(words)) or words in RUNS or not all(as_text(one.get(key)) for one in elements):
        return False
    scored = sum(map(_has_outcome, elements))  # some may be neither right nor wrong
    return (words.endswith("id") and not is_id) or scored >= NEARLY * len(elements)


def _has_outcome(element: Mapping[str, Any]) -> bool:
    """Tell whether an element says right or wrong, in a CSV file as a text."""
    return any(
        isinstance(one, bool) or (RIGHT.search(words_of(key)) and outcome(one) in {0, 1}) or _is_grade(one)
        for key, one in element.items()
        if not isinstance(one, list | dict)
    )


def _is_grade(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in GRADES


def _value(
    node: _Node, way: _Way, metric: str, siblings: Mapping[str, _Node], named: tuple[str, _Node] | None = None
) -> DraftedValue:
    """The table of one kind of number; `metric` is its key, "" where any key is a task.

    `named` is the key of the text beside it that names the metric.
    """
    place = _join(way.place, key_text(metric)) if metric else way.place
    metrics = [one for one in way.told if words_of(one.strip("{}.").strip('"')) in METRIC_KEYS]
    told = [one for one in way.told if one not in metrics]
    if named is not None:
        metrics = metrics or [f"{{.{key_text(named[0])}}}"]
    leaf = " ".join(told) or (metrics[0] if named else metric) or _words(way.place)
    keys: dict[str, Any] = {"value": place, "leaf": leaf}
    if metrics or (metric and leaf != metric):
        keys["metric"] = metrics[0] if metrics else metric
    names = [metric or place, *(named[1].texts if named else ())]
    is_plain = any(is_less_better(one) and not is_share_of_faults(one) for one in names) or is_speed(names[0])
    is_count = are_counts(metric, node.numbers)
    keys["unit"], todo = ("count" if is_count else "plain", "") if is_count or is_plain else _unit(node, metric, way)
    is_one_list = way.place.count("[*]") <= 1 and not way.place.startswith("[*]")
    beside = _count_beside(metric, siblings, is_alone=not way.told)
    count = _join(way.place, key_text(beside)) if beside else way.count if metric else ""
    if is_one_list and count:
        inside, count = (one.replace("[*]", ".{element}") for one in (way.place, count))  # of the same element
        keys |= {"value": _join(inside, key_text(metric)), "samples": f"{count}?"}
    if metric and way.told and "[*]" not in way.place:
        error = next((key for key in (*(f"{metric}_{one}" for one in ERRORS), *ERRORS) if key in siblings), "")
        keys |= {"stderr": _join(way.place, key_text(error)) + "?"} if error else {}
    return DraftedValue(keys, todo, way.seen, listed=way.listed)


def _count_beside(metric: str, siblings: Mapping[str, _Node], *, is_alone: bool) -> str:
    """The key of the number of questions beside a score, "" if there is none.

    Where the score `is_alone`, a number that may be a sum of others, such as `total`, is none.
    """
    whole = [key for key, one in siblings.items() if _is_whole(one)]
    sure = [key for key in _sure_counts(siblings) if key != metric]
    known = [key for count in COUNTS for key in whole if words_of(key) == count and not (is_alone and count in SUMS)]
    return next(iter([*sure, *known] if metric else []), "")


def _sure_counts(numbers: Mapping[str, _Node]) -> Iterator[str]:
    """The keys of numbers of questions, as their words say."""
    return (key for key, one in numbers.items() if _is_whole(one) and COUNTED.search(words_of(key)))


def _is_whole(node: _Node) -> bool:
    return all(number >= 1 and number % 1 == 0 for number in node.numbers)


def _unit(node: _Node, metric: str, way: _Way) -> tuple[str, str]:
    least, most = min(node.numbers), max(node.numbers)
    if node.is_percent:
        return "percent", ""
    if least >= -1 and most <= 1:
        return "fraction", "" if most else "whether these are fractions or percentages: all are 0"
    if least < -100 or most > 100 or (least < 0 and most <= 1):  # an R² of bad models
        return "plain", ""
    names = [name for name in (metric, *way.place.split("."), *way.seen) if name]
    if may_be_counts(node.numbers, *names) and not {words_of(name) for name in names} & _benchmarks():
        return "plain", 'whether these are counts: if they are percentages, write unit = "percent"'
    doubt = f"whether these are percentages, and more is better: none is above {FEW_POINTS}"
    return "percent", "" if most > FEW_POINTS else doubt


@cache
def _benchmarks() -> frozenset[str]:
    """What well-known benchmarks are called."""
    known = catalogue().files.values()
    every = [one for file in known for one in (*file.benchmarks, *file.groups)]
    return frozenset(words_of(name) for one in every for name in (one.id, one.title))


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _words(place: str) -> str:
    return re.sub(r"[^\w ]+", " ", place.replace("[*]", "")).strip()
