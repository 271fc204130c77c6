"""A badge of a row for other pages: the board, the rank, the average and the day, as a small picture."""

from __future__ import annotations

from html import escape

from bot.pages.addresses import BADGES
from bot.pages.content import PageContent
from bot.pages.environment import points
from bot.pages.titles import with_end
from bot.publishing.board import BoardRow
from bot.reporting.escape import visible

BADGED = 300  # of the first rows: a site of many rows has few more files than pages
LETTER, SPACE, HEIGHT = 7, 16, 22  # pixels: of a letter at most, around each text, and of the badge
TITLE = 32  # letters of the board's title


def badge_path(name: str) -> str:
    """The path of a row's badge, by its name in addresses."""
    return f"{BADGES}/{name}.svg"


def badge_of(content: PageContent, row: BoardRow) -> bytes:
    """The badge of a ranked row."""
    day = content.changed or row.entry.date[:10]
    left = visible(with_end(content.board.leaderboard.title, TITLE))
    right = f"{content.placed(row)} · {points(row.entry.average)}{f' · {day}' if day else ''}"
    first, second = (LETTER * len(text) + SPACE for text in (left, right))
    said = escape(f"{left}: {right}")
    size, begin, end = f'width="{first + second}" height="{HEIGHT}"', first / 2, first + second / 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{said}">'
        f'<title>{said}</title><rect {size} rx="4" fill="#2f5f8f"/>'
        f'<path fill="#1b1f24" d="M4 0H{first}V{HEIGHT}H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{begin}" y="15">{escape(left)}</text><text x="{end}" y="15">{escape(right)}</text>'
        "</g></svg>\n"
    ).encode()
