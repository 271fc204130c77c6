"""Models that files name by a path, or not at all: what a mapping makes of them."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import MalformedDeclaration
from bot.evaluation.identity import (
    fits,
    folders_that_differ,
    identified,
    is_served,
    proposed_names,
    why_unidentified,
    with_names,
    without_provider,
)
from bot.evaluation.judge import judge, judge_all
from bot.evaluation.leaderboard import parse_leaderboard
from bot.evaluation.result import HarnessVersion, Model, Result
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import Parsed, parse_submission
from bot.reporting.text import Ink, terminal_text
from tests.evaluation.judging import ROOT, dumps, judgement_of, outcome_of, patched

SHA = "0f3c9a61d2b84e7590c1a8d3b6e2f4a5c7d8e901"
LOCAL = "/scratch/models/atlas-7b"
DECLARATION = (ROOT / "bot" / "data" / "leaderboards" / "open-llm-v2.toml").read_text(encoding="utf-8")
UNPINNED = {"/config/model_sha": "", "/config/model_revision": "main", "/config/model_args": f"pretrained={LOCAL}"}


def local(name: str = LOCAL) -> dict[str, object]:
    return patched(UNPINNED | {"/model_name": name, "/config/model_args": f"pretrained={name}"})


def parsed(name: str = LOCAL) -> Parsed:
    return parse_submission("a.json", {"": dumps(local(name))})


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openrouter/deepseek/deepseek-r1", "deepseek/deepseek-r1"),
        ("together_ai/acme/atlas-7b", "acme/atlas-7b"),
        ("accounts/fireworks/models/atlas-7b", "fireworks/atlas-7b"),
        ("fireworks_ai/accounts/fireworks/models/atlas-7b", "fireworks/atlas-7b"),
        ("projects/one/locations/eu/publishers/acme/models/atlas", "acme/atlas"),
        ("openai:gpt-4.1", "gpt-4.1"),
        ("ollama:gemma3:27b", "gemma3:27b"),
        *((name, name) for name in ("gemma3:27b", "mistral:latest", "acme/atlas:free", "Atlas: the 2nd")),
        *(
            (name, name)
            for name in ("azure/gpt-4o", "bedrock/us-east-1/titan", "runs/acme/atlas", "groq/a/b/c", "groq/a/")
        ),
    ],
)
def test_a_provider_before_an_id_is_no_part_of_it(name: str, model: str) -> None:
    assert without_provider(name) == model


@pytest.mark.parametrize(
    ("name", "mapping", "expected"),
    [
        (LOCAL, {LOCAL: "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        (f"{LOCAL}/", {LOCAL: f"acme/atlas-7b@{SHA}"}, ("acme/atlas-7b", SHA)),
        (LOCAL, {"*": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        ("", {"*": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        ("acme/borea-7b", {"*": "acme/atlas-7b"}, ("acme/borea-7b", "")),
        ("ACME/atlas", {"ACME/atlas": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        (LOCAL, {"/other": "acme/atlas-7b"}, (LOCAL, "")),
        ("atlas-hf", {"*": "acme/atlas-7b"}, ("acme/atlas-7b", "")),
        ("gpt2", {"*": "acme/atlas-7b"}, ("gpt2", "")),
        # As beomi/Yi-Ko-6B and the folder of its name in Beomi/ko-lm-evaluation-harness `b4bd6f6a`.
        ("acme/borea-7b", {"acme/borea-7b/": "acme/atlas-7b"}, ("acme/borea-7b", "")),
    ],
)
def test_a_mapping_names_models(name: str, mapping: dict[str, str], expected: tuple[str, str]) -> None:
    result = with_names(parsed(name), mapping).result
    assert result is not None
    if name:
        assert (result.model.id, result.model.revision) == expected
    else:
        assert result.model.id in {expected[0], LOCAL}


def test_a_name_without_an_organization_counts_where_a_person_says_so() -> None:
    """A model that is nowhere on the Hub may have a name of its own; that of a file alone could be anybody's."""
    text = f'{DECLARATION}\n[models]\n"atlas-hf" = "atlas-7b"\n'
    assert "unidentified-model" in {one.rule for one in outcome_of(local("atlas-hf")).findings}
    outcome = outcome_of(local("atlas-hf"), parse_leaderboard(text, "open-llm-v2", "x.toml"))
    assert outcome.row is not None
    assert (outcome.status, outcome.row.key.model) == ("accepted", "atlas-7b")


