"""The settings of the target `hf://models`: whose models, how many requests, in which form."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from bot.evaluation.toml_words import spelled
from bot.publishing.tables.mapping import TargetOptions

MODEL = re.compile(r"(?![.-])[\w.-]+/(?![.-])[\w.-]+", re.ASCII)
Name = Annotated[str, spelled(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)?", "write org, or org/name")]


class ModelsOptions(TargetOptions):
    """Where results may be proposed. These requests go to repositories of strangers, so nothing is allowed by default.

    `organizations` are accounts on the Hub, or single models as `org/name`. `limit` is the number of model
    repositories that one settlement may open or change requests in. `form = "model-index"` writes into the card instead
    of `.eval_results`, for owners who ask for it.
    """

    organizations: Annotated[tuple[Name, ...], Field(min_length=1)]
    limit: Annotated[int, Field(gt=0, le=1000)] = 20
    form: Literal["eval-results", "model-index"] = "eval-results"

    def allow(self, model_id: str) -> bool:
        """Tell whether results of this model may be proposed; what cannot be the id of a model on the Hub may not."""
        if not MODEL.fullmatch(model_id):
            return False
        return model_id in self.organizations or model_id.partition("/")[0] in self.organizations
