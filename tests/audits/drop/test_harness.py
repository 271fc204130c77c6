"""A run of the installed lm-evaluation-harness in; what it reported and what the audit finds in its log, compared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bot.audits.drop.audit import audit_drop, find_logs
from tests.audits.drop.drop_logs import document

LOCAL = "dataset_path: json\ndataset_kwargs:\n  data_files:\n    validation: {0}\n    train: {0}\n"
FIELDS = {"worker_id": "w", "hit_id": "h"}


def harness_task(folder: Path) -> None:
    """Write the harness's own DROP task over forty local questions; its dummy model answers each with "lol"."""
    package = find_spec("lm_eval")
    if package is None or package.origin is None:
        pytest.skip("lm-eval is not installed (group `oracle`)")
    task = Path(package.origin).parent / "tasks/drop"
    shutil.copy(task / "utils.py", folder)
    text = (task / "default.yaml").read_text(encoding="utf-8")
    text = text.replace("task: drop", "task: drop_local")
    text = text.replace("dataset_path: EleutherAI/drop\n", LOCAL.format(folder / "dev.jsonl"))
    (folder / "drop_local.yaml").write_text(text, encoding="utf-8")
    with (folder / "dev.jsonl").open("w", encoding="utf-8") as questions:
        for number in range(40):
            row = document(number, (("lol",),) if number % 3 else (("so, lol", "Bears"), ("so",)))
            row |= {"query_id": f"q{number}", "answer": row["answer"] | FIELDS}
            questions.write(json.dumps(row) + "\n")


@pytest.mark.campaign
@pytest.mark.parametrize("shots", [0, 1])
def test_log_of_a_real_run_gives_its_reported_scores(tmp_path: Path, shots: int) -> None:
    harness_task(tmp_path)
    call = [sys.executable, "-m", "lm_eval", "--model", "dummy", "--tasks", "drop_local", "--log_samples"]
    call += ["--include_path", str(tmp_path), "--output_path", str(tmp_path / "out"), "--num_fewshot", str(shots)]
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub"), "HF_DATASETS_OFFLINE": "1"}
    subprocess.run(call, check=True, capture_output=True, env=os.environ | offline)
    (reported,) = (tmp_path / "out").rglob("results_*.json")
    result = json.loads(reported.read_bytes())["results"]["drop_local"]

    audit = audit_drop(find_logs([tmp_path / "out"]))

    figures = audit.figures
    assert (figures.samples, figures.logged, figures.differing) == (40, 40, 0)
    assert (figures.scored.em, figures.scored.f1) == pytest.approx((result["em,none"], result["f1,none"]), abs=1e-12)
    assert 0 < figures.scored.em < figures.scored.f1 < 1
    assert figures.until == {'["."]': 40}
    assert audit.logs[0].skipped == ()
    assert [symptom.rule for symptom in audit.symptoms] == ["drop-rendered-prompt" if shots else "drop-rendered-target"]
