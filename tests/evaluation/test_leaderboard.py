"""Declarations: a leaderboard with its digest, or a refusal that names the key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from fractions import Fraction
from functools import reduce
from importlib.resources import files
from math import nan
from operator import getitem
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import tomlkit
from typer.testing import CliRunner

from bot.cli.app import app
from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.leaderboard import Leaderboard, load_leaderboard, parse_leaderboard, shipped
from bot.evaluation.measurement import required_metrics

SECONDS = 15  # of the processor, for what took hours

SOUND = """\
title = "Mine"
description = "Two tasks."

[harness]
formats = ["lm-eval-0.4"]

[[tasks]]
id = "quiz"
title = "Quiz"
metrics = [{ name = "acc" }]
num_fewshot = 5
normalize = "leaf"
leaves = [
    { id = "quiz_easy", lower_bound = "1/4", bound_reason = "guessing among four", samples = 100 },
    { id = "quiz_hard", lower_bound = "1/3", bound_reason = "guessing among three", samples = 200 },
]

[[tasks]]
id = "sums"
title = "Sums"
metrics = [{ name = "exact_match" }]
num_fewshot = 0
leaves = [{ id = "sums", samples = 50 }]

[[waivers]]
rule = "limited-run"
submission = "*"
reason = "a test"
who = "me"
until = 2026-12-31
"""


def parse(text: str) -> Leaderboard:
    return parse_leaderboard(text, "mine", "mine.toml")


@pytest.mark.parametrize(
    ("old", "new", "key", "why"),
    [
        ('title = "Mine"', 'titel = "Mine"', "title", "is missing"),
        ('title = "Mine"', 'title = "\\u001b[2J"', "title", "without control characters"),
        ('title = "Quiz"', 'title = "Quiz\\n::error::x"', "tasks.0.title", "without control characters"),
        ('description = "Two tasks."', 'description = "\\u202eTwo"', "description", "without control characters"),
        ('description = "Two tasks."', 'description = "Two."\ncolour = 1', "colour", "not a known key"),
        ('formats = ["lm-eval-0.4"]', 'formats = ["lm-eval-0.5"]', "harness.formats.0", "no result format"),
        ('formats = ["lm-eval-0.4"]', "formats = []", "harness.formats", "write at least 1"),
        ('lower_bound = "1/4"', "lower_bound = 0.333", "tasks.0.leaves.0.lower_bound", "exact fraction"),
        ('lower_bound = "1/4"', 'lower_bound = "a third"', "tasks.0.leaves.0.lower_bound", "is not a fraction"),
        ('lower_bound = "1/4"', 'lower_bound = "1/0"', "tasks.0.leaves.0.lower_bound", "is not a fraction"),
        ('lower_bound = "1/4"', "lower_bound = true", "tasks.0.leaves.0.lower_bound", "exact fraction"),
        ('lower_bound = "1/4"', 'lower_bound = "3/2"', "tasks.0", "is not below upper_bound 1"),
        (
            'normalize = "leaf"',
            "higher_is_better = false",
            "tasks.0",
            'the worst value and upper_bound the best, such as lower_bound = "100" with a bound_reason, and upper_',
        ),
        (', bound_reason = "guessing among four"', "", "tasks.0", "needs a bound_reason"),
        ('normalize = "leaf"', 'normalize = "task"', "tasks.0", 'only where normalize = "leaf"'),
        ('normalize = "leaf"', 'aggregation = "median"', "tasks.0.aggregation", "'mean' or 'size-weighted'"),
        ('normalize = "leaf"', "range = [0, inf]", "tasks.0.range.1", "finite"),
        ('id = "quiz_hard"', 'id = "quiz_easy"', "tasks", "leaf quiz_easy is declared twice"),
        (
            'id = "quiz_hard"',
            'id = "quiz_easy2", keys = { "lm-eval-0.4" = "quiz_easy" }',
            "tasks",
            "key quiz_easy is declared",
        ),
        ('id = "sums"\ntitle', 'id = "quiz"\ntitle', "tasks", "task quiz is declared twice"),
        ('id = "sums"\ntitle', 'id = "average"\ntitle', "tasks.1.id", "average"),
        ('id = "sums"\ntitle', 'id = "../up"\ntitle', "tasks.1.id", "without spaces"),
        ("samples = 50", "samples = 0", "tasks.1.leaves.0.samples", "greater than 0"),
        ("num_fewshot = 0", "num_fewshot = -1", "tasks.1.num_fewshot", "a number of at least 0"),
        ("leaves = [{ id", "leaves = []\nleafs = [{ id", "tasks.1", "at least one of its leaves"),
        ("until = 2026-12-31", 'until = "some day"', "waivers.0.until", "date"),
        ('who = "me"', "", "waivers.0.who", "is missing"),
        ('title = "Mine"', 'id = "mine"\ntitle = "Mine"', "id", "the file's name is the id"),
        ('title = "Mine"', 'title = "Mine', "", "is not valid TOML"),
        ("[harness]", "[harness]\n[harness]", "", "is not valid TOML"),
        ('title = "Mine"', '\ufefftitle = "Mine"', "", "begins with a byte order mark"),
        ('title = "Mine"', "title = 5", "title", "write a text in quotes"),
        ("samples = 50", 'samples = "many"', "tasks.1.leaves.0.samples", "write a whole number"),
        ("samples = 50", "samples = 50.5", "tasks.1.leaves.0.samples", "write a whole number"),
        ("samples = 50", "samples = true", "tasks.1.leaves.0.samples", "write a whole number"),
        ("num_fewshot = 0", 'num_fewshot = "0"', "tasks.1.num_fewshot", "write a whole number"),
        ('normalize = "leaf"', "range = [1, 0]", "tasks.0", "range begins with its smallest value"),
        ('normalize = "leaf"', 'range = ["0", 1]', "tasks.0.range.0", "write a number"),
        ('normalize = "leaf"', 'higher_is_better = "no"', "tasks.0.higher_is_better", "write true or false"),
        ('normalize = "leaf"', "nested = 1", "tasks.0.nested", "write true or false"),
        ('{ name = "acc" }', '{ name = "acc", integral = "off" }', "tasks.0.metrics.0.integral", "true or false"),
        ('title = "Mine"', 'title = "Mine"\nserved_models = 1', "served_models", "write true or false"),
        ('title = "Mine"', 'title = "Mine"\nprecision = "half"', "precision", "such as bfloat16"),
    ],
)
def test_a_fault_is_refused_with_the_path_of_its_key(old: str, new: str, key: str, why: str) -> None:
    assert old in SOUND
    with pytest.raises(MalformedDeclaration) as caught:
        parse(SOUND.replace(old, new, 1))
    assert (caught.value.path, caught.value.status) == ("mine.toml", 2)
    assert any(place == key and why in said for place, said in caught.value.faults), caught.value.faults


def places(value: Any, *way: Any) -> Iterator[tuple[Any, ...]]:
    """The ways to all values inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*way, key)
        yield from places(inner, *way, key)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mine", *(pytest.param(name, marks=pytest.mark.slow) for name in shipped())])
