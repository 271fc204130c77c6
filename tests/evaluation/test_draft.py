"""Drafts: a declaration made from result files is accepted as it is, and accepts the files that it was made from."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.errors import CallError
from bot.evaluation.draft.columns import seen_in
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result
from tests.evaluation.drafting import binary, drafted, modern, only_task, sized
from tests.evaluation.judging import base, base_v1, judgement_of, outcome_of
from tests.evaluation.parts import leaves_of, only
from tests.texts import any_text


def test_a_draft_scores_as_the_shipped_declaration_does() -> None:
    board, text = drafted(base())
    mine, theirs = outcome_of(base(), board), outcome_of(base())
    assert mine.status == "accepted"
    assert mine.scores is not None
    assert theirs.scores is not None
    scores = {task.title: task.score for task in mine.scores.tasks}
    assert scores == {task.title: task.score for task in theirs.scores.tasks}
    assert 'members = "leaderboard_bbh"' in text
    assert "# releases = " in text


def test_files_of_one_task_each_give_the_declaration_of_the_whole_file() -> None:
    parts = [only(base(), {key}) for key in leaves_of(base())]
    random.Random(3).shuffle(parts)
    whole, split = drafted(base())[0], drafted(*parts)[0]
    assert {task.id: task.model_dump() for task in whole.tasks} == {task.id: task.model_dump() for task in split.tasks}
    judgement = judgement_of({f"{number}.json": part for number, part in enumerate(parts)}, split)
    assert [(row.status, len(row.files)) for row in judgement.rows] == [("accepted", 39)]


def test_a_file_of_the_first_leaderboard_is_drafted_with_its_groups_and_bounds() -> None:
    board, _ = drafted(base_v1())
    assert outcome_of(base_v1(), board).status == "accepted"
    tasks = {task.id: task for task in board.tasks}
    mmlu = tasks["hendrycksTest"]
    assert (mmlu.members, len(mmlu.leaves), mmlu.aggregation, str(mmlu.lower_bound)) == (
        "hendrycksTest",
        57,
        "mean",
        "1/4",
    )
    assert not tasks["truthfulqa_mc" if "truthfulqa_mc" in tasks else "truthfulqa:mc"].metrics[0].integral
    assert tasks["gsm8k"].lower_bound == 0


def test_the_strict_filter_counts_where_there_are_two() -> None:
    row = binary("exact_match,flexible-extract", 800, 1319) | binary("exact_match,strict-match", 700, 1319)
    task, text = only_task(modern({"gsm8k": row}))
    assert (task.title, task.metrics[0].filter, task.metrics[0].integral) == ("GSM8K", "strict-match", True)
    assert "# also measured: exact_match,flexible-extract" in text
    unknown, _ = only_task(modern({"sums": row}))
    assert unknown.metrics[0].filter == "strict-match"


def test_a_mean_of_probabilities_is_no_mean_of_zeros_and_ones() -> None:
    row = {"acc,none": 0.4321987, "acc_stderr,none": 0.0142}
    known, _ = only_task(modern({"truthfulqa_mc2": row}))
    unknown, _ = only_task(modern({"shares": row}, **{"n-samples": sized(["shares"], 817)}))
    counted, _ = only_task(modern({"quiz": binary("acc,none", 300, 817)}))
    assert [task.metrics[0].integral for task in (known, unknown, counted)] == [False, False, True]
    assert counted.leaves[0].samples == 817


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"bleu,none": 23.5}, {"unit": "percent", "range": (0.0, 100.0), "higher_is_better": True}),
        ({"comet,none": 0.8847}, {"unit": "fraction", "range": (0.0, 1.0), "higher_is_better": True}),
        ({"comet,none": 88.47}, {"unit": "percent", "higher_is_better": True}),
        ({"mcc,none": -0.2}, {"unit": "fraction", "range": (-1.0, 1.0), "higher_is_better": True}),
        ({"mase,none": 1.34}, {"range": (0.0, 1e15), "higher_is_better": False, "lower_bound": 10}),
        ({"word_perplexity,none": 37.4}, {"range": (0.0, 1e15), "higher_is_better": False, "lower_bound": 100}),
        ({"bits_per_byte,none": 0.0}, {"range": (0.0, 1e15), "higher_is_better": False, "lower_bound": 1}),
        ({"elo,none": 1234.5}, {"range": (0.0, 1e15), "upper_bound": 10_000}),
        ({"gain,none": -25.0}, {"range": (-1e15, 1e15), "upper_bound": 100}),
        ({"acc,none": 71.5}, {"unit": "percent"}),
        ({"acc,none": 1e300}, {"range": (0.0, 1e15)}),
    ],
)
def test_values_of_any_scale_are_let_in_and_what_is_to_be_decided_is_said(
    row: dict[str, float], expected: dict[str, Any]
) -> None:
    task, text = only_task(modern({"odd": row}))
    assert {key: getattr(task, key) for key in expected} == expected
    assert "TODO" in text.partition("[[tasks]]")[2]


def test_what_the_files_do_not_record_is_left_open() -> None:
    row = Result(Model("acme/a"), HarnessVersion("x"), {"quiz": LeafResult({"acc,none": 0.5})}, format="lm-eval-0.4")
    task, text = only_task(row)
    assert (task.num_fewshot, task.versions, task.leaves[0].samples) == (None, (), None)
    assert "# TODO: num_fewshot = 0, or another number" in text
    assert "# TODO: the samples of each of its leaves: the files record none" in text


def test_a_decision_that_every_task_asks_for_is_said_once() -> None:
    """A table of twenty benchmarks had 45 of them."""
    leaves = {name: LeafResult({"acc,none": 0.5}) for name in ("quiz", "maze", "poem")}
    _, text = drafted(Result(Model("acme/a"), HarnessVersion("x"), leaves, format="lm-eval-0.4"))
    assert text.count("the files record none") == 2
    assert text.count("# TODO: in each task: the samples of each of its leaves") == 1
    assert text.index("in each task") < text.index("[[tasks]]")


@pytest.mark.parametrize(("metric", "is_asked"), [("acc", True), ("main_score", False), ("ndcg_at_10", False)])
def test_what_guessing_gives_is_asked_of_shares_of_right_answers_alone(metric: str, is_asked: bool) -> None:
    """A draft of eight retrieval tasks, nlpai-lab/KURE 59ce7eca, asked for ten such values."""
    _, text = only_task(modern({"quiz": {f"{metric},none": 0.5}}))
    assert ("# TODO: what guessing gives" in text) is is_asked


@pytest.mark.parametrize("metric", ["pass@1", "pass@16", "mean_prompt_level_strict"])
def test_what_guessing_gives_is_not_asked_where_nobody_can_guess(metric: str) -> None:
    assert "what guessing gives" not in only_task(modern({"quiz": {f"{metric},none": 0.5}}))[1]


def test_openbookqa_counts_by_the_metric_that_a_small_model_is_not_below_guessing_in() -> None:
    """As a model of whodatbo1/hnet 886f4fe7: an acc of 0.126 was a score of 0, and said to be no recognised answers."""
    row = {"acc,none": 0.126, "acc_stderr,none": 0.01486, "acc_norm,none": 0.264, "acc_norm_stderr,none": 0.01973}
    task, _ = only_task(modern({"openbookqa": row}))
    assert task.metrics[0].name == "acc_norm"


@pytest.mark.parametrize("metric", ["mean_prompt_level_strict", "mean_turn_1_prompt_level_strict", "mean_is_correct"])
def test_the_metrics_of_evalscope_are_known(metric: str) -> None:
    """As in the reports of modenicheng/llm_eval_evalscope 9dd686f1."""
    task, text = only_task(modern({"quiz": {"mean_loose,none": 0.9, f"{metric},none": 0.5}}))
    assert (task.metrics[0].name, "is not known here" in text) == (metric, False)


def test_of_files_with_different_metrics_those_count_that_all_or_most_have() -> None:
    both = modern({"quiz": {"acc,none": 0.5, "f1,none": 0.4}})
    other, another = modern({"quiz": {"f1,none": 0.3}}), modern({"quiz": {"f1,none": 0.2, "bleu,none": 3.0}})
    task, text = only_task(both, other, another)
    assert (task.metrics[0].name, "have no" in text) == ("f1", False)
    assert "# also measured: acc,none, bleu,none" in text
    task, text = only_task(modern({"quiz": {"acc,none": 0.5}}), other, another)
    assert task.metrics[0].name == "f1"
    assert "# TODO: 1 of 3 files of quiz have no f1" in text


def test_a_known_metric_that_most_files_have_counts_before_an_unknown_one_of_all() -> None:
    new = [modern({"sts": {"main_score,none": 0.5 + i / 100, "manhattan_pearson,none": 0.9}}) for i in range(3)]
    old = modern({"sts": {"manhattan_pearson,none": 0.8}})
    task, text = only_task(*new, old)
    assert task.metrics[0].name == "main_score"
    assert "# TODO: 1 of 4 files of sts have no main_score" in text


def test_what_no_file_of_a_format_shows_is_not_asked_for() -> None:
    scores = {"test": [{"main_score": 0.5, "hf_subset": name, "languages": []} for name in ("arabic", "english")]}
    data = {"task_name": "Tweets", "dataset_revision": "d5" * 20, "mteb_version": "1.18.0", "scores": scores}
    task, text = only_task(data)
    assert (task.id, len(task.leaves), task.aggregation) == ("Tweets", 2, "mean")
    assert "files record none" not in text
    assert '# repository = "embeddings-benchmark/mteb"\n# releases = ["1.18.0"]' in text


def test_what_files_disagree_on_is_named() -> None:
    rows = {"arc_challenge": binary("acc_norm,none", 600, 1172)}
    some = [modern(rows, **{"n-shot": {"arc_challenge": shots}}) for shots in (25, 25, 0)]
    task, text = only_task(*some, modern(rows, versions={"arc_challenge": 2}, **{"n-shot": {"arc_challenge": 25}}))
    assert (task.num_fewshot, task.versions) == (25, ("1", "2"))
    assert "# TODO: other files have 0 shots" in text
    task, text = only_task(modern(rows, **{"n-samples": sized(rows, 1000)}))
    assert task.leaves[0].samples == 1000
    assert "# TODO: arc_challenge usually has 1,172 samples" in text
    assert "# usually run with 25 shots" in text


def test_one_file_with_another_size_does_not_decide() -> None:
    rows = {"arc_challenge": binary("acc_norm,none", 600, 1172)}
    sizes = {size: modern(rows, **{"n-samples": sized(rows, size)}) for size in (1172, 2590)}

    task, text = only_task(sizes[2590], sizes[1172], sizes[1172])

    assert task.leaves[0].samples == 1172
    assert "# TODO: other files have other numbers of samples: arc_challenge (2,590)" in text


def test_one_key_in_two_formats_is_one_leaf_with_the_spelling_of_each() -> None:
    old = {
        "results": {"gsm8k": {"acc": 132 / 1319}},
        "versions": {"gsm8k": 0},
        "config": {"no_cache": True, "num_fewshot": 5},
    }
    new = modern({"gsm8k": binary("exact_match,strict-match", 700, 1319)}, **{"n-shot": {"gsm8k": 5}})
    task, _ = only_task(new, old)
    assert task.metrics[0].keys == {"lm-eval-0.3": "acc"}
    assert task.format_versions == {"lm-eval-0.4": ("1",), "lm-eval-0.3": ("0",)}


def test_groups_of_a_file_become_columns_where_their_leaves_are_alike() -> None:
    rows = {f"kobe_{name}": binary("acc,none", 40, 100) for name in ("a", "b", "c")}
    mixed = {"mixed_x": binary("acc,none", 40, 100), "mixed_y": binary("f1,none", 40, 100)}
    groups = {"all": ["kobe", "mixed"], "kobe": list(rows), "mixed": list(mixed), "loop": ["loop"]}
    data = modern({**rows, **mixed}, group_subtasks=groups, **{"n-samples": sized([*rows, *mixed], 100)})
    board, _ = drafted(data)
    assert [(task.id, len(task.leaves)) for task in board.tasks] == [("kobe", 3), ("mixed_x", 1), ("mixed_y", 1)]
    assert board.tasks[0].aggregation == "size-weighted"
    assert outcome_of(data, board).status == "accepted"


def test_a_group_without_a_name_is_no_column() -> None:
    rows = {f"kobe_{name}": binary("acc,none", 40, 100) for name in ("a", "b")}
    data = modern(rows, group_subtasks={"": list(rows)}, **{"n-samples": sized(rows, 100)})
    board, _ = drafted(data)
    assert [task.id for task in board.tasks] == list(rows)


def test_the_mean_of_a_group_is_made_as_the_file_makes_it() -> None:
    rows = {"kobe_a": binary("acc,none", 40, 100), "kobe_b": binary("acc,none", 30, 300)}
    samples = {"n-samples": sized(["kobe_a"], 100) | sized(["kobe_b"], 300)}
    for value, expected in ((0.25, "mean"), (0.175, "size-weighted")):
        data = modern({**rows, "kobe": {"acc,none": value}}, group_subtasks={"kobe": list(rows)}, **samples)
        task, _ = only_task(data)
        assert task.aggregation == expected


def test_a_part_of_a_known_group_is_that_part() -> None:
    rows = {f"mmlu_{name}": binary("acc,none", 40, size) for name, size in (("anatomy", 135), ("virology", 166))}
    task, _ = only_task(modern(rows))
    assert (task.id, task.group, len(task.leaves), task.aggregation) == ("mmlu", None, 2, "size-weighted")
    assert str(task.lower_bound) == "1/4"


@pytest.mark.parametrize(
    "name", ["average", "model", "a|b:c", 'q"uote', "back\\slash", "комета", "…", " ", "x" * 400, "a,b = {c}", "# x"]
)
def test_any_name_of_a_task_is_quoted_and_spelled(name: str) -> None:
    board, text = drafted(modern({name: {"acc,none": 0.5}, f"{name}!": {"acc,none": 0.25}}))
    assert len({task.id for task in board.tasks}) == 2
    assert [leaf.key("lm-eval-0.4") for _, leaf in board.leaves()] == [name, f"{name}!"]
    assert outcome_of(modern({name: {"acc,none": 0.5}, f"{name}!": {"acc,none": 0.25}}), board).status == "accepted"
    assert text


@pytest.mark.parametrize("name", ["\u202e", "a\nb", "\x1b[31m"])
def test_a_metric_whose_name_no_declaration_can_hold_is_left_out(name: str) -> None:
    task, _ = only_task(modern({"quiz": {f"{name},none": 0.5, "acc,none": 0.25}}))
    assert [metric.name for metric in task.metrics] == ["acc"]
    with pytest.raises(CallError, match="nothing was scored"):
        drafted(modern({"quiz": {f"{name},none": 0.5}}))


def test_nothing_of_a_file_leaves_its_comment() -> None:
    evil = "acme/x\n[harness]\nformats = []\x1b[31m\u202e"
    _, text = drafted(modern({"quiz": {"acc,none": 0.5}}, model_name=evil, git_hash="a\nb = 1", lm_eval_version=None))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("[harness]\n") == 1
    assert not [line for line in text.splitlines() if line.startswith("b =")]


def test_faults_of_the_file_are_named_by_its_own_draft() -> None:
    limited = modern(
        {"quiz": binary("acc,none", 20, 50)}, config={"limit": 50, "model_args": "pretrained=acme/atlas-7b"}
    )
    limited["n-samples"] = {"quiz": {"original": 817, "effective": 50}}
    board, _ = drafted(limited)
    assert board.tasks[0].leaves[0].samples == 817
    assert {found.rule for found in outcome_of(limited, board).findings if found.is_error} == {"limited-run"}
    broken = modern({"quiz": {"acc,none": math.nan}})
    board, _ = drafted(broken)
    assert {found.rule for found in outcome_of(broken, board).findings if found.is_error} == {"non-finite-value"}
    bare = modern({"quiz": {"alias": "quiz"}})
    assert {found.rule for found in outcome_of(bare, board).findings if found.is_error} == {
        "missing-task",
        "nothing-scored",
    }


NUMBERS = st.one_of(st.floats(), st.integers(-(2**70), 2**70), any_text(max_size=5), st.none(), st.booleans())
KEYS = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20)
LEAVES = st.builds(
    LeafResult,
    st.dictionaries(
        st.sampled_from(["acc", "acc,none", "acc_stderr,none", "ppl,none", "x", "f1,a,b"]) | KEYS, NUMBERS, max_size=5
    ),
    st.none() | st.integers(0, 30),
    st.none() | st.floats(allow_nan=False) | any_text(max_size=5),
    st.none() | st.integers(0, 10_000),
    st.none() | st.integers(0, 10_000),
)
RESULTS = st.builds(
    Result,
    st.builds(Model, KEYS),
    st.builds(HarnessVersion, KEYS, git_hash=st.none() | KEYS, version=st.none() | KEYS),
    st.dictionaries(
        st.sampled_from(["arc_challenge", "mmlu_virology", "model", "kobe"]) | KEYS, LEAVES, min_size=1, max_size=6
    ),
    st.sampled_from(["lm-eval-0.4", "lm-eval-0.3", "open-llm-v1"]),
    st.none() | st.floats(allow_nan=False),
    subtasks=st.dictionaries(st.sampled_from(["kobe", "all"]), st.lists(KEYS, max_size=3).map(tuple), max_size=2),
)


@pytest.mark.slow
@given(st.lists(RESULTS, min_size=1, max_size=3))
def test_a_draft_of_anything_is_a_declaration_that_has_each_leaf_once(results: list[Result]) -> None:
    if not any(leaf.is_scored for leaf in seen_in(results)):
        with pytest.raises(CallError, match=r"nothing was scored|no task"):
            drafted(*results)
        return
    board, _ = drafted(*results)
    for result in results:
        keys = [leaf.key(result.format) for _, leaf in board.leaves()]
        assert len(keys) == len(set(keys))


def of_model(name: str, *tasks: str) -> dict[str, Any]:
    return modern({task: {"acc,none": 0.5} for task in tasks}, model_name=f"acme/{name}")


def test_the_columns_are_those_that_most_models_share_and_the_others_are_comments() -> None:
    files = [*(of_model(f"m{number}", "arc", "boolq") for number in range(5)), of_model("n", "arc", "rare"),
             of_model("o", "boolq")]  # fmt: skip
    board, text = drafted(*files)
    assert [task.id for task in board.tasks] == ["arc", "boolq"]
    assert '# 1 model with all of rare:\n# [[tasks]]\n# id = "rare"' in text
    judgement = judgement_of({f"{number}.json": file for number, file in enumerate(files)}, board)
    assert [row.status for row in judgement.rows].count("accepted") == 5


def test_a_leaf_of_a_group_that_few_models_have_is_left_out() -> None:
    names = [f"kobe_{letter}" for letter in "abc"]
    files = [
        modern({name: binary("acc,none", 40, 100) for name in found}, model_name=f"acme/m{number}",
               group_subtasks={"kobe": found}, **{"n-samples": sized(found, 100)})
        for number, found in enumerate([names[:2], names[:2], names])
    ]  # fmt: skip
    task, text = only_task(*files)
    assert [leaf.id for leaf in task.leaves] == ["kobe_a", "kobe_b"]
    assert "# left out, because most models that have the others lack them: kobe_c" in text


def test_a_perplexity_that_is_far_off_is_in_range_and_decides_no_bound() -> None:
    files = [modern({"wiki": {"word_perplexity,none": value}}, model_name=f"acme/m{place}")
             for place, value in enumerate((12.5, 37.4, 5.9e18))]  # fmt: skip
    board, _ = drafted(*files)
    judgement = judgement_of({f"{number}.json": file for number, file in enumerate(files)}, board)
    assert [row.status for row in judgement.rows] == ["accepted"] * 3
    assert [row.scores.average for row in judgement.rows] == pytest.approx([87.5, 62.6, 0.0])


def test_a_nickname_is_accepted_by_the_declaration_that_is_drafted_from_it_and_by_no_other() -> None:
    """As `gpt-4o-2024-05-13-FC` of BFCL, a name that is not on the Hub; lm-eval makes up `i82qcls7`."""
    names = ("atlas-hf", "acme/atlas", "gpt2", "i82qcls7", "/disk/atlas")
    rows = {"quiz": binary("acc,none", 50, 100)}
    files = [modern(rows, model_name=name, config={"model_args": f"pretrained={name}"}) for name in names]
    board, text = drafted(*files)
    assert board.models == {"atlas-hf": "atlas-hf"}
    assert "# TODO: write the ids (org/name) of those models that are on the Hub." in text
    judged = judgement_of({f"{number}.json": file for number, file in enumerate(files)}, board)
    faulty = [one.path for one in judged.verdicts if "unidentified-model" in {found.rule for found in one.findings}]
    assert faulty == ["3.json", "4.json"]


def test_quoted_numbers_are_accepted_by_the_declaration_that_is_drafted_from_them() -> None:
    result = Result(Model("acme/a"), HarnessVersion("x"),
                    {"quiz": LeafResult({"score": 0.5})}, quoted_from="HELM", format="every-eval-ever")  # fmt: skip
    board, text = drafted(result)
    assert (board.harness.quoted, "copied from HELM" in text) == ("accepted", True)


def test_numbers_that_no_count_can_be_are_not_drafted() -> None:
    rows = {"quiz": {"acc,none": 0.5}}
    data = modern(rows, **{"n-shot": {"quiz": -1}, "n-samples": {"quiz": {"original": -5, "effective": -5}}})
    task, _ = only_task(data)
    assert (task.num_fewshot, task.leaves[0].samples) == (None, None)


def test_the_metrics_of_stereotypes_are_better_where_they_are_less() -> None:
    """crows_pairs_english of pythia-1.4b in EleutherAI/pythia `a19eecb3`; 0.4 of the harness says so of its task."""
    row = {"likelihood_diff,none": 3.37, "likelihood_diff_stderr,none": 0.08, "pct_stereotype,none": 0.61}
    task, text = only_task(modern({"crows_pairs_english": row}))
    assert (task.higher_is_better, "is not known here" in text) == (False, False)


def test_a_metric_that_the_file_says_is_better_where_it_is_less_is_drafted_so() -> None:
    """As `realtoxicityprompts` of the harness says of its only metric."""
    rows = {"realtoxicityprompts": {"toxicity_perspective_api,none": 0.12}, "quiz": {"acc,none": 0.5}}
    directions = {"realtoxicityprompts": {"toxicity_perspective_api": False}, "quiz": {"acc": True}}
    board, text = drafted(modern(rows, higher_is_better=directions))
    assert {task.id: task.higher_is_better for task in board.tasks} == {"realtoxicityprompts": False, "quiz": True}
    assert "is not known here" not in text


def test_no_board_is_ranked_by_counts_alone() -> None:
    def counts(**leaves: float) -> Result:
        made = {name: LeafResult(numbers={"score": value}) for name, value in leaves.items()}
        return Result(model=Model("acme/atlas-7b"), harness=HarnessVersion("own"), leaves=made, format="own")

    with pytest.raises(CallError, match=r"no board is ranked by counts alone; .*: runs, num_files"):
        draft_of([counts(runs=12, num_files=30)])
    assert [task.keys["id"] for task in draft_of([counts(runs=12, solved=30)]).tasks] == ["solved"]
    assert [task.keys["id"] for task in draft_of([counts(runs=12, failures=30)]).tasks] == ["failures"]


@pytest.mark.parametrize("total", ["Quiz-Pro (overall)", "overall_score"])
def test_a_total_beside_its_parts_is_shown_and_not_counted(total: str) -> None:
    """As an Every Eval Ever record of MMLU-Pro, which has one entry for all of its 14 parts."""
    parts = {"Quiz-Pro (law)": 0.25, "Quiz-Pro (physics)": 0.75}
    leaves = {name: LeafResult(numbers={"score": value}) for name, value in {**parts, total: 0.55}.items()}
    seen = Result(model=Model("acme/atlas-7b"), harness=HarnessVersion("own"), leaves=leaves, format="own")
    draft = draft_of([seen])
    assert [task.keys["title"] for task in draft.tasks] == [*parts]
    assert [column["title"] for column in draft.columns] == [total]
    assert "more is taken to be better in Quiz-Pro (law), Quiz-Pro (physics): no name says so" in draft.todo
    precision = replace(seen, leaves={**leaves, "average_precision": leaves[total]})
    assert "average_precision" in [task.keys["title"] for task in draft_of([precision]).tasks]
    outside = replace(seen, leaves={**leaves, total: LeafResult(numbers={"score": 0.8})})
    assert len(draft_of([outside]).tasks) == 3  # a number that is no mean of them is one of its own


@pytest.mark.parametrize(
    ("metric", "quality", "effort"),
    [
        ("score", "multi_turn_accuracy", "avg_turns"),
        ("score", "turn_1_score", "steps_to_success"),
        ("win", "turns", ""),
    ],
)
def test_a_name_that_says_how_often_is_asked_about_and_not_one_that_says_how_well(
    metric: str, quality: str, effort: str
) -> None:
    leaves = {name: LeafResult(numbers={metric: 0.5}) for name in (quality, effort, "quiz") if name}
    seen = Result(model=Model("acme/atlas-7b"), harness=HarnessVersion("own"), leaves=leaves, format="own")
    todo = draft_of([seen]).todo
    assert (quality in todo, bool(effort) and effort in todo) == (False, bool(effort))


def test_a_draft_of_thousands_of_tasks_is_refused_with_what_to_do() -> None:
    """As of 716 files of intfloat/multilingual-e5-small in embeddings-benchmark/results `f4cc6c8b`."""
    rows = {f"{i}-{'x' * 400}": {"acc,none": 0.5, "acc_stderr,none": 0.05} for i in range(1000)}
    with pytest.raises(CallError, match=r"a declaration of 1,000 columns would have more than 1 MB: name fewer files"):
        drafted(modern(rows))
