"""Which files the author of a command saw: those of the newest commit, or those that our comment named before it."""

from __future__ import annotations

import pytest

from bot.platforms.discussions import Comment, Pushed, Thread
from bot.service.talk.waivers import is_newest, seen_files

ONE, OTHER = "a" * 64, "b" * 64
OURS = Comment("1", "bot", f"A result.\n\nSHA-256 `{ONE}`\n> SHA-256 `{OTHER}`\n", at=10.0, changed=10.0, place=1)


def thread(*commits: Pushed) -> Thread:
    return Thread(1, "A result", "open", "ann", pull_request=True, comments=(), closed_by="", commits=commits)


def said(at: float, place: int = 5) -> Comment:
    return Comment("2", "meg", "/accept", at=at, changed=at, place=place)


@pytest.mark.parametrize(
    ("ours", "at", "seen"), [(OURS, 11.0, [ONE]), (OURS, 10.0, []), (OURS, 9.0, []), (None, 11.0, [])]
)
def test_without_the_order_of_commits_a_person_saw_what_our_text_named_before(
    ours: Comment | None, at: float, seen: list[str]
) -> None:
    assert seen_files(said(at), [ONE, OTHER], thread(), "c1", ours) == seen


def test_where_commits_have_a_place_a_person_saw_the_newest_before_the_command() -> None:
    pushed = thread(Pushed("c1", 2, "ann"), Pushed("c2", 4, "ann"))

    assert seen_files(said(1.0, place=5), [ONE, OTHER], pushed, "c2", None) == [ONE, OTHER]
    for comment, head in ((said(99.0, place=3), "c2"), (said(99.0, place=4), "c2"), (said(99.0, place=5), "c1")):
        assert not is_newest(pushed, comment, head)
        assert seen_files(comment, [ONE, OTHER], pushed, head, OURS) == []
    assert not is_newest(thread(), said(99.0), "c2")
