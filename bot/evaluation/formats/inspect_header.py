"""Find the header of an Inspect log, in an archive or in JSON, without reading most of the samples."""

from __future__ import annotations

import re
from typing import Any

from bot.errors import MalformedResult, UnknownFormat
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.document import NOTHING, parse_loosely
from bot.evaluation.formats.fields import table
from bot.evaluation.formats.zip_members import MAGIC, ZipMembers

HEADER, START = "header.json", "_journal/start.json"
MAX_HEADER = 32 * 1024 * 1024
MAX_SAMPLES = 32 * 1024 * 1024  # bytes of samples that are looked through for edits, all together
WORDS = (b'"eval"', b'"plan"', b'"status"', b'"task"')
SAMPLES = b'\n  "samples": '  # as Inspect writes the key that all before it is the header of
OF_LM_EVAL = re.compile(rb'\{\s*"results"')
EDITED = re.compile(rb'"history"\s*:\s*\[\s*\{')


def recognise(content: Content) -> bool:
    """Recognise an archive by its header or its beginning, JSON by `status`, `eval` and `plan`.

    Raises MalformedResult if an archive is damaged.
    """
    if content.data.startswith(MAGIC):
        archive = ZipMembers(content.data)
        if HEADER not in archive and START not in archive:
            raise UnknownFormat(f"is an archive without {HEADER}, so it is not a log of Inspect")
        return True
    if _is_of_lm_eval(content) or not all(word in content.data for word in WORDS):
        return False
    header = _json_header(content.data)
    run = table(table(header).get("eval"))
    return type(table(header).get("status")) is str and "plan" in header and "task" in run and "model" in run


def _is_of_lm_eval(content: Content) -> bool:
    """Whether a file begins as lm-eval writes it and has its `configs`: told without a search through all of it."""
    return OF_LM_EVAL.match(content.data) is not None and content.document.configs is not NOTHING


def _json_header(data: bytes) -> Any:
    """The part of a JSON log before its samples; the whole log if Inspect did not write it.

    Raises MalformedResult if it is not JSON.
    """
    end = data.find(SAMPLES)
    if end > 0:
        try:
            return parse_loosely(data[:end].rstrip().removesuffix(b",") + b"}")
        except MalformedResult:
            pass
    return parse_loosely(data)


def read_header(content: Content) -> tuple[str, Any, bool]:
    """The member of an archive that has the header ("" in JSON), the header, and whether samples' scores were edited.

    Raises MalformedResult if it is not JSON, or an archive is damaged.
    """
    if content.data.startswith(MAGIC):
        return _archive_header(content.data)
    return "", _json_header(content.data), EDITED.search(content.data) is not None


def _archive_header(data: bytes) -> tuple[str, Any, bool]:
    """The member that says most, its value, and whether scores of samples were edited. Raises MalformedResult."""
    archive = ZipMembers(data)
    name = HEADER if HEADER in archive else START
    value = parse_loosely(archive.read(name, MAX_HEADER))
    samples = {member: size for member, size in archive.sizes().items() if member.startswith("samples/")}
    if name == START or sum(samples.values()) > MAX_SAMPLES:
        return name, value, False
    return name, value, any(EDITED.search(archive.read(member, MAX_SAMPLES)) for member in samples)
