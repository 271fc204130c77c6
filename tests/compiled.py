"""Statements of the state that are compiled for one SQLite file serve for all.

SQLAlchemy keeps what it compiled with the engine, and almost every story has a file, and so an engine, of its own.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

COMPILED: dict[Any, Any] = {}


class SharingDialect(SQLiteDialect_pysqlite):
    """SQLAlchemy's own, but that all of them are one to the cache."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharingDialect)

    def __hash__(self) -> int:
        return hash(SharingDialect)

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        engine.update_execution_options(compiled_cache=COMPILED)


registry.register("sqlite", __name__, SharingDialect.__name__)
