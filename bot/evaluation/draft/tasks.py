"""Make the task tables of a declaration from columns: their keys, and a TODO for each decision of a person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import filter as matching
from itertools import compress, product
from typing import Any

from bot.errors import CallError
from bot.evaluation.aggregates import means_of_leaves
from bot.evaluation.benchmarks.catalogue import Guessable
from bot.evaluation.definition import definition_of, text_of
from bot.evaluation.draft.columns import DraftColumn, Seen, columns_of, seen_in, shared
from bot.evaluation.draft.parts import as_one
from bot.evaluation.draft.scales import (
    are_counts,
    is_effort,
    is_less_better,
    is_named_score,
    may_be_counts,
    percent_scale,
    said_scale,
    says_more,
    scale_of,
)
from bot.evaluation.finding import examples, grouped
from bot.evaluation.formats import format_of
from bot.evaluation.leaderboard import COLUMNS
from bot.evaluation.metric_kinds import kind_of, place_of
from bot.evaluation.result import Result
from bot.evaluation.row_key import RowKey

NOT_AN_ID = re.compile(r"[^A-Za-z0-9_.:-]+")
NOT_A_TITLE = re.compile(r"\([^\w.,:+/-]*\)|[^\w.,:()+/-]+")  # also brackets around a mark, as in `HellaSwag (✱)`
GUESSING = 'what guessing gives, such as lower_bound = "1/4" with bound_reason = "guessing among four"'


# The units of numbers that are no scores, by words of their names.
UNITS = (
    (r"cost|price|pricing|usd|dollar|\$", "$"),
    (r"tokens?", "tokens"),
    (r"(^|[_ ])ms([_ ]|$)|milli", "ms"),
    (r"minutes?|(^|[_ ])mins?([_ ]|$)", "min"),
    (r"hours?", "h"),
    # `test_timeouts` is a count.
    (r"seconds?|(^|[_ ])(s|secs?|ttft|tpot)([_ ]|$)|time(?!outs?([_ ]|$))|latency|duration", "s"),
)

WHERE_LESS = (
    'Where less is, write higher_is_better = false, lower_bound = "…" with the worst value and a bound_reason, and '
    'upper_bound = "0"'
)
# Words of totals; `average_precision` is a metric of its own.
TOTAL = re.compile(
    r"(?i)(^|[\W_])(overall([\W_].*)?|(average|avg|total|macro_avg|micro_avg)([\W_]+(pass_|success_)?(score|rate|accuracy|acc))?[\W_]*)$"
)
MARKS = " ()[]:/_.-"  # around the name of a part
MOST_UNGROUPED, MOST_BESIDE = 12, 12  # columns of scores and of other numbers that readers take in
MOST_UNSAID = 20  # columns that a TODO names
SHARED = 0.8  # of the names that have a part, if it is that of all
NO_GROUP = 'group = "…": these are many columns, and groups are shown first'
PLAIN = "plain"  # no unit
NO_RANK = "no board is ranked by counts alone; add [[formats.values]] for a score, or take files that have one"
UNNAMED = "score"  # what a metric is called that a form does not name
SHARES = ("fraction", "percent")
# Words of names of counts and shares of which less is better.
OF_FAULTS = re.compile(r"wrong|fail|fault|error|unknown|missing|invalid|timeout|crash|refus|violat|retr(y|ies)")

# The fields of a definition that say which data was asked.
DATASET = (
    "dataset_path", "dataset_name", "dataset_kwargs", "custom_dataset", "hf_repo", "hf_subset", "hf_revision",
    "revision",
)  # fmt: skip
PART = ("test_split", "validation_split", "process_docs", "hf_filter", "evaluation_splits", "split")  # of it


@dataclass(frozen=True, slots=True)
class DraftTask:
    """A table `[[tasks]]`: its keys in their order, `notes` to be read, and `todo` to be decided.

    `models` is the number of models that have all of its leaves, `numbers` has formats, leaves and metrics of it.
    """

    keys: dict[str, Any]
    notes: tuple[str, ...]
    todo: tuple[str, ...]
    models: int
    numbers: frozenset[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class LeaderboardDraft:
    """A declaration of tasks for some results; `others` are columns that too few models have, and those of speeds.

    `columns` are tables `[[columns]]`, of numbers that do not count, and `left` names further ones; `todo` is to be
    decided of all tasks, and of the columns with the ids `unsure` nobody knows whether fewer is better.
    """

    tasks: tuple[DraftTask, ...]
    others: tuple[DraftTask, ...]
    results: tuple[Result, ...]
    columns: tuple[dict[str, Any], ...] = ()
    todo: str = ""
    left: tuple[str, ...] = ()
    unsure: Collection[str] = ()


def _called(task: DraftTask) -> set[str]:
    """The names of a task, also that which the harness has for the only one whose parts its leaves are."""
    wholes = {leaf.partition("/")[0].lower() for _, leaf, _ in task.numbers}
    return {str(task.keys["id"]).lower(), str(task.keys["title"]).lower()} | (wholes if len(wholes) == 1 else set())


def only_tasks(draft: LeaderboardDraft, names: Sequence[str]) -> LeaderboardDraft:
    """The draft with these tasks alone, named by id, title or a pattern of either, and of the results that have them.

    MTEB's `BIOSSES` is a name of `BIOSSES/default/test`, too. Raises CallError for a name that no task has.
    """
    every = [*draft.tasks, *draft.others]
    called = list(map(_called, every))
    for name in names:
        if not any(matching(some, name.lower()) for some in called):
            raise CallError(
                f"--tasks {name}: there is no such task; there are {examples([one.keys['id'] for one in every], 20)}"
            )
    kept = [any(matching(some, name.lower()) for name in names) for some in called]
    tasks = tuple(compress(every, kept))
    if len(tasks) <= MOST_UNGROUPED:
        tasks = tuple(replace(one, todo=tuple(todo for todo in one.todo if todo != NO_GROUP)) for one in tasks)
    leaves = {(format_id, leaf) for task in tasks for format_id, leaf, _ in task.numbers}
    results = tuple(one for one in draft.results if any((one.format, leaf) in leaves for leaf in one.leaves))
    return replace(draft, tasks=tasks, results=results, others=(), columns=(), todo="", left=())


def draft_of(
    results: Sequence[Result], columns: Sequence[DraftColumn] = (), beside: Sequence[DraftColumn] = ()
) -> LeaderboardDraft:
    """A declaration that takes these results, with these columns, or with those that most models share.

    The columns of `beside` are shown, and do not count; without `columns` they are those that `is_beside` tells of.

    Only a model with every column can be ranked. Raises CallError for results of which no task has a name.
    """
    names, leaf_ids = FreeIds(COLUMNS), FreeIds(())
    seen = [] if columns else seen_in(as_one(results))
    known = columns or columns_of([leaf for leaf in seen if leaf.is_scored], results)
    if seen and not known:
        raise CallError("nothing was scored in these runs, so there is nothing to draft")
    if not columns:
        scores = [one for one in known if not is_beside(one)]
        if not any(map(_is_surely_more, scores)):  # an unknown metric beside errors may be one
            uncounted = [one for one in known if not _may_be_count(one)]
            sure = [one for one in uncounted if not _is_share_of_anything(one)]
            scores = sure or uncounted or [one for one in known if not is_mere_count(one)]
        if known and not scores:
            raise CallError(f"{NO_RANK}: {examples([one.name for one in known])}")
        faults = [one for one in known if says_less(one) and _is_varied(one) and share_of(one.leaves[0])]
        if faults and len(known) > 1 and not any(map(_is_varied, scores)):  # a score that all models share ranks none
            scores = faults
        further = _further_metrics(scores)
        totals = [one for one in scores if one.leaves[0].key not in further and _is_total(one, scores)]
        beside = [*totals, *(one for one in known if one not in scores or one.leaves[0].key in further)]
        known = [one for one in scores if one not in beside]
    left = tuple(one.name for one in beside[MOST_BESIDE:]) if not columns else ()
    beside = beside if columns else beside[:MOST_BESIDE]
    if not known:
        raise CallError("no task in these files has a name, so there is nothing to draft")
    names_of_metrics = [column.leaves[0].metrics[0].name for column in known]  # EuroEval has tokens a second, too
    measured = [place for place, name in enumerate(names_of_metrics) if not name.startswith("speed")]
    measured = measured or list(range(len(known)))
    places = range(len(known)) if columns else [measured[i] for i in shared([known[i].models for i in measured])]
    if not columns:
        named = [column.name for column in known if column.leaves[0].known is None]
        titles = dict(zip(named, _short(named), strict=True))
        known = [replace(one, title=titles.get(one.name, "")) for one in known]
    firsts = [one.leaves[0] for one in known if one.is_own]
    pooled = grouped((one.metrics[0].name, value) for one in firsts for value in one.values)
    tasks = list(_with_equals(known, [_task(column, results, names, leaf_ids, pooled) for column in known]))
    others = tuple(task for place, task in enumerate(tasks) if place not in places)
    shown = tuple(_shown(column, names) for column in beside)
    counting = [tasks[place] for place in places]
    if not columns and len(counting) > MOST_UNGROUPED:
        counting = list(_with_groups(counting))
    unsaid = [one.title or one.name for one, task in zip(known, tasks, strict=True) if _is_unsaid(one, task)]
    unnamed = examples(unsaid, MOST_UNSAID)
    todo = f"more is taken to be better in {unnamed}: no name says so. {WHERE_LESS}" if unsaid else ""
    unsure = {
        keys["id"] for keys, column in zip(shown, beside, strict=True) if column.todo and is_effort(*names_of(column))
    }
    return LeaderboardDraft(tuple(counting), others, tuple(results), shown, todo if not columns else "", left, unsure)


def _with_equals(columns: Sequence[DraftColumn], tasks: Sequence[DraftTask]) -> Iterator[DraftTask]:
    """The tasks; one whose numbers are those of an earlier one in each row says so."""
    first: dict[frozenset[tuple[RowKey, float]], str] = {}
    for column, task in zip(columns, tasks, strict=True):
        values = frozenset(_by_model(column).items())
        is_told = len(column.leaves) == 1 and len(values) > 1 and _is_varied(column)
        other = first.setdefault(values, task.keys["id"]) if is_told else task.keys["id"]
        same = (f"the same numbers as {other} in each row: the two count once in ranks over tasks",)
        yield task if other == task.keys["id"] else replace(task, notes=(*task.notes, *same))


def _further_metrics(columns: Sequence[DraftColumn]) -> set[str]:
    """The leaves of a board's own files that are a further metric of another one: `X recall` beside `X`.

    Where none is called `X` alone, the metric counts that drafts prefer.
    """
    metrics = {one.leaves[0].key: one.leaves[0].metrics[0].name for one in columns if one.is_own}
    alike = grouped((key.removesuffix(f" {metric}"), key) for key, metric in metrics.items())
    first = {of: min(keys, key=lambda key: (key != of, place_of(metrics[key]))) for of, keys in alike.items()}
    return metrics.keys() - first.values()


def _is_total(column: DraftColumn, columns: Sequence[DraftColumn]) -> bool:
    """Tell whether a column is the total of parts beside it, as `MMLU-Pro (overall)` is: between them in each model."""
    found = TOTAL.search(column.name)
    stem = column.name[: found.start()].strip(MARKS).lower() if found else ""
    parts = [one for one in columns if one is not column and one.name.lower().startswith(stem)] if found else []
    own, values = _by_model(column), [_by_model(one) for one in parts]
    several = {model: [each[model] for each in values if model in each] for model in own}
    return (
        len(parts) > 1
        and bool(own)
        and all(len(some) > 1 and min(some) <= own[model] <= max(some) for model, some in several.items())
    )


def _is_varied(column: DraftColumn) -> bool:
    """Tell whether the column has several values."""
    return len(set(column.leaves[0].values)) > 1


def _by_model(column: DraftColumn) -> dict[RowKey, float]:
    """The value of the first leaf of each model that has one."""
    first = column.leaves[0]
    found = ((run.model, run.value(first.metrics[0])) for run in first.runs)
    return {model: value for model, value in found if value is not None}


def _is_unsaid(column: DraftColumn, task: DraftTask) -> bool:
    """Tell whether nothing says that more of a column of a board's own files is better, and no TODO of it asks."""
    first, metric = column.leaves[0], column.leaves[0].metrics[0].name
    is_known = (metric != UNNAMED and kind_of(metric) is not None) or first.known is not None or first.less_is_better
    is_asked = any("higher" in todo for todo in (*task.todo, *column.todo))
    return column.is_own and not (is_known or is_asked or says_more(*names_of(column)) or says_less(column))


