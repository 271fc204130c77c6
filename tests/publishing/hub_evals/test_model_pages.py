"""Whether a value goes to the page of its model: which row, which benchmark, which unit, and what others say there."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, OpenFiles, faults
from bot.publishing.hub_evals.model_layout import ModelsOptions, model_request_text
from bot.publishing.layout import Draft, RowChange
from bot.publishing.publication import Marker, find_marker
from tests.publishing.hub_evals.models import (
    DATASET,
    HEAD,
    HUB,
    PATH,
    board,
    drafted,
    page,
    refusal,
    row,
    written,
)
from tests.publishing.tables.boards import EVIDENCE, MODEL, entry


def foreign(value: str, notes: str = "", task: str = "mmlu_pro") -> bytes:
    said = f"  notes: {notes}\n" if notes else ""
    return f"- dataset:\n    id: {DATASET}\n    task_id: {task}\n  value: {value}\n{said}".encode()


def test_the_raw_value_is_published_and_never_the_normalized_score() -> None:
    draft = drafted(row(0.46659))

    assert [(cell.column, cell.before, cell.after) for cell in draft.cells["a"]] == [("mmlu_pro", None, "46.659")]
    assert written(drafted(row(0.46659), hub={"unit": "proportion"}))[PATH].count(b"value: 0.46659\n") == 1


def test_one_leaf_of_a_column_may_be_published_alone() -> None:
    gpqa = {**HUB, "leaf": "leaderboard_gpqa_diamond"}
    layout = EvalResultsLayout(board(gpqa=gpqa), page())
    draft = layout.draft([RowChange("a", entry(key="a"))], {})

    (data,) = written(draft).values()
    diamond = next(leaf for task in entry().tasks for leaf in task.leaves if leaf.id == "leaderboard_gpqa_diamond")
    assert f"value: {Decimal(repr(diamond.raw)).scaleb(2):f}\n".encode() in data
    assert b"n=198" in data


def test_what_must_not_be_published_is_refused() -> None:
    assert refusal(row(commit="")) == "mmlu_pro: there is no link to its evidence at a commit"
    assert "at a commit" in refusal(row(commit="main"))
    assert "50 is not a proportion" in refusal(row(50.0), hub={"unit": "proportion"})
    assert "200 is not a percent" in refusal(row(2.0))
    quarantined = board()
    task = quarantined.tasks[-1].model_copy(update={"quarantined": "the stop word was wrong"})
    quarantined = quarantined.model_copy(update={"tasks": (*quarantined.tasks[:-1], task)})
    draft = EvalResultsLayout(quarantined, page()).draft([row()], {})
    assert "mmlu_pro is quarantined" in draft.refused["a"]
    incomplete = row()
    gap = RowChange("a", replace(entry(scores={"mmlu_pro": None}, key="a"), verdict="incomplete"))
    assert drafted(gap) == Draft()
    assert drafted(gap, incomplete).files.keys() == {PATH}


def test_a_task_without_a_benchmark_is_not_published() -> None:
    assert EvalResultsLayout(board(other={}), page()).draft([row()], {}) == Draft()


def test_the_task_id_must_be_one_of_the_benchmark() -> None:
    assert "has no eval.yaml, so it is not a benchmark" in refusal(benchmarks={DATASET: None})
    assert "has no eval.yaml" in refusal(benchmarks={})
    why = refusal(hub={"task_id": "default"})
    assert why == "mmlu_pro: TIGER-Lab/MMLU-Pro has no task 'default'; eval.yaml has mmlu_pro, mmlu_pro_easy"


def test_another_framework_needs_a_reason_in_the_declaration() -> None:
    why = refusal(hub={"framework_differs": None})

    assert "names the framework inspect-ai, but this was run with lm-evaluation-harness" in why
    inspect = replace(entry(key="a"), harness=replace(entry().harness, name="inspect_ai"))
    assert drafted(RowChange("a", inspect), hub={"framework_differs": None}).files.keys() == {PATH}


def test_the_unit_must_be_that_of_the_board() -> None:
    shares, percents = {DATASET: [Decimal("0.4"), Decimal("0.9")]}, {DATASET: [Decimal("40.1"), Decimal("0.9")]}

    assert 'the unit seems to be "proportion"' in refusal(published=shares)
    assert 'the unit seems to be "percent"' in refusal(hub={"unit": "proportion"}, published=percents)
    assert drafted(published=percents).files.keys() == {PATH}


def test_of_several_rows_the_one_at_the_model_s_head_counts_or_else_the_newest() -> None:
    old, new = row(0.25, "old"), row(0.75, "new", revision="b" * 40)

    draft = drafted(new, old)
    assert b"value: 25\n" in written(draft)[PATH]
    assert draft.remarks == ("old counts; the same model also has new.",)
    draft = drafted(new, old, head="c" * 40)
    assert b'"key": "old"' in written(draft)[PATH]
    assert draft.remarks[0] == "Measured at 651099358104, which is not the head of main."
    draft = drafted(new, old, head="b" * 40)
    assert b"value: 75\n" in written(draft)[PATH]
    assert drafted(old, new, head="b" * 40) == draft


def test_a_repository_that_moved_gets_nothing() -> None:
    assert "is called acme/renamed now" in refusal(model="acme/renamed")


def test_the_same_again_is_nothing_and_a_new_value_changes_our_file() -> None:
    files = written(drafted(row(0.5)))

    assert drafted(row(0.5), files=files) == Draft()
    assert drafted(row(0.5, commit="b" * 40), files=files) == Draft()
    draft = drafted(row(0.75), files=files)
    assert [(cell.before, cell.after) for cell in draft.cells["a"]] == [("50", "75")]


def test_a_file_of_ours_that_its_owner_edited_is_not_ours_any_more() -> None:
    files = {path: data.replace(b"value: 50", b"value: 51") for path, data in written(drafted(row(0.5))).items()}

    assert "conflict: .eval_results/open-llm-v2-mmlu_pro.yaml exists" in refusal(row(0.75), files=files)


@pytest.mark.parametrize("path", [".eval_results/mmlu.yaml", ".eval_results/x.yml"])
def test_what_somebody_else_says_is_never_written_over(path: str) -> None:
    assert "conflict: " + path + " has 49, this result is 50" in refusal(files={path: foreign("49")})
    assert "has another value" in refusal(files={path: foreign("'unknown'")})
    draft = drafted(files={path: foreign("50.0")})
    assert draft.files == {}
    assert draft.remarks == (f"mmlu_pro: {path} already has this value.",)


@pytest.mark.parametrize("value", ["1e401", "1e999999999", "-1e-999999999", "9" * 500, "0x10", "'x'"])
def test_a_value_that_is_no_number_of_any_measure_is_another_value(value: str) -> None:
    assert "a.yaml has another value, this result is 50:" in refusal(files={"a.yaml": foreign(value)})


def test_a_value_of_very_many_digits_is_shown_in_part() -> None:
    why = refusal(files={"a.yaml": foreign(f"0.{'7' * 50_000}")})

    assert f"a.yaml has 0.{'7' * 58}…, this result is 50:" in why


def test_other_tasks_and_runs_with_tools_are_other_results() -> None:
    assert drafted(files={"a.yaml": foreign("49", task="mmlu_pro_easy")}).files.keys() == {PATH}
    assert drafted(files={"a.yaml": foreign("49", "With tools")}).files.keys() == {PATH}
    assert "conflict" in refusal(files={"a.yaml": foreign("49", "No tools")})


def test_what_open_requests_say_counts_too_but_not_our_own() -> None:
    theirs = OpenFiles("#3", is_ours=False, files={"a.yaml": foreign("49")})
    ours = OpenFiles("#4", is_ours=True, files={PATH: written(drafted(row(0.25)))[PATH]})

    assert "conflict: a.yaml in #3 has 49" in refusal(requests=[theirs])
    assert drafted(requests=[ours]).files.keys() == {PATH}
    unchanged = OpenFiles("#5", is_ours=False, files={"b.yaml": foreign("48")})
    assert "b.yaml has 48" in refusal(files={"b.yaml": foreign("48")}, requests=[unchanged])


def test_our_file_in_a_request_of_somebody_else_is_no_value_of_theirs() -> None:
    files = written(drafted(row(0.5)))
    theirs = OpenFiles("#3", is_ours=False, files={**files, "a.yaml": foreign("1", task="mmlu_pro_easy")})

    assert drafted(row(0.75), files=files, requests=[theirs]).files.keys() == {PATH}


def test_the_notes_leave_out_what_is_unknown() -> None:
    known = row()
    assert known.entry is not None
    task = next(task for task in known.entry.tasks if task.id == "mmlu_pro")
    [leaf] = task.leaves
    bare = replace(task, leaves=(replace(leaf, samples=None),))
    tasks = tuple(bare if each is task else each for each in known.entry.tasks)
    made = replace(known.entry, tasks=tasks, model=replace(known.entry.model, revision="", chat_template=True))
    (data,) = written(drafted(RowChange("a", made))).values()

    assert b"  notes: 'lm-evaluation-harness 0.4.9, 5-shot, chat template, evidence: file'\n" in data


def test_an_unreadable_file_of_somebody_else_stops_nothing_but_its_own_path() -> None:
    assert drafted(files={".eval_results/a.yaml": b"\xff", ".eval_results/b.yaml": b"["}).files.keys() == {PATH}
    assert "conflict" in refusal(files={PATH: b"["})


def test_without_a_row_our_files_go_and_those_of_others_stay() -> None:
    files = {**written(drafted()), ".eval_results/a.yaml": foreign("49")}

    assert drafted(RowChange("a", None), files=files).files == {PATH: None}
    assert drafted(files={".eval_results/open-llm-v2-bbh.yaml": files[PATH], PATH: files[PATH]}).files == {
        ".eval_results/open-llm-v2-bbh.yaml": None
    }


def test_what_must_be_read_is_named() -> None:
    layout = EvalResultsLayout(board(), page())

    listed = [".eval_results/b.yml", ".eval_results/a.yaml", ".eval_results/readme.md"]
    assert layout.paths(listed) == (PATH, ".eval_results/a.yaml", ".eval_results/b.yml")
    files = written(drafted(row(0.5)))
    assert layout.shows(files)
    assert not layout.shows({})
    assert not layout.is_same(files[PATH], None)
    assert not layout.is_same(files[PATH], b"[")


def test_where_a_value_is_published_makes_no_row_stale() -> None:
    assert board().scoring_digest == board(other={}).scoring_digest
    assert board().digest != board(other={}).digest


def test_only_listed_organizations_or_models_are_written_to() -> None:
    options = ModelsOptions(organizations=("acme", "other/model"))

    allowed = {
        name
        for name in ("acme/x", "other/model", "other/x", "acme-2/x", "acme", "acme/a/b", "acme/..")
        if options.allow(name)
    }
    assert allowed == {"acme/x", "other/model"}
    for names in ((), ("a/b/c",), ("*",), ("../x",)):
        with pytest.raises(ValidationError):
            ModelsOptions(organizations=names)


def test_the_hub_s_own_words_about_our_files_are_passed_on() -> None:
    answer = [
        {"filename": PATH, "verified": False, "data": {"dataset": {"id": DATASET, "task_id": "mmlu_pro"}, "value": 50}},
        {"filename": "b.yaml", "error": "task_id is unknown\n<b>"},
        {"filename": 7},
        {"filename": "two.yaml", "data": {"dataset": {"task_id": "a"}}},
        {"filename": "two.yaml", "data": {"dataset": {"task_id": "b"}}},
        {"filename": "two.yaml", "data": {"dataset": {}}},
        {"filename": "long.yaml", "error": "x" * 400},
        "x",
    ]

    assert faults(answer, {PATH: "mmlu_pro"}) == []
    assert faults(answer, {".eval_results/b.yaml": "x"}) == [
        "the Hub hides .eval_results/b.yaml: task_id is unknown\\n<b>"
    ]
    assert faults(answer, {PATH: "other", "c.yaml": "x"}) == [
        f"the Hub shows {PATH} without the task other",
        "the Hub does not show c.yaml",
    ]
    assert faults(answer, {"two.yaml": "a"}) == faults(answer, {"a/b/two.yaml": "b"}) == []
    assert faults(answer, {"long.yaml": "x"}) == ["the Hub hides long.yaml: " + "x" * 300 + "…"]
    assert faults({"error": "x"}, {"c.yaml": "x"}) == faults(None, {"c.yaml": "x"}) == ["the Hub does not show c.yaml"]


def test_the_request_says_what_it_adds_and_how_to_be_rid_of_it() -> None:
    change, draft = row(0.46659), drafted(row(0.46659), head="b" * 40)
    mark = Marker("rolling", MODEL, "open-llm-v2")
    assert change.entry is not None
    text = model_request_text(change.entry, "Open LLM Leaderboard v2", draft, mark)

    assert text.title == "Add evaluation results: mmlu_pro"
    assert "| `mmlu_pro` | 46.659 | – |" in text.body
    assert f"- Evidence: <{EVIDENCE}>" in text.body
    assert f"- Measured at {HEAD[:12]}, which is not the head of main." in text.body
    assert "If you close the request, they are removed" in text.body
    assert find_marker(text.body) == mark
