"""The service reads the sample logs that lie beside a result, also those that are pushed later."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bot.platforms.platform import Opener
from bot.platforms.target import Target
from bot.service.checks.verify import Verifier
from tests.audits.samples.test_attacks import METRIC, VALUE, edited, lighteval_rows, write_lighteval
from tests.audits.samples.test_check import hashed
from tests.cli.test_samples import RIGHT, rows
from tests.service.stories import Story
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

DECLARED = TINY.replace("[harness]", '[evidence]\nsamples = "required"\n\n[harness]', 1)
PATH = path_of()
FOLDER, _, NAME = PATH.rpartition("/")
STAMP = NAME.removeprefix("results_").removesuffix(".json")


def logs(change: str = "") -> dict[str, bytes]:
    texts = {task: "".join(json.dumps(row) + "\n" for row in rows(task, right)) for task, right in RIGHT.items()}
    texts["logic"] = texts["logic"].replace('"acc": 0.0', change or '"acc": 0.0', 1)
    return {f"{FOLDER}/samples_{task}_{STAMP}.jsonl": text.encode() for task, text in texts.items()}


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Story:
    found = Story(hub, tmp_path, form="commit")
    (tmp_path / "tiny.toml").write_text(DECLARED)
    return found


def target(story: Story) -> Target:
    return Opener(story.contexts.access, story.folder).target("hf://datasets/acme/contents")


def backed(story: Story) -> list[str]:
    return [entry.rests_on for entry in target(story).scan_entries().entries]


def rejected(story: Story) -> list[str]:
    return [one.text for one in story.settle() if one.outcome == "rejected"]


def test_a_row_waits_for_its_logs_and_says_that_its_answers_were_scored_again(story: Story) -> None:
    story.push()
    (why,) = rejected(story)
    assert "samples-missing" in why

    story.hub.push(story.source, logs())
    assert rejected(story) == []
    assert backed(story) == ["rescored"]


def review(story: Story, files: dict[str, bytes]) -> str:
    request = story.hub.open_request(story.source, files, "My results", "please", "ann")[0]
    story.settle()
    return next(text for text in request.comments("bot") if '"kind": "verdict"' in text)


def test_the_review_of_a_request_reads_the_logs_that_it_brings(story: Story) -> None:
    story.hub.push(story.source, {"README.md": b"results"})
    story.settle()
    assert "### ✅ accepted" in review(story, {PATH: result(), **logs()})
    assert "samples-missing" in review(story, {PATH: result()})
    assert "answer-scored-otherwise" in review(story, {PATH: result(), **logs('"acc": 1.0')})


@pytest.mark.slow
def test_the_review_of_a_log_alone_judges_the_result_beside_it(story: Story) -> None:
    story.hub.push(story.source, {PATH: result(), **logs()})
    story.settle()
    edited = f"{FOLDER}/samples_logic_{STAMP}.jsonl"
    assert "answer-scored-otherwise" in review(story, {edited: logs('"acc": 1.0')[edited]})


def test_a_log_that_is_edited_later_takes_the_row_back(story: Story) -> None:
    story.hub.push(story.source, {PATH: result(), **logs()})
    assert rejected(story) == []
    assert backed(story) == ["rescored"]

    story.hub.push(story.source, logs('"acc": 1.0'))
    (why,) = rejected(story)
    assert "samples-disagree" in why


LIGHTEVAL = """
title = "Arc"
description = "One task of lighteval."

[evidence]
samples = "required"

[harness]
formats = ["lighteval"]

