"""The commands of another run: `remeasure plan` draws questions of a row, `remeasure judge` says whether it agrees."""

from __future__ import annotations

import hashlib
import json
import secrets
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

from bot.audits.remeasure.agreement import ALPHA, Agreement, Agreements, judge_runs
from bot.audits.remeasure.plan import (
    PLAN_SCHEMA,
    Draw,
    DrawnQuestion,
    PlannedTask,
    RemeasurePlan,
    command_for,
    draw,
    questions_in,
    read_plan,
    seed_of,
)
from bot.audits.samples.find import LOGS, find_logs
from bot.audits.samples.records import is_own_file
from bot.cli.judging import FORM, LEADERBOARD, open_places, warn
from bot.errors import BotError, CallError
from bot.evaluation.benchmarks.harness import RELEASE, repository
from bot.evaluation.finding import counted
from bot.evaluation.formats import format_of
from bot.evaluation.formats.format import Rerun
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import take_measurements
from bot.evaluation.result import Result
from bot.evaluation.rounding import half_up
from bot.platforms.declarations import declaration_at, open_leaderboard
from bot.platforms.platform import Opener
from bot.platforms.target import Target
from bot.publishing.entry import MAX_BYTES, Entry, Evidence, digest_of, kept_path
from bot.publishing.publication import PostText, decide
from bot.publishing.remeasured import REMEASURED_SCHEMA, Remeasured, RemeasuredTask, remeasured_mark
from bot.reporting.escape import code, plain_json, visible, without_commands
from bot.reporting.shell import shell_lines
from bot.service.judge.samples import LogsBeside
from bot.service.settings.environment import read_access

remeasure = typer.Typer(
    help="Run a random part of a row's questions again, and say whether the answers agree.", no_args_is_help=True
)
TOO_FEW = 3  # exit status
IMAGE = "python:3.12"


@remeasure.command("plan")
def plan_command(
    what: Annotated[str, typer.Argument(metavar="ROW|FILE", help="A result file or folder; with --board a row there.")],
    board: Annotated[str, typer.Option("--board", help="The target with the row, named by key, path or model.")] = "",
    *,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Questions of each task that are run again.")] = 200,
    seed: Annotated[
        str, typer.Option("--seed", help="The text of the draw, such as a beacon's value. Default: a random one.")
    ] = "",
    leaderboard: LEADERBOARD = "",
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the plan is written.")] = Path(
        "remeasure.json"
    ),
    sources: Annotated[
        list[Path] | None, typer.Option("--sources", metavar="DIR", help="A folder in which a row's files may be read.")
    ] = None,
    job: Annotated[
        str, typer.Option("--job", metavar="FLAVOR", help="Start the run as an HF Job on this hardware.")
    ] = "",
) -> None:
    """Draw questions at random, write them with the seed, and print the command that runs them."""
    access = read_access()
    entry, paths, declared = None, [what], open_leaderboard(leaderboard, access) if leaderboard else None
    if board:
        target = Opener(access).target(board)
        target.check_readable()
        entry = _row(target.scan_entries().entries, what)
        paths = list(addresses_of(entry, sources or [], target))
        declared = declared or declaration_at(target, entry.leaderboard)
    results = open_places(paths)
    if not results:
        raise CallError(f"{what}: there is no result to run again")
    text = seed or secrets.token_hex(32)
    commit = entry.evidence[0].commit or entry.evidence[0].sha256 if entry else results[0][2]
    with TemporaryDirectory(prefix="leaderboard-bot-") as scratch:
        beside = LogsBeside()
        tasks = [
            task
            for place, result, _ in results
            for task in _tasks(
                result, beside.logs(place, result, Path(scratch)), declared, seed_of(text, commit), samples
            )
        ]
    if not tasks:
        raise CallError(f"{what}: nothing tells how many questions its tasks have, and it has no sample logs")
    result = results[0][1]
    command, listed = command_for(result, tasks, f"{out.stem}-questions.json")
    plan = RemeasurePlan(
        PLAN_SCHEMA,
        result.model.id,
        result.model.revision,
        result.format,
        entry.key if entry else "",
        digest_of(entry) if entry else "",
        tuple(sha for *_, sha in results),
        commit,
        text,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        tuple(tasks),
        command,
    )
    out.write_bytes(plan.to_bytes())
    if listed:
        (out.parent / f"{out.stem}-questions.json").write_text(listed)
    _say_plan(plan, out)
    if job and command:
        from bot.platforms.hub.jobs import start_job

        typer.echo(start_job(access, job, IMAGE, _job_command(result, command)))


