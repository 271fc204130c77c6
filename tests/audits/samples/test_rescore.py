"""Scores of logged answers against the harness itself: lm_eval's own metrics and filters are the oracle."""

from __future__ import annotations

import importlib
import json
import random
from typing import Any

import pytest

from bot.audits.samples.rescore import Rescorer, Unscorable, exact_match
from bot.audits.samples.sample import read_sample
from bot.evaluation.result import Scoring

WORDS = [
    "42",
    "-7",
    "1,200",
    "$3.50",
    "The answer is B.",
    "(C)",
    "#### 12",
    "no",
    "Yes!",
    "ß",
    "İ",
    "x\0",
    "",
    " ",
    "B",
    "٤",
    "a\nb",
]
PATTERNS: list[list[str] | None] = [None, [",", r"\$", r"(?s).*#### ", r"\.$"], [r"\s+"], [r"[aeiou]"]]
OPTIONS: list[dict[str, Any]] = [
    {"regexes_to_ignore": patterns, "ignore_case": case, "ignore_punctuation": signs, "ignore_numbers": numbers}
    for patterns in PATTERNS
    for case in (False, True)
    for signs in (False, True)
    for numbers in (False, True)
]
FILTERS: list[list[dict[str, Any]]] = [
    [{"function": "take_first"}],
    [{"function": "regex", "regex_pattern": r"#### (\-?[0-9\.\,]+)"}, {"function": "take_first"}],
    [
        {"function": "regex", "regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)", "group_select": -1},
        {"function": "take_first"},
    ],
    [
        {"function": "regex", "regex_pattern": r"answer is \(?([A-J])\)?", "fallback": "none"},
        {"function": "take_first"},
    ],
    [{"function": "remove_whitespace"}, {"function": "take_first"}],
    [{"function": "lowercase"}, {"function": "take_first"}],
    [{"function": "uppercase"}, {"function": "remove_whitespace"}, {"function": "take_first"}],
    [{"function": "majority_vote"}, {"function": "take_first"}],
    [{"function": "take_first_k", "k": 2}, {"function": "majority_vote"}, {"function": "take_first"}],
    [
        {"function": "multi_choice_regex", "regex_pattern": r"(\([A-Z]\))", "group_select": -1},
        {"function": "take_first"},
    ],
    [
        {
            "function": "multi_choice_regex",
            "regex_pattern": r"(\([A-Z]\))",
            "group_select": 0,
            "ignore_case": True,
            "ignore_punctuation": True,
            "regexes_to_ignore": ["the ", "\\$"],
            "fallback": "none",
        },
        {"function": "take_first"},
    ],
    [{"function": "map", "mapping_dict": {"no": "0", "Yes!": "1"}, "default_value": "?"}, {"function": "take_first"}],
]


PLAIN = {"exact_match": "{}"}


def answer(rng: random.Random) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 4)))


def compare_metric(count: int) -> None:
    from lm_eval.api.metrics import exact_match_hf_evaluate

    rng = random.Random(11)
    for options in OPTIONS:
        for _ in range(count):
            said = answer(rng)
            target = said if rng.random() < 0.5 else answer(rng)
            if rng.random() < 0.3:
                target = target.swapcase() + rng.choice(["", ".", " ", "1"])
            wanted = float(exact_match_hf_evaluate([said], [target], **options)["exact_match"])
            assert float(exact_match(said, target, options)) == wanted, (said, target, options)


def compare_filters(count: int) -> None:
    importlib.import_module("lm_eval.filters")  # registers them
    from lm_eval.api.registry import get_filter

    rng = random.Random(12)
    for steps in FILTERS:
        scoring = Scoring("generate_until", metrics={"exact_match": "{}"}, filters={"f": json.dumps(steps)})
        scorer = Rescorer("task", scoring)
        assert scorer.knows("exact_match", "f")
        is_vote = steps[0]["function"] in {"majority_vote", "take_first_k"}
        all_responses = [[answer(rng) for _ in range(3 if is_vote else 1)] for _ in range(count)]
        docs = [{"choices": rng.sample([one for one in WORDS if one.strip()], 4)} for _ in range(count)]
        found: Any = all_responses
        for step in steps:
            given = {name: value for name, value in step.items() if name != "function"}
            found = list(get_filter(step["function"])(**given).apply(found, docs))
        for responses, doc, left in zip(all_responses, docs, found, strict=True):
            wanted = left[0] if isinstance(left, list) else left
            row = {"doc_id": 0, "doc": doc, "target": wanted, "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {}}},
                   "resps": [responses], "filtered_resps": [wanted], "filter": "f", "exact_match": 1.0}  # fmt: skip
            assert scorer.score("exact_match", read_sample(json.dumps(row)), "f") == {1.0}, (steps, responses, wanted)


