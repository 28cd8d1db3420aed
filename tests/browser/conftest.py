"""A real page server and a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from infra.settings import Settings
from tests.browser.visit import Visit
from tests.leaderboard.made_board import MODELS, Model, make, settings_in, shared

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-background-networking",
    "--no-first-run",
]
ARTEFACTS = Path(__file__).parent / "artefacts"
CROWD = (
    *MODELS,
    *(
        Model(
            f"sub-crowd{number:02d}",
            f"Crowd {number:02d} with a name that is rather long for a table",
            f"Laboratory {number % 9}",
            "AB"[number % 2],
            0.45 + 0.05 * (number % 8),
        )
        for number in range(36)
    ),
)
"""Forty entries, most with names that want room."""
SIZES = {"desktop": (1400, 950), "phone": (390, 844)}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Settings]]:
    """The page as `armillary serve` starts it, over a board of its own that tests may write to."""
    home = tmp_path_factory.mktemp("site") / "home"
    shutil.copytree(shared(tmp_path_factory).home, home)
    with serving(home) as address:
        yield address, settings_in(home)


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page over a board with forty entries."""
    home = tmp_path_factory.mktemp("crowd") / "home"
    make(settings_in(home), CROWD)
    with serving(home) as address:
        yield address


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """A page server of its own over a home; gives its address."""
    port = _free_port()
    environment = {**os.environ, "ARMILLARY_HOME": str(home), "ARMILLARY_PORT": str(port)}
    code = (
        "from flows.cli.serve import run_board; from infra.settings import Settings; "
        "run_board(Settings())"
    )
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=log, stderr=log
        )
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", home / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(10)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser, or a skip that says what is missing; in CI missing is failing.

    It closes with its module: Playwright keeps an event loop running, and other tests want to start
    their own.
    """
    if not CHROMIUM.exists():
        reason = "Debian's chromium is not installed: apt-get install -y chromium"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def desk(chromium: Browser) -> Iterator[BrowserContext]:
    """The browser of one reader, who has been here before: what does not change is in its cache."""
    yield from _context(chromium, "desktop")


@pytest.fixture
def visit(desk: BrowserContext, site: tuple[str, Settings]) -> Iterator[Visit]:
    """A reader at a desk, in a new window."""
    yield from _visit(desk, site[0], "desktop")


@pytest.fixture
def phone(chromium: Browser, site: tuple[str, Settings]) -> Iterator[Visit]:
    """A reader with a phone, in a fresh browser."""
    for context in _context(chromium, "phone"):
        yield from _visit(context, site[0], "phone")


@pytest.fixture
def at_crowd(desk: BrowserContext, crowd: str) -> Iterator[Visit]:
    """A reader at a desk, before a board with forty entries."""
    yield from _visit(desk, crowd, "crowd")


def _context(chromium: Browser, size: str) -> Iterator[BrowserContext]:
    width, height = SIZES[size]
    context = chromium.new_context(
        viewport={"width": width, "height": height}, accept_downloads=True, reduced_motion="reduce"
    )
    yield context
    context.close()


def _visit(context: BrowserContext, url: str, size: str) -> Iterator[Visit]:
    page: Page = context.new_page()
    ARTEFACTS.mkdir(exist_ok=True)
    yield Visit(page, url, ARTEFACTS, size)
    page.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, log: Path) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    raise AssertionError(f"The page server did not start:\n{log.read_text()[-2000:]}")
