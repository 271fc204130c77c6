"""A task, or one of its subtasks, is in none of the row's files.

## What it does
Looks for every declared leaf and metric.

## Why is this bad?
A mean over what is there looks plausible and is wrong.

## When it is wrong
Another file has it, but one lacks revision or precision: name it with `--model-name`; in your own declaration add
`precision`, or drop the task.

## Example
/results/leaderboard_mmlu_pro: (absent)

## A sound run writes
/results/leaderboard_mmlu_pro/acc,none: 0.5
/results/leaderboard_mmlu_pro/acc_stderr,none: 0.00455847041936318
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from bot.evaluation.finding import Severity, examples, grouped, shown
from bot.evaluation.formats import format_of
from bot.evaluation.formats.fields import PRECISIONS
from bot.evaluation.formats.format import Rerun, calls, loads_path
from bot.evaluation.identity import is_folders, why_no_mapping
from bot.evaluation.leaderboard import Leaderboard, load_shipped, shipped
from bot.evaluation.measurement import RequiredMetric, accepted_gen_kwargs, has_some_leaf, refuses_gen_kwargs, sizes
from bot.evaluation.result import HarnessVersion, LeafResult, Result, escape_pointer
from bot.evaluation.row_key import WHOLE, RowKey
from bot.evaluation.rules.advised_version import advised_version
from bot.evaluation.rules.harness_commit import judge_harness, range_of
from bot.evaluation.rules.rule import RowCase, Violation, Violations, every_task, rerun_advice, rule
from bot.evaluation.task import Leaf
from bot.evaluation.verdict import Verdict

UNSAID, TEMPLATE = "not recorded", "chat template"


@rule(Severity.ERROR)
def missing_task(case: RowCase) -> Violations:
    """Yield one violation for each task of which a leaf is missing, or a single one where everything is missing."""
    row = case.row
    if row.result.format not in case.leaderboard.harness.formats:
        return  # `unaccepted-format` says enough
    misread = [one for one in row.result.misread if one.is_error]  # which `misread-place` says
    places, values = {one.place for one in misread}, [one for form in case.leaderboard.formats for one in form.values]
    unreadable = {part for one in misread for part in one.pointer.split("/")}
    unreadable |= {one.leaf for one in values if places & {one.value, one.right, one.solved, one.trials}}
    missing = [
        required
        for required in row.measurements.missing
        if required.leaf.id not in row.blocked and escape_pointer(required.leaf_key) not in unreadable
    ]
    pairs = [(one.result, one.measurements) for one in (row.lead, *case.verdicts)]
    has_some = any(result and measured and has_some_leaf(result, measured) for result, measured in pairs)
    if not has_some and not row.blocked and (missing or not misread):
        yield _nothing(case)
        return
    for found in grouped((required.task.id, required) for required in missing).values():
        yield _violation(case, found)


def _violation(case: RowCase, missing: list[RequiredMetric]) -> Violation:
    task, result, board = missing[0].task, case.row.result, case.leaderboard
    keys = list(dict.fromkeys(required.leaf_key for required in missing))
    known_formats = [case.formats.get(one.leaf.id) or board.formats_of(one.leaf) for one in missing]
    formats = [one for one in board.harness.formats if any(one in some for some in known_formats)]
    other = _with_other_metric(case, missing)
    hint, command = _advice(case, missing, keys, has_metric=other is not None)
    own = {result.format, format_of(result.format).writes}
    own |= {one for one in formats if format_of(one).writes == result.format}
    unjoined = _unjoined(case, missing)
    if own.isdisjoint(formats) and unjoined:
        hint, command = "mend what keeps that file out, which `settings-differ` says", ""
    elif own.isdisjoint(formats) and format_of(formats[0]).rerun is None:
        hint, command = f"add a result of it; the board's others are of {format_of(formats[0]).title}", ""
    elif own.isdisjoint(formats):
        known = format_of(formats[0])
        leaf_keys = tuple(leaf.key(known.id) for leaf in _leaves(missing))
        wanted = Rerun(replace(result.model, args=""), leaf_keys, task.num_fewshot, {})
        version = advised_version(HarnessVersion(""), known.id, wanted.leaf_keys, board, case.facts)
        calling = calls(known, [wanted], board.harness.formats, *(version or ()))
        command = "" if loads_path(wanted.model) else " && ".join(calling)
        hint = f"measure it with {version.title if version else known.title}{':' if command else ''}"
    whole = len(keys) == len(task.leaves)
    elsewhere, remedy = _elsewhere(case, missing)
    at = other.result if other is not None and other.result is not None else result
    return Violation(
        _message(missing, keys, at) + (_why_not(case, unjoined) if unjoined else elsewhere),
        f"if it is the same model: {remedy}; else {hint}" if remedy else hint,
        at.pointer_to("leaves") if whole and len(keys) > 1 else at.pointer_to("leaf", keys[0]),
        task.id,
        tuple(dict.fromkeys(required.leaf.id for required in missing)),
        command,
        other.path if other is not None else "",
    )


def _advice(case: RowCase, missing: list[RequiredMetric], keys: list[str], *, has_metric: bool) -> tuple[str, str]:
    """How to measure what is missing; all of it where no other file joins the row."""
    board, result = case.leaderboard, case.result
    if board.harness.accepted and range_of(result.harness, result.format, board, case.facts) is None:
        is_known = judge_harness(result.harness, board, case.facts).answer == "unaccepted"
        why = "is not accepted" if is_known else "cannot be told"
        what = f"measure all tasks again, as the file's harness {why} and no other file joins it"
    elif not case.row.blocked and refuses_gen_kwargs(board, result):  # else `other-task-definition` says it
        how = "with other" if accepted_gen_kwargs(board, result) else "without"
        what = f"measure all tasks again {how} --gen_kwargs: with those of this file none is accepted"
    else:
        parts, what = [(keys, missing[0].task.num_fewshot)], "measure it"
        if has_metric:  # another one, which the same run again would give again
            takes, tool = f"the board takes {missing[0].value_key}", format_of(result.format).title
            if not board.harness.accepted:
                how = f"measure the task with a version of {tool} that writes it, or ask the board's maintainer which"
                return f"{takes}: {how}", ""
            what = f"{takes}: measure it with the task as this version has it"
        return rerun_advice(case, parts, what)
    return rerun_advice(case, every_task(case), what)


def _with_other_metric(case: RowCase, missing: list[RequiredMetric]) -> Verdict | None:
    """The newest file of the row's key that has these leaves, and another metric of each."""
    found = [
        one
        for one in case.verdicts
        if (result := one.result) is not None
        and result.format == case.result.format
        and all(_has_other_metric(result, required) for required in missing)
    ]
    return max(found, key=lambda one: one.date, default=None)


