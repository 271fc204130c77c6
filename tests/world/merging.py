"""How both local services merge: three ways, by git itself where both sides changed the same files."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Files = Mapping[str, bytes]
ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@dataclass(frozen=True)
class Merge:
    """What a merge does to main: the files that change there (None: deleted), or the paths that conflict."""

    changes: dict[str, bytes | None] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)


def three_way(base: Files, main: Files, head: Files) -> Merge:
    """Merge `head` into `main`, which both began at `base`; files that neither side changed need not be given."""
    ours, theirs = changed(base, main), changed(base, head)
    if not ours.keys() & theirs.keys():
        return Merge(theirs)
    with tempfile.TemporaryDirectory(prefix="world-merge-") as folder:
        return _merged_by_git(Path(folder), base, main, head)


def changed(old: Files, new: Files) -> dict[str, bytes | None]:
    """The files that differ, as they are in `new`."""
    return {path: new.get(path) for path in sorted(old.keys() | new.keys()) if old.get(path) != new.get(path)}


def _merged_by_git(folder: Path, base: Files, main: Files, head: Files) -> Merge:
    _git(folder, "init", "--quiet", "--bare")
    commits = [_commit(1, "base", base), _commit(2, "main", main, 1), _commit(3, "head", head, 1)]
    _git(folder, "fast-import", "--quiet", data=b"".join(commits))
    done = _git(
        folder, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "main", "head", statuses=(0, 1)
    )
    tree, *conflicts = filter(None, done.stdout.decode("utf-8", "surrogateescape").split("\0"))
    if done.returncode:
        return Merge(conflicts=conflicts)
    with tarfile.open(fileobj=io.BytesIO(_git(folder, "archive", "--format=tar", tree).stdout)) as listed:
        files = {one.name: listed.extractfile(one).read() for one in listed if one.isfile()}  # type: ignore[union-attr]
    return Merge(changed(main, files))


def _commit(number: int, name: str, files: Files, parent: int = 0) -> bytes:
    """A commit with these files and no others, in the language of `git fast-import`."""
    lines = [f"commit refs/heads/{name}", f"mark :{number}", "committer a <a@localhost> 1 +0000", "data 0"]
    lines += [f"from :{parent}"] if parent else []
    start = "\n".join([*lines, "deleteall", ""]).encode()
    return start + b"".join(
        b'M 100644 inline "%s"\ndata %d\n%s\n' % (_quoted(path), len(data), data) for path, data in files.items()
    )


def _quoted(path: str) -> bytes:
    special = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    return "".join(special.get(letter, letter) for letter in path).encode("utf-8", "surrogateescape")


def _git(
    folder: Path, *args: str, data: bytes = b"", statuses: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run(
        ["git", *args], cwd=folder, input=data, env=os.environ | ENVIRONMENT, capture_output=True, check=False
    )
    assert done.returncode in statuses, done.stderr
    return done
