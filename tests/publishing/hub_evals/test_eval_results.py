"""Files in `.eval_results`: raw values in the benchmark's unit, by rules stricter than the Hub's client."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from bot.errors import Unwritable
from bot.publishing.hub_evals.eval_result import HubEvalResult, claims_in, parse_eval_results, to_yaml
from bot.publishing.hub_evals.eval_results_layout import is_ours, parse_benchmark, signed
from bot.publishing.publication import Marker
from tests.publishing.hub_evals.models import DATASET, EVAL_YAML, PATH, PRINTABLE, drafted, row, written
from tests.publishing.tables.test_damaged_files import CHANGES, damaged

GOOD = """\
- dataset:
    id: cais/hle
    task_id: default
    revision: 5503434ddd753f426f4b38109466949a1217c2bb
  value: 20.9
  verifyToken: abc.def
  date: '2025-01-15T10:30:00Z'
  source:
    url: https://huggingface.co/datasets/bench/results/blob/main/results/m1.json
    name: Eval traces
    user: SaylorTwift
  notes: no-tools
- dataset: {id: Idavidrein/gpqa, task_id: gpqa_diamond}
  value: 0.412
"""


def test_a_file_says_value_date_source_and_how_it_was_measured() -> None:
    data = written(drafted(row(0.46659)))[PATH].decode()

    first, *rest = data.splitlines()
    assert first.startswith(f"# {Marker('entry', 'a', 'open-llm-v2').render()} sha256:")
    assert (
        "\n".join(rest)
        == f"""\
