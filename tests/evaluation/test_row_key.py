"""The text of a row's key: different rows never share one, and it is safe as a path and as a git branch."""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from bot.evaluation.row_key import RowKey
from bot.publishing.entry import entry_path
from tests.texts import any_text

ODD = [
    "", ".", "..", "...", "a.", ".a", "a..b", "x.lock", ".lock", "x.lock.lock", "-", "--", "a-b", "chat", "-chat",
    "unpinned", "unknown", "%75npinned", "_", "%5F", "/", "//", "a/b", "a/b/c", "a//b", "/a", "a/", "a%2Fb", "A/b", "é",
    "e\u0301", "\u202e", "\ud800", "\n", "\0", "con", "@{", "a b", "~^:?*[\\", "x" * 300, "x" * 299 + "y", "ü" * 200,
    "%" * 120, "a" * 195 + "%_", "0f3c9a61d2b84e7590c1a8d3b6e2f4a5c7d8e901", "bfloat16", "gpt2",
    "Unpinned", "UNKNOWN", "CHAT", "A.LOCK", "a.Lock", "%2f", "\u212a", "\u00df", "SS", "\u0130",
]  # fmt: skip
TEXTS = any_text(max_size=12) | st.sampled_from(ODD) | st.text("ab.-_/%", max_size=6)
KEYS = st.builds(RowKey, st.sampled_from(["b", "a.b", "x.lock", "a:b", "b-c"]), TEXTS, TEXTS, TEXTS, st.booleans())


@given(KEYS, KEYS)
@example(RowKey("b", "m", "a", "b-c", False), RowKey("b", "m", "a-b", "c", False))
@example(RowKey("b", "m", "a", "b", True), RowKey("b", "m", "a", "b-chat", False))
@example(RowKey("b", "m", "", "", False), RowKey("b", "m", "unpinned", "unknown", False))
@example(RowKey("b", "a/b/c", "", "", False), RowKey("b", "a/b%2Fc", "", "", False))
@example(RowKey("b", "_/a", "", "", False), RowKey("b", "a", "", "", False))
@example(RowKey("b", "x" * 300, "", "", False), RowKey("b", "x" * 301, "", "", False))
def test_different_keys_have_different_texts(one: RowKey, other: RowKey) -> None:
    assume(one != other)
    assert one.text != other.text


def folded(key: RowKey) -> tuple[object, ...]:
    """What a key is about, case left out where it is that of ASCII letters: others are percent-encoded."""
    fields = (key.leaderboard, key.model, key.revision, key.precision)
    return (*(re.sub("[A-Z]", lambda found: found[0].lower(), field) for field in fields), key.chat_template)


@given(KEYS, KEYS)
@example(RowKey("b", "m", "", "", False), RowKey("b", "m", "Unpinned", "UNKNOWN", False))
@example(RowKey("b", "m", "", "", True), RowKey("b", "m", "", "CHAT", False))
@example(RowKey("b", "m%2f", "", "", False), RowKey("b", "m/", "", "", False))
@example(RowKey("b", "\u212a", "", "", False), RowKey("b", "K", "", "", False))
@example(RowKey("b", "stra\u00dfe", "", "", False), RowKey("b", "STRASSE", "", "", False))
@example(RowKey("b", "X" * 300, "", "", False), RowKey("b", "x" * 299 + "y", "", "", False))
def test_where_case_is_ignored_only_case_makes_two_rows_one(one: RowKey, other: RowKey) -> None:
    assume(folded(one) != folded(other))
    assert entry_path(one.text).casefold() != entry_path(other.text).casefold()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (RowKey("b", "acme/m-1.5", "main", "bfloat16", True), "b/acme/m-1.5/main-bfloat16-chat"),
        (RowKey("b", "gpt2", "", "", False), "b/_/gpt2/unpinned-unknown"),
        (RowKey("b", "/m", "", "", False), "b/_/%2Fm/unpinned-unknown"),
        (RowKey("b", "m/", "", "", False), "b/_/m%2F/unpinned-unknown"),
        (RowKey("b", "a/m 1.5..2", "v1.5-x y", "", False), "b/a/m%201.5.%2E2/v1.5%2Dx%20y-unknown"),
        (RowKey("b", "a/.m.lock", "Unpinned", "", False), "b/a/%2Em%2Elock/%55npinned-unknown"),
        (RowKey("b", "a/m.lock.lock", "", "", False), "b/a/m.lock%2Elock/unpinned-unknown"),
        (RowKey("b", "a b.c.x/m b.abcd", "", "", False), "b/a%20b.c.x/m%20b.abcd/unpinned-unknown"),
        (RowKey("b", "a/" + 200 * "x", 90 * "r", "", False), f"b/a/{200 * 'x'}/{90 * 'r'}-unknown"),
    ],
)
def test_the_text_of_a_key_stays_what_it_is(key: RowKey, text: str) -> None:
    """It is the path of published rows: with another one every row would be published once more."""
    assert key.text == text


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        (201 * "x", 166 * "x"),
        (164 * "x" + 20 * "é", 164 * "x"),  # the limit is behind `%C`
        (165 * "x" + 20 * "é", 165 * "x"),  # the limit is behind `%`
        (163 * "x" + 20 * "é", 163 * "x" + "%C3"),
    ],
)
def test_a_long_name_is_cut_before_a_letter_and_ends_in_a_digest_of_the_whole(model: str, kept: str) -> None:
    digest = sha256(model.encode()).hexdigest()[:32]
    assert RowKey("b", f"a/{model}", "", "", False).text == f"b/a/{kept}%_{digest}/unpinned-unknown"
    revision = RowKey("b", "a/m", 91 * "r", "", False).text
    assert revision == f"b/a/m/{56 * 'r'}%_{sha256(91 * b'r').hexdigest()[:32]}-unknown"


@given(KEYS)
def test_a_text_is_a_safe_path_and_a_safe_git_reference(key: RowKey) -> None:
    for part in entry_path(key.text).split("/"):
        assert part.isascii()
        assert 0 < len(part) <= 200
        assert re.fullmatch(r"[A-Za-z0-9._%-]+", part)
        assert ".." not in part
        assert not part.startswith(".")
    for part in key.text.split("/"):
        assert not part.endswith((".", ".lock"))
    assert key.text.count("/") == 3


@pytest.mark.parametrize("text", ODD)
def test_git_takes_every_text_as_a_branch(text: str, tmp_path: Path) -> None:
    branch = f"leaderboard-bot/{RowKey('a:b', text, text, text, chat_template=True).text}"
    done = subprocess.run(
        ["git", "check-ref-format", "--branch", branch], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, branch
    (tmp_path / branch).mkdir(parents=True)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (
            RowKey("open-llm-v2", "acme/atlas-7b", "0f3c" * 10, "bfloat16", chat_template=True),
            "open-llm-v2/acme/atlas-7b/" + "0f3c" * 10 + "-bfloat16-chat",
        ),
        (RowKey("b", "gpt2", "", "4bit", chat_template=False), "b/_/gpt2/unpinned-4bit"),
        (RowKey("b", "", "", "", chat_template=False), "b/_/_/unpinned-unknown"),
        (RowKey("b", "a/b/c", "v1-0", "a.b", chat_template=False), "b/a/b%2Fc/v1%2D0-a.b"),
        (RowKey("b.lock", "..", "unpinned", "unknown", chat_template=False), "b%2Elock/_/%2E%2E/%75npinned-%75nknown"),
    ],
)
def test_a_text_is_readable(key: RowKey, text: str) -> None:
    assert key.text == str(key) == text
