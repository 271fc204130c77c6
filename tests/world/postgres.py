"""A PostgreSQL server of the tests' own, from the binaries of the system; none is left behind.

The binaries are looked for on PATH and below /usr/lib/postgresql. Where there are none, tests that need them skip;
with CI=true they fail, so that what is claimed of PostgreSQL is really run.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

OPTIONS = ("listen_addresses=", "fsync=off", "max_connections=100", "shared_buffers=16MB", "log_min_messages=fatal")


def binary(name: str) -> Path | None:
    """One of the system's programs of PostgreSQL, the newest."""
    found = shutil.which(name)
    below = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: float(path.parts[4]))
    return below[-1] if below else Path(found).resolve() if found else None


@dataclass
class Cluster:
    """One running server; every test gets a database of its own."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    names: Iterator[int] = field(default_factory=itertools.count)

    @property
    def _user(self) -> dict[str, Any]:
        """The server refuses to run as root."""
        return {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}

    def make(self) -> None:
        """Lay the files out."""
        if os.getuid() == 0:
            shutil.chown(self.folder, "nobody")
        how = ("--username=bot", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D", "data")
        subprocess.run([str(binary("initdb")), *how], cwd=self.folder, check=True, capture_output=True, **self._user)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = [part for option in OPTIONS for part in ("-c", option)]
        command = [str(binary("postgres")), "-D", "data", "-k", str(self.folder), *options]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self._user
        )
        for _ in range(600):
            if self._answers():
                return
            time.sleep(0.05)
        raise AssertionError("PostgreSQL does not start")

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(f"host={self.folder} user=bot dbname=postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End the server at once."""
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait()

    def run(self, statement: str) -> None:
        """Carry out a statement as the owner of the server."""
        import psycopg

        with psycopg.connect(f"host={self.folder} user=bot dbname=postgres", autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]

    def database(self) -> str:
        """The address of a new, empty database."""
        name = f"test{next(self.names)}"
        self.run(f"create database {name}")
        return f"postgresql://bot@/{name}?host={self.folder}"


@contextmanager
def running() -> Iterator[Cluster]:
    """A server for as long as the block runs."""
    if binary("initdb") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("PostgreSQL is not installed")
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="pg-")))
    try:
        cluster.make()
        cluster.start()
        yield cluster
    finally:
        if cluster.process is not None:
            cluster.stop()
        shutil.rmtree(cluster.folder)
