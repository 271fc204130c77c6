"""One sample of DROP in a log, and the reasons why a record is not one."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from bot.audits.drop.answers import Golds

NO_FORM = "not a sample of a known format"
RESULT_FILE = "a result file, not a sample log"
OTHER_TASK = "a sample of another task"
NO_GOLDS = "no gold answers (pass them with --golds FILE)"
NO_JOIN = "the golds file does not have its question"
NO_TEXT = "no generated text"
BAD_SCORE = "the logged em or f1 is not a number"
TRUTH_DIFFERS = "the answer in the golds file is not the one that the log names"

# A few-shot target that shows the keys of an answer instead of the answer (harness 0.4, issue 2137).
RENDERED_KEYS = "number,date,spans,worker_id,hit_id"


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
