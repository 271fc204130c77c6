"""Searches for bytes that give anything but a Result or MalformedResult, and a verdict, guided by coverage.

Not part of the suite. `make fuzz` installs the group `fuzz` and runs it last, for ten minutes; or, with another time:

    .venv/bin/python tests/evaluation/fuzz/fuzz_result.py corpus -max_total_time=60 -max_len=131072 -timeout=20

`corpus` is a folder of files to begin with, such as a copy of the files in examples/results; what the search finds to
be new it adds there. Each of them that is a result is judged under a board drafted from it, too, so that every format's
own leaves meet the rules. What crashes is written as crash-*, and belongs in tests/evaluation/fuzz/found once it is
mended.
"""

from __future__ import annotations

import json
import sys
from copy import deepcopy
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

with atheris.instrument_imports(include=["bot"]):
    from bot.evaluation.draft.tasks import draft_of
    from bot.evaluation.judge import judge_all
    from bot.evaluation.leaderboard import load_leaderboard, parse_leaderboard
    from bot.evaluation.rules.rule import Facts
    from bot.evaluation.submission import Parsed, parse_submission
    from bot.publishing.entry import entry_of, parse_entry
    from bot.reporting.draft import draft_text
    from bot.reporting.locate import with_lines
    from bot.reporting.report import make_report, to_json
    from bot.reporting.text import Ink, terminal_text

PATH = "results/acme__atlas/0f3c/results_x.json"
BOARDS = [load_leaderboard(name) for name in ("open-llm-v2", "open-llm-v1", "open-llm-v1-drop")]
FACTS = Facts(today=date(2026, 11, 1))


# What stands in files where something else is expected.
ODDITIES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 0.5, 1e308, -1e308, float("nan"), float("inf"), 2**53, 10**30, 10**400, "", "NaN", "N/A", " ",
    "Yaml", "\x00", "\u202e", "a/b~c|d|5", "2.0", [], {}, [[]], {"": {}}, ["leaderboard"], {"effective": 1.5},
)  # fmt: skip


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change one value somewhere in the JSON, so that what comes out is read further than its first wrong byte."""
    random = Random(seed)
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        whole = None
    if not isinstance(whole, dict) or random.random() < 0.3:
        return bytes(atheris.Mutate(data, max_size))
    for _ in range(random.choice((1, 1, 2, 5))):
        change(whole, random)
    changed = json.dumps(whole).encode()
    return changed if len(changed) <= max_size else data


def change(whole: dict[str, Any], random: Random) -> None:
    """Go down at random; there replace, remove, copy or rename one member."""
    at: Any = whole
    while True:
        members = at.values() if isinstance(at, dict) else at
        inner = [value for value in members if isinstance(value, dict | list) and value]
        if not inner or random.random() < 0.3:
            break
        at = random.choice(inner)
    if not at:
        return
    key = random.choice(list(at)) if isinstance(at, dict) else random.randrange(len(at))
    doing = random.randrange(4)
    if doing == 0:
        del at[key]
    elif doing == 1 and isinstance(at, list):
        at.append(deepcopy(at[key]))
    elif doing == 1:
        at[random.choice((" ", "a|b|5", f"{key}/~", "leaderboard", "acc,none"))] = at[key]
    else:
        at[key] = deepcopy(random.choice((*ODDITIES, random.choice(list(whole.values())), random.random())))


def run(data: bytes) -> None:
    """Read, judge under every declaration, report; what is accepted makes an entry that can be read back."""
    parsed = parse_submission(PATH, {"": data})
    assert Parsed.from_bytes(parsed.to_bytes()).to_bytes() == parsed.to_bytes()
    for board in BOARDS:
        judgement = judge_all([parsed], board, FACTS)
        to_json(make_report(with_lines(judgement, lambda _: data))).encode()
        terminal_text(judgement, Ink(colour=False)).encode()
        for row in judgement.rows:
            entry = entry_of(row)
            if entry is not None:
                assert parse_entry(entry.to_bytes()) == entry


def add_boards(folder: Path) -> None:
    """Draft a board from each format that is among the files to begin with."""
    seen: set[str | None] = {None}
    for file in sorted(folder.iterdir()):
        parsed = parse_submission(PATH, {"": file.read_bytes()})
        if parsed.result is not None and parsed.result.leaves and parsed.format not in seen:
            seen.add(parsed.format)
            BOARDS.append(parse_leaderboard(draft_text(draft_of([parsed.result])), "board", "board.toml"))


def main() -> None:
    """Hand over to the fuzzer."""
    for name in sys.argv[1:]:
        if Path(name).is_dir():
            add_boards(Path(name))
    atheris.Setup(sys.argv, run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
