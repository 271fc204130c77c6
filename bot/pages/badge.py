"""The badge of a row: a picture with board, average and rank for other people's pages."""

from __future__ import annotations

from bot.pages.content import PageContent
from bot.pages.environment import templates
from bot.publishing.board import BoardRow

LETTER = 7  # pixels: wide enough for the letters of the font that is asked for
HEIGHT = 20


def badge_svg(content: PageContent, row: BoardRow) -> bytes:
    """The picture, without style sheet, script or address."""
    entry = row.entry
    left = content.board.leaderboard.title[:60]
    right = "incomplete" if entry.average is None else f"{entry.average:.2f} · rank {row.ranks} of {content.ranked}"
    widths = [LETTER * len(text) + 12 for text in (left, right)]
    made = (
        templates()
        .get_template("badge.svg")
        .render(left=left, right=right, widths=widths, height=HEIGHT, stamp=content.stamp(row))
    )
    return made.encode()
