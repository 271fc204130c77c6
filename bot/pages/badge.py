"""The badge and the card of a row: pictures with its average, rank and scores for other people's pages."""

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
    right = "incomplete" if entry.average is None else f"{entry.average:.2f} · rank {row.ranks}"
    widths = [LETTER * len(text) + 12 for text in (left, right)]
    made = (
        templates()
        .get_template("badge.svg")
        .render(left=left, right=right, widths=widths, height=HEIGHT, stamp=content.stamp(row))
    )
    return made.encode()


WIDTH, LINE, TOP = 360, 22, 64  # pixels of a card


def card_svg(content: PageContent, row: BoardRow) -> bytes:
    """A larger picture, with the score of each task as a bar."""
    entry = row.entry
    scores = {score.id: score.score for score in entry.tasks}
    lines = [(task.title[:24], scores.get(task.id)) for task in content.board.leaderboard.tasks]
    made = (
        templates()
        .get_template("card.svg")
        .render(
            title=content.board.leaderboard.title[:60],
            model=(entry.model.id or "(no name)")[:48],
            row=row,
            lines=[(name, score, TOP + LINE * place) for place, (name, score) in enumerate(lines)],
            width=WIDTH,
            height=TOP + LINE * len(lines) + 8,
            stamp=content.stamp(row),
        )
    )
    return made.encode()
