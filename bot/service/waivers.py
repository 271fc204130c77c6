"""What maintainers waived by comments: read out of every discussion, kept as text, and asked for in new comments."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import date

from bot.evaluation.leaderboard import Waiver
from bot.platforms.hub.discussions import HubDiscussions
from bot.service.commands import AnswerContext, answer_commands, commands_in, waivers_in
from bot.service.pushes import ALL, Pushes, retry_write, unresolved
from bot.service.reading import CachedVerdict


def dump_waivers(waivers: Sequence[Waiver]) -> str:
    """Waivers as text."""
    return json.dumps([waiver.model_dump(mode="json") for waiver in waivers])


def parse_waivers(text: str | None) -> list[Waiver]:
    """Waivers from text; none where there is no text."""
    return [Waiver.model_validate(row) for row in json.loads(text or "[]")]


def all_waivers(talk: HubDiscussions, maintainers: Collection[str]) -> list[Waiver]:
    """What was ever waived at a source, found in our answers there; every discussion is read."""
    found: list[Waiver] = []
    for kind in ("pull_request", "discussion"):
        for status in ("open", "closed"):
            for row in talk.listed(kind, status):
                found += waivers_in(talk.read(row.num), talk.client.user, maintainers)
    return found


def answer_pushes(
    pushes: Pushes, rows: Mapping[str, Sequence[CachedVerdict]], maintainers: Collection[str], today: date
) -> tuple[list[Waiver], set[str]]:
    """Answer the commands in discussions about pushes: what is waived, and which files are to be judged again.

    `rows` are the files of each folder about which a discussion is open.
    """
    waivers: list[Waiver] = []
    paths: set[str] = set()
    for folder, num in pushes.open_ones().items():
        faults = (pushes.shared_faults if folder == ALL else unresolved)(rows[folder])
        context = AnswerContext(
            maintainers, pushes.leaderboard_id, today, [f.sha256 for f in faults], [], [f.status for f in faults]
        )

        def look_and_answer(
            num: int = num, context: AnswerContext = context, faults: Sequence[CachedVerdict] = faults
        ) -> None:
            talk = pushes.talk.read(num)
            if any(command.answer is None for command in commands_in(talk, pushes.talk.client.user)):
                paths.update(fault.path for fault in faults)
            waivers.extend(answer_commands(pushes.talk, talk, context))

        retry_write(look_and_answer)
    return waivers, paths
