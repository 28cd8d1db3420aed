"""Three raters in three browsers on one server, each protocol: nothing lost, nothing twice, and no
name in any byte."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, WebSocket, expect
from sqlmodel import select

from flows.studies.board import publish
from flows.studies.create import StudyPlan, create, invite, move
from flows.studies.items import items_of_board
from infra.db import session
from infra.settings import Settings
from infra.tables.study import Seat, SeatEvent, StudyItem
from tests.browser.conftest import ARTEFACTS, _free_port, _wait
from tests.browser.visit import PATIENCE
from tests.studies.entries import enter
from tests.studies.making import board
from tests.studies.test_four_protocols import independent_alpha, independent_kappa

pytestmark = pytest.mark.xdist_group("browser")
NAMES = {"Glassbead-7B": "Team Petrel", "Northwind-XL": "Team Skua"}
SUITES = ("tailor", "liva", "universe", "sc3")
MOST_QUESTIONS = 60
"""A question may open others, so they are not counted at the start."""
SAMPLES = {"tailor": 1, "liva": 2, "universe": 1, "sc3": 1}


@pytest.fixture(scope="module")
def raters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Settings]]:
    """The rating page as `armillary study serve` starts it."""
    settings = board(tmp_path_factory.mktemp("rating") / "home")
    port = _free_port()
    environment = {**os.environ, "ARMILLARY_HOME": str(settings.home)}
    code = (
        "from flows.cli.serve import run_app; from infra.settings import Settings; "
        f"run_app('rating_app.py', Settings(), {port})"
    )
    log = settings.home / "rating.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=stream, stderr=stream
        )
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", log)
            yield f"http://127.0.0.1:{port}", settings
        finally:
            server.terminate()
            server.wait(60)


@pytest.fixture(scope="module")
def browsers(chromium: Browser) -> Iterator[list[BrowserContext]]:
    """Each rater's own, with nothing in common but the server."""
    contexts = [
        chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        for _ in range(3)
    ]
    yield contexts
    for context in contexts:
        context.close()


@pytest.mark.parametrize("suite", SUITES)
def test_three_raters_at_once_lose_nothing_and_learn_no_name(
    suite: str, browsers: list[BrowserContext], raters: tuple[str, Settings], tmp_path: Path
) -> None:
    url, settings = raters
    submissions = enter(settings, suite, NAMES, tmp_path)
    items = items_of_board(settings, suite, submissions, SAMPLES[suite], seed=1)
    create(settings, StudyPlan(suite, suite, suite, "A study", raters_per_item=2), items)
    keys = invite(settings, suite, 3)
    move(settings, suite, "open")
    heard = Heard()
    desks = [
        _sit_down(one, f"{url}/?key={key}", heard) for one, key in zip(browsers, keys, strict=True)
    ]

    left = 0
    while any(not page.get_by_text("Everything is done").is_visible() for page in desks):
        for number, page in enumerate(desks):
            if not page.get_by_text("Everything is done").is_visible():
                if number == 1 and not left:
                    left = _leave_in_the_middle(page)
                    desks[1] = page = _sit_down(browsers[1], f"{url}/?key={keys[1]}", heard)
                    expect(
                        page.get_by_role("radio", checked=True),
                        "filled in before the tab was closed",
                    ).not_to_have_count(0, timeout=PATIENCE)
                _rate(page, number, suite)
    heard.fetch()
    for page in desks:
        page.close()

    move(settings, suite, "closed")
    result = publish(settings, suite)
    with session(settings.database) as db:
        seats = list(db.exec(select(Seat, StudyItem).join(StudyItem).where(Seat.study_id == suite)))
        mine = {item.id for _, item in seats}
        events = [
            one
            for one in db.exec(select(SeatEvent))
            if one.item_id in mine and one.kind == "handed in"
        ]
        db.expunge_all()
    assert left and len(seats) == 2 * len(items)
    assert {seat.state for seat, _ in seats} == {"done"}
    assert set(Counter((one.item_id, one.rater_id) for one in events).values()) == {1}, (
        "nothing twice"
    )
    found = result["all"]["agreement"]
    assert found["alpha"]["value"] == pytest.approx(independent_alpha(seats), nan_ok=True)
    if found["kappa"]["value"] is not None:
        assert found["kappa"]["value"] == pytest.approx(independent_kappa(seats))
    secrets = [*NAMES, *NAMES.values(), *submissions]
    assert heard.bytes > 100_000, "something was listened to"
    assert [name for name in secrets if heard.names(name)] == []


