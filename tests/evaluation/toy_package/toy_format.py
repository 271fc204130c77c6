"""A result format of another package: a list of scores, each with its own shots."""

from __future__ import annotations

from bot.evaluation.formats.content import Content
from bot.evaluation.formats.format import Format, Rerun
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

PLACES = {
    "model": "/who/name",
    "revision": "/who/commit",
    "limit": "/settings/first",
    "commit": "/made_by",
    "leaves": "/scores",
    "leaf": "/scores/{leaf}",
    "value": "/scores/{leaf}/{value}",
    "num_fewshot": "/scores/{leaf}/shots",
    "samples": "/scores/{leaf}/of",
}


def recognise(content: Content) -> bool:
    """Recognise it by its mark."""
    return isinstance(content.value, dict) and content.value.get("toy") == 1


def parse(content: Content) -> Result:
    """Read a file."""
    data = content.value
    rows = {score["task"]: score for score in data["scores"]}
    return Result(
        model=Model(data["who"]["name"], data["who"]["commit"], "bfloat16"),
        harness=HarnessVersion("toy-eval", git_hash=data.get("made_by")),
        leaves={
            task: LeafResult({"share": row["share"]}, row["shots"], None, row["of"], row["of"])
            for task, row in rows.items()
        },
        limit=data["settings"]["first"],
        places=PLACES,
        original_keys={task: str(number) for number, task in enumerate(rows)},
    )


def rerun(wanted: Rerun) -> str:
    """Write the call of toy-eval."""
    tasks = " ".join(wanted.leaf_keys)
    return f"toy-eval --model {wanted.model.id}@{wanted.model.revision} --shots {wanted.num_fewshot} {tasks}"


def metric_key(name: str, answer_filter: str) -> str:
    """Call every accuracy a share."""
    return "share" if (name, answer_filter) == ("acc", "none") else name


TOY = Format(id="toy", title="Toy", recognise=recognise, parse=parse, rerun=rerun, metric_key=metric_key)
