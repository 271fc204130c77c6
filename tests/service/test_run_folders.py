"""A run whose result is a folder of several files: it is one submission, also where its files come one by one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.platform import Opener
from bot.platforms.target import Target
from bot.service.checks.verify import Verifier
from tests.evaluation.test_helm import KEY, folder, run
from tests.service.stories import Story
from tests.variants import one_of
from tests.world.hub import Hub

DECLARED = f"""
title = "Philosophy"
description = "One scenario of HELM."

[harness]
formats = ["helm"]

[[tasks]]
id = "philosophy"
title = "Philosophy"
metrics = [{{ name = "exact_match" }}]
num_fewshot = 5
leaves = [{{ id = "philosophy", keys = {{ helm = "{KEY}" }}, samples = 9 }}]
"""
RUN = "runs/v1/mmlu"


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path, form="commit")
    (tmp_path / "tiny.toml").write_text(DECLARED)
    yield story
    story.contexts.store.close()


def target(story: Story) -> Target:
    return Opener(story.contexts.access, story.folder).target("hf://datasets/acme/contents")


@pytest.mark.parametrize("newest", one_of(["run_spec.json", "stats.json"]))
def test_the_row_of_a_folder_names_the_commit_of_its_newest_file(story: Story, newest: str) -> None:
    """At an earlier commit nobody could read the run."""
    files = folder(run())
    last = {f"{RUN}/{newest}": files.pop(f"{RUN}/{newest}")}
    story.hub.push(story.source, files)
    story.settle()
    assert target(story).scan_entries().entries == ()
    commit = story.hub.push(story.source, last)
    story.hub.push(story.source, {"notes.json": b"{}"}, "Later")
    story.settle()

    [entry] = target(story).scan_entries().entries
    [file] = entry.evidence
    assert (file.path, file.commit) == (RUN, commit.oid)
    verified = Verifier(target(story), Opener(story.contexts.access, story.folder)).verify()
    assert [row.outcome for row in verified] == ["follows"]

    story.hub.push(story.source, dict.fromkeys(last), "Remove")
    story.settle()
    assert target(story).scan_entries().entries == ()


def test_what_is_said_of_the_files_of_a_run_goes_when_it_is_whole_and_comes_back_when_it_is_not(story: Story) -> None:
    files = folder(run())
    missing = f"{RUN}/run_spec.json"
    last = {missing: files.pop(missing)}

    def unread() -> list[str]:
        story.settle()
        return [one.path for one in story.state.submissions.page(status="unread")]

    story.hub.push(story.source, {**files, "notes.json": b"{}"})
    assert unread() == ["notes.json", *sorted(files)]
    story.hub.push(story.source, last)
    assert unread() == ["notes.json"]
    story.hub.push(story.source, dict.fromkeys(last), "Remove")
    assert unread() == ["notes.json", *sorted(files)]


def test_a_run_at_the_top_of_a_repository_is_said_to_need_a_folder(story: Story) -> None:
    story.hub.push(story.source, {path.rpartition("/")[2]: data for path, data in folder(run()).items()})
    story.settle()
    found = story.state.submissions.at(["run_spec.json", "stats.json"])
    assert [one.status for one in found.values()] == ["unread", "unread"]
    assert all("not the top of a repository" in str(one.content) for one in found.values())
    assert all("not the top of a repository" in one.why for one in found.values())
