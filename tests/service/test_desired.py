"""What should stand for rows at a target, given what stands there: each case as a value, without a target."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from msgspec.structs import replace

from bot.publishing.entries import DesiredRow, as_published, desired_together
from bot.publishing.entry import Entry, entry_path
from bot.publishing.publication import (
    CurrentState,
    DesiredState,
    Form,
    Marker,
    PostedComment,
    PostText,
    Request,
    file_marks,
    find_marker,
    migration_mark,
    plan_mark,
    rolling_mark,
    row_mark,
)
from tests.platforms.git.publisher import entry
from tests.service.passes import shown_rows

OURS, THEIRS = "hf://datasets/acme/results", "hf://datasets/olympus/results"
SAID = PostText("As it was", "What a request or a comment says.")

SAME = "The same rows go to [a board](u)."


def of(source: str, commit: str = "a" * 40, model: str = "acme/atlas-7b", day: int = 1, **more: Any) -> Entry:
    """A row from a source."""
    made = entry(model, day, **more)
    return replace(made, evidence=tuple(replace(file, source=source, commit=commit) for file in made.evidence))


NEW = of(OURS)
OTHER = of(OURS, model="acme/borea-1b")
BETTER = of(OURS, day=2, right=(60, 60, 70))
KEY = NEW.key
PATH = entry_path(KEY)
MARK = Marker("entry", KEY, "tiny")


def request(files: dict[str, bytes | None], title: str = "") -> Request:
    return Request("refs/pr/1", files, PostText(title, SAID.body) if title else SAID)


def proposing(row: Entry, main: Entry | None = None) -> CurrentState:
    """A request for a row, beside what stands on main."""
    return CurrentState({PATH: main.to_bytes()} if main else {}, request({PATH: row.to_bytes()}))


def desired_row(entry: Entry | None, source: str = OURS, **more: Any) -> DesiredRow:
    return DesiredRow("tiny", KEY, source, entry, **more)


# ---- one row that is there ----


def test_a_row_is_known_by_its_leaderboard_and_key() -> None:
    assert desired_row(NEW).mark == Marker("entry", KEY, "tiny")
    assert desired_row(NEW).path == f"entries/{KEY}.json"


def test_a_new_row_is_added_with_its_text() -> None:
    row = desired_row(NEW, target="hf://datasets/acme/contents", disputed="acme__first", notes=[SAME])
    found = row.at(CurrentState(), "pull-request")
    assert found.files == {PATH: NEW.to_bytes()}
    assert found.text.title == "Add acme/atlas-7b (bfloat16): 58.33, first submitted in acme__first"
    assert "was first submitted in `acme__first`" in found.text.body
    assert "hf://datasets/acme/contents" in found.text.body
    assert find_marker(found.text.body) == MARK
    assert "The same rows go to [a board](u).\n\n<!--" in found.text.body


def test_only_a_request_says_what_merging_and_closing_it_mean() -> None:
    said = {form: desired_row(NEW).at(CurrentState(), form).text.body for form in ("pull-request", "commit")}
    assert "**Merge** this to add the row to" in said["pull-request"]
    assert "**Close** it to decline" in said["pull-request"]
    assert ("Merge" in said["commit"], "Close" in said["commit"]) == (False, False)


@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_a_row_of_ours_takes_the_place_of_the_one_that_stands_there(form: Form) -> None:
    found = desired_row(NEW).at(CurrentState({PATH: BETTER.to_bytes()}), form)
    assert found.files == {PATH: NEW.to_bytes()}  # also where the one that stands there is newer
    assert found.text.title == "Update acme/atlas-7b (bfloat16): 58.33"


def test_a_row_of_one_call_gives_way_to_a_newer_one_whoever_published_it() -> None:
    assert desired_row(NEW, "").at(CurrentState({PATH: BETTER.to_bytes()}), "commit").files == {PATH: BETTER.to_bytes()}
    assert desired_row(BETTER, "").at(CurrentState({PATH: NEW.to_bytes()}), "commit").files == {PATH: BETTER.to_bytes()}
    assert desired_row(NEW, "").at(proposing(BETTER), "pull-request").files == {PATH: BETTER.to_bytes()}
    # What is proposed already will take the place of what stands on main.
    assert desired_row(NEW, "").at(proposing(of(OURS, right=(1, 1, 1)), BETTER), "pull-request").files == {
        PATH: NEW.to_bytes()
    }


def test_a_merged_row_of_another_source_stands_where_it_is_newer() -> None:
    theirs = of(THEIRS, day=2, right=(60, 60, 70))
    assert desired_row(NEW).at(CurrentState({PATH: theirs.to_bytes()}), "pull-request").files == {
        PATH: theirs.to_bytes()
    }
    older = of(THEIRS, right=(1, 1, 1))
    assert desired_row(BETTER).at(CurrentState({PATH: older.to_bytes()}), "pull-request").files == {
        PATH: BETTER.to_bytes()
    }


def test_what_is_no_entry_is_written_over() -> None:
    found = desired_row(NEW).at(CurrentState({PATH: b"{"}, request({PATH: b"{"})), "pull-request")
    assert (found.files, found.text.title) == ({PATH: NEW.to_bytes()}, "Add acme/atlas-7b (bfloat16): 58.33")


def test_the_same_row_keeps_the_commits_that_are_named_on_main_and_names_those_of_today_elsewhere() -> None:
    old, later = of(OURS, "b" * 40), replace(NEW, tool="9.9.9")
    kept, today = {PATH: old.to_bytes()}, {PATH: NEW.to_bytes()}
    assert desired_row(NEW).at(CurrentState(kept), "pull-request").files == kept
    assert desired_row(NEW).at(proposing(old), "pull-request").files == today
    assert desired_row(NEW, before=old).at(CurrentState(), "pull-request").files == today
    assert desired_row(NEW).at(proposing(later), "pull-request").files == {PATH: later.to_bytes()}
    assert desired_row(NEW).at(proposing(later, old), "pull-request").files == kept  # main counts first


def test_the_first_that_is_the_same_row_is_taken() -> None:
    old, later = of(OURS, "b" * 40), replace(NEW, tool="9.9.9")
    assert as_published(NEW, old, [None, BETTER, later]) is old
    assert as_published(NEW, BETTER, [None, old, later]) is later
    assert as_published(NEW, None, [None, BETTER, old]) is NEW


# ---- as a comment ----


def test_a_comment_has_the_row_and_no_file() -> None:
    row = desired_row(NEW, target="hf://datasets/acme/contents", notes=[SAME])
    found = row.at(CurrentState(), "comment")
    assert (found.files, found.text.title) == ({}, "acme/atlas-7b (bfloat16): 58.33")
    assert "<summary>The row as JSON</summary>" in found.text.body
    assert "hf://datasets/acme/contents" in found.text.body
    assert find_marker(found.text.body) == MARK
    assert "The same rows go to [a board](u).\n\n<!--" in found.text.body


def test_a_request_says_the_rank_of_the_row_and_keeps_it_when_only_the_board_moves() -> None:
    asked = desired_row(NEW, rank=lambda row: f"Rank 2 of 3 with {row.average:.0f}.")
    first = asked.at(CurrentState(), "pull-request").text
    assert "\n\nRank 2 of 3 with 58. Counted when this was proposed.\n\n" in first.body

    proposed = CurrentState({}, Request("refs/pr/1", {PATH: NEW.to_bytes()}, first))
    moved = desired_row(NEW, rank=lambda _: "Rank 1 of 2.")
    assert moved.at(proposed, "pull-request").text == first
    assert "Rank 1 of 2. Counted" in moved.at(CurrentState(), "pull-request").text.body
    better = dataclasses.replace(asked, entry=BETTER)
    assert "Rank 2 of 3 with 62" in better.at(proposed, "pull-request").text.body
    halfway = CurrentState({}, Request("refs/pr/1", {PATH: BETTER.to_bytes()}, first))  # killed before the text
    assert better.at(halfway, "pull-request").text == better.at(CurrentState(), "pull-request").text

    assert "Rank" not in asked.at(CurrentState(), "commit").text.body
    assert "Rank" not in desired_row(NEW).at(CurrentState(), "pull-request").text.body  # it would be alone


def test_a_comment_shows_what_stands_on_main_beside_the_row() -> None:
    body = desired_row(BETTER).at(CurrentState({PATH: NEW.to_bytes()}), "comment").text.body
    assert "| **Average** | | **61.67 ± " in body
    assert "** | 58.33 | +3.33 |" in body


def test_a_comment_stays_as_it_is_where_it_has_this_row() -> None:
    comment = PostedComment("7", "The row, as an older version wrote it.")
    said = DesiredState(PostText("", comment.body), {})
    for before in (NEW, replace(NEW, tool="0.0.1")):
        assert desired_row(NEW, before=before).at(CurrentState(comment=comment), "comment") == said
    both = CurrentState(request=request({PATH: NEW.to_bytes()}), comment=comment)  # the target took requests once
    assert desired_row(NEW, before=NEW).at(both, "comment") == said
    for row, state in (
        (desired_row(NEW, before=NEW), CurrentState()),
        (desired_row(BETTER, before=NEW), CurrentState(comment=comment)),
        (desired_row(NEW), CurrentState(comment=comment)),
    ):
        assert "<summary>The row as JSON</summary>" in row.at(state, "comment").text.body


# ---- one row that was withdrawn ----


def test_a_withdrawn_row_of_ours_is_taken_away() -> None:
    found = desired_row(None).at(CurrentState({PATH: NEW.to_bytes()}), "pull-request")
    assert found.files == {PATH: None}
    assert found.text.title == f"Remove {KEY}"
    assert found.text.body.startswith(f"No submission makes `{PATH}` any more.\n\n**Merge** this to take the row off")
    mark = find_marker(found.text.body)
    assert mark == MARK
    assert mark.rows == (row_mark(PATH, ""),)  # what a person declines who closes it


def test_a_removal_says_its_reason_and_goes_on_saying_it_where_it_waits_in_a_request() -> None:
    row, main = dataclasses.replace(desired_row(None), reason="not accepted: a_b"), {PATH: NEW.to_bytes()}
    found = row.at(CurrentState(main), "pull-request")
    assert found.text.body.startswith(f"No submission makes `{PATH}` any more: not accepted: a\\_b.\n\n**Merge** this")
    assert "**Merge**" not in row.at(CurrentState(main), "commit").text.body
    waits = CurrentState(main, Request("1", {PATH: None}, found.text))
    assert desired_row(None).at(waits, "pull-request") == found


def test_a_withdrawn_row_leaves_the_merged_one_of_another_source() -> None:
    theirs = of(THEIRS).to_bytes()
    for source in (OURS, ""):
        assert desired_row(None, source).at(CurrentState({PATH: theirs}), "pull-request").files == {PATH: theirs}
    assert desired_row(None).at(CurrentState(), "pull-request").files == {PATH: None}
    assert desired_row(None).at(CurrentState({PATH: b"{"}), "pull-request").files == {PATH: b"{"}


def test_a_withdrawn_row_leaves_the_request_of_another_source() -> None:
    state = proposing(of(THEIRS), NEW)
    assert state.request is not None
    assert desired_row(None).at(state, "pull-request") == DesiredState(SAID, state.request.files)
    assert desired_row(None).at(proposing(NEW, NEW), "pull-request").files == {
        PATH: None
    }  # a request of ours is not left


def test_a_withdrawn_row_leaves_the_comment_of_another_source() -> None:
    comment = PostedComment("7", f"A row from `{THEIRS}`.")
    assert desired_row(None).at(CurrentState(comment=comment), "comment") == DesiredState(
        PostText("", comment.body), {}
    )
    mine = desired_row(None).at(CurrentState(comment=PostedComment("7", f"A row from `{OURS}`.")), "comment")
    assert mine.text.title == f"Remove {KEY}"


def test_a_comment_is_of_the_source_that_its_row_names_and_not_of_one_with_the_same_last_part() -> None:
    mine, namesake = of("/srv/ours/results"), of("/srv/theirs/results")
    for row, is_ours in ((mine, True), (namesake, False)):
        body = desired_row(row, "").at(CurrentState(), "comment").text.body
        assert "`results`" in body
        state = CurrentState(comment=PostedComment("7", body))
        title = desired_row(None, "/srv/ours/results").at(state, "comment").text.title
        assert title == (f"Remove {KEY}" if is_ours else "")


def test_a_row_of_which_one_file_is_ours_goes_when_it_is_withdrawn() -> None:
    joined = replace(NEW, evidence=of(THEIRS).evidence + NEW.evidence).to_bytes()
    assert desired_row(None).at(CurrentState({PATH: joined}), "pull-request").files == {PATH: None}


# ---- many rows in one request ----

ROLLING = rolling_mark("tiny")
OTHER_PATH = entry_path(OTHER.key)


def both() -> list[DesiredRow]:
    return [desired_row(NEW), DesiredRow("tiny", OTHER.key, OURS, OTHER)]


def test_the_marks_of_shared_requests_name_the_leaderboard() -> None:
    assert rolling_mark("tiny") == Marker("rolling", "rolling/tiny", "tiny")
    assert migration_mark("tiny") == Marker("migration", "migration/tiny", "tiny")
    assert plan_mark("tiny", OURS) == Marker("plan", f"plan of tiny from {OURS}", "tiny")


def test_rows_join_what_a_shared_request_proposes() -> None:
    state = CurrentState({}, request({"entries/tiny/x.json": b"x", PATH: BETTER.to_bytes()}))
    found = desired_together(
        ROLLING,
        both(),
        state,
        "pull-request",
        derived={"README.md": b"card"},
        notes=[SAME],
    )
    assert found.files == {
        "entries/tiny/x.json": b"x",
        PATH: NEW.to_bytes(),
        OTHER_PATH: OTHER.to_bytes(),
        "README.md": b"card",
    }
    assert found.text.title == "Add 2 rows and remove 1 row of tiny"  # what is no entry is none
    assert "README" not in found.text.body
    mark = find_marker(found.text.body)
    assert mark == ROLLING
    assert set(mark.rows or ()) == file_marks(found.files)
    assert "The same rows go to [a board](u).\n\n<!--" in found.text.body


def test_declined_rows_and_rows_that_stand_there_are_not_proposed() -> None:
    there = {PATH: of(OURS, "b" * 40).to_bytes(), "README.md": b"card"}
    derived: dict[str, bytes | None] = {"README.md": b"card"}
    found = desired_together(ROLLING, both(), CurrentState(there), "pull-request", derived=derived)
    assert found.files == {OTHER_PATH: OTHER.to_bytes()}
    assert desired_together(ROLLING, both(), CurrentState(there), "pull-request", without=[OTHER_PATH]).files == {}


def test_a_shared_request_says_what_merging_and_closing_mean_and_a_commit_does_not() -> None:
    def body(form: Form, *, is_discussed: bool) -> str:
        return desired_together(ROLLING, both(), CurrentState({}), form, is_discussed=is_discussed).text.body

    said = body("pull-request", is_discussed=True)
    assert "\n\n**Merge** this to make these changes on the board. **Close** it to decline them: " in said
    assert "`/decline KEY`, where KEY is the path of its file without `entries/` and `.json`.\n\n" in said
    assert "/decline" not in body("pull-request", is_discussed=False)
    assert "**Merge**" not in body("commit", is_discussed=True)


def test_a_shared_request_tells_the_rows_before_and_after_in_the_order_of_their_keys() -> None:
    there = {PATH: BETTER.to_bytes(), OTHER_PATH: OTHER.to_bytes()}
    rows = [DesiredRow("tiny", OTHER.key, OURS, None), desired_row(NEW)]
    found = desired_together(ROLLING, rows, CurrentState(there), "pull-request")
    assert found.files == {OTHER_PATH: None, PATH: NEW.to_bytes()}
    assert found.text.title == "Update 1 row and remove 1 row of tiny"
    assert shown_rows(found.text) == ["`acme/atlas-7b` 61.67 → 58.33 ± 6.08", "`acme/borea-1b` 58.33 → removed"]


def test_a_migration_says_why_each_row_changes() -> None:
    mark = migration_mark("tiny")
    there = {PATH: BETTER.to_bytes(), OTHER_PATH: OTHER.to_bytes()}
    rows = [DesiredRow("tiny", OTHER.key, OURS, None), desired_row(NEW)]
    why = {KEY: "a | b", OTHER.key: "c"}
    found = desired_together(mark, rows, CurrentState(there), "pull-request", why=lambda old, _: why[old.key])
    assert found.text.title == "Score 2 rows of tiny again"
    lines = [line for line in found.text.body.split("\n") if line.startswith("| `")]
    assert lines == [
        f"| `{KEY}` | 61.67 → 58.33 | a \\| b |",
        f"| `{OTHER.key}` | 58.33 → – | c |",
    ]


def test_a_migration_that_also_brings_a_row_tells_of_those_that_are_scored_again() -> None:
    there = {PATH: BETTER.to_bytes(), "entries/tiny/x.json": b"{"}
    proposed = request({OTHER_PATH: OTHER.to_bytes(), "entries/tiny/x.json": None})
    found = desired_together(
        migration_mark("tiny"), [desired_row(NEW)], CurrentState(there, proposed), "pull-request", why=lambda _, __: "y"
    )
    assert found.files.keys() == {PATH, OTHER_PATH, "entries/tiny/x.json"}
    assert found.text.title == "Score 1 row of tiny again"
    assert f"| `{KEY}` | 61.67 → 58.33 | y |" in found.text.body


def test_only_a_migration_tells_reasons() -> None:
    said = [
        desired_together(ROLLING, [desired_row(NEW)], CurrentState(), "pull-request", why=why).text
        for why in (None, lambda _, __: "a reason")
    ]
    assert said[0] == said[1]
