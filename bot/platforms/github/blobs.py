"""Contents by id: ids in, bytes out, a hundred to a question where GraphQL answers, and each only once in a run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from bot.errors import Refused
from bot.platforms.github.client import GitHubClient
from bot.platforms.source import TooLarge

BATCH = 100  # ids in one GraphQL question
FEW = 3  # that are asked for one by one
OID = re.compile(r"[0-9a-f]{40}")


def blob_id(data: bytes) -> str:
    """The id that git gives to a content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def fetch_blobs(client: GitHubClient, repository: str, oids: Iterable[str]) -> None:
    """Ask for many contents at once, as far as GraphQL gives them; they are kept in `client.blobs`."""
    missing = [oid for oid in dict.fromkeys(oids) if oid not in client.blobs]
    if client.token and len(missing) > FEW:
        for start in range(0, len(missing), BATCH):
            client.blobs |= _ask(client, repository, missing[start : start + BATCH])


def read_blob(client: GitHubClient, repository: str, oid: str, limit: int) -> bytes:
    """The bytes behind an id, asked for where they were not yet; raises TooLarge past `limit`."""
    if oid not in client.blobs:
        client.blobs[oid] = client.download(f"/repos/{repository}/git/blobs/{oid}", limit)
    if len(client.blobs[oid]) > limit:
        raise TooLarge(f"more than {limit:,} bytes")
    return client.blobs[oid]


def _ask(client: GitHubClient, repository: str, oids: Sequence[str]) -> dict[str, bytes]:
    """What GraphQL has of these as text; what is binary, cut or not the content of its id is left out."""
    asked = {f"b{number}": oid for number, oid in enumerate(oids) if OID.fullmatch(oid)}
    parts = " ".join(f'{name}: object(oid: "{oid}") {{ ... on Blob {{ text }} }}' for name, oid in asked.items())
    query = f"query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{ {parts} }} }}"
    owner, _, name = repository.partition("/")
    variables = {"owner": owner, "name": name}
    try:
        answer = client.ask_graphql(query, variables)
    except Refused:
        return {}  # one by one says what is wrong, if anything is
    rows = {oid: (answer["repository"].get(name) or {}).get("text") for name, oid in asked.items()}
    found = {oid: text.encode() for oid, text in rows.items() if isinstance(text, str)}
    return {oid: data for oid, data in found.items() if blob_id(data) == oid}
