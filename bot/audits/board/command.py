"""The command `audit board`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from bot.audits.board import report
from bot.audits.board.audit import audit_board
from bot.audits.output import FORMAT, HTML, AuditFormat, Renderers, as_json, require_html, write_report
from bot.audits.score_table import PublishedTable

ReadScores = Callable[[str, Sequence[str], str], PublishedTable]
"""Reads TARGET, the columns asked for and a leaderboard's id; raises CallError where there is no table."""


def board_command(read_scores: ReadScores) -> Callable[..., None]:
    """Return the command; `read_scores` opens what a target names, which audits do not know how to do."""

    def board(
        target: Annotated[
            str,
            typer.Argument(
                metavar="TABLE", help="A CSV or Markdown table of scores, a folder with leaderboard.csv, or any target."
            ),
        ],
        column: Annotated[
            list[str] | None,
            typer.Option("--column", help="A column of scores to audit; repeat for several. Default: all found."),
        ] = None,
        leaderboard: Annotated[
            str, typer.Option("--leaderboard", "-l", help="The id of the leaderboard, if the target holds several.")
        ] = "",
        form: FORMAT = AuditFormat.TEXT,
        html: HTML = None,
    ) -> None:
        """Find broken columns of a board.

        Shows what they change in averages and ranks. Exit status 1 if a column is named.
        """
        require_html(html)
        found = audit_board(read_scores(target, tuple(column or ()), leaderboard))
        renderers: Renderers = {
            AuditFormat.TEXT: lambda: report.board_text(found, target),
            AuditFormat.JSON: lambda: as_json(report.board_json(found, target)),
            AuditFormat.MARKDOWN: lambda: report.board_markdown(found, target),
        }
        write_report(renderers[form], html, lambda: report.board_html(found, target))
        raise typer.Exit(1 if found.named else 0)

    return board
