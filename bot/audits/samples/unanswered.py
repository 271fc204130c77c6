"""Counts answers that are not there: empty ones, and those that end inside of the model's thoughts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import fsum

from bot.audits.samples.sample import Sample

# How models begin and end their thoughts: most, Mistral's, OpenThinker's, and gpt-oss's channels.
TAGS = "think|thinking|thought|reasoning|seed:think"
OPENED = re.compile(rf"<(?:{TAGS})>|\[THINK\]|<\|begin_of_thought\|>|<\|channel\|>analysis")
CLOSED = re.compile(rf"</(?:{TAGS})>|\[/THINK\]|<\|end_of_thought\|>|<\|channel\|>final(?:<\|message\|>)?")


class Unanswered:
    """The answers of one filter of a log. Where most end their thoughts, one without an end was cut inside of them."""

    def __init__(self) -> None:
        self._metric = ""
        self._missing = 0
        self._counts = {True: 0, False: 0}  # by whether thoughts end in the answer, as are the others
        self._totals = {True: 0.0, False: 0.0}
        self._numbers = {True: 0, False: 0}

    def add(self, sample: Sample, values: Sequence[tuple[str, Sequence[float]]]) -> None:
        """Look at one sample; one that asks for no text has none."""
        if sample.response is None:
            return
        *_, last = CLOSED.split(sample.response)
        is_closed = CLOSED.search(sample.response) is not None
        if not last.strip() or (not is_closed and OPENED.search(sample.response)):
            self._missing += 1
            return
        self._counts[is_closed] += 1
        for name, numbers in values[:1]:
            self._metric = self._metric or name
            if name == self._metric:
                self._totals[is_closed] += fsum(numbers)
                self._numbers[is_closed] += len(numbers)

    def outcome(self) -> tuple[int, float | None]:
        """How many answers are not there, and the mean of the first metric over the others."""
        is_thinking = self._counts[True] > self._counts[False]
        counted = (True,) if is_thinking else (True, False)
        numbers = sum(self._numbers[one] for one in counted)
        mean = sum(self._totals[one] for one in counted) / numbers if numbers else None
        return self._missing + (self._counts[False] if is_thinking else 0), mean
