"""Write findings as GitHub's workflow commands: one line each, at most as many as GitHub shows.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bot.evaluation.finding import Finding, Severity, file_of
from bot.reporting.escape import visible, without_commands

LIMIT = 10  # annotations of each severity that GitHub keeps of one step
LONGEST_ANNOTATION = 4_000  # letters of one message


def escape_data(text: str) -> str:
    """Escape the message of a workflow command, as the toolkit's `escapeData` does; what cannot be printed is shown."""
    text = without_commands("\n".join(map(visible, text[:LONGEST_ANNOTATION].split("\n"))))
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a property of a workflow command, as the toolkit's `escapeProperty` does."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def command(severity: Severity, message: str, **properties: str | int) -> str:
    """Write one workflow command; empty properties are left out."""
    given = [f"{name}={escape_property(str(value))}" for name, value in properties.items() if value]
    return f"::{severity}{' ' if given else ''}{','.join(given)}::{escape_data(message)}"


def annotation(finding: Finding) -> str:
    """One finding on its line of its file, with the command that repairs it."""
    message = "\n".join(visible(text) for text in (finding.message, finding.hint, finding.command) if text)
    where = finding.location
    return command(finding.severity, message, title=finding.rule, file=file_of(where.path), line=where.line)


def annotate(findings: Iterable[Finding]) -> Iterator[str]:
    """The commands for all findings, worst first; where GitHub would drop some, the last one counts them."""
    found = list(findings)
    for severity in Severity:
        yield from limited(severity, [annotation(finding) for finding in found if finding.severity is severity])


def of_samples(logs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The commands for what the sample logs beside each submission show, see `sample_logs`."""
    found = [(one["path"], said) for one in logs for said in one["findings"]]
    for level in Severity:
        here = [(path, said) for path, said in found if said["severity"] == level]
        yield from limited(
            level, [command(level, said["message"], title=said["rule"], file=path) for path, said in here]
        )


def limited(severity: Severity, commands: Sequence[str]) -> Iterator[str]:
    """The commands of one severity; where GitHub would drop some, the last one counts them."""
    kept = commands if len(commands) <= LIMIT else commands[: LIMIT - 1]
    yield from kept
    if len(commands) > len(kept):
        yield command(severity, f"{len(commands) - len(kept)} more of these: the step summary has them all")