def _short(names: Sequence[str]) -> list[str]:
    """Names as titles, without the last parts that nearly all share, as in `ArguAna/default/test`."""
    titles = list(names)
    for mark in ("/", " "):
        while True:
            ends = Counter(title.rpartition(mark)[2] for title in titles if mark in title)
            end, count = ends.most_common(1)[0] if ends else ("", 0)
            shorter = [title.removesuffix(f"{mark}{end}") for title in titles]
            if count < 2 or count < SHARED * len(titles) or len(set(shorter)) < len(titles) or not all(shorter):
                break
            titles = shorter
    return titles


def _with_groups(tasks: Sequence[DraftTask]) -> Iterator[DraftTask]:
    """Many tasks with the group of each: a part of their names that several share. A TODO where no part tells."""
    titles, ids = [str(task.keys["title"]) for task in tasks], {str(task.keys["id"]) for task in tasks}
    found = [""] * len(tasks)
    for mark, place in product("/: _-.", (0, -1)):
        parts = [title.split(mark)[place] if mark in title else "" for title in titles]
        sizes = Counter(part for part in parts if part)
        several = {part for part, size in sizes.items() if size > 1 and part not in ids | COLUMNS}
        grouped_tasks = sum(sizes[part] for part in several)
        if 1 < len(several) <= MOST_UNGROUPED and grouped_tasks >= SHARED * len(tasks):
            found = [part if part in several else "" for part in parts]
            break
    for task, group in zip(tasks, found, strict=True):
        keys = {**task.keys, "group": NOT_A_TITLE.sub(" ", group).strip()} if group else task.keys
        yield replace(task, keys=keys, todo=task.todo if any(found) else (*task.todo, NO_GROUP))


