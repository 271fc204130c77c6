"""The documentation as a site: every link and picture leads somewhere, and no page needs what its policy refuses."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

from bot.pages.environment import POLICY
from tests.evaluation.judging import ROOT
from tests.pages.boards import Found, found


def load_builder() -> ModuleType:
    """The script that builds the site."""
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    load_builder().build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Found]:
    return {path.name: found(path.read_bytes()) for path in site.glob("*.html")}


def test_every_page_of_the_documentation_is_there_and_can_be_reached(pages: dict[str, Found]) -> None:
    written = {
        "index.html",
        "readme.html",
        "changelog.html",
        *(f"{page.stem}.html" for page in (ROOT / "docs").glob("*.md")),
    }
    assert set(pages) == written
    reached, waiting = {"index.html"}, ["index.html"]
    while waiting:
        for link in pages[waiting.pop()].links:
            name = link.partition("#")[0]
            if name in pages and name not in reached:
                reached.add(name)
                waiting.append(name)
    assert reached == written


def test_every_link_and_picture_leads_somewhere(pages: dict[str, Found], site: Path) -> None:
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), name
        for address in (*page.links, *page.loads):
            target, _, anchor = address.partition("#")
            if target.startswith(("https://", "http://", "mailto:", "data:")):
                continue
            assert not target or (site / target).is_file(), f"{name} leads to {address}"
            if anchor and (target or name) in pages:
                assert unquote(anchor) in pages[target or name].ids, f"{name} leads to {address}"


def test_the_index_is_shorter_than_the_readme_and_every_page_is_in_the_menu(
    pages: dict[str, Found], site: Path
) -> None:
    assert len(pages["index.html"].text) < len(pages["readme.html"].text) / 2
    assert set(pages) - {"index.html"} <= set(pages["scores.html"].links)
    sections = json.loads((site / "search-index.js").read_text().removeprefix("globalThis.sections = ").rstrip(";\n"))
    assert any(address == "rules.html#limited-run" for address, *_ in sections)
    for address, *_ in sections:
        name, _, anchor = address.partition("#")
        assert not anchor or anchor in pages[name].ids, address


def test_no_page_needs_what_its_policy_refuses(pages: dict[str, Found], site: Path) -> None:
    for name, page in pages.items():
        assert f'content="{POLICY}"' in (site / name).read_text(encoding="utf-8"), name
        assert page.elements.isdisjoint({"style", "iframe"}), name
        assert "style" not in page.attributes, name
        assert not [one for one in page.loads if one.startswith(("http", "//"))], name
        assert "<!-- Made by" not in (site / name).read_text(encoding="utf-8").partition("<main")[2], name
