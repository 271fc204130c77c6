"""The command `audit results`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import typer

from bot.audits.output import FORMAT, AuditFormat, Renderers, as_json, write_report
from bot.audits.results import report
from bot.audits.results.audit import audit_results

ReadFiles = Callable[[Sequence[str]], Iterable[tuple[str, bytes | None]]]
"""Reads the result files that paths name, as (path, bytes); None for bytes over the size limit."""


def results_command(read_files: ReadFiles) -> Callable[..., None]:
    """Return the command; `read_files` finds and reads the files."""

    def results(
        paths: Annotated[list[str], typer.Argument(help="Result files, or folders of them.")],
        form: FORMAT = AuditFormat.TEXT,
    ) -> None:
        """Detect inconsistencies in result files.

        Compares sample counts, groups, hashes of samples, and copies.
        Exit status 1 if a file contradicts itself or its samples, or repeats another model's values.
        """
        found = audit_results(list(read_files(paths)))
        renderers: Renderers = {
            AuditFormat.TEXT: lambda: report.results_text(found),
            AuditFormat.JSON: lambda: as_json(report.results_json(found)),
            AuditFormat.MARKDOWN: lambda: report.results_markdown(found),
        }
        write_report(renderers[form], None, str)
        raise typer.Exit(0 if found.is_sound else 1)

    return results
