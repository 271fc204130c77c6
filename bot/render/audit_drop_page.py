"""An audit of DROP in, one self-contained HTML page with charts out; needs the extra `charts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat

from bot import __version__
from bot.audit.drop.audit import DropAudit, LogAudit
from bot.audit.drop.tally import Tally
from bot.render.audit_drop import (
    TOPICS,
    VERDICTS,
    all_findings,
    change,
    examples_by_topic,
    finding_line,
    flaws_table,
    logs_table,
    quoted,
    rerun_table,
    scores_table,
    summary,
)
from bot.render.chart import Axis, Chart, Point, Table, Text, bars, histogram, intervals, scatter
from bot.render.escape import visible
from bot.render.page import Block, Section, page

F1_BINS = 20
F1 = Axis("f1", (0, 1))


def audit_drop_page(audit: DropAudit) -> str:
    """Return the page.

    Raises CallError where the extra `charts` is not installed.
    """
    figures = audit.figures
    sections = [
        Section("Findings", [*map(finding_line, all_findings(audit)), summary(figures)]),
        Section("Scores", [scores_table(figures), *_score_charts(audit.tally), *_log_blocks(audit)]),
        Section("Flaws", [flaws_table(figures), _flaw_chart(audit), _length_chart(audit.tally)]),
        Section("What must be run again", [rerun_table(figures), _rerun_chart(audit.logs)]),
        Section("Examples", list(_examples(audit))),
    ]
    lead = f"{VERDICTS[audit.verdict][0].upper()}{VERDICTS[audit.verdict][1:]}."
    return page(f"DROP is {audit.verdict}", lead, sections, foot=f"leaderboard-bot {__version__}")


def _score_charts(tally: Tally) -> Iterator[Chart]:
    for title, counts in (
        ("f1 of each sample, as the harness scores it", tally.f1),
        ("f1 of each sample, cut at the first line of text", tally.repaired_f1),
    ):
        text = Text(title, f"{tally.samples} samples", "Samples by f1")
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
    text = Text("Mean f1 of each log before and after the cut", reversed_pairs, "Mean f1 by log")
    yield logs_table(audit.logs)
    yield scatter(text, points, Axis("f1 as scored", (0, 1)), Axis("f1 after the cut", (0, 1)))


def _stem(path: str) -> str:
    """Name a log shortly: by the model's folder in the harness's layout, else by its file."""
    parts = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and parts[-1].startswith("samples_") else parts[-1]


def _flaw_chart(audit: DropAudit) -> Chart:
    rows = [(TOPICS[name], share.share) for name, share in audit.figures.flaws.items()]
    rows.append(("score decided by the cut or by white space", audit.figures.distorted.share))
    text = Text("How many samples show each flaw", f"{audit.figures.samples} samples", "Share of samples")
    return bars(text, rows, Axis("share of samples", (0, 1)), name="flaw")


def _length_chart(tally: Tally) -> Chart:
    rows = [(_length_range(bits), tally.length_f1[bits] / 100 / tally.length[bits]) for bits in sorted(tally.length)]
    text = Text("Mean f1 by length of the generation", "words in the generation", "Mean f1 by length")
    return bars(text, rows, Axis("mean f1", (0, 1)), name="words")


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
    text = Text(
        "Share of samples to run again", "line from the least to the most, point where the investigation counts"
    )
    return intervals(text, rows, Axis("share of samples", (0, 1)))


def _examples(audit: DropAudit) -> Iterator[Block]:
    for topic, examples in examples_by_topic(audit):
        rows = tuple(
            (
                visible(f"{example.path}:{example.line}"),
                quoted(example.prediction),
                " or ".join(map(quoted, example.golds)),
                change(example),
            )
            for example in examples
        )
        title = TOPICS[topic]
        yield Table(("sample", "generation", "gold answers", "score"), rows, f"{title[0].upper()}{title[1:]}")
