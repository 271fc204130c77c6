"""The reference pages name everything there is, and nothing that is not: keys, fields, commands, options, statuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
import typer
from huggingface_hub.cli import extensions
from markdown_it import MarkdownIt
from pydantic import BaseModel

from bot import errors
from bot.cli.app import app
from bot.evaluation import leaderboard, task
from bot.evaluation.finding import Waived
from bot.evaluation.judge import judge_all
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard
from bot.evaluation.likeness import Alike
from bot.evaluation.submission import UnreadPath, parse_submission
from bot.evaluation.task import MmluFamily
from bot.evaluation.verdict import CommitFact, Judgement, RowFacts
from bot.publishing.entry import Entry, EntrySamples, Remark, entry_of
from bot.reporting.report import make_report

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "results").rglob("*.json"))


def sections(page: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    _, *parts = re.split(r"^## (.+)$", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def first_cells(section: str) -> list[str]:
    """The code in the first cell of each row of the tables in a section."""
    cells = re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


TABLES: dict[str, type[BaseModel]] = {
    "The file": Leaderboard,
    "`[evidence]`": leaderboard.EvidenceDemand,
    "`[average]`": leaderboard.Average,
    "`[join]`": leaderboard.Join,
    "`[harness]`": leaderboard.Harness,
    "`[[harness.accepted]]`": leaderboard.Accepted,
    "`[[harness.definitions]]`": leaderboard.Definition,
    "`[[harness.known_bad]]`": leaderboard.KnownBad,
    "`[[tasks]]`": task.Task,
    "`[[columns]]`": leaderboard.Column,
    "`[[tasks.not_comparable]]`": task.NotComparable,
    "`[tasks.hub]`": task.HubBenchmark,
    "`metrics`": task.Metric,
    "`leaves`": task.Leaf,
    "`[[waivers]]`": leaderboard.Waiver,
}


@pytest.mark.parametrize("heading", TABLES)
def test_every_key_of_a_declaration_is_documented_in_its_order(heading: str) -> None:
    section, model = sections("leaderboards.md")[heading], TABLES[heading]

    assert first_cells(section) == list(model.model_fields)
    required = [name for name, field in model.model_fields.items() if field.is_required() and name != "id"]
    bold = re.findall(r"^\| \*\*`(\w+)`\*\*", section, re.MULTILINE)
    assert [name for name in bold if name != "id"] == required


def test_every_table_of_a_declaration_has_its_section() -> None:
    declared = {
        model
        for module in (leaderboard, task)
        for model in vars(module).values()
        if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == module.__name__
    }

    assert declared - {task.DeclarationModel} == set(TABLES.values())


def test_every_family_of_mmlu_is_documented() -> None:
    page = (ROOT / "docs" / "audit-mmlu.md").read_text(encoding="utf-8")

    assert [name for name in get_args(MmluFamily) if f"| `{name}` |" not in page] == []


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_its_help_explains_every_option(name: str) -> None:
    section = sections("command-line.md")[name]
    options = {one: option for option in COMMANDS[name].params for one in option.opts if one.startswith("-")}
    own = [spelling for spelling in first_cells(section) if spelling.startswith("-")]

    assert f"`leaderboard-bot {name}" in section
    assert [spelling for spelling in options if spelling in own] == own
    assert [spelling for spelling, option in options.items() if not option.help] == []


def test_no_command_is_documented_that_is_not_there() -> None:
    assert set(sections("command-line.md")) - set(COMMANDS) == {"Common options", "Exit status", "Environment"}


def test_every_common_option_is_one_of_several_commands() -> None:
    given = [spelling for command in COMMANDS.values() for option in command.params for spelling in option.opts]
    assert [name for name in first_cells(sections("command-line.md")["Common options"]) if given.count(name) < 2] == []


CALL = re.compile(r"(?:^|[$;&] |[\w\])\"'] |^[A-Z_]+=\S+ )leaderboard-bot (?P<words>[a-z-][^`#|;>&]*)")
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/*.md")])


def calls(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The commands that a page names in code, each with its options."""
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(page.read_text(encoding="utf-8")):
        inline = [one.content for one in token.children or [] if one.type == "code_inline"]
        for line in (
            line for text in [token.content, *inline] for line in text.split("\n") if token.type != "inline" or inline
        ):
            is_code = token.type == "fence" or line in inline
            for found in CALL.finditer(line) if is_code else ():
                words = found["words"].split()
                options = [word.partition("=")[0] for word in words if word.startswith("-")]
                plain = [word for word in words if not word.startswith("-")]
                known = [name for name in (" ".join(plain[:2]), *plain[:1]) if name in COMMANDS]
                yield (
                    (known or ["leaderboards show" if plain[:1] == ["leaderboards"] else " ".join(plain[:1])])[0],
                    options,
                )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_call_on_a_page_is_one_that_there_is(page: Path) -> None:
    always = {"--help", "-h", "--version", "--traceback"}
    for name, options in calls(page):
        assert name in COMMANDS or not name, name
        known = (
            {one for option in COMMANDS[name].params for one in (*option.opts, *option.secondary_opts)}
            if name
            else set()
        )
        assert set(options) <= known | always, name


def test_the_calls_of_the_readme_are_found() -> None:
    found = list(calls(ROOT / "README.md"))
    assert ("init", ["--table", "--results"]) in found
    assert ("settle", ["--config"]) in found


