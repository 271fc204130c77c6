"""Files of a git checkout are named by repository, commit and path from its root, where they are what is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.platforms.git.repository import name_of_remote
from bot.platforms.inputs import commit_dates, evidence_of, find_places, in_repositories, with_commits
from bot.platforms.platform import Access
from tests.platforms.git.test_source import Folder
from tests.world.results import path_of, result

FILE, OTHER = path_of(), path_of("acme/borea-1b")


def named(folder: Path) -> dict[str, tuple[str, str, str]]:
    found = evidence_of(with_commits(in_repositories(find_places([str(folder)], Access()))))
    return {Path(name).parent.name: (one.source, one.path, one.commit) for name, one in found.items()}


def test_a_committed_file_names_its_repository_and_commit(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "results")
    first = folder.push({f"runs/{FILE}": result()})
    folder.push({f"runs/{OTHER}": result("acme/borea-1b")})
    folder.git("remote", "add", "origin", "https://ann:secret@github.com/acme/results.git")
    (folder.path / "runs" / OTHER).write_bytes(result("acme/borea-1b", right=(1, 2, 3)))

    found = list(named(folder.path / "runs").values())

    assert ("github://acme/results", f"runs/{FILE}", first) in found
    assert ("", "/".join(OTHER.split("/")[-2:]), "") in found  # it was changed since


def test_a_committed_file_is_dated_by_its_commit(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "results")
    first = folder.push({FILE: result()})
    folder.push({OTHER: result("acme/borea-1b")})
    (folder.path / "new.json").write_bytes(result("acme/corvo-3b"))
    (folder.path / "link.json").symlink_to("new.json")

    dates = commit_dates(with_commits(in_repositories(find_places([str(folder.path)], Access()))))

    when = float(folder.git("show", "-s", "--format=%ct", first))
    assert {Path(name).name: date for name, date in dates.items() if name.endswith(FILE)} == {Path(FILE).name: when}
    assert len(dates) == 2


def test_without_a_remote_the_folder_is_the_label(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "results")
    commit = folder.push({FILE: result()})

    assert list(named(folder.path).values()) == [("results", FILE, commit)]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:acme/results.git", "github://acme/results"),
        ("https://ann:secret@github.com/acme/results", "github://acme/results"),
        ("https://ann:secret@huggingface.co/datasets/acme/results", "hf://datasets/acme/results"),
        ("https://ann:secret@git.example.org:8443/a/b.git?token=secret", "https://git.example.org/a/b"),
        ("ssh://git@git.example.org/a/b", "https://git.example.org/a/b"),
        ("https://ann:sec/ret@github.com/acme/results", ""),
        ("ann:secret@github.com:acme/results", ""),
        ("https://[github.com/acme/results", ""),
        ("../elsewhere", ""),
        ("/srv/results", ""),
        ("file:///srv/results", ""),
    ],
)
def test_no_credentials_of_a_remote_are_published(url: str, name: str) -> None:
    assert name_of_remote(url) == name
