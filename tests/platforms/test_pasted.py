"""Pages and clone addresses that people paste: refused with the address to write, wherever an address is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import CallError
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import find_places
from bot.platforms.platform import Access, Opener, address_of_page


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://huggingface.co/datasets/acme/board", "hf://datasets/acme/board"),
        ("huggingface.co/datasets/acme/board/", "hf://datasets/acme/board"),
        ("https://hf.co/spaces/acme/site?logs=build#top", "hf://spaces/acme/site"),
        ("https://huggingface.co/datasets/acme/board/blob/main/a/b.json", "hf://datasets/acme/board/a/b.json"),
        ("https://huggingface.co/datasets/acme/board/tree/v1.0", "hf://datasets/acme/board@v1.0"),
        ("https://huggingface.co/datasets/acme/board/discussions/7", "hf://datasets/acme/board"),
        ("https://huggingface.co/acme/atlas-7b", "hf://models/acme/atlas-7b"),
        ("https://github.com/acme/board", "github://acme/board"),
        ("github.com/acme/board/pull/7", "github://acme/board"),
        ("https://github.com/acme/board.git", "github://acme/board"),
        ("git@github.com:acme/board.git", "github://acme/board"),
        ("ssh://git@github.com/acme/board.git", "github://acme/board"),
        ("https://huggingface.co", ""),
        ("https://example.org/datasets/acme/board", ""),
        ("./huggingface.co/datasets/acme/board", ""),
        ("acme/board", ""),
    ],
)
def test_a_page_has_one_address(text: str, address: str) -> None:
    assert address_of_page(text) == address


@pytest.mark.parametrize("text", ["https://huggingface.co/datasets/acme/board", "huggingface.co/datasets/acme/board"])
def test_a_pasted_page_is_refused_with_its_address(text: str) -> None:
    opener = Opener(Access())
    calls = (
        opener.source,
        opener.target,
        lambda name: find_places([name], Access()),
        lambda name: open_leaderboard(name, Access()),
    )
    for call in calls:
        with pytest.raises(CallError, match=f"^{text}: write hf://datasets/acme/board$"):
            call(text)


def test_a_folder_that_is_there_may_have_any_name(tmp_path: Path) -> None:
    (tmp_path / "github.com" / "acme" / "board").mkdir(parents=True)

    assert Opener(Access(), tmp_path).target("github.com/acme/board").name.endswith("github.com/acme/board")


@pytest.mark.parametrize("name", ["hf://datasets/acme/board/rows", "hf://datasets/acme/board@v1"])
def test_a_part_or_a_revision_of_a_repository_is_no_source_and_no_target(name: str) -> None:
    for call in (Opener(Access()).source, Opener(Access()).target):
        with pytest.raises(CallError, match="name the whole repository, hf://datasets/acme/board; its main"):
            call(name)
