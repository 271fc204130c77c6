"""What the bot writes to the owner of a model: one request, what it adds, who measured it, and how to remove it."""

from __future__ import annotations

from collections.abc import Sequence

from bot.publishing.entry import Entry
from bot.publishing.layout import Draft, Links
from bot.publishing.publication import Marker, PostText
from bot.publishing.texts import FOOT, fitted
from bot.reporting.escape import code, code_in_table, visible

WAYS_OUT = (
    "These scores show on the page of the model while this request is open, marked as coming from the community; "
    "merged, they count as the author's own. Closing the request removes them, and they are not proposed again."
)


def model_request_text(entry: Entry, title: str, draft: Draft, links: Links, mark: Marker) -> PostText:
    """The text of the request for one model; `title` is that of the leaderboard."""
    cells = draft.cells.get(entry.key, ())
    lines = ["| Task | Value | Before |", "| --- | ---: | ---: |"]
    lines += [f"| {code_in_table(cell.column)} | {cell.after} | {cell.before or '–'} |" for cell in cells]
    body = [
        f"Evaluation results of {code(entry.model.id)}, from {code(title)}.",
        "\n".join(lines),
        "\n".join([*_links(links), *(f"- {remark}" for remark in _visible(draft.remarks))]),
        WAYS_OUT,
        FOOT,
    ]
    names = ", ".join(cell.column for cell in cells)
    return fitted(visible(f"Add evaluation results: {names}"), "\n\n".join(filter(None, body)), mark)


def _links(links: Links) -> list[str]:
    """The evidence, at a commit."""
    return [
        f"- {name}: <{address}>"
        for name, address in {"Entry": links.entry, "Evidence": links.evidence}.items()
        if address
    ]


def _visible(remarks: Sequence[str]) -> list[str]:
    return [visible(remark) for remark in remarks]
