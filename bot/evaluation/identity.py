"""Find the Hub id of a result's model if the file names it by a path or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from bot.evaluation.finding import shown
from bot.evaluation.formats.fields import arguments
from bot.evaluation.result import Model
from bot.evaluation.submission import Parsed

HUB_ID = re.compile(r"(?=.{1,96}\Z)(?:[A-Za-z0-9](?:[\w.-]*\w)?/)?[A-Za-z0-9](?:[\w.-]*\w)?", re.ASCII)
MADE_UP = re.compile(r"[A-Za-z0-9]{8}")
UNNAMED = "*"
LOCAL = "local"  # what Inspect calls a model that it loads from a path


def why_unidentified(model: Model) -> str:
    """Why a model's name is not that of a model on the Hub, "" if it is."""
    if not model.id:
        return "the file names no model"
    if is_hub_id(model.id):
        return "" if model.is_named or "/" in model.id else _why_no_name(model)
    if model.id.startswith(("/", ".", "~")) or model.id.count("/") > 1:
        return f"the model is named by a path, {shown(model.id)}, not by its id on the Hub"
    return f"{shown(model.id)} is not a model id of the Hub"


def _path_of(model: Model) -> str:
    """The path that a model was loaded from where its name is only that it was, "" of any other."""
    return arguments(model.args)[0].get("model_path", "") if model.id == LOCAL else ""


def _why_no_name(model: Model) -> str:
    """Why a name that no argument gave is not a model's name."""
    if model.id == LOCAL:
        return f"the model was loaded from a path ({shown(model.args) or 'not recorded'}) and is called {LOCAL}"
    if MADE_UP.fullmatch(model.id):
        return f"the model name {model.id} was made up by the harness: its arguments name no model"
    return ""


def is_hub_id(name: str) -> bool:
    """Tell whether a text has the form of a repository id of the Hub (huggingface_hub, validate_repo_id)."""
    return HUB_ID.fullmatch(name) is not None and "--" not in name and ".." not in name and not name.endswith(".git")


def with_names(parsed: Parsed, names: Mapping[str, str]) -> Parsed:
    """The submission with the model's id that a mapping gives for what the file calls it.

    A value is a Hub id, or `id@revision`, whose revision counts where the file records none. The key `*` stands for
    every model without a name on the Hub. A model that is called `local` has its path among its arguments: the path
    names it before that word does, which every such model shares.
    """
    found = name_for(parsed, names)
    if found is None or parsed.result is None:
        return parsed
    model = parsed.result.model
    name, _, revision = names[found].partition("@")
    named = replace(model, id=name, revision=model.revision or revision, is_named=True)
    return replace(parsed, result=replace(parsed.result, model=named))


def name_for(parsed: Parsed, names: Mapping[str, str]) -> str | None:
    """The key of the mapping that names the model of a submission, None if it has none for it."""
    if parsed.result is None or not names:
        return None
    model = parsed.result.model
    found = next((key for key in (_path_of(model), model.id, model.id.rstrip("/")) if names.get(key)), None)
    return UNNAMED if found is None and UNNAMED in names and why_unidentified(model) else found
