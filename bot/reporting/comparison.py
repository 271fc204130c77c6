"""A comparison of measurements as text, Markdown and JSON: the sentence first, then what differed, then the tasks.

Also the readings of a file that give a reported number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from heapq import nlargest
from math import isfinite, isnan
from typing import Any, Literal, NamedTuple

from bot.evaluation.compare import ComparedTask, Method, RunComparison, RunLimit, SettingDifference
from bot.evaluation.finding import counted, examples, first_few, grouped
from bot.evaluation.reported import Reading, Readings
from bot.evaluation.rounding import half_up, significant
from bot.evaluation.statistics import FEWEST_TASKS, LEVEL, mcnemar_p
from bot.reporting.escape import brief, code, plain_markup, visible
from bot.reporting.table import Cell, Table, markdown_table, text_table

SCHEMA = "leaderboard-bot/compare/1"
LEAST_P = 0.001  # a smaller p is not spelled out
MOST_TASKS = 6  # that one line names
MOST_ROWS = 60  # of a table for people
MOST_VALUES = 3  # of one setting for people
MOST_NAMED, MOST_SETTINGS = 12, 40  # settings that a sentence names, and that are listed; rows record fewer than 12
MOST_SHOWN = 1e6  # of a value that is written out
MOST_UNEVEN = 0.02  # between the two sides of an interval that ± tells, as shown
LOOK_AT = ": look at code, libraries and hardware."
JUDGED = "the scorer is another one, or a log was edited."
NO_ERROR = "the files give no standard error"
WITH_LOGS = "Sample logs show by how much."
# How a method is called for people.
TESTS: Mapping[Method, str] = {
    "paired-exact": "McNemar's, of paired right answers",
    "paired-t": "t, of paired scores",
    "independent-exact": "Fisher's, of right answers",
    "independent-normal": "normal, by the standard errors of the files",
    "mean-of-tests": "the tests of the tasks together",
}
UNPAIRED = "compared without pairs, because "
PAIRING = (
    "With sample logs beside two result files (lm-eval: --log_samples, lighteval: --save-details) their answers are "
    "paired, and smaller differences show."
)
# Tasks with several questions about one passage.
SHARED_TEXTS = re.compile(
    r"((^|_)(drop|squad|squadv2|coqa|quac|boolq|multirc|narrativeqa)|(^|\W)race)(_|$|\W)", re.IGNORECASE
)
SIGNS = {"higher": "▲", "lower": "▼", "not separable": "·", "not tested": "?", "not comparable": "≠"}


def sentence_of(
    comparison: RunComparison, first: str = "A", second: str = "B", *, escape: Callable[[str], str] = visible
) -> str:
    """A comparison in a sentence: which is higher, whether by chance, and what was measured differently.

    `first` and `second` are the names of the two in the sentence; `escape` is applied to names from the files.
    """
    names, whole = first_few(list(_differing(comparison)), MOST_NAMED), comparison.average
    models = list(map(escape, comparison.models))
    parts = [f"Two models: {first} is {models[0]}, {second} is {models[1]}."] if comparison.are_two_models else []
    parts += [*_limited(comparison, first, second), _result(comparison, first, second, escape)]
    if names:
        parts.append(f"They were measured differently: {names}.")
    if comparison.judged:
        judged = [f"{counted(count, 'question')} of {escape(task)}" for task, count in comparison.judged.items()]
        parts.append(f"The same answers have other scores in {examples(judged)}: {JUDGED}")
    if left := comparison.unexplained:
        count = len(comparison.tasks)
        where = "" if len(left) == count or left == ["average"] else f" in {len(left)} of {counted(count, 'task')}"
        parts.append(f"No recorded setting explains this{where}{_conditions(comparison, escape) or LOOK_AT}")
    is_told = comparison.are_compared_equal or over_tasks(comparison)
    is_tested = whole is not None and any(not one.why for one in comparison.tasks)
    if is_tested and len(comparison.tasks) > 1 and not is_told:
        parts.append(_counted_tasks(comparison.tasks, second))
    parts += [f"{escape(why)}." for why in comparison.unread]
    return " ".join(parts)


def _conditions(comparison: RunComparison, escape: Callable[[str], str]) -> str:
    """What is recorded and differs of how the two ran, for a difference that nothing else explains."""
    weak = [(one.name, *one.values) for one in comparison.settings if one.weak]
    found = [f"{name} {brief(first)} → {brief(second)}" for name, first, second in (*comparison.conditions, *weak)]
    return f"; what else is recorded differs in {escape(', '.join(found))}." if found else ""


def _limited(comparison: RunComparison, first: str, second: str) -> Iterator[str]:
    """That runs asked only the first questions, before anything is said of their numbers."""
    cut = [(one, name) for one, name in zip(comparison.limits, (first, second), strict=True) if one]
    for asked, found in grouped((_first_questions(one), (one, name)) for one, name in cut).items():
        sizes = dict.fromkeys(f"{one.asked:,} of {one.whole:,}" for one, _ in found if one.whole)
        of = f" ({' and '.join(sizes)} in all)" if sizes else ""
        names = _capital(" and ".join(name for _, name in found))
        yield f"{names} asked only {asked}{of}, which is not comparable with a full run."


def _first_questions(limit: RunLimit) -> str:
    """Which questions a limit leaves."""
    least, most = (f"{100 * one:g} %" if one < 1 else f"{one:g}" for one in (limit.least, limit.most))
    each = " of each task" if limit.tasks > 1 else ""
    if limit.least == limit.most == 1:
        return f"the first question{each}"
    return f"the first {least if least == most else f'{least} to {most}'}{' of the' * (limit.most < 1)} questions{each}"


class OverTasks(NamedTuple):
    """The exact sign test of a difference without an error: in `wins` of `tasks` it is to the side of the average.

    `same` is how many more tasks have the numbers of one of these: they do not count.
    """

    side: Literal["higher", "lower"]
    wins: int
    tasks: int
    p: float
    is_more: bool  # than chance explains
    same: int

    def __str__(self) -> str:
        has = "has" if self.same == 1 else "have"
        once = f" ({self.same} more {has} the numbers of one of them)" if self.same else ""
        return f"over tasks it is {self.side} in {self.wins} of {self.tasks}{once}: {self.verdict}"

    @property
    def counted(self) -> str:
        """In how many of the tasks that count, for a page."""
        return f"{self.side} in {self.wins} of {self.tasks} tasks{' with different numbers' if self.same else ''}"

    @property
    def verdict(self) -> str:
        """Whether that is more than chance, and p."""
        said = f"p = {self.p:.3f}" if self.p >= LEAST_P else f"p < {LEAST_P}"
        return f"{'more' if self.is_more else 'not more'} than chance ({said})"


def sign_test(differences: Collection[float], *, is_above: bool, same: int) -> OverTasks:
    """The exact sign test of the tasks; `is_above` tells to which side the average is."""
    higher, lower = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    p, count = mcnemar_p(higher, lower), higher if is_above else lower
    is_more = p < LEVEL and count * 2 > higher + lower
    return OverTasks("higher" if is_above else "lower", count, len(differences), p, is_more, same)


def over_tasks(comparison: RunComparison) -> OverTasks | None:
    """What the tasks alone say, by which boards rank rows without errors; None where there are errors, or few tasks."""
    tasks = [one for one in comparison.tasks if not one.why]
    found = {one.values: one.contrast.difference for one in tasks}
    whole = comparison.average
    is_tested = whole is not None and whole.contrast.p is not None and comparison.has_errors
    if whole is None or whole.why or is_tested or len(found) < FEWEST_TASKS:
        return None
    return sign_test(found.values(), is_above=whole.contrast.difference > 0, same=len(tasks) - len(found))


def _differing(comparison: RunComparison) -> Iterator[str]:
    """The settings with known effects that differ, and the number of their tasks unless it is all of them."""
    count, found = len(comparison.tasks), dict[str, set[str]]()
    for one in comparison.settings:
        if one.effect and not one.weak:
            found.setdefault(one.name, set()).update(one.tasks)
    for name, tasks in found.items():
        yield name if len(tasks) == count else f"{name} (in {len(tasks)} of {count} tasks)"


def _result(comparison: RunComparison, first: str, second: str, escape: Callable[[str], str]) -> str:
    whole = comparison.average
    if comparison.is_same:
        flips = [one.pairs.counts[1:3] if one.pairs and one.pairs.counts else None for one in comparison.tasks]
        answers = ", and the same questions right" if set(flips) == {(0, 0)} else ""
        numbers = f"the same numbers in all {len(comparison.tasks)} tasks{answers}"
        if others := comparison.with_other_samples:
            yet = f"have {numbers}, yet their samples have other scores in {escape(examples(others))}"
            return f"{_capital(first)} and {second} {yet}: `audit results` says whether a file fits its own."
        return f"{_capital(first)} and {second} have {numbers}: one may be a copy or a repeat of the other."
    if comparison.are_compared_equal:
        differ = escape(first_few(comparison.other_numbers, MOST_TASKS))
        return f"{_capital(first)} and {second} are equal in the metrics compared, and differ in others: {differ}."
    if whole is None:
        return _counted_tasks(comparison.tasks, second)
    if whole.why:
        broken, count = sum(bool(one.why) for one in comparison.tasks), len(comparison.tasks)
        if broken == count:
            return f"The two are not comparable: {escape(whole.why)}."
        are = "is" if broken == 1 else "are"
        return f"{broken} of {count} tasks {are} not comparable ({escape(whole.why)}), so the averages are not."
    off = _points(abs(whole.contrast.difference), whole)
    count = len(comparison.tasks)
    is_part = any(comparison.only)
    if count == 1:
        scope = " in the one task that both have" if is_part else ""
    else:
        scope = f" on the average of {f'the {count} tasks that both have' if is_part else f'{count} tasks'}"
    where = f"{'higher' if whole.contrast.difference > 0 else 'lower'} than {first}{scope}"
    if whole.contrast.p is None and not float(off):
        return f"{_capital(first)} and {second} are equal{scope}."
    tested = over_tasks(comparison)
    if whole.contrast.p is not None and tested:
        explained = "may explain" if whole.conclusion == "not separable" else "does not explain"
        by_questions = f"Chance in the questions alone, {_amount(whole)} points by their answers, {explained} this"
        return f"{_capital(second)} is {off} points {where}; {NO_ERROR}; {tested}. {by_questions}."
    if whole.contrast.p is None:
        bare = sum(one.contrast.p is None for one in comparison.tasks)
        some = f"{bare} of {count} tasks {'has' if bare == 1 else 'have'} no standard error, so the average has none"
        unknown = some if 0 < bare < count else NO_ERROR
        said = f"{unknown}; {tested}" if tested else unknown
        return f"{_capital(second)} is {off} points {where}; {said}."
    if whole.conclusion == "not separable":
        missed = f"a difference below {_points(whole.smallest, whole)} points" if whole.smallest else "any difference"
        least = f"; this comparison would often miss {missed}"
        by_chance = f"{second} is {_amount(whole)} points {where}, which may be chance"
        result = by_chance if float(off) else f"they are equal{scope} (± {_half(whole)})"
        return f"{_capital(first)} and {second} are not separable: {result}{least}."
    return f"{_capital(second)} is {_amount(whole)} points {where}; chance alone does not explain this."


def _amount(task: ComparedTask) -> str:
    """The size of a difference with half of its interval, or with both ends where ± would mislead or is not them."""
    off, half = _points(abs(task.contrast.difference), task), _half(task)
    low, high = task.contrast.interval(LEVEL)
    ends = (low, high) if task.contrast.difference > 0 else (-high, -low)
    uneven = abs(sum(ends) - 2 * abs(task.contrast.difference)) * (task.points or 1)
    if (float(off) > float(half)) == (task.conclusion != "not separable") and uneven < MOST_UNEVEN:
        return f"{off} ± {half}"
    return f"{off} (95 % interval {_points(ends[0], task)} to {_points(ends[1], task)})"


def _capital(name: str) -> str:
    """The begin of a sentence: an article gets a capital, a name stays as it is."""
    return f"The {name[4:]}" if name.startswith("the ") else name


def _counted_tasks(tasks: Sequence[ComparedTask], second: str) -> str:
    counts = {name: sum(one.conclusion == name for one in tasks) for name in SIGNS}
    said = [f"{name} in {count}" for name, count in counts.items() if count]
    if counts["not tested"] == len(tasks):
        return "No task could be tested."
    return f"Task by task, {second} is {', '.join(said)}."


def _points(value: float, task: ComparedTask) -> str:
    return str(half_up(value * (task.points or 1), 2))


def _point_or_none(value: float, task: ComparedTask) -> str:
    """A value that may be no measurement's, as NaN or 7e30."""
    return _points(value, task) if abs(value) <= MOST_SHOWN else "" if isnan(value) else f"{value:.3g}"


