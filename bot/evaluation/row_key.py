"""The key of a row: the model and settings that it is about, and its name in paths and texts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

import msgspec

from bot.evaluation.result import Model

LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
PLAIN = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")  # nothing of it is encoded, but for a last `.lock`
NO_ORGANIZATION = "_"
UNPINNED, UNKNOWN, CHAT = "unpinned", "unknown", "chat"
LONGEST_FOLDER = 200  # bytes of a folder's name
LONGEST_PART = 90  # bytes of a revision or a precision: both, "-chat" and ".json" stay below 200 together
SHORT, WHOLE = 7, 40  # hexadecimal digits of a commit as git shortens it, and of a whole one
COMMIT = re.compile(f"[0-9a-f]{{{SHORT},{WHOLE}}}")
DIGEST = 32  # hexadecimal digits that replace the cut part


class RowKey(msgspec.Struct, frozen=True, order=True, dict=True, cache_hash=True):
    """The identity of a row; two rows with the same text are one.

    `model` is the id as the result has it, `precision` a dtype, a quantization or "". `revision` is a full commit id,
    the branch that was asked for, a text from a mapping of folders, the day on which a served model was measured, or
    "".
    """

    leaderboard: str
    model: str
    revision: str
    precision: str
    chat_template: bool

    @cached_property
    def text(self) -> str:
        """`<leaderboard>/<org>/<model>/<revision>-<precision>[-chat]`, injective and safe as a path and a git branch.

        What is not `[A-Za-z0-9._-]` is percent-encoded, and so is a dot that would lead, end, follow another dot or
        begin a last `.lock`. A model without an organization lies below `_`; of one with several slashes the first part
        is the organization. No revision is `unpinned`, no precision `unknown`. A name of more than 200 bytes is cut and
        ends in `%_` and a digest of the whole. Where case is ignored, as on some file systems, the texts of two rows
        are equal only if the rows differ in case alone, see `twins`.
        """
        org, name = owner_and_name(self.model)
        folders = [
            _name(self.leaderboard),
            _name(org, reserved=NO_ORGANIZATION) if org else NO_ORGANIZATION,
            _name(name, reserved=NO_ORGANIZATION) if name else NO_ORGANIZATION,
        ]
        parts = [
            _part(self.revision, UNPINNED),
            _part(self.precision, UNKNOWN),
            *([CHAT] if self.chat_template else []),
        ]
        return "/".join([*folders, "-".join(parts)])

    def __str__(self) -> str:
        return self.text


def owner_and_name(model: str) -> tuple[str, str]:
    """The organization of a model, "" if its id has none, and its name, which may have slashes."""
    owner, _, name = model.partition("/")
    return (owner, name) if owner and name else ("", model)


def key_start(leaderboard: str) -> str:
    """The begin of the keys of all rows of this leaderboard, and of no other's."""
    return f"{_name(leaderboard)}/"


def model_folder(key: str) -> str:
    """The leaderboard and the model in a key: what the keys of all rows of one model begin with, before a slash."""
    return key.rpartition("/")[0]


def may_be_one(key: str, other: str) -> bool:
    """Tell whether two keys of one model differ only in what a file may not say.

    One lacks the revision or the precision of the other; that of a file which says nothing of a chat template is like
    that of one without any.
    """
    (revision, precision), (their_revision, their_precision) = (_settings(one) for one in (key, other))
    is_near = revision == their_revision or UNPINNED in {revision, their_revision}
    return is_near and (precision == their_precision or UNKNOWN in {precision, their_precision})


def _settings(key: str) -> list[str]:
    return key.rpartition("/")[2].split("-")[:2]


def model_in(key: str) -> str:
    """The id of the model that a key is about; of a name that was cut, what is left of it."""
    return "/".join(unquote(part) for part in key.split("/")[1:-1] if part != NO_ORGANIZATION)


