"""The files of a repository on the Hub: each content is read once, and each commit is sent once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete

from bot.errors import Gone, Stale
from bot.platforms.caches import OPEN, blob_id, is_content
from bot.platforms.hub.discussions import TITLE_LIMIT, HubDiscussions
from bot.platforms.hub.source import FILE_LIMIT, HubSource, added
from bot.platforms.kept import Keeper
from bot.platforms.net import in_chunks, part_title
from bot.platforms.row_index import RowIndex
from bot.publishing.entry import FOLDER, kept_first, kept_for
from bot.publishing.publication import Form, Marker, PostText

SMALL = 1_000_000  # bytes; the Hub decides by name and size, and a text of this size is never stored as a large file
Operation = CommitOperationAdd | CommitOperationDelete


@dataclass
class Operations:
    """Makes the operations of the commits to one repository.

    Before each commit the client asks which files go to the large-file storage. The Hub's answer for small files with
    an ending holds for all small files with it, and is not requested again by this object.
    """

    _modes: dict[str, set[str | None]] = field(default_factory=dict)

    def of(self, changes: Mapping[str, bytes | None]) -> list[Operation]:
        """The operations for files; None deletes one."""
        made: list[Operation] = []
        for path, data in changes.items():
            one = CommitOperationDelete(path) if data is None else CommitOperationAdd(path, data)
            if isinstance(one, CommitOperationAdd) and _is_small(one) and self._modes.get(_ending(one)) == {"regular"}:
                one._upload_mode, one._is_uploaded = "regular", True  # noqa: SLF001 - the client has no other way
            made.append(one)
        return made

    def learn(self, made: list[Operation]) -> None:
        """Note the Hub's answer about the files of a commit that landed."""
        for one in made:
            if isinstance(one, CommitOperationAdd) and _is_small(one):
                self._modes.setdefault(_ending(one), set()).add(one._upload_mode)  # noqa: SLF001


def _ending(one: CommitOperationAdd) -> str:
    return PurePosixPath(one.path_in_repo).suffix


def _is_small(one: CommitOperationAdd) -> bool:
    return one.upload_info.size <= SMALL


@dataclass
class HubCommits:
    """Commits files to the revisions of one repository, or opens requests with them."""

    discussions: HubDiscussions
    keeper: Keeper = field(default_factory=Keeper, repr=False)
    operations: Operations = field(default_factory=Operations, repr=False)

    @property
    def source(self) -> HubSource:
        """The repository, for reading."""
        return self.discussions.source

    def write(
        self,
        changes: Mapping[str, bytes | None],
        title: str,
        text: str,
        *,
        revision: str = "main",
        parent: str | None = None,
        request: bool = False,
        earlier: Sequence[str] = (),
    ) -> tuple[str, int | None]:
        """Commit files (None deletes one) to a revision, or as a new request: the last commit, and its number.

        Many files are several commits. What rows have the target keep comes along, from the revisions `earlier` where
        these have it. Raises Stale if the revision is no longer at `parent`, or where a request would change nothing.
        """

        def there(paths: Collection[str]) -> Collection[str]:
            return self.source.object_ids(list(paths), parent or revision)

        def before(paths: Collection[str]) -> dict[str, bytes]:
            found: dict[str, bytes | None] = {}
            with suppress(Gone):  # people may delete the ref of a closed request
                found = {path: self.source.read(path, one, FILE_LIMIT) for one in earlier for path in paths}
            return {path: data for path, data in found.items() if data is not None}

        if wanted := kept_for(changes):
            changes = {**self.keeper.missing(wanted, there, before), **changes}
        parts = list(in_chunks(sorted(changes.items(), key=lambda file: kept_first(file[0]))))
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
        """Open a request with one commit; returns the commit and the number."""

        def send() -> tuple[str, int]:
            made = self._send(changes, title, text, "main", parent, request=True)
            if made.pr_num is None:
                raise Stale(f"{self.source.address.url}: the files are already there")
            return made.oid, made.pr_num

        def find() -> tuple[str, int] | None:
            num = self.discussions.find_own("pull_request", title, text)
            return (self.source.refs(requests=True)[f"refs/pr/{num}"], num) if num is not None else None

        return self.source.client.sent_once(send, find)

    def _commit(
        self, changes: Mapping[str, bytes | None], title: str, text: str, revision: str, parent: str | None
    ) -> str:
        """Commit to a branch or a request's ref; returns the commit."""
        return self.source.client.sent_once(
            lambda: str(self._send(changes, title, text, revision, parent).oid),
            lambda: self._find_commit(changes, revision, parent),
        )

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


