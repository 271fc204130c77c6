"""Beginning a board: three files that the other commands take, asked for or said with options, never written over."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot.cli.app import app
from bot.cli.init import NewBoard, settings_text
from bot.errors import CallError
from bot.evaluation.leaderboard import load_leaderboard
from bot.publishing.board import make_board
from bot.publishing.card import BEGIN, END, with_table
from bot.service.settings.config import load_settings
from tests.command import BOT, bot
from tests.evaluation.inspect_logs import log_json
from tests.evaluation.judging import EXAMPLES, ROOT
from tests.world.github_server import local_github
from tests.world.local_git import git
from tests.world.results import path_of, result

SOURCE, TARGET = "hf://datasets/acme/results", "hf://datasets/acme/contents"
PLACES = ("--source", SOURCE, "--to", TARGET)


def init(*words: object) -> Any:
    return CliRunner().invoke(app, ["init", *map(str, words)])


def test_a_board_drafted_from_results_is_taken_by_the_other_commands(tmp_path: Path) -> None:
    folder = tmp_path / "new board"
    done = init(
        folder, "--results", EXAMPLES[0], *PLACES, "--title", 'Birds of "prey"', "--description", "Small models."
    )
    assert (done.exit_code, done.stdout) == (
        0,
        f"what is measured, and how it is scored: leaderboard-bot leaderboards '{folder}/board.toml'\n",
    )
    assert "accepted" not in done.stderr
    declared = load_leaderboard(str(folder / "board.toml"))
    assert (declared.title, declared.description) == ('Birds of "prey"', "Small models.")
    checked = CliRunner().invoke(app, ["score", str(EXAMPLES[0]), "-l", str(folder / "board.toml")])
    assert checked.exit_code == 0
    [watch] = load_settings(folder / "bot.toml").watches
    assert (watch.name, watch.leaderboard, watch.source) == ("contents", "board.toml", SOURCE)
    assert [(target.to, target.form) for target in watch.targets] == [(TARGET, "pull-request")]
    card = (folder / "README.md").read_bytes()
    assert b'pretty_name: "Birds of \\"prey\\""' in card
    shown = with_table(card, make_board([], declared))
    assert shown is not None
    assert shown.startswith(card.partition(BEGIN.encode())[0])


def test_a_draft_says_how_many_of_its_own_results_it_rejects_and_why(tmp_path: Path) -> None:
    """Otherwise the next command would be the first to say it."""
    for number, shots in enumerate((0, 0, 0, 3, 3)):
        asked = {"n-shot": dict.fromkeys(("sums_plus", "sums_times", "logic"), shots)}
        (tmp_path / f"{number}.json").write_bytes(result(f"acme/atlas-{number}", right=(30 + number, 60, 70), **asked))
    (tmp_path / "5.json").write_bytes(result("acme/borea", right=(44, 55, None)))
    done = init(tmp_path / "ours", "--results", tmp_path, *PLACES)
    assert done.exit_code == 0
    [line] = [line for line in done.stderr.splitlines() if "accepted" in line]
    assert line == (
        f"{tmp_path}/ours/board.toml: 6 rows from 6 results: 3 accepted, 1 incomplete, 2 rejected; most often"
        " wrong-num-fewshot in 2 rows (sums_plus, sums_times, logic): A task was run with another number of examples"
        " in the prompt. When that is wrong: The board means the other number: change `num_fewshot`."
    )
    checked = CliRunner().invoke(app, ["check", str(tmp_path), "-l", str(tmp_path / "ours" / "board.toml")])
    assert (checked.exit_code, "3 accepted, 1 incomplete, 2 rejected" in checked.stdout) == (1, True)


def test_files_that_leave_out_what_others_of_their_model_record_are_one_row_by_the_drafted_lines(
    tmp_path: Path,
) -> None:
    """A lab's harness records neither commit nor precision, the other one both: each model has two rows."""
    results, ours = tmp_path / "results", tmp_path / "ours"
    results.mkdir()
    for name in ("atlas", "borea"):
        (results / f"{name}-1.json").write_bytes(result(f"acme/{name}", right=(40, 60, None)))
        other = json.loads(result(f"acme/{name}", right=(None, None, 70), date=1_790_000_000.0))
        other["config"] |= {"model_args": f"pretrained=acme/{name}", "model_dtype": "", "model_sha": ""}
        (results / f"{name}-2.json").write_text(json.dumps(other))
    said = init(ours, "--results", results, *PLACES, "--description", "Sums.").stderr
    assert "4 rows from 4 results: 4 incomplete; most often missing-task in 4 rows" in said
    assert (
        "acme/atlas, acme/borea have several rows, because some files record no commit or precision and others do: if"
        f" they are of one model, take away the # below the TODO of commit or precision in {ours}/board.toml\n" in said
    )
    drafted = (ours / "board.toml").read_text()
    taken = re.sub(r'^# (precision =|\[models\]|"acme/)', r"\1", drafted, flags=re.MULTILINE)
    (ours / "board.toml").write_text(taken)
    checked = CliRunner().invoke(app, ["check", str(results), "-l", str(ours / "board.toml"), "--format", "summary"])
    assert "2 rows from 4 files: 2 accepted" in checked.stdout


