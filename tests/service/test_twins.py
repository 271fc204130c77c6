"""Rows that read alike: a submission that spells a model otherwise makes no second row, and both are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.evaluation.row_key import twins
from bot.platforms.platform import Opener
from bot.service.checks.verify import Verifier
from tests.platforms.git.publisher import entry
from tests.service.stories import Story, runs_are_of, unnamed_result
from tests.variants import crossed, one_of
from tests.world.hub import Hub
from tests.world.results import path_of, result

FIRST, OTHER = "acme/atlas-7b", "Acme/Atlas-7B"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Story:
    return Story(hub, tmp_path, form="commit")


def models(story: Story) -> list[str]:
    """The models on the board."""
    target = Opener(story.contexts.access, story.folder).target("hf://datasets/acme/contents")
    return sorted(entry.model.id for entry in target.scan_entries().entries)


def spelled(model: str, right: tuple[int, int, int] = (50, 60, 70), of: str = FIRST) -> bytes:
    """The result of the same run of the same commit, with the model's name spelled otherwise.

    A run of another commit is one `of` another model.
    """
    return result(of, right=right).replace(of.encode(), model.encode())


def statuses(story: Story) -> dict[str, str]:
    found = story.state.submissions.at([path_of(FIRST), path_of(OTHER)])
    return {one.parsed.result.model.id: one.status for one in found.values() if one.parsed and one.parsed.result}


@pytest.mark.parametrize("other", one_of(["acme/atlas\u200b-7b", "Acme/atlas-7b", "acme/atlas-7B", "acme/atlas-7b "]))
def test_a_model_that_is_spelled_otherwise_makes_no_second_row(story: Story, other: str) -> None:
    story.push()
    story.settle()
    story.push(spelled(other, (90, 90, 90)), path_of("eve/other"))
    [rejected] = [one for one in story.settle() if one.outcome == "rejected"]
    assert rejected.subject == path_of("eve/other")
    assert "spelled-otherwise" in rejected.text
    assert "tiny/acme/atlas-7b/" in rejected.text
    assert models(story) == [FIRST]


@pytest.mark.slow
def test_a_model_that_is_spelled_otherwise_makes_no_second_row_at_another_commit_either(story: Story) -> None:
    story.push()
    story.push(spelled(FIRST, of="eve/later-7b"), path_of("acme/later"))
    story.settle()
    assert models(story) == [FIRST, FIRST]
    story.push(spelled(OTHER, of="eve/last-7b"), path_of(OTHER))
    for _ in range(2):
        [rejected] = [one for one in story.settle() if one.outcome == "rejected"]
        assert rejected.subject == path_of(OTHER)
        assert "spelled-otherwise" in rejected.text
        assert models(story) == [FIRST, FIRST]
        story.lose_state()
    story.hub.push(story.source, {path_of(): None, path_of("acme/later"): None})
    story.settle()
    story.settle()
    assert models(story) == [OTHER]


def test_a_model_that_the_settings_spell_otherwise_makes_no_second_row_either(story: Story) -> None:
    story.push()
    story.settle()
    story.more = runs_are_of(OTHER)
    story.push(unnamed_result(), "runs/x.json")
    [rejected] = [one for one in story.settle() if one.outcome == "rejected"]
    assert rejected.subject == "runs/x.json"
    assert "spelled-otherwise" in rejected.text
    assert models(story) == [FIRST]


def test_no_file_is_rejected_for_what_the_settings_called_its_own_model_before(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push(unnamed_result(), "runs/x.json")
    story.push(model="zeta/zeus-1b")
    for model in (OTHER, FIRST):
        story.more = runs_are_of(model)
        story.settle()
        assert sorted(request.title.split()[1] for request in story.requests) == [model, "zeta/zeus-1b"]
        assert story.state.submissions.counts() == {"accepted": 2}


@pytest.mark.parametrize("other", one_of([OTHER, f"{FIRST} ", f" {FIRST}"]))
def test_a_file_that_makes_no_row_keeps_no_spelling_from_others(hub: Hub, tmp_path: Path, other: str) -> None:
    story = Story(hub, tmp_path, form="commit", more='owners = {"acme__" = ["acme"]}')
    story.push(spelled(other, (90, 90, 90)), path_of("eve/other"))
    story.settle()
    assert models(story) == []
    story.push()
    story.settle()
    assert models(story) == [FIRST]
    found = story.state.submissions.at([path_of("eve/other")])
    assert [one.status for one in found.values()] == ["rejected"]


def test_of_two_spellings_in_one_push_one_is_published(story: Story) -> None:
    story.hub.push(story.source, {path_of(one): spelled(one) for one in (FIRST, OTHER)})
    outcomes = story.settle()
    assert len(models(story)) == 1
    assert sorted(statuses(story).values()) == ["accepted", "rejected"]
    [rejected] = [one.text for one in outcomes if one.outcome == "rejected"]
    assert all(f"tiny/{model}/" in rejected for model in (FIRST, OTHER))


def test_the_row_on_the_board_counts_whatever_the_state_remembers(story: Story) -> None:
    story.push(spelled(OTHER), path_of(OTHER))
    story.settle()
    story.push()
    story.lose_state()
    story.settle()
    story.settle()
    assert models(story) == [OTHER]
    assert statuses(story) == {FIRST: "rejected", OTHER: "accepted"}


# Measured later, and at an unknown time.
@crossed(first=[FIRST, OTHER], last=[2, 0])
def test_of_two_spellings_on_the_board_the_one_that_was_measured_first_counts(
    story: Story, first: str, last: int
) -> None:
    """Somebody else brought both rows there; their files came in the other order."""
    for model, day in sorted({FIRST: last, OTHER: last, first: 1}.items(), key=lambda one: one[0] == first):
        row = entry(model, day)
        row = row if day else replace(row, evidence=tuple(replace(file, date="") for file in row.evidence))
        story.hub.push(story.target, {row.path: row.to_bytes()})
        story.push(model=model)
    story.settle()
    story.settle()
    assert statuses(story) == {FIRST: "rejected", OTHER: "rejected", first: "accepted"}


def test_when_the_first_spelling_is_withdrawn_the_other_is_published(story: Story) -> None:
    story.push()
    story.settle()
    story.push(spelled(OTHER), path_of(OTHER))
    story.settle()
    assert statuses(story) == {FIRST: "accepted", OTHER: "rejected"}
    story.remove()
    story.settle()
    story.settle()
    assert models(story) == [OTHER]
    assert statuses(story) == {OTHER: "accepted"}


def test_what_stands_in_another_row_is_named_by_the_service_and_follows_in_verify(story: Story) -> None:
    story.push()
    story.settle()
    story.push(model="eve/copy-7b")  # the same numbers under another name
    story.settle()
    target = Opener(story.contexts.access, story.folder).target("hf://datasets/acme/contents")
    first, copy = sorted(target.scan_entries().entries, key=lambda entry: entry.model.id)
    assert [remark.rule for remark in first.warnings if remark.rule == "duplicate-scores"] == []
    [warning] = [remark for remark in copy.warnings if remark.rule == "duplicate-scores"]
    assert warning.message.startswith(f"{FIRST} has the same value in every task")
    assert copy.facts is not None
    assert copy.facts.same_values == FIRST
    outcomes = {row.key: row.outcome for row in Verifier(target, Opener(story.contexts.access, story.folder)).verify()}
    assert outcomes == {first.key: "follows", copy.key: "follows"}


@pytest.mark.parametrize("digits", one_of([7, 39, 12]))
def test_a_shortened_commit_makes_no_second_row(story: Story, digits: int) -> None:
    story.push()
    story.settle()
    whole = entry().model.revision
    bad = result(right=(90, 90, 90)).replace(whole.encode(), whole[:digits].encode())
    story.push(bad, path_of("eve/other"))
    [rejected] = [one for one in story.settle() if one.outcome == "rejected"]
    assert "spelled-otherwise" in rejected.text
    assert models(story) == [FIRST]


def test_a_shortened_commit_reads_as_the_whole_one_and_nothing_else_does() -> None:
    whole = "0123456789abcdef0123456789abcdef01234567"
    for short in (whole[:7], whole[:12], whole[:39]):
        ours, other = f"b/acme/m/{whole}-x", f"b/acme/m/{short}-x"
        assert twins([(0, ours), (1, other)]) == {other: ours}
        assert twins([(1, ours), (0, other)]) == {ours: other}
        assert twins([(0, ours), (1, f"b/acme/m/{short}-y"), (1, f"b/acme/n/{short}-x")]) == {}
    near = f"{whole[:39]}8"
    ours, theirs, short = (f"b/acme/m/{one}-x" for one in (whole, near, whole[:39]))
    assert twins([(0, ours), (1, theirs), (2, short)]) == {short: ours}
    assert twins([(0, short), (1, theirs), (2, ours)]) == {theirs: short, ours: short}
    apart = [whole[:6], "0123456789abcde0", "1000000", "10000000", "0123456-main", whole[:39] + "8"]
    assert twins((0, f"b/acme/m/{one}-x") for one in [whole, *apart]) == {}


def test_keys_that_differ_in_more_than_case_and_spaces_read_otherwise() -> None:
    settings = ["r-float16", "r-bfloat16", "r-float16-chat", "s-float16"]
    keys = [f"{model}/{one}" for model in ("b/acme/m", "b/acme/n", "b/acme-m/m", "c/acme/m") for one in settings]
    assert twins((0, key) for key in keys) == {}
    assert twins([(0, "b/acme/m/main-x"), (1, "b/acme/m/Main-x")]) == {"b/acme/m/Main-x": "b/acme/m/main-x"}
    assert twins([(1, "b/acme/M/r-x"), (0, "b/acme/m/s-y"), (2, "b/acme/m/r-x")]) == {"b/acme/M/r-x": "b/acme/m/s-y"}
