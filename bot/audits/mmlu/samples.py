"""Read the sample log of an MMLU run or a HELM run folder, and score it under every implementation it allows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from bot.audits.mmlu.rescore import Fidelity, MmluCounters, MmluSample, Question, scores_of
from bot.audits.mmlu.source import METRICS, Aggregate, MmluSource, NotMmlu, SkippedPart, read_bytes
from bot.audits.samples.read import read_log
from bot.audits.samples.records import Skipped, SkippedRecord
from bot.audits.samples.sample import Sample, number_in_text
from bot.errors import CallError, MalformedSamples
from bot.evaluation.benchmarks.mmlu_family import INSTRUCTION, LETTERS, TITLES, Family, subject_names, unwrapped

OTHER_TASK = "a sample of another task"
NO_ANSWER = "no right answer from A to D"
NO_RESPONSE = "no output of the model"


def of_logs(path: Path, files: Sequence[Path]) -> MmluSource:
    """Judge the sample logs of one run, `path` names them: re-scored for every implementation that they allow.

    Records that hold no sample are counted, not fatal. Raises CallError if a file cannot be opened, NotMmlu where
    no record holds a sample of MMLU.
    """
    counters, skipped = MmluCounters(), Skipped()
    for file in files:
        _count(counters, skipped, read_log(file))
    if not counters.families.total():
        why = ", ".join(f"{one.why} ({one.count})" for one in skipped.values()) or "it is empty"
        raise NotMmlu(f"{path}: holds no sample of MMLU: {why}")
    return _source(str(path), "sample log", counters, skipped, "")


def _count(counters: MmluCounters, skipped: Skipped, samples: Iterable[Sample | SkippedRecord]) -> None:
    """Count the samples of one log, and the records that hold none of MMLU."""
    for place, sample in enumerate(samples, start=1):
        try:
            if isinstance(sample, SkippedRecord):
                skipped.add(sample)
            else:
                counters.add(mmlu_sample(sample))
        except MalformedSamples as error:
            skipped.add(SkippedRecord(place, str(error)))


def mmlu_sample(sample: Sample) -> MmluSample:
    """Return the sample as one of MMLU. Raises MalformedSamples if it is of another task."""
    read = {"lm-eval-0.3": _write_out, "helm": _request_state}.get(sample.form, _with_document)
    found = read(sample)
    if found.generated is None and not found.logprobs:
        raise MalformedSamples(NO_RESPONSE)
    return found


def _with_document(sample: Sample) -> MmluSample:
    doc = sample.doc
    if not isinstance(doc, dict):
        raise MalformedSamples(OTHER_TASK)
    question = question_of(doc.get("question"), doc.get("choices"), doc.get("answer"))
    if not sample.prompt:
        raise MalformedSamples(OTHER_TASK)
    subject, logged = _subject(doc.get("subject"), sample.prompt), _logged(sample)
    if len(sample.continuations) == len(LETTERS):
        texts, values = sample.continuations, sample.logprobs
        return MmluSample(question, subject, sample.prompt, texts, values, sample.greedy, logged=logged)
    return MmluSample(question, subject, sample.prompt, generated=sample.response, logged=logged)


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


def _logged(sample: Sample) -> dict[str, float]:
    """Return the logged metrics that are numbers; some releases write them as text."""
    found = {key: number_in_text(sample.row.get(key)) for key in METRICS}
    return {key: value for key, value in found.items() if value is not None}


def _write_out(sample: Sample) -> MmluSample:
    """Read a row of 0.3, whose prompts are context and continuation run together, and whose truth is a text."""
    texts = sample.continuations[: len(LETTERS)]
    prompt = sample.prompt.rpartition("\nAnswer:")[0] + "\nAnswer:"
    if len(texts) < len(LETTERS) or not all(text.startswith(prompt) for text in texts):
        raise MalformedSamples(OTHER_TASK)
    continuations = tuple(text[len(prompt) :] for text in texts)
    block = unwrapped(prompt).rpartition("\n\n")[2]
    asked, _, lettered = block.partition("\nA. ")
    choices = _lettered(f"A. {lettered}")
    answer = continuations.index(sample.target) if sample.target in continuations else None
    question = question_of(asked.removeprefix("Question: ").removesuffix("\nChoices:"), choices, answer)
    subject, logged = _subject(None, prompt), _logged(sample)
    return MmluSample(question, subject, prompt, continuations, sample.logprobs, sample.greedy, logged=logged)


def _request_state(sample: Sample) -> MmluSample:
    """Read one of HELM's request states: the letters are mapped to the choices, in an order of their own."""
    try:
        mapping = sample.row["output_mapping"]
        choices = [mapping[letter] for letter in LETTERS]
        question = question_of(sample.doc["question"], choices, choices.index(sample.target))
    except (KeyError, TypeError, ValueError):
        raise MalformedSamples(OTHER_TASK) from None
    return MmluSample(question, _subject(None, sample.prompt), sample.prompt, generated=sample.response)


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


