"""Score files of the Berkeley Function-Calling Leaderboard: `score/<model>/[BFCL_v<n>_]<category>_score.json`.

Read from 1,800 files of HuanzhiMao/BFCL-Result at b4adfc9 (releases 1 and 2) and bbrowning/bfcl-vllm-results at f98223a
(releases 3 and 4). The first line has the accuracy and the counts, each further line an answer that was wrong; these
lines name the model and the category. Where there is none, both stand in the path alone. A leaf is a category.
`data_overall.csv` and the other tables have all models and round their values: they are named, and not read.
"""

from __future__ import annotations

import re
from math import isclose
from typing import Any

from jiter import from_json

from bot.errors import MalformedResult
from bot.evaluation.finding import counted
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import number, table, text, whole
from bot.evaluation.formats.format import Format, Kind
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

COUNTS = frozenset({"accuracy", "correct_count", "total_count"})
NAME = re.compile(
    r"(?:.*?/)??(?P<model>[^/]+)/(?:(?:non_live|live|multi_turn|agentic|memory[^/]*|kv|vector|rec_sum|format_sensitivity)/)*"
    r"(?:BFCL_(?P<release>v\d+)_)?(?P<category>[^/]+?)_score\.json"
)
TABLE = re.compile(rb"Rank,(Overall Acc,Model|Model,([\w -]+ Overall Acc|Format Sensitivity))\b")
MOST = 64 * 1024 * 1024  # bytes; the wrong answers hold whole prompts
PLACES = {"leaves": "", "leaf": "", "model": ""}
ANSWER = frozenset({"id", "result", "inference_log", "input_token_count", "output_token_count", "latency",
                    "reasoning_content", "traceback"})  # fmt: skip


def recognise(content: Content) -> bool:
    """Recognise it by a first line that has the accuracy and both counts, and hardly anything else."""
    first = _first(content.data)
    return first.keys() >= COUNTS and len(first) <= len(COUNTS) + 2


def _first(data: bytes, line: int = 0) -> dict[str, Any]:
    """A line of the first two as an object, an empty one where it is none."""
    lines = data.lstrip().split(b"\n", 2)
    try:
        return table(from_json(lines[line])) if len(lines) > line and lines[line].strip() else {}
    except ValueError:
        return {}


def parse(content: Content) -> Result:
    """Read the first two lines. Raises MalformedResult where the category is nowhere, or the counts contradict."""
    counts, wrong, path = _first(content.data), _first(content.data, 1), NAME.fullmatch(content.path)
    category = text(wrong.get("test_category")) or (path["category"] if path else "")
    model = text(wrong.get("model_name")) or (path["model"] if path else "")
    right, samples, value = whole(counts["correct_count"]), whole(counts["total_count"]), number(counts["accuracy"])
    if not category:
        raise MalformedResult("names no category: keep the name that BFCL gives the file, <category>_score.json")
    if right is None or not samples or value is None or not isclose(right / samples, value, abs_tol=1e-9):
        raise MalformedResult("has counts that do not give the accuracy", line=1)
    lines = content.data.strip().count(b"\n")
    if lines != samples - right:
        why = f"lists {counted(lines, 'wrong answer')}, and its first line counts {samples - right:,}"
        raise MalformedResult(why, hint="upload the file as BFCL wrote it")
    release = path["release"] if path else None
    return Result(
        model=Model(id=model),
        harness=HarnessVersion("bfcl", version=None, repository="ShishirPatil/gorilla"),
        leaves={category: LeafResult({"accuracy": counts["accuracy"]}, None, release, samples, samples)},
        places=PLACES,
    )


BFCL = Format(
    id="bfcl",
    title="BFCL",
    recognise=recognise,
    parse=parse,
    starts=(b'{"accuracy"',),
    max_bytes=MOST,
    larger={b'{"accuracy"': MOST},
    naming="",
    pinning="",
    shows=frozenset({"samples"}),
    names_by_path=True,
    others=(
        Kind(
            "bfcl",
            "a table or the answers of BFCL",
            "name the score files beside it, score/<model>/<category>_score.json",
            lambda head: TABLE.match(head) is not None,
            lambda value: isinstance(value, dict) and {"id", "result"} <= value.keys() <= ANSWER,
        ),
    ),
)
