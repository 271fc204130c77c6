"""The layout of a model's repository: one file for each task in `.eval_results`, never one that somebody else wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from operator import attrgetter
from typing import Any, ClassVar

from bot.errors import Unwritable
from bot.evaluation.finding import grouped
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.task import HubBenchmark, Task
from bot.publishing.hub_evals.eval_result import Claim, HubEvalResult, claims_in, has_tools, to_yaml
from bot.publishing.hub_evals.model_layout import choose_row, eval_result_of
from bot.publishing.layout import CellChange, Draft, RowChange, Sharing
from bot.publishing.publication import ClosedRequest, Marker, entry_marker, find_marker, row_mark
from bot.publishing.tables.values import RowView, Unit
from bot.publishing.yaml_text import load
from bot.reporting.escape import brief

ADVICE = (
    "the bot does not overwrite it; compare how both were measured, and if that value is wrong, tell its author there"
)
SAME = Decimal("1e-9")  # values that differ by less are the same, for readers keep doubles
PLACE = 300  # letters of a path and an address
DIGITS = 60  # of a value of somebody else


@dataclass(frozen=True, slots=True)
class OpenFiles:
    """The `.eval_results` files that an open request of a model's repository would add or change.

    `name` is how people call the request, such as `#3`; `is_ours` says that the bot's account opened it.
    """

    name: str
    is_ours: bool
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class ModelPage:
    """A model's repository as the Hub has it, and the benchmarks that a declaration names.

    `model` is the id that the Hub answers with, which differs where a repository was renamed. `head` is the
    commit at main. `requests` are all open requests with files in `.eval_results`. `benchmarks` holds for each dataset
    the bytes of its `eval.yaml` at its head, None if it has none; `published` the values on its board, where known.
    `account` is what the results are credited to, `url` where people see the repository. The caller reads all of it,
    with `.eval_results` of main and of every open request, and gives results to a draft only of organizations that
    `ModelsOptions.allow`.
    """

    model: str
    head: str
    account: str
    url: str = ""
    is_org: bool = False
    requests: Sequence[OpenFiles] = ()
    benchmarks: Mapping[str, bytes | None] = field(default_factory=dict)
    published: Mapping[str, Sequence[Decimal]] = field(default_factory=dict)

    def place_of(self, request: OpenFiles) -> str:
        """The name and address of a request, for people."""
        number = request.name.removeprefix("#")
        return f"{request.name} ({self.url}/discussions/{number})" if self.url else request.name


def claims(page: ModelPage, main: Mapping[str, bytes], leaderboard: str) -> Iterator[Claim]:
    """The values in files on main and in open requests."""
    for path, data in sorted(main.items()):
        yield from claims_in(data, path, is_ours=is_ours(data, leaderboard))
    for request in page.requests:
        for path, data in sorted(request.files.items()):
            if main.get(path) != data:
                ours = request.is_ours and is_ours(data, leaderboard)  # people edit ours, and another board has its own
                yield from claims_in(data, f"{path} in {page.place_of(request)}", is_ours=ours)


def signed(text: str, mark: Marker) -> bytes:
    """A file with the bot's mark and the digest of the rest in a first comment, which the Hub ignores."""
    return f"# {mark.render()} {_signature(text.encode())}\n{text}".encode()


def is_ours(data: bytes, leaderboard: str) -> bool:
    """Tell whether the bot wrote a file for this leaderboard, and nobody edited it since."""
    first, _, rest = data.partition(b"\n")
    comment = first.decode("utf-8", "replace")
    mark = find_marker(comment.removeprefix("# ")) if comment.startswith("#") else None
    is_signed = comment.rstrip().endswith(f" {_signature(rest)}")
    return mark is not None and mark.leaderboard == leaderboard and is_signed


