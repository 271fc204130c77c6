"""Read a model's id and commit from the path in the Hub's cache that it was loaded from."""

from __future__ import annotations

import re

from msgspec.structs import replace

from bot.evaluation.result import Result

# How the Hub's client lays a model out.
CACHED = re.compile(r"(?:.*/)?models--(?:(?P<org>[^/]+?)--)?(?P<name>[^/]+)/snapshots/(?P<revision>[0-9a-f]{40})/?")


def from_cache(result: Result) -> Result:
    """The result with the model's id and commit where it was loaded from the Hub's cache by a path."""
    model = result.model
    cached = CACHED.fullmatch(model.id)
    if cached is None:
        return result
    name = "/".join(filter(None, (cached["org"], cached["name"])))
    revision = model.revision or cached["revision"]
    args = model.args.replace(model.id, name)
    return replace(result, model=replace(model, id=name, revision=revision, args=args, is_named=True))
