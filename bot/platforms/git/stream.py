"""Read a stream in pieces of any size, within a limit."""

from __future__ import annotations

from collections.abc import Iterator

from bot.platforms.source import TooLarge


class BoundedStream:
    """Bytes of a stream, of which at most `most` are taken.

    What is asked for raises TooLarge past `most` bytes, and ValueError where the stream ends before it.
    """

    def __init__(self, pieces: Iterator[bytes], most: int) -> None:
        self._pieces, self._most, self._left = pieces, most, most
        self._held, self._at = b"", 0

    def take(self, count: int) -> bytes:
        """The next bytes, exactly so many."""
        while len(self._held) - self._at < count:
            self._more()
        self._at += count
        return self._held[self._at - count : self._at]

    def peek(self, most: int) -> bytes:
        """The next bytes, one at least and `most` at most, which are not taken yet."""
        while self._at == len(self._held):
            self._more()
        return self._held[self._at : self._at + most]

    def skip(self, count: int) -> None:
        """Take bytes that were peeked at."""
        self._at += count

    def _more(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            raise ValueError("the answer ends too early")
        self._left -= len(piece)
        if self._left < 0:
            raise TooLarge(f"more than {self._most:,} bytes")
        self._held, self._at = self._held[self._at :] + piece, 0
