"""Score a logged answer again as the settings of its log define it: metrics with their options, and answer filters.

The definitions are those of lm-evaluation-harness (`lm_eval/api/task.py`, `metrics.py` and `filters/` of 0.4.13), whose
exact match comes from Hugging Face's `evaluate`. Patterns are a stranger's: each runs for a bounded time.
"""

from __future__ import annotations

import ast
import json
import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

import regex

from bot.audits.drop.samples import golds_of
from bot.audits.drop.scorer import Scorer
from bot.audits.samples.sample import Sample
from bot.errors import MalformedSamples
from bot.evaluation.aggregates import is_mean_of_proportions
from bot.evaluation.result import Scoring

SECONDS, MOST_SLOW = 0.2, 100  # that one pattern may take on one answer; answers of a log that took longer
LONGEST_PATTERN, LONGEST_ANSWER = 2_000, 1_000_000  # characters
LETTERS = string.ascii_uppercase
HIGHEST = 0.01  # of a log-likelihood, whose sum may be rounded
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
NO_DIGITS = str.maketrans("", "", string.digits)
BY_LIKELIHOOD = frozenset({"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"})  # of several choices
USUAL_PATTERN = r"#### (\-?[0-9\.\,]+)"
TOO_SLOW = "a pattern takes too long on an answer"
OPTIONS = frozenset({"regexes_to_ignore", "ignore_case", "ignore_punctuation", "ignore_numbers"})


class Unscorable(Exception):
    """A sample lacks what its score follows from; the text says what.

    `is_fault` says that parts of it contradict each other, so that it is wrong whatever its score.
    """

    def __init__(self, why: str, *, is_fault: bool = False) -> None:
        super().__init__(why)
        self.is_fault = is_fault


class Slow(Unscorable):
    """A pattern takes too long on an answer."""


class Rescorer:
    """Scores the samples of one leaf of a result of lm-evaluation-harness 0.4 again.

    `scoring` is what the result says of it, None where it says nothing: only likelihoods are scored then.
    """

    def __init__(self, leaf_key: str, scoring: Scoring | None) -> None:
        self._key, self._scoring = leaf_key, scoring
        self._slow = 0
        self._drop = Scorer() if leaf_key.startswith("drop") else None

    def knows(self, metric: str, answer_filter: str) -> bool:
        """Tell whether a metric is one that is scored again; no field of a sample decides it."""
        if self._drop is not None and metric in {"em", "f1"}:
            return True
        scoring = self._scoring
        if scoring is None:
            return metric in {"acc", "acc_norm"} and not is_mean_of_proportions(self._key, metric)
        if scoring.own or metric not in scoring.metrics:
            return False
        if scoring.output == "multiple_choice":
            return metric in BY_LIKELIHOOD
        if scoring.output == "loglikelihood":
            return metric == "acc"
        options = json.loads(scoring.metrics[metric])
        steps = json.loads(scoring.filters.get(answer_filter, "[]"))
        is_filtered = answer_filter in scoring.filters and all(_is_known(step) for step in steps)
        return (
            scoring.output == "generate_until" and metric == "exact_match" and options.keys() <= OPTIONS and is_filtered
        )

    def why_unknown(self, metric: str, answer_filter: str) -> str:
        """Why a metric that is not known is not scored again."""
        scoring = self._scoring
        if scoring is None:
            return "its file does not say how it is scored"
        if scoring.own:
            return "it has a scoring function of its own"
        if metric not in scoring.metrics:
            return "its settings do not have the metric"
        if scoring.output == "generate_until" and answer_filter not in scoring.filters:
            return "its settings do not have the filter"
        return "its metric, or a filter or an option of it, is none that is computed again"

    def score(self, metric: str, sample: Sample, answer_filter: str) -> Collection[float]:
        """The values that a metric which is known may have for a sample. Raises Unscorable."""
        if self._drop is not None and metric in {"em", "f1"}:
            return {self._by_drop(metric, sample)}
        scoring = self._scoring
        if scoring is not None and scoring.output == "generate_until":
            if self._slow > MOST_SLOW:
                raise Slow(TOO_SLOW)
            try:
                return _by_text(sample, scoring, answer_filter)
            except Slow:
                self._slow += 1
                raise
        if scoring is not None and scoring.output == "loglikelihood":
            return {_by_greedy(sample)}
        if scoring is None and len(sample.continuations) == 1:
            if metric == "acc_norm":
                raise Unscorable("it has one continuation")
            return {_by_greedy(sample)}
        return _by_likelihood(metric, sample, scoring)

    def _by_drop(self, metric: str, sample: Sample) -> float:
        assert self._drop is not None  # noqa: S101 - the caller asked
        try:
            fields = ("answers", "answer", "validated_answers")
            golds = golds_of({one: sample.doc.get(one) for one in fields}) if isinstance(sample.doc, dict) else None
            if golds is None or sample.answer is None:
                raise Unscorable("it has no answer, or no gold answers")
            score = self._drop.score(sample.answer, golds)
        except MalformedSamples as error:
            raise Unscorable(str(error)) from None
        return score.em if metric == "em" else score.f1


