"""The local Hub against the real client: each call gets the answer that the real service gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import BucketFile, CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    BucketNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import get_session

from tests.world.git import Blob, Repository, Tree, blob_id
from tests.world.hub import Hub
from tests.world.local_git import git
from tests.world.server import served

NAME = "acme/results"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with served(Hub()) as hub:
        yield hub


@pytest.fixture
def repository(hub: Hub) -> Repository:
    return hub.repository(NAME)


@pytest.fixture
def api(hub: Hub) -> HfApi:
    return HfApi(endpoint=hub.url, token=hub.person("acme"))


def test_object_ids_are_those_of_git(tmp_path: Path) -> None:
    files = {"a.txt": b"one\n", "a/b.txt": b"two\n", "a-b/c.txt": b"", "z": b"\x00"}
    tree = Tree()
    for path, data in files.items():
        if path != "a.txt":
            tree = tree.put(path.split("/"), Blob(blob_id(data), data, ""))
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(data)

    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert git(tmp_path, "write-tree") == tree.oid


def test_a_commit_is_listed_and_read_again(hub: Hub, repository: Repository, api: HfApi) -> None:
    info = api.create_commit(NAME, [CommitOperationAdd("a/b.json", b"{}")], commit_message="Add", repo_type="dataset")
    [folder] = api.list_repo_tree(NAME, repo_type="dataset")
    [file] = api.list_repo_tree(NAME, "a", repo_type="dataset", revision=info.oid)
    [known] = api.get_paths_info(NAME, ["a/b.json", "gone"], repo_type="dataset", expand=True)

    assert api.list_repo_refs(NAME, repo_type="dataset").branches[0].target_commit == info.oid
    assert (folder.path, file.path, file.blob_id) == ("a", "a/b.json", blob_id(b"{}"))
    assert known.last_commit.oid == info.oid
    assert [c.title for c in api.list_repo_commits(NAME, repo_type="dataset")] == ["Add", "initial commit"]


def test_long_folders_come_in_pages(hub: Hub, repository: Repository, api: HfApi) -> None:
    hub.push(repository, {f"f{n:04}": b"" for n in range(2500)})

    assert len(list(api.list_repo_tree(NAME, repo_type="dataset"))) == 2500
    assert len([call for call in hub.calls if "/tree/" in call.raw_path]) == 3


def test_a_download_names_its_commit(hub: Hub, repository: Repository, api: HfApi, tmp_path: Path) -> None:
    made = hub.push(repository, {"x y/é.json": b"[1]"})
    found = api.hf_hub_download(NAME, "x y/é.json", repo_type="dataset", revision=made.oid, cache_dir=tmp_path)

    assert Path(found).read_bytes() == b"[1]"


def test_a_request_is_opened_updated_and_merged(hub: Hub, repository: Repository, api: HfApi) -> None:
    add = CommitOperationAdd("e.json", b"1")
    info = api.create_commit(
        NAME, [add], commit_message="Add e", commit_description="why", create_pr=True, repo_type="dataset"
    )
    again = CommitOperationAdd("e.json", b"2")
    api.create_commit(NAME, [again], commit_message="Mend e", revision="refs/pr/1", repo_type="dataset")
    details = api.get_discussion_details(NAME, 1, repo_type="dataset")

    assert (info.pr_num, details.title, details.status) == (1, "Add e", "open")
    assert [event.type for event in details.events] == ["comment", "commit", "commit"]
    api.merge_pull_request(NAME, 1, repo_type="dataset")
    assert hub.file(repository, "e.json") == b"2"
    assert api.get_discussion_details(NAME, 1, repo_type="dataset").merge_commit_oid == repository.main.oid


@pytest.mark.parametrize(("line", "conflicts"), [(0, []), (4, ["t.csv"])], ids=["apart", "beside"])
def test_a_request_merges_three_ways_or_not_at_all(
    hub: Hub, repository: Repository, api: HfApi, line: int, conflicts: list[str]
) -> None:
    lines = [b"a\n", b"b\n", b"c\n", b"d\n"]
    hub.push(repository, {"t.csv": b"".join(lines)})
    row, _ = hub.open_request(repository, {"t.csv": b"".join([*lines, b"theirs\n"])})
    hub.push(repository, {"t.csv": b"".join([*lines[:line], b"ours\n", *lines[line:]])})

    assert api.get_discussion_details(NAME, row.num, repo_type="dataset").conflicting_files == conflicts
    if conflicts:
        with pytest.raises(HfHubHTTPError) as error:
            api.merge_pull_request(NAME, row.num, repo_type="dataset")
        assert error.value.response.status_code == 409
        assert (hub.file(repository, "t.csv"), row.status) == (b"a\nb\nc\nd\nours\n", "open")
    else:
        api.merge_pull_request(NAME, row.num, repo_type="dataset")
        assert hub.file(repository, "t.csv") == b"ours\na\nb\nc\nd\ntheirs\n"


def test_equal_content_makes_neither_commit_nor_request(repository: Repository, hub: Hub, api: HfApi) -> None:
    hub.push(repository, {"e.json": b"1"})
    info = api.create_commit(
        NAME, [CommitOperationAdd("e.json", b"1")], commit_message="x", create_pr=True, repo_type="dataset"
    )

    assert (info.pr_num, info.oid) == (None, repository.main.oid)
    assert not hub.requests(repository)


def test_a_stale_parent_is_refused_with_412(hub: Hub, repository: Repository, api: HfApi) -> None:
    old = repository.main.oid
    hub.push(repository, {"e.json": b"1"})
    with pytest.raises(HfHubHTTPError) as failure:
        api.create_commit(
            NAME,
            [CommitOperationDelete("e.json")],
            commit_message="x",
            parent_commit=old,
            repo_type="dataset",
        )

    assert failure.value.response.status_code == 412


def test_discussions_are_opened_commented_edited_and_closed(hub: Hub, repository: Repository, api: HfApi) -> None:
    made = api.create_discussion(NAME, "Title", description="text", repo_type="dataset")
    comment = api.comment_discussion(NAME, made.num, "first", repo_type="dataset")
    api.edit_discussion_comment(NAME, made.num, comment.id, "second", repo_type="dataset")
    api.rename_discussion(NAME, made.num, "New title", repo_type="dataset")
    api.change_discussion_status(NAME, made.num, "closed", comment="done", repo_type="dataset")
    [listed] = api.get_repo_discussions(NAME, author="acme", discussion_status="closed", repo_type="dataset")

    assert (listed.title, listed.status) == ("New title", "closed")
    assert hub.conversations(repository, "closed")[0].comments() == ["text", "second", "done"]


def test_25_discussions_come_in_pages_with_a_true_count(hub: Hub, repository: Repository, api: HfApi) -> None:
    for n in range(25):
        hub.open_discussion(repository, f"number {n}", "")

    assert len(list(api.get_repo_discussions(NAME, repo_type="dataset"))) == 25


def test_what_is_missing_gated_or_private_has_the_errors_of_the_client(
    hub: Hub, repository: Repository, api: HfApi
) -> None:
    hub.repository("acme/secret", private=True)
    other = HfApi(endpoint=hub.url, token=hub.person("bob"))
    repository.gated = True

    with pytest.raises(RepositoryNotFoundError):
        api.list_repo_refs("acme/none", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        other.list_repo_refs("acme/secret", repo_type="dataset")
    with pytest.raises(GatedRepoError):
        other.list_repo_refs(NAME, repo_type="dataset")
    with pytest.raises(RevisionNotFoundError):
        list(api.list_repo_tree(NAME, repo_type="dataset", revision="refs/pr/9"))
    with pytest.raises(RemoteEntryNotFoundError):
        list(api.list_repo_tree(NAME, "none", repo_type="dataset"))


def test_a_fault_on_order_strikes_once_and_may_have_landed(hub: Hub, repository: Repository, api: HfApi) -> None:
    hub.faults.order("/discussions$", method="POST", status=504, landed=True)
    with pytest.raises(HfHubHTTPError):
        api.create_discussion(NAME, "Title", description="text", repo_type="dataset")

    assert len(hub.conversations(repository)) == 1
    assert api.create_discussion(NAME, "Title", description="text", repo_type="dataset").num == 2


def test_a_webhook_is_delivered_again_until_it_is_taken(hub: Hub, repository: Repository, api: HfApi) -> None:
    with served(Hub()) as ear:
        ear.faults.order("/ear", status=503, times=2)
        ear.faults.order("/ear", status=200, times=-1)
        api.create_webhook(url=f"{ear.url}/ear", watched=[{"type": "dataset", "name": NAME}], secret="s")
        hub.push(repository, {"e.json": b"1"})
        hub.deliveries.wait()

    assert hub.deliveries.all[0].answers == [503, 503, 200]
    assert {call.headers["x-webhook-secret"] for call in ear.calls} == {"s"}
    assert next(hook.watched for hook in api.list_webhooks())[0].name == NAME


def test_a_bucket_is_listed_in_pages_and_downloaded_as_the_client_does(hub: Hub, api: HfApi) -> None:
    bucket = hub.bucket("acme/logs")
    bucket.page = 2
    hub.upload(bucket, {"a.json": b"1", "runs/b.json": b"22", "runs/deep/c.json": b"333"})
    assert (api.bucket_info("acme/logs").size, api.bucket_info("acme/logs").total_files) == (6, 3)
    every = list(api.list_bucket_tree("acme/logs", recursive=True))
    assert [(one.path, one.size) for one in every if isinstance(one, BucketFile)] == [
        ("a.json", 1),
        ("runs/b.json", 2),
        ("runs/deep/c.json", 3),
    ]
    assert [one.path for one in api.list_bucket_tree("acme/logs", "runs")] == ["runs/deep", "runs/b.json"]
    [listed] = [one for one in every if isinstance(one, BucketFile) and one.path == "runs/b.json"]
    found = api.get_bucket_file_metadata("acme/logs", "runs/b.json")
    assert (found.size, found.xet_file_data.file_hash) == (2, listed.xet_hash)
    downloaded = get_session().get(f"{hub.url}/buckets/acme/logs/resolve/runs/b.json")
    assert downloaded.content == b"22"
    with pytest.raises(RemoteEntryNotFoundError):
        api.get_bucket_file_metadata("acme/logs", "gone.json")
    bucket.private = True
    with pytest.raises(BucketNotFoundError):
        HfApi(endpoint=hub.url, token=hub.person("eve")).bucket_info("acme/logs")
