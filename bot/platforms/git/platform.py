"""Folders of this machine as a platform: local git repositories."""

from __future__ import annotations

from pathlib import Path

from bot.platforms.git.source import GitSource
from bot.platforms.git.target import Folder
from bot.platforms.registry import Opener
from bot.publishing.publication import Form


class GitPlatform:
    """Local git repositories: a request is a branch, and nothing can be said to anybody."""

    scheme = ""
    address = "a folder"

    def open_source(self, name: str, opener: Opener) -> GitSource:
        """A repository of results."""
        return GitSource(opener.folder / name, name)

    def open_target(self, name: str, opener: Opener, form: Form, discussion: int | None) -> Folder:
        """A repository of rows; it is made when something is first written."""
        del form, discussion  # every form is a commit on some branch
        return Folder(name if opener.folder == Path() else str(opener.folder / name))

    def open_discussions(self, name: str, opener: Opener) -> None:
        """None."""


PLATFORM = GitPlatform()
