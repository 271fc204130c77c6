"""Entries: they read back as written, name the file of each number, and are the same row where the numbers are."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.errors import MalformedEntry
from bot.evaluation.finding import Finding, Location, Severity
from bot.evaluation.leaderboard import Average, Waiver
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rules.rule import Facts
from bot.evaluation.score import LeafScore, TaskScore
from bot.evaluation.submission import Parsed, parse_submission
from bot.publishing.entry import (
    MAX_BYTES,
    MAX_REMARKS,
    Entry,
    EntryModel,
    Evidence,
    Remark,
    checked,
    choose,
    digest_of,
    entry_of,
    is_same_row,
    parse_entry,
    raws_of,
)
from tests.evaluation.judging import ABSENT, base, declared, dumps, entry_from, judgement_of, outcome_of, patched
from tests.evaluation.parts import parts_of
from tests.texts import any_text

DAY = date(2026, 6, 1)
ENTRY = entry_from(base(), source="acme/results", commit="0" * 40)
entries = st.builds(
    lambda model, average, remarks, versions: replace(
        ENTRY, model=model, average=average, warnings=tuple(remarks), versions=versions
    ),
    st.builds(EntryModel, any_text(), any_text(), any_text(), st.booleans()),
    st.none() | st.floats(-1e99, 1e99),
    st.lists(st.builds(Remark, any_text(), any_text()), max_size=3),
    st.dictionaries(any_text(), any_text(), max_size=3),
)


@given(entries)
def test_an_entry_reads_back_as_it_was_written(entry: Entry) -> None:
    data = entry.to_bytes()
    assert parse_entry(data) == entry
    assert parse_entry(data).to_bytes() == data
    assert json.loads(data)["model"]["id"] == entry.model.id
    assert data.startswith(b'{\n  "schema"')
    assert data.endswith(b"}\n")


def test_the_same_file_gives_the_same_bytes_wherever_its_keys_are() -> None:
    turned = dict(reversed(base().items()))
    turned["results"] = dict(reversed(turned["results"].items()))
    one, other = entry_from(base()), entry_from(turned)
    assert replace(other, evidence=one.evidence).to_bytes() == one.to_bytes()


def test_an_entry_names_its_evidence_and_the_file_of_each_leaf() -> None:
    files = {f"runs/results_{number}.json": part for number, part in enumerate(parts_of(base(), 3))}
    (row,) = judgement_of(files).rows
    places = {path: Evidence("acme/results", f"there/{path}", "c" * 40, submitter="ann") for path in files}
    entry = entry_of(row, places)
    assert entry is not None
    assert entry.schema == "leaderboard-bot/entry/2"
    assert entry.path == f"entries/{row.key}.json"
    assert {file.path for file in entry.evidence} == {f"there/{path}" for path in files}
    for file in entry.evidence:
        assert (file.source, file.commit, file.submitter) == ("acme/results", "c" * 40, "ann")
        assert (file.format, file.harness.version, len(file.sha256)) == ("lm-eval-0.4", "0.4.9", 64)
        data = json.loads(dumps(files[file.path.removeprefix("there/")]))
        named = {leaf.id for task in entry.tasks for leaf in task.leaves if leaf.file == file.path}
        assert named == set(data["results"]) - set(data["groups"])
    assert entry.num_samples["leaderboard_mmlu_pro"] == 12032
    assert json.loads(entry.to_bytes())["n-shot"]["leaderboard_mmlu_pro"] == 5
    assert entry.leaderboard.digest == declared().digest
    assert entry.leaderboard.scoring_digest == declared().scoring_digest


def test_a_leaf_names_its_source_where_two_sources_have_the_same_path() -> None:
    files = {f"{number}.json": part for number, part in enumerate(parts_of(base(), 2))}
    (row,) = judgement_of(files).rows
    entry = entry_of(row, {path: Evidence(f"source {path}", "results.json") for path in files})
    assert entry is not None
    assert {leaf.file for task in entry.tasks for leaf in task.leaves} == {
        "source 0.json/results.json", "source 1.json/results.json",
    }  # fmt: skip


@pytest.mark.parametrize("value", [nan, inf, -inf, 1e308, -1e308, True, 10**400, "0.5", None, [0.5]])
@pytest.mark.parametrize("place", ["acc,none", "acc_stderr,none"])
def test_no_value_makes_an_entry_that_cannot_be_read(value: Any, place: str) -> None:
    data = patched({f"/results/leaderboard_mmlu_pro/{place}": value})
    waived = [
        {"rule": rule, "submission": "*", "reason": "a test", "who": "me", "until": "2099-01-01"}
        for rule in ("non-finite-value", "value-out-of-range", "value-not-integral", "stderr-contradicts-samples")
    ]
    facts = Facts(today=DAY, waivers=tuple(Waiver.model_validate(one) for one in waived))
    row = outcome_of(data, facts=facts).row
    assert row is not None
    entry = entry_of(row)
    assert entry is not None
    assert parse_entry(entry.to_bytes()) == entry
    json.loads(entry.to_bytes(), parse_constant=pytest.fail)


def test_a_rejected_row_has_no_entry_and_an_incomplete_one_where_the_board_takes_it() -> None:
    refusing = declared().model_copy(update={"average": Average(missing="refused")})
    hole = patched({"/results/leaderboard_mmlu_pro": ABSENT})
    assert outcome_of(patched({"/config/limit": 5.0})).entry() is None
    assert outcome_of(hole, refusing).entry() is None
    assert entry_from(base(), refusing).verdict == entry_from(base()).verdict == "accepted"
    incomplete = entry_from(hole)
    assert (incomplete.verdict, incomplete.warnings) == ("incomplete", ())  # what is missing is in its coverage
    assert (len(raws_of(ENTRY) or ()), raws_of(incomplete)) == (len(ENTRY.tasks), None)


def test_what_a_file_does_not_record_of_a_leaf_is_left_out() -> None:
    leaf = "leaderboard_mmlu_pro"
    entry = entry_from(patched({f"/n-samples/{leaf}": ABSENT}))
    assert (leaf in entry.num_samples, leaf in entry.num_fewshot) == (False, True)


def test_an_entry_says_what_measured_it() -> None:
    tool = HarnessVersion("tool", "acme/tool", "c1" * 20, "1.0")

    def read(path: str, files: Mapping[str, bytes]) -> Parsed:
        parsed = parse_submission(path, files)
        assert parsed.result is not None
        return replace(parsed, result=replace(parsed.result, harness=tool))

    (row,) = judgement_of({"a.json": base()}, read=read).rows
    entry = entry_of(row)
    assert entry is not None
    assert entry.harness == entry.evidence[0].harness == tool
    assert (entry.evidence[0].format, entry.versions["leaderboard_mmlu_pro"]) == ("lm-eval-0.4", "0.1")
    assert entry.stderr == row.scores.stderr is not None
    assert replace(entry, evidence=()).date == ""


def test_a_name_that_is_no_text_is_written_with_escapes() -> None:
    (row,) = judgement_of({"a.json": base()}).rows
    entry = entry_of(row, {"a.json": Evidence(path="a\udcff.json")})
    assert entry is not None
    assert entry.evidence[0].path == "a\\udcff.json"


@pytest.mark.parametrize(
    ("size", "path", "why"),
    [
        (MAX_BYTES, "a.json", "a.json is not an entry of leaderboard-bot/entry/2: "),
        (MAX_BYTES, "", "the entry is not an entry of leaderboard-bot/entry/2: "),
        (MAX_BYTES + 1, "a.json", "a.json has 512.1 KB; the limit is 512 KB"),
        (MAX_BYTES + 1, "", "the entry has 512.1 KB; the limit is 512 KB"),
    ],
)
def test_what_is_no_entry_is_named(size: int, path: str, why: str) -> None:
    with pytest.raises(MalformedEntry) as refused:
        parse_entry(b"x" * size, path)
    assert str(refused.value).startswith(why)


def test_an_entry_that_does_not_read_back_is_refused() -> None:
    leaf = replace(ENTRY.tasks[0].leaves[0], raw=nan)
    with pytest.raises(MalformedEntry, match=rf"\A{re.escape(ENTRY.path)} does not read back as it was written\Z"):
        checked(replace(ENTRY, average=nan))
    with pytest.raises(MalformedEntry):
        checked(replace(ENTRY, tasks=(replace(ENTRY.tasks[0], leaves=(leaf,)),)))
    with pytest.raises(MalformedEntry, match=rf"\A{re.escape(ENTRY.path)} has .*; the limit is 512 KB\Z"):
        checked(replace(ENTRY, tool="x" * MAX_BYTES))
    with pytest.raises(MalformedEntry):
        parse_entry(b" " * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    ("count", "last"),
    [
        (MAX_REMARKS, Remark(f"rule-{MAX_REMARKS - 1}", "text")),
        (MAX_REMARKS + 1, Remark(f"rule-{MAX_REMARKS - 1}", "and 2 more warnings")),
        (900, Remark(f"rule-{MAX_REMARKS - 1}", f"and {900 - MAX_REMARKS + 1} more warnings")),
    ],
)
def test_very_many_warnings_are_counted(count: int, last: Remark) -> None:
    row = outcome_of(base()).row
    assert row is not None
    warnings = [Finding(f"rule-{number}", Severity.WARNING, "text", "", Location("x")) for number in range(count)]
    entry = entry_of(replace(row, findings=tuple(warnings)))
    assert entry is not None
    assert len(entry.warnings) == MAX_REMARKS
    assert entry.warnings[-1] == last


# ---- the same row ----


def moved(entry: Entry, **changes: object) -> Entry:
    return replace(entry, evidence=tuple(replace(file, **changes) for file in entry.evidence))  # type: ignore[type-var]


def test_a_commit_a_path_a_date_or_a_version_of_the_tool_makes_no_other_row() -> None:
    for other in (
        moved(ENTRY, commit="1" * 40), moved(ENTRY, path="elsewhere.json"), moved(ENTRY, date="2030-01-01T00:00:00Z"),
        replace(ENTRY, tool="9.9.9"), moved(ENTRY, submitter="bob"),
    ):  # fmt: skip
        assert is_same_row(ENTRY.to_bytes(), other.to_bytes())
        assert digest_of(ENTRY) == digest_of(other)


def test_another_source_other_bytes_or_any_other_number_make_another_row() -> None:
    task = ENTRY.tasks[1]
    leaf = replace(task.leaves[3], raw=task.leaves[3].raw + 1e-12)
    for other in (
        moved(ENTRY, source="other/results"), moved(ENTRY, sha256="0" * 64), replace(ENTRY, average=1.0),
        replace(ENTRY, evidence=ENTRY.evidence * 2), replace(ENTRY, key="another"),
        replace(ENTRY, tasks=(ENTRY.tasks[0], replace(task, leaves=(*task.leaves[:3], leaf, *task.leaves[4:])))),
    ):  # fmt: skip
        assert not is_same_row(ENTRY.to_bytes(), other.to_bytes())
        assert digest_of(ENTRY) != digest_of(other)


def test_the_digest_of_a_row_is_the_same_in_every_version() -> None:
    """Answers at targets have digests of declined rows: with another one such a row would be proposed again."""
    leaf = LeafScore("bbh_a", "acc,none", 250, 0.5, 0.03, "0", "1", 50.0, "a.json")
    small = replace(
        ENTRY,
        key="tiny/acme/m/0-bfloat16",
        average=50.0,
        stderr=3.0,
        tasks=(TaskScore("bbh", "BBH", 0.5, 50.0, 3.0, (leaf,)), TaskScore("gpqa", "GPQA", None, None, None, ())),
        evidence=(Evidence("acme/results", "a.json", sha256="a" * 64), Evidence("", "b.json", sha256="b" * 64)),
    )

    assert digest_of(small) == "55ee6c1031c5dd4f3a0b1693741161e56bd105951e3f18b07d86106fad718610"


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_what_is_no_entry_is_the_same_as_itself_alone(one: bytes, other: bytes) -> None:
    assert is_same_row(one, other) == (one == other)
    assert not is_same_row(one, ENTRY.to_bytes())
    assert not is_same_row(one, None)
    assert not is_same_row(None, one)
    assert is_same_row(None, None)
    with pytest.raises(MalformedEntry):
        parse_entry(one)


# ---- which of several entries counts ----

HOLE = entry_from(patched({"/results/leaderboard_mmlu_pro": ABSENT}), source="acme/results")


def measured(day: int, entry: Entry = ENTRY) -> Entry:
    return moved(entry, sha256=f"{day:064}", date=f"2026-01-{day:02}T00:00:00Z")


def test_the_most_complete_counts_then_the_newest() -> None:
    old, new, hole = measured(1), measured(2), measured(3, HOLE)
    assert choose([old, new, hole]) == choose([hole, new, old]) == new
    assert choose([measured(1, HOLE), hole]) == hole
    assert choose([hole], old) == old
    assert choose([new], old) == new
    assert choose([old], new) is new


def test_of_two_that_were_measured_at_one_time_the_same_counts_in_any_order() -> None:
    one, other = (replace(moved(ENTRY, sha256=f"{number:064}", date="2026-01-01T00:00:00Z")) for number in (1, 2))
    assert choose([one, other]) == choose([other, one]) == choose([one], other) == choose([other], one)


def test_what_is_there_stays_byte_for_byte_where_the_row_is_the_same() -> None:
    current = moved(measured(1), commit="1" * 40)
    assert choose([measured(1)], current) is current
    anew = replace(measured(1), average=1.0)
    assert choose([anew], current) == anew


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=5), st.randoms())
def test_choosing_again_changes_nothing(numbers: list[tuple[int, bool]], random: Any) -> None:
    candidates = [measured(day, ENTRY if whole else HOLE) for day, whole in dict(numbers).items()]
    best = choose(candidates)
    random.shuffle(candidates)
    assert choose(candidates) == choose(candidates, best) == choose([best], best) == best


def test_an_entry_as_our_own_tool_writes_it_has_possible_numbers() -> None:
    assert parse_entry(ENTRY.to_bytes()) == ENTRY


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((field, number) for field in ("score", "raw") for number in ("1e308", "-1e308", "1e101", "9" * 400)),
        *(("lower_bound", f'"{text}"') for text in ("1e999999999", "1/0", "x", "", f"1/{'9' * 9999}")),
        ("upper_bound", '"0"'),
    ],
)
def test_an_entry_with_a_number_that_no_measurement_gives_is_refused(field: str, value: str) -> None:
    whole = json.loads(ENTRY.to_bytes())
    whole["tasks"][0]["leaves"][0] |= {"lower_bound": "0", field: "HERE"}
    with pytest.raises(MalformedEntry):
        parse_entry(json.dumps(whole).replace('"HERE"', value).encode())


@pytest.mark.parametrize("name", ["average", "stderr", "score"])
def test_an_entry_with_a_score_that_no_measurement_gives_is_refused(name: str) -> None:
    whole = json.loads(ENTRY.to_bytes())
    (whole["tasks"][0] if name == "score" else whole)[name] = -1e308
    for path, named in ("a.json", "a.json"), ("", "the entry"):
        with pytest.raises(MalformedEntry, match=rf"\A{named} has a number that no measurement gives\Z"):
            parse_entry(json.dumps(whole).encode(), path)


@pytest.mark.parametrize("parameters", [0, -1, 10**14 + 1, 10**400])
def test_an_entry_of_a_model_of_no_possible_size_is_refused(parameters: int) -> None:
    whole = json.loads(ENTRY.to_bytes())
    whole["model"]["parameters"] = parameters
    with pytest.raises(MalformedEntry):
        parse_entry(json.dumps(whole).encode())


@pytest.mark.parametrize("date", ["2026", "2026-3-2", "2026-03-02 10:00", "9" * 400, "2026-03-02T10:00:00Z\n"])
def test_an_entry_with_a_date_of_another_form_is_refused(date: str) -> None:
    whole = json.loads(ENTRY.to_bytes())
    for known in ("", "2026-03-02", "2026-03-02T10:00:00Z"):
        whole["evidence"][0]["date"] = known
        assert parse_entry(json.dumps(whole).encode()).evidence[0].date == known
    whole["evidence"][0]["date"] = date
    with pytest.raises(MalformedEntry, match="has a date that is not as"):
        parse_entry(json.dumps(whole).encode())
