"""The local GitHub's memory: accounts, repositories, issues, requests, comments, and faults on order."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.world.github_git import GitRepository

ALL = frozenset({"contents", "issues", "pull-requests", "statuses"})
BEGIN = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


@dataclass
class Account:
    """Who a token speaks for: `permissions` as a workflow names them; an app has no `GET /user`."""

    login: str
    permissions: frozenset[str] = ALL
    is_app: bool = False
    scopes: str | None = None  # of a classic token
    administers: bool = False


@dataclass
class Comment:
    id: int
    author: str
    body: str
    issue: int
    created: str = ""
    updated: str = ""
    edited: str | None = None  # as GraphQL says it; the rest knows only seconds
    editor: str = ""

    @property
    def node_id(self) -> str:
        return f"IC_{self.id}"


@dataclass
class Issue:
    """An issue, or a pull request where `head` is not empty; `head_repo` names the fork or the repository."""

    number: int
    author: str
    title: str
    body: str
    state: str = "open"
    closed_by: str | None = None
    head: str = ""
    head_repo: str = ""
    base: str = ""
    merged: bool = False
    last_head: str = ""
    last_base: str = ""
    locked: bool = False
    created: str = ""
    updated: str = ""
    edited: str | None = None
    editor: str = ""
    node_id: str = ""


@dataclass
class Repo:
    name: str
    git: GitRepository
    parent: str | None = None
    private: bool = False
    id: int = field(default_factory=count(1).__next__)  # which a new name leaves as it is
    issues: dict[int, Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    has_issues: bool = True
    protected: bool = False  # by a rule that keeps requests from being merged
    archived: bool = False
    methods: set[str] = field(default_factory=lambda: {"merge", "squash", "rebase"})  # how requests may be merged
    default_branch: str = "main"
    hooks: list[dict[str, Any]] = field(default_factory=list)
    workflows: list[dict[str, str]] = field(default_factory=list)
    writers: set[str] = field(default_factory=set)
    statuses: list[dict[str, str]] = field(default_factory=list)

    def pulls(self, state: str = "all") -> list[Issue]:
        return [issue for issue in self.issues.values() if issue.head and state in {"all", issue.state}]

    def comments_on(self, number: int) -> list[Comment]:
        return [comment for comment in self.comments.values() if comment.issue == number]


@dataclass
class Fault:
    """What the next `times` matching requests meet: `before` runs, `landed` does the work, `drop` closes the line.

    A status of 0 lets the true answer through; `body` is what stands in its place, None for GitHub's own words.
    """

    method: str
    path: str
    status: int = 502
    message: str = "Server Error"
    headers: dict[str, str] = field(default_factory=dict)
    times: int = 1
    landed: bool = False
    drop: bool = False
    before: Any = None
    body: bytes | None = None

    def matches(self, method: str, path: str) -> bool:
        return self.times > 0 and method == self.method and re.search(self.path, path) is not None


@dataclass
class GitHubState:
    """Everything the server knows; one lock makes each request whole, as GitHub's own are."""

    accounts: dict[str, Account] = field(default_factory=dict)
    repos: dict[str, Repo] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    anonymous_left: int = 60
    allowed: int = 0  # requests of one window, which the answers then name; 0 for no end of them
    last_id: int = 1000
    seconds: int = 0
    app_id: str = ""
    app_key: str = ""  # the public one
    installations: dict[int, str] = field(default_factory=dict)
    token_seconds: int = 3600
    lock: threading.RLock = field(default_factory=threading.RLock)

    def add_account(self, token: str, login: str, permissions: frozenset[str] = ALL, *, is_app: bool = False) -> None:
        self.accounts[token] = Account(login, permissions, is_app)

    def add_repo(self, name: str, files: dict[str, bytes] | None = None, *, private: bool = False) -> Repo:
        self.repos[name] = Repo(name, GitRepository(clock=self.tick), private=private)
        if files is not None:
            self.repos[name].git.push("heads/main", dict(files), "Start")
        return self.repos[name]

    def rename_main(self, name: str, branch: str) -> None:
        """Give the default branch another name; open requests follow it, closed ones keep the old name."""
        repo = self.repos[name]
        head = repo.git.refs[f"heads/{branch}"] = repo.git.refs.pop(f"heads/{repo.default_branch}")
        for issue in repo.pulls():
            issue.base = branch if issue.state == "open" else issue.base
            issue.last_base = issue.last_base if issue.state == "open" else issue.last_base or head
        repo.default_branch = branch

    def add_fork(self, name: str, parent: str) -> Repo:
        self.repos[name] = Repo(name, self.repos[parent].git.fork(), parent)
        return self.repos[name]

    def tick(self) -> str:
        """The time of what happens now: every act is a second after the one before."""
        self.seconds += 1
        return (BEGIN + timedelta(seconds=self.seconds)).isoformat().replace("+00:00", "Z")

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def add_issue(self, repo: Repo, issue: Issue) -> Issue:
        issue.number = len(repo.issues) + 1
        issue.node_id = f"I_{repo.name}_{issue.number}"
        issue.created = issue.updated = self.tick()
        repo.issues[issue.number] = issue
        return issue

    def open_pull(
        self, name: str, branch: str, *, fork: str = "", author: str = "ann", title: str = "Results"
    ) -> Issue:
        """A person's pull request from a branch of the repository or of a fork."""
        return self.add_issue(
            self.repos[name],
            Issue(
                0,
                author,
                title,
                "Please look.",
                head=branch,
                head_repo=fork or name,
                base=self.repos[name].default_branch,
            ),
        )

    def comment(self, name: str, number: int, body: str, author: str = "ann") -> Comment:
        now = self.tick()
        made = Comment(self.next_id(), author, body, number, now, now)
        self.repos[name].comments[made.id] = made
        self.repos[name].issues[number].updated = now
        return made

    def edit_comment(self, comment: Comment, body: str, by: str = "eve", *, at_once: bool = False) -> None:
        """Edit a comment as whoever may write can: its author stays. `at_once` is in the second of its last change."""
        comment.updated = comment.updated if at_once else self.tick()
        comment.body, comment.edited, comment.editor = body, comment.updated, by

    def edit_issue(self, issue: Issue, body: str, by: str = "eve") -> None:
        """The same of the text that an issue was opened with."""
        issue.body, issue.updated = body, self.tick()
        issue.edited, issue.editor = issue.updated, by

    def close(self, name: str, number: int, by: str = "ann") -> None:
        issue = self.repos[name].issues[number]
        if issue.head and issue.state == "open":
            issue.last_head = self.head(issue)
        issue.state, issue.closed_by, issue.updated = "closed", by, self.tick()

    def merge(self, name: str, number: int) -> None:
        """Merge a pull request as a person does, with a merge commit; nobody can merge one with conflicts."""
        repo = self.repos[name]
        issue = repo.issues[number]
        head, base = self.head(issue), repo.git.refs[f"heads/{issue.base}"]
        merged = repo.git.merge(base, head)
        assert merged.conflicts == [], f"#{number} conflicts in {merged.conflicts}"
        repo.git.push(f"heads/{issue.base}", merged.changes, f"Merge #{number}", merged=head)
        issue.merged, issue.state, issue.closed_by, issue.updated = True, "closed", "ann", self.tick()
        issue.last_head, issue.last_base = head, base

    def head(self, issue: Issue) -> str:
        """The commit of an open request's branch."""
        return self.repos[issue.head_repo].git.refs[f"heads/{issue.head}"]

    def order(self, method: str, path: str, **how: Any) -> Fault:
        """Order a fault for requests of that method whose path matches the expression."""
        self.faults.append(Fault(method, path, **how))
        return self.faults[-1]

    def count(self, method: str, path: str = "") -> int:
        return sum(1 for seen, where in self.requests if seen == method and re.search(path, where))

    def writes(self) -> int:
        """How many calls so far could have changed anything."""
        return sum(1 for method, where in self.requests if method != "GET" and where != "/graphql")

    def delete_branch(self, name: str, branch: str) -> None:
        """A person takes the branch of a closed request away."""
        del self.repos[name].git.refs[f"heads/{branch}"]
