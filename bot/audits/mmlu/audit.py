"""Judge MMLU results: the implementation of each, which may share a column, and how the orders differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, fsum
from pathlib import Path

from bot.audits.mmlu.samples import of_helm, of_logs
from bot.audits.mmlu.source import MmluSource, NotMmlu, of_result, read_bytes
from bot.audits.ranks import kendall, places, reversed_pairs, spearman
from bot.audits.samples.records import files_below
from bot.audits.score_table import read_score_table
from bot.errors import CallError, MalformedResult
from bot.evaluation.benchmarks.mmlu_family import TITLES
from bot.evaluation.finding import counted, grouped
from bot.evaluation.formats import MAX_BYTES, parse_result
from bot.reporting.escape import visible


@dataclass(frozen=True, slots=True)
class Gap:
    """A model and the absolute difference of its scores."""

    model: str
    gap: float


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns held against each other: `reversed` are the pairs of models that they order in opposite ways."""

    left: str
    right: str
    kendall_tau: float | None
    spearman: float | None
    pairs: int
    reversed: tuple[tuple[str, str], ...]
    largest: Gap
    mean_gap: float


@dataclass(frozen=True, slots=True)
class ImplementationComparison:
    """All pairs of columns; `ranks` of each model by column, `first` of each column, `spread` from largest to least."""

    columns: tuple[str, ...]
    ranks: Mapping[str, tuple[int, ...]]
    scores: Mapping[str, tuple[float, ...]]
    first: Mapping[str, str]
    pairs: tuple[ColumnPair, ...]
    spread: tuple[Gap, ...]


def compare(models: Sequence[str], columns: Mapping[str, Sequence[float]]) -> ImplementationComparison:
    """Compare columns of scores, each with one score for each model, in the order of `models`."""
    ranked = {column: places(scores) for column, scores in columns.items()}
    rows = dict(zip(models, zip(*columns.values(), strict=True), strict=True))
    spread = [Gap(model, max(scores) - min(scores)) for model, scores in rows.items()]
    return ImplementationComparison(
        tuple(columns),
        dict(zip(models, zip(*ranked.values(), strict=True), strict=True)),
        rows,
        {column: models[ranks.index(1)] for column, ranks in ranked.items()},
        tuple(_pair(models, columns, *two) for two in combinations(columns, 2)),
        tuple(sorted(spread, key=lambda one: -one.gap)),
    )


def _pair(models: Sequence[str], columns: Mapping[str, Sequence[float]], left: str, right: str) -> ColumnPair:
    one, other = columns[left], columns[right]
    gaps = [Gap(model, abs(a - b)) for model, a, b in zip(models, one, other, strict=True)]
    turned = tuple((models[i], models[j]) for i, j in reversed_pairs(one, other))
    return ColumnPair(
        left,
        right,
        kendall(one, other),
        spearman(one, other),
        len(models) * (len(models) - 1) // 2,
        turned,
        max(gaps, key=lambda gap: gap.gap),
        fsum(gap.gap for gap in gaps) / len(gaps),
    )


HELM_RUN, LOGS = "run_spec.json", ("samples_*.jsonl", "*_write_out_info.json")
MOST_PAIRS = 1_000_000  # of models, in all pairs of columns: every one is looked at, and the reversed are listed
GZIP = b"\x1f\x8b"
# By these two numbers are of one kind or not; each with what it is called in the report.
AXES = ("implementation", "metric", "shots", "subjects", "chat template", "limit")


@dataclass(frozen=True, slots=True)
class ComparableResults:
    """Sources whose numbers may stand in one column; `differs` names the axes on which the largest is another."""

    sources: tuple[str, ...]
    values: tuple[str, ...]
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadSource:
    """A path from which nothing could be read, and why."""

    path: str
    why: str
    is_other_task: bool = False


@dataclass(frozen=True, slots=True)
class MmluAudit:
    """The result of the audit; `comparison` is None if no two columns share two models."""

    sources: tuple[MmluSource, ...]
    columns: tuple[ComparableResults, ...]
    comparison: ImplementationComparison | None
    problems: tuple[UnreadSource, ...]


def audit_mmlu(paths: Sequence[Path]) -> MmluAudit:
    """Judge each path and compare what they hold; a path that cannot be read is a problem, not an end."""
    sources: list[MmluSource] = []
    problems: list[UnreadSource] = []
    tables: list[ImplementationComparison] = []
    for path in paths:
        inside = _expanded(path)
        read = [problem for one in inside if (problem := _read(one, sources, tables)) is not None]
        if inside != [path] and all(problem.is_other_task for problem in read) and len(read) == len(inside):
            problems.append(UnreadSource(str(path), "holds nothing of MMLU", is_other_task=True))
        # In a folder other results may lie beside those of MMLU; a file that was named must be one.
        problems += [problem for problem in read if inside == [path] or not problem.is_other_task]
    comparison = tables[-1] if tables else compared(sources)
    return MmluAudit(tuple(sources), columns_of(sources), comparison, tuple(problems))


