"""Find the files that a workflow selects.

Files of a pull request or a push are read through the API at its commit; nothing needs to be checked out. Files that
a run has made are read in the workspace, where a link that leads outside is not followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from bot.action.job import BASE, Inputs, TriggerContext
from bot.audits.samples.find import SAMPLE_LOGS
from bot.errors import BotError, CallError, Gone, Stale
from bot.evaluation.discovery import ListedFile, candidates_in
from bot.evaluation.formats import most_bytes
from bot.platforms.caches import blob_id
from bot.platforms.git.repository import Repository
from bot.platforms.github.source import GitHubSource
from bot.platforms.inputs import Place, entries_below, hub_places, read_file
from bot.platforms.platform import Access
from bot.platforms.source import Change, TooLarge, is_wanted
from bot.service.settings.config import Watch

MAGIC = frozenset("*?[")
MOST_ELSEWHERE = 20  # files of a model in other folders that are read for one sentence


def watched(watches: Iterable[Watch], leaderboard: str, trigger: TriggerContext) -> tuple[str, ...]:
    """The patterns of the files that watches of a declaration in the workspace are about, from the workspace's root.

    Those of a watch of a repository are the workspace's own. A folder outside of the workspace is one of somebody's
    machine, whose files may lie in any folder of the repository.
    """
    root = trigger.workspace.resolve()
    found: dict[str, None] = {}
    for watch in watches:
        folder = root if "://" in watch.source else ((root / leaderboard).parent / watch.source).resolve()
        start = folder.relative_to(root) if folder.is_relative_to(root) else Path("**")
        for path in watch.paths:
            sign, own = ("!" if path.startswith("!") else ""), path.removeprefix("!")
            below = start if start != Path("**") or not own.startswith("**/") else Path()
            found[f"{sign}{(below / own).as_posix()}"] = None
    return tuple(found)


def gather(inputs: Inputs, trigger: TriggerContext, source: GitHubSource, access: Access) -> list[Place]:
    """All files that the workflow means, in the order of their paths, each once."""
    for name in (text for text in inputs.results if "://" in text and not text.startswith("hf://")):
        raise CallError(f"the input `results` names {name[:80]!r}; it takes paths, globs and hf://… addresses")
    # A row must follow with the dates of the commits; the commit of a request is not yet the one that is merged.
    origin = source if inputs.mode == "publish" and source.client.has_account else None
    if inputs.changed_only and trigger.is_change:
        places = list(changed_places(inputs.patterns, trigger, source))
    else:
        places = list(workspace_places(inputs.patterns, trigger, source.name))
    places = [replace(place, origin=origin) if place.commit else place for place in places]
    for name in (text for text in inputs.results if text.startswith("hf://")):
        places += hub_places(name, access)
    return sorted({place.name: place for place in places}.values(), key=lambda place: place.name)


def changed_places(patterns: list[str], trigger: TriggerContext, source: GitHubSource) -> Iterator[Place]:
    """The files that a pull request or a push changed, at its commit."""
    if not trigger.is_proposal:
        yield from _places_at(trigger.commit, source.changes(trigger.before, trigger.commit), patterns, source)
    elif (number := trigger.number(source)) is not None:
        proposal = source.read_proposal(number)
        if proposal.head != trigger.commit:  # else this commit would be green for the files of another
            raise Stale(f"the pull request has a newer commit, {proposal.head[:12]}, which has a run of its own")
        yield from _places_at(proposal.head, proposal.files, patterns, source)


def has_some(patterns: list[str], trigger: TriggerContext, source: GitHubSource) -> bool:
    """Tell whether the commit of a push has any file that is wanted."""
    return any(is_wanted(one.path, patterns) for one in source.changes(None, trigger.commit))


def changed_logs(trigger: TriggerContext, source: GitHubSource) -> list[str]:
    """The paths of the sample logs that a change adds or changes."""
    _, changed = _base(trigger, source)
    return [one.path for one in changed if one.oid is not None and is_wanted(one.path, SAMPLE_LOGS)]


def base_places(places: Iterable[Place], inputs: Inputs, trigger: TriggerContext, source: GitHubSource) -> list[Place]:
    """What the base branch, or the commit before a push, has in the folders of these places and of what was removed.

    Raises CallError where the run is about neither a pull request nor a push.
    """
    commit, changed = _base(trigger, source)
    left = [one.path for one in changed if one.oid is None and is_wanted(one.path, inputs.patterns)]
    return _in_folders([*left, *(place.path for place in places)], commit, inputs.patterns, source)


def beside_places(
    places: Iterable[Place], inputs: Inputs, trigger: TriggerContext, source: GitHubSource
) -> list[Place]:
    """What a change leaves as it is in the folders of these places."""
    commit, changed = _base(trigger, source)
    touched = {one.path for one in changed}
    beside = _in_folders([place.path for place in places], commit, inputs.patterns, source)
    return [place for place in beside if place.path not in touched]


def places_of_models(
    models: Iterable[str], folders: Collection[str], inputs: Inputs, trigger: TriggerContext, source: GitHubSource
) -> list[Place]:
    """The first files of the base branch whose folders are called as models are, in other folders than these."""
    commit, _ = _base(trigger, source)
    named = {f"/{spelled}/" for model in models for spelled in (model, model.replace("/", "__"))}
    there = source.changes(None, commit) if commit else ()
    found = [
        one
        for one in there
        if one.path.rpartition("/")[0] not in folders
        and is_wanted(one.path, inputs.patterns)
        and any(name in f"/{one.path}" for name in named)
    ]
    return list(_places_at(commit, found[:MOST_ELSEWHERE], inputs.patterns, source))


def _base(trigger: TriggerContext, source: GitHubSource) -> tuple[str, list[Change]]:
    """The commit that a change is made to, "" for a new branch and a closed request; and what it changes."""
    number = trigger.number(source)
    if number is not None:
        proposal = source.read_proposal(number)
        return source.head_of(proposal.base), list(proposal.files)
    if trigger.before is not None:
        return trigger.before, list(source.changes(trigger.before, trigger.commit))
    if trigger.is_change:
        return "", []
    raise CallError(f"`compare-to: {BASE}` needs a pull request or a push; name a board instead")


def _in_folders(paths: Iterable[str], commit: str, patterns: list[str], source: GitHubSource) -> list[Place]:
    """The wanted files of a commit in the folders of these paths."""
    folders = {path.rpartition("/")[0] for path in paths}
    there = source.changes(None, commit) if commit else ()
    wanted = (one for one in there if one.path.rpartition("/")[0] in folders)
    return list(_places_at(commit, wanted, patterns, source))


def _places_at(commit: str, changes: Iterable[Change], patterns: list[str], source: GitHubSource) -> Iterator[Place]:
    """The wanted files of these, as they are at a commit."""
    wanted = {change.path: change for change in changes if change.oid is not None and is_wanted(change.path, patterns)}
    source.fetch(change.oid or "" for change in wanted.values())

    def read(path: str, limit: int) -> bytes:
        oid = wanted[path].oid or ""
        try:
            return source.read_content(oid, most_bytes(path))[:limit]
        except TooLarge:
            return source.read_start(oid, limit)

    sizes = {change.path: _size(change, source, commit) for change in wanted.values()}
    listed = (ListedFile(path, size) for path, size in sizes.items() if size is not None)
    for candidate in candidates_in(listed):
        yield Place(candidate, read, candidate.path, candidate.path in patterns, source.name, commit)


def _size(change: Change, source: GitHubSource, commit: str) -> int | None:
    """The size of a changed file; where GitHub does not tell, it is read. None for a submodule."""
    if change.size:
        return change.size
    try:
        return len(source.read_content(change.oid or "", most_bytes(change.path)))
    except TooLarge:
        return most_bytes(change.path) + 1
    except Gone:
        if source.is_submodule(change.path, commit):
            return None
        raise


def workspace_places(patterns: list[str], trigger: TriggerContext, source: str) -> Iterator[Place]:
    """The files of the workspace; one that is committed as it is there is named with its repository and commit."""
    workspace, committed = trigger.workspace, committed_files(trigger.workspace)

    def read(path: str, limit: int) -> bytes:
        return read_file(str(workspace / path), limit)

    paths = dict.fromkeys(workspace_files(patterns, workspace))
    for candidate in candidates_in(ListedFile(path, (workspace / path).stat().st_size) for path in paths):
        same = all(
            file.path in committed
            and file.size <= most_bytes(file.path)
            and committed[file.path] == blob_id(read(file.path, file.size))
            for file in candidate.files
        )
        named = (source, trigger.commit) if same else ("", "")
        yield Place(candidate, read, candidate.path, candidate.path in patterns, *named)


def committed_files(workspace: Path) -> dict[str, str]:
    """The files checked out in the workspace: the path of each and its content's id; {} outside of a repository."""
    try:
        repository = Repository(workspace)
        if repository.layout is None or repository.layout.tree is None:
            return {}
        found = repository.listing(repository.resolve(repository.head()))
        return {path: file.oid for path, file in found.items()}
    except BotError:
        return {}


