"""Read the records of a log: fast in the harness's usual form, else in any known format.

Fields that no figure needs are not decoded: the passage and the prompt are most of a record. A record that differs from
what is expected here goes to `log_rows`, which gives the same sample in three times the time.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec

from bot.audits.drop.answers import Golds
from bot.audits.drop.log_rows import decode_row, read_row, stop_words
from bot.audits.drop.sample import RENDERED_KEYS, DropSample

RENDERED_BYTES = RENDERED_KEYS.encode()
NOTHING = msgspec.Raw(b"null")
QUOTE = ord('"')
MAX_STOPS = 64


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


class PlainRow(msgspec.Struct, gc=False):
    """A row of the plain format; the fields of null tell it from the formats of the harness."""

    prediction: str
    gold_answers: Golds
    em: float | None = None
    f1: float | None = None
    filtered_resps: None = None
    resps: None = None
    logit_0: None = None
    prompt_0: None = None


class SampleReader:
    """Reads records; it remembers the few lists of stop words that a log has."""

    def __init__(self) -> None:
        self._decode_harness = msgspec.json.Decoder(HarnessRow).decode
        self._decode_plain = msgspec.json.Decoder(PlainRow).decode
        self._readers = {"plain": self._plain, "lm-eval-0.4.3": self._harness, "lm-eval-0.4.7": self._harness}
        self._read: Callable[[bytes], DropSample | None] = self._harness
        self._stop_words: dict[bytes, str] = {}

    def __call__(self, data: bytes) -> DropSample:
        """Return the sample of a record. Raises MalformedSamples with the reason if there is none."""
        try:
            sample = self._read(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            sample = None
        if sample is None:
            sample = read_row(decode_row(data))
            self._read = self._readers.get(sample.form, _read_any)
        return sample

    def _harness(self, data: bytes) -> DropSample | None:
        row = self._decode_harness(data)
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
            self._until(bytes(request.arg_1.until)),
            # An underscore is rare in a prompt, and to find none takes a tenth of the time.
            b"_" in prompt and RENDERED_BYTES in prompt,
            RENDERED_KEYS in row.target,
        )

    def _until(self, raw: bytes) -> str:
        known = self._stop_words.get(raw)
        if known is None:
            known = stop_words(json.loads(raw))
            if len(self._stop_words) < MAX_STOPS:
                self._stop_words[raw] = known
        return known

    def _plain(self, data: bytes) -> DropSample:
        row = self._decode_plain(data)
        return DropSample("plain", row.prediction, row.gold_answers, row.em, row.f1)


def _read_any(data: bytes) -> DropSample:
    return read_row(decode_row(data))
