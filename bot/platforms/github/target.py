"""A repository of GitHub as a target: reads its state and carries out publications; others decide on them.

A branch is moved forward, never over the work of others.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from github.GitCommit import GitCommit
from github.GitRef import GitRef
from github.InputGitTreeElement import InputGitTreeElement
from github.PullRequest import PullRequest
from github.Repository import Repository

from bot.errors import CallError, Gone, Refused, Stale
from bot.evaluation.finding import examples, grouped
from bot.platforms.caches import KnownThreads, lazy_property
from bot.platforms.discussions import Conversation, Duplicate, MarkedComments, repeated_comments, shared_in
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.authors import is_ours
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.discussions import GitHubDiscussions, RequestSource
from bot.platforms.github.source import MAX_BYTES, MOST_FILES, GitHubSource, Tree
from bot.platforms.kept import Keeper
from bot.platforms.net import Intend, in_chunks, no_intent, part_title
from bot.platforms.row_index import RowIndex, RowStore
from bot.platforms.target import Target
from bot.publishing.board import CSV_NAME, PARQUET_NAME, Board
from bot.publishing.card import derived_files, parquet_beside
from bot.publishing.entry import KEPT_FOLDER, is_kept, kept_first, kept_for
from bot.publishing.layout import StoredEntries
from bot.publishing.merge import Merged, merge_files
from bot.publishing.publication import (
    MOST_CLOSED,
    ClosedRequest,
    CloseRequest,
    Commit,
    CurrentState,
    EditComment,
    Form,
    Marker,
    OpenRequest,
    PostComment,
    PostedComment,
    PostText,
    Publication,
    Push,
    Request,
    UpdateRequest,
    file_marks,
    find_marker,
)
from bot.publishing.texts import PUSHED, commit_message

MARKS_ONE_BY_ONE = 10  # whose requests are asked for one by one; those of more come in one listing of all
PREFIX = "leaderboard-bot/"
# What git refuses in a ref, of what an entry's key can hold (git help check-ref-format).
REFUSED = re.compile(r"\.\.|(^|/)\.|\.(/|$)|\.lock(/|$)|//|[^\w./-]", re.ASCII)


def branch_name(mark: Marker) -> str:
    """The branch of a request, named by its key; where git refuses that name, by the key's digest."""
    if mark.key and not REFUSED.search(mark.key):
        return PREFIX + mark.key
    return f"{PREFIX}key-{hashlib.sha256(mark.key.encode()).hexdigest()[:16]}"


