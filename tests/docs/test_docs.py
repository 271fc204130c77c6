"""What the pages say is so: quoted output is what commands print, generated pages are fresh, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import shutil
from functools import cache
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from bot.evaluation.rules import ALL_RULES
from tests.console import follow, is_quoted

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/*.md")])
# Console blocks need nothing but the examples of this clone, and are run; other commands stand in `sh` blocks.
FOLLOWED = [path for page in PAGES if "```console" in page.read_text(encoding="utf-8")
            if not (path := page.relative_to(ROOT).as_posix()).startswith(".github/")]  # fmt: skip


def words(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", FOLLOWED)
def test_the_commands_of_a_page_print_what_it_quotes(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")

    seen = follow(words(page), tmp_path)

    assert seen
    for command, quoted, real in seen:
        assert is_quoted(quoted, real), f"$ {command}\n{real}"


def test_a_quotation_that_differs_in_one_letter_is_found_out() -> None:
    assert is_quoted("one\n…\nthree", "one\ntwo\ntwo and a half\nthree")
    assert is_quoted("…\nthree", "two\nthree")
    assert is_quoted("one …\nthree", "one and more\nthree")
    assert not is_quoted("one …\nthree", "two and more\nthree")
    assert is_quoted("", "")
    assert not is_quoted("one\n…\nthree", "one\ntwo\nfour")
    assert not is_quoted("one", "one\ntwo")
    assert not is_quoted("", "one")


def test_the_generated_pages_are_fresh() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)

    for name, page in generate.PAGES.items():
        assert words(f"docs/{name}") == page(), "run python docs/generate.py"


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    tokens = MarkdownIt().parse(page.read_text(encoding="utf-8"))
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}


def test_the_link_of_every_finding_leads_to_its_rule() -> None:
    assert {rule.id for rule in ALL_RULES} <= anchors(ROOT / "docs" / "rules.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page.read_text(encoding="utf-8"))
    links = [str(link.attrs["href"]) for token in tokens for link in token.children or [] if link.type == "link_open"]
    for link in links:
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_paths_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:bot|tests|docs|examples|benchmarks|\.github)/[\w./-]*)`", page.read_text(encoding="utf-8")
    )
    for path in named:
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_table_of_a_page_is_a_table(page: Path) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page.read_text(encoding="utf-8"))
    broken = [token.content for token in tokens if token.type == "inline" and "| --- |" in token.content]
    assert broken == []


def test_the_index_for_coding_agents_names_pages_that_exist() -> None:
    named = re.findall(r"\]\(([^)]+)\)", (ROOT / "llms.txt").read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize(
    ("path", "is_checked"),
    [
        ("results_2026-01-01T00-00-00.000000.json", True),
        ("runs/acme/results.json", True),
        ("results/acme/run.eval", True),
        ("package.json", False),
        ("acme/samples_gsm8k_2026.jsonl", False),
    ],
)
def test_the_hook_for_commits_takes_result_files_alone(path: str, is_checked: bool) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert bool(re.search(hook["files"], path)) == is_checked
    (copied,) = [
        yaml.safe_load(block)["repos"][0]["hooks"][0]
        for block in re.findall(r"```yaml\n(.*?)```", words("docs/github.md"), re.DOTALL)
        if "repos:" in block
    ]
    assert bool(re.search({**hook, **copied}["files"], path)) == is_checked  # as copied from the page
    assert hook["entry"].split()[:2] == ["leaderboard-bot", "check"]
    assert hook["require_serial"]  # two processes would part the files of a row
