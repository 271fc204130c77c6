"""Reads questions with their subjects from a file with one JSON object on each line."""

from __future__ import annotations

from pathlib import Path

from bot.audits.mmlu.prompts import Question
from bot.audits.mmlu.samples import decode, question_of
from bot.audits.records import SkippedRecord, open_log, read_records
from bot.errors import CallError, MalformedSamples

# Made up, so that prompts can be looked at without any data set at hand.
EXAMPLE = Question("Which of these is a prime number?", ("4", "6", "7", "9"), 2)
EXAMPLE_SHOTS = (
    Question("What is 2 + 2?", ("3", "4", "5", "6"), 1),
    Question("What is 3 * 3?", ("9", "6", "8", "12"), 0),
    Question("Which of these is even?", ("1", "3", "5", "8"), 3),
    Question("What is 10 - 7?", ("2", "4", "3", "5"), 2),
    Question("What is half of 12?", ("5", "6", "7", "8"), 1),
)


def read_questions(path: Path) -> list[tuple[Question, str]]:
    """Read questions as the data set has them: {"question", "choices", "answer", "subject"}; "" for no subject.

    `answer` is an index or a letter. Raises CallError with the line of the first record that is none.
    """
    found = []
    with open_log(path) as log:
        for record in read_records(log):
            if isinstance(record, SkippedRecord):
                raise CallError(f"{path}: line {record.line}: {record.why}")
            try:
                row = decode(record.data)
                question = question_of(row.get("question"), row.get("choices"), row.get("answer"))
            except MalformedSamples as error:
                raise CallError(f"{path}: line {record.line}: {error}") from None
            found.append((question, str(row.get("subject") or "")))
    if not found:
        raise CallError(f"{path}: holds no question")
    return found
