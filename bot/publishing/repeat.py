"""The commands that repeat a verdict or a row, with file and declaration named so that any machine finds them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from itertools import chain
from pathlib import PurePath

from bot.evaluation.formats import find_format
from bot.evaluation.formats.format import DTYPES, Rerun, calls
from bot.evaluation.leaderboard import Leaderboard, load_shipped, shipped
from bot.evaluation.result import HarnessVersion, Model
from bot.evaluation.rules.advised_version import advised_version
from bot.evaluation.rules.rule import NO_FACTS
from bot.publishing.entry import Declared, Entry, Evidence, declaration_path, kept_path
from bot.reporting.escape import visible

HUB = "hf://"
KEEPERS = ("hf://datasets/", "hf://spaces/")  # pages of models keep no declaration
KEPT = re.compile(r"(?:\A|/)declarations/[0-9a-f]{64}\.toml\Z")
NO_FORMATS: Mapping[str, Container[str]] = {}
LATER = "If the target does not have this declaration yet, ask the maintainers for it."


def check_command(source: str, commit: str, paths: Iterable[str], declaration: str) -> str:
    """The call that gives the same verdict on anybody's machine."""
    root = f"{source}{f'@{commit}' if commit else ''}/" if source.startswith(HUB) else ""
    places = " ".join(quoted(f"{root}{path}") for path in paths)
    return f"leaderboard-bot check {places} --leaderboard {quoted(declaration)}"


def explain_command(
    files: Iterable[Evidence], declared: Declared, target: str, *, is_merged: bool = False, declaration: str = ""
) -> str:
    """The call that shows how the numbers of files became those of a row at a target.

    A file that the target keeps is there once the row is merged, and till then in its source. `declaration` is a file
    that readers have, in place of that at the target.
    """
    places = " ".join(quoted(_place_of(file, target, is_merged=is_merged)) for file in files)
    named = declaration or declaration_name(declared, [target])
    return f"leaderboard-bot explain {places} --leaderboard {quoted(named)}"


def _place_of(file: Evidence, target: str, *, is_merged: bool) -> str:
    if file.kept:
        kept = [kept_path(digest) for digest in file.kept.values()]
        return f"{label_of(target)}/{kept[0]}" if is_merged and len(kept) == 1 else f"{file.source}/{file.path}"
    return f"{file.source}@{file.commit}/{file.path}" if file.source.startswith(HUB) and file.commit else file.path


def verify_command(target: str, entry: str) -> str:
    """The call that fetches a row's files and compares every number of its entry; "" where no target is named."""
    return f"leaderboard-bot verify {quoted(target)} {quoted(entry)}" if target else ""


def measure_commands(
    entry: Entry, leaderboard: Leaderboard, leaves: Container[str], formats: Mapping[str, Container[str]] = NO_FORMATS
) -> list[str]:
    """The calls that measure leaves of a leaderboard in the setup of a row, those with equal shots by one call.

    A leaf is measured by its own format, of several by that of the row's newest file; the first call of a format begins
    with that which installs the version. There is no call where a format has none, or the model was quantized or
    called at a service: the entry does not say how. `formats` has those of the board's rows by leaf.
    """
    newest, model = next((file.format for file in entry.evidence), ""), entry.model
    if model.precision not in DTYPES | {"", "unknown"} or model.day:
        return []
    keys: dict[str, dict[int | None, list[str]]] = {}
    for task in leaderboard.tasks:
        for leaf in (one for one in task.leaves if one.id in leaves):
            every, had = leaderboard.formats_of(leaf), formats.get(leaf.id)
            written = [one for one in every if had is None or one in had] or every
            used = newest if newest in written else written[0]
            keys.setdefault(used, {}).setdefault(task.num_fewshot, []).append(leaf.key(used))
    found: list[str] = []
    for used, by_shots in keys.items():
        source, harness = ("", entry.harness) if used == newest else ("hf", HarnessVersion(""))
        again = Model(model.id, model.revision, model.precision, model.chat_template, source=source)
        runs = [Rerun(again, tuple(some), shots, {}) for shots, some in by_shots.items()]
        advised = advised_version(harness, used, chain(*by_shots.values()), leaderboard, NO_FACTS)
        found += calls(find_format(used), runs, leaderboard.harness.formats, *(advised or ()))
    return found


def declaration_name(declared: Declared, targets: Iterable[str]) -> str:
    """The name of a declaration in a command: the id of a shipped one, otherwise its place at one of the targets.

    Of targets on the Hub that is its address, of a folder its file, see `label_of`. In a repository elsewhere, or where
    the target is not named, it is the path in a copy of the target.
    """
    if declared.id in shipped() and load_shipped(declared.id).digest == declared.digest:
        return declared.id
    kept, names = declaration_path(declared.digest), [name.partition("#")[0] for name in targets]
    on_hub = [name for name in names if name.startswith(KEEPERS)]
    folders = [name for name in names if name and "://" not in name]
    if on_hub:
        return f"{on_hub[0]}/{kept}"
    return str(PurePath(label_of(folders[0])) / kept) if folders else kept


def label_of(place: str) -> str:
    """A source or target in texts for others; of a folder only the last part of its path."""
    return PurePath(place).name if "://" not in place and PurePath(place).is_absolute() else place


def when_kept(declaration: str) -> str:
    """What to do where a command cannot find its declaration yet, "" if it always can."""
    return LATER if KEPT.search(declaration) else ""


def quoted(word: str) -> str:
    """A word for a shell in single quotes where it needs them, on one line."""
    seen = visible(word)
    if seen == word and all(char.isascii() and (char.isalnum() or char in "/._-@:+=") for char in seen):
        return seen
    return "'" + seen.replace("'", "'\\''") + "'"
