"""The commands `audit mmlu PATH...` and `audit mmlu prompts`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.audits.mmlu import report
from bot.audits.mmlu.audit import audit_mmlu
from bot.audits.mmlu.prompts import prompt_sheet, sheet_text
from bot.audits.output import FORMAT, HTML, AuditFormat, Renderers, as_json, default_to, require_html, write_report

mmlu = typer.Typer(cls=default_to("judge"), no_args_is_help=True)


@mmlu.callback()
def group() -> None:
    """Find the implementation of an MMLU result. `audit mmlu prompts` builds the prompts of each implementation."""


@mmlu.command("judge")
def judge(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Result files, sample logs, HELM run folders, or folders of them; "
            "a CSV of models and implementations is compared."
        ),
    ],
    form: FORMAT = AuditFormat.TEXT,
    html: HTML = None,
) -> None:
    """Find the implementation of each MMLU result.

    Shows what it scores, and which results can share a column.
    Exit status 1 if the results cannot share a column, or a path cannot be read.
    """
    require_html(html)
    found = audit_mmlu(paths)
    renderers: Renderers = {
        AuditFormat.TEXT: lambda: report.mmlu_text(found),
        AuditFormat.JSON: lambda: as_json(report.mmlu_json(found)),
        AuditFormat.MARKDOWN: lambda: report.mmlu_markdown(found),
    }
    write_report(renderers[form], html, lambda: report.mmlu_html(found))
    raise typer.Exit(1 if found.problems or len(found.columns) > 1 else 0)


@mmlu.command("prompts")
def prompts(
    questions: Annotated[
        Path | None, typer.Argument(help="Questions as JSON lines (question, choices, answer, subject).")
    ] = None,
    *,
    family: Annotated[
        list[str] | None, typer.Option("--family", help="An implementation; repeat for several. Default: all.")
    ] = None,
    subject: Annotated[str, typer.Option("--subject", help="The subject of questions without one.")] = "anatomy",
    shots: Annotated[Path | None, typer.Option("--shots", help="A file of questions to use as shots.")] = None,
    num_fewshot: Annotated[int, typer.Option("--num-fewshot", "-k", min=0, help="The number of shots.")] = 5,
    form: Annotated[
        AuditFormat, typer.Option("--format", "-f", help="`json` is exact; the others are for reading.")
    ] = AuditFormat.TEXT,
) -> None:
    """Build the prompt of each implementation, byte for byte. Without a file, for a made-up question."""
    sheet = prompt_sheet(questions, shots, families=family or (), subject=subject, num_fewshot=num_fewshot)
    typer.echo(as_json(sheet) if form is AuditFormat.JSON else sheet_text(sheet), nl=False)
