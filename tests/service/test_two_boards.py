"""Two leaderboards on one target, made of one source: neither touches the rows and requests of the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.publishing.answers import not_a_maintainer
from bot.publishing.entry import Entry
from bot.publishing.plan import FEWEST
from bot.service.settings.config import parse_settings
from bot.service.watch.passes import settle_watches
from tests.platforms.git.publisher import entry
from tests.service.passes import settle
from tests.service.stories import KEY, Story
from tests.variants import crossed
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

ONLY_MAINTAINERS = not_a_maintainer("tiny").words


def others(count: int) -> list[Entry]:
    return [entry(f"acme/s{number}") for number in range(count)]


@pytest.mark.slow
@crossed(style=["entry", "rolling"], is_merged=[True, False])
def test_a_withdrawn_row_goes_from_the_board_that_was_settled_alone(
    hub: Hub, tmp_path: Path, style: str, *, is_merged: bool
) -> None:
    (tmp_path / "small.toml").write_text(TINY)
    story = Story(hub, tmp_path, style=style)
    text = story.text.replace('name = "tiny"', 'name = "small"').replace("tiny.toml", "small.toml")
    other = story.open_context_factory("small.db")
    story.push()
    story.settle()
    settle(other.open_context(parse_settings(text, "bot.toml").watches[0]))
    other.store.close()
    tiny, small = story.requests
    for request in story.requests if is_merged else ():
        hub.merge(story.target, request)

    story.remove()
    story.lose_state()
    story.settle()

    theirs = f"entries/{KEY.replace('tiny/', 'small/', 1)}.json"
    assert {key.partition("/")[0] for key in story.state.rows.all_keys()} <= {"tiny"}
    if is_merged:
        assert hub.file(story.target, theirs)
        assert [request.status for request in (tiny, small)] == ["merged", "merged"]
        [removal] = story.requests
        assert hub.file(story.target, theirs, removal.ref)
        assert hub.file(story.target, f"entries/{KEY}.json", removal.ref) is None
    else:
        assert [request.num for request in story.requests] == [small.num]
        assert hub.file(story.target, theirs, small.ref)
    story.contexts.store.close()


def test_a_command_on_a_request_at_the_source_is_answered_for_each_board(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TINY)
    story = Story(hub, tmp_path)
    text = story.text.replace('name = "tiny"', 'name = "small"').replace("tiny.toml", "small.toml")
    [watch] = parse_settings(text.replace('"meg"', '"ann"'), "bot.toml").watches
    other = story.open_context_factory("small.db")
    request, _ = hub.open_request(story.source, {path_of(): result(right=(50, 60, 170))}, "Mine", "", "eve")
    hub.comment(story.source, request, "/ignore value-out-of-range until 2099-01-01 because of the meter", "ann")
    for _ in range(2):
        story.settle()
        settle(other.open_context(watch))
    other.store.close()
    story.contexts.store.close()

    texts = request.comments("bot")
    assert [text.partition("\n")[0].partition(", at ")[0] for text in texts] == [
        ONLY_MAINTAINERS,
        "1 result file judged for `tiny`",
        "`value-out-of-range` is waived until 2099-01-01 for exactly these files:",
        "1 result file judged for `small`",
    ]
    assert ["waived by ann" in text for text in texts] == [False, False, False, True]


def test_two_leaderboards_at_one_target_do_not_take_the_table_from_each_other(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TINY.replace('"1/4"', '"1/5"'))
    story = Story(hub, tmp_path, form="commit")
    small = story.text.replace('name = "tiny"', 'name = "small"').replace("tiny.toml", "small.toml")
    watches = parse_settings(story.text + small, "bot.toml").watches
    story.push()
    for _ in range(2):
        settle_watches(story.contexts, watches)
    story.news()
    passes = settle_watches(story.contexts, watches)

    assert story.acts() == []
    assert b",58.33" in (hub.file(story.target, "leaderboard.csv") or b"")
    assert [one.outcomes for one in passes] == [[], []]
    kept = [path for path, _ in story.target.main.tree.files() if path.startswith("declarations/")]
    assert len(kept) == 4  # of each the one of the board and, by its digest, that of its rows
    story.contexts.store.close()


@pytest.mark.slow
def test_a_maintainer_of_one_board_does_not_merge_requests_of_the_other(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TINY)
    story = Story(hub, tmp_path)
    text = story.text.replace('name = "tiny"', 'name = "small"').replace("tiny.toml", "small.toml")
    [watch] = parse_settings(text.replace('"meg"', '"ann"'), "bot.toml").watches
    other = story.open_context_factory("small.db")
    story.push()
    story.settle()
    settle(other.open_context(watch))
    tiny, small = story.requests
    for request in (tiny, small):
        hub.comment(story.target, request, "/merge", "ann")
    settle(other.open_context(watch))
    story.settle()
    other.store.close()
    story.contexts.store.close()

    assert (tiny.status, small.status) == ("open", "merged")
    assert [text.partition("\n")[0] for text in tiny.comments("bot")[1:]] == [ONLY_MAINTAINERS]


@pytest.mark.slow
def test_the_share_of_a_board_that_may_go_is_counted_without_the_rows_of_the_other(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    board = replace(entry().leaderboard, id="small")
    rows = [replace(row, key=f"small/{row.key.removeprefix('tiny/')}", leaderboard=board) for row in others(100)]
    hub.push(story.target, {row.path: row.to_bytes() for row in rows})
    files = {path_of(f"acme/m{number}"): result(f"acme/m{number}") for number in range(FEWEST + 1)}
    hub.push(story.source, files)
    story.settle()

    hub.push(story.source, dict.fromkeys(files), "Remove")
    outcomes = story.settle()
    story.contexts.store.close()

    assert [one.outcome for one in outcomes if one.outcome == "held"] == ["held"]
