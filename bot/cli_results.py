"""The commands on result files: check, score, explain, publish."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from bot.errors import CallError, Refused
from bot.forges.places import Place, find_places
from bot.forges.targets import open_judge, open_target
from bot.leaderboard import Leaderboard, load_leaderboard
from bot.pipeline import Verdict, entry_of
from bot.pipeline import judge as judge_offline
from bot.render.report import make_report, to_json
from bot.render.text import Ink, summary_text, verdict_text
from bot.rules.rule import Facts
from bot.settings import kept_answers, read_access

if TYPE_CHECKING:  # a command imports what only it needs, so that `check` starts fast
    from bot.forges.target import Target

MANY = 50


class CheckFormat(StrEnum):
    """How `check` reports."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    GITHUB = "github"


class ScoreFormat(StrEnum):
    """How `score` reports."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class AsForm(StrEnum):
    """The three forms of publication."""

    PULL_REQUEST = "pull-request"
    COMMIT = "commit"
    COMMENT = "comment"


PATHS = Annotated[list[str], typer.Argument(metavar="PATH...", help="Result files, or folders that hold them.")]
LEADERBOARD = Annotated[str, typer.Option("--leaderboard", "-l", help="The id of a declaration, or its TOML file.")]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Only verdicts and findings.")]
BOARD = Annotated[str, typer.Option("--board", help="A target: look there for other models with the same values.")]
ONLINE = Annotated[bool, typer.Option("--online", help="Look unknown harness commits up on GitHub.")]
DEFAULT = "open-llm-v2"


def judge_all(
    places: list[Place], leaderboard: Leaderboard, board: str = "", *, quiet: bool = False, online: bool = False
) -> Iterator[Verdict]:
    """Judge each file; long work shows how far it is, on a terminal."""
    judge = open_judge(read_access(), kept_answers(), _warn) if online else judge_offline
    facts = Facts(today=datetime.now(UTC).date(), same_values=_values_at(board) if board else {})
    if len(places) < MANY or quiet or not sys.stderr.isatty():
        yield from (judge(place.read(), leaderboard, facts) for place in places)
        return
    with typer.progressbar(places, label="judging", file=sys.stderr) as bar:
        yield from (judge(place.read(), leaderboard, facts) for place in bar)


def _values_at(board: str) -> Mapping[tuple[float, ...], str]:
    """The values of the rows that stand at a target, with their models."""
    from bot.board import same_values

    return same_values(open_target(board, read_access()).read_entries())


def _warn(message: str) -> None:
    typer.echo(message, err=True)


def _ink() -> Ink:
    return Ink(colour=sys.stdout.isatty())


def _status(verdicts: list[Verdict]) -> int:
    return 1 if any(verdict.status != "accepted" for verdict in verdicts) else 0


def check(
    paths: PATHS,
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[CheckFormat, typer.Option("--format", "-f", help="How to report.")] = CheckFormat.TEXT,
    board: BOARD = "",
    *,
    online: ONLINE = False,
    quiet: QUIET = False,
) -> None:
    """Say of each result file whether the leaderboard can take it, and what is wrong where."""
    declared = load_leaderboard(leaderboard)
    verdicts = list(judge_all(find_places(paths, read_access()), declared, board, quiet=quiet, online=online))
    written: dict[CheckFormat, Callable[[], str]] = {
        CheckFormat.TEXT: lambda: _text(verdicts, quiet=quiet),
        CheckFormat.JSON: lambda: to_json(make_report(verdicts, declared)) + "\n",
        CheckFormat.MARKDOWN: lambda: _markdown(verdicts),
        CheckFormat.GITHUB: lambda: _annotations(verdicts),
    }
    typer.echo(written[form](), nl=False)
    raise typer.Exit(_status(verdicts))


def _text(verdicts: list[Verdict], *, quiet: bool) -> str:
    ink = _ink()
    return "\n".join(verdict_text(v, ink, quiet=quiet) for v in verdicts) + f"\n{summary_text(verdicts, ink)}\n"


def _markdown(verdicts: list[Verdict]) -> str:
    from bot.render.markdown import report_markdown

    return report_markdown(verdicts)


def _annotations(verdicts: list[Verdict]) -> str:
    from bot.render.annotations import annotate

    return "".join(f"{line}\n" for verdict in verdicts for line in annotate(verdict.findings))


def score(
    paths: PATHS,
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[ScoreFormat, typer.Option("--format", "-f", help="How to report.")] = ScoreFormat.TEXT,
    *,
    quiet: QUIET = False,
) -> None:
    """Give the leaderboard's scores of each result file."""
    from bot.render.scores import scores_csv, scores_markdown, scores_text

    declared = load_leaderboard(leaderboard)
    verdicts = list(judge_all(find_places(paths, read_access()), declared, quiet=quiet))
    written: dict[ScoreFormat, Callable[[], str]] = {
        ScoreFormat.TEXT: lambda: scores_text(verdicts, declared),
        ScoreFormat.JSON: lambda: to_json(make_report(verdicts, declared)) + "\n",
        ScoreFormat.CSV: lambda: scores_csv(verdicts, declared),
        ScoreFormat.MARKDOWN: lambda: scores_markdown(verdicts, declared),
    }
    typer.echo(written[form](), nl=False)
    raise typer.Exit(_status(verdicts))


