"""Discussions over the wire: lists, details, comments, edits, titles, statuses and merges."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .discussions import Discussion
from .git import Blob, Commit, Repository
from .merging import Merge, changed, three_way
from .reply import Failure, Reply, answer

if TYPE_CHECKING:
    from .hub import Call, Hub

PAGE = 10
DISABLED = (403, "Discussions are disabled for this repo")


def listed(hub: Hub, call: Call, repository: Repository) -> Reply:
    query = call.query
    rows = hub.talk(repository).listed(query.get("type", ""), query.get("status", ""), query.get("author", ""))
    start = int(query.get("p", "0")) * PAGE
    page = [brief(repository, row) for row in rows[start : start + PAGE]]
    return answer({"count": len(rows), "start": start, "discussions": page})


def brief(repository: Repository, row: Discussion) -> dict[str, Any]:
    return {
        "title": row.title,
        "num": row.num,
        "author": {"name": row.author},
        "createdAt": row.created,
        "status": row.status,
        "repo": {"name": repository.name, "type": repository.kind},
        "isPullRequest": row.pull_request,
        "numComments": sum(event["type"] == "comment" for event in row.events),
    }


def opened(hub: Hub, call: Call, repository: Repository) -> Reply:
    asked = json.loads(call.body)
    title, text = asked["title"], asked.get("description") or ""
    check_length("title", title, 3, 200)
    check_length("description", text, 0, 65_536)
    draft = bool(asked.get("pullRequest"))
    made = hub.open_discussion(repository, title, text, call.user, draft=draft)
    return answer({"num": made.num, "url": f"{hub.web(repository)}/discussions/{made.num}"})


def check_length(what: str, text: str, least: int, most: int) -> None:
    if not least <= len(text) <= most:
        raise Failure(400, f"{what} must hold {least} to {most} characters")


def details(hub: Hub, call: Call, repository: Repository, row: Discussion) -> Reply:
    found = {**brief(repository, row), "events": row.events}
    if row.pull_request:
        is_open = row.status == "open" and row.ref in repository.refs
        conflicts = merged_changes(repository, row).conflicts if is_open else []
        found |= {"changes": {"base": "main"}, "filesWithConflicts": conflicts}
        if row.merge_commit:
            found["changes"]["mergeCommitId"] = row.merge_commit
    return answer(found)


def commented(hub: Hub, call: Call, repository: Repository, row: Discussion) -> Reply:
    check_unlocked(hub, call, repository, row)
    text = json.loads(call.body)["comment"]
    check_length("comment", text, 1, 65_536)
    return answer({"newMessage": hub.comment(repository, row, text, call.user)})


def check_unlocked(hub: Hub, call: Call, repository: Repository, row: Discussion) -> None:
    if row.is_locked and call.user != repository.name.partition("/")[0]:
        raise Failure(403, "This discussion has been locked by its maintainers")


def edited(hub: Hub, call: Call, repository: Repository, row: Discussion, comment_id: str) -> Reply:
    check_unlocked(hub, call, repository, row)
    event = own_comment(hub, call, repository, row, comment_id)
    text = json.loads(call.body)["content"]
    check_length("comment", text, 1, 65_536)
    hub.talk(repository).edit(event, text)
    hub.posted(call.user, "edit", repository, row.num, text)
    hub.notify_discussion(repository, row, "discussion.comment", "update", event)
    return answer({"updatedComment": event})


def hidden(hub: Hub, call: Call, repository: Repository, row: Discussion, comment_id: str) -> Reply:
    event = own_comment(hub, call, repository, row, comment_id)
    event["data"]["hidden"] = True
    hub.posted(call.user, "hide", repository, row.num, "")
    return answer({"updatedComment": event})


def own_comment(hub: Hub, call: Call, repository: Repository, row: Discussion, comment_id: str) -> dict[str, Any]:
    event = hub.talk(repository).find_comment(row, comment_id)
    if event is None:
        raise Failure(404, "Comment not found")
    if event["author"]["name"] != call.user:
        raise Failure(403, "Only the author of a comment may change it")
    return event


def renamed(hub: Hub, call: Call, repository: Repository, row: Discussion) -> Reply:
    before, row.title = row.title, json.loads(call.body)["title"]
    check_length("title", row.title, 3, 200)
    event = hub.talk(repository).event(row, "title-change", call.user, {"from": before, "to": row.title})
    hub.posted(call.user, "rename", repository, row.num, row.title)
    return answer({"newTitle": event})


def status_changed(hub: Hub, call: Call, repository: Repository, row: Discussion) -> Reply:
    asked = json.loads(call.body)
    if row.status == "merged":
        raise Failure(400, "A merged pull request cannot change its status")
    check_unlocked(hub, call, repository, row)
    if asked.get("comment"):
        hub.comment(repository, row, asked["comment"], call.user)
    return answer({"newStatus": hub.set_status(repository, row, asked["status"], call.user)})


def merged(hub: Hub, call: Call, repository: Repository, row: Discussion) -> Reply:
    if not hub.may_write(call.user, repository):
        raise Failure(403, "Forbidden")
    if row.status != "open":
        raise Failure(400, "Only an open pull request can be merged")
    if conflicts := merged_changes(repository, row).conflicts:
        raise Failure(409, f"There are conflicts in {', '.join(conflicts)}")
    text = json.loads(call.body or b"{}").get("comment")
    if text:
        hub.comment(repository, row, text, call.user)
    hub.posted(call.user, "merge", repository, row.num, "")
    hub.merge(repository, row, call.user)
    return answer({})


def merged_changes(repository: Repository, row: Discussion) -> Merge:
    """What a merge of a request would do to main."""
    head, main = repository.refs[row.ref], repository.main
    base = main.fork_point(head)
    assert base is not None, "no common history"
    paths = sorted({*base.tree.touched(head.tree), *base.tree.touched(main.tree)})
    return three_way(*(files_at(commit, paths) for commit in (base, main, head)))


def merge_changes(repository: Repository, row: Discussion) -> dict[str, bytes | None]:
    """What a request changes against the commit from which it branched."""
    head = repository.refs[row.ref]
    base = repository.main.fork_point(head)
    assert base is not None, "no common history"
    paths = sorted(base.tree.touched(head.tree))
    return changed(files_at(base, paths), files_at(head, paths))


def files_at(commit: Commit, paths: Iterable[str]) -> dict[str, bytes]:
    """The files at these paths, those that are there."""
    found = ((path, commit.tree.at(path)) for path in paths)
    return {path: item.data for path, item in found if isinstance(item, Blob)}
