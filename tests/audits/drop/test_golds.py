"""Golds from a second file: found by question or number, refused where they contradict the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.audits.drop.golds import read_golds
from bot.errors import CallError
from tests.audits.drop.drop_logs import (
    GENERATIONS,
    audit_one,
    documents,
    row_03,
    row_plain,
    rows_04,
    skipped,
    write_array,
    write_lines,
)


def test_golds_of_dataset_documents_are_answer_then_validated_each_once(tmp_path: Path) -> None:
    date = {"day": "12", "month": "March", "year": "1999"}
    none = {"day": "", "month": "", "year": ""}
    answers = [
        {"number": "3", "date": none, "spans": []},
        {"number": "", "date": none, "spans": ["Bears", "Packers"]},
        {"number": "", "date": date, "spans": []},
        {"number": "3", "date": none, "spans": []},
    ]
    row = row_plain(0, "12 March 1999", (("x",),)) | {"passage": "p", "question": "q"}
    del row["gold_answers"], row["em"], row["f1"]
    golds = write_lines(
        tmp_path / "g.jsonl",
        [{"passage": "p", "question": "q", "answer": answers[0], "validated_answers": answers[1:]}],
    )

    index = read_golds(golds)
    log = audit_one(write_lines(tmp_path / "s.jsonl", [row]), golds)

    assert list(index.by_question.values()) == [(("3",), ("Bears", "Packers"), ("12 March 1999",))]
    assert (log.figures.samples, log.figures.scored.em) == (1, 1.0)


def test_golds_join_from_the_log_of_another_model_and_by_number(tmp_path: Path) -> None:
    old = write_array(tmp_path / "old.json", [row_03(n, *one) for n, one in enumerate(GENERATIONS)])
    other = write_lines(tmp_path / "other.jsonl", rows_04("0.4.7"))
    bare = [{"doc_id": n, "prediction": text} for n, (text, _) in enumerate(GENERATIONS)]
    numbered = [{"doc_id": n, "gold_answers": golds} for n, (_, golds) in enumerate(GENERATIONS)]

    by_question = audit_one(old, other)
    by_number = audit_one(write_lines(tmp_path / "b.jsonl", bare), write_lines(tmp_path / "n.jsonl", numbered))

    assert by_question.figures.scored == by_number.figures.scored == audit_one(other).figures.scored
    assert by_question.skipped == by_number.skipped == ()


def test_joined_gold_that_contradicts_the_log_is_skipped(tmp_path: Path) -> None:
    rows = [row_03(n, *one) for n, one in enumerate(GENERATIONS)]
    rows[1]["truth"] = " 11"
    rows[2]["prompt_0"] = rows[2]["prompt_0"].replace("How many", "How few")

    log = audit_one(write_array(tmp_path / "w.json", rows), documents(tmp_path / "g.jsonl"))

    assert [(why, count) for why, count, _ in skipped(log)] == [
        ("the answer in the golds file is not the one that the log names", 1),
        ("the golds file does not have its question", 1),
    ]
    assert log.figures.samples == len(GENERATIONS) - 2


def test_samples_without_golds_are_named_and_the_rest_stands(tmp_path: Path) -> None:
    bare = [{"doc_id": 7, "prediction": "10"}, row_plain(0, *GENERATIONS[0])]

    log = audit_one(write_lines(tmp_path / "s.jsonl", bare))

    assert skipped(log) == [("no gold answers (pass them with --golds FILE)", 1, [1])]
    assert log.figures.samples == 1


def test_golds_file_without_golds_is_refused_with_the_first_reason(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "g.jsonl", [{"question": "q"}])

    with pytest.raises(CallError, match=r"holds no gold answers: line 1: no gold answers"):
        read_golds(path)


def test_bad_line_of_a_golds_file_is_kept_with_its_number(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "g.jsonl", [{"doc_id": 1, "gold_answers": [["3"]]}, {"doc_id": 2}, 5])

    index = read_golds(path)

    assert [(why, group.count, group.lines) for why, group in index.skipped.items()] == [
        ("no gold answers (pass them with --golds FILE)", 1, [2]),
        ("not a sample of a known format", 1, [3]),
    ]
    assert index.by_id == {1: (("3",),)}
