"""Rows that somebody changed at the target: whatever field it is, `verify` names it; the unchanged row follows."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict

from bot.errors import MalformedEntry
from bot.evaluation.leaderboard import Leaderboard, Waiver, parse_leaderboard
from bot.evaluation.likeness import Alike
from bot.evaluation.row_key import RowKey
from bot.evaluation.submission import parse_submission
from bot.evaluation.verdict import CommitFact, RowFacts
from bot.platforms.git.source import GitSource
from bot.platforms.platform import Access, Opener
from bot.publishing.changes import CANNOT_FOLLOW
from bot.publishing.entry import Entry, Evidence, declaration_path, entry_of, parse_entry
from bot.service.checks.verify import VerifiedRow, Verifier
from bot.service.judge.facts import Judge
from bot.service.judge.samples import with_local_samples
from tests.audits.samples.test_check import STAMP
from tests.cli.test_samples import RIGHT, rows
from tests.command import bot
from tests.platforms.git.test_source import Folder
from tests.world.results import TINY, result, revision_of

MODEL = "acme/atlas-7b"
TOOL = "acme/harness"
COMMIT = "abcdef12"
PINNED = f"""
pins = "required"
[[harness.accepted]]
repository = "{TOOL}"
since = "1234567890123456789012345678901234567890"
reason = "these measured"

