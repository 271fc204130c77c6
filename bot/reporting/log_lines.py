"""Log lines: one line each, whatever was submitted, with a limit on repeated ones."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from itertools import islice

from bot.reporting.escape import plain_json, visible, without_commands

LONGEST_LINE = 4_000  # letters of one message
OFTEN, OURS_OFTEN, WINDOW = 10, 500, 60.0  # lines of one kind, and of one kind of the bot, in so many seconds


class PlainFormatter(logging.Formatter):
    """Time, severity and message in one line; the lines of a traceback follow, indented, with nothing unprintable."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        head = f"{iso_time(record)} {record.levelname} {message_of(record)}"
        lines = traceback_of(self, record)
        return without_commands("\n".join([head, *(f"    {visible(line)}" for line in lines)]))


class JsonFormatter(logging.Formatter):
    """One JSON object on a line: `time`, `level`, `logger`, `message`, and `traceback` where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON."""
        fields = {
            "time": iso_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message_of(record),
        }
        lines = traceback_of(self, record)
        return plain_json(json.dumps(fields | ({"traceback": "\n".join(lines)} if lines else {}), ensure_ascii=False))


class FloodFilter(logging.Filter):
    """Lets a few lines of each kind through in a minute, and then logs how many more there were.

    A kind is the logger, its severity and the message without its values: strangers can choose the values, not the
    kinds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the line is written."""
        kind = (record.name, record.levelno, str(record.msg)[:200])
        often = OURS_OFTEN if record.name.startswith("bot") else OFTEN
        since, count = self._seen.get(kind, (record.created, 0))
        if record.created - since >= WINDOW:
            since, held, count = record.created, count - often, 0
            if held > 0:
                record.msg, record.args = f"{record.getMessage()} (and {held} more of these before)", ()
        self._seen[kind] = (since, count + 1)
        if len(self._seen) > 1_000:
            self._seen = dict(islice(self._seen.items(), 500, None))
        return count < often


def iso_time(record: logging.LogRecord) -> str:
    """The time of a record, in UTC."""
    return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def message_of(record: logging.LogRecord) -> str:
    """The message in one line of bounded length."""
    text = " ".join(record.getMessage().splitlines())
    return visible(text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…")


def traceback_of(formatter: logging.Formatter, record: logging.LogRecord) -> list[str]:
    """The lines of the traceback, where the record has one."""
    text = formatter.formatException(record.exc_info) if record.exc_info else ""
    return [line[:LONGEST_LINE] for line in text.splitlines()]


def log_handler(form: str = "") -> logging.Handler:
    """Make the handler that writes to standard error; `form` is that of LOG_FORMAT: "json", or lines for people."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else PlainFormatter())
    handler.addFilter(FloodFilter())
    return handler
