"""One record of a sample log in; the DROP sample it holds, or why it holds none, out.

Four forms are known: lm-evaluation-harness 0.4 (`filtered_resps` and `doc`; three generations of them),
0.3 with --write_out (`logit_0` and `prompt_0`; golds must be joined), and {"prediction", "gold_answers"}.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from bot.audit.drop.scorer import Golds
from bot.audit.records import NOT_JSON
from bot.errors import MalformedSamples

NO_FORM = "no sample of a known form"
RESULT_FILE = "a result file, not a sample log"
OTHER_TASK = "a sample of another task"
NO_GOLDS = "no gold answers (give them with --golds FILE)"
NO_JOIN = "no question of the golds file fits it"
BAD_GOLDS = "gold answers that are no lists of spans of text"
LONG_GOLDS = "gold answers of more than 20,000 characters"
NO_TEXT = "no generated text"
BAD_SCORE = "a logged em or f1 that is no number"
TRUTH_DIFFERS = "the joined gold answer is not the one that the log names as its truth"


# Golds are remembered: what nobody answers with may not fill the memory.
MAX_GOLDS = 20_000


class Row(msgspec.Struct):
    """The fields that any of the forms has; what a field holds is looked at only by the form that has it."""

    doc_id: Any = None
    prediction: Any = None
    gold_answers: Any = None
    passage: Any = None
    question: Any = None
    answers: Any = None
    answer: Any = None
    validated_answers: Any = None
    doc: Any = None
    resps: Any = None
    filtered_resps: Any = None
    filter: Any = None
    target: Any = None
    arguments: Any = None
    prompt_0: Any = None
    logit_0: Any = None
    truth: Any = None
    em: Any = None
    f1: Any = None
    results: Any = None


class Key(NamedTuple):
    """What golds are joined by: passage and question, or else the number of the sample."""

    passage: str
    question: str
    doc_id: Any = None


@dataclass(slots=True)
class Sample:
    """One generation with what it is judged by; `em` and `f1` are as logged, None where the log has none."""

    line: int
    form: str
    prediction: str
    golds: Golds | None
    key: Key | None = None
    em: float | None = None
    f1: float | None = None
    target: str = ""
    prompt: str = ""
    until: str = ""


_DECODER = msgspec.json.Decoder(Row)


def decode_row(data: bytes | str) -> Row:
    """Decode one record.

    Raises MalformedSamples where it is no JSON object.
    """
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_loosely(data)


def _decode_loosely(data: bytes | str) -> Row:
    # NaN, Infinity and half of a surrogate pair are no JSON, but Python's writer puts them there.
    try:
        return msgspec.convert(json.loads(data), Row)
    except (ValueError, RecursionError) as error:
        why = NO_FORM if isinstance(error, msgspec.ValidationError) else NOT_JSON
        raise MalformedSamples(why) from error


def read_sample(row: Row, line: int) -> Sample:
    """Read a row in the form it has; `golds` is None where they must be joined.

    Raises MalformedSamples with the reason where it holds no DROP sample.
    """
    if row.filtered_resps is not None or row.resps is not None:
        return _harness_04(row, line)
    if row.logit_0 is not None or row.prompt_0 is not None:
        return _write_out(row, line)
    if row.prediction is not None:
        return _plain(row, line)
    raise MalformedSamples(RESULT_FILE if row.results is not None else NO_FORM)


def _plain(row: Row, line: int) -> Sample:
    golds = golds_of(row)
    return Sample(line, "plain", text_of(row.prediction), golds, key_of(row), *_logged(row))


def _write_out(row: Row, line: int) -> Sample:
    prompt = row.prompt_0 if isinstance(row.prompt_0, str) else ""
    # The prompt is the context and its generation arguments run together: it ends in the word "until".
    context, answer, _ = prompt.rpartition("\nAnswer:")
    passage, question, asked = context.rpartition("Passage: ")[2].partition("\nQuestion: ")
    if not (answer and question):
        raise MalformedSamples(OTHER_TASK)
    target = row.truth if isinstance(row.truth, str) else ""
    prediction = text_of(row.logit_0)
    key = Key(passage.strip(), asked.strip(), row.doc_id)
    return Sample(line, "lm-eval-0.3", prediction, None, key, *_logged(row), target, prompt)


def _harness_04(row: Row, line: int) -> Sample:
    doc = row.doc if isinstance(row.doc, dict) else {}
    known = {name: doc.get(name) for name in ("passage", "question", "answers", "answer", "validated_answers")}
    document = Row(**known, doc_id=row.doc_id)
    if not (isinstance(document.passage, str) and isinstance(document.question, str)):
        raise MalformedSamples(OTHER_TASK)
    prompt, until = _request(row.arguments)
    target = row.target if isinstance(row.target, str) else ""
    prediction = _generation(row.filtered_resps if row.filtered_resps is not None else row.resps)
    golds, key = golds_of(document), key_of(document)
    return Sample(line, _form(row), prediction, golds, key, *_logged(row), target, prompt, until)


def _form(row: Row) -> str:
    """Name the first release that wrote rows of this form."""
    if row.filter is not None:
        return "lm-eval-0.4.7"
    return "lm-eval-0.4.3" if isinstance(row.arguments, dict) else "lm-eval-0.4.0"


def _generation(responses: Any) -> str:
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return text_of(responses)


def text_of(value: Any) -> str:
    """Return a generation's text; raises MalformedSamples where it is none."""
    if not isinstance(value, str):
        raise MalformedSamples(NO_TEXT)
    return value


