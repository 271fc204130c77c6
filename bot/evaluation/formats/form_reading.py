"""Read one file by a form: its measurements, each with model, settings and numbers, and the places that do not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from math import comb, fsum, isfinite, isnan, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from bot.errors import MalformedResult
from bot.evaluation.finding import counted, examples, shown
from bot.evaluation.formats.content import Document
from bot.evaluation.formats.fields import LARGEST, release, seconds, setting
from bot.evaluation.formats.format import MAX_ROWS, NAME, check_rows
from bot.evaluation.formats.numbers import is_placeholder, number_of
from bot.evaluation.metric_kinds import kind_of
from bot.evaluation.places import FilePlace, Match, NamedText, Shape, Visits, as_text, parse_place, shape_of
from bot.evaluation.result import HarnessVersion, LeafResult, Misread, Model, Result

if TYPE_CHECKING:
    from bot.evaluation.formats.form import Form, Value

UNITS = {
    "fraction": 1.0,
    "percent": 100.0,
    "count": 0.0,
    "plain": 0.0,
}  # of all right; 0 for no limit
RANGES = {unit: (0.0, most) for unit, most in UNITS.items()}
NOT_MEASURED = (-1, 999)  # what some tools write where nothing was measured
PASS = re.compile(r"pass(?P<how>[@^])(?P<k>[1-9]\d{0,3})")
MOST_TRIALS = 1_000_000
MOST_BESIDE = 10_000  # numbers beside others that are kept while a row is read
OF_SEVERAL = re.compile(r"[@^]|_at_|^pass_")  # metrics of several answers to each question, which may count in part
UNNAMED = "score"  # the metric that a form does not name
FEWEST_SMALL = 3  # percentages of one measurement that are doubted where others in the file are larger
MOST_MISREAD = 20  # that one result lists
MOST_UNREAD, SHORT = 40, 8  # fields that no place of the form names, and digits of the digest of each
TOLERANCE = 1e-6  # of a value beside the counts that it is made of, relative above 1
TWICE = "take one of the two away; where both count, say by a key such as `run` which is which"
HALF = 1.96  # standard errors of half a 95 % interval
RIGHT = frozenset({"pass", "passed", "success", "correct", "right", "resolved", "true", "yes"})
NO_ANSWER = frozenset({"error", "timeout"})  # wrong, unless a form says otherwise
WRONG = NO_ANSWER | {"fail", "failed", "failure", "incorrect", "wrong", "unresolved", "false", "no"}
SWITCH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
# What a line calls the run that it is of: with the question it tells an answer from others.
RUNS = frozenset(
    {
        "seed",
        "run",
        "run_id",
        "trial",
        "trial_id",
        "repeat",
        "repetition",
        "attempt",
        "epoch",
        "rollout",
        "iteration",
        "replicate",
    }
)
EACH_LINE = parse_place("[*]")
MEND = "mend the file; where all files are so, mend the form in the declaration"
EVENLY = "run each question equally often, or take one run of each in the form, such as the last, runs[-1]"


class FilePart(NamedTuple):
    """One measurement of a file: its result, and the rows that it was made from; None where it is the whole file."""

    result: Result
    rows: Any = None


class ReadNumber(msgspec.Struct, frozen=True, gc=False):
    """A number with the leaf and the metric that it is of, where it lies, and how many samples are behind it."""

    leaf: str
    metric: str
    value: float
    match: Match
    samples: int | None = None


class LeafSeen(msgspec.Struct, gc=False):
    """What the rows of one measurement say of a leaf."""

    numbers: dict[str, Any] = {}
    pointers: dict[str, str] = {}
    ranges: dict[str, tuple[float, float]] = {}
    less: list[str] = []
    samples: set[int] = set()
    epochs: int = 1
    contradicted: dict[str, str] = {}

    def result(self) -> LeafResult:
        """The leaf; of several counts of samples none is its own."""
        samples = next(iter(self.samples)) if len(self.samples) == 1 else None
        return LeafResult(
            self.numbers,
            samples=samples,
            original=samples,
            pointers=self.pointers,
            epochs=self.epochs,
            reducer="mean" if self.epochs > 1 else "",
            less_is_better=tuple(self.less),
            ranges=self.ranges,
            contradicted=self.contradicted,
        )


class PooledTrials(msgspec.Struct, gc=False):
    """The trials of one part of the form in all rows of a measurement: by leaf and metric, then by question.

    `first` is where those of a leaf and metric begin, with the row; a trial that is no outcome spoils them all.
    `answers` are single ones by question and run, `again` those of a question and run that has one.
    """

    questions: dict[tuple[str, str], dict[str, list[float]]] = {}
    first: dict[tuple[str, str], tuple[Match, Match]] = {}
    answers: dict[tuple[str, str], dict[tuple[str, ...], Match]] = {}
    again: dict[tuple[str, str], list[tuple[tuple[str, ...], Match, Match]]] = {}
    is_spoiled: bool = False


class MeasuredRows(msgspec.Struct, gc=False):
    """The measurement of one model while its rows are read; `pointer` is where the model is named."""

    model: Model
    harness: HarnessVersion
    date: float | None
    settings: Mapping[str, str]
    pointer: str
    rows: list[Any] = []
    trials: dict[int, PooledTrials] = {}
    runs: dict[int, dict[tuple[str, str], list[ReadNumber]]] = {}
    leaves: dict[str, LeafSeen] = {}
    misread: list[Misread] = []

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it from other measurements in the file."""
        return self.model, self.harness, self.date, tuple(sorted(self.settings.items()))