def _by_greedy(sample: Sample) -> float:
    if len(sample.greedy) != 1:
        raise Unscorable("it does not say whether the answer is the likeliest")
    return float(sample.greedy[0])


def _by_likelihood(metric: str, sample: Sample, scoring: Scoring | None) -> Collection[float]:
    """Whether the likeliest continuation is a right one; the first of equally likely ones counts, as in numpy."""
    texts, values = sample.continuations, sample.logprobs
    if not texts or len(texts) != len(values):
        raise Unscorable("its log-likelihoods are missing, or are not as many as its continuations")
    if max(values) > HIGHEST:
        raise Unscorable(f"a log-likelihood is {max(values):g}, and none is above 0", is_fault=True)
    if scoring is not None and "acc_mutual_info" in scoring.metrics and len(texts) % 2 == 0:
        half = len(texts) // 2
        alone, texts, values = values[half:], texts[:half], values[:half]
        if metric == "acc_mutual_info":
            values = tuple(with_prompt - without for with_prompt, without in zip(values, alone, strict=True))
    golds = right_places(sample, texts)
    if metric == "exact_match":
        if len(sample.greedy) < len(texts):
            raise Unscorable("it does not say which continuation is the likeliest text")
        return {float(any(sample.greedy[place] for place in golds))}
    if metric in {"acc", "acc_mutual_info"}:
        return {float(_first_best(values) in golds)}
    found = set()
    for spelled in _choices(texts, scoring):
        sizes = [len(one.encode()) if metric == "acc_bytes" else len(one) for one in spelled]
        found.add(
            float(_first_best([value / (size or 1e-300) for value, size in zip(values, sizes, strict=True)]) in golds)
        )
    return found


def _choices(texts: Sequence[str], scoring: Scoring | None) -> list[list[str]]:
    """The choices without what the harness puts before each; both readings where the file does not say what it is."""
    delimiter = scoring.delimiter if scoring is not None else None
    if delimiter is not None:
        return [[one.removeprefix(delimiter) for one in texts]]
    without = [one[1:] for one in texts] if all(one[:1] in {" ", "\n"} for one in texts) else list(texts)
    return [without, list(texts)]


def _first_best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda place: (values[place], -place))


def right_places(sample: Sample, texts: Sequence[str]) -> set[int]:
    """The places of the right continuations. Raises Unscorable where the target is none of them."""
    target: Any = sample.row.get("target")
    if isinstance(target, str) and target[:1] == "[":
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            target = sample.row["target"]
    found = {place for one in (target if isinstance(target, list) else [target]) for place in _places(one, texts)}
    if not found:
        raise Unscorable("its target is none of its continuations")
    return found


def _places(target: Any, texts: Sequence[str]) -> set[int]:
    if isinstance(target, str):
        stripped, wanted = [one.strip() for one in texts], target.strip()
        if wanted.isdecimal() and len(wanted) < 6 and int(wanted) < len(texts) and wanted not in stripped:
            return {int(wanted)}
        if found := {place for place, one in enumerate(stripped) if one == wanted}:
            return found if len(found) == 1 or not wanted.isdecimal() else found | {int(wanted)}
        return {LETTERS.index(wanted)} if len(wanted) == 1 and wanted in LETTERS[: len(texts)] else set()
    return {int(target)} if isinstance(target, int) and 0 <= target < len(texts) else set()


