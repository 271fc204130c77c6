"""Files whose configurations hold the model's arguments share a text, and each is read as if it were the first."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.formats import top_level
from bot.evaluation.formats.filled_text import pieces_of
from bot.evaluation.formats.top_level import SHARED, TOP, decode_top
from bot.evaluation.judge import judge
from bot.evaluation.submission import Parsed, one_file, parse_submission
from tests.evaluation.judging import base, declared, dumps

ARGUMENTS = {"pretrained": "acme/kestrel", "dtype": "bfloat16", "trust_remote_code": True, "n": 4, "share": 0.5}
TASKS = "/lib/python3.11/site-packages/lm_eval/tasks/"
FILLED = '"pretrained": "acme/kestrel"'


def named(model: str = "acme/kestrel", tasks: str = "", **more: Any) -> dict[str, Any]:
    """The base file with arguments in each configuration, and the path of its task where `tasks` is given."""
    data = base()
    for key, config in data["configs"].items():
        config["metadata"] |= {**ARGUMENTS, **more, "pretrained": model}
        config["metadata"] |= {"config_source": f"{tasks}leaderboard/{key}.yaml"} if tasks else {}
    return data | {"model_name": model}


def alone(data: bytes) -> Parsed:
    """The file as it is read where none was read before."""
    top_level._kept.texts = ()
    return parse_submission(one_file("x.json", data))


def members(data: bytes) -> dict[str, bytes] | None:
    try:
        return {key: bytes(raw) for key, raw in decode_top(data)[0].items()}
    except (ValueError, UnicodeDecodeError):
        return None


def plain(data: bytes) -> dict[str, bytes] | None:
    try:
        return {key: bytes(raw) for key, raw in TOP.decode(data).items()}
    except (ValueError, UnicodeDecodeError):
        return None


def check_after(first: bytes, data: bytes) -> bool:
    """Hold a file that is read after another against the same file alone; whether it has the text of the other."""
    single = alone(data)
    alone(first)
    shared, found = decode_top(first)[1], decode_top(data)[1] if plain(data) is not None else None
    assert shared is not None
    alone(first)
    assert members(data) == plain(data)
    alone(first)
    after = parse_submission(one_file("x.json", data))
    assert after == single
    assert judge(after, declared()).findings == judge(single, declared()).findings
    return found is shared


OTHERS: list[dict[str, Any]] = [
    {"model": "acme/heron"},
    {"model": "/data/models/a heron (2)", "dtype": "auto"},
    {"model": "x", "revision": "main", "peft": "acme/adapter", "max_length": -2048, "share": None},
    {"model": "", "n": False, "trust_remote_code": 0},
]


@pytest.mark.parametrize("other", OTHERS)
def test_files_of_other_models_share_a_text(other: dict[str, Any]) -> None:
    assert check_after(dumps(named()), dumps(named(**other)))


@pytest.mark.parametrize("tasks", [TASKS, "/home/jo/lm_eval/tasks/", "/lm_eval/tasks/"])
def test_the_path_of_the_harness_may_differ(tasks: str) -> None:
    assert check_after(dumps(named(tasks=TASKS)), dumps(named("acme/heron", tasks)))
    assert not check_after(dumps(named(tasks=TASKS)), dumps(named("acme/heron", "/my/tasks/")))
    assert not check_after(dumps(named(tasks=TASKS)), dumps(named("acme/heron")))
    assert not check_after(dumps(named()), dumps(named("acme/heron", tasks)))


HERON = dumps(named("acme/heron")).decode()
FIRST, HERE = dumps(named()), '"pretrained": "acme/heron"'
HOSTILE: dict[str, str] = {
    "one task has another model": HERON.replace(HERE, FILLED, 1),
    "a later task has another model": FILLED.join(HERON.rsplit(HERE, 1)),
    "one task has no model": HERON.replace(HERE + ",\n        ", "", 1),
    "a key twice": HERON.replace(HERE, f"{HERE},\n        {HERE}"),
    "a key twice in one task": HERON.replace(HERE, f"{HERE},\n        {HERE}", 1),
    "a version again": HERON.replace(HERE, HERE + ',\n        "version": 9'),
    "an escaped name": HERON.replace(HERE, '"pretr\\u0061ined": "acme/heron"'),
    "an escaped value": HERON.replace(HERE, '"pretrained": "acme/h\\u0065ron"'),
    "a quote": HERON.replace(HERE, '"pretrained": "acme/\\"heron"'),
    "a huge number": HERON.replace(HERE, f'"pretrained": {"9" * 400}'),
    "a huge exponent": HERON.replace(HERE, '"pretrained": 1e999'),
    "no number": HERON.replace(HERE, '"pretrained": 01'),
    "no number, either": HERON.replace(HERE, '"pretrained": 1.'),
    "NaN": HERON.replace(HERE, '"pretrained": NaN'),
    "a list": HERON.replace(HERE, '"pretrained": []'),
    "an object": HERON.replace(HERE, '"pretrained": {"a": 1}'),
    "a control character": HERON.replace(HERE, '"pretrained": "acme\theron"'),
    "no ASCII": HERON.replace(HERE, '"pretrained": "acme/héron"'),
    "other white space": HERON.replace(HERE, HERE.replace(": ", ":  ")),
    "no white space": HERON.replace(HERE, HERE.replace(": ", ":")),
    "tabs": HERON.replace("\n        " + HERE, "\n\t" + HERE),
    "another order": HERON.replace(f'{HERE},\n        "dtype": "bfloat16"', f'"dtype": "bfloat16",\n        {HERE}'),
    "an end of the object": HERON.replace(HERE, HERE + '\n      },\n      "num_fewshot": 9,\n      "more": {"a": 1'),
    "an end of all": HERON.replace(HERE, HERE + "}}}}"),
    "a path without an end": HERON.replace('"share": 0.5', '"config_source": "/lm_eval/tasks/'),
    "a long value": HERON.replace(HERE, f'"pretrained": "{"x" * 501}"'),
    "nothing but a comma": HERON.replace(HERE, ""),
    "two commas": HERON.replace(HERE, HERE + ","),
    "a byte order mark": "\ufeff" + HERON,
    "one more task": HERON.replace('"configs": {', '"configs": {\n    "x": {\n      "task": "x"\n    },'),
    "another description": HERON.replace("Answer the question.", "Answer a question.", 1),
    "other shots in one task": HERON.replace('"num_fewshot": 3', '"num_fewshot": 4', 1),
    "shots twice in one task": HERON.replace('"num_fewshot": 3', '"num_fewshot": 4,\n      "num_fewshot": 3', 1),
    "configs twice": HERON.replace('"config": {', '"configs": {},\n  "config": {'),
    "other versions": HERON.replace('"versions": {', '"versions": {\n    "x": 1,'),
    "cut off": HERON[: HERON.rindex(HERE) + 12],
    "deeper": '{"outer": ' + HERON + "}",
    "in a list": "[" + HERON + "]",
}  # fmt: skip
FITS = {"a key twice", "a version again", "another order", "a byte order mark"}  # what the known text has otherwise


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_wholly_the_known_text_is_read_for_itself(name: str) -> None:
    assert HOSTILE[name] != HERON
    assert check_after(FIRST, HOSTILE[name].encode()) == (name in FITS - {"a byte order mark"})


def with_model_alone() -> dict[str, Any]:
    """The base file with nothing but the model's name in each configuration."""
    data = base()
    for config in data["configs"].values():
        config["metadata"] |= {"pretrained": "acme/kestrel"}
    return data | {"n-shot": {}}


