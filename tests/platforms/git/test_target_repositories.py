"""Folders that are repositories of many kinds, and those that cannot be a target, with real git."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.errors import CallError, Unavailable
from bot.platforms.git import target
from bot.platforms.git.source import checked_folder
from bot.platforms.git.target import LocalRepository
from bot.publishing.publication import Form
from tests.platforms.git.publisher import entry
from tests.platforms.git.test_target import BRANCH, FILE, put, refs, shown
from tests.world.local_git import git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "board"


def test_a_folder_inside_a_repository_does_not_publish_into_that(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "first")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "notes.txt").write_text("mine")
    before = refs(tmp_path)

    with pytest.raises(CallError, match="not a git repository and not empty"):
        put(inside, entry())
    assert put(tmp_path / "new", entry()) == ["OpenRequest"]

    assert refs(tmp_path) == before
    assert git(tmp_path / "new", "rev-parse", "--show-toplevel") == str(tmp_path / "new")


def test_a_bare_repository_is_a_target(folder: Path) -> None:
    git(folder.parent, "init", "--quiet", "--bare", str(folder))

    assert put(folder, entry()) == ["OpenRequest"]
    assert put(folder, entry(), form="commit") == ["Commit"]
    assert shown(folder, "main") == entry()
    put(folder, entry())
    assert git(folder, "branch", "--format=%(refname:short)") == "main"


def test_a_linked_work_tree_is_a_target(folder: Path) -> None:
    put(folder, entry(), form="commit")
    linked = folder.parent / "linked"
    git(folder, "worktree", "add", "--quiet", str(linked), "-b", "mine")

    assert put(linked, entry("acme/borea-7b")) == ["OpenRequest"]
    assert "leaderboard-bot/tiny/acme/borea-7b" in refs(folder)


LINKS = ("refs", "refs/heads", "logs", "logs/refs/heads/main", "objects", "objects/pack")


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_a_link_in_a_strangers_repository_leads_no_write_out_of_it(folder: Path, name: str, form: Form) -> None:
    git(folder.parent, "init", "--quiet", "--initial-branch=main", str(folder))
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    outside = folder.parent / "outside"
    (folder / ".git" / name).rename(outside)
    (folder / ".git" / name).symlink_to(outside)
    before = {path: path.read_bytes() for path in [outside, *outside.rglob("*")] if path.is_file()}

    with pytest.raises(CallError, match=f"{name} is a link"):
        put(folder, entry(), form=form)
    assert {path: path.read_bytes() for path in [outside, *outside.rglob("*")] if path.is_file()} == before


@pytest.mark.parametrize("how", ["file", "commondir"])
@pytest.mark.parametrize("form", ["pull-request", "commit"])
def test_a_strangers_folder_leads_no_write_into_another_repository(folder: Path, how: str, form: Form) -> None:
    other = folder.parent / "other"
    git(folder.parent, "init", "--quiet", "--initial-branch=main", str(other))
    git(other, "commit", "--quiet", "--allow-empty", "-m", "first")
    before = git(other, "log", "--all", "--oneline")
    folder.mkdir()
    if how == "file":
        (folder / ".git").write_text(f"gitdir: {other}/.git\n")
    else:
        git(folder.parent, "init", "--quiet", "--initial-branch=main", str(folder))
        (folder / ".git/commondir").write_text(f"{other}/.git\n")

    with pytest.raises(CallError, match="does not lead back"):
        put(folder, entry(), form=form)
    assert git(other, "log", "--all", "--oneline") == before


def test_a_work_tree_with_changes_is_left_alone_and_main_moves_on(folder: Path) -> None:
    put(folder, entry(), form="commit")
    (folder / FILE).write_text("what somebody is doing")
    (folder / "new.txt").write_text("untracked")

    put(folder, entry(day=2, right=(90, 60, 70)), form="commit")

    assert (folder / FILE).read_text() == "what somebody is doing"
    assert (folder / "new.txt").read_text() == "untracked"
    assert shown(folder, "main").evidence[0].date == entry(day=2).evidence[0].date


def test_a_work_tree_on_another_branch_is_left_alone(folder: Path) -> None:
    put(folder, entry(), form="commit")
    git(folder, "checkout", "--quiet", "-b", "mine")

    put(folder, entry(day=2, right=(90, 60, 70)), form="commit")

    assert git(folder, "status", "--porcelain") == ""
    assert (folder / FILE).read_bytes() == entry().to_bytes()


def test_a_work_tree_that_could_not_be_written_whole_follows_with_the_next_row(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, entry(), form="commit")
    run = LocalRepository.git

    def on_a_full_disk(self: LocalRepository, *words: str, **more: Any) -> bytes:
        if words[0] == "read-tree":
            folder.joinpath(second.path).parent.mkdir(parents=True, exist_ok=True)
            folder.joinpath(second.path).write_bytes(b"{")
            raise Unavailable("git", f"error: unable to write file {second.path}")
        return run(self, *words, **more)

    second = entry("acme/borea-1b")
    with monkeypatch.context() as patch:
        patch.setattr(LocalRepository, "git", on_a_full_disk)
        put(folder, second, form="commit")
    put(folder, entry("acme/cetus-3b"), form="commit")

    assert git(folder, "status", "--porcelain") == ""


def test_a_lock_that_cannot_be_written_is_told_in_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, entry(), form="commit")

    def on_a_full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(target, "_no_link", on_a_full_disk)
    with pytest.raises(Unavailable, match="cannot be written: No space left on device"):
        put(folder, entry("acme/borea-1b"), form="commit")


def test_hooks_signatures_and_variables_of_git_do_not_reach_what_the_bot_writes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(folder, entry())
    hook = folder / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    git(folder, "config", "commit.gpgSign", "true")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))

    done = put(folder, entry("acme/borea-7b"))

    assert done == ["OpenRequest"]


@pytest.mark.parametrize("parts", [("file",), ("file", "below")])
def test_a_target_that_cannot_be_a_folder_is_refused(tmp_path: Path, parts: Sequence[str]) -> None:
    (tmp_path / "file").write_text("mine")

    with pytest.raises(CallError):
        put(tmp_path.joinpath(*parts), entry())
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize(
    ("form", "main"), [("pull-request", "master"), ("commit", "master"), ("pull-request", "develop")]
)
def test_a_folder_whose_main_branch_has_another_name_gets_no_second_one(tmp_path: Path, form: Form, main: str) -> None:
    git(tmp_path, "init", "-q", "-b", main)
    (tmp_path / "README.md").write_text("mine")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "Start")

    put(tmp_path, entry(), form=form)
    if form == "pull-request":
        git(tmp_path, "merge", "-q", BRANCH)
        put(tmp_path, entry(), form=form)

    assert git(tmp_path, "branch", "--format=%(refname:short)").splitlines() == [main]
    assert shown(tmp_path, main) == entry()
    assert (tmp_path / FILE).is_file()
    assert (tmp_path / "leaderboard.csv").is_file()
    assert git(tmp_path, "status", "--porcelain") == ""


def test_a_branch_of_a_folder_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")

    with pytest.raises(CallError, match="a folder has no @branch: write"):
        checked_folder(f"{tmp_path}@develop")
    assert not Path(f"{tmp_path}@develop").exists()


def test_a_new_folder_is_named_from_the_current_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert put(Path("board"), entry(), form="commit") == ["Commit"]
    assert shown(tmp_path / "board", "main") == entry()
