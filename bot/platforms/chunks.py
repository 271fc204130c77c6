"""Split publications into commits that services accept: bounded in files and bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

FILES, BYTES = 100, 20_000_000  # of one commit; a single larger file is a commit of its own


def in_chunks(files: Mapping[str, bytes | None]) -> Iterator[dict[str, bytes | None]]:
    """The files (None deletes) in the order of their paths, part by part; no part is empty."""
    part: dict[str, bytes | None] = {}
    size = 0
    for path, data in sorted(files.items()):
        more = len(data or b"")
        if part and (len(part) == FILES or size + more > BYTES):
            yield part
            part, size = {}, 0
        part[path] = data
        size += more
    if part:
        yield part


def part_title(title: str, number: int, of: int) -> str:
    """The title of one part's commit."""
    return title if of == 1 else f"{title} ({number} of {of})"
