"""The rules on sample logs: what the logs beside a result must show where the leaderboard asks for them.

Each rule's page is the docstring of its function.
"""

from __future__ import annotations

from bot.evaluation.aggregates import first_of
from bot.evaluation.finding import Severity, counted, examples, shown
from bot.evaluation.formats import find_format
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurement
from bot.evaluation.result import CheckedSamples
from bot.evaluation.rounding import significant
from bot.evaluation.rules.rule import Case, Rule, Violations, keys_of, rule

TOLERANCE = 1e-6  # of a mean, which harnesses write with all digits


def _asks(leaderboard: Leaderboard) -> bool:
    return leaderboard.asks_samples


def _looked_at(case: Case) -> list[tuple[Measurement, CheckedSamples | None]]:
    """The numbers that count, each with what its log shows, None without one; nothing if logs do not matter."""
    if not (case.leaderboard.asks_samples and case.takes_format):
        return []
    checked = {one.leaf: one for one in case.samples or ()}
    return [(one, checked.get(one.required.leaf_key)) for one in case.measurements.present]


def _logs(case: Case) -> list[tuple[Measurement, CheckedSamples]]:
    """The numbers that count and have a log, each with what it shows."""
    return [(one, log) for one, log in _looked_at(case) if log is not None]


@rule(Severity.NOTICE, on=lambda board: Severity.ERROR if board.evidence.samples == "required" else None, where=_asks)
def samples_missing(case: Case) -> Violations:
    """A task has no sample log beside the result, or one without its metric.

    ## What it does
    Looks for the log of each task that counts. An error where the board requires logs.

    ## Why is this bad?
    Only the logged answers show that the numbers were measured.

    ## When it is wrong
    The tool's logs are not read: declare `samples = "checked"`.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro: null

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    without = [one for one, log in _looked_at(case) if log is None]
    if without:
        known = find_format(case.result.format)
        logging = known.logging if known else ""
        yield case.at(
            without,
            f"there is no sample log of {examples(keys_of(without))} beside the result",
            f"{logging}, and submit the logs where the tool writes them" if logging else "no log of this tool is read",
            "leaf",
        )
    yield from (
        case.at(
            [one],
            f"{one.required.value_key} of {one.required.leaf_key} was not checked: no metric in {log.path} is its mean",
            "submit the log of this very run; only a mean of scores from 0 to 1 can be checked",
        )
        for one, log in _logs(case)
        if not log.unreadable and one.required.value_key not in log.means
    )


@rule(Severity.ERROR, is_one_a_task=True, where=_asks)
def samples_unreadable(case: Case) -> Violations:
    """A sample log cannot be read to its end.

    ## What it does
    Names a log that is cut, damaged, empty or too large.

    ## Why is this bad?
    What cannot be read may be the wrong answers.

    ## When it is wrong
    It is whole where it was written: upload it again, not as a pointer.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/unreadable: "record 7: not valid JSON"

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    yield from (
        case.at([one], f"{log.path} cannot be read: {log.unreadable}", "submit the log as the harness wrote it")
        for one, log in _logs(case)
        if log.unreadable
    )


