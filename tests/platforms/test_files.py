"""What is recorded of where a local file lies, and which files of a folder are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.submission import Parsed, UnreadPath
from bot.platforms.inputs import entries_below, list_files, local_places, place_of
from tests.command import bot
from tests.evaluation.judging import base, dumps

NAMES = ["a.json", "/a.json", "b/a.json", "/b/a.json", "c/b/a.json", "./a.json", "b/./a.json", "../a.json", "b//a.json",
         "//b/a.json", "b/../a.json", "b/a/", "./b/a.json", ".", "..", "/"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_place_is_the_last_folder_and_the_name(name: str) -> None:
    assert place_of(name) == "/".join(Path(name).absolute().parts[-2:]).replace("//", "/")


@given(st.text(alphabet="a./", min_size=1, max_size=9))
def test_a_place_of_any_name_is_that_of_its_path(name: str) -> None:
    test_a_place_is_the_last_folder_and_the_name(name)


def test_links_in_a_folder_are_named_and_not_followed(tmp_path: Path) -> None:
    """A link out of the folder, one to itself, one to a folder, and one that leads nowhere."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (outside / "results_x.json").write_bytes(dumps(base()))
    (folder / "results_y.json").write_bytes(dumps(base()))
    (folder / "results_out.json").symlink_to(outside / "results_x.json")
    (folder / "results_self.json").symlink_to("results_self.json")
    (folder / "results_gone.json").symlink_to("gone")
    (folder / "more").symlink_to(outside)

    found = [place.parse() for place in local_places(str(folder))]

    assert [one.path for one in found if isinstance(one, Parsed)] == [f"{folder}/results_y.json"]
    links = {one.path.removeprefix(f"{folder}/"): one.kind for one in found if isinstance(one, UnreadPath)}
    assert links == dict.fromkeys(["more", "results_gone.json", "results_out.json", "results_self.json"], "link")


COMMANDS = ("check", "score", "explain", "publish --to ../board", "leaderboards draft", "audit results")
SILENT = ("audit mmlu", "audit drop", "compare")  # which look for a few names


@pytest.mark.slow
@pytest.mark.parametrize("command", [*COMMANDS, *SILENT])
def test_no_command_reads_what_a_link_in_a_folder_leads_to(tmp_path: Path, command: str) -> None:
    """Beside links out of the folder lie one to a device without an end, and a pipe that nobody writes to."""
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    folder.mkdir()
    (folder / "results_y.json").write_bytes(dumps(base()))
    (outside / "secret.jsonl").write_text('{"doc": {"question": "secret"}, "target": "secret"}\n')
    for name in ("results_secret.json", "samples_mmlu_x.jsonl", "samples_drop_x.jsonl", "scenario_state.json"):
        (folder / name).symlink_to(outside / "secret.jsonl")
    (folder / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(folder / "samples_drop_y.jsonl")

    status, out, err = bot(*command.split(), ".", cwd=folder, timeout=60)

    assert status in {0, 1, 2}
    assert "Traceback" not in err
    assert "samples_drop_x" not in out
    if command in COMMANDS:
        assert "5 links not followed: " in err


def test_a_link_that_is_named_itself_is_followed(tmp_path: Path) -> None:
    (tmp_path / "results_x.json").write_bytes(dumps(base()))
    link = tmp_path / "link.json"
    link.symlink_to("results_x.json")

    [place] = local_places(str(link))

    assert isinstance(place.parse(), Parsed)


def test_folders_that_lie_in_each_other_very_deep_are_read_to_their_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "result.json").write_bytes(b"{}")
    monkeypatch.chdir(tmp_path)
    deep = 1_500
    for _ in range(deep):
        os.mkdir("a")  # noqa: PTH102 - a whole path would be longer than a system call takes
        os.chdir("a")
    found, links = list_files(str(tmp_path))
    assert ([Path(one.path).name for one in found], links) == (["result.json"], [])
    assert len(list(entries_below(str(tmp_path), ()))) == deep + 1
    for _ in range(deep):  # what removes the folders of tests would call itself as often
        os.chdir("..")
        os.rmdir("a")  # noqa: PTH106
