"""The form that is drafted for files that no format reads: models and numbers are found, nothing else is one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import process_time
from typing import Any, NamedTuple

import pytest

from bot.evaluation.draft.form_draft import DraftedForm, draft_forms
from bot.evaluation.draft.tasks import draft_of
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.submission import parse_submission
from tests.evaluation.test_form_mutations import mutations
from tests.variants import SLOW

MODELS = {"acme/atlas-7b": (57.5, 46.0), "acme/borea-1b": (40.25, 12.5), "other/heron-3b": (62.5, 37.5)}
Files = dict[str, Any]


def nested(name: str, x: float, y: float) -> Files:
    scores = {"retail": {"ok": x, "cost": 3, "n": 8}, "airline": {"ok": y, "cost": 4, "n": 8}}
    return {f"{name[-3:]}.json": {"who": {"hf": name, "made": "2026-01-02"}, "scores": scores}}


def listed(name: str, x: float, y: float) -> Files:
    runs = [{"task": "retail", "metrics": {"acc": x / 100}}, {"task": "airline", "metrics": {"acc": y / 100}}]
    return {f"{name[-3:]}.json": {"modelId": name, "timestamp": "2026-01-02", "runs": runs}}


def texts(name: str, x: float, y: float) -> Files:
    return {f"{name[-3:]}.json": {"tool_name": name, "retail": f"{x}%", "airline": f"{y}%", "report": "https://x.y/z"}}


def in_folders(name: str, x: float, y: float) -> Files:
    rows = [{"benchmark": "retail", "score": x, "runtimeMs": 3}, {"benchmark": "airline", "score": y, "runtimeMs": 9}]
    return {f"results/{name.partition('/')[2]}/scores.json": rows}


def counted(name: str, x: float, y: float) -> Files:
    summary = {"retail_correct": x * 4, "retail_total": 400, "airline_correct": y * 2, "airline_total": 200}
    return {f"{name[-3:]}.json": {"model": name, "summary": summary}}


def solved(name: str, x: float, y: float) -> Files:
    lists = [[f"q{number}" for number in range(round(value * 4))] for value in (x, y)]
    parts = {"retail": {"resolved": lists[0], "total": 400}, "airline": {"resolved": lists[1], "total": 400}}
    return {f"{name[-3:]}.json": {"system": name, "parts": parts}}


def graded(name: str, x: float, y: float) -> Files:
    lines = [
        {"llm": name, "question_id": f"{task}{number}", "domain": task, "passed": number < round(value * 4)}
        for task, value in (("retail", x), ("airline", y))
        for number in range(400)
    ]
    return {f"{name[-3:]}.jsonl": lines}


def of_sets(name: str, x: float, y: float) -> Files:
    sets = {"retail": x, "airline": y}
    return {f"{task}/{name[-3:]}.json": {"method": name, "maxScore": 100, "f1": value} for task, value in sets.items()}


LAYOUTS: list[Callable[[str, float, float], Files]] = [
    nested, listed, texts, in_folders, counted, solved, graded, of_sets,
]  # fmt: skip


def as_bytes(files: Mapping[str, Any]) -> dict[str, bytes]:
    return {
        path: b"\n".join(json.dumps(line).encode() for line in (value if path.endswith("jsonl") else [value]))
        for path, value in files.items()
    }


def numbers(files: Mapping[str, bytes], form: DraftedForm) -> dict[str, dict[str, float]]:
    """All numbers that a form reads, by model and leaf."""
    made = DeclaredForm.model_validate(form.table).format
    found: dict[str, dict[str, float]] = {}
    for path, data in files.items():
        for part in parse_submission(path, {"": data}, forms=[made]).parts:
            for leaf, one in part.result.leaves.items() if part.result else ():
                assert part.result is not None
                assert not part.result.misread
                assert leaf not in found.setdefault(part.result.model.id, {})
                values = [value for key, value in one.numbers.items() if not key.endswith("stderr")]
                assert len(values) == 1
                found[part.result.model.id][leaf] = values[0]
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_numbers_of_any_layout_are_found(layout: Callable[[str, float, float], Files]) -> None:
    files = as_bytes({path: value for name, xy in MODELS.items() for path, value in layout(name, *xy).items()})
    form = next(draft_forms(files, None if layout is not graded else lambda text: text in MODELS))
    found = numbers(files, form)
    for name, (x, y) in MODELS.items():
        (read,) = (one for model, one in found.items() if model in {name, name.partition("/")[2]})
        by_task = {task: [value for leaf, value in read.items() if task in leaf] for task in ("retail", "airline")}
        for task, value in (("retail", x), ("airline", y)):
            assert len(by_task[task]) == 1, read
            assert by_task[task][0] in (pytest.approx(value), pytest.approx(value / 100)), read
        others = [value for leaf, value in read.items() if "retail" not in leaf and "airline" not in leaf]
        assert others == ([] if layout is not graded else [pytest.approx((x + y) / 200)])


def test_trials_in_a_list_are_of_the_game_that_their_file_names() -> None:
    def played(name: str, game: str, value: float) -> dict[str, Any]:
        return {"llm": name, "game": game, "rate": value, "rounds": [{"won": k < value} for k in range(100)]}

    won = {(name, game): int(value) for name, xy in MODELS.items() for game, value in zip("gh", xy, strict=True)}
    files = as_bytes({f"{number}.json": played(*of, value) for number, (of, value) in enumerate(won.items())})
    found = numbers(files, next(draft_forms(files, lambda text: text in MODELS)))
    for (name, game), value in won.items():
        assert [one for leaf, one in found[name].items() if leaf.startswith(game)] == [value, value / 100]


@pytest.mark.parametrize("layout", [one if one is not graded else pytest.param(one, marks=SLOW) for one in LAYOUTS])
def test_a_misspelled_place_of_a_drafted_form_gives_no_wrong_number(
    layout: Callable[[str, float, float], Files],
) -> None:
    files = as_bytes({path: value for name, xy in MODELS.items() for path, value in layout(name, *xy).items()})
    form = next(draft_forms(files, None if layout is not graded else lambda text: text in MODELS))
    sound, tried = read_by(files, form.table), 0
    for changed in (one for one in mutations(form.table) if one["id"] == form.table["id"]):
        try:
            found = read_by(files, changed)
        except ValueError:
            continue  # the declaration is refused
        tried += 1
        wrong = {key: value for key, value in found.numbers.items() if sound.numbers.get(key, value) != value}
        assert wrong == {}, changed
        assert found.said or found.numbers != sound.numbers, changed
    assert tried > 1


class ReadFiles(NamedTuple):
    """What a form reads in files: numbers by model, leaf and metric, and how many faults and places were named."""

    numbers: dict[tuple[str, str, str], float]
    said: int


def read_by(files: Mapping[str, bytes], table: dict[str, Any]) -> ReadFiles:
    made = DeclaredForm.model_validate(table).format
    found: dict[tuple[str, str, str], float] = {}
    said = 0
    for path, data in files.items():
        for part in parse_submission(path, {"": data}, forms=[made]).parts:
            said += part.problem is not None
            for leaf, one in part.result.leaves.items() if part.result else ():
                assert part.result is not None
                found |= {(part.result.model.id, leaf, metric): value for metric, value in one.numbers.items()}
            said += len(part.result.misread) + len(part.result.unmatched) if part.result else 0
            said += part.result is not None and not part.result.model.id
    return ReadFiles(found, said)


def test_a_table_that_lies_beside_the_files_is_not_preferred_to_them() -> None:
    files: Files = {path: value for name, xy in MODELS.items() for path, value in nested(name, *xy).items()}
    files["all.json"] = [{"who": name, "retail": x} for name, (x, _) in MODELS.items()]
    forms = list(draft_forms(as_bytes(files)))
    assert [(one.keys["model"], one.files) for one in forms[:2]] == [("who.hf", 3), ("who", 1)]


def test_an_object_by_task_names_its_keys_where_it_holds_more_than_scores() -> None:
    files = {
        f"{name[-3:]}.json": {"model": name, "summary": {"retail": x, "airline": y, "total_tokens": 900_000}}
        for name, (x, y) in MODELS.items()
    }
    form = next(draft_forms(as_bytes(files)))
    assert [one.place for one in form.values] == ["summary.retail", "summary.airline"]


def test_each_part_of_a_form_has_leaves_of_its_own() -> None:
    part = {"csat": {"correct": 3, "marks": 1.5}, "gs1": {"correct": 4, "marks": 2.5}}
    files = as_bytes({f"{name[-3:]}.json": {"model": name, "paper": part, "year": {"2025": part}} for name in MODELS})
    for read in numbers(files, next(draft_forms(files))).values():
        assert sorted(read.values()) == [1.5, 1.5, 2.5, 2.5, 3.0, 3.0, 4.0, 4.0]


def test_answers_by_the_number_of_the_question_are_no_models_and_no_tasks() -> None:
    """As in araag2/lm-evaluation-harness 0002acbe, Summary_….json."""
    samples = {str(number): {"preds": number % 3, "pred_probs": [-19.9, -6.7]} for number in range(40)}
    files = {f"{name.replace('/', '_')}/s.json": {"results": {"acc": x / 100, "f1": y / 100}, "samples": samples}
             for name, (x, y) in MODELS.items()}  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert (form.keys["model"], [one.place for one in form.values]) == ("{model}", ["results.{task}"])


def test_many_keys_with_the_runs_of_a_question_each_are_trials_and_no_tasks() -> None:
    questions = [f"B{number:02}_Q{part}" for number in range(10) for part in range(5)]
    files = {
        f"{name}.json": {
            "model_name": name,
            "runs": {
                one: [{"api": name, "at": f"2026-01-0{run + 1}", "auto": {"scores": {"ok": right}}} for run, right in
                      enumerate([False, (place + offset) % 3 == 0])]
                for place, one in enumerate(questions)
            },
        }
        for offset, name in enumerate(("atlas", "borea", "heron"))
    }  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert form.keys["model"] == "model_name"
    assert [one.keys for one in form.values] == [{"trials": "runs.{question}[*].auto.scores.ok", "leaf": "ok"}]
    searched = {one.place for one in next(draft_forms(as_bytes(files), {"atlas", "borea"}.__contains__)).values}
    assert searched == {"runs.{question}[*].auto.scores.ok", "runs.{question}[-1].auto.scores.ok"}


def test_ids_of_questions_that_several_domains_have_are_tried_as_one_question_and_as_several() -> None:
    lines = [
        {"llm": name, "question_id": f"q{number}", "domain": domain, "passed": (number + offset) % 3 == 0}
        for offset, name in enumerate(MODELS)
        for domain, count in (("retail", 40), ("airline", 20))
        for number in range(count)
    ]
    files = as_bytes({"answers.jsonl": lines})
    searched = [dict(one.keys) for one in next(draft_forms(files, MODELS.__contains__)).values]
    assert {"trials": "passed", "question": "{.question_id}", "leaf": "passed"} in searched
    assert {"trials": "passed", "leaf": "passed of each", "metric": "passed"} in searched
    assert len({one["leaf"] for one in searched}) == len(searched)
    even = as_bytes({"answers.jsonl": [one for one in lines if one["domain"] == "retail"]})
    assert all("question" in one.keys for one in next(draft_forms(even, MODELS.__contains__)).values)


def test_a_rate_of_faults_is_a_share_and_counts_where_all_else_is_equal() -> None:
    rates = {"atlas": 12.1, "borea": 9.3, "heron": 8.7}
    files = {
        f"{name}.json": {
            "model_name": name, "hhem_version": f"2.{place}", "torch_version": "2.6", "threads": 3 + place,
            "hallucination_rate": rate, "answer_rate": 100.0, "word_error_rate": rate / 10,
        }
        for place, (name, rate) in enumerate(rates.items())
    }  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    units = {one.place: one.keys["unit"] for one in form.values}
    assert units == {"hallucination_rate": "percent", "answer_rate": "percent", "word_error_rate": "plain"}
    assert form.keys["settings"] == ["hhem_version"]
    made = DeclaredForm.model_validate(form.table).format
    parsed = [parse_submission(path, {"": data}, forms=[made]) for path, data in as_bytes(files).items()]
    draft = draft_of([one.result for one in parsed if one.result is not None])
    assert [task.keys["id"] for task in draft.tasks] == ["hallucination_rate"]
    assert {one["id"] for one in draft.columns} == {"answer_rate", "word_error_rate"}


def test_a_task_with_the_numbers_of_another_in_each_row_says_so() -> None:
    """As in mlfoundations/dclm 361714b: `Extended` and `aggregated_centered_results` of every model are equal."""
    scores = {name: {"retail": x / 100, "airline": y / 100, "shop": x / 100} for name, (x, y) in MODELS.items()}
    files = as_bytes({f"{name[-3:]}.json": {"model": name, "scores": found} for name, found in scores.items()})
    made = DeclaredForm.model_validate(next(draft_forms(files)).table).format
    parsed = [parse_submission(path, {"": data}, forms=[made]) for path, data in files.items()]
    draft = draft_of([one.result for one in parsed if one.result is not None])
    said = {task.keys["id"]: [note for note in task.notes if "same numbers" in note] for task in draft.tasks}
    equal = "the same numbers as retail in each row: the two count once in ranks over tasks"
    assert said == {"retail": [], "airline": [], "shop": [equal]}


def test_numbers_of_two_units_below_equal_names_are_two_places() -> None:
    """As in mlfoundations/dclm 361714b, exp_data/evals: accuracies, and perplexities of the same tasks."""
    tasks = [f"task_{letter}" for letter in "abcdefgh"]
    files = {f"{name[-3:]}.json": {"model": name, "metrics": {
        "icl": {task: (x + place) / 100 for place, task in enumerate(tasks)} | {"few": {"x": 0.5}},
        "downstream": {task: y + place for place, task in enumerate(tasks)},
    }} for name, (x, y) in MODELS.items()}  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert {len(read) for read in numbers(as_bytes(files), form).values()} == {17}
    assert {one.place: one.keys["unit"] for one in form.values} == {
        "metrics.icl.{task}": "fraction", "metrics.icl.few.x": "fraction", "metrics.downstream.{task}": "percent",
    }  # fmt: skip


def test_counts_of_which_the_share_stands_beside_them_are_no_number_of_their_own() -> None:
    """As in joerosh/BFCL-hardware-efficiency-study 9d95a52: successes of n, and the success_rate."""
    kinds = (("simple", 20), ("parallel", 18))
    files = {f"{name[-3:]}.csv": "category,n,successes,success_rate\n" + "".join(
        f"{kind},25,{right - place},{(right - place) / 25}\n" for kind, right in kinds
    ) for place, name in enumerate(MODELS)}  # fmt: skip
    form = next(draft_forms({path: text.encode() for path, text in files.items()}))
    assert [one.place for one in form.values] == ["success_rate"]


def test_files_of_one_name_are_told_apart_by_what_they_are_of() -> None:
    """As in huthvincent/ptq-bench c16033f: each method has files of two models in two tracks, and runs of them."""
    files = {
        f"{model}__{method}__{track}.json": {
            "meta": {"model": model, "track": track, "timestamp": f"2026-02-1{number}", "torch": "2.10.0"},
            "config": {"name": method, "description": f"Method {method}"},
            "results": {"acc": 0.5 + number / 100, "f1": 0.25 + number / 100},
        }
        for number, (method, model, track) in enumerate(
            (method, model, track) for method in ("fp16", "awq") for model in ("atlas", "borea") for track in "AC"
        )
    }
    form = next(draft_forms(as_bytes(files), lambda text: text in {"fp16", "awq"}))
    assert form.keys["model"] == "config.name"
    found = numbers(as_bytes(files), form)
    parts = ("atlas A", "atlas C", "borea A", "borea C")
    assert found["fp16"] == pytest.approx(
        {
            f"{part} {key}": least + number / 100
            for number, part in enumerate(parts)
            for key, least in (("acc", 0.5), ("f1", 0.25))
        }
    )
    alone = next(draft_forms(as_bytes(files)))
    assert "files of one model differ at" in alone.todo[0]
    assert alone.keys["settings"], "what no key names is a setting, so that such files are not joined"


def test_a_name_for_any_key_reads_no_number_of_another_unit() -> None:
    """As in XUER1220/GameLLM-Benchmark ba56a2a: 0 to 1 under some keys, and points of 100 under others."""
    files = {f"{name[-3:]}-{game}.json": {"model": name, "game": game, "scores": {
        "exec": {"score": 0.5 if game == "snake" else 0.25, "details": {"score": 0.5, "window": 1}},
        "play": {"score": 0.7, "details": {"score": 0.7, "window": 0}},
        "code": {"score": x / 100, "details": {"score": x, "style": 17}},
    }} for name, (x, _) in MODELS.items() for game in ("snake", "pong")}  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    for name, read in numbers(as_bytes(files), form).items():
        assert len(read) == 18
        assert sorted(value for leaf, value in read.items() if "snake" in leaf) == sorted(
            [0.5, 0.5, 1, 0.7, 0.7, 0, MODELS[name][0] / 100, MODELS[name][0], 17]
        )


def test_whole_numbers_under_names_of_no_scores_are_counts() -> None:
    files = {f"{name[-3:]}.json": {"model": name, "milestones": 7 + place, "score": 40 + place, "mmlu": 60 + place,
                                   "coins": 3000 * (place + 1), "points": 7.5 + place}
             for place, name in enumerate(MODELS)}  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert {one.place: (one.keys["unit"], bool(one.todo)) for one in form.values} == {
        "milestones": ("plain", True), "score": ("percent", False), "mmlu": ("percent", False),
        "coins": ("plain", False), "points": ("percent", True),
    }  # fmt: skip


def test_a_score_named_after_its_shots_is_one_and_a_number_of_shots_is_none() -> None:
    """As in eval_metrics.icl of mlfoundations/dclm, beside mmlu_zeroshot."""
    files = {f"{name[-3:]}.json": {"model": name, "mmlu_fewshot": x / 100, "arc_5_shot": y / 100,
                                   "num_fewshot": 5 + place, "shots": 3 + place, "few_shot": place}
             for place, (name, (x, y)) in enumerate(MODELS.items())}  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert {one.place for one in form.values} == {"mmlu_fewshot", "arc_5_shot"}


@pytest.mark.parametrize(
    "text", ["2026-01-02", "2024_06_12-07_07_17", "https://a.b/c", "a/b/c.yaml", "9f" * 20, "one two " * 6, "./x"]
)
def test_a_text_that_is_no_name_is_no_model(text: str) -> None:
    files = {
        f"{name[-3:]}.json": {"model": text + str(number), "acc": 0.5 + number / 10}
        for number, name in enumerate(MODELS)
    }
    if text.startswith("2026"):
        files = {
            path: {**value, "model": f"2026-01-0{number + 1}"} for number, (path, value) in enumerate(files.items())
        }
    elif text.endswith("yaml"):
        files = {path: {**value, "model": f"{number}{text}"} for number, (path, value) in enumerate(files.items())}
    assert next(draft_forms(as_bytes(files))).keys["model"] == "{model}"


def test_a_key_with_braces_or_of_two_lines_is_left_out_and_named_and_the_other_numbers_are_drafted() -> None:
    files = as_bytes({f"{name[-3:]}/run {{a b}}/x.json": {
        "{model}": name, "acc{norm}": x, "two\nlines": x, "solved it?": y,
        "parts": [{"{task}": f"{number}", "x{": x} for number in "ab"]
    } for name, (x, y) in MODELS.items()})  # fmt: skip
    form = next(draft_forms(files))
    assert numbers(files, form) == {name[-3:]: {"solved it?": y} for name, (_, y) in MODELS.items()}
    assert form.said[-1].endswith("several lines: {model}, acc{norm}, two\N{REPLACEMENT CHARACTER}lines")


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        lambda: {f"k{number}": {"acc": number / 100_000} for number in range(100_000)},
        lambda: {
            "model": "a/b",
            "results": {f"t{one}": {f"m{other}": 0.5 for other in range(300)} for one in range(300)},
        },
        lambda: [{f"text {key}": f"a{key}/{number}" for key in range(300)} for number in range(300)],
    ],
    ids=["keys", "wide", "texts"],
)
def test_a_hostile_file_is_drafted_from_soon(value: Callable[[], Any]) -> None:
    data = json.dumps(value()).encode()
    started = process_time()
    list(draft_forms({"a.json": data}))
    assert process_time() - started < 20


def test_models_by_name_of_which_newer_ones_have_other_tasks_are_models() -> None:
    """One file for all models, whose older half has tasks that the newer half no longer has."""
    old = {f"maker/old-{number}": {"size": 7, "python-100": 40.5 + number, "rust-100": 20.25} for number in range(6)}
    new = {f"maker/new-{number}": {"python-200": 30.5 + number, "rust-200": 10.75} for number in range(6)}
    form = next(draft_forms({"all.json": json.dumps(new | old).encode()}))
    assert form.keys["rows"] == form.keys["model"] == "{model}"
    assert {"python-200", "rust-200", "python-100"} <= {one.place for one in form.values}


@pytest.mark.parametrize("by", ["per_problem", "byCategory"])
def test_an_object_by_task_names_no_models_though_a_table_has_a_row_for_each_task(by: str) -> None:
    """As leaderboard.json of Infatoshi/KernelBench-Hard `649cfb9`."""
    tasks = {f"kernel-{number}": {"best": 0.5 + number / 100, "passed": 4 + number} for number in range(7)}
    models = [{"label": f"run/{name}", "scores": {"retail": x, "airline": y}} for name, (x, y) in MODELS.items()]
    forms = list(draft_forms({"all.json": json.dumps({by: tasks, "models": models}).encode()}, tasks.__contains__))
    assert "models[*]" in [one.keys.get("rows") for one in forms]
    assert not [one for one in forms if by in str(one.keys.get("rows"))]


def test_many_digits_in_a_text_are_answers_and_no_number() -> None:
    files = {
        f"{number}.json": json.dumps({"model": f"acme/m-{number}", "python": 40.5 + number, "answers": "1101" * 50})
        for number in range(3)
    }
    form = next(draft_forms({name: text.encode() for name, text in files.items()}))
    assert [one.place for one in form.values] == ["python"]


@pytest.mark.parametrize(
    ("key", "unit"),
    [("successRate", "percent"), ("ttft_s_p50", "plain"), ("MASE", "plain"), ("tokens_per_s", "plain")],
)
def test_times_speeds_and_errors_are_no_percentages_and_words_begin_with_capitals(key: str, unit: str) -> None:
    files = {
        f"{number}.json": json.dumps({"model": f"acme/m-{number}", "scores": {key: 2 * (number + 1)}}).encode()
        for number in range(3)
    }
    form = next(draft_forms(files, lambda text: text.startswith("acme/")))
    assert {one.keys["unit"] for one in form.values if one.place.endswith(key)} == {unit}


def test_rows_of_several_tracks_are_told_apart_where_each_has_models_of_its_own() -> None:
    """Like results/leaderboard.json of causaldyn/causaldyn-bench: one leaf mixed the costs of all tracks."""
    rows = [
        {"track": f"track-{number // 3}", "method": f"way-{number % 9}", "metric": "regret", "value": number + 0.5}
        for number in range(12)
    ]
    files = as_bytes({"board.json": rows})
    found = numbers(files, next(draft_forms(files)))
    assert found["way-0"] == {"track-0": 0.5, "track-3": 9.5}
    assert found["way-5"] == {"track-1": 5.5}


def test_answers_of_which_some_have_no_score_are_no_trials_of_it() -> None:
    files: Files = {}
    for number, name in enumerate(MODELS):
        cases = [
            {"case_id": f"c{one}", "right": one > number, "cited": None if one % 3 else 0.5 + number / 9}
            for one in range(12)
        ]
        files[f"{number}.json"] = {"model": name, "cases": cases, "means": {"cited": 0.5 + number / 9}}
    form = next(draft_forms(as_bytes(files), lambda text: text in MODELS))
    assert {one.place for one in form.values} == {"cases[*].right", "means.cited"}


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_text_beside_a_number_names_its_metric_and_a_count_its_samples(*, is_listed: bool) -> None:
    """A form of one list, or of one number in each file."""
    files: Files = {}
    for number, name in enumerate(MODELS):
        one = {"measure": "WER", "metric_name": "WER", "value": 4.5 + number, "num_utterances": 260, "total": 9}
        runs = [{"corpus": "clean", **one}, {"corpus": "noisy", **one, "num_utterances": 70, "value": 9.5 + number}]
        files[f"{number}.json"] = {"model": name, **({"runs": runs} if is_listed else one)}
    form = next(draft_forms(as_bytes(files)))
    assert [one.keys["unit"] for one in form.values] == ["plain"]
    made = DeclaredForm.model_validate(form.table).format
    for path, data in as_bytes(files).items():
        (part,) = parse_submission(path, {"": data}, forms=[made]).parts
        assert part.result is not None
        assert not part.result.misread
        sizes = {leaf: one.samples for leaf, one in part.result.leaves.items()}
        assert sizes == ({"clean": 260, "noisy": 70} if is_listed else {"WER": 260})
        assert {key for one in part.result.leaves.values() for key in one.numbers} == {"WER"}


def kpis(number: int) -> Files:
    """One file of key figures, as boards of assistants and of transcription keep them."""
    more = {"accuracy": 0.5, "win_rate": 0.25, "solve_rate": 0.4}
    less = {"halluc_rate": 0.05, "toxicity_score": 0.1, "wer": 0.2, "val_loss": 1.5, "rmse": 4.5, "brier": 0.2,
            "attack_success_rate": 0.3, "false_alarm_rate": 0.1, "p95_latency": 1.5, "avg_severity": 0.25,
            "hallucinations": 3}  # fmt: skip
    unsure = {"bias_score": 0.3, "refusal_rate": 0.2, "dropout_rate": 0.1, "avg_drift": 0.4}
    none = {"seed": 40, "timestamp": 1_760_000_000, "run_id": 7, "items": 120, "gold_logprob_min": -20.5,
            "logprob_range": 19.5, "vram_gb": 12.5, "p95ms": 140.5, "tp": 9, "fn": 4, "repeats": 2}  # fmt: skip
    return {"model": f"acme/atlas-{number}b"} | {
        key: value + number if isinstance(value, int) else round(value + number / 64, 4)
        for key, value in {**more, **less, **unsure, **none}.items()
    }


def test_key_figures_have_the_direction_that_their_names_say_and_what_is_no_measure_is_none() -> None:
    files = as_bytes({f"{number}.json": kpis(number) for number in range(4)})
    form = next(draft_forms(files))
    units = {one.place: one.keys["unit"] for one in form.values}
    assert units.keys().isdisjoint(
        {
            "seed",
            "timestamp",
            "run_id",
            "items",
            "gold_logprob_min",
            "logprob_range",
            "vram_gb",
            "p95ms",
            "tp",
            "fn",
            "repeats",
        }
    )
    assert units["hallucinations"] == "count"
    made = DeclaredForm.model_validate(form.table).format
    results = [
        part.result for path, data in files.items() for part in parse_submission(path, {"": data}, forms=[made]).parts
    ]
    draft = draft_of([one for one in results if one])
    tasks = [task.keys["id"] for task in draft.tasks]
    assert tasks == ["accuracy", "win_rate", "solve_rate", "bias_score", "refusal_rate", "dropout_rate", "avg_drift"]
    assert "better in bias_score, refusal_rate, dropout_rate, avg_drift: no name says so" in draft.todo
    assert {one["id"]: one["higher_is_better"] for one in draft.columns} == dict.fromkeys(
        ("halluc_rate", "toxicity_score", "wer", "val_loss", "rmse", "brier", "attack_success_rate", "false_alarm_rate",
         "p95_latency", "avg_severity", "hallucinations"), False)  # fmt: skip


def test_errors_rank_models_where_a_share_of_something_and_times_stand_beside_them() -> None:
    """As reports of speech recognition, which have how long a run took, and how much of a text is in one script."""
    files = {}
    for number in range(4):
        errors = {"wer": 0.35 + number / 8, "cer": 0.12 + number / 9}
        beside = {"wall_s": 17.5 + number, "latin_ratio": 0.75 + number / 40, "p95": 4.5 + number}
        files[f"{number}.json"] = {"model": f"acme/atlas-{number}b", "n": 50, **errors, **beside}
    made = DeclaredForm.model_validate(next(draft_forms(as_bytes(files))).table).format
    parsed = [parse_submission(path, {"": data}, forms=[made]).result for path, data in as_bytes(files).items()]
    draft = draft_of([one for one in parsed if one is not None])
    assert {task.keys["id"]: task.keys.get("higher_is_better") for task in draft.tasks} == {"wer": False, "cer": False}
    assert [one["id"] for one in draft.columns] == ["latin_ratio"]


def test_a_file_says_that_less_is_better_and_the_number_of_pairs_around_its_metrics() -> None:
    files: Files = {}
    for number, name in enumerate(MODELS):
        errors = {"drift": 0.42 + number / 8, "lower_is_better": True}
        pairs = {
            part: {"n_pairs": pairs, "metrics": {"tau": 0.5 + number / 10, "rho": 0.4 + number / 9}}
            for part, pairs in (("en-de", 260), ("en-fr", 70))
        }
        files[f"{number}.json"] = {"model": name, "errors": errors, "pairs": pairs}
    form = next(draft_forms(as_bytes(files)))
    made = DeclaredForm.model_validate(form.table).format
    for path, data in as_bytes(files).items():
        (part,) = parse_submission(path, {"": data}, forms=[made]).parts
        assert part.result is not None
        leaves = part.result.leaves
        sizes = {"drift": None, "en-de": 260, "en-de rho": 260, "en-fr": 70, "en-fr rho": 70}
        assert {key: one.samples for key, one in leaves.items()} == sizes
        assert [key for key, one in leaves.items() if one.less_is_better] == ["drift"]


def test_a_part_for_each_task_that_holds_models_is_not_taken_for_all_in_silence() -> None:
    """Without this one task of fifty looks like the whole board."""
    files = {
        f"{model}.json": json.dumps(
            {task: {model: {"score": 0.5, "n": 3}} for task in ("trolley", "mercy", "jugs", "cat")}
        ).encode()
        for model in ("atlas-7b", "borea-1b", "heron-3b", "osprey-9b", "raven-2b", "stork-4b", "tern-5b", "wren-6b")
    }
    form = next(draft_forms(files))
    assert form.keys["rows"] == "cat.{model}"
    said = '3 other parts are like cat.{model}: for all write rows = "{set}.{model}", and {set} into each leaf'
    assert f"TODO {said}" in form.said
    assert f"# TODO {said}" in form.text


def test_languages_in_the_file_of_each_task_are_no_models_and_its_folder_is() -> None:
    """A folder for each model, a file for each task: neither the task nor one of few languages is the model."""
    files = {
        f"cache/{model}/{task}.json": json.dumps(
            {
                "task_name": task,
                "scores": {lang: {"accuracy": 0.5, "f1": 0.4} for lang in ("da", "sv")[: 1 + place % 2]},
            }
        ).encode()
        for model in ("acme__atlas-7b", "acme__borea-1b", "other__heron-3b", "small-1b")
        for place, task in enumerate(("angry", "parallel", "reviews", "swerec"))
    }
    form = next(draft_forms(files))
    assert (form.keys["files"], form.keys["model"]) == ("{model}/{set}.json", "{model}")
    assert str(form.values[0].keys["leaf"]).startswith("{set} ")
    assert form.models[0] == "acme__atlas-7b"


def test_a_key_called_model_counts_before_a_token_also_where_it_has_paths() -> None:
    files = {
        f"{name[-3:]}.json": {
            "humaneval": {"pass@1": x},
            "config": {"eos": "<|endoftext|>", "tasks": "humaneval", "model": f"/scratch/a/b/c/d/{name}"},
        }
        for name, (x, _) in MODELS.items()
    }
    assert next(draft_forms(as_bytes(files))).keys["model"] == "config.model"


def test_each_number_is_drafted_or_named_and_a_precision_is_no_model() -> None:
    files = {
        f"{name}/ept.json": {"joules_in": x * 9, "total_joules": x * 30, "precision": "bfloat16"}
        for name, (x, _) in MODELS.items()
    }
    form = next(draft_forms(as_bytes(files)))
    assert "{" in form.keys["model"]
    assert [one.place for one in form.values] == ["joules_in"]
    assert form.said[-1].endswith("for one that is: total_joules")


@pytest.mark.parametrize("beside", [True, False])
def test_counts_of_several_runs_are_one_quotient_and_times_and_what_never_happened_are_no_tasks(beside: bool) -> None:
    """A lab's own files: one text is the layout of all files, and the model is what differs between them."""
    files: Files = {}
    for number, name in enumerate(("Atlas (7B)", "Borea (1B)", "Heron (3B)")):
        runs = [
            {"seed": seed, "passed": 9 * number + seed, "crashed": 0} | ({"total": 80} if beside else {})
            for seed in range(3)
        ]
        suite = {"n_items": 80, "attempts": runs, "spend": {"usd": 0.5}, "latency": {"p50_s": 3.5, "mean": 4.0}}
        files[f"2026-11-0{number + 1}-run.json"] = {
            "schema": "lab/2", "system": {"label": name, "served_by": "vllm"}, "suites": {"tools": suite, "long": suite}
        }  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert form.keys["model"] == "system.label"
    of = "suites.{task}.attempts.{run}.total" if beside else "suites.{task}.n_items"
    right = {"right": "suites.{task}.attempts.{run}.passed", "of": of, "reduce": "mean", "leaf": "{task}"}
    assert form.values[0].keys == {**right, "metric": "passed"}
    assert {one.keys["metric"]: one.keys["higher_is_better"] for one in form.values[1:]} == {
        "latency_p50_s": False,
        "latency_mean": False,
    }
    found = numbers(as_bytes(files), form)
    assert found["Heron (3B)"]["tools"] == pytest.approx((18 + 19 + 20) / 3 / 80)
    assert {"*.seed", "*.crashed", "spend.usd"} == set(form.unscored)
    assert "2 kinds" not in form.said[1]  # the times are columns beside the score


