"""Commit to branches of a GitHub repository: change files, move a ref forward, never over other work."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from github.GitCommit import GitCommit
from github.GitRef import GitRef
from github.InputGitTreeElement import InputGitTreeElement
from github.Repository import Repository

from bot.errors import Gone, Stale
from bot.platforms.github.client import GitHubClient
from bot.platforms.writes import in_chunks, part_title
from bot.publishing.publication import Marker

PREFIX = "leaderboard-bot/"
# What git refuses in a ref, of what an entry's key can hold (git help check-ref-format).
REFUSED = re.compile(r"\.\.|(^|/)\.|\.(/|$)|\.lock(/|$)|//|[^\w./-]", re.ASCII)


def branch_name(mark: Marker) -> str:
    """The branch of a request, which follows from its key; a key that git refuses is named by its digest."""
    if mark.key and not REFUSED.search(mark.key):
        return PREFIX + mark.key
    return f"{PREFIX}key-{hashlib.sha256(mark.key.encode()).hexdigest()[:16]}"


class Branches:
    """The branches of one repository. What another did first ends in Stale: nothing is forced."""

    def __init__(self, client: GitHubClient, repo: Repository) -> None:
        self._call = client
        self._repo = repo

    @property
    def main(self) -> str:
        """The name of the default branch."""
        return self._repo.default_branch

    def ref(self, branch: str) -> GitRef | None:
        """A branch's ref as it is now, None if there is none."""
        try:
            return self._call(lambda: self._repo.get_git_ref(f"heads/{branch}"))
        except Gone:
            return None

    def head(self) -> GitRef:
        """The default branch's ref. Raises Gone if the repository is empty."""
        return self._call(lambda: self._repo.get_git_ref(f"heads/{self.main}"))

    def commit_to_main(self, files: Mapping[str, bytes | None], message: str, parent: str) -> str:
        """Commit on the default branch; raises Stale where it is no longer at `parent`."""
        ref = self.head()
        if ref.object.sha != parent:
            raise Stale(f"the branch {self.main} moved meanwhile")
        commit = self._commit(files, message, [ref.object.sha])
        self._call(lambda: ref.edit(commit.sha))
        return commit.sha

    def commit_to(self, branch: str, files: Mapping[str, bytes | None], message: str, parent: str) -> str:
        """Commit on any branch, which is made without a parent where `parent` is ""; raises Stale where it moved."""
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

    def propose(self, branch: str, files: Mapping[str, bytes | None], message: str) -> str:
        """Bring a branch to main with these files changed.

        The commit has the branch as its first parent and main as its second, so the ref only moves forward, and the
        request shows these files and nothing else, however far main has moved.
        """
        main, ref = self.head().object.sha, self.ref(branch)
        if ref is None:
            commit = self._commit(files, message, [main])
            self._call(lambda: self._repo.create_git_ref(f"refs/heads/{branch}", commit.sha))
            return commit.sha
        current = ref.object.sha
        commit = self._commit(files, message, [main] if current == main else [main, current])
        if commit.tree.sha == self._git_commit(current).tree.sha and self._is_on(main, current):
            return current  # a try before this one got as far as here
        self._call(lambda: ref.edit(commit.sha))
        return commit.sha

    def delete(self, branch: str) -> None:
        """Take a branch away where it is still there."""
        ref = self.ref(branch)
        if ref is not None:
            with suppress(Stale):  # somebody else has just done it
                self._call(ref.delete)

    def _is_on(self, main: str, commit: str) -> bool:
        return self._call(lambda: self._repo.compare(main, commit).status) in {"ahead", "identical"}

    def _git_commit(self, sha: str) -> GitCommit:
        return self._call(lambda: self._repo.get_git_commit(sha))

    def _commit(self, files: Mapping[str, bytes | None], message: str, parents: list[str]) -> GitCommit:
        """Make commits with the tree of the first parent and files changed; many files are several, each on the other.

        The parents are listed newest last; the last commit is given.
        """
        known = [self._git_commit(sha) for sha in parents]
        gone = {path for path, data in files.items() if data is None}
        missing = gone - self._there(known[0], gone) if gone else gone
        changed = {path: data for path, data in files.items() if path not in missing}
        title, line, body = message.partition("\n")
        parts = list(in_chunks(changed)) or [{}]
        for number, part in enumerate(parts, 1):
            said = part_title(title, number, len(parts)) + line + body
            known = [self._commit_part(part, said, known)]
        return known[0]

    def _commit_part(self, files: Mapping[str, bytes | None], message: str, parents: Sequence[GitCommit]) -> GitCommit:
        elements = [self._element(path, data) for path, data in files.items()]
        tree = self._call(lambda: self._repo.create_git_tree(elements, parents[0].tree))
        # The branch comes first: its history is the request's, main is what was merged into it.
        return self._call(lambda: self._repo.create_git_commit(message, tree, list(parents[::-1])))

    def _there(self, commit: GitCommit, paths: set[str]) -> set[str]:
        """Those of some paths that a commit has; one by one where there are more than one answer lists."""
        tree = self._call(lambda: self._repo.get_git_tree(commit.tree.sha, recursive=True))
        if not tree.raw_data.get("truncated"):
            return paths.intersection(item.path for item in tree.tree)
        return {path for path in paths if self._has(commit, path)}

    def _has(self, commit: GitCommit, path: str) -> bool:
        try:
            self._call(lambda: self._repo.get_contents(path, ref=commit.sha))
        except Gone:
            return False
        return True

    def _element(self, path: str, data: bytes | None) -> InputGitTreeElement:
        if data is None:
            return InputGitTreeElement(path, "100644", "blob", sha=None)
        try:
            return InputGitTreeElement(path, "100644", "blob", content=data.decode())
        except UnicodeDecodeError:
            text = base64.b64encode(data).decode()
            blob = self._call(lambda: self._repo.create_git_blob(text, "base64"))
            return InputGitTreeElement(path, "100644", "blob", sha=blob.sha)
