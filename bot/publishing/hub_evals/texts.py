"""The request that the bot opens for a model's owner: the results, who measured them, and how to remove them."""

from __future__ import annotations

from bot.publishing.entry import Entry
from bot.publishing.layout import Draft, Links
from bot.publishing.publication import Marker, PostText
from bot.publishing.texts import FOOT, fitted
from bot.reporting.escape import code, code_in_table, plain_markup, visible

WAYS_OUT = (
    "While this request is open, the page of the model shows these scores as results of the community. "
    "After a merge, they count as the author's own. "
    "If you close the request, they are removed, and the bot does not propose these values again. "
    "If you close a second one, it proposes nothing more."
)


def model_request_text(entry: Entry, title: str, draft: Draft, links: Links, mark: Marker) -> PostText:
    """The text of the request for one model; `title` is that of the leaderboard."""
    cells = draft.cells.get(entry.key, ())
    lines = ["| Task | Value | Before |", "| --- | ---: | ---: |"]
    lines += [f"| {code_in_table(cell.column)} | {cell.after} | {cell.before or '–'} |" for cell in cells]
    body = [
        f"Evaluation results of {code(entry.model.id)}, from {code(title)}.",
        "\n".join(lines),
        "\n".join([*_links(links), *(f"- {plain_markup(remark)}" for remark in draft.remarks)]),
        WAYS_OUT,
        FOOT,
    ]
    names = ", ".join(cell.column for cell in cells)
    return fitted(visible(f"Add evaluation results: {names}"), "\n\n".join(filter(None, body)), mark)


def model_withdrawn_text(model: str, title: str, mark: Marker) -> PostText:
    """The text of a request that removes results which were merged, because their submission was withdrawn."""
    said = f"The people who measured the evaluation results of {code(model)} from {code(title)} withdrew them."
    return fitted(visible(f"Remove evaluation results of {title}"), f"{said}\n\n{FOOT}", mark)


def model_mark(model: str, leaderboard: str) -> Marker:
    """The mark of the one request that a model gets for a leaderboard."""
    return Marker("model", f"{leaderboard} of {model}", leaderboard)


def _links(links: Links) -> list[str]:
    """The evidence, at a commit."""
    return [
        f"- {name}: <{address}>"
        for name, address in {"Entry": links.entry, "Evidence": links.evidence}.items()
        if address
    ]