def _say_plan(plan: RemeasurePlan, out: Path) -> None:
    """Print what was drawn, and how it is run."""
    many = sum(len(task.questions) for task in plan.tasks)
    lines = [f"{out}: {counted(many, 'question')} of {counted(len(plan.tasks), 'task')} of {visible(plan.model)}"]
    without = [task.leaf for task in plan.tasks if any(one.score is None for one in task.questions)]
    if without:
        lines.append(f"  {counted(len(without), 'task')} without a sample log: only the means can be compared")
    if plan.command:
        lines += ["run them, then judge the logs:", *(f"  {line}" for line in shell_lines(plan.command))]
        job = ["hf", "jobs", "run", "--flavor", "a10g-small", "--secrets", "HF_TOKEN", IMAGE, "bash", "-c"]
        lines.append(f"or as an HF Job: {shlex.join(job)} {shlex.quote('pip install lm_eval && …')}, see --job")
    else:
        lines.append("no command can be given for this model and tool: run the questions that the plan names")
    lines.append(f"  leaderboard-bot remeasure judge {shlex.quote(str(out))} results")
    typer.echo(without_commands("\n".join(lines)))


def _job_command(result: Result, command: str) -> list[str]:
    """What a job runs: the harness in the row's version, the questions, and the logs on its output."""
    version, known = (result.harness.version or "").strip(), format_of(result.format)
    install = "pip install inspect_ai inspect_evals" if result.format == "inspect" else "pip install 'lm_eval[hf]'"
    if known.install and RELEASE.fullmatch(version):
        install = known.install(repository(), version, Rerun(result.model, tuple(result.leaves), None, {}))
    show = "find results -name '*.json*' -o -name '*.eval' | xargs tar czf - | base64"
    return ["bash", "-c", f"export PIP_QUIET=1 && {install} && {command} && {show}"]


def _row(entries: Sequence[Entry], name: str) -> Entry:
    found = [entry for entry in entries if name in {entry.key, entry.path, entry.model.id}]
    if len(found) != 1:
        why = "no row has this key, path or model" if not found else f"{len(found)} rows are of this model; give a key"
        raise CallError(f"{name}: {why}")
    return found[0]


def addresses_of(entry: Entry, folders: Sequence[Path], target: Target) -> Iterator[str]:
    """Where the files of a row can be read: in a named folder with the row's bytes, in their repository, or as kept."""
    for file in entry.evidence:
        local = next((one / file.path for one in folders if _is_file(one / file.path, file.sha256)), None)
        if local is not None:
            yield str(local)
        elif file.source.startswith(("hf://", "github://")) and file.commit:
            yield f"{file.source}@{file.commit}/{file.path}"
        elif file.path in (file.kept or {}):
            yield _bucket_address(file) or f"{target.name}/{kept_path(file.sha256)}"
        else:
            where = f" of {file.source}" if file.source else ""
            raise CallError(f"{file.path}{where} cannot be read here: name its folder with --sources")


def _bucket_address(file: Evidence) -> str:
    """The address of a file in its bucket, where its sample logs lie; "" if it is not there as the row names it."""
    with suppress(BotError):
        data = Opener(read_access()).source(file.source).read(file.path, "", MAX_BYTES)
        if data is not None and hashlib.sha256(data).hexdigest() == file.sha256:
            return f"{file.source}/{file.path}"
    return ""


def _is_file(path: Path, sha256: str) -> bool:
    return path.is_dir() or (is_own_file(path) and hashlib.sha256(path.read_bytes()).hexdigest() == sha256)


def _tasks(
    result: Result, logs: Mapping[str, Path], declared: Leaderboard | None, seed: str, samples: int
) -> Iterator[PlannedTask]:
    """The drawn questions of each leaf that counts: those of its log, or else the numbers up to its size."""
    for leaf, key, value, size in _numbers(result, declared):
        found: Draw | None = None
        if leaf in logs:
            found = draw(seed, leaf, questions_in(logs[leaf], result.format, leaf, key), samples)
        if (found is None or not found.size) and size and result.format == "lm-eval-0.4":
            found = draw(seed, leaf, map(DrawnQuestion, range(size)), samples)
        if found is not None and found.size:
            yield PlannedTask(leaf, key, value, found.size, found.drawn)


def _numbers(result: Result, declared: Leaderboard | None) -> Iterator[tuple[str, str, float, int]]:
    """Leaf, key, value and size of the numbers that count; without a declaration, of the first number of each leaf."""
    if declared is not None:
        for one in take_measurements(result, declared, "").present:
            size = one.required.leaf.samples or one.leaf.original or one.leaf.samples or 0
            yield one.required.leaf_key, one.required.value_key, one.raw, size
        return
    for leaf, found in result.leaves.items():
        is_filtered = result.format == "lm-eval-0.4"  # beside its numbers are counts, whose keys name no filter
        numbers = (
            (key, value)
            for key, value in found.numbers.items()
            if isinstance(value, float | int) and "stderr" not in key and ("," in key or not is_filtered)
        )
        if (first := next(numbers, None)) is not None:
            yield leaf, first[0], float(first[1]), found.original or found.samples or 0


