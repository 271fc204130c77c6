"""Files as the operations of a commit on the Hub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from huggingface_hub import CommitOperationAdd, CommitOperationDelete

Operation = CommitOperationAdd | CommitOperationDelete


@dataclass
class Operations:
    """Makes the operations of the commits to one repository.

    Before each commit the client asks which files go to the large-file storage. While a repository is filled with rows
    of one kind (`is_filling`), and the Hub said of none so far that it does, it is not asked again: that is half of the
    requests.
    """

    is_filling: bool = False
    _modes: set[str | None] = field(default_factory=set)

    def of(self, changes: Mapping[str, bytes | None]) -> list[Operation]:
        """The operations for files; None deletes."""
        made: list[Operation] = [
            CommitOperationDelete(path) if data is None else CommitOperationAdd(path, data)
            for path, data in changes.items()
        ]
        for one in made:
            if self.is_filling and self._modes == {"regular"} and isinstance(one, CommitOperationAdd):
                one._upload_mode, one._is_uploaded = "regular", True  # noqa: SLF001 - the client has no other way
        return made

    def learn(self, made: list[Operation]) -> None:
        """Note what the Hub said of the files of a commit that landed."""
        self._modes |= {one._upload_mode for one in made if isinstance(one, CommitOperationAdd)}  # noqa: SLF001
