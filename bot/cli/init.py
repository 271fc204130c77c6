"""The command that sets up a new board: init."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import tomlkit
import typer
from msgspec import structs

from bot.cli.judging import (
    MODEL_NAME,
    Measured,
    endings,
    matching_files,
    measured_at,
    parse_names,
    read_by,
    warn,
    warn_of_rejected,
    warn_proposed,
)
from bot.errors import CallError
from bot.evaluation.draft.columns import mean_of_leaves
from bot.evaluation.draft.form_draft import DraftedForm
from bot.evaluation.draft.tasks import LeaderboardDraft, draft_of, only_tasks
from bot.evaluation.finding import counted, examples
from bot.evaluation.formats.sameness import is_path
from bot.evaluation.identity import (
    fits,
    is_folders,
    is_hub_id,
    is_plain_name,
    is_served,
    proposed_names,
    why_unidentified,
)
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard, shipped
from bot.evaluation.result import Model, Result
from bot.evaluation.row_key import key_of
from bot.evaluation.submission import Parsed
from bot.evaluation.toml_file import unfinished_keys
from bot.platforms.git.repository import Repository, root_of
from bot.platforms.git.source import checked_folder
from bot.platforms.inputs import find_places, in_repositories
from bot.platforms.platform import open_target
from bot.publishing.board import CSV_NAME
from bot.publishing.card import BEGIN, END
from bot.publishing.entry import board_declaration_path
from bot.publishing.publication import Form
from bot.reporting.draft import draft_text, left_to_decide
from bot.reporting.escape import brief, visible
from bot.service.settings.config import parse_settings
from bot.service.settings.environment import read_access

RESULTS = "Result files or folders to draft the declaration from (empty: copy a shipped one)"
LIKE = f"The shipped declaration to copy ({', '.join(shipped())})"
SOURCE = "Where results are pushed (hf://datasets/org/name, github://owner/name, or a local git repository)"
TARGET = "Where rows go (hf://datasets/org/name, github://owner/name, or a folder)"
BOARD, SETTINGS, CARD = "board.toml", "bot.toml", "README.md"
STATE = "bot.db*"  # as git ignores it
EXAMPLE = "bot.example.toml"
PATHS = ("**/*.json", "**/*.eval")
NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")
# What the Hub reads of the card of a dataset: its name, and that the table is what its viewer shows.
HUB_HEAD = """\
---
pretty_name: {title}
tags:
- leaderboard
configs:
- config_name: board
  data_files: {table}
---

