"""Declarations as text: a draft as TOML with a TODO where a person must decide, and the summary of a finished one."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from textwrap import wrap

from bot import __version__
from bot.errors import CallError
from bot.evaluation.benchmarks.harness import known_commit, repository
from bot.evaluation.definition import definition_of, is_whole, spelled
from bot.evaluation.draft.parts import InParts, models_in_parts
from bot.evaluation.draft.tasks import DraftTask, LeaderboardDraft
from bot.evaluation.finding import counted, examples, first_few, grouped, in_units
from bot.evaluation.formats import format_of
from bot.evaluation.identity import has_nickname, is_served, why_unidentified
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.result import HarnessVersion, Result
from bot.evaluation.row_key import RowKey, key_of
from bot.evaluation.rules import ALL_RULES
from bot.evaluation.task import Task
from bot.evaluation.toml_file import MOST_TEXT, toml_key, toml_text, unfinished_keys
from bot.evaluation.verdict import Judgement, Row, Verdict
from bot.reporting.escape import brief
from bot.reporting.text import SIGNS, WIDTH

UNKNOWN = "TODO/TODO"  # the repository of a harness
LINE = 110  # columns of a line of a draft
MODELS_NAMED = 3  # models that are named
SEVERAL = 3  # tasks, of which a decision that all ask for is said once
WRITTEN = 20  # columns that are left out and written as comments; of others the id is named
COMMENTED = re.compile(r"^\s*#\s*TODO\b", re.MULTILINE)
OPTIONAL = re.compile(
    r"^\s*#\s*TODO: (?:the harness versions|whether) ", re.MULTILINE
)  # all rows are right without them
TOO_FEW = (
    "a model without one of a board's columns has no rank, and too few of the models above have these as"
    " well, or they are speeds, which are no scores. Put them into a second board, or take away the # of those that"
    " every model will have."
)
HEAD = """\
# All of it was read from the files or is in the catalogue (docs/catalogue.md), but for what a person must decide.
# Then check it, and the files against it:
#   leaderboard-bot leaderboards board.toml
#   leaderboard-bot check FILE... --leaderboard board.toml

