"""Random rows go into every board, change, and change back: all bytes of others stay, whatever the row says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from bot.publishing.entry import Entry
from tests.publishing.tables.boards import Files, edited, entry
from tests.publishing.tables.readers import BOARDS, Rows
from tests.publishing.tables.test_boards import is_insertion

pytestmark = pytest.mark.usefixtures("pandas")

PLAIN = st.from_regex(
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}/[A-Za-z0-9][A-Za-z0-9._-]{0,20}",
    fullmatch=True,
    alphabet=st.characters(max_codepoint=127),
)
# Letters that mean something in one of the formats, and some that mean something to a terminal or a spreadsheet.
HOSTILE = st.text(
    st.sampled_from("ab1 |\\`*_[]()<>&\"'#:,;{}!%@=+-~?\n\r\t\x00\x1b\u2028\ufeffβ🦅."), min_size=1, max_size=24
)
SHARES = st.one_of(st.none(), st.floats(0, 1), st.integers(0, 1000).map(lambda share: share / 1000))
SCORES = st.fixed_dictionaries({"bbh": SHARES, "gpqa": SHARES, "musr": SHARES})
SHORT, LONG = 25, 1000
CALM = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def row(model: str, scores: Mapping[str, float | None], average: float) -> Entry:
    return entry(model, scores, average=average)


def others(rows: Rows, before: Rows) -> Rows:
    return [each for each in rows if each in before]


def check(name: str, model: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    mapping, make, read = BOARDS[name]
    path, files = mapping["path"], make()
    old = read(files[path])

    one, draft = edited(mapping, files, row(model, first, 12.5))
    if draft.refused:
        assert one == files
        reject()  # it does not count among the thousand edits
    assert is_insertion(files[path], one[path])
    assert others(read(one[path]), old) == old
    assert len(read(one[path])) == len(old) + 1
    _check_change(name, files, one, row(model, second, 60.25), row(model, first, 12.5))


def _check_change(name: str, files: Files, one: Files, changed: Entry, first: Entry) -> None:
    mapping, _, read = BOARDS[name]
    path = mapping["path"]
    two, draft = edited(mapping, one, changed, on_existing="update")
    if draft.refused:
        assert two == one
        return
    start = next(
        (at for at, (a, b) in enumerate(zip(files[path], one[path], strict=False)) if a != b), len(files[path])
    )
    assert two[path].startswith(files[path][:start])
    assert two[path].endswith(files[path][start:])
    assert others(read(two[path]), read(files[path])) == read(files[path])
    back, draft = edited(mapping, two, first, on_existing="update")
    if not draft.refused:
        assert back == one


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=SHORT, deadline=None, suppress_health_check=CALM)
@given(model=st.one_of(PLAIN, HOSTILE), first=SCORES, second=SCORES)
def test_every_other_byte_stays(name: str, model: str, first: dict[str, Any], second: dict[str, Any]) -> None:
    check(name, model, first, second)


@pytest.mark.campaign
@pytest.mark.parametrize("name", BOARDS)
@settings(max_examples=LONG, deadline=None, suppress_health_check=CALM)
@given(model=st.one_of(PLAIN, HOSTILE), first=SCORES, second=SCORES)
def test_every_other_byte_stays_a_thousand_times(
    name: str, model: str, first: dict[str, Any], second: dict[str, Any]
) -> None:
    check(name, model, first, second)
