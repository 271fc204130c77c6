"""Pair the answers of two runs to the same questions, from their sample logs, in memory that does not grow with them.

Questions are matched by the hash of the document, repeats of one by their number and their prompt, and what is left by
the question itself, where documents differ in the order of their choices or in their answers. Both logs are read side
by side: only the questions that one of them has not reached yet wait in memory, so many at most, and some that
were asked otherwise. Questions about one text, such as a passage, are a cluster.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from math import inf, sqrt
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bot.audits.samples.check import MOST_SAMPLES, is_extra, metric_in_log
from bot.audits.samples.read import read_log
from bot.audits.samples.records import SkippedRecord
from bot.audits.samples.sample import Sample
from bot.errors import CallError
from bot.evaluation.compare import ANSWER, MOST_QUESTIONS, ORDER, LeafSource, MeasuredRun, Method, Paired, Pairs
from bot.evaluation.finding import grouped
from bot.evaluation.formats.helm import SPLITS
from bot.evaluation.statistics import Contrast, clustered, paired_exact, t_test

FLIPS_KEPT, ANSWER_SHOWN = 5, 200  # flips that are kept, and the characters of an answer
BEFORE, PLACE = 20, 60  # characters of two prompts that are shown: before the first difference, and in all
TEXTS = ("passage", "context", "article", "story", "paragraph")  # what several questions of a dataset may be about
REPEATS = ("repeat", "epoch")  # the fields that number the repeats of a question
SHORTEST_TEXT = 40  # characters
NO_SHARED = "two tools wrote the logs, and no question is spelled alike in both"
MOST_APART = 10_000  # answers to another prompt than their partner's that wait for the end; more are paired at once
MOST_WAITING = 200_000  # questions that only one log has shown so far; each takes about a kilobyte
TOO_APART = f"more than {MOST_WAITING:,} questions of one log are not in the other, or not near the same place"
TOO_MANY = f"has more than {MOST_SAMPLES:,} samples"
# Fields of a document that are no part of its question: what is right, and the choices, which are compared as a set.
ANSWERS = re.compile(r"answer|target|gold|label|solution|rationale|explanation", re.IGNORECASE)
CHOICES = re.compile(r"choice|option|ending", re.IGNORECASE)
SHORTEST_QUESTION = 8  # characters of a text that can be a question
MOST_CLUSTERS = 20_000  # texts that are told apart; of more, nobody knows whether they are clusters


class _Answer(NamedTuple):
    """What is kept of a sample until its pair comes."""

    key: str
    value: float
    prompt_hash: str
    answer: str
    said: int
    cluster: str = ""
    tool: str = ""


_Answers: TypeAlias = Iterator[_Answer | SkippedRecord]
_Filters: TypeAlias = tuple[Sequence[str], Sequence[str]]
_Waiting: TypeAlias = dict[str, dict[str, deque[_Answer]]]  # by the question, then by the prompt


@dataclass(slots=True)
class _PairTally:
    """The running sums of a comparison: Welford's mean and squares, the four counts, the first flips."""

    shared: int = 0
    mean: float = 0.0
    squares: float = 0.0
    is_exact: bool = True
    counts: Counter[tuple[float, float]] = field(default_factory=Counter)
    flips: list[tuple[str, str, str]] = field(default_factory=list)
    prompts_differ: tuple[str, str] = ("", "")
    clusters: dict[str, tuple[float, int]] | None = field(default_factory=dict)
    judged: int = 0
    otherwise: Counter[str] = field(default_factory=Counter)

    def add(self, first: _Answer, second: _Answer, differs: str = "") -> None:
        """Add one question that both runs answered; `differs` is what does so in two documents of it."""
        self.shared += 1
        difference = second.value - first.value
        step = difference - self.mean
        self.mean += step / self.shared
        self.squares += step * (difference - self.mean)
        if self.is_exact and {first.value, second.value} <= {0.0, 1.0}:
            self.counts[first.value, second.value] += 1
        else:
            self.is_exact = False
        if difference and len(self.flips) < FLIPS_KEPT:
            self.flips.append((first.key, first.answer, second.answer))
        if differs:
            self.otherwise[differs] += 1
        elif difference and first.said and first.said == second.said:
            self.judged += 1
        if self.clusters is not None:
            total, count = self.clusters.get(first.cluster, (0.0, 0))
            self.clusters[first.cluster] = (total + difference, count + 1)
            if not first.cluster or len(self.clusters) > MOST_CLUSTERS:
                self.clusters = None
        if not any(self.prompts_differ) and first.prompt_hash and second.prompt_hash != first.prompt_hash:
            self.prompts_differ = first.key, second.key

    def contrast(self) -> tuple[Contrast, Method]:
        """The paired test: by clusters where there are any, exact of not too many zeros and ones, else t."""
        if not self.shared:
            return Contrast(0.0, None, None, lambda _: (-inf, inf)), "paired-t"
        if self.has_clusters:
            return clustered(list((self.clusters or {}).values())), "paired-t"
        if self.is_exact and self.shared <= MOST_QUESTIONS:
            return paired_exact(*self.four), "paired-exact"
        degrees = max(1, self.shared - 1)
        return t_test(self.mean, sqrt(self.squares / degrees / self.shared), degrees), "paired-t"

    @property
    def has_clusters(self) -> bool:
        """Tell whether several questions are about one text."""
        return self.clusters is not None and 1 < len(self.clusters) < self.shared

    @property
    def four(self) -> tuple[int, int, int, int]:
        """Questions that both, only the first, only the second, and neither got right."""
        counts = self.counts
        return counts[1.0, 1.0], counts[1.0, 0.0], counts[0.0, 1.0], counts[0.0, 0.0]