title = "TODO: what people call this leaderboard"
description = "TODO: one sentence that says what it compares"
"""


FEWER = "# TODO: whether fewer is better, as is drafted: neither its name nor the table tells"
ONE_ROW = "but others of its model do: take away the # if all are of one model. They are two rows until then."
TO_NAME = (
    "TODO: write the ids (org/name) of those models that are on the Hub. If the board is a table, also write each id "
    "and the text of its row into `names` of the column of models. Without that the bot proposes a second row."
)


def draft_text(draft: LeaderboardDraft, names: Mapping[str, str] | None = None, form: str = "") -> str:
    """The declaration. Everything that a file brings is in quotes or in a comment of one line.

    `names` are the ids of models by what the files call them, as a table has them: plain names that it has too are ids
    of its board. Without it nicknames stay as they are. `form` is the table of the
    form of the files, "" where a format reads them.
    """
    read = counted(len(draft.results), "result")
    lines = [*_comment(f"Drafted by leaderboard-bot {__version__} from {read}{_models(draft.results)}."), HEAD]
    measured = dict.fromkeys(one.format for one in draft.results)
    formats = list(dict.fromkeys([*measured, *filter(None, (format_of(one).writes for one in measured))]))
    parts = models_in_parts(draft.results)
    lines += [
        *_one_precision(parts),
        *_served(draft.results),
        "[harness]",
        f"formats = {toml_text(formats)}",
        *_quoted(draft.results),
        "",
    ]
    lines += _pins(list(dict.fromkeys(one.harness for one in draft.results)))
    nicknames = {one.model.id: one.model.id for one in draft.results if has_nickname(one.model)}
    plain = set() if names is None else {name for name, model in names.items() if name == model}
    given = nicknames if names is None else {name: model for name, model in names.items() if name not in plain}
    lines += _named(given, is_plain=bool(plain))
    lines += _one_revision(parts, is_begun=bool(given or plain))
    lines += ["", *form.rstrip("\n").split("\n")] if form else []
    lines += ["", *_comment(f"TODO: {draft.todo}")] if draft.todo else []
    everywhere = _todo_of_all(draft.tasks)
    lines += [line for todo in everywhere for line in ("", *_comment(f"TODO: in each task: {todo}"))]
    lines += [line for task in draft.tasks for line in ("", *_task(task, everywhere))]
    lines += ["", "# Shown, and not counted."] if draft.columns else []
    for column in draft.columns:
        lines += ["[[columns]]", *(f"{toml_key(key)} = {toml_text(value)}" for key, value in column.items())]
        lines += [FEWER] if column["id"] in draft.unsure else []
    if draft.left:
        lines += _comment(f"{counted(len(draft.left), 'more number')} that do not count: {examples(draft.left, 6)}")
    text = "\n".join(lines)
    if len(text) > MOST_TEXT:
        columns, most = counted(len(draft.tasks), "column"), in_units(MOST_TEXT)
        raise CallError(
            f"a declaration of {columns} would have more than {most}: name fewer files, as of one benchmark"
        )
    lines += _definitions(text, draft.results)
    lines += _left_out(draft.others)
    return "\n".join(lines) + "\n"


def _definitions(text: str, results: Sequence[Result]) -> Iterator[str]:
    """What the leaves of a declaration asked, as the files record it: a table for the leaves of each definition."""
    board = parse_leaderboard(text, "draft", "draft.toml")
    ids = {(one, leaf.key(one)): leaf.id for one in board.harness.formats for _, leaf in board.leaves()}
    seen: set[tuple[str, str, str]] = set()
    leaves: dict[tuple[str, str], list[str]] = {}
    for result in results:
        for key, leaf in result.leaves.items():
            leaf_id, found = ids.get((result.format, key), ""), (result.format, key, leaf.definition)
            fields = definition_of(result, key) if leaf_id and found not in seen else None
            seen.add(found)
            if fields and is_whole(fields):
                values = toml_text({field: [spelled(value)] for field, value in fields.items()})
                leaves.setdefault((result.format, values), []).append(leaf_id)
    if leaves:
        yield from ("", *_comment("What the leaves asked, as the files record it. Another prompt is another task."))
    counts = Counter((format_id, name) for (format_id, _), names in leaves.items() for name in names)
    several = list(dict.fromkeys(name for (_, name), count in counts.items() if count > 1))
    if several:
        yield from _comment(
            f"TODO: the files have several definitions of {examples(several)}: keep the one that counts"
        )
    for (format_id, values), names in leaves.items():
        yield from ("[[harness.definitions]]", f"leaves = {toml_text(names)}", f"formats = {toml_text([format_id])}")
        yield f"fields = {values}"


def _served(results: Sequence[Result]) -> Iterator[str]:
    """The key that takes models that only a service has, where the files have some."""
    served = [one.model for one in results if is_served(one.model)]
    if any("/" not in model.id or why_unidentified(model) for model in served):
        yield "served_models = true"
        yield from _comment("TODO: whether to take models that only a service has: nobody can measure them again.")
        yield ""


def _named(names: Mapping[str, str], *, is_plain: bool) -> Iterator[str]:
    """The table of models that the files do not name by their ids."""
    if not names and not is_plain:
        return
    yield ""
    if is_plain:
        yield "# Names that are no ids of the Hub are ids of this board, as its table has them: models of an API, say."
    if names:
        new = "" if is_plain else " A new one needs a line here, or it is rejected."
        yield f"# The models that the files call by a path or a name of their own.{new}"
        if not all("/" in model for model in names.values()):
            yield from _comment(TO_NAME)
    yield "[models]"
    yield from ["plain = true"] if is_plain else []
    yield from (f"{toml_key(name)} = {toml_text(model)}" for name, model in names.items())


def _one_precision(parts: Sequence[InParts]) -> Iterator[str]:
    """The key that makes one row of files with a precision and files without, as a comment."""
    if len(found := {one.precision for one in parts if one.precision}) == 1:
        yield from _comment(f"TODO: where a file records no precision, {ONE_ROW}")
        yield from (f"# precision = {toml_text(min(found))}", "")


def _one_revision(parts: Sequence[InParts], *, is_begun: bool) -> Iterator[str]:
    """The table that makes one row of files with a commit and files without, as a comment."""
    if unsaid := [one for one in parts if one.revision]:
        yield from ("", *_comment(f"TODO: where a file records no commit of the model, {ONE_ROW}"))
        yield from [] if is_begun else ["# [models]"]
        for one in unsaid:
            yield f"# {toml_key(one.model)} = {toml_text(f'{one.model}@{one.revision}')}"


def _quoted(results: Sequence[Result]) -> Iterator[str]:
    """The key that accepts quoted numbers, where the files have some."""
    if places := list(dict.fromkeys(one.quoted_from for one in results if one.quoted_from)):
        yield 'quoted = "accepted"'
        yield from _comment(f"TODO: whether to accept numbers that were copied from {examples(places)}")


def _left_out(tasks: Sequence[DraftTask]) -> Iterator[str]:
    """Columns as comments: to be added one by one, or for a second board."""
    if not tasks:
        return
    yield ""
    yield from _comment(f"Left out: {TOO_FEW}")
    for task in tasks[:WRITTEN]:
        yield from ("#", *_comment(f"{counted(task.models, 'model')} with all of {task.keys['id']}:"))
        yield from (f"# {line}" for line in _task(task) if not line.startswith("#"))
    if names := [task.keys["id"] for task in tasks[WRITTEN:]]:
        yield from ("#", *_comment(f"and {counted(len(names), 'more column')}: {', '.join(names)}"))


def _models(results: Sequence[Result]) -> str:
    names = [brief(name) for name in dict.fromkeys(one.model.id for one in results) if name]
    return f" of {first_few(names, MODELS_NAMED)}" if names else ""


def _comment(text: str) -> list[str]:
    return wrap(brief(text, 2_000), LINE, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _pins(harnesses: Sequence[HarnessVersion]) -> Iterator[str]:
    """The harness versions as a proposal: a leaderboard that pins none takes any."""
    releases = sorted({release for harness in harnesses if (release := _release(harness))})
    commits = sorted({brief(one.git_hash, 40) for one in harnesses if one.git_hash and not _release(one)})
    if not releases and not commits and _repository(harnesses) == UNKNOWN:
        return
    yield from _comment("TODO: the harness versions that you accept; without this, every version is accepted.")
    yield "# [[harness.accepted]]"
    yield f"# repository = {toml_text(_repository(harnesses))}"
    if releases:
        yield f"# releases = {toml_text(releases)}"
    yield '# reason = "the release that measured the first rows"'
    if commits:
        yield from _comment(f"The files name these commits, without their repository: {', '.join(commits)}")


def _repository(harnesses: Sequence[HarnessVersion]) -> str:
    """The repository of the harness, as its format knows it."""
    known = [one.repository for one in harnesses if one.repository]
    if known:
        return brief(known[0], 100)
    return repository() if any(repository().endswith(f"/{one.name}") for one in harnesses) else UNKNOWN


def _release(harness: HarnessVersion) -> str:
    """The release that measured, as the file says it or as its commit shows."""
    known = known_commit(harness.git_hash) if harness.git_hash and not harness.version else None
    return brief(harness.version or (known.version if known else ""), 40)


def _todo_of_all(tasks: Sequence[DraftTask]) -> list[str]:
    """The decisions that every one of several tasks asks for: they are said once."""
    first = tasks[0].todo if len(tasks) >= SEVERAL else ()
    return [todo for todo in first if all(todo in task.todo for task in tasks)]


def _task(task: DraftTask, said: Collection[str] = ()) -> Iterator[str]:
    yield "[[tasks]]"
    for key, value in task.keys.items():
        yield from f"{toml_key(key)} = {toml_text(value)}".split("\n")  # a value may hold other breaks
    for note in task.notes:
        yield from _comment(note)
    for todo in (todo for todo in task.todo if todo not in said):
        yield from _comment(f"TODO: {todo}")


def left_to_decide(text: str) -> str:
    """Say which TODO of a drafted file readers see, and how many others change rows or nothing; "" for none."""
    seen, optional = list(unfinished_keys(tomllib.loads(text))), len(OPTIONAL.findall(text))
    deciding = len(COMMENTED.findall(text)) - optional
    said = [f"readers see {len(seen)} TODO ({examples(seen)})"] if seen else []
    said += [f"{deciding} TODO in comments {'decides' if deciding == 1 else 'decide'} what counts"] if deciding else []
    said += [f"{optional} TODO in comments {'is' if optional == 1 else 'are'} optional"] if optional else []
    return ", ".join(said)


def in_parts_text(results: Sequence[Result], path: str, declared: str) -> str:
    """Which models have several rows in a draft at a path, as some of their files leave out what others say.

    `declared` is the text of the draft, which may have the lines that make one row of them as comments.
    """
    if not (parts := models_in_parts(results)):
        return ""
    words = {"commit": any(one.revision for one in parts), "precision": any(one.precision for one in parts)}
    said = " or ".join(word for word, is_unsaid in words.items() if is_unsaid)
    precisions = {one.precision for one in parts if one.precision}
    commits = [f"{toml_key(one.model)} = {toml_text(f'{one.model}@{one.revision}')}" for one in parts if one.revision]
    keys = [f"precision = {toml_text(one)}" for one in precisions]
    if all(f"\n# {line}\n" in declared for line in (*keys, *commits)):
        how = f"take away the # below the TODO of {said} in {path}"
    elif len(keys) > 1:
        how = f"write the {said} into each of them"
    else:
        where = [f"{key} at the top" for key in keys] + [f"{line} under [models]" for line in commits[:1]]
        how = f"write {' and '.join(where)} of {path}{', and so for each model' if len(commits) > 1 else ''}"
    return (
        f"{examples([one.model for one in parts])} {'has' if len(parts) == 1 else 'have'} several rows, because some "
        f"files record no {said} and others do: if they are of one model, {how}"
    )


def judged_text(judgement: Judgement, read: int, parted: str = "") -> str:
    """How many rows a declaration accepts, and the most frequent error of the others; "" where it accepts all.

    `read` is how many results there are, of which some were judged; `parted` is `in_parts_text` of them.
    """
    keys = {row.key for row in judgement.rows if row.status != "accepted"}
    found: list[tuple[RowKey, Verdict | Row]] = [
        (key_of(judgement.leaderboard.id, one.result.model), one) for one in judgement.verdicts if one.result
    ]
    found += [(row.key, row) for row in judgement.rows]
    errors = grouped((one.rule, (key, one)) for key, of in found if key in keys for one in of.findings if one.is_error)
    if not errors:
        return ""
    rows = {rule: len({key for key, _ in some}) for rule, some in errors.items()}
    cause = next(one for one in ALL_RULES if one.id == max(rows, key=rows.__getitem__))
    statuses = Counter[str](row.status for row in judgement.rows)
    counts = ", ".join(f"{statuses[one]:,} {one}" for one in SIGNS if statuses[one])
    judged = f"{len(judgement.verdicts):,} of " if len(judgement.verdicts) < read else ""
    tasks = Counter(one.task for _, one in errors[cause.id] if one.task)
    where = f" ({examples([task for task, _ in tasks.most_common()])})" if tasks else ""
    when_wrong = " ".join(dict(cause.sections)["When it is wrong"].split())
    advice = parted if parted and cause.id == "missing-task" else f"When that is wrong: {when_wrong}"
    return (
        f"{counted(len(judgement.rows), 'row')} from {judged}{counted(read, 'result')}: {counts}; most often "
        f"{cause.id} in {counted(rows[cause.id], 'row')}{where}: {cause.title} {advice}"
    )


def describe_leaderboard(leaderboard: Leaderboard) -> str:
    """The columns as a table, then the subtasks of those that have several, then harness and waivers."""
    lines = [f"{leaderboard.title}  ({leaderboard.id})", *wrap(leaderboard.description, WIDTH), leaderboard.digest, ""]
    width = max(len(task.title) for task in leaderboard.tasks)
    lines.append(f"{'':{width}}  {'subtasks':>8}  {'samples':>8}  {'shots':>5}  score")
    lines += [_column(task, width) for task in leaderboard.tasks]
    lines += [line for task in leaderboard.tasks if len(task.leaves) > 1 for line in ("", *_subtasks(task))]
    lines.append("")
    notes = [f"quarantined: {task.title}: {task.quarantined}" for task in leaderboard.tasks if task.quarantined]
    for span in leaderboard.harness.accepted:
        since, until = f"from {span.since or 'the first'}", f"to {span.until or 'the newest'}"
        versions = ", ".join((*span.releases, *span.commits)) or f"{since} {until}"
        notes.append(f"harness: {span.repository}: {versions}. {span.reason}")
    for bad in leaderboard.harness.known_bad:
        versions = ", ".join(filter(None, (bad.release, *bad.commits)))
        notes.append(f"wrong: {versions} for {', '.join(bad.leaves)}: {bad.reason}")
    notes += [f"waived: {waiver.rule} for {waiver.submission} until {waiver.until}" for waiver in leaderboard.waivers]
    lines += [line for note in notes for line in wrap(note, WIDTH, subsequent_indent="  ", break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def _column(task: Task, width: int) -> str:
    sizes = [leaf.samples for leaf in task.leaves]
    samples = "–" if None in sizes else f"{sum(size or 0 for size in sizes):,}"
    shots = "–" if task.num_fewshot is None else str(task.num_fewshot)
    return f"{task.title:{width}}  {len(task.leaves):8}  {samples:>8}  {shots:>5}  {_normalization(task)}"


def _normalization(task: Task) -> str:
    if task.normalize == "leaf":
        return "each subtask from guessing to 100, then the plain mean"
    pooled = "pooled" if task.aggregation == "size-weighted" else "mean"
    if not task.higher_is_better:
        return f"value from {task.lower_bound} (worst) to {task.upper_bound} (best)"
    bound = f" from {task.lower_bound}" if task.lower_bound else ""
    return ("value" if len(task.leaves) == len(task.metrics) == 1 else f"{pooled} value") + f"{bound} to 100"


def _subtasks(task: Task) -> Iterator[str]:
    source = f" (the catalogue's {task.members})" if task.members else ""
    yield f"{task.title} is made of{source}:"
    names = ", ".join(leaf.id for leaf in task.leaves)
    yield from wrap(names, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