FEW = 3  # paths that are requested one by one before listing pays off


@dataclass
class HubFiles:
    """Reads files of one repository.

    `rows` is the index of its rows on main. `blobs` has the contents that were read before, by object id; `seen` has
    them by commit and path, None if there was no file.
    """

    source: HubSource
    rows: RowIndex
    blobs: MutableMapping[str, bytes] = field(repr=False)
    seen: dict[tuple[str, str], bytes | None] = field(default_factory=dict, repr=False)
    _listed: dict[tuple[str, str], list[str]] = field(default_factory=dict, repr=False)

    def listing(self, folder: str, commit: str) -> list[str]:
        """The paths of all files below a folder at a commit, which never change."""
        if (folder, commit) not in self._listed:
            self._listed[folder, commit] = [item.path for item in self.source.walk(commit, folder)]
        return self._listed[folder, commit]

    def read(self, paths: Sequence[str], commit: str) -> dict[str, bytes]:
        """The bytes of these files at a commit, of those that are there."""
        unseen = [path for path in paths if (commit, path) not in self.seen]
        found = self.rows.read(unseen, commit)
        unseen = [path for path in unseen if path not in found]
        if len(unseen) <= FEW:
            found |= {path: self.source.read(path, commit, FILE_LIMIT) for path in unseen}
            self.source.see_absent([path for path in unseen if found[path] is None], commit)
        else:
            oids = self.source.object_ids(unseen, commit)
            known = {path: data for path, oid in oids.items() if (data := self.blobs.get(oid)) is not None}
            new = self.source.contents({path: oid for path, oid in oids.items() if path not in known}, commit)
            self.blobs.update({oids[path]: data for path, data in new.items()})
            found |= dict.fromkeys(unseen) | known | new
        self.seen |= {(commit, path): data for path, data in found.items()}
        return {path: data for path in paths if (data := self.seen[commit, path]) is not None}


@dataclass
class HubBulkWriter:
    """Writes files to one ref, and remembers what was there before, so that a commit costs one request.

    `ids` are the object ids of the entries at the ref's head when they were listed. What is written here is not added:
    no row is written twice.
    """

    commits: HubCommits
    mark: Marker
    form: Form
    number: int | None = None
    head: str = ""
    ids: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def source(self) -> HubSource:
        """The repository, for reading."""
        return self.commits.source

    def _look(self) -> None:
        """Read the commit of the ref, and list the entries there, unless both are known."""
        if self.head:
            return
        refs = self.source.refs(requests=True)
        self.head = refs.get("refs/heads/main", "")
        if self.form == "pull-request":
            discussions = self.commits.discussions
            discussions.look("pull_request")
            marked = discussions.known.of("pull_request", self.mark.name)
            maybe = [num for num, row in marked if row["status"] in OPEN]
            self.number = next((num for num in maybe if discussions.read(num).is_open), None)
        if self.number is not None:
            self.head = refs.get(f"refs/pr/{self.number}", "")
        if not self.head:
            raise Gone("the Hub", f"{self.source.name}: the ref of request #{self.number} is gone; close the request")
        self.ids = {item.path: added(item).oid or "" for item in self.source.walk(self.head, FOLDER)}

    def paths(self) -> set[str]:
        """The paths of the entries that are there, or are proposed there."""
        self._look()
        return set(self.ids)

    def current(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The current contents at the paths of these files; equal ones cost no request."""
        self._look()
        found = {path: data for path, data in files.items() if is_content(data, self.ids.get(path, ""))}
        others = [path for path in files if path in self.ids and path not in found]
        with self.source.in_bulk(self.head, len(others)) as source:
            read = {path: source.read(path, self.head, FILE_LIMIT) for path in others}
        return found | {path: data for path, data in read.items() if data is not None}

    def write(self, files: Mapping[str, bytes], text: PostText) -> str:
        """Write new files, in commits that the Hub takes. Raises Stale if somebody else wrote meanwhile.

        After a failure the ref is looked at again: some of the commits may have landed.
        """
        self._look()
        is_new = self.form == "pull-request" and self.number is None
        revision = "main" if self.number is None else f"refs/pr/{self.number}"
        parent, self.head = self.head, ""
        self.head, number = self.commits.write(
            files, text.title, text.body, revision=revision, parent=parent, request=is_new
        )
        self.number = number or self.number
        return f"{self.source.name}{f' #{self.number}' if self.number else ''}"