def pair_logs(first: Sequence[Path], second: Sequence[Path], metric: str, filters: _Filters = ((), ())) -> Pairs | str:
    """Pair the logs of one task, which may be several, one for each leaf in the same order.

    `metric` is spelled as in the result file, `exact_match,strict-match`; `filters` are all of either result in their
    order, which tells the samples of each apart where a log does not name them (before release 0.4.7). A text says why
    there are no pairs: a log is cut or damaged, the metric is not in it, or two tools that share no question may spell
    the same ones otherwise.
    """
    whole, sizes, parts, prompts = _PairTally(), [0, 0], [], ("", "")
    for logs in zip(first, second, strict=True):
        part = _PairTally()
        if why := _pair((whole, part) if len(first) > 1 else (whole,), sizes, logs, metric, filters):
            return why
        if any(whole.prompts_differ) and not any(prompts):
            sides = zip(logs, filters, whole.prompts_differ, strict=True)
            prompts = _where_they_differ(*(_prompt_of(log, metric, own, key) for log, own, key in sides))
        parts.append(part)
    contrast, method = whole.contrast()
    counts = whole.four if whole.is_exact else None
    clusters = len(whole.clusters or ()) if whole.has_clusters else 0
    each = tuple(part.contrast()[0] for part in parts) if len(parts) > 1 else ()
    return Pairs(
        contrast, method, whole.shared, max(sizes), counts, tuple(whole.flips), whole.prompts_differ[0], clusters,
        each, prompts, whole.judged, dict(whole.otherwise),
    )  # fmt: skip


def _pair(
    tallies: Sequence[_PairTally], sizes: list[int], logs: tuple[Path, Path], metric: str, filters: _Filters
) -> str:
    """Read two logs side by side; returns why they give no pairs, else "".

    Answers to one question wait for a partner with the same prompt, which tells repeats apart; answers without a
    partner at the end were asked otherwise.
    """
    waiting: tuple[_Waiting, _Waiting] = ({}, {})
    answers = [_answers(log, metric, own) for log, own in zip(logs, filters, strict=True)]
    apart = waits = 0
    for row in zip_longest(*answers):
        for side, item in enumerate(row):
            if item is None:
                continue
            if isinstance(item, SkippedRecord):
                return f"{logs[side].name}: {f'record {item.line}: ' if item.line else ''}{item.why}"
            key = item.key
            sizes[side] += 1
            partner = _taken(waiting[1 - side], key, item.prompt_hash if apart < MOST_APART else None)
            waits += -1 if partner else 1
            if waits > MOST_WAITING:
                return TOO_APART
            if partner is None:
                apart += key in waiting[1 - side]
                waiting[side].setdefault(key, {}).setdefault(item.prompt_hash, deque()).append(item)
                continue
            for tally in tallies:
                tally.add(*((partner, item) if side else (item, partner)))
    for found in chain(_asked_otherwise(waiting), _of_one_question(waiting, logs, metric, filters)):
        for tally in tallies:
            tally.add(*found)
    left = [chain(*(chain(*prompts.values()) for prompts in one.values())) for one in waiting]
    first, second = ({one.tool for one in answers} for answers in left)
    return "" if tallies[-1].shared or (first == second and first) else NO_SHARED


