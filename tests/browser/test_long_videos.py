"""L-IVA's study as a rater has it: every clip of a long video, and all that a rater needs beside
it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect
from sqlmodel import select

from evaluators.media import write_mp4, write_png
from flows.studies.create import StudyPlan, create, invite, move
from flows.studies.items import items_of_file
from infra.db import session
from infra.settings import Settings
from infra.tables.study import Seat
from tests.browser.conftest import ARTEFACTS
from tests.browser.test_raters import _settled, raters, watch_all
from tests.browser.visit import PATIENCE

pytestmark = pytest.mark.xdist_group("browser")
__all__ = ["raters"]
SECONDS, RATE = 75, 4
GOALS = ["The kettle is full of water.", "The tea is in the red mug."]
NEEDED = (
    "Case kitchen_case14",
    "Make a cup of tea.",
    "How plausible is it physically?",
    "1: the scene falls apart",
    "5: weight, contact and collision as in life",
    "Do not tick a step if on the way something passes through something else",
    "First by what was finished, then by whether it makes sense, then by its look.",
    "Unable to label",
    "What went wrong",
    "Submit and next",
)


def _items(folder: Path) -> Path:
    """One case filmed by four methods: 75 seconds, of which each second looks different."""
    names = []
    for number in range(4):
        frames = np.zeros((SECONDS * RATE, 48, 64, 3), np.uint8)
        for index, frame in enumerate(frames):
            frame[:, : 1 + index * 63 // len(frames)] = (60 + 40 * number, 200 - 30 * number, 90)
        names.append(write_mp4(frames, folder / f"{number}.mp4", RATE).name)
    first = write_png(np.full((48, 64, 3), 128, np.uint8), folder / "first.png").name
    item = {
        "case": "kitchen_case14",
        "intention": "Make a cup of tea.",
        "subgoals": GOALS,
        "media": names,
        "context": [first],
        "behind": {"methods": dict(zip("ABCD", ("w", "x", "y", "z"), strict=True))},
    }
    path = folder / "items.jsonl"
    path.write_text(json.dumps(item) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def links(
    raters: tuple[str, Settings], tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[str], Settings]:
    url, settings = raters
    items = items_of_file(_items(tmp_path_factory.mktemp("long")))
    create(settings, StudyPlan("long", "liva", "liva", "Long videos", raters_per_item=2), items)
    keys = invite(settings, "long", 2)
    move(settings, "long", "open")
    return [f"{url}/?key={key}" for key in keys], settings


@pytest.mark.parametrize(("place", "width"), [(0, 1440), (1, 1024)])
def test_every_clip_of_a_long_video_reaches_the_rater_with_all_that_is_needed(
    chromium: Browser, links: tuple[list[str], Settings], place: int, width: int
) -> None:
    urls, settings = links
    page = chromium.new_page(viewport={"width": width, "height": 1000})
    page.set_default_timeout(4 * PATIENCE)
    page.goto(urls[place])
    page.get_by_role("button", name="I agree").click()
    expect(page.locator("video")).to_have_count(4, timeout=PATIENCE)
    _settled(page)

    durations = page.evaluate("() => [...document.querySelectorAll('video')].map(v => v.duration)")
    widths = [box["width"] for box in _boxes(page)]
    main = page.locator("[data-testid=stMain]")
    for words in NEEDED:
        expect(main).to_contain_text(words, timeout=PATIENCE, use_inner_text=True)
    text = main.inner_text()
    _picture(page, width)
    assert durations == pytest.approx([SECONDS] * 4, abs=0.5)
    assert min(widths) > 0.36 * width, "two beside each other, large enough to see a flicker"
    marks = page.get_by_role("status").filter(has_text="Watched to the end")
    assert marks.inner_text().count("–") == 4
    assert text.count(GOALS[0]) == 4 and page.get_by_role("img").count() >= 1
    assert not page.evaluate("() => [...document.querySelectorAll('video')].some(v => v.loop)")

    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_text("play it to the end first")).to_be_visible(timeout=PATIENCE)
    watch_all(page, 16.0)
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_text("play it to the end first")).to_have_count(0, timeout=PATIENCE)
    _settled(page)
    with session(settings.database) as db:
        seats = list(db.exec(select(Seat.answers).where(Seat.study_id == "long")))
    played = [answers for answers in seats if answers.get("A.watched")]
    assert len(played) == place + 1
    assert all(answers[f"{letter}.watched"] for answers in played for letter in "ABCD")
    page.close()


def _picture(page: Page, width: int) -> None:
    """The whole form in one picture; the page scrolls inside itself."""
    ARTEFACTS.mkdir(exist_ok=True)
    tall = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": tall})
    page.screenshot(path=ARTEFACTS / f"liva-study-{width}.png")
    page.set_viewport_size({"width": width, "height": 1000})


def _boxes(page: Page) -> list[dict[str, float]]:
    return [box for video in page.locator("video").all() if (box := video.bounding_box())]  # type: ignore[misc]
