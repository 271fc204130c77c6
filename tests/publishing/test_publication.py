"""What is decided, what is said, and what strangers may put into either."""

from __future__ import annotations

import json
from math import nan
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.publishing.card import declaration_path
from bot.publishing.entry import Remark
from bot.publishing.publication import (
    CLOSING,
    NOTHING_LEFT,
    OPENING,
    STANDS,
    WITHDRAWN,
    CloseRequest,
    Commit,
    CurrentState,
    Decision,
    EditComment,
    Form,
    Kind,
    Marker,
    OpenRequest,
    PostComment,
    PostedComment,
    PostText,
    Publication,
    Request,
    UpdateRequest,
    decide,
    describe,
    entry_marker,
    find_marker,
)
from bot.publishing.texts import request_text, rolling_text, row_text, withdrawn_text
from tests.platforms.git.publisher import entry

MARK = Marker("entry", "tiny/acme/atlas-7b/0-bfloat16", "tiny")
TEXT = PostText("Add it", f"Body.\n\n{MARK.render()}")
PATH = "entries/tiny/acme/atlas-7b/0-bfloat16.json"
OLD, NEW = entry(right=(1, 2, 3)).to_bytes(), entry().to_bytes()
SAME = msgspec.structs.replace(entry(), tool="9.9.9").to_bytes()


def request(data: bytes | None = NEW, path: str = PATH) -> Request:
    return Request("7", {path: data}, TEXT)


DECISIONS: list[tuple[str, Form, CurrentState, type | None]] = [
    ("nothing is there", "pull-request", CurrentState(), OpenRequest),
    ("nothing is there", "commit", CurrentState(), Commit),
    ("nothing is there", "comment", CurrentState(), PostComment),
    ("another entry stands", "pull-request", CurrentState({PATH: OLD}), OpenRequest),
    ("another entry stands", "commit", CurrentState({PATH: OLD}), Commit),
    ("the entry stands", "pull-request", CurrentState({PATH: NEW}), None),
    ("the entry stands", "commit", CurrentState({PATH: NEW}), None),
    ("a later tool wrote the same row", "commit", CurrentState({PATH: SAME}), None),
    ("what stands is no JSON", "commit", CurrentState({PATH: b"\xff"}), Commit),
    ("it is proposed", "pull-request", CurrentState({PATH: OLD}, request()), None),
    ("a later tool proposes the same row", "pull-request", CurrentState({}, request(SAME)), None),
    ("something else is proposed", "pull-request", CurrentState({}, request(OLD)), UpdateRequest),
    ("its deletion is proposed", "pull-request", CurrentState({PATH: OLD}, request(None)), UpdateRequest),
    ("another file is proposed", "pull-request", CurrentState({}, request(NEW, "README.md")), UpdateRequest),
    ("it stands and is still proposed", "pull-request", CurrentState({PATH: NEW}, request()), CloseRequest),
    ("it is proposed, and is to be committed", "commit", CurrentState({}, request()), Commit),
    ("a person said no to it", "pull-request", CurrentState(declined={PATH: NEW}), None),
    ("a person said no to another", "pull-request", CurrentState(declined={PATH: OLD}), OpenRequest),
    ("a person said no, and it is to be committed", "commit", CurrentState(declined={PATH: NEW}), Commit),
    ("the comment says so", "comment", CurrentState(note=PostedComment("9", TEXT.body)), None),
    (
        "the comment says so, with other line ends",
        "comment",
        CurrentState(note=PostedComment("9", TEXT.body + "\n\n")),
        None,
    ),
    ("the comment is edited", "comment", CurrentState(note=PostedComment("9", "Old.")), EditComment),
]


@pytest.mark.parametrize(("situation", "form", "standing", "expected"), DECISIONS)
def test_what_is_decided(situation: str, form: Form, standing: CurrentState, expected: type | None) -> None:
    decision = decide(MARK, TEXT, {PATH: NEW}, standing, form)

    assert type(decision.publication) is (expected or type(None)), situation
    assert decision.why


