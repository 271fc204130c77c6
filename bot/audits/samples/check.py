"""Check results against the sample logs beside them: the mean, the score of each answer, and the questions.

One sample is held at a time, so memory does not grow with the log. What is found is a value for the rules; nothing is
decided here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from math import inf, isclose
from pathlib import Path

from bot.audits.samples.helm import STATES, STATISTICS
from bot.audits.samples.questions import LoggedTargets, OwnChoices, Questions, TellTale, Ties
from bot.audits.samples.read import read_log
from bot.audits.samples.records import NESTED, SkippedRecord
from bot.audits.samples.rescore import Rescorer, Unscorable
from bot.audits.samples.rescore_inspect import InspectRescorer, Untold
from bot.audits.samples.sample import HASHES, Sample, document_hash, sha256
from bot.audits.samples.unanswered import Unanswered
from bot.errors import CallError, MalformedSamples
from bot.evaluation.aggregates import first_of, is_mean_of_proportions, samples_behind_key, whole
from bot.evaluation.finding import counted
from bot.evaluation.likeness import AnswerMark
from bot.evaluation.result import CheckedSamples, Result, WrongMetric

MAX_LOG = 2 << 30  # bytes of one log
MOST_SAMPLES, MOST_FILTERS, MOST_METRICS = 1_000_000, 16, 1_000  # of one log: each costs memory
MOST_ORDERED = 5  # filters that are tried in each order
# Metrics whose value of a task is no mean of those of its samples.
NO_MEAN = re.compile(r"perplexity|ppl|bits_per_byte|bleu|chrf|ter$|mcc|matthews|pearson|spearman|rouge", re.IGNORECASE)
ZERO_ONE_METRICS = frozenset({"acc", "exact_match"})  # their error tells the number of samples
NO_SAMPLE = "it has no sample"


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
        digest = digest_of_log(log)
        check.read(read_log(log))
    except (CallError, OSError) as error:
        return CheckedSamples(leaf_key, name, unreadable=str(error).removeprefix(f"{log}: "))
    found = check.outcome(result, name, digest)
    return None if result.format == "inspect" and found.unreadable == NO_SAMPLE else found


def _files(log: Path) -> list[Path]:
    return [log / one for one in (STATES, STATISTICS) if (log / one).exists()] if log.is_dir() else [log]


def digest_of_log(log: Path) -> str:
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
    unscored: int = 0
    untold: int = 0  # of which the log shows only what the scorer took for the answer
    why_unscored: str = ""  # of the first of them

    def add(self, value: float) -> None:
        """Add the value of a sample."""
        total = self.total + value
        larger, smaller = (self.total, value) if abs(self.total) >= abs(value) else (value, self.total)
        self.lost += (larger - total) + smaller
        self.total = total
        self.count += 1
        self.low, self.high = min(self.low, value), max(self.high, value)

    @property
    def mean(self) -> float:
        """The mean over the samples."""
        return (self.total + self.lost) / self.count


class _Check:
    """What is known of a leaf's log so far, and the reading of it."""

    def __init__(self, leaf_key: str, result: Result) -> None:
        leaf = result.leaves[leaf_key]
        self._key, self._leaf, self._task_hash = leaf_key, leaf, result.task_hashes.get(leaf_key, "")
        self._model = result.model.id
        self._filters = {key.partition(",")[2] for key in leaf.numbers if "," in key} - {""}
        self._metrics = {key.partition(",")[0] for key in leaf.numbers if "," in key}
        scoring = result.scorings[leaf.scoring] if 0 <= leaf.scoring < len(result.scorings) else None
        self._is_of_lm_eval = result.format.startswith("lm-eval")
        self._rescorer = Rescorer(leaf_key, scoring) if self._is_of_lm_eval else InspectRescorer(scoring)
        self._in_order = list(scoring.filters) if scoring is not None else []
        self._targets = LoggedTargets(scoring.target if scoring is not None else "")
        self._tell_tale, self._own_choices, self._ties = TellTale(), OwnChoices(), Ties()
        self._scoring = scoring
        self._plain: set[str] = set()  # questions of HELM as they are, and those that were only asked with changes
        self._changed: set[str] = set()
        self._unanswered = Unanswered()
        self._mark = AnswerMark()
        self._extra = 0
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._questions: dict[str, Questions] = {}
        self._hashes = hashlib.sha256()
        self._is_hashed = True
        self._times: dict[int | str | None, int] = {}
        self._others = ""
        self._unreadable = ""

    def read(self, samples: Iterable[Sample | SkippedRecord]) -> None:
        """Read a log to its end. Raises CallError where it has more of anything than a harness writes."""
        for place, sample in enumerate(samples):
            is_many = len(self._questions) > MOST_FILTERS or len(self._tallies) > MOST_METRICS
            if is_many or place == MOST_SAMPLES:
                most = f"{MOST_SAMPLES:,} samples, {MOST_FILTERS} filters or {MOST_METRICS:,} metrics"
                raise CallError(f"has more than {most}")
            if isinstance(sample, SkippedRecord):
                self._unreadable = self._unreadable or f"record {sample.line}: {sample.why}"
            elif is_extra(sample):
                if sample.form == "helm" and not sample.row.get("reference_index"):
                    self._changed.add(str(sample.doc_id))
                self._extra += sample.form == "inspect" and not sample.row.get("error")
            else:
                try:
                    self._add(sample)
                except (RecursionError, MalformedSamples):
                    self._unreadable = self._unreadable or NESTED

    def _add(self, sample: Sample) -> None:
        group = self._group(sample)
        self._check_hashes(sample)
        if sample.model and self._model and sample.model != self._model:
            self._say(f"the samples are of {sample.model}, and the result is of {self._model}")
        questions = self._questions.setdefault(group, Questions())
        if not questions.add(sample):
            self._say(f"the document {sample.doc_id} is in the log more than once")
        if len(self._questions) == 1:
            self._tell_tale.add(sample)
            self._mark.add(sample.doc_hash, sample.response, sample.logprobs)
            self._unanswered.add(sample, [*_values(sample)])
            self._ties.add(sample)
            if sample.form.startswith("lm-eval"):
                self._targets.add(sample)
                self._own_choices.add(sample)
            elif sample.form == "helm":
                self._plain.add(str(sample.doc_id))
        for name, values in _values(sample):
            if self._metrics and sample.form.startswith("lm-eval") and name not in self._metrics:
                self._say(f"the document {sample.doc_id} has a number {name[:40]!r}, which is no metric of the result")
            tally = self._tallies.setdefault((name, group), _Tally())
            for value in values:
                tally.add(value)
            self._score(name, sample, self._filter_of(group), values, tally)

    def _filter_of(self, group: str) -> str:
        """The name of the filter of a group; where the log names none, they come in the order of the settings."""
        place = int(group[1:]) - 1 if group.startswith("#") else 0
        return self._in_order[place] if group.startswith("#") and place < len(self._in_order) else group

    def _score(self, name: str, sample: Sample, answer_filter: str, values: Sequence[float], tally: _Tally) -> None:
        """Hold the values of a metric against those that the logged answer gives, where the metric is one we score.

        What cannot be scored and counts as wrong anyway raises no mean.
        """
        is_fault = False
        is_known = self._rescorer.knows(name, answer_filter)
        if not is_known:
            if self._is_of_lm_eval:
                return
            if (known := sample.rescored.get(name)) is None:
                return
            allowed, why = known or None, "its log does not have what the score follows from"
        else:
            try:
                allowed, why = self._rescorer.score(name, sample, answer_filter), ""
            except Untold:
                tally.untold += 1
                return
            except Unscorable as unscorable:
                allowed, why, is_fault = None, str(unscorable), unscorable.is_fault
        if allowed is None:
            if is_fault or max(values) > 0:
                tally.unscored += 1
                tally.why_unscored = tally.why_unscored or f"{sample.doc_id}: {why}"
            else:
                tally.follows += 1
            return
        tally.follows += 1
        wrong = next((it for it in values if not any(isclose(it, one, abs_tol=1e-6) for one in allowed)), None)
        if wrong is not None:
            tally.wrongs += 1
            tally.wrong = tally.wrong or f"{sample.doc_id} has {wrong:g}, its answer gives {max(allowed):g}"

    def _group(self, sample: Sample) -> str:
        """The filter of a sample. Releases before 0.4.7 do not log it, and write all samples once for each filter."""
        if sample.row.get("filter") is not None or len(self._filters) < 2 or not sample.form.startswith("lm-eval"):
            if self._filters and sample.row.get("filter") is not None and sample.filter not in self._filters:
                self._say(f"it has samples of a filter {sample.filter[:40]!r}, which the result does not have")
            return sample.filter
        self._times[sample.doc_id] = self._times.get(sample.doc_id, 0) + 1
        return f"#{self._times[sample.doc_id]}" if self._times[sample.doc_id] <= len(self._filters) else "#1"

    def _check_hashes(self, sample: Sample) -> None:
        row = sample.row
        if sample.form.startswith("lm-eval-0.4") and not _is_number(sample.doc_id):
            self._say(f"the harness numbers its documents, and one is called {str(sample.doc_id)[:40]!r}")
        if sample.form.startswith("lm-eval-0.4") and sample.doc is None:
            self._say(f"the sample {sample.doc_id} has no document, which the harness writes for each")
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

    def outcome(self, result: Result, name: str, digest: str) -> CheckedSamples:
        """The findings of the whole log."""
        tallies = self._by_number(result)
        questions = max(self._questions.values(), key=lambda one: one.count, default=Questions())
        self._check_count(result, questions)
        if (unscored := self._extra - (self._leaf.unscored or 0)) > 0 and questions.count:
            self._say(f"{counted(unscored, 'sample')} more than the result says have no score")
        same = {(one.digest, one.prompts) for one in self._questions.values() if one.count == questions.count}
        if self._is_of_lm_eval and len(same) > 1:
            self._say("its filters are not of the same questions and prompts")
        if self._plain and (only := self._changed - self._plain):
            self._say(f"{counted(len(only), 'question')} were asked only with changes, first {min(only)}")
        looked_for = (self._targets, self._own_choices, self._ties, self._tell_tale)
        for why in (questions.repeats, *(one.outcome for one in looked_for)):
            if why:
                self._say(why)
        for (metric, group), tally in self._tallies.items():
            without = self._questions[group].count - tally.count
            if without > (self._leaf.unscored or 0) and any(tally is one for one in tallies.values()):
                self._say(f"{metric} is missing in {counted(without, 'sample')}")
        if self._task_hash and questions.count and not self._is_hashed:
            self._say("the result names the hash of its samples, and not all samples of the log have one")
        elif self._task_hash and questions.count and self._task_hash != self._hashes.hexdigest():
            self._say("the result names the hash of other samples, or of these in another order")
        if not questions.count and not self._unreadable:
            self._unreadable = NO_SAMPLE
        return CheckedSamples(
            self._key,
            name,
            digest,
            questions.count,
            questions.digest,
            {key: tally.mean for key, tally in tallies.items() if _is_mean(key, tally)},
            tuple(
                key
                for key, tally in tallies.items()
                if tally.follows and not (tally.wrongs or tally.unscored or tally.untold)
            ),
            tuple(WrongMetric(key, one.wrongs, one.wrong) for key, one in tallies.items() if one.wrongs),
            self._others,
            self._unreadable,
            tuple(WrongMetric(key, one.unscored, one.why_unscored) for key, one in tallies.items() if one.unscored),
            *self._unanswered.outcome(),
            self._mark.text,
            questions.prompts,
            self._digest_of_scoring(),
            dict(self._unknown(tallies)),
        )

    def _digest_of_scoring(self) -> str:
        """A digest of how the metrics of the leaf are scored, "" where its file does not say."""
        if self._scoring is None:
            return ""
        one = self._scoring
        used = {name: options for name, options in one.metrics.items() if name in self._metrics or not self._metrics}
        filters = {name: steps for name, steps in one.filters.items() if name in self._filters}
        return sha256(json.dumps([one.output, one.own, used, filters], sort_keys=True))[:16]

    def _unknown(self, tallies: Mapping[str, _Tally]) -> Iterator[tuple[str, str]]:
        """Why metrics are not scored again."""
        for key, tally in tallies.items():
            if not tally.follows or tally.untold:
                name, _, answer_filter = key.partition(",")
                why = self._rescorer.why_unknown(name, answer_filter)
                yield key, "its answers are not in the log as the scorer reads them" if tally.untold else why

    def _check_count(self, result: Result, questions: Questions) -> None:
        leaf, count = self._leaf, questions.count
        asked = (leaf.samples or 0) + (leaf.unscored or 0)
        expected = asked * max(1, leaf.epochs) if leaf.samples else self._recovered() or self._limited(result)
        if expected and count and count != expected and not self._unreadable:
            self._say(f"the log has {counted(count, 'sample')}, and the result is of {expected:,}")
        is_whole = leaf.samples == (leaf.original or leaf.samples) or result.limit is not None  # the first are limited
        if is_whole and count and questions.has_gaps:
            self._say(
                f"the log has {count} documents, and their numbers go up to {questions.largest}: some are missing"
            )

    def _limited(self, result: Result) -> int | None:
        """The number of samples of a run that was limited, where the size of the task is known."""
        if result.limit is None or not self._leaf.original:
            return None
        return first_of(self._leaf.original, result.limit)

    def _recovered(self) -> int | None:
        """The number of samples that a metric of zeros and ones gives with its error."""
        names = ((key, key.partition(",")[0]) for key in self._leaf.numbers)
        keys = (key for key, name in names if name in ZERO_ONE_METRICS and not is_mean_of_proportions(self._key, name))
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


def _is_number(doc_id: int | str | None) -> bool:
    return isinstance(doc_id, int) and doc_id >= 0


def _distance(value: float, tally: _Tally) -> float:
    return abs(tally.mean - value)


def _is_mean(key: str, tally: _Tally) -> bool:
    """Tell whether the value of the task must be the mean over the samples."""
    return not NO_MEAN.search(key) and tally.low >= 0 and tally.high <= 1


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


def is_first_of(sample: Sample, answer_filter: str) -> bool:
    """Tell whether a sample is of a filter, "" for any; of several epochs, whether it is of the first."""
    if sample.form == "inspect":
        return sample.row.get("epoch") in {None, 1}
    return not answer_filter or sample.row.get("filter") is None or sample.filter == answer_filter


def _values(sample: Sample) -> Iterator[tuple[str, Sequence[float]]]:
    """The metrics of a sample; one that has several answers in a list, such as IFEval's instructions, has several."""
    for name, value in sample.metrics.items():
        yield name, (value,)
    for name, listed in sample.row.items():
        if isinstance(listed, list) and listed and all(isinstance(one, bool) for one in listed):
            yield name, [float(one) for one in listed]