def _half(task: ComparedTask) -> str:
    low, high = task.contrast.interval(LEVEL)
    return _points((high - low) / 2, task)


def comparison_text(comparison: RunComparison, second: str = "B") -> str:
    """The whole comparison for a terminal; `second` is the letter of the second run."""
    said = sentence_of(comparison, second=second)
    lines = [f"A  {visible(comparison.first)}", f"{second}  {visible(comparison.second)}", "", said, ""]
    if comparison.settings:
        lines += [
            "What differs in how they were measured:",
            *_setting_lines(comparison),
            "",
        ]
    lines += [*_equal_lines(comparison, second), "", text_table(_table(comparison, second))]
    lines += [*_rest(comparison), ""]
    lines += [*_columns(comparison), ""] if comparison.columns else []
    lines += [*_methods(comparison), *_reasons(comparison)]
    without_logs = [one for one in comparison.tasks if not (one.pairs or one.unpaired)]
    is_unpaired = any(one.conclusion == "not separable" for one in without_logs)
    lines += [PAIRING, ""] if is_unpaired and comparison.has_logs else []
    lines += [*_flips(comparison, second), *_alone(comparison, second), *_shared_texts(comparison)]
    return "\n".join(lines).rstrip() + "\n"


def _equal_lines(comparison: RunComparison, second: str) -> Iterator[str]:
    """How many settings are equal, of those that were read, and which only one of the two records."""
    read = " of those that the rows record" if comparison.unread else ""
    yield f"{counted(comparison.equal, 'other setting' if comparison.settings else 'setting')} equal{read}."
    if comparison.unread_fields:
        fields = first_few(list(comparison.unread_fields), MOST_NAMED)
        yield visible(f"Fields that the form does not read differ: {fields}; name in its settings what matters.")
    said = [
        f"{one.name} ({letter} {brief(value)})"
        for one in comparison.recorded_once
        for letter, value in zip(("A", second), one.values, strict=True)
        if value
    ]
    if said:
        yield visible(f"Recorded by one alone, so not compared: {first_few(list(dict.fromkeys(said)), MOST_NAMED)}.")