def compare_choices(count: int) -> None:
    """`process_results` of the harness for tasks of several choices, with ties and unconditional requests."""
    import numpy as np

    rng = random.Random(13)
    names = ("acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match")
    for number in range(count):
        is_mutual = number % 3 == 0
        choices = [answer(rng).strip() or "x" for _ in range(rng.randrange(2, 6))]
        values = [round(-rng.random() * 9, rng.choice((0, 1, 15))) for _ in choices]
        alone = [round(-rng.random() * 9, 1) for _ in choices] if is_mutual else []
        greedy = [rng.random() < 0.3 for _ in values + alone]
        gold = rng.randrange(len(choices))
        used = [name for name in names if is_mutual or name != "acc_mutual_info"]
        metrics = dict.fromkeys(used, "{}")
        scoring = Scoring("multiple_choice", metrics=metrics, filters={"none": "[]"}, delimiter=" ")
        texts = [f" {one}" for one in choices] * (2 if is_mutual else 1)
        row = {"doc_id": 0, "doc": {}, "target": str(gold), "filter": "none",
               "arguments": {f"gen_args_{n}": {"arg_0": "q", "arg_1": one} for n, one in enumerate(texts)},
               "resps": [[[str(one), str(flag)]] for one, flag in zip(values + alone, greedy, strict=True)],
               "filtered_resps": [], "acc": 1.0}  # fmt: skip
        sample, scorer = read_sample(json.dumps(row)), Rescorer("task", scoring)
        lls = np.array(values)
        wanted = {
            "acc": float(np.argmax(lls) == gold),
            "acc_norm": float(np.argmax(lls / np.array([float(len(one)) for one in choices])) == gold),
            "acc_bytes": float(np.argmax(lls / np.array([float(len(one.encode())) for one in choices])) == gold),
            "exact_match": float(greedy[gold]),
        }
        if is_mutual:
            wanted["acc_mutual_info"] = float(np.argmax([c - u for c, u in zip(values, alone, strict=True)]) == gold)
        for name, value in wanted.items():
            assert scorer.score(name, sample, "none") == {value}, (name, row)


def test_a_few_answers_are_scored_as_the_rules_say() -> None:
    assert exact_match("1,200", "so #### 1200.", {"regexes_to_ignore": [",", r"\$", "(?s).*#### ", r"\.$"]})
    assert not exact_match(" 2", "2", {})
    ignored = {"regexes_to_ignore": [",", r"\.$"], "ignore_case": True}
    assert not exact_match("İ x\0", "i̇ X\0.", ignored)  # numpy cuts the folded answer to its length before
    assert exact_match("yes!", "YES", {"ignore_case": True, "ignore_punctuation": True})
    scoring = Scoring("generate_until", metrics={"exact_match": "{}"}, filters={"f": json.dumps(FILTERS[1])})
    row = {"doc_id": 0, "doc": {}, "target": "7", "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {}}},
           "resps": [["I do not know"]], "filtered_resps": ["7"], "filter": "f", "exact_match": 1.0}  # fmt: skip
    with pytest.raises(Unscorable, match="its filtered answer is '7', and its response gives"):
        Rescorer("t", scoring).score("exact_match", read_sample(json.dumps(row)), "f")


@pytest.mark.parametrize(
    ("metric", "scoring"),
    [
        ("exact_match", Scoring("generate_until", own=True, metrics={"exact_match": "{}"}, filters={"none": "[]"})),
        ("bleu", Scoring("generate_until", metrics={"bleu": "{}"}, filters={"none": "[]"})),
        ("exact_match", Scoring("generate_until", metrics=PLAIN, filters={"none": '[{"function": "custom"}]'})),
        ("exact_match", Scoring("generate_until", metrics={"exact_match": '{"new": 1}'}, filters={"none": "[]"})),
        ("acc", Scoring("generate_until", metrics={"exact_match": "{}"}, filters={"none": "[]"})),
        ("perplexity", Scoring("loglikelihood", metrics={"perplexity": "{}"}, filters={"none": "[]"})),
    ],
)  # fmt: skip
def test_a_metric_that_the_settings_do_not_define_is_not_scored_again(metric: str, scoring: Scoring) -> None:
    assert not Rescorer("task", scoring).knows(metric, "none")


@pytest.mark.slow
def test_20_000_answers_are_scored_as_lm_eval_scores_them() -> None:
    compare_metric(20_000)
    compare_filters(20_000)
    compare_choices(20_000)


def test_some_answers_are_scored_as_lm_eval_scores_them() -> None:
    compare_metric(2)
    compare_filters(10)
    compare_choices(100)
