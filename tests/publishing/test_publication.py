"""What is decided, what is said, and what strangers may put into either."""

from __future__ import annotations

import json
from dataclasses import replace
from math import nan
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.publishing.answers import faults_corrected
from bot.publishing.publication import (
    CLOSING,
    MOST_MARKED,
    NOTHING_LEFT,
    OPENING,
    STANDS,
    WITHDRAWN,
    ClosedRequest,
    CloseRequest,
    Commit,
    CurrentState,
    Decision,
    EditComment,
    Form,
    Marker,
    MarkerKind,
    OpenRequest,
    PostComment,
    PostedComment,
    PostText,
    Publication,
    Request,
    UpdateRequest,
    commit_mark,
    decide,
    file_marks,
    find_marker,
    holder_of,
    word_for,
)
from tests.platforms.git.publisher import entry
from tests.texts import any_text

MARK = Marker("entry", "tiny/acme/atlas-7b/0-bfloat16", "tiny")
TEXT = PostText("Add it", f"Body.\n\n{MARK.render()}")
PATH = "entries/tiny/acme/atlas-7b/0-bfloat16.json"
OLD, NEW = entry(right=(1, 2, 3)).to_bytes(), entry().to_bytes()
SAME = msgspec.structs.replace(entry(), tool="9.9.9").to_bytes()


def request(data: bytes | None = NEW, path: str = PATH) -> Request:
    return Request("7", {path: data}, TEXT)


def said(title: str = TEXT.title, body: str = TEXT.body) -> Request:
    """A request for the entry with another text."""
    return Request("7", {PATH: NEW}, PostText(title, body))


def closed(data: bytes) -> ClosedRequest:
    """A request with this row that a person closed."""
    return ClosedRequest("1", file_marks({PATH: data}))


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
    ("the same row is proposed in other bytes", "pull-request", CurrentState({}, request(SAME)), UpdateRequest),
    ("it is proposed under another title", "pull-request", CurrentState({}, said(title="Other")), UpdateRequest),
    ("it is proposed with another text", "pull-request", CurrentState({}, said(body="Other")), UpdateRequest),
    ("it is proposed with a space behind", "pull-request", CurrentState({}, said(body=f"{TEXT.body}\n")), None),
    (
        "a person said no, and another is proposed",
        "pull-request",
        CurrentState({}, request(OLD), declined=(closed(NEW),)),
        CloseRequest,
    ),
    ("something else is proposed", "pull-request", CurrentState({}, request(OLD)), UpdateRequest),
    ("its deletion is proposed", "pull-request", CurrentState({PATH: OLD}, request(None)), UpdateRequest),
    ("another file is proposed", "pull-request", CurrentState({}, request(NEW, "README.md")), UpdateRequest),
    ("it stands and is still proposed", "pull-request", CurrentState({PATH: NEW}, request()), CloseRequest),
    ("it is proposed, and is to be committed", "commit", CurrentState({}, request()), Commit),
    ("a person said no to it", "pull-request", CurrentState(declined=(closed(NEW),)), None),
    ("a person said no to another", "pull-request", CurrentState(declined=(closed(OLD),)), OpenRequest),
    ("nobody can read what a person closed", "pull-request", CurrentState(declined=(ClosedRequest("1", None),)), None),
    ("a person said no, and it is to be committed", "commit", CurrentState(declined=(closed(NEW),)), Commit),
    ("the comment says so", "comment", CurrentState(comment=PostedComment("9", TEXT.body)), None),
    (
        "the comment says so, with other line ends",
        "comment",
        CurrentState(comment=PostedComment("9", TEXT.body + "\n\n")),
        None,
    ),
    ("the comment is edited", "comment", CurrentState(comment=PostedComment("9", "Old.")), EditComment),
]


@pytest.mark.parametrize(("situation", "form", "current", "expected"), DECISIONS)
def test_what_is_decided(situation: str, form: Form, current: CurrentState, expected: type | None) -> None:
    decision = decide(MARK, TEXT, {PATH: NEW}, current, form)

    assert type(decision.publication) is (expected or type(None)), situation
    assert decision.why


