"""Which rows of two models are alike: those that share nearly all values or answers, and no others of real tables."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from bot.evaluation.likeness import (
    MARKED,
    AnswerMark,
    Fingerprint,
    LikeRows,
    Peer,
    digest_of_raws,
    fingerprint,
    likeness,
    nearest_of,
    originals,
)
from bot.evaluation.score import LeafScore, TaskScore
from bot.evaluation.submission import parse_submission
from bot.service.judge.facts import Judge
from tests.evaluation.judging import base, declared, dumps, patched, rules_of


def row(model: str, values: Mapping[str, tuple[float, float, int]], answers: Mapping[str, str] | None = None,
        named: str = "") -> Fingerprint:  # fmt: skip
    """A row of tasks with raw value, score and number of questions."""
    tasks = [
        TaskScore(name, name, raw, score, None, (LeafScore(name, "acc", n, raw, None, "0", "1", score, "f"),))
        for name, (raw, score, n) in values.items()
    ]
    return fingerprint(model, tasks, answers or {}, named)


def values(*raws: float, n: int = 1_000) -> dict[str, tuple[float, float, int]]:
    return {f"t{place}": (raw, 100 * raw, n) for place, raw in enumerate(raws)}


FIVE = (0.501, 0.613, 0.277, 0.345, 0.717)


def test_five_of_six_values_are_hardly_chance_and_few_coarse_or_low_ones_may_be() -> None:
    one, other = row("a/one", values(*FIVE, 0.415)), row("b/two", values(*FIVE, 0.416))
    assert likeness(one, other) == likeness(other, one) == "5 of 6 values"
    assert set(one.marks) & set(other.marks)
    for raws in (values(*FIVE[:2], 0.415), values(*FIVE, 0.415, n=30), values(0.5, 0.6, 0.3, 0.3, 0.7, 0.4)):
        changed = {**raws, "t0": (raws["t0"][0] + 0.01, raws["t0"][1], raws["t0"][2])}
        assert likeness(row("a/one", raws), row("b/two", changed)) == ""
    low = {name: (raw, 4.0, n) for name, (raw, _, n) in values(*FIVE, 0.415).items()}
    assert likeness(row("a/one", low), row("b/two", low | {"t0": (0.6, 60.0, 1_000)})) == ""
    three = values(*FIVE[:3], 0.1, 0.2, 0.3)
    assert likeness(one, row("b/two", three)) == ""


def test_of_two_rows_one_says_it_and_a_model_is_not_like_itself() -> None:
    one, other = row("a/one", values(*FIVE, 0.415)), row("b/two", values(*FIVE, 0.416))
    assert nearest_of(one, [row("a/one", values(*FIVE, 0.416)), row("c/three", values(0.5)), other]) is not None
    says = row("b/two", values(*FIVE, 0.416), named="a/one")
    assert nearest_of(one, [says]) is None
    found = nearest_of(says, [one])
    assert found is not None
    assert (found.model, found.what) == ("a/one", "5 of 6 values")


def test_raw_values_have_one_digest_where_they_are_equal() -> None:
    """The state of a bot has them: one that a new version computes otherwise would find no row of equal values."""
    assert digest_of_raws([0.5, 0.0]) == digest_of_raws([0.5, -0.0]) == "898cbf30b93f86082996bca1fad83351"
    assert digest_of_raws([0.5, 5e-324]) != digest_of_raws([0.5, 0.0])


EQUAL = values(*FIVE, 0.415)


def peer(came: float, name: str, named: str = "", *, is_there: bool = False) -> Peer:
    """A row of one model of three with the same values."""
    return Peer(came, 0.0, f"b/{name}", row(f"acme/{name}", EQUAL, named=named), is_there)


def named_by(rows: Sequence[Peer], others: Sequence[Peer]) -> dict[str, str]:
    """The equal model that each row names."""
    return {key: model for key, model, _ in originals(rows, others) if model}


def test_of_equal_rows_the_later_names_the_first_wherever_they_are() -> None:
    a, b, c = peer(1.0, "a"), peer(2.0, "b"), peer(3.0, "c")
    told = {"b/b": "acme/a", "b/c": "acme/a"}
    assert named_by([a, b, c], [c, a, b]) == told
    for written in ([b], [c, b], [a], [a, c]):  # a bot that ended there wrote these, which name the first
        there = [peer(0.0, one.key[2:], "" if one is a else "acme/a", is_there=True) for one in written]
        waiting = [one for one in (a, b, c) if one not in written]
        assert named_by(waiting, [a, b, c, *there]) == {one.key: "acme/a" for one in waiting if one is not a}


def test_what_is_on_the_board_is_the_first_and_says_nothing_of_what_comes() -> None:
    a, b = peer(1.0, "a"), peer(2.0, "b")
    elsewhere, unsaid = peer(0.0, "z", is_there=True), peer(0.0, "b", is_there=True)
    assert named_by([a, b], [a, b, elsewhere]) == {"b/a": "acme/z", "b/b": "acme/z"}
    assert named_by([a, b], [a, b, unsaid]) == {"b/a": "acme/b"}  # it was alone when it came there


def marked(answers: Sequence[tuple[str, str | None, Sequence[float]]]) -> str:
    mark = AnswerMark()
    for answer in answers:
        mark.add(*answer)
    return mark.text


def logged(seed: int, count: int = 200) -> list[tuple[str, str | None, Sequence[float]]]:
    rng = random.Random(seed)
    return [(f"q{number}", None, [-rng.random() * 9, -rng.random() * 9]) for number in range(count)]


def test_a_log_with_a_few_other_answers_is_that_of_the_other_model() -> None:
    own = logged(1)
    copied = [*own[:3], *logged(2)[3:6], *own[6:]]
    half = [*own[:100], *logged(2)[100:]]
    one = row("a/one", {}, {"sums": marked(own)})
    for answers, said in (
        (own[::-1], "nearly all answers of sums"),
        (copied, "nearly all answers of sums"),
        (half, ""),
        (logged(2), ""),
    ):
        assert likeness(one, row("b/two", {}, {"sums": marked(answers)})) == said
    assert likeness(one, row("b/two", {}, {"logic": marked(own)})) == ""  # the questions are those of another task


def test_short_texts_and_round_numbers_tell_nothing() -> None:
    assert marked([(f"q{number}", "The answer is (B).", ()) for number in range(99)]) == ""
    assert marked([(f"q{number}", None, [-1.0, -2.0]) for number in range(99)]) == ""
    texts = [(f"q{number}", f"Let us think step by step about question {number}.", ()) for number in range(99)]
    assert len(marked(texts)) == 8 * MARKED
    assert marked(texts[: MARKED - 1]) == ""


def test_of_rows_that_are_judged_together_the_later_names_the_first() -> None:
    changed = {"/model_name": "acme/copy", "/date": base()["date"] + 100.0,
               "/results/leaderboard_mmlu_pro/acc,none": 5_000 / 12_032,
               "/results/leaderboard_mmlu_pro/acc_stderr,none": "N/A"}  # fmt: skip
    files = {"a.json": patched(changed), "b.json": base()}
    parsed = [parse_submission(path, {"": dumps(data)}) for path, data in files.items()]
    rows = {row.key.model: row for row in Judge(declared(), date(2026, 11, 1)).judge(parsed).rows}
    assert "nearly-duplicate" in rules_of(rows["acme/copy"])
    assert "nearly-duplicate" not in rules_of(rows["example-org/kestrel-7b"])
    facts = rows["acme/copy"].facts
    assert facts is not None
    assert facts.alike is not None
    assert facts.alike.model == "example-org/kestrel-7b"


def test_a_real_table_has_three_pairs_of_the_same_weights_and_no_others(reference: Path) -> None:
    """1,500 rows of v2, among them families of fine-tunes, merges and quantizations, and models that guess."""
    names = {"IFEval": 541, "BBH": 5761, "MATH Lvl 5": 1324, "GPQA": 1192, "MUSR": 756, "MMLU-PRO": 12032}
    rows, found = LikeRows(), set[tuple[str, str]]()
    with (reference / "openllm_v2" / "published_scores.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            one = row(line["fullname"], {name: (float(line[f"{name} Raw"]), float(line[name]), n)
                                         for name, n in names.items()})  # fmt: skip
            for other in (peer.row for peer in rows.with_one_of(one.marks)):
                if other.model != one.model and likeness(one, other) and other.values != one.values:
                    found.add((other.model.partition("/")[0], one.model.partition("/")[0]))
            rows.add(Peer(0.0, 0.0, one.model, one))
    assert found == {(name, name) for name in ("Quazim0t0", "SicariusSicariiStuff", "lalainy")}
