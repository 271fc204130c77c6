"""Write an audit of DROP as one self-contained HTML page with charts; needs the extra `charts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat

from bot import __version__
from bot.audits.drop.audit import DropAudit, LogAudit
from bot.audits.drop.figures import Counters
from bot.audits.drop.report import (
    DISTORTED,
    FLAW_TITLES,
    HEALTH_SENTENCES,
    all_findings,
    capitalized,
    change,
    examples_by_flaw,
    finding_line,
    flaws_table,
    logs_table,
    quoted,
    rerun_table,
    scores_table,
    summary,
)
from bot.reporting.chart import Chart, ChartAxis, ChartText, Point, bars, histogram, intervals, scatter
from bot.reporting.escape import visible
from bot.reporting.prose import Block, Section, page
from bot.reporting.table import Table

F1_BINS = 20
F1 = ChartAxis("f1", (0, 1))


def audit_drop_page(audit: DropAudit) -> str:
    """Return the page. Raises CallError if the extra `charts` is not installed."""
    figures = audit.figures
    sections = [
        Section("Findings", [*map(finding_line, all_findings(audit)), summary(figures)]),
        Section("Scores", [scores_table(figures), *_score_charts(audit.counters), *_log_blocks(audit)]),
        Section("Flaws", [flaws_table(figures), _flaw_chart(audit), _length_chart(audit.counters)]),
        Section("Samples to run again", [rerun_table(figures), _rerun_chart(audit.logs)]),
        Section("Examples", list(_examples(audit))),
    ]
    lead = f"{capitalized(HEALTH_SENTENCES[audit.health])}."
    return page(f"DROP is {audit.health}", lead, sections, foot=f"leaderboard-bot {__version__}")


def _score_charts(counters: Counters) -> Iterator[Chart]:
    for title, counts in (
        ("f1 of each sample, as the harness scores it", counters.f1),
        ("f1 of each sample, cut at the first line of text", counters.repaired_f1),
    ):
        text = ChartText(title, f"{counters.samples} samples", "Samples by f1")
        yield histogram(text, _values(counts), F1, low=0, width=1 / F1_BINS, bins=F1_BINS)


def _values(hundredths: Counter[int]) -> Iterable[float]:
    return chain.from_iterable(repeat(f1 / 100, count) for f1, count in sorted(hundredths.items()))


def _log_blocks(audit: DropAudit) -> Iterator[Block]:
    if len(audit.logs) < 2:
        return
    points = [
        Point(log.path, log.figures.scored.f1, log.figures.first_text_line.f1, label=_stem(log.path))
        for log in audit.logs
    ]
    reversed_pairs = f"the cut reverses {audit.ranks.reversed} of {audit.ranks.pairs} pairs"
    text = ChartText("Mean f1 of each log before and after the cut", reversed_pairs, "Mean f1 by log")
    yield logs_table(audit.logs)
    yield scatter(text, points, ChartAxis("f1 as scored", (0, 1)), ChartAxis("f1 after the cut", (0, 1)))


def _stem(path: str) -> str:
    """Return a short name of a log: the model's folder in the layout of the harness, else the file."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and parts[-1].startswith("samples_") else parts[-1]


def _flaw_chart(audit: DropAudit) -> Chart:
    rows = [(FLAW_TITLES[name], share.share) for name, share in audit.figures.flaws.items()]
    rows.append((DISTORTED, audit.figures.distorted.share))
    text = ChartText("How many samples show each flaw", f"{audit.figures.samples} samples", "Share of samples")
    return bars(text, rows, ChartAxis("share of samples", (0, 1)), name="flaw")


def _length_chart(counters: Counters) -> Chart:
    length = counters.length
    rows = [(_length_range(bits), length.f1[bits] / 100 / length.samples[bits]) for bits in sorted(length.samples)]
    text = ChartText("Mean f1 by length of the generation", "words in the generation", "Mean f1 by length")
    return bars(text, rows, ChartAxis("mean f1", (0, 1)), name="words")


def _length_range(bits: int) -> str:
    low, high = 1 << (bits - 1) if bits else 0, (1 << bits) - 1
    return f"{low} to {high} words" if high > low else f"{low} words"


def _rerun_chart(logs: Sequence[LogAudit]) -> Chart:
    rows = []
    for log in logs:
        for when, bounds in (
            ("as logged", log.figures.rerun.as_logged),
            ("after the cut", log.figures.rerun.after_cut),
        ):
            low, value, high = bounds.lower.share, bounds.possible.share, bounds.upper.share
            rows.append((f"{_stem(log.path)}, {when}", low, value, high))
    text = ChartText(
        "Share of samples to run again",
        "the line goes from the least to the most; the point is what the investigation counts",
    )
    return intervals(text, rows, ChartAxis("share of samples", (0, 1)))


def _examples(audit: DropAudit) -> Iterator[Block]:
    for flaw, examples in examples_by_flaw(audit):
        rows = tuple(
            (
                visible(f"{example.path}:{example.line}"),
                quoted(example.prediction),
                " or ".join(map(quoted, example.golds)),
                change(example),
            )
            for example in examples
        )
        title = FLAW_TITLES[flaw]
        yield Table(("sample", "generation", "gold answers", "score"), rows, capitalized(title))
