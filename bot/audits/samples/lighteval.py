"""The details of lighteval: a Parquet file for each task; needs the extra `tables`.

Until 0.9 a row has `full_prompt`, `predictions`, `gold` and `metrics`; since 0.10 `doc`, `model_response` and `metric`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any

from bot.audits.samples import parquet_rows
from bot.audits.samples.records import SkippedRecord
from bot.audits.samples.sample import (
    NO_FORM,
    Sample,
    by_likelihood,
    document_hash,
    identifier,
    likelihoods,
    number,
    sha256,
    text,
)
from bot.errors import CallError, MalformedSamples

MEMORY = 1 << 30  # bytes for reading one file, beside what Arrow itself takes
LONGEST_ROW = 64 << 20  # characters of one row as JSON
LONGEST_REASON = 1_000  # bytes of what Arrow says
MOST_ROWS, MOST_PRINTED = 1_000_000, 2 << 30  # rows of one file, and characters of all of them as JSON


def read_details(path: Path) -> Iterator[Sample | SkippedRecord]:
    """Yield the samples of a details file in its order; `line` counts rows from 1.

    Raises CallError if it is no Parquet file, is damaged, unpacks to too much, or the extra `tables` is absent.
    """
    if find_spec("pyarrow") is None:
        raise CallError(f"{path}: to read Parquet install leaderboard-bot[tables]")
    # what Python needs to find Arrow, and no secret
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH") if name in os.environ}
    place, program = 0, [sys.executable, "-P", parquet_rows.__file__, str(path), str(MEMORY)]
    with TemporaryFile() as said, Popen(program, stdout=PIPE, stderr=said, env=environment) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        printed, is_read = 0, False
        try:
            while line := process.stdout.readline(LONGEST_ROW):
                place, printed = place + 1, printed + len(line)
                if len(line) == LONGEST_ROW:
                    raise CallError(f"{path}: row {place} has more than {LONGEST_ROW >> 20} MB")
                if place > MOST_ROWS or printed > MOST_PRINTED:
                    most = f"{MOST_ROWS:,} rows or {MOST_PRINTED >> 20:,} MB"
                    raise CallError(f"{path}: it unpacks to more than {most}")
                yield read_row(json.loads(line), place)
            is_read = True
        finally:  # whoever reads may want no more rows
            if not is_read:
                process.kill()
        if process.wait():
            said.seek(0)
            why = said.read(LONGEST_REASON).decode("utf-8", "replace").strip().rpartition("\n")[2] or "Arrow ended"
            raise CallError(f"{path}: cannot be read as Parquet after row {place}: {why}")


def read_row(row: dict[str, Any], place: int) -> Sample | SkippedRecord:
    """Read one row, which is at this place counted from 1."""
    try:
        return _since_010(row, place) if isinstance(row.get("doc"), dict) else _until_09(row, place)
    except MalformedSamples as error:
        return SkippedRecord(place, str(error))


def _since_010(row: dict[str, Any], place: int) -> Sample:
    doc, response = row["doc"], row.get("model_response")
    if not isinstance(response, dict):
        raise MalformedSamples(NO_FORM)
    prompt = text(response.get("input")) or text(doc.get("query"))
    asked = {"question": text(doc.get("query")), "choices": doc.get("choices"), "gold": doc.get("gold_index")}
    named = identifier(doc.get("id"))
    sample = _made(row, named if named not in {None, ""} else place - 1, asked, prompt)
    sample.target = _gold(doc.get("choices"), doc.get("gold_index"))
    sample.response = _first(response.get("text"))
    processed = _first(response.get("text_post_processed"))
    sample.answer = processed if processed is not None else sample.response
    return _finished(sample, doc.get("choices"), response.get("logprobs"), doc.get("gold_index"), row.get("metric"))


def _until_09(row: dict[str, Any], place: int) -> Sample:
    if not isinstance(row.get("full_prompt"), str):
        raise MalformedSamples(NO_FORM)
    asked = {"question": text(row.get("example")), "choices": row.get("choices"), "gold": row.get("gold")}
    sample = _made(row, place - 1, asked, row["full_prompt"])
    sample.target = _first(row.get("gold")) or _gold(row.get("choices"), row.get("gold_index"))
    sample.response = sample.answer = _first(row.get("predictions"))
    return _finished(sample, row.get("choices"), row.get("predictions"), row.get("gold_index"), row.get("metrics"))


def _made(row: dict[str, Any], doc_id: int | str | None, asked: dict[str, Any], prompt: str) -> Sample:
    return Sample("lighteval", doc_id, row, asked, document_hash(asked), prompt, sha256(prompt))


def _finished(sample: Sample, choices: Any, values: Any, index: Any, metrics: Any) -> Sample:
    """The sample with its metrics, its log-likelihoods, and acc and acc_norm as these give them."""
    numbers = {name: number(value) for name, value in metrics.items()} if isinstance(metrics, dict) else {}
    sample.metrics = {name: value for name, value in numbers.items() if value is not None}
    if not sample.response and isinstance(choices, list):
        sample.logprobs, sample.greedy = likelihoods(values, len(choices))
        sample.continuations = tuple(map(text, choices)) if sample.logprobs else ()
    golds = {one for one in (index if isinstance(index, list) else [index]) if isinstance(one, int)}
    is_shown = golds and len(sample.logprobs) > 1
    sample.rescored = {
        name: by_likelihood(sample.continuations, sample.logprobs, golds, per_character=name == "acc_norm")
        if is_shown
        else ()
        for name in ("acc", "acc_norm")
    }
    return sample


def _first(values: Any) -> str | None:
    """Return the first text, None where there is none; lists of one around it are left out."""
    while isinstance(values, list) and values:
        values = values[0]
    return values if isinstance(values, str) else None


def _gold(choices: Any, index: Any) -> str:
    first = index[0] if isinstance(index, list) and index else index
    if isinstance(choices, list) and isinstance(first, int) and 0 <= first < len(choices):
        return text(choices[first])
    return ""
