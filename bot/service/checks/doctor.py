"""Find what keeps a service from working: one line with advice for each check. Nothing is written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from bot.errors import BotError, CallError, MalformedDeclaration, StateUnavailable, Unwritable
from bot.evaluation.finding import counted, examples
from bot.evaluation.toml_file import unfinished_keys
from bot.platforms.git.program import version as git_version
from bot.platforms.source import is_wanted
from bot.publishing.tables.table_layout import table_layout
from bot.reporting.escape import brief
from bot.service.checks.diagnosis import Diagnosis, ServiceCase, Status, attempt
from bot.service.checks.doctor_github import check_github
from bot.service.checks.doctor_hub import check_hub
from bot.service.context import open_declaration
from bot.service.settings.config import Watch, WatchTarget, open_settings
from bot.service.store.engine import is_made, open_engine, sqlite_file, try_out
from bot.service.store.leases import StateInUse, state_lock

FEWEST_BYTES = 1_000_000  # free on the disk of a state: what doctor writes and takes back needs none


def examine(case: ServiceCase) -> Iterator[Diagnosis]:
    """Make every check that can be made, in the order in which faults are best repaired."""
    yield from check_settings(case)
    for watch in case.watches:
        yield from check_declaration(case, watch)
    yield check_git(case)
    yield check_state(case)
    if case.addresses("hf"):
        yield from check_hub(case)
    if case.addresses("github"):
        yield from check_github(case)
    yield from (check_source(case, name) for name in case.sources)
    yield from (check_target(case, target) for target in case.targets)
    yield from (check_table(case, one, to) for one in case.watches for to in one.targets if to.table is not None)


def check_settings(case: ServiceCase) -> Iterator[Diagnosis]:
    """Tell whether the settings can be read, with all their faults."""
    case.settings = None
    try:
        case.settings = open_settings(case.path, case.access)
    except BotError as error:
        yield from _faults("settings", error, "correct them: bot.example.toml explains every key")
        return
    count = len(case.watches)
    yield Diagnosis("settings", "ok", f"{case.path} has {count} watch{'es' if count > 1 else ''}")


def check_declaration(case: ServiceCase, watch: Watch) -> Iterator[Diagnosis]:
    """Tell whether the declaration of a watch can be read, with all its faults."""
    name = f"declaration of {watch.name}"
    try:
        board = open_declaration(watch.leaderboard, case.opener.folder, case.access)
    except BotError as error:
        yield from _faults(name, error, "correct it: docs/leaderboards.md explains every key")
        return
    yield Diagnosis(name, "ok", f"{board.id}, {len(board.tasks)} tasks")
    if left := list(unfinished_keys(board.model_dump(mode="json"))):
        verb = "says" if len(left) == 1 else "say"
        yield Diagnosis(name, "warning", f"{examples(left)} still {verb} TODO, and readers see it", "complete it")
    if any(target.models for target in watch.targets) and not any(task.hub for task in board.tasks):
        advice = "add [tasks.hub] to the tasks of benchmarks on the Hub: docs/leaderboards.md"
        yield Diagnosis(name, "wrong", "no task names a benchmark, so nothing goes to the pages of models", advice)


def _faults(name: str, error: BotError, advice: str) -> Iterator[Diagnosis]:
    """One line for each fault of a file."""
    said = str(error).splitlines() if isinstance(error, MalformedDeclaration) else [error.in_one_line]
    yield from (Diagnosis(name, "wrong", line, advice) for line in said)


def check_git(case: ServiceCase) -> Diagnosis:
    """Tell whether git is there: folders need it, and sources on the Hub where very many files changed."""
    if shutil.which("git") is None:
        missing: Status = "wrong" if case.addresses("") else "warning"
        return Diagnosis("git", missing, "not found; folders and sources of very many files need it", "install git")
    status, said = git_version()
    return Diagnosis("git", "wrong", said, "repair git") if status else Diagnosis("git", "ok", said)


def check_state(case: ServiceCase) -> Diagnosis:
    """Tell whether the state can be read and written; another process may use it."""

    def call() -> str:
        engine = open_engine(case.database)
        is_new, file = not is_made(engine), sqlite_file(engine.url)
        if file is not None:
            there = next(path for path in (file, *file.absolute().parents) if path.exists())
            if shutil.disk_usage(there).free < FEWEST_BYTES:
                raise StateUnavailable(str(file), "the disk is full")
        if is_new:  # to lock it would make its folder and a file
            return f"{engine.url.database} does not exist yet; the first settlement creates it"
        try:
            with state_lock(case.database):
                return try_out(engine)
        except StateInUse as error:
            return f"another process uses {error.where} (serve does so, and settle while it runs)"

    return attempt("state", call, "check DATABASE_URL, and that its disk has room and this user may write there")


def check_source(case: ServiceCase, name: str) -> Diagnosis:
    """Tell whether the main branch of a source can be read, and whether each watch selects a file of it."""
    idle: list[Watch] = []

    def call() -> str:
        source = case.opener.source(name)
        head = source.head()
        for watch in case.watches:
            files = source.changes(None, head) if watch.source == name else ()
            if watch.source == name and not any(is_wanted(file.path, watch.paths) for file in files):
                idle.append(watch)
        if not source.has_commits:
            every = ", ".join(f"{watch.settle_every:.0f}" for watch in case.watches if watch.source == name)
            return f"found; nothing tells of its changes, so it is listed every {every} s (settle_every)"
        return f"found, with main at {head[:12]}"

    found = attempt(f"source {name}", call, "check that its name is right and that the token may read it")
    if not idle or found.status != "ok":
        return found
    left = "; ".join(
        f"watch {watch.name} selects none of its files: paths = {', '.join(watch.paths)}" for watch in idle
    )
    return Diagnosis(found.name, "warning", f"{found.text}; {left}", "set `paths` to what your result files are called")


def check_target(case: ServiceCase, target: WatchTarget) -> Diagnosis:
    """Tell whether an address can be used as a target."""

    def call() -> str:
        if target.models is not None:
            return f"the models of {', '.join(target.models.organizations)}; requests there need no right"
        # Other forms ask who we are, too, which has a line of its own.
        case.opener.target(target.to, "commit", target.discussion).check()
        return "can be used"

    return attempt(f"target {target.to}", call, "check that its name is right and that the token may read it")


def check_table(case: ServiceCase, watch: Watch, target: WatchTarget) -> Diagnosis:
    """Tell whether the table of a target has the columns of its mapping, and whether people write it."""
    if target.table is None:
        raise CallError(f"{target.to}: there are no settings of a table")
    options = target.table

    def call() -> str:
        layout = table_layout(options, open_declaration(watch.leaderboard, case.opener.folder, case.access))
        reader = case.opener.target(target.to, "commit", target.discussion)
        listed = [path for folder in layout.folders(()) for path in reader.list_folder(folder)]
        try:
            grid = layout.grid(reader.read_files(layout.paths((), listed)))
            doubled = layout.rows.doubled(grid)
        except Unwritable as error:
            raise Unwritable(f"{options.path}: {error}") from None
        left = f"; several rows have the key {brief(doubled[0], 60)}, and none of them is edited" if doubled else ""
        return f"{options.path} has {counted(len(grid), 'row')}, and all columns of the mapping{left}"

    return attempt(f"table of {target.to}", call, "correct [watches.targets.table]: docs/tables.md explains every key")
