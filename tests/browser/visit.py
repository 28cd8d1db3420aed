"""What a reader does on the page, in the page's own words."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from playwright.sync_api import Page, expect

PATIENCE = 30_000


@dataclass(frozen=True)
class Visit:
    """One browser window on the board."""

    page: Page
    url: str
    artefacts: Path
    size: str

    def go(self, path: str) -> Visit:
        """Open an address and wait until the page is drawn."""
        self.page.goto(f"{self.url}/{path}")
        return self.settled()

    def settled(self) -> Visit:
        """Wait until nothing runs any more."""
        expect(self.page.locator("h1").first).to_be_visible(timeout=PATIENCE)
        expect(self.page.locator("[data-testid=stStatusWidget]")).to_have_count(0, timeout=PATIENCE)
        expect(
            self.page.locator("[data-testid=stApp][data-test-script-state=running]")
        ).to_have_count(0, timeout=PATIENCE)
        expect(self.page.locator("[data-testid=stSkeleton]")).to_have_count(0, timeout=PATIENCE)
        return self

    def choose(self, label: str, option: str) -> Visit:
        """Pick from a menu."""
        self.page.get_by_role("button", name=f"{label}:").first.click()
        self.page.get_by_role("menuitem", name=option, exact=True).first.click()
        return self.settled()

    def cells(self, number: int = 0) -> list[str]:
        """The words in a table, as a screen reader finds them."""
        table = self.page.locator("[data-testid=stDataFrame]").nth(number)
        expect(table.locator("[role=gridcell]").first).to_be_attached(timeout=PATIENCE)
        return [text.strip() for text in table.locator("[role=gridcell]").all_text_contents()]

    def leads_with(self, *words: str) -> bool:
        """Whether the ranking comes to begin with these words, each in its cell; a page may still
        be drawing it."""
        cells = self.page.locator("table.arm-table tbody tr").first.locator("td, th")
        for number, word in enumerate(words):
            expect(cells.nth(number)).to_have_text(
                re.compile(f"^{re.escape(word)}"), timeout=PATIENCE
            )
        return True

    def ranked_names(self) -> list[str]:
        """The models of the ranking, top to bottom."""
        expect(self.page.locator("table.arm-table").first).to_be_visible(timeout=PATIENCE)
        names = self.page.locator("table.arm-table tr.ranked a.model > span")
        return [text.strip() for text in names.all_inner_texts()]

    def shot(self, name: str) -> Visit:
        """Keep a picture of the whole page."""
        tall = int(
            self.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        )
        size = self.page.viewport_size or {"width": 1400, "height": 900}
        self.page.set_viewport_size(
            {"width": size["width"], "height": min(max(tall, size["height"]), 4000)}
        )
        self.page.wait_for_timeout(400)
        self.page.screenshot(path=self.artefacts / f"{name}-{self.size}.png")
        self.page.set_viewport_size(size)
        return self

    def sized(self, name: str, width: int, height: int) -> Visit:
        """The same window at another size."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_timeout(300)
        return replace(self, size=name)

    def is_sound(self) -> bool:
        """No error is shown, and nothing sticks out to the right."""
        broken = self.page.locator("[data-testid=stException]").count()
        wide = self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1")
        return not broken and not wide
