"""Many rows verified at once: sources are asked in bulk, without a token, and the outcome is that of one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from bot.evaluation.leaderboard import parse_leaderboard
from bot.platforms.git.source import GitSource
from bot.platforms.platform import Access, Opener
from bot.publishing.entry import declaration_path
from bot.service.checks.verify import VerifiedRow, Verifier
from bot.service.checks.verify_evidence import MOST_HISTORIES
from tests.evaluation.judging import entry_from
from tests.platforms.git.test_source import Folder
from tests.variants import one_of
from tests.world.git import Repository
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

ROWS = 60
SOURCE = "hf://datasets/acme/results"
BOARD = parse_leaderboard(TINY, "tiny", "tiny.toml")


def model_of(number: int) -> str:
    return f"acme/model-{number}"


def evidence_of(number: int) -> str:
    return path_of(model_of(number))


@pytest.fixture
def source(hub: Hub) -> Repository:
    """A source with a commit for each result, and a board with a row for each."""
    made = hub.repository("acme/results")
    rows: dict[str, bytes | None] = {declaration_path(BOARD.digest): TINY.encode()}
    for number in range(ROWS):
        data, path = result(model_of(number)), evidence_of(number)
        entry = entry_from(data, BOARD, path, source=SOURCE, commit=hub.push(made, {path: data}).oid)
        rows[entry.path] = entry.to_bytes()
    hub.push(hub.repository("acme/contents"), rows)
    hub.calls.clear()
    return made


def board_of(hub: Hub) -> Repository:
    return hub.repositories["dataset", "acme/contents"]


def verify(hub: Hub, folder: Path, *names: str) -> list[VerifiedRow]:
    opener = Opener(Access(hf_endpoint=hub.url, cache=folder / "cache"))
    return list(Verifier(opener.target("hf://datasets/acme/contents"), opener).verify(names))


def test_rows_with_commits_of_their_own_cost_few_requests_and_no_token(
    hub: Hub, source: Repository, tmp_path: Path
) -> None:
    found = verify(hub, tmp_path)

    assert ([row.outcome for row in found], {row.notice for row in found}) == (["follows"] * ROWS, {""})
    assert len(hub.calls) <= 15
    assert not any("authorization" in map(str.lower, call.headers) for call in hub.calls)


def test_few_rows_bring_no_history(hub: Hub, source: Repository, tmp_path: Path) -> None:
    [row] = verify(hub, tmp_path, model_of(7))

    assert row.follows
    assert not [call for call in hub.calls if "results.git" in call.raw_path or "results/info/refs" in call.raw_path]


def edit(hub: Hub, row: str, **changes: str) -> None:
    """What somebody writes into the evidence of a row."""
    contents = board_of(hub)
    whole = json.loads(hub.file(contents, row) or b"")
    whole["evidence"][0] |= changes
    hub.push(contents, {row: json.dumps(whole).encode()})


def test_what_happened_to_the_evidence_is_told_with_git_and_without_it(
    hub: Hub, source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [path for path, _ in board_of(hub).main.tree.files() if path.startswith("entries/")]
    hub.push(source, {evidence_of(1): result(model_of(1), right=(1, 2, 3)), evidence_of(2): None})
    hub.push(source, {evidence_of(3): b"no result", evidence_of(4): result(model_of(4)) + b"\n"})
    hub.push(source, {evidence_of(4): result(model_of(4))})
    edit(hub, paths[30], sha256="0" * 64)
    edit(hub, paths[31], commit="d" * 40)
    edit(hub, paths[32], path="none.json")
    edit(hub, paths[33], commit="")
    edit(hub, paths[34], source="hf://datasets/acme/none")
    edit(hub, paths[35], commit=source.main.oid)

    by_git = verify(hub, tmp_path)
    assert len(hub.calls) < 2 * ROWS
    monkeypatch.setenv("PATH", str(tmp_path))
    one_by_one = verify(hub, tmp_path)

    assert by_git == one_by_one
    assert sorted(row.outcome for row in by_git if not row.follows) == [
        "evidence", "gone", "gone", "gone", "untraceable",
    ]  # fmt: skip
    notices = sorted(row.notice.partition(" by ")[0] for row in by_git if row.notice)
    assert notices == [f"{evidence_of(n)} was {what}" for n, what in ((1, "edited"), (2, "removed"), (3, "edited"))]


@pytest.mark.slow
def test_a_large_file_that_git_has_a_pointer_of_is_read_from_the_hub(
    hub: Hub, source: Repository, tmp_path: Path
) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 3\n" % (b"1" * 64)
    hub.push(source, {evidence_of(1): pointer})
    before = len(hub.calls)
    found = verify(hub, tmp_path)

    assert [row.outcome for row in found] == ["follows"] * ROWS  # each at its own commit
    assert [row.notice for row in found if row.notice] == [
        f"{evidence_of(1)} was edited by {source.main.oid[:12]} of {SOURCE}"
    ]
    assert [call for call in hub.calls[before:] if "/resolve/" in call.raw_path and evidence_of(1) in call.raw_path]


@pytest.mark.parametrize("seed", one_of(range(3)))
def test_a_history_that_is_read_once_gives_the_same_commits_as_one_question_after_the_other(
    tmp_path: Path, seed: int
) -> None:
    dice, folder, commits = random.Random(seed), Folder(tmp_path / "results"), list[str]()
    names = [f"d{n % 3}/f{n}.json" for n in range(8)]
    for number in range(12):
        files: dict[str, bytes | None] = {"README.md": b"%d" % number}
        for name in dice.sample(names, 2):
            is_gone = (folder.path / name).exists() and dice.random() < 0.4
            files[name] = None if is_gone else b"%d" % number
        commits.append(folder.push(files))
    many = GitSource(tmp_path / "results")

    for _ in range(20):
        paths, commit = dice.sample(names, dice.randrange(1, 4)), dice.choice(commits)
        assert many.touched(paths, commit) == GitSource(tmp_path / "results").touched(paths, commit)


def test_a_board_that_names_many_sources_brings_few_histories(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wrote the board could name any number of large repositories."""
    monkeypatch.setattr("bot.service.checks.verify_evidence.FILES_ONE_BY_ONE", 1)
    rows: dict[str, bytes | None] = {declaration_path(BOARD.digest): TINY.encode()}
    for number in range(12):
        data, path, name = result(model_of(number)), evidence_of(number), f"acme/results-{number % 6}"
        made = hub.repositories.get(("dataset", name)) or hub.repository(name)
        commit = hub.push(made, {path: data}).oid
        entry = entry_from(data, BOARD, path, source=f"hf://datasets/{name}", commit=commit)
        rows[entry.path] = entry.to_bytes()
    hub.push(hub.repository("acme/contents"), rows)
    hub.calls.clear()

    assert [row.outcome for row in verify(hub, tmp_path)] == ["follows"] * 12
    fetched = {call.raw_path for call in hub.calls if call.raw_path.endswith("/git-upload-pack")}
    assert len([path for path in fetched if "results-" in path]) == MOST_HISTORIES