"""
MOST_SHOWN = 3  # paths of results in a hint
MOST_TASKS = 60  # columns of a board, where nothing says which of them a table would show
LONGEST_WORDS = 500  # characters of a title or a description


def init(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="The folder to write to.")] = Path(),
    results: Annotated[
        list[str] | None,
        typer.Option(
            "--results",
            metavar="PATH",
            help="A result file or folder to draft the declaration from; can be repeated.",
        ),
    ] = None,
    table: Annotated[str, typer.Option("--table", metavar="FILE", help="Adopt this table.")] = "",
    *,
    at: Annotated[
        str, typer.Option("--at", help="Which table of the file: the heading above it, or a place such as results.")
    ] = "",
    like: Annotated[str, typer.Option("--like", metavar="ID", help="Copy this shipped declaration instead.")] = "",
    source: Annotated[str, typer.Option("--source", help="Where results are pushed.")] = "",
    to: Annotated[str, typer.Option("--to", metavar="TARGET", help="Where rows go.")] = "",
    form: Annotated[Form, typer.Option("--as", help="How rows go there.")] = "pull-request",
    title: Annotated[str, typer.Option("--title", help="The title of the board.")] = "",
    description: Annotated[str, typer.Option("--description", help="One sentence that says what it compares.")] = "",
    tasks: Annotated[
        str, typer.Option("--tasks", metavar="NAMES", help="Draft only these tasks of the results: names or patterns.")
    ] = "",
    is_proposed: Annotated[
        bool, typer.Option("--propose", help="Open one pull request where the table is, and write nothing here.")
    ] = False,
    model_name: MODEL_NAME = None,
) -> None:
    """Set up a new board, or adopt a table. Writes a declaration, settings and a card, and never replaces a file."""
    places = list(results or [])
    if further := context.args:
        each = " ".join(f"--results {shlex.quote(path)}" for path in [*places, *further][:MOST_SHOWN])
        raise CallError(f"{further[0]}: one more argument than FOLDER; of several results name each so: {each}")
    chosen = [name for part in tasks.split(",") if (name := part.strip())]
    if chosen and (table or like):
        raise CallError("--tasks chooses among the tasks of --results, for a board without --table and --like")
    if not is_proposed:
        _check_free(folder, (BOARD, SETTINGS) if table else (BOARD, SETTINGS, CARD))
    if table:
        words = NewBoard(source, to, form, title, description, parse_names(model_name or []))
        _adopt(folder, table, places, words, (like, at), is_proposed=is_proposed)
        return
    if is_proposed:
        raise CallError("--propose is for a table that exists: add --table github://owner/name/PATH")
    if not places and not like:
        places = list(map(os.path.expanduser, shlex.split(_asked(RESULTS, "--results PATH or --like ID", ""))))
        like = "" if places else _asked(LIKE, "--like ID")
    if places and not sys.stdin.isatty():
        from bot.cli.adopt import source_of

        source = source or source_of(places, ())[0]
        to = to or (str(folder / "board") if folder.is_absolute() else f"./{folder / 'board'}")
    read_at, written_at = source or _asked(SOURCE, "--source"), to or _asked(TARGET, "--to TARGET")
    open_target(checked_folder(written_at), read_access(), form)  # raises if invalid; asks no service
    board = NewBoard(
        _seen_from(folder, checked_folder(read_at)),
        _seen_from(folder, written_at),
        form,
        title or _offered("The title of the board", "" if like else _title_of(folder)),
        description or _offered("One sentence that says what it compares"),
        parse_names(model_name or []),
    )
    declaration, paths, measured = (
        _drafted(places, board, read_at, chosen) if places else (copied(like, board), PATHS, None)
    )
    declared = _declared(folder, declaration)
    pushed_to = read_at if "://" in read_at else Path(read_at).resolve().name
    card = card_text(replace(board, source=pushed_to), parse_leaderboard(declared, Path(BOARD).stem, BOARD))
    seen = replace(
        board, names=_in_source(board.names, [one.path for one in measured.read] if measured else [], read_at)
    )
    _write(folder, {BOARD: declared, SETTINGS: settings_text(seen, paths), CARD: card})
    if measured and declared == declaration:
        warn_of_rejected(f"{folder / BOARD}", declared, measured, board.names)
    typer.echo(
        f"what is measured, and how it is scored: leaderboard-bot leaderboards {shlex.quote(str(folder / BOARD))}"
    )
    settings = shlex.quote(str(folder / SETTINGS))
    _say_next(declared, settings)
    is_made = "://" in written_at or Path(written_at).exists()
    if is_made:
        warn(f"put {folder / CARD} into {written_at}: the bot keeps its table")
    else:
        warn(f"then the same without --dry-run, which makes {written_at}: copy {folder / CARD} into it and commit it")
        warn(f"pages, once a row is merged there: leaderboard-bot site {shlex.quote(written_at)} --out site")
    if "://" in read_at + written_at:
        warn(f"to check token, rights and webhook: leaderboard-bot doctor --config {settings}")


def _check_free(folder: Path, names: Sequence[str]) -> None:
    """Raise CallError where each file exists already, so that nothing would be written."""
    if all((folder / name).exists() for name in names):
        there = f"{', '.join(names[:-1])} and {names[-1]}"
        raise CallError(f"{folder}: {there} are there already: name another folder, or take away what is to be new")


def _adopt(
    folder: Path, name: str, results: list[str], words: NewBoard, choice: tuple[str, str], *, is_proposed: bool
) -> None:
    """Draft the declaration and the settings of a table that exists, and say what its rows come to."""
    from bot.cli.adopt import adopt
    from bot.cli.propose import address_of_results, folder_there, propose
    from bot.cli.table_file import open_table

    if not results:
        raise CallError(
            "add --results PATH: the result files that the table's numbers come from; without any, nothing can be "
            "recomputed, and you describe the columns yourself (docs/tables.md, A table of a watch)"
        )
    table = open_table(name)
    adopted = adopt(table, results, *choice, words.names)
    source, target = words.source or adopted.source, words.target or table.target
    title = words.title or ("" if choice[0] else adopted.title or _title_of(Path(target.partition("://")[2] or target)))
    identities = _in_source(words.names, adopted.results, source)
    board = replace(words, source=source, target=target, title=title, names=identities)
    if is_proposed:
        board = replace(board, source=address_of_results(source))
    else:
        board = replace(board, source=_seen_from(folder, checked_folder(source)), target=_seen_from(folder, target))
    settings = settings_text(board, adopted.paths, adopted.mapping)
    declared = _with_words(adopted.declaration, board)
    for line in adopted.report:
        typer.echo(line)
    for note in adopted.notes:
        warn(note)
    texts = {BOARD: declared, SETTINGS: settings}
    if is_proposed:
        propose(table, folder_there(folder), board.source, texts, [*adopted.report, *adopted.notes])
        return
    _write(folder, texts)
    _warn_of_uncommitted(results, adopted.results, source)
    path = shlex.quote(str(folder / SETTINGS))
    folders = {Path(place).resolve(): place for place in (source, target) if "://" not in place}
    if outside := [place for folder, place in folders.items() if root_of(folder) is None]:
        names = visible(" and ".join(outside))
        warn(f"{names}: in no git repository, and settle reads only those: make one, then init anew")
    _say_next(declared, path)


def _say_next(declaration: str, settings: str) -> None:
    """Say by which command a person sees what the bot would do, and what readers would see first."""
    first = "complete what readers see, then look" if [*unfinished_keys(tomllib.loads(declaration))] else "look"
    warn(f"{first} at what the bot would change: leaderboard-bot settle --config {settings} --dry-run")
    if find_spec("sqlalchemy") is None:
        warn("settle needs the extra `server`: pip install 'leaderboard-bot[server]'")


def _seen_from(folder: Path, place: str) -> str:
    """Return a place as the settings in `folder` must name it: there, a relative path starts at that folder."""
    if "://" in place or Path(place).is_absolute() or folder.resolve() == Path.cwd():
        return place
    path = os.path.relpath(place, folder)
    return path if path.startswith(os.pardir) else f"./{path}"


def _asked(question: str, flag: str, default: str | None = None) -> str:
    """Ask the person at the terminal. Raises CallError if there is no terminal."""
    if not sys.stdin.isatty():
        raise CallError(f"there is no terminal to ask at: add {flag}")
    while True:
        typer.echo(f"{question}: ", nl=False, err=True)
        line = sys.stdin.readline()
        if line.strip() or (line and default is not None):
            return line.strip() or default or ""
        if not line:
            raise CallError("the input ended before the last question")


def _offered(question: str, default: str = "") -> str:
    """Ask for an optional answer; the default if it is left empty, or if there is no terminal."""
    return _asked(f"{question} ({default or 'optional'})", "", default) if sys.stdin.isatty() else default


def _title_of(folder: Path) -> str:
    """What a folder's name says as a title."""
    words = " ".join(re.findall(r"[^\W_]+(?:\.[^\W_]+)*", folder.resolve().name))
    return words[:1].upper() + words[1:]