def _asked_otherwise(waiting: tuple[_Waiting, _Waiting]) -> Iterator[tuple[_Answer, _Answer, str]]:
    """The answers to one question that wait on both sides, because their prompts differ."""
    for key, prompts in waiting[0].items():
        for one, other in zip(chain(*prompts.values()), chain(*waiting[1].get(key, {}).values()), strict=False):
            yield one, other, ""


def _of_one_question(
    waiting: tuple[_Waiting, _Waiting], logs: tuple[Path, Path], metric: str, filters: _Filters
) -> Iterator[tuple[_Answer, _Answer, str]]:
    """The answers to the same question in two documents, and what differs there; both logs are read again for it.

    Each log has one document with that question.
    """
    alone = [
        {key: next(chain(*prompts.values())) for key, prompts in mine.items() if key not in theirs}
        for mine, theirs in (waiting, waiting[::-1])
    ]
    if not all(alone):
        return
    first = grouped(_asked(logs[0], metric, filters[0], alone[0]))
    second = grouped(_asked(logs[1], metric, filters[1], alone[1]))
    for question, there in first.items():
        if len(there) == len(here := second.get(question, [])) == 1:
            (one, order), (other, other_order) = there[0], here[0]
            yield alone[0][one], alone[1][other], ORDER if order != other_order else ANSWER


