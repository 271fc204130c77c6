"""The Hub itself: repositories, people, discussions, webhooks, and the verbs in which stories are told."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from typing import Any

from . import payloads, routes_talk
from .buckets import Bucket
from .deliver import Deliveries, Webhook
from .discussions import Discussion, Discussions
from .faults import Faults
from .git import Commit, Repository


@dataclass
class Call:
    """One request, as it came."""

    method: str
    raw_path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    user: str = ""


@dataclass(frozen=True)
class Posted:
    """One thing that somebody wrote: who, what kind of act, where, and the text."""

    user: str
    act: str
    repository: str
    num: int
    text: str


@dataclass
class Hub:
    """A Hub; `url` is set once it is served."""

    url: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self.repositories: dict[tuple[str, str], Repository] = {}
        self.discussions: dict[tuple[str, str], Discussions] = {}
        self.buckets: dict[str, Bucket] = {}
        self.webhooks: dict[str, Webhook] = {}
        self.jobs: list[dict[str, Any]] = []  # what each was started with
        self.deliveries = Deliveries()
        self.calls: list[Call] = []
        self.log: list[Posted] = []
        self.writers: set[tuple[str, str]] = set()
        self.publishers: dict[str, str] = {}
        self.members: dict[str, set[str]] = {}  # of organizations
        self.moved: dict[tuple[str, str], str] = {}
        self.lock = threading.RLock()
        self.sends_on = False  # whether small files of public repositories are at a path of their own
        self.allowed = 0  # requests to the API in each window; 0 for no end of them
        self.window = 300.0
        self.roles: dict[str, str] = {}  # of a person's token, write where none is named
        self.rights: dict[str, dict[str, Any]] = {}  # of a person's fine-grained token: "global" and "scoped"
        self.clock_is_off = 0.0  # seconds that its Date header is ahead
        self.refused_results: dict[str, str] = {}  # texts that the check of result files refuses, with its message
        self.numbers = itertools.count(1)
        self._seconds = itertools.count(1)

    def clock(self) -> str:
        seconds = next(self._seconds)
        hours, rest = divmod(seconds, 3600)
        return f"2026-11-{1 + hours // 24:02}T{hours % 24:02}:{rest // 60:02}:{rest % 60:02}.000Z"

    def limits(self) -> dict[str, str]:
        """What an answer says of the window that it falls into."""
        if not self.allowed:
            return {"RateLimit": '"api";r=990;t=200', "RateLimit-Policy": '"fixed window";"api";q=1000;w=300'}
        used = sum(call.raw_path.startswith("/api/") for call in self.calls)
        return {
            "RateLimit": f'"api";r={max(0, self.allowed - used)};t={self.window:.0f}',
            "RateLimit-Policy": f'"fixed window";"api";q={self.allowed};w={self.window:.0f}',
        }

    # people and repositories

    def person(self, name: str) -> str:
        """A user's token."""
        token = f"hf_{name}"
        self.tokens[token] = name
        return token

    def trust(self, workflow: str, repository: Repository) -> str:
        """Let a workflow publish to a repository without a secret; gives the URL at which it proves itself."""
        self.publishers[workflow] = f"{repository.kind}s/{repository.name}"
        self.writers.add(("[OIDC]", repository.name))
        return f"{self.url}/mint/{workflow}"

    def user_id(self, name: str) -> str:
        return f"user-{name}"

    def repository(self, name: str, kind: str = "dataset", *, private: bool = False) -> Repository:
        """A new, empty repository."""
        made = Repository(kind, name, private=private)
        self.repositories[kind, name] = made
        self.discussions[kind, name] = Discussions(self.clock)
        return made

    def bucket(self, name: str) -> Bucket:
        """A new, empty bucket."""
        return self.buckets.setdefault(name, Bucket(name))

    def upload(self, bucket: Bucket, files: dict[str, bytes | None]) -> None:
        """Write files into a bucket over what is there; None removes one."""
        for path, data in files.items():
            bucket.files.pop(path, None)
            if data is not None:
                bucket.files[path] = (data, self.clock())

    def rename(self, repository: Repository, name: str, *, redirects: bool = False) -> None:
        """Move a repository; its old name answers with a redirect, or as a deleted one does."""
        if redirects:
            self.moved[repository.kind, repository.name] = name
        key = (repository.kind, repository.name)
        self.discussions[repository.kind, name] = self.discussions.pop(key)
        self.repositories[repository.kind, name] = self.repositories.pop(key)
        repository.name = name

    def delete(self, repository: Repository) -> None:
        del self.repositories[repository.kind, repository.name]

    def web(self, repository: Repository) -> str:
        prefix = "" if repository.kind == "model" else f"{repository.kind}s/"
        return f"{self.url}/{prefix}{repository.name}"

    def talk(self, repository: Repository) -> Discussions:
        return self.discussions[repository.kind, repository.name]

    def may_write(self, user: str, repository: Repository) -> bool:
        owner = repository.name.partition("/")[0]
        return (user, repository.name) in self.writers or user == owner or user in self.members.get(owner, ())

    # what people do

    def posted(self, user: str, act: str, repository: Repository, num: int, text: str) -> None:
        self.log.append(Posted(user, act, repository.name, num, text))

    def push(
        self, repository: Repository, changes: dict[str, bytes | None], title: str = "Add results",
        message: str = "", user: str = "ann", *, ref: str = "refs/heads/main", quiet: bool = False,
    ) -> Commit:  # fmt: skip
        """Commit changes (None deletes) on a ref, as this user."""
        with self.lock:
            old = repository.refs[ref]
            made = repository.commit(changes, old, ref, title=title, message=message, date=self.clock(), author=user)
            self.posted(user, "commit", repository, 0, title)
            if ref.startswith("refs/pr/"):
                row = self.talk(repository).all[int(ref.rpartition("/")[2])]
                self.talk(repository).event(row, "commit", user, {"subject": title, "oid": made.oid})
        if not quiet:
            self.notify_push(repository, ref, old.oid, made.oid)
        return made

    def open_request(
        self, repository: Repository, changes: dict[str, bytes | None], title: str = "Add results",
        text: str = "", user: str = "ann", *, base: Commit | None = None,
    ) -> tuple[Discussion, Commit]:  # fmt: skip
        """Open a request with one commit."""
        with self.lock:
            row = self.talk(repository).open(title, text, user, pull_request=True)
            made = repository.commit(
                changes,
                base or repository.main,
                row.ref,
                title=title,
                message=text,
                date=self.clock(),
                author=user,
            )
            self.talk(repository).event(row, "commit", user, {"subject": title, "oid": made.oid})
            self.posted(user, "request", repository, row.num, text)
        self.notify_push(repository, row.ref, None, made.oid)
        self.notify_discussion(repository, row, "discussion", "create", row.events[0])
        return row, made

    def open_discussion(
        self, repository: Repository, title: str, text: str, user: str = "ann", *, draft: bool = False
    ) -> Discussion:
        with self.lock:
            status = "draft" if draft else "open"
            row = self.talk(repository).open(title, text, user, pull_request=draft, status=status)
            self.posted(user, "discussion", repository, row.num, text)
        self.notify_discussion(repository, row, "discussion", "create", row.events[0] if row.events else None)
        return row

    def comment(self, repository: Repository, row: Discussion, text: str, user: str = "ann") -> dict[str, Any]:
        with self.lock:
            event = self.talk(repository).comment(row, text, user)
            self.posted(user, "comment", repository, row.num, text)
        self.notify_discussion(repository, row, "discussion.comment", "create", event)
        return event

    def set_status(self, repository: Repository, row: Discussion, status: str, user: str = "ann") -> dict[str, Any]:
        with self.lock:
            event = self.talk(repository).set_status(row, status, user)
            self.posted(user, status, repository, row.num, "")
        self.notify_discussion(repository, row, "discussion", "update", None)
        return event

    def delete_ref(self, repository: Repository, row: Discussion) -> None:
        """What the button "Delete ref" does on the page of a closed request: its commits cannot be read any more."""
        with self.lock:
            assert row.status == "closed"
            del repository.refs[row.ref]

    def merge(self, repository: Repository, row: Discussion, user: str = "ann") -> Commit:
        """Merge a request as git does: nobody can merge one with conflicts."""
        with self.lock:
            merged = routes_talk.merged_changes(repository, row)
            assert merged.conflicts == [], f"#{row.num} conflicts in {merged.conflicts}"
            made = self.push(repository, merged.changes, f"Merge #{row.num}", user=user, quiet=True)
            row.merge_commit = made.oid
            self.talk(repository).set_status(row, "merged", user)
        self.notify_push(repository, "refs/heads/main", None, made.oid)
        self.notify_discussion(repository, row, "discussion", "update", None)
        return made

    # what the Hub tells

    def notify_push(self, repository: Repository, ref: str, old: str | None, new: str | None) -> None:
        self.deliveries.send_all(self, repository, payloads.push(self, repository, ref, old, new))

    def notify_discussion(
        self, repository: Repository, row: Discussion, scope: str, action: str, event: dict[str, Any] | None
    ) -> None:
        self.deliveries.send_all(self, repository, payloads.discussion(self, repository, row, scope, action, event))

    # what a story asks

    def by(self, user: str, *acts: str) -> list[Posted]:
        """What this user posted, of these kinds (all kinds if none is named)."""
        return [p for p in self.log if p.user == user and (not acts or p.act in acts)]

    def requests(self, repository: Repository, status: str = "open", user: str = "") -> list[Discussion]:
        return self.talk(repository).listed("pull_request", status, user)[::-1]

    def conversations(self, repository: Repository, status: str = "open", user: str = "") -> list[Discussion]:
        return self.talk(repository).listed("discussion", status, user)[::-1]

    def file(self, repository: Repository, path: str, revision: str = "main") -> bytes | None:
        commit = repository.resolve(revision)
        item: Any = commit and commit.tree.at(path)
        return item.data if item is not None else None
