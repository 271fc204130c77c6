"""The common options of the commands on result files, and how these commands read, judge and join files."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from glob import glob
from itertools import islice
from pathlib import Path, PurePosixPath
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from msgspec import structs

from bot.cli.processes import choose_jobs, run_jobs, without_collector
from bot.errors import BotError, CallError
from bot.evaluation.finding import counted, examples, file_of, grouped
from bot.evaluation.formats import MAX_BYTES, format_of
from bot.evaluation.formats.content import PROPOSES
from bot.evaluation.formats.other_files import OTHER, kinds
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.identity import (
    UNNAMED,
    identified,
    is_served,
    name_for,
    why_no_mapping,
    why_unidentified,
    with_names,
)
from bot.evaluation.leaderboard import Leaderboard, load_shipped, parse_leaderboard, shipped
from bot.evaluation.measurement import sizes
from bot.evaluation.result import Result
from bot.evaluation.row_key import key_of
from bot.evaluation.submission import Parsed, UnreadPath
from bot.evaluation.verdict import Judgement
from bot.platforms.inputs import Place, commit_dates, find_places, in_repositories, with_commits
from bot.publishing.entry import Entry
from bot.reporting.escape import visible, without_commands
from bot.reporting.text import Ink
from bot.service.judge.facts import Judge, KnownRows, LookUp, no_look_up
from bot.service.settings.beside import folder_names, settings_beside, watches_beside
from bot.service.settings.environment import cached_answers, read_access, wants_colour

if TYPE_CHECKING:
    from bot.evaluation.draft.form_draft import DraftedForm
    from bot.evaluation.draft.form_values import DraftedValue

WILD = re.compile(r"[*?[]")
MANY_FILES = 50
FILES_AT_ONCE = 32  # files that a process reads at once
REASONS = 4  # why files are no results that are named
OTHER_TOOL = f"; {PROPOSES}"
NO_FORM = "; and no numbers beside names of models, of which a form could be made (docs/forms.md)"
PATIENCE = 2.0  # seconds of silence
WORTH = 8_000_000  # bytes of result files that pay for one more process
DEFAULT = "open-llm-v2"
MOST_OF_A_BOARD, FEW_OF_A_BOARD = 0.9, 0.2  # shares of its subtasks that say that results are of a leaderboard, or not
LAYOUTS = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".yaml", ".yml"})  # that a form can read
MOST_JUDGED = 300  # results that a draft is tried on
MOST_OTHERS = 3  # forms that are tried for the files that the first form does not read
MOST_COMPARED = 200_000_000  # bytes of files that are compared for a form
ENDINGS = frozenset({".json", ".jsonl", ".ndjson", ".eval", ".csv", ".tsv", ".yaml", ".yml"})
PATHS = Annotated[list[str], typer.Argument(metavar="PATH...", help="Result files, or folders that hold them.")]
LEADERBOARD = Annotated[
    str, typer.Option("--leaderboard", "-l", help="The id, file or hf:// address of a declaration.")
]
FORM: Any = typer.Option("--format", "-f", help="The output format.")
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Show only verdicts and findings.")]
NO_PROGRESS = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
BOARD = Annotated[str, typer.Option("--board", help="Look at this target for other models with the same values.")]
MODEL_NAME = Annotated[
    list[str] | None,
    typer.Option(
        "--model-name",
        metavar="[PATH=]ID[@REVISION]",
        help="The Hub id of the model that the files call PATH, or that lies in the folders of PATH if it ends in /"
        " (step-*/=org/name@step-{1}); without PATH=, of every model that has no id.",
    ),
]
ONLINE = Annotated[bool, typer.Option("--online", help="Ask GitHub about unknown harness commits.")]

FILE_LIMIT = Annotated[
    int,
    typer.Option(
        "--max-bytes", min=1, help="The largest result file to read, in bytes. Archives have their own limit."
    ),
]


def judge_paths(
    paths: list[str],
    leaderboard: Leaderboard,
    board: Sequence[Entry] = (),
    *,
    names: list[str] | None = None,
    declared_in: str = "",
    quiet: bool = False,
    online: bool = False,
    max_bytes: int = MAX_BYTES,
    jobs: int = 1,
    as_committed: bool = False,
    samples: bool = False,
    is_whole: bool = True,
) -> tuple[Judgement, list[Place]]:
    """Read the files at `paths` with `jobs` processes, judge each submission and join them into rows.

    With `as_committed` a file that lies in a git checkout counts as one of its repository, with the date of its commit.
    The sample logs beside the files are read where the leaderboard asks for them, or with `samples`. `board` are the
    rows that they are compared with; `is_whole` says that `names` are for these files alone. What the settings beside a
    declaration, `declared_in`, say of the models in folders counts as in a watch; `names` come before it.
    """
    look_up: LookUp = no_look_up
    known: KnownRows | None = None
    if online:
        from bot.service.judge.commits import open_look_up

        look_up = open_look_up(read_access(), cached_answers(), warn)
    if board:
        from bot.publishing.board import known_rows

        known = known_rows(board)
    today = datetime.now(UTC).date()
    called, settings = parse_names(names or []), beside(declared_in)
    every = settings.after(called)
    judge = Judge(leaderboard, today, names=every, look_up=look_up, known=known)
    places = find_places(paths, read_access(), max_bytes, leaderboard.formats)
    places = with_commits(in_repositories(places) if as_committed else places)
    unread: list[UnreadPath] = []
    with without_collector():  # a command keeps all results until it ends, so a collection frees nothing
        parsed = list(parse_places(places, unread, quiet=quiet, jobs=jobs))
    if parsed and is_whole:
        warn_unused(called, {name_for(one, called) for one in parsed})
        _say_beside(settings, leaderboard, parsed, every, are_files=all(Path(path).is_file() for path in paths))
    if samples or leaderboard.asks_samples:
        from bot.service.judge.samples import with_samples

        parsed = with_samples(parsed, places)  # each document that is hashed leaves a cycle behind
    with without_collector():
        return judge.judge(parsed, commit_dates(places), unread), places


def files_beside(paths: Iterable[str]) -> list[str]:
    """The other files of this machine in the folders of files that may be results."""
    files = {Path(path) for path in paths if "://" not in path and Path(path).is_file()}
    others = {one for folder in {file.parent for file in files} for one in folder.iterdir() if one.is_file()}
    return sorted(str(one) for one in others - files if one.suffix in ENDINGS)


@dataclass(frozen=True, slots=True)
class Beside:
    """What the settings at a path say of the models in folders, by the watches of one declaration."""

    path: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

    def after(self, called: Mapping[str, str]) -> dict[str, str]:
        """The models that a call names, which come first, and those of the settings."""
        return {**called, **{key: name for key, name in self.names.items() if key not in called}}


def beside(declaration: str) -> Beside:
    """The models that the settings beside a local declaration name by folders; settings that are refused are told."""
    try:
        ours = watches_beside(declaration)
    except BotError as error:
        warn(f"{visible(str(error))}\nwhat it says of the models in folders does not count here")
        return Beside()
    return Beside(str(settings_beside(declaration)), folder_names(ours)) if ours else Beside()


def warn_of_tables(judgement: Judgement, declaration: str) -> bool:
    """Say which rows have no place in the tables that the settings beside a local declaration map, and why.

    Tell whether one of them has all tasks: what is missing may still come, and then nothing is wrong.
    """
    with suppress(BotError):  # `beside` told it
        watches = watches_beside(declaration)
        if any(one.table for watch in watches for one in watch.targets):
            from bot.service.judge.tables import refused_by_tables

            refused = list(refused_by_tables(judgement, watches))
            for one in refused:
                warn(visible(one.text))
            return any(one.is_whole for one in refused)
    return False


def _say_beside(
    settings: Beside, board: Leaderboard, parsed: Sequence[Parsed], every: Mapping[str, str], *, are_files: bool
) -> None:
    """Say how many files the settings name, and which names fit no file where one of a whole folder has none."""
    if not every and not board.model_names:
        return
    used = [name_for(one, every) for one in parsed]
    if count := sum(key in settings.names for key in used):
        warn(f"{settings.path}: its `identity` names the model of {counted(count, 'file')}")
    known = [identified(one, every, board).result for one in parsed]
    if are_files or all(one is None or not why_unidentified(one.model) or is_served(one.model) for one in known):
        return  # of one board's files a call may name few
    of_board = {name_for(with_names(one, every), board.model_names) for one in parsed}
    idle = {settings.path: settings.names.keys() - set(used), "[models]": board.model_names.keys() - of_board}
    for where, keys in idle.items():
        if keys:
            warn(f"{where}: none of these files is called or lies so: {visible(examples(sorted(keys)))}")


def warn_unused(called: Mapping[str, str], used: Collection[str | None]) -> None:
    """Say which `--model-name` named no file."""
    for key in sorted(called.keys() - used):
        why = "each file names its model; give NAME=ID" if key == UNNAMED else "no file is there, or calls its model so"
        what = called[key] if key == UNNAMED else f"{key}={called[key]}"
        warn(f"--model-name {visible(what)} is not used: {why}")


def warn_of_rejected(shown: str, declared: str, measured: Measured, names: Mapping[str, str]) -> None:
    """Judge the results that a declaration was drafted from by it, and warn where it does not accept them."""
    from bot.reporting.draft import in_parts_text, judged_text  # only drafts need it

    found = [identified(one, names) for one in measured.read]
    rows = grouped(
        (key_of("", of.result.model), one) for of, one in zip(found, measured.read, strict=True) if of.result
    )
    judged: list[Parsed] = []
    for several in rows.values():  # whole rows: one that lacks a file would be incomplete
        judged += several if not judged or len(judged) + len(several) <= MOST_JUDGED else []
    board = parse_leaderboard(declared, "board", "board.toml")
    judgement = Judge(board, datetime.now(UTC).date(), names=names).judge(judged, commit_dates(measured.places))
    told = {one.path: one.result for one in judgement.verdicts}  # what files beside it say of its model, too
    known = [result for one in found if (result := told.get(one.path) or one.result)]
    parted = in_parts_text(known, shown, declared)
    if said := judged_text(judgement, len(measured.read), parted) or parted:
        warn(f"{shown}: {visible(said)}")


def warn_proposed(mappings: Iterable[str], command: str) -> None:
    """Say by which `--model-name` the files' paths may tell their models."""
    if options := " ".join(f"--model-name {shlex.quote(mapping)}" for mapping in mappings):
        warn(f"say by their paths which models these are: {command} … {options}")


