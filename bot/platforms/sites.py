"""Write sites to repositories: only changed files, in commits that services accept, and never over a foreign file.

A list in the repository says which files are the site's. It is part of the first of several commits, so that the files
of a killed process are known as ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import msgspec

from bot.errors import CallError
from bot.pages.site import Site
from bot.pages.write import Written, write_site
from bot.platforms.caches import is_content
from bot.platforms.net import BYTES, FILES, in_chunks
from bot.platforms.platform import Opener, platform_of
from bot.platforms.target import SiteHost

LIST = "leaderboard-bot-site.json"
SCHEMA = "leaderboard-bot/site/1"
TITLE = "Update the site from the board"
MAX_LIST = 50_000_000  # bytes


class SiteList(msgspec.Struct, frozen=True):
    """The files of a site, each with the stamp of its content, "" if it has none."""

    files: dict[str, str]
    schema: str = SCHEMA


def publish_site(site: Site, address: str, opener: Opener) -> Written:
    """Bring the site at an address up to date. Raises CallError if it is somebody else's, or cannot be written."""
    host = open_site(address, opener)
    return write_site(site, opener.folder / Path(address)) if host is None else _publish(site, host)


def open_site(address: str, opener: Opener) -> SiteHost | None:
    """The repository that shows a site, None for a folder; nothing is requested yet. Raises CallError for none."""
    return platform_of(address).open_site(address, opener)


def _publish(site: Site, host: SiteHost) -> Written:
    there, stamps = host.files(), site.stamps()
    known = _known(host, there)
    fresh = {path for path, stamp in stamps.items() if path in there and stamp == known.get(path)}
    _refuse_foreign(site, host, there, known)
    stale = [path for path in known if path in there and path not in site]
    final = _list_of({path: stamps.get(path, "") for path in site})
    claimed = _list_of({**dict.fromkeys((*known, *site), ""), **{path: stamps[path] for path in fresh}})
    changed = 0
    everything = chain(_differing(site, there, fresh), ((path, None) for path in stale))
    parts = in_chunks(everything, FILES - 1, BYTES // 2)  # each leaves room for the list
    part = next(parts, None)
    is_listed = LIST in there and is_content(final, there[LIST])
    is_first = True
    while part is not None or not is_listed:
        following = next(parts, None)
        said = final if following is None else claimed if is_first else None
        host.write({**(part or {}), **({} if said is None else {LIST: said})}, TITLE)
        changed += sum(data is not None for data in (part or {}).values())
        part, is_first, is_listed = following, False, True
    return Written(changed, len(site) - changed, len(stale))


def _known(host: SiteHost, there: Mapping[str, str]) -> dict[str, str]:
    """The files of the bot with their stamps, from the list."""
    data = host.read(LIST, MAX_LIST) if LIST in there else None
    if data is None:
        return {}
    try:
        known = msgspec.json.decode(data, type=SiteList)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise CallError(
            f"{host.name}: its {LIST} was not made by leaderboard-bot; remove it, or name another place"
        ) from None
    return known.files


def _refuse_foreign(site: Site, host: SiteHost, there: Mapping[str, str], known: Mapping[str, str]) -> None:
    """Raise CallError if somebody else's file has the path of a file of the site."""
    foreign = [path for path in there if path in site and path not in known and not is_content(site[path], there[path])]
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise CallError(f"{host.name}: {foreign[0]}{more} is not part of the site; remove it, or name another place")


def _differing(site: Site, there: Mapping[str, str], fresh: set[str]) -> Iterator[tuple[str, bytes]]:
    """The files that are missing or different; pages with the right stamp are not built."""
    for path in site:
        if path not in fresh:
            data = site[path]
            if path not in there or not is_content(data, there[path]):
                yield path, data


def _list_of(files: Mapping[str, str]) -> bytes:
    return msgspec.json.encode(SiteList(dict(sorted(files.items())))) + b"\n"
