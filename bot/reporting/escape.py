"""Text that strangers wrote in; the same text, harmless in a terminal or in Markdown, out."""

from __future__ import annotations

import re

# An underscore inside of a word is none of emphasis; a colon could make an address a link.
MARKUP = re.compile(r"[^\w ./,+%=-]|(?<![^\W_])_|_(?![^\W_])")
WWW = re.compile(r"\b(www)\.", re.IGNORECASE)


def visible(text: str) -> str:
    r"""Show what cannot be printed as its escape: a line break as \n, a terminal's escape as \x1b, in one line.

    Bidirectional marks and half surrogates are unprintable too, so no text can rearrange or end its line.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


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
    """A text in one line that no spreadsheet takes for a formula (OWASP, CSV injection)."""
    line = text.replace("\r", " ").replace("\n", " ")
    return f"'{line}" if line.lstrip()[:1] in {"=", "+", "-", "@"} or line[:1] == "\t" else line


def plain_markup(text: str) -> str:
    """A text where Markdown and HTML both apply: every letter that could be markup is a character reference.

    It holds in running text, in a table's cell, in a link's address and in an attribute between quotes.
    """
    return WWW.sub(r"\1&#46;", MARKUP.sub(lambda found: f"&#{ord(found[0])};", visible(text)))