def test_a_declaration_names_models_so_that_their_rows_are_accepted() -> None:
    text = f'{DECLARATION}\n[models]\n"{LOCAL}" = "acme/atlas-7b@{SHA}"\n'
    board = parse_leaderboard(text, "open-llm-v2", "x.toml")
    assert outcome_of(local()).status == "rejected"
    outcome = outcome_of(local(), board)
    assert outcome.status == "accepted"
    assert outcome.row is not None
    assert (outcome.row.key.model, outcome.row.key.revision) == ("acme/atlas-7b", SHA)


@pytest.mark.parametrize("name", ["", "a b", "a/b/c", "acme/atlas@main", "@0f3c"])
def test_a_declaration_takes_no_name_that_is_none(name: str) -> None:
    with pytest.raises(MalformedDeclaration, match="models"):
        parse_leaderboard(f'{DECLARATION}\n[models]\n"{LOCAL}" = "{name}"\n', "open-llm-v2", "x.toml")


def test_a_name_made_from_a_path_is_refused_in_one_plain_sentence() -> None:
    text = f'{DECLARATION}\n[models]\n"/vol/checkpoints/*" = "checkpoints/{{1}}"\n'
    with pytest.raises(MalformedDeclaration) as error:
        parse_leaderboard(text, "open-llm-v2", "x.toml")
    assert str(error.value) == (
        "x.toml: models./vol/checkpoints/*: write org/name, or org/name@ and a full commit; only `identity` of a watch"
        " and --model-name repeat parts of a path"
    )


