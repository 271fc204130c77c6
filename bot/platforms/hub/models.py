"""The repositories of models as one target: each model has its own, in which anybody may propose results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from bot.errors import CallError, Gone, Refused
from bot.platforms.hub.address import MODELS, HubAddress
from bot.platforms.hub.client import HubClient
from bot.platforms.hub.source import HubSource
from bot.platforms.hub.target import HubTarget
from bot.platforms.source import TooLarge
from bot.platforms.target import Target
from bot.publishing.hub_evals import eval_result
from bot.publishing.hub_evals.eval_results_layout import (
    BENCHMARK_FILE,
    FOLDER,
    LARGEST_BENCHMARK,
    SUFFIXES,
    ModelPage,
    OpenFiles,
    faults,
)
from bot.publishing.layout import StoredEntries
from bot.publishing.publication import CurrentState, Marker, Publication

MOST_FILES = 200  # result files of one repository, and open requests with such files, that are looked at
SHOWN_WITHIN = 10.0  # seconds in which the Hub should show the files of a request


@dataclass
class HubModels(Target):
    """The target `hf://models`: requests about a model go to its own repository.

    No row is read back from here, and nobody comments here. `repository` opens the target of one model, `page` says
    what a proposal to it depends on. What a benchmark says is requested once.
    """

    name: ClassVar[str] = MODELS
    client: HubClient
    open_repository: Callable[[str], HubTarget]
    _benchmarks: dict[str, tuple[bytes | None, tuple[Decimal, ...]]] = field(default_factory=dict, repr=False)

    def repository(self, model: str) -> HubTarget:
        """The repository of one model. Raises CallError for what cannot be the id of one."""
        return self.open_repository(f"{MODELS}/{model}")

    def result_files(self, repository: HubTarget) -> list[str]:
        """The result files on main, without those that are too large for the Hub to show."""
        found = repository.source.walk(repository.head(), FOLDER)
        return [item.path for item in found if item.path.endswith(SUFFIXES) and item.size <= eval_result.LARGEST][
            :MOST_FILES
        ]

    def page(self, repository: HubTarget, datasets: Iterable[str]) -> ModelPage:
        """The state of a model's repository, with the benchmarks that are named.

        Raises Gone if there is no such model, and DiscussionsDisabled where it takes no requests.
        """
        ours = {num for num, _ in repository.requests}
        found = self.client.get_json(
            f"/api/models/{repository.address.name}", lambda answer: (str(answer["id"]), answer), **ASKED
        )
        proposed = _proposed_files(found[1].get("evalResults"))
        known = {name: self._benchmark(name) for name in datasets}
        return ModelPage(
            model=found[0],
            head=repository.head(),
            account=self.client.user,
            url=f"{self.client.endpoint}/{repository.address.name}",
            is_org=self.client.account.get("type") == "org",
            requests=[self._open_files(repository, num, paths, ours) for num, paths in proposed.items()],
            benchmarks={name: data for name, (data, _) in known.items()},
            published={name: values for name, (_, values) in known.items()},
        )

    @staticmethod
    def _open_files(repository: HubTarget, num: int, paths: list[str], ours: set[int]) -> OpenFiles:
        head = repository.refs.get(f"refs/pr/{num}")
        files: dict[str, bytes] = {}
        for path in paths if head else ():
            try:
                files |= repository.files.read([path], head or "")
            except TooLarge:
                continue
        return OpenFiles(f"#{num}", num in ours, files)

    def _benchmark(self, dataset: str) -> tuple[bytes | None, tuple[Decimal, ...]]:
        """A benchmark's `eval.yaml` at its head, None if it has none, and the values on its board."""
        if dataset not in self._benchmarks:
            source = HubSource(self.client, HubAddress("dataset", dataset))
            try:
                data = source.read(BENCHMARK_FILE, source.head(), LARGEST_BENCHMARK)
            except Gone:
                data = None
            except TooLarge:
                data = b""  # which is refused with the reason that it lists no tasks
            self._benchmarks[dataset] = data, self._values(dataset) if data else ()
        return self._benchmarks[dataset]

    def _values(self, dataset: str) -> tuple[Decimal, ...]:
        """The values on a benchmark's board, of derived models too; none where it has no board."""
        try:
            return self.client.get_json(f"/api/datasets/{dataset}/leaderboard", _values, base_model="false")
        except Refused:
            return ()

    def unshown(self, model: str, paths: Mapping[str, str]) -> list[str]:
        """The proposed files that the Hub does not show, with its reason; `paths` gives their task ids.

        The Hub is asked for some seconds before a file counts as not shown.
        """

        def look() -> list[str]:
            answer = self.client.get_json(f"/api/models/{model}", lambda found: found.get("evalResults"), **ASKED)
            return faults(answer, paths)

        def settled() -> bool | None:
            said[:] = look()
            return True if not any(one.startswith("the Hub does not show") for one in said) else None

        said: list[str] = []
        self.client.backoff.poll(settled, min(SHOWN_WITHIN, self.client.unknown_fate))
        return said

    # asked of every target; no row is stored here

    def check(self) -> None:
        """Raise CallError: only a watch, whose settings list the organizations, writes to models."""
        raise CallError(f"{MODELS} accepts only rows of a watch; docs/model-pages.md shows the settings")

    def head(self) -> str:
        """Always "": there is no common branch."""
        return ""

    def contains(self, commit: str) -> bool:
        """Always True: there is no common history that could lack a commit."""
        return True

    def scan_entries(self) -> StoredEntries:
        """Always none."""
        return StoredEntries()

    def read_state(self, mark: Marker, paths: tuple[str, ...]) -> CurrentState:
        """Always empty."""
        return CurrentState()

    def apply(self, publication: Publication) -> str:
        """Raise CallError: only the repository of one model is written to."""
        raise CallError(f"{MODELS} is not one repository")


ASKED = {"expand[]": "evalResults"}


def _proposed_files(answer: Any) -> dict[int, list[str]]:
    """The result files that open requests bring, by the requests' numbers, from the `evalResults` of a model."""
    found: dict[int, list[str]] = {}
    for item in answer if isinstance(answer, list) else ():
        num = item.get("pullRequest") if isinstance(item, dict) else None
        name = item.get("filename") if isinstance(num, int) else None
        if isinstance(num, int) and isinstance(name, str) and len(found) < MOST_FILES:
            path = name if name.startswith(f"{FOLDER}/") else f"{FOLDER}/{name}"
            if path not in found.setdefault(num, []):
                found[num].append(path)
    return found


def _values(answer: Any) -> tuple[Decimal, ...]:
    found = [row.get("value") for row in answer if isinstance(row, dict)]
    numbers = [value for value in found if isinstance(value, int | float) and not isinstance(value, bool)]
    return tuple(value for value in map(eval_result.number_of, map(repr, numbers)) if value is not None)
