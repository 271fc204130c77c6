"""Result files of lm-evaluation-harness 0.2 and 0.3: {results, versions, config}, no commit, one shot count for all."""

from __future__ import annotations

from bot.evaluation.formats.content import Content
from bot.evaluation.formats.document import NOTHING
from bot.evaluation.formats.fields import arguments, number, revision, row, text, version, whole
from bot.evaluation.formats.format import Format, Rerun
from bot.evaluation.formats.lm_eval_command import command_line, pinned_arguments
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

PLACES = {
    "model": "/config/model_args",
    "revision": "/config/model_args",
    "precision": "/config/model_args",
    "arguments": "/config/model_args",
    "limit": "/config/limit",
    "leaves": "/results",
    "leaf": "/results/{leaf}",
    "value": "/results/{leaf}/{value}",
    "num_fewshot": "/config/num_fewshot",
    "version": "/versions/{leaf}",
}


def recognise(content: Content) -> bool:
    """Recognise it by `versions` and a `config` that has `no_cache`, beside `results`, and no key of 0.4."""
    document = content.document
    config = document.config
    return document.results is not None and document.configs is NOTHING and config is not None and "no_cache" in config


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult where a row of results is not an object."""
    document = content.document
    config, versions, results = document.config or {}, document.versions or {}, document.results or {}
    pairs, args = arguments(config.get("model_args"))
    shots = whole(config.get("num_fewshot"))
    named = pairs.get("pretrained") or pairs.get("engine") or ""
    return Result(
        format="lm-eval-0.3",
        model=Model(
            id=named,
            revision=revision(pairs.get("revision")),
            precision=pairs.get("dtype", "").removeprefix("torch."),
            source=text(config.get("model")),
            args=args,
            requested_revision=pairs.get("revision", ""),
            is_named=bool(named),
        ),
        harness=HarnessVersion("lm-evaluation-harness"),
        leaves={key: LeafResult(row(results, key, "/results"), shots, version(versions.get(key))) for key in results},
        limit=number(config.get("limit")),
        places=PLACES,
    )


def rerun(wanted: Rerun) -> str:
    """The call of harness 0.3; it writes only where it is told to, and spells two tasks otherwise than v1 does."""
    args = pinned_arguments(wanted.model)
    tasks = (
        ",".join(wanted.leaf_keys).replace("arc:challenge", "arc_challenge").replace("truthfulqa:mc", "truthfulqa_mc")
    )
    shots = wanted.num_fewshot or 0
    words = ["python", "main.py", "--model", wanted.model.source or "hf-causal", "--model_args", args, "--tasks", tasks]
    return args and command_line([*words, "--num_fewshot", str(shots), "--output_path", f"results_{shots}-shot.json"])


LM_EVAL_03 = Format(
    id="lm-eval-0.3",
    title="lm-evaluation-harness 0.2 and 0.3",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
)
