"""Comments at a target on GitHub: the bot's own, one for each mark, and those on the bot's requests.

A comment is ours when this account wrote it and the mark is in it: anybody can copy a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from github.Issue import Issue
from github.IssueComment import IssueComment
from github.Repository import Repository

from bot.errors import Gone, Refused, Stale, Unavailable
from bot.platforms.discussions import Comment, Conversation, Duplicate, later_ones
from bot.platforms.github.address import GitHubAddress
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.rights import as_comment, is_ours
from bot.platforms.github.wire import SERVICE
from bot.platforms.writes import Intend, held, no_intent
from bot.publishing.publication import Marker, PostText, find_marker, holder_of
from bot.publishing.texts import board_text

LISTED = 100  # requests, those in which something happened last, of which one list says how many comments they have


class GitHubComments:
    """The comments of one repository: on a given issue or request, else on our issue for the leaderboard."""

    def __init__(
        self, client: GitHubClient, repo: Repository, address: GitHubAddress, intend: Intend = no_intent
    ) -> None:
        self._call = client
        self._repo = repo
        self._name, self._number = address.name, address.number
        self._intend = intend

    def keys(self, leaderboard: str) -> set[str]:
        """The rows that the bot's comments on one leaderboard are about."""
        issue = self._issue(Marker("entry", "", leaderboard))
        comments = self._call(lambda: list(issue.get_comments())) if issue else []
        marks = [find_marker(one.body or "") for one in comments if is_ours(one, self._call)]
        return {mark.key for mark in marks if mark and mark.kind == "entry" and mark.leaderboard == leaderboard}

    def find(self, mark: Marker) -> IssueComment | None:
        """The comment that carries the mark, the oldest where there are several."""
        issue = self._issue(mark)
        return next(iter(self._ours(issue, mark)), None) if issue else None

    def replies(self, mark: Marker) -> list[Comment]:
        """The comments on the issue that holds the comment of a mark."""
        issue = self._issue(mark)
        return [as_comment(one, self._call) for one in self._call(lambda: list(issue.get_comments()))] if issue else []

    def answer(self, mark: Marker, text: str) -> None:
        """Add a comment to the issue that holds the one of a mark."""
        issue, reply = self._issue(mark), find_marker(text)
        if issue is None or reply is None:
            return
        with held(self._intend, f"github://{self._name}", text, self._call.unknown_until):
            try:
                self._call(lambda: issue.create_comment(text))
            except Unavailable as failure:
                self._call.landed(failure, lambda: self._ours(issue, reply) or None)

    def post(self, mark: Marker, text: PostText) -> str:
        """Write a comment and give its URL; where another run was faster, its comment is kept and says this.

        Raises Unsettled if another process of this service may be writing it.
        """
        with held(self._intend, f"github://{self._name}", text.body, self._call.unknown_until):
            return self._post(mark, text)

    def _post(self, mark: Marker, text: PostText) -> str:
        issue = self._issue(mark) or self._open_issue(mark)
        try:
            self._call(lambda: issue.create_comment(text.body))
        except Unavailable as failure:
            self._call.landed(failure, lambda: self._ours(issue, mark) or None)
        first, *later = self._ours(issue, mark)
        for comment in later:
            with suppress(Gone):  # the other run tidies up too
                self._call(comment.delete)
        if first.body.strip() != text.body.strip():
            self._call(lambda: first.edit(text.body))
        return first.html_url

    def edit(self, comment_id: int, mark: Marker, text: PostText) -> str:
        """Change a comment in place and give its URL."""
        comment = self.find(mark)
        if comment is None or comment.id != comment_id:
            raise Stale(f"{SERVICE}: comment {comment_id} was deleted after it was read")
        self._call(lambda: comment.edit(text.body))
        return comment.html_url

    def find_duplicates(self) -> list[Duplicate]:
        """The open issues of the bot, and the comments on our issues, that repeat an earlier mark."""
        issues = [(mark, issue) for issue in self._issues() if (mark := find_marker(issue.body or ""))]
        found = later_ones("discussion", [(mark, str(issue.number)) for mark, issue in issues if issue.state == "open"])
        number = self._number
        theirs = [self._call(lambda: self._repo.get_issue(number))] if number else []
        for issue in [*theirs, *(issue for _, issue in issues)]:
            found += self._repeated_comments(issue)
        return found

    def _repeated_comments(self, issue: Issue) -> list[Duplicate]:
        comments = self._call(lambda: list(issue.get_comments()))
        ours = sorted((one for one in comments if is_ours(one, self._call)), key=lambda one: one.id)
        marked = [(find_marker(one.body or ""), f"{issue.number} {one.id}") for one in ours]
        return later_ones("comment", [(mark, name) for mark, name in marked if mark])

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close an issue that repeats another, or delete a comment."""
        number, _, comment_id = duplicate.name.partition(" ")
        issue = self._call(lambda: self._repo.get_issue(int(number)))
        if not comment_id:
            self._call(lambda: issue.edit(state="closed", state_reason="not_planned"))
            return
        with suppress(Gone):  # another run tidies up too
            self._call(lambda: issue.get_comment(int(comment_id)).delete())

    def _ours(self, issue: Issue, mark: Marker) -> list[IssueComment]:
        comments = self._call(lambda: list(issue.get_comments()))
        ours = [one for one in comments if is_ours(one, self._call) and find_marker(one.body or "") == mark]
        return sorted(ours, key=lambda comment: comment.id)

    def _issue(self, mark: Marker) -> Issue | None:
        if (number := self._number) and not mark.has_own_discussion:
            return self._call(lambda: self._repo.get_issue(number))
        return next(iter(self._our_issues(mark)), None)

    def _our_issues(self, mark: Marker) -> list[Issue]:
        wanted = holder_of(mark)
        return [one for one in self._issues() if find_marker(one.body or "") == wanted]

    def _issues_of(self, account: Any) -> list[Issue]:
        """The issues and requests of an account; its login will do, and spares the account's own page."""
        return self._call(lambda: list(self._repo.get_issues(state="all", creator=account)))

    def _issues(self) -> list[Issue]:
        """The issues and requests of the bot, oldest first."""
        found = [issue for account in self._call.accounts for issue in self._issues_of(account)]
        ours = [one for one in found if is_ours(one, self._call)]
        return sorted(ours, key=lambda issue: issue.number)

    def _open_issue(self, mark: Marker) -> Issue:
        """Open the leaderboard's issue; where another run was faster, its issue is kept and ours is closed."""
        text = board_text(holder_of(mark))
        try:
            made = self._call(lambda: self._repo.create_issue(text.title, body=text.body))
        except Unavailable as failure:
            made = self._call.landed(failure, lambda: next(iter(self._our_issues(mark)), None))
        first = next(iter(self._our_issues(mark)), made)
        if first.number != made.number:
            self._call(lambda: made.edit(state="closed", state_reason="not_planned"))
        return first


