"""Find the gold answers of samples without them in a second file.

The file may hold documents as published ({passage, question, answer, validated_answers}), as the harness prepares them
({passage, question, answers}), the sample log of any model, or {doc_id, gold_answers}.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.audits.drop.samples import NO_GOLDS, NO_JOIN, TRUTH_DIFFERS, DropSample, Key, golds_of, key_of
from bot.audits.drop.scorer import Golds
from bot.audits.samples.records import Skipped, open_log, read_each, read_records
from bot.audits.samples.sample import decode
from bot.errors import CallError, MalformedSamples


@dataclass(slots=True)
class GoldIndex:
    """Golds by the digest of passage and question, and by number for those without a question."""

    path: str
    by_question: dict[bytes, Golds] = field(default_factory=dict)
    by_id: dict[Any, Golds] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep the golds of one row. Raises MalformedSamples if it has none, or no key to them."""
        if isinstance(row.get("doc"), dict):
            row = {"doc_id": row.get("doc_id"), **row["doc"]}
        golds, key = golds_of(row), key_of(row)
        if golds is None or key is None:
            raise MalformedSamples(NO_GOLDS)
        if key.question:
            self.by_question[digest(key)] = golds
        else:
            self.by_id[key.doc_id] = golds

    def find(self, key: Key | None) -> Golds | None:
        """Return the golds of a sample, by its question, or by its number where the golds have no question."""
        if key is None:
            return None
        found = self.by_question.get(digest(key)) if key.question else None
        return found or (self.by_id.get(key.doc_id))


def digest(key: Key) -> bytes:
    """Return 16 bytes for passage and question: the passages take more memory than the golds."""
    text = f"{key.passage}\0{key.question}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def read_golds(path: Path) -> GoldIndex:
    """Read a golds file. Raises CallError if it cannot be read or holds no answers at all."""
    index = GoldIndex(str(path))

    def keep(data: bytes) -> None:
        index.add(decode(data))

    with open_log(path) as log:
        for skipped in read_each(read_records(log), keep):
            index.skipped.add(skipped)
    if not (index.by_question or index.by_id):
        first = next(iter(index.skipped.values()), None)
        why = f": line {first.lines[0]}: {first.why}" if first else ""
        raise CallError(f"{path}: holds no gold answers{why}")
    return index


def join_golds(sample: DropSample, index: GoldIndex | None) -> Golds:
    """Return the golds from the file for a sample that has none of its own.

    Raises MalformedSamples if there are none, or if they contradict the answer that the log names.
    """
    if index is None:
        raise MalformedSamples(NO_GOLDS)
    golds = index.find(sample.key)
    if golds is None:
        raise MalformedSamples(NO_JOIN)
    # 0.3 shuffles its documents: a join by number alone can hit the wrong question.
    if sample.form == "lm-eval-0.3" and not _holds(golds, sample.target):
        raise MalformedSamples(TRUTH_DIFFERS)
    return golds


def _holds(golds: Golds, truth: str) -> bool:
    return not truth.strip() or truth.strip() in {", ".join(answer).strip() for answer in golds}
