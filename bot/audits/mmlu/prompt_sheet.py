"""Prints questions under several implementations side by side, for `audit mmlu prompts`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bot.audits.mmlu.prompts import Question, ask
from bot.audits.mmlu.questions import EXAMPLE, EXAMPLE_SHOTS, read_questions
from bot.errors import CallError
from bot.evaluation.mmlu_family import TITLES, Family

LOGITS = "the logits of A, B, C and D at the last position"


def prompt_sheet(
    questions: Path | None, shots: Path | None, *, families: Sequence[str], subject: str, num_fewshot: int
) -> list[dict[str, Any]]:
    """Return one row for each question and family: prompt, continuations, and what was asked.

    Raises CallError if a file or a family is not what it should be, or there are fewer shots than asked for.
    """
    asked = read_questions(questions) if questions else [(EXAMPLE, subject)]
    shown = _shots(shots, num_fewshot)
    rows = []
    for question, own in asked:
        for family in _families(families):
            put = ask(family, question, shown, own or subject)
            rows.append(
                {
                    "family": family.value,
                    "subject": own or subject,
                    "num_fewshot": len(shown),
                    "prompt": put.prompt,
                    "continuations": list(put.continuations),
                }
            )
    return rows


def _shots(path: Path | None, num_fewshot: int) -> Sequence[Question]:
    had = [question for question, _ in read_questions(path)] if path else EXAMPLE_SHOTS
    if len(had) < num_fewshot:
        raise CallError(f"{path or 'the made-up shots'}: {len(had)} shots, {num_fewshot} are asked for")
    return had[:num_fewshot]


def _families(names: Sequence[str]) -> list[Family]:
    known = [family for family in Family if family is not Family.UNKNOWN]
    strange = next((name for name in names if name not in known), None)
    if strange is not None:
        raise CallError(f"there is no implementation {strange!r}: one of {', '.join(known)}")
    return [family for family in known if not names or family in names]


def sheet_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return the sheet for reading: each prompt as it is, under a line that names it."""
    parts = []
    for row in rows:
        generated = LOGITS if row["family"] == Family.ORIGINAL else "the text that is generated"
        scored = ", ".join(map(repr, row["continuations"])) or generated
        parts.append(f"=== {row['family']}: {TITLES[Family(row['family'])]}\n{row['prompt']}\n=== scored: {scored}\n")
    return "\n".join(parts)
