"""A command for a shell over several lines, which a person reads and copies as it is."""

from __future__ import annotations

import re

LONGEST = 70  # letters of a line where no word is longer: with indents and the sign of a line that goes on 80
WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\S)+""")  # as it is written; a quote that nothing ends is a letter


def shell_lines(command: str) -> list[str]:
    r"""The lines of a command: a long one is broken before options and after `&&`, each line but the last by a `\`."""
    if len(command) <= LONGEST:
        return [command]
    parts: list[str] = []
    for word in WORD.findall(command):
        if not parts or word.startswith("-") or parts[-1].endswith("&&"):
            parts.append(word)
        else:
            parts[-1] += f" {word}"
    lines = parts[:1]
    for part in parts[1:]:
        if lines[-1].endswith("&&"):
            lines.append(part)
        elif len(lines[-1]) + 1 + len(part) <= LONGEST:
            lines[-1] += f" {part}"
        else:
            lines.append(f"  {part}")
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