def _request(arguments: Any) -> tuple[str, str]:
    """Return the prompt and the stop words, as JSON; empty where the log does not hold them."""
    if isinstance(arguments, dict):
        arguments = [list(one.values()) for one in arguments.values() if isinstance(one, dict)]
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    if not isinstance(first, list) or not first or not isinstance(first[0], str):
        return "", ""
    settings = first[1] if len(first) > 1 and isinstance(first[1], dict) else {}
    until = settings.get("until")
    return first[0], "" if until is None else json.dumps(until)[:80]


def _logged(row: Row) -> tuple[float | None, float | None]:
    try:
        return _number(row.em), _number(row.f1)
    except (TypeError, ValueError, OverflowError) as error:
        raise MalformedSamples(BAD_SCORE) from error


def _number(value: Any) -> float | None:
    # --write_out stores str(value).
    return None if value is None else float(value)


def golds_of(row: Row) -> Golds | None:
    """Return the accepted answers of a row, None where it has none.

    Raises MalformedSamples where they are of no known form.
    """
    listed = row.gold_answers if row.gold_answers is not None else row.answers
    try:
        if listed is not None:
            golds = msgspec.convert(listed, Golds)
        elif isinstance(row.answer, dict):
            golds = _answers_of_document(row.answer, row.validated_answers)
        else:
            return None
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedSamples(BAD_GOLDS) from error
    if not golds or not all(golds):
        raise MalformedSamples(BAD_GOLDS)
    if sum(len(span) + 1 for answer in golds for span in answer) > MAX_GOLDS:
        raise MalformedSamples(LONG_GOLDS)
    return golds


def _answers_of_document(answer: Any, validated: Any) -> Golds:
    """Make golds of a DROP document as it is published: the answer, then the validated ones, each once."""
    if isinstance(validated, dict):
        columns = [validated[name] for name in ("number", "date", "spans")]
        validated = [
            {"number": number, "date": date, "spans": spans} for number, date, spans in zip(*columns, strict=True)
        ]
    return tuple(dict.fromkeys(map(_answer, [answer, *(validated or [])])))


def _answer(answer: dict[str, Any]) -> tuple[str, ...]:
    if answer["number"] != "":
        return (str(answer["number"]),)
    if answer["spans"]:
        return tuple(map(str, answer["spans"]))
    date = answer["date"]
    return (f"{date['day']} {date['month']} {date['year']}".strip(),)


def key_of(row: Row) -> Key | None:
    """Return what golds can be joined by, None where the row has nothing of the kind."""
    if isinstance(row.passage, str) and isinstance(row.question, str):
        return Key(row.passage.strip(), row.question.strip(), row.doc_id)
    return Key("", "", row.doc_id) if isinstance(row.doc_id, (int, str)) else None
