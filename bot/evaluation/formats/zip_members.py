"""Reads single members of a zip archive that a stranger made: by name, each within a limit, none of them extracted.

`zipfile` reads the directory. A member's bytes are inflated here, because `zipfile` knows no zstd before Python 3.14,
and since then inflates a block of it without a limit.
"""

from __future__ import annotations

import re
import struct
import sys
import zlib
from io import BytesIO
from itertools import islice
from mmap import mmap
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from bot.errors import MalformedResult
from bot.evaluation.finding import in_units

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

MAGIC = b"PK\x03\x04"
ENTRY = b"PK\x01\x02"
END, END_SIZE = b"PK\x05\x06", 22  # of the directory, without a comment
ZSTANDARD = 93
MAX_MEMBERS = 100_000  # a log of all of MMLU has 14,046
MAX_RATIO = 1_000  # of a member's size to its packed size; JSON packs 20 to 1, one that repeats itself 200 to 1
SMALL = 1_000_000  # bytes up to which a ratio means nothing
RETRIED = "samples/"  # what Inspect writes again into the same log, and reads as it stands there last
MAX_FRAMES = 1_000  # of one member; a writer begins one for each megabyte
BLOCK = 65_536  # bytes that are inflated at once
WINDOW = 27  # the most that a zstd frame may look back, as a power of two: 128 MB, what every decoder takes
FAULTS = (BadZipFile, NotImplementedError, ValueError, EOFError, OSError, OverflowError, IndexError, struct.error)


class ZipMembers:
    """The members of an archive by their names, in memory or mapped.

    Raises MalformedResult for an archive that is truncated, stands behind other bytes or before them, has more members
    than are read, or two of one name: programs disagree about which of them counts. Of a sample that Inspect asked
    again the last counts. A member that the directory no longer names is passed over.
    """

    def __init__(self, data: bytes | mmap) -> None:
        entries = sum(1 for _ in islice(re.finditer(re.escape(ENTRY), data), MAX_MEMBERS + 1))
        if entries > MAX_MEMBERS:
            raise MalformedResult(f"is an archive of more than {MAX_MEMBERS:,} members, which are not read")
        if not entries:
            raise MalformedResult(f"is truncated: an archive without its directory, after {len(data):,} bytes")
        try:
            with ZipFile(BytesIO(data) if isinstance(data, bytes) else data) as archive:  # type: ignore[arg-type]
                self._infos = {info.filename: info for info in archive.infolist()}
                names = [one.filename for one in archive.infolist() if not one.filename.startswith(RETRIED)]
                start, end = archive.start_dir, len(data) - END_SIZE - len(archive.comment)
            found = data[max(0, end) :][:END_SIZE]
            recorded = struct.unpack("<L", found[16:20])[0]
        except FAULTS:
            raise MalformedResult("is a damaged archive: its directory cannot be read") from None
        if start != recorded or found[: len(END)] != END:
            raise MalformedResult("is a damaged archive: bytes stand before or behind it")
        if len(names) > len({*names}):  # an equal CRC is easily made
            raise MalformedResult("is a damaged archive: two of its members have one name")
        self._data = memoryview(data)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def sizes(self) -> dict[str, int]:
        """The size of every member in bytes, as the directory declares it."""
        return {name: info.file_size for name, info in self._infos.items()}

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a member that has at most `limit`. Raises MalformedResult."""
        info = self._infos[name]
        self._refuse(info, limit)
        try:
            data = _inflated(self._packed(info), info.compress_type, info.file_size)
        except (zlib.error, ZstdError, struct.error):
            data = None
        if data is None or len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise MalformedResult(f"is a damaged archive: its {name} cannot be unpacked")
        return data

    @staticmethod
    def _refuse(info: ZipInfo, limit: int) -> None:
        """Refuse by what the directory declares, before a byte is inflated."""
        name, size = info.filename, info.file_size
        if info.flag_bits & 1:
            raise MalformedResult(f"is an encrypted archive: its {name} cannot be read")
        if size > limit:
            raise MalformedResult(f"holds a {name} of {in_units(size)}; the limit is {in_units(limit)}")
        if size > SMALL and size > MAX_RATIO * info.compress_size:
            raise MalformedResult(f"holds a {name} that is packed more than {MAX_RATIO:,} to 1")
        if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED, ZSTANDARD}:
            raise MalformedResult(f"holds a {name} that is packed by method {info.compress_type}, which is not read")

    def _packed(self, info: ZipInfo) -> memoryview:
        """The bytes of a member as they lie in the archive, behind its local header."""
        at = max(0, info.header_offset)
        name, extra = struct.unpack("<HH", self._data[at + 26 : at + 30])
        begin = at + 30 + name + extra
        named = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")  # as in the directory
        if bytes(self._data[at + 30 : at + 30 + name]) != named:
            raise MalformedResult(f"is a damaged archive: its {info.filename} has another name in its directory")
        return self._data[begin : begin + info.compress_size]


def _inflated(packed: memoryview, method: int, size: int) -> bytes | None:
    """At most one byte more than the declared size; None if there are too many frames."""
    if method == ZIP_STORED:
        return bytes(packed[: size + 1])
    if method == ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    return _from_zstd(packed, size + 1)


def _from_zstd(packed: memoryview, limit: int) -> bytes | None:
    """At most `limit` bytes of one frame after another."""
    out, at, frames = bytearray(), 0, 0
    frame = _frame()
    while at < len(packed) and len(out) < limit:
        block = packed[at : at + BLOCK]
        at += len(block)
        out += frame.decompress(block, limit - len(out))
        while not (frame.eof or frame.needs_input) and len(out) < limit:
            out += frame.decompress(b"", limit - len(out))
        if frame.eof:
            at -= len(frame.unused_data)
            frames, frame = frames + 1, _frame()
        if frames > MAX_FRAMES:
            return None
    return bytes(out)


def _frame() -> ZstdDecompressor:
    return ZstdDecompressor(options={DecompressionParameter.window_log_max: WINDOW})
