"""Result files of lmms-eval: the frame of lm-evaluation-harness 0.4 around tasks with pictures, sounds and videos.

Told from lm-eval by what only its tasks' configurations have: `lmms_eval_specific_kwargs`, `doc_to_visual` or
`process_results_use_image`. Read from 2 files of shruum/lmms-eval at 91386db and the source of releases 0.6 and 0.7.3.
A standard error may be in a key of its own (`…_stderr_clt,none`) where the harness has "N/A".
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from bot.evaluation.formats import lm_eval_04
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import seconds, text
from bot.evaluation.formats.format import Format, Rerun, command_line
from bot.evaluation.result import HarnessVersion, LeafResult, Result

MARKS = ("lmms_eval_specific_kwargs", "doc_to_visual", "process_results_use_image")
ERROR, OWN_ERROR = "_stderr,", "_stderr_clt,"
NO_METRICS = ("_stderr_clt,", "_stderr_clustered,")
STAMP = "%Y%m%d_%H%M%S"  # the file has no time zone


def recognise(content: Content) -> bool:
    """Recognise it as a file of lm-eval 0.4 with a task that only lmms-eval can have."""
    configs = content.table("configs") or {}
    is_marked = any(not one.keys().isdisjoint(MARKS) for one in configs.values() if type(one) is dict)
    return is_marked and lm_eval_04.recognise(content)


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object."""
    found = lm_eval_04.parse(content)
    top = content.top
    return replace(
        found,
        harness=HarnessVersion("lmms-eval", "EvolvingLMMs-Lab/lmms-eval", text(top.get("git_hash")) or None),
        leaves={key: _leaf(leaf) for key, leaf in found.leaves.items()},
        date=found.date if found.date is not None else seconds(text(top.get("date")), STAMP),
    )


def _leaf(leaf: LeafResult) -> LeafResult:
    """The row with each standard error under the key that lm-eval gives it."""
    numbers: dict[str, Any] = {
        key: one for key, one in leaf.numbers.items() if not any(part in key for part in NO_METRICS)
    }
    for key, value in leaf.numbers.items():
        plain = key.replace(OWN_ERROR, ERROR)
        if OWN_ERROR in key and type(numbers.get(plain)) is not float:
            numbers[plain] = value
    return replace(leaf, numbers=numbers)


def rerun(wanted: Rerun) -> str:
    """The call of lmms-eval for these tasks, with the settings that a new file must share."""
    args = wanted.arguments()
    if not args or not wanted.model.source:
        return ""
    words = ["python3", "-m", "lmms_eval", "--model", wanted.model.source, "--model_args", args]
    words += ["--tasks", ",".join(wanted.leaf_keys)]
    words += [] if wanted.num_fewshot is None else ["--num_fewshot", str(wanted.num_fewshot)]
    words += wanted.options("gen_kwargs", "system_instruction")
    return command_line([*words, "--batch_size", "1", "--output_path", "results", "--log_samples"])


LMMS_EVAL = Format(
    id="lmms-eval",
    title="lmms-eval",
    recognise=recognise,
    parse=parse,
    marks=("configs",),
    rerun=rerun,
    templating="--apply_chat_template",
    metric_key=lm_eval_04.LM_EVAL_04.metric_key,
)