def _by_text(sample: Sample, scoring: Scoring, answer_filter: str) -> Collection[float]:
    """Exact match of the filtered response with the target, or with any of several targets."""
    answer, *others = _filtered(sample, json.loads(scoring.filters[answer_filter]))
    logged = _only_text(sample.row.get("filtered_resps"))
    if logged is not None and logged not in {answer, *others}:
        why = f"its filtered answer is {logged[:40]!r}, and its response gives {answer[:40]!r}"
        raise Unscorable(why, is_fault=True)
    answer = answer if logged is None else logged
    options = json.loads(scoring.metrics["exact_match"])
    target = sample.row.get("target")
    readings = [[str(target)]] if target is not None else []
    if isinstance(target, list):
        readings = [[str(one) for one in target]]
    elif isinstance(target, str) and target[:1] == "[":
        try:
            listed = ast.literal_eval(target)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            listed = None
        readings += [[str(one) for one in listed]] if isinstance(listed, list) else []
    if not readings:
        raise Unscorable("it has no target")
    if any(one.strip() and exact_match("", one, options) for reading in readings for one in reading):
        raise Unscorable("its settings leave nothing of its target")
    return {float(any(exact_match(answer, one, options) for one in reading)) for reading in readings}


def exact_match(answer: str, target: str, options: Mapping[str, Any]) -> bool:
    """The metric `exact_match` of lm-evaluation-harness, for one answer. Raises Unscorable for a costly pattern."""
    for place, pattern in enumerate(options.get("regexes_to_ignore") or ()):
        if place:  # the first pattern is not given numpy's texts, which end before their last zero
            answer, target = answer.rstrip("\0"), target.rstrip("\0")
        answer, target = replaced(pattern, answer), replaced(pattern, target)
    if options.get("ignore_case"):
        answer, target = (one.lower()[: len(one)] for one in (answer, target))  # numpy's texts do not grow
    if options.get("ignore_punctuation"):
        answer, target = answer.translate(NO_PUNCTUATION), target.translate(NO_PUNCTUATION)
    if options.get("ignore_numbers"):
        answer, target = answer.translate(NO_DIGITS), target.translate(NO_DIGITS)
    return answer.rstrip("\0") == target.rstrip("\0")


@lru_cache(maxsize=64)
def _pattern(pattern: str, flags: int = 0, most: int = LONGEST_PATTERN) -> regex.Pattern[str]:
    if not isinstance(pattern, str) or len(pattern) > most:
        raise Unscorable("a pattern of its settings is too long")
    try:
        return regex.compile(pattern, flags)
    except (regex.error, RecursionError, OverflowError):
        raise Unscorable("a pattern of its settings is none") from None


def replaced(pattern: str, text: str, instead: str = "") -> str:
    """A text with another one in place of each match of a pattern. Raises Unscorable, see `search`."""
    try:
        return str(_pattern(pattern).sub(instead, text, timeout=SECONDS))
    except TimeoutError:
        raise Slow(TOO_SLOW) from None


def find_all(pattern: str, text: str, most: int = LONGEST_PATTERN) -> list[Any]:
    """What a pattern finds in a text. Raises Unscorable, see `search`."""
    try:
        return list(_pattern(pattern, 0, most).findall(text, timeout=SECONDS))
    except TimeoutError:
        raise Slow(TOO_SLOW) from None


def search(pattern: str, text: str, flags: int = 0) -> regex.Match[str] | None:
    """The first match of a stranger's pattern. Raises Unscorable for a costly one, or one that is none."""
    try:
        return _pattern(pattern, flags).search(text, timeout=SECONDS)
    except TimeoutError:
        raise Slow(TOO_SLOW) from None


Step = Callable[[list[Any], Mapping[str, Any], Any], Any]


def _regex(responses: list[Any], step: Mapping[str, Any], _: Any) -> list[str]:
    fallback = step.get("fallback", "[invalid]")
    return [_extracted(one if isinstance(one, str) else "", step, fallback) for one in responses]


def _extracted(response: str, step: Mapping[str, Any], fallback: str) -> str:
    found = find_all(step.get("regex_pattern", USUAL_PATTERN), response)
    if not found:
        return fallback
    try:
        match = found[step.get("group_select", 0)]
    except (IndexError, TypeError):
        raise Unscorable("its response has fewer matches than its filter selects") from None
    if isinstance(match, tuple):
        match = next((one for one in match if one), fallback)
    return str(match).strip()


