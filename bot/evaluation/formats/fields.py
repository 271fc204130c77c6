"""Read fields of any JSON type: each function gives the type that a format wants, or None."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from math import inf, isfinite
from typing import Any, NamedTuple

from bot.errors import MalformedResult
from bot.evaluation.result import escape_pointer

# Nothing that moves a cursor, begins a line of a log, or turns the direction of a text; many scripts have joiners.
ONE_LINE = r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*"
REVISION = re.compile(r"[0-9a-f]{40}")
LARGEST = 2**53  # above it doubles skip whole numbers, and far above it they end
ARGUMENT = re.compile(r"(?:^|,)\s*([A-Za-z_]\w*)\s*=\s*([^,]*)")
# Where a text of arguments is more than names and plain values: brackets, and quoted texts, whose commas end nothing.
NESTED = re.compile(r"[\[{(\"]")
QUOTED = r"""\"(?:\\.|[^\"\\])*\"|(?<=[\[{(,:\s])'(?:\\.|[^'\\])*'"""
PART = re.compile(QUOTED + r"|(?P<opened>[\[{(])|(?P<closed>[\]})])|(?P<comma>,)")
MOST_ARGUMENTS = 100_000  # characters that are looked through
PLAIN_VALUE = re.compile(r"[^,=\"\[\]{}()]*")
NO_PACKAGE = "No package metadata"
# What a precision may be: a data type of torch, or a quantization as harnesses and their model classes call it.
PRECISIONS = (
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "8bit", "6bit",
    "5bit", "4bit", "3bit", "2bit", "GPTQ", "AWQ", "GGUF", "aqlm", "auto-round", "awq_marlin", "bitblas", "bitnet",
    "auto-round-int8", "bitsandbytes", "compressed-tensors", "deepspeedfp", "eetq", "exl2", "experts_int8",
    "fbgemm_fp8", "fp4", "fp8", "fpquant", "gptq_marlin", "higgs", "hqq", "inc", "int4", "ipex", "marlin", "mlx_q4",
    "mlx_q8", "modelopt", "modelopt_fp4", "modelopt_fp8", "modelopt_mixed", "modelslim", "moe_wna16", "mxfp_w4a8",
    "nf4", "petit_nvfp4", "tpu_int8", "w4afp8", "mxfp4", "mxfp8", "nvfp4", "ptpc_fp8", "quanto", "quantized", "quark",
    "quark_int4fp8_moe", "quark_mxfp4", "rtn", "spqr", "squeezellm", "torchao", "vptq", "w4a16", "w8a8", "w8a8_fp8",
    "w8a8_int8", "float8_dynamic_activation_float8_weight", "float8_weight_only", "int4_weight_only",
    "int8_weight_only", "int8_dynamic_activation_int8_weight",
)  # fmt: skip
SYNONYMS = {"float": "float32", "fp32": "float32", "half": "float16", "fp16": "float16", "bf16": "bfloat16",
            "double": "float64", "fp64": "float64", "autoround": "auto-round", "bnb": "bitsandbytes",
            "compressedtensors": "compressed-tensors", "fbgemmfp8": "fbgemm_fp8", "finegrainedfp8": "fp8",
            "auto": "", "unknown": ""}  # fmt: skip
SPELLED = {name.lower(): name for name in PRECISIONS} | SYNONYMS
GGUF = re.compile(r"gguf-((?:i?q[1-8](?:_[a-z0-9]+)*)|bf16|f16|f32)")  # a file of llama.cpp, with how it rounds weights
LONGEST_SETTING = 1_000  # characters; a longer one is compared by its digest


def text(value: object) -> str:
    """The value where it is text, "" elsewhere."""
    return value if type(value) is str else ""


def table(value: object) -> dict[str, Any]:
    """The value where it is an object, an empty one elsewhere."""
    return value if type(value) is dict else {}


def items(value: object) -> list[Any]:
    """The value where it is an array, an empty one elsewhere."""
    return value if type(value) is list else []


def whole(value: object) -> int | None:
    """The value where it is a whole number (2 or 2.0), else None; too large a count becomes `LARGEST`."""
    if type(value) is int:
        return value if -LARGEST <= value <= LARGEST else LARGEST
    return whole(int(value)) if type(value) is float and value.is_integer() else None


def number(value: object) -> float | None:
    """The value where it is a number, None elsewhere; a boolean is not a number, and a huge integer is infinite."""
    if type(value) is int:
        return float(value) if abs(value) <= LARGEST else inf
    return value if type(value) is float else None


def number_in(written: str) -> float | None:
    """The number that a text is, None where it is none."""
    try:
        return float(written)
    except ValueError:
        return None


def version(value: object) -> float | str | None:
    """A task version as the file spells it, None if it is neither number nor text."""
    return value if type(value) is str else number(value)


def canonical_version(value: object) -> str:
    """Spell a task version one way, whatever type the file gives it: 1, 1.0 and "1.0" are all "1"."""
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return str(value)


def row(rows: Mapping[str, Any], key: str, pointer: str) -> dict[str, Any]:
    """One row of results. Raises MalformedResult if it is not an object."""
    value = rows[key]
    if type(value) is not dict:
        where = f"{pointer}/{escape_pointer(key)}"
        raise MalformedResult("holds a row of results that is not an object", pointer=where)
    return value


# Arguments of lm-eval whose default is another than None, so that a call must name it.
SET_BY_NONE = frozenset({"tokenizer_backend"})


