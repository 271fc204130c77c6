"""A TARGET as people write it in, the forge that serves it out; and the judge that asks a forge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.errors import CallError

if TYPE_CHECKING:  # `check` opens no target, and starts faster without what writes to them
    from bot.platforms.target import Target
    from bot.publishing.publication import Form

EXPECTED = "a target is a folder, hf://datasets/org/name, or github://owner/name"
GITHUB_API_URL = "https://api.github.com"
HF_ENDPOINT = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class Access:
    """Where the services are and who we are there; no token is ever shown."""

    github_token: str | None = field(default=None, repr=False)
    github_api_url: str = GITHUB_API_URL
    hf_token: str | None = field(default=None, repr=False)
    hf_endpoint: str = HF_ENDPOINT
    hf_keyless: bool = False


def open_target(name: str, access: Access, form: Form = "pull-request") -> Target:
    """Open a target for one form of publication; nothing is asked yet. Raises CallError for what is none."""
    if name.startswith("github://"):
        from bot.platforms.github.client import GitHubClient, parse_address
        from bot.platforms.github.target import GitHubTarget

        return GitHubTarget(GitHubClient(access.github_token, access.github_api_url), parse_address(name), form)
    if name.startswith("hf://"):
        from bot.platforms.hub.client import HubClient
        from bot.platforms.hub.client import parse_address as parse_hub_address
        from bot.platforms.hub.target import HubTarget

        client = HubClient(access.hf_endpoint, access.hf_token, keyless=access.hf_keyless)
        address = parse_hub_address(name)
        return HubTarget(client, address, has_notes=form == "comment", has_requests=form == "pull-request")
    if "://" in name:
        raise CallError(f"{name}: {EXPECTED}")
    from bot.platforms.git.target import Folder

    return Folder(name)
