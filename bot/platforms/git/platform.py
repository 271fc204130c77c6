"""Local folders as a platform: git repositories."""

from __future__ import annotations

from pathlib import Path

from bot.errors import CallError
from bot.platforms.git.source import GitSource
from bot.platforms.git.target import Folder
from bot.platforms.pasted import refuse_forgotten_scheme
from bot.platforms.platform import Access, Session
from bot.publishing.publication import Form
from bot.reporting.escape import brief


def checked_folder(name: str, start: Path = Path()) -> str:
    """The name of a folder as it was given; relative ones begin at `start`.

    Raises CallError for `org/name` and for the address of a page, where there is no such folder: a forgotten `hf://`
    would otherwise make a new, empty board on this machine.
    """
    try:
        is_there = (start / name).exists()
    except OSError as error:
        raise CallError(f"{brief(name)}: {error.strerror}") from None
    if not is_there:
        refuse_forgotten_scheme(name)
    return name


class GitPlatform:
    """Local git repositories: a request is a branch, and nothing can be said to anybody."""

    scheme = ""
    address = "a folder"

    def open_source(self, name: str, session: Session) -> GitSource:
        """A repository of results. Raises CallError for `org/name` where there is no such folder."""
        return GitSource(session.folder / checked_folder(name, session.folder), name)

    def open_target(self, name: str, session: Session, form: Form, discussion: int | None) -> Folder:
        """A repository of rows; it is made when something is first written. Raises CallError as open_source does."""
        del form, discussion  # every form is a commit on some branch
        checked_folder(name, session.folder)
        return Folder(name if session.folder == Path() else str(session.folder / name))

    def open_discussions(self, name: str, session: Session) -> None:
        """None."""

    def open_site(self, name: str, session: Session) -> None:
        """None: the files of a site lie in a folder as they are, without a commit."""

    def git_remote(self, name: str, access: Access) -> None:
        """None: what lies on this machine is not fetched."""


PLATFORM = GitPlatform()
