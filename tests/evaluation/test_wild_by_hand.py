"""Three real files of each format with a reader here, read by hand: value, standard error, samples, shots, version."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bot.evaluation.submission import Parsed
from tests.evaluation.test_wild import found_in


class ByHand(NamedTuple):
    """What stands in a file; `end` is the end of its path, or that of the run's folder."""

    folder: str
    end: str
    leaf: str
    value: tuple[str, float]
    stderr: tuple[str, float] | None
    samples: int
    size: int | None
    shots: int | None
    version: Any


HOTPOT, POPULARITY = "community|hotpotqa|0", "popularity match"
HELLASWAG = "commonsense:dataset=hellaswag,method=multiple_choice_joint"
FILES = [
    ByHand("lighteval", "Qwen2.5-0.5B/results_2025-06-16T16-49-36.857306.json", HOTPOT,
           ("entailment_fuzzy", 0.471471942698409), ("entailment_fuzzy_stderr", 0.003308778534721759),
           7405, 7405, 0, 0),
    ByHand("lighteval", "Qwen2.5-32B/results_2025-06-16T11-47-23.206593.json", HOTPOT,
           ("f1", 0.34411188821296723), ("f1_stderr", 0.005019789942041734), 7405, 7405, 0, 0),
    ByHand("lighteval", "Llama-3.1-8B/results_2025-06-16T11-54-37.194016.json", HOTPOT,
           ("f1", 0.2038092070328908), ("f1_stderr", 0.004001051121316322), 7405, 7405, 0, 0),
    ByHand("inspect-eval", "log_streaming.eval", POPULARITY,
           ("accuracy", 0.75), ("stderr", 0.25), 2, 100, None, 0),  # two samples of two epochs each
    ByHand("inspect-json", "2025-05-12T20-28-26-04-00_security-guide.json", "security_guide model_graded_fact",
           ("accuracy", 1.0), ("stderr", 0.0), 3, 16, None, 0),
    ByHand("inspect-json", "2025-05-12T20-28-13-04-00_popularity.json", POPULARITY,
           ("accuracy", 0.6666666666666666), ("stderr", 0.33333333333333337), 3, 100, None, 0),
    ByHand("helm", "method=multiple_choice_joint,model=eleutherai_pythia-1b-v0", HELLASWAG,
           ("exact_match", 0.3), ("exact_match_stderr", (0.3 * 0.7 / 9) ** 0.5), 10, None, 5, None),
    ByHand("helm", "v3/anthropic_red_team:model=anthropic_claude-3-5-sonnet-20240620", "anthropic_red_team",
           ("art_gpt_score", 1.0), ("art_gpt_score_stderr", 0.0), 2, None, 0, None),
]  # fmt: skip


@pytest.mark.parametrize("wanted", FILES, ids=lambda wanted: f"{wanted.folder}-{wanted.end[-40:]}")
def test_a_real_file_gives_what_was_read_by_hand(reference: Path, wanted: ByHand) -> None:
    found = found_in(reference / "wild", wanted.folder)
    one = next(one for path, one in found.items() if path.endswith(wanted.end))
    assert isinstance(one, Parsed)
    assert one.result is not None
    leaf = one.result.leaves[wanted.leaf]
    assert leaf.numbers[wanted.value[0]] == wanted.value[1]
    if wanted.stderr is not None:
        assert leaf.numbers[wanted.stderr[0]] == pytest.approx(wanted.stderr[1], rel=1e-12, abs=1e-15)
    assert (leaf.samples, leaf.original, leaf.num_fewshot) == (wanted.samples, wanted.size, wanted.shots)
    assert wanted.version is None or leaf.version == wanted.version