def parse_names(names: list[str]) -> dict[str, str]:
    """Parse `--model-name` to Hub ids by the name in the files, or by their folders. Raises CallError."""
    found: dict[str, str] = {}
    for text in names:
        path, equals, value = text.rpartition("=")
        key = path if equals else UNNAMED
        why = why_no_mapping(key, value) if key else "there is nothing before ="
        if why:
            raise CallError(f"--model-name {text[:80]!r}: {why}, PATH=org/name, or FOLDER/=org/name@revision")
        if found.setdefault(key, value) != value:
            what = f"{path} is {found[key]} and {value}" if equals else f"every model is {found[key]} and {value}"
            raise CallError(f"--model-name: {visible(what)}; name folders that have one model each")
    return found


def parse_places(
    places: list[Place], unread: list[UnreadPath], *, quiet: bool = False, jobs: int = 1
) -> Iterator[Parsed]:
    """Read each submission, and collect the paths that are not one in `unread`. Show progress on a terminal.

    A place of a file with several submissions stands for the first of them; those of the others are added to `places`.
    `jobs` is the number of processes, 0 for as many as pay off. Only this process reads files that are not local.
    """
    is_local = all(place.origin is None for place in places)
    worth = sum(file.size for place in places for file in place.candidate.files) // WORTH
    jobs = choose_jobs(jobs, worth) if is_local else 1
    quiet = quiet or len(places) < MANY_FILES
    given, further = tuple(places), list[Place]()
    reads = run_jobs(
        _packed if jobs > 1 else Place.parse, given, jobs, part=FILES_AT_ONCE, label="reading", quiet=quiet
    )
    for place, found in zip(given, reads, strict=True):
        one = Parsed.from_bytes(found) if isinstance(found, bytes) else found
        if isinstance(one, UnreadPath):
            unread.append(one)
            continue
        yield from one.parts
        further += [place.part(part.path) for part in one.further]
    name_links(places)
    places += further


