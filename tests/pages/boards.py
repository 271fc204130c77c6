"""Boards of made rows for tests of pages, and what a reader finds on a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.evaluation.row_key import RowKey
from bot.evaluation.score import Scores, average_of, group_scores
from bot.pages.content import PageContent
from bot.pages.site import Site
from bot.publishing.board import Board, make_board
from bot.publishing.entry import Entry, Remark, entry_of
from bot.publishing.models import ModelFacts
from examples.make_results import make_result
from tests.evaluation.judging import ABSENT, EXAMPLES, declared, entry_from, outcome_of, patch

# A script, a picture that fails, a name written from right to left, one of 200 letters, and none.
HOSTILE = (
    "evil/<script>alert(1)</script>",
    'evil/"><img src=x onerror=alert(1)>',
    "evil/\u202etxt.exe",
    "evil/{{ 7 * 7 }}",
    "evil/" + "long" * 50,
    "evil/`|` [x](javascript:alert(1))",
    "evil/Ünïcode-🙂",
    "=cmd|' /C calc'!A0",
)


@cache
def generated(count: int) -> tuple[Entry, ...]:
    """Rows of models that do not exist."""
    return tuple(
        entry_from(make_result(f"org-{i % 7}/model-{i:03}", 0.1 + 0.8 * (i * 37 % 101) / 101, i, padding=10))
        for i in range(count)
    )


@cache
def examples() -> tuple[Entry, ...]:
    """The rows of the example files."""
    rows = [row for file in EXAMPLES if (row := outcome_of(file.read_bytes()).row) is not None]
    return tuple(entry for row in rows if (entry := entry_of(row)) is not None)


@cache
def hostile() -> tuple[Entry, ...]:
    """Rows whose names, warnings and files are meant to break a page; two of them have a hole."""
    return tuple(_named(name, number) for number, name in enumerate(HOSTILE))


def _named(name: str, number: int) -> Entry:
    data = make_result("example-org/model", 0.5, number, padding=10)
    if number < 2:
        data = patch(data, "/results/leaderboard_mmlu_pro", ABSENT)
    entry = entry_from(data, source="hf://datasets/a/b", commit="0" * 40)
    model = replace(entry.model, id=name)
    key = RowKey("open-llm-v2", name, model.revision, model.precision, chat_template=False)
    remark = Remark("not-comparable", f"{name}\n</p><script>alert(2)</script>")
    files = (replace(entry.evidence[0], path=f"{name}.json", submitter=name),)
    return replace(entry, key=key.text, model=model, warnings=(remark,), evidence=files)


@cache
def varied() -> tuple[Entry, ...]:
    """Rows near each other and far apart, measured alike and differently, with few questions, holes and one task."""
    rows = [entry_from(make_result(f"org/model-{i:02}", 0.4 + i * i / 400, i, padding=10)) for i in range(13)]
    changes: list[Callable[[Entry], Entry]] = [
        lambda row: replace(row, model=replace(row.model, precision="4bit")),
        lambda row: replace(row, num_fewshot=dict.fromkeys(row.num_fewshot, 7)),
        lambda row: replace(row, tasks=row.tasks[3:], average=None),
        lambda row: replace(row, tasks=row.tasks[:1], average=None),
        lambda row: _with_leaves(row, lower_bound="1/3"),
        lambda row: _with_leaves(row, metric="other,none"),
        lambda row: _with_leaves(row, samples=100),
        lambda row: _with_leaves(row, stderr=None),
        lambda row: replace(row, tasks=tuple(replace(task, stderr=None) for task in row.tasks)),
        lambda row: replace(row, warnings=(Remark("quantized-run", "the model was quantized"),)),
    ]
    made = [*rows[:4], *(change(row) for change, row in zip(changes, rows[3:], strict=True))]
    return tuple(
        replace(row, key=f"{row.key}-{place}", model=replace(row.model, id=f"org/row-{place:02}"))
        for place, row in enumerate(made)
    )


def _with_leaves(entry: Entry, **changed: Any) -> Entry:
    """The entry with other values in the leaves of its last task."""
    *others, last = entry.tasks
    return replace(entry, tasks=(*others, replace(last, leaves=tuple(replace(one, **changed) for one in last.leaves))))


def board_of_rows(entries: tuple[Entry, ...]) -> Board:
    """The board of these rows."""
    return make_board(entries, declared())


def site_of(entries: tuple[Entry, ...], target: str = "") -> Site:
    """The site of these rows."""
    return Site(PageContent(board_of_rows(entries), target))


def site_of_sixty_tasks() -> Site:
    """A site of rows whose six tasks stand ten times, each under a name of its own."""
    board = declared()
    tasks = tuple(
        task.model_copy(update={"id": f"{task.id}_{part}", "title": f"{task.title} {part}"})
        for part in range(10)
        for task in board.tasks
    )
    rows = tuple(
        replace(row, tasks=tuple(replace(task, id=f"{task.id}_{part}") for part in range(10) for task in row.tasks))
        for row in generated(40)
    )
    return Site(PageContent(make_board(rows, board.model_copy(update={"tasks": tasks}))))


GROUPS = {
    "Classification": ("Banking77", "Imdb", "MassiveIntent", "ToxicConversations"),
    "PairClassification": ("SprintDuplicateQuestions", "TwitterSemEval2015", "TwitterURLCorpus"),
    "Summarization": ("SummEval",),
    "Retrieval": ("ArguAna", "CQADupstackGaming", "ClimateFEVERHardNegatives", "FiQA2018", "TRECCOVID"),
}
FAR_OFF = ("FiQA2018", 5.1)  # a score among 40 to 70


def site_of_groups() -> Site:
    """A site of 13 tasks in four groups, and one beside them; one score is far from the others of its row."""
    first, *_ = declared().tasks
    named = [(name, group) for group, names in GROUPS.items() for name in names] + [("IFEval", None)]
    tasks = tuple(first.model_copy(update={"id": name, "title": name, "group": group}) for name, group in named)
    board = declared().model_copy(update={"tasks": tasks, "groups": GROUPS})
    rows = [_grouped(row, place, [name for name, _ in named]) for place, row in enumerate(generated(14))]
    return Site(PageContent(make_board(rows, board)))


def _grouped(row: Entry, place: int, names: list[str]) -> Entry:
    """A row whose scores rise by its place, each with a noise of a point or two."""
    tasks = []
    for at, name in enumerate(names):
        score = FAR_OFF[1] if (place, name) == (4, FAR_OFF[0]) else 40.0 + 2 * place + at % 5 + (place * 7 + at * 3) % 4
        like = row.tasks[at % 6]
        leaf = replace(like.leaves[0], id=name, raw=score / 100, score=score, lower_bound="0", stderr=0.01)
        task = replace(like, id=name, title=name, raw=score / 100, score=score, stderr=1.0, leaves=(leaf,))
        tasks.append(task)
    average = Scores(average_of([task.score for task in tasks]), tuple(tasks))
    return replace(
        row, tasks=tuple(tasks), groups=group_scores(tasks, GROUPS), average=average.average, stderr=average.stderr
    )


def sized(models: int = 19) -> Site:
    """A site of 20 rows, with size, licence and type of so many models; one of 8 billion is named 14B."""
    best = "org-6/model-013"
    entries = tuple(
        replace(
            row, model=replace(row.model, id=f"{best}-14B" if row.model.id == best else row.model.id, parameters=None)
        )
        for row in generated(20)
    )
    known = {
        entry.key: ModelFacts(
            (place % 10 + 1) * 2_000_000_000, ("mit", "apache-2.0")[place % 2], "merge", "a/b", "2026-03-02"
        )
        for place, entry in enumerate(entries[:models])
    }
    return Site(PageContent(board_of_rows(entries), facts=known))


@dataclass
class Found(HTMLParser):
    """What a page holds: tables as texts, addresses, the names of its elements."""

    tables: list[list[list[str]]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    elements: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    text: str = ""
    is_cell: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.elements.add(tag)
        self.attributes.update(values)
        if "id" in values:
            self.ids.append(values["id"])
        if "href" in values:
            (self.loads if tag == "link" else self.links).append(values["href"])
        if "src" in values:
            self.loads.append(values["src"])
        match tag:
            case "table":
                self.tables.append([])
            case "tr":
                self.tables[-1].append([])
            case "td" | "th":
                self.tables[-1][-1].append("")
                self.is_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th", "tr", "table"}:
            self.is_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.is_cell:
            self.tables[-1][-1][-1] += data


def data_of(script: bytes) -> dict[str, Any]:
    """The data of the comparison's script, before it names the parts of each row."""
    return msgspec.json.decode(script.partition(b"leaderboard = ")[2].partition(b";\n")[0])


