"""The rules in reporting order; a rule that is not listed here never runs."""

from __future__ import annotations

from importlib import import_module

from bot.evaluation.rules.rule import Rule
from bot.evaluation.rules.samples import SAMPLE_RULES


def _rules(*names: str) -> tuple[Rule, ...]:
    """The rules of these names, each in the module of its name."""
    return tuple(getattr(import_module(f"{__name__}.{name}"), name) for name in names)


# What judges one result.
RULES = _rules(
    "unaccepted_format", "misread_place", "absent_place", "unmatched_place",
    "malformed_field", "repeated_key", "secret_in_file", "unfinished_run", "invalidated_run",
    "edited_run", "quoted_result", "limited_run", "wrong_sample_count", "wrong_num_fewshot",
    "unaccepted_task_version", "other_task_definition", "unaccepted_harness_commit", "known_bad_release",
    "implementation_mismatch", "non_finite_value", "value_out_of_range", "value_not_integral",
    "stderr_contradicts_samples", "value_contradicts_file", "contradicts_itself", "nothing_scored",
    "spelled_otherwise", "unidentified_model", "wrong_owner",
    "unpinned_revision", "future_date", "group_contradicts_leaves", "quantized_run", "unknown_argument",
    "unscored_samples",
    "strict_below_flexible", "drop_at_the_floor", "older_scorer_version", "silent_change", "not_comparable",
    "unverifiable_harness_commit", "unverifiable_pin", "extra_task", "chat_template_differs",
    "own_setup",
) + SAMPLE_RULES  # fmt: skip

# What judges a row, joined from all files of its key.
ROW_RULES = _rules(
    "missing_task", "mixed_reducers", "implausibly_low", "indistinct_models", "rerun_differs", "settings_differ",
    "thinking_not_used", "duplicate_scores", "nearly_duplicate", "evidence_below_least",
)  # fmt: skip

ALL_RULES = _rules("malformed_file") + RULES + ROW_RULES

__all__ = ["ALL_RULES", "ROW_RULES", "RULES", "SAMPLE_RULES"]
