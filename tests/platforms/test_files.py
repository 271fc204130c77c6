"""What is recorded of where a local file lies, and which files of a folder are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.submission import Parsed, UnreadPath
from bot.platforms.files import place_of
from bot.platforms.inputs import local_places
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


def test_a_link_that_is_named_itself_is_followed(tmp_path: Path) -> None:
    (tmp_path / "results_x.json").write_bytes(dumps(base()))
    link = tmp_path / "link.json"
    link.symlink_to("results_x.json")

    [place] = local_places(str(link))

    assert isinstance(place.parse(), Parsed)
