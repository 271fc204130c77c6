"""One watch with many sources: a list, or a pattern of an organization's datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.errors import CallError, MalformedDeclaration
from bot.platforms.platform import Access
from bot.service.settings.config import has_patterns, parse_settings, source_name, with_patterns
from bot.service.watch.passes import settle_watches
from tests.service.passes import open_contexts
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

SETTINGS = """
public_url = "https://board.example.org"
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = {source}
pull_requests = "rolling"
[[watches.targets]]
to = "hf://datasets/acme/contents"
"""


def settings(*sources: str) -> str:
    return SETTINGS.format(source=json.dumps(sources[0] if len(sources) == 1 else sources))


def test_a_list_is_one_watch_for_each_source() -> None:
    read = parse_settings(settings("hf://datasets/acme/a", "github://acme/b", "./c/d"), "bot.toml")

    assert [watch.source for watch in read.watches] == ["hf://datasets/acme/a", "github://acme/b", "./c/d"]
    assert [watch.name for watch in read.watches][:2] == ["tiny.acme--a", "tiny.acme--b"]
    assert {watch.pull_requests for watch in read.watches} == {"rolling"}
    assert read.public_url == "https://board.example.org"
    assert read.only("tiny").watches == read.watches
    assert read.only("tiny.acme--b").watches == read.watches[1:2]
    with pytest.raises(CallError, match="there is no watch"):
        read.only("acme--b")


def test_one_source_keeps_the_name_of_the_watch() -> None:
    for text in (settings("hf://datasets/acme/a"), SETTINGS.format(source='["hf://datasets/acme/a"]')):
        [watch] = parse_settings(text, "bot.toml").watches
        assert (watch.name, watch.source) == ("tiny", "hf://datasets/acme/a")


def test_two_sources_never_have_one_name() -> None:
    sources = ["hf://datasets/a/b", "hf://models/a/b", "./a/b", "/a/b", "a b", "a-b", "hf://datasets/a--b/c", "./a--b"]

    assert len({source_name("w", source) for source in sources}) == len(sources)


@pytest.mark.parametrize("source", ["[]", "3", '["a", "a"]', '[""]'])
def test_what_is_no_source_is_refused(source: str) -> None:
    with pytest.raises(MalformedDeclaration, match="watch"):
        parse_settings(SETTINGS.format(source=source), "bot.toml")


@pytest.mark.parametrize("source", ["hf://datasets/*/results", "hf://models/acme/*", "./results-*", "github://acme/*"])
def test_a_pattern_names_datasets_of_one_organization(source: str) -> None:
    read = parse_settings(settings(source), "bot.toml")

    assert has_patterns(read)
    with pytest.raises(CallError, match="one organization"):
        with_patterns(read, lambda _: ["acme/a"])


def test_a_pattern_that_names_nothing_is_said() -> None:
    with pytest.raises(CallError, match="no dataset with a matching name"):
        with_patterns(parse_settings(settings("hf://datasets/acme/*-results"), "bot.toml"), lambda _: ["acme/a"])


def test_one_declaration_serves_every_dataset_of_a_pattern(hub: Hub, tmp_path: Path) -> None:
    hub.writers.add(("bot", "acme/contents"))
    target = hub.repository("acme/contents")
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "bot.toml").write_text(settings("hf://datasets/acme/*-results"))
    access = Access(hf_token=hub.person("bot"), hf_endpoint=hub.url)
    for name in ("one", "two"):
        hub.push(hub.repository(f"acme/{name}-results"), {path_of(f"acme/{name}"): result(f"acme/{name}")})
    hub.repository("other/one-results")

    read, contexts = open_contexts(tmp_path / "bot.toml", access, f"sqlite:///{tmp_path / 'state.db'}")
    passes = settle_watches(contexts, read.watches)
    assert [one.watch for one in passes] == ["tiny.acme--one-results", "tiny.acme--two-results"]
    [request] = hub.requests(target)
    commit = target.resolve(f"refs/pr/{request.num}")
    assert commit is not None
    rows = [json.loads(blob.data) for path, blob in commit.tree.files() if path.startswith("entries/")]
    sources = {row["model"]["id"]: row["evidence"][0]["source"] for row in rows}
    assert sources == {
        "acme/one": "hf://datasets/acme/one-results",
        "acme/two": "hf://datasets/acme/two-results",
    }
    again = [one for done in settle_watches(contexts, read.watches) for one in done.outcomes]
    assert again == []
    contexts.store.close()


def test_the_held_plans_of_two_sources_have_a_comment_each(hub: Hub, tmp_path: Path) -> None:
    hub.writers.add(("bot", "acme/contents"))
    target = hub.repository("acme/contents")
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "bot.toml").write_text(settings("hf://datasets/acme/*-results"))
    access = Access(hf_token=hub.person("bot"), hf_endpoint=hub.url)
    sources = [hub.repository(f"acme/{name}-results") for name in ("one", "two")]
    for source in sources:
        models = [f"{source.name}-{n}".replace("/", "/m-") for n in range(8)]
        hub.push(source, {path_of(model): result(model) for model in models})
    read, contexts = open_contexts(tmp_path / "bot.toml", access, f"sqlite:///{tmp_path / 'state.db'}")
    settle_watches(contexts, read.watches)
    for request in hub.requests(target):
        hub.merge(target, request)
    settle_watches(contexts, read.watches)
    for source in sources:
        hub.push(source, dict.fromkeys(path for path, _ in source.main.tree.files()))
    settle_watches(contexts, read.watches)

    [thread] = [one for one in hub.conversations(target) if one.title.startswith("Plans of tiny")]
    said = [text for text in thread.comments() if "8 rows would be removed" in text]
    assert [source.name in text for source, text in zip(sources, said, strict=True)] == [True, True]
    contexts.store.close()