def check_sources(folders: Iterable[Path]) -> None:
    """Raise CallError for a folder of `--sources` that is not there."""
    for name in folders:
        if not name.is_dir():
            raise CallError(f"{name}: --sources names a folder, and there is none")


def name_links(places: Iterable[Place]) -> None:
    """Warn of the links in folders."""
    links = [place.name for place in places if place.is_link]
    if links:
        warn(f"{counted(len(links), 'link')} not followed: {examples(links)}")


@dataclass(frozen=True)
class Measured:
    """The submissions with a result, their places, and whether a file was faulty.

    `form` is the form that was drafted for them from the files that were `compared`, where no format reads them.
    """

    read: list[Parsed]
    places: list[Place]
    is_faulty: bool
    form: DraftedForm | None = None
    compared: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def results(self, names: Mapping[str, str]) -> dict[str, Result]:
        """The results by their paths, with the models that the caller names."""
        named = [identified(one, names) for one in self.read]
        return {one.path: one.result for one in named if one.result is not None}


def open_places(paths: Sequence[str]) -> list[tuple[Place, Result, str]]:
    """The places at some paths that have a result, with the result and the SHA-256 of its file."""
    places = find_places(list(paths), read_access())
    read = list(parse_places(places, [], quiet=True))
    by_name = {place.name: place for place in places}
    return [(by_name[one.path], one.result, one.sha256) for one in read if one.result is not None]


