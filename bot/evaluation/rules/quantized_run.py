"""The model was quantized for this run.

## What it does
Reads arguments such as `load_in_4bit`, the dtype, and marks in the name.

## Why is this bad?
It is another model.

## When it is wrong
The name alone has the mark: say so in the request.

## Example
/config/model_args: "pretrained=example-org/kestrel-7b,load_in_4bit=True"

## A sound run writes
/config/model_args: "pretrained=example-org/kestrel-7b,dtype=bfloat16"
"""

from __future__ import annotations

import re

from bot.evaluation.finding import Severity, shown
from bot.evaluation.formats.fields import precision
from bot.evaluation.result import Model
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

FULL = frozenset({"", "bfloat16", "float16", "float32", "float64"})
NAME = re.compile(
    r"(?:^|[-_.])(gptq|awq|gguf|exl2|bnb|int[48]|[2-8]bit|w4a16|w8a8|fp[48]|mxfp[48]|nvfp4|torchao"
    r"|(?:int[48]|float8)\w*(?:weightonly|weight)(?:config)?)(?:$|[-_.])",
    re.IGNORECASE,
)


@rule(Severity.WARNING)
def quantized_run(case: Case) -> Violations:
    """Yield a violation where the run was of quantized weights."""
    evidence = _evidence(case.result.model)
    if evidence:
        yield Violation(
            f"the model was quantized: {evidence}",
            "compare this row with rows of the same precision only",
            case.result.pointer_to("arguments" if case.result.records("arguments") else "precision"),
        )


def _evidence(model: Model) -> str:
    if model.precision not in FULL and precision(model.precision) is not None:
        return f"precision {shown(model.precision)}"
    mark = NAME.search(model.id)
    return f"its name says {shown(mark[1])}" if mark else ""
