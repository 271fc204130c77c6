"""The estimate of what to run again, the symptoms, and the health of the benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.audits.drop.audit import audit_drop
from bot.audits.drop.figures import LengthCounters, Lengths, correlation
from bot.audits.drop.health import Health, RankChange, rank_change
from tests.audits.drop.drop_logs import RENDERED, SOUND, plain_log, row_04, write_lines


def rules(path: Path) -> list[str]:
    return [symptom.rule for symptom in audit_drop([path]).symptoms]


def test_estimate_gives_the_figures_of_the_investigation(tmp_path: Path) -> None:
    """10 % cut; 40 % of the rest end with a number; with what is glued, more than half: 0.10 + 0.40 * 0.90 = 0.46."""
    cut, glued = [(" 12", (("12.25",),))] * 100, [(" 10\nPassage", (("10",),))] * 60
    ends = [(" 7", (("7",),))] * 200 + [(" 7\n\nPassage 3", (("7",),))] * 160
    rest = [(" Bears", (("Bears",),))] * 240 + [(" Bears\n\nPassage", (("Bears",),))] * 240

    figures = audit_drop([plain_log(tmp_path / "s.jsonl", [*cut, *ends, *glued, *rest])]).figures

    before, after = figures.rerun.as_logged, figures.rerun.after_cut
    assert figures.rerun.ends_with_number_of_rest == pytest.approx(0.40)
    assert (before.lower.share, before.possible.share, before.upper.share) == (0.10, 0.46, 0.52)
    assert (after.lower.samples, after.possible.samples, after.upper.samples) == (100, 300, 300)
    assert figures.rerun.settled_by_cut.samples == 160 + 60 + 240


def test_cut_decimal_with_a_broken_line_after_it_is_settled_nowhere(tmp_path: Path) -> None:
    figures = audit_drop([plain_log(tmp_path / "s.jsonl", [(" 5 yards\nor 12", (("12.25",),))])]).figures

    assert (figures.rerun.as_logged.lower.samples, figures.rerun.after_cut.lower.samples) == (1, 0)
    assert figures.rerun.settled_by_cut.samples == 0


def test_symptoms_are_named_each_by_its_own_cause(tmp_path: Path) -> None:
    numbers = [(" 7", (("7",),))] * 40
    unanswerable = [(" 12", (("13.25",),))] * 40
    floor = [(" wrong\n\nPassage: more and more", (("7 yards",),))] * 40
    assert rules(plain_log(tmp_path / "1", [*numbers, *unanswerable])) == ["drop-decimals-unanswerable"]
    assert rules(plain_log(tmp_path / "2", floor)) == ["drop-at-the-floor"]
    assert rules(plain_log(tmp_path / "3", [*numbers, *floor])) == ["drop-length-decides"]
    glued = [*numbers * 9, *[(" 7\tyards", (("7 yards",),))] * 5]
    assert rules(plain_log(tmp_path / "4", glued)) == ["drop-distorted-scores"]


def test_length_is_a_notice_where_few_run_on_and_nothing_where_none_does(tmp_path: Path) -> None:
    """Long answers are harder in any case."""
    none = [(" x", (("x",),)), (" wrong words", (("y",),))] * 60
    few = [*none, *[(" wrong\nwords", (("y",),))] * 5]

    audit = audit_drop([plain_log(tmp_path / "s.jsonl", few)])

    assert rules(plain_log(tmp_path / "n.jsonl", none)) == []

    assert [(symptom.rule, symptom.severity) for symptom in audit.symptoms] == [("drop-length-decides", "notice")]
    assert audit.health is Health.SOUND


def test_rendered_few_shot_answers_break_the_benchmark_a_target_nobody_sees_does_not(tmp_path: Path) -> None:
    rows = [row_04(number, *sample, "0.4.7") | {"target": RENDERED} for number, sample in enumerate(SOUND)]
    zero_shot = audit_drop([write_lines(tmp_path / "0.jsonl", rows)])
    for row in rows:
        row["arguments"]["gen_args_0"]["arg_0"] += RENDERED
    few_shot = audit_drop([write_lines(tmp_path / "3.jsonl", rows)])

    assert [symptom.rule for symptom in zero_shot.symptoms] == ["drop-rendered-target"]
    assert zero_shot.health is Health.SOUND
    assert [symptom.rule for symptom in few_shot.symptoms] == ["drop-rendered-prompt"]
    assert few_shot.health is Health.BROKEN


def test_few_samples_leave_the_verdict_open(tmp_path: Path) -> None:
    assert audit_drop([plain_log(tmp_path / "s.jsonl", SOUND[:29])]).health is Health.UNDETERMINED


def test_repair_that_reverses_models_is_named(tmp_path: Path) -> None:
    terse = plain_log(tmp_path / "terse.jsonl", [*[(" 10", (("10",),))] * 20, *[(" 9", (("10",),))] * 20])
    talking = plain_log(
        tmp_path / "talking.jsonl", [*[(" 10\n\nPassage", (("10",),))] * 30, *[(" 9", (("10",),))] * 10]
    )

    audit = audit_drop([terse, talking])

    assert audit.ranks == RankChange(1, 1)
    assert audit.symptoms[-1].message == "cutting at the first line of text reverses 1 of 1 pairs of models"


def test_ties_reverse_nothing() -> None:
    assert rank_change([(0.1, 0.2), (0.1, 0.1), (0.3, 0.3)]) == RankChange(0, 3)


def test_correlation_of_whole_numbers() -> None:
    sums = LengthCounters()
    for x, y in ((1, 2), (2, 4), (3, 7)):
        lengths = Lengths()
        lengths.add(x)
        sums.add(y, lengths)

    assert correlation(sums, 3) == pytest.approx(0.9933992677987828)
    assert correlation(LengthCounters(x=4, y=2, xx=8, yy=2, xy=4), 2) is None
