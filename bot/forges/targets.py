"""A TARGET as people write it in, the forge that serves it out."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.errors import CallError
from bot.forges.folder import Folder
from bot.forges.target import Target
from bot.publication import Form

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


def open_target(name: str, access: Access, form: Form = "pull-request") -> Target:
    """Open a target for one form of publication; nothing is asked yet. Raises CallError for what is none."""
    if name.startswith("github://"):
        from bot.forges.github.client import GitHubClient, parse_address
        from bot.forges.github.target import GitHubTarget

        return GitHubTarget(GitHubClient(access.github_token, access.github_api_url), parse_address(name), form)
    if "://" in name:
        raise CallError(f"{name}: {EXPECTED}")
    return Folder(name)