def is_beside(column: DraftColumn) -> bool:
    """Tell whether a column is shown, and does not count: less of it is better, or it may be a count."""
    return _may_be_count(column) or says_less(column)


def _may_be_count(column: DraftColumn) -> bool:
    first = column.leaves[0]
    is_unknown = column.is_own and first.known is None and first.range is None
    return is_unknown and may_be_counts(first.values, *names_of(column))


def is_mere_count(column: DraftColumn) -> bool:
    """Tell whether a column counts something that makes no model better, such as runs or files."""
    names, values = names_of(column), column.leaves[0].values
    is_count = any(are_counts(name, values) for name in names)
    return column.is_own and is_count and not says_more(*names) and not says_less(column)


def names_of(column: DraftColumn) -> tuple[str, ...]:
    """What may say what a column is: its title, its name, and its metric, if that has a name."""
    metric = column.leaves[0].metrics[0].name
    return (column.title, column.name, *([metric] if metric != UNNAMED else []))


def _is_surely_more(column: DraftColumn) -> bool:
    """Tell whether more of a column is better by what is known of its metric; a key without one is that of a task."""
    metric = column.leaves[0].metrics[0].name
    is_known = not _is_share_of_anything(column) if metric == UNNAMED else kind_of(metric) is not None
    return not column.is_own or is_known or says_more(*names_of(column))