class FormReader:
    """Reads one file. `row` is the part of it that is read now, and `measured` the measurement that it belongs to."""

    def __init__(self, form: Form, document: Document, names: Mapping[str, str]) -> None:
        self.form, self.document, self.names = form, document, names
        self.whole = Match(document.value, "", names, None)
        self.budget = Visits()
        self.row, self.shape = self.whole, document.shape
        self.walked: dict[str, list[Match]] = {}
        self.numbers: dict[tuple[str | None, ...], float | None] = {}
        self.matched: set[int] = set()
        self.percentages: dict[int, list[tuple[MeasuredRows, list[ReadNumber]]]] = {}
        self.trials = 0
        self.measured: MeasuredRows

    def begin(self, row: Match) -> None:
        """Go on to a row, and forget what was found in the one before."""
        self.row, self.walked, self.numbers = row, {}, {}
        self.shape = self.document.shape if row.value is self.document.value else shape_of(row.value)

    def find(self, place: FilePlace, match: Match | None = None) -> list[Match]:
        """Everything at a place of this row; names that a match remembers stand for what they remember."""
        start, shape = self._start_of(place)
        if match is None:
            return shape.find(place, start, self.row.names, self.budget, self.walked)
        return shape.find(place, start, match.names, self.budget)

    def leads_somewhere(self, place: FilePlace) -> bool:
        """Tell whether a place of this row names anything."""
        start, shape = self._start_of(place)
        return shape.leads_somewhere(place, start, self.budget)

    def _start_of(self, place: FilePlace) -> tuple[Match, Shape]:
        return (self.whole, self.document.shape) if place.is_of_file else (self.row, self.shape)

    def rows(self) -> list[Match]:
        """Where each measurement, or a part of one, lies."""
        rows = self.form.rows
        if rows is None and self.document.has_lines:
            rows = EACH_LINE
        if rows is None or (rows.is_of_file and not rows.steps):
            return [self.whole]
        found = rows.find(self.whole, self.whole, self.budget)
        return [replace(row, names={**self.names, **row.names}) for row in found]

    def read(self) -> list[FilePart]:
        """The measurements: one for each model, revision, precision, harness, date and settings.

        Raises MalformedResult where there is none, or where there are too many.
        """
        by_key: dict[Any, MeasuredRows] = {}
        rows = self.rows()
        if not rows:
            place = self.form.rows.text if self.form.rows else EACH_LINE.text
            raise MalformedResult(f"has no measurement at {place}, where the form {self.form.id} has them")
        for row in rows:
            self.begin(row)
            found = self._identified()
            self.measured = by_key.setdefault(found.key, found)
            if len(by_key) > MAX_ROWS:
                raise MalformedResult(f"holds more than {MAX_ROWS:,} measurements, and is not read")
            if self.measured is not found and len(self.measured.misread) < MOST_MISREAD:
                self.measured.misread += found.misread
            self.measured.rows.append(self.row.value)
            for number, value in enumerate(self.form.values):
                self._read_value(number, value)
        for self.measured in by_key.values():
            for number, pooled in self.measured.trials.items():
                self._reduce(self.form.values[number], pooled)
            for number, runs in self.measured.runs.items():
                self._average(self.form.values[number], runs)
        self._doubt_small_percentages()
        results = [self._result(one) for one in by_key.values()]
        if not any(one.leaves for one in results):
            raise self._nothing(results)
        if len(results) == 1:
            return [FilePart(results[0])]
        return [FilePart(result, one.rows) for result, one in zip(results, by_key.values(), strict=True)]

    def _doubt_small_percentages(self) -> None:
        """Note percentages of which none in the file, or none of a measurement, is above 1: they may be fractions."""
        together: dict[int, list[tuple[int, MeasuredRows, ReadNumber]]] = {}
        for number, found in self.percentages.items():
            own = [(number, measured, one) for measured, numbers in found for one in numbers]
            if not self._doubts(own):
                for one in own:
                    together.setdefault(id(one[1]), []).append(one)
        for own in together.values():
            if len(own) >= FEWEST_SMALL:
                self._doubts(own)

    def _doubts(self, found: Sequence[tuple[int, MeasuredRows, ReadNumber]]) -> bool:
        values = [one.value for _, _, one in found]
        if not values or min(values) < 0 or not 0 < max(values) <= 1:
            return False
        why = f"gives {counted(len(values), 'number')}, none above 1: is the unit fraction?"
        hint = 'if they are fractions, write unit = "fraction" in the form'
        for number, self.measured, one in found:
            self.say(self.form.values[number].place.text, why, one.match, is_error=False, hint=hint)
        return True

    def _nothing(self, results: Sequence[Result]) -> MalformedResult:
        """Why no number was found."""
        said = next((one for result in results for one in result.misread if one.is_error), None)
        if said is not None:
            why = f"has no number of the form {self.form.id}: the place {said.place} {said.why}"
            return MalformedResult(why, pointer=said.pointer, hint=said.hint or MEND)
        places = examples([value.place.text for value in self.form.values])
        return MalformedResult(f"has no number of the form {self.form.id}: nothing is at {places}", hint=MEND)

    def say(self, place: str, why: str, match: Match, *, is_error: bool = True, hint: str = "") -> None:
        """Note that a place does not give what it should, and what to do where the rule cannot say it."""
        if len(self.measured.misread) < MOST_MISREAD:
            self.measured.misread.append(Misread(place, match.where, why, is_error, hint))

    def _identified(self) -> MeasuredRows:
        """Whose measurement the row is, and how it was made."""
        texts: dict[str, str] = {}
        settings: dict[str, str] = {}
        misread: list[Misread] = []
        pointer = ""
        for name, where in self.form.fields.items():
            texts[name], match, why = self._text(where)
            pointer = match.where if name == "model" and match is not None else pointer
            if why:
                said = f"{why}; the form {self.form.id} has the {name} there"
                misread.append(Misread(where.text, self.row.where, said, is_error=name == "model"))
        for name, where in self.form.settings.items():
            text, _, why = self._text(where)
            settings |= {name: setting(text)} if text else {}
            if why:
                misread.append(Misread(where.text, self.row.where, f"{why}; the form {self.form.id} has a setting"))
        date = _date(texts["date"]) if texts.get("date") else None
        if texts.get("date") and date is None:
            said = f"has {shown(texts['date'])}, which is no date"
            misread.append(Misread(self.form.fields["date"].text, self.row.where, said))
        settings |= {"agent": texts["agent"]} if texts.get("agent") else {}
        said = texts.get("chat_template", "")
        if said and said.lower() not in SWITCH:
            place = self.form.fields["chat_template"].text
            misread.append(Misread(place, self.row.where, f"has {shown(said)}, which is neither true nor false"))
        template = SWITCH.get(said.lower())
        model = Model(texts.get("model", ""), texts.get("revision", ""), texts.get("precision", ""), template)
        version = release(texts.get("version", "")) or None
        harness = HarnessVersion(texts.get("harness") or self.form.id, self.form.repository, version=version)
        return MeasuredRows(model, harness, date, settings, pointer, misread=misread)

    def _unread(self, rows: Sequence[Any]) -> dict[str, str]:
        """The digests of texts and switches of the only row that the form does not name, by their keys."""
        row = rows[0] if len(rows) == 1 and isinstance(rows[0], dict) else {}
        found = {key: one for key, one in row.items() if type(one) in {str, bool} and key not in self.form.words}
        named = [key for key in found if NAME.fullmatch(key)][:MOST_UNREAD]
        return {key: sha256(str(found[key]).encode()).hexdigest()[:SHORT] for key in named}

    def _text(self, where: FilePlace | NamedText) -> tuple[str, Match | None, str]:
        """The text of a field, where it lies, and "" or why there is none; null is none that nobody misses."""
        if isinstance(where, NamedText):
            text, lacks = where.fill(self.row, self.whole, self.budget)
            return text, None, f"has nothing at {lacks}" if lacks else ""
        found = self.find(where)
        if len(found) != 1:
            return "", None, "" if where.is_optional and not found else _how_often(found)
        value = found[0].value
        return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else as_text(value), found[0], ""

    def _read_value(self, number: int, value: Value) -> None:
        """Read the numbers that one part of the form names in the row."""
        matches = self.find(value.place)
        if matches:
            self.matched.add(number)
        if value.kind == "trials":
            self._pool(value, matches, self.measured.trials.setdefault(number, PooledTrials()))
            return
        found = [one for match in matches if (one := self._of_match(value, match)) is not None]
        if value.unit == "percent" and value.kind == "value":
            self.percentages.setdefault(number, []).append((self.measured, found))
        if value.kind == "right" and value.reduce:
            runs = self.measured.runs.setdefault(number, {})
            for one in found:
                runs.setdefault((one.leaf, one.metric), []).append(one)
            return
        for one in found:
            self._keep(value, one)

    def _of_match(self, value: Value, match: Match) -> ReadNumber | None:
        """The number at a match; None where there is none, which is noted unless it is a gap."""
        number: float | None
        if type(match.value) is float and value.kind == "value":
            number, samples = match.value, None
        elif value.kind == "value":
            number, samples = self._plain(value, match), None
        else:
            number, samples = self._of_counts(value, match)
        named = self._called(value, match) if number is not None else None
        if number is None or named is None:
            return None
        if not (0 <= number <= value.most or self._is_possible(value, match, number)):
            return None
        return ReadNumber(named[0], named[1], number, match, samples)

    def _plain(self, value: Value, match: Match) -> float | None:
        """A number as it stands; what is none is noted, but for gaps, and for others among which a star looks."""
        if match.value is None or is_placeholder(match.value):
            return None
        number, why = number_of(match.value)
        if number is not None and value.unit == "fraction" and "%" in str(match.value):
            number, why = None, 'which is a percentage: write unit = "percent"'
        last = value.place.steps[-1] if value.place.steps else None
        is_searched = last is not None and last.shortest is not None and not why
        if number is None and not is_searched:
            self.say(value.place.text, f"has {_said(match.value)}, {why or 'which is no number'}", match)
        return number

    def _of_counts(self, value: Value, match: Match) -> tuple[float | None, int | None]:
        """The part that is right, in the unit, and how many were asked."""
        asked, ids = self._asked(value, match)
        right = self._solved(value, match, ids) if value.kind == "solved" else number_of(match.value)[0]
        if right is None and value.kind == "right":
            self.say(value.place.text, f"has {_said(match.value)}, which is no count", match)
        if right is None or asked is None:
            return None, None
        if not 0 <= right <= asked or right % 1:
            self.say(value.place.text, f"gives {right:g} of {asked:,}, which is no part of a whole", match)
            return None, None
        return right / asked * value.scale, asked

    def _asked(self, value: Value, match: Match) -> tuple[int | None, set[str] | None]:
        """How many questions were asked, and their ids where the file lists them."""
        if value.of is None or isinstance(value.of, int):
            return value.of, None
        found = self.find(value.of, match)
        if len(found) != 1:
            self.say(value.of.text, _how_often(found), match)
            return None, None
        listed = found[0].value
        if isinstance(listed, list) and listed and all(isinstance(one, dict) for one in listed):
            return len(listed), None
        if isinstance(listed, list | dict):
            ids = list(map(as_text, listed))
            if not ids or len(set(ids)) != len(ids):
                self.say(value.of.text, "lists an id twice" if ids else "lists no id", found[0])
                return None, None
            return len(ids), set(ids)
        number, _ = number_of(listed)
        if number is None or not 1 <= number <= LARGEST or number % 1:
            self.say(value.of.text, f"has {_said(listed)}, which is no number of questions", found[0])
            return None, None
        return int(number), None

    def _solved(self, value: Value, match: Match, asked: set[str] | None) -> float | None:
        """How many ids a list has; each once, and each among those that were asked."""
        if not isinstance(match.value, list):
            self.say(value.place.text, f"has {_said(match.value)}, and not a list of ids", match)
            return None
        ids = list(map(as_text, match.value))
        others = sorted(set(ids) - asked) if asked is not None else []
        if len(set(ids)) != len(ids) or "" in ids or others:
            why = f"lists {examples(others)}, which was not asked" if others else "lists an id twice, or no text"
            self.say(value.place.text, why, match)
            return None
        return float(len(ids))

    def _pool(self, value: Value, matches: Sequence[Match], pooled: PooledTrials) -> None:
        """Add the outcomes of trials in this row."""
        for match in matches:
            named, question = self._called(value, match), self._question(value, match)
            outcomes = match.value if isinstance(match.value, list) else [match.value]
            self.trials += len(outcomes)
            if self.trials > MOST_TRIALS:
                raise MalformedResult(f"has more than {MOST_TRIALS:,} trials at {value.place.text}")
            if value.outcomes:
                said = ((as_text(one).strip().lower(), one) for one in outcomes)
                counting = (value.outcomes.get(text, one) for text, one in said)
                outcomes = [one for one in counting if one is not None]
            trials = [one for one in map(outcome, outcomes) if one is not None]
            if len(trials) < len(outcomes):
                odd = next(one for one in outcomes if outcome(one) is None)
                self.say(value.place.text, f"has {_said(odd)}, which is no outcome of a trial", match)
            if named is None or question is None or len(trials) < len(outcomes):
                pooled.is_spoiled = True
                continue
            pooled.first.setdefault(named, (match, self.row))
            if not isinstance(match.value, list):
                self._note_again(pooled, named, question, match)
            pooled.questions.setdefault(named, {}).setdefault(question, []).extend(trials)

    def _note_again(self, pooled: PooledTrials, named: tuple[str, str], question: str, match: Match) -> None:
        """Remember a single answer, by what its line calls the question and the run, or that there is one already."""
        around = match.around[0] if match.around else {}
        runs = [as_text(one) for key, one in around.items() if key.lower() in RUNS]
        answer = (question, *runs)
        first = pooled.answers.setdefault(named, {}).setdefault(answer, match)
        if first is not match and first.around[0] is not around:
            pooled.again.setdefault(named, []).append((answer, first, match))

    def _is_twice(self, value: Value, pooled: PooledTrials, named: tuple[str, str]) -> bool:
        """Tell whether answers stand there twice, which is noted: the same lines, or two of one question and run.

        Where that is so of many, something else tells them apart.
        """
        again, answers = pooled.again.get(named, []), pooled.answers.get(named, {})
        numbered = len({answer[1:] for answer in answers}) > 1
        has_lines = bool(self.document.lines)  # the elements of a list may be alike
        sure = [one for one in again if numbered or (has_lines and one[1].around[0] == one[2].around[0])]
        if not sure or 2 * len(again) > len(answers):
            return False
        (question, *runs), first, second = sure[0]
        run = f" of run {', '.join(runs)}" if runs else ""
        more = f", and {len(sure) - 1:,} more" if len(sure) > 1 else ""
        where = f"{self._line(first)} and {self._line(second)}"
        self.say(value.place.text, f"has question {shown(question)}{run} twice, at {where}{more}", second, hint=TWICE)
        return True

    def _line(self, match: Match) -> str:
        """Where a match lies, as a person counts the lines of a file."""
        first = match.where.split("/")[1] if self.document.lines else ""
        return f"line {self.document.lines[int(first)]:,}" if first.isdecimal() else match.where

    def _reduce(self, value: Value, pooled: PooledTrials) -> None:
        """Make the trials of a measurement one number for each leaf and metric; none where one is no outcome."""
        for named, questions in pooled.questions.items() if not pooled.is_spoiled else ():
            answered = [trials for trials in questions.values() if trials]
            match, row = pooled.first[named]
            self.begin(row)
            if self._is_twice(value, pooled, named):
                continue
            often = max(questions, key=lambda one: len(questions[one]), default="")
            last = next(
                (f" ({self._line(second)})" for (one, *_), _, second in pooled.again.get(named, ()) if one == often), ""
            )
            mean = self._reduced(value, answered, match, f"{shown(often)}{last}")
            if mean is not None:
                self._leaf(named[0]).epochs = min(map(len, answered))
                self._note_error(value, named, answered)
                asked = len(questions if value.outcomes else answered)  # also those whose answers are left out
                self._keep(value, ReadNumber(*named, mean * value.scale, match, asked))

    def _average(self, value: Value, runs: Mapping[tuple[str, str], Sequence[ReadNumber]]) -> None:
        """Make the counts of several runs of the same questions one number for each leaf and metric: their mean.

        Its standard error is the mean of theirs: that of runs that answer each question alike, and never too small.
        """
        for named, numbers in runs.items():
            first, sizes = numbers[0], {one.samples or 0 for one in numbers}
            if len(sizes) > 1:
                why = f"counts runs of {examples([f'{one:,}' for one in sorted(sizes)])} questions"
                self.say(value.place.text, f"{why}; their mean needs runs of the same questions", first.match)
                continue
            shares, size = [one.value / value.scale for one in numbers], sizes.pop()
            if not value.errors and size > 1:
                error = fsum(sqrt(one * (1 - one) / (size - 1)) for one in shares) / len(shares)
                self._leaf(named[0]).numbers[f"{named[1]}_stderr"] = error * value.scale
            self._leaf(named[0]).epochs = len(numbers)
            self._keep(value, ReadNumber(*named, fsum(shares) / len(shares) * value.scale, first.match, size))

    def _note_error_of_share(self, value: Value, one: ReadNumber, samples: int) -> None:
        """The standard error of a share of right answers among so many, where no place of the form gives it."""
        kind = kind_of(one.leaf if one.metric == UNNAMED else one.metric)
        is_once = value.kind == "value" and not OF_SEVERAL.search(one.metric)
        is_named = is_once and kind is not None and kind.zeros_and_ones
        is_of_answers = is_named or value.kind in {"right", "solved"}
        share = one.value / value.scale
        if is_of_answers and not value.errors and value.most and samples > 1 and 0 <= share <= 1:
            error = sqrt(share * (1 - share) / (samples - 1)) * value.scale
            self._leaf(one.leaf).numbers.setdefault(f"{one.metric}_stderr", error)

    def _question(self, value: Value, match: Match) -> str | None:
        """What tells the question of a trial: its text in the form, else the names that neither leaf nor metric has.

        Where nothing does, each list is a question of its own, and so is each single trial.
        """
        if value.question is not None:
            text, lacks = value.question.fill(match, self.whole, self.budget)
            if lacks:
                self.say(value.question.text, f"has nothing at {lacks}", match)
            return None if lacks else text
        free = value.place.names - value.leaf.names - value.metric.names
        if len(free) == 1:
            return match.names[min(free)]
        return repr(sorted((name, match.names[name]) for name in free)) if free else match.where

    def _reduced(self, value: Value, answered: Sequence[Sequence[float]], match: Match, often: str) -> float | None:
        """One number of the trials of each question; `often` is one with most."""
        if not answered:
            self.say(value.place.text, "has no trial", match)
            return None
        how, fewest, most = PASS.fullmatch(value.reduce), min(map(len, answered)), max(map(len, answered))
        if fewest < most:
            why = f"has {counted(fewest, 'trial')} of some questions and up to {most:,} of others, such as {often}"
            self.say(value.place.text, f"{why}; each question counts once", match, is_error=False, hint=EVENLY)
        if how is not None and fewest < int(how["k"]):
            why = f"has a question with {counted(fewest, 'trial')}; {value.reduce} needs {how['k']} of each"
            self.say(value.place.text, why, match)
            return None
        if how is not None and any(one not in {0.0, 1.0} for trials in answered for one in trials):
            why = f"has a trial that is neither right nor wrong, which {value.reduce} needs"
            self.say(value.place.text, why, match)
            return None
        return fsum(reduced(value.reduce, trials) for trials in answered) / len(answered)

    def _note_error(self, value: Value, named: tuple[str, str], answered: Sequence[Sequence[float]]) -> None:
        """The standard error of the mean over questions, where no place of the form gives it."""
        if not value.errors and len(answered) > 1:
            values = [reduced(value.reduce, trials) for trials in answered]
            mean = fsum(values) / len(values)
            spread = fsum((one - mean) ** 2 for one in values) / (len(values) - 1)
            self._leaf(named[0]).numbers[f"{named[1]}_stderr"] = sqrt(spread / len(values)) * value.scale

    def _is_possible(self, value: Value, match: Match, number: float) -> bool:
        """Tell whether a number that no share can be is one of its unit all the same; else that is noted."""
        most = value.most
        there = f"{number:g}" if isfinite(number) else _said(match.value)
        is_count = value.unit == "count"
        if (most and number in NOT_MEASURED) or (is_count and number == NOT_MEASURED[0]):
            why = f"has {number:g}, which stands for a value that was not measured: leave it out"
        elif most and not isnan(number) and not -most <= number <= most:
            why = f"has {there}, which is no {value.unit}"
        elif is_count and isfinite(number) and (number < 0 or number % 1):
            why = f"has {there}, which is no count"
        elif abs(number) > LARGEST:
            why = f"has {there}, which is too large"
        else:
            return True
        self.say(value.place.text, why, match)
        return False

    def _called(self, value: Value, match: Match) -> tuple[str, str] | None:
        """The leaf and the metric of a number."""
        names = tuple([match.names.get(name, "") for name in value.naming])
        if value.is_named_by_place and (found := _named(value.leaf.text, value.metric.text, value.naming, names)):
            return found
        leaf, no_leaf = value.leaf.fill(match, self.whole, self.budget)
        metric, no_metric = value.metric.fill(match, self.whole, self.budget)
        leaf, metric = " ".join(leaf.split()), " ".join(metric.split())
        if leaf and metric:
            return leaf, metric
        text, lacks = (value.metric, no_metric) if leaf else (value.leaf, no_leaf)
        self.say(text.text, f"has no one text for {lacks or text.text}", match)
        return None

    def _leaf(self, name: str) -> LeafSeen:
        leaf = self.measured.leaves.get(name)
        if leaf is None:
            leaf = self.measured.leaves[name] = LeafSeen()
        return leaf

    def _keep(self, value: Value, one: ReadNumber) -> None:
        """Keep a number with what is recorded beside it; a number that is there already is a fault."""
        leaf = self._leaf(one.leaf)
        if one.metric in leaf.numbers:
            first, second = leaf.pointers.get(one.metric, "") or "the top", one.match.where or "the top"
            why = f"gives {one.metric} of {one.leaf} twice, at {first} and at {second}"
            self.say(value.place.text, why, one.match)
            return
        leaf.numbers[one.metric], leaf.pointers[one.metric] = one.value, one.match.where
        if value.most and one.value >= 0:
            leaf.ranges[one.metric] = RANGES[value.unit]
        if value.less_is_better:
            leaf.less.append(one.metric)
        samples = one.samples
        if value.samples is not None:
            found = value.samples if isinstance(value.samples, int) else self._count(value.samples, one.match)
            samples = found if samples is None else samples
        if samples is not None:
            leaf.samples.add(samples)
            self._note_error_of_share(value, one, samples)
        for place, errors in value.errors:
            error = self._beside(place, one.match, "a standard error")
            if error is not None:
                leaf.numbers[f"{one.metric}_stderr"] = error / errors
        if value.check is not None:
            there = self._beside(value.check, one.match, "a number")
            if there is not None and abs(there - one.value) > TOLERANCE * max(1.0, abs(one.value)):
                leaf.contradicted[one.metric] = f"{value.check.text} beside its counts is {there!r}"

    def _count(self, place: FilePlace, match: Match) -> int | None:
        """A number of samples at a place, or the length of a list there."""
        number = self._beside(place, match, "a number of samples", is_count=True)
        return None if number is None else int(number)

    def _beside(self, place: FilePlace, match: Match, what: str, *, is_count: bool = False) -> float | None:
        """The number at a place that goes with another number; None where there is none, which is noted."""
        key = (what, place.text, *map(match.names.get, place.names))
        if key not in self.numbers:
            number, is_sure = self._number_beside(place, match, what, is_count=is_count)
            if not is_sure or len(self.numbers) >= MOST_BESIDE:
                return number
            self.numbers[key] = number
        return self.numbers[key]

    def _number_beside(self, place: FilePlace, match: Match, what: str, *, is_count: bool) -> tuple[float | None, bool]:
        """The same, and False where something was noted about this match."""
        found = self.find(place, match)
        if len(found) != 1:
            if found or not place.is_optional:
                self.say(place.text, _how_often(found), match, is_error=len(found) > 1)
            return None, False
        value = found[0].value
        if type(value) is int and 0 <= value <= LARGEST:
            return float(value), True
        if value is None or is_placeholder(value):
            return None, True
        number = float(len(value)) if is_count and isinstance(value, list) else number_of(value)[0]
        is_odd = number is None or not isfinite(number) or abs(number) > LARGEST
        if number is None or is_odd or (number < 0 and what != "a number") or (is_count and number % 1):
            self.say(place.text, f"has {_said(value)}, which is not {what}", found[0], is_error=False)
            return None, False
        return number, True

    def _result(self, one: MeasuredRows) -> Result:
        check_rows(len(one.leaves), "")
        return Result(
            model=one.model,
            harness=one.harness,
            leaves={name: leaf.result() for name, leaf in one.leaves.items() if leaf.pointers},
            date=one.date,
            settings=one.settings,
            unread=self._unread(one.rows),
            places={"model": one.pointer, "leaves": "", "leaf": "", "samples": ""},
            misread=tuple(dict.fromkeys(one.misread))[:MOST_MISREAD],
            unmatched=tuple(
                value.place.text
                for number, value in enumerate(self.form.values)
                if number not in self.matched and not value.place.is_optional
            ),
        )


