"""Files in `.eval_results`: raw values in the benchmark's unit, read back before they are written."""

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

from bot.errors import Unwritable
from bot.publishing.hub_evals.eval_result import HubEvalResult, claims_in, to_yaml
from bot.publishing.hub_evals.eval_results_layout import EvalResultsLayout, is_ours, parse_benchmark, signed
from bot.publishing.publication import Marker
from tests.publishing.hub_evals.models import DATASET, EVAL_YAML, PATH, PRINTABLE, board, drafted, page, row, written
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
  notes: 'lm-evaluation-harness 0.4.9, 5-shot, n=12032, model revision 651099358104, evidence: file'"""
    )


def test_what_we_write_is_what_the_client_and_both_dialects_of_yaml_read() -> None:
    from ruamel.yaml import YAML

    data = written(drafted())[PATH]
    (ours,) = claims_in(data, PATH)

    for read in (yaml.safe_load(data), YAML(typ="safe").load(data)):
        (theirs,) = parse_eval_result_entries(read)
        assert (theirs.dataset_id, theirs.task_id, theirs.value) == (DATASET, "mmlu_pro", 50.0)
        assert (theirs.date, theirs.notes) == (ours.date, ours.notes)
        assert theirs.source_url == f"https://huggingface.co/datasets/acme/results/blob/{'a' * 40}/x/results.json"
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
        source_url=st.just("https://example.org/x"),
        source_name=texts,
        source_org=texts,
        notes=texts,
    )
)
def test_nothing_breaks_out_of_a_file_and_what_we_accept_the_client_parses(result: HubEvalResult) -> None:
    from ruamel.yaml import YAML

    data = to_yaml(result).encode()

    for read in (yaml.safe_load(data), YAML(typ="safe").load(data)):
        (theirs,) = parse_eval_result_entries(read)
        assert (theirs.dataset_id, theirs.task_id, theirs.notes) == (result.dataset_id, result.task_id, result.notes)
        assert (theirs.source_name, theirs.source_org, theirs.date or "") == (
            result.source_name,
            result.source_org,
            result.date,
        )
        assert Decimal(repr(float(theirs.value))) == result.value


def test_the_documented_example_is_read() -> None:
    first, second = claims_in(GOOD.encode(), "x.yaml")

    assert (first.value, first.date, first.notes) == (Decimal("20.9"), "2025-01-15T10:30:00Z", "no-tools")
    assert (second.dataset_id, second.value, second.date, second.notes) == (
        "Idavidrein/gpqa", Decimal("0.412"), "", "",
    )  # fmt: skip


def test_what_is_empty_is_left_out_and_what_does_not_read_back_is_refused() -> None:
    result = HubEvalResult("a/b", "c", Decimal(1), notes="n" * 1_000)
    assert to_yaml(result) == f"- dataset:\n    id: a/b\n    task_id: c\n  value: 1\n  notes: {'n' * 1_000}\n"
    with pytest.raises(Unwritable, match=r"^the entry does not read back as it was written$"):
        to_yaml(replace(result, notes="a\nb"))
    assert "  source:\n    url: 'https://a.org'\n  notes: n" in to_yaml(replace(result, source_url="https://a.org"))


def test_the_documentation_s_template_says_which_tasks_it_is_about() -> None:
    data = b"- dataset: {id: cais/hle, task_id: {task_id}}\n  value: {metric_value}\n- dataset: {id: a/b, task_id: c}\n"
    data += b"  value: 0.412\n- dataset: x\n- value: 1\n"

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


def test_real_files_say_their_tasks(reference: Path) -> None:
    files = sorted((reference / "wild" / "hf-eval-results").rglob("*.yaml"))

    assert files
    for file in files:
        claims = claims_in(file.read_bytes(), file.name)
        assert claims
        assert file.name == "eval_results.yaml" or None not in [claim.value for claim in claims]


@given(changes=CHANGES)
def test_a_damaged_file_is_read_or_named_faulty(changes: list[tuple[int, int, bytes]]) -> None:
    claims_in(damaged(GOOD.encode(), changes), "x.yaml")
    with suppress(Unwritable):
        assert parse_benchmark(damaged(EVAL_YAML, changes))


def test_a_file_with_our_mark_and_no_number_is_replaced() -> None:
    said = f"- dataset: {{id: {DATASET}, task_id: mmlu_pro}}\n  value: many\n"
    draft = EvalResultsLayout(board(), page()).draft(
        [row(0.5)], {PATH: signed(said, Marker("entry", "a", "open-llm-v2"))}
    )
    assert [(cell.before, cell.after) for cells in draft.cells.values() for cell in cells] == [(None, "50")]