[[tasks]]"""
LIMITED = {"n-samples": {"sums_plus": {"original": 200, "effective": 100}}}
Place = tuple[str | int, ...]


def waiver(rule: str, until: datetime) -> Waiver:
    return Waiver(rule=rule, submission="*", reason="agreed", who="ann", until=until.date())


def row(source: Folder, name: str, judge: Judge, data: bytes, logs: dict[str, bytes] | None = None) -> Entry:
    """The entry of a file that was pushed to a folder, with the sample logs beside it."""
    commit = source.push({name: data, **(logs or {})})
    last = GitSource(source.path).touched([name], commit)[name]
    parsed = with_local_samples(parse_submission(name, {"": data}), source.path / name)
    [made] = judge.judge([parsed], {name: last.date} if last.date else {}).rows
    entry = entry_of(made, {name: Evidence(source=source.path.name, path=name, commit=last.oid)})
    assert entry is not None, [finding.message for file in made.files or (made.lead,) for finding in file.findings]
    return entry


def plain(source: Folder, declared: Leaderboard) -> Entry:
    """A row about which nothing decided beside its file."""
    return row(source, "a.json", Judge(declared, datetime.now(UTC).date()), result(MODEL))


def in_groups(source: Folder, declared: Leaderboard) -> Entry:
    """A row of a board with groups, and with a column that does not count."""
    return row(source, "a.json", Judge(declared, datetime.now(UTC).date()), result(MODEL, date=1_780_000_001.0))


def unsaid(source: Folder, declared: Leaderboard) -> Entry:
    """A row whose file records no precision, so that it has that of the declaration."""
    config = {"model": "hf", "model_args": f"pretrained={MODEL}", "model_sha": revision_of(MODEL)}
    made = row(source, "a.json", Judge(declared, datetime.now(UTC).date()), result(MODEL, config=config))
    assert made.model.precision == "bfloat16"
    return made


def backed(source: Folder, declared: Leaderboard) -> Entry:
    """A row with sample logs, whose file records what was asked."""
    configs = {name: {"task": name, "num_fewshot": 0, "doc_to_text": f"{name} {{{{x}}}}"} for name in RIGHT}
    logs = {f"samples_{task}_{STAMP}.jsonl": to_jsonl(rows(task, right)) for task, right in RIGHT.items()}
    judge = Judge(declared, datetime.now(UTC).date())
    return row(source, f"results_{STAMP}.json", judge, result(MODEL, configs=configs), logs)


def to_jsonl(lines: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def served(source: Folder, declared: Leaderboard) -> Entry:
    """A row of a model that only a service has, without one of the tasks."""
    config = {"model": "openai-completions", "model_args": "model=atlas-large"}
    data = result("atlas-large", right=(50, 60, None), config=config, model_source="openai-completions")
    return row(source, "served.json", Judge(declared, datetime.now(UTC).date()), data)


def all_facts(source: Folder, declared: Leaderboard) -> Entry:
    """A row about which every kind of fact decided."""
    now = datetime.now(UTC)
    sizes = {"n-samples": {name: {"original": 100, "effective": 100} for name in ("sums_times", "logic")}}
    sizes["n-samples"] |= {"sums_plus": {"original": 200, "effective": 100}}
    config = {"model": "hf", "model_args": "pretrained=./x,dtype=bfloat16", "model_dtype": "torch.bfloat16"}
    data = result("./x", date=(now - timedelta(days=2)).timestamp(), config=config, git_hash=COMMIT, **sizes)
    key = RowKey(declared.id, MODEL, revision_of(MODEL), "bfloat16", chat_template=False).text
    judge = Judge(
        declared,
        (now - timedelta(days=30)).date(),
        [waiver(rule, now) for rule in ("limited-run", "wrong-sample-count", "wrong-owner", "unpinned-revision")],
        {"other/": ("acme",)},
        {"./x": f"{MODEL}@{revision_of(MODEL)}"},
        lambda texts, _: {text: CommitFact("accepted", TOOL, "it is") for text in texts},
        recorded={key: RowFacts(same_values="acme/borea-1b")},
    )
    return row(source, "facts.json", judge, data)


def like_another(source: Folder, declared: Leaderboard) -> Entry:
    """A row with nearly the values of another model."""
    key = plain(source, declared).key
    said = {key: RowFacts(alike=Alike("acme/borea-1b", "5 of 6 values"))}
    return row(source, "b.json", Judge(declared, datetime.now(UTC).date(), recorded=said), result(MODEL))


COLUMN = """
[[columns]]
id = "spread"
title = "Spread"
leaves = ["logic"]
metric = "acc_stderr"
"""
KINDS = {
    "plain": (plain, TINY),
    "by groups": (
        in_groups,
        'average = "groups"\n'
        + TINY.replace('title = "Sums"', 'title = "Sums"\ngroup = "Maths"').replace(
            'title = "Logic"', 'title = "Logic"\ngroup = "Other"'
        )
        + COLUMN,
    ),
    "like another": (like_another, TINY),
    "all facts": (all_facts, TINY.replace("[[tasks]]", PINNED, 1)),
    "backed by samples": (backed, TINY.replace("[harness]", '[evidence]\nsamples = "required"\n\n[harness]', 1)),
    "of one precision": (unsaid, f'precision = "bfloat16"\n{TINY}'),
    "served": (served, f"served_models = true\n{TINY}"),
}


@pytest.fixture
def source(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "results")


def put(tmp_path: Path, entry: Entry, declaration: str) -> Folder:
    """A target with one row and its declaration."""
    board = Folder(tmp_path / "board")
    board.push({declaration_path(entry.leaderboard.digest): declaration.encode(), entry.path: entry.to_bytes()})
    return board


def verify(tmp_path: Path) -> list[VerifiedRow]:
    opener = Opener(Access(), tmp_path)
    return list(Verifier(opener.target("board"), opener, sources=[tmp_path], reads_samples=True).verify())


def leaves(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(below, (*place, key))
    else:
        yield place, value


def pattern_of(place: Place) -> str:
    """The field of a place: `tasks[].raw`; the names of leaves and commits are left out as well."""
    words = "".join("[]" if isinstance(one, int) else f".{one}" for one in place).lstrip(".")
    return re.sub(r"^(versions|n-shot|n-samples|definitions|facts\.\w+)\.(?!\w*$)?[^.[]+", r"\1.*", words)


def others(value: Any) -> Iterator[Any]:
    """Values that a field does not have."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif value is None:
        yield from ("x", 1.5)
    else:
        yield f"{value}x"
        yield ""


def falsified(whole: Any) -> Iterator[tuple[str, bytes]]:
    """The entry with one field changed or removed, for every field pattern."""
    done: set[str] = set()
    for place, value in leaves(whole):
        if pattern_of(place) in done:
            continue
        done.add(pattern_of(place))
        for other in (*others(value), KeyError):
            copy = deepcopy(whole)
            inner = copy
            for key in place[:-1]:
                inner = inner[key]
            if other is KeyError:
                del inner[place[-1]]
            elif other == value:
                continue
            else:
                inner[place[-1]] = other
            yield pattern_of(place), json.dumps(copy).encode()
    for name, value in whole.items():  # something that was added, in each of the two forms that hold several things
        more = {**value, "x": next(iter(value.values()), "x")} if isinstance(value, dict) else None
        more = [*value, *value] if isinstance(value, list) and value else more
        if more is not None:
            yield name, json.dumps({**whole, name: more}).encode()


def is_other(data: bytes, entry: Entry) -> bool:
    """Tell whether these bytes are another entry or none; a field may be null where it is missing, too."""
    try:
        return parse_entry(data) != entry
    except MalformedEntry:
        return True


