"""Issues and pull requests of a repository of results, and the commits that they propose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from math import inf

from github.Issue import Issue
from github.Repository import Repository

from bot.errors import Gone, Refused, TooLong
from bot.platforms.caches import Kind, KnownThreads
from bot.platforms.discussions import (
    Comment,
    Duplicate,
    Listed,
    Status,
    Thread,
    VerdictState,
    comment_with,
    open_duplicates,
)
from bot.platforms.github.authors import Row, login_of
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.source import GitHubSource
from bot.platforms.github.wire import SERVICE
from bot.platforms.net import Intend, held, no_intent
from bot.publishing.publication import Marker, find_marker

PAGE = 100  # rows of one page, the most that GitHub gives
TITLE_LIMIT = 200  # characters; GitHub takes 256
STATUS_LIMIT = 140  # characters of the text of a status
OPENING = "opening"  # the id of the text that an issue was opened with: it is no comment at GitHub
MOST_TALK = 32_000_000  # bytes of the comments on one issue or pull request that are read
COMMAND = re.compile(r"^[ \t]*/", re.MULTILINE)  # a line that may be a command
EDITS = """query($ids: [ID!]!) { nodes(ids: $ids) {
  id ... on Comment { lastEditedAt editor { __typename login } }
} }"""
LISTINGS = 200  # folders of which the listings are asked for to learn what one request changes


@dataclass
class GitHubDiscussions:
    """Reads and writes the issues and pull requests of one repository.

    `known` may have what was read of our own issues and requests; anything else is read again. `intend` is held around
    each write that must happen once. `counts` has, by number, a value that changes with each comment. Unless it
    `asks_edits`, an opening text counts as never edited.
    """

    source: RequestSource
    known: KnownThreads = field(default_factory=KnownThreads, repr=False)
    intend: Intend = field(default=no_intent, repr=False)
    asks_edits: bool = True
    counts: dict[int, int | None] = field(default_factory=dict, repr=False)

    @property
    def client(self) -> GitHubClient:
        """The client for GitHub."""
        return self.source.client

    @property
    def us(self) -> str:
        """Our account's name."""
        return self.client.user

    @property
    def repo(self) -> Repository:
        """The repository."""
        return self.client.repo(self.source.address.name)

    def listed(self, kind: Kind, status: Status, author: str = "") -> list[Listed]:
        """The issues or pull requests that the filters name."""
        filters = {"state": status} | ({"creator": author} if author else {})
        found: list[Listed] = []
        for page in self._pages("issues", **filters):  # no more texts are kept at once than one page has
            self.counts |= {row["number"]: _count(row) for row in page}
            found += [self._listed(row) for row in page if _is_pull(row) == (kind == "pull_request")]
        return found

    def _listed(self, row: Row) -> Listed:
        num, author = row["number"], self.client.as_ours(login_of(row))
        return Listed(num, row["title"], _status(row), author, self.counts[num])

    def _pages(self, what: str, **filters: str) -> Iterator[list[Row]]:
        return pages_of(self.client, f"{self._api}/{what}", **filters)

    @property
    def _api(self) -> str:
        return f"/repos/{self.client.repo(self.source.address.name).full_name}"

    def read(self, num: int) -> Thread:
        """One issue or pull request with its comments, as it is now."""
        issue: Row = self.client.get(f"{self._api}/issues/{num}")
        comments = self._comments(num)
        edits = self._edits([issue, *comments] if self.asks_edits else comments)
        at = _at(issue, "created_at")
        changed = edits.get(issue["node_id"], at)
        author = self.client.as_ours(login_of(issue))
        opening = Comment(OPENING, author, issue["body"] or "", at, changed, edited=changed > at)
        return Thread(
            num,
            issue["title"],
            _status(issue),
            author,
            _is_pull(issue),
            (opening, *(self._as_comment(row, place, edits) for place, row in enumerate(comments, 1))),
            self.client.as_ours(_closed_by(issue)),
            opening,
        )

    def _comments(self, num: int) -> list[Row]:
        """The comments on one issue or pull request. Raises TooLong for more than the bot reads."""
        rows: list[Row] = []
        size = 0
        for page in self._pages(f"issues/{num}/comments"):
            rows += page
            size += sum(len((row["body"] or "").encode(errors="replace")) for row in page)
            if size > MOST_TALK:
                why = f"the comments are too long: more than {MOST_TALK:,} bytes"
                raise TooLong(SERVICE, f"github://{self.source.address.name} #{num}: {why}")
        return rows

    def _as_comment(self, row: Row, place: int, edits: Mapping[str, float]) -> Comment:
        at, author, edited = _at(row, "created_at"), self.client.as_ours(login_of(row)), edits.get(row["node_id"])
        changed = edited or _at(row, "updated_at")
        is_edited = edited is not None or changed > at
        return Comment(str(row["id"]), author, row["body"] or "", at, changed, place, edited=is_edited)

    def _edits(self, texts: Iterable[Row]) -> dict[str, float]:
        """When those of the texts that may decide something were last edited, see `_when_edited`, by node id.

        Whoever may write can edit what others wrote, and GitHub's own times have whole seconds: only GraphQL tells of
        it.
        """
        asked = {row["node_id"]: row for row in texts if self._decides(row)}
        found: dict[str, float] = {}
        for start in range(0, len(asked), PAGE):
            ids = {"ids": list(asked)[start : start + PAGE]}
            rows: list[Row | None] = self.client.ask_graphql(EDITS, ids, lambda data: data["nodes"])
            edited = [row for row in rows if row and row["lastEditedAt"]]
            found |= {row["id"]: self._when_edited(row, login_of(asked[row["id"]])) for row in edited}
        return found

    def _when_edited(self, edit: Row, author: str) -> float:
        """When a text was last edited; infinity for one of ours that somebody else edited: nobody saw ours."""
        editor = edit["editor"] or {}
        name = str(editor.get("login")) + ("[bot]" if editor.get("__typename") == "Bot" else "")
        is_ours = self.client.as_ours(author) == self.us
        return inf if is_ours and self.client.as_ours(name) != self.us else _at(edit, "lastEditedAt")

    def _decides(self, row: Row) -> bool:
        """Tell whether a text opens an issue of ours, is a verdict or answer of ours, or may be a command."""
        text, is_ours = row["body"] or "", self.client.as_ours(login_of(row)) == self.us
        if is_ours and "title" in row:  # no comment has one
            return not _is_pull(row)
        mark = find_marker(text) if is_ours else None
        return mark.kind in {"reply", "verdict"} if mark else COMMAND.search(text) is not None

    def _issue(self, num: int) -> Issue:
        return self.client(lambda: self.repo.get_issue(num))

    # what is ours

    def ours(self, kind: Kind, *, whole: bool = False) -> Iterator[tuple[int, dict[str, str]]]:
        """All issues or requests that we opened, oldest first: the number, and the remembered row with its mark.

        The list begins with the last change, and is read down to what is known; with `whole` to its end.
        """
        for issue in reversed(self._changed(whole=whole)):  # what is known is then never newer than what is not
            self.known.note(issue["number"], _known(issue))
        yield from ((num, row) for num, row in self.known.of(kind) if row["mark"])

    def _changed(self, *, whole: bool) -> list[Row]:
        found: list[Row] = []
        for account in self.client.accounts:
            for page in self._pages("issues", state="all", creator=account, sort="updated", direction="desc"):
                found += [row for row in page if login_of(row) == account]
                if not whole and any(self._is_known(row) for row in page):
                    break
        return found

    def _is_known(self, issue: Row) -> bool:
        row = self.known.find(issue["number"])
        return row is not None and row.get("updated") == issue["updated_at"]

    def note_head(self, num: int, mark: Marker, head: str, base: str) -> None:
        """Remember the last commit that we wrote for a request, and the commit of main in it, "" if it may be older."""
        row = {"kind": "pull_request", "status": "open", "mark": mark.name, "head": head, "base": base, "lost": ""}
        self.known.note(num, row)

    def is_newest(self, num: int, head: str) -> bool:
        """Tell whether we wrote the newest commit of a request."""
        return bool(head) and (self.known.find(num) or {}).get("head") == head

    def forget_head(self, num: int) -> None:
        """Forget the last commit that we wrote for a request, so that it is looked at again if people reopen it."""
        row = self.known.find(num) or {}
        if row.pop("head", None) is not None:
            self.known.put(num, row)

    def may_have_answers(self) -> list[int]:
        """The issues and requests in which we answered, from all comments of the repository, a hundred at once."""
        rows = (
            row
            for page in self._pages("issues/comments")
            for row in page
            if self.client.as_ours(login_of(row)) == self.us
        )
        marked = ((row["issue_url"], find_marker(row["body"] or "")) for row in rows)
        urls = dict.fromkeys(url for url, mark in marked if mark is not None and mark.kind == "reply")
        return [int(url.rpartition("/")[2]) for url in urls]

    # what is written

    def open_discussion(self, title: str, text: str) -> int:
        """Open an issue; returns its number."""
        with self._writing(text):
            return self.client.sent_once(
                lambda: self.client(lambda: self.repo.create_issue(title[:TITLE_LIMIT], body=text)).number,
                lambda: self._find_own(title, text),
            )

    def _writing(self, text: str) -> AbstractContextManager[object]:
        return held(self.intend, f"github://{self.source.address.name}", text, self.client.unknown_until)

    def _find_own(self, title: str, text: str) -> int | None:
        for issue in sorted(self._changed(whole=True), key=lambda row: int(row["number"])):
            is_same = issue["title"] == title[:TITLE_LIMIT] and (issue["body"] or "").strip() == text.strip()
            if issue["state"] == "open" and is_same:
                return int(issue["number"])
        return None

    def comment(self, num: int, text: str) -> None:
        """Add a comment."""
        issue = self._issue(num)
        with self._writing(text):
            self.client.sent_once(
                lambda: str(self.client(lambda: issue.create_comment(text)).id),
                lambda: comment_with(self.read(num), self.us, text),
            )

    def edit(self, num: int, comment_id: str, text: str) -> None:
        """Replace the text of a comment of the bot; the same text twice is harmless."""
        issue = self._issue(num)
        if comment_id == OPENING:
            self.client(lambda: issue.edit(body=text))
        else:
            self.client(lambda: issue.get_comment(int(comment_id)).edit(text))

    def edit_description(self, num: int, text: str) -> None:
        """Replace the opening text of an issue of the bot."""
        self.edit(num, OPENING, text)

    def set_status(self, num: int, status: Status, reason: str | None = None) -> None:
        """Close or open an issue; before that, the reason is posted once."""
        if reason is not None:
            last = self.read(num).comments[-1]
            if last.author != self.us or last.text.strip() != reason.strip():
                self.comment(num, reason)
        issue = self._issue(num)
        self.client(lambda: issue.edit(state=status))

    def find_duplicates(self) -> list[Duplicate]:
        """The open issues of the bot, and the comments in those, that repeat an earlier mark."""
        return open_duplicates(self, "discussion")

    def remove_duplicate(self, duplicate: Duplicate) -> None:
        """Close an issue that repeats another, or delete a comment."""
        num, _, comment_id = duplicate.name.partition(" ")
        issue = self._issue(int(num))
        if not comment_id:
            self.client(lambda: issue.edit(state="closed", state_reason="not_planned"))
            return
        with suppress(Gone):  # another process tidies up, too
            self.client(lambda: issue.get_comment(int(comment_id)).delete())

    # what GitHub tells and shows beside the threads

    def show_verdict(self, head: str, name: str, state: VerdictState, text: str) -> None:
        """Show a verdict as the status of a commit, unless it is shown already.

        Where the token may not, the comment has to do. A status that is set twice shows once.
        """
        text = text if len(text) <= STATUS_LIMIT else f"{text[: STATUS_LIMIT - 1]}…"
        status = {"context": name, "state": state, "description": text}
        where = f"{self._api}/statuses/{head}"
        with suppress(Refused):
            shown = self.client.get(f"{self._api}/commits/{head}/status", per_page=100)["statuses"]
            if status not in [{key: one[key] for key in status} for one in shown]:
                self.client(lambda: self.client.github.requester.requestJsonAndCheck("POST", where, input=status))


