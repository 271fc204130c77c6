"""Read contents from GitHub by object id, a hundred in one GraphQL query, each once in a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.errors import Refused
from bot.platforms.digest import blob_id, check_content, is_content
from bot.platforms.github.client import GitHubClient
from bot.platforms.github.errors import SERVICE
from bot.platforms.source import TooLarge

BATCH = 100  # ids in one GraphQL question
FEW = 3  # that are asked for one by one
OID = re.compile(r"[0-9a-f]{40}")


def fetch_blobs(client: GitHubClient, repository: str, oids: Iterable[str]) -> None:
    """Ask for many contents at once, as far as GraphQL gives them; they are kept in `client.blobs`."""
    missing = [oid for oid in dict.fromkeys(oids) if oid not in client.blobs]
    if client.has_account and len(missing) > FEW:
        for start in range(0, len(missing), BATCH):
            client.blobs.update(_ask(client, repository, missing[start : start + BATCH]))


def read_blob(client: GitHubClient, repository: str, oid: str, limit: int) -> bytes:
    """The bytes behind an id, asked for where they were not yet; raises TooLarge past `limit`.

    Raises Unavailable if bytes came that the id does not name.
    """
    data = client.blobs.get(oid)
    if data is None:
        where = f"github://{repository} object {oid[:12]}"
        path = f"/repos/{repository}/git/blobs/{oid}"
        data = client.download(path, limit, lambda data: check_content(data, oid, SERVICE, where))
        client.blobs[oid] = data
    if len(data) > limit:
        raise TooLarge(f"more than {limit:,} bytes")
    return data


def _ask(client: GitHubClient, repository: str, oids: Sequence[str]) -> dict[str, bytes]:
    """The blobs that GraphQL gives as text; leaves out those that are binary, cut off, or not equal to their id."""
    asked = {f"b{number}": oid for number, oid in enumerate(oids) if OID.fullmatch(oid)}
    parts = " ".join(f'{name}: object(oid: "{oid}") {{ ... on Blob {{ text }} }}' for name, oid in asked.items())
    query = f"query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{ {parts} }} }}"
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name}
    try:
        rows = client.ask_graphql(query, variables, lambda data: _texts(data["repository"], asked))
    except Refused:
        return {}  # reading one by one shows what is wrong, if anything is
    found = {oid: text.encode() for oid, text in rows.items() if isinstance(text, str)}
    return {oid: data for oid, data in found.items() if is_content(data, oid)}


def _texts(answer: dict[str, Any], asked: Mapping[str, str]) -> dict[str, Any]:
    return {oid: (answer.get(name) or {}).get("text") for name, oid in asked.items()}


__all__ = ["blob_id", "fetch_blobs", "read_blob"]