[[tasks]]
id = "arc"
title = "Arc"
metrics = [{ name = "acc" }]
num_fewshot = 0
leaves = [{ id = "arc", keys = { lighteval = "leaderboard|arc|0" }, samples = 20 }]
"""


@pytest.mark.slow
def test_details_of_lighteval_count_where_it_writes_them(story: Story, tmp_path: Path) -> None:
    """The result is in `results/`, the details are in `details/` beside it, and come later."""
    (story.folder / "tiny.toml").write_text(LIGHTEVAL)
    story.contexts = story.open_context_factory()
    output = tmp_path / "output"
    write_lighteval(output, lighteval_rows(), VALUE)
    files = {str(one.relative_to(output)): one.read_bytes() for one in output.rglob("*") if one.is_file()}
    (details,) = (path for path in files if path.endswith(".parquet"))
    content = files.pop(details)
    story.hub.push(story.source, files)
    (why,) = rejected(story)
    assert "samples-missing" in why
    story.hub.push(story.source, {details: content})
    assert rejected(story) == []
    assert backed(story) == ["rescored"]
    verifier = Verifier(target(story), Opener(story.contexts.access, story.folder), reads_samples=True)
    assert [row.outcome for row in verifier.verify()] == ["follows"]

    write_lighteval(output, edited(lighteval_rows(), 1, *METRIC["lighteval"]), VALUE)
    assert "answer-scored-otherwise" in review(story, {details: (output / details).read_bytes()})


def test_a_board_that_begins_to_ask_reads_the_logs_that_are_there(story: Story) -> None:
    (story.folder / "tiny.toml").write_text(TINY)
    story.hub.push(story.source, {PATH: result(), **logs()})
    story.settle()
    assert backed(story) == ["file"]

    (story.folder / "tiny.toml").write_text(DECLARED)
    story.contexts = story.open_context_factory()
    assert rejected(story) == []
    context = story.contexts.open_context(story.watch)
    found = context.state.submissions.at([PATH])
    assert [entry.rests_on for entry in context.made(list(found.values())).entries] == ["rescored"]


def run_of(model: str, right: tuple[int, int, int], *, easier: bool = False) -> dict[str, bytes]:
    """The files of a model's run, of the questions of the task or of easier ones."""
    path = path_of(model)
    folder = path.rpartition("/")[0]
    files = {path: result(model, right=right)}
    for task, count in zip(RIGHT, right, strict=True):
        found = [hashed(row | own(model, row)) for row in rows(task, count)]
        if easier:
            found = [hashed(row | {"doc": {"question": f"1 + {number}"}}) for number, row in enumerate(found)]
        text = "".join(json.dumps(row) + "\n" for row in found)
        files[f"{folder}/samples_{task}_{STAMP}.jsonl"] = text.encode()
    return files


def own(model: str, row: dict[str, object]) -> dict[str, object]:
    """What a model gives beside its right answers: its own log-likelihoods."""
    first = str(row["resps"][0][0][0])  # type: ignore[index]
    return {"resps": [[[f"{first}{len(model)}", "False"]], [["-2.0", "False"]]]}


@pytest.mark.slow
def test_questions_that_no_other_row_has_are_refused_by_the_service_and_by_verify(story: Story) -> None:
    """Two rows have the questions of the task; the third has easy ones."""
    for model, count in (("acme/one", 41), ("acme/two-b", 42)):
        story.hub.push(story.source, run_of(model, (count, 50, 60)))
    assert rejected(story) == []
    story.hub.push(story.source, run_of("evil/best", (100, 100, 100), easier=True))
    (why,) = rejected(story)
    assert "other-questions" in why
    assert "are not those of the other rows on the board" in why
    assert sorted(backed(story)) == ["rescored", "rescored"]

    verifier = Verifier(target(story), Opener(story.contexts.access, story.folder))
    assert {row.outcome for row in verifier.verify()} == {"follows"}


def test_the_log_of_another_model_is_refused(story: Story) -> None:
    story.hub.push(story.source, run_of("acme/one", (41, 50, 60)))
    assert rejected(story) == []
    copied = {
        path.replace("acme__one", "evil__two"): result("evil/two", right=(41, 50, 60))
        if path.endswith(".json")
        else data
        for path, data in run_of("acme/one", (41, 50, 60)).items()
    }
    story.hub.push(story.source, copied)
    (why,) = rejected(story)
    assert "copied-samples" in why
    assert "is the sample log of acme/one to the byte" in why


def told(model: str, right: tuple[int, int, int]) -> dict[str, bytes]:
    """A run whose log-likelihoods have all digits, the same for each model."""
    return {
        path: re.sub(rb'"-1\.0\d*"', b'"-1.0625"', re.sub(rb'"-3\.0\d*"', b'"-3.0625"', data))
        for path, data in run_of(model, right).items()
    }


def warned(story: Story) -> dict[str, list[str]]:
    entries = target(story).scan_entries().entries
    return {entry.model.id: [f"{one.rule}: {one.message}" for one in entry.warnings] for entry in entries}


