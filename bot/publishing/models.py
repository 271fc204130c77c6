"""What is known beside a row and is in no entry: size, licence, type and base of its model; the result of `verify`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from bot.errors import CallError
from bot.evaluation.result import model_size

LONGEST_FACT = 100  # characters of a licence or of a model's name
RELATIONS = {"finetune": "fine-tuned", "merge": "merge", "adapter": "adapter", "quantized": "quantized"}
COLUMNS = ("params", "licence", "model_type", "base_model", "looked_up")
VERIFIED_COLUMNS = ("verify_outcome", "verify_date")
VERIFIED_SCHEMA = "leaderboard-bot/verified/1"
SIZE = re.compile(
    r"(?<![a-z0-9.])(?<!\d_)(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z0-9])", re.IGNORECASE
)  # not 8x7B, v9_2_14B
UNITS = {"B": 1e9, "M": 1e6}
CONTEXT = ("1", "M")  # the length of a context, as in Qwen2.5-14B-Instruct-1M
ODD = 1.6  # on the published Open LLM Leaderboard v2, models named 2B have up to 1.58 times as many parameters


class ModelFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The facts of one model; "" and None where nobody knows.

    `params` is the number of parameters. `kind` says how the model was made from `base`, such as "fine-tuned". `date`
    is the day on which the Hub was asked, "" if only the result file says something.
    """

    params: int | None = None
    licence: str = ""
    kind: str = ""
    base: str = ""
    date: str = ""


UNKNOWN = ModelFacts()

# Licences that the Open Source Initiative approved, and public domain or attribution alone, as the Hub spells them.
OPEN_LICENCES = frozenset(
    """
    afl-3.0 agpl-3.0 apache-2.0 artistic-2.0 bsd bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0
    cc0-1.0 cc-by-4.0 cc-by-sa-4.0 ecl-2.0 epl-1.0 epl-2.0 eupl-1.1 eupl-1.2 gpl gpl-2.0 gpl-3.0 isc
    lgpl lgpl-2.1 lgpl-3.0 mit mpl-2.0 ms-pl mulanpsl-2.0 ncsa ofl-1.1 osl-3.0 postgresql unlicense zlib
    """.split()  # noqa: SIM905 - read as a list of words
)


class Verified(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `verify` said of one row: its outcome with the reason, the day, and `row`, the digest of the row it saw."""

    key: str
    outcome: str
    date: str
    row: str
    why: str = ""


class VerifiedRecord(msgspec.Struct, frozen=True):
    """What `verify --out` writes: all rows of one run."""

    schema: str
    rows: tuple[Verified, ...]


def read_verified(data: bytes) -> dict[str, Verified]:
    """The rows of a record by their keys. Raises CallError for other bytes."""
    try:
        record = msgspec.json.decode(data, type=VerifiedRecord)
    except (msgspec.DecodeError, RecursionError):
        record = None
    if record is None or record.schema != VERIFIED_SCHEMA:
        raise CallError(f"is no record of verify --out ({VERIFIED_SCHEMA})")
    return {one.key: one for one in record.rows}


def facts_from_tags(tags: Iterable[str], params: int | None, date: str) -> ModelFacts:
    """The facts that the tags of a model's page on the Hub say, such as `license:mit` and `base_model:merge:org/x`."""
    licence, kind, base = "", "", ""
    for tag in tags:
        name, _, value = tag.partition(":")
        if name == "license" and not licence:
            licence = value[:LONGEST_FACT]
        if name == "base_model":
            relation, _, model = value.rpartition(":")
            base = base or model[:LONGEST_FACT]
            kind = kind or RELATIONS.get(relation, "")
    return ModelFacts(model_size(params), licence, kind, base, date)


def with_file(facts: ModelFacts, params: int | None) -> ModelFacts:
    """The facts with the size that the result file states, if any: that is the size of what was measured."""
    return facts if params is None else msgspec.structs.replace(facts, params=params)


def billions(params: int) -> str:
    """A number of parameters in billions, for people, to three digits: `70`, `7.24`, `0.0931`."""
    size = params / 1e9
    return f"{size:.0f}" if size >= 1000 else f"{size:.3g}"


def other_size(model: str, params: int | None) -> str:
    """The size in a model's name, such as "14B" or "278M", where it differs much from what was counted; else ""."""
    found = [(number, unit.upper()) for number, unit in SIZE.findall(model.rpartition("/")[2])]
    named = [one for one in found if one[1] == "B"] or [one for one in found if one != CONTEXT]
    size = float(named[0][0]) * UNITS[named[0][1]] if len(named) == 1 else 0.0
    if not size or not params or max(size, params) < ODD * min(size, params):
        return ""
    return "".join(named[0])


def fact_columns(facts: ModelFacts) -> Mapping[str, Any]:
    """The facts by the columns of a board's CSV; None where nobody knows."""
    values = (facts.params, facts.licence, facts.kind, facts.base, facts.date)
    return {name: value or None for name, value in zip(COLUMNS, values, strict=True)}


def verified_columns(verified: Verified | None) -> Mapping[str, Any]:
    """What `verify` said of a row, by the columns of a board's CSV; None where it was not asked."""
    values = (verified.outcome, verified.date) if verified else (None, None)
    return dict(zip(VERIFIED_COLUMNS, values, strict=True))
