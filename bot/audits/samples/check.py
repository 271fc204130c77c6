"""Check results against the sample logs beside them: the mean, the score of each answer, and the questions.

One sample is held at a time, so memory does not grow with the log. What is found is a value for the rules; nothing is
decided here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from math import inf, isclose
from pathlib import Path

from bot.audits.drop.samples import golds_of
from bot.audits.drop.scorer import Scorer
from bot.audits.samples.helm import STATES, STATISTICS
from bot.audits.samples.read import read_log
from bot.audits.samples.records import NESTED, SkippedRecord
from bot.audits.samples.sample import HASHES, Sample, by_likelihood, document_hash, sha256
from bot.errors import CallError, MalformedSamples
from bot.evaluation.aggregates import is_mean_of_proportions, samples_behind_key, whole
from bot.evaluation.finding import counted
from bot.evaluation.result import CheckedSamples, Result, WrongMetric

MAX_LOG = 2 << 30  # bytes of one log
MOST_SAMPLES, MOST_FILTERS, MOST_METRICS = 1_000_000, 16, 1_000  # of one log: each costs memory
NUMBERED = re.compile(r"(?s:(.*?))(0|[1-9]\d{0,5})")  # a document's name that ends in a number, or is one
LONGEST_NAME = 200  # characters of such a name
MOST_ORDERED = 5  # filters that are tried in each order
MOST_FIELDS = 16  # of such names, which differ in what stands before the number
# Metrics whose value of a task is no mean of those of its samples.
NO_MEAN = re.compile(r"perplexity|ppl|bits_per_byte|bleu|chrf|ter$|mcc|matthews|pearson|spearman|rouge", re.IGNORECASE)
# Tasks whose exact match is that of the filtered answer and the target, but for case and signs.
PLAIN = re.compile(r"(leaderboard_)?(gsm8k|gsm_plus|bbh|mmlu_pro|mmlu_flan|mgsm)")
COUNTED = frozenset({"acc", "exact_match"})  # metrics of zeros and ones, whose error tells the number of samples
NO_SAMPLE = "it has no sample"
LETTERS = "ABCDEFGHIJ"
IGNORED = re.compile(r"[,$]|\.$")  # what GSM8K's exact match leaves out behind the "#### " of answer and target
SIGNS = re.compile(r"[\W_]+")


def metric_in_log(format_id: str, leaf_key: str, key: str) -> str:
    """What the samples of a leaf call a metric of its result."""
    if format_id != "inspect" or key not in {"accuracy", "mean"}:
        return key
    task, _, score = leaf_key.partition(" ")
    return leaf_key.rpartition(") ")[2] if "(" in task else score  # the arguments of a task may have spaces


def check_leaf(result: Result, leaf_key: str, log: Path, name: str) -> CheckedSamples | None:
    """Check one leaf of a result against its log; `name` is what findings and entries call the log.

    None for a result of Inspect that was written without its samples.
    """
    check = _Check(leaf_key, result)
    try:
        size = sum(one.stat().st_size for one in _files(log))
        if size > MAX_LOG:
            return CheckedSamples(leaf_key, name, unreadable=f"has {size >> 20} MiB; a log may have 2 GiB")
        digest = _sha256(log)
        check.read(read_log(log))
    except (CallError, OSError) as error:
        return CheckedSamples(leaf_key, name, unreadable=str(error).removeprefix(f"{log}: "))
    found = check.outcome(result, name, digest)
    return None if result.format == "inspect" and found.unreadable == NO_SAMPLE else found


def _files(log: Path) -> list[Path]:
    return [log / one for one in (STATES, STATISTICS) if (log / one).exists()] if log.is_dir() else [log]


def _sha256(log: Path) -> str:
    """The SHA-256 of a log; of the files of a run, that of one after the other."""
    digest = hashlib.sha256()
    for one in _files(log):
        with one.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


@dataclass(slots=True)
class _Tally:
    """The sums of one metric over the samples, and how its values follow from the logged answers."""

    total: float = 0.0
    lost: float = 0.0  # by rounding in `total` (Neumaier)
    count: int = 0
    low: float = inf
    high: float = -inf
    follows: int = 0
    wrongs: int = 0
    wrong: str = ""  # the first of them
    has_fractions: bool = False

    def add(self, value: float) -> None:
        """Add the value of a sample."""
        total = self.total + value
        larger, smaller = (self.total, value) if abs(self.total) >= abs(value) else (value, self.total)
        self.lost += (larger - total) + smaller
        self.total = total
        self.count += 1
        self.low, self.high = min(self.low, value), max(self.high, value)
        self.has_fractions = self.has_fractions or value not in {0.0, 1.0}

    @property
    def mean(self) -> float:
        """The mean over the samples."""
        return (self.total + self.lost) / self.count


@dataclass(slots=True)
class _Questions:
    """The documents of one filter: each may come once, and their digest does not depend on their order.

    Of a name that ends in a number one bit is kept, in a field for what stands before the number.
    """

    count: int = 0
    largest: int = -1
    total: int = 0
    numbers: dict[str, bytearray] = field(default_factory=dict)
    names: set[bytes] = field(default_factory=set)

    def add(self, doc_id: int | str | None, key: str, doc_hash: str) -> bool:
        """Add a document; False for one that came before. `key` is its number with that of its repeat."""
        self.count += 1
        self.total = (self.total + int(sha256(doc_hash), 16)) % (1 << 256)
        numbered = NUMBERED.fullmatch(key) if len(key) <= LONGEST_NAME else None
        if numbered is None or (numbered[1] not in self.numbers and len(self.numbers) == MOST_FIELDS):
            mark = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
            is_new = mark not in self.names
            self.names.add(mark)
            return is_new
        if isinstance(doc_id, int):
            self.largest = max(self.largest, doc_id)
        seen, number = self.numbers.setdefault(numbered[1], bytearray()), int(numbered[2])
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(seen):
            seen.extend(bytes(place + 1 - len(seen)))
        is_new = not seen[place] & bit
        seen[place] |= bit
        return is_new


class _Check:
    """What is known of a leaf's log so far, and the reading of it."""

    def __init__(self, leaf_key: str, result: Result) -> None:
        leaf = result.leaves[leaf_key]
        self._key, self._leaf, self._task_hash = leaf_key, leaf, result.task_hashes.get(leaf_key, "")
        self._model = result.model.id
        self._filters = {key.partition(",")[2] for key in leaf.numbers if "," in key} - {""}
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._questions: dict[str, _Questions] = {}
        self._hashes = hashlib.sha256()
        self._is_hashed = True
        self._times: dict[int | str | None, int] = {}
        self._others = ""
        self._unreadable = ""
        self._scorer = Scorer()

    def read(self, samples: Iterable[Sample | SkippedRecord]) -> None:
        """Read a log to its end. Raises CallError where it has more of anything than a harness writes."""
        for place, sample in enumerate(samples):
            is_many = len(self._questions) > MOST_FILTERS or len(self._tallies) > MOST_METRICS
            if is_many or place == MOST_SAMPLES:
                most = f"{MOST_SAMPLES:,} samples, {MOST_FILTERS} filters or {MOST_METRICS:,} metrics"
                raise CallError(f"has more than {most}")
            if isinstance(sample, SkippedRecord):
                self._unreadable = self._unreadable or f"record {sample.line}: {sample.why}"
            elif not is_extra(sample):
                try:
                    self._add(sample)
                except (RecursionError, MalformedSamples):
                    self._unreadable = self._unreadable or NESTED

    def _add(self, sample: Sample) -> None:
        group = self._group(sample)
        self._check_hashes(sample)
        if sample.model and self._model and sample.model != self._model:
            self._say(f"the samples are of {sample.model}, and the result is of {self._model}")
        questions = self._questions.setdefault(group, _Questions())
        key = str(sample.doc_id) if sample.row.get("epoch") is None else f"{sample.row['epoch']} {sample.doc_id}"
        if not questions.add(sample.doc_id, key, sample.doc_hash):
            self._say(f"the document {sample.doc_id} is in the log more than once")
        for name, values in _values(sample):
            tally = self._tallies.setdefault((name, group), _Tally())
            for value in values:
                tally.add(value)
            allowed = self._allowed(name, sample)
            if allowed is None:
                continue
            tally.follows += 1
            wrong = next((it for it in values if not any(isclose(it, one, abs_tol=1e-6) for one in allowed)), None)
            if wrong is not None:
                tally.wrongs += 1
                tally.wrong = tally.wrong or f"{sample.doc_id} has {wrong:g}, its answer gives {max(allowed):g}"

    def _group(self, sample: Sample) -> str:
        """The filter of a sample. Releases before 0.4.7 do not log it, and write all samples once for each filter."""
        if sample.row.get("filter") is not None or len(self._filters) < 2 or not sample.form.startswith("lm-eval"):
            return sample.filter
        self._times[sample.doc_id] = self._times.get(sample.doc_id, 0) + 1
        return f"#{self._times[sample.doc_id]}" if self._times[sample.doc_id] <= len(self._filters) else "#1"

    def _check_hashes(self, sample: Sample) -> None:
        row = sample.row
        if not all(isinstance(row.get(name), str) for name in HASHES):
            self._is_hashed = False
            return
        self._hashes.update("".join(row[name] for name in HASHES).encode(errors="surrogatepass"))
        if sample.doc is not None and document_hash(sample.doc) != row["doc_hash"]:
            self._say(f"the document {sample.doc_id} is not what its hash says")
        elif isinstance(row.get("arguments"), dict) and sample.prompt and sha256(sample.prompt) != row["prompt_hash"]:
            self._say(f"the prompt of document {sample.doc_id} is not what its hash says")
        elif isinstance(row.get("target"), str) and sha256(sample.target) != row["target_hash"]:
            self._say(f"the target of document {sample.doc_id} is not what its hash says")

    def _say(self, text: str) -> None:
        """Keep the first reason why the questions are others."""
        self._others = self._others or text

    def _allowed(self, name: str, sample: Sample) -> set[float] | None:
        """The values that a metric may have for the logged answer; None where nobody can tell."""
        if name in sample.rescored:
            return set(sample.rescored[name])
        if not sample.form.startswith("lm-eval") or is_mean_of_proportions(self._key, name):
            return None
        if name in {"acc", "acc_norm"} and sample.logprobs and "acc_mutual_info" not in sample.metrics:
            return _by_likelihood(sample, per_character=name == "acc_norm")
        if name in {"em", "f1"} and self._key.startswith("drop") and isinstance(sample.doc, dict):
            return self._by_drop(name, sample)
        if name == "exact_match" and sample.answer is not None and sample.target:
            return _by_text(sample.answer, sample.target, is_plain=PLAIN.match(self._key) is not None)
        return None

    def _by_drop(self, name: str, sample: Sample) -> set[float] | None:
        try:
            golds = golds_of({one: sample.doc.get(one) for one in ("answers", "answer", "validated_answers")})
            if golds is None or sample.answer is None:
                return None
            score = self._scorer.score(sample.answer, golds)
        except MalformedSamples:
            return None
        return {score.em if name == "em" else score.f1}

    def outcome(self, result: Result, name: str, digest: str) -> CheckedSamples:
        """The findings of the whole log."""
        tallies = self._by_number(result)
        questions = max(self._questions.values(), key=lambda one: one.count, default=_Questions())
        self._check_count(result, questions)
        for (metric, group), tally in self._tallies.items():
            without = self._questions[group].count - tally.count
            if without > (self._leaf.unscored or 0) and any(tally is one for one in tallies.values()):
                self._say(f"{metric} is missing in {counted(without, 'sample')}")
        if self._task_hash and questions.count and not self._is_hashed:
            self._say("the result names the hash of its samples, and not all samples of the log have one")
        elif self._task_hash and questions.count and self._task_hash != self._hashes.hexdigest():
            self._say("the result names the hash of other samples")
        if not questions.count and not self._unreadable:
            self._unreadable = NO_SAMPLE
        return CheckedSamples(
            self._key,
            name,
            digest,
            questions.count,
            f"{questions.total:064x}"[:32] if questions.count else "",
            {key: tally.mean for key, tally in tallies.items() if _is_mean(key, tally)},
            tuple(key for key, tally in tallies.items() if tally.follows == tally.count and _is_known(key, tally)),
            tuple(
                WrongMetric(key, one.wrongs, one.wrong)
                for key, one in tallies.items()
                if one.wrongs and _is_known(key, one)
            ),
            self._others,
            self._unreadable,
        )

    def _check_count(self, result: Result, questions: _Questions) -> None:
        leaf, count = self._leaf, questions.count
        asked = (leaf.samples or 0) + (leaf.unscored or 0)
        expected = asked * max(1, leaf.epochs) if leaf.samples else self._recovered()
        if expected and count and count != expected and not self._unreadable:
            self._say(f"the log has {counted(count, 'sample')}, and the result is of {expected:,}")
        is_whole = result.limit is None and leaf.samples == (leaf.original or leaf.samples)
        if is_whole and count and questions.largest >= count and set(questions.numbers) == {""} and not questions.names:
            self._say(
                f"the log has {count} documents, and their numbers go up to {questions.largest}: some are missing"
            )

    def _recovered(self) -> int | None:
        """The number of samples that a metric of zeros and ones gives with its error."""
        names = ((key, key.partition(",")[0]) for key in self._leaf.numbers)
        keys = (key for key, name in names if name in COUNTED and not is_mean_of_proportions(self._key, name))
        return whole(next(filter(None, (samples_behind_key(self._leaf, key) for key in keys)), None))

    def _by_number(self, result: Result) -> dict[str, _Tally]:
        """The tallies by the keys of the result's numbers."""
        found: dict[str, _Tally] = {}
        for key in self._leaf.numbers:
            name, comma, answer_filter = key.partition(",")
            if comma and (name, answer_filter) in self._tallies:
                found[key] = self._tallies[name, answer_filter]
            elif comma:
                found |= self._unnamed(name)
            elif result.format == "inspect" and self._leaf.reducer in {"", "mean"}:
                scorer = (metric_in_log(result.format, self._key, key), "none")
                found |= {key: self._tallies[scorer]} if scorer in self._tallies else {}
            elif own := [tally for (one, _), tally in self._tallies.items() if one == key]:
                sized = [tally for tally in own if tally.count == self._leaf.samples]
                found |= {key: own[0]} if len(own) == 1 else {key: sized[0]} if len(sized) == 1 else {}
        return found

    def _unnamed(self, name: str) -> dict[str, _Tally]:
        """The tallies of a metric whose filters the log does not name: one for each key, so that the means fit best."""
        own = [tally for (one, group), tally in self._tallies.items() if one == name and group[:1] in "#n"]
        numbers = self._leaf.numbers.items()
        values = {key: one for key, one in numbers if key.startswith(f"{name},") and isinstance(one, float)}
        if not own or len(own) < len(values) or len(own) > MOST_ORDERED:
            return {key: min(own, key=partial(_distance, one)) for key, one in values.items() if own}
        orders = permutations(own, len(values))
        return dict(
            zip(values, min(orders, key=lambda order: sum(map(_distance, values.values(), order))), strict=True)
        )


