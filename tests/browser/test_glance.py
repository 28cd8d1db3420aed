"""What a reader takes in at a glance, at the sizes people have: where the first row stands, that
nothing is cut off, what a page is called."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visit import PATIENCE, Visit
from tests.leaderboard.pages import VIEWS

pytestmark = pytest.mark.xdist_group("browser")
SIZES = {"w1400": (1400, 950), "w1280": (1280, 800), "phone": (390, 844)}
RANKING = "ranking?suite=tailor&scenario=*&setting=*&modality=*&task=*"
TABS = ["Overview", "Ranking", "Samples", "Compare", "Submit"]
CLIPPED = """() => [...document.querySelectorAll('table.arm-table td, table.arm-table th')]
  .filter((cell) => cell.offsetParent && (cell.scrollWidth > cell.clientWidth + 1
    || cell.getBoundingClientRect().right > window.innerWidth + 1))
  .map((cell) => cell.innerText)"""
HEADINGS = """() => [...document.querySelector('[data-testid=stMain]')
  .querySelectorAll('h1, h2, h3, h4')].map((head) => Number(head.tagName[1]))"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Box:
    """Where something stands on the screen."""

    top: float
    bottom: float
    right: float


def box(visit: Visit, selector: str) -> Box:
    place = visit.page.locator(selector).first.bounding_box()
    assert place is not None
    return Box(place["y"], place["y"] + place["height"], place["x"] + place["width"])


@pytest.fixture(params=["visit", "at_crowd"])
def reader(request: pytest.FixtureRequest) -> Visit:
    """A reader before the small board, and before one with forty entries."""
    visit: Visit = request.getfixturevalue(request.param)
    return visit


@pytest.mark.parametrize("size", SIZES)
def test_the_first_row_is_seen_without_scrolling_and_nothing_is_cut_off(
    size: str, reader: Visit
) -> None:
    width, height = SIZES[size]
    visit = reader.sized(f"{reader.size}-{size}", width, height).go(RANKING)
    expect(visit.page.locator("tr.ranked").first).to_be_visible(timeout=PATIENCE)

    first, score = box(visit, "tr.ranked"), box(visit, "tr.ranked td.chosen small")

    if size == "phone":
        assert first.bottom < height and score.bottom < height and score.right <= width
    else:
        assert first.top < height / 2, f"the first row begins at {first.top} of {height}"
    assert visit.page.evaluate(CLIPPED) == []
    assert visit.is_sound()
    visit.shot("glance-ranking")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", VIEWS)
def test_every_page_of_a_full_board_is_sound_and_called_by_its_name(
    view: str, size: str, at_crowd: Visit
) -> None:
    width, height = SIZES[size]
    visit = at_crowd.sized(f"crowd-{size}", width, height).go("" if view == "overview" else view)

    assert visit.is_sound()
    assert visit.page.title() == f"{view.capitalize()} · Armillary"
    levels = visit.page.evaluate(HEADINGS)
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    visit.shot(f"glance-{view}")


def test_five_tabs_come_first_and_the_rest_stands_under_more(visit: Visit) -> None:
    visit.go(RANKING)
    bar = visit.page.locator("header")

    names = [text.split("\n")[-1] for text in bar.get_by_role("link").all_inner_texts()]

    assert [name for name in names if name in TABS] == TABS
    assert "Papers" not in names and "System" not in names
    expect(bar.get_by_text("More", exact=True)).to_be_visible()
    expect(bar.get_by_text("For operators", exact=True)).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read_in_light_and_dark(scheme: str, visit: Visit) -> None:
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path in (RANKING, "", "model", "compare", "submit", "samples", "methods"):
        visit.go(path)
        visit.page.wait_for_timeout(400)

        contrast = visit.page.evaluate(CONTRAST)

        assert contrast["looked"] > 20
        assert contrast["poor"] == [], path
    visit.shot(f"glance-{scheme}")
    visit.page.emulate_media(color_scheme="light")


def test_a_keyboard_reaches_tabs_sorting_and_entries_and_shows_where_it_is(visit: Visit) -> None:
    visit.go(RANKING)
    expect(visit.page.locator("tr.ranked").first).to_be_visible(timeout=PATIENCE)
    visit.page.locator("header a").first.focus()
    stops: list[str] = []

    for _ in range(60):
        visit.page.keyboard.press("Tab")
        stops.append(visit.page.evaluate("document.activeElement.getAttribute('href') || ''"))
        if stops[-1].startswith("model?"):
            break

    outline = visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert [stop for stop in stops if "sort=" in stop or "metric=" in stop]
    assert stops[-1].startswith("model?")
    assert outline not in ("", "none")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("h1")).to_have_text("Model", timeout=PATIENCE)
