"""Two people and the bot write one table, act after act: no hand edit is lost, and every request merges."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.platforms.github.fixtures import github
from tests.service.shared_tables import SERVICES, SharedTable, shared_table

__all__ = ["github"]
Right = tuple[int, int, int]
SHOWN: dict[Right, str] = {(50, 60, 70): "58.33", (60, 60, 70): "61.67", (40, 50, 60): "47.50", (70, 70, 70): "67.50"}
MODELS = [f"acme/m{number}" for number in range(12)]


@dataclass
class Acts:
    """What two people do, with what must be so afterwards.

    `hand` are the lines of the rows that people wrote, `notes` what they noted at rows of the bot. `newest` is what the
    source says of each model, `declined` are the values that people did not want.
    """

    shared: SharedTable
    chance: random.Random
    hand: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    newest: dict[str, str] = field(default_factory=dict)
    declined: set[tuple[str, str]] = field(default_factory=set)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hand = {line.split(",")[0]: line for line in self.lines()}

    def lines(self, request: int = 0) -> list[str]:
        return self.shared.table(request).decode().splitlines()[1:]

    def values(self, request: int = 0) -> dict[str, str]:
        """The averages of the bot's rows."""
        cells = [line.split(",") for line in self.lines(request)]
        return {name: average for name, average, _ in cells if name in MODELS}

    def push(self, lines: list[str]) -> None:
        self.shared.edit("\n".join(["Model,Average,Note", *lines, ""]).encode())

    def pick(self, names: list[str]) -> str | None:
        return self.chance.choice(names) if names else None

    # the acts

    def adds_a_row(self) -> None:
        name, lines = f"person-{len(self.told)}", self.lines()
        self.hand[name] = f"{name},{self.chance.randint(0, 99)}.00,by hand"
        lines.insert(self.chance.choice([0, len(lines) // 2, len(lines), len(lines)]), self.hand[name])
        self.push(lines)

    def changes_a_row(self) -> None:
        lines, name = self.lines(), self.pick(list(self.hand))
        if name is not None:
            old, self.hand[name] = self.hand[name], f"{name},{self.chance.randint(0, 99)}.50,changed {len(self.told)}"
            self.push([self.hand[name] if line == old else line for line in lines])

    def removes_a_row(self) -> None:
        lines, name = self.lines(), self.pick(list(self.hand))
        if name is not None:
            lines.remove(self.hand.pop(name))
            self.push(lines)

    def moves_a_row(self) -> None:
        lines = self.lines()
        if lines:
            lines.insert(self.chance.randrange(len(lines)), lines.pop(self.chance.randrange(len(lines))))
            self.push(lines)

    def notes_something(self) -> None:
        lines, name = self.lines(), self.pick(list(self.values()))
        if name is not None:
            self.notes[name] = f"seen {len(self.told)}"
            found = [line.split(",") for line in lines]
            self.push([",".join([*one[:2], self.notes[name] if one[0] == name else one[2]]) for one in found])

    def takes_a_row_of_the_bot(self) -> None:
        self.shared.settle()  # which sees that it was merged
        lines, name = self.lines(), self.pick(list(self.values()))
        if name is not None:
            self.declined.add((name, self.values()[name]))
            self.notes.pop(name, None)
            self.push([line for line in lines if line.split(",")[0] != name])

    def measures(self) -> None:
        model, right = self.chance.choice(MODELS), self.chance.choice(list(SHOWN))
        self.newest[model] = SHOWN[right]
        self.shared.push(model, right)

    def merges(self) -> None:
        for request in self.shared.requests():
            if not self.shared.conflicts(request):
                self.shared.merge(request)

    def closes(self) -> None:
        for request in self.shared.requests():
            main = self.values()
            self.declined |= {one for one in self.values(request).items() if main.get(one[0]) != one[1]}
            self.shared.close(request)

    def act(self) -> None:
        weights = {
            self.adds_a_row: 5, self.changes_a_row: 5, self.removes_a_row: 1, self.moves_a_row: 2,
            self.notes_something: 2, self.takes_a_row_of_the_bot: 0.5, self.measures: 6, self.merges: 2,
            self.closes: 0.5,
        }  # fmt: skip
        [done] = self.chance.choices(list(weights), list(weights.values()))
        done()
        self.told.append(done.__name__)

    # what must be so

    def check_main(self) -> None:
        lines = self.lines()
        names = [line.split(",")[0] for line in lines]
        assert len(names) == len(set(names)), self.told
        assert sorted(line for line in lines if line.split(",")[0] not in MODELS) == sorted(self.hand.values()), (
            self.told
        )
        noted = {name: note for name, _, note in (line.split(",") for line in lines) if name in MODELS and note}
        assert noted == self.notes, self.told

    def check_settled(self) -> None:
        """Two passes later: one request at most, which merges, and what it proposes is what the source says."""
        for _ in range(2):
            self.shared.settle()
        self.check_main()
        requests, main = self.shared.requests(), self.values()
        assert len(requests) <= 1, self.told
        assert [self.shared.conflicts(one) for one in requests] == [[] for _ in requests], self.told
        wanted = {one for one in self.newest.items() if one not in self.declined or main.get(one[0]) == one[1]}
        proposed = self.values(requests[0]) if requests else {}
        assert {one for one in wanted if one not in {*main.items(), *proposed.items()}} == set(), self.told
        unwanted = {one for one in proposed.items() if one in self.declined and main.get(one[0]) != one[1]}
        assert unwanted == set(), self.told


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("acts", [6, pytest.param(200, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("seed", [1])
def test_no_hand_edit_is_lost_and_every_request_merges(
    request: pytest.FixtureRequest, tmp_path: Path, service: str, acts: int, seed: int
) -> None:
    story = Acts(shared_table(request, service, tmp_path), random.Random(seed))
    for _ in range(acts):
        story.act()
        story.check_main()
        if story.chance.random() < 0.5:
            story.check_settled()
    story.check_settled()
