"""The command `audit drop`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bot.audits.drop import report
from bot.audits.drop.audit import DropAudit, PartAudit, PartAuditor, audit_drop
from bot.audits.drop.golds import read_golds
from bot.audits.drop.report import audit_drop_json
from bot.audits.output import FORMAT, HTML, QUIET, AuditFormat, Renderers, require_html, write_report
from bot.audits.samples.records import LogPart, files_below
from bot.errors import CallError
from bot.processes import JOBS, choose_jobs, run_jobs

# 0.4.3 and later: samples_drop_<time>.jsonl; 0.4.0 to 0.4.2: <model args>_drop.jsonl; 0.3: drop_write_out_info.json.
LOG_NAME = re.compile(r"(samples_.*drop.*|.*_drop|.*drop_write_out_info|drop_samples.*)\.jsonl?(\.gz)?", re.IGNORECASE)


def find_logs(paths: Iterable[Path]) -> list[Path]:
    """Return each log once, in the order of the call; a folder stands for the logs of DROP in it, sorted by path.

    Raises CallError for a path that does not exist, and for a folder without such logs.
    """
    found = dict.fromkeys(log for path in paths for log in _logs_of(path))
    return list(found)


def _logs_of(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise CallError(f"{path}: there is no such file or folder")
        return [path]
    logs = sorted(log for log in files_below(path, "*.json*") if LOG_NAME.fullmatch(log.name))
    if not logs:
        raise CallError(f"{path}: holds no sample log of DROP (samples_*drop*.jsonl); name the files themselves")
    return logs


# Fewer bytes are audited in less time than it takes to start a process.
WORTH_A_PROCESS = 4 << 20


def drop(
    samples: Annotated[
        list[Path], typer.Argument(help="Sample logs of DROP, or folders of them: JSON lines or array, plain or gzip.")
    ],
    *,
    golds: Annotated[
        Path | None, typer.Option("--golds", help="A file of questions with answers, for logs without answers.")
    ] = None,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Examples to show of each flaw and log.")] = 3,
    form: FORMAT = AuditFormat.TEXT,
    html: HTML = None,
    jobs: JOBS = 0,
    quiet: QUIET = False,
) -> None:
    """Score DROP samples again, and find flaws.

    Shows what the scorer did to each sample, and estimates what must be run again. Exit status 1 if the benchmark is
    broken, a logged score differs, or a record was skipped.
    """
    require_html(html)
    index = read_golds(golds) if golds else None
    audit_parts = partial(_audit_parts, jobs=jobs, quiet=quiet)
    found = audit_drop(find_logs(samples), golds=index, examples=examples, audit_parts=audit_parts)
    renderers: Renderers = {
        AuditFormat.TEXT: lambda: report.audit_drop_text(found),
        AuditFormat.JSON: lambda: audit_drop_json(found),
        AuditFormat.MARKDOWN: lambda: report.audit_drop_markdown(found),
    }
    write_report(renderers[form], html, lambda: _page(found))
    raise typer.Exit(1 if found.has_errors else 0)


def _audit_parts(auditor: PartAuditor, parts: Sequence[LogPart], *, jobs: int, quiet: bool) -> Iterator[PartAudit]:
    worth = sum(part.length for part in parts) // WORTH_A_PROCESS
    return run_jobs(auditor, parts, choose_jobs(jobs, worth), label="auditing", quiet=quiet)


def _page(found: DropAudit) -> str:
    from bot.audits.drop.report_page import audit_drop_page

    return audit_drop_page(found)