@cache
def found(page: bytes) -> Found:
    """Read a page."""
    parser = Found()
    parser.feed(page.decode())
    return parser


def site_of_long_names(tasks: int, rows: int = 12) -> Site:
    """A site of long words: titles of 50 letters without a space, names of 70, and a title of the board of 170."""
    titles = ("CharlemagneTransubstantiationRetrievalClassificationP2P"[:50], "x" * 50, "Short", "un_der_" * 7)
    models = ("Model" * 14, "Meta-Llama-3.1-70B-Instruct-abliterated-GGUF-Q4_K_M-dpo-merged-v2.1-final", "short")
    board = declared()
    kept = tuple(
        board.tasks[place % 3].model_copy(update={"id": f"t{place}", "title": titles[place % len(titles)]})
        for place in range(tasks)
    )
    named = board.model_copy(
        update={"title": "A long title of a leaderboard of many languages " * 3 + "and more " * 3, "tasks": kept}
    )
    entries = tuple(
        replace(
            row,
            key=f"{row.key}-{place}",
            model=replace(row.model, id=f"a-rather-long-organization/{models[place % len(models)][:66]}{place:04}"),
            tasks=tuple(replace(row.tasks[at % 3], id=task.id, title=task.title) for at, task in enumerate(kept)),
            average=None,
            stderr=None,
        )
        for place, row in enumerate(generated(rows))
    )
    scored = tuple(
        replace(row, average=scores.average, stderr=scores.stderr)
        for row in entries
        for scores in [Scores(average_of([task.score for task in row.tasks]), row.tasks)]
    )
    return Site(PageContent(make_board(scored, named)))


# Right answers of three rows in seven tasks of 1,000 questions.
ANSWERS = ((600,) * 7, (550,) * 4 + (610,) * 3, (597,) * 7)


def site_of_answers() -> Site:
    """A site of rows without standard errors, whose values tell how many answers are right."""
    *_, one = declared().tasks
    board = declared().model_copy(
        update={"tasks": tuple(one.model_copy(update={"id": f"t{at}", "title": f"Task {at}"}) for at in range(7))}
    )
    rows = []
    for row, rights in zip(generated(3), ANSWERS, strict=True):
        (leaf,) = row.tasks[-1].leaves
        tasks = tuple(
            replace(
                row.tasks[-1], id=f"t{at}", title=f"Task {at}", raw=raw, score=100 * raw, stderr=None, leaves=(own,)
            )
            for at, raw in enumerate((right + at) / 1000 for at, right in enumerate(rights))
            for own in [
                replace(leaf, id=f"t{at}", raw=raw, score=100 * raw, stderr=None, samples=1000, lower_bound="0")
            ]
        )
        average = average_of([task.score for task in tasks])
        rows.append(replace(row, tasks=tasks, average=average, stderr=None, num_samples={}, definitions={}))
    return Site(PageContent(make_board(rows, board)))
