"""Very large files, measured in a process of its own: what strangers push does not decide how much memory we take."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from threading import Barrier

import pytest

from bot.evaluation.formats import MAX_BYTES
from bot.service.judge import reading
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import path_of, result

ROWS, SIZE = 1_400_000, 28_000_000
MOST = 400.0  # MiB
HEAVY = 700.0  # MiB; 450 large rows kept together take 950


@cache
def full(number: int) -> bytes:
    """A file of 28 MB with 1.4 million rows, another one for each number."""
    rows = ",".join(f'"t{n:07}":{{"a":0}}' for n in range(ROWS))
    data = f'{{"results":{{{rows}}},"number":{number}}}'.encode()
    return data + b" " * (SIZE - len(data))


def settled(story: Story) -> tuple[float, str]:
    """The peak of resident memory in MiB of a process that settles, and what it said."""
    (story.folder / "bot.toml").write_text(story.text)
    command = [sys.executable, "-m", "tests.service.memory_worker", str(story.folder), story.hub.url, story.token]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout), done.stderr


def test_the_limit_of_one_file_is_8_mib() -> None:
    assert MAX_BYTES == 8 * 2**20


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", f"max_file_bytes = {2**25}"], ids=["default limit", "raised limit"])
@pytest.mark.parametrize("files", [2, pytest.param(8, marks=pytest.mark.campaign)])
def test_eight_files_of_28_mb_in_one_request_take_less_than_400_mib(
    hub: Hub, tmp_path: Path, more: str, files: int
) -> None:
    story = Story(hub, tmp_path, more=more)
    request, _ = hub.open_request(
        story.source, {f"h{n}/results_1.json": full(n) for n in range(files)}, "Large", "", "eve"
    )
    story.push()
    took, said = settled(story)

    assert "failed" not in said
    assert len(story.requests) == 1
    [text] = request.comments("bot")
    assert "rejected" in text
    assert took < MOST


@pytest.mark.campaign
def test_eight_files_of_28_mb_that_are_pushed_take_less_than_400_mib(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, more=f"max_file_bytes = {2**25}")
    hub.push(story.source, {f"h{n}/results_1.json": full(n) for n in range(8)})
    story.push()
    took, said = settled(story)

    assert said.count("rejected h") == 8
    assert len(story.requests) == 1
    assert took < MOST


def test_small_files_are_read_together_and_of_large_ones_no_two_at_once(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGE", 10_000)
    files = {model: result(model) for model in ("acme/small-1", "acme/small-2")}
    files |= {model: result(model) + b" " * 10_000 for model in ("acme/large-1", "acme/large-2", "acme/large-3")}
    both, met = Barrier(2, timeout=30), []
    here: list[None] = []
    crowds = []

    def meet() -> None:
        met.append(both.wait())

    def stay() -> None:
        here.append(None)
        crowds.append(len(here))
        time.sleep(0.2)
        here.pop()

    hub.faults.order("/resolve/.*small", before=meet, times=-1)
    hub.faults.order("/resolve/.*large", before=stay, times=-1)
    story = Story(hub, tmp_path)
    hub.push(story.source, {path_of(model): data for model, data in files.items()})
    story.settle()

    assert len(story.requests) == 5
    assert sorted(met) == [0, 1]
    assert set(crowds) == {1}
    story.contexts.store.close()


def heavy(number: int, right: int) -> bytes:
    """A result with 3,000 rows that nobody asked for."""
    data = json.loads(result(f"acme/heavy-{number}", right=(right, 60, number % 100)))
    data["results"] |= {f"extra_{number}_{n}": {"acc,none": 0.5, "acc_stderr,none": 0.05} for n in range(3_000)}
    return json.dumps(data).encode()


@pytest.mark.slow
@pytest.mark.parametrize("right", [50, 150], ids=["sound", "rejected"])
@pytest.mark.parametrize("folder", ["one", "h{}"], ids=["in one folder", "in many"])
def test_the_number_of_large_rows_does_not_decide_how_much_memory_a_pass_takes(
    hub: Hub, tmp_path: Path, right: int, folder: str
) -> None:
    story = Story(hub, tmp_path, form="commit")
    hub.push(story.source, {f"{folder.format(n)}/results_{n}.json": heavy(n, right) for n in range(450)})
    took, said = settled(story)

    assert "failed" not in said
    assert took < HEAVY
