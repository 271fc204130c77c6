"""Addresses on the Hub: parse the form that people write, and describe the URL of a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from bot.errors import CallError
from bot.evaluation.identity import is_hub_id

MODELS = "hf://models"  # the repositories of all models, as one target
BUCKETS = "hf://buckets/"  # the beginning of the address of a bucket
KINDS = {"datasets": "dataset", "spaces": "space", "models": "model", "buckets": "bucket"}
ADDRESS = re.compile(r"hf://(datasets|spaces|models|buckets)/([\w.-]+/[\w.-]+)(?:@([^/]+))?(?:/(.*))?", re.ASCII)
API = re.compile(r"/api/(?P<kind>datasets|spaces|models|buckets)/(?P<name>[^/]+/[^/]+)(?:/(?P<rest>.*))?", re.DOTALL)
FILE = re.compile(r"/(?:(?P<kind>datasets|spaces|buckets)/)?(?P<name>[^/]+/[^/]+)/(?P<rest>resolve/.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A parsed `hf://datasets/org/name[@revision][/path]`; `kind` is the Hub's singular word."""

    kind: str
    name: str
    revision: str | None = None
    path: str = ""

    @property
    def url(self) -> str:
        """The repository's own address, without revision and path."""
        return f"hf://{self.kind}s/{self.name}"


def parse_address(text: str) -> HubAddress:
    """Parse an `hf://` address; a slash in a revision is written `%2F`. Raises CallError if it is none."""
    match = ADDRESS.fullmatch(text)
    if match is None or not is_hub_id(match[2]):
        raise CallError(f"{text}: expected hf://datasets/org/name[@revision][/path]")
    kind, name, revision, path = match.groups()
    if kind == "buckets" and revision is not None:
        raise CallError(f"{text}: a bucket has no commits: write {BUCKETS}{name}")
    return HubAddress(KINDS[kind], name, revision and revision.replace("%2F", "/"), (path or "").strip("/"))


def repository_of(url: str) -> str:
    """The `hf://` address of the repository in a URL of the Hub, "" if there is none."""
    match = _matched(url)
    return f"hf://{match['kind'] or 'models'}/{match['name']}" if match else ""


def place_of(url: str) -> str:
    """The subject of a URL of the Hub, for a person: the repository, then the request, the revision or the path."""
    match = _matched(url)
    if match is None:
        return ""
    what, *parts = (match["rest"] or "").split("/")
    said = [unquote(part) for part in parts]
    shown = ""
    if what == "discussions" and said:
        shown = f" #{said[0]}"
    elif what in {"commit", "preupload"} and said[:1] not in ([], ["main"]):
        shown = f" {said[0]}"
    elif what in {"resolve", "tree"} and (path := said if match["kind"] == "buckets" else said[1:]):
        shown = f" {'/'.join(path)}"
    return f"{repository_of(url)}{shown}"[:300]


def _matched(url: str) -> re.Match[str] | None:
    path = urlsplit(url).path
    return API.fullmatch(path) or FILE.fullmatch(path)
