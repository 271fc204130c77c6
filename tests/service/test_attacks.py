"""One hostile or odd thing beside 99 sound rows: the 99 are published in the same pass, and the odd one is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.service.watch.outcome import Outcome
from tests.service.stories import Story
from tests.variants import crossed
from tests.world.git import Blob
from tests.world.hub import Hub
from tests.world.results import path_of, result

SOUND = 99
ODD = "acme/odd-1b"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Story:
    return Story(hub, tmp_path, form="commit")


def sound_files() -> dict[str, bytes | None]:
    return {path_of(f"acme/model-{n:02}"): result(f"acme/model-{n:02}") for n in range(SOUND)}


def rows_at(story: Story) -> set[str]:
    """The models whose rows stand at the target."""
    main = story.target.main
    return {path.split("/")[3] for path, _ in main.tree.files() if path.startswith("entries/tiny/acme/")}


def hub_files(story: Story, ref: str) -> list[tuple[str, Blob]]:
    commit = story.target.resolve(ref)
    return list(commit.tree.files()) if commit else []


def sound_rows() -> set[str]:
    return {f"model-{n:02}" for n in range(SOUND)}


def odd_result(change: Callable[[dict[str, object]], None]) -> bytes:
    whole = json.loads(result(ODD))
    change(whole)
    return json.dumps(whole).encode()


def with_value(value: float) -> bytes:
    return odd_result(lambda whole: whole["results"]["logic"].update({"acc,none": value}))  # type: ignore[index]


def with_precision(text: str) -> bytes:
    def change(whole: dict[str, object]) -> None:
        whole["config"]["model_args"] = f"pretrained={ODD},dtype={text}"  # type: ignore[index]
        whole["config"]["model_dtype"] = text  # type: ignore[index]

    return odd_result(change)


HOSTILE_FILES: dict[str, Callable[[], bytes]] = {
    "a value of 1e308": lambda: with_value(1e308),
    "no number": lambda: result(ODD).replace(b'"acc,none": 0.5', b'"acc,none": NaN', 1),
    "a version of 5 MB": lambda: odd_result(lambda whole: whole.update({"versions": {"logic": "9" * 5_000_000}})),
    "a precision of 70,000 characters": lambda: with_precision("x" * 70_000),
    "a precision of 300 characters": lambda: with_precision("x" * 300),
    "deeper than is read": lambda: b"[" * 100_000,
    "cut in the middle": lambda: result(ODD)[:200],
}


@pytest.mark.slow
@crossed(name=HOSTILE_FILES, form=["pull-request", "commit", "comment"])
def test_a_hostile_file_stops_no_other(hub: Hub, tmp_path: Path, form: str, name: str) -> None:
    story = Story(hub, tmp_path, form=form, limit=3)
    few = dict(list(sound_files().items())[:3])
    hub.push(story.source, {**few, path_of(ODD): HOSTILE_FILES[name]()})
    outcomes = story.settle()

    assert [one for one in outcomes if one.outcome == "failed"] == []
    if form == "commit":
        assert {"model-00", "model-01", "model-02"} <= rows_at(story)
    elif form == "pull-request":
        assert {f"Add acme/model-0{n} (bfloat16): 58.33" for n in range(3)} <= {one.title for one in story.requests}
    else:
        [board] = hub.conversations(story.target)
        assert all(any(f"acme/model-0{n}" in text for text in board.comments()) for n in range(3))
    again = story.settle()
    assert [one for one in again if one.outcome != "rejected"] == []


def failing(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(one.subject, one.text) for one in outcomes if one.outcome == "failed"]


@pytest.mark.slow
def test_a_page_in_place_of_a_file_is_an_outage_of_that_file(story: Story) -> None:
    hub = story.hub
    hub.push(story.source, {**sound_files(), path_of(ODD): result(ODD)})
    fault = hub.faults.order("/resolve/.*odd-1b", body=b"<!doctype html><title>Gateway</title>", times=-1)
    outcomes = story.settle()

    [(subject, reason)] = failing(outcomes)
    assert subject == path_of(ODD)
    assert "odd-1b" in reason
    assert sound_rows() <= rows_at(story)
    fault.times = 0
    assert failing(story.settle()) == []
    assert "odd-1b" in rows_at(story)


@pytest.mark.slow
def test_a_listing_that_is_a_page_is_an_outage_and_withdraws_nothing(story: Story) -> None:
    hub = story.hub
    hub.push(story.source, sound_files())
    story.settle()
    hub.push(story.source, {path_of(ODD): result(ODD)})
    fault = hub.faults.order("/tree/", body=b"<!doctype html><title>Gateway</title>", times=-1)
    assert failing(story.settle()) != []
    assert rows_at(story) == sound_rows()
    fault.times = 0
    story.settle()

    assert rows_at(story) == {*sound_rows(), "odd-1b"}


@pytest.mark.slow
def test_a_foreign_file_among_the_entries_stops_nothing(story: Story) -> None:
    story.hub.push(story.target, {"entries/notes.json": b'{"hello": 1}', "entries/README.md": b"# Entries"}, user="ann")
    story.hub.push(story.source, sound_files())
    outcomes = story.settle()

    assert failing(outcomes) == []
    assert sound_rows() <= rows_at(story)
    assert (story.hub.file(story.target, "leaderboard.csv") or b"").count(b"\n") == SOUND + 1


@pytest.mark.slow
def test_a_table_of_somebody_else_is_never_overwritten(story: Story) -> None:
    theirs = b"model,score\nacme/x,1\n"
    story.hub.push(story.target, {"leaderboard.csv": theirs}, user="ann")
    story.hub.push(story.source, sound_files())
    outcomes = story.settle()

    assert [text for _, text in failing(outcomes)] == [
        "leaderboard.csv was not made by leaderboard-bot, so it is not overwritten; rename it"
    ]
    assert sound_rows() <= rows_at(story)
    assert story.hub.file(story.target, "leaderboard.csv") == theirs
    assert "odd" not in rows_at(story)


def test_without_the_right_to_write_to_main_requests_still_work(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=1000)
    hub.push(story.source, dict(list(sound_files().items())[:5]))
    hub.writers.discard(("bot", "acme/contents"))
    story.settle()
    assert len(story.requests) == 5
    for request in story.requests:
        hub.merge(story.target, request)
    outcomes = story.settle()

    assert failing(outcomes) == []
    assert rows_at(story) == {f"model-0{n}" for n in range(5)}
    [request] = story.requests
    assert "leaderboard.csv" in {path for path, _ in hub_files(story, request.ref)}
    assert story.settle() == []
    hub.merge(story.target, request)
    assert (hub.file(story.target, "leaderboard.csv") or b"").count(b"\n") == 6
    assert story.settle() == []
