"""Files beside results that are no results: how to recognise each kind, and what to do with it."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import Any

from jiter import from_json

from bot.evaluation.formats import formats
from bot.evaluation.formats.content import MAX_VALUES, PROPOSES, count_values
from bot.evaluation.formats.format import NOTHING_TO_DO, Kind, has_keys

HUB_RESULTS = re.compile(rb"(?:#[^\n]*\n|\s)*- dataset:.*\n\s+id:")
NEMO = re.compile(rb"command: .*^config:\s+output_dir: ", re.DOTALL | re.MULTILINE)
NO_READER = f"leaderboard-bot does not read it; {PROPOSES}"
OTHER_READ = (
    f"of its tool other files are read (docs/forms.md#forms-that-are-shipped): name those; of this one {PROPOSES}"
)
NO_PROOF = f"it records neither samples nor versions; {PROPOSES}, or measure with a harness of docs/formats.md"
LFS = b"version https://git-lfs.github.com/spec/"
# What a line of lm-eval, of lmms-eval, of OLMES, and of Every Eval Ever has.
SAMPLES = (frozenset({"doc_id", "doc"}), frozenset({"doc_id", "filtered_resps"}), frozenset({"doc_id", "native_id"}),
           frozenset({"evaluation_id", "sample_id"}))  # fmt: skip


def _has(value: Any, *keys: str) -> bool:
    return has_keys(*keys)(value)


def _is_sample(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and any(first.keys() >= keys for keys in SAMPLES)


def _begins_samples(head: bytes) -> bool:
    """Tell whether an array of samples begins here, as the harness wrote before 0.4.3."""
    return head.lstrip().startswith(b"[") and b'"doc_id"' in head


def _is_bigcode(value: Any) -> bool:
    if not _has(value, "config") or not isinstance(value["config"], dict):
        return False
    rows = [row for key, row in value.items() if key != "config"]
    return bool(rows) and all(isinstance(row, dict) and any(k.startswith("pass@") for k in row) for row in rows)


def _is_simple_evals(value: Any) -> bool:
    return _has(value, "score") and any(key.endswith(":std") for key in value)


def _is_openai_evals(value: Any) -> bool:
    return _has(value, "spec") and _has(value["spec"], "eval_name")


def _is_nemo(value: Any) -> bool:
    held = value["results"] if _has(value, "results") else value
    tasks = held["tasks"] if _has(held, "tasks") else None
    metrics = [task["metrics"] for task in tasks.values() if _has(task, "metrics")] if isinstance(tasks, dict) else []
    return any(isinstance(one, dict) and any(_has(metric, "scores") for metric in one.values()) for one in metrics)


def _is_swe_bench(value: Any) -> bool:
    """Tell the counts of a run, the lists of a submission to the leaderboard, and the report of a single instance."""
    counts = (_has(value, "resolved_ids") or _has(value, "resolved_instances")) and not _has(value, "n_resolved")
    lists = _has(value, "resolved", "no_generation") and isinstance(value["resolved"], list)
    is_single = isinstance(value, dict) and len(value) == 1
    return counts or lists or (is_single and _has(*value.values(), "patch_exists", "resolved"))


def _is_terminal_bench(value: Any) -> bool:
    is_trial = _has(value, "trial_name", "task_id", "is_resolved")
    return is_trial or _has(value, "n_resolved", "accuracy") or _has(value, "run_id", "agent_name", "dataset_name")


def _is_tau2(value: Any) -> bool:
    """Tell the trajectories of a run, or what is submitted to the leaderboard."""
    return _has(value, "simulations", "tasks", "info") or _has(value, "submitting_organization", "results")


def _is_deepeval(value: Any) -> bool:
    held = value["testRunData"] if _has(value, "testRunData") else value
    return _has(held, "testCases", "metricsScores")


def _is_request(value: Any) -> bool:
    is_one = _has(value, "model", "revision", "precision", "weight_type", "status")
    return is_one and "results" not in value


KINDS = (
    Kind(
        "git-lfs-pointer",
        "a Git LFS pointer",
        "keep results in git itself, or run `git lfs pull` to get the file",
        lambda head: head.startswith(LFS),
    ),
    Kind("gzip", "a gzip file", "unpack it and name the results in it", lambda head: head.startswith(b"\x1f\x8b")),
    Kind(
        "sample-log",
        "a log of samples",
        "name the result file beside it; alone only samples of DROP and MMLU are read,"
        " by `leaderboard-bot audit drop FILE` and `leaderboard-bot audit mmlu FILE`",
        _begins_samples,
        _is_sample,
    ),
    Kind(
        "byte-order-mark",
        "JSON behind a byte order mark",
        "upload the file as the harness wrote it: an editor put a byte order mark in front",
        lambda head: head.startswith(b"\xef\xbb\xbf{"),
    ),
    Kind(
        "utf-16",
        "a text in UTF-16",
        "save it as UTF-8 (PowerShell's > writes UTF-16)",
        lambda head: head.startswith((b"\xff\xfe{\0", b"\xfe\xff\0{")),
    ),
    Kind(
        "entry",
        "a row that leaderboard-bot wrote",
        f"{NOTHING_TO_DO}: `verify` checks it",
        has_value=has_keys("schema", "key", "leaderboard", "evidence"),
    ),
    Kind("request-file", "a request for an evaluation", "name the result of that evaluation", has_value=_is_request),
    Kind(
        "hub-eval-results",
        "an entry for a model's page on the Hub",
        "name the result file that it was made from",
        lambda head: HUB_RESULTS.match(head) is not None,
    ),
    Kind("bigcode", "an output of the bigcode harness", NO_PROOF, has_value=_is_bigcode),
    Kind("swe-bench", "a SWE-bench report", OTHER_READ, has_value=_is_swe_bench),
    Kind("terminal-bench", "an output of terminal-bench", OTHER_READ, has_value=_is_terminal_bench),
    Kind(
        "nemo-evaluator", "an output of NeMo Evaluator", OTHER_READ, lambda head: NEMO.match(head) is not None, _is_nemo
    ),
    Kind("tau2", "an output of tau2-bench", OTHER_READ, has_value=_is_tau2),
    Kind("promptfoo", "an output of promptfoo", NO_READER, has_value=has_keys("evalId", "results")),
    Kind("deepeval", "a test run of DeepEval", NO_READER, has_value=_is_deepeval),
    Kind("simple-evals", "an output of simple-evals", OTHER_READ, has_value=_is_simple_evals),
    Kind("openai-evals", "a log of OpenAI Evals", NO_READER, has_value=_is_openai_evals),
    Kind("vlmevalkit", "a table of VLMEvalKit", OTHER_READ, lambda head: head.startswith(b'"split","Overall"')),
    Kind(
        "alpaca-eval",
        "a table of AlpacaEval",
        NO_READER,
        lambda head: head.startswith((b",win_rate,", b"name,win_rate,", b"name,length_controlled_winrate,win_rate,")),
    ),
    Kind("mt-bench", "judgements of MT-Bench", NO_READER, has_value=has_keys("question_id", "judge", "model")),
    Kind("arena-hard", "judgements of Arena-Hard", NO_READER, has_value=has_keys("uid", "judge", "games")),
    Kind(
        "speed",
        "a measurement of speed",
        f"{NOTHING_TO_DO}: it measures no answers",
        has_value=has_keys("request_throughput", "mean_ttft_ms"),
    ),
)
OTHER = Kind("other", "not a result", f"{NOTHING_TO_DO}: leaderboard-bot reads no such file")


@cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of file that is named and not read: first those of the tools whose results are read."""
    return (*(kind for known in formats() for kind in known.others), *KINDS)


def kind_of_head(head: bytes) -> Kind | None:
    """The kind of a file by its first bytes, None if they do not tell, as those of an object never do."""
    return next((kind for kind in kinds() if kind.has_head(head)), None)


def kind_of_json(data: bytes) -> Kind | None:
    """The kind of a file of JSON or of JSON lines, None if it is of none that is known."""
    value = _decoded(data)
    return next((kind for kind in kinds() if kind.has_value(value)), None)


def is_json_lines(data: bytes) -> bool:
    """Tell whether the first line of several is a whole JSON value, so that the file was never one result."""
    first, _, rest = data.strip().partition(b"\n")
    if not rest.strip() or not first.strip().endswith((b"}", b"]")):
        return False
    with suppress(ValueError):
        return count_values(first) <= MAX_VALUES and from_json(first) is not None
    return False


def _decoded(data: bytes) -> Any:
    """The value of the file; of JSON lines that of the first line. What holds too many values is not decoded."""
    for part in (data, data.lstrip().partition(b"\n")[0]):
        if count_values(part) <= MAX_VALUES:
            with suppress(ValueError):
                return from_json(part)
    return None