@rule(Severity.ERROR, is_one_a_task=True, where=_asks)
def samples_disagree(case: Case) -> Violations:
    """A value is not the mean of its samples.

    ## What it does
    Compares each value with the mean of its metric over the log.

    ## Why is this bad?
    The value was edited, or the log is of another run.

    ## When it is wrong
    The metric is no mean: report it, with the files.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/means: {"acc,none": 0.25}

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    yield from (
        case.at(
            [one],
            f"{one.required.value_key} of {one.required.leaf_key} is {one.raw:g}, and the mean of "
            f"{counted(log.count, 'sample')} in {log.path} is {log.means[one.required.value_key]:g}",
            "submit result and logs of one run, as the harness wrote them",
        )
        for one, log in _logs(case)
        if not log.unreadable and one.required.value_key in log.means
        if abs(one.raw - log.means[one.required.value_key]) > TOLERANCE
    )


@rule(Severity.ERROR, is_one_a_task=True, where=_asks)
def answer_scored_otherwise(case: Case) -> Violations:
    """A sample has another score than its logged answer gives.

    ## What it does
    Scores the logged answers again, and names scores without what they follow from.

    ## Why is this bad?
    Somebody edited the score, the answer or a log-likelihood.

    ## When it is wrong
    The scorer does more than its settings say: report it, with a few lines of the log.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/wrong: [{"metric": "acc,none", "count": 1, "first": "7 has 1, its answer gives 0"}]

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    yield from (
        case.at(
            [one],
            f"{wrong.metric} of {counted(wrong.count, 'sample')} in {log.path} is not what the answer gives: document "
            f"{wrong.first}",
            "submit the log as the harness wrote it",
        )
        for one, log in _logs(case)
        for wrong in log.wrong
        if wrong.metric == one.required.value_key
    )
    yield from (
        case.at(
            [one],
            f"{lacking.metric} of {counted(lacking.count, 'sample')} in {log.path} follows from no answer: document "
            f"{lacking.first}",
            "submit the log as the harness wrote it",
        )
        for one, log in _logs(case)
        for lacking in log.unscored
        if lacking.metric == one.required.value_key
    )


@rule(Severity.ERROR, is_one_a_task=True, where=_asks)
def other_questions(case: Case) -> Violations:
    """The samples are not the questions of the task.

    ## What it does
    Compares number, hashes, documents, targets and model of the log with the result, other rows and the declared
    `documents`; names doubled questions, prompts that give the answer away, and fields that no harness writes.

    ## Why is this bad?
    Failed questions can be left out, easy ones repeated.

    ## When it is wrong
    The dataset changed for everybody: declare the digests in `documents`.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/others: "the document 3 is in the log more than once"

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    yield from (
        case.at([one], f"{log.path}: {why}", "submit the whole log of the run that gave the result")
        for one, log in _logs(case)
        if (why := log.others or _unlike_the_declared(case, one, log) or _unlike_the_board(case, one, log))
    )


def _unlike_the_declared(case: Case, found: Measurement, log: CheckedSamples) -> str:
    size, limit, epochs = found.required.leaf.samples or 0, case.result.limit, max(1, found.leaf.epochs)
    wanted = (size if limit is None else first_of(size, limit)) * epochs
    if wanted and log.count and log.count != wanted:
        return f"it has {counted(log.count, 'sample')}, {wanted:,} are expected"
    pinned = found.required.task.documents.get(found.required.leaf.id, ())
    if pinned and log.documents and log.documents not in pinned and wanted == size * epochs:
        return "its questions or their targets are not those that the declaration names"
    return ""


def _unlike_the_board(case: Case, found: Measurement, log: CheckedSamples) -> str:
    """Why the documents are not those of most rows; a run of a part, which `limited-run` names, has fewer of them."""
    known = case.facts.documents.get((found.required.leaf.id, case.result.format))
    if found.required.leaf.id in found.required.task.documents:
        return ""
    if known is None or not log.documents or log.documents == known.digest:
        return ""
    questions, limit = log.count // max(1, found.leaf.epochs), case.result.limit
    if limit is not None and questions < known.samples and questions == first_of(known.samples, limit):
        return ""
    if questions != known.samples:
        return f"it has {counted(questions, 'question')}, and the other rows on the board have {known.samples:,}"
    return "its questions or their targets are not those of the other rows on the board"


@rule(Severity.ERROR, is_one_a_task=True, where=_asks)
def copied_samples(case: Case) -> Violations:
    """A sample log is that of another model.

    ## What it does
    Compares the SHA-256 of each log with those of others. The first model keeps it.

    ## Why is this bad?
    No two models give the same log-likelihoods to the last digit.

    ## When it is wrong
    One model has two names: submit it under one.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (logs) example-org/kestrel-7b-base

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    yield from (
        case.at(
            [one],
            f"{log.path} is the sample log of {shown(owner)} to the byte",
            "submit the log of a run of this model",
        )
        for one, log in _logs(case)
        if (owner := case.facts.logs.get(log.sha256, case.result.model.id)) != case.result.model.id
    )


