"""Addresses on GitHub: parse the form that people write, and describe the URL of a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from bot.errors import CallError

# Names as GitHub allows them; a name of dots would walk up the API's path.
ADDRESS = re.compile(
    r"github://(?P<name>[A-Za-z0-9][\w-]*/(?!\.{1,2}(?:[#/]|$))[\w.-]+)(?:#(?P<number>[1-9]\d*))?", re.ASCII
)
CALL = re.compile(r".*?/repos/(?P<name>[^/]+/[^/]+)(?:/(?P<rest>.*))?", re.DOTALL)
OBJECT = re.compile(r"(?:pulls|issues)/(?P<number>\d+)|(?:contents|git/refs?/heads|branches)/(?P<path>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GitHubAddress:
    """A parsed `github://owner/name[#number]`; `number` is the issue for comments, None for one of our own."""

    name: str
    number: int | None = None


def parse_address(text: str) -> GitHubAddress:
    """Parse a `github://` address. Raises CallError if it is none."""
    match = ADDRESS.fullmatch(text)
    if match is None:
        raise CallError(f"{text}: expected github://owner/name, or github://owner/name#number for comments there")
    return GitHubAddress(match["name"], int(match["number"]) if match["number"] else None)


def place_of(url: str) -> str:
    """The subject of a URL of the API, for a person: the repository, then the request's number, the branch or path."""
    match = CALL.fullmatch(urlsplit(url).path)
    if match is None:
        return ""
    thing = OBJECT.match(match["rest"] or "")
    number, path = (thing["number"], thing["path"]) if thing else (None, None)
    return f"github://{match['name']}{f' #{number}' if number else ''}{f' {unquote(path)}' if path else ''}"[:300]