def _drafted(
    paths: list[str], board: NewBoard, source: str, chosen: Sequence[str]
) -> tuple[str, tuple[str, ...], Measured]:
    """Draft a declaration for the results at these paths, and the patterns by which a watch finds them.

    `chosen` are the tasks, see `only_tasks`; without any the draft chooses. Raises CallError if there is no result.
    """
    measured = _of_harness_first(measured_at(paths), board.names)
    results = measured.results(board.names)
    forms = {str(one.keys["id"]) for one in measured.form.both} if measured.form else set()
    harness = {path: one for path, one in results.items() if one.format not in forms}
    of_form = _named_by_form([one.model for one in results.values() if one.format in forms])
    unnamed = [one.model for one in results.values() if why_unidentified(one.model) and not is_served(one.model)]
    unnamed = [one for one in unnamed if one.id not in of_form]
    proposed = proposed_names(harness if of_form else results)
    if of_form:
        warn(f"names without an organization are ids of this board: {examples([visible(one) for one in of_form])}")
    if unnamed:
        names = list(dict.fromkeys(visible(one.id) for one in unnamed if one.id))
        called = f", but {examples(names)}" if names else ""
        first = f"{shlex.quote(f'{names[0]}=ORG/NAME')}{' for each' * (len(names) > 1)}" if names else "ORG/NAME"
        how = "" if proposed else f": say which it is with --model-name {first}"
        warn(f"no model of the Hub is named in {counted(len(unnamed), 'file')}{called}{how}")
    warn_proposed(proposed, "init")
    if "://" not in source and root_of(Path(source).resolve()) is None:
        warn(f"{visible(source)}: in no git repository yet, and settle reads what is committed to one")
    _warn_of_uncommitted(paths, results, source)
    from bot.cli.adopt import form_of, source_of

    draft = draft_of([_as_beside(one, harness.values()) if one.format in forms else one for one in results.values()])
    form = measured.form.text if measured.form else ""
    if chosen:
        draft = only_tasks(draft, chosen)
        numbers = {number for task in draft.tasks for number in task.numbers}
        if not any(format_id in forms for format_id, _, _ in numbers):  # all chosen tasks are the harness's
            measured = replace(measured, read=[one for one in measured.read if one.format not in forms], form=None)
        form = form_of(measured, measured.form, numbers) if measured.form else ""
    elif measured.form and not harness and len(draft.tasks) > MOST_TASKS:
        measured, draft = _outermost(measured.form, measured, draft, board.names)
        form = measured.form.text if measured.form else ""
    if draft.others:
        tasks = f"{len(draft.tasks)} of {counted(len(draft.tasks) + len(draft.others), 'task')}"
        shown, left = (examples([visible(one.keys["title"]) for one in some]) for some in (draft.tasks, draft.others))
        whose = _sharing([one.model for one in results.values()])
        warn(f"{tasks} drafted, which most {whose} share: {shown}; in comments, for a board of their own: {left}")
    declaration = _with_words(draft_text(draft, of_form or None, form), board)
    root, patterns = source_of(paths, endings(results))
    patterns = patterns if source == root else tuple(f"**/{name}" for name in endings(results))
    return declaration, patterns, measured


