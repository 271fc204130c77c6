"""A watch on the local Hub that publishes on the pages of models, told in verbs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from bot.service.settings.config import Watch, parse_settings
from bot.service.watch.outcome import Outcome
from bot.service.watch.passes import settle_watches
from tests.service.stories import Story
from tests.world.discussions import Discussion
from tests.world.eval_results import of_model
from tests.world.git import Repository
from tests.world.results import TINY

SETTINGS = """
[[watches]]
name = "tiny"
leaderboard = "tiny.toml"
source = "hf://datasets/acme/results"
comments = false
[[watches.targets]]
to = "hf://models"
[watches.targets.models]
organizations = ["acme"]
"""
HUB = """
[tasks.hub]
dataset = "bench/sums"
task_id = "sums"
unit = "percent"
leaf = "sums_plus"
framework_differs = "the benchmark names inspect-ai"

[[tasks]]
id = "logic"
"""
LOGIC = """
[tasks.hub]
dataset = "bench/logic"
task_id = "logic_all"
unit = "percent"
framework_differs = "the benchmark names inspect-ai"
"""
EVAL = b"name: Sums\nevaluation_framework: inspect-ai\ntasks:\n- id: %s\n"
MODEL, OTHER = "acme/atlas-7b", "acme/borea-1b"
SUMS, LOGICS = ".eval_results/tiny-sums.yaml", ".eval_results/tiny-logic.yaml"
THEIRS = "- dataset: {id: bench/sums, task_id: sums}\n  value: %s\n"


@dataclass
class ModelStory(Story):
    """A watch that publishes on the pages of models."""

    settings: str = SETTINGS
    model: Repository = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        (self.folder / "tiny.toml").write_text(TINY.replace('\n[[tasks]]\nid = "logic"\n', HUB) + LOGIC)
        for name, task in (("bench/sums", b"sums"), ("bench/logic", b"logic_all")):
            self.hub.push(self.hub.repository(name), {"eval.yaml": EVAL % task}, user="bench")
        self.model = self.new_model(MODEL)

    def new_model(self, name: str) -> Repository:
        made = self.hub.repository(name, "model")
        self.hub.push(made, {"README.md": b"---\nlicense: mit\n---\n# A model\n"}, user="owner")
        return made

    @property
    def watch(self) -> Watch:
        return parse_settings(self.settings, "bot.toml").watches[0]

    def declare(self, old: str, new: str) -> None:
        file = self.folder / "tiny.toml"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    def approve(self) -> list[Outcome]:
        """Settle, approve the plan that is held, and settle again."""
        [held] = self.said("held")
        digest = held.partition("approve plan ")[2].split()[0]
        [done] = settle_watches(self.contexts, [self.watch], approve=digest)
        return list(done.outcomes)

    def said(self, name: str) -> list[str]:
        return [one.text for one in self.settle() if one.outcome == name]

    def begun(self) -> ModelStory:
        """The first row is published, and that was looked at."""
        self.push()
        self.approve()
        assert self.acts() == ["request"]
        return self

    @property
    def requests(self) -> list[Discussion]:
        return self.hub.requests(self.model)

    def proposed(self, path: str = SUMS, model: Repository | None = None) -> dict[str, Any]:
        """The one entry of a file in the one open request."""
        [request] = self.hub.requests(model or self.model)
        [entry] = yaml.safe_load(self.hub.file(model or self.model, path, request.ref) or b"[]")
        return dict(entry)

    def on_page(self) -> list[tuple[str, Any]]:
        """What the Hub shows on the page of the model: file and value, or error."""
        rows = of_model(self.hub, self.model)
        return [(row["filename"], row["error"] if "error" in row else row["data"]["value"]) for row in rows]


def said(outcomes: list[Outcome], name: str) -> list[str]:
    return [one.text for one in outcomes if one.outcome == name]