def _signature(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def same_value(result: HubEvalResult, claims: Iterable[Claim]) -> str:
    """Who else already gives this value for the task, with or without tools, as a sentence; "" if nobody else has any.

    Raises Unwritable, with both values, where others have only different ones.
    """
    task = (result.dataset_id, result.task_id, has_tools(result.notes))
    others = [
        claim
        for claim in claims
        if (claim.dataset_id, claim.task_id, has_tools(claim.notes)) == task and not claim.is_ours
    ]
    for claim in others:
        if claim.value is not None and abs(claim.value - result.value) <= SAME:
            return f"{brief(claim.place, PLACE)} already has this value"
    for claim in others:
        there = "another value" if claim.value is None else brief(f"{claim.value:f}", DIGITS)
        place = brief(claim.place, PLACE)
        raise Unwritable(f"conflict: {place} has {there}, this result is {result.value:f}: {ADVICE}")
    return ""


def faults(answer: Any, paths: Mapping[str, str]) -> list[str]:
    """What is wrong with proposed files, from `evalResults` in a model's raw JSON; empty if all of them are shown.

    `paths` gives the task id of each file. The Hub may name a file by its path or without its folder. The client drops
    names and errors, so it is not used; items of another shape are ignored.
    """
    found = [item for item in answer if isinstance(item, dict)] if isinstance(answer, list) else []
    shown = grouped((item["filename"], item) for item in found if isinstance(item.get("filename"), str))
    said = []
    for path, task_id in paths.items():
        items = shown.get(path) or shown.get(path.rpartition("/")[2])
        if not items:
            said.append(f"the Hub does not show {path}")
        elif items[-1].get("error", "") != "":
            said.append(f"the Hub hides {path}: {brief(str(items[-1]['error']), 300)}")
        elif task_id not in map(_shown_task, items):
            said.append(f"the Hub shows {path} without the task {task_id}")
    return said


def _shown_task(item: Mapping[str, Any]) -> str | None:
    data = item.get("data")
    dataset = data.get("dataset") if isinstance(data, dict) else None
    task_id = dataset.get("task_id") if isinstance(dataset, dict) else None
    return None if task_id is None else str(task_id)


# What makes a new file; another commit of the same evidence makes none.
MEASURED = attrgetter("dataset_id", "task_id", "value", "date", "notes")
FOLDER = ".eval_results"
SUFFIXES = (".yaml", ".yml")
NOT_OURS = "it stays unchanged; only its owner can remove it"
BENCHMARK_FILE = "eval.yaml"
LARGEST_BENCHMARK = 1_000_000  # bytes
MOST_TASKS = 1_000
LONGEST_TASK_ID = 200  # characters of an id
# Harnesses that are frameworks of the Hub, by the name that results give them.
FRAMEWORKS = {"inspect": "inspect-ai", "inspect_ai": "inspect-ai", "inspect-ai": "inspect-ai", "mteb": "mteb"}


def _value(claim: Claim) -> tuple[str, ...]:
    """What makes a new value."""
    value = "" if claim.value is None else f"{claim.value.normalize():f}"
    return claim.dataset_id, claim.task_id, value


def eval_results_path(leaderboard: str, task_id: str) -> str:
    """The file of one task."""
    return f"{FOLDER}/{leaderboard}-{task_id}.yaml".replace(":", "%3A")


class EvalResultsLayout:
    """The changes are all rows of one model on one leaderboard; one of them counts, with its tasks that have `hub`.

    A value of somebody else that differs is a conflict: it is refused with both values, and nothing is written. The
    caller says so at the leaderboard, and never on the model's page.
    """

    sharing: ClassVar[Sharing] = "model"

    def __init__(self, leaderboard: Leaderboard, page: ModelPage) -> None:
        self.leaderboard, self.page = leaderboard, page
        self.tasks = [(task, task.hub) for task in leaderboard.tasks if task.hub is not None]
        self.files = {task.id: eval_results_path(leaderboard.id, task.id) for task, _ in self.tasks}

    def paths(self, listed: Collection[str]) -> tuple[str, ...]:
        """All result files among those listed, since conflicts are found by content, and the bot's own paths."""
        return tuple(dict.fromkeys([*self.files.values(), *sorted(path for path in listed if path.endswith(SUFFIXES))]))

    def draft(self, changes: Sequence[RowChange], current: Mapping[str, bytes]) -> Draft:
        """The files for the row that counts; without such a row the bot's files go, and its scores from the page."""
        row = self.row(changes)
        if row is None:
            return Draft(dict.fromkeys(self._ours(current)))
        if row.entry.model.id != self.page.model:
            moved = f"the repository {row.entry.model.id} is called {self.page.model} now; results do not move with it"
            return Draft(refused={change.key: moved for change in changes})
        return self._written(row, current, list(self._remarks(changes, row)))

    def row(self, changes: Sequence[RowChange]) -> RowView | None:
        """The row that counts, None if no row is complete."""
        chosen = choose_row([change.entry for change in changes if change.entry is not None], self.page.head)
        return None if chosen is None else RowView(chosen, self.leaderboard)

    def _remarks(self, changes: Sequence[RowChange], row: RowView) -> Iterator[str]:
        revision = row.entry.model.revision
        if revision != self.page.head:
            yield f"Measured at {revision[:12] or 'an unknown revision'}, which is not the head of main."
        others = sorted(change.key for change in changes if change.entry is not None and change.key != row.entry.key)
        if others:
            yield f"{row.entry.key} counts; the same model also has {', '.join(others)}."

    def _written(self, row: RowView, current: Mapping[str, bytes], remarks: list[str]) -> Draft:
        """A file for each task; the bot's files of tasks that are no longer mapped are deleted."""
        stale = [path for path in self._ours(current) if path not in self.files.values()]
        files: dict[str, bytes | None] = dict.fromkeys(stale)
        cells, refused = [], []
        for task, hub in self.tasks:
            path = self.files[task.id]
            try:
                result = self._result(row, task, hub)
                why = self._agreement(result, path, current)
                data = signed(to_yaml(result), entry_marker(row.entry))
            except Unwritable as error:
                refused.append(f"{task.id}: {error}")
                continue
            if why:
                remarks.append(f"{task.id}: {why}.")
            elif not self.is_same(current.get(path), data):
                files[path] = data
                before = [f"{each.value:f}" for each in _claims(current.get(path)) if each.value is not None]
                cells.append(CellChange(task.id, before[0] if before else None, f"{result.value:f}"))
        key = row.entry.key
        reasons = {key: "; ".join(refused)} if refused else {}
        return Draft(files, reasons, {key: tuple(cells)} if cells else {}, tuple(remarks))

    def _ours(self, current: Mapping[str, bytes]) -> list[str]:
        return [path for path, data in current.items() if is_ours(data, self.leaderboard.id)]

    def _result(self, row: RowView, task: Task, hub: HubBenchmark) -> HubEvalResult:
        """The entry of one task, checked against the benchmark. Raises Unwritable."""
        harness, data = row.entry.harness.name, self.page.benchmarks.get(hub.dataset)
        check_benchmark(data, hub.dataset, hub.task_id, harness, hub.framework_differs)
        check_unit(hub.unit, self.page.published.get(hub.dataset, ()), hub.dataset)
        return eval_result_of(row, task, hub, self.page.account, is_org=self.page.is_org)

    def _agreement(self, result: HubEvalResult, path: str, current: Mapping[str, bytes]) -> str:
        """Who already has the same value, "" if nobody has. Raises Unwritable for a conflict."""
        if path in current and not is_ours(current[path], self.leaderboard.id):
            raise Unwritable(f"conflict: {path} exists, and the bot did not write it for this leaderboard: {NOT_OURS}")
        return same_value(result, claims(self.page, current, self.leaderboard.id))

    @staticmethod
    def is_same(one: bytes | None, other: bytes | None) -> bool:
        """Tell whether both files say the same value about the same task, measured on the same day in the same way."""
        said = [list(map(MEASURED, _claims(data))) for data in (one, other)]
        return one == other or said[0] == said[1] != []

    @staticmethod
    def marks(files: Mapping[str, bytes | None]) -> frozenset[str]:
        """The marks of the values in files, for a file that goes that of none."""
        said = {path: list(map(_value, _claims(data))) for path, data in files.items()}
        return frozenset(row_mark(path, repr(values)) for path, values in said.items())

    def without(self, draft: Draft, closed: ClosedRequest) -> Draft:
        """A draft without the values that a closed request proposed: these are final."""
        files = {path: data for path, data in draft.files.items() if not all(map(closed.has, self.marks({path: data})))}
        cells = {
            key: tuple(cell for cell in row if self.files[cell.column] in files) for key, row in draft.cells.items()
        }
        return replace(draft, files=files, cells=cells)

    def shows(self, current: Mapping[str, bytes]) -> bool:
        """Tell whether a value of the bot is there for one of the tasks."""
        files = (current.get(path, b"") for path in self.files.values())
        return any(is_ours(data, self.leaderboard.id) and _claims(data) for data in files)


def _claims(data: bytes | None) -> tuple[Claim, ...]:
    """The values in a file of the bot; none if it is deleted."""
    return claims_in(data or b"", "")


def parse_benchmark(data: bytes) -> tuple[str, list[str]]:
    """The framework and the ids of the tasks in an `eval.yaml`; keys that frameworks add to a task are ignored.

    Raises Unwritable with the first fault.
    """
    if len(data) > LARGEST_BENCHMARK:
        raise Unwritable(f"{BENCHMARK_FILE} has {len(data):,} bytes, and the limit is {LARGEST_BENCHMARK:,}")
    try:
        found = load(data.decode())
    except UnicodeDecodeError:
        raise Unwritable(f"{BENCHMARK_FILE} is not UTF-8 text") from None
    except Unwritable as error:
        raise Unwritable(f"{BENCHMARK_FILE}: {error}") from None
    fields = found if isinstance(found, dict) else {}
    framework, tasks = fields.get("evaluation_framework"), fields.get("tasks")
    if not isinstance(tasks, list) or not 0 < len(tasks) <= MOST_TASKS:
        raise Unwritable(f"{BENCHMARK_FILE} has no list of at most {MOST_TASKS} tasks")
    ids = [task.get("id") if isinstance(task, dict) else None for task in tasks]
    for text in (framework, *ids):
        if not isinstance(text, str) or not 0 < len(text) <= LONGEST_TASK_ID or not text.isprintable():
            raise Unwritable(f"{BENCHMARK_FILE}: evaluation_framework, or the id of a task, is not a short text")
    if len(set(ids)) < len(ids):
        raise Unwritable(f"{BENCHMARK_FILE} has a task twice")
    return str(framework), list(map(str, ids))


def check_benchmark(data: bytes | None, dataset: str, task_id: str, harness: str, differs: str | None) -> None:
    """Raise Unwritable if a task is not one of a benchmark's tasks, or was run by another framework than it names.

    `differs` is the reason that the declaration gives for publishing all the same.
    """
    if data is None:
        raise Unwritable(f"{dataset} has no {BENCHMARK_FILE}, so it is not a benchmark of the Hub")
    framework, task_ids = parse_benchmark(data)
    if task_id not in task_ids:
        known = ", ".join(task_ids[:20])
        raise Unwritable(f"{dataset} has no task {task_id!r}; {BENCHMARK_FILE} has {known}")
    if FRAMEWORKS.get(harness.lower()) != framework and differs is None:
        named = f"{dataset} names the framework {framework}, but this was run with {harness}"
        raise Unwritable(f"{named}; the declaration may say framework_differs with a reason")


def check_unit(unit: Unit, published: Iterable[Decimal], dataset: str) -> None:
    """Raise Unwritable where the values on a benchmark's board are in another unit than the declaration says."""
    values = list(published)
    if unit == "percent" and values and max(values) <= 1:
        raise Unwritable(f'no value on the board of {dataset} is above 1: the unit seems to be "proportion"')
    if unit == "proportion" and values and max(values) > 1:
        raise Unwritable(f'the board of {dataset} has values above 1: the unit seems to be "percent"')
