"""The client side of git's HTTP protocol, version 2 (gitprotocol-v2(5))."""

from __future__ import annotations

from collections.abc import Iterator

from bot.platforms.git.stream import BoundedStream

SERVICE = "git-upload-pack"
HEADERS = {"Git-Protocol": "version=2", "Accept-Encoding": "identity"}
FLUSH, DELIMITER = b"0000", b"0001"
PACK, FAILURE = 1, 3  # the bands of an answer; the second one tells people how far it is


def read_abilities(answer: BoundedStream) -> dict[str, list[str]]:
    """What a server can do, by the name of each command with what it takes. Raises ValueError for another version."""
    abilities: dict[str, list[str]] = {}
    line = b"#"
    while line.startswith(b"#"):
        line = _packet(answer) or b"#"
    if line.rstrip() != b"version 2":
        raise ValueError("the server does not speak version 2 of git's protocol")
    while (packet := _packet(answer)) is not None:
        name, _, values = packet.decode("utf-8", "replace").rstrip().partition("=")
        abilities[name] = values.split()
    return abilities


def fetch_request(want: str, have: str | None) -> bytes:
    """Ask for the folders of one commit, without its files and its history; not for those of a commit that we have."""
    arguments = ["no-progress", f"want {want}", "deepen 1", "filter blob:none"]
    if have:
        arguments += ["thin-pack", f"shallow {have}", f"have {have}"]
    return b"".join([_line("command=fetch"), DELIMITER, *map(_line, [*arguments, "done"]), FLUSH])


def pack_in(answer: BoundedStream) -> Iterator[bytes]:
    """The pieces of the pack in an answer. Raises ValueError if there is none, with what the server says of it."""
    section = b""
    while section != b"packfile":
        section = (_packet(answer) or b"").rstrip()
        if section.startswith(b"ERR "):
            raise ValueError(section[4:300].decode("utf-8", "replace"))
    while (data := _packet(answer)) is not None:
        if data[:1] == bytes([FAILURE]):
            raise ValueError(data[1:300].decode("utf-8", "replace").strip())
        if data[:1] == bytes([PACK]):
            yield data[1:]


def _line(text: str) -> bytes:
    data = f"{text}\n".encode()
    return b"%04x%s" % (len(data) + 4, data)


def _packet(answer: BoundedStream) -> bytes | None:
    """The next packet, None for one that only ends or parts something."""
    size = int(answer.take(4), 16)
    return answer.take(size - 4) if size >= 4 else None
