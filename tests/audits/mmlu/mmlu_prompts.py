"""The prompt of a question of MMLU under each implementation, byte for byte, by which logs are recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.audits.mmlu.rescore import Question
from bot.evaluation.benchmarks.mmlu_family import LETTERS, Family

INSTRUCTION = "The following are multiple choice questions (with answers) about"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given: the prompt, and the texts whose likelihood is asked for (none: it generates)."""

    prompt: str
    continuations: tuple[str, ...] = ()


def ask(family: Family, question: Question, shots: Sequence[Question], subject: str) -> Prompt:
    """Build the prompt of an implementation; `subject` as in the data set ("us_foreign_policy").

    Which questions the shots are differs too: the first of the dev split, or for `harness_2023` a sample of the
    validation split.
    """
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
    return f" {LETTERS[question.answer]}"
