"""Folders out of packs: those that git makes, and whatever else may come in their place."""

from __future__ import annotations

import random
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.platforms.git import trees
from bot.platforms.git.packs import Objects, object_id, patched
from bot.platforms.git.stream import BoundedStream
from bot.platforms.git.trees import difference, items_of, read_tree
from bot.platforms.source import TooLarge
from tests.world.git import Blob, Tree
from tests.world.git_wire import packed

MOST = 10_000_000


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def objects_in(pack: bytes, *, size: int = 1000, most: int = MOST, known: dict[bytes, bytes] | None = None) -> Objects:
    objects = Objects(most, known or {})
    for _ in objects.read(BoundedStream(in_pieces(pack, size), most)):
        pass
    return objects


@pytest.fixture
def git_packs(tmp_path: Path) -> tuple[bytes, bytes, list[str]]:
    """The pack of one commit, the thin one of the commits after it, and the ids of all trees in git's own words."""

    def git(*words: str, data: bytes = b"") -> bytes:
        person = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
        return subprocess.run(
            ["git", *person, *words], cwd=tmp_path, input=data, capture_output=True, check=True
        ).stdout

    git("init", "-q")
    for n in range(300):
        (tmp_path / f"model-{n}").mkdir()
        (tmp_path / f"model-{n}" / "results.json").write_text(f'{{"n": {n}}}')
    git("add", ".")
    git("commit", "-qm", "one")
    whole = git("pack-objects", "--revs", "--filter=blob:none", "--stdout", "-q", data=b"HEAD\n")
    for n in range(3):
        (tmp_path / f"model-{n}" / "later.json").write_text(f"{n}")
        (tmp_path / f"new-{n}.json").write_text(f"{n}")
        git("add", ".")
        git("commit", "-qm", "more")
    thin = git("pack-objects", "--revs", "--thin", "--filter=blob:none", "--stdout", "-q", data=b"HEAD\n^HEAD~3\n")
    lines = git("rev-list", "--objects", "--filter=blob:none", "HEAD").decode().splitlines()
    commits = set(git("rev-list", "HEAD").decode().split())
    return whole, thin, [line.split(" ")[0] for line in lines if line.split(" ")[0] not in commits]


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_packs_of_git_give_their_folders(git_packs: tuple[bytes, bytes, list[str]], size: int) -> None:
    whole, thin, ids = git_packs
    first = objects_in(whole, size=size)
    objects = objects_in(thin, size=size, known=dict(first.trees))

    assert {tree.hex() for tree in objects.trees} == set(ids)
    assert all(object_id(2, data) == oid for oid, data in objects.trees.items())
    assert set(objects.tops.values()) <= objects.trees.keys()
    assert len(first.tops) == 1
    assert len(thin) < len(whole) / 5  # only differences came


def test_a_difference_waits_for_what_it_changes(git_packs: tuple[bytes, bytes, list[str]]) -> None:
    whole, thin, _ = git_packs
    alone = objects_in(thin)
    missing = [top for top in alone.tops.values() if top not in alone.trees]

    assert missing  # the folders that they change did not come
    assert objects_in(thin, known=dict(objects_in(whole).trees)).trees.keys() >= set(missing)


def test_what_is_too_long_is_not_unpacked() -> None:
    bomb = packed([("tree", bytes(5_000_000))])

    with pytest.raises(TooLarge):
        objects_in(bomb, most=4_999_999)
    with pytest.raises(TooLarge):
        objects_in(bomb * 2, size=10, most=20)


def test_a_size_that_is_not_true_is_refused() -> None:
    lies = packed([("tree", b"")])[:12] + bytes([2 << 4 | 5]) + zlib.compress(bytes(50_000_000))

    with pytest.raises(ValueError, match="declared"):
        objects_in(lies)


def test_a_difference_that_makes_much_of_little_is_refused() -> None:
    base, spent = bytes(100_000), list[int]()
    copies = b"\xb0\x00\x80" * 1000  # 32,768 bytes of the base, a thousand times
    delta = b"\xa0\x8d\x06" + b"\x80\x80\x80\x10" + copies

    with pytest.raises(ValueError, match="wrong size"):
        patched(base, delta, spent.append)
    assert spent == [1 << 25]
    with pytest.raises(ValueError, match="another object"):
        patched(b"x", delta, spent.append)


def test_a_difference_takes_up_to_64_kilobytes_at_once() -> None:
    base = random.Random(1).randbytes(70_000)

    assert patched(base, b"\xf0\xa2\x04\x83\x80\x04\x80\x03end", list[int]().append) == base[:65_536] + b"end"


def test_whatever_comes_is_a_folder_or_refused(git_packs: tuple[bytes, bytes, list[str]]) -> None:
    whole, thin, _ = git_packs
    known, chance, refused = objects_in(whole).trees, random.Random(3), 0
    for _ in range(400):
        data = bytearray(chance.choice([whole, thin]))
        for _ in range(chance.choice([1, 1, 5])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        del data[chance.randrange(len(data) // 2, len(data) * 2) :]
        try:
            objects = objects_in(bytes(data), known=dict(known))
        except (ValueError, TooLarge):
            refused += 1
            continue
        assert all(object_id(2, tree) == oid for oid, tree in objects.trees.items())
    assert refused > 200


def folder_of(names: dict[str, int]) -> bytes:
    """A folder with files of one of a few contents each."""
    return Tree({name: Blob(f"{content:040x}", b"", "") for name, content in names.items()}).object


@pytest.mark.parametrize("block", [1, 8, 64, 8192])
def test_two_folders_differ_in_what_their_entries_say(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "BLOCK", block)
    monkeypatch.setattr(trees, "STRIDE", block)
    chance = random.Random(block)
    names = {f"model-{chance.randrange(10**6)}": chance.randrange(3) for _ in range(chance.randrange(300))}
    tree = read_tree(folder_of(names))
    for _ in range(60):
        for _ in range(chance.choice([0, 1, 1, 2, 20])):
            name = chance.choice([*names, "a", "zz", f"model-{chance.randrange(10**6)}"])
            if chance.random() < 0.4:
                names.pop(name, None)
            else:
                names[name] = chance.randrange(3)
        data = folder_of(names)
        old, new = items_of(tree.data), items_of(data)
        was, now, made = difference(tree, data)
        assert was == {name: item for name, item in old.items() if new.get(name) != item}
        assert now == {name: item for name, item in new.items() if old.get(name) != item}
        assert made.data == data
        tree = made


def test_what_is_no_folder_is_refused() -> None:
    good = folder_of({"a": 1, "b": 2})
    for bad in (good[:-1], b"100644 a", b"100644 \0" + bytes(20), b"100644 a/b\0" + bytes(20), b"x" * 50):
        with pytest.raises(ValueError, match=r"folder|name"):
            items_of(bad)
    with pytest.raises(ValueError, match="truncated folder"):
        read_tree(good[:-1])
    with pytest.raises(ValueError, match="truncated folder"):
        difference(read_tree(good), good + b"100644 c")
