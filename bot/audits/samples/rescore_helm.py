"""Score answers in logs of HELM again by its metrics of one answer and its references.

The definitions are those of crfm-helm 0.5.16 (`benchmark/metrics/evaluate_reference_metrics.py`). Of several answers
the likeliest counts; where the references are choices, its letter stands for one of them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from bot.audits.samples.sample import number, text

ARTICLES, NO_SIGNS = re.compile(r"\b(a|an|the)\b"), str.maketrans("", "", string.punctuation)
LAST_NUMBER = re.compile(r"-?[\d,]+(?:.\d+)?")


def rescored(state: dict[str, Any], golds: Sequence[str], metrics: Iterable[str]) -> dict[str, Collection[float]]:
    """What the metrics of a request state may be by its answer; nothing where it has none, or another choice."""
    known = {name: METRICS[name] for name in metrics if name in METRICS}
    if state.get("reference_index") is not None:
        return {}
    answers = _answers(state) if golds else []
    return {name: {max(score(gold, one) for gold in golds) for one in answers} for name, score in known.items()}


def _answers(state: dict[str, Any]) -> list[str]:
    """The answer, or what it may be where another alphabet stands for the choices: nobody knows its pattern."""
    completions = [one for one in state["result"]["completions"] if isinstance(one, dict)]
    completions.sort(key=lambda one: -(number(one.get("logprob")) or 0.0))
    said = text(completions[0].get("text")).strip() if completions else ""
    mapping = state.get("output_mapping")
    if not isinstance(mapping, dict):
        return [said]
    choices = [text(one["output"]["text"]) for one in state["instance"]["references"]]
    is_ascii = all(letter.isascii() for letter in mapping)
    listed = [text(mapping[letter]) for letter in sorted(mapping)]
    if listed != choices if is_ascii else sorted(listed) != sorted(choices):
        return []  # its letters stand for other choices than the instance has
    if is_ascii or said in mapping:
        return [text(mapping.get(said))]
    return ["", *(text(choice) for letter, choice in mapping.items() if letter in said)]


def _normal(value: str, *, articles: bool = False) -> str:
    plain = value.lower().translate(NO_SIGNS)
    return " ".join((plain if articles else ARTICLES.sub(" ", plain)).split())


def _exact(gold: str, said: str) -> float:
    return float(bool(said) and gold.strip() == said.strip())


def _quasi(gold: str, said: str) -> float:
    return float(bool(said) and _normal(gold) == _normal(said))


def _quasi_with_articles(gold: str, said: str) -> float:
    return float(bool(said) and _normal(gold, articles=True) == _normal(said, articles=True))


def _prefix(gold: str, said: str) -> float:
    return float(bool(said) and said.strip().startswith(gold.strip()))


def _quasi_prefix(gold: str, said: str) -> float:
    return float(bool(said) and _normal(said).startswith(_normal(gold)))


def _f1(gold: str, said: str) -> float:
    wanted, words = set(_normal(gold).split()), set(_normal(said).split())
    shared = len(wanted & words)
    if not shared:
        return 0.0
    return 1.0 / (0.5 / (shared / len(words)) + 0.5 / (shared / len(wanted)))


def _indicated(gold: str, said: str) -> float:
    return _exact(*(one.split(" ")[-1].strip() for one in (gold, said)))


def _last_number(gold: str, said: str) -> float:
    found = [(LAST_NUMBER.findall(one) or [""])[-1].replace(",", "") for one in (gold, said)]
    return _exact(*found)


METRICS: Mapping[str, Callable[[str, str], float]] = {
    "exact_match": _exact,
    "quasi_exact_match": _quasi,
    "quasi_leave_articles_exact_match": _quasi_with_articles,
    "prefix_exact_match": _prefix,
    "quasi_prefix_exact_match": _quasi_prefix,
    "f1_score": _f1,
    "exact_match_indicator": _indicated,
    "final_number_exact_match": _last_number,
}
