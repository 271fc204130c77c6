"""Result files of lm-evaluation-harness 0.2 and 0.3: {results, versions, config}, no commit, one shot count for all."""

from __future__ import annotations

from bot.formats.document import NOTHING, Document
from bot.formats.fields import arguments, number, revision, row, text, version, whole
from bot.result import LeafResult, Measured, Model, Result


def is_recognised(document: Document) -> bool:
    """By `versions` and a `config` that knows `no_cache`, beside `results`, and none of the keys of 0.4."""
    config = document.config
    return document.results is not None and document.configs is NOTHING and config is not None and "no_cache" in config


def parse(document: Document) -> Result:
    """Read the document. Raises MalformedResult where a row of results is no object."""
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
        harness=Measured("lm-evaluation-harness"),
        leaves={key: LeafResult(row(results, key, "/results"), shots, version(versions.get(key))) for key in results},
        limit=number(config.get("limit")),
    )
