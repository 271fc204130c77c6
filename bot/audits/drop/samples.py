"""Read the samples of DROP in a log: the generation, the gold answers, and the logged scores.

Rows of the harness's usual form are decoded without what no figure needs: the passage and the prompt are most of a
record. All others come from the common reader of sample logs, which takes three times as long.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from bot.audits.drop.scorer import BAD_GOLDS, Golds
from bot.audits.samples.sample import Sample, identifier, read_sample
from bot.errors import MalformedSamples

OTHER_TASK = "a sample of another task"
NO_GOLDS = "no gold answers (pass them with --golds FILE)"
NO_JOIN = "the golds file does not have its question"
NO_TEXT = "no generated text"
BAD_SCORE = "the logged em or f1 is not a number"
TRUTH_DIFFERS = "the answer in the golds file is not the one that the log names"

# A few-shot target that shows the keys of an answer instead of the answer (harness 0.4, issue 2137).
RENDERED_KEYS = "number,date,spans,worker_id,hit_id"
RENDERED_BYTES = RENDERED_KEYS.encode()
NOTHING = msgspec.Raw(b"null")
QUOTE = ord('"')


class Key(NamedTuple):
    """The key that joins gold answers: passage and question, otherwise the number of the sample."""

    passage: str
    question: str
    doc_id: Any = None


class DropSample(msgspec.Struct, gc=False):
    """One generation and what it is judged by.

    `em` and `f1` are as logged, None if the log has none. `golds` is None if they come from another file, by
    `key`. `rendered_prompt` and `rendered_target` say that prompt or target hold RENDERED_KEYS. `until` is the list of
    stop words as JSON.
    """

    form: str
    prediction: str
    golds: Golds | None
    em: float | None
    f1: float | None
    target: str = ""
    until: str = ""
    rendered_prompt: bool = False
    rendered_target: bool = False
    key: Key | None = None


class SampleSettings(msgspec.Struct, gc=False):
    """The generation settings of a request."""

    until: msgspec.Raw = NOTHING


class SampleRequest(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A request: prompt and settings."""

    arg_0: msgspec.Raw
    arg_1: SampleSettings


