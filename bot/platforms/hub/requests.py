"""The bot's requests at a target on the Hub: opened once for each mark, and kept up to date."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.errors import Gone, Stale
from bot.platforms.discussions import OPEN
from bot.platforms.duplicates import Duplicate
from bot.platforms.hub.errors import SERVICE
from bot.publishing.publication import Marker, OpenRequest, UpdateRequest

if TYPE_CHECKING:
    from bot.platforms.hub.target import HubTarget


@dataclass(frozen=True)
class HubRequests:
    """Writes the requests at one target."""

    target: HubTarget

    def open(self, publication: OpenRequest) -> int:
        """Open a request, after a last look for one that another process opened meanwhile: its number.

        The Hub has no key that would keep two processes from opening one each at the same moment: both look once more,
        and close their own where it is the later one.
        """
        text, mark, target = publication.text, publication.mark, self.target
        with target.discussions.writing(text.body):
            before, parent = target.requests_of(mark), target.head()  # as they stood when this was decided
            target.look_again()
            if target.requests_of(mark) != before:
                raise Stale(f"{target.name}: the requests for this row are not the same as before")
            oid, made = target.discussions.commits.write(
                dict(publication.files), text.title, text.body, parent=parent, request=True
            )
            num = made or 0
            target.own_commits.add(oid)
            target.discussions.opened(num, mark)
            target.look_again(is_after_write=True)
            return self._keep_first(mark, num)

    def _keep_first(self, mark: Marker, num: int) -> int:
        """Close our new request where an earlier one has its mark: the number of the one that stays."""
        same = [other for other, row in self.target.requests_of(mark) if row["status"] in OPEN]
        first = min([num, *same])
        if first != num:
            self.target.discussions.remove_duplicate(Duplicate("request", mark, str(num), str(first)))
            self.target.look_again()
        return first

    def update(self, publication: UpdateRequest) -> int:
        """Bring a request's files, title and description to what they should be, in this order: its number."""
        request, files, text = publication.request, publication.files, publication.text
        num, body = int(request.name), publication.text.body
        changes = {path: data for path, data in files.items() if request.files.get(path, b"\0") != data}
        dropped = [path for path in request.files if path not in files]
        back = self.target.files.read(dropped, self.target.head())
        changes |= {path: back.get(path) for path in dropped}
        ref = f"refs/pr/{num}"
        if changes and ref not in self.target.refs:
            raise Gone(SERVICE, f"{self.target.name} {ref}: the ref of request #{num} is gone; close the request")
        if changes:
            oid, _ = self.target.discussions.commits.write(
                changes, text.title, body, revision=ref, parent=self.target.refs[ref]
            )
            self.target.own_commits.add(oid)
            self.target.look_again()
        if request.text.title != text.title:
            self.target.discussions.rename(num, text.title)
        if request.text.body.strip() != body.strip():
            self.target.discussions.edit_description(num, body)
        return num