def _columns(comparison: RunComparison) -> Iterator[str]:
    """The columns that do not count, with both values and no test."""
    yield "Not tested, for these count nowhere:"
    for name, first, second in comparison.columns:
        yield f"  {name}: {significant(first)} → {significant(second)}"


def _setting_lines(comparison: RunComparison) -> Iterator[str]:
    """A line for each difference; of a setting with many values the first, and the number of tasks with others."""
    by_name = list(grouped((one.name, one) for one in comparison.settings).values())
    for found in by_name[:MOST_SETTINGS]:
        yield from (_setting_line(one, len(comparison.tasks)) for one in found[:MOST_VALUES])
        if more := found[MOST_VALUES:]:
            tasks = counted(len({task for one in more for task in one.tasks}), "other task")
            yield f"  {visible(found[0].name)}: {counted(len(more), 'other pair')} of values in {tasks}"
    if (left := len(by_name) - MOST_SETTINGS) > 0:
        yield f"  and {counted(left, 'more setting')}"


def _setting_line(one: SettingDifference, tasks: int) -> str:
    named = first_few(one.tasks, MOST_TASKS)
    named = "all tasks" if tasks > 1 and len(one.tasks) == tasks else named
    values = " → ".join(brief(value) or "(not recorded)" for value in one.values)
    effect = f"\n    {one.effect}" if one.effect else ""
    return f"  {visible(one.name)}: {visible(values)}  [{visible(named)}]{effect}"


