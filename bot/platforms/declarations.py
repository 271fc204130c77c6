"""Open the declaration of a leaderboard: shipped, a file, at an address, or kept beside the rows that name it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.finding import in_units
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard, load_shipped, parse_leaderboard, shipped
from bot.evaluation.rules import ALL_RULES
from bot.evaluation.task import ID
from bot.platforms.platform import refuse_pasted
from bot.platforms.source import TooLarge
from bot.publishing.entry import Declared, Entry, board_declaration_path, declaration_path, newest_declared

if TYPE_CHECKING:
    from bot.platforms.platform import Access
    from bot.platforms.target import Target

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
LARGEST_DECLARATION = 1024 * 1024  # bytes


def declaration_at(target: Target, named: Declared) -> Leaderboard | None:
    """The declaration that rows of a target name, shipped or kept there; None if there is none with this digest."""
    if not DIGEST.fullmatch(named.digest):
        return None
    if named.id in shipped() and load_shipped(named.id).digest == named.digest:
        return load_shipped(named.id)
    return declaration_in(_read_at(target, declaration_path(named.digest)), named)


def board_declaration(target: Target, board: str, entries: Iterable[Entry]) -> Leaderboard | None:
    """The declaration that a board at a target stands for, whatever its rows name: see docs/leaderboards.md.

    A shipped one as it is shipped; else that by which the bot made the table last, or of the newest rows where no table
    was made. None if that is not kept.
    """
    if board in shipped():
        return load_shipped(board)
    made_by = _read_at(target, board_declaration_path(board)) if re.fullmatch(ID, board) else None  # rows name any id
    return (made_by and _kept(made_by, board)) or declaration_at(target, newest_declared(entries))


def _read_at(target: Target, path: str) -> bytes | None:
    try:
        return target.read_files([path]).get(path)
    except TooLarge:
        return None


def declaration_in(data: bytes | None, named: Declared) -> Leaderboard | None:
    """The declaration in the bytes that are kept of it, None if they are not that of this digest."""
    kept = _kept(data, named.id) if data else None
    return kept if kept is not None and kept.digest == named.digest else None


def _kept(data: bytes, board: str) -> Leaderboard | None:
    """A declaration as a target keeps it; None for what is none."""
    try:
        return parse_leaderboard(data.decode(), board, f"{board}.toml")
    except (UnicodeDecodeError, MalformedDeclaration):
        return None


def open_leaderboard(name: str, access: Access) -> Leaderboard:
    """Read a declaration; one at an `hf://` address is read at the commit that its revision names now.

    Raises CallError if there is none, MalformedDeclaration where it is refused.
    """
    declared, known = _read(name, access), {rule.id for rule in ALL_RULES}
    faults = [
        (f"waivers.{number}.rule", f"there is no rule {waiver.rule!r}")
        for number, waiver in enumerate(declared.waivers)
        if waiver.rule not in known
    ]
    if faults:
        raise MalformedDeclaration(name, faults)
    return declared


def _read(name: str, access: Access) -> Leaderboard:
    if not name.startswith("hf://"):
        refuse_pasted(name)
        return load_leaderboard(name)
    from bot.platforms.hub.address import parse_address
    from bot.platforms.hub.source import open_pinned

    address = parse_address(name)
    if not address.path:
        raise CallError(f"{name}: name the file of the declaration: {address.url}/board.toml")
    source, commit = open_pinned(address, name, access)
    try:
        data = source.read(address.path, commit, LARGEST_DECLARATION)
    except TooLarge:
        raise CallError(f"{name}: has more than {in_units(LARGEST_DECLARATION)}, which no declaration has") from None
    if data is None:
        from bot.publishing.repeat import when_kept

        later = when_kept(name)
        raise CallError(f"{name}: there is no such file{f'. {later}' if later else ''}")
    try:
        return parse_leaderboard(data.decode("utf-8"), PurePosixPath(name).stem, name)
    except UnicodeDecodeError:
        raise MalformedDeclaration(name, [("", "is not UTF-8 text")]) from None
