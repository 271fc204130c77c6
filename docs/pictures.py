"""Take the pictures of the README from the running program: `make browser && python docs/pictures.py`.

They show the board of the tour: its example rows, and rows of models that do not exist.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402 - the folder above is found first

from bot.pages.addresses import row_page  # noqa: E402 - the same
from bot.pages.write import write_site  # noqa: E402 - the same
from examples.make_results import make_result  # noqa: E402 - the same
from tests.browser.conftest import FLAGS, UNPACKED  # noqa: E402 - the same
from tests.evaluation.judging import entry_from  # noqa: E402 - the same
from tests.pages.boards import examples, site_of  # noqa: E402 - the same

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 640}


def main() -> None:
    """Build the site aside, and take a picture of the board and one of a row."""
    strengths = Random(1)  # noqa: S311 - drawn numbers, no secret
    made = [entry_from(make_result(f"example-org/model-{i:02}", strengths.uniform(0.05, 0.8))) for i in range(30)]
    site = site_of((*examples(), *made))
    kestrel = next(name for name in site.content.rows if "kestrel" in name)
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        write_site(site, Path(folder) / "site")
        executable = os.environ.get("LEADERBOARD_BOT_BROWSER") or UNPACKED / "chromium"
        browser = driver.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page(viewport=SIZE, locale="en-US", reduced_motion="reduce")
        for name, path, part in (("board", "index.html", "header"), ("row", row_page(kestrel), "#musr")):
            page.goto(f"file://{folder}/site/{path}")
            page.locator(part).evaluate("part => part.scrollIntoView()")
            page.screenshot(path=PICTURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
