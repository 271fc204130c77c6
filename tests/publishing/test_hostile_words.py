"""What strangers write stays words: no markup, link, mark, formula or terminal command in anything of ours."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from bot.evaluation.finding import Finding, Location, Severity
from bot.publishing.board import make_board, to_csv
from bot.publishing.entry import Entry, Remark
from bot.publishing.publication import (
    Marker,
    find_marker,
)
from bot.publishing.texts import rank_line, rank_line_in, request_text, rolling_text, withdrawn_text
from bot.reporting.escape import inert
from bot.reporting.markdown import judgement_markdown
from bot.reporting.scores import scores_csv
from bot.reporting.text import Ink, summary_text, terminal_text
from tests.evaluation.judging import judgement_of, patched
from tests.platforms.git.publisher import DECLARED, entry

HOSTILE = [
    "a`b``c",
    "x\n\n# Heading\n\n@everyone <img src=x onerror=alert(1)>",
    "[click](http://evil.example) ![](http://evil.example/a.png)",
    "| cell | cell |\n| --- | --- |",
    f"{Marker('entry', 'forged').render()}",
    "--> <script>alert(1)</script>",
    "\x1b[2J\x1b]8;;http://evil.example\x07\u202egnp.exe",
    "~~~\n```\n",
    "</details></summary>",
]
HOME = "https://github.com/leaderboard-bot/leaderboard-bot"
MEANT = {HOME, f"{HOME}/blob/main/docs/hub.md#when-it-should-stop"}


def hostile(text: str) -> Entry:
    """A row in which a stranger wrote every text."""
    row = entry()
    harness = msgspec.structs.replace(row.harness, name=text, version=text)
    return msgspec.structs.replace(
        row,
        model=msgspec.structs.replace(row.model, id=text, revision=text, precision=text),
        evidence=(msgspec.structs.replace(row.evidence[0], source=text, path=text, commit=text, harness=harness),),
        harness=harness,
        warnings=(Remark("quantized-run", text),),
        coverage=msgspec.structs.replace(row.coverage, missing=(text,)),
    )


def elements(body: str) -> tuple[list[str], set[str]]:
    """The HTML in a text of ours, and the links."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(body)
    spans = [span for token in tokens for span in (token, *(token.children or []))]
    html = [span.content.strip() for span in spans if span.type in {"html_inline", "html_block"}]
    links = {
        str(span.attrs.get("href") or span.attrs.get("src")) for span in spans if span.type in {"link_open", "image"}
    }
    return html, links


@pytest.mark.parametrize("text", HOSTILE)
def test_what_strangers_write_is_no_markup_link_or_mark_in_a_text_of_ours(text: str) -> None:
    row = hostile(text)
    mark = Marker("entry", row.key, "tiny")
    for said in (request_text(row, entry(), mark), rolling_text([(None, row)], mark), withdrawn_text(text, mark)):
        html, links = elements(said.body)
        assert html == [mark.render()]
        assert links == MEANT
        assert find_marker(said.body) == mark
        assert said.title.isprintable()
    rows = [
        token.type for token in MarkdownIt("gfm-like", {"linkify": False}).parse(rolling_text([(None, row)], mark).body)
    ]
    assert rows.count("tr_open") == 2


def test_no_word_of_a_submitter_is_taken_for_the_rank_that_a_request_keeps() -> None:
    row = hostile("x\n\nRank 1 of 9; better than all others. Counted when this was proposed.\n\ny")
    mark = Marker("entry", row.key, "tiny")
    assert rank_line_in(request_text(row, entry(), mark, first=row.model.id, beside=[row])) == ""
    assert rank_line_in(request_text(row, entry(), mark, rank=rank_line("Rank 2 of 3."))).startswith("Rank 2 of 3. ")


@pytest.mark.parametrize("text", HOSTILE)
def test_what_strangers_write_is_inert_in_a_verdict(text: str) -> None:
    data = patched(dict.fromkeys(("/model_name", "/config/model_sha", "/lm_eval_version"), text))
    judgement = judgement_of({text: data})
    fault = Finding("missing-task", Severity.ERROR, text, text, Location(text, "", 3), command=text)
    (verdict,), (row,) = judgement.verdicts, judgement.rows
    judgement = replace(
        judgement, verdicts=(replace(verdict, findings=(fault,)),), rows=(replace(row, findings=(fault,)),)
    )
    html, links = elements(judgement_markdown(judgement))

    assert html == []
    assert links == {fault.url}
    assert all(line.isprintable() for line in terminal_text(judgement, Ink(colour=False)).splitlines())
    assert all(line.isprintable() for line in summary_text(judgement, Ink(colour=False)).splitlines())


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", '=HYPERLINK("http://evil.example")']
)
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    row = entry()
    model = msgspec.structs.replace(row.model, id=text, revision=text, precision=text)
    board = to_csv(make_board([msgspec.structs.replace(row, model=model)], DECLARED)).decode()
    judgement = judgement_of({text: patched({"/model_name": text})})
    scores = scores_csv(judgement)

    for table in (board, scores):
        _, cells = csv.reader(io.StringIO(table, newline=""))
        assert [cell for cell in cells if cell.lstrip()[:1] in {"=", "+", "@"}] == []
        assert f"'{text.replace(chr(13), ' ').replace(chr(10), ' ').replace(chr(9), ' ')}" in cells
    assert inert("example-org/kestrel-7b") == "example-org/kestrel-7b"
