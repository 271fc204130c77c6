"""The tables of the state. Losing them costs one full reading of the sources, never an entry."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

VERSION = 2  # a state of another version is emptied: that costs one full reading
metadata = MetaData()


def key(name: str) -> Column[str]:
    """A column of the primary key."""
    return Column(name, String, primary_key=True)


# How far something was read, such as the source's commit of a watch.
cursors = Table("cursors", metadata, key("watch"), key("subject"), Column("value", Text, nullable=False))

# The files of a source at the commit of its cursor.
files = Table(
    "files",
    metadata,
    key("watch"),
    key("path"),
    Column("folder", String, nullable=False),
    Column("oid", String, nullable=False),
    Column("size", Integer, nullable=False),
    Index("files_by_folder", "watch", "folder"),
)

# What each submission came to; `data` is what was read, so that a changed declaration reads nothing again.
submissions = Table(
    "submissions",
    metadata,
    key("watch"),
    key("path"),
    Column("folder", String, nullable=False),
    Column("key", String),
    Column("status", String, nullable=False),
    Column("oid", String, nullable=False),
    Column("commit", String, nullable=False),
    Column("committed", Float),
    Column("data", LargeBinary, nullable=False),
    Index("submissions_by_key", "watch", "key"),
    Index("submissions_by_folder", "watch", "folder"),
)

# The digest of each row that the submissions make, "" for a row that they make no longer.
rows = Table("rows", metadata, key("watch"), key("key"), Column("digest", String, nullable=False))

# What may be out of step.
items = Table(
    "items",
    metadata,
    key("watch"),
    key("kind"),
    key("target"),
    key("subject"),
    Column("cause", String, nullable=False, default="push"),
    Column("is_held", Boolean, nullable=False, default=False),
    Column("marked", Integer, nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("since", Float, nullable=False),
    Column("due", Float, nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Index("items_by_due", "watch", "kind", "due"),
)

# Plans that wait for a person, one for each target at most.
plans = Table(
    "plans",
    metadata,
    key("watch"),
    key("target"),
    Column("digest", String, nullable=False),
    Column("is_approved", Boolean, nullable=False, default=False),
    Column("since", Float, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

# What is known of a repository's requests and discussions, by number.
requests = Table(
    "requests",
    metadata,
    key("target"),
    Column("num", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)

# What happened, for the page.
outcomes = Table(
    "outcomes",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("watch", String, index=True, nullable=False),
    Column("at", Float, nullable=False),
    Column("outcome", String, nullable=False),
    Column("subject", Text, nullable=False),
    Column("text", Text, nullable=False),
)

# What a service answered before.
answers = Table(
    "answers",
    metadata,
    key("question"),
    Column("answer", Text, nullable=False),
    Column("until", Float),
)