def commits(board: Folder, path: str, versions: list[bytes]) -> list[str]:
    """A commit on main for each version of a file, all made by one process."""
    head = board.git("rev-parse", "main")
    stream = b"".join(
        f"commit refs/heads/x{number}\nmark :{number}\ncommitter a <a@b> 0 +0000\ndata 0\nfrom {head}\n"
        f"M 100644 inline {path}\ndata {len(data)}\n".encode()
        + data
        + b"\n"
        for number, data in enumerate(versions, 1)
    )
    marks = ["git", "fast-import", "--quiet", "--export-marks=marks"]
    subprocess.run(marks, cwd=board.path, input=stream, check=True)
    numbered = (line.split() for line in (board.path / "marks").read_text().splitlines())
    return [commit for _, commit in sorted((int(mark[1:]), commit) for mark, commit in numbered)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_changed_field_of_a_row_is_named(tmp_path: Path, source: Folder, kind: str) -> None:
    make, declaration = KINDS[kind]
    entry = make(source, parse_leaderboard(declaration, "tiny", "tiny.toml"))
    board = put(tmp_path, entry, declaration)
    assert [(one.outcome, one.why, one.differences) for one in verify(tmp_path)] == [("follows", "", ())]

    unnoticed, patterns = set(), set()
    changed = [(pattern, data) for pattern, data in falsified(json.loads(entry.to_bytes())) if is_other(data, entry)]
    for (pattern, _), commit in zip(changed, commits(board, entry.path, [data for _, data in changed]), strict=True):
        patterns.add(pattern)
        (board.path / ".git" / "refs" / "heads" / "main").write_text(commit)
        [found] = verify(tmp_path)
        assert entry.key in found.key
        if found.follows:
            unnoticed.add(pattern)
        elif found.outcome == "differs":
            assert found.differences
    assert unnoticed <= CANNOT_FOLLOW
    assert len(patterns) > 40


def test_the_rows_above_have_every_field_that_an_entry_can_have(source: Folder) -> None:
    made = [make(source, parse_leaderboard(text, "tiny", "tiny.toml")) for make, text in KINDS.values()]
    found = {field for entry in made for field, value in asdict(entry).items() if value not in (None, (), {}, "")}
    assert found == set(Entry.__struct_fields__)
    facts = {field for entry in made if entry.facts for field, value in asdict(entry.facts).items() if value}
    assert facts == set(RowFacts.__struct_fields__)
    assert {entry.verdict for entry in made} == {"accepted", "incomplete"}


def test_warnings_that_are_taken_out_under_another_version_are_told(tmp_path: Path, source: Folder) -> None:
    make, declaration = KINDS["all facts"]
    entry = make(source, parse_leaderboard(declaration, "tiny", "tiny.toml"))
    board = put(tmp_path, entry, declaration)
    hidden = {"tool": "0.0.9", "warnings": [msgspec.to_builtins(one) for one in entry.warnings[1:]]}
    board.push({entry.path: json.dumps(json.loads(entry.to_bytes()) | hidden).encode()})

    [found] = verify(tmp_path)
    assert found.follows
    assert f"version 0.0.9 wrote it, and this version warns otherwise: {entry.warnings[0].rule}" in found.notice


def test_the_docs_name_every_field_that_cannot_follow() -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    section = page.read_text(encoding="utf-8").partition("## verify")[2].partition("\n## ")[0]
    listed = re.search(r"cannot follow: (.*?)\.\s", section, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`([^`]+)`", listed[1])) == CANNOT_FOLLOW


def test_a_row_follows_only_with_the_date_of_the_commit(tmp_path: Path, source: Folder) -> None:
    declared = parse_leaderboard(TINY, "tiny", "tiny.toml")
    later = (datetime.now(UTC) + timedelta(days=40)).timestamp()
    judge = Judge(declared, (datetime.now(UTC) + timedelta(days=90)).date())
    entry = row(source, "a.json", judge, result(MODEL, date=later))
    assert [one.rule for one in entry.warnings] == ["future-date"]
    assert entry.facts is None  # the commit alone says that the file's date is not to be believed
    put(tmp_path, entry, TINY)

    assert [one.outcome for one in verify(tmp_path)] == ["follows"]


def test_a_row_follows_only_with_the_day_of_its_judgement(tmp_path: Path, source: Folder) -> None:
    declared = parse_leaderboard(TINY, "tiny", "tiny.toml")
    today = datetime.now(UTC).date() - timedelta(days=30)
    data = result(MODEL, date=(datetime.now(UTC) - timedelta(days=2)).timestamp())
    entry = row(source, "a.json", Judge(declared, today), data)
    assert ([one.rule for one in entry.warnings], entry.evidence[0].date) == (["future-date"], "")
    assert entry.facts is not None
    assert entry.facts.today == str(today)
    put(tmp_path, entry, TINY)

    assert [one.outcome for one in verify(tmp_path)] == ["follows"]


@pytest.mark.parametrize("field", ["today", "until"])
def test_a_day_that_is_none_stops_one_row_alone(tmp_path: Path, source: Folder, field: str) -> None:
    declaration = TINY.replace("[[tasks]]", PINNED, 1)
    entry = all_facts(source, parse_leaderboard(declaration, "tiny", "tiny.toml"))
    board = put(tmp_path, entry, declaration)
    whole = json.loads(entry.to_bytes())
    del whole["facts"]["today"]
    (whole["facts"] if field == "today" else whole["waivers"][0])[field] = "31 June"
    board.push({entry.path: json.dumps(whole).encode()})

    [found] = verify(tmp_path)
    assert (found.outcome, found.why) == ("untraceable", "a date or a waiver of the row is malformed")


@pytest.mark.parametrize("field", ["today", "date"])
def test_no_row_is_of_a_day_to_come(tmp_path: Path, source: Folder, field: str) -> None:
    """Under a day to come no file has a future date, and a row with one stays the newest."""
    declaration = TINY.replace("[[tasks]]", PINNED, 1)
    entry = all_facts(source, parse_leaderboard(declaration, "tiny", "tiny.toml"))
    board = put(tmp_path, entry, declaration)
    whole = json.loads(entry.to_bytes())
    (whole["facts"] if field == "today" else whole["evidence"][0])[field] = "9999-12-31"
    board.push({entry.path: json.dumps(whole).encode()})

    [found] = verify(tmp_path)
    assert (found.outcome, found.why) == ("untraceable", "the row names a day that is to come: 9999-12-31")


def test_what_only_the_row_tells_of_is_said(tmp_path: Path, source: Folder) -> None:
    """Whoever writes a row may write a waiver into it, and another model for the name in its file."""
    declaration = TINY.replace("[[tasks]]", PINNED, 1)
    entry = all_facts(source, parse_leaderboard(declaration, "tiny", "tiny.toml"))
    put(tmp_path, entry, declaration)

    [found] = verify(tmp_path)
    assert found.follows
    for one in entry.waivers:
        assert f"that ann waived {one.rule} until {one.until} is the row's own word" in found.notice
    assert f"that ./x is {MODEL}@{revision_of(MODEL)} is the row's own word" in found.notice
    assert entry.facts is not None
    assert f"that it was judged on {entry.facts.today} is the row's own word" in found.notice


def test_a_waiver_that_the_declaration_has_is_not_the_rows_own_word(tmp_path: Path, source: Folder) -> None:
    waivers = "".join(
        f'[[waivers]]\nrule = "{rule}"\nsubmission = "*"\nreason = "so"\nwho = "ann"\nuntil = 2099-01-01\n'
        for rule in ("limited-run", "wrong-sample-count")
    )
    declaration = TINY + waivers
    declared = parse_leaderboard(declaration, "tiny", "tiny.toml")
    entry = row(source, "a.json", Judge(declared, datetime.now(UTC).date()), result(MODEL, **LIMITED))
    assert entry.waivers
    put(tmp_path, entry, declaration)

    assert [(one.outcome, one.notice) for one in verify(tmp_path)] == [("follows", "")]


def test_a_row_of_an_easier_declaration_is_told(tmp_path: Path, source: Folder) -> None:
    """Whoever writes rows may keep a declaration for one of them under which it is better."""
    easier = TINY.replace('"1/4"', '"1/20"')
    texts = (TINY, TINY, easier)
    entries = []
    for number, text in enumerate(texts):
        judge = Judge(parse_leaderboard(text, "tiny", "tiny.toml"), datetime.now(UTC).date())
        entries.append(row(source, f"{number}.json", judge, result(f"acme/m-{number}")))
        board = put(tmp_path, entries[-1], text)

    found = {one.key: one for one in verify(tmp_path)}
    assert [found[one.key].outcome for one in entries] == ["follows"] * 3
    told = [found[one.key].notice for one in entries]
    kept = declaration_path(entries[2].leaderboard.digest)
    assert told == ["", "", f"its declaration of tiny is not the board's, which gives another row: {kept}"]
    shown = bot("board", board.path)
    assert f"1 row of another declaration, such as {entries[2].key}" in " ".join(shown[1].split())
