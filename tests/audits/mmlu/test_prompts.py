"""Prompts and scoring of MMLU against the code of the implementations themselves."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from bot.audits.mmlu.rescore import (
    Question,
    by_generated_letter,
    by_likelihood,
    by_likelihood_per_character,
    by_mapped_letter,
)
from bot.evaluation.benchmarks.mmlu_family import Family, family_of_prompt, subject_names
from tests.audits.mmlu.mmlu_prompts import ask

pytestmark = pytest.mark.filterwarnings("ignore")
SPELLED = {
    "harness_2023_01_choices": Family.HARNESS_2023,
    "harness_continuation_nochoices": Family.CONTINUATION,
    "harness_generative_letter": Family.GENERATIVE,
    "harness_letters_v0.4.2-0.4.3_or_hf_fork": Family.ONE_NEWLINE,
}
DEV = (
    Question("Dev question one?", ("w1", "x1", "y1", "z1"), 1),
    Question("Dev question two?", ("w2", "x2", "y2", "z2"), 3),
)
VALIDATION = (Question("Val three?", ("w3", "x3", "y3", "z3"), 0), DEV[0])
PIECES = [
    "a",
    "Zürich",
    " 7",
    "{{x}}",
    "{% if %}",
    "'",
    '"',
    "\\n",
    "\n",
    "  ",
    "é",
    "日本",
    "A.",
    "$",
    "\u00a0",
    "None",
    "[1]",
]


def invented(random: Random) -> Question:
    """A question out of what template engines and line filters stumble over."""

    def text() -> str:
        return "".join(random.choices(PIECES, k=random.randint(1, 4)))

    choices = (f"{text()}0", f"{text()}1", f"{text()}2", f"{text()}3")
    return Question(f" {text()}?{random.choice(['', ' ', chr(10)])}", choices, random.randrange(4))


def as_doc(question: Question, subject: str) -> dict[str, object]:
    return {
        "question": question.question,
        "choices": list(question.choices),
        "answer": question.answer,
        "subject": subject,
    }


def test_all_sixteen_vectors_are_built_byte_for_byte(reference: Path) -> None:
    vectors = json.loads((reference / "mmlu" / "mmlu_prompt_vectors.json").read_text())
    choices = vectors[2]["continuations"]
    asked = Question(vectors[2]["prompt"].split("Question: ")[1].split("\n")[0], tuple(text[1:] for text in choices), 0)
    for vector in vectors:
        family = Family(SPELLED.get(vector["family"], vector["family"]))
        shown = VALIDATION if family is Family.HARNESS_2023 else DEV
        built = ask(family, asked, shown[: vector["k"]], "us_foreign_policy")
        assert built.prompt == vector["prompt"]
        assert list(built.continuations) == (vector["continuations"] or [])
    assert len(vectors) == 16


@pytest.mark.usefixtures("harness")
@pytest.mark.slow
@pytest.mark.parametrize("family", [Family.LETTERS, Family.GENERATIVE, Family.CONTINUATION])
def test_the_installed_harness_asks_the_same(family: Family) -> None:
    from tests.audits.mmlu.mmlu_oracle import harness_task, requests

    random = Random(family.value)
    compared = 0
    for subject in sorted(subject_names()):
        questions = [invented(random) for _ in range(3)]
        dev = [invented(random) for _ in range(5)]
        shots = random.randint(0, 5)
        task = harness_task(
            family, subject, [as_doc(q, subject) for q in questions], [as_doc(q, subject) for q in dev], shots
        )
        for question, instances in zip(questions, requests(task), strict=True):
            built = ask(family, question, dev[:shots], subject)
            assert {instance.args[0] for instance in instances} == {built.prompt}
            texts = [instance.args[1] for instance in instances if isinstance(instance.args[1], str)]
            assert tuple(texts) == built.continuations
            compared += 1
    assert compared == 57 * 3


@pytest.mark.slow  # for the packages that the harness loads
@pytest.mark.usefixtures("harness")
@pytest.mark.parametrize("family", [Family.CONTINUATION, Family.LETTERS])
def test_the_installed_harness_scores_likelihoods_the_same(family: Family) -> None:
    from tests.audits.mmlu.mmlu_oracle import harness_task

    random = Random(family.value)
    questions = [invented(random) for _ in range(50)]
    docs = [as_doc(question, "anatomy") for question in questions]
    task = harness_task(family, "anatomy", docs, docs[:1], 0)
    for question, doc in zip(questions, docs, strict=True):
        for _ in range(5):
            # Quarters tie often: the first of equals must win in both.
            logprobs = [-random.randint(0, 12) / 4 for _ in range(4)]
            theirs = task.process_results(doc, [(value, False) for value in logprobs])
            assert by_likelihood(logprobs, question.answer) == theirs["acc"]
            if family is Family.CONTINUATION:
                assert by_likelihood_per_character(logprobs, question.choices, question.answer) == theirs["acc_norm"]


@pytest.mark.usefixtures("harness")
@pytest.mark.slow
def test_the_installed_harness_scores_generations_the_same() -> None:
    from tests.audits.mmlu.mmlu_oracle import harness_task, requests

    random = Random(8)
    pieces = [
        "A",
        "B",
        "C",
        "D",
        "a",
        "b",
        ".",
        " ",
        "\n",
        "(",
        ")",
        "*",
        "\t",
        "é",
        "\u00a0",
        "",
        "The answer is",
        "\r",
    ]
    questions = [invented(random) for _ in range(400)]
    docs = [as_doc(question, "anatomy") for question in questions]
    task = harness_task(Family.GENERATIVE, "anatomy", docs, docs[:1], 0)
    answers = ["".join(random.choices(pieces, k=random.randint(1, 4))) for _ in docs]
    for answer, (instance,) in zip(answers, requests(task), strict=True):
        instance.resps = [answer]
    task.apply_filters()
    right = 0
    for question, doc, answer, instance in zip(questions, docs, answers, task.instances, strict=True):
        theirs = task.process_results(doc, [instance.filtered_resps["get_response"]])["exact_match"]
        assert by_generated_letter(answer, question.answer) == theirs, repr(answer)
        right += by_generated_letter(answer, question.answer)
    assert right > 20


def test_helm_maps_the_letter_and_compares_texts() -> None:
    choices = ("5", "same", "same", "x")
    assert by_mapped_letter(" A", choices, 0)
    assert by_mapped_letter("C", choices, 1)
    assert not by_mapped_letter("5", choices, 0)
    assert not by_mapped_letter("E", choices, 0)
    assert not by_mapped_letter("", choices, 0)
    assert not by_mapped_letter("A", ("", "b", "c", "d"), 0)


def test_of_equally_likely_choices_the_first_wins_as_in_the_harness() -> None:
    likely, texts = [-3.0, -1.0, -1.0, -1.25], ["abc", "d", "e", "f"]
    assert [by_likelihood(likely, answer) for answer in range(4)] == [False, True, False, False]
    assert [by_likelihood_per_character(likely, texts, answer) for answer in range(4)] == [True, False, False, False]


def test_length_decides_by_characters_and_an_empty_choice_never_wins() -> None:
    assert by_likelihood_per_character([-4, -5, -9, -9], ["ab", "abcdef", "x", "x"], 1)
    assert by_likelihood_per_character([-1, -5, -9, -9], ["", "abcdef", "x", "x"], 1)


@pytest.mark.parametrize("family", [family for family in Family if family is not Family.UNKNOWN])
def test_what_is_built_is_recognised(family: Family) -> None:
    random = Random(1)
    for shots in (0, 1, 5):
        question = Question("Which?", ("a b", "c d", "e f", "g h"), random.randrange(4))
        built = ask(family, question, [question] * shots, "high_school_us_history")
        assert family_of_prompt(built.prompt, built.continuations) is family