@pytest.mark.parametrize("key", ["question", "question_id", "id"])
def test_lines_of_answers_have_a_task_for_each_and_the_question_that_tells_them_apart(key: str) -> None:
    lines = [
        {"model": name, "task": task, key: number, "correct": (number + seed + len(task)) % 3 == 0, "seed": seed}
        for name in MODELS
        for task in ("algebra", "logic")
        for number in range(20)
        for seed in (1, 2)
    ]
    form = next(draft_forms(as_bytes({"answers.jsonl": lines})))
    question = {"trials": "correct", "question": f"{{.{key}}}", "leaf": "{.task}", "metric": "correct"}
    assert [one.keys for one in form.values] == [question]
    made = DeclaredForm.model_validate(form.table).format
    parsed = parse_submission("answers.jsonl", as_bytes({"answers.jsonl": lines}), forms=[made]).parts[0].result
    assert parsed is not None
    assert [(leaf.samples, leaf.epochs) for leaf in parsed.leaves.values()] == [(20, 2)] * 2
    without = [{one: value for one, value in line.items() if one != key} for line in lines]
    form = next(draft_forms(as_bytes({"answers.jsonl": without})))
    assert [one.keys for one in form.values] == [{"trials": "correct", "leaf": "{.task}", "metric": "correct"}]
    assert "which question each answer is of" in form.text


