"""Read one record of a sample log in whichever format it has.

lm-evaluation-harness 0.4 writes `filtered_resps` and `doc`, in three variants; 0.3 with --write_out writes `logit_0`
and `prompt_0`, without golds; anything else may write {"prediction", "gold_answers"}.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from bot.audits.drop.answers import BAD_GOLDS, Golds
from bot.audits.drop.sample import (
    BAD_SCORE,
    NO_FORM,
    NO_TEXT,
    OTHER_TASK,
    RENDERED_KEYS,
    RESULT_FILE,
    DropSample,
    Key,
)
from bot.audits.records import NOT_JSON
from bot.errors import MalformedSamples


class LogRow(msgspec.Struct):
    """The fields of all formats; the reader of a format checks what its fields hold."""

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


_DECODER = msgspec.json.Decoder(LogRow)


def decode_row(data: bytes | str) -> LogRow:
    """Decode one record. Raises MalformedSamples if it is not a JSON object."""
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_loosely(data)


def _decode_loosely(data: bytes | str) -> LogRow:
    # NaN, Infinity and half of a surrogate pair are not JSON, but Python's writer puts them there.
    try:
        return msgspec.convert(json.loads(data), LogRow)
    except (ValueError, RecursionError) as error:
        why = NO_FORM if isinstance(error, msgspec.ValidationError) else NOT_JSON
        raise MalformedSamples(why) from error


def read_row(row: LogRow) -> DropSample:
    """Return the sample of a row; its `golds` are None if another file has them.

    Raises MalformedSamples with the reason if the row holds no DROP sample.
    """
    if row.filtered_resps is not None or row.resps is not None:
        return _harness_04(row)
    if row.logit_0 is not None or row.prompt_0 is not None:
        return _write_out(row)
    if row.prediction is not None:
        return DropSample("plain", _text(row.prediction), golds_of(row), *_logged(row), key=key_of(row))
    raise MalformedSamples(RESULT_FILE if row.results is not None else NO_FORM)


def _write_out(row: LogRow) -> DropSample:
    prompt = row.prompt_0 if isinstance(row.prompt_0, str) else ""
    # The prompt is the context and its generation arguments run together: it ends in the word "until".
    context, answer, _ = prompt.rpartition("\nAnswer:")
    passage, question, asked = context.rpartition("Passage: ")[2].partition("\nQuestion: ")
    if not (answer and question):
        raise MalformedSamples(OTHER_TASK)
    return DropSample(
        "lm-eval-0.3",
        _text(row.logit_0),
        None,
        *_logged(row),
        target=row.truth if isinstance(row.truth, str) else "",
        rendered_prompt=RENDERED_KEYS in prompt,
        key=Key(passage.strip(), asked.strip(), row.doc_id),
    )


def _harness_04(row: LogRow) -> DropSample:
    doc = row.doc if isinstance(row.doc, dict) else {}
    known = {name: doc.get(name) for name in ("passage", "question", "answers", "answer", "validated_answers")}
    document = LogRow(**known, doc_id=row.doc_id)
    if not (isinstance(document.passage, str) and isinstance(document.question, str)):
        raise MalformedSamples(OTHER_TASK)
    prompt, until = _request(row.arguments)
    target = row.target if isinstance(row.target, str) else ""
    return DropSample(
        form_of(has_filter=row.filter is not None, is_object=isinstance(row.arguments, dict)),
        _generation(row.filtered_resps if row.filtered_resps is not None else row.resps),
        golds_of(document),
        *_logged(row),
        target=target,
        until=until,
        rendered_prompt=RENDERED_KEYS in prompt,
        rendered_target=RENDERED_KEYS in target,
        key=key_of(document),
    )


def form_of(*, has_filter: bool, is_object: bool) -> str:
    """Name the first release that wrote such rows: `filter` came with 0.4.7, `arguments` as an object with 0.4.3."""
    if has_filter:
        return "lm-eval-0.4.7"
    return "lm-eval-0.4.3" if is_object else "lm-eval-0.4.0"


def _generation(responses: Any) -> str:
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return _text(responses)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise MalformedSamples(NO_TEXT)
    return value


def _request(arguments: Any) -> tuple[str, str]:
    """Return the prompt and the stop words; empty where the log does not hold them."""
    if isinstance(arguments, dict):
        arguments = [list(one.values()) for one in arguments.values() if isinstance(one, dict)]
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    if not isinstance(first, list) or not first or not isinstance(first[0], str):
        return "", ""
    settings = first[1] if len(first) > 1 and isinstance(first[1], dict) else {}
    return first[0], stop_words(settings.get("until"))


def stop_words(until: Any) -> str:
    """Return stop words as JSON of at most 80 characters, "" for none."""
    return "" if until is None else json.dumps(until)[:80]


def _logged(row: LogRow) -> tuple[float | None, float | None]:
    try:
        return _number(row.em), _number(row.f1)
    except (TypeError, ValueError, OverflowError) as error:
        raise MalformedSamples(BAD_SCORE) from error


def _number(value: Any) -> float | None:
    # --write_out stores str(value).
    return None if value is None else float(value)


def golds_of(row: LogRow) -> Golds | None:
    """Return the accepted answers of a row, None if it has none.

    Raises MalformedSamples if they are not lists of texts.
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
    return golds


def _answers_of_document(answer: Any, validated: Any) -> Golds:
    """Return the golds of a DROP document as published: the answer, then the validated ones, each once."""
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


def key_of(row: LogRow) -> Key | None:
    """Return what golds can be joined by, None if the row has neither a question nor a number."""
    if isinstance(row.passage, str) and isinstance(row.question, str):
        return Key(row.passage.strip(), row.question.strip(), row.doc_id)
    return Key("", "", row.doc_id) if isinstance(row.doc_id, (int, str)) else None
