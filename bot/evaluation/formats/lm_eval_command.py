"""The parts of the lm-eval command line that are the same in all versions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from bot.evaluation.formats.fields import arguments
from bot.evaluation.formats.secrets import HIDDEN
from bot.evaluation.result import Model

# The model classes that load weights, which have a commit and a data type; the others call a service.
LOADING = ("hf", "huggingface", "vllm", "sglang", "mamba", "gptqmodel", "steered")
NAME = re.compile(r"[A-Za-z][\w-]{0,60}")
NESTED = re.compile(r"[\[{(]")
DTYPES = frozenset({"bfloat16", "float16", "float32", "float64"})
REVISION = re.compile(r"((?:^|,)\s*revision\s*=\s*)[^,]*")


def pinned_arguments(model: Model) -> str:
    """The model's arguments with the commit and the dtype that were measured; "" if no command line can have them.

    Only a run at the same commit and of the same precision joins the row; a branch may have moved since. No command can
    have a password, an object, or the arguments of a class that is not a name but an object of Python.
    """
    pairs, args = arguments(model.args)
    args = args or (model.id and f"pretrained={model.id}")
    if not args or HIDDEN in args or NESTED.search(args) or not NAME.fullmatch(model.source or "hf"):
        return ""
    if model.source and not model.source.startswith(LOADING):
        return args
    if model.revision and "revision" in pairs:
        args = REVISION.sub(lambda match: f"{match[1]}{model.revision}", args)
    elif model.revision:
        args += f",revision={model.revision}"
    if model.precision in DTYPES and "dtype" not in pairs:
        args += f",dtype={model.precision}"
    return args


def command_line(words: Iterable[str]) -> str:
    """A command that can be pasted into a shell, in one line; "" if a word holds what no line can."""
    words = list(words)
    return shlex.join(words) if all(map(str.isprintable, words)) else ""