def pages_of(client: GitHubClient, route: str, **filters: str) -> Iterator[list[Row]]:
    """The pages of a list; PyGithub's objects would request each row again, and its lists keep all of them."""
    for page in count(1):
        rows: list[Row] = client.get(route, **filters, per_page=PAGE, page=page)
        yield rows
        if len(rows) < PAGE:
            return


def _is_pull(issue: Row) -> bool:
    return "pull_request" in issue


def _status(issue: Row) -> str:
    if issue["state"] == "open":
        return "open"
    return "merged" if (issue.get("pull_request") or {}).get("merged_at") else "closed"


def _closed_by(issue: Row) -> str:
    """The account that closed an issue, "" while it is open."""
    return "" if issue["state"] == "open" else str((issue.get("closed_by") or {}).get("login") or "")


def _at(row: Row, name: str) -> float:
    return datetime.fromisoformat(row[name]).timestamp()


def _count(issue: Row) -> int:
    """A number that changes with each comment, made of the number of comments and the time of the last change."""
    return int(_at(issue, "updated_at")) * 1000 + int(issue["comments"]) % 1000


def _known(issue: Row) -> dict[str, str]:
    """The row to remember an issue of ours by."""
    mark = find_marker(issue["body"] or "")
    return {
        "kind": "pull_request" if _is_pull(issue) else "discussion",
        "status": _status(issue),
        "closed_by": _closed_by(issue),
        "mark": mark.name if mark else "",
        "updated": issue["updated_at"],
    }


