"""The tables of an audit of DROP, which every format of its report shows."""

from __future__ import annotations

from collections.abc import Iterable

from bot.audits.drop.audit import DropAudit, LogAudit
from bot.audits.drop.detectors import Flaw
from bot.audits.drop.examples import DIFFERS_FROM_LOG, LITERAL_CUT_IS_WORSE
from bot.audits.drop.figures import Figures, RerunBounds, Share
from bot.reporting.escape import visible
from bot.reporting.table import Cell, Table

FLAW_TITLES = {
    Flaw.GLUED_NUMBER.value: "number glued to white space other than a space",
    Flaw.DECIMAL_CUT.value: 'decimal answer cut at the stop word "."',
    Flaw.DESTROYED_DECIMAL.value: "decimal destroyed with its punctuation",
    Flaw.RUNS_ON.value: "generation goes on after the line of the answer",
    Flaw.ENDS_WITH_NUMBER.value: 'ends with a digit: perhaps cut at "."',
    Flaw.RENDERED_PROMPT.value: "few-shot answers are field names, not answers",
    Flaw.RENDERED_TARGET.value: "logged target is field names, not the answer",
    LITERAL_CUT_IS_WORSE: "begins with a line break: the literal cut scores lower",
    DIFFERS_FROM_LOG: "logged score differs from the harness's",
}
# To end with a digit is no fault in itself: it is counted for the estimate, and not shown.
SHOWN_FLAWS = tuple(flaw for flaw in FLAW_TITLES if flaw != Flaw.ENDS_WITH_NUMBER.value)
DISTORTED = "score decided by the cut or by white space"


def tables(audit: DropAudit) -> list[Table]:
    """Return all tables of a report."""
    figures = audit.figures
    shown = [scores_table(figures), flaws_table(figures), rerun_table(figures)] if figures.samples else []
    return [*shown, logs_table(audit.logs)] if len(audit.logs) > 1 else shown


def scores_table(figures: Figures) -> Table:
    """Return em and f1 as scored and repaired."""
    first, text = figures.first_line, figures.first_text_line
    rows = (
        ("as the harness scores it", figures.scored.em, figures.scored.f1, None, None),
        ("cut at the first line break", first.em, first.f1, first.better, first.worse),
        ("cut at the first line of text", text.em, text.f1, text.better, text.worse),
    )
    return Table(("generations", "em", "f1", "better", "worse"), rows, "Scores with and without the repair")


def flaws_table(figures: Figures) -> Table:
    """Return how many samples show each flaw."""
    shares = [(FLAW_TITLES[name], share) for name, share in figures.flaws.items()]
    shares.insert(1, ("  of these, the score rises without it", figures.glued_number_costs))
    shares.append(("begins with a line break", figures.starts_with_break))
    shares.append(("  of these, the literal cut scores lower", figures.literal_cut_is_worse))
    shares.append((DISTORTED, figures.distorted))
    rows = tuple((title, share.samples, share.share) for title, share in shares)
    return Table(("flaw", "samples", "share"), rows, "Flaws, as shares of all samples")


def rerun_table(figures: Figures) -> Table:
    """Return what must be run again, as the log is and after the cut."""
    rerun = figures.rerun
    pairs = zip(_bounds(rerun.as_logged), _bounds(rerun.after_cut), strict=True)
    rows: list[tuple[Cell, ...]] = [
        (title, logged.samples, logged.share, cut.samples, cut.share) for (title, logged), (_, cut) in pairs
    ]
    settled = rerun.settled_by_cut
    rows.append(("settled by the cut alone", settled.samples, settled.share, None, None))
    columns = ("to run again", "samples", "share", "after the cut", "share after")
    caption = f"Samples to run again ({rerun.ends_with_number_of_rest:.1%} of what is not cut ends with a digit)"
    return Table(columns, tuple(rows), caption)


def _bounds(bounds: RerunBounds) -> list[tuple[str, Share]]:
    return [
        ("at least: decimals cut", bounds.lower),
        ("perhaps: also what ends with a digit", bounds.possible),
        ("at most: also glued numbers", bounds.upper),
    ]


def logs_table(logs: Iterable[LogAudit]) -> Table:
    """Return one row for each log."""
    rows = tuple(
        (
            visible(log.path),
            log.figures.samples,
            sum(group.count for group in log.skipped),
            *_scores_of(log.figures),
            str(log.health),
        )
        for log in logs
    )
    columns = ("log", "samples", "skipped", "f1", "f1 after the cut", "decided by flaws", "health")
    return Table(columns, rows, "Logs")


def _scores_of(figures: Figures) -> tuple[float | None, float | None, float | None]:
    if not figures.samples:
        return None, None, None
    return figures.scored.f1, figures.first_text_line.f1, figures.distorted.share