@lru_cache(maxsize=10_000)
def _named(leaf: str, metric: str, naming: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, str] | None:
    """The leaf and the metric that a place's names give, which are the same in many files; None where one is empty."""
    given = dict(zip(naming, names, strict=True))
    found = (" ".join(leaf.format_map(given).split()), " ".join(metric.format_map(given).split()))
    return found if all(names) and all(found) else None


def reduced(how: str, trials: Sequence[float]) -> float:
    """The value of one question: the mean of its trials, or pass@k or pass^k of them, without bias.

    Chen et al. 2021 for pass@k = 1 - C(n - c, k) / C(n, k); Yao et al. 2024 for pass^k = C(c, k) / C(n, k).
    """
    found = PASS.fullmatch(how)
    if found is None:
        return fsum(trials) / len(trials)
    k, n, c = int(found["k"]), len(trials), int(sum(trials))
    return 1.0 - comb(n - c, k) / comb(n, k) if found["how"] == "@" else comb(c, k) / comb(n, k)


def _how_often(found: Sequence[Match]) -> str:
    if not found:
        return "is not there"
    return f"is there twice, at {found[0].where or 'the top'} and at {found[1].where or 'the top'}"


def _said(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return shown(value if isinstance(value, str) else json.dumps(value))


def outcome(value: Any) -> float | None:
    """The outcome of a trial between 0 and 1, None for what is none."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and (word := value.strip().lower()) in RIGHT | WRONG:
        return float(word in RIGHT)
    number, _ = number_of(value)
    return number if number is not None and 0 <= number <= 1 else None


@lru_cache(maxsize=1_000)
def _date(text: str) -> float | None:
    """A date in Unix seconds: ISO 8601, also with slashes, or seconds or milliseconds since 1970."""
    number, _ = number_of(text)
    if number is not None and 1e9 <= number < 4e9:
        return number
    if number is not None and 1e12 <= number < 4e12:
        return number / 1000
    return seconds(text.strip().replace("/", "-"))
