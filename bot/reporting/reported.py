"""The readings of a file that give a reported number, for people and as JSON."""

from __future__ import annotations

from typing import Any

from bot.evaluation.finding import counted
from bot.evaluation.reported import Reading, Readings
from bot.reporting.escape import visible

SCHEMA = "leaderboard-bot/reported/1"
SHOWN = 10  # readings that the text lists


def reported_text(readings: Readings) -> str:
    """The readings that give the number, simplest first, or the nearest where none does."""
    text = readings.reported.text
    tried = f"{counted(readings.tried, 'reading')} tried; by chance {_chance(readings.by_chance)} would give {text}"
    if not readings.fitting:
        nearest = "\n".join(
            _lines(one, f"off by {one.value - readings.reported.value:+.4g}") for one in readings.nearest
        )
        return f"No reading of these results gives {text}. The nearest:\n\n{nearest}\n{tried}\n"
    found = "\n".join(_lines(one, "") for one in readings.fitting[:SHOWN])
    more = len(readings.fitting) - SHOWN
    rest = f"… and {counted(more, 'longer reading')}; --format json lists all\n\n" if more > 0 else ""
    return f"{text} is:\n\n{found}\n{rest}{tried}\n"


def _lines(reading: Reading, note: str) -> str:
    head = f"  {visible(reading.task)}: {reading.value:.6g}{f' ({note})' if note else ''}"
    return "\n".join([head, *(f"    {visible(step)}" for step in reading.steps), ""])


def _chance(expected: float) -> str:
    return f"about {expected:.2g} values"


def reported_json(readings: Readings) -> dict[str, Any]:
    """All readings as values that JSON can hold; see docs/report.md."""
    return {
        "schema": SCHEMA,
        "reported": readings.reported.text,
        "readings": [_object(one) for one in readings.fitting],
        "tried": readings.tried,
        "by_chance": readings.by_chance,
        "nearest": [_object(one) for one in readings.nearest],
    }


def _object(reading: Reading) -> dict[str, Any]:
    return {"value": reading.value, "task": reading.task, "metric": reading.metric, "steps": list(reading.steps)}
