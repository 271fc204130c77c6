"""Recognise pasted addresses, of a page in a browser or for `git clone`, and suggest the right form."""

from __future__ import annotations

import re

from bot.errors import CallError

HUB_PAGE = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<kind>datasets/|spaces/)?(?P<name>[\w.-]+/[\w.-]+)"
    r"(?:/(?:blob|raw|resolve|tree)/(?P<revision>[^/]+)(?P<path>/[^?#]*)?)?(?:[/?#].*)?",
    re.ASCII,
)
GITHUB_PAGE = re.compile(
    r"(?:https?://|ssh://|git@)*(?:www\.)?github\.com[/:](?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?(?:[/?#].*)?", re.ASCII
)
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)  # a name on the Hub or on GitHub has this form


def address_of_page(text: str) -> str:
    """The address that a page of the Hub or of GitHub has here, "" for what is the address of no page."""
    if page := HUB_PAGE.fullmatch(text):
        revision = "" if page["revision"] in {None, "main"} else f"@{page['revision']}"
        return f"hf://{page['kind'] or 'models/'}{page['name']}{revision}{page['path'] or ''}".rstrip("/")
    page = GITHUB_PAGE.fullmatch(text)
    return f"github://{page['name']}" if page else ""


def refuse_pasted(text: str) -> None:
    """Raise CallError with the address to write, where a text is that of a page."""
    if address := address_of_page(text):
        raise CallError(f"{text}: write {address}")


def refuse_forgotten_scheme(text: str) -> None:
    """Raise CallError for a page and for `org/name`: with `hf://` forgotten, it would name a folder on this machine."""
    refuse_pasted(text)
    if REPOSITORY.fullmatch(text):
        raise CallError(f"{text}: write hf://datasets/{text}, or ./{text} for a folder")