def test_of_many_results_whole_rows_are_tried(tmp_path: Path) -> None:
    for number in range(155):
        for part, right in enumerate(((40, 60, None), (None, None, 70))):
            limit = {"n-samples": {"logic": {"original": 100, "effective": 10}}} if part and not number else {}
            data = result(f"acme/atlas-{number}", right=right, date=1_790_000_000.0 + number, **limit)
            (tmp_path / f"{part}-{number:03}.json").write_bytes(data)
    said = init(tmp_path / "ours", "--results", tmp_path, *PLACES).stderr
    assert (
        "150 rows from 300 of 310 results: 149 accepted, 1 incomplete; most often limited-run in 1 row (logic)" in said
    )


def test_a_todo_that_scores_depend_on_is_told_apart_from_an_optional_one(tmp_path: Path) -> None:
    file = tmp_path / path_of()
    file.parent.mkdir()
    file.write_bytes(result())
    done = init(tmp_path / "ours", "--results", file, *PLACES, "--title", "Tiny", "--description", "Small sums.")
    assert (
        "board.toml: written; 1 TODO in comments decides what counts, 1 TODO in comments is optional\n" in done.stderr
    )


def test_what_readers_see_is_told_apart_and_the_folder_gives_the_title(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(result())
    done = init(tmp_path / "small_sums-2.0", "--results", tmp_path / "results.json", *PLACES)
    assert load_leaderboard(str(tmp_path / "small_sums-2.0" / "board.toml")).title == "Small sums 2.0"
    assert "board.toml: written; readers see 1 TODO (description), " in done.stderr
    assert "bot.toml: written\n" in done.stderr
    assert "README.md: written; readers see 1 TODO\n" in done.stderr
    assert "complete what readers see, then look at what the bot would change: leaderboard-bot settle" in done.stderr
    words = ("--results", tmp_path / "results.json", *PLACES, "--description", "Sums.")
    assert "\nlook at what the bot would change: leaderboard-bot settle" in init(tmp_path / "whole", *words).stderr


def test_a_board_of_hundreds_of_tasks_has_its_words_and_names(tmp_path: Path) -> None:
    """Like evaluation/results of bigscience-workshop/bigscience `9e64ede`, of 163 prompts."""
    whole = json.loads(result())
    for part in ("results", "configs", "versions", "n-shot", "n-samples"):
        _, one = whole[part].popitem()
        whole[part] = {f"task_{number}": one for number in range(400)}
    for number, config in enumerate(whole["configs"]):
        asked = {"dataset_path": "acme/quiz", "doc_to_text": f"Question {number}:", "output_type": "multiple_choice"}
        whole["configs"][config] = {"task": config, "num_fewshot": 0, **asked}
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps(whole))
    done = init(tmp_path / "ours", "--results", file, *PLACES, "--title", "Many", "--model-name", "x=acme/atlas")
    assert done.exit_code == 0
    declared = load_leaderboard(str(tmp_path / "ours" / "board.toml"))
    assert (declared.title, len(declared.tasks), declared.models) == ("Many", 400, {"x": "acme/atlas"})


