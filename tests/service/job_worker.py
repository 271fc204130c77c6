"""A process that shares watches over PostgreSQL until it is killed; run in a process of its own."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from prometheus_client import CollectorRegistry

from bot.platforms.hub.platform import HubPlatform
from bot.platforms.platform import Access
from bot.server.sharing import SharedService
from bot.service.context import ContextFactory
from bot.service.jobs.queue import Jobs, Timing
from bot.service.settings.config import Watch
from bot.service.store.engine import connect
from bot.service.store.state import Store

QUICK = Timing(heartbeat=0.4, dead=5.0, look=0.3)
FATE = 12.0  # seconds after which a write of a killed process shows, or never will


def make_service(folder: Path, url: str, token: str, watch: Watch, database: str) -> SharedService:
    """One process's part in the work."""
    jobs = Jobs(database)
    jobs.open()
    contexts = ContextFactory(Access(hf_token=token, hf_endpoint=url), Store(connect(database)), folder, queue=jobs)
    client = HubPlatform.client(contexts.opener)
    client.pause, client.unknown_fate, client.timeout = 0.01, 1.0, FATE - 1.0
    return SharedService(contexts, (watch,), CollectorRegistry(), quiet=0.05, jobs=jobs, timing=QUICK)


def work(folder: Path, url: str, token: str, watch: Watch, database: str) -> None:
    """Do jobs without end."""
    logging.disable(logging.CRITICAL)
    make_service(folder, url, token, watch, database).start()
    while True:
        time.sleep(60)
