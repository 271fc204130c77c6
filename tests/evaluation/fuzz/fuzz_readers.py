"""Searches for files of one format that its reader gives anything but a Result or MalformedResult for.

Not part of the suite. `make fuzz` runs it for ten minutes for each format; or, with a corpus that `seeds.py` wrote:

    .venv/bin/python tests/evaluation/fuzz/fuzz_readers.py mteb .fuzz-corpus/mteb -max_total_time=60 -timeout=20

A file of the corpus is changed in one place or a few. A run of several files is a JSON object of their contents by
their names, in which the file `run_spec.json` is one. Of an archive the JSON of a member is changed, or any of its
bytes. What is a result must give a draft that is accepted as written, and is judged by it and by a shipped board.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

with atheris.instrument_imports(include=["bot"]):
    from fuzz_result import FACTS, change

    from bot.evaluation.draft.tasks import draft_of
    from bot.evaluation.judge import judge_all
    from bot.evaluation.leaderboard import load_leaderboard, parse_leaderboard
    from bot.evaluation.submission import Parsed, parse_submission
    from bot.reporting.draft import draft_text
    from bot.reporting.report import make_report, to_json
    from bot.reporting.text import Ink, terminal_text

from backports.zstd import zipfile

BOARD = load_leaderboard("open-llm-v2")
FOLDER = "run_spec.json"
CALLS, READ = "calls", Counter[str]()


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Change one value somewhere in the JSON of the file, of a member of the archive, or any byte."""
    random = Random(seed)
    if random.random() < 0.2:
        return bytes(atheris.Mutate(data, max_size))
    changed = of_archive(data, random) if data.startswith(b"PK") else of_json(data, random)
    return changed if changed and len(changed) <= max_size else bytes(atheris.Mutate(data, max_size))


def of_json(data: bytes, random: Random) -> bytes:
    """The JSON with a few values changed, nothing where it is none."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        return b""
    holder = {"": whole}
    for _ in range(random.choice((1, 1, 2, 5))):
        change(holder, random)
    inner = holder.get("")
    lists = [value for value in deep(inner) if isinstance(value, list) and value]
    if lists and random.random() < 0.5:
        chosen = random.choice(lists)
        change({str(place): value for place, value in enumerate(chosen)}, random)
        chosen[random.randrange(len(chosen))] = random.choice(chosen)
    return json.dumps(inner).encode()


def deep(value: Any, levels: int = 6) -> list[Any]:
    """The value and what lies in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(one for each in list(inner)[:50] for one in (deep(each, levels - 1) if levels else ()))]


def of_archive(data: bytes, random: Random) -> bytes:
    """The archive with the JSON of one member changed, packed in any way."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist() if info.file_size < 1_000_000}
    except Exception:  # noqa: BLE001 - the library raises many kinds for an archive that was changed
        return b""
    if not members:
        return b""
    name = random.choice(list(members))
    members[name] = of_json(members[name], random) or members[name]
    out = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_ZSTANDARD))
    with zipfile.ZipFile(out, "w", method) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return out.getvalue()


def submitted(data: bytes) -> dict[str, bytes]:
    """The file, or the files that the object holds where it is a run's folder."""
    files = {"": data}
    if f'"{FOLDER}"'.encode() in data[:300]:
        try:
            whole = json.loads(data)
        except (ValueError, RecursionError):
            whole = None
        if isinstance(whole, dict) and FOLDER in whole:
            files = {name: json.dumps(value).encode() for name, value in whole.items() if isinstance(name, str)}
    return files


def run(data: bytes) -> None:
    """Read and store; of what is a result a draft is accepted as written, and judges it."""
    READ[CALLS] += 1
    if READ[CALLS] % 1_000 == 0:
        print(dict(READ), file=sys.stderr, flush=True)  # noqa: T201 - for the person who runs it
    parsed = parse_submission("acme__atlas-7b/main/a", submitted(data))
    assert parsed.problem is None or "could not be read" not in parsed.problem.why, parsed.problem
    assert Parsed.from_bytes(parsed.to_bytes()).to_bytes() == parsed.to_bytes()
    boards = [BOARD]
    if parsed.result is not None:
        READ[parsed.result.format] += 1
        if any(parsed.result.leaves):
            boards.append(parse_leaderboard(draft_text(draft_of([parsed.result])), "board", "board.toml"))
    for board in boards:
        judgement = judge_all([parsed], board, FACTS)
        to_json(make_report(judgement)).encode()
        terminal_text(judgement, Ink(colour=False)).encode()


def main() -> None:
    """Hand over to the fuzzer, once the format's own files are read as what they are."""
    format_id, corpus = sys.argv.pop(1), Path(sys.argv[1])
    seeds = [parse_submission(submitted(file.read_bytes())) for file in sorted(corpus.glob("seed-*"))]
    assert seeds
    assert {seed.format for seed in seeds} == {format_id}
    atheris.Setup(sys.argv, run, custom_mutator=mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
