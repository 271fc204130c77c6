"""Judge submissions with facts about their harness commits, which are looked up on GitHub first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.rules.harness_commit import judge_harness
from bot.evaluation.rules.rule import Facts
from bot.evaluation.submission import Parsed
from bot.platforms.registry import Access

if TYPE_CHECKING:  # `check` asks GitHub nothing by default, and starts faster without its client
    from bot.platforms.github.commits import Answers
    from bot.service.commit_lookup import CommitLookup

LookUp = Callable[[Iterable[Parsed], Leaderboard, Facts], Facts]


def no_look_up(parsed: Iterable[Parsed], leaderboard: Leaderboard, facts: Facts) -> Facts:
    """Look nothing up."""
    del parsed, leaderboard
    return facts


def open_look_up(access: Access, kept: Answers, say: Callable[[str], None]) -> LookUp:
    """Return what looks harness commits up on GitHub; `say` hears, once, why it could not.

    `kept` keeps answers between runs.
    """
    from bot.platforms.github.client import GitHubClient
    from bot.platforms.github.commits import Commits
    from bot.service.commit_lookup import CommitLookup

    client = GitHubClient(access.github_token, access.github_api_url, patience=0, app=access.github_app)
    lookup = CommitLookup(Commits(client, kept))

    def look_up(parsed: Iterable[Parsed], leaderboard: Leaderboard, facts: Facts) -> Facts:
        before = lookup.unreachable
        found = with_commits(parsed, leaderboard, facts, lookup)
        if lookup.unreachable and not before:
            say(f"harness commits are not looked up: {lookup.unreachable}")
        return found

    return look_up


def with_commits(parsed: Iterable[Parsed], leaderboard: Leaderboard, facts: Facts, lookup: CommitLookup) -> Facts:
    """The facts with GitHub's answers on the commits that the files alone do not settle."""
    harnesses = [one.result.harness for one in parsed if one.result is not None]
    unknown = [
        harness.git_hash
        for harness in harnesses
        if harness.git_hash and judge_harness(harness, leaderboard, facts).answer == "unknown"
    ]
    looked = lookup.look_up(unknown, leaderboard)
    return replace(
        facts,
        commits={**facts.commits, **{text: answer.answer for text, answer in looked.items()}},
        reasons={**facts.reasons, **{text: answer.why for text, answer in looked.items()}},
        repositories={
            **facts.repositories,
            **{t: answer.repository for t, answer in looked.items() if answer.repository},
        },
    )
