"""Recognise the implementation of MMLU behind a prompt or a result, and give the evidence.

One name, seven measurements: the implementations differ in the prompt, in what is scored (letters, texts, one
generated token) and in how questions are averaged, and their numbers do not belong in one column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache

import msgspec

from bot.evaluation.benchmarks.catalogue import find_group, members_of
from bot.evaluation.benchmarks.harness import known_commit
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.result import LeafResult, Result


class Family(StrEnum):
    """The implementations; the values are the names that declarations and the table of releases use."""

    ORIGINAL = "original"
    HELM = "helm"
    HARNESS_2023 = "harness_2023"
    LETTERS = "harness_letters"
    ONE_NEWLINE = "harness_letters_one_newline"
    GENERATIVE = "harness_generative"
    CONTINUATION = "harness_continuation"
    UNKNOWN = "unknown"


TITLES: Mapping[Family, str] = {
    Family.ORIGINAL: "the original code of the benchmark's authors",
    Family.HELM: "HELM",
    Family.HARNESS_2023: "the harness of early 2023 (choice texts are scored)",
    Family.LETTERS: "the harness since June 2023 (letters are scored)",
    Family.ONE_NEWLINE: "the harness 0.4.2 and 0.4.3 (letters, one line break lost after the instruction)",
    Family.GENERATIVE: "the harness, generative (the generated letter counts)",
    Family.CONTINUATION: "the harness, continuation (choice texts are scored, none are shown)",
    Family.UNKNOWN: "unknown",
}

OLD_PREFIX = "hendrycksTest-"  # harness 0.2 and 0.3, and the Open LLM Leaderboard v1
LEAF = re.compile(r"(?:hendrycksTest-|mmlu_)(?P<subject>\w+?)(?P<kind>_generative|_continuation)?")
INSTRUCTION = re.compile(
    r"The following are multiple choice questions \(with answers\) about( {1,2})([^\n]+?)\.(\n{1,2})"
)
WITHOUT_CHOICES = "The following are questions (with answers) about "
# At the start of a line, or after a mark of a chat template, such as "[INST] ".
QUESTION = re.compile(r"(?:^|[>\]] ?)Question: ", re.MULTILINE)
LETTERS = ("A", "B", "C", "D")
# Fewer equal subjects can be chance: on 100 questions acc and acc_norm of choice texts do agree now and then.
ENOUGH_EQUAL = 5


@cache
def subject_names() -> frozenset[str]:
    """The names of the subjects, which the catalogue has."""
    group = find_group("mmlu")
    return frozenset(members_of(group) if group else ())


class Recognition(msgspec.Struct, frozen=True, gc=False):
    """The family, and why: `evidence` speaks for it, `against` are facts that contradict it."""

    family: Family
    evidence: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


def subject_of(leaf_key: str) -> str | None:
    """Return the MMLU subject that a task's key names, None for any other task (mmlu_pro among them)."""
    match = LEAF.fullmatch(leaf_key)
    return match["subject"] if match and match["subject"] in subject_names() else None


def family_of_prompt(prompt: str, continuations: Sequence[str] | None) -> Family:
    """Return the family of a prompt as sent to the model, with a chat template or without.

    `continuations` are the texts whose likelihood was asked for, None or empty where the answer was generated.
    """
    text = unwrapped(prompt)
    instruction = INSTRUCTION.search(text)
    if instruction is None:
        return _without_instruction(text)
    spaces, _, newlines = instruction.groups()
    if QUESTION.search(text[instruction.end() :].partition("\nA. ")[0]):  # before the first choices
        return Family.HELM
    if len(spaces) == 2:
        return Family.ORIGINAL
    if not continuations:
        return Family.GENERATIVE
    if tuple(text.strip() for text in continuations) != LETTERS:
        return Family.UNKNOWN
    return Family.LETTERS if newlines == "\n\n" else Family.ONE_NEWLINE


def _without_instruction(text: str) -> Family:
    if QUESTION.search(text.rpartition("\nChoices:\nA. ")[0]):
        return Family.HARNESS_2023
    if WITHOUT_CHOICES in text and "\nA. " not in text and "\nQuestion: " in text:
        return Family.CONTINUATION
    return Family.UNKNOWN


def unwrapped(prompt: str) -> str:
    """Return the text of a prompt; chat messages, which the harness logs as JSON, become their contents."""
    if not prompt.startswith("[{"):
        return prompt
    try:
        messages = json.loads(prompt)
        contents = [str(message["content"]) for message in messages]
    except (ValueError, TypeError, KeyError, RecursionError):
        return prompt
    return "".join(text if text.endswith("\n") else f"{text}\n\n" for text in contents)


