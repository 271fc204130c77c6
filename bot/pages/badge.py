"""The badge and the card of a row: pictures with its average, rank and scores for other people's pages."""

from __future__ import annotations

import unicodedata

from bot.pages.content import PageContent
from bot.pages.environment import templates
from bot.publishing.board import BoardRow
from bot.reporting.escape import visible

LETTER = 7  # pixels: wide enough for the letters of the font that is asked for
HEIGHT = 20


def badge_svg(content: PageContent, row: BoardRow) -> bytes:
    """The picture, without style sheet, script or address."""
    entry = row.entry
    left = content.board.leaderboard.title[:60]
    right = "incomplete" if entry.average is None else f"{entry.average:.2f} · rank {row.ranks}"
    widths = [LETTER * len(text) + 12 for text in (left, right)]
    made = (
        templates()
        .get_template("badge.svg")
        .render(left=left, right=right, widths=widths, height=HEIGHT, stamp=content.stamp(row))
    )
    return made.encode()


WIDTH, LINE, TOP, WIDE = 360, 22, 64, 13  # pixels of a card, of its lines, and of a wide letter
LONGEST = 48  # letters of a name on a card


def card_svg(content: PageContent, row: BoardRow) -> bytes:
    """A larger picture, with the score of each task as a bar."""
    entry = row.entry
    scores = {score.id: score.score for score in entry.tasks}
    name = visible(entry.model.id or "(no name)")
    model = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    lines = [(task.title[:24], scores.get(task.id)) for task in content.board.leaderboard.tasks]
    made = (
        templates()
        .get_template("card.svg")
        .render(
            title=content.board.leaderboard.title[:60],
            model=model,
            is_long=sum(
                WIDE if unicodedata.east_asian_width(one) in "WF" or one in "MWmw@" else LETTER + 1 for one in model
            )
            > WIDTH - 24,
            said=f"average {entry.average:.2f}, rank {row.ranks}"
            if entry.average is not None
            else "incomplete: no rank",
            lines=[(name, score, TOP + LINE * place) for place, (name, score) in enumerate(lines)],
            width=WIDTH,
            height=TOP + LINE * len(lines) + 8,
            stamp=content.stamp(row),
        )
    )
    return made.encode()