def _is_share_of_anything(column: DraftColumn) -> bool:
    """Tell whether a name says that this is a share, and nothing whether more or less of it is better."""
    names = names_of(column)
    return column.is_own and is_named_score(*names) and not says_more(*names) and not says_less(column)


def says_less(column: DraftColumn) -> bool:
    """Tell whether its table, an arrow, its metric, or a name in a board's own files says that less is better."""
    metric = column.leaves[0].metrics[0].name
    kind = kind_of(metric)
    if column.better:
        return column.better == "less"
    if column.is_own and not (kind and not kind.higher_is_better):
        return is_less_better(column.title, column.name, metric)
    return "↓" in column.title or ("↑" not in column.title and kind is not None and not kind.higher_is_better)


def _shown(column: DraftColumn, names: FreeIds) -> dict[str, Any]:
    """The table of a column that does not count, such as a cost: less of it is better, but for an arrow up."""
    title = column.title or column.name
    said = f"{title} {column.name} {column.leaves[0].metrics[0].name}".lower()
    first, metric = column.leaves[0], column.leaves[0].metrics[0]
    kind = kind_of(metric.name)
    is_less = is_less_better(title, column.name, metric.name) or (kind is not None and not kind.higher_is_better)
    share = share_of(first) or ("fraction" if column.is_share else "")
    unit = next((unit for words, unit in UNITS if re.search(words, said)), PLAIN)
    unit = share if share and (unit == PLAIN or is_named_score(said)) else unit
    is_more = unit in SHARES or (unit == PLAIN and may_be_counts(first.values, column.name))
    is_better = "↑" in title or (is_more and not is_less and not OF_FAULTS.search(said))
    return {
        "id": names.give(column.name),
        "title": NOT_A_TITLE.sub(" ", title).strip() or "A column",
        "leaves": [leaf.key for leaf in column.leaves],
        "metric": metric.model_dump(exclude_defaults=True),
        "unit": unit,
        "higher_is_better": column.better == "more" if column.better else is_better,
    }


