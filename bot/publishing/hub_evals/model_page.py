"""The state of a model's repository that a proposal depends on, and the comparison with values of others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from bot.publishing.hub_evals.eval_result import Claim, HubEvalResult, claims_in
from bot.publishing.publication import Marker, find_marker
from bot.reporting.escape import brief

ADVICE = (
    "the bot does not overwrite it; compare how both were measured, and if that value is wrong, tell its author there"
)
SAME = Decimal("1e-9")  # values that differ by less are the same, for readers keep doubles
PLACE = 300  # letters of a path and an address
DIGITS = 60  # of a value of somebody else
AgreementState = Literal["absent", "same", "ours", "conflict"]


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
        """A request as people find it."""
        number = request.name.removeprefix("#")
        return f"{request.name} ({self.url}/discussions/{number})" if self.url else request.name


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a value compares with existing values of its task; `why` is a sentence for people.

    `absent`: there is no other value. `same`: somebody else has the same value. `ours`: only the bot has a value, on
    main or in its own request. `conflict`: somebody else has a different value, so nothing is written.
    """

    state: AgreementState
    why: str = ""


def claims(page: ModelPage, main: Mapping[str, bytes], leaderboard: str) -> Iterator[Claim]:
    """The values in files on main and in open requests."""
    for path, data in sorted(main.items()):
        yield from claims_in(data, path, is_ours=is_ours(data, leaderboard))
    for request in page.requests:
        for path, data in sorted(request.files.items()):
            if main.get(path) != data:
                yield from claims_in(data, f"{path} in {page.place_of(request)}", is_ours=request.is_ours)


def signed(text: str, mark: Marker) -> bytes:
    """A file with the bot's mark and the digest of the rest in a first comment, which the Hub ignores."""
    return f"# {mark.render()} {_signature(text.encode())}\n{text}".encode()


def is_ours(data: bytes, leaderboard: str) -> bool:
    """Tell whether the bot wrote a file for this leaderboard, and nobody edited it since."""
    first, _, rest = data.partition(b"\n")
    comment = first.decode("utf-8", "replace")
    mark = find_marker(comment) if comment.startswith("#") else None
    is_signed = comment.rstrip().endswith(f" {_signature(rest)}")
    return mark is not None and mark.leaderboard == leaderboard and is_signed


def _signature(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def judge_value(result: HubEvalResult, said: Sequence[Claim]) -> Agreement:
    """Compare a value with those of others for the same task, with or without tools."""
    task = (result.dataset_id, result.task_id, result.has_tools)
    about = [claim for claim in said if (claim.dataset_id, claim.task_id, claim.has_tools) == task]
    others = [claim for claim in about if not claim.is_ours]
    agreeing = [claim for claim in others if _agrees(claim, result.value)]
    if agreeing:
        return Agreement("same", f"{brief(agreeing[0].place, PLACE)} already has this value")
    if others:
        there = "another value" if others[0].value is None else brief(f"{others[0].value:f}", DIGITS)
        why = f"{brief(others[0].place, PLACE)} has {there}, this result is {result.value:f}: {ADVICE}"
        return Agreement("conflict", why)
    return Agreement("ours" if about else "absent")


def _agrees(claim: Claim, value: Decimal) -> bool:
    return claim.value is not None and abs(claim.value - value) <= SAME


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A result file as the Hub shows it: `error` is its message where it hides the file, "" else."""

    filename: str
    task_ids: tuple[str, ...]
    error: str = ""


def shown_files(answer: Any) -> Mapping[str, ShownFile]:
    """The files in `evalResults` of a model's raw JSON, by name; the client drops names and errors, so it is not asked.

    Items of another shape are ignored.
    """
    found: dict[str, ShownFile] = {}
    for item in answer if isinstance(answer, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("filename"), str):
            continue
        name, data = item["filename"], item.get("data")
        dataset = data.get("dataset") if isinstance(data, dict) else None
        task_id = dataset.get("task_id") if isinstance(dataset, dict) else None
        tasks = found[name].task_ids if name in found else ()
        error = brief(str(item["error"]), 300) if "error" in item else ""
        found[name] = ShownFile(name, (*tasks, str(task_id)) if task_id is not None else tasks, error)
    return found


def faults(answer: Any, paths: Mapping[str, str]) -> list[str]:
    """The faults of proposed files, empty if the Hub shows all of them; `paths` gives the task id of each file.

    The Hub may name a file by its path or without its folder.
    """
    shown = shown_files(answer)
    said = []
    for path, task_id in paths.items():
        file = shown.get(path) or shown.get(path.rpartition("/")[2])
        if file is None:
            said.append(f"the Hub does not show {path}")
        elif file.error:
            said.append(f"the Hub hides {path}: {file.error}")
        elif task_id not in file.task_ids:
            said.append(f"the Hub shows {path} without the task {task_id}")
    return said