def _by_choices(responses: list[Any], step: Mapping[str, Any], doc: Any) -> list[str]:
    """The letter of a choice in brackets: what the pattern finds, or else a choice's text, or else a letter after `:`.

    Since 0.4.13 the longest choice that fits counts, before the first: with `in_order` that one.
    """
    choices = doc.get("choices") if isinstance(doc, dict) else None
    if not isinstance(choices, list) or not choices or not all(isinstance(one, str) for one in choices):
        raise Unscorable("its document has no choices")
    plain = [_ignoring(one.strip(), step) for one in choices]
    letters = {one: f"({chr(ord('A') + place)})" for place, one in enumerate(plain)}
    named = [chr(ord("A") + place) for place in range(len(plain))]
    ordered = plain if step.get("in_order") else sorted(plain, key=len, reverse=True)
    texts, after = "|".join(map(re.escape, ordered)), rf":[\s]*({'|'.join(map(re.escape, named))})"
    found = []
    for one in responses:
        said = one if isinstance(one, str) else ""
        match = (
            _selected(step.get("regex_pattern", USUAL_PATTERN), said, step, {})
            or _selected(texts, _ignoring(said, step), step, letters, LONGEST_ANSWER)
            or _selected(after, said, step, {letter: f"({letter})" for letter in named})
        )
        found.append(match or step.get("fallback", "[invalid]"))
    return found


def _selected(
    pattern: str, said: str, step: Mapping[str, Any], names: Mapping[str, str], most: int = LONGEST_PATTERN
) -> str:
    found = find_all(pattern, said, most)
    if not found:
        return ""
    try:
        match = found[step.get("group_select", 0)]
    except (IndexError, TypeError):
        raise Unscorable("its response has fewer matches than its filter selects") from None
    if isinstance(match, tuple):
        match = next((one for one in match if one), "")
    return names.get(match.strip(), match.strip())


def _ignoring(text: str, step: Mapping[str, Any]) -> str:
    for pattern in step.get("regexes_to_ignore") or ():
        text = replaced(pattern, text)
    text = text.lower() if step.get("ignore_case") else text
    return replaced(r"\p{P}", text) if step.get("ignore_punctuation") else text


def _mapped(responses: list[Any], step: Mapping[str, Any], _: Any) -> list[Any]:
    names = step.get("mapping_dict") or {}
    return [names.get(one, step.get("default_value")) for one in responses]


STEPS: Mapping[str, Step] = {
    "regex": _regex,
    "multi_choice_regex": _by_choices,
    "remove_whitespace": lambda responses, *_: [one.strip() for one in responses],
    "lowercase": lambda responses, *_: [one.lower() for one in responses],
    "uppercase": lambda responses, *_: [one.upper() for one in responses],
    "map": _mapped,
    "majority_vote": lambda responses, *_: [Counter(responses).most_common(1)[0][0]],
    "take_first": lambda responses, *_: responses[0],
    "take_first_k": lambda responses, step, _: responses[: step["k"]],
}
FIELDS = {
    "function", "regex_pattern", "group_select", "fallback", "mapping_dict", "default_value", "kwargs", "k",
    "ignore_case", "ignore_punctuation", "regexes_to_ignore",
}  # fmt: skip


def _is_known(step: Any) -> bool:
    return isinstance(step, dict) and step.get("function") in STEPS and step.keys() <= FIELDS


def _filtered(sample: Sample, steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the steps of a filter leave of the logged responses, in each release. Raises Unscorable for no text."""
    responses = sample.row.get("resps")
    while isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list):
        responses = responses[0]
    if not isinstance(responses, list) or not responses or not all(isinstance(one, str) for one in responses):
        raise Unscorable("its response is missing")
    if sum(map(len, responses)) > LONGEST_ANSWER:
        raise Unscorable("its response is too long")
    is_by_choices = any(step["function"] == "multi_choice_regex" for step in steps)
    return [_left(responses, steps, sample.doc, in_order=one) for one in ((False, True) if is_by_choices else (False,))]


def _left(responses: list[str], steps: Sequence[Mapping[str, Any]], doc: Any, *, in_order: bool) -> str:
    found: Any = responses
    try:
        for step in steps:
            found = STEPS[step["function"]](found, {**step, "in_order": in_order}, doc)
    except (AttributeError, TypeError, IndexError, KeyError):
        raise Unscorable("its filter does not fit its response") from None
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(found, str):
        raise Unscorable("its filter leaves no text of its response")
    return found


def _only_text(value: Any) -> str | None:
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else None
