"""The templates of the pages, their style sheet and script, and their content security policy."""

from __future__ import annotations

import re
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from bot import HOME, __version__
from bot.evaluation.evidence import SHOWS
from bot.evaluation.finding import counted
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import model_in, owner_and_name
from bot.evaluation.rules import ALL_RULES
from bot.pages.addresses import column_page, row_page, usual_page
from bot.pages.titles import breakable, in_lines, in_parts, with_end
from bot.publishing.addresses import evidence_url, target_url
from bot.publishing.board import TIE
from bot.publishing.models import billions, other_size
from bot.reporting.escape import cell, visible
from bot.reporting.scores import value_text
from bot.reporting.shell import shell_lines

# The page may load its own style, script, pictures and data, and nothing else; what it
# sends goes back to where it came from.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
MISSING = "–"
ASSETS = (
    "site.css", "shared.js", "board.js", "view.js", "charts.js", "export.js", "pick.js", "copy.js", "contrast.js",
    "compare.js", "rules.js",
)  # fmt: skip


@cache
def templates() -> Environment:
    """The environment: everything is text unless it is marked as markup, and what cannot be printed is shown."""
    environment = Environment(
        loader=PackageLoader("bot.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {"points": points, "raw": raw, "full": full, "half_up": half_up}
    environment.filters |= {"counted": counted, "billions": billions}
    environment.filters |= {"cite_key": cite_key, "tex": tex, "other_size": other_size, "harness_line": harness_line}
    environment.filters["value_text"] = value_text
    environment.filters["shows"] = SHOWS.__getitem__
    environment.filters |= {"breakable": breakable, "in_parts": in_parts, "in_lines": in_lines, "with_end": with_end}
    environment.filters |= {"titled": rule_title, "ended": ended, "shell": shell}
    environment.filters["templating"] = {True: "used", False: "not used", None: "not said"}.__getitem__
    environment.filters |= {
        "model_in": model_in,
        "model_name": lambda model: owner_and_name(model)[1] or "(no name)",
        "usual_page": usual_page,
        "row_page": row_page,
        "column_page": column_page,
    }
    environment.filters |= {"target_url": target_url, "evidence_url": evidence_url}
    environment.globals |= {"home": HOME, "version": __version__, "policy": POLICY, "tie": TIE}
    environment.globals["asset_name"] = lambda name: asset(name)[0]
    return environment


def _shown(value: Any) -> Any:
    if value is None:
        return MISSING
    return visible(value) if type(value) is str else value


points, raw = partial(cell, digits=2), partial(cell, digits=4)  # scores and raw values for people


def signed(value: float) -> str:
    """A difference of scores for people, with its sign."""
    return f"{half_up(value, 2):+}".replace("-", "−")


def full(value: float | None) -> str:
    """A number for programs: the shortest text that gives the same double."""
    return "" if value is None else repr(value)


def shell(command: str) -> Markup:
    """A command over several lines, as it is copied; on a narrow screen a line breaks between its words.

    A browser would break it behind hyphens and slashes, too, and before the sign at a line's end.
    """
    text = str(escape("\n".join(shell_lines(visible(command)))))
    return Markup(re.sub(r"\S*[-/]\S*(?: \\(?=\n))?|\S+ \\(?=\n)", r"<span>\g<0></span>", text))  # noqa: S704 - escaped above


def ended(text: str) -> str:
    """A text as a sentence: with the stop that it may lack."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def rule_title(rule: str) -> str:
    """What a rule found, in a sentence; of one that is not known its id."""
    return rule_titles().get(rule, rule)


@cache
def rule_titles() -> dict[str, str]:
    """The titles of all rules by their ids."""
    return {rule.id: rule.title for rule in ALL_RULES}


def harness_line(harness: HarnessVersion) -> str:
    """The harness, its version and its commit, in one line."""
    commit = f"commit {harness.git_hash}" if harness.git_hash else ""
    known = (harness.repository, harness.version, commit)
    return " ".join([harness.name or "unknown", *filter(None, known)])


def cite_key(name: str) -> str:
    """A name as a key of BibTeX, such as `org-model-1234567-bfloat16`."""
    return re.sub(r"[^0-9A-Za-z.]+", "-", name).strip("-") or "row"


def tex(text: str) -> str:
    """A text for LaTeX, where these signs have a meaning."""
    return re.sub(r"([_&%#${}])", r"\\\1", text)


@cache
def asset(name: str) -> tuple[str, bytes]:
    """A file of the site that is the same for all boards: its name with a digest of its bytes, and the bytes."""
    data = files("bot.pages").joinpath("assets", name).read_bytes()
    stem, _, ending = name.rpartition(".")
    return f"{stem}.{sha256(data).hexdigest()[:8]}.{ending}", data


@cache
def fingerprint() -> bytes:
    """A digest of everything but the board that decides the bytes of a page: this package and its version."""
    digest = sha256(__version__.encode())
    for file in _files_of(files("bot.pages")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.digest()


def _files_of(folder: Traversable) -> list[Traversable]:
    found = sorted(folder.iterdir(), key=lambda item: item.name)
    inner = [file for item in found if item.is_dir() and item.name != "__pycache__" for file in _files_of(item)]
    return [item for item in found if item.is_file()] + inner
