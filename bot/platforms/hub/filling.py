"""Fill a repository on the Hub: thousands of rows in many commits, to main or to one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.errors import Gone
from bot.platforms.digest import is_content
from bot.platforms.discussions import OPEN
from bot.platforms.hub.changes import added
from bot.platforms.hub.discussions import HubDiscussions
from bot.platforms.hub.files import FILE_LIMIT
from bot.platforms.hub.source import HubSource
from bot.publishing.entry import FOLDER
from bot.publishing.publication import Form, Marker, PostText


@dataclass
class HubFilling:
    """Writes files to one ref and remembers what stood there, so that a commit costs one request.

    `ids` are the object ids of the entries at the ref's head, as they were listed last; what is written here is not
    among them, for no row is written twice.
    """

    discussions: HubDiscussions
    mark: Marker
    form: Form
    number: int | None = None
    head: str = ""
    ids: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def source(self) -> HubSource:
        """The repository, for reading."""
        return self.discussions.source

    def look(self) -> None:
        """See where the ref stands, and list the entries there."""
        refs = self.source.refs(requests=True)
        self.head = refs.get("refs/heads/main", "")
        if self.form == "pull-request":
            marked = self.discussions.look("pull_request").with_mark(self.mark.render())
            self.number = next((num for num, row in marked if row["status"] in OPEN), None)
        if self.number is not None:
            self.head = refs.get(f"refs/pr/{self.number}", "")
        if not self.head:
            raise Gone("the Hub", f"{self.source.name}: the ref of request #{self.number} is gone; close the request")
        self.ids = {item.path: added(item).oid or "" for item in self.source.walk(self.head, FOLDER)}

    def paths(self) -> set[str]:
        """The entries that stand there, or are proposed there."""
        self._ready()
        return set(self.ids)

    def _ready(self) -> None:
        if not self.head:
            self.look()

    def standing(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The current content at the paths of these files; equal bytes cost no request."""
        self._ready()
        found = {path: data for path, data in files.items() if is_content(data, self.ids.get(path, ""))}
        others = [path for path in files if path in self.ids and path not in found]
        with self.source.in_bulk(self.head, len(others)) as source:
            read = {path: source.read(path, self.head, FILE_LIMIT) for path in others}
        return found | {path: data for path, data in read.items() if data is not None}

    def write(self, files: Mapping[str, bytes], text: PostText) -> str:
        """Write new files, in commits that the Hub takes. Raises Stale if somebody else wrote meanwhile.

        After a failure the ref is looked at again: some of the commits may have landed.
        """
        self._ready()
        is_new = self.form == "pull-request" and self.number is None
        revision = "main" if self.number is None else f"refs/pr/{self.number}"
        parent, self.head = self.head, ""
        self.head, number = self.discussions.commits.write(
            files, text.title, text.body, revision=revision, parent=parent, request=is_new
        )
        self.number = number or self.number
        return f"{self.source.name}{f' #{self.number}' if self.number else ''}"
