"""The audit of MMLU logs: each implementation's score of the same answers, and what a damaged log still gives."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.audits.mmlu.rescore import Fidelity
from bot.cli.audits import audit
from bot.evaluation.benchmarks.mmlu_family import Family
from tests.audits.mmlu.mmlu_logs import QUESTION, log, one, row, scores
from tests.audits.mmlu.mmlu_prompts import ask


def test_a_letter_log_gives_three_scores_and_says_what_the_others_need(tmp_path: Path) -> None:
    right = [["-0.5", "True"], ["-1", "False"], ["-2", "False"], ["-3", "False"]]
    not_greedy = [["-0.5", "False"], ["-1", "False"], ["-2", "False"], ["-3", "False"]]
    wrong = [["-5", "False"], ["-1", "True"], ["-2", "False"], ["-3", "False"]]
    rows = [row(Family.LETTERS, answers, acc=acc) for answers, acc in ((right, 1.0), (not_greedy, 1.0), (wrong, 1.0))]
    source = one(log(tmp_path / "samples_mmlu_anatomy_x.jsonl", *rows))
    assert source.family is Family.LETTERS
    found = scores(source)
    assert found["harness_letters", "acc"] == (2 / 3, Fidelity.OWN)
    assert found["original", "acc"] == (2 / 3, Fidelity.ALIKE)
    assert found["helm", "exact_match"] == (1 / 3, Fidelity.AT_LEAST)
    assert found["harness_2023", "acc_norm"] == (None, None)
    assert source.scores[0].differing == 1
    missing = {score.family: score.missing for score in source.scores if score.missing}
    assert missing[Family.HARNESS_2023].endswith("run it again")
    assert set(missing) == {Family.HARNESS_2023, Family.GENERATIVE, Family.CONTINUATION}


def test_prompts_of_no_known_implementation_speak_for_none(tmp_path: Path) -> None:
    asked = row(Family.LETTERS, ["-0.5", "-1", "-2", "-3"])
    asked["arguments"] = {name: pair | {"arg_0": "Which?\nAnswer:"} for name, pair in asked["arguments"].items()}
    source = one(log(tmp_path / "x.jsonl", asked))
    assert (source.family, source.evidence) == (Family.UNKNOWN, ())
    assert source.against == ("1 of 1 prompts are those of no known implementation",)


def test_without_the_greedy_flag_helm_cannot_be_had(tmp_path: Path) -> None:
    source = one(log(tmp_path / "x.jsonl", row(Family.LETTERS, ["-0.5", "-1", "-2", "-3"])))
    helm = next(score for score in source.scores if score.family is Family.HELM)
    assert helm.micro is None
    assert "is_greedy" in helm.missing


def test_a_text_log_gives_acc_and_acc_norm(tmp_path: Path) -> None:
    texts = [[-6.0, False], [-5.0, False], [-9.0, False], [-9.0, False]]
    source = one(log(tmp_path / "x.jsonl", row(Family.HARNESS_2023, texts, acc=0.0, acc_norm=1.0)))
    found = scores(source)
    assert found["harness_2023", "acc"] == (0.0, Fidelity.OWN)
    assert found["harness_2023", "acc_norm"] == (1.0, Fidelity.OWN)
    assert found["harness_letters", "acc"] == (None, None)
    assert [score.differing for score in source.scores[:2]] == [0, 0]


def test_a_generated_log_counts_the_first_line(tmp_path: Path) -> None:
    rows = [row(Family.GENERATIVE, [text]) for text in (" A", "a.\nB", "B", " A because")]
    found = scores(one(log(tmp_path / "x.jsonl", *rows)))
    assert found["harness_generative", "exact_match"] == (0.5, Fidelity.OWN)
    assert found["helm", "exact_match"] == (0.25, Fidelity.ALIKE)


def test_the_early_array_and_the_write_out_of_0_3_are_read(tmp_path: Path) -> None:
    texts = [-1.0, -5.0, -9.0, -9.0]
    built = ask(Family.HARNESS_2023, QUESTION, (), "anatomy")
    written = {"doc_id": "0", "truth": built.continuations[0], "acc": "1.0"}
    written |= {f"prompt_{i}": built.prompt + text for i, text in enumerate(built.continuations)}
    written |= {f"logit_{i}": value for i, value in enumerate(texts)}
    early = row(Family.HARNESS_2023, [[value, False] for value in texts])
    early["arguments"] = [[built.prompt, text] for text in built.continuations]
    for name, record in (("early.jsonl", early), ("x_write_out_info.json", written)):
        path = tmp_path / name
        path.write_text(json.dumps([record], indent=1))
        source = one(path)
        assert source.family is Family.HARNESS_2023
        assert scores(source)["harness_2023", "acc_norm"] == (1.0, Fidelity.OWN)


def test_macro_and_micro_part_where_subjects_differ_in_size(tmp_path: Path) -> None:
    good = row(Family.LETTERS, ["-1", "-2", "-3", "-4"])
    bad = row(Family.LETTERS, ["-9", "-2", "-3", "-4"])
    bad["doc"] = bad["doc"] | {"subject": "virology"}
    source = one(log(tmp_path / "x.jsonl", good, good, good, bad))
    assert (source.scores[0].micro, source.scores[0].macro, source.scores[0].subjects) == (0.75, 0.5, 2)
    main = source.main()
    assert main is not None
    assert main.macro == 0.5


def test_a_log_of_two_implementations_says_so(tmp_path: Path) -> None:
    mixed = [row(Family.LETTERS, ["-1", "-2", "-3", "-4"]), row(Family.GENERATIVE, ["A"])]
    source = one(log(tmp_path / "x.jsonl", *mixed))
    assert source.family is Family.UNKNOWN
    assert source.against == ("the log mixes implementations",)


def test_broken_records_are_counted_and_the_sound_part_stands(tmp_path: Path) -> None:
    sound = row(Family.LETTERS, ["-1", "-2", "-3", "-4"])
    no_gold = sound | {"doc": sound["doc"] | {"answer": 7}}
    no_answer = sound | {"resps": []}
    not_finite = row(Family.LETTERS, ["nan", "-2", "-3", "-4"])
    source = one(log(tmp_path / "x.jsonl", sound, "{", "[]", {"a": 1}, no_gold, no_answer, not_finite, sound))
    assert source.samples == 2
    assert {(skip.why, skip.count, skip.line) for skip in source.skipped} == {
        ("not valid JSON", 1, 2),
        ("not a sample of a known format", 2, 3),
        ("no right answer from A to D", 1, 5),
        ("no output of the model", 2, 6),
    }


def test_a_truncated_gzip_still_gives_what_was_read(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row(Family.LETTERS, [f"-{i}.5", "-2", "-3", "-4"])) + "\n" for i in range(500))
    path = tmp_path / "samples_mmlu_anatomy_x.jsonl.gz"
    path.write_bytes(gzip.compress(lines.encode(), 0)[:200_000])
    source = one(path)
    assert 100 < source.samples < 500
    assert "gzip" in source.skipped[-1].why


JUNK = (None, 1, -1, math.nan, math.inf, "x", [], {}, True, 10**400, "\x00", "\ud800", [["-1", "True"]])


def damaged(value: Any, random: Random) -> Any:
    """The same value with something in it replaced by what should not be there."""
    if isinstance(value, dict):
        return {
            key: random.choice(JUNK) if random.random() < 0.05 else damaged(one, random) for key, one in value.items()
        }
    if isinstance(value, list):
        return [random.choice(JUNK) if random.random() < 0.05 else damaged(one, random) for one in value]
    return value


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_no_damage_ends_in_a_traceback(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    answers = [["-1", "True"], ["-2", "False"], ["-3", "False"], ["-4", "False"]]
    rows = [row(Family.LETTERS, answers, acc=1.0), row(Family.HARNESS_2023, answers), row(Family.GENERATIVE, ["A"])]
    log(tmp_path / "samples_mmlu_x.jsonl", *(damaged(one, random) for one in rows * 5))
    names = ("anatomy", "virology", "astronomy")
    old = {f"hendrycksTest-{name}": {"acc": 0.5, "acc_norm": 0.4, "acc_stderr": 0.05} for name in names}
    whole = {"results": old, "versions": dict.fromkeys(old, 0), "config": {"no_cache": True, "num_fewshot": 5}}
    (tmp_path / "old.json").write_text(json.dumps(damaged(whole, random)))
    new = {f"mmlu_{name}": {"acc,none": 0.5, "acc_stderr,none": 0.05} for name in names}
    group = {"mmlu": {"acc,none": 0.5}}
    whole = {
        "results": new | group,
        "groups": group,
        "group_subtasks": {"mmlu": list(new)},
        "configs": {},
        "n-shot": {},
    }
    (tmp_path / "results_new.json").write_text(json.dumps(damaged(whole, random)))
    for form in ("text", "json", "markdown"):
        for command in (["mmlu", str(tmp_path)], ["results", str(tmp_path)]):
            result = CliRunner().invoke(audit, [*command, "--format", form])
            assert result.exit_code in {0, 1}
            assert isinstance(result.exception, SystemExit | None)
