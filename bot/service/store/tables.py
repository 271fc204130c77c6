"""The tables of the state. Losing them costs one full reading of the sources, never an entry."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    text,
)

from bot.service.store.database import Words

VERSION = 22  # a state of another version is emptied: that costs one full reading
metadata = MetaData()


def key(name: str) -> Column[str]:
    """A column of the primary key."""
    return Column(name, Words, primary_key=True)


def only(condition: str) -> dict[str, Any]:
    """An index of the rows that have this condition."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


# The form of these tables; a state without this table, or with another version in it, is emptied.
form = Table("form", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

# What is remembered of a watch by its kind, see `memory.py`; the value is JSON.
memories = Table(
    "memories",
    metadata,
    key("watch"),
    key("kind"),
    key("target"),
    key("subject"),
    Column("value", Words, nullable=False),
    Index("memories_of_all", "watch", **only("subject = ''")),
)

# The files of a source at the commit that is remembered.
files = Table(
    "files",
    metadata,
    key("watch"),
    key("path"),
    Column("folder", Words, nullable=False),
    Column("oid", Words, nullable=False),
    Column("size", BigInteger, nullable=False),
    Index("files_by_folder", "watch", "folder"),
)

# The outcome of each submission; `data` is its parsed content, so that a changed declaration reads nothing again.
submissions = Table(
    "submissions",
    metadata,
    key("watch"),
    key("path"),
    Column("folder", Words, nullable=False),
    Column("key", Words),
    Column("reading", Words),  # the model of the key as a reader sees it
    Column("status", Words, nullable=False),
    Column("why", Words, nullable=False),
    Column("oid", Words, nullable=False),
    Column("commit", Words, nullable=False),
    Column("committed", Float),
    Column("data", LargeBinary, nullable=False),
    Index("submissions_by_key", "watch", "key"),
    Index("submissions_by_reading", "watch", "reading"),
    Index("submissions_by_folder", "watch", "folder"),
    Index("submissions_by_status", "watch", "status", "path"),
    Index("submissions_by_path", "watch", "path", "status", "key", "why"),  # a search reads this, and no row
)

# The digest of each row that the submissions make, "" for a row that they make no longer. `peer` is what others are
# compared with, NULL where nothing is made.
rows = Table(
    "rows",
    metadata,
    key("watch"),
    key("key"),
    Column("digest", Words, nullable=False),
    Column("is_incomplete", Boolean, nullable=False, default=False),
    Column("peer", LargeBinary),
)
# What rows that are alike share, see `Fingerprint.marks`; of each mark the rows in the order in which they came.
row_marks = Table(
    "row_marks",
    metadata,
    key("watch"),
    key("mark"),
    Column("came", Float, primary_key=True),
    Column("measured", Float, primary_key=True),
    key("key"),
    sqlite_with_rowid=False,
)

# The cells that the bot wrote into tables last, by row, and the cells that were there before.
published = Table(
    "published",
    metadata,
    key("watch"),
    key("target"),
    key("key"),
    Column("entry", LargeBinary, nullable=False),
    Column("earlier", LargeBinary),
)

# The items that may be out of date.
items = Table(
    "items",
    metadata,
    key("watch"),
    key("kind"),
    key("target"),
    key("subject"),
    Column("cause", Words, nullable=False, default="push"),
    Column("is_held", Boolean, nullable=False, default=False),
    Column("marked", Integer, nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("since", Float, nullable=False),
    Column("due", Float, nullable=False),
    Column("reason", Words, nullable=False, default=""),
    Index("items_by_due", "watch", "kind", "is_held", "cause", "due"),
    Index("items_by_state", "watch", "is_held", "attempts", "kind", "due"),
    Index("items_of_all", "watch", "kind", **only("subject = ''")),
)

# Plans that wait for a person, one for each target at most.
plans = Table(
    "plans",
    metadata,
    key("watch"),
    key("target"),
    Column("digest", Words, nullable=False),
    Column("is_approved", Boolean, nullable=False, default=False),
    Column("is_declined", Boolean, nullable=False, default=False),
    Column("since", Float, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# The board that stood at each target when its table was last rebuilt, with its rows and what changed, for the pages.
boards = Table(
    "boards",
    metadata,
    key("watch"),
    key("target"),
    Column("head", Words, nullable=False),
    Column("leaderboard", Words, nullable=False),
    Column("declaration", Words, nullable=False),
)
board_rows = Table(
    "board_rows",
    metadata,
    key("watch"),
    key("target"),
    key("key"),
    Column("digest", Words, nullable=False),
    Column("row", Words, nullable=False),
    Column("reading", Words, nullable=False),  # the model of the key as a reader sees it
    Column("measured", Words, nullable=False),
    Column("average", Float),  # NULL without a rank
    Column("stderr", Float),
    Column("data", LargeBinary, nullable=False),
    Index("board_rows_by_average", "watch", "target", "average", "stderr", "key"),
    Index("board_rows_by_reading", "watch", "reading"),
)
# The sample logs that the rows of a board name, by leaf.
board_logs = Table(
    "board_logs",
    metadata,
    key("watch"),
    key("target"),
    key("key"),
    key("leaf"),
    Column("format", Words, nullable=False),
    Column("sha256", Words, nullable=False),
    Column("documents", Words, nullable=False),
    Column("prompts", Words, nullable=False),
    Column("scoring", Words, nullable=False),
    Column("samples", Integer, nullable=False),
    Index("board_logs_by_sha256", "watch", "sha256"),
)
# The same for the rows of a board.
board_marks = Table(
    "board_marks",
    metadata,
    key("watch"),
    key("target"),
    key("key"),
    key("mark"),
    Index("board_marks_by_mark", "watch", "mark", "key"),
)
board_changes = Table(
    "board_changes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("watch", Words, nullable=False),
    Column("target", Words, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index("board_changes_by_target", "watch", "target"),
)

# The index of the rows on the main branch of each target: its commit, and each file in the folder of rows.
row_indexes = Table("row_indexes", metadata, key("target"), Column("at", Words, nullable=False))
indexed_rows = Table(
    "indexed_rows",
    metadata,
    key("target"),
    key("path"),
    Column("oid", Words, nullable=False),
    Column("data", LargeBinary),  # NULL for what is no entry
)

# What is remembered of a repository's discussions and requests that we opened, by number.
requests = Table(
    "requests",
    metadata,
    key("target"),
    Column("num", Integer, primary_key=True, autoincrement=False),
    Column("kind", Words, nullable=False),
    Column("mark", Words, nullable=False),  # its SHA-256
    Column("is_open", Boolean, nullable=False),
    Column("data", Words, nullable=False),
    Index("requests_by_mark", "target", "kind", "mark"),
    Index("requests_by_state", "target", "kind", "is_open", "num"),
)

# What was read of each open request at the source, by number.
proposals = Table(
    "proposals",
    metadata,
    key("watch"),
    Column("num", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

# What happened, for the page.
outcomes = Table(
    "outcomes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("watch", Words, index=True, nullable=False),
    Column("at", Float, nullable=False),
    Column("outcome", Words, nullable=False),
    Column("subject", Words, nullable=False),
    Column("text", Words, nullable=False),
)

# What a service answered before.
answers = Table(
    "answers",
    metadata,
    key("question"),
    Column("answer", Words, nullable=False),
    Column("until", Float),
)

# What a process is about to write, until it knows that it landed; Unix seconds.
intents = Table("intents", metadata, key("name"), Column("holder", Words, nullable=False), Column("until", Float))
