"""The files of one submission, each decoded only once for all formats."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from bot.errors import MalformedResult
from bot.evaluation.formats.document import Document, parse_document, parse_loosely


class Content:
    """The bytes of a submission: one file, or the files of a run's folder by their names in it."""

    def __init__(self, files: Mapping[str, bytes], path: str = "") -> None:
        self.files, self.path = files, path

    @property
    def data(self) -> bytes:
        """The bytes of the first file, which is the only one unless the format is a folder."""
        return next(iter(self.files.values()), b"")

    @cached_property
    def start(self) -> bytes:
        """The first bytes of the first file, after white space."""
        return self.data[:100].lstrip()

    @cached_property
    def document(self) -> Document:
        """The first file as a result file of lm-eval or the like. Raises MalformedResult if it is not a JSON object."""
        return parse_document(self.data)

    @property
    def decoded(self) -> Document | None:
        """The document, where a format has looked at it already and it is the only file."""
        return self.__dict__.get("document") if len(self.files) == 1 else None

    @cached_property
    def value(self) -> Any:
        """The first file as plain JSON values. Raises MalformedResult."""
        return parse_loosely(self.data)

    def json(self, name: str) -> Any:
        """One file of a run's folder as plain JSON values. Raises MalformedResult, which then names the file."""
        try:
            return parse_loosely(self.files[name])
        except MalformedResult as error:
            raise MalformedResult(f"holds a {name} that {error.why}") from None
