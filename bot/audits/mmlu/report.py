"""Report the audit of MMLU results: the implementations, comparable numbers, and differences in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from bot.audits.mmlu.audit import ColumnPair, ImplementationComparison, MmluAudit
from bot.audits.mmlu.source import MmluSource
from bot.evaluation.benchmarks.mmlu_family import TITLES
from bot.evaluation.finding import counted
from bot.reporting.prose import Block, Section
from bot.reporting.table import Cell, Table

SCHEMA = "leaderboard-bot/audit-mmlu/1"
TITLE = "MMLU: implementations, and which numbers may be compared"
NOTE = (
    "Macro is the mean of the subjects' values, micro the mean over questions. Kendall's tau-b and Spearman's "
    "correlation compare orders: 1 is the same order. A pair is reversed where the two columns order its models in "
    "opposite ways. A gap is the absolute difference of a model's two scores. Each column has the metric of its "
    "implementation, acc_norm where whole answers are scored; `compare` takes acc there, and names the other metric "
    "where it orders two models the other way."
)


def mmlu_json(audit: MmluAudit) -> dict[str, Any]:
    """Return the report for a program."""
    return {"schema": SCHEMA, **msgspec.to_builtins(audit)}


def document(audit: MmluAudit) -> tuple[str, str, list[Section]]:
    """Return title, lead and sections of the report."""
    return TITLE, _lead(audit), list(_sections(audit))


def _lead(audit: MmluAudit) -> str:
    parts = []
    if audit.sources:
        parts.append(f"{counted(len(audit.sources), 'result')}, {counted(len(audit.columns), 'kind')} of numbers.")
    if len(audit.columns) > 1:
        parts.append("They do not belong in one column.")
    if audit.comparison:
        firsts = "; ".join(f"{model} under {column}" for column, model in audit.comparison.first.items())
        parts.append(f"First is {firsts}.")
    return " ".join(parts) or "Nothing could be read."


def _sections(audit: MmluAudit) -> Iterator[Section]:
    if audit.comparison:
        yield from _comparison(audit.comparison)
    for source in audit.sources:
        yield Section(source.path, list(_source(source)))
    if len(audit.sources) > 1:
        yield Section("Numbers that may share a column", [_columns(audit)])
    if audit.problems:
        rows = tuple((problem.path, problem.why) for problem in audit.problems)
        yield Section("Not read", [Table(("path", "why"), rows)])


def _source(source: MmluSource) -> Iterator[Block]:
    model = f" of {source.model}" if source.model else ""
    yield f"{source.kind}{model}: {source.family.value}, {TITLES[source.family]}."
    evidence = [*((what, "for") for what in source.evidence), *((what, "against") for what in source.against)]
    yield Table(("evidence", "speaks"), tuple(evidence))
    if source.aggregates:
        yield _aggregates(source)
    if source.scores:
        yield _scores(source)
    if source.skipped:
        rows = tuple((one.why, one.count, one.line) for one in source.skipped)
        yield Table(("left out", "records", "first in line"), rows)


def _aggregates(source: MmluSource) -> Table:
    rows = tuple(
        (one.metric, one.subjects, one.macro, one.micro, one.reported, one.reported_as or "the file has no aggregate")
        for one in source.aggregates
    )
    return Table(("metric", "subjects", "macro", "micro", "reported", "which is"), rows)


def _scores(source: MmluSource) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for score in source.scores:
        worth = f"needs {score.missing}" if score.missing else str(score.standing and score.standing.value)
        rows.append((score.family.value, score.metric, score.micro, score.macro, score.samples, score.differing, worth))
    columns = ("implementation", "metric", "micro", "macro", "samples", "logged differs", "worth")
    return Table(columns, tuple(rows), "from the samples")


def _columns(audit: MmluAudit) -> Table:
    rows = tuple(
        (i, ", ".join(column.sources), "; ".join(column.values), ", ".join(column.differs) or "-")
        for i, column in enumerate(audit.columns, start=1)
    )
    return Table(("column", "results", "kind", "differs from column 1 in"), rows)


def _comparison(comparison: ImplementationComparison) -> Iterator[Section]:
    pairs = Table(
        ("left", "right", "Kendall tau", "Spearman", "reversed", "of pairs", "largest gap", "at", "mean gap"),
        tuple(map(_pair, comparison.pairs)),
    )
    turned = Table(
        ("left", "right", "reversed pair"),
        tuple((pair.left, pair.right, " / ".join(models)) for pair in comparison.pairs for models in pair.reversed),
    )
    yield Section("How far the orders agree", [pairs, turned, NOTE])
    spread = {gap.model: gap.gap for gap in comparison.spread}
    rows: list[tuple[Cell, ...]] = [
        (model, *comparison.scores[model], *comparison.ranks[model], spread[model]) for model in spread
    ]
    ranks = (f"rank {column}" for column in comparison.columns)
    yield Section("Scores and ranks", [Table(("model", *comparison.columns, *ranks, "spread"), tuple(rows))])


def _pair(pair: ColumnPair) -> tuple[Cell, ...]:
    return (
        pair.left, pair.right, pair.kendall_tau, pair.spearman, len(pair.reversed), pair.pairs, pair.largest.gap,
        pair.largest.model, pair.mean_gap,
    )  # fmt: skip