def _unjoined(case: RowCase, missing: list[RequiredMetric]) -> str:
    """The path of the newest sound file of the row's key that has all these leaves and does not join; "" for none."""
    wanted = {required.leaf.id for required in missing}
    left_out = [one for path in case.row.left_out for one in case.verdicts if one.path == path and one.measurements]
    has = ({found.required.leaf.id for found in one.measurements.present} for one in left_out if one.measurements)
    return next((one.path for one, leaves in zip(left_out, has, strict=True) if wanted <= leaves), "")


def _why_not(case: RowCase, path: str) -> str:
    """That a sound file of the key has it, and the first setting that keeps the file out of the row."""
    asked, why = case.row.prompts.get(path), case.row.left_out[path]
    reason = f": it has {asked}" if asked else f": {why}" if why else ""
    return f"; {shown(path)} has it and does not join{reason}"


def _has_other_metric(result: Result, required: RequiredMetric) -> bool:
    """Tell whether a result has another metric of a leaf, with the number of shots that is asked."""
    leaf, shots = result.leaves.get(required.leaf_key), required.task.num_fewshot
    if leaf is None or required.value_key in (metrics := _metrics(leaf)):
        return False
    return bool(metrics) and (shots is None or leaf.num_fewshot in {None, shots})


def _metrics(leaf: LeafResult) -> list[str]:
    return [name for name, value in leaf.numbers.items() if isinstance(value, float) and "_stderr" not in name]


def _leaves(missing: list[RequiredMetric]) -> list[Leaf]:
    return list({required.leaf.id: required.leaf for required in missing}.values())


def _message(missing: list[RequiredMetric], keys: list[str], result: Result) -> str:
    task = missing[0].task
    partial = [required for required in missing if required.leaf_key in result.leaves]
    if partial:
        key = partial[0].leaf_key
        there = examples(_metrics(result.leaves[key]))
        return f"{key} has no {partial[0].value_key}, which {task.title} needs{there and f'; it has {there}'}"
    groups = {group.key for group in result.groups} & set(keys)
    if groups:
        members = examples(list(result.subtasks.get(min(groups), ())))
        return (
            f"{min(groups)} is a group in this file, but {task.title} names it as a task: name its members, {members}"
        )
    if len(task.leaves) == 1:
        return f"{keys[0]} is missing{'' if keys[0] == task.title else f', the only subtask of {task.title}'}"
    if len(keys) == len(task.leaves):
        return f"{task.title} is missing: none of its {len(keys)} subtasks is there"
    count = "is missing, one" if len(keys) == 1 else f"are missing, {len(keys)}"
    return f"{examples(keys)} {count} of the {len(task.leaves)} that {task.title} needs"


