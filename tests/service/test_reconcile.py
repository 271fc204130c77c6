"""The reconciler: one look settles all of a row, what stands there stays, and what failed is looked at again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.errors import BotError, Refused, Stale, Unavailable, Unsettled
from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.git.target import Folder
from bot.publishing.board import CSV_NAME
from bot.publishing.entries import parsed
from bot.publishing.entry import Declared, declaration_path, entry_path
from bot.publishing.publication import (
    Commit,
    CurrentState,
    DesiredState,
    Form,
    Marker,
    PostText,
    file_marks,
    migration_mark,
    rolling_mark,
)
from bot.service.publish.made_rows import MOST_DECLARATIONS_READ, Rescored
from bot.service.publish.one_call import publish
from bot.service.publish.reconcile import PublishResult, publish_comment, rebuild_board, reconcile, retry_write
from tests.platforms.git.publisher import DECLARED, entry
from tests.service.passes import shown_rows
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import TINY

MARK = Marker("entry", "tiny/acme/atlas-7b/0-bfloat16", "tiny")
TEXT = PostText("Add it", f"Body.\n\n{MARK.render()}")


def test_duplicates_are_closed_and_the_first_is_updated_in_one_go(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    for _ in range(3):
        hub.open_request(story.target, {"a.json": b"1"}, TEXT.title, TEXT.body, "bot")
    target = story.contexts.open_context(story.watch).targets[0][0]

    done = reconcile(target, MARK, ("a.json",), lambda _: DesiredState(TEXT, {"a.json": b"2"}), "pull-request")

    assert done.decision.why == "the open request is updated"
    (first,) = story.requests
    assert first.num == 1
    assert hub.file(story.target, "a.json", first.ref) == b"2"
    story.contexts.store.close()


def test_what_is_restored_is_proposed_although_a_person_closed_the_same_once(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)

    def bring(*, is_restored: bool = False) -> int:
        target = story.contexts.open_context(story.watch).targets[0][0]
        reconcile(target, MARK, ("a.json",), desire, "pull-request", is_restored=is_restored)
        return len(story.requests)

    assert bring() == 1
    hub.set_status(story.target, story.requests[0], "closed", "ann")
    assert bring() == 0
    assert bring(is_restored=True) == 1
    story.contexts.store.close()


# ---- a folder, where one look is as good as another ----

ONE = {"a.json": b"1"}


def desire(state: CurrentState) -> DesiredState:
    return DesiredState(TEXT, ONE)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    found = Folder(str(tmp_path / "board"))
    found.check()
    return found


def state_of(folder: Folder) -> CurrentState:
    return folder.read_state(MARK, ("a.json",))


def test_what_stands_there_is_written_once(folder: Folder) -> None:
    first = reconcile(folder, MARK, ("a.json",), desire, "commit")
    assert (first.subject, first.decision.why) == (MARK.key, "a commit makes the change")
    assert first.where
    assert state_of(folder).files == ONE

    again = reconcile(folder, MARK, ("a.json",), desire, "commit")
    assert (again.subject, again.where) == (MARK.key, "")
    assert again.decision.publication is None


@pytest.mark.parametrize("form", ["commit", "pull-request"])
def test_a_dry_run_decides_and_writes_nothing(folder: Folder, form: Form) -> None:
    done = reconcile(folder, MARK, ("a.json",), desire, form, dry_run=True)
    assert isinstance(done.decision.publication, Commit) is (form == "commit")
    assert (done.subject, done.where) == (MARK.key, "")
    assert state_of(folder) == CurrentState()


def test_a_write_that_another_overtakes_is_decided_anew(folder: Folder) -> None:
    states: list[CurrentState] = []

    def overtaken(state: CurrentState) -> DesiredState:
        if not states:
            reconcile(Folder(folder.name), MARK, ("a.json",), desire, "commit")
        states.append(state)
        return DesiredState(TEXT, {"a.json": b"2"})

    done = reconcile(folder, MARK, ("a.json",), overtaken, "commit")
    assert [state.files for state in states] == [{}, ONE]
    assert isinstance(done, PublishResult)
    assert state_of(folder).files == {"a.json": b"2"}


# ---- what is looked at again ----


def tries(*failures: BotError) -> int:
    """How often something is tried that fails like this, the last way again and again."""
    left, count = [*failures], 0

    def call() -> None:
        nonlocal count
        count += 1
        raise left.pop(0) if len(left) > 1 else left[0]

    with pytest.raises(type(failures[-1])):
        retry_write(call)
    return count


def test_a_failed_write_is_tried_four_times() -> None:
    assert tries(Unavailable("the Hub", "is busy", retry_after=0)) == 4
    assert tries(Unsettled("another process writes it", retry_after=0)) == 4


def test_what_another_try_does_not_mend_is_not_tried_again() -> None:
    assert tries(Refused("the Hub", "no right to write")) == 1
    assert tries(Stale("main moved"), Refused("the Hub", "no right to write")) == 2


def test_one_item_waits_for_no_service_longer_than_ten_seconds() -> None:
    assert tries(Unavailable("the Hub", "is busy", retry_after=11)) == 1
    assert tries(Unsettled("another process writes it", retry_after=11)) == 1


# ---- comments ----


def test_a_comment_is_opened_only_where_it_may_be_and_edited_wherever_it_stands(folder: Folder) -> None:
    mark = Marker("plan", "plan of tiny from results", "tiny")

    def say(words: str, *, may_open: bool) -> str:
        return publish_comment(mark, PostText("Title", f"{words}\n\n{mark.render()}"), folder, may_open=may_open)

    def said() -> str:
        comment = folder.read_state(mark, ()).comment
        return comment.body.split("\n")[0] if comment else ""

    assert (say("first", may_open=False), said()) == ("", "")
    assert say("first", may_open=True)
    assert said() == "first"
    assert say("first", may_open=True) == ""
    assert say("second", may_open=False)
    assert said() == "second"


# ---- entries and their board ----


def test_what_is_no_entry_is_none() -> None:
    row = entry()
    assert parsed(row.to_bytes()) == row
    assert (parsed(None), parsed(b"{"), parsed(b"")) == (None, None, None)


def test_of_rows_that_are_stored_together_one_that_is_there_is_not_called_stored(folder: Folder) -> None:
    there, *new = (entry(model) for model in ("acme/atlas-7b", "acme/borea-1b", "acme/ceres-7b"))
    publish([there], folder, "commit")
    done = publish([there, *new], folder, "commit")
    whys = {one.subject: one.decision.why for one in done}
    assert whys.pop(there.key) == "the main branch has it already"
    assert whys == {row.key: "a commit makes the change" for row in new}
    assert len({one.where for one in done} - {""}) == 1


def test_what_a_request_proposes_is_not_stored_with_rows_that_are_committed_together(folder: Folder) -> None:
    old, other = entry(), entry("acme/borea-1b")
    better = entry(day=2, right=(90, 90, 90))
    mark = rolling_mark("tiny")
    text = PostText("Update 1 row of tiny", f"Body.\n\n{mark.render()}")
    reconcile(
        folder, mark, (better.path,), lambda _: DesiredState(text, {better.path: better.to_bytes()}), "pull-request"
    )
    publish([old, other], folder, "commit")
    assert sorted(folder.scan_entries().entries, key=lambda row: row.key) == [old, other]


def test_a_row_that_goes_to_a_shared_request_leaves_the_text_of_the_others_as_it_is(folder: Folder) -> None:
    models = ("acme/atlas-7b", "acme/borea-1b")
    publish([entry(model) for model in models], folder, "commit")
    better = [entry(model, day=2, right=(60, 60, 70)) for model in models]
    files = {row.path: row.to_bytes() for row in better}
    mark = rolling_mark("tiny")
    text = PostText("Update 2 rows of tiny", f"Body.\n\n{mark.render()}")
    reconcile(folder, mark, tuple(files), lambda _: DesiredState(text, files), "pull-request")
    publish([entry(day=3, right=(70, 60, 70))], folder, "pull-request")
    request = folder.read_state(mark, tuple(files)).request
    assert request is not None
    assert shown_rows(request.text) == ["`acme/atlas-7b` 58.33 → 65.00 ± 5.94", "`acme/borea-1b` 58.33 → 61.67 ± 6.04"]


def test_a_row_s_own_request_has_no_part_in_rows_that_are_committed_together(folder: Folder) -> None:
    old, other = entry(), entry("acme/borea-1b")
    better = entry(day=2, right=(90, 90, 90))
    publish([better], folder, "pull-request")
    publish([old, other], folder, "commit")
    assert sorted(folder.scan_entries().entries, key=lambda row: row.key) == [old, other]
    request = folder.read_state(Marker("entry", better.key, "tiny"), (better.path,)).request
    assert request is not None
    assert request.files == {better.path: better.to_bytes()}


@pytest.mark.parametrize("mark", [rolling_mark("tiny"), migration_mark("tiny")], ids=lambda mark: str(mark.kind))
def test_a_row_stays_in_the_shared_request_that_has_it_and_is_not_proposed_once_that_is_closed(
    folder: Folder, mark: Marker
) -> None:
    row, other = entry(), entry("acme/borea-1b")
    files = {row.path: row.to_bytes()}
    text = PostText("Rows", f"Body.\n\n{mark.about(file_marks(files)).render()}")
    reconcile(folder, mark, tuple(files), lambda _: DesiredState(text, files), "pull-request")

    [there, new] = publish([row, other], folder, "pull-request")
    assert there.decision.why == "the open request is updated"  # its text alone
    assert new.decision.why == "a new request proposes it"

    branch = f"leaderboard-bot/{mark.key}"
    subprocess.run(["git", "-C", folder.name, "branch", "-D", branch], check=True, capture_output=True)
    again = publish([row, other], Folder(folder.name), "pull-request")
    whys = ["a person closed the request with the same content", "the open request proposes it already"]
    assert [one.decision.why for one in again] == whys
    assert Folder(folder.name).read_state(Marker("entry", row.key, "tiny"), ()).request is None


def test_a_row_is_compared_with_other_rows_of_its_model_and_not_with_itself(folder: Folder) -> None:
    row, beside = entry(day=2, right=(60, 60, 70)), entry(revision=2)
    for there, is_compared in (([entry()], False), ([entry(), beside], True)):
        publish([row], folder, "pull-request", there)
        request = folder.read_state(Marker("entry", row.key, "tiny"), (row.path,)).request
        assert request is not None
        assert ("another row of this model" in request.text.body) is is_compared


def test_a_board_has_the_rows_of_its_own_leaderboard(folder: Folder) -> None:
    mine, theirs = entry(), entry("acme/borea-1b")
    theirs = replace(
        theirs, key=theirs.key.replace("tiny/", "other/"), leaderboard=replace(theirs.leaderboard, id="other")
    )
    publish([mine], folder, "commit")
    reconcile(
        folder,
        MARK,
        (entry_path(theirs.key),),
        lambda _: DesiredState(TEXT, {entry_path(theirs.key): theirs.to_bytes()}),
        "commit",
    )
    assert len(folder.scan_entries().entries) == 2
    assert folder.scan_entries().of(DECLARED.id) == [mine]

    assert rebuild_board(folder, DECLARED)
    table = folder.read_state(MARK, (CSV_NAME,)).files[CSV_NAME].decode()
    assert ("acme/atlas-7b" in table, "acme/borea-1b" in table) == (True, False)
    assert not rebuild_board(folder, DECLARED)


def test_why_rows_are_scored_otherwise_is_told_of_20_declarations_each_of_which_is_read_once(folder: Folder) -> None:
    texts = [TINY.replace('"1/4"', f'"1/{number}"') for number in range(5, 6 + MOST_DECLARATIONS_READ)]
    boards = [parse_leaderboard(text, "tiny", "tiny.toml") for text in texts]
    kept = {declaration_path(board.digest): text.encode() for board, text in zip(boards, texts, strict=True)}
    reconcile(folder, MARK, tuple(kept), lambda _: DesiredState(TEXT, kept), "commit")
    rows = [replace(entry(), leaderboard=Declared("tiny", one.digest, one.scoring_digest)) for one in boards]
    why = Rescored(folder, DECLARED)

    first, *others, last = (why(row, row) for row in rows)
    assert first == "the declaration changed: tasks.sums.leaves.sums_plus.lower_bound: 1/5 → 1/4"
    assert all(": tasks.sums" in one for one in others)
    assert last == "the declaration changed"
    assert why(entry(), entry()) == "waivers, owners or other facts changed"

    again = Rescored(folder, DECLARED)
    assert again(rows[0], rows[0]) == first
    gone = dict.fromkeys(kept)
    reconcile(folder, MARK, tuple(kept), lambda _: DesiredState(TEXT, gone), "commit")
    assert folder.read_files(list(kept)) == {}
    assert again(rows[0], rows[0]) == first
    assert again(rows[1], rows[1]) == last
