"""A local git repository as a source, read through plumbing alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import Refused, Unavailable
from bot.platforms.git import program
from bot.platforms.git.source import GitSource
from bot.platforms.history import folder_history
from bot.platforms.source import Change, LastCommit, TooLarge
from tests.world.git import blob_id


class Folder:
    """A repository in which somebody works."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, data: str = "") -> str:
        person = ["-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "core.hooksPath=/dev/null"]
        done = subprocess.run(
            ["git", *person, *words], cwd=self.path, input=data, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def push(self, files: dict[str, bytes | None]) -> str:
        for name, data in files.items():
            file = self.path / name
            if data is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Add results")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "results")


@pytest.fixture
def source(folder: Folder) -> GitSource:
    return GitSource(folder.path)


def test_uncommitted_are_the_files_that_the_commit_has_not_as_they_are(folder: Folder, source: GitSource) -> None:
    names = ["changed.json", "deleted.json", "renamed.json", "same.json"]
    folder.push({name: f"{name}\n".encode() * 20 for name in names} | {".gitignore": b"ignored/\n"})
    assert source.uncommitted(["**/*.json"]) == []
    (folder.path / "changed.json").write_bytes(b"another")
    (folder.path / "deleted.json").unlink()
    folder.git("mv", "renamed.json", "new name.json")
    (folder.path / "same.json").touch()
    (folder.path / ".git" / "info" / "exclude").write_text("private.json\n")
    board = Folder(folder.path / "board")  # a target inside of the source
    board.push({"entries/row.json": b"{}"})
    (board.path / "entries" / "other.json").write_bytes(b"{}")
    for name in ("ignored/x.json", "private.json", "runs/é\n.json", "runs/notes.txt"):
        (folder.path / name).parent.mkdir(exist_ok=True)
        (folder.path / name).write_bytes(b"{}")
    (folder.path / "link.json").symlink_to("same.json")
    assert source.uncommitted(["**/*.json"]) == ["changed.json", "new name.json", "runs/é\n.json"]


def test_a_look_for_uncommitted_files_runs_no_program_of_the_repository(folder: Folder, source: GitSource) -> None:
    """A filter, a file-system monitor or a submodule could name one in the settings of the repository."""
    folder.push({"x.json": b"1", ".gitattributes": b"*.json filter=evil diff=evil\n"})
    module = Folder(folder.path / "module")
    module.push({"y.json": b"1"})
    folder.git("add", "module")
    folder.git("commit", "-q", "-m", "Add a submodule")
    for place in (folder, module):
        for key in ("filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.fsmonitor"):
            place.git("config", key, f"touch {folder.path / 'ran'}; cat")
        (place.path / ".git" / "index").touch()
    (folder.path / "x.json").write_bytes(b"2")
    (module.path / "y.json").write_bytes(b"2")
    assert source.uncommitted(["**/*.json"]) == ["x.json"]
    assert not (folder.path / "ran").exists()
    folder.git("status")
    assert (folder.path / "ran").exists()  # so it would have


def test_changes_are_what_was_added_changed_and_removed(folder: Folder, source: GitSource) -> None:
    old = folder.push({"a/x.json": b"1", "b é.json": b"22", "gone\nfile": b"3"})
    new = folder.push({"a/x.json": b"44", "gone\nfile": None, "n.json": b""})

    found = {change.path: (change.oid, change.size) for change in source.changes(old, new)}

    assert found == {"a/x.json": (blob_id(b"44"), 2), "gone\nfile": (None, 0), "n.json": (blob_id(b""), 0)}
    assert source.head() == new


@pytest.mark.slow
@pytest.mark.parametrize("what", ["every file", "what changed", "the history", "the changes of a board"])
def test_folders_that_hold_each_other_many_times_over_end(
    folder: Folder, source: GitSource, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(program, "MOST_PRINTED", 1_000_000)
    monkeypatch.setitem(program.WALKING, "GIT_ALLOC_LIMIT", "1m")  # 128,000 files that differ
    old = folder.push({"x.json": b"1"})
    tree = folder.git("rev-parse", "HEAD^{tree}")
    for names in (*["ab"] * 30, ["tiny"], ["entries"]):
        tree = folder.git("mktree", data="".join(f"040000 tree {tree}\t{name}\n" for name in names))
    new = folder.git("commit-tree", tree, "-p", old, "-m", "bomb")
    read: dict[str, tuple[Callable[[], object], str]] = {
        "every file": (lambda: list(source.changes(None, new)), "ls-tree -r: printed more than 1 MB"),
        "what changed": (lambda: list(source.changes(old, new)), "over limit 1048576"),
        "the history": (
            lambda: source.touched(["x.json", *(f"{n}/y.json" for n in range(200))], new),
            "over limit 1048576",
        ),
        "the changes of a board": (lambda: folder_history(str(folder.path), "tiny"), "over limit 1048576"),
    }
    folder.git("update-ref", "refs/heads/main", new)

    with pytest.raises(Unavailable, match=read[what][1]):
        read[what][0]()


def test_without_an_old_commit_everything_is_a_change(folder: Folder, source: GitSource) -> None:
    new = folder.push({"a/x.json": b"1", "y.json": b"2"})

    assert [change.path for change in source.changes(None, new)] == ["a/x.json", "y.json"]
    assert [change.path for change in source.changes("0" * 40, new)] == ["a/x.json", "y.json"]
    assert list(source.changes(new, new)) == []


def test_each_file_names_the_commit_that_last_touched_it(folder: Folder, source: GitSource) -> None:
    first = folder.push({"a[1].json": b"1", "b.json": b"1"})
    second = folder.push({"b.json": b"2"})

    touched = source.touched(["a[1].json", "b.json", "none"], second)

    assert {path: last.oid for path, last in touched.items()} == {"a[1].json": first, "b.json": second}
    assert all(last.date for last in touched.values())


def test_a_commit_whose_date_is_none_stops_nothing(folder: Folder, source: GitSource) -> None:
    folder.push({"x.json": b"1"})
    data = f"tree {folder.git('write-tree')}\nauthor a <a@b> x\ncommitter a <a@b> x\n\nm\n"
    commit = folder.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=data)
    assert source.touched(["x.json"], commit) == {"x.json": LastCommit(commit, None)}


def test_a_file_is_read_at_its_commit_within_the_limit(folder: Folder, source: GitSource) -> None:
    commit = folder.push({"a b\n:é.json": b"1" * 100})
    folder.push({"a b\n:é.json": b"2"})

    assert source.read("a b\n:é.json", commit, 100) == b"1" * 100
    assert source.read("none", commit, 100) is None
    assert source.read("", commit, 100) is None
    with pytest.raises(TooLarge):
        source.read("a b\n:é.json", commit, 99)


def test_what_is_no_repository_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="not a git repository"):
        GitSource(tmp_path).head()
    with pytest.raises(Refused):
        GitSource(tmp_path / "none").head()


def test_a_folder_inside_a_repository_is_refused_with_the_root_to_name(folder: Folder) -> None:
    folder.push({"runs/2026/x.json": b"1"})

    with pytest.raises(Refused, match=f"inside the git repository {folder.path}; name {folder.path} instead"):
        GitSource(folder.path / "runs" / "2026").head()


def test_a_name_that_is_not_utf_8_is_named_and_stops_nothing(folder: Folder, source: GitSource) -> None:
    old = folder.push({"a.json": b"1"})
    (folder.path / os.fsdecode(b"caf\xe9.json")).write_bytes(b"2")
    new = folder.push({"b.json": b"3"})

    for before in (old, None):
        found = {change.path: change for change in source.changes(before, new)}
        assert found["caf\\xe9.json"].fault == "its name is not UTF-8; rename it"
        assert found["b.json"] == Change("b.json", blob_id(b"3"), 1)
        assert source.read("caf\\xe9.json", new, 100) is None
        assert source.touched(list(found), new)["b.json"].oid == new


def test_bytes_are_those_of_the_object_id(folder: Folder, source: GitSource) -> None:
    commit = folder.push({"a.json": b"1"})

    assert source.read("a.json", commit, 100, blob_id(b"1")) == b"1"
    with pytest.raises(Unavailable, match=r"a\.json: 1 bytes arrived that are not those of object"):
        source.read("a.json", commit, 100, blob_id(b"2"))


def test_symbolic_links_and_submodules_are_no_files(folder: Folder, source: GitSource) -> None:
    old = folder.push({"a.json": b"1", "b.json": b"2"})
    (folder.path / "b.json").unlink()
    for name in ("b.json", "latest.json"):
        (folder.path / name).symlink_to("a.json")
    folder.push({"c.json": b"3"})
    folder.git("update-index", "--add", "--cacheinfo", f"160000,{old},sub.json")
    folder.git("commit", "-q", "-m", "Add a submodule")
    new = source.head()

    assert {change.path: change.oid for change in source.changes(old, new)} == {
        "b.json": None,
        "latest.json": None,
        "c.json": blob_id(b"3"),
        "sub.json": None,
    }
    assert {change.path for change in source.changes(None, new)} == {"a.json", "c.json"}


def test_a_merge_touches_only_what_it_made_itself(folder: Folder, source: GitSource) -> None:
    first = folder.push({"a.json": b"1", "b.json": b"1"})
    folder.git("checkout", "-q", "-b", "side")
    side = folder.push({"a.json": b"2"})
    folder.git("checkout", "-q", "main")
    folder.push({"c.json": b"1"})
    folder.git("merge", "-q", "--no-edit", "side")

    touched = source.touched(["a.json", "b.json"], source.head())

    assert {path: last.oid for path, last in touched.items()} == {"a.json": side, "b.json": first}
