"""How soon the ranking page can be used in Chromium, against a Streamlit page that says hello."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from infra.settings import Settings
from tests.bench.report import Row, at_most, shown
from tests.browser.conftest import CHROMIUM, FLAGS, _free_port, _wait

LOADS = 9
PATIENCE = 120_000
CELL = "[data-testid=stDataFrame] [role=gridcell], table.arm-table tbody td"
"""Where words of a table stand, in a table of Streamlit's and in one of ours."""
HELLO = 'import streamlit as st\nst.title("Hello")\nst.dataframe({"a": [1, 2, 3]})\n'
BOARD = (
    "from flows.cli.serve import run_board; from infra.settings import Settings; "
    "run_board(Settings())"
)
QUIET = (
    "--server.headless=true",
    "--browser.gatherUsageStats=false",
    "--server.fileWatcherType=none",
)


def rows(settings: Settings) -> Iterator[Row]:
    """Cold: a new browser profile. Warm: the same one again. In turn, so that a busy moment hits
    both."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="armillary-hello-")))
        (folder / "hello.py").write_text(HELLO)
        hello = stack.enter_context(
            _serving([sys.executable, "-m", "streamlit", "run", str(folder / "hello.py")])
        )
        board = stack.enter_context(_serving([sys.executable, "-c", BOARD], settings))
        ours = f"{board}/ranking?suite=tailor"
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        _load(browser, hello), _load(browser, ours)
        loads = [(_load(browser, hello), _load(browser, ours)) for _ in range(LOADS)]
        browser.close()
    for name, number, goal in (("cold", 0, 2.0), ("warm", 1, 2.2)):
        ratio = median(page[number] for _, page in loads) / median(
            plain[number] for plain, _ in loads
        )
        yield at_most(
            f"ranking page interactive, {name} / hello world ({LOADS} loads, medians)", ratio, goal
        )
        yield shown(
            f"ranking page interactive, {name}, seconds", median(page[number] for _, page in loads)
        )
    yield at_most("requests of a cold ranking page", max(page[2] for _, page in loads), 120)


@contextmanager
def _serving(command: list[str], settings: Settings | None = None) -> Iterator[str]:
    port = _free_port()
    place = {"ARMILLARY_HOME": str(settings.home), "ARMILLARY_PORT": str(port)} if settings else {}
    command = (
        command
        if settings
        else [*command, f"--server.port={port}", "--server.address=127.0.0.1", *QUIET]
    )
    with tempfile.TemporaryDirectory(prefix="armillary-log-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as file:
            server = subprocess.Popen(
                command, env={**os.environ, **place}, stdout=file, stderr=file
            )
            try:
                _wait(f"http://127.0.0.1:{port}/_stcore/health", log)
                yield f"http://127.0.0.1:{port}"
            finally:
                server.terminate()
                server.wait(20)


def _load(browser: Browser, url: str) -> tuple[float, float, int]:
    """Seconds cold and warm, and how many requests the cold one made."""
    context: BrowserContext = browser.new_context(viewport={"width": 1400, "height": 950})
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    cold = _interactive(page, url)
    requests = len(asked)
    warm = _interactive(page, url)
    context.close()
    return cold, warm, requests


def _interactive(page: Page, url: str) -> float:
    """Until the head stands, the first table has cells to read and nothing runs any more."""
    start = perf_counter()
    page.goto(url)
    expect(page.locator("h1").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator(CELL).first).to_be_attached(timeout=PATIENCE)
    expect(page.locator("[data-testid=stApp][data-test-script-state=running]")).to_have_count(
        0, timeout=PATIENCE
    )
    return perf_counter() - start
