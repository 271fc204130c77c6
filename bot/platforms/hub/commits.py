"""Commit to one repository on the Hub: send each commit once, and look for it if the answer was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete

from bot.errors import Stale, Unavailable
from bot.platforms.caches import blob_id
from bot.platforms.hub.source import HubSource
from bot.platforms.writes import in_chunks, part_title

TITLE_LIMIT = 200  # characters; the Hub refuses more
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


@dataclass
class HubCommits:
    """Writes files to the revisions of one repository, or as new requests.

    `find_request` gives the number of our open request with a title and a text, None if there is none yet.
    """

    source: HubSource
    find_request: Callable[[str, str], int | None] = field(repr=False)
    operations: Operations = field(default_factory=Operations, repr=False)

    def write(
        self,
        changes: Mapping[str, bytes | None],
        title: str,
        text: str,
        *,
        revision: str = "main",
        parent: str | None = None,
        request: bool = False,
    ) -> tuple[str, int | None]:
        """Commit files (None deletes) to a revision, or as a new request: the last commit, and the request's number.

        Many files are several commits. Raises Stale if the revision is no longer at `parent`, or where a request
        would change nothing.
        """
        parts = list(in_chunks(changes))
        oid, num = parent or "", None
        for number, part in enumerate(parts, 1):
            said = part_title(title[:TITLE_LIMIT], number, len(parts))[-TITLE_LIMIT:]
            if request and num is None:
                oid, num = self._open_request(part, title, text, parent)
                revision = f"refs/pr/{num}"
            else:
                oid = self._commit(part, said, text, revision, oid or None)
        return oid, num

    def _open_request(
        self, changes: Mapping[str, bytes | None], title: str, text: str, parent: str | None
    ) -> tuple[str, int]:
        """Open a request with one commit: the commit and the number."""
        try:
            made = self._send(changes, title, text, "main", parent, request=True)
        except Unavailable as failure:
            num = self.source.client.landed(failure, lambda: self.find_request(title, text))
            return self.source.refs(requests=True)[f"refs/pr/{num}"], num
        if made.pr_num is None:
            raise Stale(f"{self.source.address.url}: the files are already there")
        return made.oid, made.pr_num

    def _commit(
        self, changes: Mapping[str, bytes | None], title: str, text: str, revision: str, parent: str | None
    ) -> str:
        """Commit to a branch or a request's ref: the commit."""
        try:
            return str(self._send(changes, title, text, revision, parent).oid)
        except Unavailable as failure:
            return self.source.client.landed(failure, lambda: self._find_commit(changes, revision, parent))

    def _send(
        self,
        changes: Mapping[str, bytes | None],
        title: str,
        text: str,
        revision: str,
        parent: str | None,
        *,
        request: bool = False,
    ) -> CommitInfo:
        operations = self.operations.of(changes)
        made = self.source.client.write(
            self.source.client.api.create_commit,
            operations=operations,
            commit_message=title[:TITLE_LIMIT],
            commit_description=text,
            revision=revision,
            parent_commit=parent,
            create_pr=request,
            repo_id=self.source.address.name,
            repo_type=self.source.address.kind,
        )
        self.operations.learn(operations)
        return made

    def _find_commit(self, changes: Mapping[str, bytes | None], revision: str, parent: str | None) -> str | None:
        """The commit that brought these files, None if the revision has not moved. Raises Stale for another's."""
        ref = revision if revision.startswith("refs/") else f"refs/heads/{revision}"
        head = self.source.refs(requests=True).get(ref)
        if head is None or head == parent:
            return None
        there = self.source.object_ids(list(changes), head)
        if there == {path: blob_id(data) for path, data in changes.items() if data is not None}:
            return head
        if parent is None:
            return None
        raise Stale(f"{self.source.address.url}: {revision} moved while it was written to")