NOTE, OTHER = PostedComment("9", "Old."), request(OLD)
WHOLE: list[tuple[Form, CurrentState, Decision]] = [
    ("pull-request", CurrentState(), Decision(OpenRequest(MARK, TEXT, {PATH: NEW}), "a new request proposes it")),
    ("commit", CurrentState(), Decision(Commit(MARK, TEXT, {PATH: NEW}), "a commit stores it")),
    ("comment", CurrentState(), Decision(PostComment(MARK, TEXT), "a new comment shows it")),
    (
        "pull-request",
        CurrentState({}, OTHER),
        Decision(UpdateRequest(MARK, OTHER, TEXT, {PATH: NEW}), "the open request is updated"),
    ),
    ("pull-request", CurrentState({}, request()), Decision(None, "the open request proposes it already")),
    (
        "pull-request",
        CurrentState(declined={PATH: NEW}),
        Decision(None, "a person closed the request with the same content"),
    ),
    (
        "pull-request",
        CurrentState({PATH: NEW}, request()),
        Decision(CloseRequest(MARK, request(), STANDS), "the request is closed"),
    ),
    (
        "pull-request",
        CurrentState({PATH: NEW}, OTHER),
        Decision(CloseRequest(MARK, OTHER, NOTHING_LEFT), "the request is closed"),
    ),
    ("commit", CurrentState({PATH: NEW}), Decision(None, "the main branch has it already")),
    ("comment", CurrentState(note=NOTE), Decision(EditComment(MARK, NOTE, TEXT), "the comment is edited")),
    (
        "comment",
        CurrentState(note=PostedComment("9", TEXT.body)),
        Decision(None, "the comment shows it already"),
    ),
    (
        "pull-request",
        CurrentState({}, request(), duplicates=(OTHER,)),
        Decision(
            CloseRequest(MARK, OTHER, "Two requests propose the same row; 7 stays."),
            "a duplicate is closed",
        ),
    ),
]


@pytest.mark.parametrize(("form", "standing", "decision"), WHOLE)
def test_a_decision_says_all_that_is_to_be_done_and_why(form: Form, standing: CurrentState, decision: Decision) -> None:
    assert decide(MARK, TEXT, {PATH: NEW}, standing, form) == decision


def test_a_request_for_a_row_that_was_taken_away_is_closed_as_withdrawn() -> None:
    standing = CurrentState({}, request())
    assert decide(MARK, TEXT, {PATH: None}, standing, "pull-request") == Decision(
        CloseRequest(MARK, request(), WITHDRAWN), "the request is closed"
    )
    both = {PATH: None, "entries/tiny/other.json": NEW}
    stands = CurrentState({"entries/tiny/other.json": NEW}, Request("7", {}, TEXT))
    assert decide(MARK, TEXT, both, stands, "pull-request").publication == CloseRequest(
        MARK, Request("7", {}, TEXT), STANDS
    )


@pytest.mark.parametrize(
    ("publication", "do"),
    [
        (UpdateRequest(MARK, OTHER, TEXT, {PATH: NEW}), "update-request"),
        (CloseRequest(MARK, OTHER, STANDS), "close-request"),
        (Commit(MARK, TEXT, {PATH: NEW}), "commit"),
        (PostComment(MARK, TEXT), "post-comment"),
        (EditComment(MARK, NOTE, TEXT), "edit-comment"),
    ],
)
def test_every_publication_has_a_word_of_its_own(publication: Publication, do: str) -> None:
    assert describe(publication)["do"] == do


@pytest.mark.parametrize("form", get_args(Form))
def test_what_was_carried_out_is_not_done_again(form: Form) -> None:
    done = decide(MARK, TEXT, {PATH: NEW}, CurrentState(), form).publication
    after = {
        OpenRequest: CurrentState(request=request()),
        Commit: CurrentState({PATH: NEW}),
        PostComment: CurrentState(note=PostedComment("9", TEXT.body)),
    }

    assert decide(MARK, TEXT, {PATH: NEW}, after[type(done)], form).publication is None


def test_a_row_that_is_not_there_need_not_be_taken_away() -> None:
    assert decide(MARK, TEXT, {PATH: None}, CurrentState(), "commit").publication is None
    assert isinstance(decide(MARK, TEXT, {PATH: None}, CurrentState({PATH: OLD}), "commit").publication, Commit)


def test_a_publication_is_described_in_plain_values() -> None:
    publication = decide(MARK, TEXT, {PATH: NEW}, CurrentState(), "pull-request").publication

    assert publication is not None
    assert describe(publication) == {"do": "open-request", "key": MARK.key, "files": [PATH]}


