"""Score answers in logs of Inspect again by its built-in scorers, with the options of the log.

The definitions are those of inspect_ai 0.3.20 to 0.3.285 (`scorer/` and `solver/_multiple_choice.py`); where releases
differ, the score of each counts. Numeric matching is left out: it changed with almost every release.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import regex

from bot.audits.samples.rescore import MOST_SLOW, TOO_SLOW, Slow, Unscorable, find_all, replaced, search
from bot.audits.samples.sample import Sample
from bot.evaluation.result import Scoring

STRIPPED = string.whitespace + string.punctuation
LOCATIONS = {"begin", "end", "any", "exact"}
NO_SIGNS = str.maketrans("", "", string.punctuation)
ARTICLES = re.compile(r"\b(a|an|the)\b")
# What the scorer `answer` looks for: since 0.3.28x the last answer, before the first.
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "letter": (
        r"(?is)ANSWER\s*:\s*([A-Za-z])(?:[^\w]|\n|$)(?!.*ANSWER\s*:)",
        r"(?i)ANSWER\s*:\s*([A-Za-z])(?:[^\w]|\n|$)",
    ),
    "word": (
        r"(?is)ANSWER\s*:\s*(\S+?)(?=[.,;:!?]?\s*(?:\n|$))(?!.*ANSWER\s*:)",
        r"(?i)ANSWER\s*:\s*(\w+)(?:\n|$)",
    ),
    "line": (r"(?i)ANSWER\s*:\s*([^\n]+)\s*\Z", r"(?i)ANSWER\s*:\s*([^\n]+)"),
}
# What the solver `multiple_choice` reads as the answer: a line of its own, or else anywhere.
CHOSEN = (
    r"(?im)^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)",
    r"(?i)ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)",
)
WRAPPED = (
    (r"\$\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\$", r"\1"),
    (r"\*\*\s*([A-Za-z\d][A-Za-z\d ,]*?)\s*\*\*", r"\1"),
    (r"(?i)(^|[:,])(\s*)\(([A-Za-z\d])\)(?=\s*(?:,|\.|\n|\Z))", r"\1\2\3"),
)
LONGEST_COMPLETION = 1_000_000  # characters


class Untold(Unscorable):
    """The answer was made by a solver that nobody knows: the log shows only what the scorer took for it."""


class Answered(NamedTuple):
    """What a scorer is given: the completion, the targets, its options, and the answer that it noted."""

    said: str
    targets: Sequence[str]
    options: Mapping[str, Any]
    noted: str
    choices: int


class InspectRescorer:
    """Scores the samples of one leaf of a log again; `scoring` has the scorer's name and its options."""

    def __init__(self, scoring: Scoring | None) -> None:
        self._options: dict[str, Any] = {}
        self._scorer = scoring.output.partition(" ")[2] if scoring is not None else ""
        self._slow = 0
        for options in scoring.metrics.values() if scoring is not None else ():
            found = json.loads(options) or {}
            self._options = found if isinstance(found, dict) else {"unknown": found}

    def knows(self, metric: str, answer_filter: str) -> bool:
        """Tell whether the scorer is one that is run again; no field of a sample decides it."""
        del metric, answer_filter
        options = {name for name, value in self._options.items() if value is not None}
        if self._scorer not in SCORERS or not options <= SCORERS[self._scorer][1] or self._options.get("numeric"):
            return False
        is_pattern = isinstance(self._options.get("pattern"), str) or self._scorer not in {"pattern", "answer"}
        is_kind = self._scorer != "answer" or self._options.get("pattern") in ANSWERS
        return is_pattern and is_kind and self._options.get("location", "end") in LOCATIONS

    def why_unknown(self, metric: str, answer_filter: str) -> str:
        """Why a metric that is not known is not scored again."""
        del metric, answer_filter
        return "its scorer, or an option of it, is none that is run again"

    def score(self, metric: str, sample: Sample, answer_filter: str) -> Collection[float]:
        """The scores that the answer may have. Raises Unscorable."""
        del metric, answer_filter
        if sample.response is None:
            raise Unscorable("it has no answer")
        if len(sample.response) > LONGEST_COMPLETION:
            raise Unscorable("its answer is too long")
        if self._slow > MOST_SLOW:
            raise Slow(TOO_SLOW)
        target = sample.row.get("target")
        targets = [one for one in (target if isinstance(target, list) else [target]) if isinstance(one, str)]
        try:
            choices = sample.row.get("choices")
            count = len(choices) if isinstance(choices, list) else 0
            answered = Answered(sample.response, targets, self._options, _noted(sample.row, self._scorer), count)
            return set(SCORERS[self._scorer][0](answered))
        except Slow:
            self._slow += 1
            raise


def _noted(row: Mapping[str, Any], scorer: str) -> str:
    scores = row.get("scores")
    score = scores.get(scorer) if isinstance(scores, dict) else None
    noted = score.get("answer") if isinstance(score, dict) else None
    return noted if isinstance(noted, str) else ""


def _match(one: Answered) -> Iterator[float]:
    location = str(one.options.get("location", "end"))
    folds = (str.casefold, str.lower) if one.options.get("ignore_case", True) else (str,)
    for fold in folds:
        said = fold(one.said.strip()).strip(STRIPPED)
        yield float(any(_is_at(location, said, fold(target.strip()).strip(STRIPPED)) for target in one.targets))


def _is_at(location: str, said: str, wanted: str) -> bool:
    if location == "begin":
        return said.startswith(wanted)
    if location == "end":
        return said.endswith(wanted)
    return said == wanted if location == "exact" else wanted in said