@rule(Severity.WARNING, is_one_a_task=True, where=_asks)
def scored_as_no_other(case: Case) -> Violations:
    """A task is asked in other words, or scored by other settings, than in the other rows.

    ## What it does
    Compares digests of prompts (without a chat template) and of the scorer's options and filters with those of most
    rows.

    ## Why is this bad?
    A prompt can hold the answers; a filter that maps answers makes wrong ones right.

    ## When it is wrong
    Another release asks or scores otherwise: the values are then not comparable.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/scoring: "0123456789abcdef"
    (scored) leaderboard_mmlu_pro: "fedcba9876543210"

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    for one, log in _logs(case):
        known = case.facts.documents.get((one.required.leaf.id, case.result.format))
        if known is None or log.documents != known.digest:
            continue
        if log.scoring and known.scoring not in {"", log.scoring}:
            said, what = (
                "its settings score the answers otherwise than those of the other rows on the board",
                "settings",
            )
        elif not case.result.model.chat_template and log.prompts and known.prompts not in {"", log.prompts}:
            said, what = "its prompts are not those of the other rows on the board", "prompts"
        else:
            continue
        yield case.at([one], f"{log.path}: {said}", f"say in the request why the {what} differ")


@rule(Severity.NOTICE, is_one_a_task=True, where=_asks)
def not_scored_again(case: Case) -> Violations:
    """The answers of a task were not scored again.

    ## What it does
    Says why, where logs are checked.

    ## Why is this bad?
    Their scores are then believed.

    ## When it is wrong
    Many tasks have a scorer of their own, on all rows alike.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/unknown: {"acc,none": "it has a scoring function of its own"}

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    """
    yield from (
        case.at(
            [one],
            f"{one.required.value_key} of {one.required.leaf_key} was not scored again: {why}",
            "nothing needs to be done where the board's rows have this in common",
        )
        for one, log in _logs(case)
        if (why := log.unknown.get(one.required.value_key))
    )


MOST_UNANSWERED = 0.05  # of the answers of a log


@rule(Severity.WARNING, is_one_a_task=True, where=_asks)
def answers_missing(case: Case) -> Violations:
    """Many answers are not there.

    ## What it does
    Reports more than 5 % logged answers that are empty, or end inside of thoughts.

    ## Why is this bad?
    The value then shows the budget of tokens, not the model.

    ## When it is wrong
    The model itself gives no answer: nothing is to be done. Otherwise measure with a larger budget.

    ## Example
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/unanswered: 6000
    (samples) leaderboard_mmlu_pro/answered_mean: 0.75

    ## A sound run writes
    (declaration) evidence: {"samples": "checked"}
    (samples) leaderboard_mmlu_pro/unanswered: 60
    """
    for one, log in _logs(case):
        if log.unanswered > MOST_UNANSWERED * max(1, log.count):
            others = f"; the others give {significant(log.answered_mean, 4)}" if log.answered_mean is not None else ""
            share = f"{log.unanswered:,} of {log.count:,} answers in {log.path}"
            yield case.at(
                [one],
                f"{share} are empty or end inside of thoughts{others}",
                "measure it again with a larger budget of tokens (max_gen_toks), or with thinking switched off",
            )


SAMPLE_RULES: tuple[Rule, ...] = (
    answers_missing,
    samples_missing,
    samples_unreadable,
    samples_disagree,
    answer_scored_otherwise,
    other_questions,
    copied_samples,
    scored_as_no_other,
    not_scored_again,
)
