"""Whatever stands in a field of a file: no crash, no endless text, nothing unprintable, entries read back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from math import inf, nan
from typing import Any

import pytest

from bot.errors import MalformedEntry
from bot.evaluation.leaderboard import Waiver
from bot.evaluation.rules import ROW_RULES, RULES
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import MAX_PATH
from bot.publishing.board import make_board, to_csv
from bot.publishing.entry import Evidence, entry_of, parse_entry
from bot.publishing.publication import Marker
from bot.publishing.texts import judgement_text, request_text, row_text
from bot.reporting.annotations import annotate
from bot.reporting.explanation import explanation_text
from bot.reporting.markdown import judgement_markdown
from bot.reporting.report import make_report, to_json
from bot.reporting.scores import scores_csv, scores_markdown, scores_text
from bot.reporting.text import Ink, summary_text, terminal_text
from tests.evaluation.judging import Outcome, base, base_v1, base_v1_today, outcome_of, patched

# Everything is waived, so that every number goes as far as it can.
WAIVERS = tuple(
    Waiver.model_validate({"rule": rule.id, "submission": "*", "reason": "a test", "who": "me", "until": "2099-01-01"})
    for rule in (*RULES, *ROW_RULES)
)
FACTS = Facts(today=date(2026, 6, 1), waivers=WAIVERS)
STARTS = {
    "lm-eval-0.4": (base, "open-llm-v2"), "today": (base_v1_today, "open-llm-v1"), "v1": (base_v1, "open-llm-v1"),
}  # fmt: skip
VALUES = {
    "long": "x" * 200_000, "words": "fixes #1 [skip ci] @ann ::error::x ##[group]\x1b[2J\u202e\n`|<b>",
    "half": "\ud800", "digits": 10**400, "huge": -(10**30), "nan": nan, "infinite": inf, "large": 1e308,
    "minus-zero": -0.0, "tiny": 5e-324, "true": True, "null": None, "array": [[]] * 10, "object": {"a": {"b": 1}},
    "empty": "",
}  # fmt: skip


def places(value: Any, pointer: str = "") -> Iterator[str]:
    """Every field of a file; of the tasks of one kind the first."""
    if not isinstance(value, dict):
        yield pointer
        return
    for key, inner in [*value.items()][:1] if len(value) > 20 else value.items():
        yield from places(inner, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    yield pointer


def texts_of(outcome: Outcome) -> dict[str, str]:
    """Every text that is made of it."""
    judgement = outcome.judgement
    return {
        "text": terminal_text(judgement, Ink(colour=False)),
        "summary": summary_text(judgement, Ink(colour=False)),
        "markdown": judgement_markdown(judgement),
        "json": to_json(make_report(judgement)),
        "explanation": explanation_text(judgement),
        "scores": "".join(write(judgement) for write in (scores_text, scores_markdown, scores_csv)),
        "annotations": "\n".join(annotate(outcome.findings)),
        "comment": judgement_text(judgement, Marker("verdict", "x", judgement.leaderboard.id)).body,
    }


def check(data: bytes, leaderboard: str, path: str = "results_x.json") -> Outcome:
    outcome = outcome_of(data, leaderboard, FACTS, path)
    texts = texts_of(outcome)
    entry = entry_of(outcome.row) if outcome.row else None
    if entry is not None:
        assert parse_entry(entry.to_bytes()) == entry
        json.loads(entry.to_bytes(), parse_constant=pytest.fail)
        mark = Marker("entry", entry.key, entry.leaderboard.id)
        post = request_text(entry, entry, mark)
        assert len(post.title) <= 200
        texts |= {"title": post.title, "request": post.body, "row": row_text(entry, None, mark).body}
        texts["board"] = to_csv(make_board([entry], outcome.judgement.leaderboard)).decode()
        assert max(map(len, entry.path.split("/"))) <= 200
    for name, text in texts.items():
        assert text.replace("\n", "").isprintable(), name
        assert len(text) < (500_000 if name == "json" else 70_000), name
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("start", STARTS)
def test_no_field_does_harm(start: str, value: str) -> None:
    make, leaderboard = STARTS[start]
    for place in places(make()):
        check(json.dumps(patched({place: VALUES[value]}, make())).encode(), leaderboard)


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("key", [VALUES["long"], VALUES["words"], VALUES["half"], "", "/", "~"])
def test_no_key_does_harm(start: str, key: str) -> None:
    make, leaderboard = STARTS[start]
    pointer = key.replace("~", "~0").replace("/", "~1")
    for place in places(make()):
        if isinstance(patched_value(make(), place), dict):
            check(json.dumps(patched({f"{place}/{pointer}": 0.5}, make())).encode(), leaderboard)


def patched_value(data: Any, pointer: str) -> Any:
    """What a pointer names."""
    for part in pointer[1:].split("/") if pointer else ():
        data = data[part.replace("~1", "/").replace("~0", "~")]
    return data


@pytest.mark.parametrize(
    "name", ["a\udcff.json", "=1 ##[a]\n::b::\x1b.json", "n/" * 400 + "x.json", "fixes #1 @a.json"]
)
def test_no_path_does_harm(name: str) -> None:
    assert check(json.dumps(base()).encode(), "open-llm-v2", name).row is not None


def test_a_path_that_no_disk_has_is_a_finding() -> None:
    outcome = check(json.dumps(base()).encode(), "open-llm-v2", "n" * MAX_PATH + ".json")
    (finding,) = outcome.verdict.findings
    assert finding.rule == "malformed-file"
    assert "has a path of 1,005 bytes; more than 1,000 are not read" in finding.message


def test_an_entry_too_large_is_refused_and_named() -> None:
    row = outcome_of(base()).row
    assert row is not None
    with pytest.raises(MalformedEntry, match="the limit is 512 KB"):
        entry_of(row, {"results_x.json": Evidence(path="x" * 100_000)})