def share_of(leaf: Seen) -> str:
    """The unit of numbers that are shares of all, "" where nothing says that they are."""
    name, values = leaf.metrics[0].name, leaf.values
    if all(format_of(one).is_percent(name) for one in leaf.formats) or leaf.range == (0, 100):
        return "percent"
    kind = kind_of(name)
    is_fraction = leaf.range == (0, 1) or (kind is not None and kind.range == (0, 1))
    return "fraction" if is_fraction and values and min(values) >= 0 and max(values) <= 1 else ""


class FreeIds:
    """Gives ids that are allowed and taken only once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def give(self, name: str) -> str:
        """The name as an id, with a number where it is taken."""
        allowed = NOT_AN_ID.sub("_", name.replace("+", "_plus")).lstrip("_.:-") or "task"
        free = allowed
        number = 2
        while free in self._taken:
            free, number = f"{allowed}_{number}", number + 1
        self._taken.add(free)
        return free


def keys_alone(column: DraftColumn, results: Sequence[Result]) -> dict[str, Any]:
    """The keys of the table of a column that no other stands beside."""
    first = column.leaves[0]
    pooled = {first.metrics[0].name: first.values} if column.is_own else {}
    return _keys(column, results, FreeIds(COLUMNS), FreeIds(()), pooled)[0]


def _task(
    column: DraftColumn,
    results: Sequence[Result],
    names: FreeIds,
    leaf_ids: FreeIds,
    pooled: Mapping[str, Sequence[float]],
) -> DraftTask:
    """The table of a column; `pooled` are the values of each metric in all columns: errors share a scale."""
    keys, todo = _keys(column, results, names, leaf_ids, pooled)
    todo = (*todo, *_todo(column), *_splits(column, results), *_datasets(column, results))
    return DraftTask(keys, tuple(_notes(column)), todo, len(column.models), frozenset(column.numbers))


def _keys(
    column: DraftColumn,
    results: Sequence[Result],
    names: FreeIds,
    leaf_ids: FreeIds,
    pooled: Mapping[str, Sequence[float]],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The keys of the table of a column, and what to decide of its scale and bound."""
    first = column.leaves[0]
    name, values = first.metrics[0].name, [value for leaf in column.leaves for value in leaf.values]
    is_percent = all(format_of(one).is_percent(name) for one in first.formats)
    is_percent = is_percent or (column.is_own and column.range == (0, 100))
    is_less = first.less_is_better or says_less(column)
    said_range = said_scale(column.range, values, is_less=is_less)
    said = percent_scale(name, values, is_less=is_less) if is_percent else said_range
    is_own_plain = column.is_own and first.range is None
    is_shared = is_less and column.is_own and name != UNNAMED
    scale = said or scale_of(name, pooled[name] if is_shared else values, less_is_better=is_less, is_plain=is_own_plain)
    bound, bound_todo = _bound(column, is_plain="unit" not in scale.keys and "range" not in scale.keys)
    known = first.known.of if first.known else None
    title = column.title or (known.title if known else column.name)
    keys: dict[str, Any] = {
        "id": names.give(column.group.id if column.group else column.name),
        "title": NOT_A_TITLE.sub(" ", title).strip() or "A task",
        "metrics": [metric.model_dump(exclude_defaults=True) for metric in first.metrics],
        **scale.keys,
        **({"num_fewshot": first.shots[0]} if first.shots else {}),
        **_aggregation(column, results),
        **bound,
        **_versions(column),
        **({"groups": list(column.rows)} if column.rows and not column.is_whole_group else {}),
        **_leaves(column, leaf_ids, has_bounds=bound.get("normalize") == "leaf"),
    }
    return keys, (*scale.todo, *bound_todo)


