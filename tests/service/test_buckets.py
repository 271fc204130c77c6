"""A bucket as a source: polled, compared by its listings, and what makes a row is kept at the target."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.errors import MalformedDeclaration
from bot.platforms.platform import Access
from bot.publishing.entry import parse_entry
from bot.service.checks.diagnosis import ServiceCase
from bot.service.checks.doctor import examine
from bot.service.checks.verify import VerifiedRow, Verifier
from bot.service.context import watched_by
from bot.service.settings.config import load_settings, parse_settings
from bot.service.watch.outcome import Outcome
from tests.command import bot
from tests.evaluation.test_helm import folder, run
from tests.platforms.git.test_source import Folder
from tests.platforms.github.fixtures import BOARD, github
from tests.service.passes import settle
from tests.service.stories import STATES, Story, settings_of
from tests.service.test_run_folders import DECLARED as HELM
from tests.service.test_run_folders import RUN
from tests.service.test_samples import DECLARED as WITH_SAMPLES
from tests.service.test_samples import logs
from tests.variants import one_of
from tests.world.github_server import GitHubServer
from tests.world.hub import Hub
from tests.world.results import path_of, result

__all__ = ["github"]

MODEL, OTHER = "acme/atlas-7b", "acme/borea-1b"
BUCKET, CONTENTS = "hf://buckets/acme/logs", "hf://datasets/acme/contents"
RECORDS = """kind = "table"
[watches.targets.table]
path = "board.csv"
records = true
key = ["Model"]
columns = { Model = "model.id", Average = { value = "average", decimals = 2 } }
"""


@dataclass
class BucketStory(Story):
    """A watch whose source is a bucket; `to` is its target, with `lines` of its own."""

    to: str = CONTENTS
    lines: str = ""

    @property
    def text(self) -> str:
        more = f'pull_requests = "{self.style}"\n{self.more}'
        return settings_of(BUCKET, self.to, self.form, self.lines, more).replace('"meg"', '"hf:meg"')

    def upload(self, files: dict[str, bytes | None]) -> None:
        self.hub.upload(self.hub.bucket("acme/logs"), files)

    def put(self, model: str = MODEL, **how: Any) -> bytes:
        """Upload one result; gives its bytes."""
        data = result(model, **how)
        self.upload({path_of(model): data})
        return data

    def files(self, revision: str = "main") -> dict[str, bytes]:
        """The files of rows at the target on the Hub, and those that are kept for them."""
        commit = self.target.resolve(revision)
        assert commit is not None
        found = {path: blob.data for path, blob in commit.tree.files()}
        return {path: data for path, data in found.items() if path.startswith(("entries/", "evidence/"))}

    def merge_all(self) -> None:
        for request in self.requests:
            self.hub.merge(self.target, request)
        self.settle()

    def verified(self) -> list[VerifiedRow]:
        opener = self.contexts.opener
        return list(Verifier(opener.target(self.to), opener).verify())

    def downloads(self) -> int:
        return sum(call.raw_path.startswith("/buckets/") for call in self.hub.calls)


def kept(data: bytes) -> str:
    return f"evidence/{hashlib.sha256(data).hexdigest()}"


def failures(outcomes: list[Outcome]) -> list[str]:
    return [one.text for one in outcomes if one.outcome == "failed"]


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> BucketStory:
    return BucketStory(hub, tmp_path)


def test_a_row_comes_with_its_file(story: BucketStory) -> None:
    data = story.put()
    story.settle()
    [request] = story.requests
    files = story.files(request.ref)
    assert files[kept(data)] == data
    [entry] = [parse_entry(data) for path, data in files.items() if path.startswith("entries/")]
    [file] = entry.evidence
    assert (file.source, file.path, file.commit) == (BUCKET, path_of(MODEL), "")
    assert file.kept == {path_of(MODEL): hashlib.sha256(data).hexdigest()}
    assert f"explain {BUCKET}/{path_of(MODEL)}" in request.description
    story.news()
    story.end()


@pytest.mark.slow
@STATES
@pytest.mark.parametrize("form", ["pull-request", "commit"])
@pytest.mark.parametrize("lines", ["", RECORDS], ids=["entries", "records"])
def test_changes_follow_the_listings(hub: Hub, tmp_path: Path, form: str, lines: str, *, is_lost: bool) -> None:
    story = BucketStory(hub, tmp_path, form=form, lines=lines)
    hub.push(story.target, {"board.csv": b"Model,Average\nolympus/zeus,90.10\n"})
    first = story.put()
    story.put(OTHER)

    def step() -> None:
        if is_lost:
            story.lose_state()
        story.settle()
        story.merge_all()

    step()
    assert len(story.files()) == 4
    read = story.downloads()
    story.settle()
    assert story.downloads() == read  # nothing changed, and nothing is read
    second = story.put(right=(70, 60, 70))
    step()
    assert kept(second) in story.files()
    assert kept(first) in story.files()  # for whoever looks at an older commit, or takes the change back
    assert {row.outcome for row in story.verified()} == {"follows"}
    story.upload({path_of(): None})
    step()
    if not lines:  # a table keeps the row of a file that is gone, and so its record, unless the state knows the row
        assert len([path for path in story.files() if path.startswith("entries/")]) == 1
    story.news()
    story.end()


@pytest.mark.parametrize("style", ["entry", "rolling"])
def test_a_lost_state_changes_nothing(hub: Hub, tmp_path: Path, style: str) -> None:
    story = BucketStory(hub, tmp_path, style=style)
    story.put()
    story.settle()
    story.merge_all()
    story.put(OTHER)
    story.put("acme/cirrus-1b")
    story.settle()
    before = {ref: commit.oid for ref, commit in story.target.refs.items()}
    story.news()
    story.lose_state()
    story.settle()
    assert {ref: commit.oid for ref, commit in story.target.refs.items()} == before
    story.end()


def test_two_rows_of_one_file_keep_it_once(hub: Hub, tmp_path: Path) -> None:
    """Two checkpoints whose folders name them have the same bytes."""
    more = 'identity = [{path = "runs/*/", id = "acme/{1}", revision = "step-1"}]'
    story = BucketStory(hub, tmp_path, style="rolling", more=more)
    config = {"model": "hf", "model_args": "pretrained=/scratch/m,dtype=bfloat16", "model_sha": ""}
    data = result("/scratch/m", config=config)
    story.upload({"runs/one/results.json": data, "runs/two/results.json": data})
    story.settle()
    [request] = story.requests
    files = story.files(request.ref)
    assert sorted(path.split("/")[0] for path in files) == ["entries", "entries", "evidence"]
    story.merge_all()
    assert {row.outcome for row in story.verified()} == {"follows"}
    story.upload({"runs/two/results.json": None})
    story.settle()
    story.merge_all()
    assert kept(data) in story.files()
    assert [row.outcome for row in story.verified()] == ["follows"]
    story.news()
    story.end()


def test_other_rows_of_a_request_do_not_need_the_bucket_again(hub: Hub, tmp_path: Path) -> None:
    """A file that is overwritten all the time holds up its own row alone, also in a request for all."""
    story = BucketStory(hub, tmp_path, style="rolling")
    story.put()
    story.settle()
    story.lose_state()
    story.put(OTHER)
    story.hub.bucket("acme/logs").files[path_of(MODEL)] = (result(right=(1, 1, 1)), story.hub.clock())
    story.hub.faults.order(f"/resolve/{path_of(MODEL)}", status=500, times=-1)
    story.settle()
    [request] = story.requests
    assert len([path for path in story.files(request.ref) if path.startswith("entries/")]) == 2
    story.contexts.store.close()


@pytest.mark.slow
def test_a_request_of_many_commits_has_no_row_without_its_file(hub: Hub, tmp_path: Path) -> None:
    """Sixty rows and their files are two commits, and the second one fails."""
    story = BucketStory(hub, tmp_path, style="rolling")
    files = {path_of(model): result(model) for model in (f"acme/m-{n}" for n in range(60))}
    story.upload(dict(files))
    hub.faults.order("/commit/", before=lambda: hub.faults.order("/commit/", status=403, times=-1))
    assert failures(story.settle())
    hub.faults.ordered.clear()

    def rows() -> int:
        [request] = story.requests
        there = story.files(request.ref)
        entries = [parse_entry(data) for path, data in there.items() if path.startswith("entries/")]
        assert all(f"evidence/{file.sha256}" in there for entry in entries for file in entry.evidence)
        return len(entries)

    assert 0 < rows() < len(files)
    story.settle()
    assert rows() == len(files)
    story.news()
    story.end()


def test_a_kept_file_outlives_its_overwriting(story: BucketStory) -> None:
    data = story.put()
    story.settle()
    story.merge_all()
    story.upload({path_of(): b"{}"})
    [row] = story.verified()
    assert row.outcome == "follows", row
    assert f"that it lay in {BUCKET} is the row's own word" in row.notice
    env = {"HF_ENDPOINT": story.hub.url, "PATH": "/usr/bin:/bin"}
    declared = str(story.folder / "tiny.toml")
    status, said, err = bot("explain", f"{CONTENTS}/{kept(data)}", "--leaderboard", declared, env=env)
    assert (status, "58.33" in said) == (0, True), err
    story.hub.push(story.target, {kept(data): data.replace(b"0.5,", b"0.9,")}, "Forge")
    [row] = story.verified()
    assert (row.outcome, "its SHA-256 differs" in row.why) == ("evidence", True)
    story.hub.push(story.target, {kept(data): None}, "Remove")
    [row] = story.verified()
    assert (row.outcome, kept(data) in row.why) == ("gone", True)
    story.contexts.store.close()


def test_a_file_that_changes_while_it_is_read_makes_no_row(story: BucketStory) -> None:
    story.put()
    newer = result(right=(90, 90, 90))
    story.hub.faults.order(r"/resolve/", before=lambda: story.upload({path_of(): newer}))
    [failed] = failures(story.settle())
    assert "was changed after it was listed" in failed
    story.settle()
    [request] = story.requests
    assert story.files(request.ref)[kept(newer)] == newer
    story.news()
    story.end()


def test_a_file_that_changes_before_its_row_is_written_is_read_again(story: BucketStory) -> None:
    newer = story.put(right=(90, 90, 90))

    def overwrite() -> None:
        story.contexts.opener.service_cache.blobs.clear()  # as in a process that did not read it itself
        story.upload({path_of(): result(right=(91, 91, 91))})

    story.hub.faults.order(r"/contents/paths-info/", before=overwrite)
    assert "was changed since the row was made of it" in failures(story.settle())[0]
    assert story.requests == []
    story.settle()
    [request] = story.requests
    rows = [json.loads(data) for path, data in story.files(request.ref).items() if path.startswith("entries/")]
    assert [row["tasks"][1]["raw"] for row in rows] == [0.91]
    assert kept(newer) not in story.files(request.ref)
    story.news()
    story.end()


def test_a_file_above_the_limit_makes_no_row_and_says_why(story: BucketStory) -> None:
    story.upload({path_of(): result(notes="x" * 600_000), path_of(OTHER): result(OTHER)})
    said = [one.text for one in story.settle() if one.outcome == "rejected"]
    assert said[0].startswith(f"{path_of()} has ")
    assert "at most 512 KB are kept beside a row: push it to a repository" in said[0]
    assert len(story.requests) == 1
    story.news()
    story.end()


def test_hostile_names_and_contents_stop_no_other_row(story: BucketStory) -> None:
    data = story.put()
    names = ["../up.json", "a//b.json", "x/../../y.json", "n\u2028ew.json", "<script>.json", "a" * 1100 + ".json"]
    story.upload({**dict.fromkeys(names, data), "results_odd.json": b"\xff\xfe{", "results_0.json": b""})
    story.settle()
    [request] = story.requests
    assert len(story.files(request.ref)) == 2
    story.news()
    story.end()


@STATES
@pytest.mark.parametrize("form", one_of(["commit", "pull-request"]))
def test_half_a_listing_withdraws_nothing(hub: Hub, tmp_path: Path, form: str, *, is_lost: bool) -> None:
    story = BucketStory(hub, tmp_path, form=form)
    story.put()
    story.put(OTHER)
    story.settle()
    story.merge_all()
    rows = story.files()
    whole = dict(story.hub.bucket("acme/logs").files)
    if is_lost:
        story.lose_state()
    lost = story.hub.bucket("acme/logs").files.pop(path_of(OTHER))

    def back() -> None:
        story.hub.bucket("acme/logs").files[path_of(OTHER)] = lost

    story.hub.faults.order("/logs/paths-info", before=back)
    said = failures(story.settle())
    assert any("lacks" in text for text in said), said
    assert (story.requests, story.files()) == ([], rows)
    assert story.hub.bucket("acme/logs").files == whole
    story.settle()
    story.news()
    story.end()


def test_an_empty_bucket_withdraws_nothing_without_a_person(story: BucketStory) -> None:
    story.put()
    story.settle()
    story.merge_all()
    story.upload({path_of(): None})
    assert "held" in [one.outcome for one in story.settle()]
    assert story.requests == []
    story.contexts.store.close()


@pytest.mark.parametrize("is_private", [True, False])
def test_a_bucket_that_cannot_be_seen_withdraws_nothing(story: BucketStory, *, is_private: bool) -> None:
    story.put()
    story.settle()
    story.merge_all()
    if is_private:
        story.hub.bucket("acme/logs").private = True
    else:
        del story.hub.buckets["acme/logs"]
    done = settle(story.contexts.open_context(story.watch))
    assert [one.status for one in done if one.outcome == "failed"] == [4]
    assert "hf://buckets/acme/logs" in next(one.text for one in done)
    assert story.requests == []
    story.contexts.store.close()


@pytest.mark.slow
def test_folder_and_github_keep_files_too(hub: Hub, tmp_path: Path) -> None:
    story = BucketStory(hub, tmp_path, to="board", form="commit")
    data = story.put()
    story.settle()
    assert (tmp_path / "board" / kept(data)).read_bytes() == data
    story.put(right=(70, 60, 70))
    story.form = "pull-request"
    story.settle()
    branch = Folder(tmp_path / "board").git("branch", "--list", "--format=%(refname:short)", "leaderboard-bot/*")
    shown = Folder(tmp_path / "board").git("ls-tree", "-r", "--name-only", branch.strip())
    assert kept(result(right=(70, 60, 70))) in shown.splitlines()
    assert [row.outcome for row in story.verified()] == ["follows"]
    story.contexts.store.close()


@pytest.mark.parametrize("style", ["entry", "rolling"])
def test_github_keeps_files_in_the_same_pull_request(
    hub: Hub, github: GitHubServer, tmp_path: Path, style: str
) -> None:
    board = github.state.repos[BOARD]
    story = BucketStory(hub, tmp_path, to=f"github://{BOARD}", style=style)
    access = Access(hf_token=story.token, hf_endpoint=hub.url, github_token="bot-token", github_api_url=github.url)
    story.contexts.opener.access = access
    data = story.put()
    story.settle()
    [pull] = board.pulls()
    assert board.git.read(github.state.head(pull), kept(data)) == data
    story.put(OTHER)
    story.contexts.opener.service_cache.blobs.clear()
    hub.faults.order(f"/resolve/{path_of()}", status=500, times=-1)  # the first row has what it needs
    story.settle()
    found = [board.git.files(github.state.head(one)) for one in board.pulls("open")]
    assert [kept(data) in files for files in found].count(True) == 1
    story.contexts.store.close()


@pytest.mark.parametrize(
    "target", ['as = "comment"', RECORDS.replace("records = true\n", "")], ids=["comment", "table"]
)
def test_a_target_that_cannot_keep_files_is_refused_in_one_line(target: str) -> None:
    form, lines = ("comment", "") if "comment" in target else ("pull-request", target)
    with pytest.raises(MalformedDeclaration, match="cannot keep its files beside the rows") as refused:
        parse_settings(settings_of(BUCKET, CONTENTS, form, lines), "bot.toml")
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.slow
def test_commands_read_a_bucket(story: BucketStory) -> None:
    story.put()
    story.put(OTHER, right=(50, 60, 170))
    env = {"HF_ENDPOINT": story.hub.url, "HF_TOKEN": story.token, "PATH": "/usr/bin:/bin"}
    declared = ["--leaderboard", str(story.folder / "tiny.toml")]
    status, said, err = bot("check", f"{BUCKET}/{path_of()}", *declared, env=env)
    assert (status, "accepted" in said) == (0, True), err
    status, said, err = bot("check", BUCKET, *declared, env=env)
    assert (status, "value-out-of-range" in said) == (1, True), err
    status, _, err = bot("check", f"{BUCKET}/nothing", *declared, env=env)
    assert (status, err) == (2, f"leaderboard-bot: {BUCKET}/nothing: there is no such file, and no file below it\n")
    status, _, err = bot("check", f"{BUCKET}@main/{path_of()}", *declared, env=env)
    assert (status, "a bucket has no commits" in err) == (2, True)
    board = story.folder / "board"
    status, _, err = bot("publish", f"{BUCKET}/{path_of()}", "--to", board, "--as", "commit", *declared, env=env)
    assert status == 0, err
    assert (board / kept(result())).read_bytes() == result()
    status, said, err = bot("verify", board, env=env)
    assert (status, "follows" in said) == (0, True), (said, err)
    status, _, err = bot("publish", f"{BUCKET}/{path_of()}", "--to", BUCKET, *declared, env=env)
    assert (status, "no rows go there" in err) == (2, True), err
    status, _, err = bot("publish", f"{BUCKET}/{path_of()}", "--to", CONTENTS, "--as", "comment", *declared, env=env)
    assert (status, "a comment cannot keep its files" in err, len(err.splitlines())) == (2, True, 1), err


@pytest.mark.slow
def test_a_board_is_filled_from_a_bucket_and_its_pages_lead_to_the_kept_files(story: BucketStory) -> None:
    data = story.put()
    env = {"HF_ENDPOINT": story.hub.url, "HF_TOKEN": story.token, "PATH": "/usr/bin:/bin"}
    env["DATABASE_URL"] = f"sqlite:///{story.folder / 'import.db'}"
    declared = ["--leaderboard", str(story.folder / "tiny.toml")]
    status, _, err = bot("import", BUCKET, "--to", CONTENTS, "--as", "commit", "--yes", *declared, env=env)
    assert status == 0, err
    assert story.files()[kept(data)] == data
    assert [row.outcome for row in story.verified()] == ["follows"]
    site = story.folder / "site"
    status, _, err = bot("site", CONTENTS, "--out", site, *declared, env=env)
    assert status == 0, err
    pages = "".join(path.read_text() for path in site.rglob("*.html"))
    assert f'href="https://huggingface.co/datasets/acme/contents/blob/main/{kept(data)}"' in pages
    commands = pages.replace("<span>", "").replace("</span>", "")
    assert f"leaderboard-bot explain {CONTENTS}/{kept(data)}" in commands


def test_sample_logs_in_a_bucket_are_read_and_not_kept(hub: Hub, tmp_path: Path) -> None:
    story = BucketStory(hub, tmp_path, form="commit")
    (tmp_path / "tiny.toml").write_text(WITH_SAMPLES)
    data = story.put()
    story.upload(dict(logs()))
    story.settle()
    assert [path for path in story.files() if path.startswith("evidence/")] == [kept(data)]
    assert [(row.outcome, row.evidence) for row in story.verified()] == [("follows", "rescored")]
    story.upload(dict(logs('"acc": 1.0')))
    [row] = story.verified()
    assert (row.outcome, "is not the sample log that the row names" in row.why) == ("evidence", True)
    story.contexts.store.close()


@pytest.mark.slow
def test_a_row_of_a_bucket_is_run_again_and_computed_without_questions(hub: Hub, tmp_path: Path) -> None:
    """With its logs while the bucket has them; from the kept file alone once it has not."""
    story = BucketStory(hub, tmp_path, form="commit")
    (tmp_path / "tiny.toml").write_text(WITH_SAMPLES)
    story.put()
    story.upload(dict(logs()))
    story.settle()
    story.contexts.store.close()
    (tmp_path / "one.txt").write_text("0")
    env = {"HF_ENDPOINT": hub.url, "HF_TOKEN": story.token, "PATH": "/usr/bin:/bin"}
    leaf = next(iter(logs())).split("samples_")[1].rpartition("_")[0]
    said = []
    for _ in range(2):
        status, text, err = bot("remeasure", "plan", MODEL, "--board", CONTENTS, "--seed", "s", cwd=tmp_path, env=env)
        assert status == 0, err
        ids = ("--without", "one.txt", "--task", leaf, "--board", CONTENTS)
        status, more, err = bot("rescore", *ids, cwd=tmp_path, env=env)
        assert status == 0, err
        said.append((text, more))
        story.upload({path_of(): None, **dict.fromkeys(logs())})

    (before, with_logs), (after, without) = said
    assert "without a sample log" not in before
    assert "1 sample left out" in with_logs
    assert "3 tasks without a sample log" in after
    assert re.search(rf"stays: the log of {leaf} does not lie beside {CONTENTS}@\w+/{kept(result())}", without)


def test_all_files_of_a_run_are_kept(hub: Hub, tmp_path: Path) -> None:
    story = BucketStory(hub, tmp_path, form="commit")
    (tmp_path / "tiny.toml").write_text(HELM)
    files = folder(run())
    story.upload(dict(files))
    story.settle()
    assert {kept(files[f"{RUN}/{name}"]) for name in ("run_spec.json", "stats.json")} <= story.files().keys()
    assert [row.outcome for row in story.verified()] == ["follows"]
    story.contexts.store.close()


def test_doctor_says_that_a_bucket_is_polled(story: BucketStory) -> None:
    story.put()
    path = story.folder / "bot.toml"
    path.write_text(story.text)
    access = Access(hf_token=story.token, hf_endpoint=story.hub.url)
    found = list(examine(ServiceCase(path, access, f"sqlite:///{story.folder / 'other.db'}", None)))
    [source] = [one for one in found if one.name == f"source {BUCKET}"]
    said = "found; nothing tells of its changes, so it is listed every 900 s (settle_every)"
    assert (source.status, source.text) == ("ok", said)
    assert [one for one in found if one.status == "wrong"] == []
    assert watched_by(load_settings(path)) == [{"type": "dataset", "name": "acme/contents"}]
    story.contexts.store.close()
