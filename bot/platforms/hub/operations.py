"""Files as the operations of a commit on the Hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

SMALL = 1_000_000  # bytes; the Hub decides by name and size, and a text of this size is never stored as a large file
Operation = CommitOperationAdd | CommitOperationDelete


@dataclass
class Operations:
    """Makes the operations of the commits to one repository.

    Before each commit the client asks which files go to the large-file storage. What the Hub once said of small files
    with an ending it says of all of them, and is not asked again while this object lives.
    """

    _modes: dict[str, set[str | None]] = field(default_factory=dict)

    def of(self, changes: Mapping[str, bytes | None]) -> list[Operation]:
        """The operations for files; None deletes."""
        made: list[Operation] = []
        for path, data in changes.items():
            one = CommitOperationDelete(path) if data is None else CommitOperationAdd(path, data)
            if isinstance(one, CommitOperationAdd) and _is_small(one) and self._modes.get(_ending(one)) == {"regular"}:
                one._upload_mode, one._is_uploaded = "regular", True  # noqa: SLF001 - the client has no other way
            made.append(one)
        return made

    def learn(self, made: list[Operation]) -> None:
        """Note what the Hub said of the files of a commit that landed."""
        for one in made:
            if isinstance(one, CommitOperationAdd) and _is_small(one):
                self._modes.setdefault(_ending(one), set()).add(one._upload_mode)  # noqa: SLF001


def _ending(one: CommitOperationAdd) -> str:
    return PurePosixPath(one.path_in_repo).suffix


def _is_small(one: CommitOperationAdd) -> bool:
    return one.upload_info.size <= SMALL
