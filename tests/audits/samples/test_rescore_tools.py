"""Scores of Inspect and HELM: `scored/` has answers with the scores that inspect_ai 0.3.285 and crfm-helm 0.5.16 gave.

They were drawn from 168,000 and 160,000 such scores, all of which are the same here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.audits.samples.rescore import Unscorable
from bot.audits.samples.rescore_helm import METRICS, rescored
from bot.audits.samples.rescore_inspect import SCORERS, InspectRescorer, Untold
from bot.audits.samples.sample import Sample
from bot.evaluation.result import Scoring

SCORED = Path(__file__).parent / "scored"


def rescorer(scorer: str, options: dict[str, Any]) -> InspectRescorer:
    return InspectRescorer(Scoring(f"inspect {scorer}", metrics={scorer: json.dumps(options)}))


def sample(scorer: str, said: str | None, targets: list[str], noted: str | None) -> Sample:
    row = {"target": targets, "choices": list("wxyz"), "scores": {scorer: {"answer": noted}}}
    return Sample("inspect", 1, row, response=said)


def test_answers_have_the_scores_of_inspect() -> None:
    seen = set()
    for line in (SCORED / "inspect.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        scorer, options = case["scorer"], case["options"]
        own = rescorer(scorer, options)
        assert own.knows(scorer, "none")
        for said, targets, value, noted in case["answers"]:
            assert value in own.score(scorer, sample(scorer, said, targets, noted), "none"), (scorer, options, said)
        seen.add(scorer)
    assert seen == set(SCORERS)


def test_answers_have_the_scores_of_helm() -> None:
    for line in (SCORED / "helm.jsonl").read_text(encoding="utf-8").splitlines():
        gold, said, values = json.loads(line)
        assert {name: METRICS[name](gold, said.strip()) for name in values} == pytest.approx(values), (gold, said)


@pytest.mark.parametrize(
    ("scorer", "options"),
    [
        ("match", {"numeric": True}),
        ("match", {"location": "somewhere"}),
        ("f1", {"answer_fn": "<function f>"}),
        ("pattern", {}),
        ("answer", {"pattern": "sentence"}),
        ("model_graded_qa", {}),
        ("exact", {"new": 1}),
    ],
)
def test_scorers_and_options_that_are_not_known_are_not_run_again(scorer: str, options: dict[str, Any]) -> None:
    assert not rescorer(scorer, options).knows(scorer, "none")


def test_the_letter_that_the_scorer_notes_must_stand_in_the_answer() -> None:
    own = rescorer("choice", {})
    assert own.score("choice", sample("choice", "So ANSWER: B", ["B"], "B"), "none") == {1.0}
    assert own.score("choice", sample("choice", "I do not know", ["B"], ""), "none") == {0.0}
    with pytest.raises(Unscorable, match="its scorer noted 'A', and its answer gives 'B'"):
        own.score("choice", sample("choice", "So ANSWER: B", ["A"], "A"), "none")
    with pytest.raises(Untold):
        own.score("choice", sample("choice", "It is blue.", ["A"], "A"), "none")
    with pytest.raises(Unscorable, match="it has no answer"):
        own.score("choice", sample("choice", None, ["A"], "A"), "none")


def state(**changes: Any) -> dict[str, Any]:
    references = [{"output": {"text": one}, "tags": ["correct"] * (one == "Paris")} for one in ("Rome", "Paris")]
    found = {
        "instance": {"references": references},
        "output_mapping": {"A": "Rome", "B": "Paris"},
        "result": {"completions": [{"text": " A", "logprob": -2.0}, {"text": " B", "logprob": -1.0}]},
    }
    return found | changes


def test_of_several_completions_of_helm_the_likeliest_counts_and_a_letter_stands_for_its_own_choice() -> None:
    assert rescored(state(), ["Paris"], ["exact_match", "rouge_l"]) == {"exact_match": {1.0}}
    turned = {"A": "Paris", "B": "Rome"}
    assert rescored(state(output_mapping=turned), ["Paris"], ["exact_match"]) == {"exact_match": set()}
    assert rescored(state(output_mapping=None), ["B"], ["f1_score"]) == {"f1_score": {1.0}}
    assert rescored(state(reference_index=0), ["Paris"], ["exact_match"]) == {}
    other = {"أ": "Rome", "ب": "Paris"}
    arabic = state(output_mapping=other, result={"completions": [{"text": "الجواب ب"}]})
    assert rescored(arabic, ["Paris"], ["exact_match"]) == {"exact_match": {0.0, 1.0}}