def test_of_folders_the_card_names_the_results_and_nothing_asks_for_tokens(tmp_path: Path) -> None:
    """Readers of `..` would know nothing; `settle` makes the target, so nobody looks for it before."""
    results = tmp_path / "scores"
    results.mkdir()
    (results / "atlas.json").write_bytes(result())
    ours = tmp_path / "ours"
    done = init(ours, "--results", results, "--source", results, "--to", tmp_path / "board")
    assert load_settings(ours / "bot.toml").watches[0].source == str(results)
    assert "Results are pushed to\n`scores`." in (ours / "README.md").read_text()
    assert f"makes {tmp_path}/board: copy {ours}/README.md into it and commit it\n" in done.stderr
    assert "token" not in done.stderr
    (results / "atlas.json").rename(tmp_path / "atlas.json")
    on_hub = init(tmp_path / "hub", "--results", tmp_path / "atlas.json", *PLACES)
    assert f"Results are pushed to\n`{SOURCE}`." in (tmp_path / "hub" / "README.md").read_text()
    assert f"put {tmp_path}/hub/README.md into {TARGET}: " in on_hub.stderr
    assert "to check token, rights and webhook: leaderboard-bot doctor" in on_hub.stderr


def test_results_in_lines_are_found_by_the_watch(tmp_path: Path) -> None:
    record = {"dataset": "quiz", "model": "acme/atlas", "euroeval_version": "16.0.0",
              "results": {"total": {"test_mcc": 50.0, "test_mcc_se": 1.0}}}  # fmt: skip
    (tmp_path / "atlas.jsonl").write_text(json.dumps(record) + "\n")
    done = init(tmp_path / "board", "--results", tmp_path / "atlas.jsonl", *PLACES)
    assert done.exit_code == 0
    [watch] = load_settings(tmp_path / "board" / "bot.toml").watches
    assert watch.paths == ("**/*.json", "**/*.eval", "**/*.jsonl")


def test_a_watch_of_summaries_of_opencompass_selects_them(tmp_path: Path) -> None:
    (tmp_path / "summary.csv").write_text("dataset,version,metric,mode,atlas\ngsm8k,1d7fe4,accuracy,gen,87.50\n")
    init(tmp_path / "board", "--results", tmp_path / "summary.csv", *PLACES)
    [watch] = load_settings(tmp_path / "board" / "bot.toml").watches
    assert watch.paths == ("**/*.json", "**/*.eval", "**/*.csv")


def test_results_without_an_ending_are_found_by_the_watch(tmp_path: Path) -> None:
    """Like evals/external/openlm-research-open_llama_13b of Stability-AI/StableLM `93eea082`."""
    (tmp_path / "openlm-research-open_llama_13b").write_bytes(result())
    init(tmp_path / "board", "--results", tmp_path, *PLACES)
    [watch] = load_settings(tmp_path / "board" / "bot.toml").watches
    assert watch.paths == ("**/*.json", "**/*.eval", "**/openlm-research-open_llama_13b")


def test_a_folder_without_git_and_tasks_that_few_models_have_are_told(tmp_path: Path) -> None:
    """Otherwise the first `settle` fails, and a board of one task in twenty looks like all that there is."""
    for model in ("acme/atlas-7b", "acme/borea-1b", "acme/cirrus-3b"):
        file = tmp_path / "results" / path_of(model)
        file.parent.mkdir(parents=True)
        file.write_bytes(result(model))
    more = json.loads(file.read_bytes())
    for part in ("results", "versions", "n-shot", "n-samples", "configs"):
        more[part] |= {"arc_easy": next(iter(more[part].values()))} if part in more else {}
    file.write_text(json.dumps(more))
    words = ("--results", tmp_path / "results", "--source", tmp_path / "results", "--to", TARGET)
    said = init(tmp_path / "board", *words).stderr
    assert f"{tmp_path / 'results'}: in no git repository yet, and settle reads what is committed to one" in said
    assert re.search(
        r"^\d of \d tasks drafted, .*; in comments, for a board of their own: ARC-Easy$", said, re.MULTILINE
    )


