"""Which request a row goes to, what is withdrawn with it, and what of other sources is left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.publishing.entry import parse_entry
from bot.publishing.publication import Marker, migration_mark, rolling_mark
from bot.service.settings.config import parse_settings
from bot.service.watch.passes import settle_watches
from tests.platforms.git.publisher import entry
from tests.service.passes import settle
from tests.service.stories import KEY, SETTINGS, Story
from tests.variants import crossed, one_of
from tests.world.git import Commit
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path, limit=3)
    yield story
    story.contexts.store.close()


def push_models(story: Story, count: int) -> None:
    story.hub.push(story.source, {path_of(f"acme/m{n}"): result(f"acme/m{n}") for n in range(count)})


def proposed(story: Story) -> list[str]:
    """The entries in the only open request, by the model."""
    [request] = story.requests
    commit = story.target.resolve(request.ref)
    assert isinstance(commit, Commit)
    return sorted(path.split("/")[3] for path, _ in commit.tree.files() if path.startswith("entries/"))


# In one part, and in several.
@crossed(part=[1000, 2], rows=[3, 4])
def test_as_many_rows_as_the_limit_have_requests_of_their_own(
    story: Story, monkeypatch: pytest.MonkeyPatch, rows: int, part: int
) -> None:
    monkeypatch.setattr("bot.service.publish.publisher.ROWS_OF_A_PART", part)
    push_models(story, rows)
    story.settle()

    assert len(story.requests) == {3: 3, 4: 1}[rows]


@pytest.mark.parametrize(("folders", "discussions"), [(3, 3), (4, 1)])
def test_as_many_faulty_folders_as_the_limit_have_discussions_of_their_own(
    story: Story, folders: int, discussions: int
) -> None:
    faulty = {path_of(f"acme/m{n}"): result(f"acme/m{n}", right=(50, 60, 170)) for n in range(folders)}
    story.hub.push(story.source, faulty)
    story.settle()

    assert len(story.discussions) == discussions


@pytest.mark.parametrize(("folders", "discussions"), [(3, 3), (4, 0)])
def test_more_accepted_folders_than_the_limit_are_not_told_one_by_one(
    hub: Hub, tmp_path: Path, folders: int, discussions: int
) -> None:
    story = Story(hub, tmp_path, limit=3, more="say_success = true")
    push_models(story, folders)
    story.settle()

    assert len(story.discussions) == discussions
    story.contexts.store.close()


def test_a_withdrawn_row_leaves_the_rolling_request(story: Story) -> None:
    push_models(story, 5)
    story.settle()
    assert proposed(story) == ["m0", "m1", "m2", "m3", "m4"]
    story.remove(path_of("acme/m3"))
    story.settle()

    assert proposed(story) == ["m0", "m1", "m2", "m4"]
    assert story.requests[0].title == "Add 4 rows of tiny"


@pytest.mark.slow
def test_rows_that_were_declined_together_are_not_proposed_again(story: Story) -> None:
    push_models(story, 5)
    story.settle()
    story.hub.set_status(story.target, story.requests[0], "closed", "ann")
    story.push(model="acme/m1", right=(90, 90, 90))
    story.settle()

    assert [request.title for request in story.requests] == ["Add acme/m1 (bfloat16): 89.17"]
    story.push(model="acme/new-1b")
    story.lose_state()  # now every row is looked at again, beside a new one
    story.settle()
    assert sorted(request.title.split()[1] for request in story.requests) == ["acme/m1", "acme/new-1b"]


@pytest.mark.parametrize("mark", [rolling_mark("tiny"), migration_mark("tiny")], ids=lambda mark: mark.kind)
def test_a_second_shared_request_is_closed_although_the_pass_brings_it_no_row(story: Story, mark: Marker) -> None:
    story.settle()
    row = entry()
    for _ in range(2):
        story.hub.open_request(story.target, {row.path: row.to_bytes()}, "Update 1 row of tiny", mark.render(), "bot")
    story.push(model="acme/new-1b")
    story.settle()

    assert [request.num for request in story.requests] == [1, 3]


def measured_by_two_sources(story: Story) -> None:
    """Both sources measure one model; theirs is more complete and was merged."""
    theirs = story.hub.repository("acme/elsewhere")
    story.hub.push(theirs, {path_of(): result()})
    text = SETTINGS.format(form="pull-request", style="entry", limit=3, more="").replace(
        "acme/results", "acme/elsewhere"
    )
    contexts = story.open_context_factory("theirs.db")
    settle(contexts.open_context(parse_settings(text, "bot.toml").watches[0]))
    contexts.store.close()
    story.hub.merge(story.target, story.requests[0])
    story.push(right=(50, None, None))
    story.settle()


def test_a_merged_row_of_another_source_is_not_removed_with_ours(story: Story) -> None:
    measured_by_two_sources(story)
    story.remove()
    story.settle()

    merged = parse_entry(story.hub.file(story.target, f"entries/{KEY}.json") or b"")
    assert [file.source for file in merged.evidence] == ["hf://datasets/acme/elsewhere"]
    assert story.requests == []


@pytest.mark.slow
def test_a_merged_row_of_another_source_is_not_looked_at_when_the_state_is_lost(story: Story) -> None:
    measured_by_two_sources(story)
    story.remove()
    story.lose_state()
    story.settle()

    assert story.hub.file(story.target, f"entries/{KEY}.json")
    assert story.state.rows.all_keys() == set()


def test_the_safety_catch_does_not_count_the_row_of_another_source(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=3, more="max_removed = 0")
    measured_by_two_sources(story)
    story.remove()

    assert [one.text for one in story.settle() if one.outcome == "held"] == []
    assert story.state.plans.at("hf://datasets/acme/contents") is None
    story.contexts.store.close()


@pytest.mark.slow
def test_the_plan_of_a_source_that_has_moved_says_so(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    hub.merge(story.target, story.requests[0])
    elsewhere = hub.repository("acme/elsewhere")
    hub.push(elsewhere, {path_of(): story.result()})
    settings = SETTINGS.format(form="pull-request", style="entry", limit=20, more="max_changed = 0")
    contexts = story.open_context_factory("second.db")
    watch = parse_settings(settings.replace("acme/results", "acme/elsewhere"), "bot.toml").watches[0]
    [held] = [one for one in settle(contexts.open_context(watch)) if one.outcome == "held"]

    assert held.text.endswith("(its files come from another repository now)")
    contexts.store.close()
    story.contexts.store.close()


def test_a_file_that_changes_before_it_could_be_read_is_read_as_it_is_now(story: Story) -> None:
    story.push()
    fault = story.hub.faults.order("/resolve/", status=503, times=-1)
    assert {one.outcome for one in story.settle()} == {"failed"}
    story.push(right=(60, 60, 70))
    fault.times = 0
    story.settle()

    assert [request.title for request in story.requests] == ["Add acme/atlas-7b (bfloat16): 61.67"]


def test_a_file_that_is_listed_and_cannot_be_had_is_asked_for_again_and_its_row_stays(story: Story) -> None:
    story.push()
    story.settle()
    story.push(right=(60, 60, 70))
    fault = story.hub.faults.order("/resolve/", status=404, headers={"X-Error-Code": "EntryNotFound"}, times=-1)
    [failed] = story.settle()
    assert (failed.outcome, failed.subject) == ("failed", path_of())
    assert f"is listed at {story.source.main.oid[:12]} but missing" in failed.text
    assert [request.title for request in story.requests] == ["Add acme/atlas-7b (bfloat16): 58.33"]
    fault.times = 0
    story.settle()
    assert [request.title for request in story.requests] == ["Add acme/atlas-7b (bfloat16): 61.67"]


def test_a_file_of_which_the_hub_names_no_last_commit_is_named_at_the_commit_that_was_read(story: Story) -> None:
    story.push()
    last = story.hub.push(story.source, {"notes.json": b"{}"}, "Later")
    answer = {"body": b"[]", "headers": {"Content-Type": "application/json"}, "times": -1}
    story.hub.faults.order("acme/results/paths-info", **answer)
    story.settle()
    [request] = story.requests
    [file] = parse_entry(story.hub.file(story.target, f"entries/{KEY}.json", request.ref) or b"").evidence
    assert file.commit == last.oid


def test_files_of_one_row_pushed_one_by_one_complete_one_request(story: Story) -> None:
    parts = [(50, None, None), (None, 60, None), (None, None, 70)]
    titles = []
    for number, right in enumerate(parts):
        story.push(right=right, path=path_of(time=f"2026-03-0{number + 1}T10-00-00.000000"))
        story.settle()
        [request] = story.requests
        titles.append(request.title)

    assert titles == [
        "Add acme/atlas-7b (bfloat16): incomplete, 2 of 3 subtasks missing",
        "Add acme/atlas-7b (bfloat16): incomplete, 1 of 3 subtasks missing",
        "Add acme/atlas-7b (bfloat16): 58.33",
    ]
    story.remove(path_of(time="2026-03-02T10-00-00.000000"))
    story.settle()
    assert story.requests[0].title == titles[1]


def test_a_change_from_another_folder_goes_by_request_and_names_the_first(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    story.push()
    story.settle()
    assert story.requests == []
    story.push(right=(90, 90, 90), path=f"mallory/{path_of(time='2026-09-01T10-00-00.000000')}", date=1_795_000_000.0)
    story.settle()

    [request] = story.requests
    assert request.title == "Update acme/atlas-7b (bfloat16): 89.17, first submitted in acme__atlas-7b"
    merged = parse_entry(hub.file(story.target, f"entries/{KEY}.json") or b"")
    assert merged.average == pytest.approx(58.333, abs=0.001)
    assert story.settle() == []


@pytest.mark.parametrize("form", one_of(["pull-request", "commit"]))
@pytest.mark.parametrize("is_lost", one_of([False, True]))
def test_the_files_of_others_take_no_row_from_main(hub: Hub, tmp_path: Path, form: str, *, is_lost: bool) -> None:
    """Two files of one name with other weights make no row; the one that people reviewed stays."""
    story = Story(hub, tmp_path, form=form)
    story.hub.push(story.source, {path_of(): with_parameters(7_000_000_000)})
    story.settle()
    if form == "pull-request":
        hub.merge(story.target, story.requests[0])
    story.settle()
    path = f"entries/{KEY}.json"
    merged, requests = hub.file(story.target, path), len(story.requests)
    assert merged is not None
    story.push(with_parameters(1_000_000_000, date=1_790_000_100.0), path=f"mallory/{path_of()}")
    if is_lost:
        story.lose_state()

    outcomes = story.settle()

    assert (hub.file(story.target, path), len(story.requests)) == (merged, requests)
    said = [one.text for one in outcomes if one.outcome == "rejected"]
    assert len(said) == 1
    assert said[0].startswith("indistinct-models: files with other weights are of one model by name")
    assert said[0].endswith(f"; the row that is there stays, of its own files: {path_of()}")
    [done] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert f"  {KEY}: stays on main, although its files make no row now" in done.ledgers[0].lines


def test_a_row_that_falls_back_to_an_older_file_names_the_one_that_is_refused(story: Story) -> None:
    """The request proposed lower numbers without a word of the newer file, and the ledger had the row nowhere."""
    story.push()
    newer = path_of(time="2026-03-03T10-00-00.000000")
    story.push(right=(90, 90, 90), path=newer, date=1_790_000_100.0)
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    story.push(right=(190, 190, 190), path=newer, date=1_790_000_100.0)
    story.settle()

    [request] = story.requests
    said = f"`{newer}`, from which the row on the board has numbers, is not accepted any more: "
    assert said in request.description
    [done] = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert done.ledgers[0].line.endswith("0 unexplained; 1 of them is on main with other numbers")


def test_a_row_of_which_the_own_file_becomes_faulty_goes_with_its_reason(story: Story) -> None:
    """Two files of its folder hold other weights, and its own file is another by now."""
    story.hub.push(story.source, {path_of(): with_parameters(7_000_000_000)})
    story.settle()
    story.hub.merge(story.target, story.requests[0])
    story.settle()
    other = path_of(time="2026-03-03T10-00-00.000000")
    files = {path_of(): with_parameters(8_000_000_000), other: with_parameters(1_000_000_000, date=1_790_000_100.0)}
    story.hub.push(story.source, files)
    story.settle()

    [request] = story.requests
    assert request.title == f"Remove {KEY}"
    assert "any more: the files are not accepted: indistinct-models." in request.description


def test_a_task_that_the_declaration_takes_away_is_the_reason_and_not_its_files(story: Story, tmp_path: Path) -> None:
    """The plan said that the files had changed, and each row had a request of its own that did not name the task."""
    for n in range(2):
        model = f"acme/m{n}"
        story.push(result(model, right=(50, 60, None)), path_of(model))
        story.push(result(model, right=(None, None, 70)), path_of(model, "2026-03-03T10-00-00.000000"))
    story.settle()
    for request in story.requests:
        story.hub.merge(story.target, request)
    story.settle()
    (tmp_path / "tiny.toml").write_text(TINY[: TINY.index('[[tasks]]\nid = "logic"')])
    story.settle()

    [request] = story.requests
    assert request.title == "Score 2 rows of tiny again"
    assert request.description.count("the declaration changed: tasks.logic: ") == 2
    assert "No result was measured again." in request.description


def with_parameters(count: int, **how: float) -> bytes:
    """A result of a model with so many parameters."""
    data = json.loads(result(**how))
    return json.dumps(data | {"config": data["config"] | {"model_num_parameters": count}}).encode()


def test_the_request_of_a_row_is_closed_where_the_declaration_has_another_id(story: Story, tmp_path: Path) -> None:
    """It stayed open for ever, beside that of the row under the new id."""
    story.push()
    story.settle()
    [before] = story.requests
    (tmp_path / "small.toml").write_text(TINY)
    watch = parse_settings(story.text.replace("tiny.toml", "small.toml"), "bot.toml").watches[0]
    for _ in range(2):
        done = settle_watches(story.contexts, [watch])
    assert before.status == "closed"
    assert [request.title for request in story.requests] == [before.title]
    assert done[0].ledgers[0].line == "1 accepted: 0 on main, 1 open, 0 held, 0 declined, 0 unexplained"
