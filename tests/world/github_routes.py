"""The routes of the local GitHub: what GitHub answers to each call, also where it refuses."""

from __future__ import annotations

from collections.abc import Callable

from tests.world import (
    github_accounts,
    github_comments,
    github_content,
    github_history,
    github_repositories,
    github_rights,
    github_talk,
)
from tests.world.github_server import Answer, Request
from tests.world.github_state import GitHubState

Route = Callable[[GitHubState, Request], Answer]
REPO = r"/repos/([^/]+/[^/]+)"
NUMBER = r"(\d+)"

ROUTES: list[tuple[str, str, Route]] = [
    ("GET", "/user", github_accounts.read_user),
    ("POST", "/graphql", github_accounts.query),
    ("GET", "/app/installations", github_accounts.list_installations),
    ("POST", f"/app/installations/{NUMBER}/access_tokens", github_accounts.make_token),
    ("GET", "/rate_limit", github_accounts.read_rate_limit),
    ("POST", "/user/repos", github_repositories.create),
    ("DELETE", REPO, github_repositories.delete),
    ("GET", REPO, github_talk.read_repo),
    ("GET", f"{REPO}/contents/(.*)", github_content.read_contents),
    ("PUT", f"{REPO}/contents/(.+)", github_content.write_contents),
    ("GET", f"{REPO}/git/blobs/(.+)", github_content.read_blob),
    ("POST", f"{REPO}/git/blobs", github_content.create_blob),
    ("GET", f"{REPO}/git/trees/(.+)", github_content.read_tree),
    ("POST", f"{REPO}/git/trees", github_content.create_tree),
    ("GET", f"{REPO}/git/commits/(.+)", github_history.read_git_commit),
    ("POST", f"{REPO}/git/commits", github_history.create_commit),
    ("GET", f"{REPO}/git/ref/(.+)", github_history.read_ref),
    ("GET", f"{REPO}/git/matching-refs/(.*)", github_history.list_refs),
    ("POST", f"{REPO}/git/refs", github_history.create_ref),
    ("PATCH", f"{REPO}/git/refs/(.+)", github_history.update_ref),
    ("DELETE", f"{REPO}/git/refs/(.+)", github_history.delete_ref),
    ("GET", f"{REPO}/commits", github_history.list_commits),
    ("GET", f"{REPO}/commits/(.+)/status", github_rights.read_status),
    ("POST", f"{REPO}/statuses/(.+)", github_rights.create_status),
    ("GET", f"{REPO}/branches", github_history.list_branches),
    ("GET", f"{REPO}/hooks", github_rights.list_hooks),
    ("GET", f"{REPO}/actions/workflows", github_rights.list_workflows),
    ("GET", f"{REPO}/commits/(.+)", github_history.read_commit),
    ("GET", f"{REPO}/compare/(.+)[.][.][.](.+)", github_history.compare),
    ("GET", f"{REPO}/pulls", github_talk.list_pulls),
    ("POST", f"{REPO}/pulls", github_talk.create_pull),
    ("GET", f"{REPO}/pulls/{NUMBER}", github_talk.read_pull),
    ("PATCH", f"{REPO}/pulls/{NUMBER}", github_talk.edit_pull),
    ("GET", f"{REPO}/pulls/{NUMBER}/files", github_talk.list_files),
    ("GET", f"{REPO}/pulls/{NUMBER}/commits", github_talk.list_pull_commits),
    ("PUT", f"{REPO}/pulls/{NUMBER}/merge", github_talk.merge_pull),
    ("GET", f"{REPO}/issues", github_talk.list_issues),
    ("POST", f"{REPO}/issues", github_talk.create_issue),
    ("GET", f"{REPO}/issues/comments", github_comments.list_all_comments),
    ("GET", f"{REPO}/issues/{NUMBER}", github_talk.read_issue),
    ("PATCH", f"{REPO}/issues/{NUMBER}", github_talk.edit_issue),
    ("GET", f"{REPO}/issues/{NUMBER}/comments", github_comments.list_comments),
    ("POST", f"{REPO}/issues/{NUMBER}/comments", github_comments.create_comment),
    ("GET", f"{REPO}/issues/comments/{NUMBER}", github_comments.read_comment),
    ("PATCH", f"{REPO}/issues/comments/{NUMBER}", github_comments.edit_comment),
    ("DELETE", f"{REPO}/issues/comments/{NUMBER}", github_comments.delete_comment),
]
