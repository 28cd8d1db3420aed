"""Every page of the home's board at three sizes, as pictures in a folder, with what is wrong on it.

`ARMILLARY_HOME=… python -m tests.browser.every_page FOLDER` after `armillary demo --no-serve`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from infra.db import session
from infra.settings import Settings
from leaderboard.queries.ranking import suites
from tests.browser.conftest import CHROMIUM, FLAGS, serving
from tests.browser.test_glance import CLIPPED, HEADINGS, SIZES
from tests.browser.visit import Visit
from tests.leaderboard.pages import VIEWS

BY_SUITE = ("ranking", "gaps", "papers")


def main(folder: Path) -> int:
    """Write the pictures and print the faults; 1 if there are any."""
    folder.mkdir(parents=True, exist_ok=True)
    home = Settings().home.resolve()
    with serving(home) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        page = browser.new_page()
        faults = [
            f"{name} at {size}: {fault}"
            for size, (width, height) in SIZES.items()
            for name, path in addresses(Settings())
            for fault in look(
                Visit(page, address, folder, size).sized(size, width, height), name, path
            )
        ]
        browser.close()
    print("\n".join(faults) or "Nothing is cut off, mistitled or out of order.")
    return int(bool(faults))


def addresses(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every page by a name for its picture; those of a suite once for each."""
    with session(settings.database) as db:
        names = [suite.name for suite in suites(db)]
    for view in VIEWS:
        if view in BY_SUITE:
            yield from ((f"{view}-{name}", f"{view}?suite={name}") for name in names)
        else:
            yield view, "" if view == "overview" else view


def look(visit: Visit, name: str, path: str) -> Iterator[str]:
    """Keep a picture of a page, and tell what is wrong with it."""
    visit.go(path).page.wait_for_timeout(1000)
    yield from faults_of(visit.page, name.split("-")[0])
    if not visit.is_sound():
        yield "an error is shown, or something sticks out to the right"
    visit.shot(name)


def faults_of(page: Page, view: str) -> Iterator[str]:
    """Title, headings, cells that are cut off, and where the first row of a ranking stands."""
    if page.title() != f"{view.capitalize()} · Armillary":
        yield f"is called {page.title()!r}"
    levels = page.evaluate(HEADINGS)
    if levels[:1] != [1] or any(after > before + 1 for before, after in pairwise(levels)):
        yield f"headings of levels {levels}"
    if cut := page.evaluate(CLIPPED):
        yield f"cut off: {cut[:3]}"
    first = page.locator("table.arm-table tbody tr:not(.group)")
    if view == "ranking" and first.count() and page.viewport_size:
        place, height = first.first.bounding_box(), page.viewport_size["height"]
        if place and place["y"] > height / (1 if page.viewport_size["width"] < 500 else 2):
            yield f"the first row begins at {place['y']:.0f} of {height}"


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