def test_whatever_stands_in_place_of_a_value_is_read_or_refused(name: str) -> None:
    declared = SOUND if name == "mine" else (files("bot") / "data" / "leaderboards" / f"{name}.toml").read_text()
    whole = tomllib.loads(declared)
    for *way, last in places(whole):
        for odd in (0, -1, True, 2.5, nan, "", "1/0", "*", [], ["x"], [[]], {}, {"x": {"y": 1}}):
            changed = deepcopy(whole)
            inside = reduce(getitem, way, changed)
            inside[last] = odd
            with suppress(MalformedDeclaration):
                parse(tomlkit.dumps(changed))


def test_all_faults_of_a_declaration_are_named_at_once() -> None:
    changes = [
        ('description = "Two tasks."', 'colour = "red"'),
        ('lower_bound = "1/4"', "lower_bound = 0.25"),
        ('id = "sums"\ntitle = "Sums"', 'id = "quiz"\ntitel = "Sums"\nlower_bound = "2"'),
        ('title = "Mine"', 'title = "Mine"\nid = "mine"'),
        ("until = 2026-12-31", 'until = "some day"'),
    ]
    text = SOUND
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    with pytest.raises(MalformedDeclaration) as caught:
        parse(text)
    keys = [key for key, _ in caught.value.faults]
    expected = {
        "id",
        "colour",
        "description",
        "tasks",
        "tasks.0.leaves.0.lower_bound",
        "tasks.1.titel",
        "tasks.1.title",
    }
    assert expected | {"waivers.0.until"} == set(keys)
    assert len(str(caught.value).splitlines()) == len(keys)