def _aggregation(column: DraftColumn, results: Sequence[Result]) -> dict[str, str]:
    """How the leaves make the column: as the harness does, where the sizes are known."""
    if len(column.leaves) == 1 or any(leaf.samples() is None for leaf in column.leaves):
        return {}
    if column.aggregation:
        return {"aggregation": column.aggregation} if column.aggregation != "mean" else {}
    if column.group is not None:
        weighted = column.group.aggregation == "size-weighted" and not _has_many_bounds(column)
    else:
        weighted = not _is_plain_mean(column, results)
    return {"aggregation": "size-weighted"} if weighted else {}


def _is_plain_mean(column: DraftColumn, results: Sequence[Result]) -> bool:
    """Tell whether a file's aggregate row is the plain mean of its leaves, and not the weighted one."""
    metric, sizes = column.leaves[0].metrics[0], {leaf.key: leaf.samples() for leaf in column.leaves}
    for result in results:
        key = metric.key(result.format)
        means = means_of_leaves(result, list(sizes), key, sizes)
        for row in result.groups:
            value = row.numbers.get(key)
            if means and row.key in column.rows and type(value) is float and abs(value - means[1]) < 1e-9:
                return abs(value - means[0]) > 1e-9
    return False


def _guesses(column: DraftColumn) -> list[Guessable]:
    """What guessing gives in the leaves whose metric is the catalogue's."""
    return [leaf.known.guessable for leaf in column.leaves if leaf.known and leaf.metrics == leaf.known.of.metrics]


def _has_many_bounds(column: DraftColumn) -> bool:
    return len({guessable.guessing for guessable in _guesses(column)}) > 1


