"""What files hold besides their numbers: keys that stand twice, and secrets that no output may repeat."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.evaluation.formats import parse_result
from bot.evaluation.formats.secrets import secrets_in, without_secrets
from bot.reporting.markdown import judgement_markdown
from bot.reporting.report import make_report, to_json
from bot.reporting.text import Ink, terminal_text
from tests.evaluation.judging import base, dumps, judgement_of, outcome_of, patched, rules_of
from tests.texts import any_text

TOKEN = "hf_" + "aB3" * 12


def written_twice(key: str, value: str) -> bytes:
    """The example file with a second value after a key's first occurrence."""
    data = dumps(base()).decode()
    place = data.index(f'"{key}": ')
    return (data[:place] + f'"{key}": {value}, ' + data[place:]).encode()


@pytest.mark.parametrize(
    ("key", "value", "pointer"),
    [
        ("acc,none", "0.9", "/results/leaderboard_mmlu_pro/acc,none"),
        ("leaderboard_bbh_navigate", "{}", "/results/leaderboard_bbh_navigate"),
        ("results", "{}", "/results"),
        ("model_name", '"other/model"', "/model_name"),
        ("limit", "50", "/config/limit"),
    ],
)
def test_a_key_with_two_values_is_named_wherever_it_stands(key: str, value: str, pointer: str) -> None:
    data = written_twice(key, value)
    assert [found.pointer for found in parse_result(data).repeated] == [pointer]


def test_the_same_value_twice_is_no_fault() -> None:
    data = dumps(base()).decode().replace('"acc,none": ', '"acc,none": 0.5, "acc,none": ', 1).encode()
    again = data.replace(b'"acc,none": 0.5, "acc,none": ', b'"acc,none": 0.5, "acc,none": 0.5, "was": ')
    assert parse_result(data).repeated
    assert not parse_result(again).repeated


@given(
    st.dictionaries(any_text(), st.one_of(any_text(), st.floats(), st.none(), st.dictionaries(any_text(), any_text())))
)
def test_texts_of_any_kind_are_no_repeated_keys(row: dict[str, object]) -> None:
    data = base()
    data["results"]["leaderboard_mmlu_pro"] |= row
    data["config"] |= row
    for text in (json.dumps(data, indent=2), json.dumps(data), json.dumps(data, separators=(",", ":"))):
        assert parse_result(text.encode()).repeated == ()


def test_a_secret_is_in_no_output() -> None:
    arguments = f"pretrained=example-org/kestrel-7b,dtype=bfloat16,token={TOKEN}"
    data = patched({"/config/model_args": arguments, "/config/gen_kwargs": {"api_key": TOKEN[3:]}, "/n-shot": {}})
    del data["results"]["leaderboard_mmlu_pro"]  # so that a command would repeat the arguments
    judgement = judgement_of({"results_x.json": data})
    assert "secret-in-file" in rules_of(judgement.verdicts[0])
    assert not any(finding.command for finding in judgement.rows[0].findings)
    shown = [
        to_json(make_report(judgement)),
        terminal_text(judgement, Ink(colour=False)),
        judgement_markdown(judgement),
    ]
    shown += [repr(judgement.verdicts[0].parsed), str(outcome_of(data).verdict)]
    assert all(TOKEN[3:] not in text for text in shown)


SECRET = "s3cr3tAbcdefgh1234"


@pytest.mark.parametrize(
    "text",
    [
        f"base_url=https://bob:{SECRET}@llm.acme.com/v1,model=acme/m",
        f"https://{SECRET}@llm.acme.com/v1",
        f"base_url=https://llm.acme.com/v1?key={SECRET}",
        f"https://llm.acme.com/v1?api-version=2024&api-key={SECRET}",
        f"https://acme.blob.core.windows.net/x?sv=2020&sig={SECRET}",
        f"https://b.s3.amazonaws.com/x?X-Amz-Date=1&X-Amz-Signature={SECRET}#a",
        f"Authorization: Bearer {SECRET}",
        f"lm_eval --api-key {SECRET} --tasks a",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{SECRET}",
        {"headers": {"Ocp-Apim-Subscription-Key": SECRET}},
        {"openaiApiKey": SECRET},
    ],
)
def test_a_secret_is_found_wherever_a_call_has_it(text: object) -> None:
    assert secrets_in({"x": text}, "")
    assert SECRET not in str(without_secrets(text))


@pytest.mark.parametrize(
    "text",
    [
        "https://bob:${PASSWORD}@llm.acme.com/v1",
        "https://bob@llm.acme.com/v1",
        "https://llm.acme.com/v1?api-version=2024-06-01&tokenizer=acme/long-tokenizer&key=EMPTY",
        "ssh://git@github.com/acme/results",
        "the bearer certificates of --token-limit questions",
        "pretrained=acme/global-mmlu-lite-model-of-glm-4-9b-chat,max_tokens=1000000000",
    ],
)
def test_an_address_without_a_secret_is_none(text: str) -> None:
    assert secrets_in({"x": text}, "") == ()
