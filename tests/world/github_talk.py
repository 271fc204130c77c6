"""Issues and pull requests of the local GitHub."""

from __future__ import annotations

from typing import Any

from tests.world.github_content import find, forbidden
from tests.world.github_history import file_entries, rest_commit
from tests.world.github_rights import authorship, user
from tests.world.github_server import Answer, Request, refuse
from tests.world.github_state import GitHubState, Issue, Repo

BODY_LIMIT = 65_536


def read_repo(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    shown = _repo(request, repo) | {"default_branch": repo.default_branch, "private": repo.private}
    shown |= {"archived": repo.archived, "has_issues": repo.has_issues}
    if request.who is not None:
        shown["permissions"] = {"pull": True, "push": "contents" in request.who.permissions}
        names = {"merge": "allow_merge_commit", "squash": "allow_squash_merge", "rebase": "allow_rebase_merge"}
        shown |= {name: method in repo.methods for method, name in names.items()}
    return Answer(200, shown)


def _repo(request: Request, repo: Repo) -> dict[str, Any]:
    name = repo.name
    owner, short = name.split("/")
    url = f"{request.base}/repos/{name}"
    return {
        "full_name": name,
        "html_url": f"{request.base}/{name}",
        "name": short,
        "owner": user(request, owner),
        "url": url,
        "id": repo.id,
    }


def too_long(request: Request) -> Answer | None:
    """GitHub's refusal of a text past its limit."""
    if len(request.body.get("body") or "") <= BODY_LIMIT:
        return None
    error = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
    return refuse(
        422,
        "Validation Failed",
        errors=[error | {"message": "Body is too long (maximum is 65536 characters)"}],
    )


def _head(state: GitHubState, repo: Repo, issue: Issue) -> str | None:
    """The branch's commit; a request that is closed keeps the last one it had."""
    owner = state.repos.get(issue.head_repo or repo.name)
    now = owner.git.refs.get(f"heads/{issue.head}") if owner else None
    if issue.state == "open":
        issue.last_head = now or issue.last_head
        return now
    return issue.last_head or now


def _pull(state: GitHubState, request: Request, repo: Repo, issue: Issue) -> dict[str, Any]:
    head = _head(state, repo, issue)
    owner = issue.head_repo.split("/")[0]
    head_repo = _repo(request, state.repos[issue.head_repo]) if issue.head_repo in state.repos else None
    commit = issue.last_base or repo.git.refs[f"heads/{issue.base}"]
    base = {
        "ref": issue.base,
        "sha": commit,
        "repo": _repo(request, repo) | {"default_branch": repo.default_branch},
    }
    return {
        "url": f"{request.base}/repos/{repo.name}/pulls/{issue.number}",
        "html_url": f"{request.base}/{repo.name}/pull/{issue.number}",
        "issue_url": f"{request.base}/repos/{repo.name}/issues/{issue.number}",
        "id": issue.number,
        "number": issue.number,
        "state": issue.state,
        "title": issue.title,
        "body": issue.body,
        "user": user(request, issue.author),
        "merged": issue.merged,
        "closed_at": issue.updated if issue.state == "closed" else None,
        "merged_at": "2026-03-02T11:00:00Z" if issue.merged else None,
        "head": {"ref": issue.head, "label": f"{owner}:{issue.head}", "sha": head, "repo": head_repo},
        "base": base,
    }


def list_pulls(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    found = repo.pulls(request.query.get("state", "open"))
    if head := request.query.get("head"):
        owner, _, branch = head.partition(":")
        found = [pull for pull in found if pull.head == branch and pull.head_repo.split("/")[0] == owner]
    if base := request.query.get("base"):
        found = [pull for pull in found if pull.base == base]
    newest_first = sorted(found, key=lambda pull: -pull.number)
    return Answer(200, [_pull(state, request, repo, pull) for pull in newest_first])


def create_pull(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "pull-requests") or too_long(request)
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    body = request.body
    owner, _, branch = body["head"].rpartition(":")
    if not repo.has_issues:
        return refuse(410, "Issues has been disabled in this repository.")
    made = Issue(0, request.who.login, body["title"], body.get("body") or "", head=branch, base=body["base"])
    made.head_repo = f"{owner}/{repo.name.split('/')[1]}" if owner else repo.name
    head = _head(state, repo, made)
    wrong = {"resource": "PullRequest", "code": "custom"}
    if head is None:
        return refuse(422, "Validation Failed", errors=[wrong | {"field": "head", "code": "invalid"}])
    if any((p.head, p.head_repo, p.base) == (branch, made.head_repo, made.base) for p in repo.pulls("open")):
        message = f"A pull request already exists for {made.head_repo.split('/')[0]}:{branch}."
        return refuse(422, "Validation Failed", errors=[wrong | {"message": message}])
    if head in repo.git.ancestors(repo.git.refs[f"heads/{made.base}"]):
        message = f"No commits between {made.base} and {branch}"
        return refuse(422, "Validation Failed", errors=[wrong | {"message": message}])
    state.add_issue(repo, made)
    return Answer(201, _pull(state, request, repo, made))


def find_issue(state: GitHubState, request: Request) -> tuple[Repo, Issue] | None:
    repo = find(state, request)
    issue = repo.issues.get(int(request.parts[1])) if repo else None
    return (repo, issue) if repo and issue else None


def read_pull(state: GitHubState, request: Request) -> Answer:
    found = find_issue(state, request)
    if found is None or not found[1].head:
        return refuse(404, "Not Found")
    repo, issue = found
    head, said = _head(state, repo, issue), {"mergeable": None, "mergeable_state": "unknown"}
    if issue.state == "open" and head is not None:
        conflicts = repo.git.merge(repo.git.refs[f"heads/{issue.base}"], head).conflicts
        said = {"mergeable": not conflicts, "mergeable_state": "dirty" if conflicts else "clean"}
    return Answer(200, _pull(state, request, repo, issue) | said)


def _edit(state: GitHubState, request: Request, permission: str) -> Answer | tuple[Repo, Issue]:
    found = find_issue(state, request)
    refused = forbidden(request, permission) or too_long(request)
    if found is None or refused:
        return refused or refuse(404, "Not Found")
    repo, issue = found
    if request.body.get("state") == "open" and issue.head and _head(state, repo, issue) is None:
        return refuse(422, "Validation Failed", errors=[{"message": "state cannot be changed."}])
    if issue.head:
        _head(state, repo, issue)  # which a closed request keeps
    issue.updated = state.tick()
    if request.body.get("body", issue.body) != issue.body:
        issue.edited, issue.editor = issue.updated, request.who.login
    for name in ("title", "body", "state"):
        if name in request.body:
            setattr(issue, name, request.body[name])
    if "state" in request.body:
        issue.closed_by = request.who.login if issue.state == "closed" else None
    return found


def edit_pull(state: GitHubState, request: Request) -> Answer:
    done = _edit(state, request, "pull-requests")
    return done if isinstance(done, Answer) else Answer(200, _pull(state, request, *done))


def merge_pull(state: GitHubState, request: Request) -> Answer:
    """Merge a request at the commit that is named; a rule of the branch may forbid it."""
    found = find_issue(state, request)
    refused = forbidden(request, "contents")
    if found is None or refused:
        return refused or refuse(404, "Not Found")
    repo, issue = found
    if issue.state != "open" or repo.protected:
        return refuse(405, "Repository rule violations found" if repo.protected else "Pull Request is not mergeable")
    if request.body.get("merge_method", "merge") not in repo.methods:
        return refuse(405, "Merge commits are not allowed on this repository.")
    if request.body.get("sha", _head(state, repo, issue)) != _head(state, repo, issue):
        return refuse(409, "Head branch was modified. Review and try the merge again.")
    if repo.git.merge(repo.git.refs[f"heads/{issue.base}"], state.head(issue)).conflicts:
        return refuse(405, "Pull Request is not mergeable")
    state.merge(repo.name, issue.number)
    sha = repo.git.refs[f"heads/{issue.base}"]
    return Answer(200, {"sha": sha, "merged": True, "message": "Pull Request successfully merged"})


def list_files(state: GitHubState, request: Request) -> Answer:
    found = find_issue(state, request)
    if found is None:
        return refuse(404, "Not Found")
    repo, issue = found
    head = _head(state, repo, issue)
    base = repo.git.merge_base(issue.last_base or repo.git.refs[f"heads/{issue.base}"], head)
    return Answer(200, file_entries(request, repo.git, base, head)[:3000])


def list_pull_commits(state: GitHubState, request: Request) -> Answer:
    found = find_issue(state, request)
    if found is None:
        return refuse(404, "Not Found")
    repo, issue = found
    head = _head(state, repo, issue)
    base = set(repo.git.ancestors(issue.last_base or repo.git.refs[f"heads/{issue.base}"]))
    oids = [sha for sha in repo.git.ancestors(head) if sha not in base]
    return Answer(200, [rest_commit(request, repo.git, sha) for sha in oids[::-1]])


def _issue(request: Request, repo: Repo, issue: Issue) -> dict[str, Any]:
    url = f"{request.base}/repos/{repo.name}/issues/{issue.number}"
    merged = issue.updated if issue.merged else None
    pull = {"pull_request": {"url": url.replace("/issues/", "/pulls/"), "merged_at": merged}} if issue.head else {}
    return {
        "url": url,
        "html_url": f"{request.base}/{repo.name}/issues/{issue.number}",
        "node_id": issue.node_id,
        "number": issue.number,
        "title": issue.title,
        "body": issue.body,
        "state": issue.state,
        "closed_by": user(request, issue.closed_by) if issue.closed_by else None,
        "labels": [],
        "comments": len(repo.comments_on(issue.number)),
        **authorship(request, repo, issue),
        **pull,
    }


def list_issues(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    if repo is None:
        return refuse(404, "Not Found")
    wanted, creator = request.query.get("state", "open"), request.query.get("creator")
    found = [
        issue for issue in repo.issues.values() if wanted in {"all", issue.state} and creator in {None, issue.author}
    ]
    by_time = request.query.get("sort") == "updated"
    found.sort(key=lambda issue: issue.updated if by_time else issue.created, reverse=True)
    return Answer(200, [_issue(request, repo, issue) for issue in found])


def create_issue(state: GitHubState, request: Request) -> Answer:
    repo = find(state, request)
    refused = forbidden(request, "issues") or too_long(request)
    if repo is None or refused:
        return refused or refuse(404, "Not Found")
    if not repo.has_issues:
        return refuse(410, "Issues has been disabled in this repository.")
    made = Issue(0, request.who.login, request.body["title"], request.body.get("body") or "")
    return Answer(201, _issue(request, repo, state.add_issue(repo, made)))


def read_issue(state: GitHubState, request: Request) -> Answer:
    found = find_issue(state, request)
    return Answer(200, _issue(request, *found)) if found else refuse(404, "Not Found")


def edit_issue(state: GitHubState, request: Request) -> Answer:
    done = _edit(state, request, "issues")
    return done if isinstance(done, Answer) else Answer(200, _issue(request, *done))
