"""The advice to run a task again: the hint, and the exact command if the format has one."""

from __future__ import annotations

from collections.abc import Iterable

from bot.evaluation.formats import find_format
from bot.evaluation.formats.format import Rerun
from bot.evaluation.result import Result


def rerun_advice(result: Result, leaf_keys: Iterable[str], num_fewshot: int | None, what: str) -> tuple[str, str]:
    """The hint and the command that measure tasks of a result again, so that the new file joins it.

    `what` says what to do, such as "measure it again". Where no command can be given the hint says the number of shots.
    """
    known = find_format(result.format)
    wanted = Rerun(result.model, tuple(dict.fromkeys(leaf_keys)), num_fewshot, result.settings)
    command = known.rerun(wanted) if known and known.rerun else ""
    if command:
        return f"{what}:", command
    return (what if num_fewshot is None else f"{what} with {num_fewshot} shots"), ""
