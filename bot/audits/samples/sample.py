"""One question of a sample log as it was asked and answered, and the rows of lm-evaluation-harness that hold one.

Rows of harness 0.4 have `filtered_resps` and `doc`, in three variants; those of 0.3 come from --write_out. The plain
form, {"prediction", ...}, is what people write for models that no harness ran.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import isfinite
from typing import Any

import msgspec

from bot.audits.samples.records import NESTED, NOT_JSON, POINTER
from bot.errors import MalformedSamples

NO_FORM = "not a sample of a known format"
RESULT_FILE = "a result file, not a sample log"
HASHES = ("doc_hash", "prompt_hash", "target_hash")
SPELL = json.JSONEncoder(indent=2, ensure_ascii=False).iterencode
CHUNKS = 1_000  # of a document's text that are hashed together
MOST_LEVELS = 32  # of lists and objects in a document
CLOSE = 1e-9  # two log-likelihoods that lie closer are a tie
NO_METRIC = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "native_id", *HASHES)
)


class Sample(msgspec.Struct, gc=False):
    """One question and one answer; what the log does not record is empty.

    `doc` is the question with its data, `row` the record as it was logged. `response` is the text that the model
    wrote, `answer` what the filter named `filter` left of it; both are None where log-likelihoods were measured:
    `logprobs` are those of `continuations`, in order, and `greedy` tells whether each is what the model would have
    written. `settings` are the generation's (`until`, …). `metrics` are the sample's own numbers by name. `target` is
    the right answer. `rescored` has what a metric may be by the logged answer, where the harness tells how, nothing
    where the log lacks the answer; `model` is
    the one that the log names.
    """

    form: str
    doc_id: int | str | None
    row: Mapping[str, Any]
    doc: Any = None
    doc_hash: str = ""
    prompt: str = ""
    prompt_hash: str = ""
    target: str = ""
    response: str | None = None
    answer: str | None = None
    continuations: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    greedy: tuple[bool, ...] = ()
    settings: Mapping[str, Any] = {}
    metrics: dict[str, float] = {}
    filter: str = "none"
    rescored: Mapping[str, Collection[float]] = {}
    model: str = ""


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
        from bot.evaluation.formats.other_files import LFS  # an audit of sound logs starts faster without all formats

        is_pointer = isinstance(data, bytes) and data.startswith(LFS)
        raise MalformedSamples(POINTER if is_pointer else NOT_JSON) from None


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
    """Return a number or a text that names a sample, None for all else.

    A longer number becomes a text: of those, any number can have one hash, and a table of a million takes hours.
    """
    if isinstance(value, int):
        return value if abs(value) < sys.hash_info.modulus else str(value)
    return value if isinstance(value, str) else None


def sha256(value: str) -> str:
    """Return the digest of a text as lm-evaluation-harness makes it."""
    return hashlib.sha256(value.encode("utf-8", errors="surrogatepass")).hexdigest()


def document_hash(doc: object) -> str:
    """Return the digest of a document as lm-evaluation-harness makes it, "" for none.

    Raises MalformedSamples for one that is nested too deeply: each level indents every value below it.
    """
    if doc is None:
        return ""
    if _is_deep(doc):
        raise MalformedSamples(NESTED)
    digest, chunks = hashlib.sha256(), SPELL(doc)
    while part := "".join(islice(chunks, CHUNKS)):
        digest.update(part.encode("utf-8", errors="surrogatepass"))
    return digest.hexdigest()


def _is_deep(doc: object) -> bool:
    level = [doc]
    for _ in range(MOST_LEVELS):
        tables = (one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list))
        level = [*chain.from_iterable(tables)]
        if not level:
            return False
    return any(isinstance(one, dict | list) for one in level)


def read_sample(data: bytes | str) -> Sample:
    """Read one record. Raises MalformedSamples with the reason if it holds no sample of these forms."""
    row = decode(data)
    if any(row.get(name) is not None for name in ("filtered_resps", "resps", "doc_hash")):
        return _harness_04(row)
    if row.get("prompt_0") is not None or row.get("logit_0") is not None:
        return _write_out(row)
    if row.get("prediction") is not None:
        metrics = dict(_metrics(row))
        written = row["prediction"] if isinstance(row["prediction"], str) else None
        return Sample("plain", identifier(row.get("doc_id")), row, doc=row, answer=written, metrics=metrics)
    raise MalformedSamples(RESULT_FILE if row.get("results") is not None else NO_FORM)


def _harness_04(row: dict[str, Any]) -> Sample:
    requests = _requests(row.get("arguments"))
    texts = [one for _, one in requests if isinstance(one, str)]
    first, second = requests[0] if requests else ("", None)
    doc, target = row.get("doc"), text(row.get("target"))
    since = "0.4.3" if isinstance(row.get("arguments"), dict) else "0.4.0"  # it was a list before
    if row.get("filter") is not None:
        since = "0.4.7"
    sample = Sample(
        f"lm-eval-{since}",
        identifier(row.get("doc_id")),
        row,
        doc,
        text(row.get("doc_hash")) or document_hash(doc),
        first,
        text(row.get("prompt_hash")) or sha256(first),
        target,
        metrics=dict(_metrics(row)),
        filter=text(row.get("filter")) or "none",
    )
    if requests and len(texts) == len(requests):
        sample.continuations = tuple(texts)
        sample.logprobs, sample.greedy = likelihoods(row.get("resps"), len(requests))
    else:
        sample.settings = second if isinstance(second, dict) else {}
        filtered = row.get("filtered_resps")
        sample.response = _generation(row.get("resps"))
        sample.answer = _generation(filtered) if filtered is not None else sample.response
    return sample


def _requests(arguments: Any) -> list[tuple[str, Any]]:
    """Return (context, continuation or settings) of each request; {"gen_args_0": {"arg_0": …}} since 0.4.3.

    The first releases write the one pair of a request without a list around it.
    """
    if isinstance(arguments, dict):
        arguments = [list(one.values()) for one in arguments.values() if isinstance(one, dict)]
    if not isinstance(arguments, list):
        return []
    if arguments and isinstance(arguments[0], str):
        arguments = [arguments]
    pairs = []
    for one in arguments:
        if not (isinstance(one, list) and one and isinstance(one[0], str)):
            return []
        pairs.append((one[0], one[1] if len(one) > 1 else None))
    return pairs


def _generation(responses: Any) -> str | None:
    """Return the one text inside the lists of one that the harness wraps it in, None if there is not one."""
    while isinstance(responses, list) and len(responses) == 1:
        responses = responses[0]
    return responses if isinstance(responses, str) else None


def likelihoods(responses: Any, requests: int) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """Return log-probabilities and greedy flags; newer logs write both as text, older ones may lack the flag.

    Both are empty where one is missing or not finite.
    """
    if not isinstance(responses, list) or len(responses) != requests:
        return (), ()
    values, flags = [], []
    for one in responses:
        flat = one[0] if isinstance(one, list) and len(one) == 1 else one
        part = flat if isinstance(flat, list) and flat else [flat]
        value = number_in_text(part[0])
        if value is None:
            return (), ()
        values.append(value)
        if len(part) == 2:
            flags.append(str(part[1]) == "True")
    return tuple(values), tuple(flags) if len(flags) == len(values) else ()


def by_likelihood(
    texts: Sequence[str], values: Sequence[float], golds: Collection[int], *, per_character: bool
) -> set[float]:
    """What acc or acc_norm may be: whether the likeliest continuation is at one of the right places.

    Harnesses differ in whether the blank before a continuation counts as a character, and in who wins a tie.
    """
    scores: list[Sequence[float]] = [values]
    if per_character:
        without = [one[1:] for one in texts] if all(one[:1] in {" ", "\n"} for one in texts) else list(texts)
        scores = [
            [value / max(1, len(one)) for value, one in zip(values, spelled, strict=True)]
            for spelled in (without, list(texts))
        ]
    allowed: set[float] = set()
    for each in scores:
        best = max(each)
        allowed |= {float(place in golds) for place, value in enumerate(each) if best - value <= CLOSE}
    return allowed


def _metrics(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in row.items():
        if name not in NO_METRIC and (found := number(value)) is not None:
            yield name, found


def _write_out(row: dict[str, Any]) -> Sample:
    """Read a row of 0.3: each prompt is its context and its continuation, or generation arguments, run together."""
    count = sum(f"prompt_{i}" in row for i in range(len(row)))
    prompts = tuple(text(row.get(f"prompt_{i}")) for i in range(count))
    written = row.get("logit_0")
    metrics = {
        name: found
        for name, value in row.items()
        if name not in {"doc_id", "truth"} and not name.startswith(("prompt_", "logit_"))
        if (found := number_in_text(value)) is not None
    }
    sample = Sample(
        "lm-eval-0.3",
        identifier(row.get("doc_id")),
        row,
        prompt=prompts[0] if prompts else "",
        target=text(row.get("truth")),
        response=written if isinstance(written, str) else None,
        answer=written if isinstance(written, str) else None,
        continuations=prompts,
        metrics=metrics,
    )
    sample.prompt_hash = sha256(sample.prompt)
    sample.logprobs, sample.greedy = likelihoods([row.get(f"logit_{i}") for i in range(count)], count)
    return sample
