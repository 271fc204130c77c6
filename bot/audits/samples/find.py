"""Find the sample logs of a result by the places and names that tools give them.

lm-evaluation-harness writes a log beside the result, lighteval into a folder of the run: `details/<model>/<time>/`
where the result is in `results/<model>/`, and `<time>/` beside a result that it pushed to the Hub.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bot.audits.samples.helm import STATES
from bot.audits.samples.records import is_own_file
from bot.errors import CallError
from bot.evaluation.result import Result

STAMP = r"_(?P<time>\d{4}-\d\d-\d\dT[\d.:-]+)"
LOGS = (
    re.compile(rf"samples_(?P<task>.+?){STAMP}\.jsonl(\.gz)?"),
    re.compile(rf"details_(?P<task>.+?){STAMP}\.parquet"),
)
SAMPLE_LOGS = ("**/samples_*.jsonl", "**/samples_*.jsonl.gz", "**/details_*.parquet")  # as patterns of paths
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d.:-]*\d")
RESULTS, DETAILS = "results", "details"


def folders_of_logs(path: str) -> list[str]:
    """The folders in which the logs of the result at a path may lie: its own, and those of lighteval."""
    folders, time = path.split("/")[:-1], _time_of(path)
    found = [folders]
    if time:
        found.append([*folders, time])
        found += [[*swapped, time] for swapped in _swapped(folders, RESULTS, DETAILS)]
    return ["/".join(one) for one in found]


def folders_of_results(log: str) -> list[str]:
    """The folders in which the result of a log may lie; the other way of `folders_of_logs`."""
    *folders, _ = log.split("/")
    found = [folders]
    if folders and TIME.fullmatch(folders[-1]):
        found += [folders[:-1], *_swapped(folders[:-1], DETAILS, RESULTS)]
    return ["/".join(one) for one in found]


def _time_of(path: str) -> str:
    """The time in the name of a result, the last if there are several, "" if there is none."""
    return next(reversed(TIME.findall(path.rpartition("/")[2])), "")


def _swapped(folders: list[str], one: str, other: str) -> Iterator[list[str]]:
    """The folders once for each that has the name `one`, with `other` in its place."""
    for place, name in enumerate(folders):
        if name == one:
            yield [*folders[:place], other, *folders[place + 1 :]]


def logs_of(result: Result, path: str, paths: Iterable[str]) -> dict[str, str]:
    """Which of these files are the sample logs of the result at a path, by leaf.

    A log carries the time of the result in its name; where the result has none, the newest log of each task counts.
    """
    found = {task: max(logs)[1] for task, logs in _logs_by_task(result, path, paths).items()}
    return {leaf: found[text] for leaf, text in _spelled(result).items() if text in found}


def _spelled(result: Result) -> dict[str, str]:
    return {leaf: result.original_keys.get(leaf, leaf) for leaf in result.leaves}


def _logs_by_task(result: Result, path: str, paths: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """The times and paths of the logs of each task that a result has, of its time where its name has one."""
    time, tasks = _time_of(path), frozenset(_spelled(result).values())
    found: dict[str, list[tuple[str, str]]] = {}
    for one in paths:
        last = one.rpartition("/")[2]
        match = next((match for log in LOGS if (match := log.fullmatch(last))), None)
        if match and time in {"", match["time"]} and match["task"] in tasks:
            found.setdefault(match["task"], []).append((match["time"], one))
    return found


def find_logs(path: Path, result: Result, folder: Path | None = None) -> dict[str, Path]:
    """The sample logs of a result on this machine, by leaf; no link is followed.

    They lie where the tool writes them, or anywhere below `folder`. Raises CallError where several runs have logs there
    and nothing says which is of this result.
    """
    if result.format == "helm":
        run = path if path.is_dir() else path.parent
        return dict.fromkeys(result.leaves, run) if is_own_file(run / STATES) else {}
    if result.format == "inspect":
        return dict.fromkeys(result.leaves, path) if path.is_file() else {}
    whole = (path.parent.resolve() / path.name).as_posix()
    places = [place for one in folders_of_logs(whole) if (place := Path(one)).is_dir() and place.resolve() == place]
    beside = (f"{at}/{name}" for at in places for name in os.listdir(at))  # noqa: PTH208 - Path costs, for thousands
    listed = map(str, folder.rglob("*")) if folder else beside
    time = _time_of(whole)  # of thousands of results in a folder each looks only at the files of its time
    own = [one for one in listed if time in one and is_own_file(Path(one))]
    if folder is not None:
        own = [
            log for logs in _logs_by_task(result, whole, own).values() for log in _of_run(logs, folder, whole, result)
        ]
    return {leaf: Path(log) for leaf, log in logs_of(result, whole, own).items()}


def _of_run(logs: list[tuple[str, str]], folder: Path, path: str, result: Result) -> list[str]:
    """Of the logs of one task below a folder, those of the run: their folders have a name of its path, or its model's.

    The deepest such name decides.
    """
    own = path.split("/")[:-1]
    depth = {name: place for place, name in enumerate(own)}
    depth |= dict.fromkeys((result.model.id.replace("/", "__"), result.model.id.rpartition("/")[2]), len(own))
    by_run: dict[tuple[str, ...], list[str]] = {}
    for _, log in logs:
        parts = Path(log).relative_to(folder).parts[:-1]
        by_run.setdefault(tuple(part for part in parts if not TIME.fullmatch(part)), []).append(log)
    nearest = max(by_run, key=lambda run: _depth(run, depth))
    others = [run for run in by_run if run != nearest and _depth(run, depth) == _depth(nearest, depth)]
    if others:
        first, second = ("/".join(run) or "." for run in sorted((nearest, others[0])))
        raise CallError(
            f"--samples {folder} has several logs called {Path(logs[0][1]).name}, in {first} and {second}, and neither "
            f"folder is called as that of {Path(path).name} or as its model: name a folder with the logs of one run of "
            "each model"
        )
    return by_run[nearest]


def _depth(run: tuple[str, ...], depths: dict[str, int]) -> int:
    return max((depths.get(part, -1) for part in run), default=-1)