def test_what_went_wrong_in_an_answer_is_no_part_of_the_average() -> None:
    lines = [
        {"model": name, "item_id": f"{part}{number}", "part": part, "correct": number % 3 == 0, "unparseable": False}
        for name in MODELS
        for part in ("vowels", "syntax")
        for number in range(20)
    ]
    lines[3]["unparseable"] = True
    form = next(draft_forms(as_bytes({"answers.jsonl": lines})))
    assert [one.place for one in form.values] == ["correct"]
    assert "left out; add [[formats.values]] for one that is: unparseable" in form.said[-1]


def test_schemas_are_no_results_and_what_lies_deepest_is_left_out_first() -> None:
    def tool(name: str) -> dict[str, Any]:
        properties = {f"{name}{number}": {"type": "number", "default": 3.5} for number in range(20)}
        return {"name": name, "inputSchema": {"type": "object", "properties": properties}}

    files = {
        f"results/tool-{number}/measured.json": {
            "totalTokens": 1200 + number, "tools": [tool("a"), tool("b")],
            "deep": {f"x{place}": {"y": {f"z{one}": place + one / 8 for one in range(place)}} for place in range(30)},
        } for number in range(3)
    }  # fmt: skip
    form = next(draft_forms(as_bytes(files), lambda text: text.startswith("tool-")))
    assert "totalTokens" in [one.place for one in form.values]
    assert not [one.place for one in form.values if "inputSchema" in one.place]


