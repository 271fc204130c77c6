"""Make the prompt of a question of MMLU under each implementation, byte for byte, and say what is scored.

Checked against prompts that each implementation's own code produced: hendrycks/test (#13), stanford-crfm/helm
@cab5d89, lm-evaluation-harness @e47e01b, @b281b09, 0.4.2, and the tasks of the installed release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.audits.samples.records import SkippedRecord, open_log, read_records
from bot.audits.samples.sample import decode
from bot.errors import CallError, MalformedSamples
from bot.evaluation.benchmarks.mmlu_family import LETTERS, TITLES, Family

OTHER_TASK = "a sample of another task"
NO_ANSWER = "no right answer from A to D"
INSTRUCTION = "The following are multiple choice questions (with answers) about"


@dataclass(frozen=True, slots=True)
class Question:
    """One question: four choices, and the index of the right one (0 to 3)."""

    question: str
    choices: tuple[str, str, str, str]
    answer: int

    @property
    def letter(self) -> str:
        """The letter of the right choice."""
        return LETTERS[self.answer]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given: the prompt, and the texts whose likelihood is asked for (none: it generates)."""

    prompt: str
    continuations: tuple[str, ...] = ()


def ask(family: Family, question: Question, shots: Sequence[Question], subject: str) -> Prompt:
    """Build the prompt of an implementation; `subject` as in the data set ("us_foreign_policy").

    Which questions the shots are differs too: the first of the dev split, or for `harness_2023` a sample of the
    validation split. Raises CallError for the family `unknown`.
    """
    if family is Family.UNKNOWN:
        raise CallError(f"there is no prompt of {TITLES[family]}")
    shown = "".join(f"{_block(family, shot)}{_gold(family, shot)}\n\n" for shot in shots)
    prompt = _instruction(family, subject.replace("_", " ")) + shown + _block(family, question)
    return Prompt(prompt, continuations(family, question))


def continuations(family: Family, question: Question) -> tuple[str, ...]:
    """Return the texts whose likelihood is asked for; none where the answer is generated."""
    if family in {Family.HARNESS_2023, Family.CONTINUATION}:
        return tuple(f" {choice}" for choice in question.choices)
    if family in {Family.LETTERS, Family.ONE_NEWLINE}:
        return tuple(f" {letter}" for letter in LETTERS)
    return ()


def _instruction(family: Family, subject: str) -> str:
    match family:
        case Family.HARNESS_2023:
            return ""
        case Family.CONTINUATION:
            return f"The following are questions (with answers) about {subject}.\n\n"
        case Family.ORIGINAL:
            # Its subject formatter sets a space before each word, also before the first.
            return f"{INSTRUCTION}  {subject}.\n\n"
        case Family.ONE_NEWLINE:
            return f"{INSTRUCTION} {subject}.\n"
    return f"{INSTRUCTION} {subject}.\n\n"


def _block(family: Family, question: Question) -> str:
    """Return a question up to "Answer:", without a space after it."""
    lettered = "".join(f"{letter}. {choice}\n" for letter, choice in zip(LETTERS, question.choices, strict=True))
    text = question.question
    match family:
        case Family.HARNESS_2023:
            return f"Question: {text}\nChoices:\n{lettered}Answer:"
        case Family.HELM:
            return f"Question: {text}\n{lettered}Answer:"
        case Family.CONTINUATION:
            return f"Question: {text.strip()}\nAnswer:"
        case Family.ORIGINAL:
            return f"{text}\n{lettered}Answer:"
    return f"{text.strip()}\n{lettered}Answer:"


def _gold(family: Family, question: Question) -> str:
    """Return the answer that a shot shows."""
    if family in {Family.HARNESS_2023, Family.CONTINUATION}:
        return f" {question.choices[question.answer]}"
    return f" {question.letter}"


# Made up, so that prompts can be looked at without any data set at hand.
EXAMPLE = Question("Which of these is a prime number?", ("4", "6", "7", "9"), 2)
EXAMPLE_SHOTS = (
    Question("What is 2 + 2?", ("3", "4", "5", "6"), 1),
    Question("What is 3 * 3?", ("9", "6", "8", "12"), 0),
    Question("Which of these is even?", ("1", "3", "5", "8"), 3),
    Question("What is 10 - 7?", ("2", "4", "3", "5"), 2),
    Question("What is half of 12?", ("5", "6", "7", "8"), 1),
)


def question_of(text: object, choices: object, answer: object) -> Question:
    """Return a question of four choices, its answer an index or a letter. Raises MalformedSamples if it is not one."""
    if not isinstance(text, str) or not isinstance(choices, list) or len(choices) != len(LETTERS):
        raise MalformedSamples(OTHER_TASK)
    if not all(isinstance(choice, str) for choice in choices):
        raise MalformedSamples(OTHER_TASK)
    if isinstance(answer, str) and answer in LETTERS:
        answer = LETTERS.index(answer)
    if not isinstance(answer, int) or not 0 <= answer < len(LETTERS):
        raise MalformedSamples(NO_ANSWER)
    first, second, third, fourth = choices
    return Question(text, (first, second, third, fourth), answer)


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
