"""The README's pictures, taken from the demo's board: `make pictures`."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from infra.settings import Settings
from tests.browser.conftest import CHROMIUM, FLAGS, serving
from tests.browser.visit import Visit
from tests.command import ROOT

FOLDER = ROOT / "leaderboard" / "screenshots"
PAGES = {"overview": "", "ranking": "ranking?suite=sc3", "papers": "papers?suite=tailor"}
WIDTH, HEIGHT, TALL = 1280, 800, 1200
"""The front page is shown down to where all suites stand."""


def main(folder: Path = FOLDER) -> None:
    """Serve the board of the settings' home and keep one picture a page."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving(Settings().home.resolve()) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for name, path in PAGES.items():
            Visit(page, address, folder, "desktop").go(path)
            page.wait_for_timeout(1500)
            if name == "overview":
                page.set_viewport_size({"width": WIDTH, "height": TALL})
                page.wait_for_timeout(500)
            page.screenshot(path=folder / f"{name}.png")
            page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        browser.close()


if __name__ == "__main__":
    main()
