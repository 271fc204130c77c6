"""Declarations by their names: shipped ones, files, and addresses on a Hub that is served here."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import BotError, CallError, MalformedDeclaration, Refused
from bot.platforms.declarations import open_leaderboard
from bot.platforms.inputs import MAX_BYTES
from bot.platforms.platform import Access
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import TINY

PLACE = "hf://datasets/acme/results"


@pytest.fixture
def access(hub: Hub) -> Access:
    return Access(hf_token=hub.person("ann"), hf_endpoint=hub.url)


def test_a_declaration_on_the_hub_is_read_at_the_commit_of_its_address(
    access: Access, hub: Hub, repository: Repository, tmp_path: Path
) -> None:
    first = hub.push(repository, {"boards/tiny.toml": TINY.encode()})
    hub.push(repository, {"boards/tiny.toml": TINY.replace('title = "', 'title = "New ', 1).encode()})
    here = tmp_path / "tiny.toml"
    here.write_text(TINY, encoding="utf-8")
    pinned = open_leaderboard(f"{PLACE}@{first.oid}/boards/tiny.toml", access)
    newest = open_leaderboard(f"{PLACE}/boards/tiny.toml", access)
    assert pinned == open_leaderboard(str(here), access)
    assert (pinned.id, pinned.digest == newest.digest) == ("tiny", False)
    assert newest.title.startswith("New ")
    assert open_leaderboard("open-llm-v2", access).id == "open-llm-v2"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (PLACE, (CallError, "name the file of the declaration: hf://datasets/acme/results/board.toml")),
        (f"{PLACE}/none.toml", (CallError, "none.toml: there is no such file")),
        (f"{PLACE}@none/tiny.toml", (CallError, "there is no branch 'none'")),
        (f"{PLACE}/broken.toml", (MalformedDeclaration, "broken.toml: ")),
        (f"{PLACE}/latin.toml", (MalformedDeclaration, "latin.toml: is not UTF-8 text")),
        (f"{PLACE}/huge.toml", (CallError, "has more than 1 MB")),
        ("hf://acme/results/tiny.toml", (CallError, "expected hf://datasets/org/name")),
        ("hf://datasets/acme/absent/tiny.toml", (Refused, "404")),
    ],
)
def test_what_is_no_declaration_is_one_line(
    address: str, found: tuple[type[BotError], str], access: Access, hub: Hub, repository: Repository
) -> None:
    hub.push(
        repository, {"broken.toml": b"title = ", "latin.toml": b'title = "\xe9"', "huge.toml": b"#" * (MAX_BYTES + 1)}
    )
    with pytest.raises(found[0], match=found[1]):
        open_leaderboard(address, access)
