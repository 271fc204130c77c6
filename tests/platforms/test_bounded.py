"""What is kept between two passes stays within its bounds, and the oldest goes first."""

from __future__ import annotations

from bot.platforms.caches import Contents, Latest


def test_contents_are_kept_up_to_so_many_bytes() -> None:
    kept = Contents(most=10)
    for name in "abc":
        kept[name] = name.encode() * 4
    kept["large"] = b"x" * 11
    kept["c"] = b"cc"

    assert dict(kept) == {"b": b"bbbb", "c": b"cc"}
    kept["d"] = b"dddd"
    assert list(kept) == ["b", "c", "d"]
    del kept["b"]
    assert (len(kept), kept.get("b"), kept["d"]) == (2, None, b"dddd")


def test_the_latest_words_are_remembered() -> None:
    words = Latest(most=3)
    for word in "abcde":
        words.add(word)
    words.discard("d")

    assert list(words) == ["c", "e"]
    assert "a" not in words
    assert len(words) == 2
