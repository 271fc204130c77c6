"""DropSample logs of each form and in each bad shape: what can be read is read, what cannot is counted by line."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.audits.drop.audit import DropAudit, audit_drop, find_logs
from bot.audits.samples.records import (
    CHUNK,
    MAX_RECORD,
    Record,
    SkippedRecord,
    open_log,
    read_records,
)
from bot.errors import CallError
from tests.audits.drop.drop_logs import (
    GENERATIONS,
    RENDERED,
    audit_one,
    documents,
    row_03,
    row_04,
    row_plain,
    rows_04,
    skipped,
    write_array,
    write_lines,
)
from tests.variants import one_of


def test_every_form_of_log_gives_the_same_figures(tmp_path: Path) -> None:
    plain = [row_plain(number, *one) for number, one in enumerate(GENERATIONS)]
    old = [row_03(number, *one) for number, one in enumerate(GENERATIONS)]
    golds = documents(tmp_path / "golds.jsonl.gz")

    logs = {
        "plain": audit_one(write_lines(tmp_path / "plain.jsonl.gz", plain)),
        "lm-eval-0.3": audit_one(write_array(tmp_path / "drop_write_out_info.json", old), golds),
        "lm-eval-0.4.0": audit_one(write_array(tmp_path / "m_drop.jsonl", rows_04("0.4.0"))),
        "lm-eval-0.4.3": audit_one(write_lines(tmp_path / "samples_drop_a.jsonl", rows_04("0.4.3"))),
        "lm-eval-0.4.7": audit_one(write_lines(tmp_path / "samples_drop_b.jsonl", rows_04("0.4.7"))),
    }

    expected = replace(logs["plain"].figures, forms={}, until={})
    for form, log in logs.items():
        assert log.figures.forms == {form: len(GENERATIONS)}
        assert log.skipped == ()
        assert (log.figures.logged, log.figures.differing) == (len(GENERATIONS), 0)
        assert replace(log.figures, forms={}, until={}) == expected
    assert logs["lm-eval-0.4.0"].figures.until == {'["."]': len(GENERATIONS)}


BAD: list[tuple[Any, str]] = [
    ("{", "not valid JSON"),
    ("[1", "not valid JSON"),
    ('"text"', "not a sample of a known format"),
    ("\xff\xfe", "not valid JSON"),
    ("[" * 200_000, "not valid JSON"),
    ({"loss": 1.5}, "not a sample of a known format"),
    ({"results": {"drop": {"f1,none": 0.1}}, "configs": {}}, "a result file, not a sample log"),
    ({"doc": {"question": "2+2?", "answer": "4"}, "filtered_resps": ["4"]}, "a sample of another task"),
    ({"doc": None, "filtered_resps": [["-0.1", "False"]]}, "a sample of another task"),
    ({"prompt_0": "Question: 2+2?\nAnswer:", "logit_0": "4"}, "a sample of another task"),
    ({"prediction": 4, "gold_answers": [["4"]]}, "no generated text"),
    ({"prediction": "4", "gold_answers": [[4]]}, "the gold answers are not lists of texts"),
    ({"prediction": "4", "gold_answers": []}, "the gold answers are not lists of texts"),
    ({"prediction": "4", "gold_answers": [[]]}, "the gold answers are not lists of texts"),
    ({"prediction": "4", "gold_answers": [["4"]], "em": "high"}, "the logged em or f1 is not a number"),
    ({"prediction": "4", "gold_answers": [["4"]], "f1": [1]}, "the logged em or f1 is not a number"),
    ('{"prediction": "4", "gold_answers": [["4"]], "f1": 1' + "0" * 400 + "}", "the logged em or f1 is not a number"),
    ('{"prediction": "4", "gold_answers": [["4"]], "f1": 1' + "0" * 9000 + "}", "not valid JSON"),
    ({"prediction": "4", "gold_answers": [["x" * 30_000]]}, "the gold answers have more than 20,000 characters"),
    (row_04(0, "4", (("4",),), "0.4.7") | {"filtered_resps": ["4", "5"]}, "no generated text"),
    (row_04(0, "4", (("4",),), "0.4.7") | {"doc": {"passage": "p", "question": "q", "answer": {}}}, "the gold answers"),
]


@pytest.mark.parametrize(("bad", "why"), BAD)
def test_bad_line_is_counted_with_its_number_and_the_rest_stands(tmp_path: Path, bad: Any, why: str) -> None:
    line = bad.encode("latin-1") if isinstance(bad, str) else json.dumps(bad).encode()
    good = [json.dumps(row_plain(n, *one)).encode() for n, one in enumerate(GENERATIONS)]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join([good[0], line, b"", *good[1:], line]) + b"\n")

    log = audit_one(path)

    assert len(skipped(log)) == 1
    assert skipped(log)[0][0].startswith(why)
    assert skipped(log)[0][1:] == (2, [2, len(good) + 3])
    assert log.figures.samples == len(GENERATIONS)


def test_what_python_writes_though_it_is_no_json_is_read(tmp_path: Path) -> None:
    rows = [
        row_plain(0, "10 \ud800", (("10",),)) | {"em": float("nan")},
        row_plain(1, "10", (("10",),)) | {"extra": float("inf")},
    ]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(map(json.dumps, rows)).encode())

    log = audit_one(path)

    assert (log.figures.samples, log.figures.differing, log.skipped) == (2, 1, ())


def test_truncated_gzip_ends_the_reading_and_what_was_read_stands(tmp_path: Path) -> None:
    rows = [row_plain(n, f"{text} {n * 7919}", golds) for n, (text, golds) in enumerate(GENERATIONS * 500)]
    path = write_lines(tmp_path / "s.jsonl.gz", rows)
    path.write_bytes(path.read_bytes()[:-1000])

    log = audit_one(path)

    ((why, count, lines),) = skipped(log)
    assert why == "the gzip stream is truncated or damaged, and the rest cannot be read"
    assert (count, lines) == (1, [log.figures.samples + 1])
    assert 1000 < log.figures.samples < len(rows)


def test_gzip_damaged_at_its_start_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(b"\x1f\x8b\x08garbage")

    assert [(count, lines) for _, count, lines in skipped(audit_one(path))] == [(1, [1])]


def test_truncated_array_ends_the_reading_and_what_was_read_stands(tmp_path: Path) -> None:
    path = write_array(tmp_path / "m_drop.jsonl", rows_04("0.4.0"))
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex('"arguments"')], encoding="utf-8")

    log = audit_one(path)

    ((why, count, (line,)),) = skipped(log)
    assert why == "the JSON array is truncated or damaged, and the rest cannot be read"
    assert (count, log.figures.samples) == (1, len(GENERATIONS) - 1)
    assert text.splitlines()[line - 1] == "    {"


@pytest.mark.parametrize("packed", one_of([True, False]))
def test_array_larger_than_a_chunk_is_cut_where_json_cuts_it(tmp_path: Path, *, packed: bool) -> None:
    """Strings full of brackets, quotes and escapes fall on the ends of chunks."""
    nasty = '[{"\\]}, \u00e9\u6771\U0001f600 \\ud83d '
    rows: list[Any] = [{"n": n, "text": nasty * (n % 977), "v": -1e-300} for n in range(550)]
    text = json.dumps([*rows, 17, "x", None], indent=2, ensure_ascii=False)
    data = text.encode()
    assert len(data) > 3 * CHUNK
    path = tmp_path / "a.json"
    path.write_bytes(gzip.compress(data, 1) if packed else data)

    with open_log(path) as log:
        records = list(read_records(log))

    assert [json.loads(record.data) for record in records if isinstance(record, Record)] == [*rows, 17, "x", None]
    assert records[1].line == text[: text.index('"n": 1')].count("\n")


def test_line_longer_than_the_limit_is_skipped_whole(tmp_path: Path) -> None:
    good = json.dumps(row_plain(0, *GENERATIONS[0])).encode()
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join([good, b"x" * (2 * MAX_RECORD + 5), good]), 1))

    log = audit_one(path)

    assert skipped(log) == [("longer than 16 MiB", 1, [2])]
    assert log.figures.samples == 2


def test_element_of_an_array_longer_than_the_limit_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}, "' + "x" * (MAX_RECORD + 3 * CHUNK), encoding="utf-8")

    with open_log(path) as log:
        records = list(read_records(log))

    assert [type(record) for record in records] == [Record, SkippedRecord]


def test_empty_log_and_empty_array_are_said_to_be_empty(tmp_path: Path) -> None:
    for name, data in (("a.jsonl", b""), ("b.jsonl", b"\n\n"), ("c.json", b"[]"), ("d.json", b" [ ]\n")):
        (tmp_path / name).write_bytes(data)

        log = audit_one(tmp_path / name)

        assert [finding.message for finding in log.findings] == ["the log is empty"]
        assert log.skipped == ()


def test_rendered_target_is_found_in_target_and_in_prompt(tmp_path: Path) -> None:
    rows = rows_04("0.4.7")
    rows[0]["target"] = RENDERED
    rows[1]["arguments"]["gen_args_0"]["arg_0"] = f"p q {RENDERED}\n\np2 q2"

    log = audit_one(write_lines(tmp_path / "s.jsonl", rows))

    assert [example.line for example in log.examples["rendered-target"]] == [1]
    assert [example.line for example in log.examples["rendered-prompt"]] == [2]


def test_one_log_and_its_two_halves_give_the_same_figures(tmp_path: Path) -> None:
    rows = rows_04("0.4.7", times=4)
    whole = write_lines(tmp_path / "w.jsonl", rows)
    halves = [write_lines(tmp_path / "1.jsonl", rows[:9]), write_lines(tmp_path / "2.jsonl", rows[9:])]

    together: DropAudit = audit_drop(halves)

    assert together.figures == audit_drop([whole]).figures
    assert [log.figures.samples for log in together.logs] == [9, len(rows) - 9]


def test_folder_gives_its_drop_logs_once_and_no_others(tmp_path: Path) -> None:
    model = tmp_path / "acme__atlas"
    model.mkdir()
    names = ["samples_drop_2024.jsonl", "samples_drop_2025.jsonl.gz", "pretrained__gpt2_drop.jsonl"]
    names += ["drop_write_out_info.json", "samples_gsm8k_2024.jsonl", "results_2024.json", "samples_drop_2024.txt"]
    for name in names:
        (model / name).touch()

    found = find_logs([tmp_path, model / names[0]])

    assert sorted(path.name for path in found) == sorted(names[:4])


def test_paths_that_hold_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"there is no such file or folder"):
        find_logs([tmp_path / "absent.jsonl"])
    with pytest.raises(CallError, match=r"holds no sample log of DROP"):
        find_logs([tmp_path])
    with pytest.raises(CallError, match=r"Is a directory"), open_log(tmp_path):
        pass


def test_number_of_ten_thousand_digits_does_not_end_an_array(tmp_path: Path) -> None:
    good = json.dumps(row_plain(0, *GENERATIONS[0]))
    path = tmp_path / "a.json"
    path.write_text(f'[{good}, {{"n": {"9" * 10_000}}}, {good}]', encoding="utf-8")

    log = audit_one(path)

    assert (log.figures.samples, [count for _, count, _ in skipped(log)]) == (2, [1])


def test_stop_words_that_change_with_each_sample_do_not_pile_up(tmp_path: Path) -> None:
    rows = rows_04("0.4.7", times=4)
    for number, row in enumerate(rows):
        row["arguments"]["gen_args_0"]["arg_1"] = {"until": [str(number)]}

    until = audit_one(write_lines(tmp_path / "s.jsonl", rows)).figures.until
    half = len(rows) // 2
    parts = [write_lines(tmp_path / f"{name}.jsonl", part) for name, part in (("a", rows[:half]), ("b", rows[half:]))]
    both = audit_drop(parts).figures.until

    assert (len(until), sum(until.values()), until["others"]) == (9, len(rows), len(rows) - 8)
    assert (len(both), both["others"]) == (9, len(rows) - 8)


@pytest.mark.slow
def test_a_million_digits_are_looked_at_in_one_pass(tmp_path: Path) -> None:
    """A search that tries again at each digit would not end today."""
    rows = [row_plain(0, "1" * 1_000_000 + "x." + "1," * 500_000, (("10",),))]

    assert audit_one(write_lines(tmp_path / "s.jsonl", rows)).figures.samples == 1


def test_lines_are_counted_from_the_start_of_the_log(tmp_path: Path) -> None:
    lines = [json.dumps(row_plain(n, *one)) for n, one in enumerate(GENERATIONS)]
    lines[5:5] = ["", "{", " ", "[1"]
    lines[-3:-3] = ["{", "", ""]
    path = tmp_path / "s.jsonl"
    path.write_text("\ufeff" + "\n".join(lines), encoding="utf-8")

    assert skipped(audit_drop([path]).logs[0]) == [("not valid JSON", 3, [7, 9, len(lines) - 5])]
