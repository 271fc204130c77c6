"""One evaluation as measured, whatever file it came from; the readers in formats/ make it, rules and scores read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bot.leaderboard import Format


class Model(msgspec.Struct, frozen=True, gc=False):
    """Which model was measured, as far as the file says.

    `id` and `revision` are "" where the file names none, `precision` is a dtype such as "bfloat16" or a quantization
    such as "4bit", `source` the harness's model class ("hf", "vllm"), `args` its arguments as one text. `is_named` says
    that the arguments named a model: where they name none, the harness makes up eight random characters.
    """

    id: str = ""
    revision: str = ""
    precision: str = ""
    chat_template: bool = False
    source: str = ""
    args: str = ""
    requested_revision: str = ""
    is_named: bool = False


class Measured(msgspec.Struct, frozen=True, gc=False):
    """What measured: `git_hash` and `version` are None where the file does not say."""

    name: str
    git_hash: str | None = None
    version: str | None = None
    repository: str | None = None


class LeafResult(msgspec.Struct, frozen=True, gc=False):
    """One task that was run: its row of numbers as in the file (nothing checked), and what was recorded of the run.

    `samples` is the number of samples that were scored, `original` the size of the task; None where not recorded.
    """

    numbers: Mapping[str, Any]
    num_fewshot: int | None = None
    version: float | str | None = None
    samples: int | None = None
    original: int | None = None


class Result(msgspec.Struct, frozen=True, gc=False):
    """One result file after its reader.

    `leaves` holds every row of results that is no group, by its key in the format; `groups` the rows that are
    aggregates, first as `results` has them, then as `groups` has them; `subtasks` the members of each group.
    `pointer` is where rows stand in the file, `original_keys` the keys there where they are spelled otherwise.
    """

    format: Format
    model: Model
    harness: Measured
    leaves: Mapping[str, LeafResult]
    limit: float | None = None
    date: float | None = None
    groups: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()
    subtasks: Mapping[str, tuple[str, ...]] = {}
    task_hashes: Mapping[str, str] = {}
    pointer: str = "/results"
    original_keys: Mapping[str, str] = {}

    def pointer_to(self, leaf_key: str, *more: str) -> str:
        """The JSON pointer of a row of results, or of something inside it."""
        key = self.original_keys.get(leaf_key, leaf_key)
        return self.pointer + "".join(f"/{escape_pointer(part)}" for part in (key, *more))

    def pointer_beside(self, part: str, leaf_key: str) -> str:
        """The JSON pointer of what another part of the file, such as `versions`, says of a row."""
        return f"/{part}/{escape_pointer(self.original_keys.get(leaf_key, leaf_key))}"


def escape_pointer(part: str) -> str:
    """One reference token of a JSON pointer (RFC 6901, section 3)."""
    return part.replace("~", "~0").replace("/", "~1")
