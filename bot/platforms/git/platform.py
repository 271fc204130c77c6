"""Folders of this machine as a platform: local git repositories."""

from __future__ import annotations

import re
from pathlib import Path

from bot.errors import CallError
from bot.platforms.git.source import GitSource
from bot.platforms.git.target import Folder
from bot.platforms.registry import Opener
from bot.publishing.publication import Form

REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)  # a name on the Hub or on GitHub has this form


def checked_folder(name: str, start: Path = Path()) -> str:
    """The name of a folder as it was given. Raises CallError for `org/name` that no folder below `start` has.

    A forgotten `hf://` would otherwise make a new, empty board on this machine.
    """
    if REPOSITORY.fullmatch(name) and not (start / name).exists():
        raise CallError(f"{name}: write hf://datasets/{name}, or ./{name} for a folder")
    return name


class GitPlatform:
    """Local git repositories: a request is a branch, and nothing can be said to anybody."""

    scheme = ""
    address = "a folder"

    def open_source(self, name: str, opener: Opener) -> GitSource:
        """A repository of results. Raises CallError for `org/name` where there is no such folder."""
        return GitSource(opener.folder / checked_folder(name, opener.folder), name)

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> Folder:
        """A repository of rows; it is made when something is first written. Raises CallError as open_source does."""
        del form, discussion  # every form is a commit on some branch
        checked_folder(name, opener.folder)
        return Folder(name if opener.folder == Path() else str(opener.folder / name))

    def open_discussions(self, name: str, opener: Opener) -> None:
        """None."""


PLATFORM = GitPlatform()