@dataclass(frozen=True)
class GitHubConversations:
    """The conversations on the requests that the bot opened in one repository.

    `written` has the commit that we wrote last for each of them, as far as that is remembered. `intend` is held around
    what must be written once, for the repository that `place` names. `merged` is called after a merge.
    """

    client: GitHubClient
    repo: Repository
    written: Mapping[int, bytes] = field(default_factory=dict, repr=False)
    intend: Intend = field(default=no_intent, repr=False)
    place: str = ""
    merged: Callable[[], object] = bool

    @property
    def us(self) -> str:
        """Our account."""
        return self.client.login

    def counts(self) -> Mapping[str, int]:
        """How many comments the bot's open requests have, those in which something happened last."""
        creator: Any = self.us
        filters = {"state": "open", "creator": creator, "sort": "updated", "direction": "desc"}
        found = self.client(lambda: self.repo.get_issues(**filters).get_page(0))
        ours = [one for one in found if one.pull_request is not None and is_ours(one, self.client)]
        return {str(one.number): one.comments + 1 for one in ours}  # its text counts too, as elsewhere

    def shared(self) -> list[str]:
        """The requests of the bot that many rows share, open or not, oldest first."""
        creator: Any = self.us
        found = self.client(lambda: list(self.repo.get_issues(state="all", creator=creator)))
        marks = [(one.number, find_marker(one.body or "")) for one in found if one.pull_request is not None]
        return [str(number) for number, mark in sorted(marks, key=lambda one: one[0]) if mark and mark.is_shared]

    def read(self, name: str) -> Conversation | None:
        """One request; None if it is not the bot's."""
        try:
            pull = self.client(lambda: self.repo.get_pull(int(name)))
        except Gone:
            return None
        if not is_ours(pull, self.client):
            return None
        comments = self.client(lambda: list(self.repo.get_issue(int(name)).get_comments()))
        head = pull.head.sha or ""
        is_newest = bool(head) and self.written.get(int(name)) == head.encode()
        since = self._pushed(head) if is_newest else None
        found = [as_comment(one, self.client) for one in comments]
        said = [replace(one, saw_head=since is not None and one.at > since) for one in found]
        status: Any = "merged" if pull.merged_at is not None else pull.state
        return Conversation(name, find_marker(pull.body or ""), status, head, tuple(said), is_newest)

    def _pushed(self, head: str) -> float:
        """When a commit of the bot was made, in Unix seconds: GitHub gave it that date."""
        commit = self.client(lambda: self.repo.get_commit(head))
        return commit.commit.committer.date.timestamp()

    def answer(self, name: str, text: str) -> None:
        """Add a comment of the bot."""
        issue = self.client(lambda: self.repo.get_issue(int(name)))
        with held(self.intend, self.place, text, self.client.unknown_until):
            try:
                self.client(lambda: issue.create_comment(text))
            except Unavailable as failure:
                self.client.landed(failure, lambda: self._find(name, text))

    def _find(self, name: str, text: str) -> bool | None:
        """Tell whether a comment of the bot has this text; None if there is none."""
        comments = self.client(lambda: list(self.repo.get_issue(int(name)).get_comments()))
        return any(is_ours(one, self.client) and (one.body or "").strip() == text.strip() for one in comments) or None

    def merge(self, name: str, head: str, text: str) -> None:
        """Merge a request at its head, and say so. Raises Stale for another head, Refused where we may not.

        GitHub answers 405 where rules of the branch or its checks forbid it, and 409 for another head.
        """
        pull = self.client(lambda: self.repo.get_pull(int(name)))
        try:
            done = self.client(lambda: pull.merge(sha=head))
        except Unavailable as failure:
            self.client.landed(failure, lambda: self._is_merged(name))
        else:
            if not done.merged:
                raise Refused("GitHub", f"#{name}: {done.message}")
        finally:
            self.merged()
        self.answer(name, text)

    def _is_merged(self, name: str) -> bool | None:
        return True if self.client(lambda: self.repo.get_pull(int(name))).merged_at is not None else None
