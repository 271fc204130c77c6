"""The texts of requests and comments, as a person reads them."""

from __future__ import annotations

import msgspec
from markdown_it import MarkdownIt

from bot.publishing.card import declaration_path
from bot.publishing.entry import Remark
from bot.publishing.publication import (
    Marker,
    PostText,
    entry_marker,
    find_marker,
)
from bot.publishing.repeat import LATER
from bot.publishing.texts import request_text, rolling_text, row_text, withdrawn_text
from tests.platforms.git.publisher import entry
from tests.publishing.test_publication import MARK, PATH


def test_the_text_of_a_new_row() -> None:
    row = entry()

    assert request_text(row, None, entry_marker(row)) == PostText(
        "Add acme/atlas-7b (bfloat16): 58.33",
        f"""\
`acme/atlas-7b`, revision `{row.model.revision}`, on `tiny`.

| Task | Raw | Score |
| --- | ---: | ---: |
| Sums | 0.5500 | 46.67 |
| Logic | 0.7000 | 70.00 |
| **Average** | | **58.33** |

- File: `acme__atlas-7b/results_2026-11-01T10-00-00.json`, SHA-256 `{row.evidence[0].sha256}`, \
`lm-evaluation-harness` `abcdef12`, measured 2026-10-31T22:40:00Z
- Check it: `leaderboard-bot explain acme__atlas-7b/results_2026-11-01T10-00-00.json --leaderboard \
{declaration_path(row.leaderboard.digest)}`
  {LATER}

[leaderboard-bot](https://github.com/leaderboard-bot/leaderboard-bot) wrote this, and edits it when the result files \
change.

<!-- leaderboard-bot {{"key": "{row.key}", "kind": "entry", "leaderboard": "tiny"}} -->""",
    )


def test_the_text_of_a_row_that_changes_with_a_warning_and_a_hole() -> None:
    before = entry()
    row = msgspec.structs.replace(
        entry(day=2, right=(50, None, 70)),
        warnings=(Remark("quantized-run", "the model was run in 4bit"),),
    )
    title, body = (text := request_text(row, before, entry_marker(row))).title, text.body

    assert title == "Update acme/atlas-7b (bfloat16): incomplete, 1 of 3 subtasks missing"
    assert body.split("\n\n")[1:4] == [
        """\
| Task | Raw | Score | Before | Change |
| --- | ---: | ---: | ---: | ---: |
| Sums | – | – | 46.67 | – |
| Logic | 0.7000 | 70.00 | 70.00 | +0.00 |
| **Average** | | **–** | 58.33 | – |""",
        "**Incomplete:** `sums_times` missing. The row has no average and no rank until they are there.",
        "- **warning** `quantized-run`: `the model was run in 4bit`",
    ]


def test_a_comment_holds_the_row_to_be_copied() -> None:
    row = entry()
    body = row_text(row, None, entry_marker(row)).body
    (fence,) = [token for token in MarkdownIt().parse(body) if token.type == "fence"]

    assert fence.content.encode() == row.to_bytes()
    assert find_marker(body) == entry_marker(row)


def test_the_texts_of_many_rows_and_of_one_that_goes() -> None:
    rolling = rolling_text(
        [(None, entry()), (None, entry("acme/borea-7b", right=(50, None, 70)))], Marker("rolling", "all", "tiny")
    )
    assert rolling.title == "Update 2 rows of tiny"
    assert "| `acme/atlas-7b` | 58.33 |\n| `acme/borea-7b` | – |\n" in rolling.body

    assert withdrawn_text(PATH, MARK).title == "Remove tiny/acme/atlas-7b/0-bfloat16"
    assert withdrawn_text(PATH, MARK).body.startswith(
        f"The submission behind `{PATH}` was withdrawn from its source.\n\n"
    )