@pytest.mark.slow
def test_the_run_of_another_model_with_a_few_answers_changed_is_named_once_and_by_verify(story: Story) -> None:
    story.hub.push(story.source, told("acme/one", (41, 50, 60)))
    assert rejected(story) == []
    story.hub.push(story.source, told("evil/two", (42, 51, 61)))
    story.settle()
    copied = "nearly-duplicate: acme/one has nearly all answers of sums_plus, sums_times, logic of this row"
    assert copied in warned(story)["evil/two"]

    story.hub.push(story.source, told("acme/one", (43, 50, 60)))  # the first is judged again, beside its copy
    story.settle()
    assert not any("nearly-duplicate" in one for one in warned(story)["acme/one"])

    opener = Opener(story.contexts.access, story.folder)
    found = {row.key.split("/")[1]: row for row in Verifier(target(story), opener, reads_samples=True).verify()}
    assert {row.outcome for row in found.values()} == {"follows"}
    assert not any("neither says so" in row.notice for row in found.values())

    entry = next(one for one in target(story).scan_entries().entries if one.model.id == "evil/two")
    kept = tuple(one for one in entry.warnings if one.rule != "nearly-duplicate")
    story.hub.push(story.target, {entry.path: replace(entry, warnings=kept, facts=None).to_bytes()})
    found = {row.key.split("/")[1]: row for row in Verifier(target(story), opener).verify()}
    assert "of the row of acme/one, and neither says so" in found["evil"].notice


@pytest.mark.slow
def test_prompts_and_scoring_that_no_other_row_has_are_a_warning(story: Story) -> None:
    """Two rows ask and score alike; the third tells all answers before each question, the fourth has other options."""
    for model, count in (("acme/one", 41), ("acme/two-b", 42)):
        story.hub.push(story.source, scored_by(run_of(model, (count, 50, 60))))
    assert rejected(story) == []
    told = {
        path: "".join(json.dumps(hashed(with_answers(json.loads(line)))) + "\n" for line in data.splitlines()).encode()
        if path.endswith("l") else data
        for path, data in run_of("evil/told", (80, 50, 60)).items()
    }  # fmt: skip
    story.hub.push(story.source, scored_by(told))
    story.hub.push(story.source, scored_by(run_of("evil/scored", (70, 50, 60)), ignore_case=True))
    assert rejected(story) == []
    warned_of = {model: " ".join(messages) for model, messages in warned(story).items()}
    assert "its prompts are not those of the other rows on the board" in warned_of["evil/told"]
    assert "its settings score the answers otherwise than those of the other rows" in warned_of["evil/scored"]
    assert "scored-as-no-other" not in warned_of["acme/one"] + warned_of["acme/two-b"]
    assert backed(story).count("rescored") == 4
    verifier = Verifier(target(story), Opener(story.contexts.access, story.folder))
    assert {row.outcome for row in verifier.verify()} == {"follows"}


def scored_by(files: dict[str, bytes], **options: Any) -> dict[str, bytes]:
    """The files of a run with the settings of its scorer."""
    (path,) = (path for path in files if path.endswith(".json"))
    data = json.loads(files[path])
    for config in data["configs"].values():
        config |= {"output_type": "multiple_choice", "metric_list": [{"metric": "acc", **options}]}
    return files | {path: json.dumps(data).encode()}


def with_answers(row: dict[str, Any]) -> dict[str, Any]:
    told = {name: one | {"arg_0": f"Always say the first. {one['arg_0']}"} for name, one in row["arguments"].items()}
    return row | {"arguments": told}


def test_verify_says_which_logs_it_did_not_read_and_reads_those_that_the_declaration_requires(story: Story) -> None:
    story.hub.push(story.source, run_of("acme/one", (41, 50, 60)))
    story.settle()
    opener = Opener(story.contexts.access, story.folder)
    notices = {
        reads: next(Verifier(target(story), opener, reads_samples=reads).verify()).notice
        for reads in (None, False, True)
    }
    assert "3 sample logs show was not read again: that it rests on rescored is the row's own word" in notices[False]
    assert "not read again" not in notices[None] + notices[True]
    alone = "no other row and no declaration says which questions sums_plus, sums_times, logic have"
    assert alone in notices[None]

    story.hub.push(story.source, run_of("acme/two-b", (42, 50, 60)))
    story.settle()
    assert not any(alone in row.notice for row in Verifier(target(story), opener).verify())
