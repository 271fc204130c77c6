"""Files that the newest releases of tools wrote themselves: recorded/README.md has the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.audits.samples.check import check_leaf
from bot.audits.samples.find import find_logs
from bot.evaluation.judge import judge_all
from bot.evaluation.submission import Parsed
from bot.platforms.inputs import local_places
from tests.evaluation.drafting import drafted

RECORDED = Path(__file__).parent / "recorded"


def recorded(folder: str) -> tuple[Path, Parsed]:
    """The only result in a folder, with its path."""
    places = local_places(str(RECORDED / folder))
    ((name, parsed),) = [
        (place.name, parsed)
        for place in places
        if isinstance(parsed := place.parse(), Parsed) and parsed.result is not None
    ]
    return Path(name), parsed


def findings(parsed: Parsed) -> dict[str, str]:
    """What is found where the board is the one drafted from the file itself."""
    assert parsed.result is not None
    (verdict,) = judge_all([parsed], drafted(parsed.result)[0]).verdicts
    return {one.rule: str(one.severity) for one in verdict.findings}


def test_lm_eval_0_4_13_with_its_log() -> None:
    path, parsed = recorded("lm-eval-0.4.13")
    result = parsed.result
    assert result is not None
    (leaf,) = result.leaves.values()
    assert (result.format, result.harness.version, result.model.source) == ("lm-eval-0.4", "0.4.13", "dummy")
    assert (leaf.num_fewshot, leaf.version, leaf.samples, leaf.original) == (0, 2.0, 20, 20)
    assert leaf.numbers["acc,none"] == 0.4
    assert findings(parsed) == {
        "contradicts-itself": "error", "unidentified-model": "error", "unpinned-revision": "warning",
    }  # fmt: skip
    checked = check_leaf(result, "plus", find_logs(path, result)["plus"], "log")
    assert checked is not None
    assert (checked.count, checked.unreadable, dict(checked.means)) == (20, "", {"acc,none": 0.4})
    assert "acc,none" in checked.answers


def test_inspect_0_3_285_with_its_samples() -> None:
    path, parsed = recorded("inspect-0.3.285")
    result = parsed.result
    assert result is not None
    assert (result.format, result.harness.version, result.limit) == ("inspect", "0.3.285", 4)
    assert {key: (dict(leaf.numbers), leaf.samples, leaf.original, leaf.epochs, leaf.version)
            for key, leaf in result.leaves.items()} == {
        f"quiz(subject=law) {name}": ({"accuracy": 0.5, "stderr": pytest.approx(0.288675)}, 4, 5, 2, 3)
        for name in ("includes", "match")
    }  # fmt: skip
    assert findings(parsed) == {"contradicts-itself": "error", "limited-run": "error", "unpinned-revision": "warning"}
    for leaf, log in find_logs(path, result).items():
        checked = check_leaf(result, leaf, log, "log")
        assert checked is not None
        assert (checked.count, checked.unreadable, tuple(checked.answers)) == (8, "", ("accuracy",))


def test_evalscope_1_14_1() -> None:
    _, parsed = recorded("evalscope-1.14.1")
    result = parsed.result
    assert result is not None
    (leaf,) = result.leaves.values()
    assert (result.format, result.unfinished, leaf.samples, leaf.original, leaf.errored) == (
        "evalscope",
        "",
        6,
        None,
        None,
    )
    assert next(iter(leaf.numbers.items())) == ("rouge statistic=recall variant=l", 0.4)  # that EvalScope itself takes
    assert len(leaf.numbers) == len(leaf.ranges) == 13
    assert findings(parsed) == {"unpinned-revision": "warning"}
