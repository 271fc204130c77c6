"""Read folders from a git pack as it arrives, without the disk and without the git program.

The format is that of gitformat-pack(5). Whatever is not as it says raises ValueError.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bot.platforms.git.stream import BoundedStream
from bot.platforms.source import TooLarge

COMMIT, TREE, BLOB, TAG, DELTA = 1, 2, 3, 4, 7
NAMES = {COMMIT: b"commit", TREE: b"tree"}
GLANCE, PIECE = 1024, 65_536  # bytes that are unpacked at first, because most trees are short, and then at once


@dataclass
class Objects:
    """Trees (folders) by their ids of 20 bytes, and the tree of each commit; all of it unpacks to `most` bytes at most.

    A tree of which only the difference to another one came waits for that one. Raises TooLarge past `most`.
    """

    most: int
    trees: dict[bytes, bytes] = field(default_factory=dict)
    tops: dict[bytes, bytes] = field(default_factory=dict)
    _waiting: dict[bytes, list[bytes]] = field(default_factory=dict)

    def read(self, pack: BoundedStream) -> Iterator[None]:
        """Yield the objects of a pack one by one, as long as the caller asks for more."""
        head = pack.take(12)
        if head[:8] != b"PACK\0\0\0\2":
            raise ValueError("no pack was sent")
        for _ in range(int.from_bytes(head[8:])):
            kind, size = _head(pack)
            base = pack.take(20) if kind == DELTA else b""
            self._spend(size)
            self._add(kind, base, _unpacked(pack, size))
            yield
        pack.take(20)  # a checksum; what is used has the id that its folder names

    def _spend(self, size: int) -> None:
        self.most -= size
        if self.most < 0:
            raise TooLarge("the folders of a commit are too long")

    def _add(self, kind: int, base: bytes, data: bytes) -> None:
        if kind == COMMIT:
            self.tops[object_id(kind, data)] = _top(data)
        elif kind == TREE:
            self._settle(self._named(data))
        elif kind == DELTA:
            self._waiting.setdefault(base, []).append(data)
            self._settle(base)
        elif kind not in {BLOB, TAG}:
            raise ValueError(f"a pack with an object of kind {kind}")

    def _named(self, tree: bytes) -> bytes:
        oid = object_id(TREE, tree)
        self.trees[oid] = tree
        return oid

    def _settle(self, oid: bytes) -> None:
        """Make the trees that wait for one that is there, and those that wait for these."""
        found = [oid] if oid in self.trees else []
        while found:
            base = self.trees[found[-1]]
            deltas = self._waiting.pop(found.pop(), [])
            found += [self._named(patched(base, delta, self._spend)) for delta in deltas]


def object_id(kind: int, data: bytes) -> bytes:
    """The id of a commit or a tree."""
    made = hashlib.sha1(b"%s %d\0" % (NAMES[kind], len(data)), usedforsecurity=False)
    made.update(data)
    return made.digest()


def _top(commit: bytes) -> bytes:
    """The id of a commit's tree."""
    line = commit.partition(b"\n")[0]
    if not line.startswith(b"tree "):
        raise ValueError("a commit without a tree")
    return bytes.fromhex(line[5:].decode("ascii"))


def _head(pack: BoundedStream) -> tuple[int, int]:
    """The kind of the next object, and the bytes that it has unpacked."""
    byte = pack.take(1)[0]
    kind, size = byte >> 4 & 7, byte & 15
    for shift in range(4, 64, 7):
        if byte < 0x80:
            return kind, size
        byte = pack.take(1)[0]
        size |= (byte & 0x7F) << shift
    raise ValueError("an unterminated size")


def _unpacked(pack: BoundedStream, size: int) -> bytes:
    """The next bytes of a pack, unpacked to exactly `size`."""
    inflater, parts, left, step = zlib.decompressobj(), list[bytes](), size, GLANCE
    while not inflater.eof:
        given = pack.peek(step)
        try:
            parts.append(inflater.decompress(given, left + 1))  # 0 would be no limit
        except zlib.error as error:
            raise ValueError(str(error)) from None
        pack.skip(len(given) - len(inflater.unconsumed_tail) - len(inflater.unused_data))
        left, step = left - len(parts[-1]), PIECE
        if left < 0:
            break
    if left:
        raise ValueError("an object whose size is not the declared one")
    return b"".join(parts)


def patched(base: bytes, delta: bytes, spend: Callable[[int], None]) -> bytes:
    """The object that a delta makes from its base; calls `spend` with its size before it is built."""
    was, at = _number(delta, 0)
    size, at = _number(delta, at)
    spend(size)
    if was != len(base):
        raise ValueError("a delta to another object")
    parts, left, given = list[bytes | memoryview](), size, memoryview(base)
    while at < len(delta) and left >= 0:
        part, at = _copied(given, delta, at) if delta[at] & 0x80 else _inserted(delta, at)
        parts.append(part)
        left -= len(part)
    if left:
        raise ValueError("a delta of the wrong size")
    return b"".join(parts)


def _copied(base: memoryview, delta: bytes, at: int) -> tuple[bytes | memoryview, int]:
    """Bytes of the base: seven bits say which bytes of the offset (four) and of the size (three) follow."""
    flags, at = delta[at], at + 1
    number = 0
    for bit in range(7):
        if flags >> bit & 1:
            number |= int.from_bytes(delta[at : at + 1]) << 8 * bit
            at += 1
    start, size = number & 0xFFFFFFFF, number >> 32 or 0x10000
    return base[start : start + size], at


def _inserted(delta: bytes, at: int) -> tuple[bytes, int]:
    """Bytes that stand in the delta itself."""
    size = delta[at]
    if not size:
        raise ValueError("a delta with an unknown instruction")
    return delta[at + 1 : at + 1 + size], at + 1 + size


def _number(delta: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the last ones first, and where it ends."""
    number = 0
    for shift in range(0, 64, 7):
        byte = delta[at : at + 1]
        if not byte:
            break
        number |= (byte[0] & 0x7F) << shift
        at += 1
        if byte[0] < 0x80:
            return number, at
    raise ValueError("an unterminated number")