def _of_harness_first(measured: Measured, names: Mapping[str, str]) -> Measured:
    """The same without those numbers of the form that the results of a harness have of most of its models, too."""
    if measured.form is None:
        return measured
    forms = {str(one.keys["id"]) for one in measured.form.both}
    models: dict[bool, dict[str, set[str]]] = {True: {}, False: {}}  # of each leaf, in files of the form and others
    for result in measured.results(names).values():
        for leaf in result.leaves:
            models[result.format in forms].setdefault(leaf, set()).add(result.model.id)
    parts = [part for form in measured.form.both for one in form.values for part in one.each]
    again = [
        leaf
        for leaf in dict.fromkeys(str(part.keys["leaf"]) for part in parts)
        if 2 * len(models[True].get(leaf, set()) & models[False].get(leaf, set())) > len(models[True].get(leaf, ()))
    ]
    if not again:
        return measured
    warn(f"left out of files of your own, because result files of a harness have them: {visible(examples(again, 20))}")
    read = list[Parsed]()
    for one in measured.read:
        if one.result is not None and one.format in forms:
            leaves = {key: leaf for key, leaf in one.result.leaves.items() if key not in again}
            one = structs.replace(one, result=structs.replace(one.result, leaves=leaves))  # noqa: PLW2901
        read += [one] if one.result is None or one.result.leaves else []
    return replace(measured, read=read, form=measured.form.without(again))


def _as_beside(result: Result, others: Iterable[Result]) -> Result:
    """A result of a form with what those of a harness say of its model, where they say one thing: it joins them."""
    model = result.model
    said = {
        (one.model.revision, one.model.precision, one.model.chat_template)
        for one in others
        if one.model.id == model.id and model.revision in {"", one.model.revision}
    }
    if len(said) != 1:
        return result
    revision, precision, template = said.pop()
    template = template if model.chat_template is None else model.chat_template
    told = structs.replace(model, revision=revision, precision=model.precision or precision, chat_template=template)
    return structs.replace(result, model=told)


def _outermost(
    form: DraftedForm, measured: Measured, draft: LeaderboardDraft, names: Mapping[str, str]
) -> tuple[Measured, LeaderboardDraft]:
    """The numbers of the outermost level that gives several tasks, where all give more than a table shows.

    Where none does, the mean of the first number is one task.
    """
    depths = [str(one.keys["leaf"]).count("{") for one in form.values]
    for depth in sorted(set(depths))[:-1]:
        kept = tuple(one for one, at in zip(form.values, depths, strict=True) if at <= depth)
        deeper = [one.place for one, at in zip(form.values, depths, strict=True) if at > depth]
        outer, _ = read_by(replace(form, values=kept, left_out=tuple(deeper)), measured.places)
        found = draft_of(list(outer.results(names).values())) if outer.read else None
        if found and 1 < len(found.tasks) <= MOST_TASKS:
            said = f"those of the outermost level are drafted, and left out is what lies deeper: {examples(deeper)}"
            warn(visible(f"{counted(len(draft.tasks), 'task')} are more than a table shows: {said}"))
            return outer, found
    shown = f"{counted(len(draft.tasks), 'task')} are more than a table shows"
    first, *others = form.values  # where each file is of one question, its mean is the board's number
    left = tuple(one.place for one in others)
    of_one, _ = read_by(replace(form, values=(first,), left_out=(*form.left_out, *left)), measured.places)
    results = list(of_one.results(names).values())
    if column := mean_of_leaves(results, first.place) if "{" in str(first.keys["leaf"]) else None:
        more = f", and left out are {examples(left)}" if left else ""
        warn(visible(f"{shown}: they are drafted as one, the mean of {len(column.leaves)} at {first.place}{more}"))
        return of_one, draft_of(results, [column])
    warn(f"{shown}: give --table FILE, or take some of them away")
    return measured, draft