def test_the_command_line_names_models(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_bytes(dumps(local()))
    call = ["check", str(file), "--format", "summary"]
    assert CliRunner().invoke(app, call).exit_code == 1
    for option in (f"acme/atlas-7b@{SHA}", f"{LOCAL}=acme/atlas-7b"):
        done = CliRunner().invoke(app, [*call, "--model-name", option])
        assert (done.exit_code, "acme/atlas-7b" in done.stdout) == (0, True), done.output


@pytest.mark.parametrize("name", ["", "=", "a/b/c", "/x=", "acme/atlas@main", "x=a b", "a/*/=acme/x@{2}", "a=acme/{1}"])
def test_a_name_that_is_none_is_a_wrong_call(name: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(dumps(local()))
    done = CliRunner().invoke(app, ["check", str(tmp_path), "--model-name", name])
    assert done.exception is not None
    assert "--model-name" in str(done.exception)


@pytest.mark.parametrize(
    ("path", "mapping", "expected"),
    [
        ("runs/atlas/step-100/r.json", {"runs/*/step-*/": "acme/{1}@step-{2}"}, ("acme/atlas", "step-100")),
        ("in/runs/atlas/step-100/deep/r.json", {"runs/*/step-*/": "acme/{1}@{2}"}, ("acme/atlas", "100")),
        ("step-1/step-2/r.json", {"step-*/": "acme/atlas@{1}"}, ("acme/atlas", "2")),
        ("eval/70m_step512.json", {"eval/*_step*.json": "acme/atlas-{1}@step{2}"}, ("acme/atlas-70m", "step512")),
        ("runs/atlas/r.json", {"runs/*/step-*/": "acme/{1}@{2}"}, (LOCAL, "")),
        ("runs/.+/r.json", {"runs/*/": "acme/atlas"}, ("acme/atlas", "")),
        ("runs/a/r.json", {"runs/*/": "acme/{2}"}, ("acme/{2}", "")),  # as the entry of a stranger may have it
    ],
)
def test_folders_name_models(path: str, mapping: dict[str, str], expected: tuple[str, str]) -> None:
    result = with_names(parse_submission(path, {"": dumps(local())}), mapping).result
    assert result is not None
    assert (result.model.id, result.model.revision) == expected


def test_a_folder_names_no_model_by_what_the_hub_cannot_have() -> None:
    found = with_names(parse_submission("runs/a b/r.json", {"": dumps(local())}), {"runs/*/": "acme/{1}"}).result
    assert found is not None
    assert why_unidentified(found.model) == "acme/a b is not a model id of the Hub"


def test_checkpoints_that_only_folders_tell_apart_are_proposed_and_then_rows_of_their_own() -> None:
    files = {f"runs/step-{step}/r.json": changed(step) for step in (100, 200)}
    results = {path: parse_submission(path, {"": dumps(data)}).result for path, data in files.items()}
    [mapping] = proposed_names({path: one for path, one in results.items() if one is not None})
    assert mapping == "runs/step-*/=ORG/NAME@step-{1}"
    judged = judgement_of(files, facts=Facts(names={"runs/step-*/": "acme/atlas@step-{1}"}))
    assert [(row.key.revision, row.status) for row in judged.rows] == [
        ("step-100", "accepted"),
        ("step-200", "accepted"),
    ]
    assert [row.facts.names for row in judged.rows if row.facts] == [{"runs/step-*/": "acme/atlas@step-{1}"}] * 2
    [mixed] = judgement_of(files, facts=Facts(names={"*": "acme/atlas"})).rows
    assert (mixed.status, [one.rule for one in mixed.findings if one.is_error]) == ("rejected", ["indistinct-models"])


@pytest.mark.parametrize(
    ("folders", "expected"),
    [
        (("a/step-1", "a/step-2", "b/step-1", "b/step-2"), ["in/*/step-*/=ORG/{1}@step-{2}"]),
        (("a/five", "a/zero", "b/five", "b/zero"), []),  # nobody knows which of the two levels has the models
    ],
)
def test_of_folders_in_folders_only_checkpoints_are_proposed(folders: tuple[str, ...], expected: list[str]) -> None:
    result = parsed("").result
    assert result is not None
    assert proposed_names({f"in/{folder}/r.json": result for folder in folders}) == expected


def test_names_of_folders_that_are_almost_numbered_take_no_time() -> None:
    """Each took a second, and a push may have thousands of them."""
    start = process_time()
    assert folders_that_differ(f"{'a' * 330}{'.' * (600 + n)}!/r.json" for n in range(60)) == "*/"
    assert process_time() - start < 10


def test_a_pattern_of_very_many_stars_takes_no_time() -> None:
    """An entry at a target may hold any pattern; this one took for ever."""
    start = process_time()
    assert not fits("*a" * 12 + "*b/", f"{'a' * 200}/r.json")
    assert process_time() - start < 10


def test_a_checkpoint_that_files_call_with_and_without_a_last_slash_is_one_model() -> None:
    paths = {f"runs/step-{step}/{slash}.json": f"/disk/step{step}{'/' * slash}" for step in (1, 2) for slash in (0, 1)}
    files = {
        path: patched({"/model_name": name, "/config/model_args": f"pretrained={name}"}) for path, name in paths.items()
    }
    results = {path: parse_submission(path, {"": dumps(data)}).result for path, data in files.items()}
    assert {one.model.id for one in results.values() if one} == set(paths.values())
    found = proposed_names({path: one for path, one in results.items() if one is not None})
    assert found == ["runs/step-*/=ORG/NAME@step-{1}"]


def test_files_that_are_named_after_their_tasks_are_no_models() -> None:
    """Like mteb_results of Griffin-McCauley/lodestone-base-4096-v1 `48029ecb`: ArguAna.json and 67 others."""
    files = {
        f"mteb_results/{task}.json": {"mteb_dataset_name": task, "test": {"ndcg_at_10": 0.49819}}
        for task in ("ArguAna", "FiQA2018")
    }
    results = {path: parse_submission(path, {"": dumps(data)}).result for path, data in files.items()}
    assert proposed_names({path: one for path, one in results.items() if one is not None}) == []


def test_folders_that_have_a_size_in_their_name_are_models_and_not_checkpoints_of_one() -> None:
    files = {f"atlas/atlas-{size}B/r.json": changed(size) for size in (7, 13)}
    results = {path: parse_submission(path, {"": dumps(data)}).result for path, data in files.items()}
    found = proposed_names({path: one for path, one in results.items() if one is not None})
    assert found == ["atlas/atlas-*B/=ORG/atlas-{1}B"]


def test_folders_of_tasks_are_not_proposed_as_models() -> None:
    names = ("/disk/atlas", "/disk/borea")
    files = {
        f"logs/{task}/{number}.json": patched({"/model_name": name, "/config/model_args": f"pretrained={name}"})
        for task in ("arc", "mmlu")
        for number, name in enumerate(names)
    }
    results = {path: parse_submission(path, {"": dumps(data)}).result for path, data in files.items()}
    assert proposed_names({path: one for path, one in results.items() if one is not None}) == []


def test_models_of_several_names_below_one_folder_get_no_name_from_it() -> None:
    """Like JoelNiklaus/evaluate-idk `e5cb812b`: two models of one organization, each asked another task."""
    called = {"acme/atlas-4": "arc", "acme/atlas-4.5": "mmlu", "borea/borea-1": "arc", "corvus/corvus-2": "mmlu"}
    results = {}
    for name, task in called.items():
        config = {"model": "hf-causal", "model_args": f"pretrained=/disk/{name}", "no_cache": False}
        data = {"results": {task: {"acc": 0.5}}, "versions": {task: 0}, "config": config}
        parsed = parse_submission(f"in/{name}/r.json", {"": dumps(data)})
        assert parsed.result is not None
        results[parsed.path] = parsed.result
    assert proposed_names(results) == []


def test_what_is_proposed_for_files_without_a_name_is_no_name_of_those_that_have_one() -> None:
    """Like result/ of allenlee-37/KT-lm-evaluation-harness `a9252bdb`: a pattern would rename meta-llama__*, too."""
    called = {"lynx-chat": "/disk/1", "heron": "/disk/2", "acme__atlas-7b": "acme/atlas-7b"}
    files = {
        f"in/result/{folder}/r.json": patched({"/model_name": name, "/config/model_args": f"pretrained={name}"})
        for folder, name in called.items()
    }
    results = {path: parse_submission(path, {"": dumps(data)}).result for path, data in files.items()}
    found = proposed_names({path: one for path, one in results.items() if one is not None})
    assert found == []
    only = {path: one for path, one in results.items() if "acme" not in path}
    assert proposed_names({path: one for path, one in only.items() if one}) == ["result/*/=ORG/{1}"]


def test_checkpoints_in_folders_of_an_organization_and_model_stay_revisions() -> None:
    assert folders_that_differ(["r/acme__atlas-step100/a", "r/acme__atlas-step200/a"]) == "r/acme__atlas-step*/"
    assert folders_that_differ(["r/acme__atlas-7b/a", "r/acme__atlas-13b/a"]) == "r/*__*/"


def changed(step: int) -> dict[str, object]:
    return patched({"/results/leaderboard_mmlu_pro/acc,none": 50 / step,
                    "/results/leaderboard_mmlu_pro/acc_stderr,none": "N/A"}, local())  # fmt: skip


def test_a_branch_that_was_asked_for_tells_rows_apart_and_is_still_no_commit() -> None:
    asked = {"/config/model_sha": "", "/config/model_revision": "step512", "/config/model_args": "pretrained=acme/a"}
    outcome = outcome_of(patched(asked))
    assert outcome.row is not None
    assert outcome.row.key.revision == "step512"
    assert "unpinned-revision" in {found.rule for found in outcome.findings}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Model("openrouter/x-ai/grok-3-mini", source="openrouter"), "openrouter/x-ai/grok-3-mini"),
        (Model("gpt-4o", source="openai-chat-completions"), "openai-chat-completions/gpt-4o"),
        (Model("acme/atlas-7b", source="local-completions"), "acme/atlas-7b"),
    ],
)
def test_a_served_model_is_called_by_its_service_and_day(model: Model, expected: str) -> None:
    result = Result(model, HarnessVersion("x"), {}, date=1769000000.0, format="inspect")
    board = parse_leaderboard(f"served_models = true\n{DECLARATION}", "open-llm-v2", "x.toml")
    served = identified(Parsed("a.json", "", 0, result), {}, board).result
    assert served is not None
    assert (served.model.id, served.model.revision, served.model.precision) == (expected, "2026-01-21", "")
    assert identified(Parsed("a.json", "", 0, result), {}).result == result


