"""A file that shares a text with files before it is read as if it were the first."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.formats import top_level
from bot.evaluation.formats.document import parse_document
from bot.evaluation.formats.top_level import KEPT, SHARED, TOP, decode_top
from bot.evaluation.submission import one_file, parse_submission
from tests.evaluation.judging import ABSENT, base, dumps, patched

BASE = dumps(base())
TEXT = BASE[BASE.index(b'\n  "configs": {') : BASE.index(b',\n  "config":')]


def plain(data: bytes) -> dict[str, bytes] | None:
    """The members of a file as its bytes have them, None of what is no JSON object."""
    try:
        return {key: bytes(raw) for key, raw in TOP.decode(data).items()}
    except (ValueError, UnicodeDecodeError):
        return None


def shared(data: bytes) -> dict[str, bytes] | None:
    """The members of a file after the base file was read."""
    decode_top(BASE)
    try:
        return {key: bytes(raw) for key, raw in decode_top(data)[0].items()}
    except (ValueError, UnicodeDecodeError):
        return None


def test_files_of_one_call_share_their_text() -> None:
    _, first = decode_top(BASE)
    _, second = decode_top(dumps(patched({"/model_name": "acme/heron", "/results/x": {"acc,none": 0.5}})))

    assert first is not None
    assert first is second
    assert first.text == TEXT
    assert set(first.members) == set(SHARED)


HOSTILE: dict[str, bytes] = {
    "deeper": b'{"outer": {' + TEXT + b'}, "results": {}}',
    "deeper, and at the top": b'{"outer": {' + TEXT + b"}," + TEXT[:20] + b'}, "results": {}}',
    "deeper, then at the top": b'{"outer": {' + TEXT + b"}," + TEXT + b"}",
    "at the top, then deeper": b"{" + TEXT + b', "outer": {' + TEXT + b"}}",
    "twice": b"{" + TEXT + b"," + TEXT + b"}",
    "a key of it again": b"{" + TEXT + b', "configs": {"other": 1}}',
    "a key of it before": b'{"versions": {"other": 1},' + TEXT + b"}",
    "in an array": b'{"a": [' + TEXT + b"]}",
    "in a text": b'{"a": "' + TEXT.replace(b'"', b'\\"') + b'"}',
    "in a text, as it is": b'{"a": "' + TEXT + b'"}',
    "a value of a key": b'{"a": ' + TEXT + b"}",
    "without what comes before": TEXT + b"}",
    "cut off": b"{" + TEXT,
    "cut off in it": b"{" + TEXT[:-5],
    "more after it": b"{" + TEXT + b"}}",
    "its mark of long ago": b"{" + TEXT + b', "' + b"0" * 32 + b'": 0}',
    "nothing else": b"{" + TEXT + b"}",
    "no comma": b'{"a": 1 ' + TEXT + b"}",
    "two commas": b'{"a": 1,, ' + TEXT + b"}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_counts_only_where_it_stands_at_the_top(name: str) -> None:
    assert shared(HOSTILE[name]) == plain(HOSTILE[name])


@given(st.integers(0, len(BASE)), st.integers(0, 40), st.sampled_from([b"", b'"', b"{", b"}", b",", b"0", b"\n", TEXT]))
def test_any_change_of_bytes_is_seen(place: int, length: int, new: bytes) -> None:
    data = BASE[:place] + new + BASE[place + length :]

    assert shared(data) == plain(data)


CHANGES: list[dict[str, Any]] = [
    {"/model_name": "acme/heron"},
    {"/configs/leaderboard_ifeval/generation_kwargs": {"until": ["."]}},
    {"/versions": ABSENT},
    {"/n-samples": ABSENT, "/n-shot": ABSENT},
    {"/configs": ABSENT},
    {"/configs": {}},
    {"/git_hash": None},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_a_result_does_not_depend_on_the_files_before_it(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = dumps(patched(changes))
    monkeypatch.setattr(top_level, "KEPT", 0)
    top_level._kept.texts = ()
    alone = parse_submission(one_file("x.json", data))
    monkeypatch.setattr(top_level, "KEPT", KEPT)

    for before in CHANGES:
        parse_document(dumps(patched(before)))
        assert [parse_submission(one_file("x.json", data)) for _ in range(2)] == [alone] * 2


def test_few_texts_are_kept_and_none_that_is_long() -> None:
    tracemalloc.start()
    for number in range(20):
        decode_top(dumps(patched({"/configs": {f"task {number}": "x" * 200_000}})))
    decode_top(dumps(patched({"/configs": {"task": "x" * 300_000}})))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(top_level._kept.texts) <= KEPT
    assert kept < (KEPT + 1) * 2 * 210_000
