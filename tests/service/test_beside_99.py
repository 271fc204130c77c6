"""Each attack of the list beside 99 sound rows: the 99 are published in the same settlement, the odd one is named.

Health is `degraded` where something cannot be carried out, `ok` where it ended in a verdict, and when the attack is
over, the next settlement leaves nothing behind and nothing is deleted by hand.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.platforms.platform import Access
from bot.server.health import State as HealthState
from bot.server.health import in_state, status_of
from bot.service.watch.outcome import Outcome
from tests.service.passes import open_contexts, settle
from tests.service.stories import Story
from tests.service.test_attacks import ODD, odd_result, rows_at, sound_files, sound_rows, with_precision, with_value
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import TINY, path_of, result

HTML = b"<!doctype html><title>Gateway</title>"
Undo = Callable[[], object]


def health(story: Story) -> str:
    """What the health page says of the watch after a pass."""
    failing = in_state(story.state.items.counts(), "failing")
    return status_of(HealthState(settled=1.0, reached=1.0), failing, now=2.0, moved=1.0, every=900.0)


@dataclass(frozen=True)
class Attack:
    """What is done beside the sound push, what must be named, and how it is with health then.

    `do` gives what ends it. `named` are words of the outcome or of the text that names the odd thing; `ends` is how
    the odd thing ends: "failed", "rejected", or "" where it is answered where it was written.
    """

    do: Callable[[Story], Undo]
    named: str
    ends: str


def nothing() -> None:
    """It ended in a verdict."""


def pushed(data: Callable[[], bytes]) -> Callable[[Story], Undo]:
    def do(story: Story) -> Undo:
        story.push(data=data(), path=path_of(ODD))
        return nothing

    return do


def explained(story: Story) -> Undo:
    request, _ = story.hub.open_request(story.source, {path_of(ODD): with_value(1e308)}, "Mine", "look", "eve")
    story.hub.comment(story.source, request, "/explain", "eve")
    return nothing


def ignored(story: Story) -> Undo:
    bad = result(ODD).replace(b'"acc,none": 0.5', b'"acc,none": NaN', 1)
    request, _ = story.hub.open_request(story.source, {path_of(ODD): bad}, "Mine", "look", "eve")
    story.hub.comment(
        story.source, request, "/ignore non-finite-value until 2099-01-01 because I want it", story.maintainer
    )
    return nothing


def locked(story: Story) -> Undo:
    request, _ = story.hub.open_request(story.source, {path_of(ODD): result(ODD)}, "Mine", "look", "eve")
    request.is_locked = True
    return lambda: setattr(request, "is_locked", False)


def without_ref(story: Story) -> Undo:
    request, _ = story.hub.open_request(story.source, {path_of(ODD): result(ODD)}, "Mine", "look", "eve")
    del story.source.refs[request.ref]
    return nothing


def foreign(story: Story) -> Undo:
    story.hub.push(story.target, {"entries/notes.json": b'{"hello": 1}'}, user="eve")
    return nothing


def page_for_a_file(story: Story) -> Undo:
    story.push(model=ODD)
    fault = story.hub.faults.order("/resolve/.*odd-1b", body=HTML, times=-1)
    return lambda: setattr(fault, "times", 0)


def page_for_a_list(story: Story) -> Undo:
    story.hub.open_request(story.source, {path_of(ODD): result(ODD)}, "Mine", "look", "eve")
    story.hub.push(story.source, dict.fromkeys(sound_files()), quiet=True)
    story.settle()  # what was waived is known, else nothing may be judged
    story.hub.push(story.source, sound_files())
    fault = story.hub.faults.order("/acme/results/discussions$", body=HTML, times=-1)
    return lambda: setattr(fault, "times", 0)


ATTACKS = {
    "1e308 with /explain by a stranger": Attack(explained, "/explain", ""),
    "a version string of 5 MB": Attack(
        pushed(lambda: odd_result(lambda whole: whole.update({"lm_eval_version": "9" * 5_000_000}))),
        "5,000,000 characters",
        "",
    ),
    "a precision of 70,000 characters": Attack(
        pushed(lambda: with_precision("x" * 70_000)), "70,000 characters", "rejected"
    ),
    "a precision of 300 characters": Attack(pushed(lambda: with_precision("x" * 300)), "300 characters", "rejected"),
    "/ignore non-finite-value": Attack(ignored, "cannot be waived", ""),
    "a locked conversation": Attack(locked, "locked", "failed"),
    "a deleted refs/pr/N": Attack(without_ref, "refs/pr/1 is not there", ""),
    "a foreign file in entries/": Attack(foreign, "entries/notes.json", "rejected"),
    "HTML in place of a file": Attack(page_for_a_file, "odd-1b", "failed"),
    "HTML in place of a listing": Attack(page_for_a_list, "came instead of an answer", "failed"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_the_99_are_published_and_the_odd_one_is_named(hub: Hub, tmp_path: Path, name: str) -> None:
    story, attack = Story(hub, tmp_path, form="commit"), ATTACKS[name]
    hub.push(story.source, sound_files())
    undo = attack.do(story)
    outcomes = story.settle()

    assert sound_rows() <= rows_at(story)
    assert attack.named in told(story, outcomes)
    assert [one for one in outcomes if one.outcome == "failed" and attack.ends != "failed"] == []
    assert {"failed": "degraded"}.get(attack.ends, "ok") == health(story)
    undo()
    assert [one for one in story.settle() if one.outcome == "failed"] == []
    assert story.state.items.counts() == {}
    assert health(story) == "ok"
    story.news()
    story.end()


def told(story: Story, outcomes: list[Outcome]) -> str:
    """All that was said, on the page and at the source."""
    said = [f"{one.subject} {one.text}" for one in outcomes]
    talks = story.hub.talk(story.source).all.values()
    return "\n".join([*said, *(text for row in talks for text in [*row.comments("bot"), *row.comments("eve")])])


@pytest.mark.slow
def test_without_the_right_to_write_to_main_99_rows_are_proposed(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=1000)
    hub.writers.discard(("bot", "acme/contents"))
    hub.push(story.source, sound_files())
    outcomes = story.settle()

    assert [one for one in outcomes if one.outcome == "failed"] == []
    assert len(story.requests) == 99
    assert health(story) == "ok"
    story.news()
    story.end()


@pytest.mark.slow
def test_a_name_that_is_not_utf_8_beside_99_sound_rows(tmp_path: Path) -> None:
    source = tmp_path / "results"
    for path, data in sound_files().items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(data or b"")
    Path(os.fsdecode(os.fsencode(source) + b"/results_\xff.json")).write_bytes(result(ODD))
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "bot.toml").write_text(
        '[[watches]]\nname = "tiny"\nleaderboard = "tiny.toml"\nsource = "results"\n'
        '[[watches.targets]]\nto = "board"\nas = "commit"\n'
    )
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "results"]):
        git(source, *words)
    settings, contexts = open_contexts(tmp_path / "bot.toml", Access(), f"sqlite:///{tmp_path / 'state.db'}")
    outcomes = settle(contexts.open_context(settings.watches[0]))

    rows = git(tmp_path / "board", "ls-tree", "-r", "--name-only", "main", "entries/").splitlines()
    assert len(rows) == 99
    [odd] = [one for one in outcomes if one.outcome not in {"proposed", "written"}]
    assert (odd.outcome, "its name is not UTF-8; rename it" in odd.text) == ("rejected", True)
    assert contexts.store.of("tiny").items.counts() == {}
    contexts.store.close()
