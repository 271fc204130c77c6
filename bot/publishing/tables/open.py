"""Open the bytes of a file as the kind of table that the settings name."""

from __future__ import annotations

from bot.errors import Unwritable
from bot.publishing.tables.csv_sheet import CsvSheet, separator_of
from bot.publishing.tables.json_sheet import JsonSheet
from bot.publishing.tables.jsonl_sheet import JsonLinesSheet
from bot.publishing.tables.mapping import TableOptions
from bot.publishing.tables.markdown_sheet import MarkdownSheet
from bot.publishing.tables.sheet import Sheet
from bot.publishing.tables.yaml_sheet import YamlSheet

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST = 20_000_000  # bytes of a table
POINTER = b"version https://git-lfs.github.com/spec/"


def check_bytes(data: bytes) -> None:
    """Raise Unwritable for a file that is too large, or that is only a pointer to one."""
    if data.startswith(POINTER):
        raise Unwritable("it is a pointer of Git LFS, and not the table itself")
    if len(data) > LARGEST:
        raise Unwritable(f"it has {len(data):,} bytes, and the limit is {LARGEST:,}")


def open_sheet(data: bytes, options: TableOptions) -> Sheet:
    """The table in a text file. Raises Unwritable if it is none."""
    check_bytes(data)
    try:
        text = data.removeprefix(BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        raise Unwritable("it is not UTF-8 text") from None
    key = options.way(options.key[0])[0] if options.keyed else None
    names = frozenset(options.way(label)[0] for label in options.columns)
    match options.table_format:
        case "json":
            return JsonSheet(text, options.at, key)
        case "jsonl":
            return JsonLinesSheet(text)
        case "yaml":
            return YamlSheet(text, options.at, key)
        case "csv":
            return CsvSheet(text, separator_of(text, names))
        case "markdown":
            return MarkdownSheet(text, options.at, names)
        case other:
            raise Unwritable(f"{other} is not a format of text")


def to_bytes(text: str, before: bytes) -> bytes:
    """A text as a file, with a byte order mark where the file had one."""
    mark = BYTE_ORDER_MARK if before.startswith(BYTE_ORDER_MARK) else b""
    return mark + text.encode()