def test_every_exit_status_is_documented() -> None:
    raised = {error.status for error in vars(errors).values() if isinstance(error, type) and hasattr(error, "status")}
    documented = re.findall(r"^\| (\d+) \|", sections("command-line.md")["Exit status"], re.MULTILINE)

    assert set(map(int, documented)) == raised | {0, 130}


OF_FACTS = {"facts.commits", "facts.owners", "facts.names", "facts.alike"}


def fields(value: Any, prefix: str = "") -> Iterator[str]:
    """The paths of all fields; a list is `[]`, and what is keyed by a leaf is not entered."""
    if isinstance(value, list):
        yield prefix
        for item in value:
            yield from fields(item, prefix)
    elif isinstance(value, dict) and prefix not in {
        "versions",
        "n-shot",
        "n-samples",
        "definitions",
        "summary.unread",
        *OF_FACTS,
    }:
        for name, item in value.items():
            yield from fields(item, f"{prefix}.{name}".lstrip(".") + ("[]" if isinstance(item, list) else ""))
    else:
        yield prefix


def judged(*files: bytes) -> Judgement:
    parsed = [parse_submission(f"{number}.json", {"": data}) for number, data in enumerate(files)]
    unread = [UnreadPath("samples.jsonl", "sample-log", "why")]
    return judge_all(parsed, load_leaderboard("open-llm-v2"), unread=unread)


# Where the report and the entry have one of the parts that the page describes once.
PARTS = {
    "rows[].model": "model",
    "rows[].scores.tasks[]": "task",
    "rows[].findings[]": "finding",
    "submissions[].model": "model",
    "submissions[].harness": "harness",
    "submissions[].findings[]": "finding",
    "model": "model",
    "tasks[]": "task",
    "evidence[].harness": "harness",
    "harness": "harness",
}


def documented_in(heading: str) -> list[str]:
    """The fields of a section in their order, the parts written out."""
    parts, found = first_cells(sections("report.md")["What both have"]), list[str]()
    for name in first_cells(sections("report.md")[heading]):
        within = [part for part in parts if name in PARTS and part.partition(".")[0] == PARTS[name]]
        found += [name, *(name + part.removeprefix(PARTS[name]) for part in within)]
    return found


def test_every_field_of_the_report_is_documented_and_no_other() -> None:
    report = json.loads(json.dumps(make_report(judged(b"{", *(path.read_bytes() for path in EXAMPLES)))))
    documented = documented_in("The report")

    assert sorted(set(documented)) == sorted(documented)
    assert set(documented) - {"rows[].scores.groups", "rows[].scores.columns", "rows[].model"} == set(fields(report))


def test_every_field_of_an_entry_is_documented_and_no_other() -> None:
    rows = judged(*(path.read_bytes() for path in EXAMPLES)).rows
    first = next(entry for row in rows if (entry := entry_of(row)) is not None)
    waiver = Waived("rule", "who", "reason", "2030-01-01")
    facts = RowFacts(
        "2030-01-01", {"abc": CommitFact("accepted")}, "org/model", {"org": ("me",)}, {"name": "org/model"},
        Alike("org/model", "5 of 6 values"),
    )  # fmt: skip
    logs = (EntrySamples("leaf", "samples.jsonl", "0" * 64, 1, "0" * 32, "samples"),)
    more = {"warnings": (Remark("rule", "seen"),), "waivers": (waiver,), "facts": facts, "samples": logs}
    entry = msgspec.structs.replace(first, **more)
    documented = documented_in("The entry file")

    assert sorted(set(documented)) == sorted(documented)
    whole = {f"evidence[].{name}" for name in ("kept", "dated_by", "quoted_from")}
    whole |= {"groups", "columns", "average_over"}
    whole |= {name for name in documented if name.endswith(("model", "harness"))}
    assert set(documented) - whole == set(fields(json.loads(entry.to_bytes())))
    tops = [name.split(".")[0].removesuffix("[]") for name in documented]
    assert list(dict.fromkeys(tops)) == [field.encode_name for field in msgspec.structs.fields(Entry)]


@pytest.mark.slow
def test_the_extension_of_the_hubs_cli_calls_the_bot(tmp_path: Path) -> None:
    """Installed as the client installs a script; in place of `uvx`, which needs a release, stands what it would run."""
    [script] = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", sections("command-line.md")["Environment"], re.DOTALL)
    place = tmp_path / ".local" / "share" / "hf" / "extensions" / "hf-evals"
    program = extensions._install_binary_extension(extension_dir=place, short_name="evals", binary=script.encode())
    names = {"owner": "acme", "repo": "hf-evals", "repo_id": "acme/hf-evals", "short_name": "evals"}
    extensions.ExtensionManifest(
        **names, executable_path=str(program), type="binary", installed_at=datetime.now(UTC)
    ).save(place)
    (tmp_path / "uvx").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "uvx").chmod(0o755)
    commands = Path(sys.executable).parent
    told = {"HOME": str(tmp_path), "PATH": f"{tmp_path}{os.pathsep}{commands}{os.pathsep}{os.environ['PATH']}"}
    call = [commands / "hf", "evals", "check", ROOT / "examples" / "results", "--format", "summary"]
    more = {"HF_HUB_DISABLE_UPDATE_CHECK": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(call, env={**os.environ, **told, **more}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        1,
        "5 rows from 5 files: 2 accepted, 1 incomplete, 2 rejected; 3 errors",
    ), done.stderr
