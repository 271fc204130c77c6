"""Rows side by side: which row one is compared with, and what a request or a comment says of the two."""

from __future__ import annotations

from msgspec.structs import replace

from bot.evaluation.result import HarnessVersion
from bot.publishing.compared_rows import (
    MOST_FOLDED,
    MOST_SETTINGS,
    beside_line,
    change_lines,
    compared_rows,
    comparisons_markdown,
    counterpart,
    settings_of,
)
from bot.publishing.entry import Entry, Evidence
from tests.platforms.git.publisher import entry

ROW = entry()
OTHER_MODEL = entry("acme/borea-1b")
OF_MODEL = replace(ROW, key=f"{ROW.key}-other", model=replace(ROW.model, id="Acme/Atlas-7B"), evidence=())
OF_FILE = replace(OTHER_MODEL, evidence=ROW.evidence)
WORSE = entry(right=(10, 10, 10))


def measured_otherwise(row: Entry) -> Entry:
    """The row of a run of which ten settings differ: four of the run, and three of each of its two tasks."""
    numbers = {leaf.id: place for place, task in enumerate(row.tasks, 2) for leaf in task.leaves}
    return replace(
        row,
        harness=HarnessVersion("lm-evaluation-harness", version="0.4.9"),
        model=replace(row.model, precision="float16", chat_template=True),
        evidence=tuple(replace(file, format="helm") for file in row.evidence),
        versions={leaf: str(number) for leaf, number in numbers.items()},
        num_fewshot=numbers,
        num_samples={leaf: 200 + number for leaf, number in numbers.items()},
    )


def with_other_bounds(row: Entry) -> Entry:
    tasks = [
        replace(task, leaves=tuple(replace(leaf, lower_bound=f"1/{place}") for leaf in task.leaves))
        for place, task in enumerate(row.tasks, 5)
    ]
    return replace(row, tasks=tuple(tasks))


def test_a_row_is_compared_with_that_of_its_key_else_of_its_model_else_of_its_file() -> None:
    assert counterpart(ROW, [OF_FILE, OF_MODEL, ROW]) is ROW
    assert counterpart(ROW, [OF_FILE, OF_MODEL]) is OF_MODEL
    assert counterpart(ROW, [OTHER_MODEL, OF_FILE]) is OF_FILE
    assert counterpart(ROW, [OTHER_MODEL]) is None


def test_a_line_beside_a_row_says_which_row_it_is_compared_with() -> None:
    assert beside_line(ROW, [WORSE]).startswith("The new row is ")
    assert beside_line(ROW, [OF_MODEL]).startswith(f"The board has another row of this model, `{OF_MODEL.key}`. ")
    assert beside_line(ROW, [OTHER_MODEL, OF_FILE]) == ""
    assert beside_line(ROW, [replace(OF_MODEL, tasks=())]) == ""


def test_a_row_says_how_it_was_measured() -> None:
    settings, of_leaves = settings_of(ROW)
    assert settings == {
        "harness": "lm-evaluation-harness",
        "starting folder": "abcdef12",
        "precision": "bfloat16",
        "chat template": "no",
        "format": "lm-eval-0.4",
    }
    assert of_leaves["bounds"] == {"sums_plus": "1/4 to 1", "sums_times": "0 to 1", "logic": "0 to 1"}
    commit = replace(ROW, harness=replace(ROW.harness, git_hash="abcdef12" * 5), evidence=(*ROW.evidence, Evidence()))
    assert settings_of(commit)[0] == settings | {"starting folder": "abcdef12a"}
    other, _ = settings_of(measured_otherwise(ROW))
    assert (other["harness version"], other["chat template"]) == ("0.4.9", "yes")


def test_rows_that_asked_otherwise_are_measured_differently() -> None:
    """A row records a digest of each definition; digests of two formats say nothing of each other."""
    leaves = [leaf.id for task in ROW.tasks for leaf in task.leaves]
    one, other = (replace(ROW, definitions=dict.fromkeys(leaves, text)) for text in "ab")
    [_, _, *lines] = change_lines(one, other)
    assert [line.partition(":")[0] for line in lines] == ["- definition of the task"] * len(ROW.tasks)
    assert change_lines(replace(one, definitions={}), other) == change_lines(ROW, ROW)
    foreign = replace(other, evidence=tuple(replace(file, format="helm") for file in other.evidence))
    assert not any("definition" in line for line in change_lines(one, foreign))


