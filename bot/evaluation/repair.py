"""The repair of a row: one list of commands instead of one for each finding, which would overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.evaluation.finding import examples, grouped
from bot.evaluation.measurement import refuses_gen_kwargs
from bot.evaluation.rules.harness_commit import range_of
from bot.evaluation.rules.missing_task import settings_apart
from bot.evaluation.rules.other_task_definition import other_task_definition
from bot.evaluation.rules.rule import RowCase, rerun_advice
from bot.evaluation.rules.unaccepted_task_version import unaccepted_task_version
from bot.evaluation.rules.unidentified_model import unidentified_model
from bot.evaluation.verdict import Repair, Row, Verdict

NEWEST = frozenset({other_task_definition.id, unaccepted_task_version.id})  # which another release repairs

NAME_FIRST = "name the model first (--model-name): until then no file of it counts, nor one that these commands write"


def repair_of(case: RowCase, submissions: Iterable[Verdict]) -> Repair | None:
    """Measure again what the row has no sound number of, where several findings would ask for a part of it.

    Where nothing is sound, or what is sound joins no other file, that is everything. None too where no command can.
    """
    row, board, result = case.row, case.leaderboard, case.result
    found = [(file, one) for file in submissions for one in file.findings if one.is_error]
    errors = [one for file, one in found if not row.replaced_by(file, one)]
    errors += [one for one in row.findings if one.is_error]
    if len({one.command for one in errors} - {""}) < 2:
        return None
    missing = {required.leaf.id for required in row.measurements.missing}
    is_open = not board.harness.accepted or range_of(result.harness, result.format, board, case.facts) is not None
    joins = bool(row.files) and is_open and not refuses_gen_kwargs(board, result)
    wanted = [(task, leaf) for task, leaf in board.leaves() if leaf.id in missing or not joins]
    if not wanted or any(result.format not in board.formats_of(leaf) for _, leaf in wanted):
        return None  # it lacks nothing, or another tool measures it
    by_shots = grouped((task.num_fewshot, leaf.key(result.format)) for task, leaf in wanted)
    parts = [(keys, shots) for shots, keys in by_shots.items()]
    is_newest = not joins or any(one.rule in NEWEST for one in errors)
    what = (
        "to repair all of this, measure what the row lacks"
        if joins
        else "to repair all of this, measure everything again"
    )
    if any(one.rule == unidentified_model.id for one in errors):
        what = f"{NAME_FIRST}; {what}"
    hint, command = rerun_advice(case, parts, what, newest=is_newest)
    return Repair(hint, command, is_whole=not joins) if command else None


def unneeded(row: Row, files: Sequence[Verdict], accepted: Iterable[Row]) -> Repair | None:
    """What to say of the files of a row in place of all repairs, where a newer row of their model is accepted.

    None where no other row is, or what the two rows record tells them apart.
    """
    for other in accepted if row.status != "accepted" else ():
        lacks = {name: there for name, here, there in settings_apart(row.key, other.key) if here != there}
        is_told_apart = any(here for _, here, there in settings_apart(row.key, other.key) if here != there)
        if not is_told_apart and max(file.date for file in other.files) > max(file.date for file in files):
            paths = examples([file.path for file in files])
            said = f"not needed any more: a newer row of this model is accepted; delete {paths}"
            named = f"{row.lead.called or row.key.model}={row.key.model}@{lacks.get('revision')}"
            of_it = f", or say by `--model-name {named}` that it is of that row" if lacks.keys() == {"revision"} else ""
            return Repair(f"{said}{of_it}", "")
    return None
