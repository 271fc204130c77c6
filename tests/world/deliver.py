"""Webhook deliveries: a payload goes to each webhook that watches, with retries over failed answers."""

from __future__ import annotations

import json
import queue
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from .git import Repository

if TYPE_CHECKING:
    from .hub import Hub

ATTEMPTS, PAUSE = 5, 0.05


@dataclass
class Webhook:
    """A webhook as its owner set it up."""

    id: str
    url: str | None
    watched: list[dict[str, str]]
    domains: list[str]
    secret: str | None = None
    disabled: bool = False
    job: dict[str, Any] | None = None

    def watches(self, repository: Repository, scope: str) -> bool:
        owner = repository.name.split("/")[0]
        names = {(repository.kind, repository.name), ("org", owner), ("user", owner)}
        wanted = bool(self.url) and any((w["type"], w["name"]) in names for w in self.watched)
        return wanted and not self.disabled and scope.split(".", maxsplit=1)[0] in self.domains


@dataclass
class Delivery:
    """One delivery with what came of it."""

    webhook: Webhook
    id: str
    payload: dict[str, Any]
    answers: list[int] = field(default_factory=list)


class Deliveries:
    """A thread that delivers in order; `lose` drops what would be sent, as an outage does."""

    def __init__(self) -> None:
        self.all: list[Delivery] = []
        self.lose = False
        self._queue: queue.Queue[Delivery | None] = queue.Queue()
        self._thread: threading.Thread | None = None

    def send_all(self, hub: Hub, repository: Repository, payload: dict[str, Any]) -> None:
        for webhook in list(hub.webhooks.values()):
            if not self.lose and webhook.watches(repository, payload["event"]["scope"]):
                full = {**payload, "webhook": {"id": webhook.id, "version": 3}}
                self.send(Delivery(webhook, str(uuid.uuid4()), full))

    def send(self, delivery: Delivery) -> None:
        self.all.append(delivery)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        self._queue.put(delivery)

    def replay(self, delivery: Delivery) -> None:
        """What the Activity tab's button does: the same delivery id again."""
        self.send(Delivery(delivery.webhook, delivery.id, delivery.payload))

    def wait(self) -> None:
        """Until everything sent so far was answered or given up."""
        self._queue.join()

    def stop(self) -> None:
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        with httpx.Client(timeout=60) as client:
            while (delivery := self._queue.get()) is not None:
                self._deliver(client, delivery)
                self._queue.task_done()
            self._queue.task_done()

    def _deliver(self, client: httpx.Client, delivery: Delivery) -> None:
        headers = {"Content-Type": "application/json", "Webhook-Id": delivery.id}
        if delivery.webhook.secret is not None:
            headers["X-Webhook-Secret"] = delivery.webhook.secret
        for attempt in range(ATTEMPTS):
            try:
                answer = client.post(
                    delivery.webhook.url, content=json.dumps(delivery.payload), headers=headers
                ).status_code
            except httpx.HTTPError:
                answer = 0
            delivery.answers.append(answer)
            if 200 <= answer < 300:
                return
            time.sleep(PAUSE * 2**attempt)