@pytest.mark.parametrize("name", ["checkpoints/dpo", "outputs/run1", "data/models/x", "Models/x", "/data/models/x"])
def test_a_folder_of_weights_is_no_organization(name: str) -> None:
    assert "is named by a path" in why_unidentified(Model(name))
    assert not why_unidentified(Model(name.strip("/").partition("/")[2], is_mapped=True))


def test_a_service_may_call_its_models_so() -> None:
    assert "is what google calls a model" in why_unidentified(Model("models/gemini-2.5-pro", source="google"))


def test_a_path_is_no_name_of_a_service_model() -> None:
    """As lyfegame/lm-evaluation-harness 7be00f3b, whose own model class steers gemma-2-2b by a CSV file."""
    path = "/home/somebody/lm-evaluation-harness/examples/dog_steer.csv"
    for source in ("sae_steered_beta", "local-completions"):
        model = Model(path, source=source)
        assert not is_served(model)
        assert "is named by a path" in why_unidentified(model)


def test_a_declaration_says_the_precision_of_files_that_record_none() -> None:
    board = parse_leaderboard(f'precision = "bfloat16"\n{DECLARATION}', "open-llm-v2", "x.toml")
    for recorded, expected in (("", "bfloat16"), ("float16", "float16")):
        parsed = Parsed(
            "a.json",
            "",
            0,
            Result(
                model=Model("acme/atlas-7b", precision=recorded), leaves={}, harness=HarnessVersion("x"), format="mteb"
            ),
        )
        result = judge(parsed, board).parsed.result
        assert result is not None
        assert result.model.precision == expected


