"""Open a declaration by its name: a shipped id, a local TOML file, or an address on the Hub."""

from __future__ import annotations

from pathlib import PurePosixPath

from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard, parse_leaderboard
from bot.platforms.pasted import refuse_pasted
from bot.platforms.platform import Access
from bot.platforms.source import TooLarge

MAX_BYTES = 1024 * 1024


def open_leaderboard(name: str, access: Access) -> Leaderboard:
    """Read a declaration; one at an `hf://` address is read at the commit that its revision names now.

    Raises CallError if there is none, MalformedDeclaration where it is refused.
    """
    if not name.startswith("hf://"):
        refuse_pasted(name)
        return load_leaderboard(name)
    data = _read(name, access)
    try:
        return parse_leaderboard(data.decode("utf-8"), PurePosixPath(name).stem, name)
    except UnicodeDecodeError:
        raise MalformedDeclaration(name, [("", "is not UTF-8 text")]) from None


def _read(name: str, access: Access) -> bytes:
    from bot.platforms.hub.address import parse_address
    from bot.platforms.hub.source import open_pinned

    address = parse_address(name)
    if not address.path:
        raise CallError(f"{name}: name the file of the declaration: {address.url}/board.toml")
    source, commit = open_pinned(address, name, access)
    try:
        data = source.read(address.path, commit, MAX_BYTES)
    except TooLarge:
        raise CallError(f"{name}: has more than {MAX_BYTES:,} bytes, which no declaration has") from None
    if data is None:
        from bot.publishing.repeat import when_kept

        later = when_kept(name)
        raise CallError(f"{name}: there is no such file{f'. {later}' if later else ''}")
    return data
