"""The waivers that maintainers wrote in comments: read from every discussion, stored, and renewed from comments."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from contextlib import suppress

from bot.errors import DiscussionsDisabled
from bot.evaluation.leaderboard import Waiver
from bot.platforms.discussions import Comment, Discussions, Thread
from bot.service.commands import AnswerContext, answer_commands, commands_in, waivers_in
from bot.service.context import WatchContext
from bot.service.folders import ALL, FolderFault, Folders
from bot.service.items import Mark
from bot.service.quotas import CommandQuota
from bot.service.reading import judged, mark_changed
from bot.service.reconcile import retry_write
from bot.service.shown import shown_in


def dump_waivers(waivers: Sequence[Waiver]) -> str:
    """Waivers as text."""
    return json.dumps([waiver.model_dump(mode="json") for waiver in waivers])


def parse_waivers(text: str | None) -> list[Waiver]:
    """Waivers from text; none if there is no text."""
    return [Waiver.model_validate(row) for row in json.loads(text or "[]")]


def learn_waivers(context: WatchContext) -> None:
    """Take what maintainers waived: as remembered, or as all discussions at the source say.

    Where others are maintainers than before, every discussion is read once more, and all files are judged again: what
    a former maintainer waived does not count any more.
    """
    store, name, maintainers = context.store, context.name, sorted(context.watch.maintainers)
    kept, known = store.cursor(name, "waivers"), store.cursor(name, "maintainers")
    if kept is not None and known == json.dumps(maintainers):
        waivers = parse_waivers(kept)
        context.waivers[:] = [waiver for waiver in waivers if waiver.who in context.maintainers]
        if context.waivers != waivers:  # somebody may not write any more
            store.mark(name, [Mark("judge")], context.clock())
        return
    found: list[Waiver] = []
    if context.discussions is not None and maintainers:
        with suppress(DiscussionsDisabled):  # where nothing can be said, nothing was waived
            found = all_waivers(context.discussions, context.maintainers)
    context.waivers[:] = found
    with store.transaction():
        if kept is not None and parse_waivers(kept) != found:
            store.mark(name, [Mark("judge")], context.clock())
        store.set_cursor(name, "waivers", dump_waivers(found))
        store.set_cursor(name, "maintainers", json.dumps(maintainers))


def all_waivers(discussions: Discussions, maintainers: Container[str]) -> list[Waiver]:
    """All waivers that were ever given at a source, from the bot's answers there, of any age."""
    found: list[Waiver] = []
    for num in discussions.may_have_answers():
        found += waivers_in(discussions.read(num), discussions.client.user, maintainers)
    return found


def answer_folders(folders: Folders) -> None:
    """Answer the commands in open discussions about pushes, and judge again what they concern."""
    context = folders.context
    try:
        open_ones = folders.open_ones()
    except DiscussionsDisabled as refusal:
        folders.report.say("unchanged", "discussions", str(refusal))
        return
    for folder, num in open_ones.items():
        count = folders.discussions.counts.get(num)
        if count is not None and context.store.cursor(context.name, f"talk {num}") == str(count):
            continue  # no new comments since
        folders.report.attempt([], lambda f=folder, n=num: retry_write(lambda: _answer(folders, n, f)))  # type: ignore[misc]


def _answer(folders: Folders, num: int, folder: str) -> None:
    context, discussions = folders.context, folders.discussions
    thread = discussions.read(num)
    if all(command.answer is not None for command in commands_in(thread, discussions.client.user)):
        context.store.set_cursor(context.name, f"talk {num}", str(discussions.counts.get(num)))
        return
    faults = folders.shared_faults() if folder == ALL else folders.faults(folder)
    verdicts = [fault.verdict for fault in faults]
    found = context.store.submissions_at(context.name, [verdict.path for verdict in verdicts])
    about = AnswerContext(
        context.maintainers,
        context.leaderboard.id,
        context.today,
        lambda comment: shown_files(thread, comment, faults),
        [context.judge([one]) for one in found.values()],
        [verdict.status for verdict in verdicts],
    )
    waivers = answer_commands(discussions, thread, about, CommandQuota(context).take).waivers
    context.waivers += [waiver for waiver in waivers if waiver not in context.waivers]
    again = judged(context, list(found.values()))
    with context.store.transaction():
        context.store.set_cursor(context.name, "waivers", dump_waivers(context.waivers))
        context.store.set_verdicts(context.name, {one.path: (one.key, one.status) for one in again})
        mark_changed(context, [], again, found)


def shown_files(thread: Thread, comment: Comment, faults: Sequence[FolderFault]) -> list[str]:
    """The SHA-256 of those faulty files that the bot's text showed when a comment was written."""
    named = shown_in(thread.opening, comment)
    return [fault.verdict.sha256 for fault in faults if fault.verdict.sha256 in named]
