"""Finds signs that a program writes a table: its next run would remove an edit, so the edit is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from bot.errors import Unwritable
from bot.publishing.tables.mapping import TableFormat
from bot.publishing.tables.markdown_sheet import MarkdownSheet
from bot.publishing.tables.sheet import Sheet
from bot.publishing.yaml_text import load

WORKFLOWS = ".github/workflows"
HEAD = 2_000  # characters at the top of a file in which it says where it comes from
HTML_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
LINE_COMMENT = re.compile(r"^[ \t]*#(.*)$", re.MULTILINE)
HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
SAID = re.compile(r"auto-?(matically )?generated|generated (by|from|automatically)|(do not|don't) edit", re.IGNORECASE)
TAG = re.compile(r"<[a-zA-Z/][^<>]*>")
SORT_KEY = "@@"
PUSHES = re.compile(r"git\s+push|git-auto-commit|create-pull-request|add-and-commit|github-push")
HINT = "set hand_edited = true if people edit it all the same"


def check_not_generated(path: str, sheet: Sheet, written: TableFormat, workflows: Mapping[str, bytes]) -> None:
    """Raise Unwritable where a program seems to write the table.

    `workflows` are the files in `.github/workflows` of the repository, where it has any: one that names the file and
    pushes is taken for its writer.
    """
    said = next((found for found in _comments(sheet, written) if SAID.search(found)), None)
    if said is not None:
        raise Unwritable(f"it says that it is generated ({' '.join(said.split())[:80]!r}); {HINT}")
    if any(TAG.search(way[0]) for way in sheet.ways):
        raise Unwritable(f"it has HTML in the name of a column, as generated tables have; {HINT}")
    for way in sheet.ways:
        cells = (sheet.cell(row, way) for row in range(len(sheet)))
        if any(isinstance(cell, str) and SORT_KEY in cell for cell in cells):
            raise Unwritable(f"it has sort keys ({SORT_KEY}) in its cells, as generated tables have; {HINT}")
    writer = next((name for name, data in sorted(workflows.items()) if _writes(data, path)), None)
    if writer is not None:
        raise Unwritable(f"{writer} names {path} and pushes, so it seems to write it; {HINT}")


def _comments(sheet: Sheet, written: TableFormat) -> Iterator[str]:
    """The comments that are about the table: of a Markdown file only those between its heading and the table."""
    if isinstance(sheet, MarkdownSheet):
        yield from HTML_COMMENT.findall(HEADING.split(sheet.above)[-1])
    elif written in {"csv", "yaml"}:
        yield from LINE_COMMENT.findall(sheet.text[:HEAD])


def _writes(data: bytes, path: str) -> bool:
    """Whether the jobs of a workflow name a file and push; what starts a workflow names files without writing them."""
    try:
        workflow = load(data.decode("utf-8", "replace"))
    except Unwritable:
        return False
    jobs = str(workflow.get("jobs", "")) if isinstance(workflow, dict) else ""
    name = re.escape(PurePosixPath(path).name)
    return bool(re.search(rf"(?<![\w.-]){name}(?![\w-])", jobs) and PUSHES.search(jobs))