def _in_source(names: Mapping[str, str], results: Collection[str], source: str) -> dict[str, str]:
    """The models by folders as a watch of a local source sees these results: a path begins in the source."""
    if "://" in source:
        return dict(names)
    seen = {name: os.path.relpath(Path(name).resolve(), Path(source).resolve()) for name in results}
    found: dict[str, str] = {}
    for path, model in names.items():
        named = [inside for name, inside in seen.items() if is_folders(path) and fits(path, name)]
        within = path
        while named and not all(fits(within, inside) for inside in named):
            above, _, within = within.partition("/")
            if not within or "*" in above:
                warn(f"--model-name {visible(path)}: no folders in the source; name them by [[watches.identity]]")
                within = path
                break
        found[within] = model
    return found


def _sharing(models: Sequence[Model]) -> str:
    """What the tasks of a draft are shared by: models, or rows of them where they have several."""
    rows = {key_of("", one) for one in models}
    if len(rows) == len({one.id for one in models}):
        return "models"
    without = sum(not one.revision for one in models)
    commits = f", and {counted(without, 'file')} of {len(models)} name no commit" if without else ""
    return f"of {len(rows)} rows (a row is of one model, commit and precision{commits})"


def _named_by_form(models: Collection[Model]) -> dict[str, str]:
    """The ids of models by what files of a board's own call them: a plain name is its own, a path its last parts.

    A folder of weights is no organization. Others have none.
    """
    found: dict[str, str] = {}
    for model in models:
        path = model.id.rstrip("/")
        last = "/".join(path.split("/")[-2:])
        if is_plain_name(model):
            found[model.id] = model.id
        elif why_unidentified(model) and (is_path(last) or is_hub_id(last)):
            name = last.rpartition("/")[2] if is_path(last) else last
            found[model.id] = path.strip("./~").replace("/", "-") if name in found.values() else name
    return found


def _warn_of_uncommitted(paths: list[str], results: Collection[str], source: str) -> None:
    """Warn of results in a local source that it does not have as they are: `settle` reads what is committed."""
    root = Path(source).resolve()
    if "://" in source or Repository(root).layout is None:
        return
    named = [place for place in find_places(matching_files(paths), read_access()) if place.name in results]
    inside = [place for place in named if Path(place.name).resolve().is_relative_to(root)]
    left = [place.name for place in in_repositories(inside) if not place.commit]
    if left:
        as_is = f"as {'it is' if len(left) == 1 else 'they are'}"
        warn(f"{counted(len(left), 'result')} not committed {as_is}, and settle reads what is: {examples(left)}")