def _asked(
    log: Path, metric: str, filters: Sequence[str], keys: Container[str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The questions of the documents with these keys, each with its key and the order of its choices."""
    for sample in _questions(log, metric, filters):
        if isinstance(sample, Sample) and (key := _key(sample)) in keys:
            question, order = _question(sample.doc, key)
            if question:
                yield question, (key, order)


def _taken(waiting: _Waiting, key: str, prompt_hash: str | None) -> _Answer | None:
    """Take out the first waiting answer to a question; with a prompt's hash the first to that prompt."""
    prompts = waiting.get(key, {})
    asked = next(iter(prompts), None) if prompt_hash is None else prompt_hash
    if asked is None or asked not in prompts:
        return None
    found = prompts[asked].popleft()
    if not prompts[asked]:
        del prompts[asked]
    if not prompts:
        del waiting[key]
    return found


def _readable(log: Path) -> Iterator[Sample | SkippedRecord]:
    """The samples of a log, and why there are no more of one that cannot be read."""
    try:
        yield from islice(read := read_log(log), MOST_SAMPLES)
        if next(read, None) is not None:
            yield SkippedRecord(0, TOO_MANY)
    except CallError as error:
        yield SkippedRecord(0, str(error))


def _answers(log: Path, metric: str, filters: Sequence[str]) -> _Answers:
    """The answers of a log to its questions, each with the key of the question; a sample without a score has none."""
    name, is_scored = metric.partition(",")[0], False
    for sample in _questions(log, metric, filters):
        if isinstance(sample, SkippedRecord):
            yield sample
            continue
        value = sample.metrics.get(name)
        if value is None:
            continue
        is_scored, key = True, _key(sample)
        yield _Answer(
            key, value, _short(sample.prompt_hash), _shown(sample), _said(sample), _cluster(sample.doc),
            sample.form.partition("-0")[0],
        )  # fmt: skip
    if not is_scored:
        yield SkippedRecord(0, f"no sample has a number as its {metric.removesuffix(',none')}")


def _questions(log: Path, metric: str, filters: Sequence[str]) -> Iterator[Sample | SkippedRecord]:
    """The samples that a metric is made of."""
    wanted = metric.partition(",")[2] or (_split_of(log) if log.is_dir() else "")
    times: Counter[int | str | None] = Counter()
    for sample in _readable(log):
        if isinstance(sample, SkippedRecord):
            yield sample
            continue
        is_named = sample.row.get("filter") is not None or len(filters) < 2
        if not is_named:
            times[sample.doc_id] += 1
        own = sample.filter if is_named else next(islice(filters, times[sample.doc_id] - 1, None), "")
        if not is_extra(sample) and (not wanted or own == wanted):
            yield sample


def _split_of(run: Path) -> str:
    """The split of a run of HELM that its means are over."""
    found = set()
    for sample in _readable(run):
        found.add(sample.filter if isinstance(sample, Sample) else "")
        if SPLITS[0] in found:
            break
    return next((split for split in SPLITS if split in found), "")


def _key(sample: Sample) -> str:
    key = _short(sample.doc_hash) or _digest(sample.doc if sample.doc is not None else sample.doc_id)
    repeat = next((one for name in REPEATS if isinstance(one := sample.row.get(name), int)), "")
    return f"{key}#{repeat}"


def _question(doc: object, key: str) -> tuple[str, str]:
    """Digests of the question of a document, "" where it shows none, and of the order of its choices."""
    if not isinstance(doc, dict):
        return "", ""
    asked = {name: value for name, value in doc.items() if not (ANSWERS.search(name) or CHOICES.search(name))}
    if not any(isinstance(one, str) and len(one) >= SHORTEST_QUESTION for one in asked.values()):
        return "", ""
    choices = [value for name, value in sorted(doc.items()) if CHOICES.search(name) and not ANSWERS.search(name)]
    flat = [json.dumps(one, sort_keys=True, default=str)
            for value in choices for one in (value if isinstance(value, list) else [value])]  # fmt: skip
    return _digest([asked, sorted(flat), key.partition("#")[2]]), _digest(flat)


def _said(sample: Sample) -> int:
    """A hash of the whole answer, or of all its likelihoods, of this process alone; 0 where there is none."""
    said = sample.answer or sample.response or (str(sample.logprobs) if sample.logprobs else "")
    return hash(said) if said else 0


def _prompt_of(log: Path, metric: str, filters: Sequence[str], key: str) -> str:
    asked = (one for one in _questions(log, metric, filters) if isinstance(one, Sample) and _key(one) == key)
    return next((one.prompt for one in asked), "")


def _where_they_differ(first: str, second: str) -> tuple[str, str]:
    """The place where two prompts begin to differ, in each."""
    pairs = enumerate(zip(first, second, strict=False))
    start = max(0, next((at for at, (one, other) in pairs if one != other), min(len(first), len(second))) - BEFORE)
    return first[start : start + PLACE], second[start : start + PLACE]


def _cluster(doc: object) -> str:
    """The identity of the text that a question is about, empty where the document has none."""
    if not isinstance(doc, dict):
        return ""
    for text in map(doc.get, TEXTS):
        if isinstance(text, str) and len(text) >= SHORTEST_TEXT:
            return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return ""


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _short(text: str) -> str:
    """The text, or its digest where it is longer than a hash: a stranger chose it, and it is kept in memory."""
    return text if len(text) <= ANSWER_SHOWN else _digest(text)


def _shown(sample: Sample) -> str:
    """The answer as people read it, shortened: the filtered text, or the likeliest continuation."""
    if sample.answer is not None or sample.response is not None:
        return (sample.answer or sample.response or "")[:ANSWER_SHOWN]
    if len(sample.logprobs) == len(sample.continuations) > 1:  # one continuation is the target, not an answer
        best = max(range(len(sample.logprobs)), key=sample.logprobs.__getitem__)
        return sample.continuations[best].strip()[:ANSWER_SHOWN]
    return ""


def pairs_between(
    first: MeasuredRun, second: MeasuredRun, logs: tuple[Mapping[str, Path], Mapping[str, Path]], format_id: str
) -> Paired:
    """The pairs of each task that both runs have, and whose leaves all have a log in both.

    `logs` are by the leaves' keys in the results.
    """
    found: dict[str, Pairs | str] = {}
    for name, one in first.tasks.items():
        other = second.tasks.get(name)
        keys = [
            [run.sources[leaf].key if leaf in run.sources else leaf for leaf in one.leaves] for run in (first, second)
        ]
        is_logged = all(key in own for own, of_run in zip(logs, keys, strict=True) for key in of_run)
        if other is None or other.metric != one.metric or not is_logged:
            continue
        metric = metric_in_log(format_id, keys[0][0], one.metric)
        leaves = [run.sources[task.leaves[0]] for run, task in ((first, one), (second, other)) if run.sources]
        times = sorted({source.result.leaves[source.key].epochs for source in leaves})
        if len(times) > 1:
            often = "once" if times[0] == 1 else f"{times[0]} times"
            found[name] = f"one run answered each question {often}, the other {times[1]} times"
            continue
        filters = [_filters_of(source, metric) for source in leaves] if len(leaves) == 2 else [(), ()]
        sides = [[own[key] for key in of_run] for own, of_run in zip(logs, keys, strict=True)]
        found[name] = pair_logs(sides[0], sides[1], metric, (filters[0], filters[1]))
    return found


def _filters_of(source: LeafSource, metric: str) -> tuple[str, ...]:
    """The filters of a metric in a result, in their order."""
    keys = (key.partition(",") for key in source.result.leaves[source.key].numbers)
    return tuple([name for own, _, name in keys if own == metric.partition(",")[0]])