def _subject(named: object, prompt: str) -> str:
    """Return the subject as the document names it, or as the instruction does; "" if neither does."""
    if isinstance(named, str) and named in subject_names():
        return named
    found = INSTRUCTION.search(unwrapped(prompt))
    return found[2].replace(" ", "_") if found else ""


def _source(path: str, kind: str, counters: MmluCounters, skipped: Skipped, model: str) -> MmluSource:
    total = counters.families.total()
    shapes = [
        f"{count} of {total} prompts are those of {TITLES[family]}"
        for family, count in counters.families.most_common()
        if family is not Family.UNKNOWN
    ]
    unknown = counters.families[Family.UNKNOWN]
    against = [f"{unknown} of {total} prompts are those of no known implementation"] if unknown else []
    families = set(counters.families)
    scores = scores_of(counters) if total else ()
    own = [score for score in scores if score.standing is Fidelity.OWN and score.macro is not None]
    return MmluSource(
        path,
        kind,
        model,
        next(iter(families)) if len(families) == 1 else Family.UNKNOWN,
        tuple(shapes),
        (*against, *(["the log mixes implementations"] if len(families) > 1 else [])),
        aggregates=tuple(Aggregate(one.metric, one.macro or 0.0, one.micro, one.subjects) for one in own),
        scores=scores,
        skipped=tuple(SkippedPart(one.why, one.count, one.lines[0]) for one in skipped.values()),
        samples=total,
    )


def of_helm(folder: Path) -> MmluSource:
    """Judge a HELM run folder: scores from stats.json, and from its request states where they are there.

    Raises CallError if a file is missing or not what HELM writes.
    """
    spec, stats = _json(folder / "run_spec.json"), _json(folder / "stats.json")
    try:
        scenario, adapter = spec["scenario_spec"], spec["adapter_spec"]
        if "mmlu" not in scenario["class_name"].lower():
            raise NotMmlu(f"{folder}: is a HELM run of {scenario['class_name']}, not of MMLU")
        model, shots, subject = str(adapter["model"]), adapter["max_train_instances"], scenario["args"]["subject"]
        rows = [stat for stat in stats if stat["name"]["name"] == "exact_match" and stat["name"].get("split") == "test"]
        value = next(float(stat["mean"]) for stat in rows if "perturbation" not in stat["name"])
    except (KeyError, TypeError, ValueError, AttributeError, StopIteration):
        raise CallError(f"{folder}: is not a HELM run of MMLU") from None
    if not isfinite(value):
        raise CallError(f"{folder}: its exact_match is not a finite number")
    counters, skipped = MmluCounters(), Skipped()
    # The split of a sample is its `filter`.
    tested = (one for one in read_log(folder) if isinstance(one, SkippedRecord) or one.filter == "test")
    _count(counters, skipped, tested)
    read = _source(str(folder), "HELM run", counters, skipped, model)
    method = f"HELM run folder, {adapter.get('method', 'unknown method')}, subject {subject}"
    mean = Aggregate("exact_match", value, value, 1, value, "macro (one run for each subject)")
    shots = shots if isinstance(shots, int) else None
    limit, evidence = adapter.get("max_eval_instances"), (method, *read.evidence)
    return replace(
        read,
        family=Family.HELM,
        evidence=evidence,
        against=(),
        aggregates=(mean,),
        num_fewshot=shots,
        limit=limit,
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(read_bytes(path))
    except (ValueError, RecursionError):
        raise CallError(f"{path}: is not JSON") from None