def test_nothing_is_filled_in_where_it_would_be_read() -> None:
    """A known text that has the same members among its shots or stop words is no pattern for others."""
    stops, shots = with_model_alone(), with_model_alone()
    for config in stops["configs"].values():
        config["generation_kwargs"] = {"until": ["."], "pretrained": "acme/kestrel"}
    for config in shots["configs"].values():
        config |= {"pretrained": "acme/kestrel"}

    for first, more in ((stops, '"until": "x"'), (shots, '"num_fewshot": 9')):
        text = dumps(first).decode()
        assert not check_after(text.encode(), text.replace(FILLED, f"{FILLED},\n        {more}").encode())


ELSEWHERE = [
    FILLED,
    FILLED.replace('"', '"x \\"', 1),
    f'"metadata": {{{FILLED}}}',
    f'"a": {{"metadata": {{{FILLED}}}}}',
]


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_a_text_with_the_same_members_elsewhere_is_no_pattern(elsewhere: str) -> None:
    text = shared_text(dumps(with_model_alone()))
    assert pieces_of(text) is not None

    assert pieces_of(text.replace(b'"task": ', elsewhere.encode() + b',\n      "task": ', 1)) is None


def shared_text(data: bytes) -> bytes:
    """The text of a file that others may have."""
    alone(data)
    shared = decode_top(data)[1]
    assert shared is not None
    assert set(shared.members) == set(SHARED)
    return shared.text


def test_a_text_that_would_be_longer_than_the_file_is_not_made() -> None:
    data = base()
    data["configs"] = {str(number): {"metadata": {"version": 1, "a": 1}} for number in range(2_000)}
    first, long = dumps(data), f'"a": "{"x" * 490}"'
    alone(first)
    decode_top(first.replace(b'"a": 1', b'"a": 2'))
    tracemalloc.start()
    decode_top(first.replace(b'"a": 1', long.encode(), 1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 6 * len(first)


PLACE = HERON.index(HERE)


@given(
    st.integers(PLACE - 30, PLACE + 200),
    st.integers(0, 40),
    st.sampled_from(["", '"', "{", "}", ",", "0", "\\", "\n", '"a": 1,\n        ', '"until": ["."]']),
)
def test_any_change_of_bytes_is_seen(place: int, length: int, new: str) -> None:
    data = (HERON[:place] + new + HERON[place + length :]).encode()
    alone(FIRST)

    assert members(data) == plain(data)


@given(st.text(st.sampled_from('",:{}[]\\\n 0a.'), max_size=40))
def test_any_filling_is_seen(filling: str) -> None:
    data = HERON.replace(HERE, filling).encode()
    alone(FIRST)

    assert members(data) == plain(data)
