"""What of a row goes to the page of its model: the value at the edges of its unit, the notes, and who says it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from bot.errors import Unwritable
from bot.evaluation.task import HubBenchmark, Task
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, eval_results_path
from bot.publishing.hub_evals.model_layout import eval_result_of, notes_of, value_of
from bot.publishing.tables.values import RowView
from tests.publishing.hub_evals.models import DATASET, HUB, board, drafted, page, row
from tests.publishing.tables.boards import entry


def viewed(made: Entry, **changes: Any) -> RowView:
    return RowView(made, board().model_copy(update=changes))


def benchmark(**changes: Any) -> HubBenchmark:
    return HubBenchmark.model_validate({**HUB, **changes})


def task_of(view: RowView, name: str = "mmlu_pro", **changes: Any) -> Task:
    return view.declared(name).model_copy(update=changes)


@pytest.mark.parametrize(
    ("raw", "unit", "value"),
    [
        (0.0, "percent", "0"),
        (0.0, "proportion", "0"),
        (1.0, "percent", "100"),
        (1.0, "proportion", "1"),
        (1.0000001, "percent", None),
        (1.0000001, "proportion", None),
        (-0.0000001, "percent", None),
    ],
)
def test_a_value_may_be_at_each_end_of_its_unit_and_not_beyond(raw: float, unit: str, value: str | None) -> None:
    view = viewed(entry(scores={"mmlu_pro": raw}))
    if value is None:
        with pytest.raises(Unwritable, match=f"is not a {unit}"):
            value_of(view, task_of(view), benchmark(unit=unit))
    else:
        assert value_of(view, task_of(view), benchmark(unit=unit)) == Decimal(value)


def test_a_task_or_leaf_without_one_raw_value_is_refused_by_its_name() -> None:
    view = viewed(entry(scores={"mmlu_pro": None}))
    with pytest.raises(Unwritable, match=r"^mmlu_pro does not have exactly one raw value"):
        value_of(view, task_of(view), benchmark())
    with pytest.raises(Unwritable, match=r"^other does not have exactly one raw value"):
        value_of(view, task_of(view, "bbh"), benchmark(leaf="other"))


def test_an_incomplete_row_is_refused() -> None:
    view = viewed(replace(entry(), verdict="incomplete"))
    with pytest.raises(Unwritable) as caught:
        eval_result_of(view, task_of(view), benchmark(), "acme", is_org=False)
    assert str(caught.value) == "the row is incomplete"


def test_an_organization_says_its_values_as_one_and_a_person_as_one() -> None:
    view = viewed(entry(), title="A\n title  " + "t" * 1_000)
    org = eval_result_of(view, task_of(view), benchmark(), "acme", is_org=True)
    person = eval_result_of(view, task_of(view), benchmark(), "ann", is_org=False)

    assert (org.source_org, org.source_user) == ("acme", "")
    assert (person.source_org, person.source_user) == ("", "ann")
    assert org.source_name == "A title " + "t" * 492 + "…"
    draft = EvalResultsLayout(board(), page(is_org=True)).draft([row()], {})
    assert b"    org: acme-bot\n" in b"".join(data or b"" for data in draft.files.values())


def test_the_notes_leave_out_what_nobody_knows() -> None:
    made = entry()
    view = viewed(replace(made, model=replace(made.model, revision="", chat_template=True)))
    assert notes_of(view, task_of(view, num_fewshot=None), benchmark()) == (
        "lm-evaluation-harness 0.4.9, chat template, n=12032, evidence: file"
    )
    bbh = view.task("bbh")
    assert notes_of(view, task_of(view, "bbh"), benchmark()).endswith(
        f"n={sum(leaf.samples or 0 for leaf in bbh.leaves)}, evidence: file"
    )
    bbh = replace(bbh, leaves=(replace(bbh.leaves[0], samples=None), *bbh.leaves[1:]))
    view = viewed(replace(view.entry, tasks=tuple(bbh if one.id == "bbh" else one for one in made.tasks)))
    assert "n=" not in notes_of(view, task_of(view, "bbh"), benchmark())


def test_a_path_has_no_colon_since_no_file_of_windows_has_one() -> None:
    assert eval_results_path("tiny", "a:b") == ".eval_results/tiny-a%3Ab.yaml"


def test_all_reasons_and_all_other_rows_are_named() -> None:
    both = board(mmlu_pro={**HUB, "task_id": "x"}, bbh={**HUB, "task_id": "y"})
    (why,) = EvalResultsLayout(both, page()).draft([row()], {}).refused.values()
    known = "eval.yaml has mmlu_pro, mmlu_pro_easy"
    assert why == f"bbh: {DATASET} has no task 'y'; {known}; mmlu_pro: {DATASET} has no task 'x'; {known}"
    draft = drafted(row(key="a"), row(key="b"), row(key="c"), head="c" * 40)
    assert draft.remarks[-1].endswith("counts; the same model also has a, b.")


def test_a_row_of_an_unknown_revision_says_so() -> None:
    draft = drafted(row(revision=""))
    assert draft.remarks == ("Measured at an unknown revision, which is not the head of main.",)
