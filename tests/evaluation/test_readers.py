"""Every reader, on files of its format with anything anywhere: a verdict that can be stored and shown, no crash."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.evaluation.result import escape_pointer
from bot.evaluation.submission import parse_submission
from bot.reporting.draft import draft_text
from bot.reporting.locate import with_lines
from bot.reporting.report import make_report, to_json
from tests.evaluation import test_evalchemy, test_every_eval_ever, test_lm_eval_03, test_mteb, test_olmes
from tests.evaluation import test_tools_of_one_number as few
from tests.evaluation.judging import dumps
from tests.evaluation.test_properties import JSON, survives

SHAPES: dict[str, dict[str, Any]] = {
    "evalchemy": test_evalchemy.evalchemy(
        test_evalchemy.mbpp(0.372) | {"AIME24": {"accuracy_avg": 0.1, "accuracy_std_err": 0.01, "num_total": 30}}
    ),
    "lmms-eval": few.lmms({"doc_to_visual": "x"}),
    "evalplus": few.solved("r", "b", "w"),
    "evalscope": few.report(),
    "harbor": few.job(0.25, few.REWARDS, few.FAILED),
    "every-eval-ever": test_every_eval_ever.record(test_every_eval_ever.ACC, test_every_eval_ever.STRICT),
    "mteb": test_mteb.task("Tweets", {"test": [test_mteb.ARABIC]}),
    "mteb-old": {"mteb_dataset_name": "AJGT", "mteb_version": "1.7.39", "train": {"accuracy": 0.7, "main_score": 0.7}},
    "olmes": test_olmes.run(test_olmes.MATH, test_olmes.AIME),
    "lm-eval-0.3": test_lm_eval_03.listed(*test_lm_eval_03.PRONOUNS),
    "olmes-old": {
        "all_primary_scores": ["a: 0.5"],
        "metrics": [{"task": "a", "acc_raw": 0.5, "num_instances": 10, "task_config": {"num_shots": 5, "limit": 10}}],
        "model_config": {"model": "acme/atlas", "revision": "main"},
    },
}


def pointers(value: Any, above: str = "") -> list[str]:
    """Every place in a JSON value."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = [(escape_pointer(key), one) for key, one in value.items()]
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [above, *(place for key, one in inner for place in pointers(one, f"{above}/{key}"))]


def put(shape: Any, pointer: str, value: Any) -> Any:
    """A copy of the shape with another value at a place."""
    if not pointer:
        return value
    whole = deepcopy(shape)
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))
    inner = whole
    for part in way:
        inner = inner[int(part) if isinstance(inner, list) else part]
    inner[int(last) if isinstance(inner, list) else last] = value
    return whole


def drafted(shape: Any) -> Leaderboard:
    """A board that takes the shape, so that all rules look at what is put into it."""
    return parse_leaderboard(draft_text(draft_of([parse_result(dumps(shape))])), "board", "board.toml")


BOARDS = {name: drafted(shape) for name, shape in SHAPES.items()}
PLACES = [(name, place) for name, shape in SHAPES.items() for place in pointers(shape)]


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_read_as_its_format(name: str) -> None:
    result = parse_result(dumps(SHAPES[name]))
    assert name.startswith(result.format)
    assert result.leaves


@given(st.sampled_from(PLACES), JSON)
def test_a_file_with_anything_anywhere_is_read_or_refused(place: tuple[str, str], value: Any) -> None:
    name, pointer = place
    data = dumps(put(SHAPES[name], pointer, value))
    survives(data)
    parsed = parse_submission("results_x.json", {"": data})
    judgement = judge_all([parsed], BOARDS[name])
    assert to_json(make_report(with_lines(judgement, lambda _: data)))
