"""Archives of Inspect that are damaged, hostile or of another kind: refused in one line, or passed over."""

from __future__ import annotations

import io
import json
import re
import zipfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import MalformedResult, UnknownFormat
from bot.evaluation.formats import parse_result
from bot.evaluation.formats.format import MAX_BYTES
from bot.evaluation.formats.zip_members import ZipMembers
from bot.evaluation.submission import Parsed, UnreadPath, parse_submission
from tests.evaluation.discovering import found_in
from tests.evaluation.inspect_logs import METHODS, ZSTANDARD, archive, header, log_archive, sample, score
from tests.evaluation.judging import dumps, patch
from tests.evaluation.test_properties import JSON, survives


def test_a_listing_of_logs_and_other_json_are_none() -> None:
    listing = dumps({"2026-03-01_toy.json": header()})
    assert isinstance(found_in({"logs.json": listing})["logs.json"], UnreadPath)
    with pytest.raises(UnknownFormat):
        parse_result(dumps({"status": "x", "eval": {"task": "a"}, "plan": 1}))


def test_an_archive_of_another_kind_is_told_by_its_first_member() -> None:
    word = archive({"word/document.xml": b"<w/>"})
    one = found_in({"a.docx": word})["a.docx"]
    assert isinstance(one, UnreadPath)
    assert one.kind == "archive"
    with pytest.raises(UnknownFormat, match=r"without header\.json"):
        parse_result(word)


def flagged(data: bytes) -> bytes:
    """The archive with every member marked as encrypted, in its directory."""
    at = data.find(b"PK\x01\x02")
    while at >= 0:
        data = data[: at + 8] + b"\x01" + data[at + 9 :]
        at = data.find(b"PK\x01\x02", at + 4)
    return data


def with_size(data: bytes, size: int) -> bytes:
    """The archive of one member with another declared size."""
    at = data.find(b"PK\x01\x02")
    return data[: at + 24] + size.to_bytes(4, "little") + data[at + 28 :]


def as_zstd(data: bytes) -> bytes:
    """The archive of one member whose bytes are frames of zstd already."""
    at = data.find(b"PK\x01\x02")
    return data[: at + 10] + ZSTANDARD.to_bytes(2, "little") + data[at + 12 :]


def zeros() -> bytes:
    return b'{"eval": "' + b"0" * 20_000_000 + b'"}'


