"""Write the pages that are made from the code: the rules' docstrings in, docs/rules.md out.

`python docs/generate.py` writes them again; a test fails where one is stale. A rule's heading is its id, so that the
link of a finding, docs/rules.md#<id>, leads to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from bot.rules import ALL_RULES  # noqa: E402 - the folder above is found first
from bot.rules.rule import Rule  # noqa: E402 - the same

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
# An example is lines such as `/results/…: 1`, `(file) …`, or `leaderboard: …`; a remedy may be a sentence.
DATA = re.compile(r"[/(]|leaderboard: ")
INTRODUCTION = """\
# Rules

<!-- Made by docs/generate.py from the docstrings in bot/rules/: change those, and run it again. -->

A rule judges one result file against one leaderboard. An **error** blocks: the row is not published, but for
`missing-task`, whose row is published without average and rank. A **warning** is published with the row. A **notice**
is for whoever ran the evaluation. `leaderboard-bot rules ID` shows these pages in a terminal.

In the examples, `/results/x: 1` is the value at that [JSON pointer](https://www.rfc-editor.org/rfc/rfc6901) of a file
that is sound otherwise; a test holds that each example trips its rule and that what to use instead does not.
"""


def rules_page() -> str:
    """The page of all rules: a table that links to them, then one section for each."""
    lines = ["| rule | severity | what it says |", "| --- | --- | --- |"]
    lines += [f"| [`{rule.id}`](#{rule.id}) | {rule.severity} | {rule.title} |" for rule in ALL_RULES]
    return "\n".join([INTRODUCTION, *lines, "", *(line for rule in ALL_RULES for line in _section(rule))])


def _section(rule: Rule) -> Iterator[str]:
    title, _, page = rule.page.partition("\n")
    yield from (f"## {rule.id}", "", f"{title} *{rule.severity}, since {rule.since}*", "")
    for name, text in _parts(page):
        yield from (f"**{name}**", "", *_as_block(text), "")


def _parts(page: str) -> Iterator[tuple[str, str]]:
    """The headings of a docstring with the text below each."""
    _, *rest = HEADING.split(page)
    yield from zip(rest[::2], map(str.strip, rest[1::2]), strict=True)


def _as_block(text: str) -> list[str]:
    return ["```text", text, "```"] if DATA.match(text) else [text]


PAGES = {"rules.md": rules_page}


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