def subjects_of(result: Result) -> dict[str, LeafResult]:
    """Return the rows of MMLU subjects in a result, by subject."""
    named = ((subject_of(key), leaf) for key, leaf in result.leaves.items())
    return {subject: leaf for subject, leaf in named if subject is not None}


def recognise(result: Result) -> Recognition | None:
    """Return which implementation of MMLU a result comes from; None if it holds no MMLU subject."""
    subjects = subjects_of(result)
    if not subjects:
        return None
    if any(key.startswith(OLD_PREFIX) for key in result.leaves):
        return _of_old_harness(subjects)
    return _of_new_harness(result, subjects)


def _of_old_harness(subjects: Mapping[str, LeafResult]) -> Recognition:
    """Judge tasks named hendrycksTest: letters force acc and acc_norm to be equal, version 0 means choice texts."""
    pairs = [(leaf.numbers.get("acc"), leaf.numbers.get("acc_norm")) for leaf in subjects.values()]
    both = [pair for pair in pairs if all(map(_is_proportion, pair))]
    unequal = sum(acc != acc_norm for acc, acc_norm in both)
    versions = {canonical_version(leaf.version) for leaf in subjects.values() if leaf.version is not None}
    of_version = [f"the task version is {version}" for version in sorted(versions)]
    if unequal:
        because = (
            f"acc differs from acc_norm in {unequal} of {len(both)} subjects, which cannot be if letters are scored"
        )
        good, bad = (of_version, []) if versions <= {"0"} else ([], of_version)
        return Recognition(Family.HARNESS_2023, (because, *good), tuple(bad))
    if versions == {"0"}:
        return Recognition(Family.HARNESS_2023, tuple(of_version))
    equal = f"acc equals acc_norm in all {len(both)} subjects, as it must where letters are scored"
    if versions == {"1"}:
        return Recognition(Family.LETTERS, (*of_version, equal) if both else tuple(of_version))
    if len(both) >= ENOUGH_EQUAL and not versions:
        return Recognition(Family.LETTERS, (equal,))
    return Recognition(Family.UNKNOWN, (), tuple(of_version) or ("no task version, and acc_norm is not there",))


def _is_proportion(value: object) -> bool:
    """Tell whether a value is a number from 0 to 1. NaN is none: it differs from itself, and would prove anything."""
    return (type(value) is float or type(value) is int) and 0 <= value <= 1


def _of_new_harness(result: Result, subjects: Mapping[str, LeafResult]) -> Recognition:
    """Judge tasks named mmlu_*: by their metrics and names; the lost line break by version, release and date."""
    metrics = {key.partition(",")[0] for leaf in subjects.values() for key in leaf.numbers}
    if "exact_match" in metrics:
        return Recognition(Family.GENERATIVE, ("the metric is exact_match on a generated answer",))
    if "acc_norm" in metrics:
        return Recognition(Family.CONTINUATION, ("acc_norm is reported, which the letter tasks do not do",))
    known = known_commit(result.harness.version or result.harness.git_hash or "")
    if known is not None and known.mmlu in set(Family):
        release = f" (release {known.version})" if known.version else ""
        return Recognition(Family(known.mmlu), (f"the harness commit is {known.commit[:9]}{release}",))
    return _by_version(result, subjects)


def _by_version(result: Result, subjects: Mapping[str, LeafResult]) -> Recognition:
    """Tell 0.4.2 and 0.4.3 by task version 0 (until 0.4.3) and a recorded date (since 0.4.2)."""
    versions = {canonical_version(leaf.version) for leaf in subjects.values() if leaf.version is not None}
    if versions and versions != {"0"}:
        return Recognition(Family.LETTERS, ("acc alone is reported for mmlu_* tasks", _versions(versions)))
    if versions == {"0"} and result.date is not None:
        return Recognition(Family.ONE_NEWLINE, (_versions(versions), "the file has a date, as since 0.4.2"))
    if versions == {"0"}:
        return Recognition(Family.LETTERS, (_versions(versions), "the file has no date, as before 0.4.2"))
    return Recognition(Family.UNKNOWN, ("acc alone is reported for mmlu_* tasks",), ("no task version is recorded",))


def _versions(versions: set[str]) -> str:
    return f"the task version is {', '.join(sorted(versions))}"
