"""Rows that the safety catch allowed and that wait to be published, perhaps by another process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class RowJob(msgspec.Struct, frozen=True):
    """One row at one target that may be published as it was looked at.

    `marked` is the count of its item, and `admitted` what the safety catch let through: where either is another by
    then, the row goes back to the next pass.
    """

    watch: str
    target: str
    subject: str
    marked: int
    admitted: str


class RowQueue(Protocol):
    """Where such rows wait."""

    def rows_waiting(self, watch: str, target: str) -> set[str]:
        """The rows that a worker has, or will take."""
        ...

    def put_rows(self, jobs: Sequence[RowJob]) -> bool:
        """Leave rows to the workers; False if there may be none, and the caller publishes them itself."""
        ...
