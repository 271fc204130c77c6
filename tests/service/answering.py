"""The web application of a service on loopback, for those who look whether it answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from prometheus_client import CollectorRegistry

from bot.server.app import make_app
from bot.service.watch.event import Event

SECRET = "MARKER-SECRET"


class Idle:
    """A service that has nothing to do, and keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def take(self, event: Event) -> bool:
        self.events.append(event)
        return True

    def health(self) -> Mapping[str, Any]:
        return {"status": "ok", "watches": {}}

    def watches(self) -> Sequence[Mapping[str, Any]]:
        return []


@contextmanager
def answering(service: Idle) -> Iterator[str]:
    """Run the routes of a service; gives the beginning of its addresses."""
    app = make_app(service, secret=SECRET, registry=CollectorRegistry(), github_secret=SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
