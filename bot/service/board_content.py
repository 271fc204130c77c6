"""Collect the content of a board's pages from the state of the service."""

from __future__ import annotations

from bot.evaluation.leaderboard import parse_leaderboard
from bot.pages.content import PageContent
from bot.publishing.board import make_board
from bot.service.store import KeptBoard, Store
from bot.service.watch.heads import known_heads


def board_content(store: Store, watch: str, target: str, kept: KeptBoard) -> PageContent:
    """The content of a stored board's pages; a path on this machine stays private."""
    declared = parse_leaderboard(kept.declaration, kept.leaderboard, kept.leaderboard)
    board = make_board(store.board_entries(watch, target), declared)
    is_remote = "://" in target  # the commits of a folder are read, those of a service are not
    changes = store.board_changes(watch, target)
    known = known_heads(store, watch) if kept.heads else None
    heads = None if known is None else {model: head for model, (head, _) in known.items()}
    days = {model: day for model, (_, day) in (known or {}).items()}
    return PageContent(board, target if is_remote else "", changes, heads, days, is_partial=is_remote)