class Branches:
    """The branches of one repository. Nothing is forced: where somebody was faster, Stale is raised."""

    def __init__(self, client: GitHubClient, repo: Repository) -> None:
        self._call = client
        self._repo = repo

    def ref(self, branch: str) -> GitRef | None:
        """A branch's ref as it is now; None if there is none."""
        try:
            return self._call(lambda: self._repo.get_git_ref(f"heads/{branch}"))
        except Gone:
            return None

    def head(self) -> GitRef:
        """The default branch's ref. Raises Gone if the repository is empty."""
        return self._call(lambda: self._repo.get_git_ref(f"heads/{self._repo.default_branch}"))

    def commit_to(self, branch: str, files: Mapping[str, bytes | None], message: str, parent: str) -> str:
        """Commit to any branch; one is made where `parent` is "". Raises Stale where it moved."""
        ref = self.ref(branch)
        if (ref.object.sha if ref else "") != parent:
            raise Stale(f"the branch {branch} moved meanwhile")
        if ref is None:
            elements = [self._element(path, data) for path, data in files.items() if data is not None]
            tree = self._call(lambda: self._repo.create_git_tree(elements))
            first = self._call(lambda: self._repo.create_git_commit(message, tree, []))
            self._call(lambda: self._repo.create_git_ref(f"refs/heads/{branch}", first.sha))
            return first.sha
        commit = self._commit(files, message, [parent])
        self._call(lambda: ref.edit(commit.sha))
        return commit.sha

    def propose(self, branch: str, files: Mapping[str, bytes | None], message: str, *, keeps: bool = False) -> str:
        """Bring a branch to main with these files changed; returns the commit.

        The commit has the branch as its first parent and main as its second, so that the ref only moves forward, and
        the request shows these files and nothing else, however far main has moved. If it `keeps` what others pushed,
        it changes these files of the branch and no other; "" is returned where they had them so already.
        """
        main, ref = self.head().object.sha, self.ref(branch)
        if ref is None:
            commit = self._commit(files, message, [main])
            self._call(lambda: self._repo.create_git_ref(f"refs/heads/{branch}", commit.sha))
            return commit.sha
        current = ref.object.sha
        commit = self._commit(files, message, [current] if keeps or current == main else [main, current])
        is_same = commit.tree.sha == self._git_commit(current).tree.sha
        if is_same and keeps:
            return ""
        if is_same and self._call(lambda: self._repo.compare(main, current).status) in {"ahead", "identical"}:
            return current  # a try before this one got as far as here
        self._call(lambda: ref.edit(commit.sha))
        return commit.sha

    def delete(self, branch: str) -> None:
        """Delete a branch if it is still there."""
        ref = self.ref(branch)
        if ref is not None:
            with suppress(Stale):  # somebody else has just done it
                self._call(ref.delete)

    def _git_commit(self, sha: str) -> GitCommit:
        return self._call(lambda: self._repo.get_git_commit(sha))

    def _commit(self, files: Mapping[str, bytes | None], message: str, parents: list[str]) -> GitCommit:
        """Make commits with the tree of the first parent and files changed; very many files are several commits.

        `parents` begins with main, and ends with the branch where there is one. The last commit is returned.
        """
        known = [self._git_commit(sha) for sha in parents]
        gone = {path for path, data in files.items() if data is None}
        missing = gone - self._there(known[0], gone) if gone else gone
        changed = {path: data for path, data in files.items() if path not in missing}
        title, line, body = message.partition("\n")
        parts = list(in_chunks(sorted(changed.items(), key=lambda file: kept_first(file[0])))) or [{}]
        for number, part in enumerate(parts, 1):
            said = part_title(title, number, len(parts)) + line + body
            elements = [self._element(path, data) for path, data in part.items()]
            in_order = known[::-1]  # the branch comes first: its history is the request's, main was merged into it
            tree = self._call(partial(self._repo.create_git_tree, elements, known[0].tree))
            known = [self._call(partial(self._repo.create_git_commit, said, tree, in_order))]
        return known[0]

    def _there(self, commit: GitCommit, paths: set[str]) -> set[str]:
        """The paths that a commit has; looked up one by one where one answer does not list them all."""
        tree = self._call(lambda: self._repo.get_git_tree(commit.tree.sha, recursive=True))
        if not tree.raw_data.get("truncated"):
            return paths.intersection(item.path for item in tree.tree)
        found = set()
        for path in paths:
            with suppress(Gone):
                self._call(partial(self._repo.get_contents, path, ref=commit.sha))
                found.add(path)
        return found

    def _element(self, path: str, data: bytes | None) -> InputGitTreeElement:
        if data is None:
            return InputGitTreeElement(path, "100644", "blob", sha=None)
        try:
            return InputGitTreeElement(path, "100644", "blob", content=data.decode())
        except UnicodeDecodeError:
            text = base64.b64encode(data).decode()
            blob = self._call(lambda: self._repo.create_git_blob(text, "base64"))
            return InputGitTreeElement(path, "100644", "blob", sha=blob.sha)