@remeasure.command("judge")
def judge_command(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="What `remeasure plan` wrote.")],
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Result folders or sample logs of the new run.")],
    to: Annotated[str, typer.Option("--to", help="Propose the outcome beside the row at this target.")] = "",
    by: Annotated[str, typer.Option("--by", help="Who ran it, for the record.")] = "",
    form: Annotated[Literal["text", "json"], FORM] = "text",
) -> None:
    """Compare the new answers with the row's: agrees (status 0), does not agree (1), or too few to say (3)."""
    planned = read_plan(plan.read_bytes(), str(plan))
    again, digests = _again(planned, logs)
    found = judge_runs(planned.tasks, again)
    typer.echo(plain_json(json.dumps(_as_json(planned, found), indent=2)) if form == "json" else _text(planned, found))
    if to:
        _propose(to, planned, plan, found, logs=digests, by=by)
    status = {"agrees": 0, "does not agree": 1, "too few to say": TOO_FEW}[found.outcome]
    if status:
        raise typer.Exit(status)


def _again(
    plan: RemeasurePlan, paths: Sequence[Path]
) -> tuple[dict[str, dict[str | int, DrawnQuestion]], tuple[str, ...]]:
    """The questions of the new run by leaf and id, and the SHA-256 of the logs. Raises CallError without a log."""
    logs: dict[str, Path] = {}
    for path in paths:
        if not path.exists():
            raise CallError(f"{path}: there is no such file or folder")
        for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
            match = next((found for log in LOGS if (found := log.fullmatch(one.name))), None)
            if match is not None and is_own_file(one):
                logs[match["task"]] = one
    if not all(task.leaf in logs for task in plan.tasks):
        for place, result, _ in open_places([str(path) for path in paths]):
            logs = {**find_logs(Path(place.candidate.path), result), **logs}
    if not logs:
        raise CallError(f"there is no sample log in {', '.join(map(str, paths))}: measure with --log_samples")
    wanted = {task.leaf: {one.id for one in task.questions} for task in plan.tasks}
    again = {
        task.leaf: {
            one.id: one
            for one in questions_in(logs[task.leaf], plan.format, task.leaf, task.key)
            if one.id in wanted[task.leaf]
        }
        for task in plan.tasks
        if task.leaf in logs
    }
    used = dict.fromkeys(logs[leaf] for leaf in again)
    return again, tuple(hashlib.sha256(log.read_bytes()).hexdigest() for log in used)


def _share(value: float | None) -> str:
    return "nothing" if value is None else f"{half_up(100 * value, 1)} points"


def _line(one: Agreement) -> str:
    return (
        f"{visible(one.leaf)}: {one.outcome}; {counted(one.questions, 'question')}, row {half_up(one.row, 4)}, again "
        f"{half_up(one.again, 4)}; {one.only_row} right in the row alone, {one.only_again} in the new run alone, "
        f"p = {one.p:.3g}; it would find a forgery of {_share(one.smallest)} (90 %)"
    )


def _text(plan: RemeasurePlan, found: Agreements) -> str:
    lines = [*map(_line, found.tasks), *map(visible, found.missing)]
    if len(found.tasks) > 1:
        lines.append(_line(found.together))
    said = {
        "agrees": f"the new run agrees with {plan.row or plan.model}",
        "does not agree": f"the new run does not agree with {plan.row or plan.model} (p below {ALPHA:g}, one-sided)",
        "too few to say": "too few questions to say: draw more with --samples",
    }
    return without_commands("\n".join([*lines, visible(said[found.outcome])]))


def _as_json(plan: RemeasurePlan, found: Agreements) -> dict[str, Any]:
    return {
        "schema": "leaderboard-bot/remeasure/1",
        "row": plan.row,
        "model": plan.model,
        "outcome": found.outcome,
        "tasks": [one._asdict() for one in found.tasks],
        "together": found.together._asdict(),
        "missing": list(found.missing),
    }


def _propose(to: str, plan: RemeasurePlan, file: Path, found: Agreements, *, logs: tuple[str, ...], by: str) -> None:
    """Propose the outcome beside the row that the plan is about. Raises CallError where it is not there any more."""
    target = Opener(read_access()).target(to)
    target.check()
    entry = next((one for one in target.scan_entries().entries if one.key == plan.row), None)
    if entry is None or digest_of(entry) != plan.digest:
        raise CallError(f"{to}: {plan.row or 'the file'} is no row there, or has changed since the plan was made")
    record = Remeasured(
        REMEASURED_SCHEMA,
        entry.key,
        plan.digest,
        found.outcome,
        found.together.questions,
        found.together.smallest,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        by,
        plan.seed,
        hashlib.sha256(file.read_bytes()).hexdigest(),
        logs,
        tuple(RemeasuredTask(one.leaf, one.questions, one.row, one.again, one.only_row, one.only_again, one.p,
                             one.smallest, one.outcome) for one in found.tasks),
    )  # fmt: skip
    mark = remeasured_mark(entry)
    files: dict[str, bytes | None] = {record.path: record.to_bytes()}
    lines = [
        f"Another run of {code(entry.key)}: **{found.outcome}**.",
        "",
        *(f"- {code(_line(one))}" for one in found.tasks),
    ]
    text = PostText(f"Another run: {found.outcome}", "\n".join([*lines, "", mark.render()]))
    decision = decide(mark, text, files, target.read_state(mark, (record.path,)), "pull-request")
    if decision.publication is None:
        warn(f"{to}: {decision.why}")
    else:
        typer.echo(f"proposed  {target.apply(decision.publication)}")
