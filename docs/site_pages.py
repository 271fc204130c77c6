"""Build the documentation as a web site in the look of the boards: `make docs`, or `python docs/site_pages.py FOLDER`.

The pages are those of docs/, the README and the changelog, rendered by markdown-it, with an index of them. A script
searches in them without a server.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
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

LEAD = (
    "leaderboard-bot keeps a leaderboard of language models in step with its evaluation results: it checks what is "
    "pushed, scores it, and publishes each row once, with its evidence."
)
# The groups of the menu; each page has its name in the menu, and what it answers.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Begin": {
        "README.md": ("Start", "what it does, and a tour on your machine"),
        "docs/tour.md": ("Pictures", "the pages of a board and of the operator"),
        "docs/tutorial.md": ("Tutorial", "your own leaderboard, from result files to a service"),
    },
    "Set it up": {
        "docs/leaderboards.md": ("Leaderboards", "declare tasks, scores and rules"),
        "docs/hub.md": ("Hub", "sources and targets on the Hugging Face Hub"),
        "docs/github.md": ("GitHub", "the Action, sources and targets on GitHub"),
        "docs/tables.md": ("Tables", "rows of a table that somebody else keeps"),
        "docs/model-pages.md": ("Pages of models", "results on the pages of the models themselves"),
        "docs/deploy.md": ("Deploy", "run the service: a Space, a container, a timer"),
        "docs/scale.md": ("Scale", "many rows, many processes, large imports"),
    },
    "Look it up": {
        "docs/command-line.md": ("Commands", "every command with its options and statuses"),
        "docs/forms.md": ("Results of your own", "JSON, CSV and YAML of any layout"),
        "docs/formats.md": ("Formats", "the result files that are read"),
        "docs/rules.md": ("Rules", "every check, and how to repair what it finds"),
        "docs/scores.md": ("Scores", "from raw values to scores, averages and ranks"),
        "docs/report.md": ("Reports", "what check and score print, for people and programs"),
        "docs/pages.md": ("Pages", "the web site of a board, the operator's pages, the API"),
        "docs/catalogue.md": ("Catalogue", "the benchmarks that it knows"),
    },
    "Investigate": {
        "docs/compare.md": ("Compare", "why two numbers differ"),
        "docs/finds.md": ("Finds", "what the rules and audits found in public results"),
        "docs/audit-board.md": ("Audit a board", "columns that stopped measuring"),
        "docs/audit-drop.md": ("Audit DROP", "what its scorer did to each answer"),
        "docs/audit-mmlu.md": ("Audit MMLU", "which MMLU was measured"),
        "docs/forensics.md": ("Forensics", "inconsistencies in result files and samples"),
    },
    "Know it": {
        "docs/benchmarks.md": ("Benchmarks", "how fast it is, and against what"),
        "docs/architecture.md": ("Architecture", "how the code is made"),
        "CHANGELOG.md": ("Changes", "what each version brought"),
    },
}
NAMES = {path: name for group in GROUPS.values() for path, (name, _) in group.items()}
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
    return {path: f"{Path(path).stem.lower()}.html" for path in found}


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
    shutil.copyfile(ROOT / "docs" / "search.js", folder / "search.js")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures", dirs_exist_ok=True)
    found, sections = pages(), []
    groups = {
        group: [(found[path], name, words) for path, (name, words) in some.items()] for group, some in GROUPS.items()
    }
    fixed = {"root": "", "style": style, "stamp": "", "groups": groups, "lead": LEAD}
    for path, name in found.items():
        title, body, headings = render(path)
        values = {"title": title, "body": body, "headings": headings, "here": name}
        text = shown_by.get_template("page.html").render(**fixed, **values)
        (folder / name).write_text(text, encoding="utf-8")
        sections += list(_sections(path, name))
    index = {"title": "leaderboard-bot", "body": "", "headings": [], "here": "index.html"}
    text = shown_by.get_template("page.html").render(**fixed, **index)
    (folder / "index.html").write_text(text, encoding="utf-8")
    known = json.dumps(sections, ensure_ascii=False, separators=(",", ":"))
    (folder / "search-index.js").write_text(f"globalThis.sections = {known};\n", encoding="utf-8")


def _sections(path: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield each part of a page below a heading, for the search: address, page, heading and text."""
    page = heading = anchor = ""
    words: list[str] = []
    tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse((ROOT / path).read_text(encoding="utf-8"))
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and after is not None:
            if words:
                yield f"{name}{anchor}", page, heading, " ".join(words)
            heading, words = after.content.replace("`", ""), []
            page = page or heading
            anchor = f"#{anchor_of(heading)}" if token.tag != "h1" else ""
        elif token.type in {"inline", "fence"}:
            words += token.content.split()
    yield f"{name}{anchor}", page, heading, " ".join(words)


def environment() -> Environment:
    """The environment of the boards' pages, with the template of these beside theirs."""
    ours = templates()
    loader = ChoiceLoader([FileSystemLoader(ROOT / "docs"), *([ours.loader] if ours.loader else [])])
    return ours.overlay(loader=loader)


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs"))