def _declared(folder: Path, declaration: str) -> str:
    """Return the declaration that applies: the one that is already in the folder, if there is one."""
    try:
        return (folder / BOARD).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return declaration
    except OSError as error:
        raise CallError(f"{folder / BOARD}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CallError(f"{folder / BOARD}: exists and is not UTF-8 text") from None


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write each file that does not exist yet, and report each. Raises CallError, and writes none, if one cannot be."""
    made, said = list[Path](), list[str]()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in ((folder / name, text) for name, text in texts.items()):
            try:
                with path.open("x", encoding="utf-8") as file:
                    made.append(path)
                    file.write(text)
                said.append(f"{path}: written{_left_in(path, text)}")
            except FileExistsError:
                said.append(f"{path}: already exists, not changed")
        said += _ignore_state(folder / ".gitignore")
    except OSError as error:
        for path in made:  # the next call would take it for somebody's file
            path.unlink(missing_ok=True)
        raise CallError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
    for line in said:
        warn(line)


def _left_in(path: Path, text: str) -> str:
    """What a person must decide in a written file, with the mark before it."""
    count = text.count("TODO")
    left = left_to_decide(text) if path.suffix == ".toml" else f"readers see {count} TODO" if count else ""
    return f"; {left}" if left else ""


def _ignore_state(path: Path) -> list[str]:
    """Have git ignore the state that `settle` keeps beside the settings: `git add -A` would commit it."""
    known = path.read_bytes() if path.exists() else b""
    if STATE.encode() in known.split():
        return []
    begin = "\n" if known and not known.endswith(b"\n") else ""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{begin}{STATE}\n")
    return [f"{path}: {STATE} added, for the state of `settle`"]


@dataclass(frozen=True, slots=True)
class NewBoard:
    """Where results come from and where rows go, and what people call the board; "" leaves that to be decided.

    `names` has the models by their folders or by what files call them.
    """

    source: str
    target: str
    form: Form
    title: str = ""
    description: str = ""
    names: Mapping[str, str] = field(default_factory=dict)


def copied(leaderboard_id: str, board: NewBoard) -> str:
    """A shipped declaration, to be changed. Raises CallError if there is none of that id."""
    if leaderboard_id not in shipped():
        raise CallError(f"there is no leaderboard {leaderboard_id!r}; shipped are {', '.join(shipped())}")
    text = files("bot").joinpath("data", "leaderboards", f"{leaderboard_id}.toml").read_text(encoding="utf-8")
    return _with_words(text, board)


def _with_words(text: str, board: NewBoard) -> str:
    """The declaration with the given title and description; everything else stays as it is."""
    head, mark, tasks = text.partition("\n[[tasks]]")  # those may be hundreds, and tomlkit takes a minute for them
    document = tomlkit.parse(head)
    for key, words in (("title", board.title), ("description", board.description)):
        if words:
            document[key] = brief(words, LONGEST_WORDS)
    if named := {key: value for key, value in board.names.items() if not is_folders(key)}:
        document["models"] = {**document.get("models", {}), **named}
    written = tomlkit.dumps(document) + mark + tasks
    parse_leaderboard(written, Path(BOARD).stem, BOARD)
    return written


def settings_text(board: NewBoard, paths: Sequence[str] = PATHS, table: str = "") -> str:
    """The settings, every key explained: the example that comes with the program, with this board's values.

    `table` is the text of a target's keys that describe a table; it follows the target.
    """
    document: Any = tomlkit.parse(_example())
    watch = document["watches"][0]
    name = NOT_A_NAME.sub("-", board.target.rstrip("/").rpartition("/")[2]).strip("-._")
    changes = {"name": name or "board", "leaderboard": BOARD, "source": board.source, "paths": list(paths)}
    document["public_url"] = ""
    for key, value in {**changes, "maintainers": [], "owners": tomlkit.inline_table(), "site": ""}.items():
        watch[key] = value
    target, *others = watch["targets"]
    target["to"], target["as"] = board.target, board.form
    for _ in others:
        del watch["targets"][-1]
    watch["identity"] = [_identity(path, value) for path, value in board.names.items() if is_folders(path)]
    written = tomlkit.dumps(document).rstrip().replace(": copy to bot.toml.", ".", 1) + "\n"
    parse_settings(written + table, SETTINGS)
    return written + table


def _identity(path: str, value: str) -> Any:
    """A mapping of folders as a table of the settings."""
    model, _, revision = value.partition("@")
    found = tomlkit.inline_table()
    found.update({"path": path, "id": model, **({"revision": revision} if revision else {})})
    return found


def _example() -> str:
    """The example of the settings: in an installed package beside the data, in a clone at its root."""
    inside = files("bot").joinpath("data", EXAMPLE)
    place = inside if inside.is_file() else Path(__file__).parents[2] / EXAMPLE
    return place.read_text(encoding="utf-8")


def card_text(board: NewBoard, declared: Leaderboard) -> str:
    """The card of the board, with the marks between which the bot keeps the table."""
    head = HUB_HEAD.format(title=json.dumps(declared.title, ensure_ascii=False), table=CSV_NAME)
    return f"""\
{head if board.target.startswith("hf://") else ""}# {declared.title}

{declared.description}

{BEGIN}
{END}

Each row is a file in `entries/`, with all of its numbers and the files that they come from. Results are pushed to
`{board.source}`. What they must hold and how they are scored is in `{board_declaration_path(declared.id)}`.
"""