def test_results_that_their_repository_has_not_committed_are_named(tmp_path: Path) -> None:
    """Otherwise settle says 'unchanged', and 0 rows are on main."""
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "results.json").write_bytes(result())
    words = ("--results", tmp_path, "--source", tmp_path, "--to", TARGET)
    said = "1 result not committed as it is, and settle reads what is: "
    assert said in init(tmp_path / "one", *words).stderr
    git(tmp_path, "add", "results.json")
    git(tmp_path, "commit", "--quiet", "--message=Results")
    assert "committed" not in init(tmp_path / "two", *words).stderr
    (tmp_path / "results.json").write_bytes(result(right=(1, 2, 3)))
    assert said in init(tmp_path / "three", *words).stderr


def test_files_of_several_models_are_refused_with_one_command_that_splits_them_all(tmp_path: Path) -> None:
    """Like Mikeriess/scandeval_benchmarking `cbebec62`, where two files have lines of one model."""
    record = {"euroeval_version": "16.0.0", "results": {"total": {"test_mcc": 50.0}}}
    for dataset, names in {"quiz": ("acme/atlas", "acme/borea"), "rhymes": ("acme/atlas", "acme/crane")}.items():
        lines = [json.dumps({"dataset": dataset, "model": name, **record}) + "\n" for name in names]
        (tmp_path / f"{dataset}.jsonl").write_text("".join(lines))
    done = init(tmp_path / "board", "--results", tmp_path, *PLACES)
    assert isinstance(done.exception, CallError)
    [hint] = [line for line in done.stderr.splitlines() if line.startswith("→ put the lines of each model into a file")]
    if shutil.which("jq"):
        command = hint.partition("`")[2].rstrip("`").replace("FILES", "quiz.jsonl rhymes.jsonl")
        subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
        told = init(tmp_path / "board", "--results", tmp_path / "by-model", *PLACES)
        assert (told.exit_code, len((tmp_path / "by-model" / "acme__atlas.jsonl").read_text().splitlines())) == (0, 2)


def test_reasons_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.json").write_text(json.dumps({f"key{number}": "a"}))
    done = init(tmp_path / "board", "--results", tmp_path, *PLACES)
    assert "its keys are key3; and 3 other files; and no numbers beside names" in str(done.exception)


def test_logs_without_a_score_are_said_to_need_one(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_bytes(log_json(results={"total_samples": 10, "completed_samples": 10}))
    done = init(tmp_path / "board", "--results", tmp_path / "log.json", *PLACES)
    assert str(done.exception).endswith("1 file of runs without a score: let the harness score the answers")
    done = CliRunner().invoke(app, ["check", str(tmp_path / "log.json")])
    assert "without a score; let the harness run them to the end and score the answers" in str(done.exception)


def test_the_settings_explain_every_key_of_the_example() -> None:
    text = settings_text(NewBoard(SOURCE, "github://acme/board", "comment"))
    example = (ROOT / "bot.example.toml").read_text(encoding="utf-8")
    ours, theirs = (tomllib.loads(one)["watches"][0] for one in (text, example))
    assert ours.keys() == theirs.keys()
    assert [line for line in example.splitlines() if line.startswith("#")][1:10] == [
        line for line in text.splitlines() if line.startswith("#")
    ][1:10]
    assert (ours["maintainers"], ours["owners"], ours["site"]) == ([], {}, "")
    assert tomllib.loads(text)["public_url"] == ""
    assert [dict(target) for target in ours["targets"]] == [{"to": "github://acme/board", "as": "comment"}]
    assert tomllib.loads(settings_text(NewBoard("./results", "./", "commit")))["watches"][0]["name"] == "board"


def test_only_the_named_tasks_are_drafted(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(result())
    words = ("--results", tmp_path / "a.json", *PLACES)
    init(tmp_path / "ours", *words, "--tasks", "SUMS_*, logic")
    declared = load_leaderboard(str(tmp_path / "ours" / "board.toml"))
    assert [task.id for task in declared.tasks] == ["sums_plus", "sums_times", "logic"]
    init(tmp_path / "one", *words, "--tasks", "logic")
    assert [task.id for task in load_leaderboard(str(tmp_path / "one" / "board.toml")).tasks] == ["logic"]
    unknown = init(tmp_path / "none", *words, "--tasks", "logic,chess")
    assert str(unknown.exception) == "--tasks chess: there is no such task; there are sums_plus, sums_times, logic"


def test_a_task_is_chosen_by_the_name_that_its_harness_has(tmp_path: Path) -> None:
    """Where MTEB writes `BIOSSES`, the columns are BIOSSES/default/test and another one for each split."""
    row = {"main_score": 0.5, "spearman": 0.5, "hf_subset": "default", "languages": ["eng-Latn"]}
    for name in ("BIOSSES", "SICK-R"):
        told = {"dataset_revision": "ab" * 20, "task_name": name, "mteb_version": "1.18.0"}
        data = {**told, "scores": {"test": [row], "validation": [row]}}
        path = tmp_path / "results" / "acme__atlas" / ("cd" * 20) / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data | {"evaluation_time": 31.6, "kg_co2_emissions": None}))
    init(tmp_path / "one", "--results", tmp_path / "results", *PLACES, "--tasks", "biosses")
    columns = load_leaderboard(str(tmp_path / "one" / "board.toml")).tasks
    assert {one.title for one in columns} == {"BIOSSES/default/test", "BIOSSES/default/validation"}


