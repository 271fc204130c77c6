"""Joining: any split of a result, in any order and with copies, gives the same row; what is measured again shows."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.evaluation.join import join_rows
from bot.evaluation.judge import judge
from bot.evaluation.leaderboard import Waiver
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import parse_submission
from bot.evaluation.verdict import Judgement, Row
from bot.publishing.entry import Entry, entry_of
from bot.reporting.report import make_report
from tests.evaluation.joined_rows import LEAVES, MMLU, leaf_of, row_of, value
from tests.evaluation.judging import ABSENT, base, base_v1, declared, dumps, judgement_of, patched, rules_of
from tests.evaluation.parts import only


def without_evidence(row: Row) -> Entry:
    """The row's entry without what says where its numbers come from."""
    entry = entry_of(row)
    assert entry is not None
    tasks = tuple(replace(task, leaves=tuple(replace(leaf, file="") for leaf in task.leaves)) for task in entry.tasks)
    return replace(entry, tasks=tasks, evidence=())


WHOLE = without_evidence(row_of({"whole.json": base()}))


@st.composite
def splits(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The whole result dealt out to some files, with leaves in several of them, shuffled, some files twice."""
    count = draw(st.integers(1, 6))
    places = draw(st.lists(st.sets(st.integers(0, count - 1), min_size=1), min_size=len(LEAVES), max_size=len(LEAVES)))
    dealt = [{leaf for leaf, where in zip(LEAVES, places, strict=True) if part in where} for part in range(count)]
    files = [only(base(), leaves) for leaves in dealt if leaves]
    return draw(st.permutations(files + draw(st.lists(st.sampled_from(files), max_size=3))))


@pytest.mark.slow
@settings(max_examples=40)
@given(splits())
def test_any_split_in_any_order_with_any_copies_gives_the_same_entry(files: list[dict[str, Any]]) -> None:
    row = row_of({f"{number}.json": data for number, data in enumerate(files)})
    assert without_evidence(row) == WHOLE
    assert row.findings == ()
    assert sum(len(file.measurements.present) for file in row.files if file.measurements) >= len(LEAVES)


def test_a_leaf_with_all_of_its_metrics_counts_before_a_newer_one_without() -> None:
    ifeval = only(base(), {"leaderboard_ifeval"})
    newer = patched({"/date": 1.9e9, "/results/leaderboard_ifeval/inst_level_strict_acc,none": ABSENT}, ifeval)
    row = row_of({"old.json": base(), "new.json": newer})
    assert row.status == "accepted"
    assert without_evidence(row).tasks == WHOLE.tasks


def test_a_part_of_a_leaf_is_no_run_of_it_and_no_reason_to_leave_a_whole_one_out() -> None:
    whole = only(base(), {"leaderboard_ifeval"})
    part = patched({"/date": 1.9e9, "/results/leaderboard_ifeval/inst_level_strict_acc,none": ABSENT}, whole)
    assert row_of({"whole.json": whole, "part.json": part}).repeats == ()
    row = row_of({"whole.json": whole, "part.json": patched({"/config/gen_kwargs": {"temperature": 0.8}}, part)})
    assert ([file.path for file in row.files], [*row.left_out]) == (["whole.json"], ["part.json"])


def test_of_two_parts_of_a_leaf_the_newest_counts() -> None:
    gone = {"/results/leaderboard_ifeval/inst_level_strict_acc,none": ABSENT}
    ifeval = only(base(), {"leaderboard_ifeval"})
    old, new = (patched(gone | {"/date": day}, ifeval) for day in (1.8e9, 1.9e9))
    row = row_of({"new.json": new, "old.json": old})
    assert ([file.path for file in row.files], row.status) == (["new.json"], "incomplete")


def test_a_leaf_is_blocked_by_errors_and_not_by_warnings_beside_them() -> None:
    wrong = patched({f"/n-shot/{MMLU}": 3, "/date": 1.9e9})
    row = row_of({"wrong.json": wrong}, facts=Facts(today=date(2026, 12, 31)))
    assert rules_of(row.lead) == {"wrong-num-fewshot", "future-date"}
    assert row.blocked == {MMLU: ("wrong-num-fewshot",)}


def test_a_leaf_that_another_file_measured_without_error_is_not_blocked() -> None:
    wrong = patched({"/date": 1.9e9, "/n-shot/leaderboard_ifeval": 3})
    assert row_of({"old.json": base(), "wrong.json": wrong}).blocked == {}
    assert list(
        row_of({"a.json": only(base(), set(LEAVES) - {"leaderboard_ifeval"}), "wrong.json": wrong}).blocked
    ) == ["leaderboard_ifeval"]


@pytest.mark.parametrize("date", [1.9e9, ABSENT])
def test_a_run_says_whether_its_file_has_a_date(date: object) -> None:
    strict = {"prompt_level_strict_acc,none": 0.0, "inst_level_strict_acc,none": 0.0}
    other = patched({"/date": date, "/results/leaderboard_ifeval": strict}, only(base(), {"leaderboard_ifeval"}))
    [repeat] = row_of({"a.json": base(), "b.json": other}).repeats
    assert {run.file: run.is_dated for run in repeat.runs} == {"a.json": True, "b.json": date is not ABSENT}


RUNS = st.lists(
    st.tuples(
        st.sets(st.sampled_from(LEAVES), min_size=1, max_size=4),
        st.sampled_from([0.25, 0.5, 0.75, float("nan"), 7.0]),
        st.sampled_from([1e9, 2e9]),
        st.sampled_from([None, {"temperature": 0.8}]),
        st.sampled_from(["0.4.9", "0.4.12", "0.4.3", None]),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=60)
@given(RUNS, st.randoms(use_true_random=False))
def test_the_order_of_runs_of_any_kind_never_matters(runs: list[tuple[Any, ...]], random: Random) -> None:
    files = []
    for leaves, number, day, gen_kwargs, release in runs:
        changes = {"/date": day, "/config/gen_kwargs": gen_kwargs, "/lm_eval_version": release, "/git_hash": None}
        files.append(only(patched(changes | value(number)), leaves | {MMLU}))
    named = {f"{number}.json": data for number, data in enumerate(files)}
    shuffled = list(named.items())
    random.shuffle(shuffled)
    one, other = make_report(judgement_of(named)), make_report(judgement_of(dict(shuffled)))
    assert (one["rows"], one["digest"]) == (other["rows"], other["digest"])


# ---- which run counts ----


def test_the_newest_sound_value_counts_and_all_are_named() -> None:
    old, new = patched({"/date": 1.7e9}), patched({"/date": 1.8e9} | value(0.5))
    row = row_of({"old.json": old, "new.json": new})
    assert leaf_of(row, MMLU) == (0.5, "new.json")
    (finding,) = row.findings
    assert finding.rule == "rerun-differs"
    assert "0.5 (new.json)" in finding.message
    assert "(old.json)" in finding.message
    assert leaf_of(row_of({"old.json": old, "new.json": patched({"/date": 1.6e9} | value(0.5))}), MMLU)[1] == "old.json"


def test_of_two_runs_of_one_date_the_content_decides() -> None:
    """Turned round, renamed or copied, the same bytes count."""
    one, other = patched(value(0.25)), patched(value(0.5))
    found = {leaf_of(row_of(files), MMLU)[0] for files in (
        {"a.json": one, "b.json": other}, {"a.json": other, "b.json": one}, {"b.json": other, "a.json": one},
        {"c.json": other, "z/d.json": one, "e.json": one},
    )}  # fmt: skip
    assert len(found) == 1


def test_a_newer_run_with_an_error_takes_nothing_away() -> None:
    sound, broken = patched({"/date": 1.7e9}), patched({"/date": 1.8e9, f"/results/{MMLU}/acc,none": float("nan")})
    judgement = judgement_of({"sound.json": sound, "broken.json": broken})
    (row,) = judgement.rows
    assert [verdict.status for verdict in judgement.verdicts] == ["accepted", "rejected"]
    assert (row.status, row.findings) == ("accepted", ())
    assert leaf_of(row, MMLU)[1] == "sound.json"
    assert row.scores.average == WHOLE.average


def test_a_leaf_that_was_run_wrongly_is_mended_by_a_file_of_that_leaf_alone() -> None:
    wrong = patched({f"/n-shot/{MMLU}": 0})
    assert row_of({"wrong.json": wrong}).status == "rejected"
    row = row_of({"wrong.json": wrong, "right.json": only(base(), {MMLU})})
    assert (row.status, row.scores.average) == ("accepted", WHOLE.average)


def test_a_faulty_file_never_takes_a_row_away() -> None:
    """What a sound file brings stays, whatever is pushed beside it."""
    part = only(base(), {MMLU})
    alone = row_of({"part.json": part})
    wrong = patched({"/date": 1.9e9, "/n-shot/leaderboard_ifeval": 3})
    limited = patched({"/date": 1.9e9, "/config/limit": 5.0})
    assert alone.status == "incomplete"
    assert row_of({"part.json": part, "wrong.json": wrong}).status == "incomplete"
    assert row_of({"part.json": part, "limited.json": limited}).coverage == alone.coverage


@pytest.mark.parametrize("other", ["leaderboard_ifeval", "another_task"])
def test_the_files_of_a_row_alone_give_the_row_again(other: str) -> None:
    """Like EleutherAI/pythia-70m of Gallifantjack/lm-evaluation-harness `799d38e2`: `verify` reads these files.

    One file has an error and a sound leaf; the other has that leaf, too, or no leaf of the board.
    """
    wrong = patched({f"/n-shot/{MMLU}": 3, "/date": 1.9e9}, only(base(), {"leaderboard_ifeval", MMLU}))
    sound = only(base(), {"leaderboard_ifeval"})
    named = json.loads(json.dumps(sound).replace("leaderboard_ifeval", other))
    files = {"wrong.json": wrong, "other.json": named}
    row = row_of(files)
    assert row.status == ("incomplete" if other == "leaderboard_ifeval" else "rejected")
    again = row_of({file.path: files[file.path] for file in row.files})
    assert (again.status, entry_of(again)) == (row.status, entry_of(row))
    assert row.files[0].path == "wrong.json"


def test_a_file_that_brings_one_task_is_not_at_fault_and_its_row_is_incomplete() -> None:
    judgement = judgement_of({"part.json": only(base(), {MMLU})})
    ((verdict,), (row,)) = (judgement.verdicts, judgement.rows)
    assert (verdict.status, verdict.findings) == ("accepted", ())
    assert (row.status, row.coverage.present, row.scores.average) == ("incomplete", 1, None)
    assert rules_of(row) == {"missing-task"}
    assert len(row.findings) == 5


def test_where_nothing_of_the_leaderboard_is_there_one_line_says_so() -> None:
    row = row_of({"part.json": only(base(), {MMLU})}, "open-llm-v1-drop")
    other = patched({"/results": {"arc_challenge": {"acc_norm,none": 0.5}}, "/groups": {}, "/group_subtasks": {}})
    nothing = row_of({"other.json": other})
    (finding,) = nothing.findings
    assert (nothing.status, nothing.files) == ("rejected", ())
    assert finding.rule == "missing-task"
    assert "the file has none of the 39 subtasks of open-llm-v2" in finding.message
    assert finding.command == ""
    ours = declared().model_copy(update={"id": "board", "title": "Birds"})  # as a file `board.toml` is called
    (finding,) = row_of({"other.json": other}, ours).findings
    assert "of the 39 subtasks of Birds" in f"{finding.message} {finding.hint}"
    assert "of board" not in f"{finding.message} {finding.hint}"
    assert row.findings == ()  # the format says enough


def test_a_commit_s_date_bounds_that_of_the_file() -> None:
    """A file that claims to come from the future is as old as the commit that brought it."""
    honest, boasting = patched({"/date": 1.75e9}), patched({"/date": 3.9e9} | value(0.5))
    files = {"honest.json": honest, "boasting.json": boasting}
    assert leaf_of(row_of(files), MMLU)[1] == "boasting.json"
    facts = Facts(committed={"honest.json": 1.76e9, "boasting.json": 1.70e9})
    row = row_of(files, facts=facts)
    assert leaf_of(row, MMLU)[1] == "honest.json"
    entry = entry_of(row)
    assert entry is not None
    assert {file.path: file.date[:4] for file in entry.evidence} == {"honest.json": "2025"}


def test_the_time_in_a_name_counts_where_the_file_has_none() -> None:
    first = patched({"/date": None})
    names = ("results_2026-01-02T00-00-00.json", "results_2026-01-01T00-00-00.json")
    row = row_of({names[0]: first, names[1]: patched({"/date": None} | value(0.5))})
    assert leaf_of(row, MMLU)[1] == names[0]


def test_a_value_at_the_end_of_its_range_counts() -> None:
    for number in (0.0, 1.0):
        row = row_of({"old.json": base(), "new.json": patched({"/date": 1.9e9} | value(number))})
        assert leaf_of(row, MMLU) == (number, "new.json")


def test_of_a_leaf_with_two_metrics_their_mean_is_named() -> None:
    strict = {"prompt_level_strict_acc,none": 0.0, "inst_level_strict_acc,none": 1.0}
    new = patched({"/date": 1.9e9, "/results/leaderboard_ifeval": strict}, only(base(), {"leaderboard_ifeval"}))
    found = [found for found in row_of({"old.json": base(), "new.json": new}).findings if found.rule == "rerun-differs"]
    assert [(one.task, "leaderboard_ifeval: 0.5 (new.json)" in one.message) for one in found] == [("ifeval", True)]


# ---- what is rejected ----

# An error of the whole file that leaves its numbers as they are.
SECRET = {"/config/gen_kwargs": {"api_key": "0123456789abcdef"}}


def test_of_rejected_files_the_one_with_the_most_numbers_is_shown_and_then_the_newest() -> None:
    whole = patched(SECRET | {"/date": 1.7e9})
    part = patched(SECRET | {"/date": 1.8e9}, only(base(), {MMLU}))
    row = row_of({"whole.json": whole, "part.json": part})
    assert (row.status, row.lead.path, row.files) == ("rejected", "whole.json", ())
    assert len(row.measurements.present) > len(LEAVES)
    assert row.blocked == dict.fromkeys(sorted(LEAVES), ("secret-in-file",))
    newer = patched(SECRET | {"/date": 1.75e9} | value(0.5))
    assert row_of({"whole.json": whole, "part.json": part, "newer.json": newer}).lead.path == "newer.json"
    assert row_of({"whole.json": whole, "without errors.json": only(base(), set())}).lead.path == "whole.json"


def test_a_rejected_file_does_not_hide_that_the_other_has_no_task_of_the_board() -> None:
    """Nobody could tell why the row is rejected: the finding is about the file that is shown."""
    other = patched({"/date": 1.9e9} | SECRET, only(base(), set()))
    judged = judgement_of({"none.json": only(base(), set()), "other.json": other})
    [row] = judged.rows
    assert (row.status, row.lead.path) == ("rejected", "none.json")
    assert [one.rule for one in row.findings] == ["missing-task"]


def test_a_part_of_a_leaf_counts_before_a_rejected_file_of_other_settings() -> None:
    part = patched({"/date": ABSENT, "/results/leaderboard_ifeval/inst_level_strict_acc,none": ABSENT},
                   only(base(), {"leaderboard_ifeval"}))  # fmt: skip
    for names in ("a.json", "b.json"), ("b.json", "a.json"):
        row = row_of({names[0]: part, names[1]: patched(SECRET)})
        assert (row.status, [file.path for file in row.files]) == ("incomplete", [names[0]])


def test_a_rejected_row_shows_no_number_that_its_error_invalidates() -> None:
    row = row_of({"limited.json": patched({f"/n-samples/{MMLU}/effective": 100} | SECRET)})
    assert row.status == "rejected"
    assert [one.leaf.id for one in row.measurements.missing] == [MMLU]


def test_a_waiver_of_any_of_its_files_covers_what_is_found_of_a_row() -> None:
    waiver = Waiver(rule="missing-task", submission="old.json", reason="one task", who="meg", until=date(2026, 12, 31))
    board = declared().model_copy(update={"waivers": (waiver,)})
    files = {
        f"{name}.json": patched({"/date": day}, only(base(), {MMLU})) for name, day in (("old", 1e9), ("new", 2e9))
    }
    for today, is_waived in ((date(2026, 12, 31), True), (date(2027, 1, 1), False)):
        row = row_of(files, board, Facts(today=today))
        assert (row.status, {bool(found.waived) for found in row.findings}) == ("incomplete", {is_waived})


def test_an_error_about_a_task_blocks_that_task_alone() -> None:
    path = "/results/harness|hendrycksTest-anatomy|5/acc_norm"
    row = row_of({"a.json": patched({path: 0.9}, base_v1())}, "open-llm-v1")
    assert {one.task.id for one in row.measurements.missing} == {"mmlu"}
    assert len(row.blocked) == 57
    assert set(row.blocked.values()) == {("implementation-mismatch",)}


# ---- the published rows ----


def test_reference_models_cut_into_one_file_for_each_task_give_their_published_scores(reference: Path) -> None:
    folder = reference / "openllm_v2"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["files"]
    random, files, averages = Random(0), [], {}
    for row in expected:
        data = json.loads((folder / row["file"]).read_text(encoding="utf-8"))
        if not row["file"].startswith("results/"):
            continue
        averages[row["fullname"]] = row["average"]
        files += [only(deepcopy(data), {leaf.id for leaf in task.leaves}) for task in declared().tasks]
    random.shuffle(files)
    judgement = judged(files)
    assert len(judgement.rows) == len(averages) == 12
    for made in judgement.rows:
        assert (made.status, len(made.files)) == ("accepted", 6)
        assert made.scores.average == pytest.approx(averages[made.model.id], abs=1e-9)


def judged(files: list[dict[str, Any]]) -> Judgement:
    return judgement_of({f"{number}.json": data for number, data in enumerate(files)})


def test_rows_come_in_the_order_of_their_keys() -> None:
    parsed = [parse_submission(name, {"": dumps(patched({"/model_name": f"org/{name}"}))}) for name in "cab"]
    rows = join_rows([judge(one, declared()) for one in parsed], declared())
    assert [row.model.id for row in rows] == ["org/a", "org/b", "org/c"]
