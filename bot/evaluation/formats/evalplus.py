"""Result files of EvalPlus: `<org>--<model>_<backend>_temp_<t>_eval_results.json`, every solution with its outcome.

Read from 8 files of evalplus/evalplus at 235bbc8, 4 older ones of tyfann/Evaluate_LLM_Evalplus at 68de93a, and the
source of releases 0.2.0 and 0.3.1 (evalplus/evaluate.py), which print pass@k and do not write it. So it is computed
here, as there: a solution is right by the tests of the benchmark, or by those and the further ones of EvalPlus. The
file itself names no model; it stands in the file's name alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import comb, fsum, sqrt
from typing import Any

from msgspec.structs import replace

from bot.errors import MalformedResult
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import Given, contradicted, items, number, seconds, table, text
from bot.evaluation.formats.format import Format
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result, escape_pointer

RIGHT = ("pass", "success")
# The name that EvalPlus gives its file: a slash in the model's name is two hyphens.
NAME = re.compile(
    r"(?:.*/)?(?P<model>[^/]+?)_(?P<backend>vllm|hf|openai|anthropic|google|ollama|mistral|gptqmodel|bedrock)"
    r"_temp_(?P<temperature>[\d.]+?)(?P<rest>[._-](?!\d)[^/]*)?"
)
COUNTS = (1, 10, 100)  # the k of pass@k, of which those count that no task has fewer solutions than
STAMP = "%Y-%m-%d %H:%M"  # the file has no time zone
PLACES = {"leaves": "/eval", "leaf": "/eval", "value": "/eval", "version": "/hash", "date": "/date"}


def recognise(content: Content) -> bool:
    """Recognise it by `eval`, `hash` and `date`, and tasks that have lists of solutions with a status."""
    top = content.bare
    tasks = table(top.get("eval"))
    first = next(iter(tasks.values()), None)
    is_old = {"nfiles", "base"} <= table(first).keys()
    return "hash" in top and "date" in top and (is_old or "base_status" in table(next(iter(items(first)), None)))


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a task has no list of solutions."""
    top = content.bare
    tasks = table(top["eval"])
    benchmark = next(iter(tasks)).partition("/")[0].lower()
    version, leaves = text(top["hash"]) or None, {}
    for name, kind in ((benchmark, "base"), (f"{benchmark}+", "plus")):
        right = list(_counted(tasks, f"{kind}_status", has_plus=name != benchmark))
        if right:
            leaf, said = _leaf(right, version), table(table(top.get("pass_at_k")).get(kind))
            given = [Given(key, number(value), 1e-6, "pass_at_k is") for key, value in said.items()]
            leaves[name] = replace(leaf, contradicted=contradicted(leaf.numbers, given))
    found = NAME.fullmatch(content.path)
    return Result(
        model=Model(id=found["model"].replace("--", "/", 1), source=found["backend"]) if found else Model(),
        harness=HarnessVersion("evalplus", repository="evalplus/evalplus"),
        leaves=leaves,
        date=seconds(text(top["date"]), STAMP),
        settings=_settings(found),
        places=PLACES,
    )


def _counted(tasks: Mapping[str, Any], status: str, *, has_plus: bool) -> Iterator[tuple[int, int]]:
    """How many solutions each task has and how many are right; nothing where one was not tested so."""
    for name, listed in tasks.items():
        outcomes = _outcomes(listed)
        if not outcomes:
            raise MalformedResult("holds a task without solutions", pointer=f"/eval/{escape_pointer(name)}")
        if any(one.get(status) is None for one in outcomes):
            return
        passed = [one for one in outcomes if one.get("base_status") in RIGHT]
        yield len(outcomes), sum(not has_plus or one.get(status) in RIGHT for one in passed)


def _outcomes(listed: object) -> Sequence[Mapping[str, Any]]:
    """The status of each solution by both kinds of tests; releases before 0.2.1 have a list for each kind."""
    kinds = [[next(iter(items(one)), None) for one in items(table(listed).get(kind))] for kind in ("base", "plus")]
    old = [{"base_status": base, "plus_status": plus} for base, plus in zip_longest(*kinds)]
    return old or [table(one) for one in items(listed)]


def _leaf(right: Sequence[tuple[int, int]], version: str | None) -> LeafResult:
    """pass@k over all tasks, by the unbiased estimator of Chen et al. 2021, and its standard error over tasks."""
    fewest = min(solutions for solutions, _ in right)
    numbers: dict[str, Any] = {}
    for k in COUNTS:
        if k <= fewest:
            values = [1.0 - comb(n - c, k) / comb(n, k) for n, c in right]
            mean = fsum(values) / len(values)
            numbers[f"pass@{k}"] = mean
            if len(values) > 1:
                spread = fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
                numbers[f"pass@{k}_stderr"] = sqrt(spread / len(values))
    return LeafResult(numbers, None, version, len(right), len(right), epochs=fewest)


def _settings(found: re.Match[str] | None) -> dict[str, str]:
    """The temperature and what was done with the answers, as the file's name has them."""
    if found is None:
        return {}
    treated = "sanitized" if "sanitized" in (found["rest"] or "") else ""
    given = {"temperature": found["temperature"].rstrip("."), "answers": treated}
    return {name: value for name, value in given.items() if value}


EVALPLUS = Format(
    id="evalplus",
    title="EvalPlus",
    recognise=recognise,
    parse=parse,
    starts=(b'{"date"', b'{"hash"', b'{"eval"', b"{"),
    naming="keep the name that EvalPlus gives the file, <organization>--<name>_<backend>_temp_<t>",
    pinning="",
    shows=frozenset({"samples"}),
)
