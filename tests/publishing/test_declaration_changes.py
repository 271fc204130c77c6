"""Why a row is scored otherwise: each key of the declaration that changed, by its name and with both values."""

from __future__ import annotations

from msgspec.structs import replace

from bot.evaluation.leaderboard import Leaderboard, parse_leaderboard
from bot.publishing.changes import MOST_KEYS, changed_keys, why_rescored
from bot.publishing.entry import Entry
from tests.evaluation.judging import entry_from
from tests.world.results import TINY, path_of, result

OLD = parse_leaderboard(TINY, "tiny", "tiny.toml")
BOUND = "tasks.sums.leaves.sums_plus.lower_bound: 1/4 → 1/5"


def changed(*changes: tuple[str, str]) -> Leaderboard:
    text = TINY
    for before, after in changes:
        text = text.replace(before, after)
    return parse_leaderboard(text, "tiny", "tiny.toml")


def row(board: Leaderboard) -> Entry:
    return entry_from(result(), board, path_of(), source="hf://datasets/acme/results", commit="c" * 40)


def test_a_changed_key_is_named_with_both_values() -> None:
    assert changed_keys(OLD, changed(('"1/4"', '"1/5"'))) == [BOUND]
    assert changed_keys(
        OLD, changed(('id = "logic"\n', 'id = "logic"\nlower_bound = "1/10"\nbound_reason = "x"\n'))
    ) == ["tasks.logic.lower_bound: 0 → 1/10"]
    assert changed_keys(OLD, changed(("formats", 'chat_template = "never"\nformats'))) == [
        "harness.chat_template: any → never"
    ]
    assert changed_keys(OLD, changed(("Two tasks", "Three tasks"))) == []
    [shots] = changed_keys(OLD, changed(("num_fewshot = 0\nleaves", "leaves")))
    assert shots == "tasks.logic.num_fewshot: 0 → –"


def test_a_new_task_is_one_key_and_many_keys_are_counted() -> None:
    task = (
        '\n[[tasks]]\nid = "new"\ntitle = "New"\nmetrics = [{ name = "acc" }]\nleaves = [{ id = "n", samples = 1 }]\n'
    )
    [new] = changed_keys(OLD, parse_leaderboard(TINY + task, "tiny", "tiny.toml"))
    assert new.startswith("tasks.new: – → {")
    assert len(new) < 80
    many = changed(("samples = 100", "samples = 90"), ('"1/4"', '"1/5"'), ("num_fewshot = 0", "num_fewshot = 1"))
    assert len(changed_keys(OLD, many)) == 6
    declared = replace(row(OLD).leaderboard, digest=many.digest, scoring_digest=many.scoring_digest)
    said = why_rescored(row(OLD), replace(row(OLD), leaderboard=declared), OLD, many)
    assert said.startswith("the declaration changed: tasks.sums.num_fewshot: 0 → 1, ")
    assert said.endswith(" and 1 more key")
    five = changed(("samples = 100", "samples = 90"), ("num_fewshot = 0", "num_fewshot = 1"))
    assert len(changed_keys(OLD, five)) == MOST_KEYS
    assert "more key" not in why_rescored(row(OLD), row(OLD), OLD, five)


def test_each_cause_has_its_own_words() -> None:
    new = changed(('"1/4"', '"1/5"'))
    before, after = row(OLD), row(new)

    assert why_rescored(before, after, OLD, new) == f"the declaration changed: {BOUND}"
    assert why_rescored(before, after, None, new) == "the declaration changed"
    refused = "and the files are no longer accepted"
    assert why_rescored(before, None, OLD, new) == f"the declaration changed: {BOUND}, {refused}"
    assert why_rescored(before, None, OLD, OLD) == f"waivers, owners or other facts changed, {refused}"
    older = replace(before, tool="0.0.1")
    assert why_rescored(older, None, OLD, OLD) == f"the bot has another version, {refused}"
    assert why_rescored(before, replace(before, tool="0.0.1"), OLD, OLD) == "the bot has another version"
    assert why_rescored(before, before, OLD, OLD) == "waivers, owners or other facts changed"
