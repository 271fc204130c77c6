"""Compare rows: with the earlier row, or with that of a base branch or a board; and as Markdown for requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.errors import CallError
from bot.evaluation.compare import (
    TEMPLATES,
    LeafSource,
    MeasuredRun,
    RunComparison,
    compare,
    run_of_scores,
    version_of,
    with_files,
)
from bot.evaluation.definition import digest_of_leaves
from bot.evaluation.finding import first_few
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import Result
from bot.evaluation.row_key import SHORT
from bot.publishing.entry import Entry
from bot.reporting.comparison import comparison_markdown, sentence_of
from bot.reporting.escape import brief, code, plain_markup

MOST_SETTINGS = 10  # that a request names
TWO_ROWS = ("the other row", "this row")  # what a sentence calls the two rows that were named before it
UNMOVED = "No number that counts changed."
MOST_FOLDED = 20  # comparisons that one comment holds


def settings_of(entry: Entry) -> tuple[dict[str, str], dict[str, Mapping[str, str | int]]]:
    """The settings in an entry: those of the whole run, and those of single leaves by name."""
    settings = {"precision": entry.model.precision, "chat template": TEMPLATES[entry.model.chat_template]}
    leaves = [leaf for task in entry.tasks for leaf in task.leaves]
    of_leaves: dict[str, Mapping[str, str | int]] = {
        "bounds": {leaf.id: f"{leaf.lower_bound} to {leaf.upper_bound}" for leaf in leaves},
        "num_fewshot": entry.num_fewshot,
        "version": entry.versions,
        "definition": {
            leaf.id: digest
            for task in entry.tasks
            for digest in [digest_of_leaves(entry.definitions, [leaf.id for leaf in task.leaves])[:SHORT]]
            for leaf in task.leaves
        },
        "samples": entry.num_samples,
    }
    formats = sorted({file.format for file in entry.evidence if file.format})
    harness = {
        "harness": entry.harness.name,
        **version_of(entry.harness),
        "format": ", ".join(formats),
    }
    files = {leaf.id: file for leaf in leaves if (file := entry.evidence_of(leaf)) is not None}
    if len({(file.harness.name, file.format) for file in files.values()}) < 2:
        return {**harness, **settings}, of_leaves
    of_leaves |= {  # tasks of several harnesses: what is said of one is not true of the others
        "harness": {leaf: file.harness.name for leaf, file in files.items()},
        **{
            name: {leaf: said for leaf, file in files.items() if (said := version_of(file.harness).get(name))}
            for name in ("harness version", "starting folder")
        },
        "format": {leaf: file.format for leaf, file in files.items()},
    }
    return settings, of_leaves


def run_of_entry(
    name: str,
    entry: Entry,
    only: Sequence[str] = (),
    *,
    files: Mapping[str, Result] | None = None,
    declared: Leaderboard | None = None,
) -> MeasuredRun:
    """A row as a measurement: its scores in points, and the settings that it records.

    `files` are its results that are at hand, by the paths that the row has for them: with the declaration of the row
    they say the other settings, too. Raises CallError where it has no score of a task in `only`.
    """
    settings, of_leaves = settings_of(entry)
    texts = {setting: {leaf: str(value) for leaf, value in values.items()} for setting, values in of_leaves.items()}
    run = run_of_scores(name, entry.tasks, settings, texts, only, others=entry.scores)
    sources = dict(_sources(entry, files or {}, declared)) if declared is not None else {}
    return with_files(run, sources) if sources else run


def _sources(entry: Entry, files: Mapping[str, Result], declared: Leaderboard) -> Iterator[tuple[str, LeafSource]]:
    """The results that the leaves of a row come from."""
    known = {leaf.id: leaf for task in declared.tasks for leaf in task.leaves}
    for one in (leaf for task in entry.tasks for leaf in task.leaves):
        result = files.get(one.file)
        key = known[one.id].key(result.format) if result is not None and one.id in known else ""
        if result is not None and key in result.leaves:
            yield one.id, LeafSource(result, key)


def compared_rows(before: Entry, now: Entry, names: tuple[str, str]) -> RunComparison | None:
    """The comparison of two rows with `before` first; None where no task has a score in both."""
    try:
        return compare(run_of_entry(names[0], before), run_of_entry(names[1], now))
    except CallError:
        return None


def counterpart(entry: Entry, others: Sequence[Entry]) -> Entry | None:
    """The row to compare a row with: one of the same key, of the same model, or from a file with the same path."""
    paths = {file.path for file in entry.evidence}
    found = [
        *(one for one in others if one.key == entry.key),
        *(one for one in others if one.model.id.casefold() == entry.model.id.casefold()),
        *(one for one in others if paths & {file.path for file in one.evidence}),
    ]
    return next(iter(found), None)


def numbers_of(entry: Entry) -> dict[str, list[tuple[str, str, float, float | None]]]:
    """The raw value and the score of each subtask and metric, by task."""
    return {task.id: [(one.id, one.metric, one.raw, one.score) for one in task.leaves] for task in entry.tasks}


def change_lines(before: Entry, now: Entry) -> list[str]:
    """How a row differs from the row before it, as Markdown: what was measured differently, and whether by chance."""
    comparison = compared_rows(before, now, ("the row before", "the new row"))
    if comparison is None:
        return []
    # One row with the same numbers is no copy or repeat of another.
    is_same = not comparison.settings and numbers_of(before) == numbers_of(now)
    lines = [UNMOVED if is_same else sentence_of(comparison, "the row before", "the new row", escape=code), ""]
    for one in comparison.settings[:MOST_SETTINGS]:
        values = " → ".join(code(brief(value)) if value else "not recorded" for value in one.values)
        lines.append(f"- {plain_markup(one.name)}: {values}{f' ({one.effect})' if one.effect else ''}")
    if len(comparison.settings) > MOST_SETTINGS:
        lines.append(f"- and {len(comparison.settings) - MOST_SETTINGS} more settings")
    return lines if comparison.settings else lines[:1]


def beside_line(entry: Entry, there: Sequence[Entry]) -> str:
    """How a row differs from the row of its key on a board, or else from another one of its model, as Markdown."""
    other = counterpart(entry, [one for one in there if one.model.id.casefold() == entry.model.id.casefold()])
    comparison = compared_rows(other, entry, ("", "")) if other is not None else None
    if other is None or comparison is None:
        return ""
    if other.key == entry.key:
        return sentence_of(comparison, "the row before", "the new row", escape=code)
    said = sentence_of(comparison, "the row there", "the new row", escape=code)
    return f"The board has another row of this model, {code(other.key)}. {said}"


def comparisons_markdown(comparisons: Sequence[RunComparison], missing: Sequence[str], most: int = MOST_FOLDED) -> str:
    """The first comparisons of many rows: a sentence for each, its tables folded; `missing` have no other row."""
    parts = []
    for one in comparisons[:most]:
        name = code(brief(one.second))
        parts += [
            f"**{name}, compared with {code(brief(one.first))}:** {sentence_of(one, *TWO_ROWS, escape=plain_markup)}",
            "",
        ]
        parts += ["<details><summary>The comparison</summary>", "", comparison_markdown(one), "</details>", ""]
    if len(comparisons) > most:
        parts += [f"… and {len(comparisons) - most} more rows.", ""]
    if missing:
        named = first_few([code(brief(one)) for one in missing], most)
        parts += [f"Not compared, because there is no other row: {named}.", ""]
    return "\n".join(parts)
