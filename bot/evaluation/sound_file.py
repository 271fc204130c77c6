"""Scores a complete file in which no rule finds an error, without a measurement for each of its numbers.

Files of one shape differ in their numbers and in what stands around these. What is the same of all of them is made out
once, as a plan; a further file is held against it. In one that passes no rule finds an error. Of one that does not
pass nothing is known: it is judged like any other.
"""

from __future__ import annotations

from bot.evaluation.dates import latest_date, own_date
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import Result, Shape, shape_of
from bot.evaluation.rules.rule import Case, Facts
from bot.evaluation.sound_plan import FilePlan, make_plan
from bot.evaluation.submission import Parsed


def sound_scores(parsed: Parsed, leaderboard: Leaderboard, facts: Facts) -> tuple[float, ...] | None:
    """The score of every column (0 to 100) where the submission alone makes a row that is accepted.

    None if that is not known. Warnings are not looked for. The model is named already, see `with_names`.
    """
    result = parsed.result
    shape = None if result is None else shape_of(result)
    if result is None or shape is None:
        return None
    plan = _plan_of(shape, result, leaderboard, facts)
    scores = None if plan is None else plan.scores_of(result)
    if plan is None or scores is None or not _is_silent(plan, parsed, result, leaderboard, facts):
        return None
    return scores


def _plan_of(shape: Shape, result: Result, leaderboard: Leaderboard, facts: Facts) -> FilePlan | None:
    """The plan for files of a shape; None before one was judged, and where a look at the numbers is not enough."""
    asked = shape.asked
    if asked is None or asked[0] is not leaderboard or asked[1] is not facts:
        return None
    if shape.plan is None or shape.plan[0] is not asked:
        shape.plan = asked, make_plan(result, leaderboard, asked[2])
    plan: FilePlan | None = shape.plan[1]
    return plan


def _is_silent(plan: FilePlan, parsed: Parsed, result: Result, leaderboard: Leaderboard, facts: Facts) -> bool:
    """Whether the rules on what stands around the numbers find no error. One that fails is asked again by `judge`."""
    latest = latest_date(facts.today, facts.committed.get(parsed.path))
    case = Case(result, leaderboard, plan.unmeasured, facts, own_date(result, parsed.path), latest, parsed.path)
    try:
        return not any(True for rule in plan.rules for _ in rule.check(case))
    except Exception:  # noqa: BLE001 - whatever it is, it is reported there
        return False