def test_a_shipped_declaration_is_copied_with_its_words(tmp_path: Path) -> None:
    assert init(tmp_path, "--like", "open-llm-v2", *PLACES).exit_code == 0
    copied, shipped = load_leaderboard(str(tmp_path / "board.toml")), load_leaderboard("open-llm-v2")
    assert copied.scoring_digest != ""
    assert (copied.title, copied.tasks) == (shipped.title, shipped.tasks)


def test_no_file_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n", encoding="utf-8")
    assert init(tmp_path, "--like", "open-llm-v1", *PLACES).exit_code == 0
    (tmp_path / "bot.toml").unlink()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    words = ("--results", EXAMPLES[0], "--source", "./other", "--to", "./board", "--title", "Other")
    done = init(tmp_path, *words)
    assert (done.exit_code, done.stderr.count("already exists, not changed")) == (0, 2), done.output
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != "bot.toml"} == before
    assert before["README.md"] == b"mine\n"
    again = init(tmp_path, *words)
    assert "board.toml, bot.toml and README.md are there already: name another folder" in str(again.exception)


@pytest.mark.parametrize(
    ("known", "then"), [("", "bot.db*\n"), ("*.log", "*.log\nbot.db*\n"), ("bot.db*\n", "bot.db*\n")]
)
def test_git_ignores_the_state(known: str, then: str, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text(known)
    assert init(tmp_path, "--like", "open-llm-v2", *PLACES).exit_code == 0
    assert (tmp_path / ".gitignore").read_text() == then


def test_half_a_file_is_not_left_where_the_disk_is_full(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        done = init(tmp_path, "--results", EXAMPLES[0], *PLACES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "cannot be written: File too large" in str(done.exception)
    assert list(tmp_path.iterdir()) == []

    assert init(tmp_path, "--results", EXAMPLES[0], *PLACES).exit_code == 0
    assert load_settings(tmp_path / "bot.toml").watches
    assert (tmp_path / "bot.toml").read_text().count("\n") > 50


def test_no_board_is_left_where_the_last_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / ".gitignore").mkdir()
    done = init(tmp_path, "--results", EXAMPLES[0], *PLACES)
    assert str(done.exception) == f"{tmp_path / '.gitignore'}: cannot be written: Is a directory"
    assert {path.name for path in tmp_path.iterdir()} == {".gitignore", "README.md"}
    assert "written" not in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((*PLACES,), "there is no terminal to ask at: add --results PATH or --like ID"),
        (("--like", "open-llm-v2"), "there is no terminal to ask at: add --source"),
        (("--like", "open-llm-v2", "--source", SOURCE), "there is no terminal to ask at: add --to TARGET"),
        (("--like", "open-llm", *PLACES), "there is no leaderboard 'open-llm'; shipped are open-llm-v1"),
        (("--like", "open-llm-v2", "--source", "acme/results", "--to", TARGET), "write hf://datasets/acme/results"),
        (("--like", "open-llm-v2", "--source", SOURCE, "--to", "s3://acme/x"), "s3://acme/x: write a folder"),
        (
            ("--results", str(ROOT / "pyproject.toml"), *PLACES),
            "no result to draft a declaration from in 1 file",
        ),
        (("--like", "open-llm-v2", *PLACES, "/dev/null/x"), "cannot be written"),
    ],
)
def test_what_is_missing_or_wrong_is_one_line_and_nothing_is_written(
    words: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = init(*words)
    assert isinstance(done.exception, CallError)
    assert why in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_paths_begin_where_the_command_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--like", "open-llm-v1", "--title", "Ours", "--source", "results", "--to", "boards/ours/rows")

    assert init("boards/ours", *words).exit_code == 0

    [watch] = load_settings(tmp_path / "boards/ours/bot.toml").watches
    assert (watch.source, watch.targets[0].to) == ("../../results", "./rows")
    assert "`results`" in (tmp_path / "boards/ours/README.md").read_text(encoding="utf-8")


def test_a_card_that_the_hub_does_not_read_has_no_head(tmp_path: Path) -> None:
    words = ("--like", "open-llm-v1", "--source", SOURCE, "--to", "github://acme/board", "--title", "Ours")
    assert init(tmp_path, *words).exit_code == 0
    assert (tmp_path / "README.md").read_text(encoding="utf-8").startswith("# Ours\n")


def test_a_terminal_is_asked_for_what_was_not_said(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    answers = ["", "open-llm-v2", SOURCE, TARGET, "Ours", ""]
    with subprocess.Popen(
        [*BOT, "init", str(tmp_path)], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
        out, err = process.communicate(timeout=60)
    os.close(ours)
    assert (process.returncode, out.decode()) == (
        0,
        f"what is measured, and how it is scored: leaderboard-bot leaderboards {tmp_path}/board.toml\n",
    )
    assert b"Where results are pushed" in err
    assert load_leaderboard(str(tmp_path / "board.toml")).title == "Ours"
    assert END in (tmp_path / "README.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_board_on_github_begins_as_init_says(tmp_path: Path) -> None:
    """What a maintainer does: make two repositories, put the files there, and run what is printed."""
    (tmp_path / "run.json").write_bytes(result())
    words = ("--title", "Ours", "--description", "Two tasks.", "--source", "github://acme/results")
    done = init(tmp_path / "b", "--results", tmp_path / "run.json", *words, "--to", "github://acme/board")
    assert done.exit_code == 0, done.output
    [settle, doctor] = [
        line.partition("leaderboard-bot ")[2].split() for line in done.stderr.splitlines() if "--config" in line
    ]

    with local_github() as server:
        told = {**os.environ, "GITHUB_API_URL": server.url, "GITHUB_TOKEN": "bot-token"}
        server.state.add_account("bot-token", "leaderboard-bot")
        source = server.state.add_repo("acme/results", {path_of(): result()})
        target = server.state.add_repo("acme/board")
        source.writers = target.writers = {"leaderboard-bot"}
        status, out, _ = bot(*doctor, env=told)
        assert (status, "the repository has no commit yet" in out) == (1, True), out
        assert "is empty: make a first commit in it" in bot(*settle, env=told)[1]

        files = {name: (tmp_path / "b" / name).read_bytes() for name in ("README.md", "board.toml")}
        target.git.push("heads/main", dict(files))
        status, out, why = bot(*doctor, env=told)
        assert "✗" not in "\n".join(line for line in out.splitlines() if "github" in line), out
        status, out, why = bot(*settle, env=told)
        assert (status, "1 added" in out, server.state.writes()) == (0, True, 0), out + why
        status, out, why = bot(*settle[:-1], env=told)
        assert (status, [one.title for one in target.pulls("open")]) == (0, ["Add acme/atlas-7b (bfloat16): 60.00"]), (
            out + why
        )
