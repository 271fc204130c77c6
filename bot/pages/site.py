"""The site of a board: every file of it by its path, each made when it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from msgspec.structs import replace

from bot import HOME
from bot.evaluation.rules import ALL_RULES
from bot.pages.addresses import column_page, row_page
from bot.pages.badge import BADGED, badge_of, badge_path
from bot.pages.board_page import board_lines, board_page, is_scaled
from bot.pages.changes_page import atom_feed, changes_page
from bot.pages.column_page import column_page_of
from bot.pages.compare_page import compare_data, compare_page
from bot.pages.content import PageContent
from bot.pages.environment import ASSETS, asset
from bot.pages.row_page import row_page_of
from bot.pages.scores_page import scores_page
from bot.publishing.board import CSV_NAME, JSON_NAME, to_csv
from bot.publishing.board_table import SCHEMA, board_json
from bot.publishing.changes import SCHEMA as CHANGE_SCHEMA
from bot.publishing.changes import to_jsonl
from bot.publishing.entry import Declared, Entry, board_declaration_path, declaration_path
from bot.publishing.repeat import HUB, check_command, declaration_name, measure_commands, quoted


def rules_page(content: PageContent) -> bytes:
    """The page of the checks before a row is on the board: each rule with its page, by what it does on this board."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")

    def rendered(text: str) -> Markup:
        html = markdown.render(text).replace("<pre>", '<pre tabindex="0">')  # which the keyboard reaches
        html = re.sub(r'href="(?=[\w-]+\.md)', f'href="{HOME}/blob/main/docs/', html)  # the rules stand beside the docs
        return Markup(html)  # noqa: S704 - our own text, and no HTML of it

    board = content.board.leaderboard
    groups: dict[str, list[Any]] = {name: [] for name in ("error", "warning", "notice", "")}
    for rule in ALL_RULES:
        groups[rule.severity_on(board) if rule.where(board) else ""].append(
            (rule, [(heading, rendered(text)) for heading, text in rule.sections])
        )
    return content.page("rules.html", groups=groups)


def about_page(content: PageContent) -> bytes:
    """What the site is made from, its files, and how a number is checked."""
    board = content.board.leaderboard
    files = {
        CSV_NAME: "the table with all digits; empty where there is no value",
        JSON_NAME: "the same as JSON",
        f"{board.id}.toml": "the declaration: what the board measures, and how scores are made",
        "changes.jsonl": "the changes, one for each line",
        "changes.atom": "the newest changes as a feed",
    }
    first = next((row.entry for row in content.board.rows), None)
    named = declaration_name(Declared(board.id, board.digest, board.scoring_digest), [content.target])
    if named.startswith(HUB):
        named = named.replace(declaration_path(board.digest), board_declaration_path(board.id))
    if is_beside := named != board.id and not named.startswith(HUB):
        named = f"{board.id}.toml"  # nobody else has the path of a folder
    others = [row.entry for row in content.board.rows if row.entry.leaderboard.scoring_digest != board.scoring_digest]
    return content.page(
        "about.html",
        check=check_command("", "", ["results"], named),
        compare=f"leaderboard-bot compare results --board {quoted(content.target)}" if "://" in content.target else "",
        is_beside=is_beside,
        reported=f"leaderboard-bot explain results --reported VALUE --leaderboard {quoted(named)}",
        files=files,
        schemas={JSON_NAME: SCHEMA, "changes.jsonl": CHANGE_SCHEMA},
        others=others,
        first=first,
        measure=_measured_alike(first, content) if first else [],
    )


def _measured_alike(entry: Entry, content: PageContent) -> list[str]:
    """The commands that measure a reader's model, for every leaf, as a row was measured."""
    model = replace(entry.model, id="YOU/MODEL", revision="COMMIT")
    declared = content.board.leaderboard
    leaves = {leaf.id for _, leaf in declared.leaves()}
    return measure_commands(replace(entry, model=model), declared, leaves, content.formats)


class Site(Mapping[str, bytes]):
    """The files of a board's site; the pages of rows have stamps, see `Content.stamp`."""

    def __init__(self, content: PageContent) -> None:
        self.content = content
        self._makers = dict(_makers(content))

    def __getitem__(self, path: str) -> bytes:
        """The bytes of one file. Raises KeyError for a path that is not part of the site."""
        return self._makers[path]()

    def __iter__(self) -> Iterator[str]:
        """The paths, the first page last."""
        return iter(self._makers)

    def __len__(self) -> int:
        """The number of files."""
        return len(self._makers)

    def stamps(self) -> dict[str, str]:
        """The stamp of each row's page, by path."""
        return {row_page(name): self.content.stamp(row) for name, row in self.content.rows.items()}


def _makers(content: PageContent) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """How each file is made; the pages that lead to others come after them."""
    for name in ASSETS:
        path, data = asset(name)
        yield path, partial(bytes, data)
    yield ".nojekyll", bytes  # GitHub Pages would leave out folders that begin with `_`
    for name, row in content.rows.items():
        yield row_page(name), partial(row_page_of, content, row)
        if row.rank is not None and row.position <= BADGED:
            yield badge_path(name), partial(badge_of, content, row)
    board = content.board.leaderboard
    for task in board.tasks:
        yield column_page(task.id), partial(column_page_of, content, task)
    yield CSV_NAME, lambda: to_csv(content.board, content.records)
    yield f"{board.id}.toml", board.text.encode
    yield JSON_NAME, lambda: board_json(content.board, content.records).encode()
    yield "changes.jsonl", lambda: to_jsonl(content.changes)
    yield "changes.atom", partial(atom_feed, content)
    yield "compare-data.js", partial(compare_data, content)
    yield "compare.html", partial(compare_page, content)
    yield "changes.html", partial(changes_page, content)
    yield "rules.html", partial(rules_page, content)
    yield "scores.html", partial(scores_page, content)
    yield "about.html", partial(about_page, content)
    lines = cache(partial(board_lines, content))  # for both pages of the board
    if is_scaled(content):
        yield "raw.html", partial(board_page, content, lines, is_raw=True)
    yield "index.html", partial(board_page, content, lines)
