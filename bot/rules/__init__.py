"""The rules, in reporting order; a rule that is not in this list does not exist."""

from __future__ import annotations

from bot.rules.chat_template_differs import chat_template_differs
from bot.rules.duplicate_scores import duplicate_scores
from bot.rules.extra_task import extra_task
from bot.rules.group_contradicts_leaves import group_contradicts_leaves
from bot.rules.implementation_mismatch import implementation_mismatch
from bot.rules.known_bad_release import known_bad_release
from bot.rules.limited_run import limited_run
from bot.rules.malformed_file import malformed_file
from bot.rules.missing_task import missing_task
from bot.rules.non_finite_value import non_finite_value
from bot.rules.older_scorer_version import older_scorer_version
from bot.rules.quantized_run import quantized_run
from bot.rules.rule import Rule
from bot.rules.stderr_contradicts_samples import stderr_contradicts_samples
from bot.rules.unaccepted_format import unaccepted_format
from bot.rules.unaccepted_harness_commit import unaccepted_harness_commit
from bot.rules.unaccepted_task_version import unaccepted_task_version
from bot.rules.unidentified_model import unidentified_model
from bot.rules.unpinned_revision import unpinned_revision
from bot.rules.unverifiable_harness_commit import unverifiable_harness_commit
from bot.rules.value_not_integral import value_not_integral
from bot.rules.value_out_of_range import value_out_of_range
from bot.rules.wrong_num_fewshot import wrong_num_fewshot
from bot.rules.wrong_sample_count import wrong_sample_count

RULES: tuple[Rule, ...] = (
    unaccepted_format,
    missing_task,
    limited_run,
    wrong_sample_count,
    wrong_num_fewshot,
    unaccepted_task_version,
    unaccepted_harness_commit,
    known_bad_release,
    implementation_mismatch,
    non_finite_value,
    value_out_of_range,
    value_not_integral,
    stderr_contradicts_samples,
    unidentified_model,
    unpinned_revision,
    group_contradicts_leaves,
    duplicate_scores,
    quantized_run,
    older_scorer_version,
    unverifiable_harness_commit,
    extra_task,
    chat_template_differs,
)

# `malformed_file` judges what no reader took; all others judge a result.
ALL_RULES: tuple[Rule, ...] = (malformed_file, *RULES)