def _table(comparison: RunComparison, second: str) -> Table:
    shown = _shown(comparison.tasks)
    shown += [comparison.average] if comparison.average and len(comparison.tasks) > 1 else []
    rows = tuple(tuple(_cells(one)) for one in shown)
    return Table(("task", "A", second, f"{second} - A", "95 % interval", "p", ""), rows)


def _shown(tasks: Sequence[ComparedTask]) -> list[ComparedTask]:
    """The tasks to show, in their order; of very many those that differ, and then the largest differences."""
    if len(tasks) <= MOST_ROWS:
        return list(tasks)

    def weight(at: int) -> tuple[bool, float]:
        return tasks[at].conclusion in {"higher", "lower"}, abs(tasks[at].contrast.difference)

    return [tasks[at] for at in sorted(nlargest(MOST_ROWS, range(len(tasks)), weight))]


def _rest(comparison: RunComparison) -> list[str]:
    more = len(comparison.tasks) - MOST_ROWS
    return [f"… and {counted(more, 'task')} with smaller differences; --format json has all"] if more > 0 else []


def _cells(one: ComparedTask) -> list[str]:
    if one.conclusion == "not comparable":
        return [one.id, *(_point_or_none(value, one) for value in one.values), "", "", "", "≠ not comparable"]
    low, high = one.contrast.interval(LEVEL)
    has_error = one.contrast.stderr is not None and one.contrast.p is not None
    interval = f"{_points(low, one)} to {_points(high, one)}" if has_error else ""
    p = one.p_adjusted if one.p_adjusted is not None else one.contrast.p
    return [
        one.id,
        *(_points(value, one) for value in one.values),
        f"{half_up(one.contrast.difference * (one.points or 1), 2):+}",
        interval,
        "" if p is None else f"{p:.3f}" if p >= LEAST_P else f"<{LEAST_P}",
        f"{SIGNS[one.conclusion]} {one.conclusion}",
    ]


