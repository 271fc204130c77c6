"""The page of a board in a real Chromium beside DataTables on the same table, and how long a site takes to build.

Run: make browser && python benchmarks/pages.py
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from msgspec.structs import replace  # noqa: E402 - the folder above is found first
from playwright.sync_api import Browser, sync_playwright  # noqa: E402 - the same

from bot.evaluation.leaderboard import load_leaderboard  # noqa: E402 - the same
from bot.pages.content import PageContent  # noqa: E402 - the same
from bot.pages.site import Site  # noqa: E402 - the same
from bot.pages.write import write_site  # noqa: E402 - the same
from bot.publishing.board import make_board  # noqa: E402 - the same
from bot.publishing.entry import Entry  # noqa: E402 - the same
from tests.browser.conftest import FLAGS, HERE, UNPACKED  # noqa: E402 - the same
from tests.pages.boards import generated  # noqa: E402 - the same

NAMES = ("llama", "qwen", "mistral", "gemma", "phi", "falcon", "yi", "olmo", "granite", "smol")
KINDS = ("base", "instruct", "chat", "dpo", "merge", "sft", "math", "code")
WAIT = 60_000  # milliseconds
DATATABLES = HERE / "node_modules" / "datatables.net" / "js" / "dataTables.min.js"


def make_rows(count: int) -> list[Entry]:
    """Rows whose names, revisions and numbers are all different."""
    random, models = Random(7), generated(count)
    rows = []
    for number in range(count):
        entry = models[number]
        revision = f"{random.getrandbits(160):040x}"
        name = (
            f"{random.choice(NAMES)}-lab{random.randrange(200)}/{random.choice(NAMES)}-{random.choice(KINDS)}-{number}"
        )
        model = replace(entry.model, id=name, revision=revision)
        rows.append(replace(entry, key=f"open-llm-v2/{name}/{revision}-bfloat16", model=model))
    return rows


def site_of(rows: list[Entry]) -> Site:
    return Site(PageContent(make_board(rows, load_leaderboard("open-llm-v2"))))


def page_with_datatables(page: str) -> str:
    """The same table, for DataTables in the place of our script and in one body, which is all that it takes."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    page = re.sub(r"</tbody>\s*<tbody[^>]*>", "", page).replace('<tbody class="part">', "<tbody>")
    page = page.replace(' class="board tinted"', "")  # whose columns and bodies lie as ours need it
    script = '<script src="dataTables.min.js" defer></script><script src="start.js" defer></script>'
    return re.sub(r'<script src="board\.[^"]*" defer></script>', script, page)


# Each sorts by the fifth column as its own script does, and lays the page out.
SORTS = {
    "ours": "document.querySelector('th[data-name=bbh] button').click()",
    "DataTables": "table.order([[4, 'desc']]).draw()",
}
READY = {"ours": "#controls:not([hidden])", "DataTables": ".dt-search", "empty": "p"}
FILES = {"ours": "index.html", "DataTables": "peer.html", "empty": "empty.html"}


def timed(browser: Browser, address: str, name: str) -> dict[str, float]:
    """Milliseconds until a page is loaded and its script is done, until its first paint, and for one sort.

    Of loading and of sorting also the processor time of the page's own thread, which other work on the machine changes
    little.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-US")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(float(one["value"]) for one in metrics if one["name"] == "TaskDuration")

    page.goto(address, timeout=WAIT)
    page.wait_for_selector(READY[name], state="attached", timeout=WAIT)
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    page.wait_for_timeout(100)  # for what is painted after the page is loaded
    sort = f"{SORTS[name]}; document.body.offsetHeight" if name in SORTS else ""
    timer = f"(() => {{ const start = performance.now(); {sort}; return performance.now() - start }})()"
    before = busy()
    found = {"loaded": loaded, "loaded (processor)": before, "first paint": paint, "sorted": page.evaluate(timer)}
    page.wait_for_timeout(100)
    found["sorted (processor)"] = busy() - before
    page.close()
    return found


def browse(browser: Browser, rows: list[Entry], rounds: int) -> None:
    """Load and sort the pages in turn, and print least and median times and the median ratios to the peer's."""
    site = site_of(rows)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for path in site:
            if "/" not in path:
                (folder / path).write_bytes(site[path])
        html = site["index.html"]
        (folder / "peer.html").write_text(page_with_datatables(html.decode()), encoding="utf-8")
        (folder / "dataTables.min.js").write_bytes(DATATABLES.read_bytes())
        (folder / "start.js").write_text(
            "var table = new DataTable('#board', {paging: false, order: []});", encoding="utf-8"
        )
        (folder / "empty.html").write_text("<!doctype html><title>Empty</title><p>Nothing.", encoding="utf-8")
        times: dict[str, list[dict[str, float]]] = {name: [] for name in FILES}
        for _ in range(rounds):
            for name, file in FILES.items():
                times[name].append(timed(browser, f"file://{folder}/{file}", name))
    print(
        f"{len(rows):,} rows: {len(html):,} bytes, {len(gzip.compress(html, 9)):,} gzip; least and median of {rounds}"
    )
    for what in times["ours"][0]:
        said = ", ".join(f"{name} {_least_and_median([one[what] for one in times[name]])} ms" for name in FILES)
        pairs = [(a[what], b[what]) for a, b in zip(times["ours"], times["DataTables"], strict=True) if b[what]]
        print(f"  {what:18} {said}; to DataTables {statistics.median(a / b for a, b in pairs):.2f}")


def _least_and_median(values: list[float]) -> str:
    return f"{min(values):.0f} and {statistics.median(values):.0f}"


def _measured_again(entry: Entry, other: Entry) -> Entry:
    """The row with the numbers of another."""
    return replace(entry, tasks=other.tasks, average=other.average, stderr=other.stderr)


def build(rows: list[Entry]) -> None:
    """Build a site, build it again, and again after one changed row; print its size, wall and processor seconds."""
    average = rows[0].average or 0.0
    nearest = min(rows[1:], key=lambda row: abs((row.average or 0.0) - average))
    changed = [_measured_again(rows[0], nearest), *rows[1:]]
    with tempfile.TemporaryDirectory() as made:
        for what, entries in (("built", rows), ("again", rows), ("one changed row", changed)):
            wall, busy = time.perf_counter(), time.process_time()
            done = write_site(site_of(entries), Path(made) / "site")
            wall, busy = time.perf_counter() - wall, time.process_time() - busy
            print(f"  {what:16} {wall:6.1f} s, {busy:6.1f} s of processor time; {done.changed} files written")
        files = [file.stat().st_size for file in Path(made).rglob("*") if file.is_file()]
    size, count = sum(files), len(files)
    of_a_row = f"{size / len(rows) / 1e3:.1f} KB and {count / len(rows):.2f} files a row"
    print(f"  {size / 1e6:.1f} MB in {count:,} files; {of_a_row}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=5_000, help="of the site that is built")
    call = parser.parse_args()
    executable = os.environ.get("LEADERBOARD_BOT_BROWSER") or UNPACKED / "chromium"
    with sync_playwright() as driver:
        browser: Any = driver.chromium.launch(executable_path=executable, args=FLAGS)
        for count, rounds in ((1_000, call.rounds), (10_000, 1)):
            browse(browser, make_rows(count), rounds)
        browser.close()
    print(f"a site of {call.rows:,} rows")
    build(make_rows(call.rows))


if __name__ == "__main__":
    main()