def _bound(column: DraftColumn, *, is_plain: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The bound of a column, where the catalogue knows what guessing gives, and where it does not what to decide."""
    found = _guesses(column)
    if not is_plain or column.is_raw:
        return {}, ()
    if len(found) < len(column.leaves):
        kind = kind_of(column.leaves[0].metrics[0].name)
        return {}, (GUESSING,) if kind is not None and kind.zeros_and_ones and kind.is_guessed else ()
    if _has_many_bounds(column):
        return {"normalize": "leaf"}, ()
    if not found[0].guessing:
        return {}, ()
    return {"lower_bound": str(found[0].guessing), "bound_reason": found[0].why}, ()


def _versions(column: DraftColumn) -> dict[str, Any]:
    """The versions as seen; by format where there are several formats."""
    formats = column.leaves[0].formats
    by_format = {one: sorted({v for leaf in column.leaves for v in leaf.versions(one)}) for one in formats}
    by_format = {one: versions for one, versions in by_format.items() if versions}
    if len(set(map(tuple, by_format.values()))) > 1:
        return {"format_versions": by_format}
    return {"versions": versions} if (versions := next(iter(by_format.values()), [])) else {}


def _leaves(column: DraftColumn, ids: FreeIds, *, has_bounds: bool) -> dict[str, Any]:
    """The leaves, or the name of the catalogue's group where all of its members are there as it knows them."""
    given = [leaf_table(leaf, ids, has_bounds=has_bounds) for leaf in column.leaves]
    is_known = all(leaf.known and leaf.samples() == leaf.known.samples for leaf in column.leaves)
    if column.group is not None and column.is_whole_group and is_known and not any("keys" in one for one in given):
        return {"members": column.group.id}
    return {"leaves": given}


def leaf_table(leaf: Seen, ids: FreeIds, *, has_bounds: bool) -> dict[str, Any]:
    """A leaf's table; where its key is not an id, the key is given for the formats that have it."""
    leaf_id, samples = ids.give(leaf.key), leaf.samples()
    keys = dict.fromkeys(leaf.formats, leaf.key) if leaf_id != leaf.key else {}
    written = [known for one in leaf.formats if (known := format_of(one)).writes not in {"", *leaf.formats}]
    keys |= {known.writes: key for known in written if (key := known.written_keys.get(leaf.key, leaf.key)) != leaf_id}
    guess = leaf.known.guessable if leaf.known and has_bounds else None
    return {
        "id": leaf_id,
        **({"keys": keys} if keys else {}),
        **({"lower_bound": str(guess.guessing), "bound_reason": guess.why} if guess and guess.guessing else {}),
        **({"samples": samples} if samples else {}),
    }


def _notes(column: DraftColumn) -> Iterator[str]:
    """Notes on choices that a person may change."""
    others = list(dict.fromkeys(name for leaf in column.leaves for name in leaf.others))
    if others:
        yield f"also measured: {examples(others, 6)}"
    if column.left_out:
        names = examples([leaf.key for leaf in column.left_out], 6)
        yield f"left out, because most models that have the others lack them: {names}"
    known = column.leaves[0].known
    if known and column.leaves[0].shots and column.leaves[0].shots[0] != known.of.num_fewshot:
        yield f"usually run with {known.of.num_fewshot} shots"


def _todo(column: DraftColumn) -> Iterator[str]:
    """The decisions that the files leave open."""
    yield from column.todo
    first = column.leaves[0]
    shows = {count for one in first.formats for count in format_of(one).shows}
    if not first.shots and "num_fewshot" in shows:
        usual = first.known.of.num_fewshot if first.known else 0
        yield f"num_fewshot = {usual}, or another number: the files record none"
    elif len(first.shots) > 1:
        yield f"other files have {', '.join(map(str, first.shots[1:]))} shots"
    unsized = [leaf.key for leaf in column.leaves if leaf.samples() is None]
    if unsized and "samples" in shows:
        some = "each of its leaves" if len(unsized) == len(column.leaves) else examples(unsized)
        yield f"the samples of {some}: the files record none"
    if others := [f"{leaf.key} ({size:,})" for leaf in column.leaves for size in leaf.sizes[1:]]:
        yield f"other files have other numbers of samples: {examples(others)}"
    for one in first.formats:
        several = [leaf.key for leaf in column.leaves if len(leaf.versions(one)) > 1]
        if several:
            found = ", ".join(sorted({version for leaf in column.leaves for version in leaf.versions(one)}))
            yield f"the files have the versions {found} of {examples(several)}: keep those that may be compared"
    for leaf in column.leaves:
        if len(leaf.runs) > leaf.without() > 0:
            yield f"{leaf.without()} of {len(leaf.runs)} files of {examples([leaf.key])} have no {leaf.metrics[0].name}"
        if leaf.known and leaf.samples() not in {None, leaf.known.samples}:
            yield f"{examples([leaf.key])} usually has {leaf.known.samples:,} samples"


def _splits(column: DraftColumn, results: Iterable[Result]) -> Iterator[str]:
    """What to decide where the files have the same questions of several splits, each as a column."""
    first = column.leaves[0]
    part = first.key.rpartition("/")[0]
    keys = {key for result in results if format_of(result.format).has_splits for key in result.leaves}
    splits = sorted(key.rpartition("/")[2] for key in keys if key.rpartition("/")[0] == part)
    if len(splits) > 1:
        yield f"the files have the splits {examples(splits)} of it: keep the column of the one that counts"


def _datasets(column: DraftColumn, results: Iterable[Result]) -> Iterator[str]:
    """What to decide where a leaf was asked of several datasets, or several leaves of one."""
    asked: dict[str, dict[str, Result]] = {leaf.key: {} for leaf in column.leaves}
    for result in results:
        for key in asked.keys() & result.leaves.keys():
            if digest := result.leaves[key].definition:
                asked[key].setdefault(f"{result.format} {digest}", result)
    users: dict[tuple[str, ...], list[str]] = {}
    for key, found in asked.items():
        data = {_dataset(result, key, DATASET) for result in found.values()} - {()}
        if len(data) > len({result.format for result in found.values()}):
            yield f"the files asked {examples([key])} of {len(data)} datasets or revisions: keep one of them"
        for one in {_dataset(result, key, (*DATASET, *PART)) for result in found.values()} - {()}:
            users.setdefault(one, []).append(key)
    if twice := next((keys for keys in users.values() if len(keys) > 1), None):
        yield f"{examples(twice)} ask the same dataset: keep one of them"


def _dataset(result: Result, key: str, names: Iterable[str]) -> tuple[str, ...]:
    """The dataset of a leaf with its part and revision, as texts; empty where the file does not record it."""
    fields = definition_of(result, key) or {}
    found = tuple(f"{name}={text_of(fields[name]) or fields[name].digest}" for name in names if name in fields)
    return (result.format, *found) if found else ()
