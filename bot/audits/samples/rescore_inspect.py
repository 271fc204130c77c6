"""Score answers in logs of Inspect again by its built-in scorers `match` and `includes`, with the options of the log.

The definitions are those of inspect_ai (`scorer/_match.py` and `_common.py`). Numeric matching is left out: it changed
between releases.
"""

from __future__ import annotations

import json
import string
from collections.abc import Collection
from typing import Any

from bot.audits.samples.rescore import Unscorable
from bot.audits.samples.sample import Sample
from bot.evaluation.result import Scoring

STRIPPED = string.whitespace + string.punctuation
LOCATIONS = {"begin", "end", "any", "exact"}


class InspectRescorer:
    """Scores the samples of one leaf of a log again; `scoring` has the scorer's name and its options."""

    def __init__(self, scoring: Scoring | None) -> None:
        self._options: dict[str, Any] = {}
        self._scorer = scoring.output.partition(" ")[2] if scoring is not None else ""
        for options in scoring.metrics.values() if scoring is not None else ():
            found = json.loads(options)
            self._options = found if isinstance(found, dict) else {"unknown": found}

    def knows(self, metric: str, answer_filter: str) -> bool:
        """Tell whether the scorer is one that is run again; no field of a sample decides it."""
        del metric, answer_filter
        known = {"match": {"location", "ignore_case", "numeric"}, "includes": {"ignore_case"}}.get(self._scorer)
        if known is None or not self._options.keys() <= known or self._options.get("numeric"):
            return False
        return self._options.get("location", "end") in LOCATIONS

    def score(self, metric: str, sample: Sample, answer_filter: str) -> Collection[float]:
        """Whether the answer matches one of the targets. Raises Unscorable."""
        del metric, answer_filter
        if sample.response is None:
            raise Unscorable("it has no answer")
        target = sample.row.get("target")
        targets = [one for one in (target if isinstance(target, list) else [target]) if isinstance(one, str)]
        is_folded = bool(self._options.get("ignore_case", True))
        if self._scorer == "includes":
            said = sample.response.lower() if is_folded else sample.response
            return {float(any((one.lower() if is_folded else one) in said for one in targets))}
        location = str(self._options.get("location", "end"))
        return {float(any(_matches(sample.response, one, location, is_folded=is_folded) for one in targets))}


def _matches(answer: str, target: str, location: str, *, is_folded: bool) -> bool:
    said, wanted = answer.strip(), target.strip()
    if is_folded:
        said, wanted = said.casefold(), wanted.casefold()
    said, wanted = said.strip(STRIPPED), wanted.strip(STRIPPED)
    if location == "begin":
        return said.startswith(wanted)
    if location == "end":
        return said.endswith(wanted)
    return said == wanted if location == "exact" else wanted in said
