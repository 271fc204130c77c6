"""The safety catch by itself: which rows go on, which wait for a maintainer, and what the state and the report say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from bot.publishing.decisions import REWRITTEN, TAKEN
from bot.publishing.entry import Entry
from bot.publishing.plan import Plan, PlannedRow, RowAction, answers_text, planned_row
from bot.service.context import WatchContext
from bot.service.publish.gate import LET_GO, Gate, Look, narrow_approved, with_held
from bot.service.store.items import Item, Mark
from bot.service.store.sources import IndexedFile
from bot.service.watch.outcome import Outcome, Report
from tests.platforms.git.publisher import entry
from tests.service.stories import Story
from tests.world.hub import Hub

NOW = 2_000_000_000.0
TARGET, ELSEWHERE = "hf://datasets/acme/contents", "hf://datasets/acme/other"


@pytest.fixture
def context(hub: Hub, tmp_path: Path) -> Iterator[WatchContext]:
    story = Story(hub, tmp_path, more="max_removed = 1\nmax_changed = 2")
    story.state.files.keep([IndexedFile("results.json", "0" * 40, 1)])
    yield replace(story.contexts.open_context(story.watch), clock=lambda: NOW)
    story.contexts.store.close()


def looks(context: WatchContext, **counts: int) -> list[Look[None]]:
    """So many rows of each action, each with an item that is due; `changed-0` is the key of the first one."""
    actions = [
        (f"{action}-{number}", action) for action in get_args(RowAction) for number in range(counts.get(action, 0))
    ]
    context.state.items.mark([Mark("row", key, TARGET) for key, _ in actions], 1.0)
    items = {item.subject: item for item in context.state.items.all() if item.kind == "row"}
    return [
        Look(PlannedRow(key, "acme/a", action, digest=f"of {key}"), (items[key],), None, None)
        for key, action in actions
    ]


def allow(plan: Plan) -> str:
    """How a person answers it."""
    return f"approve plan {plan.digest} to allow this"


def gate(context: WatchContext, *, is_first: bool = False, size: int = 0) -> Gate:
    return Gate(context, TARGET, Report(context), lambda: size, list, dict, is_first=is_first)


def keys(found: list[Look[None]]) -> set[str]:
    return {look.key for look in found}


def held(context: WatchContext) -> dict[str, str]:
    """The items that wait for an approval, and why."""
    return {item.subject: item.reason for item in context.state.items.held()}


def kept_plan(context: WatchContext) -> tuple[str, bool, Plan]:
    known = context.state.plans.at(TARGET)
    assert known is not None
    return known.digest, known.is_approved, known.plan


def plan_is_told(context: WatchContext) -> bool:
    """Whether the comment about the plan of the target is due at once."""
    return [(item.subject, item.target) for item in context.state.items.due("plan", NOW)] == [("", TARGET)]


# ---- what goes on ----


def test_up_to_the_limits_all_rows_go_on(context: WatchContext) -> None:
    rows = looks(context, added=9, changed=2, removed=1, unchanged=3)
    rows = [*rows[:12], *(replace(look, entry=entry()) for look in rows[12:]), *looks(context, unchanged=2)]
    one = gate(context)
    assert one.admit(rows) == rows  # the last two are of files that make no row
    assert one.report.plans == [Plan(TARGET, "tiny", tuple(look.planned for look in rows[:12]), 3)]
    assert one.report.outcomes == []
    assert (context.state.plans.at(TARGET), held(context), plan_is_told(context)) == (None, {}, False)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"changed": 3}, "3 rows would be changed"),
        ({"removed": 2}, "2 rows would be removed"),
        ({"removed": 1, "changed": 3}, "1 row would be removed and 3 changed"),
    ],
)
def test_beyond_a_limit_only_new_rows_go_on(context: WatchContext, counts: dict[str, int], said: str) -> None:
    rows = looks(context, added=2, unchanged=1, **counts)
    one = gate(context)
    plan = one.plan(rows)
    assert keys(one.admit(rows)) == {"added-0", "added-1", "unchanged-0"}

    large = {look.key for look in rows if look.planned.action in {"changed", "removed"}}
    assert held(context) == dict.fromkeys(large, f"held by plan {plan.digest}")
    kept = msgspec.structs.replace(plan, rows=tuple(row for row in plan.rows if row.action != "added"))
    assert kept_plan(context) == (plan.digest, False, kept)  # which does not count what goes on
    assert plan_is_told(context)
    text = f"{said}; {allow(plan)}"
    assert one.report.outcomes == [Outcome("held", TARGET, text, 1, answers=answers_text(plan))]


def test_of_what_waits_at_a_target_only_the_last_word_is_told(context: WatchContext) -> None:
    one = gate(context)
    others = [("held", ELSEWHERE), ("written", TARGET)]
    for outcome, subject in [("held", TARGET), *others]:
        one.report.say(outcome, subject, "before")  # type: ignore[arg-type]
    one.admit(looks(context, changed=3))
    assert [(each.outcome, each.subject) for each in one.report.outcomes] == [*others, ("held", TARGET)]


def restored(context: WatchContext, count: int, reason: str) -> list[Look[None]]:
    rows = looks(context, restored=count)
    return [replace(look, planned=msgspec.structs.replace(look.planned, reason=reason)) for look in rows]


def test_a_few_rows_that_somebody_took_from_main_are_let_go(context: WatchContext) -> None:
    one = gate(context)
    assert one.admit(restored(context, 1, TAKEN)) == []
    assert [(each.outcome, each.text) for each in one.report.outcomes] == [("unchanged", LET_GO)]
    assert held(context) == {}


def test_a_row_that_is_gone_because_main_was_rewritten_waits_for_a_person(context: WatchContext) -> None:
    assert gate(context).admit(restored(context, 1, REWRITTEN)) == []
    assert held(context).keys() == {"restored-0"}


def test_with_rows_that_are_gone_only_what_is_large_waits(context: WatchContext) -> None:
    small = [*looks(context, added=1, changed=2, removed=1), *restored(context, 2, REWRITTEN)]
    one = gate(context)
    assert keys(one.admit(small)) == {"added-0", "changed-0", "changed-1", "removed-0"}
    assert held(context).keys() == {"restored-0", "restored-1"}
    assert [plan.digest for plan in one.report.plans][1:] == [one.plan(small[4:]).digest]

    large = [*looks(context, added=1, changed=3), *small[4:]]
    assert keys(gate(context).admit(large)) == {"added-0"}
    assert held(context).keys() == {"changed-0", "changed-1", "changed-2", "restored-0", "restored-1"}
    items = {item.subject: item for item in context.state.items.held()}
    again = [replace(look, items=(items[look.key],)) for look in large if look.key in items.keys() - {"changed-2"}]
    assert keys(gate(context).admit(again)) == {"changed-0", "changed-1"}
    assert held(context).keys() == {"changed-2", "restored-0", "restored-1"}


def test_more_rows_that_somebody_took_from_main_than_may_go_wait_for_a_person(context: WatchContext) -> None:
    assert gate(context).admit(restored(context, 2, TAKEN)) == []
    assert held(context).keys() == {"restored-0", "restored-1"}


def test_a_declined_plan_lets_go_of_the_rows_that_are_gone_and_of_no_other(context: WatchContext) -> None:
    rows = [*looks(context, changed=3), *restored(context, 2, REWRITTEN)]
    for _ in range(2):  # nothing is let go before somebody says so
        one = gate(context)
        assert one.admit(rows) == []
        assert held(context).keys() == keys(rows)
    assert context.state.plans.decline(one.plan(rows).digest)

    one = gate(context)
    assert one.admit(rows) == []
    told = [each.subject for each in one.report.outcomes if each.text == LET_GO]
    assert told == ["restored-0", "restored-1"]
    plan = context.state.plans.at(TARGET)
    assert plan is not None
    assert plan.digest == one.plan(rows[:3]).digest


def test_what_is_left_of_rows_that_people_want_back_is_not_let_go(context: WatchContext) -> None:
    rows = restored(context, 2, TAKEN)
    one = gate(context)
    one.admit(rows)
    context.state.plans.approve(one.plan(rows).digest)
    assert gate(context).admit(rows[1:]) == rows[1:]  # one is there again, and a single one is let go unasked


def test_a_share_of_a_board_from_which_rows_were_taken_is_of_what_it_was(context: WatchContext) -> None:
    shares = replace(context, watch=context.watch.model_copy(update={"max_removed": "10%"}))
    one = gate(shares, size=54)
    assert one.admit(restored(shares, 6, TAKEN)) == []
    assert held(context) == {}


def test_another_plan_is_news_and_the_same_plan_is_none(context: WatchContext) -> None:
    found = []
    for count in (3, 3, 4):
        one = gate(context)
        one.admit(looks(context, changed=count))
        found += [each.is_new for each in one.report.outcomes]
    assert found == [True, False, True]


# ---- shares of the board ----


@pytest.mark.parametrize(
    ("size", "count", "is_held"), [(100, 10, False), (100, 11, True), (20, 5, False), (20, 6, True)]
)
@pytest.mark.parametrize("action", ["removed", "changed"])
def test_a_share_is_of_the_rows_of_the_board_and_never_below_five(
    context: WatchContext, action: str, size: int, count: int, *, is_held: bool
) -> None:
    shares = replace(context, watch=context.watch.model_copy(update={"max_removed": "10%", "max_changed": "10%"}))
    rows = looks(shares, **{action: count})
    assert bool(gate(shares, size=size).admit(rows)) is not is_held


def test_the_rows_of_the_board_are_not_counted_for_a_few(context: WatchContext) -> None:
    shares = replace(context, watch=context.watch.model_copy(update={"max_removed": "10%", "max_changed": "10%"}))
    counted: list[str] = []

    def count() -> int:
        counted.append("once")
        return 100

    one = Gate(shares, TARGET, Report(shares), count, list, dict)
    assert len(one.admit(looks(shares, removed=5, changed=5))) == 10
    assert one.admit(restored(shares, 5, TAKEN)) == []
    assert counted == []
    assert len(one.admit(looks(shares, removed=6, changed=5))) == 11
    assert counted == ["once"]


# ---- what cannot be read just now ----


def late(context: WatchContext, key: str) -> Item:
    """A row of the target that failed once and is tried again in 500 seconds."""
    items = context.state.items
    items.mark([Mark("row", key, TARGET)], 1.0)
    failed = items.get("row", TARGET, key)
    assert failed is not None
    items.fail(failed, "no answer", NOW + 500.0)
    found = items.get("row", TARGET, key)
    assert found is not None
    return found


def due(context: WatchContext) -> dict[str, float]:
    return {item.subject: item.due - NOW for item in context.state.items.at("row", TARGET)}


def test_a_plan_waits_for_a_file_that_could_not_be_read_a_minute_and_its_new_rows_do_not(context: WatchContext) -> None:
    context.state.items.mark([Mark("file", "results.json", "")], 1.0)
    one = gate(context)
    assert keys(one.admit(looks(context, changed=3, added=1))) == {"added-0"}
    assert {key: seconds for key, seconds in due(context).items() if seconds > 0} == {
        f"changed-{number}": 60.0 for number in range(3)
    }
    assert (held(context), context.state.plans.at(TARGET), one.report.outcomes) == ({}, None, [])


def test_a_plan_waits_as_long_as_a_row_of_its_target_that_failed_in_this_pass(context: WatchContext) -> None:
    rows, one = looks(context, changed=3), gate(context)
    one.report.failed.append(late(context, "late"))
    assert one.admit(rows) == []
    assert (set(due(context).values()), held(context)) == ({500.0}, {})

    elsewhere = gate(context)
    elsewhere.report.failed.append(msgspec.structs.replace(late(context, "late"), target=ELSEWHERE))
    assert elsewhere.admit(looks(context, changed=3)) == []
    assert set(held(context)) == keys(rows)


def test_a_row_on_main_that_failed_counts_for_a_limit_and_one_that_only_waits_does_not(context: WatchContext) -> None:
    there, items = entry(), context.state.items
    one = Gate(context, TARGET, Report(context), int, lambda: [there], dict)
    rows = looks(context, changed=2)
    failed = late(context, there.key)
    assert one.admit(rows) == []
    assert set(due(context).values()) == {500.0}

    items.finish([failed])
    items.mark([Mark("row", there.key, TARGET)], NOW + 500.0)
    assert one.admit(rows) == rows


# ---- approval ----


def test_an_approved_plan_is_carried_out_once(context: WatchContext) -> None:
    rows = looks(context, changed=3)
    digest = gate(context).plan(rows).digest
    assert gate(context).admit(rows) == []
    assert gate(context).admit(rows) == []  # not approved yet
    assert context.state.plans.approve(digest)
    context.state.items.finish(context.state.items.due("plan", NOW))

    waiting = [replace(look, items=tuple(context.state.items.held()[at : at + 1])) for at, look in enumerate(rows)]
    assert gate(context).admit(waiting) == waiting
    assert (held(context), plan_is_told(context)) == ({}, True)
    assert {item.due for item in context.state.items.due("row", NOW)} == {NOW}
    assert gate(context).admit(waiting[1:]) == waiting[1:]  # the rest of it, after a process that was killed

    context.state.items.finish(context.state.items.due("row", NOW))
    narrow_approved(context, TARGET)
    assert with_held(context, TARGET, []) == []
    assert context.state.plans.at(TARGET) is None
    assert gate(context).admit(rows) == []  # the same once more needs another approval


def test_an_approval_in_the_moment_in_which_a_pass_holds_the_plan_is_not_lost(context: WatchContext) -> None:
    shares = replace(context, watch=context.watch.model_copy(update={"max_changed": "10%"}))
    rows = looks(shares, changed=6)
    digest = gate(shares).plan(rows).digest
    assert gate(shares).admit(rows) == []

    def size() -> int:
        assert shares.state.plans.approve(digest)
        return 0

    assert replace(gate(shares), board_size=size).admit(rows) == []
    assert gate(shares).admit(rows) == rows


def test_of_an_approved_plan_only_what_waits_still_stays_approved(context: WatchContext) -> None:
    rows = looks(context, changed=4)
    gate(context).admit(rows)
    digest = gate(context).plan(rows).digest
    assert context.state.plans.approve(digest)
    narrow_approved(context, TARGET)
    assert kept_plan(context) == (digest, True, gate(context).plan(rows))

    context.state.items.finish([rows[0].items[0]])
    context.state.items.finish(context.state.items.due("plan", NOW))
    narrow_approved(context, TARGET)
    assert plan_is_told(context)
    assert gate(context).admit(rows[1:]) == rows[1:]
    one = gate(context)
    assert one.admit(rows) == []  # one of them was done, and is there again
    assert one.report.outcomes[0].is_new
    assert kept_plan(context) == (digest, False, one.plan(rows))


def test_no_row_is_removed_without_a_person_while_the_source_lists_nothing(context: WatchContext) -> None:
    rows = looks(context, removed=1)
    assert gate(context).admit(rows) == rows
    context.state.files.keep([], ["results.json"])
    assert gate(context).admit(rows) == []
    assert [item.subject for item in context.state.items.held()] == ["removed-0"]
    assert gate(context).admit(looks(context, added=1, changed=1)) != []


def test_a_plan_that_nobody_approved_is_left_as_people_see_it(context: WatchContext) -> None:
    narrow_approved(context, TARGET)  # no plan waits
    rows = looks(context, changed=4)
    gate(context).admit(rows)
    plan = context.state.plans.at(TARGET)
    context.state.items.finish([rows[0].items[0]])
    narrow_approved(context, TARGET)
    assert context.state.plans.at(TARGET) == plan


def test_another_plan_needs_another_approval(context: WatchContext) -> None:
    gate(context).admit(looks(context, changed=3))
    assert context.state.plans.approve(gate(context).plan(looks(context, changed=3)).digest)
    rows = looks(context, changed=4)
    one = gate(context)
    assert one.admit(rows) == []
    assert kept_plan(context) == (one.plan(rows).digest, False, one.plan(rows))


def test_a_plan_that_became_small_is_forgotten_and_lets_its_rows_go(context: WatchContext) -> None:
    gate(context).admit(looks(context, changed=3))
    context.state.items.finish(context.state.items.due("plan", NOW))
    first = context.state.items.held()[0]
    rest = [Look(PlannedRow(first.subject, "acme/a", "changed"), (first,), None, None)]
    assert gate(context).admit(rest) == rest
    assert first.subject not in held(context)
    assert (context.state.plans.at(TARGET), plan_is_told(context)) == (None, True)


# ---- the first run ----


def test_a_first_run_waits_with_new_rows_too(context: WatchContext) -> None:
    rows = looks(context, added=2, unchanged=1)
    one = gate(context, is_first=True)
    plan = one.plan(rows)
    assert plan.is_first
    assert keys(one.admit(rows)) == {"unchanged-0"}
    assert set(held(context)) == {"added-0", "added-1"}
    text = f"the first run would write to 2 models; {allow(plan)}"
    assert one.report.outcomes == [Outcome("held", TARGET, text, 1, answers=answers_text(plan))]


def test_a_first_run_that_would_write_nothing_goes_on(context: WatchContext) -> None:
    rows = looks(context, unchanged=2)
    one = gate(context, is_first=True)
    assert (one.admit(rows), one.report.outcomes) == (rows, [])


# ---- a dry run ----


def test_a_dry_run_shows_ranks_and_only_a_dry_run_reads_the_board_for_them(context: WatchContext) -> None:
    mine, other, better = entry(right=(5, 5, 5)), entry("acme/borea-1b"), entry(right=(95, 95, 95))
    still = planned_row(other.key, other, other, "")
    rows = [Look(planned_row(mine.key, mine, better, "it is new"), (), better, None), Look(still, (), mine, None)]
    dry = Gate(replace(context, dry_run=True), TARGET, Report(context), int, lambda: [mine, other], dict)
    dry.admit(rows)
    [plan] = dry.report.plans
    [row] = plan.rows
    assert (row.key, row.ranks_before, row.ranks_after) == (mine.key, "2", "1")

    def unread() -> list[Entry]:
        raise AssertionError

    wet = Gate(context, TARGET, Report(context), int, unread, dict)
    wet.admit(rows)
    assert wet.report.plans[0].rows[0].ranks_after == ""


def test_a_dry_run_counts_the_rows_that_nobody_looked_at(context: WatchContext) -> None:
    rows, seen = looks(context, added=1, unchanged=1), dict.fromkeys(["unchanged-0", "x", "y"], "")
    for is_dry, expected in ((False, 0), (True, 2)):
        one = Gate(replace(context, dry_run=is_dry), TARGET, Report(context), int, list, lambda: seen)
        one.admit(rows)
        assert one.report.plans[0].unchanged == expected

    [(target, settings)] = context.targets
    models = replace(context, dry_run=True, targets=[(target, settings.model_copy(update={"kind": "models"}))])
    one = Gate(models, TARGET, Report(context), int, list, lambda: seen)
    one.admit(rows)
    assert one.report.plans[0].unchanged == 0  # there, a plan counts models and not rows


# ---- which rows are looked at ----


def test_held_rows_are_looked_at_with_a_row_that_is_due_or_once_their_plan_is_approved(context: WatchContext) -> None:
    state = context.state
    gate(context).admit(looks(context, changed=3))
    waiting = {"changed-0", "changed-1", "changed-2"}
    state.items.mark(
        [Mark("row", "elsewhere", ELSEWHERE), Mark("folder", "a", TARGET), Mark("row", "new", TARGET)], 1.0
    )
    others = [item for item in state.items.all() if item.subject in {"elsewhere", "a"}]
    state.items.hold(others, "waits too")
    [new] = [item for item in state.items.all() if item.subject == "new"]
    whole = Item("tiny", "row", TARGET, "")  # of the target, of no row

    assert with_held(context, TARGET, [whole]) == []
    found = [item.subject for item in with_held(context, TARGET, [whole, new])]
    assert (found[0], set(found)) == ("new", {"new", *waiting})

    plan = state.plans.at(TARGET)
    assert plan is not None
    state.plans.approve(plan.digest)
    assert {item.subject for item in with_held(context, TARGET, [])} == waiting
    assert with_held(context, ELSEWHERE, []) == []
