"""Answers of GitHub that are kept between runs; losing them costs time only."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class AnswerStore(Protocol):
    """A database that keeps answers; times are in seconds since 1970."""

    def answer(self, question: str, now: float) -> str | None:
        """The kept answer; None if there is none or it is too old."""
        ...

    def set_answer(self, question: str, answer: str, until: float | None) -> None:
        """Keep an answer."""
        ...


class Answers(Protocol):
    """Somewhere to keep answers; `lasts` is in seconds, None for an answer that can never change."""

    def get(self, question: str) -> str | None:
        """The kept answer; None if there is none or it is too old."""
        ...

    def put(self, question: str, answer: str, lasts: float | None) -> None:
        """Keep an answer."""
        ...


class AnswersInMemory:
    """Answers of one run."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.kept: dict[str, tuple[str, float | None]] = {}

    def get(self, question: str) -> str | None:
        """The kept answer; None if there is none or it is too old."""
        answer, until = self.kept.get(question, (None, None))
        return None if until is not None and until < self.now() else answer

    def put(self, question: str, answer: str, lasts: float | None) -> None:
        """Keep an answer."""
        self.kept[question] = (answer, None if lasts is None else self.now() + lasts)


class AnswersInFile(AnswersInMemory):
    """Answers in a JSON file, written whole each time; what cannot be read or written is as good as empty."""

    def __init__(self, path: Path, now: Callable[[], float] = time.time) -> None:
        super().__init__(now)
        self.path = path
        try:
            rows = json.loads(path.read_text(encoding="utf-8"))
            self.kept = {str(key): (str(answer), until) for key, (answer, until) in rows.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self.kept = {}

    def put(self, question: str, answer: str, lasts: float | None) -> None:
        """Keep an answer, and the file with it."""
        super().put(question, answer, lasts)
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(self.kept), encoding="utf-8")
            beside.replace(self.path)
        except OSError:
            return  # a read-only home: the next run asks again


class AnswersInStore:
    """Answers among the other things that the service remembers."""

    def __init__(self, rows: AnswerStore, now: Callable[[], float] = time.time) -> None:
        self.rows = rows
        self.now = now

    def get(self, question: str) -> str | None:
        """The kept answer; None if there is none or it is too old."""
        return self.rows.answer(question, self.now())

    def put(self, question: str, answer: str, lasts: float | None) -> None:
        """Keep an answer."""
        self.rows.set_answer(question, answer, None if lasts is None else self.now() + lasts)