def test_a_declaration_takes_served_models_and_the_hint_names_the_key() -> None:
    served = patched(
        {"/model_name": "x-ai/grok/3", "/config/model": "openai-chat-completions", "/config/model_sha": "",
                      "/config/model_args": "model=x-ai/grok/3", "/model_source": "openai-chat-completions",
                      "/config/model_revision": ""},
    )  # fmt: skip
    [found] = [one for one in outcome_of(served).findings if one.rule == "unidentified-model"]
    assert "served_models = true" in found.hint
    [unpinned] = [one for one in outcome_of(served).findings if one.rule == "unpinned-revision"]
    assert unpinned.hint == ""  # such as google/gemini-2.5-flash of Inspect: no page on the Hub has its commit
    board = parse_leaderboard(f"served_models = true\n{DECLARATION}", "open-llm-v2", "x.toml")
    assert "unidentified-model" not in {one.rule for one in outcome_of(served, board).findings}
    shown = terminal_text(judge_all([parse_submission("a.json", {"": dumps(served)})], board), Ink(colour=False))
    assert "\n  measured 20" in shown  # its day is no revision, though it stands in the place of one
    assert "revision" not in shown.partition("subtasks for")[0]


def test_a_folder_named_after_an_id_gives_the_id() -> None:
    """As MTEB before 1.11 wrote results/<org>__<model>/<task>.json, in Lyon-NLP/mteb-french, beside later folders."""
    folders = ("intfloat__multilingual-e5-small", "sentence-transformers__LaBSE")
    result = parsed("").result
    assert result is not None
    unnamed = {f"results/{folder}/a.json": result for folder in folders}
    assert proposed_names(unnamed) == ["results/*__*/={1}/{2}"]