def _methods(comparison: RunComparison) -> list[str]:
    """What was compared, and how the tasks were tested, a line for each method."""
    by_metric = grouped((one.metric.removesuffix(",none"), one.id) for one in comparison.tasks)
    shown = [f"{visible(metric)} of {examples(tasks, MOST_TASKS)}" for metric, tasks in by_metric.items() if metric]
    more = "; and others" if len(shown) > MOST_TASKS else ""
    lines = [f"Metric: {'; '.join(shown[:MOST_TASKS])}{more}."] if shown else []
    for metric, tasks in grouped((metric.removesuffix(",none"), task) for task, metric in comparison.opposed).items():
        lines.append(f"By {visible(metric)} the order is the other one: {examples(tasks, MOST_TASKS)}.")
    pooled = [one.id for one in comparison.tasks if one.is_pooled]
    lines += [f"Means over questions, not over subtasks: {examples(pooled, MOST_TASKS)}."] if pooled else []
    tested = [one for one in comparison.tasks if one.conclusion != "not comparable" and one.contrast.p is not None]
    by_method: dict[str, list[str]] = {}
    for one in tested:
        pairs = f" ({counted(one.pairs.shared, 'pair')}" if one.pairs else ""
        pairs += f" in {one.pairs.clusters:,} clusters" if one.pairs and one.pairs.clusters else ""
        test = f"{TESTS[one.method]}{' of each subtask' if one.pairs and one.pairs.parts and not one.is_pooled else ''}"
        by_method.setdefault(test, []).append(f"{visible(one.id)}{pairs}{')' if pairs else ''}")
    is_one = len(by_method) == 1 and len(tested) == len(comparison.tasks) and not any(one.pairs for one in tested)
    lines += [
        f"Test: {test}: {'all tasks' if is_one else first_few(named, MOST_TASKS)}." for test, named in by_method.items()
    ]
    if lent := [one.id for one in comparison.tasks if one.is_lent]:
        lines.append(f"Number of questions taken from the other file, as 0 or 100 % does not tell it: {_some(lent)}.")
    if any(one.conclusion == "not separable" and _is_beside_zero(one) for one in tested):
        lines.append(
            "Some intervals leave out 0 although the task is not separable: only p allows for the number of tasks."
        )
    lines += _missed([one for one in tested if one.conclusion == "not separable"], len(comparison.tasks))
    equal, count = len(comparison.equal_tasks), len(comparison.tasks)
    if equal and (count > 1 or comparison.uneven) and not comparison.is_same:
        uneven = f"; yet their subtasks differ: {_some(comparison.uneven)}" if comparison.uneven else ""
        lines.append(f"Equal to the last digit: {equal} of {counted(count, 'task')}{uneven}.")
    untested = [one.id for one in comparison.tasks if one.conclusion == "not tested"]
    lines += [f"Not tested, for a standard error is absent or 0: {_some(untested)}."] if untested else []
    reverse = [one.id for one in comparison.tasks if one.less_is_better]
    lines += [f"Less is better: {examples(reverse, MOST_TASKS)}."] if reverse else []
    return [*lines, ""] if lines else []


def _missed(unsure: Sequence[ComparedTask], count: int) -> Iterator[str]:
    """What the tests that are not separable would not have shown; of one task alone the sentence says it."""
    if count > 1 and (known := [one for one in unsure if one.smallest]):
        least = first_few([f"{visible(one.id)} {_points(one.smallest or 0.0, one)}" for one in known], MOST_TASKS)
        yield f"Differences below these would often be missed: {least}."
    if count > 1 and (blind := [one.id for one in unsure if not one.smallest]):
        yield f"Too few questions to show any difference: {_some(blind)}."


def _some(tasks: Sequence[str]) -> str:
    return first_few([visible(one) for one in tasks], MOST_TASKS)


def _is_beside_zero(task: ComparedTask) -> bool:
    low, high = task.contrast.interval(LEVEL)
    return low > 0 or high < 0


