"""Whose a row is, which row is meant, and which values go in: one row that is refused stops no other."""

from __future__ import annotations

import json

from tests.publishing.tables.boards import (
    AIDER,
    ALPACA,
    BFCL,
    CSV,
    JSON,
    LINES,
    MARKDOWN,
    README,
    YAML,
    aider,
    alpaca,
    bfcl,
    change,
    edited,
    entry,
    layout,
    lines,
    readme,
    refusal,
    why,
)


def test_a_name_that_is_there_twice_is_not_edited() -> None:
    assert "2 rows have the key 'finch'" in refusal(ALPACA, alpaca(), entry("finch"))


def test_a_name_that_differs_in_capitals_only_waits_for_a_person() -> None:
    assert "a row has the key 'heron', which may be the same row" in refusal(ALPACA, alpaca(), entry("Heron"))


def test_two_rows_with_the_same_key_are_not_both_written() -> None:
    one, other = entry(), entry(key="example-org/kestrel-7b/y")
    after, draft = edited(ALPACA, alpaca(), one, other)

    assert list(draft.refused) == [other.key]
    assert "add a column to key" in draft.refused[other.key]
    assert after != alpaca()


def test_a_row_with_a_gap_is_refused_unless_the_mapping_says_how_a_gap_is_written() -> None:
    gap = entry(scores={"bbh": None, "gpqa": None}, average=None)

    assert "no value for win_rate (tasks.bbh.score)" in refusal(ALPACA, alpaca(), gap)
    assert "no value for avg (average)" in refusal(LINES, lines(), gap)
    after, _ = edited(LINES, lines(), entry(scores={"bbh": None}))
    assert json.loads(after["rows.jsonl"].splitlines()[-1]) == {
        "model": "example-org/kestrel-7b",
        "avg": 33.60379482268062,
    }
    after, _ = edited(BFCL, bfcl(), entry(scores={"gpqa": None}))
    assert after["data_overall.csv"].endswith(b",33.60%,example-org/kestrel-7b,,N/A,\n")


def test_a_number_in_another_unit_or_form_than_its_column_is_refused() -> None:
    percents = "Model,BBH\na,12.5\nb,60.5\nc,70.5\n"
    shares = "Model,BBH\na,0.5\nb,0.6\nc,0.25\n"
    score = {"columns": {"Model": "model.id", "BBH": "tasks.bbh.score"}}

    assert 'write unit = "percent"' in why(CSV, percents)
    assert 'write unit = "proportion"' in why(CSV, shares, **score)
    assert "holds texts such as '12.5%'" in why(CSV, "Model,BBH\na,12.5%\n")
    assert "holds numbers, but the mapping gives the text" in why(
        JSON,
        '[{"Model": "a", "BBH": 0.5}]',
        columns={"Model": "model.id", "BBH": {"value": "tasks.bbh.raw", "template": "{value}"}},
    )
    template = {"value": "tasks.bbh.raw", "unit": "percent", "decimals": 1, "template": "{value}%"}
    assert "look like '12.5 %'" in why(
        CSV, "Model,BBH\na,12.5 %\nb,13.5 %\n", columns={"Model": "model.id", "BBH": template}
    )


def test_a_row_of_somebody_else_is_refused_or_updated_as_the_settings_say() -> None:
    taken = {"t.csv": b"Model,BBH,Org\nexample-org/kestrel-7b,0.25,Acme\n"}

    assert "has other values" in refusal(CSV, taken)
    after, _ = edited(CSV, taken, entry(scores={"bbh": 0.5}), on_existing="update")
    assert after["t.csv"] == b"Model,BBH,Org\nexample-org/kestrel-7b,0.5,Acme\n"


def test_a_row_that_the_bot_wrote_is_its_own_until_a_person_edits_it() -> None:
    first, second = entry(scores={"bbh": 0.25}), entry(scores={"bbh": 0.5})
    mine = {"t.csv": b"Model,BBH\nexample-org/kestrel-7b,0.25\n"}
    edited_by_a_person = {"t.csv": b"Model,BBH\nexample-org/kestrel-7b,0.26\n"}

    draft = layout(CSV).draft([change(second, published=first)], mine)
    assert draft.files == {"t.csv": b"Model,BBH\nexample-org/kestrel-7b,0.5\n"}
    draft = layout(CSV).draft([change(second, published=first)], edited_by_a_person)
    assert draft.files == {}
    assert "has other values" in draft.refused[second.key]


def test_a_withdrawn_row_is_left_to_a_person() -> None:
    mine = {"t.csv": b"Model,BBH\nexample-org/kestrel-7b,0.25\n"}

    draft = layout(CSV).draft([change(None, published=entry(scores={"bbh": 0.25}))], mine)
    assert "only people remove rows of this table" in draft.refused["example-org/kestrel-7b/x"]
    gone = layout(CSV).draft([change(None, published=entry())], {"t.csv": b"Model,BBH\nheron,0.25\n"})
    assert gone.refused == {}
    unknown = layout(CSV).draft([change(None)], mine)
    assert "the bot has no record" in unknown.refused["withdrawn"]


def test_one_row_that_is_refused_stops_no_other() -> None:
    good, bad = entry(), entry("acme/<b>", key="bad")
    after, draft = edited(CSV, {"t.csv": b"Model,BBH\nheron,0.5\n"}, bad, good)

    assert list(draft.refused) == ["bad"]
    assert after["t.csv"].endswith(b"\nexample-org/kestrel-7b,0.5336990825602492\n")


def test_a_value_that_stands_in_another_form_than_a_scalar_is_not_touched() -> None:
    nested = '[{"Model": "example-org/kestrel-7b", "BBH": {"acc": 0.5}}, {"Model": "b", "BBH": 0.5}]'
    aliased = "- Model: example-org/kestrel-7b\n  BBH: &x 0.25\n- Model: b\n  BBH: *x\n"
    folded = "- Model: example-org/kestrel-7b\n  BBH: >\n    0.25\n- Model: b\n  BBH: 0.5\n"

    assert "is not a plain value" in why(JSON, nested, on_existing="update")
    assert "is not a plain value" in why(YAML, aliased, on_existing="update")
    assert "is not a plain value" in why(YAML, folded, on_existing="update")


def test_a_row_lacks_a_form_that_a_new_one_could_take() -> None:
    assert "no row in block style has all these keys" in why(YAML, "- {Model: a, BBH: 0.5}\n")
    assert "it has no row whose layout could be copied" in why(JSON, "[ ]\n")
    assert "it has no row whose layout could be copied" in why(LINES, "\n")


def test_a_table_of_a_header_alone_takes_its_first_row() -> None:
    after, _ = edited(CSV, {"t.csv": b"Model,BBH\n"}, entry(scores={"bbh": 0.5}))
    assert after["t.csv"] == b"Model,BBH\nexample-org/kestrel-7b,0.5\n"
    after, _ = edited(MARKDOWN, {"t.md": b"| Model | BBH |\n|---|---|\n\nEnd\n"}, entry(scores={"bbh": 0.5}))
    assert after["t.md"] == b"| Model | BBH |\n|---|---|\n| example-org/kestrel-7b | 0.5 |\n\nEnd\n"


def test_boards_that_are_shown_here_take_the_row() -> None:
    for mapping, files in ((AIDER, aider()), (README, readme())):
        assert edited(mapping, files, entry())[1].refused == {}