FRAMES = b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00" * 5_000  # empty frames of zstd
BAD = {
    "truncated": (lambda: log_archive()[:-300], "is truncated"),
    "cut directory": (lambda: log_archive()[:-30], "is a damaged archive"),
    "encrypted": (lambda: flagged(archive({"header.json": header()})), r"is an encrypted archive: its header\.json"),
    "declared too large": (lambda: archive({"header.json": b"0" * 34_000_000}), r"holds a header\.json of 32\.\d MB"),
    "packed a thousand to one": (lambda: archive({"header.json": zeros()}), "packed more than 1,000 to 1"),
    "larger than declared": (lambda: with_size(archive({"header.json": zeros()}), 900_000), "cannot be unpacked"),
    "smaller than declared": (lambda: with_size(archive({"header.json": header()}), 99_999), "cannot be unpacked"),
    "changed": (
        lambda: archive({"header.json": header()}, zipfile.ZIP_STORED).replace(b"success", b"failure"),
        "cannot be unpacked",
    ),
    "members": (lambda: log_archive() + b"PK\x01\x02" * 100_001, "is an archive of more than 100,000 members"),
    "frames": (lambda: as_zstd(archive({"header.json": FRAMES}, zipfile.ZIP_STORED)), "cannot be unpacked"),
    "method": (lambda: archive({"header.json": header()}, zipfile.ZIP_BZIP2), "packed by method 12"),
    "bytes behind it": (lambda: log_archive() + b"\n", "bytes stand before or behind it"),
    "bytes before it": (lambda: log_archive()[:4] + log_archive(), "bytes stand before or behind it"),
    "two logs": (lambda: log_archive() + log_archive(), "bytes stand before or behind it"),
    "two equal headers": (  # of equal CRCs, as two that differ may have
        lambda: archive({"a": b"", "header.json": header(), "header.jsox": header()}).replace(
            b"header.jsox", b"header.json"
        ),
        "two of its members have one name",
    ),
    "another name in the directory": (
        lambda: b"header.json".join(archive({"header.jsox": header()}).rsplit(b"header.jsox", 1)),
        "has another name in its directory",
    ),
    "two headers": (
        lambda: archive({"a": b"", "header.json": header(), "header.jsox": b"{}"}).replace(
            b"header.jsox", b"header.json"
        ),
        "two of its members have one name",
    ),
    "no JSON": (lambda: archive({"header.json": b"{"}), "is truncated"),
    "deep": (lambda: archive({"header.json": b"[" * 9_999}), "nested more than 200"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_archive_is_refused_in_one_line(name: str) -> None:
    make, why = BAD[name]
    with pytest.raises(MalformedResult, match=why) as raised:
        parse_result(make())
    assert "\n" not in raised.value.why


def renamed(data: bytes, name: bytes, to: bytes) -> bytes:
    assert len(name) == len(to)
    return data.replace(name, to)


def test_a_sample_that_was_asked_again_stands_twice_in_a_log_and_the_last_counts() -> None:
    tries = {"samples/1_epoch_1.json": {"try": 1}, "samples/1_epoch_2.json": {"try": 2}, "header.json": header()}
    data = renamed(archive(tries), b"1_epoch_2", b"1_epoch_1")
    assert parse_result(data).leaves
    assert json.loads(ZipMembers(data).read("samples/1_epoch_1.json", 99)) == {"try": 2}


def test_a_first_member_that_the_directory_no_longer_names_is_passed_over() -> None:
    out = io.BytesIO(archive({"_journal/start.json": {}, "header.json": header()}, zipfile.ZIP_STORED))
    with zipfile.ZipFile(out, "a") as packed:  # as Inspect drops a member: its bytes stay, its entry goes
        packed.filelist.remove(packed.NameToInfo.pop("_journal/start.json"))
        packed.writestr("_journal/summaries/1.json", "[]")
    data = out.getvalue()
    assert parse_result(data).leaves
    assert "_journal/start.json" not in ZipMembers(data)


def test_a_damaged_log_that_is_found_is_told_and_not_passed_over() -> None:
    files = {"cut.eval": log_archive()[:-300], "locked.eval": flagged(log_archive())}
    found = found_in(files)
    assert [one.problem.is_damage for one in found.values() if isinstance(one, Parsed) and one.problem] == [True, True]


def test_a_log_of_json_that_is_too_large_says_how_to_convert_it() -> None:
    data = dumps(header()).ljust(MAX_BYTES + 1)
    one = found_in({"logs/a.json": data})["logs/a.json"]
    assert isinstance(one, Parsed)
    assert one.problem is not None
    assert "the limit is 8 MB" in one.problem.why
    assert one.problem.hint.startswith("convert it: inspect log convert --to eval")


POINTERS = [
    "/status", "/eval", "/eval/model", "/eval/task", "/eval/task_version", "/eval/task_args_passed", "/eval/config",
    "/eval/config/limit", "/eval/config/epochs", "/eval/dataset", "/eval/dataset/samples", "/eval/created", "/plan",
    "/eval/model_generate_config", "/eval/model_args", "/eval/packages", "/results", "/results/scores", "/stats",
    "/results/scores", "/results/scorer", "/results/metrics", "/results/completed_samples", "/invalidated", "/version",
]  # fmt: skip
OF_SCORE = ["/name", "/reducer", "/scored_samples", "/unscored_samples", "/metrics", "/metrics/accuracy", "/metrics/x"]


@given(st.sampled_from(POINTERS), st.sampled_from(OF_SCORE), JSON, JSON)
def test_anything_anywhere_is_read_or_refused(pointer: str, inner: str, value: Any, other: Any) -> None:
    scores = [patch(score("match", 0.5), inner, other), score("match", 0.25), value]
    data = patch(header(results={"scores": scores}), pointer, value)
    survives(dumps(data))
    survives(archive({"header.json": data}, zipfile.ZIP_STORED))


@given(st.sampled_from(METHODS), st.data())
def test_an_archive_with_any_bytes_changed_is_read_or_refused(method: int, data: st.DataObject) -> None:
    packed = bytearray(log_archive(method))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(4, len(packed) - 1))] = data.draw(st.integers(0, 255))
    parsed = parse_submission("a.eval", {"": bytes(packed)})
    assert (parsed.result is None) != (parsed.problem is None)
    assert parsed.problem is None or "could not be read" not in parsed.problem.why


