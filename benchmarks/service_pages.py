"""How long the pages and the API of a service take, with few and with many files, items and rows in its state.

Run: python benchmarks/service_pages.py
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from pages import make_rows  # noqa: E402 - the folders above are found first
from starlette.testclient import TestClient  # noqa: E402 - the same

from bot.evaluation.submission import UnreadPath  # noqa: E402 - the same
from bot.server.service import Service  # noqa: E402 - the same
from bot.service.store.boards import StoredBoard  # noqa: E402 - the same
from bot.service.store.items import Mark  # noqa: E402 - the same
from bot.service.store.sources import StoredSubmission  # noqa: E402 - the same
from tests.evaluation.judging import declared  # noqa: E402 - the same
from tests.server.services import NOW, TARGET, make_service, make_web, read_examples  # noqa: E402 - the same

ROUNDS = 5
REASONS = ("limited-run", "missing-task", "limited-run, missing-task")
DATA = "is a sample log " * 200  # with what was read, a row of the state has some kilobytes
PAGES = (
    "/",
    "/items",
    "/items?state=waiting",
    "/submissions",
    "/submissions?q=model-99",
    "/submissions?q=nothing-of-this",
    "/submissions?status=rejected",
    f"/submissions/open-llm/{read_examples()[0].path}",
    "/plans",
    "/healthz",
    "/board/open-llm/",
    "/board/open-llm/changes.html",
    "/board/open-llm/compare.html",
    "/api/v1/watches",
    "/api/v1/watches/open-llm/board",
    "/api/v1/watches/open-llm/submissions",
    "/api/v1/watches/open-llm/items",
)


def fill(service: Service, files: int, rows: int) -> None:
    """Put so many files, as many items, and so many rows into the state."""
    store = service.contexts.store
    for start in range(0, files, 5_000):
        names = [f"org-{i % 900}/model-{i}/results.json" for i in range(start, min(start + 5_000, files))]
        store.of("open-llm").submissions.keep([_submission(name) for name in names])
        store.of("open-llm").items.mark([Mark("row", f"open-llm-v2/{name}", TARGET) for name in names], NOW)
    store.of("open-llm").boards.keep(
        TARGET, StoredBoard("b" * 40, "open-llm-v2", declared().text), make_rows(rows), "2026"
    )


def _submission(name: str) -> StoredSubmission:
    folder = name.rpartition("/")[0]
    read = UnreadPath(name, "samples", DATA)
    status, why = ("rejected", REASONS[len(name) % len(REASONS)]) if "7" in name else ("accepted", "")
    return StoredSubmission(name, f"open-llm-v2/{folder}", status, "0" * 40, "c" * 40, NOW, read, why)


def timed(files: int, rows: int) -> dict[str, tuple[float, int]]:
    """Milliseconds of the median answer of each page, and its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        service = make_service(Path(folder))
        fill(service, files, rows)
        web = TestClient(make_web(service), base_url="http://localhost")
        web.get("/board/open-llm/")  # the first page of a board is made before anybody asks
        found = {}
        for page in PAGES:
            times = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                answer = web.get(page)
                times.append(1000 * (time.perf_counter() - start))
                if answer.status_code != 200:
                    raise SystemExit(f"{page}: {answer.status_code}")
            found[page] = statistics.median(times), len(answer.content)
        service.contexts.store.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1_000)
    call = parser.parse_args()
    few, many = timed(100, 100), timed(call.files, call.rows)
    print(f"{'page':50} {'100 files':>12} {f'{call.files:,} files':>16}")
    for page in PAGES:
        print(f"{page:50} {few[page][0]:9.0f} ms {many[page][0]:13.0f} ms {many[page][1]:10,} bytes")


if __name__ == "__main__":
    main()
