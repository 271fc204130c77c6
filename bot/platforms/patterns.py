"""Patterns of paths, such as `**/*.json`, that say which files of a source are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Translate a pattern as git and GitHub's `paths` read it: `*` stays in a folder, `**/` is any number of them."""
    return re.compile("".join(map(_translate, TOKEN.findall(pattern.removeprefix("./")))), re.DOTALL)


def _translate(token: str) -> str:
    plain = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token)
    if plain is not None:
        return plain
    if len(token) > 1:
        inside = token[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("&&", r"\&&")
        return "[" + (f"^{inside[1:]}" if inside.startswith("!") else inside.replace("^", r"\^")) + "]"
    return re.escape(token)


def is_wanted(path: str, patterns: Iterable[str]) -> bool:
    """Tell whether a path matches any of the patterns; one that names a folder stands for all below it."""
    return any(compiled(pattern).fullmatch(path) or path.startswith(f"{pattern.strip('/')}/") for pattern in patterns)