def _includes(one: Answered) -> Iterator[float]:
    folds = (str.casefold, str.lower) if one.options.get("ignore_case", True) else (str,)
    for fold in folds:
        yield float(any(fold(target) in fold(one.said) for target in one.targets))


def _pattern(one: Answered) -> Iterator[float]:
    yield from _found(one.options["pattern"], one)


def _answer(one: Answered) -> Iterator[float]:
    for pattern in ANSWERS[one.options["pattern"]]:
        yield from _found(pattern, one)


def _found(pattern: str, one: Answered) -> Iterator[float]:
    """Whether what a pattern captures is a target; without groups the whole match counts, before 0.3.28x nothing."""
    is_folded = bool(one.options.get("ignore_case", True))
    match = search(pattern, one.said, regex.IGNORECASE if is_folded else 0)
    if match is None or not match.groups():
        yield 0.0
    if match is None:
        return
    targets = [target.lower() for target in one.targets] if is_folded else one.targets
    captured = [group for group in (match.groups() or (match[0],)) if isinstance(group, str)]
    hits = [group for group in captured if (group.lower() if is_folded else group) in targets]
    if one.options.get("match_all"):
        yield float(bool(captured) and hits == captured and any(one.targets))
        if not captured or not match.groups():
            yield 1.0  # before 0.3.28x
    else:
        yield float(bool(hits) and bool(hits[0]))


def _exact(one: Answered) -> Iterator[float]:
    for peels in (True, False):
        said = _normal(one.said, (), peels=peels)
        wanted = [_normal(target, (), peels=peels) for target in one.targets]
        yield float(any(target == said for target in wanted if target))
        yield float(any(set(target.split()) == set(said.split()) for target in wanted))


def _f1(one: Answered) -> Iterator[float]:
    stops = one.options.get("stop_words") or ()
    for peels in (True, False):
        left = tuple(_token(word, peels=peels) for word in stops if isinstance(word, str))
        said = _normal(one.said, left, peels=peels).split()
        wanted = [_normal(target, left, peels=peels).split() for target in one.targets]
        yield round(max((_overlap(Counter(said), Counter(target)) for target in wanted if target), default=0.0), 2)
        yield round(max((_overlap(Counter(set(said)), Counter(set(target))) for target in wanted), default=0.0), 2)


def _overlap(said: Counter[str], wanted: Counter[str]) -> float:
    shared = sum((said & wanted).values())
    precision = shared / said.total() if said else 1.0
    recall = shared / wanted.total() if wanted else 1.0
    return 2 * precision * recall / (precision + recall) if precision or recall else 0.0


def _normal(text: str, stops: Collection[str], *, peels: bool) -> str:
    """Inspect's normal form; with `peels` a number loses the signs around it, as since 0.3.28x."""
    tokens = (_token(word, peels=peels) for word in re.split(" |-", text))
    return " ".join(token for token in tokens if token.strip() and token not in stops).strip()


def _token(word: str, *, peels: bool) -> str:
    word = word.casefold()
    if not _is_number(word, is_finite=peels):
        stripped = word.strip(STRIPPED)
        word = stripped if peels and _is_number(stripped) else word.translate(NO_SIGNS)
    word = str(float(word)) if _is_number(word, is_finite=peels) else word
    return " ".join(ARTICLES.sub(" ", word).split())


def _is_number(text: str, *, is_finite: bool = True) -> bool:
    try:
        return isfinite(float(text)) or not is_finite
    except (ValueError, OverflowError):
        return False


def _choice(one: Answered) -> Iterator[float]:
    """Whether the letters of the answer are those of the target.

    The answer that the scorer notes must stand in the completion: the solver writes it there where it shuffled the
    choices.
    """
    noted = {letter for token in one.noted.replace(",", " ").split() for letter in _letters(token)}
    wanted = {
        letter for target in one.targets for token in target.replace(",", " ").split() for letter in _letters(token)
    }
    told = list(_chosen(one.said, set(string.ascii_uppercase[: one.choices])))
    if not told and noted:
        raise Untold("its answer has no letter")
    if told and noted and noted not in told:
        why = f"its scorer noted {one.noted[:20]!r}, and its answer gives {', '.join(sorted(told[-1]))[:20]!r}"
        raise Unscorable(why, is_fault=True)
    yield float(noted == wanted)


def _letters(token: str) -> Sequence[str]:
    return [token] if token.isdecimal() else list(token.upper())


def _chosen(said: str, choices: Collection[str]) -> Iterator[set[str]]:
    """What a completion names as its answers: the last, as since 0.3.28x, the first, and each letter of either.

    Before 0.3.150 each letter counted that is one of a choice.
    """
    plain = said
    for pattern, instead in WRAPPED:
        plain = replaced(pattern, plain, instead)
    for text in (plain, said):
        for pattern in CHOSEN:
            found = find_all(pattern, text)
            for match in (found[0], found[-1]) if found else ():
                spelled = match.strip().rstrip(".").upper()
                yield {one for one in spelled.replace(" AND ", ",").replace(" ", "").split(",") if one}
                yield set(spelled.replace(" AND ", ",").replace(" ", "").replace(",", ""))
                yield set(spelled) & set(choices)


Score = Callable[[Answered], Iterator[float]]
SCORERS: Mapping[str, tuple[Score, set[str]]] = {
    "match": (_match, {"location", "ignore_case", "numeric"}),
    "includes": (_includes, {"ignore_case"}),
    "pattern": (_pattern, {"pattern", "ignore_case", "match_all"}),
    "answer": (_answer, {"pattern"}),
    "exact": (_exact, set()),
    "f1": (_f1, {"stop_words"}),
    "choice": (_choice, set()),
}
