"""The platforms by the scheme of their addresses, and the one opener of sources, targets and discussions.

A platform is one object. Nobody asks what kind of thing was opened: a platform without discussions returns None for
them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from bot.errors import CallError
from bot.platforms.platform import Access, Platform, Session, refuse_pasted
from bot.reporting.escape import visible

if TYPE_CHECKING:  # `check` opens no target, and starts faster without what writes to them
    from bot.platforms.discussions import Discussions
    from bot.platforms.source import Source
    from bot.platforms.target import Target
    from bot.publishing.publication import Form

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Modules whose PLATFORM is loaded when an address of its scheme is first opened; no scheme is a folder.
BUILT_IN = {
    "": "bot.platforms.git.source",
    "hf": "bot.platforms.hub.platform",
    "github": "bot.platforms.github.platform",
}


@dataclass
class Opener(Session):
    """Opens whatever an address names."""

    def source(self, name: str) -> Source:
        """A source. Raises CallError for an address of no platform, or that its platform cannot read."""
        return platform_of(name).open_source(name, self)

    def target(self, name: str, form: Form = "pull-request", discussion: int | None = None) -> Target:
        """A target for one form of publication. Raises CallError for what is none."""
        return platform_of(name).open_target(name, self, form, discussion)

    def discussions(self, name: str) -> Discussions | None:
        """The discussions of a source; None if it has none. Raises CallError."""
        return platform_of(name).open_discussions(name, self)


def open_target(name: str, access: Access, form: Form = "pull-request") -> Target:
    """Open a target for one form of publication; nothing is asked yet. Raises CallError for what is none."""
    return Opener(access).target(name, form)


def platform_of(name: str) -> Platform:
    """The platform that an address belongs to. Raises CallError if there is none."""
    if not name.strip():
        raise CallError("the address is empty: name a folder, hf://datasets/org/name, or github://owner/name")
    if CONTROL.search(name):
        raise CallError(f"{visible(name)}: an address has no line break and no other control character")
    scheme, separator, _ = name.partition("://")
    if not separator:
        return _load("")
    if scheme not in BUILT_IN:
        refuse_pasted(name)
        known = [_load(each).address for each in BUILT_IN]
        raise CallError(f"{name}: write {', '.join(known[:-1])} or {known[-1]}")
    return _load(scheme)


@cache
def _load(scheme: str) -> Platform:
    platform: Platform = import_module(BUILT_IN[scheme]).PLATFORM
    return platform