def _elsewhere(case: RowCase, missing: list[RequiredMetric]) -> tuple[str, str]:
    """Say that another row of this model has a missing leaf, and what tells the two apart.

    Where that is only what files leave out, the second text says how to make them one row.
    """
    ours, wanted = case.row.key, {required.leaf.id for required in missing}
    for key, leaves in case.others.items():
        unlike = [
            (name, "" if name == TEMPLATE and case.row.model.chat_template is None else here, there)
            for name, here, there in settings_apart(ours, key)
            if here != there
        ]
        if unlike and wanted & leaves:
            told = [
                f"the {name} is {shown(there) or UNSAID} there and {shown(here) or UNSAID} here"
                for name, here, there in unlike
            ]
            is_unsaid = not any(here and there for _, here, there in unlike)
            called = (not ours.revision and case.row.lead.called) or ours.model
            remedies = [_remedy(case, called, name, here or there) for name, here, there in unlike if is_unsaid]
            said = f"; another row of this model has it, but {' and '.join(told)}"
            return said, ", and ".join(remedies) if all(remedies) else ""
    return "", ""


def settings_apart(ours: RowKey, theirs: RowKey) -> Iterator[tuple[str, str, str]]:
    """What keeps rows of a model apart, by its name, with the value of each."""
    yield "revision", ours.revision, theirs.revision
    yield "precision", ours.precision, theirs.precision
    here, there = ("used" if key.chat_template else "not used" for key in (ours, theirs))
    yield TEMPLATE, here, there


def _remedy(case: RowCase, called: str, name: str, value: str) -> str:
    """How to say the revision, precision or template that a file of the model leaves out; "" where nothing can."""
    model, board = case.row.key.model, case.leaderboard
    if name == TEMPLATE:
        of_form = case.result.format in {one.id for one in board.formats}
        return f"`chat_template = {str(value == 'used').lower()}` in its `[[formats]]`" if of_form else ""
    if name == "precision":
        is_declared = value in PRECISIONS and board.id not in shipped()
        return f'the maintainer declares `precision = "{value}"` for the board' if is_declared else ""
    mapped = f"{model}@{value}"
    if why_no_mapping(called, mapped):
        return ""
    is_declared = board.id not in shipped() and not is_folders(called) and len(value) == WHOLE
    for_all = (
        f'the maintainer writes `"{called}" = "{mapped}"` under [models] in the declaration'
        if is_declared
        else "the operator sets `identity` in bot.toml"
    )
    return f"say so by `--model-name {called}={mapped}`, or {for_all}"


def _nothing(case: RowCase) -> Violation:
    """Report that the file has no task of the leaderboard: no score at all, or it was measured for another one."""
    result, board = case.row.result, case.leaderboard
    if not result.leaves:
        return Violation(
            "the file holds no score", "run it to its end and let the harness score it", result.pointer_to("leaves")
        )
    count, named = board.leaf_count, board.id if board.id in shipped() else board.title
    fits = [(_count(result, other), other.id) for other in map(load_shipped, shipped()) if other.id != board.id]
    most, best = max(fits)
    hint = (
        f"name the leaderboard with --leaderboard: subtasks of {best} are here"
        if most
        else f"measure the tasks of {named}, or name the leaderboard that it was measured for with --leaderboard"
    )
    lacks = f"has none of the {count:,} subtasks" if count > 1 else "does not have the only subtask"
    message = f"the file {lacks} of {named}"
    if any(form.id == result.format for form in board.formats):  # it is of this board's own
        asked = examples(list(dict.fromkeys(one.leaf_key for one in case.row.measurements.missing)))
        return Violation(message, f"add the numbers of {asked} to the file", result.pointer_to("leaves"))
    return Violation(f"{message}: was it measured for another leaderboard?", hint, result.pointer_to("leaves"))


def _count(result: Result, leaderboard: Leaderboard) -> int:
    """How many subtasks of another leaderboard a result has."""
    if result.format not in leaderboard.harness.formats:
        return 0
    return len(sizes(leaderboard, result.format).keys() & result.leaves.keys())
