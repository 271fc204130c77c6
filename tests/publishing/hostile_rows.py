"""Rows in which a stranger wrote every text, and the structure of what is made of them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.evaluation.row_key import RowKey
from bot.publishing.entry import Entry, Remark
from bot.publishing.publication import Marker
from tests.publishing.tables import boards

PIECES = [
    "a",
    "org/model",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    "\x1b[2J",
    "\u2028",
    "\u202e",
    "\ufeff",
    "`",
    "``",
    "```\n",
    "~~~\n",
    "|",
    "\\",
    "**",
    "_",
    "](http://evil.example)",
    "![x](http://evil.example)",
    "http://evil.example",
    "www.evil.example",
    "@everyone",
    "#1",
    "<script>alert(1)</script>",
    "</td></tr></table>",
    "<img src=x onerror=a>",
    "</details>",
    "<!--",
    "-->",
    "]]>",
    "&lt;",
    "&#60;",
    "'",
    '"',
    "''",
    ": ",
    "- ",
    "# ",
    "? ",
    "{a: 1}",
    "[1]",
    "*a",
    "&a",
    "!!python/object:os.system",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "=1+1",
    "@SUM(A1)",
    ",",
    ";",
    "{{ 7*7 }}",
    "{% raw %}",
    "${HOME}",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    Marker("entry", "forged").render(),
    "# leaderboard-bot end",
    "🦅",
    "é",
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PLAIN = "plain/words"


def row_of(text: str, leaderboard: str = "open-llm-v2") -> Entry:
    """A row in which a stranger wrote every text that a result file, its path or its author can bring."""
    row = boards.entry()
    harness = replace(row.harness, name=text, version=text, git_hash=text, repository=text)
    file = replace(row.evidence[0], source="hf://datasets/a/b", path=text, submitter=text, harness=harness)
    model = replace(row.model, id=text, revision=text, precision=text)
    return replace(
        row,
        key=RowKey(leaderboard, text, text, text, chat_template=False).text,
        model=model,
        evidence=(replace(file, commit="a" * 40),),
        harness=harness,
        warnings=(Remark("quantized-run", text),),
        versions={**row.versions, text: text},
    )


def shape(body: str) -> list[str]:
    """The kinds of what a text consists of: blocks, cells, links, without its words."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(body)
    spans = [span for token in tokens for span in (token, *(token.children or []))]
    return [span.type for span in spans if span.type not in {"text", "text_special", "softbreak"}]