def _reasons(comparison: RunComparison) -> list[str]:
    """Why tasks are not comparable, a line for each reason."""
    lines = [f"  {examples(tasks, MOST_TASKS)}: {visible(why)}" for why, tasks in _by_reason(comparison).items()]
    return ["Not comparable:", *lines, ""] if lines else []


def _by_reason(comparison: RunComparison) -> dict[str, list[str]]:
    return grouped((one.why, one.id) for one in comparison.tasks if one.conclusion == "not comparable")


def _flips(comparison: RunComparison, letter: str) -> list[str]:
    """The first questions on which paired runs differ, with both answers."""
    lines = []
    for task in comparison.tasks:
        if task.pairs and task.pairs.counts:
            both, first, second, neither = task.pairs.counts
            lines.append(
                f"{visible(task.id)}: both right {both}, only A {first}, only {letter} {second}, neither {neither}"
            )
            lines += [f"  {_both(*flip, letter)}" for flip in task.pairs.flips]
        if task.pairs and task.pairs.prompts_differ:
            place = _both(task.pairs.prompts_differ, *task.pairs.prompts, letter)
            lines.append(f"  the prompts of {visible(task.id)} differ, first at the question {place}")
    unpaired = [one for one in comparison.tasks if one.unpaired]
    lines += [f"{visible(one.id)}: {UNPAIRED}{visible(one.unpaired)}" for one in unpaired]
    return [*lines, ""] if lines else []


def _both(question: str, first: str, second: str, letter: str) -> str:
    both = f': A "{brief(first)}", {letter} "{brief(second)}"' if first or second else ""
    return visible(question[:12]) + both


def _alone(comparison: RunComparison, second: str) -> list[str]:
    return [f"Only {name} has {examples(tasks, MOST_TASKS)}."
            for name, tasks in zip(("A", second), comparison.only, strict=True) if tasks]  # fmt: skip


def _shared_texts(comparison: RunComparison) -> list[str]:
    """A warning about tasks whose questions share passages, where no sample log shows which."""
    named = [visible(one.id) for one in comparison.tasks if one.pairs is None and SHARED_TEXTS.search(one.id)]
    if not named:
        return []
    names = ", ".join(named[:MOST_TASKS])
    return [f"Questions of {names} share passages: chance moves it more than the errors of the files say. {WITH_LOGS}"]


def comparison_markdown(comparison: RunComparison, second: str = "B") -> str:
    """The same as Markdown, for a comment."""
    lines = [f"**A** {code(brief(comparison.first))}  ", f"**{second}** {code(brief(comparison.second))}", "",
             sentence_of(comparison, second=second, escape=plain_markup), ""]  # fmt: skip
    settings = comparison.settings[:MOST_SETTINGS]
    if settings:
        titles = ("setting", "A", second, "tasks", "what it is known to do")
        rows: list[tuple[Cell, ...]] = [
            (one.name, *map(brief, one.values), len(one.tasks), one.effect) for one in settings
        ]
        left = len(comparison.settings) - len(settings)
        more = [f"And {counted(left, 'more line')} of settings.", ""] if left else []
        lines += [markdown_table(Table(titles, tuple(rows))), "", *more]
    lines += [markdown_table(_table(comparison, second))]
    lines += [*_rest(comparison), ""]
    lines += [f"- {first_few(list(map(code, tasks)), MOST_TASKS)}: {plain_markup(why)}"
              for why, tasks in _by_reason(comparison).items()]  # fmt: skip
    lines += [f"- {plain_markup(one.strip())}" for one in _flips(comparison, second) if one]
    rest = (*_methods(comparison), *_equal_lines(comparison, second), *_alone(comparison, second))
    lines += [plain_markup(one) for one in rest]
    return "\n".join(lines).rstrip() + "\n"