def test_what_was_measured_differently_is_named_and_of_very_much_the_rest_is_counted() -> None:
    assert len(change_lines(WORSE, ROW)) == 1
    ten, more = measured_otherwise(ROW), with_other_bounds(measured_otherwise(ROW))
    released = replace(ROW, harness=HarnessVersion("lm-evaluation-harness", version="0.4.8"))
    sentence, empty, *lines = change_lines(released, ten)
    assert ("They were measured differently: " in sentence, empty) == (True, "")
    assert len(lines) == MOST_SETTINGS
    assert lines[-1] == "- format: `lm-eval-0.4` → `helm`"  # what is known to matter comes first
    assert change_lines(released, more)[-1] == "- and 2 more settings"
    unknown = replace(ROW, model=replace(ROW.model, precision=""))
    assert change_lines(ROW, unknown) == change_lines(ROW, ROW)


def test_why_rows_are_not_comparable_reads_as_written_in_a_commit_message_too() -> None:
    """A colon as `&#58;` would become `&# 58;` there, where nothing may look like the number of an issue."""
    sentence, *_ = change_lines(ROW, with_other_bounds(ROW))
    assert "not comparable: `sums: the same raw value gives another score`." in sentence
    beside = beside_line(with_other_bounds(OF_MODEL), [ROW])
    assert "not comparable: `sums: the same raw value gives another score`." in beside


def test_of_very_many_comparisons_the_first_are_shown_and_the_others_counted() -> None:
    one = compared_rows(WORSE, ROW, ("the base", "acme/atlas-7b"))
    assert one is not None
    text = comparisons_markdown([one] * MOST_FOLDED, ["acme/new-1b"] * (MOST_FOLDED + 1))
    assert text.count("**`acme/atlas-7b`, compared with `the base`:** ") == MOST_FOLDED
    assert "more rows" not in text
    assert text.count("`acme/new-1b`") == MOST_FOLDED
    more = comparisons_markdown([one] * (MOST_FOLDED + 2), [])
    assert more.count("<details>") == MOST_FOLDED
    assert "… and 2 more rows." in more
    assert "Not compared" not in more


def test_rows_that_are_equal_where_both_have_a_task_are_not_called_equal_on_all() -> None:
    """A new column moves the average of the row, about which the sentence beside it says nothing."""
    tasks = [replace(task, id=f"{task.id} {place}") for place in range(2) for task in ROW.tasks]
    [sentence] = change_lines(replace(ROW, tasks=tuple(tasks[:3])), replace(ROW, tasks=tuple(tasks)))
    assert "they are equal on the average of the 3 tasks that both have (± " in sentence


def test_rows_without_a_common_task_are_not_compared() -> None:
    assert compared_rows(replace(ROW, tasks=ROW.tasks[:1]), replace(ROW, tasks=ROW.tasks[1:]), ("", "")) is None
    assert change_lines(replace(ROW, tasks=()), ROW) == []


def test_a_release_that_one_row_does_not_record_is_no_difference() -> None:
    unknown, older, newer = (
        replace(ROW, harness=HarnessVersion("lm-evaluation-harness", version=one)) for one in ("", "0.4.8", "0.4.9")
    )
    other = replace(ROW, harness=HarnessVersion("lighteval"))
    assert values_apart(ROW, unknown) == []
    assert values_apart(ROW, newer) == []  # the row has a commit, which need not be of the harness
    assert values_apart(older, newer) == [("0.4.8", "0.4.9")]
    assert values_apart(ROW, other) == [("lm-evaluation-harness", "lighteval")]


def values_apart(one: Entry, other: Entry) -> list[tuple[str, str]]:
    """The values of each setting that differs between two rows."""
    comparison = compared_rows(one, other, ("one", "other"))
    assert comparison is not None
    return [found.values for found in comparison.settings]
