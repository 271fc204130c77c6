"""What is wrong with a value of a TOML file, in the words of those who write such files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import AfterValidator

UNKNOWN = "extra_forbidden"
LIST = "write a list: values in [ ], or tables that each begin with [[ ]]"
TABLE = "write a table"
NUMBER, WHOLE = "write a number", "write a whole number"
# By the type of pydantic's error; its own words speak of Python's types.
WORDS = {
    UNKNOWN: "is not a known key",
    "missing": "is missing",
    "string_type": "write a text in quotes",
    "string_too_short": "is empty",
    "list_type": LIST,
    "tuple_type": LIST,
    "dict_type": TABLE,
    "mapping_type": TABLE,
    "model_type": TABLE,
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": "write a finite number",
    "literal_error": "write {expected}",
    "greater_than": "write a number greater than {gt}",
    "greater_than_equal": "write a number of at least {ge}",
    "too_short": "has too few values: write at least {min_length}",
}


def fault_of(kind: str, context: Mapping[str, Any], message: str) -> str:
    """The text of one pydantic error: the bot's own words, or pydantic's `message` if the bot has none."""
    words = WORDS.get(kind)
    return message.removeprefix("Value error, ") if words is None else words.format(**context)


def spelled(pattern: str, words: str) -> AfterValidator:
    """A text of the form of a pattern; `words` say what to write where it has another."""
    form = re.compile(pattern)

    def check(value: str) -> str:
        if form.fullmatch(value) is None:
            raise ValueError(words)
        return value

    return AfterValidator(check)
