"""Result files of evalchemy: the frame of lm-evaluation-harness 0.4 around rows that each benchmark makes up itself.

Source of the shapes: mlfoundations/evalchemy at 6ed6741, `eval/eval.py` (`add_results_metadata`) and
`eval/chat_benchmarks/*/eval_instruct.py`. Tasks of the harness that it runs too keep their "metric,filter" keys; their
`configs`, `versions` and `n-shot` are not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from bot.evaluation.definition import AskedDefinitions
from bot.evaluation.formats import contradictions
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted, items, number, row, setting, table, text, whole
from bot.evaluation.formats.format import Format, Rerun, command_line, stderr_beside
from bot.evaluation.formats.lm_eval_04 import PLACES, model_of, settings_of
from bot.evaluation.result import HarnessVersion, LeafResult, Result

OWN = frozenset({"model", "model_args", "tasks", "batch_sizes"})  # of `config`; the harness writes `batch_size`
OF_TASKS = ("configs", "versions", "n-shot")
# Members of a row that are not metrics: counts, settings, and anything else that the benchmark wrote.
NO_METRICS = frozenset({
    "alias", "num_examples", "total_examples", "completion_rate", "num_total", "num_solved", "solved_avg", "num_repeat",
    "max_tokens", "temperature", "num_shot", "benchmark_version", "error",
})  # fmt: skip
ABSENT = frozenset({"chat_template", "num_fewshot", "version", "release"})
# Its own benchmarks always apply the chat template, whatever the frame of the harness says.
OWN_PLACES = {name: place for name, place in PLACES.items() if name not in ABSENT}
OWN_PLACES |= {"samples": "/results/{leaf}/num_examples", "definition": "/config"}
DECIDING = ("annotator_model", "max_tokens", "gen_kwargs")  # who judges, and how answers are generated
AVERAGE, ERROR = "_avg", "_std_err"
UNSET = ("", "auto", "default")


def recognise(content: Content) -> bool:
    """Recognise it by its `config`, beside `results` and without what files of the harness have of each task."""
    config = content.config
    if content.results is None or config is None or any(content.table(name) is not None for name in OF_TASKS):
        return False
    return "annotator_model" in config or config.keys() >= OWN


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object.

    A row is null where another process of the run held the benchmark's answers; it is not a measurement.
    """
    config, results = content.config or {}, content.results or {}
    model = model_of(content, config)
    # The longest answer, and who judges: both change the values.
    own = {name: one for name in ("max_tokens", "annotator_model") if (one := setting(config.get(name))) not in UNSET}
    asked = AskedDefinitions()
    definition = asked.add(config, DECIDING)
    return Result(
        model=replace(model, chat_template=model.chat_template or None),  # the frame's word binds its own tasks alone
        harness=HarnessVersion("evalchemy", "mlfoundations/evalchemy", text(content.top.get("git_hash")) or None),
        leaves={
            key: _leaf(row(results, key, "/results"), definition) for key, value in results.items() if value is not None
        },
        limit=number(config.get("limit")),
        date=number(content.top.get("date")),
        settings=settings_of(content, config) | own,
        task_hashes=content.table("task_hashes") or {},
        places=OWN_PLACES,
        definitions=asked.definitions,
        asked=asked.asked,
        contradictions=contradictions.of_lm_eval(content.top, config),
    )


def _leaf(members: Mapping[str, Any], definition: str) -> LeafResult:
    """A row without the members that are not metrics; `num_examples` counts answers, `num_total` questions."""
    samples = whole(members.get("num_examples", members.get("num_total")))
    rate = number(members.get("completion_rate"))
    original = samples / rate if samples is not None and rate is not None and 0 < rate <= 1 else None
    return LeafResult(
        {key: value for key, value in members.items() if key not in NO_METRICS and type(value) not in {dict, list}},
        whole(members.get("num_shot")),
        samples=samples,
        original=None if original is None else whole(float(round(original))),
        epochs=max(1, whole(members.get("num_repeat")) or 1),
        definition=definition,
        contradicted=contradicted(members, _parts(members)),
    )


def _parts(members: Mapping[str, Any]) -> Iterator[Given]:
    """What gives the accuracy again: the number of questions that were solved, and the runs that it is the mean of."""
    solved, total = number(members.get("num_solved")), number(members.get("num_total"))
    if solved is not None and total:
        yield Given("accuracy", solved / total, 1e-6, f"{solved:g} of {total:g} is")
    runs = [number(table(run).get("accuracy")) for run in items(members.get("run_stats"))]
    if runs and None not in runs:
        yield Given("accuracy_avg", sum(filter(None, runs)) / len(runs), 1e-6, f"the mean of its {len(runs)} runs is")


def stderr_key(value_key: str) -> str:
    """Spell a standard error: `accuracy_std_err` beside `accuracy_avg`, else as the harness does."""
    if value_key.endswith(AVERAGE):
        return value_key.removesuffix(AVERAGE) + ERROR
    return stderr_beside(value_key)


def rerun(wanted: Rerun) -> str:
    """The call from evalchemy's own folder, with the settings that a new file must share."""
    args = wanted.arguments()
    if not args:
        return ""
    words = ["python", "-m", "eval.eval", "--model", wanted.model.source or "hf", "--model_args", args]
    words += ["--tasks", ",".join(wanted.leaf_keys)]
    words += ["--apply_chat_template"] if wanted.model.chat_template else []
    words += wanted.options("gen_kwargs", "system_instruction", "max_tokens", "annotator_model")
    return command_line([*words, "--output_path", "logs"])


EVALCHEMY = Format(
    id="evalchemy",
    title="evalchemy",
    recognise=recognise,
    parse=parse,
    marks=("config",),
    rerun=rerun,
    templating="--apply_chat_template",
    stderr_key=stderr_key,
)