class Arguments(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """The one request of a generation task."""

    gen_args_0: SampleRequest


class SampleDocument(msgspec.Struct, gc=False):
    """A question as the task prepares it; passage and question must be there, to tell DROP from other tasks."""

    passage: str
    question: str
    answers: Golds


class HarnessRow(msgspec.Struct, gc=False):
    """A row of lm-evaluation-harness 0.4.3 and later."""

    doc: SampleDocument
    arguments: Arguments
    filtered_resps: tuple[str]
    target: str = ""
    filter: str | None = None
    em: float | None = None
    f1: float | None = None


_decode_harness = msgspec.json.Decoder(HarnessRow).decode


def read_drop_sample(data: bytes) -> DropSample:
    """Return the sample of a record. Raises MalformedSamples with the reason if there is none."""
    try:
        sample = _harness_row(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        sample = None
    return read_any(data) if sample is None else sample


def _harness_row(data: bytes) -> DropSample | None:
    row = _decode_harness(data)
    request = row.arguments.gen_args_0
    prompt = bytes(request.arg_0)
    if prompt[0] != QUOTE:
        return None
    return DropSample(
        "lm-eval-0.4.3" if row.filter is None else "lm-eval-0.4.7",
        row.filtered_resps[0],
        row.doc.answers,
        row.em,
        row.f1,
        row.target,
        _stop_words(bytes(request.arg_1.until)),
        # An underscore is rare in a prompt, and to find none takes a tenth of the time.
        b"_" in prompt and RENDERED_BYTES in prompt,
        RENDERED_KEYS in row.target,
    )


@lru_cache(maxsize=4)  # a run has one list; a stranger's may be as large as a record
def _stop_words(until: bytes) -> str:
    return stop_words(msgspec.json.decode(until))


def read_any(data: bytes | str) -> DropSample:
    """Return the sample of a record of any form; its `golds` are None if another file has them.

    Raises MalformedSamples with the reason if the record holds no sample of DROP.
    """
    sample = read_sample(data)
    if sample.form == "lm-eval-0.3":
        return _write_out(sample)
    if sample.form == "plain":
        return DropSample("plain", _answer(sample), golds_of(sample.row), *_logged(sample), key=key_of(sample.row))
    return _harness_04(sample)


def _harness_04(sample: Sample) -> DropSample:
    doc = sample.doc if isinstance(sample.doc, dict) else {}
    if not (isinstance(doc.get("passage"), str) and isinstance(doc.get("question"), str)):
        raise MalformedSamples(OTHER_TASK)
    return DropSample(
        sample.form,
        _answer(sample),
        golds_of({name: doc.get(name) for name in ("answers", "answer", "validated_answers")}),
        *_logged(sample),
        target=sample.target,
        until=stop_words(sample.settings.get("until")),
        rendered_prompt=RENDERED_KEYS in sample.prompt,
        rendered_target=RENDERED_KEYS in sample.target,
        key=key_of({**doc, "doc_id": sample.row.get("doc_id")}),
    )


def _write_out(sample: Sample) -> DropSample:
    # The prompt is the context and its generation arguments run together: it ends in the word "until".
    context, answer, _ = sample.prompt.rpartition("\nAnswer:")
    passage, question, asked = context.rpartition("Passage: ")[2].partition("\nQuestion: ")
    if not (answer and question):
        raise MalformedSamples(OTHER_TASK)
    return DropSample(
        sample.form,
        _answer(sample),
        None,
        *_logged(sample),
        target=sample.target,
        rendered_prompt=RENDERED_KEYS in sample.prompt,
        key=Key(passage.strip(), asked.strip(), sample.doc_id),
    )


def _answer(sample: Sample) -> str:
    if sample.answer is None:
        raise MalformedSamples(NO_TEXT)
    return sample.answer


def stop_words(until: Any) -> str:
    """Return stop words as JSON of at most 80 characters, "" for none."""
    return "" if until is None else json.dumps(until)[:80]


def _logged(sample: Sample) -> tuple[float | None, float | None]:
    try:
        return _number(sample.row.get("em")), _number(sample.row.get("f1"))
    except (TypeError, ValueError, OverflowError) as error:
        raise MalformedSamples(BAD_SCORE) from error


def _number(value: Any) -> float | None:
    # --write_out stores str(value).
    return None if value is None else float(value)


def golds_of(row: Mapping[str, Any]) -> Golds | None:
    """Return the accepted answers of a row or a document, None if it has none.

    Raises MalformedSamples if they are not lists of texts.
    """
    listed = row["gold_answers"] if row.get("gold_answers") is not None else row.get("answers")
    try:
        if listed is not None:
            golds = msgspec.convert(listed, Golds)
        elif isinstance(row.get("answer"), dict):
            golds = _answers_of_document(row["answer"], row.get("validated_answers"))
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
    return tuple(dict.fromkeys(map(_gold_answer, [answer, *(validated or [])])))


def _gold_answer(answer: dict[str, Any]) -> tuple[str, ...]:
    if answer["number"] != "":
        return (str(answer["number"]),)
    if answer["spans"]:
        return tuple(map(str, answer["spans"]))
    date = answer["date"]
    return (f"{date['day']} {date['month']} {date['year']}".strip(),)


def key_of(row: Mapping[str, Any]) -> Key | None:
    """Return what golds can be joined by, None if the row has neither a question nor a number."""
    passage, question, doc_id = row.get("passage"), row.get("question"), identifier(row.get("doc_id"))
    if isinstance(passage, str) and isinstance(question, str):
        return Key(passage.strip(), question.strip(), doc_id)
    return None if doc_id is None else Key("", "", doc_id)
