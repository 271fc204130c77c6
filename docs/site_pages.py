"""Build the documentation as a web site in the look of the boards: `make docs`, or `python docs/site_pages.py FOLDER`.

The pages are those of docs/, the README and the changelog; what is Markdown is rendered by markdown-it.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from posixpath import basename
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bot import HOME  # noqa: E402 - the folder above is found first
from bot.pages.environment import asset, templates  # noqa: E402 - the same

# The pages in the order of the navigation, by what it calls them.
NAMES = {
    "README.md": "Start",
    "docs/tour.md": "Tour",
    "docs/tutorial.md": "Tutorial",
    "docs/command-line.md": "Commands",
    "docs/hub.md": "Hub",
    "docs/github.md": "GitHub",
    "docs/deploy.md": "Deploy",
    "docs/leaderboards.md": "Leaderboards",
    "docs/formats.md": "Formats",
    "docs/rules.md": "Rules",
    "docs/scores.md": "Scores",
    "docs/compare.md": "Compare",
    "docs/pages.md": "Pages",
    "docs/finds.md": "Finds",
    "docs/benchmarks.md": "Benchmarks",
    "docs/architecture.md": "Architecture",
    "CHANGELOG.md": "Changes",
}
REPOSITORY = f"{HOME}/blob/main"


class Html(RendererHTML):
    """HTML without markup of its own: comments are left out, tables can be scrolled, code can be reached by keys."""

    def html_block(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """Leave comments out; no page has other markup."""
        return "" if tokens[idx].content.lstrip().startswith("<!--") else str(escape(tokens[idx].content))

    html_inline = html_block

    def table_open(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """A table in a region that scrolls, with a name of its own."""
        number = sum(token.type == "table_open" for token in tokens[: idx + 1])
        return f'<div class="wide" role="region" aria-label="Table {number}" tabindex="0">\n<table>\n'

    def table_close(self, *_: Any) -> str:
        """The end of both."""
        return "</table>\n</div>\n"

    def fence(self, tokens: Sequence[Token], idx: int, *_: Any) -> str:
        """A block of code."""
        return f'<pre tabindex="0">{escape(tokens[idx].content)}</pre>\n'


def pages() -> dict[str, str]:
    """All pages by their path in the clone: the name of each page's file in the site."""
    found = [*NAMES, *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
    return {path: "index.html" if path == "README.md" else f"{Path(path).stem.lower()}.html" for path in found}


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def render(path: str) -> tuple[str, Markup, list[tuple[str, str]]]:
    """A page's title, its body, and its headings of the second level with their anchors."""
    markdown = MarkdownIt("gfm-like", {"linkify": False, "html": True}, renderer_cls=Html)
    tokens = markdown.parse((ROOT / path).read_text(encoding="utf-8"))
    title, headings = Path(path).stem, []
    _mend(tokens)
    for i, token in enumerate(tokens):
        for inner in token.children or []:
            _relink(inner, path)
        if token.type == "heading_open":
            words = tokens[i + 1].content.replace("`", "")
            token.attrSet("id", anchor_of(words))
            title = words if token.tag == "h1" else title
            headings += [(anchor_of(words), words)] if token.tag == "h2" else []
    return title, Markup(markdown.renderer.render(tokens, markdown.options, {})), headings  # noqa: S704 - from our pages


def as_html(text: str) -> str:
    """A text of the bot as HTML in the look of the pages."""
    markdown = MarkdownIt("gfm-like", {"linkify": False, "html": True}, renderer_cls=Html)
    tokens = markdown.parse(text)
    _mend(tokens)
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def _mend(tokens: Sequence[Token]) -> None:
    """Make tables such as the pages have them: no style, which their policy refuses, and no head without words."""
    for i, token in enumerate(tokens):
        if "right" in str(token.attrs.pop("style", "")):
            token.attrSet("class", "n")
        if token.type == "th_open" and not tokens[i + 1].content:
            token.tag = tokens[i + 2].tag = "td"


def _relink(token: Token, path: str) -> None:
    """Let a link between pages lead to the page of the site, and one to another file of the clone to the repository."""
    name = {"link_open": "href", "image": "src"}.get(token.type)
    address = str(token.attrs.get(name, "")) if name else ""
    if not name or "://" in address or address.startswith(("#", "mailto:")):
        return
    target, mark, anchor = address.partition("#")
    there = (ROOT / path).parent.joinpath(target).resolve().relative_to(ROOT).as_posix()
    if token.type == "image":
        token.attrSet(name, f"pictures/{basename(there)}")
    else:
        token.attrSet(name, f"{pages().get(there, f'{REPOSITORY}/{there}')}{mark}{anchor}")


def build(folder: Path) -> None:
    """Write the site into a folder."""
    shown_by = environment()
    folder.mkdir(parents=True, exist_ok=True)
    style, data = asset("site.css")
    (folder / style).write_bytes(data)
    (folder / ".nojekyll").write_bytes(b"")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures", dirs_exist_ok=True)
    found = pages()
    for path, name in found.items():
        title, body, headings = render(path)
        shown = [(found[one], words) for one, words in NAMES.items()]
        values = {"title": title, "body": body, "headings": headings, "pages": shown, "here": name}
        text = shown_by.get_template("page.html").render(root="", style=style, stamp="", **values)
        (folder / name).write_text(text, encoding="utf-8")


def environment() -> Environment:
    """The environment of the boards' pages, with the template of these beside theirs."""
    ours = templates()
    loader = ChoiceLoader([FileSystemLoader(ROOT / "docs"), *([ours.loader] if ours.loader else [])])
    return ours.overlay(loader=loader)


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs"))