def measured_at(paths: Sequence[str]) -> Measured:
    """Read the results to draft a declaration from; where no format reads the files, draft a form, and say it.

    Raises CallError where there is no result.
    """
    found = with_other_layout(next(measured_ways(paths)))
    for line in found.form.said if found.form else ():
        warn(visible(line))
    return found


def measured_ways(
    paths: Sequence[str],
    is_model: Callable[[str], bool] | None = None,
    table: Path | None = None,
    *,
    is_by_name: bool = True,
) -> Iterator[Measured]:
    """The results to draft a declaration from: one reading, or one for each likely form of unknown files.

    `is_model` tells of a text whether the board's table names a model so, `is_by_name` that no call gives models other
    names; the `table` itself is no result, unless it is all that is named. Raises CallError where there is no result.
    """
    places = find_places(matching_files(paths), read_access())
    if table is not None and (others := [one for one in places if not _is_file(one, table)]):
        places = others
    unread: list[UnreadPath] = []
    with told_if_slow(f"reading {counted(len(places), 'file')}"):
        parsed = list(parse_places(places, unread))
    is_known = any(one.result is not None or (one.problem and one.problem.is_recognised) for one in parsed)
    others_read = {one.path for one in unread if one.kind != OTHER.id and PROPOSES not in one.why}
    advice = {kind.advice for kind in kinds() if PROPOSES not in kind.advice}
    others_read |= {one.path for one in parsed if one.problem and one.problem.hint in advice}
    of_any_layout = {} if is_known else _of_any_layout(one for one in places if one.name not in others_read)
    from bot.evaluation.draft.form_draft import draft_forms  # only drafts need it

    drafted, problems = False, list[str]()
    with told_if_slow(f"comparing {counted(len(of_any_layout), 'file')} to find where models and numbers are"):
        forms = list(draft_forms(of_any_layout, is_model, is_by_name=is_by_name))
    for number, form in enumerate(forms, 1):
        with told_if_slow(f"reading all files by form {number} of {len(forms)}"):
            found, faults = read_by(form, places)
        problems += faults
        if found.read:
            drafted = True
            yield replace(found, compared=of_any_layout)
    if problems and not drafted:
        raise CallError(f"no form reads these files; {problems[0]}")
    if not drafted:
        yield _measured(parsed, unread, places, is_alone=is_model is not None)


def is_pattern(path: str) -> bool:
    """Tell whether a path is a pattern of paths of this machine, and not the name of a file."""
    return WILD.search(path) is not None and "://" not in path and not Path(path).exists()


def matching_files(paths: Iterable[str]) -> list[str]:
    """The paths, and instead of a pattern what it matches. Raises CallError for one that matches nothing."""
    found: list[str] = []
    for path in paths:
        matched = sorted(glob(path, recursive=True)) if is_pattern(path) else [path]  # noqa: PTH207 - absolute ones too
        if not matched:
            raise CallError(f"{path}: no file matches this pattern")
        found += matched
    return found


def read_by(form: DraftedForm, places: Iterable[Place]) -> tuple[Measured, list[str]]:
    """What a form, and that of another layout, read at some places, and what is wrong with the other files.

    Where it takes a file of another layout for one of its own, it says what its files have.
    """
    forms = tuple(DeclaredForm.model_validate(one.table) for one in form.both)
    of_form = [
        structs.replace(one, candidate=structs.replace(one.candidate, forms=forms, is_of_forms=True)) for one in places
    ]
    read = list(parse_places(of_form, []))
    measured = [one for one in read if one.result is not None and one.result.leaves]
    faults = [f"{visible(one.path)}: the file {one.problem.why}" for one in read if one.problem]
    is_wide = bool(faults) or any(one.result and not one.result.model.id for one in measured)
    if is_wide and "model" in form.keys and form.of_layout != form:
        return read_by(form.of_layout, places)[0], faults
    kept = tuple(one for one in form.values if not _is_misread(one, measured))
    if 0 < len(kept) < len(form.values):
        return read_by(replace(form, values=kept), places)
    return Measured(measured, of_form, is_faulty=False, form=form), faults


