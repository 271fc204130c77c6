"""Escape text from strangers for a terminal, for Markdown and for tables."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.evaluation.rounding import half_up

# An underscore inside of a word is none of emphasis; a colon could make an address a link.
MARKUP = re.compile(r"[^\w ./,+%=()-]|(?<![^\W_])_|_(?![^\W_])")
WWW = re.compile(r"\b(www)\.", re.IGNORECASE)
# What the runner of a workflow takes for a command: `::name::` at the start of a line, `##[name]` anywhere in it.
COMMAND_LINE = re.compile(r"(^|[\r\n])([^\S\r\n]*)(?=::)")
COMMAND_INSIDE = re.compile(r"#(?=#\w*\[)")
# What GitHub and others act on in a title or a commit message: references, mentions, marks that skip a run.
GITHUB_REFERENCE = re.compile(r"\bGH-(?=\d)", re.IGNORECASE)
REFERENCE = re.compile(r"#(?=\d)|\bGH-(?=\d)|/(?:issues|pull|discussions)(?=/\d)", re.IGNORECASE)
MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?=\w)")  # GitHub: after a letter that is not ASCII, too
SKIP_MARK = re.compile(
    r"\[(?=(?:skip|no|ci|actions)[ _-]+\w+\s*\])|skip-(?=checks\s*:)|NO(?=_CI(?![^\W_]))", re.IGNORECASE
)
# Beside the controls that JSON escapes anyway: further controls, marks of direction, halves of surrogates.
UNSHOWN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
# The user and password of an address, also where a path has swallowed one of its slashes.
# A bracket ends a link, and is no part of a token that stands alone; a password may have one.
USER_INFO = re.compile(r"(?<=\w:)(?:(//)(?!@)[^\s/@:)\"]*(?::[^\s/@\"]*)?|(/)[^\s/@:\"]+:[^\s/@\"]*)@")
HARMLESS = re.compile(r"[\w./][\w./ %~-]*", re.ASCII)  # the names, keys and paths of most rows
FULL_WIDTH = "\uff1d\uff0b\uff0d\uff20"


def visible(text: str) -> str:
    r"""Show what cannot be printed as its escape: a line break as \n, a terminal's escape as \x1b, in one line.

    Bidirectional marks and half surrogates are unprintable too, so no text can rearrange or end its line. The user and
    password of an address are hidden.
    """
    text = without_user(text)
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def without_user(text: str) -> str:
    """The same text, the user and password of every address in it hidden."""
    return USER_INFO.sub(r"\1\2***@", text) if "@" in text and ":/" in text else text


def brief(text: str, limit: int = 100) -> str:
    """The same of a text's beginning: a name on the Hub has 96 letters, what stands in its place may have millions."""
    return visible(text) if len(text) <= limit else visible(text[:limit]) + "…"


def code(text: str) -> str:
    """Return a Markdown code span: nothing in it is markup, a link, or the mention of a person."""
    seen = visible(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", seen)), default=0))
    # A span may not begin or end in a backtick, and loses one space on each side.
    pad = " " if not seen or seen[0] in "` " or seen[-1] in "` " else ""
    return f"{fence}{pad}{seen}{pad}{fence}"


def code_in_table(text: str) -> str:
    """Return a code span for a table's cell, where a bare bar would end the cell."""
    return code(text).replace("|", "\\|")


def inert(text: str) -> str:
    """A text in one line that is not a formula of a spreadsheet (OWASP, CSV injection) and not a runner's command."""
    return text if HARMLESS.fullmatch(text) else _quoted(without_commands(_in_one_line(text)), text)


def no_formula(text: str) -> str:
    """A text in one line that is not a formula of a spreadsheet, for a file that nobody prints."""
    return text if HARMLESS.fullmatch(text) else _quoted(_in_one_line(text), text)


def _in_one_line(text: str) -> str:
    return visible(text.replace("\r", " ").replace("\n", " ").replace("\t", " "))


def _quoted(line: str, text: str) -> str:
    is_formula = line.lstrip(" '\"")[:1] in {*"=+-@:|", *FULL_WIDTH}
    return f"'{line}" if is_formula or text[:1] == "\t" else line


def without_commands(text: str) -> str:
    """A text of any number of lines in which the runner of a workflow hears no command: a backslash breaks each."""
    text = COMMAND_LINE.sub(r"\1\2\\", text) if "::" in text else text
    return COMMAND_INSIDE.sub(r"#\\", text) if "##" in text else text


def plain_json(text: str) -> str:
    """The same JSON with escapes for what a terminal does not show, and for `##`: no runner hears a command in it."""
    shown = without_user(text.replace("##", "#\\u0023"))
    if shown.isascii() and "\x7f" not in shown:
        return shown
    return UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)


def in_title(text: str) -> str:
    """A name for a title or a commit message: all but `[A-Za-z0-9._/+=,-]` is percent-encoded, as in keys, and `GH-1`.

    Without a space, `#`, `@`, `[` and `:` it can close no issue, call nobody and skip no run.
    """
    kept = quote(text[:100], safe="/+=,", errors="replace").replace("~", "%7E")
    kept = GITHUB_REFERENCE.sub(lambda found: found[0].replace("-", "%2D"), kept)
    return kept if len(text) <= 100 else f"{kept}…"


def without_references(text: str) -> str:
    """A title or a commit message in which nothing refers to an issue, calls a person, or skips a run."""
    text = MENTION.sub("@ ", REFERENCE.sub(r"\g<0> ", text))
    return SKIP_MARK.sub(r"\g<0> ", text)


def plain_markup(text: str) -> str:
    """A text where Markdown and HTML both apply: every letter that could be markup is a character reference.

    It holds in running text, in a table's cell and in an attribute between quotes. Parentheses alone are no markup.
    """
    return WWW.sub(r"\1&#46;", MARKUP.sub(lambda found: f"&#{ord(found[0])};", visible(text)))


def plain_in_link(text: str) -> str:
    """The same for text within or behind the brackets of a link, where parentheses would begin or end its address."""
    return plain_markup(text).replace("(", "&#40;").replace(")", "&#41;")


def cell(value: float | None, digits: int) -> str:
    """A number for people, a dash where there is none."""
    return "–" if value is None else str(half_up(value, digits))