def arguments(value: object) -> tuple[dict[str, str], str]:
    """Read `model_args`, a text "a=1,b=2" or an object, as a mapping and as one text.

    What lies deeper, or has a comma in it, stands in the text in brackets or in quotes: no command can have it.
    """
    if isinstance(value, dict):
        texts = {str(key): inner if isinstance(inner, str) else setting(inner) if isinstance(inner, dict | list) else
                 str(inner) for key, inner in value.items() if inner is not None or key in SET_BY_NONE}  # fmt: skip
        spelled = {key: inner if PLAIN_VALUE.fullmatch(inner) or isinstance(value[key], dict | list) else
                   json.dumps(inner, ensure_ascii=False) for key, inner in texts.items() if key in value}  # fmt: skip
        return texts, ",".join(f"{key}={inner}" for key, inner in spelled.items())
    args = text(value)
    return (_pairs if len(args) <= LONGEST_SETTING else _pairs.__wrapped__)(args), args


@lru_cache(maxsize=16)  # of one file they are asked for again and again
def _pairs(args: str) -> dict[str, str]:
    if NESTED.search(args) is None:
        return dict(ARGUMENT.findall(args))
    found = {}
    for part in _parts(args[:MOST_ARGUMENTS]):
        if match := ARGUMENT_OF.match(part):
            found[match[1]] = _unquoted(match[2].strip())
    return found


ARGUMENT_OF = re.compile(r"\s*([A-Za-z_]\w*)\s*=(.*)", re.DOTALL)


def _parts(args: str) -> list[str]:
    """The text between commas that stand in no brackets and no quotes."""
    cuts, depth = [-1], 0
    for match in PART.finditer(args):
        depth += match["opened"] is not None
        depth -= match["closed"] is not None and depth > 0
        if match["comma"] and not depth:
            cuts.append(match.start())
    return [args[begin + 1 : end] for begin, end in zip(cuts, [*cuts[1:], len(args)], strict=True)]


def _unquoted(value: str) -> str:
    if value[:1] != '"' or value[-1:] != '"' or len(value) < 2:
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value


def setting(value: object) -> str:
    """A generation setting as text that can be compared: an object in one spelling, a long text by its digest."""
    if value is None or value in ("", {}, []):
        return ""
    spelled = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    if len(spelled) <= LONGEST_SETTING:
        return spelled
    return "sha256:" + sha256(spelled.encode("utf-8", "surrogatepass")).hexdigest()


def precision(name: str) -> str | None:
    """A precision in its one spelling ("Half" and "torch.float16" are float16), "" for "auto"; None if it is none."""
    word = "".join(name.split()).lower()
    while word.startswith("torch."):
        word = word.removeprefix("torch.")
    gguf = GGUF.fullmatch(word)
    return f"GGUF-{gguf[1].upper()}" if gguf else SPELLED.get(word) if word else ""


UNITS = {"": 1, "b": 1, "bytes": 1} | {f"{letter}{more}b": 1024**power for power, letter in enumerate("kmgt", 1)
                                    for more in ("", "i")}  # fmt: skip
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def size_in_bytes(value: object) -> int | None:
    """A size as harnesses write it, a number of bytes or a text such as "3.55 GB" (accelerate counts by 1024)."""
    match = SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    unit = UNITS.get(match[2].lower()) if match else None
    size = float(match[1]) * unit if match and unit else number(value)
    return int(size) if size is not None and 0 < size < LARGEST else None


def shots(value: object) -> int | None:
    """A number of shots; some files write a list, which counts where all of it is one number."""
    if type(value) is list and value and all(one == value[0] for one in value):
        value = value[0]
    return whole(value)


def seconds(stamp: str, form: str = "") -> float | None:
    """A date in Unix seconds, None if it is none: ISO 8601, or as `form` has it (`strptime`); in UTC without a zone."""
    try:
        date = datetime.strptime(stamp, form) if form else datetime.fromisoformat(stamp)  # noqa: DTZ007 - see below
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def release(value: object) -> str:
    """A release; "" for the sentence that the harness writes where it finds no package of itself."""
    return "" if text(value).startswith(NO_PACKAGE) else text(value)


def free_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name, with a number added if it is taken, so that a name that comes twice overwrites nothing.

    A file may use one name 100,000 times, so the number is found by doubling and halving.
    """
    if name not in taken:
        return name
    low, high = 1, 2
    while f"{name} ({high})" in taken:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if f"{name} ({middle})" in taken else (low, middle)
    return f"{name} ({high})"


class Given(NamedTuple):
    """What other parts of a file give for a number, None for nothing: its key, the value, how exact it is, the parts.

    The tolerance is absolute up to 1, and relative above.
    """

    key: str
    value: float | None
    tolerance: float
    parts: str


def contradicted(numbers: Mapping[str, Any], given: Iterable[Given]) -> dict[str, str]:
    """What other parts of the file give for numbers that are something else, by their keys."""
    found = {}
    for key, other, tolerance, parts in given:
        value = number(numbers.get(key))
        if other is None or value is None or not isfinite(value):
            continue
        if abs(value - other) > tolerance * max(1.0, abs(other)):
            found[key] = f"{parts} {other:.8g}"
    return found


def revision(*candidates: object) -> str:
    """The first of the candidates that is a full commit id, "" if none is."""
    return next((str(value) for value in candidates if type(value) is str and REVISION.fullmatch(value)), "")
