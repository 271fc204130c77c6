"""The installed harness itself, run offline on made-up documents: what it asks, and how it scores the answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lm_eval
import yaml
from datasets import Dataset
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from bot.evaluation.benchmarks.mmlu_family import Family

TASKS = Path(lm_eval.__file__).parent / "tasks" / "mmlu"
FOLDERS = {
    Family.LETTERS: ("default", "_default_template_yaml"),
    Family.GENERATIVE: ("generative", "_default_template_yaml"),
    Family.CONTINUATION: ("continuation", "_continuation_template_yaml"),
}
# What needs the network, or only groups tasks.
DROPPED = ("include", "tag", "dataset_path", "dataset_name")
Doc = dict[str, Any]


def harness_task(family: Family, subject: str, docs: Sequence[Doc], dev: Sequence[Doc], shots: int) -> ConfigurableTask:
    """The harness's own task of a subject, over these documents."""
    folder, template = FOLDERS[family]
    base = yaml.safe_load((TASKS / folder / template).read_text())
    config = base | yaml.safe_load((TASKS / folder / f"mmlu_{subject}.yaml").read_text())
    config = {key: value for key, value in config.items() if key not in DROPPED}
    config["custom_dataset"] = lambda **_: {"test": Dataset.from_list(docs), "dev": Dataset.from_list(dev)}
    task = ConfigurableTask(config=config)
    task.set_config("num_fewshot", shots)
    return task


def requests(task: ConfigurableTask) -> list[list[Instance]]:
    """The requests of each document, in order."""
    task.build_all_requests(rank=0, world_size=1)
    by_doc: dict[int, list[Instance]] = {}
    for instance in task.instances:
        by_doc.setdefault(instance.doc_id, []).append(instance)
    return list(by_doc.values())