def _is_misread(value: DraftedValue, read: Sequence[Parsed]) -> bool:
    """Tell whether half of the files have no number where a value of their form looks for it, or no name of it."""
    texts = set(map(str, value.keys.values()))
    wrong = sum(any(said.is_error and said.place in texts for said in one.result.misread) for one in read if one.result)
    return 2 * wrong > len(read)


def with_other_layout(found: Measured, is_model: Callable[[str], bool] | None = None) -> Measured:
    """The same with the files that the form does not read, where another form reads the same tasks in them."""
    from bot.evaluation.draft.form_draft import OTHER_ID, draft_forms

    form = found.form
    if form is None:
        return found
    read = {file_of(one.path) for one in found.read}
    rest = {name: data for name, data in found.compared.items() if name not in read}
    places = [one for one in found.places if one.name in rest]
    tasks = _tasks_in(found.read) - {str(one.keys["leaf"]) for one in form.values if one.is_other}
    for other in islice(draft_forms(rest, is_model), MOST_OTHERS):
        named = replace(other, keys={**other.keys, "id": OTHER_ID}, of=form.of)
        if 2 * len(tasks & _tasks_in(read_by(named, places)[0].read)) <= len(tasks):
            continue
        both, _ = read_by(replace(form, other=named), found.places)
        others = [one for one in both.read if one.result is not None and one.result.format == OTHER_ID]
        if 2 * len(tasks & _tasks_in(others)) > len(tasks):
            return both
    return found


def _tasks_in(read: Iterable[Parsed]) -> set[str]:
    return {leaf for one in read if one.result is not None for leaf in one.result.leaves}


def _is_file(place: Place, path: Path) -> bool:
    """Tell whether a place is a file of this machine."""
    try:
        return place.origin is None and Path(place.name).resolve() == path
    except OSError:
        return False


def _of_any_layout(places: Iterable[Place]) -> dict[str, bytes]:
    """The single files that may have a layout of their own, by name."""
    found, size = {}, 0
    for place in places:
        files = place.candidate.files
        if len(files) == 1 and PurePosixPath(place.name).suffix.lower() in LAYOUTS and files[0].size <= MAX_BYTES:
            size += files[0].size
            if size > MOST_COMPARED:
                break
            found[place.name] = place.read(files[0].path, files[0].size) or b""
    return found


def _with_form(found: Measured, paths: Collection[str]) -> Measured | None:
    """The same with the files at these paths, which no format reads, by one form that reads most of them."""
    from bot.evaluation.draft.form_draft import draft_forms

    places = [one for one in found.places if one.name in paths]
    for form in islice(draft_forms(_of_any_layout(places)), MOST_OTHERS):
        others, _ = read_by(form.of_layout, places)
        if 2 * len({file_of(one.path) for one in others.read}) > len(places):
            known = [one for one in found.places if one.name not in paths]
            return replace(others, read=[*found.read, *others.read], places=[*known, *others.places])
    return None


def _measured(
    parsed: list[Parsed], unread: list[UnreadPath], places: list[Place], *, is_alone: bool = False
) -> Measured:
    """What was measured; warn of each faulty file. Raises CallError for none.

    Unless formats are to read `is_alone`, a form is drafted for the files that they do not read.
    """
    faulty = [one for one in parsed if one.result is None]
    _warn_of(faulty)
    measured = [one for one in parsed if one.result is not None and one.result.leaves]
    if not measured:
        read = counted(len(parsed) + len(unread), "file")
        empty = [one.result.unfinished for one in parsed if one.result is not None]
        ended = f" ({', '.join(filter(None, sorted(set(empty))))})" if any(empty) else ""
        todo = "run them to the end" if any(empty) else "let the harness score the answers"
        without = f"; {counted(len(empty), 'file')} of runs without a score{ended}: {todo}" if empty else ""
        known = bool(parsed) or any(one.kind != OTHER.id for one in unread)
        raise CallError(
            f"no result to draft a declaration from in {read}{without}{_reasons(unread)}{'' if known else NO_FORM}"
        )
    others = [
        one.path
        for one in unread
        if (one.kind == OTHER.id or PROPOSES in one.why) and PurePosixPath(one.path).suffix.lower() in LAYOUTS
    ]
    found = Measured(measured, places, bool(faulty))
    if others and not is_alone and (both := _with_form(found, others)) is not None:
        return both
    if others:
        share = f"{len(others)} of {counted(len(parsed) + len(unread), 'file')}"
        warn(visible(f"{share} in no format that is read: {examples(others)}; of these alone {PROPOSES}"))
        warn(
            "for one board of both, copy its [[formats]], [[tasks]] and [models] into this declaration, and the id of "
            "its form into `formats` of [harness]"
        )
    return found