def _distance(value: float, tally: _Tally) -> float:
    return abs(tally.mean - value)


def _is_mean(key: str, tally: _Tally) -> bool:
    """Tell whether the value of the task must be the mean over the samples."""
    return not NO_MEAN.search(key) and tally.low >= 0 and tally.high <= 1


def _is_known(key: str, tally: _Tally) -> bool:
    """Tell whether a metric is one that we score: others may have the same name, and fractions as values."""
    return not tally.has_fractions or key.partition(",")[0] in {"em", "f1"}


def is_extra(sample: Sample) -> bool:
    """Tell whether a sample counts for no number of the result.

    One of Inspect failed and has no score. One of HELM changed the text of the question, or asks for one more of the
    references that are likelihoods.
    """
    if sample.form == "inspect":
        return not sample.row.get("scores")
    instance = sample.row.get("instance")
    is_changed = isinstance(instance, dict) and isinstance(instance.get("perturbation"), dict)
    return is_changed or bool(sample.row.get("reference_index"))


def _values(sample: Sample) -> Iterator[tuple[str, Sequence[float]]]:
    """The metrics of a sample; one that has several answers in a list, such as IFEval's instructions, has several."""
    for name, value in sample.metrics.items():
        yield name, (value,)
    for name, listed in sample.row.items():
        if isinstance(listed, list) and listed and all(isinstance(one, bool) for one in listed):
            yield name, [float(one) for one in listed]