def test_a_fault_that_an_unknown_key_hides_is_named_too() -> None:
    text = SOUND.replace('lower_bound = "1/4"', 'lower_bound = "3/2"').replace(
        "num_fewshot = 5", "num_fewshot = 5\nx = 1"
    )
    with pytest.raises(MalformedDeclaration) as caught:
        parse(text)
    assert [key for key, _ in caught.value.faults] == ["tasks.0.x", "tasks.0"]


def test_a_sound_declaration_keeps_its_fractions_exact() -> None:
    board = parse(SOUND)
    assert board.id == "mine"
    assert [board.tasks[0].leaf_lower_bound(leaf) for leaf in board.tasks[0].leaves] == [Fraction(1, 4), Fraction(1, 3)]


def test_the_digest_follows_what_is_declared_and_not_how_it_is_written() -> None:
    digest = parse(SOUND).digest
    assert digest == parse("# a comment\n" + SOUND.replace('"1/4"', '"2/8"')).digest
    assert digest != parse(SOUND.replace('"1/4"', '"1/5"')).digest
    assert digest != parse_leaderboard(SOUND, "other", "mine.toml").digest
    assert digest.startswith("sha256:")
    assert len(digest) == 71


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('description = "Two tasks."', 'description = "Two fine tasks."'),
        ('title = "Quiz"', 'title = "The quiz"'),
        ("guessing among four", "four to choose from"),
        ('reason = "a test"', 'reason = "another test"'),
        ('title = "Sums"', 'title = "Sums"\nquarantined = "in doubt"'),
    ],
)
def test_words_change_the_digest_and_not_that_of_the_scores(old: str, new: str) -> None:
    one, other = parse(SOUND), parse(SOUND.replace(old, new, 1))
    assert one.digest != other.digest
    assert one.scoring_digest == other.scoring_digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"1/4"', '"1/5"'),
        ("samples = 50", "samples = 51"),
        ('rule = "limited-run"', 'rule = "missing-task"'),
        ("num_fewshot = 5", 'num_fewshot = 5\nversions = ["1"]'),
        ("[harness]", '[join]\nsettings = "never"\n\n[harness]'),
    ],
)
def test_what_decides_changes_all_digests(old: str, new: str) -> None:
    one, other = parse(SOUND), parse(SOUND.replace(old, new, 1))
    assert one.digest != other.digest
    assert one.judging_digest != other.judging_digest
    assert one.scoring_digest != other.scoring_digest


def test_a_name_of_a_model_decides_verdicts_and_no_scores() -> None:
    one, other = parse(SOUND), parse(SOUND.replace("[[tasks]]", '[models]\ntitle = "acme/x"\n\n[[tasks]]', 1))
    assert one.judging_digest != other.judging_digest
    assert one.scoring_digest == other.scoring_digest


@pytest.mark.parametrize("name", ["open-llm-v1", "open-llm-v1-drop", "open-llm-v2", "mine"])
def test_a_declaration_as_it_is_kept_needs_no_shipped_data_and_has_its_digest(name: str) -> None:
    told = SOUND.replace("Two tasks.", r"\\ \" 'x' \U0001f600 [x] # no comment")
    models = '[models]\n"./a b" = "acme/x"\n"é." = "acme/y"\n'
    models += '[[harness.definitions]]\nleaves = ["*"]\nfields = { "/doc_to_text" = ["\\u007f \\n"] }\n'
    board = parse(f"{told}\n{models}") if name == "mine" else load_leaderboard(name)
    kept = parse_leaderboard(board.text, board.id, "kept.toml")
    assert (kept.digest, kept.scoring_digest, kept.text) == (board.digest, board.scoring_digest, board.text)
    assert [task.group for task in kept.tasks] == [None] * len(kept.tasks)
    assert [span.definitions for span in kept.harness.accepted] == [None] * len(kept.harness.accepted)