def comparison_json(
    comparison: RunComparison, against: Sequence[RunComparison] = (), second: str = "B"
) -> dict[str, Any]:
    """All of it as values that JSON can hold; see docs/compare.md. `against` are comparisons of A with C and D."""
    return {
        "schema": SCHEMA,
        "measurements": [{"name": comparison.first}, {"name": comparison.second}],
        "settings": [
            {
                **_setting_object(one),
                "effect": one.effect,
                "explains": bool(one.effect) and not one.weak,
                "breaks": one.breaks,
            }
            for one in comparison.settings
        ],
        "equal": comparison.equal,
        "recorded_once": [_setting_object(one) for one in comparison.recorded_once],
        "conditions": [{"name": name, "values": values} for name, *values in comparison.conditions],
        "only": [list(tasks) for tasks in comparison.only],
        "is_same": comparison.is_same,
        "limits": [_limit_object(one) for one in comparison.limits],
        "over_tasks": _over_tasks_object(over_tasks(comparison)),
        "unexplained": comparison.unexplained,
        "tasks": [_object(one) for one in comparison.tasks],
        "average": _object(comparison.average) if comparison.average else None,
        **(
            {"columns": [{"id": one, "values": list(values)} for one, *values in comparison.columns]}
            if comparison.columns
            else {}
        ),
        "sentence": sentence_of(comparison, second=second),
        **(
            {"against": [comparison_json(one, (), letter) for one, letter in zip(against, "CD", strict=False)]}
            if against
            else {}
        ),
    }


def _setting_object(one: SettingDifference) -> dict[str, Any]:
    return {"name": one.name, "values": list(one.values), "tasks": list(one.tasks)}


