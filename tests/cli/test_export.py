"""Rows as records of Every Eval Ever: what the schema demands, and the same values when they are read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.evaluation.formats import parse_result
from tests.world.results import TINY, path_of, result

# Of eval.schema.json of every-eval-ever 0.3.0, whose `validate` passed on these records.
TOP = {"schema_version", "evaluation_id", "evaluation_timestamp", "retrieved_timestamp", "source_metadata",
       "eval_library", "model_info", "evaluation_results"}  # fmt: skip
SOURCE = {"source_name", "source_type", "source_organization_name", "evaluator_relationship", "additional_details"}
RESULT = {"evaluation_name", "source_data", "metric_config", "score_details", "generation_config"}


def exported(tmp_path: Path, *names: str) -> list[tuple[str, dict[str, Any]]]:
    out = tmp_path / "out"
    words = ["--leaderboard", str(tmp_path / "tiny.toml"), "--format", "every-eval-ever", "--out", str(out)]
    done = CliRunner().invoke(app, ["export", *names, *words])
    assert done.exit_code == 0, done.output
    return [(path.relative_to(out).as_posix(), json.loads(path.read_text())) for path in sorted(out.rglob("*.json"))]


def texts_of(value: Any) -> list[Any]:
    """Every value of `additional_details`, wherever one is."""
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    if not isinstance(value, dict):
        return []
    own = [*value["additional_details"].values()] if "additional_details" in value else []
    return own + [text for one in value.values() for text in texts_of(one)]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    place = tmp_path / "results" / path_of()
    place.parent.mkdir(parents=True)
    place.write_bytes(result())
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path / "results"


def test_a_row_is_read_back_with_the_same_values(results: Path, tmp_path: Path) -> None:
    was = parse_result(result())
    found = exported(tmp_path, str(results))
    assert found
    seen = {}
    for path, record in found:
        read = parse_result(json.dumps(record).encode())
        model = read.model
        assert (model.id, model.revision, model.precision) == (was.model.id, was.model.revision, "bfloat16")
        assert (model.chat_template, read.date) == (was.model.chat_template, was.date)
        assert path.startswith(f"tiny/{was.model.id}/")
        seen |= read.leaves
    for key, leaf in seen.items():
        (name, value), *errors = leaf.numbers.items()
        there = was.leaves[key].numbers
        own = next(one for one in there if one.partition(",")[0] == name)
        assert value == there[own]
        assert [error for _, error in errors] == [there[own.replace(",", "_stderr,")]]
        assert (leaf.num_fewshot, leaf.samples) == (was.leaves[key].num_fewshot, was.leaves[key].samples)
    assert set(seen) <= set(was.leaves)


def test_a_record_has_what_the_schema_demands_and_nothing_else(results: Path, tmp_path: Path) -> None:
    for _, record in exported(tmp_path, str(results)):
        assert set(record) == TOP
        assert set(record["source_metadata"]) == SOURCE
        assert {"deployment_type", "model_availability"} <= set(record["model_info"]["additional_details"])
        for one in record["evaluation_results"]:
            assert set(one) <= RESULT
            assert len(one["source_data"]["additional_details"]["sha256"]) == 64
            assert type(one["metric_config"]["lower_is_better"]) is bool
        assert {type(text) for text in texts_of(record)} == {str}


def test_a_target_is_exported_as_its_files_are(results: Path, tmp_path: Path) -> None:
    call = ["publish", str(results), "--to", str(tmp_path / "board"), "--as", "commit"]
    done = CliRunner().invoke(app, [*call, "--leaderboard", str(tmp_path / "tiny.toml")])
    assert done.exit_code == 0, done.output
    of_files = [one["evaluation_results"] for _, one in exported(tmp_path, str(results))]
    (tmp_path / "out").rename(tmp_path / "before")
    assert [one["evaluation_results"] for _, one in exported(tmp_path, str(tmp_path / "board"))] == of_files


def test_without_a_row_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    call = ["export", str(tmp_path / "nothing"), "--format", "every-eval-ever", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, call)
    assert done.exit_code != 0
    assert not (tmp_path / "out").exists()
