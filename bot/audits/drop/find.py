"""Find the sample logs of DROP that the paths of a call name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bot.errors import CallError

# 0.4.3 and later: samples_drop_<time>.jsonl; 0.4.0 to 0.4.2: <model args>_drop.jsonl; 0.3: drop_write_out_info.json.
LOG_NAME = re.compile(r"(samples_.*drop.*|.*_drop|.*drop_write_out_info|drop_samples.*)\.jsonl?(\.gz)?", re.IGNORECASE)


def find_logs(paths: Iterable[Path]) -> list[Path]:
    """Return each log once, in the order of the call; a folder stands for the logs of DROP in it, sorted by path.

    Raises CallError for a path that does not exist, and for a folder without such logs.
    """
    found = dict.fromkeys(log for path in paths for log in _logs_of(path))
    return list(found)


def _logs_of(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise CallError(f"{path}: there is no such file or folder")
        return [path]
    logs = sorted(log for log in path.rglob("*.json*") if LOG_NAME.fullmatch(log.name) and log.is_file())
    if not logs:
        raise CallError(f"{path}: holds no sample log of DROP (samples_*drop*.jsonl); name the files themselves")
    return logs