def test_a_prompt_that_is_called_description_decides() -> None:
    table = '[[harness.definitions]]\nleaves = ["*"]\nfields = {{ description = ["{}"] }}\n\n[[tasks]]'
    one, other = (parse(SOUND.replace("[[tasks]]", table.format(text), 1)) for text in ("x", "y"))
    assert one.scoring_digest != other.scoring_digest


def test_a_default_that_is_written_out_is_the_same_declaration() -> None:
    written = parse(SOUND.replace("[harness]", '[join]\nsettings = "same"\n\n[harness]'))
    assert (written.digest, written.scoring_digest) == (parse(SOUND).digest, parse(SOUND).scoring_digest)


def test_a_device_without_an_end_is_no_declaration() -> None:
    with pytest.raises(MalformedDeclaration, match="has more than 1 MB"):
        load_leaderboard("/dev/zero")


def test_a_declaration_works_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SOUND, encoding="utf-8")
    assert load_leaderboard(str(file)) == parse(SOUND)
    done = CliRunner().invoke(app, ["leaderboards", str(file)])
    assert done.exit_code == 0
    assert "Quiz" in done.stdout


def test_a_file_whose_name_is_no_id_is_told_so(tmp_path: Path) -> None:
    """A folder `alice+evals` gave `alice+evals.toml`, and the message was about a key that is not in the file."""
    path = tmp_path / "alice+evals.toml"
    path.write_text(SOUND, encoding="utf-8")
    with pytest.raises(MalformedDeclaration, match="id: the file's name is the id; write it with letters"):
        load_leaderboard(str(path))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"title = 'a\xe9'"])
def test_a_declaration_that_is_no_text_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(content)
    with pytest.raises(MalformedDeclaration, match="is not UTF-8"):
        load_leaderboard(str(file))


@pytest.mark.parametrize("name", ["nothing", "", ".", "x" * 5000, "a\0b"])
def test_a_name_that_leads_nowhere_is_a_wrong_call(name: str) -> None:
    with pytest.raises(CallError):
        load_leaderboard(name)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.0, "1"), ("1.0", "1"), (0.1, "0.1"), ("Yaml", "Yaml"), ("", ""), (10**400, "inf"), (True, "True")],
)
def test_a_version_is_spelled_one_way(value: object, text: str) -> None:
    assert canonical_version(value) == text


@pytest.mark.parametrize("name", shipped())
def test_every_bound_of_a_shipped_declaration_has_its_reason(name: str) -> None:
    board = load_leaderboard(name)
    assert board.homepage
    assert all(span.reason for span in board.harness.accepted)
    for task, leaf in board.leaves():
        assert not task.leaf_lower_bound(leaf) or leaf.bound_reason or task.bound_reason
        assert task.versions, task.id


def test_the_sizes_of_the_shipped_declarations_add_up() -> None:
    sizes = {task.id: sum(leaf.samples for leaf in task.leaves) for task in load_leaderboard("open-llm-v2").tasks}
    assert sizes == {"ifeval": 541, "bbh": 5761, "math": 1324, "gpqa": 1192, "musr": 756, "mmlu_pro": 12032}
    (mmlu,) = [task for task in load_leaderboard("open-llm-v1").tasks if task.id == "mmlu"]
    assert (len(mmlu.leaves), sum(leaf.samples for leaf in mmlu.leaves)) == (57, 14042)


def many_definitions(leaves: int, patterns: int, text: str = "x") -> str:
    ids = ", ".join(f'{{ id = "a{n}" }}' for n in range(leaves))
    names = ", ".join(f'"*{n}*b"' for n in range(patterns - 1))
    asked = f'[[harness.definitions]]\nleaves = [{names}, "a*"]\nfields = {{ doc_to_text = ["{text}"] }}\n'
    return SOUND.replace(
        "[[tasks]]",
        f'{asked}[[tasks]]\nid = "t"\ntitle = "T"\nmetrics = [{{ name = "acc" }}]\nleaves = [{ids}]\n\n[[tasks]]',
        1,
    )