def _by_likelihood(sample: Sample, *, per_character: bool) -> set[float] | None:
    """What acc or acc_norm may be: whether the likeliest continuation is the right one."""
    texts, values = sample.continuations, sample.logprobs
    if len(texts) == 1:
        return {float(sample.greedy[0])} if sample.greedy and not per_character else None
    golds = _golds(sample)
    if not golds or len(texts) != len(values):
        return None
    return by_likelihood(texts, values, golds, per_character=per_character)


def _golds(sample: Sample) -> set[int]:
    """The places of the right continuations as far as the log tells; all that it may mean where it is ambiguous."""
    target, texts = sample.row.get("target"), [one.strip() for one in sample.continuations]
    if isinstance(target, str) and target[:1] == "[":
        try:
            target = json.loads(target)
        except ValueError:
            return set()
    if isinstance(target, list):
        return {one for one in target if isinstance(one, int) and 0 <= one < len(texts)}
    if isinstance(target, int):
        return {int(target)} if 0 <= target < len(texts) else set()
    if not isinstance(target, str) or len(set(texts)) < len(texts):
        return set()
    wanted = target.strip()
    found = {place for place, one in enumerate(texts) if one == wanted}
    if wanted.isdecimal() and int(wanted) < len(texts):
        found.add(int(wanted))
    if not found and len(wanted) == 1 and wanted in LETTERS[: len(texts)]:
        found.add(LETTERS.index(wanted))
    return found


def _by_text(answer: str, target: str, *, is_plain: bool) -> set[float] | None:
    """What exact_match may be: right where both are the same, wrong where they differ beyond case, spaces and signs."""
    if answer.strip() == target.strip():  # lm-eval compares with spaces, tasks of its own scorer without
        return {1.0} if answer == target else {0.0, 1.0}
    if not is_plain:
        return None
    numbers = [IGNORED.sub("", text.rpartition("#### ")[2]).casefold() for text in (answer, target)]
    if "#### " in target and len(set(numbers)) == 1:
        return {1.0}
    one, other = (SIGNS.sub("", text.rpartition("####")[2].casefold()) for text in (answer, target))
    return {0.0, 1.0} if one == other else {0.0}
