"""Evidence that somebody edited, removed or rewrote at its source, in a folder, on the Hub and on GitHub."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from bot.platforms.platform import Access, Opener
from bot.publishing.entry import Evidence
from bot.service.checks.verify import VerifiedRow, Verifier
from bot.service.checks.verify_evidence import EvidenceReader, Unfounded
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.command import completed
from tests.evaluation.judging import dumps
from tests.evaluation.test_mteb import ARABIC, task
from tests.platforms.git.test_source import Folder
from tests.service.passes import settle
from tests.variants import one_of
from tests.world.git import Repository
from tests.world.github_server import GitHubServer, local_github
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result
from tests.world.server import served

SETTINGS = """
[[watches]]
name = "w"
leaderboard = "tiny.toml"
source = "{source}"
[[watches.targets]]
to = "board"
as = "commit"
"""
FILE = path_of()
EDITED = result(right=(51, 50, 75))


class FolderSource:
    """A git repository of this machine."""

    name = "results"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "results"
        self.push({"README.md": b"Results\n"})
        self.push({FILE: result()})

    def push(self, files: dict[str, bytes | None]) -> None:
        Folder(self.folder).push(files)

    def take_back(self) -> None:
        """Leave the last commit to another branch."""
        Folder(self.folder).git("branch", "other")
        Folder(self.folder).git("reset", "-q", "--hard", "HEAD~1")

    def rewrite(self, data: bytes | None) -> None:
        """Put a new history in the place of the old one, which nobody has any more."""
        rmtree(self.folder)
        self.push({"README.md": b"Results\n"} | ({FILE: data} if data else {}))

    def delete(self) -> None:
        rmtree(self.folder)


@dataclass
class HubSource:
    """A dataset."""

    hub: Hub
    repository: Repository
    name: str = "hf://datasets/acme/results"

    def push(self, files: dict[str, bytes | None]) -> None:
        self.hub.push(self.repository, files)

    def take_back(self) -> None:
        """Leave the last commit to a request, as if it was never merged."""
        refs = self.repository.refs
        refs["refs/pr/1"], before = self.repository.main, self.repository.main.parent
        assert before is not None
        refs["refs/heads/main"] = before

    def rewrite(self, data: bytes | None) -> None:
        self.push({FILE: data or b"{}"})
        self.repository.squash([] if data else [FILE])

    def delete(self) -> None:
        self.hub.delete(self.repository)


@dataclass
class GitHubSource:
    """A repository on GitHub."""

    server: GitHubServer
    name: str = "github://acme/results"

    def push(self, files: dict[str, bytes | None]) -> None:
        self.server.state.repos["acme/results"].git.push("heads/main", files)

    def take_back(self) -> None:
        """Leave the last commit to a fork, as if it was never merged."""
        git = self.server.state.repos["acme/results"].git
        [git.refs["heads/main"]] = git.commits[git.refs["heads/main"]].parents

    def rewrite(self, data: bytes | None) -> None:
        git = self.server.state.repos["acme/results"].git
        git.commits.clear()
        git.refs.clear()
        self.push({"README.md": b"Results\n"} | ({FILE: data} if data else {}))

    def delete(self) -> None:
        del self.server.state.repos["acme/results"]


Source = FolderSource | HubSource | GitHubSource


@dataclass
class Published:
    """A board of one row, and the source of its evidence."""

    folder: Path
    access: Access
    source: Source

    def verify(self) -> VerifiedRow:
        opener = Opener(self.access, self.folder)
        [row] = Verifier(opener.target("board"), opener, sources=[self.folder]).verify()
        return row


@pytest.fixture(params=one_of(["hub", "folder", "github"]))
def published(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Published]:
    with ExitStack() as stack:
        made, access = _source(request.param, tmp_path, stack)
        (tmp_path / "tiny.toml").write_text(TINY)
        store = Store(connect(f"sqlite:///{tmp_path / 'bot.db'}"))
        [watch] = parse_settings(SETTINGS.format(source=made.name), "bot.toml").watches
        settle(ContextFactory(access, store, tmp_path).open_context(watch))
        store.close()
        yield Published(tmp_path, access, made)


def _source(kind: str, folder: Path, stack: ExitStack) -> tuple[Source, Access]:
    if kind == "folder":
        return FolderSource(folder), Access()
    if kind == "hub":
        hub = stack.enter_context(served(Hub()))
        repository = hub.repository("acme/results")
        hub.push(repository, {FILE: result(), "README.md": b"Results\n"})
        return HubSource(hub, repository), Access(hf_endpoint=hub.url, hf_token=hub.person("bot"))
    server = stack.enter_context(local_github())
    server.state.add_account("bot-token", "leaderboard-bot")
    server.state.add_repo("acme/results", {"README.md": b"Results\n"})
    made = GitHubSource(server)
    made.push({FILE: result()})
    return made, Access("bot-token", server.url)


def test_a_row_whose_evidence_nobody_touched_follows_without_a_notice(published: Published) -> None:
    published.source.push({"README.md": b"More\n"})

    row = published.verify()
    assert (row.outcome, row.why, row.notice) == ("follows", "", "")


def test_evidence_that_a_later_commit_edits_is_named(published: Published) -> None:
    published.source.push({FILE: EDITED})

    row = published.verify()
    assert row.outcome == "follows"  # at the commit that the row names it is what it was
    assert row.notice.startswith(f"{FILE} was edited by ")
    assert row.notice.endswith(f" of {published.source.name}")


def test_evidence_that_a_later_commit_removes_is_named(published: Published) -> None:
    published.source.push({FILE: None})

    row = published.verify()
    assert row.outcome == "follows"
    assert row.notice.startswith(f"{FILE} was removed by ")


def test_evidence_at_a_commit_that_was_never_merged_cannot_be_traced(published: Published) -> None:
    """Services give the commits of requests and forks under the name of the repository that they are proposed to."""
    published.source.take_back()

    row = published.verify()
    assert row.outcome == "untraceable"
    assert f"of {published.source.name} is not in the history of its main branch" in row.why


def test_evidence_of_a_rewritten_history_is_gone(published: Published) -> None:
    published.source.rewrite(EDITED)

    row = published.verify()
    assert row.outcome == "gone"
    assert row.why.startswith(f"{FILE} is gone from {published.source.name} at ")


def test_evidence_of_a_deleted_repository_is_gone(published: Published) -> None:
    published.source.delete()

    row = published.verify()
    is_folder = isinstance(published.source, FolderSource)  # it may lie elsewhere on the machine
    assert row.outcome == ("untraceable" if is_folder else "gone")
    assert is_folder or row.why.lower().count("not found") == 1  # the repository is, and not the file alone


def test_evidence_that_names_another_commit_with_other_bytes_is_found(published: Published) -> None:
    """What somebody does who edits the file, and lets the row point to the new commit."""
    published.source.push({FILE: EDITED})
    opener = Opener(published.access, published.folder)
    head = opener.source(published.source.name).head()
    [path] = (published.folder / "board" / "entries").rglob("*.json")
    whole = json.loads(path.read_text())
    whole["evidence"][0]["commit"] = head
    path.write_text(json.dumps(whole))
    Folder(published.folder / "board").push({})

    row = published.verify()
    assert row.outcome == "evidence"
    assert row.why == f"{FILE} at {head[:12]} is not the file that the row names: its SHA-256 differs"


@pytest.mark.slow
@pytest.mark.parametrize("commit", ["", "main", "HEAD", "HEAD~0", "short"])
def test_evidence_at_a_branch_or_a_part_of_a_commit_cannot_be_traced(published: Published, commit: str) -> None:
    """A branch has other bytes tomorrow, and an entry that names one proves nothing."""
    [path] = (published.folder / "board" / "entries").rglob("*.json")
    whole = json.loads(path.read_text())
    file = whole["evidence"][0]
    file["commit"] = file["commit"][:12] if commit == "short" else commit
    path.write_text(json.dumps(whole))
    Folder(published.folder / "board").push({})

    row = published.verify()
    assert row.outcome == "untraceable"
    assert "names no whole commit id" in row.why


def renamed(place: Path, **fields: str) -> None:
    """Change what the row of a board says of its evidence, as whoever writes the board can."""
    [path] = (place / "board" / "entries").rglob("*.json")
    whole = json.loads(path.read_text())
    whole["evidence"][0] |= fields
    path.write_text(json.dumps(whole))
    Folder(place / "board").push({})


def verified(place: Path, *sources: Path) -> VerifiedRow:
    opener = Opener(Access())
    [row] = Verifier(opener.target(str(place / "board")), opener, sources=sources).verify()
    return row


@pytest.mark.parametrize(
    ("data", "folder", "args"),
    one_of(
        [
            (result("/scratch/atlas"), "runs/a/step-100", ("--model-name", "runs/*/step-*/=acme/{1}@step-{2}")),
            (dumps(task("T", {"test": [ARABIC]})), f"acme__atlas/{'0f' * 20}", ()),
        ]
    ),
)
def test_a_model_that_only_a_path_of_the_publisher_names_is_recorded_with_the_path_of_the_evidence(
    data: bytes, folder: str, args: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / folder / "results.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    (tmp_path / "b.toml").write_text(completed("leaderboards", "draft", folder, cwd=tmp_path).stdout)
    published = completed("publish", folder, "-l", "b.toml", "--to", "./board", "--as", "commit", *args, cwd=tmp_path)
    assert published.returncode == 0, published.stderr
    assert verified(tmp_path, file.parent.parent).outcome == "follows"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "tiny.toml").write_text(TINY)
    source = FolderSource(folder)
    store = Store(connect(f"sqlite:///{folder / 'bot.db'}"))
    [watch] = parse_settings(SETTINGS.format(source=source.name), "bot.toml").watches
    settle(ContextFactory(Access(), store, folder).open_context(watch))
    store.close()
    return folder


@pytest.fixture
def local(made: Path, tmp_path: Path) -> Path:
    return copytree(made, tmp_path, dirs_exist_ok=True)


def test_no_folder_is_read_that_the_caller_does_not_name(local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(local)
    for source in (
        "results",
        str(local / "results"),
        f"file://{local}/results",
        "ext::sh -c touch% canary",
        "",
        "..",
        "x" * 5_000,
    ):
        renamed(local, source=source)
        row = verified(local)
        assert row.outcome == "untraceable"
        assert "--sources DIR" in row.why
        assert verified(local, local / "board").outcome == "untraceable"

    assert not (local / "canary").exists()


def test_a_row_of_very_many_sources_asks_none_of_them(local: Path) -> None:
    """Each spelling of one repository was asked for anew: a row could use up all requests that an account has."""
    [path] = (local / "board" / "entries").rglob("*.json")
    whole = json.loads(path.read_text())
    [file] = whole["evidence"]
    spellings = ["".join(letters) for letters in product(*zip("results", "RESULTS", strict=True))]
    whole["evidence"] = [file | {"source": f"github://acme/{one}"} for one in spellings[:100]]
    path.write_text(json.dumps(whole))
    Folder(local / "board").push({})
    with local_github() as server:
        server.state.add_account("bot-token", "leaderboard-bot")
        server.state.add_repo("acme/results", {FILE: result()})
        opener = Opener(Access("bot-token", server.url))
        [row] = Verifier(opener.target(str(local / "board")), opener).verify()
        assert (row.outcome, row.why) == ("untraceable", "it names files of 100 sources; those of 20 are read")
        assert server.state.requests == []


def test_a_named_folder_holds_the_source_or_is_it(local: Path) -> None:
    assert verified(local, local).outcome == "follows"
    assert verified(local, local / "results").outcome == "follows"
    assert verified(local, local / "board").outcome == "untraceable"
    assert verified(local, local / "board", local / "results").outcome == "follows"


def test_a_file_of_a_plain_folder_is_found_by_path_and_sha_256(local: Path) -> None:
    plain = local / "plain" / FILE
    plain.parent.mkdir(parents=True)
    plain.write_bytes(result())
    renamed(local, source="", commit="")

    other = local / "plain" / "other" / FILE
    other.parent.mkdir(parents=True)
    other.write_bytes(EDITED)
    assert verified(local, local / "plain").outcome == "follows"
    assert verified(local, local).outcome == "follows"  # where it lies below does not matter
    plain.write_bytes(EDITED)
    assert verified(local, local / "plain").outcome == "evidence"
    beside = verified(local, local / "board")
    assert beside.outcome == "untraceable"
    first = FILE.partition("/")[0]
    assert beside.why.startswith(
        f"there is no {FILE} of a machine in {local / 'board'}: name with --sources the folder "
    )
    assert beside.why.endswith(f"in which {first} lies")


def test_a_row_that_names_a_whole_path_stops_no_other(local: Path) -> None:
    place = local / "named" / "x"
    place.mkdir(parents=True)
    (place / "results.json").write_bytes(result())
    renamed(local, source="", commit="", path=str(place / "results.json"))
    assert verified(local, place).outcome == verified(local, Path("/dev")).outcome == "untraceable"


def test_files_of_one_name_are_read_once_for_all_rows_that_name_it(tmp_path: Path) -> None:
    """Whoever wrote a hundred rows of `results.json` had every file of that name read a hundred times."""
    for number in range(3):
        (tmp_path / f"m{number}").mkdir()
        (tmp_path / f"m{number}" / "results.json").write_bytes(result(date=1_790_000_000.0 + number))
    reader = EvidenceReader(Opener(Access()), [tmp_path])
    opened: list[str] = []
    is_on = [True]  # a hook stays as long as the process

    def note(event: str, args: tuple[object, ...]) -> None:
        if is_on and event == "open" and str(args[0]).startswith(str(tmp_path)):
            opened.append(str(args[0]))

    sys.addaudithook(note)
    counts = []
    for number in range(5):
        with pytest.raises(Unfounded):
            reader.read(Evidence("", "results.json", sha256=f"{number:064x}"))
        counts.append(len(opened))
    is_on.clear()
    assert counts[0]
    assert set(counts) == {counts[0]}


@pytest.mark.parametrize("path", one_of([f"../outside/{FILE}", f"linked/{FILE}", f"./../../outside/{FILE}"]))
def test_nothing_outside_of_a_named_folder_is_read(local: Path, path: str) -> None:
    outside, named = local / "outside" / FILE, local / "named"
    outside.parent.mkdir(parents=True)
    outside.write_bytes(result())
    named.mkdir()
    (named / "linked").symlink_to(local / "outside")
    for fields in ({"path": path}, {"source": path.removesuffix(f"/{FILE}"), "path": FILE}):
        renamed(local, commit="", **fields)
        assert verified(local, named).outcome == "untraceable"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["file", "link", "alternates", "quoted", "objects", "circle"])
def test_a_repository_that_leads_out_of_a_named_folder_is_not_opened(local: Path, how: str) -> None:
    named, real = local / "named" / "results", local / "results" / ".git"
    if how == "file":
        named.mkdir(parents=True)
        (named / ".git").write_text(f"gitdir: {real}\n")
    elif how == "link":
        named.mkdir(parents=True)
        (named / ".git").symlink_to(real)
    else:
        Folder(local / "named").git("clone", "--quiet", "--shared", str(local / "results"), "results")
        if how == "objects":
            rmtree(named / ".git" / "objects")
            (named / ".git" / "objects").symlink_to(real / "objects")
        elif how == "circle":  # it ended the command, for all rows, in an internal error
            (named / ".git" / "objects" / "circle").symlink_to("circle")
            (named / ".git" / "objects" / "info" / "alternates").unlink()
        elif how == "quoted":  # as git reads it, the name between the quotation marks
            (named / ".git" / "objects" / "info" / "alternates").write_text(f'"{real}/objects"\n')
        (named / FILE).unlink()

    assert verified(local, local / "named").outcome == "untraceable"
    assert verified(local, local).outcome == "follows"
