"""A TARGET as people write it in, the forge that serves it out."""

from __future__ import annotations

from bot.errors import CallError
from bot.forges.folder import Folder


def open_target(name: str) -> Folder:
    """Open `hf://datasets/org/name`, `github://owner/name`, or a folder. Raises CallError for what is none."""
    if "://" in name:
        raise CallError(f"{name}: a target is a folder")
    return Folder(name)