@pytest.mark.parametrize("title", ["می\u200cخواهد", "नमस्\u200dते", "日本語\u3000表", "10\u00a0000", "👩\u200d🔬"])
def test_a_title_may_be_in_any_script(title: str) -> None:
    assert parse_leaderboard(SOUND.replace("Mine", title), "mine", "mine.toml").title == title


def test_a_board_may_name_the_definition_of_each_of_very_many_leaves() -> None:
    """As a draft of 1,500 tasks does: a name that is no pattern is looked up."""
    ids = ", ".join(f'{{ id = "a{n}" }}' for n in range(1_500))
    asked = "".join(
        f'[[harness.definitions]]\nleaves = ["a{n}"]\nfields = {{ doc_to_text = ["{n}"] }}\n' for n in range(1_500)
    )
    task = f'[[tasks]]\nid = "t"\ntitle = "T"\nmetrics = [{{ name = "acc" }}]\nleaves = [{ids}]\n\n'
    board = parse_leaderboard(SOUND.replace("[[tasks]]", f"{asked}{task}[[tasks]]", 1), "mine", "mine.toml")
    found = [one for one in required_metrics(board, "lm-eval-0.4") if one.task.id == "t"]
    assert [len(one.definitions) for one in found] == [1] * 1_500


@pytest.mark.parametrize(
    "text",
    [
        "a." * 500_000 + "b = 1",
        '"a" . ' * 2_000 + "b = 1",
        "x = {" + "a.'b'." * 2_000 + "b = 1}",
        f"number = {'9' * 100_000}",
        f"x = {'[' * 100_000}",
        f"x = {'{a=' * 50_000}",
        "#" * 2_000_000,
        SOUND.replace('{ name = "acc" }', ", ".join(f'{{ name = "{n}" }}' for n in range(50_001))),
        many_definitions(leaves=2_000, patterns=501),
        'title = "x"\n' + "[[tasks]]\n" * 90_000,
    ],
    ids=["dotted", "quoted", "inline", "digits", "lists", "tables", "long", "metrics", "definitions", "tasks"],
)
def test_a_file_that_takes_long_to_read_is_refused(text: str) -> None:
    with pytest.raises(MalformedDeclaration):
        parse_leaderboard(text, "tiny", "tiny.toml")


def test_of_very_many_faults_the_first_are_named() -> None:
    with pytest.raises(MalformedDeclaration) as refusal:
        parse('title = "x"\n' + "[[tasks]]\n" * 1_000)
    lines = str(refusal.value).splitlines()
    assert len(lines) == 101
    assert lines[-1] == "mine.toml: and 2,902 faults more"


@pytest.mark.slow
def test_a_long_text_of_one_definition_of_very_many_leaves_is_derived_once() -> None:
    board = parse(many_definitions(20_000, 40, "def f(x):" + " x = 1;" * 2_000))
    start = process_time()
    assert sum(len(one.definitions) for one in required_metrics(board, "lm-eval-0.4")) == 20_000
    assert process_time() - start < SECONDS


def test_a_comment_full_of_quotes_is_read_at_once() -> None:
    start = process_time()
    assert parse(SOUND + "# " + '\\"' * 250_000 + "\n# " + "'\"" * 250_000) == parse(SOUND)
    assert process_time() - start < SECONDS


def test_no_quote_that_is_not_closed_hides_a_long_key() -> None:
    with pytest.raises(MalformedDeclaration, match="a key with more than"):
        parse('x = { a = """\n\' """, ' + "b." * 2_000 + 'b = 1 } # "')


def test_a_long_description_is_no_long_key() -> None:
    text = 'x = "' + "One. Two. " * 500 + '" # ' + "...." * 500
    with pytest.raises(MalformedDeclaration, match="x: is not a known key"):
        parse_leaderboard(text, "tiny", "tiny.toml")
