"""The command `audit results`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Protocol

import typer

from bot.audits.output import FORMAT, AuditFormat, Renderers, as_json, write_report
from bot.audits.results import report
from bot.audits.results.audit import ExaminedFile, audit_of, examine_file
from bot.processes import JOBS, choose_jobs, run_jobs

WORTH = 4_000_000  # bytes of result files that pay for one more process
PART = 32  # places that a process reads at once


class FileSet(Protocol):
    """Where result files may lie: how many bytes they have, and a way to read them."""

    @property
    def size(self) -> int:
        """The total size of its files in bytes."""
        ...

    def read(self) -> Iterable[tuple[str, bytes | None]]:
        """The result files, as (path, bytes); None for bytes over the size limit."""
        ...


def results_command(find_places: Callable[[Sequence[str]], Sequence[FileSet]]) -> Callable[..., None]:
    """Return the command; `find_places` finds the files that paths name."""

    def results(
        paths: Annotated[list[str], typer.Argument(help="Result files, or folders of them.")],
        form: FORMAT = AuditFormat.TEXT,
        jobs: JOBS = 0,
    ) -> None:
        """Detect inconsistencies in result files.

        Compares sample counts, groups, hashes of samples, and copies.
        Exit status 1 if a file contradicts itself or its samples, or repeats another model's values.
        """
        places = find_places(paths)
        jobs = choose_jobs(jobs, sum(place.size for place in places) // WORTH)
        found = audit_of(
            [file for files in run_jobs(_examined, places, jobs, part=PART, label="reading") for file in files]
        )
        renderers: Renderers = {
            AuditFormat.TEXT: lambda: report.results_text(found),
            AuditFormat.JSON: lambda: as_json(report.results_json(found)),
            AuditFormat.MARKDOWN: lambda: report.results_markdown(found),
        }
        write_report(renderers[form], None, str)
        raise typer.Exit(0 if found.is_sound else 1)

    return results


def _examined(place: FileSet) -> list[ExaminedFile]:
    return [examine_file(path, data) for path, data in place.read()]
