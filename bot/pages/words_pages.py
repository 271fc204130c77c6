"""The pages of text: the rules, the scoring, and the page about this site."""

from __future__ import annotations

from bot.evaluation.rules import ALL_RULES
from bot.pages.content import PageContent
from bot.publishing.board import CSV_NAME, JSON_NAME, TIE
from bot.publishing.board_table import SCHEMA
from bot.publishing.changes import SCHEMA as CHANGE_SCHEMA


def rules_page(content: PageContent) -> bytes:
    """The page of the checks before a row is on the board: each rule with its page."""
    rules = [(rule, rule.title, _paragraphs(rule.page.partition("\n")[2])) for rule in ALL_RULES]
    return content.page("rules.html", "rules.html", rules=rules)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def scores_page(content: PageContent) -> bytes:
    """From raw values to scores, averages and ranks, by this board's declaration."""
    return content.page("scores.html", "scores.html", declared=content.board.leaderboard, tie=TIE)


def about_page(content: PageContent) -> bytes:
    """What the site is made from, its files, and how a number is checked."""
    files = {
        CSV_NAME: "the table with all digits; empty where there is no value",
        JSON_NAME: f"the same as JSON, {SCHEMA}",
        "changes.jsonl": f"one change for each line, {CHANGE_SCHEMA}",
        "changes.atom": "the newest changes as a feed",
    }
    digests = sorted({row.entry.leaderboard.scoring_digest for row in content.board.rows})
    return content.page(
        "about.html",
        "about.html",
        declared=content.board.leaderboard,
        target=content.target,
        files=files,
        count=len(content.board.rows),
        digests=digests,
        knows_heads=content.heads is not None,
        is_daily=bool(content.days),
    )
