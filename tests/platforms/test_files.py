"""What is recorded of where a local file lies."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platforms.files import place_of

NAMES = ["a.json", "/a.json", "b/a.json", "/b/a.json", "c/b/a.json", "./a.json", "b/./a.json", "../a.json", "b//a.json",
         "//b/a.json", "b/../a.json", "b/a/", "./b/a.json", ".", "..", "/"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_place_is_the_last_folder_and_the_name(name: str) -> None:
    assert place_of(name) == "/".join(Path(name).absolute().parts[-2:]).replace("//", "/")


@given(st.text(alphabet="a./", min_size=1, max_size=9))
def test_a_place_of_any_name_is_that_of_its_path(name: str) -> None:
    test_a_place_is_the_last_folder_and_the_name(name)
