"""What is remembered of a watch beside the tables: typed values, each under its kind, target and subject, as JSON.

This is the whole schema. A change of it needs a new `VERSION` in `tables.py`, which empties older states.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from bot.evaluation.evidence import EvidenceWord
from bot.publishing.decisions import Place, RowDecision
from bot.publishing.models import UNKNOWN, ModelFacts

T = TypeVar("T")


class Memory(Generic[T]):
    """One kind of what is remembered: its name in the state, and the type of its values."""

    def __init__(self, name: str, kind: type[T]) -> None:
        self.name = name
        self.decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)


class SourceRead(msgspec.Struct, frozen=True):
    """The commit up to which a source was read, the files selected, and digests of what decides and of the forms."""

    commit: str
    selection: str = ""
    definition: str = ""
    forms: str = ""


class PassEnd(msgspec.Struct, frozen=True):
    """How the last pass ended, for other processes. `at` is its end, `settled` and `reached` are as in `State`."""

    at: float
    settled: float | None = None
    failure: str = ""
    reached: float | None = None


class KnownWaivers(msgspec.Struct, frozen=True):
    """The waivers that the bot's answers record, and the maintainers for whom they were read."""

    waivers: list[dict[str, Any]]
    maintainers: list[str] | None = None


class ReviewsListed(msgspec.Struct, frozen=True):
    """When the requests at the source were listed, and how many there were."""

    at: float
    count: int


class ReviewState(msgspec.Struct, frozen=True):
    """The remembered state of a review.

    `seen` is its head and how many comments the list counted when it was marked last: while both are the same, nothing
    is asked. `memo` stands for the conversation and `basis` for the source, the board and the rules that its text was
    made of; `said` is the digest of that text, "" if nothing was said.
    """

    seen: str = ""
    memo: str = ""
    said: str = ""
    basis: str = ""


class KnownModel(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the Hub said of a model, and when it was asked.

    `head` is the commit at its main branch, "" if that is not known, and `since` the day on which it was first seen.
    """

    at: float = 0.0
    head: str = ""
    since: str = ""
    facts: ModelFacts = UNKNOWN


class SeenRepository(msgspec.Struct, frozen=True):
    """The id of a target's repository, and the commit at its main branch in the last pass."""

    id: str
    head: str


class KeptLedger(msgspec.Struct, frozen=True):
    """The last ledger of a target: its line, the first declined rows, how many are unexplained.

    `waiting` counts those of the unexplained that the bot tries by itself. It was made `at` this time, and making those
    of all targets `took` so many seconds. `requests` says in words what waits to be merged.
    """

    line: str
    unexplained: int
    waiting: int = 0
    declined: list[str] = []
    at: float = 0.0
    took: float = 0.0
    requests: str = ""
    head: str = ""


class ModelPlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the results of a model were at the last look, or why they are nowhere."""

    place: Place | None = None
    refused: str = ""


# Times are Unix seconds.
# of the watch
SOURCE = Memory("source", SourceRead)
LAST_PASS = Memory("pass", PassEnd)
MOVED = Memory("moved", float)  # when an item was last brought in step, give or take ten seconds
CLOCK = Memory("clock", float)  # when the last pass ended
RECOUNT = Memory("recount", float)  # when the ledgers are made anew, there if something happened since they were made
FAILURES = Memory("failures", list[str])  # the causes of the failures of the last pass
SWEPT = Memory("swept", int)  # the day of the last search for duplicates
WAIVED = Memory("waived", KnownWaivers)
REVIEWS = Memory("reviews", ReviewsListed)
SITE = Memory("site", str)  # where the web site was written last
MODELS_ASKED = Memory("models asked", float)  # when the Hub was last asked about models
MODELS_MOVED = Memory("models moved", float)  # when anything new was last learned of them
# of the watch, by subject
REVIEW = Memory("review", ReviewState)  # by number of a request at the source
DISCUSSION = Memory("discussion", int)  # by number of a discussion about a push: how many comments were answered
ANSWERED = Memory("commands", list[float])  # by account: when its commands of the last hour were answered
MODEL = Memory("model", KnownModel)  # by model
TARGET = Memory("target", str)  # by address: a digest of the settings that decide about its rows
# of a target
REPOSITORY = Memory("repository", SeenRepository)
BOARD = Memory("board", str)  # the commit that the board was rebuilt from
SHOWN_EVIDENCE = Memory("shown evidence", dict[str, EvidenceWord])  # by key of a row of which a run says more
TABLE = Memory("table", str)  # the commit of main at which the written rows were compared
FIRST_WRITE = Memory("first write", float)  # when the bot learned that it may write to models
DECLINES = Memory("declines", list[str])  # the accounts for which the declined rows were read
LEDGER = Memory("ledger", KeptLedger)
PLAN_DISCUSSION = Memory("plan discussion", str)  # the address where people answer the plan that waits
PLAN_COMMENT = Memory("plan comment", float)  # since when the comment about plans is to be looked at after a sweep
PLAN_COMMENTS = Memory("plan comments", list[str])  # the ids of the comments that approved or declined a plan
# of a target, by subject
MODEL_PLACE = Memory("model place", ModelPlace)  # by model
REQUEST = Memory("request", int)  # by number of a request of the bot: how many comments were read
DECIDED = Memory("decided", list[RowDecision])  # by key of a row: what people decided about it