def log_with_samples() -> bytes:
    """A JSON log as Inspect writes it: the header first, then the samples."""
    return json.dumps(header() | {"samples": [sample(), sample()]}, indent=2).encode()


TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
KINDS = (
    (b'"', "string"),
    (b"{", "open object"),
    (b"}", "close object"),
    (b"[", "open list"),
    (b"]", "close list"),
    (b",", "comma"),
    (b":", "colon"),
    (b"t", "true"),
    (b"f", "false"),
    (b"n", "null"),
)


def kind_of(token: bytes) -> str:
    return next((kind for start, kind in KINDS if token.startswith(start)), "number")


def places() -> dict[str, tuple[int, int]]:
    """Where a token of each kind is in the header, in the samples and at the end: before it and behind it."""
    data = log_with_samples()
    start, found = data.index(b'"samples": '), {}
    for token in TOKEN.finditer(data):
        part = "the header" if token.start() < start else "the samples"
        found.setdefault(f"the first {kind_of(token[0])} of {part}", token.span())
        found[f"the last {kind_of(token[0])} of {part}"] = token.span()
    return found


PLACES = places()
FOREIGN = {
    "other objects": b"{} {}",
    "a brace": b"}",
    "a bracket": b"]",
    "a letter": b"x",
    "a NUL": b"\0",
    "half a letter": b"\xc3",
    "half a surrogate": b'"\\ud800',
    "a byte order mark": b"\xef\xbb\xbf",
    "a comment": b"/**/",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_json_log_that_is_cut_anywhere_is_refused(place: str) -> None:
    data = log_with_samples()
    start, end = PLACES[place]
    for cut in sorted({start, (start + end) // 2, end} - {0, len(data)}):
        with pytest.raises(MalformedResult, match="truncated") as raised:
            parse_result(data[:cut])
        assert "\n" not in raised.value.why


@pytest.mark.parametrize("foreign", FOREIGN)
@pytest.mark.parametrize("place", [*PLACES, "behind"])
def test_a_json_log_with_bytes_that_do_not_belong_there_is_refused(foreign: str, place: str) -> None:
    data = log_with_samples()
    at = PLACES.get(place, (0, len(data)))[1]
    with pytest.raises(MalformedResult) as raised:
        parse_result(data[:at] + FOREIGN[foreign] + data[at:])
    assert "\n" not in raised.value.why


@pytest.mark.parametrize("number", [b"01", b"+1", b".5", b"1.", b"0x1", b"1_0", b"1e", b"-", b"--1", b"nan", b"inf"])
@pytest.mark.parametrize("place", [place for place in PLACES if "number" in place])
def test_a_json_log_with_a_number_that_is_none_is_refused(number: bytes, place: str) -> None:
    data = log_with_samples()
    start, end = PLACES[place]
    with pytest.raises(MalformedResult):
        parse_result(data[:start] + number + data[end:])


def test_a_whole_json_log_is_read() -> None:
    assert parse_result(log_with_samples()).leaves
