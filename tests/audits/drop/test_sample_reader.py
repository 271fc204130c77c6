"""The fast reader gives the sample that the general one gives, whatever the record."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from bot.audits.drop.samples import DropSample, read_any, read_drop_sample
from bot.errors import MalformedSamples
from tests.audits.drop.drop_logs import GENERATIONS, RENDERED, row_03, row_04, row_plain

JUNK = (None, True, 1, -0.5, float("nan"), "x", "", RENDERED, [], ["x"], [["x"]], {}, {"a": 1}, 10**400, "\ud800")


def damaged(value: Any, random: Random, share: float) -> Any:
    """The value with some of its parts replaced or removed."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if random.random() > share / 3}
        return {key: _replaced(one, random, share) for key, one in kept.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(one, random, share) for one in value]
    return value


def _replaced(value: Any, random: Random, share: float) -> Any:
    return random.choice(JUNK) if random.random() < share else damaged(value, random, share)


def fields(sample: DropSample) -> dict[str, Any]:
    """What the audit uses of a sample: its key only where golds must be joined."""
    names = ("form", "prediction", "golds", "em", "f1", "target", "until", "rendered_prompt", "rendered_target")
    found = {name: repr(getattr(sample, name)) for name in names}
    return found | ({"key": sample.key} if sample.golds is None else {})


def outcome(read: Any, data: bytes) -> Any:
    try:
        return fields(read(data))
    except MalformedSamples as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.02, 0.15])
def test_both_readers_agree_on_rows_of_every_format(share: float) -> None:
    random = Random(int(share * 100))
    good = 0
    for n in range(4000):
        generation = random.choice(GENERATIONS)
        rows = [row_04(n, *generation, since) for since in ("0.4.0", "0.4.3", "0.4.7")]
        row = random.choice([*rows, row_03(n, *generation), row_plain(n, *generation)])
        if random.random() < 0.2:
            row["arguments"] = {"gen_args_0": {"arg_0": f"p_ {RENDERED} q", "arg_1": {"until": ["."], "x": 1}}}
        data = json.dumps(damaged(row, random, share)).encode()
        expected = outcome(read_any, data)
        assert outcome(read_drop_sample, data) == expected, data
        good += isinstance(expected, dict)
    assert good > 1000
