"""`check --beside`, as the hook for commits calls it: files of a row that a commit leaves as they are count with it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import yaml

from tests.command import bot
from tests.evaluation.judging import base, dumps
from tests.evaluation.parts import parts_of

HOOK = Path(".pre-commit-hooks.yaml").absolute()


def committed(folder: Path, *names: str) -> tuple[int, str]:
    """The status and the report of the hook for the files of a commit."""
    (hook,) = yaml.safe_load(HOOK.read_text(encoding="utf-8"))
    _, *words = shlex.split(hook["entry"])
    status, out, _ = bot(*words, "--format", "json", *(folder / name for name in names))
    return status, out


def test_a_commit_of_the_last_file_of_a_row_is_judged_with_the_others(tmp_path: Path) -> None:
    names = [f"results_{number}.json" for number in range(3)]
    for name, part in zip(names, parts_of(base(), 3), strict=True):
        (tmp_path / name).write_bytes(dumps(part))
    (tmp_path / "note.json").write_text("[1, 2]")
    status, out = committed(tmp_path, names[-1])
    (row,) = json.loads(out)["rows"]
    assert (status, row["verdict"], len(row["files"])) == (0, "accepted", 3)
    assert "note.json" not in out

    (tmp_path / names[0]).unlink()
    assert committed(tmp_path, names[-1])[0] == 1


def test_another_model_in_the_folder_is_not_judged(tmp_path: Path) -> None:
    part, rest = parts_of(base(), 2)
    other = json.loads(dumps(part).replace(b"example-org/kestrel-7b", b"acme/atlas"))
    for name, data in {"results_a.json": part, "results_b.json": rest, "results_c.json": other}.items():
        (tmp_path / name).write_bytes(dumps(data))
    status, out = committed(tmp_path, "results_a.json")
    assert status == 0
    assert "acme/atlas" not in out


def test_a_row_whose_gap_lies_in_an_older_file_with_errors_fails_in_check_and_hook(tmp_path: Path) -> None:
    older, newer = parts_of(base(), 2)
    faulty = older | {"date": 1.0, "config": older["config"] | {"limit": 100}}
    for name, data in {"results_a.json": faulty, "results_b.json": newer}.items():
        (tmp_path / name).write_bytes(dumps(data))
    assert [bot("check", tmp_path, "--format", form)[0] for form in ("text", "json", "github")] == [1, 1, 1]
    status, out = committed(tmp_path, "results_b.json")
    (row,) = json.loads(out)["rows"]
    assert (status, row["verdict"], "limited-run" in out, "missing-task" in out) == (1, "incomplete", True, False)
