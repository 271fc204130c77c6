"""Sentences of findings as people read them: one thing is no plural."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.formats import parse_result
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import EvidenceDemand, Leaderboard, parse_leaderboard
from bot.evaluation.submission import parse_submission
from bot.reporting.draft import draft_text
from tests.evaluation.inspect_logs import log_json, score
from tests.evaluation.judging import Outcome, dumps, outcome_of, patch, patched
from tests.evaluation.test_every_eval_ever import ACC
from tests.evaluation.test_every_eval_ever import record as record_of
from tests.evaluation.test_lighteval import release_08
from tests.evaluation.test_olmes import MATH, run
from tests.world.results import TINY, result

PRO = "leaderboard_mmlu_pro"


def message(outcome: Outcome, rule: str) -> str:
    (found,) = [finding.message for finding in outcome.findings if finding.rule == rule]
    return found


@pytest.mark.parametrize(
    ("changes", "rule", "said"),
    [
        ({f"/n-shot/{PRO}": 1}, "wrong-num-fewshot", f"{PRO} was run with 1 shot, 5 are required"),
        ({f"/n-shot/{PRO}": 0}, "wrong-num-fewshot", f"{PRO} was run with 0 shots, 5 are required"),
        ({"/config/limit": 1}, "limited-run", "the run was limited to 1 sample of each task (--limit)"),
        ({"/config/limit": 2}, "limited-run", "the run was limited to 2 samples of each task (--limit)"),
    ],
)
def test_numbers_agree_with_their_nouns(changes: dict[str, Any], rule: str, said: str) -> None:
    found = message(outcome_of(patched(changes | {"/n-samples": {}} if "limit" in rule else changes)), rule)
    assert found == said
    assert not re.search(r"\b1 [a-z]+s\b", found)


@pytest.mark.parametrize(("unscored", "said"), [(1, "1 sample was run and not scored"), (3, "3 samples were run")])
def test_samples_without_a_score_are_counted_in_plain_words(unscored: int, said: str) -> None:
    data = log_json(results={"scores": [score("judge", 0.5, 10 - unscored, unscored_samples=unscored)]})
    board = parse_leaderboard(draft_text(draft_of([parse_result(data)])), "board", "board.toml")
    assert said in message(outcome_of(data, board), "unscored-samples")


@pytest.mark.parametrize(("value", "hint"), [(-1.0, "leave the value out if -1 says that there is none"), (-0.5, "")])
def test_a_value_that_stands_for_none_is_told(value: float, hint: str) -> None:
    """As 160 values of helm_classic in evaleval/every_eval_ever `dcb00c1e`."""
    found = outcome_of(patched({f"/results/{PRO}/acc,none": value})).findings
    assert [one.hint for one in found if one.rule == "value-out-of-range"] == [hint]


def test_a_group_that_the_declaration_names_as_a_task_is_called_a_group() -> None:
    data = result(group_subtasks={"logic": ["logic_a", "logic_b"]})
    found = message(outcome_of(data, parse_leaderboard(TINY, "tiny", "tiny.toml")), "missing-task")
    assert found == ("logic is a group in this file, but Logic names it as a task: name its members, logic_a, logic_b")


def board_of(format_id: str, leaf: str, metric: str, **harness: Any) -> Leaderboard:
    task: dict[str, Any] = {"id": "task", "title": "Task", "metrics": [{"name": metric}]}
    task["leaves"] = [{"id": "leaf", "keys": {format_id: leaf}}]
    declared = {"id": "b", "title": "B", "description": "B.", "harness": {"formats": [format_id], **harness}}
    return Leaderboard.model_validate({**declared, "tasks": [task]})


def test_advice_is_in_the_words_of_the_tool_that_wrote_the_file() -> None:
    limited = patch(release_08(), "/config_general/max_samples", 50)
    accepted = {"accepted": [{"repository": "EleutherAI/lm-evaluation-harness", "releases": ["0.4.9"], "reason": "a"}]}
    record = record_of(ACC, eval_library={"name": "unknown", "version": "unknown"})
    for data, board, rule, hint in (
        (limited, board_of("lighteval", "community|hotpotqa|0", "f1"), "limited-run",
         "run it again without --max-samples; there is no command: the file does not record all that its call needs"),
        (run(MATH), board_of("olmes", MATH["alias"], "exact_match", chat_template="never"), "chat-template-differs",
         "run again without the chat template; there is no command: the file does not record all that its call needs"),
        (record, board_of("every-eval-ever", "arc_easy", "acc", **accepted), "unverifiable-harness-commit",
         ("the result may be right; the board's maintainer may declare the versions of the tool under "
          "[[harness.accepted]]")),
    ):  # fmt: skip
        findings = outcome_of(data, board).findings
        assert [found.hint for found in findings if found.rule == rule] == [hint]


def test_a_missing_sample_log_is_asked_for_as_the_tool_writes_it() -> None:
    for data, board, hint in (
        (release_08(), board_of("lighteval", "community|hotpotqa|0", "f1"),
         "measure with --save-details, and submit the logs where the tool writes them"),
        (run(MATH), board_of("olmes", MATH["alias"], "exact_match"), "no log of this tool is read"),
    ):  # fmt: skip
        parsed = replace(parse_submission("results.json", {"": dumps(data)}), samples=())
        checked = board.model_copy(update={"evidence": EvidenceDemand(samples="checked")})
        findings = judge_all([parsed], checked).verdicts[0].findings
        assert [found.hint for found in findings if found.rule == "samples-missing"] == [hint]