def endings(results: Mapping[str, Result]) -> tuple[str, ...]:
    """What the files of a watch of these results are called: JSON and logs, and what else holds one of them.

    A file that has none of the usual endings is named whole. The folders of runs hold JSON.
    """
    found = dict.fromkeys(("*.json", "*.eval"))
    for path in (PurePosixPath(path) for path, one in results.items() if not format_of(one.format).members):
        name = file_of(path.name)
        suffix = PurePosixPath(name).suffix
        found[f"*{suffix}" if suffix in ENDINGS else name] = None
    return tuple(found)


def _warn_of(faulty: Sequence[Parsed]) -> None:
    """Warn of each faulty file, and say once what to do with those of one fault."""
    by_hint: dict[str, list[str]] = {}
    for one in faulty:
        why, hint = (one.problem.why, one.problem.hint) if one.problem else ("was not read", "")
        by_hint.setdefault(hint, []).append(f"{visible(one.path)}: the file {why}")
    for hint, lines in by_hint.items():
        warn("\n".join(lines))
        if hint:
            warn(f"→ {hint}")


def _reasons(unread: Sequence[UnreadPath]) -> str:
    """The most frequent reasons why files are no results, each with what to do."""
    counts = Counter((one.kind, one.why) for one in unread).most_common()
    shown = [f"; {counted(number, 'file')} ({visible(kind)}): {visible(why)}" for (kind, why), number in counts]
    rest = sum(number for _, number in counts[REASONS:])
    return "".join(shown[:REASONS]) + (f"; and {counted(rest, 'other file')}" if rest else "")


def _packed(place: Place) -> bytes | Parsed | UnreadPath:
    """Parse a place, and pack the result into few bytes for another process."""
    found = place.parse()
    try:
        return found.to_bytes() if isinstance(found, Parsed) else found
    except UnicodeEncodeError:  # of a file whose name is not UTF-8
        return found


@contextmanager
def told_if_slow(what: str, after: float = PATIENCE) -> Iterator[None]:
    """Say on standard error what is being done, where it takes longer than a person waits in silence."""
    timer = Timer(after, warn, [f"{what} …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def warn(message: str) -> None:
    """Write a line to standard error."""
    typer.echo(without_commands(message), err=True)


def say(text: str) -> None:
    """Write a report to standard output, where the runner of a workflow must find no command in it."""
    typer.echo(without_commands(text), nl=False)


def ink(stream: TextIO | None = None) -> Ink:
    """Return the colours of a stream, standard output by default; none if it is not a terminal, or nobody wants any."""
    return Ink(colour=wants_colour() and (stream or sys.stdout).isatty())


def fitting_leaderboard(judgement: Judgement) -> str:
    """The id of the shipped leaderboard of which the results have most subtasks, where they have few of this one's."""
    leaves: dict[str, set[str]] = {}
    for verdict in judgement.verdicts:
        if verdict.result is not None:
            leaves.setdefault(verdict.result.format, set()).update(verdict.result.leaves)

    def share(board: Leaderboard) -> float:
        known = [sizes(board, one).keys() for one in leaves if one in board.harness.formats]
        counts = [len(leaves[one] & sizes(board, one).keys()) for one in leaves if one in board.harness.formats]
        return max((count / len(keys) for count, keys in zip(counts, known, strict=True)), default=0.0)

    if not leaves or share(judgement.leaderboard) >= FEW_OF_A_BOARD:
        return ""  # without reading the others
    share_of = {name: share(load_shipped(name)) for name in shipped()}
    best = max(share_of, key=lambda name: (share_of[name], name))
    return best if share_of[best] > MOST_OF_A_BOARD else ""


def end(judgement: Judgement) -> typer.Exit:
    """Return the exit status of a judgement; one without submissions is an error, too."""
    if not judgement.verdicts:
        known = [one for one in judgement.unread if one.kind != OTHER.id]
        why = _reasons(known) or (OTHER_TOOL if judgement.leaderboard.id in shipped() else "")
        warn(f"leaderboard-bot: no result file was found{why}")
    return typer.Exit(1 if judgement.has_errors or not judgement.verdicts else 0)
