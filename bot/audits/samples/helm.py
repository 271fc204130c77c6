"""A HELM run's samples: prompts and answers from scenario_state.json, metrics from per_instance_stats.json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot.audits.samples.records import SkippedRecord, array_elements, open_log, read_each
from bot.audits.samples.rescore_helm import rescored
from bot.audits.samples.sample import NO_FORM, Sample, decode, document_hash, identifier, number, sha256, text
from bot.errors import MalformedSamples

STATES, STATISTICS = "scenario_state.json", "per_instance_stats.json"
Key = tuple[int | str | None, int | None, str]


def read_run(folder: Path) -> Iterator[Sample | SkippedRecord]:
    """Yield the samples of a run in the order of its states; `line` of what is skipped counts from 1 in its file.

    Raises CallError if a file cannot be opened. A run without states has none; one without statistics has no metrics.
    """
    if not (folder / STATES).exists():
        return
    stats = _Statistics(folder / STATISTICS)
    with open_log(folder / STATES) as log:
        states = enumerate(array_elements(log, "request_states"), start=1)
        numbered = (one if isinstance(one, SkippedRecord) else (place, one.data) for place, one in states)
        yield from read_each(numbered, lambda data: _request_state(decode(data), stats))


def _request_state(state: dict[str, Any], stats: _Statistics) -> Sample:
    """Read one of HELM's request states. Raises MalformedSamples if it is none."""
    try:
        instance, prompt = state["instance"], state["request"]["prompt"]
        written = state["result"]["completions"][0]["text"]
        references = [(one["output"]["text"], "correct" in one["tags"]) for one in instance["references"]]
        doc = {"question": instance["input"]["text"], "choices": [one for one, _ in references]}
    except (KeyError, TypeError, IndexError):
        raise MalformedSamples(NO_FORM) from None
    if not isinstance(prompt, str) or not isinstance(written, str):
        raise MalformedSamples(NO_FORM)
    target = next((text(one) for one, is_right in references if is_right), "")
    metrics = stats.of(_key(state))
    return Sample(
        "helm",
        identifier(instance.get("id")),
        state,
        doc,
        document_hash(doc),
        prompt,
        sha256(prompt),
        target,
        response=written,
        answer=written.strip(),
        metrics=metrics,
        filter=text(instance.get("split")),
        rescored=rescored(state, [text(one) for one, is_right in references if is_right], metrics),
        model=text(state["request"].get("model")),
    )


def _key(row: Any) -> Key:
    """Return the identity of a sample of a run: instance, trial, and the perturbation of its text."""
    instance = row["instance"] if isinstance(row.get("instance"), dict) else row
    changed = instance.get("perturbation")
    trial = row.get("train_trial_index")
    name = text(changed.get("name")) if isinstance(changed, dict) else ""
    return identifier(instance.get("id", row.get("instance_id"))), trial if isinstance(trial, int) else None, name


class _Statistics:
    """The metrics of each sample, read as far as the states have come: HELM writes both files in one order."""

    def __init__(self, path: Path) -> None:
        self._ahead: dict[Key, dict[str, float]] = {}
        self._rows = _statistics(path)

    def of(self, key: Key) -> dict[str, float]:
        """Return the metrics of a sample; none where the file does not have it."""
        while key not in self._ahead and (row := next(self._rows, None)) is not None:
            self._ahead.setdefault(_key(row), {}).update(_means(row.get("stats")))
        return self._ahead.pop(key, {})


def _statistics(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        with open_log(path) as log:
            rows = read_each(array_elements(log), decode)
            yield from (row for row in rows if not isinstance(row, SkippedRecord))


def _means(stats: Any) -> Iterator[tuple[str, float]]:
    for one in stats if isinstance(stats, list) else ():
        if isinstance(one, dict) and isinstance(one.get("name"), dict):
            mean = number(one.get("mean"))
            if mean is not None:
                yield text(one["name"].get("name")), mean
