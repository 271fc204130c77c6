"""Sample logs of DROP in every format that lm-evaluation-harness wrote."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bot.audits.drop.audit import LogAudit, audit_drop
from bot.audits.drop.golds import read_golds
from bot.audits.drop.scorer import Golds, Scorer

RENDERED = "number,date,spans,worker_id,hit_id"
UNTIL = {"until": ["."], "temperature": 0.0}

# A generation and its golds, one of each kind that was on the board of November 2023.
GENERATIONS: tuple[tuple[str, Golds], ...] = (
    (" 10", (("10",),)),
    (" 10\n\nPassage: The 2011 census recorded 1,001 people", (("10",),)),
    (" 12", (("12.25",),)),
    (" Chicago Bears", (("Chicago Bears",), ("Bears",))),
    (" Chicago Bears\n\nPassage: The Bears opened", (("Chicago Bears",),)),
    ("\n52", (("52",),)),
    (" Packers", (("Bears", "Packers"),)),
    (" in March 1999", (("12 March 1999",),)),
)


def score_of(prediction: str, golds: Golds) -> dict[str, float]:
    """Return em and f1 as a log holds them."""
    return Scorer().score(prediction, golds)._asdict()


def passage(number: int) -> str:
    """Return the passage of a question, with text that looks like the labels of a prompt."""
    return f"In game {number} the Bears [led] 10-3.\nAnswer: they lost."


def row_04(number: int, prediction: str, golds: Golds, since: str) -> dict[str, Any]:
    """Return a row as written since release 0.4.0, 0.4.3 or 0.4.7."""
    question = f"How many in game {number}?"
    doc = {"id": f"q{number}", "passage": passage(number), "question": question, "answers": golds}
    context = f"{passage(number)} {question}"
    row = {
        "doc_id": number,
        "doc": doc,
        "target": golds[0][0],
        "arguments": [[context, UNTIL]],
        "resps": [[prediction]],
        "filtered_resps": [prediction],
        **score_of(prediction, golds),
    }
    if since != "0.4.0":
        hashes = dict.fromkeys(("doc_hash", "prompt_hash", "target_hash"), "0" * 64)
        row |= {"arguments": {"gen_args_0": {"arg_0": context, "arg_1": UNTIL}}, **hashes}
    return row | {"filter": "none", "metrics": ["em", "f1"]} if since == "0.4.7" else row


def row_03(number: int, prediction: str, golds: Golds) -> dict[str, Any]:
    """Return a row of --write_out: the prompt runs into the word "until", metrics are texts, golds are lost."""
    shot = "Passage: p\nQuestion: q?\nAnswer: 3\n\n"
    asked = f"Passage: {passage(number)}\nQuestion: How many in game {number}?\nAnswer:"
    metrics = {name: str(value) for name, value in score_of(prediction, golds).items()}
    truth = " " + ", ".join(golds[0])
    return {"doc_id": 900 - number, "prompt_0": f"{shot}{asked}until", "logit_0": prediction, "truth": truth, **metrics}


def row_plain(number: int, prediction: str, golds: Golds) -> dict[str, Any]:
    """Return a row of the plain format, with its logged score."""
    return {"doc_id": number, "prediction": prediction, "gold_answers": golds, **score_of(prediction, golds)}


def document(number: int, golds: Golds) -> dict[str, Any]:
    """Return the question as the dataset publishes it: first the answer, then the validated ones by column."""
    answers = [{"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": list(answer)} for answer in golds]
    validated = {name: [answer[name] for answer in answers] for name in ("number", "date", "spans")}
    question = f"How many in game {number}?"
    return {"passage": passage(number), "question": question, "answer": answers[0], "validated_answers": validated}


def rows_04(since: str, times: int = 1) -> list[dict[str, Any]]:
    """Return all GENERATIONS, `times` over, as rows of a release."""
    return [row_04(number, *one, since) for number, one in enumerate(GENERATIONS * times)]


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """Write JSON lines, as gzip if the name ends in .gz."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def write_array(path: Path, rows: Sequence[Any]) -> Path:
    """Write one indented array, as releases 0.4.0 to 0.4.2 and --write_out do."""
    path.write_text(json.dumps(rows, indent=4, ensure_ascii=False), encoding="utf-8")
    return path


def audit_one(path: Path, golds: Path | None = None) -> LogAudit:
    """Audit one log."""
    return audit_drop([path], golds=read_golds(golds) if golds else None).logs[0]


def skipped(log: LogAudit) -> list[tuple[str, int, list[int]]]:
    """Return what was skipped as (why, count, lines)."""
    return [(group.why, group.count, group.lines) for group in log.skipped]


def documents(path: Path) -> Path:
    """Write the questions of GENERATIONS as the dataset publishes them."""
    return write_lines(path, [document(number, golds) for number, (_, golds) in enumerate(GENERATIONS)])


def plain_log(path: Path, samples: list[tuple[str, Golds]]) -> Path:
    """Write samples in the plain format."""
    return write_lines(path, [row_plain(number, *sample) for number, sample in enumerate(samples)])


SOUND: list[tuple[str, Golds]] = [(" 10", (("10",),)), (" Bears", (("Bears",),)), (" wrong", (("x",),))] * 12
