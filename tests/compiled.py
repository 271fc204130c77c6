"""What is compiled for the SQLite file of one state serves for all, and no disk is waited for.

SQLAlchemy keeps what it compiled with the engine, and almost every story has a file, and so an engine, of its own.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.base import SQLiteDDLCompiler
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.schema import ExecutableDDLElement

COMPILED: dict[Any, Any] = {}
DEFINED: dict[Any, SQLiteDDLCompiler] = {}


class Unsynced(sqlite3.Connection):
    """Leaves it to the system when bytes reach the disk: they outlive a process that is killed, which tests do."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return super().execute("PRAGMA synchronous=OFF" if sql == "PRAGMA synchronous=NORMAL" else sql, *values)


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

    @staticmethod
    def ddl_compiler(dialect: SharingDialect, statement: ExecutableDDLElement, **how: Any) -> SQLiteDDLCompiler:
        place = type(statement), statement.element  # what is created or dropped
        if place not in DEFINED:
            DEFINED[place] = SQLiteDDLCompiler(dialect, statement, **how)
        return DEFINED[place]

    def connect(self, *args: Any, **how: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = super().connect(*args, factory=Unsynced, **how)
        connection.execute("PRAGMA synchronous=OFF")
        return connection


registry.register("sqlite", __name__, SharingDialect.__name__)
