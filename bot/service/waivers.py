"""What maintainers waived by comments: read from every discussion, kept as text, and looked for in new comments."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from bot.evaluation.leaderboard import Waiver
from bot.platforms.hub.discussions import HubDiscussions
from bot.service.commands import AnswerContext, answer_commands, commands_in, waivers_in
from bot.service.folders import ALL, FolderFault, Folders
from bot.service.reading import judged, mark_changed
from bot.service.reconcile import retry_write


def dump_waivers(waivers: Sequence[Waiver]) -> str:
    """Waivers as text."""
    return json.dumps([waiver.model_dump(mode="json") for waiver in waivers])


def parse_waivers(text: str | None) -> list[Waiver]:
    """Waivers from text; none where there is no text."""
    return [Waiver.model_validate(row) for row in json.loads(text or "[]")]


def all_waivers(discussions: HubDiscussions, maintainers: Collection[str]) -> list[Waiver]:
    """What was ever waived at a source, found in our answers there; every discussion is read."""
    found: list[Waiver] = []
    for kind in ("pull_request", "discussion"):
        for status in ("open", "closed"):
            for row in discussions.listed(kind, status):
                found += waivers_in(discussions.read(row.num), discussions.client.user, maintainers)
    return found


def answer_folders(folders: Folders) -> None:
    """Answer the commands in open discussions about pushes, and judge again what they concern."""
    for folder, num in folders.open_ones().items():
        faults = folders.shared_faults() if folder == ALL else folders.faults(folder)
        folders.report.attempt([], lambda f=faults, n=num: retry_write(lambda: _answer(folders, n, f)))  # type: ignore[misc]


def _answer(folders: Folders, num: int, faults: Sequence[FolderFault]) -> None:
    context, discussions = folders.context, folders.discussions
    thread = discussions.read(num)
    if all(command.answer is not None for command in commands_in(thread, discussions.client.user)):
        return
    verdicts = [fault.verdict for fault in faults]
    about = AnswerContext(
        context.watch.maintainers,
        context.leaderboard.id,
        context.today,
        [verdict.sha256 for verdict in verdicts],
        [],
        [verdict.status for verdict in verdicts],
    )
    waivers = answer_commands(discussions, thread, about)
    context.waivers += [waiver for waiver in waivers if waiver not in context.waivers]
    found = context.store.submissions_at(context.name, [verdict.path for verdict in verdicts])
    again = judged(context, list(found.values()))
    with context.store.transaction():
        context.store.set_cursor(context.name, "waivers", dump_waivers(context.waivers))
        context.store.set_verdicts(context.name, {one.path: (one.key, one.status) for one in again})
        mark_changed(context, [], again, found)
