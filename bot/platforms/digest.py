"""Check that bytes match an object id: git's SHA-1 of a blob, or the SHA-256 of large-file storage."""

from __future__ import annotations

import hashlib
import re

from bot.errors import Unavailable

OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def blob_id(data: bytes) -> str:
    """The id that git gives to a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def is_content(data: bytes, oid: str) -> bool:
    """Tell whether an object id names these bytes; 64 digits are a SHA-256, 40 are git's."""
    return (hashlib.sha256(data).hexdigest() if len(oid) == 64 else blob_id(data)) == oid


def check_content(data: bytes, oid: str | None, service: str, where: str) -> bytes:
    """Return the bytes if they match the object id, or if there is no id. Raises Unavailable for other bytes."""
    if oid is not None and OBJECT_ID.fullmatch(oid) and not is_content(data, oid):
        raise Unavailable(service, f"{where}: {len(data):,} bytes arrived that are not those of object {oid[:12]}")
    return data