def explain(
    path: Annotated[str, typer.Argument(help="A result file.")],
    task: Annotated[str, typer.Argument(help="A column's id; all of them where none is named.")] = "",
    leaderboard: LEADERBOARD = DEFAULT,
) -> None:
    """Show each number's way from raw value through bound and clip to the mean."""
    from bot.render.explanation import explain as explain_verdict

    declared = load_leaderboard(leaderboard)
    known = [column.id for column in declared.tasks]
    if task and task not in known:
        raise CallError(f"{declared.id} has no task {task!r}; it has {', '.join(known)}")
    verdicts = list(judge_all(find_places([path], read_access()), declared))
    for verdict in verdicts:
        if len(verdicts) > 1:
            typer.echo(f"{verdict.path}\n")
        typer.echo(explain_verdict(verdict, task))
        if verdict.scores is None:
            typer.echo(verdict_text(verdict, Ink(colour=sys.stderr.isatty()), quiet=True), err=True)
    raise typer.Exit(_status(verdicts))


def may_rebuild(target: Target, declared: Leaderboard) -> bool:
    """Rebuild the table where that is allowed: who may open a request may not always commit."""
    from bot.publish import rebuild_board

    try:
        return rebuild_board(target, declared)
    except Refused as refusal:
        _warn(f"the board is left to its maintainers: {refusal}")
        return False


def publish(
    paths: PATHS,
    to: Annotated[str, typer.Option("--to", help="The target: a folder, hf://datasets/org/name, github://owner/name.")],
    leaderboard: LEADERBOARD = DEFAULT,
    form: Annotated[AsForm, typer.Option("--as", help="How it is published.")] = AsForm.PULL_REQUEST,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")] = False,
    online: ONLINE = False,
    quiet: QUIET = False,
) -> None:
    """Check, score, and publish the rows that are not rejected."""
    from bot.publication import describe
    from bot.publish import publish as publish_entries

    declared, target = load_leaderboard(leaderboard), open_target(to, read_access(), form.value)
    target.check()
    places = find_places(paths, read_access())
    verdicts = list(judge_all(places, declared, to, quiet=quiet, online=online))
    made = [entry_of(v, source=p.source, path=p.path, commit=p.commit) for v, p in zip(verdicts, places, strict=True)]
    rows = [entry for entry in made if entry is not None]
    for done in publish_entries(rows, target, form.value, dry_run=dry_run):
        publication = done.decision.publication
        what = describe(publication)["do"] if publication else "unchanged"
        typer.echo(f"{'would ' if dry_run and publication else ''}{what}  {done.entry.key}  {done.where}".rstrip())
        typer.echo(f"  {done.decision.why}", err=True)
    ink = Ink(colour=sys.stderr.isatty())
    for verdict in verdicts:
        if verdict.status == "rejected" or entry_of(verdict) is None:
            typer.echo(f"\nnot published:\n{verdict_text(verdict, ink, quiet=True)}", err=True)
    if not dry_run and may_rebuild(target, declared):
        typer.echo("rebuilt the board")
    raise typer.Exit(_status(verdicts))