@example("entry", "--><script>", "a--!>b")
@example("entry", "<!-- leaderboard-bot", "---")
@given(st.sampled_from(get_args(Kind)), st.text(), st.text())
def test_a_mark_is_found_again_and_cannot_be_broken_out_of(kind: Any, key: str, board: str) -> None:
    mark = Marker(kind, key, board)
    shown = mark.render()

    assert find_marker(f"Words.\n\n{shown}\n") == mark
    assert find_marker(f"{Marker('reply', 'forged').render()}\n{shown}") == mark
    assert ">" not in shown[len(OPENING) : -len(CLOSING)]
    assert "--" not in shown[len(OPENING) : -len(CLOSING)]
    assert "\n" not in shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no mark",
        OPENING,
        f"{OPENING}{{",
        MARK.render()[:-1],
        f"{OPENING}{CLOSING}",
        f"{OPENING}[]{CLOSING}",
        f"{OPENING}5{CLOSING}",
        f'{OPENING}"entry"{CLOSING}',
        f'{OPENING}{{"kind": "entry"}}{CLOSING}',
        f'{OPENING}{{"kind": ["entry"], "key": "a"}}{CLOSING}',
        f'{OPENING}{{"kind": "order", "key": "a"}}{CLOSING}',
        f"{OPENING}{'[' * 100_000}{CLOSING}",
        f"{MARK.render()}\n{OPENING}torn",
    ],
)
def test_what_is_no_mark_of_ours_is_none(text: str) -> None:
    assert find_marker(text) is None


@given(st.text())
def test_no_text_makes_the_search_for_a_mark_fail(text: str) -> None:
    assert find_marker(text) is None or OPENING in text
    assert find_marker(f"{OPENING}{text}{CLOSING}") is None or "{" in text


def test_the_text_of_a_new_row() -> None:
    row = entry()

    assert request_text(row, None, entry_marker(row)) == PostText(
        "Add acme/atlas-7b (bfloat16): 58.33",
        f"""\
`acme/atlas-7b`, revision `{row.model.revision}`, on `tiny`.

| Task | Raw | Score |
| --- | ---: | ---: |
| Sums | 0.5500 | 46.67 |
| Logic | 0.7000 | 70.00 |
| **Average** | | **58.33** |

- File: `acme__atlas-7b/results_2026-11-01T10-00-00.json`, SHA-256 `{row.evidence[0].sha256}`, \
`lm-evaluation-harness` `abcdef12`, measured 2026-10-31T22:40:00Z
- Check it: `leaderboard-bot explain acme__atlas-7b/results_2026-11-01T10-00-00.json --leaderboard \
{declaration_path(row.leaderboard.digest)}`

[leaderboard-bot](https://github.com/leaderboard-bot/leaderboard-bot) wrote this from the file named above; it changes \
when that file does.

<!-- leaderboard-bot {{"key": "{row.key}", "kind": "entry", "leaderboard": "tiny"}} -->""",
    )


def test_the_text_of_a_row_that_changes_with_a_warning_and_a_hole() -> None:
    before = entry()
    row = msgspec.structs.replace(
        entry(day=2, right=(50, None, 70)),
        warnings=(Remark("quantized-run", "the model was run in 4bit"),),
    )
    title, body = (text := request_text(row, before, entry_marker(row))).title, text.body

    assert title == "Update acme/atlas-7b (bfloat16): incomplete, 1 of 3 subtasks missing"
    assert body.split("\n\n")[1:4] == [
        """\
| Task | Raw | Score | Before | Change |
| --- | ---: | ---: | ---: | ---: |
| Sums | – | – | 46.67 | – |
| Logic | 0.7000 | 70.00 | 70.00 | +0.00 |
| **Average** | | **–** | 58.33 | – |""",
        "**Incomplete:** `sums_times` missing. The row has no average and no rank until they are there.",
        "- **warning** `quantized-run`: `the model was run in 4bit`",
    ]


def test_a_comment_holds_the_row_to_be_copied() -> None:
    row = entry()
    body = row_text(row, None, entry_marker(row)).body
    (fence,) = [token for token in MarkdownIt().parse(body) if token.type == "fence"]

    assert fence.content.encode() == row.to_bytes()
    assert find_marker(body) == entry_marker(row)


def test_the_texts_of_many_rows_and_of_one_that_goes() -> None:
    rolling = rolling_text(
        [(None, entry()), (None, entry("acme/borea-7b", right=(50, None, 70)))], Marker("rolling", "all", "tiny")
    )
    assert rolling.title == "Update 2 rows of tiny"
    assert "| `acme/atlas-7b` | 58.33 |\n| `acme/borea-7b` | – |\n" in rolling.body

    assert withdrawn_text(PATH, MARK).title == "Remove tiny/acme/atlas-7b/0-bfloat16"
    assert withdrawn_text(PATH, MARK).body.startswith(
        f"The submission behind `{PATH}` was withdrawn from its source.\n\n"
    )


def test_an_entry_never_holds_what_json_has_no_word_for() -> None:
    row = entry()
    task = msgspec.structs.replace(row.tasks[0], leaves=(msgspec.structs.replace(row.tasks[0].leaves[0], raw=nan),))

    json.loads(msgspec.structs.replace(row, tasks=(task,)).to_bytes(), parse_constant=pytest.fail)
