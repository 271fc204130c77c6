"""One settlement in a process of its own, for its resident memory; prints the peak in MiB."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import load_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.service.passes import settle


def peak() -> float:
    """The most resident memory that this process had so far, in MiB; Linux keeps it for the program alone."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def main() -> None:
    folder, url, token = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    [watch] = load_settings(folder / "bot.toml").watches
    store = Store(connect(f"sqlite:///{folder / 'memory.db'}"))
    contexts = ContextFactory(Access(hf_token=token, hf_endpoint=url), store, folder)
    for outcome in settle(contexts.open_context(watch)):
        sys.stderr.write(f"{outcome.outcome} {outcome.subject}: {outcome.text}\n")
    store.close()
    sys.stdout.write(f"{peak():.1f}\n")


if __name__ == "__main__":
    main()
