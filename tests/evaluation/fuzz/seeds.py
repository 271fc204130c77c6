"""Writes files for the search to begin with, one folder for each format: `seeds.py FOLDER [REAL FILES]`.

The shapes are those of the tests. Of a folder of real files, kept elsewhere, those of at most 60 KB are added.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bot.errors import MalformedResult
from bot.evaluation.formats import BUILT_IN_FORMATS, parse_result
from tests.evaluation import (
    inspect_logs,
    test_evalchemy,
    test_every_eval_ever,
    test_helm,
    test_lighteval,
    test_lm_eval_03,
    test_mteb,
    test_olmes,
)
from tests.evaluation import test_tools_of_one_number as few
from tests.evaluation.judging import EXAMPLES, base_v1, base_v1_today
from tests.evaluation.test_real_shapes import mmlu_of_040

MAX_BYTES = 60_000
SHAPES: dict[str, list[Any]] = {
    "lm-eval-0.3": [
        test_lm_eval_03.listed(*test_lm_eval_03.PRONOUNS),
        {"results": {"sciq": {"acc": 0.93, "acc_stderr": 0.008, "acc_norm": 0.89}}, "versions": {"sciq": 0}},
    ],
    "lm-eval-0.4": [mmlu_of_040(with_counts=True), base_v1_today(), EXAMPLES[0].read_bytes()],
    "open-llm-v1": [base_v1("open-llm-v1-drop")],
    "lighteval": [test_lighteval.release_08(), test_lighteval.release_011()],
    "inspect": [inspect_logs.header(), inspect_logs.log_archive()],
    "helm": [{"run_spec.json": test_helm.spec(), "stats.json": test_helm.stats()}],
    "every-eval-ever": [test_every_eval_ever.record(test_every_eval_ever.ACC, test_every_eval_ever.STRICT)],
    "olmes": [test_olmes.run(test_olmes.MATH, test_olmes.AIME)],
    "bfcl": [few.lines(few.COUNTS, few.WRONG).lstrip()],
    "euroeval": [few.lines(few.line("angry-tweets"), few.line("scala-da"))],
    "lmms-eval": [few.lmms({"doc_to_visual": "x"})],
    "evalplus": [few.solved("r", "b", "w")],
    "evalscope": [few.report()],
    "harbor": [few.job(0.25, few.REWARDS, few.FAILED)],
    "opencompass": [few.SUMMARY],
    "evalchemy": [test_evalchemy.evalchemy(test_evalchemy.mbpp(0.372))],
    "mteb": [
        test_mteb.task("Tweets", {"test": [test_mteb.ARABIC]}),
        {"mteb_dataset_name": "AJGT", "mteb_version": "1.7.39", "train": {"accuracy": 0.7, "main_score": 0.7}},
    ],
}


def add_real(real: Path) -> None:
    """Add the real files of each format, HELM's run as one object of its files."""
    for path in sorted(file for file in real.rglob("*") if file.is_file() and file.stat().st_size <= MAX_BYTES):
        if path.name == "run_spec.json" and (path.parent / "stats.json").is_file():
            names = ("run_spec.json", "stats.json")
            SHAPES["helm"].append({name: json.loads((path.parent / name).read_bytes()) for name in names})
            continue
        try:
            SHAPES[parse_result(path.read_bytes()).format].append(path.read_bytes())
        except (MalformedResult, KeyError):
            continue


def main(folder: Path, *real: Path) -> None:
    """Write the files; every format has its own."""
    assert set(SHAPES) == {one.id for one in BUILT_IN_FORMATS}
    for path in real:
        add_real(path)
    for format_id, shapes in SHAPES.items():
        (folder / format_id).mkdir(parents=True, exist_ok=True)
        for number, shape in enumerate(shapes):
            data = shape if isinstance(shape, bytes) else json.dumps(shape).encode()
            (folder / format_id / f"seed-{number}").write_bytes(data)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
