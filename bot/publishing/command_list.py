"""The commands that people write in comments: their effect, who may write them, and where the bot reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Who = Literal["anybody", "maintainers"]
Where = Literal["source", "plan", "request", "shared"]
PLACES: dict[Where, str] = {
    "source": "a request at the source, or a discussion (on GitHub an issue) about a push",
    "plan": "the discussion of plans at the target",
    "request": "a request of the bot at a target on the Hub or on GitHub",
    "shared": "a request of the bot that holds many rows",
}


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """One command: `usage` is how it is written, `does` what it does in a few words."""

    name: str
    usage: str
    where: Where
    who: Who
    does: str


COMMANDS: tuple[CommandHelp, ...] = (
    CommandHelp("recheck", "/recheck", "source", "anybody", "checks the files again, against the current board"),
    CommandHelp("explain", "/explain [TASK]", "source", "anybody", "shows how each number became a score"),
    CommandHelp(
        "ignore",
        "/ignore RULE until YYYY-MM-DD because REASON",
        "source",
        "maintainers",
        "waives a rule for exactly the files that were there when the command was written",
    ),
    CommandHelp(
        "merge",
        "/merge [COMMIT]",
        "request",
        "maintainers",
        "merges the request at this commit; without COMMIT, at the bot's newest commit if no other commit follows it",
    ),
    CommandHelp(
        "decline",
        "/decline KEY",
        "shared",
        "maintainers",
        "leaves the row out, and never proposes it again with the same content",
    ),
    CommandHelp("approve", "/approve DIGEST", "plan", "maintainers", "carries out the plan with this digest"),
)


def names_at(where: Where) -> tuple[str, ...]:
    """The names of the commands that are read at a place."""
    return tuple(command.name for command in COMMANDS if command.where == where)


def commands_line(where: Where) -> str:
    """The commands of a place in one line, those of the maintainers last."""
    here = [command for command in COMMANDS if command.where == where]
    said = [", ".join(f"`{c.usage}`" for c in here if c.who == who) for who in ("anybody", "maintainers")]
    parts = [said[0], f"maintainers: {said[1]}" if said[1] else ""]
    return f"Commands: {'; '.join(filter(None, parts))}"


def commands_table() -> str:
    """All commands as a table for the documentation."""
    lines = ["| command | where | who | does |", "| --- | --- | --- | --- |"]
    lines += [f"| `{c.usage}` | {PLACES[c.where]} | {_who(c.who)} | {c.does} |" for c in COMMANDS]
    return "\n".join(lines)


def _who(who: Who) -> str:
    return "`maintainers` of the watch" if who == "maintainers" else who
