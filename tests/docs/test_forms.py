"""docs/forms.md: its first form reads its first file, and `check` judges the file by it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.command import bot
from tests.evaluation.judging import ROOT

PAGE = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")
BOARD = """title = "Ours"
description = "Two domains."

{form}
""" + "".join(
    f"""
[[tasks]]
id = "{name}"
title = "{name.title()}"
unit = "percent"
range = [0, 100]
upper_bound = "100"
metrics = [{{{{ name = "pass^1", integral = false }}}}]
leaves = [{{{{ id = "{name}", samples = {samples} }}}}]
"""
    for name, samples in (("retail", 114), ("airline", 50))
)


def test_the_form_of_the_page_reads_the_file_of_the_page(tmp_path: Path) -> None:
    [file], [form] = (re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[:1] for kind in ("json", "toml"))
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "atlas.json").write_text(file)
    (tmp_path / "board.toml").write_text(BOARD.format(form=form))
    call = ("check", "submissions", "--leaderboard", "board.toml", "--format", "summary")
    status, out, err = bot(*call, cwd=tmp_path)
    assert (status, out.splitlines()[0].split()) == (
        0,
        ["✓", "accepted", "51.75", "2/2", "acme/atlas-7b", "unknown", "precision"],
    ), out + err
