"""What strangers push is data: names end as plain text, sizes are bounded, nothing is run or followed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bot.evaluation.discovery import Candidate, ListedFile
from bot.evaluation.formats import MAX_BYTES
from bot.service.judge.reading import unread_for_size
from tests.service.stories import Story
from tests.variants import one_of
from tests.world.git import Blob
from tests.world.hub import Hub
from tests.world.results import result

NAMES = {
    "a mention": "acme/@everyone",
    "an element": "acme/<img src=x onerror=alert(1)>",
    "a link": "acme/[click](https://evil.example)",
    "an image": "acme/![x](https://evil.example/x.png)",
    "a span that ends ours": "acme/``` `x` @ann",
    "a mark of ours": 'acme/<!-- leaderboard-bot {"key": "x", "kind": "entry", "leaderboard": "tiny"} -->',
    "letters that turn around": "acme/\u202egnp.exe\u202c\u2066",
    "lines and headings": "acme/x\n\n# Accepted\n\n| a | b |",
    "a terminal's escape": "acme/\x1b[31mred\x07",
    "a shell's words": "acme/$(touch /tmp/x);`id`",
}
PATHS = {
    "a way up": "%2e%2e/results_1.json",
    "dots": "...../results_1.json",
    "a mention": "@everyone/results_<b>.json",
    "a line": "acme\n# x/results_1\n.json",
    "a command": "acme/results_'; rm -rf x; `id`.json",
    "no end": "acme/results_" + 900 * "n" + ".json",
    "turned": "acme/results_\u202enosj.json",
}


@pytest.fixture
def story(hub: Hub, tmp_path: Path) -> Iterator[Story]:
    story = Story(hub, tmp_path)
    yield story
    story.end()


# The bot links its own documentation, the model and the file; nothing in an address is more than a letter or an escape.
OWN_LINK = re.compile(
    r"https://github\.com/leaderboard-bot/[\w/.#-]+|https://huggingface\.co/acme/atlas-7b/tree/[0-9a-f]{40}"
    r"|https://huggingface\.co/datasets/acme/results/blob/[0-9a-f]{40}/[\w/.%~-]+|https://huggingface\.co/datasets/acme/contents"
)


def outside_of_code(markdown: str) -> str:
    """All that a reader's browser would take for text or markup, code left out."""
    found: list[str] = []
    for token in MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(markdown):
        assert token.type != "html_block" or token.content.startswith("<!-- leaderboard-bot {"), token.content
        for child in token.children or []:
            assert child.type != "html_inline", child.content
            assert child.type != "image", child.attrs
            if child.type == "link_open":
                assert OWN_LINK.fullmatch(str(child.attrs["href"])), child.attrs
            if child.type == "text":
                found.append(child.content)
        if token.type == "heading_open":
            assert token.tag == "h3"
    return "\n".join(found)


def posted_plainly(story: Story, *snares: str) -> None:
    for posted in story.news():
        text = outside_of_code(posted.text)
        assert posted.text.isprintable() or set(posted.text) - set("\n") <= {c for c in posted.text if c.isprintable()}
        assert [snare for snare in snares if snare in text] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_model_s_name_is_plain_text_wherever_it_is_posted(story: Story, name: str) -> None:
    story.push(data=result(NAMES[name]), path="acme__x/results_1.json")
    story.hub.open_request(story.source, {"acme__y/results_2.json": result(NAMES[name])}, "mine", "", "ann")
    story.settle()

    assert story.requests == []
    assert len(story.discussions) == 1
    posted_plainly(story, "@everyone", "@ann", "<img", "evil.example", "# Accepted", "$(touch")


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
def test_a_file_s_name_is_plain_text_wherever_it_is_posted(story: Story, name: str) -> None:
    story.push(data=result(), path=PATHS[name])
    story.push(data=result(right=(50, 60, 170), model="acme/borea-1b"), path=f"bad/{PATHS[name]}")
    story.settle()

    assert len(story.requests) == 1
    assert len(story.discussions) == 1
    assert len(story.discussions[0].title) <= 200
    posted_plainly(story, "@everyone", "<b>", "# x", "rm -rf")


def test_a_task_s_name_and_a_value_are_plain_text(story: Story) -> None:
    whole = json.loads(result(right=(50, 60, 170)))
    whole["results"]["logic"]["acc,none"] = "@everyone <b>"
    whole["results"]["<script>@everyone</script>"] = {"acc,none": 1}
    whole["config"]["model_args"] = "pretrained=acme/atlas-7b,x=`id` @everyone"
    story.push(data=json.dumps(whole).encode())
    story.settle()

    assert len(story.discussions) == 1
    posted_plainly(story, "@everyone", "<script", "<b>")


def test_a_file_of_200_mb_is_never_asked_for(story: Story) -> None:
    source = story.source
    huge = Blob("f" * 40, bytes(200_000_000), source.main.oid)
    tree = source.main.tree.put(["acme__x", "results_1.json"], huge)
    source.add(source.make(tree, source.main, "huge", "", story.hub.clock(), "ann"))
    story.settle()

    assert "has 190.8 MB; the limit is 8 MB" in story.discussions[0].description
    assert [call for call in story.hub.calls if "resolve" in call.raw_path and "results_1" in call.raw_path] == []
    assert story.acts() == ["discussion"]


@pytest.mark.parametrize(
    "data", one_of([b"\xff\xfe", b"", b"[" * 200_000, b'{"results": {"x": ' * 5000, b"\x1f\x8b\x08\x00"])
)
def test_bytes_that_are_no_result_are_a_fault_and_nothing_worse(story: Story, data: bytes) -> None:
    story.push(data=data)
    story.settle()

    assert "malformed-file" in story.discussions[0].description
    assert story.acts() == ["discussion"]


def test_a_file_of_another_tool_is_no_fault_whatever_it_is_called(story: Story) -> None:
    """Such as those of terminal-bench, a `results.json` for each of thousands of trials."""
    story.push(data=b'{"results": [], "n_resolved": 1, "resolved_ids": [], "accuracy": 0.5}', path="trial/results.json")
    story.settle()

    assert story.acts() == []


def test_many_faulty_folders_share_one_discussion(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, limit=3)
    hub.push(story.source, {f"m{n}/results_1.json": b"{" for n in range(10)})
    story.settle()
    assert story.acts() == ["discussion"]

    story.push(data=b"{", path="m3/results_2.json")
    story.settle()
    assert story.acts() == ["edit"]

    hub.push(story.source, {f"m{n}": None for n in range(10)})
    story.settle()
    assert story.discussions == []
    assert story.acts() == ["comment", "closed"]
    story.end()


def test_only_a_file_beyond_its_limit_is_not_asked_for() -> None:
    def why(name: str, size: int, limit: int = 0) -> str:
        found = unread_for_size(Candidate(name, (ListedFile(name, size),), limit=limit), 300)
        return "" if found is None or found.problem is None else found.problem.why

    assert (why("results.json", 300), why("results.json", 301)) == ("", "has 301 bytes; the limit is 300 bytes")
    assert (why("log.eval", 134_217_728), why("log.eval", 134_217_729)) == ("", "has 128.1 MB; the limit is 128 MB")
    assert (why("run", MAX_BYTES, MAX_BYTES), why("run", MAX_BYTES + 1, MAX_BYTES)) == (
        "", "has 8.1 MB; the limit is 8 MB",
    )  # fmt: skip


def test_the_largest_file_is_a_setting(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, more="max_file_bytes = 300")
    story.push()
    story.settle()

    assert "the limit is 300 bytes" in story.discussions[0].description
    assert story.acts() == ["discussion"]
    story.end()