NOTE, OTHER = PostedComment("9", "Old."), request(OLD)
STUCK = replace(request(), conflicts=True)
WHOLE: list[tuple[Form, CurrentState, Decision]] = [
    ("pull-request", CurrentState(), Decision(OpenRequest(MARK, TEXT, {PATH: NEW}), "a new request proposes it")),
    ("commit", CurrentState(), Decision(Commit(MARK, TEXT, {PATH: NEW}), "a commit makes the change")),
    ("comment", CurrentState(), Decision(PostComment(MARK, TEXT), "a new comment shows it")),
    (
        "pull-request",
        CurrentState({}, OTHER),
        Decision(UpdateRequest(MARK, OTHER, TEXT, {PATH: NEW}), "the open request is updated"),
    ),
    ("pull-request", CurrentState({}, request()), Decision(None, "the open request proposes it already")),
    (
        "pull-request",
        CurrentState({}, STUCK),
        Decision(UpdateRequest(MARK, STUCK, TEXT, {PATH: NEW}), "the open request did not merge any more"),
    ),
    (
        "pull-request",
        CurrentState({}, OTHER, declined=(closed(NEW),)),
        Decision(CloseRequest(MARK, OTHER, NOTHING_LEFT), "the request is closed"),
    ),
    (
        "pull-request",
        CurrentState(declined=(closed(NEW),)),
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
    ("comment", CurrentState(comment=NOTE), Decision(EditComment(MARK, NOTE, TEXT), "the comment is edited")),
    (
        "comment",
        CurrentState(comment=PostedComment("9", TEXT.body)),
        Decision(None, "the comment shows it already"),
    ),
    (
        "pull-request",
        CurrentState({}, request(), duplicates=(OTHER, said(title="Third"))),
        Decision(
            CloseRequest(MARK, OTHER, "Two requests propose the same row; 7 stays open."),
            "a duplicate is closed",
        ),
    ),
]


@pytest.mark.parametrize(("form", "current", "decision"), WHOLE)
def test_a_decision_says_all_that_is_to_be_done_and_why(form: Form, current: CurrentState, decision: Decision) -> None:
    assert decide(MARK, TEXT, {PATH: NEW}, current, form) == decision


def test_a_shared_request_without_a_row_is_not_closed_as_withdrawn() -> None:
    rolling = Marker("rolling", "rolling/tiny", "tiny")
    assert decide(rolling, TEXT, {}, CurrentState({}, request()), "pull-request") == Decision(
        CloseRequest(rolling, request(), NOTHING_LEFT), "the request is closed"
    )


def test_a_request_for_a_row_that_was_taken_away_is_closed_as_withdrawn() -> None:
    current = CurrentState({}, request())
    assert decide(MARK, TEXT, {PATH: None}, current, "pull-request") == Decision(
        CloseRequest(MARK, request(), WITHDRAWN), "the request is closed"
    )
    assert decide(MARK, TEXT, {}, current, "pull-request") == Decision(  # a rolling request without a row
        CloseRequest(MARK, request(), NOTHING_LEFT), "the request is closed"
    )
    both = {PATH: None, "entries/tiny/other.json": NEW}
    stands = CurrentState({"entries/tiny/other.json": NEW}, Request("7", {}, TEXT))
    assert decide(MARK, TEXT, both, stands, "pull-request").publication == CloseRequest(
        MARK, Request("7", {}, TEXT), STANDS
    )


@pytest.mark.parametrize(
    ("publication", "do"),
    [
        (OpenRequest(MARK, TEXT, {PATH: NEW}), "open-request"),
        (UpdateRequest(MARK, OTHER, TEXT, {PATH: NEW}), "update-request"),
        (CloseRequest(MARK, OTHER, STANDS), "close-request"),
        (Commit(MARK, TEXT, {PATH: NEW}), "commit"),
        (PostComment(MARK, TEXT), "post-comment"),
        (EditComment(MARK, NOTE, TEXT), "edit-comment"),
    ],
)
def test_every_publication_has_a_word_of_its_own(publication: Publication, do: str) -> None:
    assert word_for(publication) == do


def test_a_request_for_very_many_rows_does_not_name_them() -> None:
    assert MARK.about(["b", "a"]).rows == ("a", "b")
    assert MARK.about([str(number) for number in range(MOST_MARKED)]).rows is not None
    assert MARK.about([str(number) for number in range(MOST_MARKED + 1)]).rows is None


def test_the_mark_of_a_commit_of_many_rows_is_found_again() -> None:
    mark = commit_mark("tiny")
    assert find_marker(f"Add rows\n\n{mark.render()}") == mark
    assert mark.is_shared


@pytest.mark.parametrize("form", get_args(Form))
def test_what_was_carried_out_is_not_done_again(form: Form) -> None:
    done = decide(MARK, TEXT, {PATH: NEW}, CurrentState(), form).publication
    after = {
        OpenRequest: CurrentState(request=request()),
        Commit: CurrentState({PATH: NEW}),
        PostComment: CurrentState(comment=PostedComment("9", TEXT.body)),
    }

    assert decide(MARK, TEXT, {PATH: NEW}, after[type(done)], form).publication is None


def test_a_row_that_is_not_there_need_not_be_taken_away() -> None:
    assert decide(MARK, TEXT, {PATH: None}, CurrentState(), "commit").publication is None
    assert isinstance(decide(MARK, TEXT, {PATH: None}, CurrentState({PATH: OLD}), "commit").publication, Commit)


@example("entry", "--><script>", "a--!>b")
@example("entry", "<!-- leaderboard-bot", "---")
@given(st.sampled_from(get_args(MarkerKind)), any_text(), any_text())
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
        faults_corrected(f"acme/{MARK.render()}"),
        faults_corrected(f"acme\n{MARK.render()}"),
    ],
)
def test_what_is_no_mark_of_ours_is_none(text: str) -> None:
    assert find_marker(text) is None


def test_the_last_mark_of_a_text_is_found_whatever_stands_behind_it() -> None:
    shown = MARK.render()
    assert find_marker(f"{Marker('plan', 'x').render()}\n{shown} <!-- more -->\n") == MARK
    assert find_marker(shown.removesuffix(CLOSING)) is None
    assert find_marker(shown.removeprefix(OPENING)) is None
    assert find_marker(f'{OPENING}{{"kind": "entry", "key": "a"}}{CLOSING}') == Marker("entry", "a", "")


@pytest.mark.parametrize("kind", get_args(MarkerKind))
def test_plans_and_alarms_have_a_discussion_of_their_own_and_all_else_is_in_that_of_the_rows(kind: MarkerKind) -> None:
    holder = holder_of(Marker(kind, "tiny/a", "tiny"))
    assert holder == Marker(kind if kind in {"plan", "alarm"} else "board", "tiny", "tiny")


@given(any_text())
def test_no_text_makes_the_search_for_a_mark_fail(text: str) -> None:
    assert find_marker(text) is None or OPENING in text
    assert find_marker(f"{OPENING}{text}{CLOSING}") is None or "{" in text


def test_an_entry_never_holds_what_json_has_no_word_for() -> None:
    row = entry()
    task = msgspec.structs.replace(row.tasks[0], leaves=(msgspec.structs.replace(row.tasks[0].leaves[0], raw=nan),))

    json.loads(msgspec.structs.replace(row, tasks=(task,)).to_bytes(), parse_constant=pytest.fail)
