"""Stories of a column that stops following the rest: one discussion, edited in place, and none without need."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from bot.service.store.items import Mark
from bot.service.watch.passes import settle_watches, status_lines, status_of_ledgers
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, revision_of

COLUMNS = ("sums", "logic", "words", "quiz")
MODELS = 60


def declaration(quarantined: str = "") -> str:
    """Four columns of 1,000 questions each."""
    head = 'title = "Four"\ndescription = "Four columns."\n[harness]\nformats = ["lm-eval-0.4"]\n'
    return head + "".join(
        f'[[tasks]]\nid = "{name}"\ntitle = "{name.title()}"\nmetrics = [{{ name = "acc" }}]\nnum_fewshot = 0\n'
        + (f'quarantined = "{quarantined}"\n' if name == "quiz" and quarantined else "")
        + f'leaves = [{{ id = "{name}", samples = 1000 }}]\n'
        for name in COLUMNS
    )


def results(broken: str = "") -> dict[str, bytes | None]:
    """Results of models of all strengths; the broken column is near its floor for most, strong ones among them."""
    random, files = Random(7), {}
    for number in range(MODELS):
        model = f"acme/model-{number}"
        strength = number / MODELS
        values = {name: round(1000 * (0.2 + 0.6 * strength + random.gauss(0, 0.03))) for name in COLUMNS}
        if broken and number % 3:
            values[broken] = round(random.uniform(30, 70))
        sha = revision_of(model)
        rows = {name: {"acc,none": count / 1000} for name, count in values.items()}
        config = {"model_args": f"pretrained={model},revision={sha},dtype=bfloat16", "model_sha": sha}
        whole = {"results": rows, "configs": {}, "n-shot": {}, "config": config, "model_name": model}
        files[path_of(model)] = json.dumps(whole).encode()
    return files


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Story:
    told = Story(hub, tmp_path, form="commit", limit=1000, more='max_changed = "100%"')
    (tmp_path / "tiny.toml").write_text(declaration())
    return told


def comments(story: Story) -> list[str]:
    return [text for discussion in story.hub.conversations(story.target) for text in discussion.comments()]


def test_a_column_that_turns_bad_opens_one_discussion_that_names_it(story: Story) -> None:
    story.hub.push(story.source, results(broken="quiz"))
    story.settle()

    assert story.acts() == ["commit", "commit", "discussion", "comment"]
    opening, found = comments(story)
    assert "The bot edits it when they change" in opening
    assert "Quiz" in found or "quiz" in found
    assert "average" in found.lower()
    story.end()


def test_a_column_that_no_row_has_yet_stops_no_alarm_and_what_fails_is_named(hub: Hub, tmp_path: Path) -> None:
    """Until the first merge after a task was added, every pass failed, and `status` did not say why."""
    story = Story(hub, tmp_path, form="commit", limit=1000, more="max_changed = 0")
    (tmp_path / "tiny.toml").write_text(declaration())
    story.hub.push(story.source, dict(list(results().items())[:3]))
    story.settle()
    (tmp_path / "tiny.toml").write_text(declaration().replace('id = "quiz"', 'id = "other"'))
    assert {one.outcome for one in story.settle()} == {"held", "written"}

    items, to = story.contexts.store.of("tiny").items, "hf://datasets/acme/contents"
    items.mark([Mark("alarm", "", to)], 0.0)
    items.fail(items.at("alarm", to)[0], "the Hub refuses it", 4e9)
    passes = settle_watches(story.contexts, [story.watch], dry_run=True)
    assert any("failed alarm of " in line and "the Hub refuses it" in line for line in status_lines(passes))
    assert status_of_ledgers(passes) == 1


@pytest.mark.slow
def test_a_mended_column_changes_the_same_comment(story: Story) -> None:
    story.hub.push(story.source, results(broken="quiz"))
    story.settle()
    story.news()
    story.hub.push(story.source, results())
    story.settle()

    assert sorted(story.acts()) == ["commit", "commit", "edit"]
    assert len(comments(story)) == 2
    story.end()


@pytest.mark.slow
def test_a_sound_board_says_nothing(story: Story) -> None:
    story.hub.push(story.source, results())
    story.settle()

    assert story.acts() == ["commit", "commit"]
    story.end()


@pytest.mark.slow
def test_a_quarantined_column_is_not_named_again(story: Story) -> None:
    (story.folder / "tiny.toml").write_text(declaration(quarantined="known to be scored wrongly"))
    story.hub.push(story.source, results(broken="quiz"))
    story.settle()

    assert story.acts() == ["commit", "commit"]
    story.end()


@pytest.mark.slow
def test_a_lost_state_opens_no_second_discussion(story: Story) -> None:
    story.hub.push(story.source, results(broken="quiz"))
    story.settle()
    story.news()
    story.lose_state()
    story.settle()

    assert story.acts() == []
    story.end()
