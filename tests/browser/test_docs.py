"""The documentation as a site in a real browser: no accessibility fault, no page wider than a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import HERE, Watched
from tests.browser.test_pages import RULES, SCREENS
from tests.docs.test_docs_site import load_builder

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGES = ("index.html", "readme.html", "tour.html", "command-line.html", "pages.html", "formats.html", "rules.html")


@pytest.mark.slow
@SCREENS
def test_axe_finds_nothing_and_no_page_is_too_wide(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    load_builder().build(tmp_path)
    source = (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    view = {"width": width, "height": 800}
    context = browser.new_context(viewport=view, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    watched = Watched(context.new_page(), f"file://{tmp_path}")
    for path in PAGES:
        page = watched.open(path)
        page.evaluate(source)
        found = page.evaluate("rules => axe.run(document, rules)", {**RULES, "preload": False})
        seen = [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found["violations"]]
        assert seen == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page = watched.open("index.html")
    page.fill("#sought", "limited run")
    page.wait_for_selector("#results a")
    page.press("#sought", "Enter")
    page.wait_for_url("**/rules.html#limited-run")
    context.close()
    assert watched.faults == []
