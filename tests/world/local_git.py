"""What a person does with git in a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

AUTHOR = ("-c", "user.name=ann", "-c", "user.email=ann@localhost")


def git(folder: Path, *args: str) -> str:
    """Run git in a folder, as somebody who is not the bot; what it says, without the line break at the end."""
    done = subprocess.run(["git", *AUTHOR, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n")