def test_a_total_alone_is_a_score_and_points_of_few_questions_are_none() -> None:
    def answer(name: str, number: int) -> dict[str, Any]:
        points = {f"rubric {number} {one}": 100.5 + one for one in range(3)}
        return {"model": name, "scores": points, "total": 110.25 + number + len(name)}

    files = {f"{name[-3:]}/q{number}.json": answer(name, number) for name in MODELS for number in range(40)}
    form = next(draft_forms(as_bytes(files)))
    assert [one.place for one in form.values] == ["total"]
    found = numbers(as_bytes(files), form)
    assert found["acme/atlas-7b"]["q3 total"] == 110.25 + 3 + 13


def test_counts_nested_by_language_are_quotients_and_what_was_skipped_is_no_score() -> None:
    def part(right: int) -> dict[str, int]:
        return {"n_right": right, "n_asked": 120, "skipped": right % 3}

    files = {
        f"{name}.json": {
            "format": "nord-1", "engine": {"title": name, "quant": "none"},
            "by_language": {lang: {"grammar": part(40 + number), "sense": part(70 + number)} for lang in ("nb", "fi")},
        } for number, name in enumerate(("Fjell", "Skog", "Breen"))
    }  # fmt: skip
    form = next(draft_forms(as_bytes(files)))
    assert form.keys["model"] == "engine.title"
    assert [(one.keys["leaf"], one.place) for one in form.values] == [
        ("{task} {part}", "by_language.{task}.{part}.n_right")
    ]
    assert numbers(as_bytes(files), form)["Skog"]["fi sense"] == 71 / 120
    assert any("skipped" in one for one in form.unscored)
