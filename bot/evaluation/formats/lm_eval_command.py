"""What the command lines of lm-eval of all ages have in common."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from bot.evaluation.formats.fields import arguments
from bot.evaluation.formats.secrets import HIDDEN
from bot.evaluation.result import Model

DTYPES = frozenset({"bfloat16", "float16", "float32", "float64"})
REVISION = re.compile(r"((?:^|,)\s*revision\s*=\s*)[^,]*")


def pinned_arguments(model: Model) -> str:
    """The model's arguments with the commit and the dtype that were measured; "" where they name no model or a secret.

    Only a run at the same commit and of the same precision joins the row; a branch may have moved since.
    """
    pairs, args = arguments(model.args)
    args = args or (model.id and f"pretrained={model.id}")
    if not args or HIDDEN in args:  # a command with a hidden password does not work
        return ""
    if model.revision and "revision" in pairs:
        args = REVISION.sub(lambda match: f"{match[1]}{model.revision}", args)
    elif model.revision:
        args += f",revision={model.revision}"
    if model.precision in DTYPES and "dtype" not in pairs:
        args += f",dtype={model.precision}"
    return args


def command_line(words: Iterable[str]) -> str:
    """A command that can be pasted into a shell, in one line; "" where a word holds what no line can."""
    words = list(words)
    return shlex.join(words) if all(map(str.isprintable, words)) else ""
