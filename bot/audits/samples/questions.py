"""The questions of a sample log: which there are, whether targets are their own, and whether prompts tell them."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from bot.audits.samples.sample import Sample, sha256
from bot.evaluation.finding import counted

NUMBERED = re.compile(r"(?s:(.*?))(0|[1-9]\d{0,5})")  # a document's name that ends in a number, or is one
LONGEST_NAME = 200  # characters of such a name
MOST_FIELDS = 16  # of such names, which differ in what stands before the number
MOST_COMPARED = 100_000  # questions of one log that are held against each other
REPEATED = 0.05  # of the questions of a log: some data sets have a few questions twice
# Left out where prompts are compared, as case and white space are: marks that end a question, letters that nobody sees.
UNSEEN = dict.fromkeys(map(ord, "?!\u2026\u00ad\u200b\u200c\u200d\u2060\ufeff"))
MOST_EPOCHS = 1_000  # answers to one question


@dataclass(slots=True)
class Questions:
    """The documents of one filter: each may come once in each epoch.

    Of a name that ends in a number one bit is kept, in a field for what stands before the number.
    """

    count: int = 0
    largest: int = -1
    numbers: dict[str, bytearray] = field(default_factory=dict)
    names: set[bytes] = field(default_factory=set)
    epochs: dict[str, tuple[int, int]] = field(default_factory=dict)  # how many, and the sum of their digests
    asked_as: int = 0  # the sum of the digests of prompts and continuations, of the first epoch
    asked: set[bytes] = field(default_factory=set)
    again: int = 0
    first_again: str = ""

    def add(self, sample: Sample) -> bool:
        """Add a question; False for one that came before in its epoch."""
        self.count += 1
        doc_id, epoch = sample.doc_id, _epoch(sample)
        many, total = self.epochs.get(epoch, (0, 0))
        if many or len(self.epochs) < MOST_EPOCHS:
            digest = int(sha256(f"{sample.doc_hash}\0{_target(sample)}"), 16)
            self.epochs[epoch] = many + 1, (total + digest) % (1 << 256)
        if len(self.epochs) == 1:
            request = "\0".join((sample.doc_hash, sample.prompt_hash, *(one.strip() for one in sample.continuations)))
            self.asked_as = (self.asked_as + int(sha256(request), 16)) % (1 << 256)
            self._compare(sample)
        return self._is_new(doc_id, f"{epoch} {doc_id}" if epoch else str(doc_id))

    def _compare(self, sample: Sample) -> None:
        if len(self.asked) >= MOST_COMPARED:
            return
        request = "\0".join((sample.prompt, *sample.continuations)).casefold().translate(UNSEEN)
        request = "".join(request.split())
        marks = {
            blake2b(one.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            for one in (f"{sample.doc_hash}\0{_target(sample)}", request)
            if one and one != "\0"
        }
        if marks & self.asked:
            self.again += 1
            self.first_again = self.first_again or str(sample.doc_id)
        self.asked |= marks

    def _is_new(self, doc_id: int | str | None, key: str) -> bool:
        numbered = NUMBERED.fullmatch(key) if len(key) <= LONGEST_NAME else None
        if numbered is None or (numbered[1] not in self.numbers and len(self.numbers) == MOST_FIELDS):
            mark = blake2b(key.encode("utf-8", "replace"), digest_size=8).digest()
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

    @property
    def digest(self) -> str:
        """A digest of documents and targets in any order, the same for one epoch and for several; "" of none."""
        return f"{next(iter(self.epochs.values()))[1]:064x}"[:32] if self.epochs else ""

    @property
    def prompts(self) -> str:
        """A digest of the words in which all was asked, in any order; "" of none."""
        return f"{self.asked_as:064x}"[:32] if self.epochs else ""

    @property
    def has_gaps(self) -> bool:
        """Tell whether the numbers of the documents show that some are missing."""
        return self.largest >= self.count and set(self.numbers) == {""} and not self.names

    @property
    def repeats(self) -> str:
        """Why the questions are not as many as the samples, "" if they are."""
        if len(set(self.epochs.values())) > 1:
            return "its epochs are not of the same questions"
        few = next(iter(self.epochs.values()), (0, 0))[0]
        if self.again > max(1, few * REPEATED):
            many = f"{self.again:,} of {counted(few, 'question')}"
            return f"{many} are others under a second number, first {self.first_again}"
        return ""


def _epoch(sample: Sample) -> str:
    """The number of the answer to a question, "" where the log is of a harness that logs all answers as one sample."""
    epoch = sample.row.get("epoch") if sample.form == "inspect" else None
    return "" if epoch is None else str(epoch)[:20]


def _target(sample: Sample) -> str:
    return sample.target or str(sample.row.get("target", ""))


FIELD = re.compile(r"(?:\{\{\s*)?([A-Za-z_]\w*)(?:\[([A-Za-z_]\w*)\])?(?:\s*\}\})?")
ANSWER_FIELDS = ("gold", "label", "answer", "answerKey", "answer_key", "target", "correct", "answer_idx", "gold_index")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEAST_AGREEMENT, FEWEST = 0.3, 10  # of targets with a field, before it counts as the answer; documents


class LoggedTargets:
    """Whether the targets of a log are the answers that its documents have.

    `declared` is the field or the template that the settings of the task name. Where they name none, a field with a
    usual name counts as the answer if it agrees with many targets.
    """

    def __init__(self, declared: str) -> None:
        match = FIELD.fullmatch(declared.strip())
        self._declared = (match[1], match[2]) if match else None
        self._agree: Counter[tuple[str, str]] = Counter()
        self._seen: Counter[str] = Counter()
        self._first: dict[tuple[str, str], str] = {}

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        doc, target = sample.doc, _target(sample).strip()
        if not isinstance(doc, dict) or not target:
            return
        names = [self._declared[0]] if self._declared else ANSWER_FIELDS
        for name in names:
            value = doc.get(name)
            if self._declared and self._declared[1] and name == self._declared[0]:
                value = _indexed(value, doc.get(self._declared[1]))
            if not isinstance(value, (int, str)) or isinstance(value, bool) or len(str(value)) > LONGEST_NAME:
                continue
            self._seen[name] += 1
            readings = {"itself": str(value).strip()} if self._declared else _readings(value, doc, sample)
            for kind, reading in readings.items():
                self._agree[name, kind] += reading == target
                if reading != target:
                    self._first.setdefault((name, kind), str(sample.doc_id))

    @property
    def outcome(self) -> str:
        """Why targets are not those of their documents, "" where nothing shows it."""
        for name, seen in self._seen.items():
            kind, agree = max(
                ((kind, agree) for (one, kind), agree in self._agree.items() if one == name), key=lambda it: it[1]
            )
            if agree < seen and (self._declared or (seen >= FEWEST and agree >= seen * LEAST_AGREEMENT)):
                many, first = counted(seen - agree, "document"), self._first[name, kind]
                return f"the target of {many} is not the answer in its field {name!r}, first {first}"
        return ""


def _indexed(value: Any, index: Any) -> Any:
    is_place = isinstance(index, int) and isinstance(value, list) and 0 <= index < len(value)
    return value[index] if is_place else None


def _readings(value: int | str, doc: Mapping[str, Any], sample: Sample) -> dict[str, str]:
    """What a field with the answer may stand for in a target: itself, a place, a letter or a choice."""
    found = {"itself": str(value).strip()}
    texts = [one.strip() for one in sample.continuations]
    place = value if isinstance(value, int) else int(value) if value.isdecimal() and len(value) < 4 else None
    if place is not None:
        found["one less"] = str(place - 1)
        if 0 <= place < len(LETTERS):
            found["letter"] = LETTERS[place]
        if 0 <= place < len(texts):
            found["text"] = texts[place]
    elif not isinstance(value, str):
        pass
    elif len(value) == 1 and value in LETTERS:
        found["place"] = str(LETTERS.index(value))
        if LETTERS.index(value) < len(texts):
            found["text"] = texts[LETTERS.index(value)]
    elif value.strip() in texts:
        found["place"] = str(texts.index(value.strip()))
    choices = doc.get("choices")
    labels = choices.get("label") if isinstance(choices, dict) else None
    if isinstance(labels, list) and value in labels:
        found["label"] = str(labels.index(value))
    return found


class OwnChoices:
    """Whether the continuations of a question are the choices of its document: all of them, in its order.

    A task may ask for others than its documents have; then it does so for nearly all.
    """

    def __init__(self) -> None:
        self._order, self._number, self._own, self._other = "", "", 0, 0

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        asked = [one.strip() for one in sample.continuations]
        own = [one.strip() for one in _choices(sample.doc)]
        if not asked or len(own) < 2:
            return
        if len(asked) not in {len(own), 2 * len(own)}:
            self._other += 1
            self._number = (
                self._number or f"document {sample.doc_id} has {len(own)} choices, and {len(asked)} are asked"
            )
            return
        self._own += 1
        letters = list(LETTERS[: len(asked)])
        if any(asked != order and sorted(asked) == sorted(order) for order in (own, letters)):
            self._order = self._order or f"the choices of document {sample.doc_id} are asked for in another order"

    @property
    def outcome(self) -> str:
        """What is wrong with the choices, "" where nothing is."""
        return self._order or (self._number if self._own > MOST_WITHOUT * self._other else "")


def _choices(doc: Any) -> list[str]:
    found = doc.get("choices") if isinstance(doc, dict) else None
    found = found.get("text") if isinstance(found, dict) else found
    return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []


class Ties:
    """Whether the choices of most questions are equally likely: then the answers follow from no model."""

    def __init__(self) -> None:
        self._tied, self._seen = 0, 0

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        if len(set(sample.continuations)) > 1 and len(sample.logprobs) == len(sample.continuations):
            self._seen += 1
            self._tied += len(set(sample.logprobs)) == 1

    @property
    def outcome(self) -> str:
        """How many questions are so, "" where few are."""
        is_usual = self._seen >= FEWEST and 2 * self._tied > self._seen
        return f"all choices are equally likely in {self._tied:,} of {self._seen:,} questions" if is_usual else ""


MOST_WITHOUT = 0.1  # documents whose choices are asked for, for each other one, in a task that asks for others
ANSWERED, FEWEST_PROMPTS, MOST_TEXTS = 0.9, 10, 60  # share of prompts; prompts; texts of one document
NO_WORD = re.compile(r"\W")
LEAST_QUESTION, MOST_SHARED = 30, 10  # characters of a question's text; questions of a log that its examples may hold
SHORTEST, LONGEST_PROMPT = 4, 200_000  # characters of a document's text that is left out, and of a prompt
LONGEST_CHOICE = 1_000  # characters of a choice that is looked for in prompts


class TellTale:
    """Whether prompts give the answers away: outside of their documents they hold the right answer, and no other."""

    def __init__(self) -> None:
        self._told, self._seen, self._first = 0, 0, ""
        self._targets: deque[str] = deque(maxlen=4)
        self._first_prompt, self._questions = "", 0
        self._first_texts: frozenset[str] = frozenset()

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        self._compare_with_first(sample)
        right, others = self._answers(sample)
        if not right or not others or len(sample.prompt) > LONGEST_PROMPT:
            return
        rest = sample.prompt
        texts = sorted({one for one in _texts(sample.doc) if len(one) >= SHORTEST}, key=len, reverse=True)
        for one in texts[:MOST_TEXTS]:
            if one not in right and one not in others:
                rest = rest.replace(one, "\0")
        self._seen += 1
        if min(_times(one, rest) for one in right) > max(_times(one, rest) for one in others):
            self._told += 1
            self._first = self._first or str(sample.doc_id)

    def _compare_with_first(self, sample: Sample) -> None:
        """Count the questions that stand in the first prompt: its examples are then the questions themselves.

        What they share with its own question, as a passage of which many are asked, does not count.
        """
        if not self._first_prompt:
            self._first_prompt = sample.prompt[:LONGEST_PROMPT]
            self._first_texts = frozenset(_texts(sample.doc))
            return
        texts = [one for one in _texts(sample.doc) if len(one) >= LEAST_QUESTION and one not in self._first_texts]
        self._questions += bool(texts) and all(one in self._first_prompt for one in texts[:MOST_TEXTS])

    def _answers(self, sample: Sample) -> tuple[list[str], list[str]]:
        """The right answer and others: the choices, or for a generated answer the targets of the questions before."""
        target = _target(sample).strip()
        texts = [one.strip() for one in sample.continuations]
        if len(texts) > 1:
            if len(set(texts)) < len(texts) or not all(texts) or max(map(len, texts)) > LONGEST_CHOICE:
                return [], []
            right = (
                texts[int(target)] if target.isdecimal() and len(target) < 4 and int(target) < len(texts) else target
            )
            return ([right], [one for one in texts if one != right]) if right in texts else ([], [])
        others = [one for one in self._targets if one != target]
        if target and len(target) <= LONGEST_NAME and target not in self._targets:
            self._targets.append(target)
        return ([target], others) if target and len(target) <= LONGEST_NAME and not texts else ([], [])

    @property
    def outcome(self) -> str:
        """What the prompts give away, "" where they give nothing away."""
        if self._questions > MOST_SHARED:
            return f"the first prompt holds {self._questions:,} other questions of the log"
        if self._seen < FEWEST_PROMPTS or self._told < self._seen * ANSWERED:
            return ""
        return (
            f"{self._told:,} of {self._seen:,} prompts hold the right answer beside the question, first {self._first}"
        )


def _texts(doc: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(doc, str):
        yield doc
    elif isinstance(doc, (dict, list)) and depth < 4:
        inner: Iterable[Any] = doc.values() if isinstance(doc, dict) else doc
        for one in inner:
            yield from _texts(one, depth + 1)


def _times(answer: str, rest: str) -> int:
    """How often an answer stands in a text as words of its own; without a pattern, which is slow in long prompts.

    After a hit inside of a word the search goes on behind the word, so that one long word is looked at once.
    """
    count, at = 0, rest.find(answer)
    while at >= 0:
        end = at + len(answer)
        is_own = not _is_word(rest[at - 1 : at]) and not _is_word(rest[end : end + 1])
        count += is_own
        gap = None if is_own else NO_WORD.search(rest, at)
        at = rest.find(answer, end if is_own else gap.end() if gap else len(rest))
    return count


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
