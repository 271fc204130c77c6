"""The comments that hold a report: the audit of a board's columns, and the verdicts on a request at GitHub."""

from __future__ import annotations

from pathlib import Path

from bot.audits.board.audit import audit_board
from bot.audits.board.report import board_markdown
from bot.audits.score_table import PublishedTable
from bot.publishing.publication import Marker
from bot.publishing.texts import FOOT, STOP, VERDICT_FOOT, alarm_mark, alarm_text, judgement_text
from bot.publishing.verdict_texts import ISSUE_FOOT
from bot.reporting.markdown import judgement_markdown
from bot.reporting.text import BESIDE
from tests.evaluation.judging import base, judgement_of, patched

MARK = Marker("verdict", "acme/board#1", "open-llm-v2")
TARGET = "hf://datasets/acme/board"


def test_who_wants_no_bot_finds_in_each_text_how_to_stop_it() -> None:
    assert all(foot.endswith(STOP) for foot in (FOOT, VERDICT_FOOT, ISSUE_FOOT))
    page, _, heading = STOP.partition("/blob/main/")[2].rstrip(").").partition("#")
    assert f"\n## {heading.replace('-', ' ').capitalize()}\n" in Path(page).read_text(encoding="utf-8")
    assert f"({page}#{heading})" in Path("README.md").read_text(encoding="utf-8")


def test_the_comment_about_columns_names_them_and_holds_the_audit() -> None:
    mark = alarm_mark("tiny")
    audit = audit_board(PublishedTable(("a", "b"), {"x": (1.0, 2.0)}))

    text = alarm_text(audit, TARGET, mark)

    assert mark == Marker("alarm", "columns of tiny", "tiny")
    assert text.title == "Columns that do not follow the rest: none"
    lead = f"Judged by the rows at `{TARGET}`; `leaderboard-bot audit board` shows every figure."
    assert text.body == f"{lead}\n\n{board_markdown(audit, TARGET)}\n\n{FOOT}\n\n{mark.render()}"


def test_the_comment_on_a_request_counts_the_verdicts_the_worst_first() -> None:
    good, bad = base(), patched({"/results/leaderboard_ifeval/inst_level_strict_acc,none": 7.0})
    other = patched({"/config/model_sha": "a" * 40, "/model_sha": "a" * 40})
    judgement = judgement_of({"a.json": good, "b.json": other, "c.json": b"{}", "d.json": bad})
    counts = [row.status for row in judgement.rows]

    text = judgement_text(judgement, MARK)

    head = ", ".join(
        f"{count} {status}"
        for status, count in (
            ("rejected", counts.count("rejected") + len(judgement.unreadable)),
            ("incomplete", counts.count("incomplete")),
            ("accepted", counts.count("accepted")),
        )
        if count
    )
    assert "rejected" in head
    assert "accepted" in head
    assert text.title == "Results for open-llm-v2"
    body = f"{judgement_markdown(judgement)}\n{BESIDE}\n\n{VERDICT_FOOT}"
    assert text.body == f"`open-llm-v2`: {head}\n\n{body}\n\n{MARK.render()}"


def test_the_comment_on_a_request_without_results_says_so() -> None:
    text = judgement_text(judgement_of({}), MARK)
    assert text.title == "Results for open-llm-v2"
    assert text.body == (
        f"No result file for `open-llm-v2` changes here any more.\n\n{VERDICT_FOOT}\n\n{MARK.render()}"
    )
