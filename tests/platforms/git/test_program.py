"""A git process that answers many questions: one that does not answer is ended, and the next question gets another."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bot.errors import Unavailable
from bot.platforms.git.program import Talk, read_head
from tests.world.local_git import git

HEAD = b"HEAD\n"


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "first")
    talk = Talk(("cat-file", "--batch-check"), tmp_path / ".git", 60.0)
    yield talk
    talk.close()


@pytest.mark.parametrize("question", [b"HEAD", HEAD * 50_000], ids=["it waits for more", "it waits for a reader"])
def test_a_git_that_does_not_answer_is_ended_and_the_next_question_asks_a_new_one(talk: Talk, question: bytes) -> None:
    """The long question fills the pipe of the answers, so that git reads no more of it."""
    talk.timeout = 0.2
    with pytest.raises(Unavailable, match="cat-file gave no answer: it took too long"):
        talk.ask(question, partial(read_head, question=HEAD))

    talk.timeout = 60.0
    heads = [talk.ask(HEAD, partial(read_head, question=HEAD)) for _ in range(2)]
    assert heads[0] == heads[1]
    assert heads[0] is not None
    assert heads[0][1] == "commit"


def test_an_answer_that_is_longer_than_a_pipe_is_read_whole(talk: Talk) -> None:
    lines = 5_000
    answers = talk.ask(HEAD * lines, lambda answer: [answer.readline() for _ in range(lines)])
    assert len(set(answers)) == 1
