"""The samples of an Inspect log: members of an `.eval` archive, or the `samples` of a JSON log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from bot.audits.samples.records import SkippedRecord, array_elements, open_log, read_each
from bot.audits.samples.sample import NO_FORM, Sample, decode, document_hash, identifier, number, sha256, text
from bot.errors import CallError, MalformedResult, MalformedSamples
from bot.evaluation.formats.zip_members import ZipMembers

MAX_SAMPLE, MAX_SAMPLES = 16 << 20, 16 << 30  # bytes of one, and of all of a log
DATED = re.compile(r"(-\d{4}-?\d\d-?\d\d)?")  # what a provider adds to the name of a model
# The letters that Inspect's scorers give, and their numbers (inspect_ai.scorer.value_to_float).
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def read_archive(path: Path) -> Iterator[Sample | SkippedRecord]:
    """Yield the samples of an archive by the names of their members; `line` counts members from 1.

    Raises CallError for an archive that is damaged. Of the archive only the member that is read is in memory.
    """
    try:
        with path.open("rb") as file:
            members = ZipMembers(mmap(file.fileno(), 0, access=ACCESS_READ))
    except MalformedResult as error:
        raise CallError(f"{path}: {error.why}") from None
    except (OSError, ValueError) as error:
        raise CallError(f"{path}: cannot be read: {error}") from None
    sizes = members.sizes()
    names = sorted(name for name in sizes if name.startswith("samples/") and name.endswith(".json"))
    if sum(map(sizes.__getitem__, names)) > MAX_SAMPLES:
        raise CallError(f"{path}: its samples unpack to more than {MAX_SAMPLES >> 30} GiB")
    yield from read_each(enumerate(names, start=1), lambda name: _sample(decode(members.read(name, MAX_SAMPLE))))


def read_json(path: Path) -> Iterator[Sample | SkippedRecord]:
    """Yield the samples of a JSON log. Raises CallError if it cannot be opened."""
    with open_log(path) as log:
        yield from read_each(array_elements(log, "samples"), _sample_of_json)


def _sample_of_json(data: bytes) -> Sample | None:
    row = decode(data)
    return None if "sample_id" in row else _sample(row)  # an array of the same name has the scores after all epochs


def _sample(row: dict[str, Any]) -> Sample:
    """Read one sample. Raises MalformedSamples if it is none."""
    if "input" not in row or "target" not in row:
        raise MalformedSamples(NO_FORM)
    doc = {name: row[name] for name in ("input", "choices", "target") if row.get(name) is not None}
    prompt = _written(row.get("input"))
    target = row["target"] if isinstance(row["target"], str) else " | ".join(map(text, _listed(row["target"])))
    scores = row["scores"] if isinstance(row.get("scores"), dict) else {}
    answers = [one["answer"] for one in scores.values() if isinstance(one, dict) and isinstance(one.get("answer"), str)]
    return Sample(
        "inspect",
        identifier(row.get("id")),
        row,
        doc,
        document_hash(doc),
        prompt,
        sha256(prompt),
        target,
        response=_output(row.get("output")),
        answer=answers[0] if answers else None,
        metrics=dict(_metrics(scores)),
        model=_model(row),
    )


def _model(row: dict[str, Any]) -> str:
    """The one model that answered, where its name is also that of the answer, maybe with a date; else ""."""
    used, output = row.get("model_usage"), row.get("output")
    if not isinstance(used, dict) or len(used) != 1 or not isinstance(output, dict):
        return ""
    [name] = used
    answered = text(output.get("model")).removeprefix(name.rpartition("/")[2])
    return name if output.get("model") and DATED.fullmatch(answered) else ""


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _written(value: object) -> str:
    """Return the text of a prompt or of the content of a message, whose parts may be texts, messages or both."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _written(value.get("content") if "content" in value else value.get("text"))
    return "\n".join(filter(None, map(_written, _listed(value))))


def _output(output: object) -> str | None:
    choices = _listed(output.get("choices")) if isinstance(output, dict) else []
    return _written(choices[0].get("message")) if choices and isinstance(choices[0], dict) else None


def _metrics(scores: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield each scorer's number; a score of several values gives one for each, under its name in the results."""
    said: set[str] = set()
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        for name, one in (value if isinstance(value, dict) else {scorer: value}).items():
            found = LETTERS.get(one) if isinstance(one, str) else number(one)
            if found is not None and name not in said:
                said.add(name)
                yield name, found
