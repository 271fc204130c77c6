"""The board on a corrected set of questions: by hand on a small log, and nothing changes where nothing is excluded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.corrected import _rest, _samples, rescore_without
from bot.cli.service import rescore
from bot.errors import CallError
from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.platform import Access, Opener
from bot.publishing.corrected import Rest, corrected, read_ids
from bot.publishing.entry import entry_of
from tests.cli.test_remeasure import board as board_with_logs
from tests.cli.test_remeasure import call
from tests.evaluation.judging import judgement_of
from tests.world.results import TINY, result

board = board_with_logs  # the fixture


def shown(folder: Path, ids: str, capsys: pytest.CaptureFixture[str], **more: object) -> list[dict[str, object]]:
    (folder / "wrong.txt").write_text(ids)
    options = {"tasks": ["sums_plus"], "field": "", "sources": [folder], "form": "json", "is_needed": False} | more
    board = Opener(Access()).target(str(folder / "board"))
    rescore_without(folder / "wrong.txt", board, **options)  # type: ignore[arg-type]
    rows: list[dict[str, object]] = json.loads(capsys.readouterr().out)["rows"]
    return rows


@pytest.mark.slow
def test_a_board_without_ten_questions_is_computed_by_hand(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """50 of 100 are right, the first ones; 10 of these are left out."""
    capsys.readouterr()
    (row,) = shown(board, "\n".join(map(str, range(10))), capsys)
    plus, times, logic = (40 / 90 - 1 / 4) / (3 / 4) * 100, 60.0, 70.0
    assert row["excluded"] == 10
    assert row["tasks"]["sums"]["after"] == pytest.approx((plus + times) / 2)  # type: ignore[index]
    assert row["tasks"]["logic"] == {"before": logic, "after": logic}  # type: ignore[index]

    (same,) = shown(board, "12345", capsys)
    assert (same["excluded"], same["tasks"]["sums"]["after"]) == (0, same["tasks"]["sums"]["before"])  # type: ignore[index]
    (by_field,) = shown(board, '["sums_plus 0", "sums_plus 99"]', capsys, tasks=[], field="question")
    assert by_field["excluded"] == 2
    with pytest.raises(CallError, match="of one task"):
        shown(board, "3", capsys, tasks=[])


@pytest.mark.slow
def test_the_boards_of_the_settings_are_shown_and_a_log_that_is_another_is_not_used(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written, and without excluded questions every number is the same."""
    (board / "bot.toml").write_text(
        '[[watches]]\nname = "w"\nleaderboard = "tiny.toml"\nsource = "."\n'
        '[[watches.targets]]\nto = "board"\nas = "commit"\n'
    )
    (board / "none.txt").write_text("# nothing\n")
    (board / "ten.txt").write_text("\n".join(map(str, range(10))))
    files = {path: path.read_bytes() for path in (board / "board").rglob("*.*") if path.is_file()}

    def run(*args: str) -> str:
        status, said = call("rescore", *args, folder=board, monkeypatch=monkeypatch)
        assert status == 0, said
        return said

    said = run("--without", "none.txt", "--field", "question")
    assert "/board\nacme/atlas-7b  58.33 → 58.33" in said
    (row,) = json.loads(run("--without", "none.txt", "--field", "question", "--board", "board", "--sources", ".",
                            "--format", "json"))["rows"]  # fmt: skip
    assert row["before"] == row["after"]
    assert all(one["before"] == one["after"] for one in row["tasks"].values())
    assert "10 samples left out)\n  Sums" in run("--without", "ten.txt", "--task", "sums_plus")
    assert "every row names the logs" in run("--needed")
    with pytest.raises(CallError, match="go with --without or --needed"):
        rescore(task=["sums_plus"])
    assert files == {path: path.read_bytes() for path in files}

    (log,) = (board / "runs").rglob("samples_sums_plus_*")
    log.write_text(log.read_text().replace('"acc": 0.0', '"acc": 1.0'))
    assert "stays: the log of sums_plus is not the one that the row names" in run(
        "--without", "ten.txt", "--task", "sums_plus"
    )


def test_nothing_excluded_changes_no_bit_and_the_rest_is_weighed() -> None:
    declared = parse_leaderboard(TINY, "tiny", "tiny.toml")
    (row,) = judgement_of({"r.json": result()}, declared).rows
    entry = entry_of(row)
    assert entry is not None

    kept = {("sums_plus", "acc"): Rest(100, 0.5, 0.05, 0)}
    assert corrected(entry, declared, kept) is entry
    after = corrected(entry, declared, {("logic", "acc"): Rest(50, 0.9, 0.04, 50)})
    assert [task.score for task in after.tasks] == [entry.tasks[0].score, 90.0]
    assert after.average == pytest.approx(((entry.tasks[0].score or 0.0) + 90.0) / 2)
    assert after.tasks[1].stderr == pytest.approx(4.0)


def test_ids_are_lines_or_a_list() -> None:
    assert read_ids("3\n# a comment\nabc # why\n\n") == {"3", "abc"}
    assert read_ids('[3, "abc", null]') == {"3", "abc"}
    assert read_ids("[not json") == frozenset()


def test_a_real_log_without_five_of_its_questions(reference: Path) -> None:
    (log,) = (reference / "lm_eval_04" / "meta-llama__Meta-Llama-3-8B-Instruct").glob("samples_asdiv_*.jsonl")
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    ids = frozenset(str(row["doc_id"]) for row in rows[3:8])
    left = [row["acc"] for row in rows if str(row["doc_id"]) not in ids]
    rest = _rest(_samples(log, "lm-eval-0.4", "asdiv", "acc,none"), ids, "")
    assert rest is not None
    assert (rest.samples, rest.excluded) == (45, 5)
    assert rest.mean == pytest.approx(sum(left) / 45)