- dataset:
    id: TIGER-Lab/MMLU-Pro
    task_id: mmlu_pro
  value: 46.659
  date: '2026-03-03'
  source:
    url: 'https://huggingface.co/datasets/acme/results/blob/{"a" * 40}/x/results.json'
    name: Open LLM Leaderboard v2
    user: acme-bot
  notes: 'lm-evaluation-harness 0.4.9, 5-shot, n=12032, model revision 651099358104'"""
    )


def test_what_we_write_is_what_the_client_and_both_dialects_of_yaml_read() -> None:
    data = written(drafted())[PATH]
    (ours,) = parse_eval_results(data)

    for read in (yaml.safe_load(data), YAML(typ="safe").load(data)):
        (theirs,) = parse_eval_result_entries(read)
        assert (theirs.dataset_id, theirs.task_id, theirs.value) == (DATASET, "mmlu_pro", 50.0)
        assert (theirs.date, theirs.source_url, theirs.notes) == (ours.date, ours.source_url, ours.notes)
        assert theirs.verify_token is None
        assert eval_result_entries_to_yaml([theirs])[0]["date"] == "2026-03-03"


texts = st.text(PRINTABLE, min_size=1, max_size=60)


@given(
    st.builds(
        HubEvalResult,
        dataset_id=texts,
        task_id=texts,
        value=st.decimals(0, 100, places=6),
        date=st.sampled_from(["", "2026-01-01", "2026-01-01T00:00:00Z"]),
        dataset_revision=st.just("") | texts,
        source_url=st.just("https://example.org/x"),
        source_name=texts,
        source_org=texts,
        notes=texts,
    )
)
def test_nothing_breaks_out_of_a_file_and_what_we_accept_the_client_parses(result: HubEvalResult) -> None:
    data = to_yaml(result).encode()

    for read in (yaml.safe_load(data), YAML(typ="safe").load(data)):
        (theirs,) = parse_eval_result_entries(read)
        assert (theirs.dataset_id, theirs.task_id, theirs.notes) == (result.dataset_id, result.task_id, result.notes)
        assert (theirs.dataset_revision or "") == result.dataset_revision
        assert (theirs.source_name, theirs.source_org, theirs.date or "") == (
            result.source_name,
            result.source_org,
            result.date,
        )
        assert Decimal(repr(float(theirs.value))) == result.value


def test_the_documented_example_is_read() -> None:
    first, second = parse_eval_results(GOOD.encode())

    assert first.dataset_revision == "5503434ddd753f426f4b38109466949a1217c2bb"
    assert (first.value, first.date, first.has_token) == (Decimal("20.9"), "2025-01-15T10:30:00Z", True)
    assert (second.dataset_id, second.value) == ("Idavidrein/gpqa", Decimal("0.412"))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("value: 20.9", "value: '20.9'", "^value is not a plain decimal number$"),
        ("value: 20.9", "value: .nan", "^value is not a plain decimal number$"),
        ("value: 20.9", "value: 1e1", "^value is not a plain decimal number$"),
        ("value: 20.9", "value: 12:30", "^value is not a plain decimal number$"),
        ("value: 20.9", "value: {a: 1}", "^value is not a plain decimal number$"),
        ("  value: 20.9\n", "", "an entry has no value"),
        ("    task_id: default\n", "", "dataset has no task_id"),
        ("task_id: default", "task_id: 7", "task_id is not a text"),
        ("date: '2025-01-15T10:30:00Z'", "date: 2025-01-15", "a date needs quotes"),
        ("date: '2025-01-15T10:30:00Z'", "date: 'yesterday'", "is not an ISO 8601 date"),
        ("    url: https", "    link: https", "source has the key 'link'"),
        ("    url: https://huggingface.co/datasets/bench/results/blob/main/results/m1.json\n", "", "source has no url"),
        ("url: https://hug", "url: javascript:hug", "^source.url is not an address of the web$"),
        ("notes: no-tools", "note: x", "an entry has the key 'note'"),
        ("notes: no-tools", "notes: x\n  notes: y", "there twice"),
        ("notes: no-tools", f"{'n' * 60}: x", f"an entry has the key '{'n' * 40}', which"),
        ("notes: no-tools", f"notes: {'n' * 1_001}", "notes is not a text of one line"),
        ("notes: no-tools", 'notes: "a\\nb"', "not a text of one line"),
        ("  source:\n", "  source: x\n  more:\n", "the key 'more'"),
        (
            "id: Idavidrein/gpqa, task_id: gpqa_diamond",
            "id: cais/hle, task_id: default",
            "^it has two entries for one task$",
        ),
        (GOOD, "dataset: {}\n", "^it is not a list of entries$"),
        (GOOD, "[]\n", "^it is not a list of entries$"),
        (GOOD, "- 7\n", "an entry is not a mapping"),
        (GOOD, "[" * 100_000, "nested more than"),
        (GOOD, "x" * 100_001, "the limit is 100,000"),
    ],
)
def test_what_the_client_lets_through_is_refused(old: str, new: str, reason: str) -> None:
    assert old in GOOD
    with pytest.raises(Unwritable, match=reason):
        parse_eval_results(GOOD.replace(old, new).encode())
    with pytest.raises(Unwritable, match=r"^it is not UTF-8 text$"):
        parse_eval_results(b"\xff")


def test_a_value_without_a_source_and_notes_at_their_limit_are_written_and_read() -> None:
    result = HubEvalResult("a/b", "c", Decimal(1), notes="n" * 1_000)
    assert to_yaml(result) == f"- dataset:\n    id: a/b\n    task_id: c\n  value: 1\n  notes: {'n' * 1_000}\n"
    with pytest.raises(Unwritable, match=r"^the entry does not read back as it was written$"):
        to_yaml(replace(result, has_token=True))
    assert parse_eval_results(to_yaml(replace(result, source_url="https://a.org")).encode())[0].source_name == ""


def test_the_documentation_s_template_is_no_result_but_says_which_tasks_it_is_about() -> None:
    data = b"- dataset: {id: cais/hle, task_id: {task_id}}\n  value: {metric_value}\n- dataset: {id: a/b, task_id: c}\n"
    data += b"  value: 0.412\n- dataset: x\n- value: 1\n"

    with pytest.raises(Unwritable):
        parse_eval_results(data)
    claims = claims_in(data, "x.yaml")
    assert [(claim.dataset_id, claim.value) for claim in claims] == [("cais/hle", None), ("a/b", Decimal("0.412"))]
    assert claims_in(b"\xff", "x") == claims_in(b"a: [", "x") == claims_in(b"a: 1", "x") == ()


def test_a_file_is_ours_as_long_as_nobody_edits_it() -> None:
    data = signed("- x: 1\n", Marker("entry", "a/b --> c", "tiny"))

    assert is_ours(data, "tiny")
    assert not is_ours(data, "other")
    assert not is_ours(data.replace(b"x: 1", b"x: 2"), "tiny")
    assert not is_ours(data.partition(b"\n")[2], "tiny")
    assert not is_ours(b"", "tiny")
    assert data.count(b"\n") == 2


def test_real_files_are_read_or_named_faulty_and_each_says_its_tasks(reference: Path) -> None:
    files = sorted((reference / "wild" / "hf-eval-results").rglob("*.yaml"))

    assert files
    for file in files:
        data = file.read_bytes()
        claims = claims_in(data, file.name)
        assert claims
        try:
            found = parse_eval_results(data)
        except Unwritable:
            assert file.name == "eval_results.yaml"
            continue
        assert [claim.value for claim in claims] == [result.value for result in found]


@given(changes=CHANGES)
def test_a_damaged_file_is_read_or_named_faulty(changes: list[tuple[int, int, bytes]]) -> None:
    for good, parse in ((GOOD.encode(), parse_eval_results), (EVAL_YAML, parse_benchmark)):
        data = damaged(good, changes)
        claims_in(data, "x.yaml")
        with suppress(Unwritable):
            assert parse(data)
