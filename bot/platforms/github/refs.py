"""The heads of a repository under the names that they have on the Hub: the default branch, and each request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from github.PullRequest import PullRequest

from bot.platforms.github.errors import NotThere
from bot.platforms.github.source import GitHubSource
from bot.platforms.kept import kept_property

MAIN = "refs/heads/main"
REQUEST = re.compile(r"refs/pr/([1-9]\d*)")
LISTINGS = 200  # folders of which the listings are asked for to learn what one request changes


@dataclass
class RequestSource(GitHubSource):
    """A repository in which others open requests: what these change is read within a bound.

    A fork's request is read here, too: GitHub keeps its commits in the repository that it is proposed to. `bases` has,
    by head, the commit of the branch that a merged request was merged into.
    """

    most_listings: int | None = LISTINGS
    bases: dict[str, str] = field(default_factory=dict, repr=False)

    def refs(self, *, requests: bool = False) -> Mapping[str, str]:
        """The default branch as `refs/heads/main`, and each request as `refs/pr/7` where asked for."""
        return Heads(self, has_requests=requests)

    def fork_point(self, one: str, other: str) -> str | None:
        """The newest commit that both histories hold, as they were when `one` was merged, where it is."""
        return super().fork_point(one, self.bases.get(one, other))

    def open_pulls(self) -> list[PullRequest]:
        """Every open request."""
        return self.client(lambda: list(self._repo.get_pulls(state="open")))


class Heads(Mapping[str, str]):
    """The refs of one moment, asked for when they are needed: the list of requests once, a closed one by itself.

    A request for another branch than the default one is left out: merging it changes no result.
    """

    def __init__(self, source: RequestSource, *, has_requests: bool) -> None:
        self._source = source
        self._has_requests = has_requests

    @kept_property
    def _main(self) -> str:
        return self._source.head()

    @kept_property
    def _open(self) -> dict[str, str | None]:
        """The heads of the open requests, None for those of another branch."""
        pulls = self._source.open_pulls() if self._has_requests else []
        return {f"refs/pr/{pull.number}": self._head_of(pull) for pull in pulls}

    def _head_of(self, pull: PullRequest) -> str | None:
        repository = self._source.client.repo(self._source.address.name)
        return pull.head.sha if pull.base.ref == repository.default_branch else None

    def __getitem__(self, ref: str) -> str:
        if ref == MAIN:
            return self._main
        match = REQUEST.fullmatch(ref) if self._has_requests else None
        if match is None:
            raise KeyError(ref)
        head = self._open[ref] if ref in self._open else self._closed(int(match[1]))
        if head is None:
            raise KeyError(ref)
        return head

    def _closed(self, number: int) -> str | None:
        repository = self._source.client.repo(self._source.address.name)
        try:
            pull = self._source.client(lambda: repository.get_pull(number))
        except NotThere:
            return None
        if pull.merged_at is not None:
            self._source.bases[pull.head.sha] = pull.base.sha
        return self._head_of(pull)

    def __iter__(self) -> Iterator[str]:
        return iter([MAIN, *(ref for ref, head in self._open.items() if head is not None)])

    def __len__(self) -> int:
        return sum(1 for _ in self)
