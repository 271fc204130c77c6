"""Files that are damaged, or that merely look odd: an edit is right, or it is refused, and it never ends in a crash."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.publishing.tables.boards import edited, entry
from tests.publishing.tables.contents import CONTENTS, contents
from tests.publishing.tables.readers import BOARDS
from tests.publishing.tables.test_boards import is_insertion
from tests.publishing.tables.test_random_edits import LONG, SHORT

pytestmark = pytest.mark.usefixtures("datasets", "pandas")

# Pieces that mean something in one of the formats.
PIECES = [b"", b" ", b"\n", b"\r\n", b"\t", b'"', b"'", b",", b":", b"|", b"\\", b"{", b"}", b"[", b"]", b"#", b"- "]
PIECES += [b"&a ", b"*a", b"!!x ", b"<<: ", b"0", b"1e9", b"-", b"null", b"\xff", b"\x00", b"\xe2\x80\xa8", b"```"]
PIECES += [b"<!--", b"---\n"]
CHANGES = st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 3), st.sampled_from(PIECES)), min_size=1, max_size=4)


def damaged(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """The data with pieces in the place of some of its bytes."""
    for place, length, piece in changes:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + length :]
    return data


def check(name: str, changes: list[tuple[int, int, bytes]]) -> None:
    mapping, make, _ = BOARDS[name]
    path = mapping["path"]
    files = {path: damaged(make()[path], changes)}

    after, draft = edited(mapping, files, entry())

    assert after == files if draft.refused else is_insertion(files[path], after[path])


@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=SHORT, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=CHANGES)
def test_a_damaged_text_is_edited_rightly_or_refused(name: str, changes: list[tuple[int, int, bytes]]) -> None:
    check(name, changes)


@pytest.mark.campaign
@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=LONG, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes=CHANGES)
def test_a_thousand_damaged_texts(name: str, changes: list[tuple[int, int, bytes]]) -> None:
    check(name, changes)


# Scalars that are odd in one of the formats, or past what Python reads or writes.
ODD = [
    b"1e999999999",
    b"-1e999",
    b"1e-999999999",
    b"9" * 5_000,
    b"0x" + b"f" * 4_000,
    b"true",
    b"null",
    b"NaN",
    b".nan",
]
ODD += [b"1:30:00", b"2024-13-45", b"{}", b"[]", b"[[]]", b"''", b"!!binary x", b"!!set {a}", b"? x", b"|", b"\xd9\xa3"]
WORD = re.compile(rb"[\w.+-]+|\"[^\"\n]*\"|'[^'\n]*'")


@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=SHORT, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=st.lists(st.tuples(st.integers(0, 300), st.sampled_from(ODD)), min_size=1, max_size=3))
def test_a_text_with_odd_values_is_edited_rightly_or_refused(name: str, words: list[tuple[int, bytes]]) -> None:
    mapping, make, _ = BOARDS[name]
    path = mapping["path"]
    data = make()[path]
    for number, odd in words:
        spots = list(WORD.finditer(data))
        start, end = spots[number % len(spots)].span()
        data = data[:start] + odd + data[end:]

    after, draft = edited(mapping, {path: data}, entry(), on_existing="update")

    assert not draft.refused or after == {path: data}


@settings(max_examples=2 * SHORT, deadline=None)
@given(changes=CHANGES, card=st.booleans())
def test_a_damaged_parquet_file_or_card_is_edited_rightly_or_refused(
    changes: list[tuple[int, int, bytes]],
    card: bool,
) -> None:
    path = "README.md" if card else next(path for path in contents() if path.endswith(".parquet"))
    files = {**contents(), path: damaged(contents()[path], changes)}

    after, draft = edited(CONTENTS, files, entry())

    assert (after == files) == bool(draft.refused)
