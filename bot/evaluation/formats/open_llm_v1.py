"""Result files of the Open LLM Leaderboard v1: rows "harness|task|shots", with or without the frame around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.evaluation.definition import AskedDefinitions
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import number, revision, row, size_in_bytes, table, text, version, whole
from bot.evaluation.formats.format import Format
from bot.evaluation.formats.lm_eval_03 import LM_EVAL_03, SPELLED, install, rerun
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

ALL, SUITE = "all", "harness"
# Of the hashes of a task that of its questions, as they stand in the prompts: the other hashes change with the model.
DECIDING = ("hash_examples",)


def recognise(content: Content) -> bool:
    """Recognise it by `config_general`, or by any key of two bars; a details card prints the rows without a frame.

    lighteval writes the like with suites of its own and is asked before; rows without a frame must be of this suite.
    """
    if content.results is None:
        return any(key.startswith(f"{SUITE}|") and _is_row(key) for key in content.top)
    if content.table("config_general") is not None:
        return True
    return content.has_bars and any(map(_is_row, content.results))


def _is_row(key: str) -> bool:
    return key.count("|") == 2


def parse(content: Content) -> Result:
    """Read the file. Raises MalformedResult if a row of results is not an object.

    The row "all" averages over everything that has the metric, tasks of any kind together: it is not an aggregate of
    the leaderboard and is left out.
    """
    rows: Mapping[str, Any] = content.results if content.results is not None else content.top
    above = "/results" if content.results is not None else ""
    config = content.table("config_general") or content.config or {}
    asked = AskedDefinitions()
    original_keys, leaves = _leaves(content, rows, above, asked)
    model = text(config.get("model_name"))
    return Result(
        model=Model(
            id=model,
            revision=revision(config.get("model_sha")),
            precision=text(config.get("model_dtype")),
            chat_template=False,
            requested_revision=text(config.get("model_sha")),
            size=size_in_bytes(config.get("model_size")),
        ),
        harness=HarnessVersion("open-llm-leaderboard", git_hash=text(config.get("lighteval_sha")) or None),
        leaves=leaves,
        limit=number(config.get("max_samples")),
        places=_places(above, "/config" if content.table("config_general") is None else "/config_general"),
        original_keys=original_keys,
        definitions=asked.definitions,
        asked=asked.asked,
    )


def _leaves(
    content: Content, rows: Mapping[str, Any], above: str, asked: AskedDefinitions
) -> tuple[dict[str, str], dict[str, LeafResult]]:
    """The keys of the file by the leaves that are called otherwise, and the leaves."""
    versions, summaries = content.table("versions") or {}, content.table("summary_tasks") or {}
    leaves: dict[str, LeafResult] = {}
    original_keys: dict[str, str] = {}
    for key in rows:
        if key == ALL or (not above and not _is_row(key)):
            continue
        name, shots = _task_and_shots(key)
        name = key if name in leaves else name
        hashes = table(table(summaries.get(key)).get("hashes"))
        definition = asked.add(hashes, DECIDING)
        leaves[name] = LeafResult(row(rows, key, above), shots, version(versions.get(key)), definition=definition)
        if name != key:
            original_keys[name] = key
    return original_keys, leaves


def _places(above: str, config: str) -> dict[str, str]:
    return {
        "chat_template": "",  # it used none
        "model": f"{config}/model_name",
        "revision": f"{config}/model_sha",
        "precision": f"{config}/model_dtype",
        "commit": f"{config}/lighteval_sha",
        "limit": f"{config}/max_samples",
        "leaves": above,
        "leaf": f"{above}/{{leaf}}",
        "value": f"{above}/{{leaf}}/{{value}}",
        "version": "/versions/{leaf}",
        "definition": "/summary_tasks/{leaf}/hashes",
    }


def _task_and_shots(key: str) -> tuple[str, int | None]:
    """Part "harness|arc:challenge|25" into task and shots; a bare key names only the task.

    lighteval writes the same form with suites of its own: there the same name is another measurement and stays whole.
    """
    if not _is_row(key):
        return key, None
    suite, task, shots = key.split("|")
    count = whole(int(shots)) if shots.isdecimal() and len(shots) < 4 else None
    return (task if suite == SUITE else key), count


OPEN_LLM_V1 = Format(
    id="open-llm-v1",
    title="Open LLM Leaderboard v1",
    recognise=recognise,
    parse=parse,
    rerun=rerun,
    writes=LM_EVAL_03.id,
    written_keys=SPELLED,
    install=install,
)