@dataclass
class GitHubTarget(Target):
    """The target in one repository: requests are pull requests, comments are on an issue or a pull request.

    `known` may have what was read of our issues, and the last commit that we wrote for each request; `trees` are
    listings of folders, and `rows` the index of the rows on the default branch. `intend` is held around each write that
    must happen once.
    """

    client: GitHubClient
    address: GitHubAddress
    form: Form = "pull-request"
    intend: Intend = field(default=no_intent, repr=False)
    trees: dict[str, Tree] = field(default_factory=dict, repr=False)
    rows: RowStore = field(default_factory=RowStore, repr=False)
    known: KnownThreads = field(default_factory=KnownThreads, repr=False)
    keeper: Keeper = field(default_factory=Keeper, repr=False)

    @property
    def name(self) -> str:
        """Its address as people write it."""
        return f"github://{self.address.name}" + (f"#{self.address.number}" if self.address.number else "")

    @lazy_property
    def _source(self) -> GitHubSource:
        return GitHubSource(self.client, self.address, self.trees)

    def check(self) -> None:
        """See that the repository is there and the token has an account; raises Refused or Unavailable."""
        if not self.client.has_account:
            raise CallError(f"{self.name}: publishing to GitHub needs a token; set GITHUB_TOKEN")
        self.check_readable()
        _ = self.client.user

    def may_push(self) -> bool:
        """Tell whether our account may write here. Of an app GitHub says nothing, and refuses the write itself."""
        permissions = self.client.get(f"/repos/{self.address.name}").get("permissions")
        is_said = isinstance(permissions, dict) and not self.client.user.endswith("[bot]")
        return not is_said or bool(permissions.get("push"))

    def check_readable(self) -> None:
        """See that the repository is there; raises Refused or Unavailable."""
        _ = self._repo

    @property
    def _repo(self) -> Repository:
        return self.client.repo(self.address.name)

    @property
    def _branches(self) -> Branches:
        return Branches(self.client, self._repo)

    @lazy_property
    def _discussions(self) -> GitHubDiscussions:
        source = RequestSource(self.client, self.address)
        return GitHubDiscussions(source, self.known, self.intend, asks_edits=False)

    @property
    def comments(self) -> MarkedComments:
        """Our comments on rows, alarms and plans."""
        return MarkedComments(self._discussions, self.address.number)

    @lazy_property
    def _main(self) -> str:
        """The commit at the default branch when it was first looked at; a write makes the next look read it again."""
        return self._source.head()

    def look_again(self) -> None:
        """Forget the commit at the default branch, and what was listed of our requests."""
        for name in ("_main", "_asked_for", "_by_branch"):
            self.__dict__.pop(name, None)

    def head(self) -> str:
        """The commit at the default branch, "" if the repository is empty."""
        try:
            return self._main
        except Gone:
            return ""

    def contains(self, commit: str) -> bool:
        """Tell whether the history of the default branch has a commit."""
        return self._source.contains(self.head(), commit)

    def note_lost(self) -> None:
        """Remember which open requests began at a commit that main has no more."""
        self.known.note_lost(self.lost)

    def identity(self) -> str:
        """The id of the repository, requested each time. Raises Unavailable or Refused."""
        return str(self.client.get(f"/repos/{self.address.name}")["id"])

    def forget(self) -> None:
        """Forget everything that was read or written."""
        self.rows.move(self.rows.commit(), "", {}, is_whole=True)
        self.known.clear()
        for name in ("_main", "_discussions", "_rows"):
            self.__dict__.pop(name, None)
        self.client.forget_repo(self.address.name)

    def pushed_requests(self) -> list[Marker]:
        """The marks of our open requests whose newest commit is not known as ours."""
        found = self.client(lambda: list(self._repo.get_pulls(state="open", base=self._repo.default_branch)))
        pushed = [one for one in found if not self._discussions.is_newest(one.number, one.head.sha or "")]
        marks = [find_marker(one.body or "") for one in pushed if is_ours(one, self.client)]
        return [mark for mark in marks if mark is not None]

    @lazy_property
    def _rows(self) -> RowIndex:
        return RowIndex(self._source, self.rows)

    def scan_entries(self) -> StoredEntries:
        """All entries on the default branch, and the files among them that are not entries."""
        return self._rows.entries(self._main)

    def list_folder(self, folder: str) -> list[str]:
        """The paths of all files below a folder on the default branch."""
        return [item.path for item in self._source.folder(folder, self._main)]

    def read_keys(self, leaderboard: str) -> set[str]:
        """The rows that our open requests or comments are about, except for those that share a request."""
        if self.form == "comment":
            return self.comments.keys(leaderboard)
        found = self.client(lambda: list(self._repo.get_pulls(state="open", base=self._repo.default_branch)))
        marks = [find_marker(pull.body or "") for pull in found if is_ours(pull, self.client)]
        return {mark.key for mark in marks if mark and mark.kind == "entry" and mark.leaderboard == leaderboard}

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """The current state: files on the default branch, and the requests and comments that the form uses."""
        files = self.read_files(paths)
        if self.form == "comment" or mark.has_own_discussion:
            return CurrentState(files=files, comment=self.comments.find(mark))
        pulls = self._known_pulls(mark)
        live = next((pull for pull in pulls if pull.state == "open"), None)
        closed = [pull for pull in pulls if pull.state == "closed" and pull.merged_at is None][:MOST_CLOSED]
        is_missing = len(files) < len(paths) and not mark.is_shared
        merged = next((pull for pull in pulls if pull.merged_at is not None), None) if is_missing else None
        return CurrentState(
            files=files,
            request=self._request(live, mark, paths) if live else None,
            declined=tuple(given for pull in closed if (given := self._declined(pull)) is not None),
            merged=self._proposed(merged) if merged else None,
            merged_at=merged.merge_commit_sha or "" if merged else "",
        )

    def read_files(self, paths: Collection[str]) -> dict[str, bytes]:
        """The files at these paths on the default branch, those that are there."""
        if not paths:
            return {}
        head = self._main
        found = self._rows.read(paths, head)
        found |= {path: self._source.read(path, head, MAX_BYTES) for path in paths if path not in found}
        return {path: data for path, data in found.items() if data is not None}

    def _known_pulls(self, mark: Marker) -> list[PullRequest]:
        """Our requests of this mark; none for a token that may only commit, and not read requests."""
        try:
            return self._pulls(mark)
        except Refused:
            if self.form == "pull-request":
                raise
            return []

    def _pulls(self, mark: Marker) -> list[PullRequest]:
        """Our requests of this mark, newest first, as of the last write; those of many marks come in one listing."""
        branch = branch_name(mark)
        self._asked_for.add(branch)
        found = self._by_branch.get(branch, []) if len(self._asked_for) > MARKS_ONE_BY_ONE else self._pulls_from(branch)
        return self._ours(found, mark)

    def _pulls_from(self, branch: str) -> list[PullRequest]:
        head = f"{self.address.name.partition('/')[0]}:{branch}"
        return self.client(lambda: list(self._repo.get_pulls(state="all", head=head)))

    @lazy_property
    def _asked_for(self) -> set[str]:
        """The branches of which the requests were asked for since the last write."""
        return set()

    @lazy_property
    def _by_branch(self) -> Mapping[str, Sequence[PullRequest]]:
        """All requests of the repository by their branches."""
        found = self.client(lambda: list(self._repo.get_pulls(state="all")))
        return grouped((pull.head.ref, pull) for pull in found)

    def _ours(self, found: Iterable[PullRequest], mark: Marker) -> list[PullRequest]:
        ours = [pull for pull in found if is_ours(pull, self.client) and find_marker(pull.body or "") == mark]
        return sorted(filter(self._is_here, ours), key=lambda pull: -pull.number)

    def _is_here(self, pull: PullRequest) -> bool:
        """Tell whether a request is for the default branch; a closed one keeps the name that the branch had then."""
        return pull.state == "closed" or pull.base.ref == self._repo.default_branch

    def _request(self, pull: PullRequest, mark: Marker, paths: tuple[str, ...]) -> Request:
        text, files = PostText(pull.title, pull.body or ""), self._proposed(pull)
        ours = files if mark.is_shared else {path: data for path, data in files.items() if path in paths}
        merged = self._merged(pull, ours)
        return Request(str(pull.number), merged.files, text, pull.html_url, self._pushes(pull), merged.conflicts)

    def _merged(self, pull: PullRequest, files: Mapping[str, bytes | None]) -> Merged:
        """These files of a request as merging it would leave them, those alone that change main then.

        Where main went back behind the commit at which it began, nothing merges: what main lost would come along.
        """
        head, known = pull.head.sha, self.known.find(pull.number) or {}
        noted = known.get("base", "") if known.get("head") == head else ""
        if noted and known.get("lost"):
            return Merged(files, frozenset(files))
        return self._merge(noted or self._source.fork_point(head, self._main), self._main, files)

    def _merge(self, base: str | None, main: str, files: Mapping[str, bytes | None]) -> Merged:
        if base == main or not files:
            return Merged(files, frozenset())
        source = self._source
        moved = {one.path: one.oid for one in source.changes(base, main) if one.path in files}
        before = {one.path: one.oid for one in source.changes(main, base) if one.path in files} if base else {}
        was, now = (
            source.contents({path: oid for path, oid in oids.items() if oid is not None}) for oids in (before, moved)
        )
        merged = merge_files(was, now, {path: files[path] for path in moved})
        brings = {path for path, data in merged.files.items() if data != now.get(path)} | merged.conflicts
        kept = {path: data for path, data in files.items() if path not in moved}
        return Merged(kept | {path: merged.files[path] for path in brings}, merged.conflicts)

    def _pushes(self, pull: PullRequest) -> tuple[Push, ...]:
        """The commits of others; not requested where the newest is ours and the text names none."""
        head = pull.head.sha or ""
        if self._discussions.is_newest(pull.number, head) and PUSHED not in (pull.body or ""):
            return ()
        found = self.client(lambda: list(pull.get_commits()))
        authors = [(one.sha, one.author.login if one.author is not None else "an unknown account") for one in found]
        return tuple(Push(oid, author) for oid, author in authors if self.client.as_ours(author) != self.client.user)

    def _was_blocked(self, pull: PullRequest, mark: Marker) -> bool:
        """Tell whether a request did not merge when people closed it, so that nobody declined its rows."""
        if pull.closed_at is None:
            return False
        closed = pull.closed_at.isoformat()
        known = (self.known.find(pull.number) or {}).get("blocked", "")
        if known.partition(" ")[0] != closed:
            path = f"/repos/{self.address.name}/commits"
            found = self.client.get(path, sha=self._main, until=closed, per_page=1)
            head, main = pull.head.sha, str(found[0]["sha"]) if found else self._main
            merged = self._merge(self._source.fork_point(head, main), main, self._proposed(pull))
            known = f"{closed} {'yes' if merged.conflicts else 'no'}"
            row = {"kind": "pull_request", "status": "closed", "mark": mark.name, "blocked": known}
            self.known.note(pull.number, row)
        return known.endswith("yes")

    def _declined(self, pull: PullRequest) -> ClosedRequest | None:
        """What a closed request proposed; None if we closed it, or if it did not merge when people did."""
        self._discussions.forget_head(pull.number)  # if somebody reopens it, it is looked at again
        closed_by = self.client(lambda: self._repo.get_issue(pull.number)).closed_by
        if closed_by is not None and self.client.as_ours(closed_by.login) == self.client.user:
            return None
        mark = find_marker(pull.body or "")
        if mark is not None and self._was_blocked(pull, mark):
            return None
        rows = file_marks(self._proposed(pull)) if mark is None or mark.rows is None else frozenset(mark.rows)
        return ClosedRequest(str(pull.number), rows)

    def _proposed(self, pull: PullRequest) -> Mapping[str, bytes | None]:
        files = self.client(lambda: list(pull.get_files()))
        oids = {file.filename: None if file.status == "removed" else file.sha for file in files}
        if len(files) >= MOST_FILES:
            head = pull.head.sha
            changes = self._source.changes(self._source.fork_point(head, self.head()), head)
            oids = {change.path: change.oid for change in changes}
        oids = {path: oid for path, oid in oids.items() if not is_kept(path)}
        kept = {path: oid for path, oid in oids.items() if oid is not None}
        return {**dict.fromkeys(oids), **self._source.contents(kept)}

    def find_duplicates(self) -> list[Duplicate]:
        """The bot's issues and comments with the same mark; GitHub itself refuses a second request for a branch."""
        number, us = self.address.number, self.client.user
        given = repeated_comments(self._discussions.read(number), us) if number else []
        return [*self._discussions.find_duplicates(), *given]

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close or delete the later one."""
        self._discussions.remove_duplicate(duplicate)

    # what people say on our requests

    def comment_counts(self) -> Mapping[str, int]:
        """The number of comments on each open request of the bot."""
        creator: Any = self.client.user
        found = self.client(lambda: list(self._repo.get_issues(state="open", creator=creator)))
        ours = [one for one in found if one.pull_request is not None and is_ours(one, self.client)]
        return {str(one.number): one.comments + 1 for one in ours}  # its text counts too, as elsewhere

    def shared_requests(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        return shared_in(self._discussions.ours("pull_request"))

    def conversation(self, name: str) -> Conversation | None:
        """The conversation on a request; None if it is not the bot's, or is open for another branch."""
        try:
            pull = self.client(lambda: self._repo.get_pull(int(name)))
        except Gone:
            return None
        if not is_ours(pull, self.client) or not self._is_here(pull):
            return None
        head = pull.head.sha or ""
        is_newest = self._discussions.is_newest(int(name), head)
        commit = self.client(lambda: self._repo.get_commit(head)) if is_newest else None
        since = commit.commit.committer.date.timestamp() if commit else None  # GitHub gave our commit that date
        found = self._discussions.read(int(name)).replies
        said = [replace(one, saw_head=since is not None and one.at > since) for one in found]
        status: Any = "merged" if pull.merged_at is not None else pull.state
        return Conversation(name, find_marker(pull.body or ""), status, head, tuple(said), is_newest)

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request at its head, and say so. Raises Stale for another head, Refused where we may not.

        GitHub answers 405 where rules of the branch or its checks forbid it, and 409 for another head.
        """
        pull, repo = self.client(lambda: self._repo.get_pull(int(name))), self._repo
        allowed = {
            "merge": repo.allow_merge_commit,
            "squash": repo.allow_squash_merge,
            "rebase": repo.allow_rebase_merge,
        }
        method = next((one for one, may in allowed.items() if may), "merge")

        def send() -> bool:
            done = self.client(lambda: pull.merge(sha=head, merge_method=method))
            if not done.merged:
                raise Refused("GitHub", f"#{name}: {done.message}")
            return True

        try:
            self.client.sent_once(send, lambda: self._is_merged(name))
        finally:
            self.look_again()
        self.comments.say(name, text)

    def _is_merged(self, name: str) -> bool | None:
        return True if self.client(lambda: self._repo.get_pull(int(name))).merged_at is not None else None

    def apply(self, publication: Publication) -> str:
        """Carry a publication out; returns its URL. Raises Stale if somebody was faster: decide again."""
        try:
            return self._apply(publication)
        finally:
            self.look_again()  # what failed may have landed all the same

    def _apply(self, publication: Publication) -> str:
        match publication:
            case OpenRequest():
                return self._open(publication)
            case UpdateRequest():
                return self._update(publication)
            case CloseRequest():
                return self._close(publication)
            case Commit(_, text, files):  # where the default branch is still as it was looked at
                files = self._with_kept(files)
                commit = self._branches.commit_to(self._repo.default_branch, files, commit_message(text), self.head())
                return f"{self._repo.html_url}/commit/{commit}"
            case PostComment():
                return self._comment_url(self.comments.post(publication.mark, publication.text))
            case EditComment():
                self.comments.edit(publication.comment, publication.text)
                return self._comment_url(publication.comment)

    def _with_kept(self, files: Mapping[str, bytes | None], earlier: str = "") -> Mapping[str, bytes | None]:
        """The files with those that rows have the target keep; a commit `earlier` of a request may have them."""

        def before(paths: Collection[str]) -> dict[str, bytes]:
            found = {path: self._source.read(path, earlier, MAX_BYTES) for path in paths if earlier}
            return {path: data for path, data in found.items() if data is not None}

        wanted = kept_for(files)
        if not wanted:
            return files
        return {**self.keeper.missing(wanted, lambda _: self.list_folder(KEPT_FOLDER), before), **files}

    def _comment_url(self, comment: PostedComment) -> str:
        number, _, comment_id = comment.name.partition(" ")
        return f"{self._repo.html_url}/issues/{number}#issuecomment-{comment_id}"

    def _open(self, publication: OpenRequest) -> str:
        branch, text, main = branch_name(publication.mark), publication.text, self.head()
        commit = self._branches.propose(branch, self._with_kept(publication.files), commit_message(text))
        base, mark = self._repo.default_branch, publication.mark
        made = self.client.sent_once(
            lambda: self.client(lambda: self._repo.create_pull(base, branch, title=text.title, body=text.body)),
            lambda: next((one for one in self._ours(self._pulls_from(branch), mark) if one.state == "open"), None),
        )
        self._discussions.note_head(made.number, mark, commit, main)
        return made.html_url

    def _update(self, publication: UpdateRequest) -> str:
        text, request, files = publication.text, publication.request, dict(publication.files)
        if request.pushes:
            dropped = request.files.keys() - files.keys()
            files |= {**dict.fromkeys(dropped), **self.read_files(dropped)}
            files = {path: data for path, data in files.items() if request.files.get(path, b"\0") != data}
        branch, message = branch_name(publication.mark), commit_message(text)
        pull, main, keeps = (
            self.client(lambda: self._repo.get_pull(int(request.name))),
            self._main,
            bool(request.pushes),
        )
        if request.pushes and request.conflicts:  # theirs come along while main is merged in
            files, keeps = self._theirs(pull, request) | dict(publication.files), False
        commit = self._branches.propose(branch, self._with_kept(files, pull.head.sha), message, keeps=keeps)
        if commit:
            self._discussions.note_head(pull.number, publication.mark, commit, "" if keeps else main)
        if (pull.title, pull.body) != (text.title, text.body):
            self.client(lambda: pull.edit(title=text.title, body=text.body))
        return pull.html_url

    def _theirs(self, pull: PullRequest, request: Request) -> dict[str, bytes | None]:
        """What people changed in a request beside our files. Raises Refused where main changed the same lines."""
        merged = self._merged(pull, self._proposed(pull))
        both = sorted(merged.conflicts - request.files.keys())
        if both:
            why = f"main and people in the request changed {examples(both)}: merge main into {pull.head.ref}"
            raise Refused("GitHub", f"#{pull.number}: {why}")
        return {path: data for path, data in merged.files.items() if path not in request.files}

    def _close(self, publication: CloseRequest) -> str:
        """Close with the reason above the text, in one call, so that a repeated try says it once."""
        pull = self.client(lambda: self._repo.get_pull(int(publication.request.name)))
        body = f"{publication.reason}\n\n{pull.body or ''}"
        self.client(lambda: pull.edit(body=body, state="closed"))
        self._branches.delete(branch_name(publication.mark))
        return pull.html_url

    def board_files(self, board: Board) -> dict[str, bytes | None]:
        """The derived files that do not follow from the entries on main, as they should be."""
        head = self._main

        @cache
        def read(path: str) -> bytes | None:
            return self._source.read(path, head, MAX_BYTES)

        files: dict[str, bytes | None] = {**derived_files(board, read)}
        if CSV_NAME in files:
            files[PARQUET_NAME] = parquet_beside(board, read)
        return files