def _read(path: Path, sources: list[MmluSource], tables: list[ImplementationComparison]) -> UnreadSource | None:
    """Read one path into the sources or the tables; return what is wrong where nothing could be read."""
    try:
        table = table_of(path)
        if table is None:
            sources.append(source_of(path))
        else:
            tables.append(table)
    except (CallError, MalformedResult) as error:
        return UnreadSource(str(path), str(error).removeprefix(f"{path}: "), isinstance(error, NotMmlu))
    return None


def _expanded(path: Path) -> list[Path]:
    """Return the path, or what is in a folder that is not a HELM run: HELM runs, folders of sample logs, files."""
    if not path.is_dir() or (path / HELM_RUN).exists():
        return [path]
    runs = {spec.parent for spec in files_below(path, HELM_RUN)}
    logs = {log for pattern in LOGS for log in files_below(path, pattern)}
    files = {file for file in files_below(path, "*.json") if file.parent not in runs} - logs
    return sorted({*runs, *files, *(log.parent for log in logs)})


def table_of(path: Path) -> ImplementationComparison | None:
    """Return the comparison that a CSV of models and implementations gives; None for any other path."""
    if path.suffix != ".csv" or path.is_dir():
        return None
    board = read_score_table(read_bytes(path), str(path))
    full = [i for i in range(len(board.names)) if all(cells[i] is not None for cells in board.columns.values())]
    if len(board.columns) < 2 or len(full) < 2:
        raise CallError(f"{path}: a comparison needs two columns of scores and two models that have both")
    if comb(len(full), 2) * comb(len(board.columns), 2) > MOST_PAIRS:
        models = counted(len(full), "model")
        raise CallError(f"{path}: {models} in {len(board.columns)} columns are too many; keep those of implementations")
    columns = {column: [cells[i] or 0.0 for i in full] for column, cells in board.columns.items()}
    cells = [
        (score, board.names[i], column) for column, of in columns.items() for i, score in zip(full, of, strict=True)
    ]
    (most, *there), (least, *here) = max(cells), min((one for one in cells if one[0]), default=max(cells))
    if 0 < least <= 1 < most:
        percent, fraction = (" in ".join(visible(one) for one in names) for names in (there, here))
        what = f"{percent} has {most:g}, a percentage, and {fraction} {least:g}, a fraction: write all in one unit"
        raise CallError(f"{path}: {what}")
    return compare([board.names[i] for i in full], columns)


def source_of(path: Path) -> MmluSource:
    """Read a path in the form it has. Raises CallError or MalformedResult where it is of none."""
    if path.is_dir():
        logs = sorted(log for pattern in LOGS for log in path.glob(pattern))
        return of_helm(path) if (path / HELM_RUN).exists() else of_logs(path, logs)
    data = read_bytes(path, MAX_BYTES)
    if path.suffix in {".jsonl", ".gz"} or data.startswith(GZIP) or data.lstrip()[:1] == b"[":
        return of_logs(path, [path])
    return of_result(str(path), parse_result(data))


def columns_of(sources: Sequence[MmluSource]) -> tuple[ComparableResults, ...]:
    """Group the sources with numbers: one column for each combination of the axes, the largest first."""
    groups = grouped((tuple(_values(source)), source.path) for source in sources)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    largest = ordered[0][0] if ordered else ()
    return tuple(
        ComparableResults(
            tuple(paths),
            tuple(f"{axis}: {value}" for axis, value in zip(AXES, values, strict=True)),
            tuple(axis for axis, value, other in zip(AXES, values, largest, strict=True) if value != other),
        )
        for values, paths in ordered
    )


def _values(source: MmluSource) -> Iterator[str]:
    """Return the value of each axis, in words."""
    main = source.main()
    yield TITLES[source.family]
    yield main.metric if main else "samples only"
    yield "not recorded" if source.num_fewshot is None else str(source.num_fewshot)
    yield str(main.subjects) if main else "-"
    yield {None: "not recorded", True: "yes", False: "no"}[source.chat_template]
    yield "none" if source.limit is None else f"{source.limit:g}"


def compared(sources: Sequence[MmluSource]) -> ImplementationComparison | None:
    """Compare implementations over the models that all of them measured; None if there are not two of both."""
    mains = [(source, main) for source in sources if source.model and (main := source.main())]
    parts = grouped(((f"{source.family.value} {main.metric}", source.model), main) for source, main in mains)
    scores: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (column, model), runs in parts.items():
        # A HELM run is one subject: the mean over all of them is the mean over subjects.
        scores[column][model] = fsum(run.macro * run.subjects for run in runs) / sum(run.subjects for run in runs)
    models = sorted(set.intersection(*map(set, scores.values()))) if len(scores) > 1 else []
    if len(models) < 2:
        return None
    return compare(models, {column: [had[model] for model in models] for column, had in scores.items()})
