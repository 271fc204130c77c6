"""Rows that are judged together: copies see each other, and a file that another one replaced is no fault."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from bot.evaluation.leaderboard import Leaderboard, Waiver
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import parse_submission
from bot.reporting.markdown import judgement_markdown
from bot.reporting.text import Ink, terminal_text
from bot.service.judge.facts import Judge
from tests.evaluation.judging import ABSENT, base, declared, dumps, judgement_of, patched, rules_of
from tests.evaluation.parts import leaves_of, only

TODAY = date(2026, 11, 1)


def judged(files: dict[str, Any], board: Leaderboard | None = None) -> Any:
    parsed = [parse_submission(path, {"": dumps(data)}) for path, data in files.items()]
    return Judge(board or declared(), TODAY).judge(parsed)


def test_of_two_copies_in_one_push_the_later_names_the_first() -> None:
    later = patched({"/model_name": "acme/copy", "/date": base()["date"] + 100.0})
    found = {row.key.model: row for row in judged({"a.json": later, "b.json": base()}).rows}
    assert "duplicate-scores" in rules_of(found["acme/copy"])
    assert "duplicate-scores" not in rules_of(found["example-org/kestrel-7b"])


def test_of_copies_of_one_date_the_first_key_is_the_original_as_on_a_board() -> None:
    files = {f"{name}.json": patched({"/model_name": f"acme/{name}"}) for name in ("b", "a", "c")}
    rows = {row.key.model: row for row in judged(files).rows}
    copies = {model: row.facts.same_values for model, row in rows.items() if "duplicate-scores" in rules_of(row)}
    assert copies == {"acme/b": "acme/a", "acme/c": "acme/a"}


def test_a_faulty_file_that_a_sound_one_replaced_is_no_error() -> None:
    faulty = patched({"/config/limit": 10, "/date": 1.0})
    judgement = judgement_of({"old.json": faulty, "new.json": base()})
    assert [verdict.status for verdict in judgement.verdicts] == ["rejected", "accepted"]
    assert not judgement.has_errors
    assert judgement_of({"old.json": faulty}).has_errors


@pytest.mark.parametrize(
    ("when", "do"), [(-100.0, "you may delete it"), (100.0, "mend it, so that the newer numbers count, or delete it")]
)
def test_a_faulty_file_beside_a_row_that_is_accepted_without_it_is_no_error(when: float, do: str) -> None:
    faulty = patched({"/config/limit": 10, "/date": base()["date"] + when})
    judgement = judgement_of({"cut.json": faulty, "whole.json": base()})
    assert judgement.rows[0].status == "accepted"
    assert not judgement.has_errors
    said = f"not used: the row has its numbers from whole.json; {do}"
    shown = terminal_text(judgement, Ink(colour=False), whole=True), terminal_text(judgement, Ink(colour=False))
    for text in (*shown, judgement_markdown(judgement)):
        assert said in " ".join(text.split())
        assert ("replaced by" in text) == (when < 0)
        assert "limited-run" in text
        assert "without --limit" not in text  # which was done: the other file is it


def test_of_many_files_that_no_row_uses_the_first_are_named() -> None:
    cut = {"/config/limit": 10, "/date": 1.0}
    files = {
        f"{number}/{name}.json": patched({"/model_name": f"acme/{number}", **change})
        for number in range(12)
        for name, change in (("cut", cut), ("whole", {}))
    }
    text = terminal_text(judgement_of(files), Ink(colour=False))
    assert text.count("not used: the row has its numbers from") == 10
    assert "… and 2 more files that no row uses: check --all names each" in text


def test_a_faulty_file_that_the_row_needs_is_an_error() -> None:
    newer = patched({"/results/leaderboard_mmlu_pro/acc,none": 7.0, "/date": base()["date"] + 100.0})
    judgement = judgement_of({"new.json": newer, "old.json": base()})
    assert judgement.rows[0].status == "accepted"
    assert judgement.rows[0].files[0].path == "new.json"
    assert judgement.has_errors


def test_what_is_measured_again_stands_in_for_its_part_of_a_faulty_file_in_an_incomplete_row() -> None:
    old = patched({
        "/date": 1.0, "/n-shot/leaderboard_mmlu_pro": 0, "/configs/leaderboard_mmlu_pro/num_fewshot": 0,
        "/versions/leaderboard_musr_murder_mysteries": 0.0, "/configs/leaderboard_musr_murder_mysteries/metadata": {},
    })  # fmt: skip
    files = {"old.json": old, "again.json": only(base(), {"leaderboard_mmlu_pro"})}
    judgement = judgement_of(files)
    (row,), faulty = judgement.rows, next(one for one in judgement.verdicts if one.path == "old.json")
    replaced = {one.rule: row.replaced_by(faulty, one) for one in faulty.findings if one.is_error}
    assert row.status == "incomplete"
    assert replaced == {"wrong-num-fewshot": "again.json", "unaccepted-task-version": ""}
    assert faulty in judgement.counting
    assert judgement.has_errors


def test_what_was_measured_again_is_no_error_in_an_undated_file_that_the_row_needs_besides() -> None:
    old = patched({
        "/date": ABSENT, "/n-shot/leaderboard_mmlu_pro": 0, "/configs/leaderboard_mmlu_pro/num_fewshot": 0,
        "/versions/leaderboard_musr_murder_mysteries": 0.0, "/configs/leaderboard_musr_murder_mysteries/metadata": {},
    })  # fmt: skip
    again = only(patched({"/date": ABSENT}), {one for one in leaves_of(base()) if "bbh" not in one})
    judgement = judgement_of({"old.json": old, "again.json": again})
    faulty = next(one for one in judgement.verdicts if one.path == "old.json")
    (row,) = judgement.rows
    assert {"wrong-num-fewshot", "unaccepted-task-version"} <= rules_of(faulty)
    assert "old.json" in {one.path for one in row.files}
    assert row.status == "accepted"
    assert row.repair is None
    assert not judgement.has_errors
    assert "replaced by again.json" in terminal_text(judgement, Ink(colour=False))


def test_a_waiver_excuses_the_tasks_that_it_names() -> None:
    wrong = patched({"/results/leaderboard_mmlu_pro/acc,none": 7.0})
    for tasks, is_error in (((), False), (("mmlu_pro",), False), (("math",), True)):
        waiver = Waiver(rule="value-out-of-range", submission="*", tasks=tasks, reason="r", who="w", until=TODAY)
        judgement = judgement_of({"r.json": wrong}, facts=Facts(today=TODAY, waivers=(waiver,)))
        found = [one for one in judgement.verdicts[0].findings if one.rule == "value-out-of-range"]
        assert found[0].is_error is is_error


def test_the_shipped_waiver_cannot_be_claimed_for_another_column() -> None:
    name = "results_2025-02-13T18-27-04.338360.json"
    forged = patched({"/results/leaderboard_mmlu_pro/acc,none": 11_000 / 12_032})
    (verdict,) = judgement_of({name: forged}, facts=Facts(today=TODAY)).verdicts
    assert verdict.status == "rejected"
