"""Whatever a result file says, the texts that the bot posts have the same structure as with plain words."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import assume, given

from bot.publishing.addresses import model_url
from bot.publishing.board import make_board
from bot.publishing.card import BEGIN, END, with_table
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.model_layout import model_mark, model_request_text, model_withdrawn_text
from bot.publishing.layout import CellChange, Draft
from bot.publishing.plan import Plan, planned_row
from bot.publishing.publication import PostText, entry_marker, find_marker
from bot.publishing.texts import (
    disputed_remark,
    migration_text,
    plan_text,
    request_text,
    rolling_text,
    row_text,
    table_text,
    withdrawn_text,
)
from bot.publishing.verdict_texts import success_text
from tests.evaluation.judging import declared
from tests.publishing.hostile_rows import FEW, PLAIN, TEXTS, row_of, shape
from tests.publishing.tables import boards
from tests.publishing.test_hostile_words import elements

OTHER = "two words" if model_url(PLAIN) else "org/model"
ALLOWED = {"<details>", "<details><summary>The row as JSON</summary>", "</details>"}


def texts_of(row: Entry, text: str) -> list[PostText]:
    mark, other = entry_marker(row), boards.entry()
    plan = Plan("hf://datasets/a/b", row.leaderboard.id, (planned_row(row.key, other, row, "its files changed"),))
    draft = Draft(cells={row.key: (CellChange("Score", text, text),)}, remarks=())
    models = Draft(cells={row.key: (CellChange("mmlu_pro", "1", "2"),)}, remarks=(f"sums: {text} already says so.",))
    return [
        request_text(row, other, mark),
        row_text(row, other, mark),
        rolling_text([(other, row)], mark),
        migration_text(plan.rows, mark),
        plan_text(plan, mark),
        withdrawn_text(text, mark),
        table_text(draft, [disputed_remark(row, text)], mark),
        success_text(text, [(text, 1.0)], [], mark),
        model_request_text(row, "A title", models, model_mark(text, "tiny")),
        model_withdrawn_text(text, "A title", model_mark(text, "tiny")),
    ]


def own_pages(text: str) -> set[str]:
    """The pages of the model and of the file that have this name; a text may link to them."""
    return {f"https://huggingface.co/{text}", f"https://huggingface.co/datasets/a/b/blob/{'a' * 40}/{quote(text)}"}


@pytest.mark.slow
@FEW
@given(TEXTS)
def test_a_text_of_ours_keeps_its_shape(text: str) -> None:
    assume(text.strip())  # white space alone is no name of a harness: rows are then not compared by it
    # A name that the Hub could have is a link to the model; any other name is text.
    alike = PLAIN if bool(model_url(text)) == bool(model_url(PLAIN)) else OTHER
    for said, plain in zip(texts_of(row_of(text), text), texts_of(row_of(alike), alike), strict=True):
        html, links = elements(said.body)
        assert shape(said.body) == shape(plain.body)
        assert {one for one in html if not one.startswith("<!--")} <= ALLOWED
        assert links - own_pages(text) == elements(plain.body)[1] - own_pages(alike)
        assert find_marker(said.body) == find_marker(said.body.rpartition("\n")[2])
        assert said.title.isprintable()


@FEW
@given(TEXTS)
def test_the_table_in_a_card_ends_where_it_should(text: str) -> None:
    card = f"# Board\n\n{BEGIN}\n{END}\n\n# After\n".encode()
    said, plain = (with_table(card, make_board([row_of(one)], declared())) for one in (text, PLAIN))

    assert said is not None
    assert plain is not None
    assert said.count(END.encode()) == 1
    assert said.endswith(b"\n\n# After\n")
    assert shape(said.decode()) == shape(plain.decode())