def _limit_object(limit: RunLimit | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    return {"least": limit.least, "most": limit.most, "asked": limit.asked, "whole": limit.whole or None}


def _over_tasks_object(test: OverTasks | None) -> dict[str, Any] | None:
    if test is None:
        return None
    verdict = test.side if test.is_more else "not separable"
    return {
        "side": test.side, "wins": test.wins, "tasks": test.tasks, "same": test.same, "p": test.p, "verdict": verdict,
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _object(one: ComparedTask) -> dict[str, Any]:
    is_known = one.contrast.p is not None
    pairs = (
        dict(zip(("both", "first", "second", "neither"), one.pairs.counts, strict=True))
        if one.pairs and one.pairs.counts
        else None
    )
    return {
        "id": one.id,
        "metric": one.metric,
        "values": list(map(_finite, one.values)),
        "difference": _finite(one.contrast.difference),
        "stderr": one.contrast.stderr if is_known else None,
        "interval": list(one.contrast.interval(LEVEL)) if is_known else None,
        "p": one.contrast.p,
        "p_adjusted": one.p_adjusted,
        "method": one.method if is_known else None,
        "verdict": one.conclusion,
        "why": one.why or one.unpaired,
        "smallest": one.smallest if is_known else None,
        "pairs": pairs,
        "less_is_better": one.less_is_better,
    }


REPORTED_SCHEMA = "leaderboard-bot/reported/1"
READINGS_SHOWN = 3  # readings that the text lists
MOST = 0.5  # of readings, and of random numbers: where more fit, only what is exactly the number is named


def reported_text(readings: Readings) -> str:
    """The readings that give the number, simplest first, or the nearest and how they were measured where none does."""
    text = visible(readings.reported.text)
    if readings.limits:
        low, high = (significant(limit, 4) for limit in readings.limits)
        unit = " %" if readings.reported.top > 1 else ""
        said = f"No score of these results can be {text}: their metrics lie between {low} and {high}{unit}."
        return f"{said}{_unread_text(readings)}\n"
    tried = f"{counted(readings.tried, 'reading')} tried; {_odds(readings.by_chance)}"
    if not readings.fitting:
        return f"No reading of these results gives {text} ({tried}).{_unread_text(readings)} {_nearest_text(readings)}"
    if readings.by_chance > MOST and len(readings.fitting) > MOST * readings.tried:
        exact = [one for one in readings.fitting if abs(one.value - readings.reported.value) <= 1e-9]
        said = f"{len(readings.fitting)} of {counted(readings.tried, 'reading')} print as {text}, which says nothing"
        listed = "\n".join(["\nExactly this are:\n", *map(_lines, exact[:READINGS_SHOWN])]) if exact else ""
        return f"{said}: give it with more digits, or name its column.\n{listed}"
    shown = [one for one in readings.fitting if one.kind != "guess"] or list(readings.fitting)
    found = "\n".join(_lines(one, _off(one, readings) if readings.is_guess else "") for one in shown[:READINGS_SHOWN])
    more = len(readings.fitting) - len(shown[:READINGS_SHOWN])
    rest = f"\n… and {counted(more, 'longer reading')}; --format json lists all\n" if more > 0 else ""
    first = readings.fitting[0]
    what = f"{visible(first.task)}: {visible(first.steps[-1])} ({tried})."
    if readings.is_guess:
        what += f" It is a guess: {_why_guess(readings)}."
    is_it = "may be" if not readings.is_plain else "is most simply" if len(readings.fitting) > 1 else "is"
    beside = "" if readings.is_plain else _plain_text(readings)
    broken = f"\n{visible(_broken_text(readings))}\n" if readings.broken else ""
    return f"{text} {is_it} {what}\n\n{found}{rest}{beside}{broken}"


def _unread_text(readings: Readings) -> str:
    stands = f" It stands at {examples(readings.unread)}, which is not read." if readings.unread else ""
    return f"{stands} {_broken_text(readings)}".rstrip()


def _broken_text(readings: Readings) -> str:
    return f"Not tried: {examples(readings.broken)}." if readings.broken else ""


def _plain_text(readings: Readings) -> str:
    """The nearest plain value beside a guess, how to ask for its column, and how both were measured."""
    parts = []
    for one in readings.whole:
        parts += ["The nearest plain value of a whole task:\n", _lines(one, _off(one, readings))]
        if readings.is_part:
            named = f"explain PATH {visible(one.task)} --reported {visible(readings.reported.text)}"
            parts.append(f"If it is meant for a column, name it: {named}\n")
    told = "\n".join([*parts, *_settings_lines(readings)]).rstrip()
    return f"\n{told}\n" if told else ""


def _nearest_text(readings: Readings) -> str:
    """The nearest simple readings of whole tasks, any that is nearer, and how these were measured."""
    shown, value = readings.whole or readings.nearest, readings.reported.value
    nearer = [one for one in readings.nearest if abs(one.value - value) < abs(shown[0].value - value)]
    parts = ["The nearest:\n" if shown == readings.nearest else "The nearest simple readings of whole tasks:\n"]
    parts += [_lines(one, _off(one, readings)) for one in shown]
    if nearer:
        parts.append("Nearer are these, of one subtask, with something left out or with two changes:\n")
        parts += [_lines(one, _off(one, readings)) for one in nearer]
    return "\n".join([*parts, *_settings_lines(readings)]).rstrip() + "\n"


def _settings_lines(readings: Readings) -> Iterator[str]:
    if readings.settings:
        yield "Measured so; with another setting the number is another:\n"
        yield from (f"  {title} {brief(values)}: {what}" for title, values, what in readings.settings)
    if readings.causes:
        yield from [""] * bool(readings.settings)
        yield "The leaderboard wants it measured otherwise:\n"
        yield from (f"  {visible(why)}" for why in readings.causes)
    if any(title == "MMLU implementation" for title, _, _ in readings.settings):
        yield "\nWhich numbers of MMLU may be compared: leaderboard-bot audit mmlu"


def _off(reading: Reading, readings: Readings) -> str:
    return f"off by {reading.value - readings.reported.value:+.{2 if readings.fitting else 4}g}"


def _why_guess(readings: Readings) -> str:
    if readings.is_part:
        return "it is one subtask alone, which few report"
    if readings.fitting[0].kind == "guess":
        return "no simple reading gives this number"
    if readings.rivals == 1:
        return "so few digits fit many numbers"
    return f"{readings.rivals} values of readings as simple are near this number"


def _odds(by_chance: float) -> str:
    """How often a number that has nothing to do with the results would fit as well."""
    one_in = round(1 / by_chance) if by_chance else 0
    return f"{'a random number often' if one_in == 1 else f'1 of {one_in:,} random numbers'} fits one of them"


def _lines(reading: Reading, note: str = "") -> str:
    head = f"  {visible(reading.task)}: {significant(reading.value)}{f' ({note})' if note else ''}"
    return "\n".join([head, *(f"    {visible(step)}" for step in reading.steps), ""])


def reported_json(readings: Readings) -> dict[str, Any]:
    """All readings as values that JSON can hold; see docs/report.md."""
    return {
        "schema": REPORTED_SCHEMA,
        "reported": readings.reported.text,
        "readings": [_reading_object(one) for one in readings.fitting],
        "tried": readings.tried,
        "by_chance": readings.by_chance,
        "is_guess": readings.is_guess,
        "nearest": [_reading_object(one) for one in readings.nearest],
        "whole": [_reading_object(one) for one in readings.whole],
        "limits": list(readings.limits) if readings.limits else None,
        "settings": [{"name": name, "values": values, "effect": what} for name, values, what in readings.settings],
        "causes": list(readings.causes),
        "unread": list(readings.unread),
        "broken": list(readings.broken),
    }


def _reading_object(reading: Reading) -> dict[str, Any]:
    return {
        "value": reading.value,
        "task": reading.task,
        "metric": reading.metric,
        "files": list(reading.files),
        "steps": list(reading.steps),
    }
