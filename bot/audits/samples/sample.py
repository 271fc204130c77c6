"""One question of a sample log as it was asked and answered, whatever harness logged it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

from bot.audits.samples.records import NOT_JSON
from bot.errors import MalformedSamples

NO_FORM = "not a sample of a known format"
RESULT_FILE = "a result file, not a sample log"


class Sample(msgspec.Struct, gc=False):
    """One question and one answer; what the log does not record is empty.

    `doc` is the question with its data, `row` the record as it was logged. `response` is the text that the model
    wrote, `answer` what the filter named `filter` left of it; both are None where log-likelihoods were measured:
    `logprobs` are those of `continuations`, in order, and `greedy` tells whether each is what the model would have
    written. `settings` are the generation's (`until`, …). `metrics` are the sample's own numbers by name. `target` is
    the right answer.
    """

    form: str
    doc_id: int | str | None
    row: Mapping[str, Any]
    doc: Any = None
    doc_hash: str = ""
    prompt: str = ""
    prompt_hash: str = ""
    target: str = ""
    target_hash: str = ""
    response: str | None = None
    answer: str | None = None
    continuations: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    greedy: tuple[bool, ...] = ()
    settings: Mapping[str, Any] = {}
    metrics: dict[str, float] = {}
    filter: str = "none"


def decode(data: bytes | str) -> dict[str, Any]:
    """Decode one record. Raises MalformedSamples if it is not a JSON object."""
    try:
        row = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        row = _decode_loosely(data)
    if not isinstance(row, dict):
        raise MalformedSamples(NO_FORM)
    return row


def _decode_loosely(data: bytes | str) -> Any:
    # NaN, Infinity and half of a surrogate pair are not JSON, but Python's writer puts them there.
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedSamples(NOT_JSON) from None


def number(value: object) -> float | None:
    """Return a finite number, None for all else; a truth value counts as 0 or 1, as harnesses log it."""
    if not isinstance(value, (int, float)) or not abs(value) < 1e300:
        return None
    return float(value)


def number_in_text(value: object) -> float | None:
    """Return a finite number that is logged as a number or as text."""
    try:
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return found if isfinite(found) else None


def text(value: object) -> str:
    """Return a text as it is, "" for all else."""
    return value if isinstance(value, str) else ""


def identifier(value: object) -> int | str | None:
    """Return a number or a text that names a sample, None for all else."""
    return value if isinstance(value, (int, str)) else None


def sha256(value: str) -> str:
    """Return the digest of a text as lm-evaluation-harness makes it."""
    return hashlib.sha256(value.encode("utf-8", errors="surrogatepass")).hexdigest()


def document_hash(doc: object) -> str:
    """Return the digest of a document as lm-evaluation-harness makes it, "" for none."""
    return sha256(json.dumps(doc, indent=2, ensure_ascii=False)) if doc is not None else ""
