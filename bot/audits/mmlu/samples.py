"""Read one record of a sample log: question, prompt and model output, or why it holds none.

Forms: lm-evaluation-harness 0.4 (numbers as numbers, later as text), 0.3 with --write_out, and HELM's request state.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from bot.audits.mmlu.prompts import Question
from bot.errors import MalformedSamples
from bot.evaluation.mmlu_family import INSTRUCTION, LETTERS, SUBJECTS, Family, family_of_prompt, unwrapped

NOT_JSON = "not JSON"
NO_OBJECT = "not a JSON object"
OTHER_TASK = "a sample of another task"
NO_ANSWER = "no right answer from A to D"
NO_RESPONSE = "no output of the model"


@dataclass(frozen=True, slots=True)
class MmluSample:
    """One question as it was put and what came back.

    `logprobs` are those of `continuations`, in order, `greedy` whether each is what the model would have written;
    both are empty where the answer was generated (`generated`, else None). `logged` are the metrics beside it.
    """

    question: Question
    subject: str
    prompt: str
    continuations: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    greedy: tuple[bool, ...] = ()
    generated: str | None = None
    logged: dict[str, float] = field(default_factory=dict)

    @property
    def family(self) -> Family:
        """The implementation that put the question in this form."""
        return family_of_prompt(self.prompt, self.continuations)


def decode(data: bytes | str) -> dict[str, Any]:
    """Decode one record. Raises MalformedSamples if it is not a JSON object."""
    try:
        row = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedSamples(NOT_JSON) from None
    if not isinstance(row, dict):
        raise MalformedSamples(NO_OBJECT)
    return row


def read_sample(row: dict[str, Any]) -> MmluSample:
    """Read a record in the form it has. Raises MalformedSamples if it holds no sample of MMLU."""
    if "prompt_0" in row:
        return _write_out(row)
    if "instance" in row and "request" in row:
        return _request_state(row)
    return _harness_04(row)


def _harness_04(row: dict[str, Any]) -> MmluSample:
    doc = row.get("doc")
    if not isinstance(doc, dict):
        raise MalformedSamples(OTHER_TASK)
    question = question_of(doc.get("question"), doc.get("choices"), doc.get("answer"))
    pairs = _arguments(row.get("arguments"))
    if not pairs:
        raise MalformedSamples(OTHER_TASK)
    subject = _subject(doc.get("subject"), pairs[0][0])
    logged = {key: float(row[key]) for key in ("acc", "acc_norm", "exact_match") if _is_number(row.get(key))}
    responses = _flat(row.get("resps"), len(pairs))
    if all(isinstance(second, str) for _, second in pairs) and len(pairs) == len(LETTERS):
        texts = tuple(str(second) for _, second in pairs)
        return MmluSample(question, subject, pairs[0][0], texts, *_likelihoods(responses), logged=logged)
    if len(pairs) != 1 or not responses or not isinstance(responses[0], str):
        raise MalformedSamples(NO_RESPONSE)
    return MmluSample(question, subject, pairs[0][0], generated=responses[0], logged=logged)


def _write_out(row: dict[str, Any]) -> MmluSample:
    """Read a row of 0.3, whose prompts are context and continuation run together, and whose truth is a text."""
    wholes = [row.get(f"prompt_{i}") for i in range(len(LETTERS))]
    if not all(isinstance(whole, str) for whole in wholes):
        raise MalformedSamples(OTHER_TASK)
    texts = [str(whole) for whole in wholes]
    prompt = texts[0].rpartition("\nAnswer:")[0] + "\nAnswer:"
    if not all(text.startswith(prompt) for text in texts):
        raise MalformedSamples(OTHER_TASK)
    continuations = tuple(text[len(prompt) :] for text in texts)
    block = unwrapped(prompt).rpartition("\n\n")[2]
    asked, _, lettered = block.partition("\nA. ")
    choices = _lettered(f"A. {lettered}")
    if row.get("truth") not in continuations:
        raise MalformedSamples(NO_ANSWER if choices else OTHER_TASK)
    asked = asked.removeprefix("Question: ").removesuffix("\nChoices:")
    question = question_of(asked, choices, continuations.index(str(row["truth"])))
    responses = [row.get(f"logit_{i}") for i in range(len(LETTERS))]
    logged = {key: float(row[key]) for key in ("acc", "acc_norm") if _is_number(row.get(key))}
    return MmluSample(question, _subject(None, prompt), prompt, continuations, *_likelihoods(responses), logged=logged)


def _request_state(row: dict[str, Any]) -> MmluSample:
    """Read one of HELM's request states."""
    try:
        instance, mapping = row["instance"], row["output_mapping"]
        choices = [mapping[letter] for letter in LETTERS]
        gold = next(one["output"]["text"] for one in instance["references"] if "correct" in one["tags"])
        question = question_of(instance["input"]["text"], choices, choices.index(gold))
        prompt, generated = str(row["request"]["prompt"]), str(row["result"]["completions"][0]["text"])
    except (KeyError, TypeError, ValueError, IndexError, StopIteration):
        raise MalformedSamples(OTHER_TASK) from None
    return MmluSample(question, _subject(None, prompt), prompt, generated=generated)


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


def _lettered(block: str) -> list[str]:
    """Return the choices that a prompt shows under their letters; empty where it shows none."""
    choices = []
    for letter, following in zip(LETTERS, (*(f"\n{letter}. " for letter in LETTERS[1:]), "\nAnswer:"), strict=True):
        head, found, rest = block.removeprefix(f"{letter}. ").partition(following)
        if not found:
            return []
        choices.append(head)
        block = rest
    return choices


def _arguments(arguments: object) -> list[tuple[str, Any]]:
    """Return (context, continuation or settings) of each request; {"gen_args_0": {"arg_0": …}} since 0.4.3."""
    if isinstance(arguments, dict):
        arguments = [list(one.values()) for one in arguments.values() if isinstance(one, dict)]
    if not isinstance(arguments, list):
        return []
    pairs = [one for one in arguments if isinstance(one, list) and len(one) == 2 and isinstance(one[0], str)]
    return [(one[0], one[1]) for one in pairs] if len(pairs) == len(arguments) else []


def _flat(responses: object, requests: int) -> list[Any]:
    """Return one response for each request, out of the lists of one that the harness wraps it in."""
    if not isinstance(responses, list) or len(responses) != requests:
        raise MalformedSamples(NO_RESPONSE)
    return [one[0] if isinstance(one, list) and len(one) == 1 else one for one in responses]


def _likelihoods(responses: list[Any]) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """Return log-probabilities and greedy flags; newer logs write both as text, older ones may lack the flag."""
    parts = [one if isinstance(one, list) else [one] for one in responses]
    try:
        logprobs = tuple(float(part[0]) for part in parts)
    except (TypeError, ValueError, IndexError, OverflowError):
        raise MalformedSamples(NO_RESPONSE) from None
    if not all(map(isfinite, logprobs)):
        raise MalformedSamples(NO_RESPONSE)
    flagged = all(len(part) == 2 for part in parts)
    return logprobs, tuple(str(part[1]) == "True" for part in parts) if flagged else ()


def _is_number(value: object) -> bool:
    """Tell whether a logged metric is a number, or text of one as --write_out stores it."""
    try:
        return isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def _subject(named: object, prompt: str) -> str:
    """Return the subject as the document names it, or as the instruction does; "" if neither does."""
    if isinstance(named, str) and named in SUBJECTS:
        return named
    found = INSTRUCTION.search(unwrapped(prompt))
    return found[2].replace(" ", "_") if found else ""
