"""Bytes of a result file in, Result out: which format is this, and its reader."""

from __future__ import annotations

from bot.errors import MalformedResult
from bot.formats import lm_eval_03, lm_eval_04, open_llm_v1
from bot.formats.document import Document, parse_document
from bot.result import Result

MAX_BYTES = 32 * 1024 * 1024


def parse_result(data: bytes) -> Result:
    """Recognise a result file by its content and read it. Raises MalformedResult, and nothing else.

    The order of the tests is that of the formats' own marks: two bars in a key are only of v1, a comma in a metric's
    key only of lm-eval 0.4, `no_cache` only of 0.3.
    """
    document = parse_document(data)
    if open_llm_v1.is_recognised(document):
        return open_llm_v1.parse(document)
    if lm_eval_04.is_recognised(document):
        return lm_eval_04.parse(document)
    if lm_eval_03.is_recognised(document):
        return lm_eval_03.parse(document)
    raise MalformedResult(_unknown(document))


def _unknown(document: Document) -> str:
    if document.results is None:
        return 'has no "results" object, so it is no result file of a harness that is read here'
    return "is of no format that is read here: lm-evaluation-harness 0.3 and 0.4, Open LLM Leaderboard v1"