@dataclass
class RequestSource(GitHubSource):
    """A repository in which others open requests, whose changes are read within a bound.

    A fork's request is read here too: GitHub keeps its commits in the repository that it is proposed to. `bases` has,
    by head, the commit of the base branch into which a request was merged.
    """

    most_listings: int = LISTINGS
    bases: dict[str, str] = field(default_factory=dict, repr=False)

    def refs(self, *, requests: bool = False) -> dict[str, str]:
        """The commit of each open request to the default branch, as `refs/pr/7`.

        A request to another branch is left out: merging it changes no result.
        """
        found = dict[str, str]()
        for page in pages_of(self.client, f"/repos/{self._repo.full_name}/pulls", state="open"):
            for row in page:
                if row["base"]["ref"] == row["base"]["repo"]["default_branch"]:
                    found[f"refs/pr/{row['number']}"] = row["head"]["sha"]
        return found

    def closed_head(self, number: int) -> str | None:
        """The commit of a closed request; None if there is none, or it was for another branch."""
        try:
            pull = self.client(lambda: self._repo.get_pull(number))
        except Gone:
            return None
        if pull.merged_at is not None:
            self.bases[pull.head.sha] = pull.base.sha
        return pull.head.sha if pull.base.ref == self._repo.default_branch else None

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both histories hold; for a merged request as the histories were before the merge."""
        return super().fork_point(one, self.bases.get(one, other))