class Heard:
    """Every byte that a browser got: addresses, headers, bodies, and what came through the
    socket."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.addresses: set[str] = set()

    @property
    def bytes(self) -> int:
        return sum(map(len, self.parts))

    def response(self, one: Response) -> None:
        """Addresses and headers at once; bodies are fetched again by `fetch`, since a closed tab
        has none any more."""
        self.parts += [one.url.encode(), str(one.headers).encode()]
        self.addresses.add(one.url)

    def fetch(self) -> None:
        """Every address once more, whole."""
        for address in sorted(self.addresses):
            if address.startswith("http://127.0.0.1"):
                with (
                    suppress(urllib.error.HTTPError),
                    urllib.request.urlopen(address, timeout=60) as answer,
                ):
                    self.parts += [str(answer.headers).encode(), answer.read()]

    def socket(self, one: WebSocket) -> None:
        one.on(
            "framereceived",
            lambda data: self.parts.append(data if isinstance(data, bytes) else data.encode()),
        )

    def names(self, name: str) -> bool:
        wanted = name.lower().encode()
        return any(wanted in part.lower() for part in self.parts)


def _sit_down(browser: BrowserContext, url: str, heard: Heard) -> Page:
    """A tab of their own: link, consent, first item."""
    page = browser.new_page()
    page.set_default_timeout(4 * PATIENCE)
    page.on("response", heard.response)
    page.on("websocket", heard.socket)
    page.goto(url)
    agree = page.get_by_role("button", name="I agree")
    expect(agree.or_(page.get_by_role("button", name="Submit and next"))).to_be_visible(
        timeout=PATIENCE
    )
    if agree.is_visible():
        agree.click()
    expect(page.get_by_role("button", name="Submit and next")).to_be_visible(timeout=PATIENCE)
    return _settled(page)


def _settled(page: Page) -> Page:
    running = page.locator("[data-testid=stApp][data-test-script-state=running]")
    expect(running).to_have_count(0, timeout=PATIENCE)
    return page


def _leave_in_the_middle(page: Page) -> int:
    """Answer the first question, then close the tab; how many were answered."""
    page.keyboard.press("1")
    expect(page.get_by_role("radio", checked=True)).to_have_count(1, timeout=PATIENCE)
    _settled(page)
    page.close()
    return 1


def watch_all(page: Page, rate: float = 1.0) -> None:
    """Play the clips to their end, where they are compared."""
    play = page.get_by_role("button", name="Play all together")
    if play.is_visible():
        play.click()
        page.evaluate(
            "rate => document.querySelectorAll('video').forEach(v => v.playbackRate = rate)", rate
        )
        expect(
            page.get_by_role("status").filter(has_text="Watched to the end")
        ).not_to_contain_text("–", timeout=2 * PATIENCE)
        _settled(page)


def _rate(page: Page, number: int, suite: str) -> None:
    """One item: every open question by its key, then hand in by keys too."""
    before = _done(page)
    watch_all(page)
    groups = page.get_by_role("radiogroup")
    for at in range(MOST_QUESTIONS):
        checked = page.get_by_role("radio", checked=True).count()
        if checked == groups.count():
            break
        page.keyboard.press(_key(suite, number + at, groups.count() - checked))
        expect(page.get_by_role("radio", checked=True)).to_have_count(checked + 1, timeout=PATIENCE)
        _settled(page)
    if suite == "liva" and number:
        page.locator("[data-testid=stCheckbox] label").first.click()
        _settled(page)
    if number == 0 and before == 0:
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"rating-{suite}.png", full_page=True)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text(f"{before + 1} of ").first).to_be_visible(timeout=PATIENCE)
    _settled(page)


def _key(suite: str, turn: int, left: int) -> str:
    """Raters differ; of L-IVA's last two questions the best is the first video and the worst the
    second."""
    if suite == "liva":
        return {1: "2", 2: "1"}.get(left, str(1 + turn % 5))
    return "1" if turn % 3 else "2"


def _done(page: Page) -> int:
    text = page.locator("[data-testid=stProgress]").inner_text()
    return int(text.split(" of ")[0].split()[-1])


def test_pause_keeps_everything_and_the_last_one_can_be_taken_back(
    browsers: list[BrowserContext], raters: tuple[str, Settings], tmp_path: Path
) -> None:
    url, settings = raters
    submissions = enter(settings, "tailor", NAMES, tmp_path)
    items = items_of_board(settings, "tailor", submissions, 1, seed=1)
    create(settings, StudyPlan("paused", "tailor", "tailor", "A study", raters_per_item=1), items)
    (key,) = invite(settings, "paused", 1)
    move(settings, "paused", "open")
    page = _sit_down(browsers[0], f"{url}/?key={key}", Heard())

    page.keyboard.press("2")
    expect(page.get_by_role("radio", checked=True)).to_have_count(1, timeout=PATIENCE)
    page.keyboard.press("Alt+p")
    expect(page.get_by_role("heading", name="Paused")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("radio", checked=True)).to_have_count(1, timeout=PATIENCE)
    page.get_by_role("button", name="Examples").click()
    expect(page.get_by_text("the shoe hides it")).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("Escape")
    _rate(page, 0, "tailor")
    page.keyboard.press("Alt+z")

    expect(page.get_by_text("0 of 2 done")).to_be_visible(timeout=PATIENCE)
    _settled(page)
    questions = page.get_by_role("radiogroup").count()
    expect(page.get_by_role("radio", checked=True)).to_have_count(questions, timeout=PATIENCE)
    page.close()
