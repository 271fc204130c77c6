"""One row, everywhere: what is published at several targets leads from each of them to the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.publishing.entry import entry_path
from bot.service.settings.config import parse_settings
from bot.service.watch.passes import settle_watches
from tests.service.model_stories import MODEL, OTHER, SETTINGS, ModelStory
from tests.service.passes import settle
from tests.service.stories import KEY, TABLE_TARGET, Story
from tests.service.table_stories import TABLE
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.results import path_of, result

OTHERS = f"""
[[watches.targets]]
to = "hf://datasets/acme/contents"
[[watches.targets]]
to = "hf://datasets/acme/table"
{TABLE_TARGET}"""
ENTRIES = "[`hf://datasets/acme/contents`](https://huggingface.co/datasets/acme/contents)"
TABLES = "[`hf://datasets/acme/table/board.csv`](https://huggingface.co/datasets/acme/table/blob/main/board.csv)"


@pytest.fixture
def table(hub: Hub) -> Repository:
    made = hub.repository("acme/table")
    hub.push(made, {"board.csv": TABLE})
    return made


@pytest.fixture
def story(hub: Hub, tmp_path: Path, table: Repository) -> Iterator[ModelStory]:
    settings = SETTINGS.replace("comments = false\n", 'maintainers = ["ann"]\n') + OTHERS
    story = ModelStory(hub, tmp_path, settings=settings)
    yield story
    story.end()


def approve(story: ModelStory) -> None:
    [held] = story.said("held")
    settle_watches(story.contexts, [story.watch], approve=held.partition("approve plan ")[2].split()[0])


def test_every_request_of_a_row_names_the_other_targets_and_nothing_changes_later(
    story: ModelStory, table: Repository
) -> None:
    story.push()
    approve(story)
    [entry], [row], [model] = (story.hub.requests(one) for one in (story.target, table, story.model))

    assert f"\nThe same rows go to {TABLES}.\n" in entry.description
    assert f"\nThe same rows go to {ENTRIES}.\n" in row.description
    assert f"\nThe same rows go to {ENTRIES}, {TABLES}.\n" in model.description
    asked = "\nQuestions go to the board's maintainers: `ann`.\n"
    assert all(asked in request.description for request in (entry, row, model))
    assert story.acts() == ["request"] * 3

    for repository, request in ((story.target, entry), (table, row), (story.model, model)):
        story.hub.merge(repository, request)
    story.settle()
    assert story.acts() == ["commit"]  # the board of the entries
    story.lose_state()
    story.settle()
    assert story.acts() == []


def test_a_target_that_comes_back_into_the_settings_gets_what_changed_meanwhile(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path)
    story.push()
    story.settle()
    hub.repository("acme/other")
    other = parse_settings(story.text.replace("acme/contents", "acme/other"), "bot.toml").watches[0]
    settle(story.contexts.open_context(other))
    story.push(right=(1, 2, 3))
    settle(story.contexts.open_context(other))
    story.settle()

    assert [one.title for one in story.requests] == ["Add acme/atlas-7b (bfloat16): 2.00"]
    story.contexts.store.close()


@pytest.mark.slow
def test_a_review_leads_to_every_place_of_its_rows_once_it_is_merged(story: ModelStory, table: Repository) -> None:
    story.new_model(OTHER)
    story.push(model=OTHER)
    approve(story)
    review, _ = story.hub.open_request(story.source, {path_of(): result()}, "mine", "please", "ann")
    story.settle()
    story.hub.merge(story.source, review)
    for _ in range(2):
        story.settle()

    [text] = review.comments("bot")
    said = text.partition("**Merged.** Its rows are proposed in ")[2]
    for repository in (story.target, table):
        [request] = [one for one in story.hub.requests(repository) if "atlas" in f"{one.title}{one.description}"]
        assert f"[request {request.num}](" in said
    page = f"https://huggingface.co/datasets/acme/contents/blob/main/{entry_path(KEY)}"
    assert f"[`hf://datasets/acme/contents/{entry_path(KEY)}`]({page})" in said
    assert f"at `{MODEL}`" in said
    assert TABLES in said
    assert f"https://huggingface.co/{MODEL})" in said
    assert set(story.acts()) == {"request", "comment", "commit", "rename", "edit"}


@pytest.mark.slow
def test_texts_for_others_name_a_folder_by_its_last_part(hub: Hub, tmp_path: Path) -> None:
    folders = "".join(f'[[watches.targets]]\nto = "{tmp_path}/{name}"\n' for name in ("one", "two"))
    story = Story(hub, tmp_path, more=f"say_success = true\n{folders}")
    story.push()
    story.push(model="acme/borea-1b", right=(50, 60, 170))
    request, _ = hub.open_request(story.source, {path_of("acme/m1"): result("acme/m1")}, "mine", "please", "ann")
    story.settle()
    hub.merge(story.source, request)
    story.settle()
    texts = [one.description for one in (*story.discussions, *story.requests)] + request.comments("bot")
    assert [text for text in texts if str(tmp_path) in text] == []
    assert any(" at `one`" in text for text in texts)
    messages = git(tmp_path / "one", "log", "--all", "--format=%B")
    assert "--leaderboard one/declarations/" in messages
    assert str(tmp_path) not in messages
    story.contexts.store.close()