def workspace_files(patterns: Sequence[str], workspace: Path) -> Iterator[str]:
    """The paths, below the workspace where they are, of the files that match a pattern."""
    left_out = [pattern for pattern in patterns if pattern.startswith("!")]
    for pattern in patterns:
        start = fixed_part(pattern)
        root = workspace / start
        if leads_out(start, workspace):
            continue
        found = walk(root, start) if root.is_dir() else [start] if root.is_file() and not root.is_symlink() else []
        yield from (path for path in found if is_wanted(path.removeprefix("./"), [pattern, *left_out]))


def leads_out(path: str, workspace: Path) -> bool:
    """Tell whether a link in submitted content, or dots, lead from a path in the workspace to somewhere else."""
    try:
        return not path.startswith("/") and not (workspace / path).resolve().is_relative_to(workspace.resolve())
    except (OSError, RuntimeError):  # links that lead in a circle, which Python 3.13 takes for files
        return True


def check_inside(name: str, path: str, trigger: TriggerContext) -> None:
    """Raise CallError for an input whose path leads out of the workspace, as a link in a pull request may."""
    if leads_out(path, trigger.workspace):
        raise CallError(f"the input `{name}` names {path[:80]}, which leads out of the workspace")


def fixed_part(pattern: str) -> str:
    """The folders of a pattern before its first wildcard."""
    parts = pattern.split("/")
    plain = next((index for index, name in enumerate(parts) if MAGIC.intersection(name)), len(parts))
    return "/".join(parts[:plain]) or ("/" if pattern.startswith("/") else "")


def walk(root: Path, start: str) -> Iterator[str]:
    """Every file below a folder, without links and without git's own."""
    for entry in entries_below(str(root), {".git"}, is_strict=False):
        if not entry.is_symlink() and not entry.is_dir(follow_symlinks=False):
            yield "/".join(part for part in (start.rstrip("/"), Path(entry.path).relative_to(root).as_posix()) if part)
