"""What a row says on the page of its model: the row that counts, its values and notes, and the texts of requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated
from urllib.parse import unquote

from pydantic import Field

from bot.errors import Unwritable
from bot.evaluation.task import HubBenchmark, Task
from bot.evaluation.toml_file import spelled
from bot.publishing.addresses import evidence_link
from bot.publishing.entry import Entry
from bot.publishing.hub_evals.eval_result import ADDRESS, HubEvalResult
from bot.publishing.layout import Draft
from bot.publishing.publication import Marker, PostText
from bot.publishing.tables.mapping import TargetOptions
from bot.publishing.tables.values import RowView, exact, scaled
from bot.publishing.texts import COMMIT, FOOT, fitted
from bot.reporting.escape import brief, code, code_in_table, plain_markup, visible

MODEL = re.compile(r"(?![.-])[\w.-]+/(?![.-])[\w.-]+", re.ASCII)
Name = Annotated[str, spelled(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?", "write org, or org/name")]
LONGEST_NOTES = 500  # characters of a name and of notes
SHORT = 12  # digits of a commit in the notes
TOP = {"percent": Decimal(100), "proportion": Decimal(1)}
WAYS_OUT = (
    "While this request is open, the page of the model shows these scores as results of the community. "
    "After a merge, they count as the author's own. "
    "If you close the request, they are removed, and the bot does not propose these values again. "
    "If you close a second one, it proposes nothing more."
)


class ModelsOptions(TargetOptions):
    """Where results may be proposed. These requests go to repositories of strangers, so nothing is allowed by default.

    `organizations` are accounts on the Hub, or single models as `org/name`. `limit` is the number of model
    repositories that one settlement may open or change requests in.
    """

    organizations: Annotated[tuple[Name, ...], Field(min_length=1)]
    limit: Annotated[int, Field(gt=0, le=1000, strict=True)] = 20

    def allow(self, model_id: str) -> bool:
        """Tell whether results of this model may be proposed; what cannot be the id of a model on the Hub may not."""
        if not MODEL.fullmatch(model_id):
            return False
        return model_id in self.organizations or model_id.partition("/")[0] in self.organizations


def choose_row(rows: Iterable[Entry], head: str) -> Entry | None:
    """The complete row that counts: the newest one measured at the model's head, else the newest; or None."""
    complete = [row for row in rows if row.verdict == "accepted"]
    return max(complete, key=lambda row: (row.model.revision == head, row.age, row.key), default=None)


def eval_result_of(row: RowView, task: Task, hub: HubBenchmark, account: str, *, is_org: bool) -> HubEvalResult:
    """The entry of one task. Raises Unwritable with the reason where it must not be published."""
    if row.entry.verdict != "accepted":
        raise Unwritable("the row is incomplete")
    if task.quarantined:
        raise Unwritable(f"{task.id} is quarantined: {task.quarantined}")
    link = evidence_link(row.entry)
    if not ADDRESS.fullmatch(link) or not COMMIT.search(link):
        raise Unwritable("there is no link to its evidence at a commit")
    return HubEvalResult(
        dataset_id=hub.dataset,
        task_id=hub.task_id,
        value=value_of(row, task, hub),
        date=row.date,
        source_url=link,
        source_name=_line(row.leaderboard.title),
        source_user="" if is_org else account,
        source_org=account if is_org else "",
        notes=notes_of(row, task, hub),
    )


def value_of(row: RowView, task: Task, hub: HubBenchmark) -> Decimal:
    """The raw value in the benchmark's unit: never the normalized score. Raises Unwritable if there is none."""
    scored = row.task(task.id)
    raws = [scored.raw] if hub.leaf is None else [leaf.raw for leaf in scored.leaves if leaf.id == hub.leaf]
    if len(raws) != 1 or raws[0] is None:
        raise Unwritable(f"{hub.leaf or task.id} does not have exactly one raw value")
    value = scaled(exact(raws[0]) or Decimal(0), row.unit(task.id), hub.unit).normalize()
    if not 0 <= value <= TOP[hub.unit]:
        raise Unwritable(f"{value:f} is not a {hub.unit}")
    return value


def notes_of(row: RowView, task: Task, hub: HubBenchmark) -> str:
    """One line: harness and version, shots, chat template, samples, the model's commit, what the row rests on."""
    leaves = [leaf for leaf in row.task(task.id).leaves if hub.leaf in {None, leaf.id}]
    counts = {leaf.id: leaf.samples for leaf in leaves}
    samples = 0 if None in counts.values() else sum(count or 0 for count in counts.values())
    revision = row.entry.model.revision
    parts = [
        f"{row.entry.harness.name} {row.harness}".strip(),
        "" if task.num_fewshot is None else f"{task.num_fewshot}-shot",
        "chat template" if row.entry.model.chat_template else "",
        f"n={samples}" if samples else "",
        f"model revision {revision[:SHORT]}" if revision else "",
        f"evidence: {row.entry.rests_on}",
    ]
    return _line(", ".join(filter(None, parts)))


def _line(text: str) -> str:
    return brief(" ".join(text.split()), LONGEST_NOTES)


def model_request_text(entry: Entry, title: str, draft: Draft, mark: Marker) -> PostText:
    """The text of the request for one model; `title` is that of the leaderboard."""
    cells = draft.cells.get(entry.key, ())
    lines = ["| Task | Value | Before |", "| --- | ---: | ---: |"]
    lines += [f"| {code_in_table(cell.column)} | {cell.after} | {cell.before or '–'} |" for cell in cells]
    address = evidence_link(entry)
    addresses = [f"- Evidence: <{address}>"] if address else []
    body = [
        f"Evaluation results of {code(entry.model.id)}, from {code(title)}.",
        "\n".join(lines),
        "\n".join([*addresses, *(f"- {plain_markup(remark)}" for remark in draft.remarks)]),
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


def model_of(key: str) -> str:
    """The model that a row is about."""
    return "/".join(unquote(part) for part in key.split("/")[1:3])