def reading_of(key: str) -> str:
    """The leaderboard and the model of a key as a reader sees them, without case, spaces and marks that nobody sees.

    Compatibility forms of Unicode count as one, such as full-width letters; letters of other scripts that look alike do
    not. A name of more than 200 bytes is known by its digest, and stays as it is.
    """
    return _read(model_folder(key).split("/"))


def twins(rows: Iterable[tuple[Any, str]]) -> dict[str, str]:
    """For each key that a reader cannot tell from an earlier one, that earlier one; rows are (when it came, key).

    Such a key spells the model otherwise, at any revision, or the settings of the same model.
    """
    models: dict[str, list[str]] = {}
    like: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)  # commits by their first digits
    found: dict[str, str] = {}
    for _, key in sorted(rows):
        models.setdefault(reading_of(key), []).append(key)
    for first, key in [(keys[0], key) for keys in models.values() if len(keys) > 1 for key in dict.fromkeys(keys)]:
        if model_folder(first) == model_folder(key):
            revision, *others = _parts(key)
            near = like[revision[:SHORT] if COMMIT.fullmatch(revision) else revision, *others]
            known = next((known for known, other in near if _is_one(revision, other)), key)
            near += [(key, revision)] if known == key else []
        else:
            known = first
        if known != key:
            found[key] = known
    return found


def _is_one(one: str, other: str) -> bool:
    """Tell whether two revisions are equal, or one is a whole commit and the other a shortening of it."""
    short, whole = sorted((one, other), key=len)
    return one == other or (len(whole) == WHOLE and whole.startswith(short))


def _parts(key: str) -> list[str]:
    """The revision of a key as a reader sees it, and the rest that must be equal: the model, and the other settings."""
    model, _, last = key.rpartition("/")
    revision, *others = (_read([part]) for part in last.split("-"))
    return [revision, model, *others]


def _read(parts: Iterable[str]) -> str:
    return "\n".join([_seen(unquote(part)) for part in parts])


def _seen(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text.lower().replace(" ", "")
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return "".join(letter for letter in folded if letter.isprintable() and not letter.isspace())


def key_of(leaderboard_id: str, model: Model) -> RowKey:
    """The key of the row that results of this model make on a leaderboard."""
    return _key(leaderboard_id, model.id, model.revision, model.precision, bool(model.chat_template))


_key = lru_cache(maxsize=5_000)(RowKey)  # a key is asked for its text again and again


def _name(text: str, reserved: str = "") -> str:
    """A folder's name; a text that equals the reserved word is encoded, so that the word can mean "absent"."""
    return _cut(_escape(text) if text.lower() == reserved else _encode(text), text, LONGEST_FOLDER)


def _part(text: str, absent: str) -> str:
    """A part between hyphens, in which hyphens are encoded; `absent` is what an empty one is called."""
    if not text:
        return absent
    encoded = _escape(text) if text.lower() == absent else _encode(text).replace("-", "%2D")
    return _cut(encoded, text, LONGEST_PART)


def _escape(text: str) -> str:
    """A reserved word as another text: its first letter is encoded."""
    return f"%{ord(text[0]):02X}{text[1:]}"


def _encode(text: str) -> str:
    if PLAIN.fullmatch(text) and not text.lower().endswith(".lock"):  # nearly all names
        return text
    data = text.encode("utf-8", "surrogatepass")
    out = [chr(byte) if byte in LETTERS else f"%{byte:02X}" for byte in data]
    last = len(out) - 1
    for place, char in enumerate(out):
        is_lock = place == last - 4 and "".join(out[place:]).lower() == ".lock"
        if char == "." and (place in {0, last} or out[place - 1] in {".", "%2E"} or is_lock):
            out[place] = "%2E"
    return "".join(out)


def _cut(encoded: str, text: str, limit: int) -> str:
    """The encoded text within a limit of bytes; `%_` occurs only in a text that was cut."""
    if len(encoded) <= limit:
        return encoded
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]
    kept = encoded[: limit - DIGEST - 2]
    return f"{kept[:-1] if kept.endswith('%') else kept[:-2] if kept[-2:-1] == '%' else kept}%_{digest}"
