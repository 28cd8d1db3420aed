"""What many tests share: the servers, an empty home, small bundles."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.run import catalogue
from infra.settings import Settings
from submissions.bundle.check import Catalogue
from tests.boards import stock
from tests.bundles import drawn_outputs

pytest_plugins = ["tests.servers.fixtures"]

# Tests run beside each other, on as many cores: threads of one small model would wait for each
# other, spinning.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Ranks under the scripted judge, which sees nothing, are the subject of many tests: their boards
# are ranked under the notice that an operator switched the exam off. Tests of the exam set it back.
os.environ.setdefault("ARMILLARY_EXAM", "off")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a fresh machine: an empty home, nothing else set."""
    for name in ("DATABASE_URL", "STORE", "S3_ENDPOINT", "JUDGE"):
        monkeypatch.delenv(f"ARMILLARY_{name}", raising=False)
    monkeypatch.setenv("ARMILLARY_HOME", str(tmp_path / "home"))
    return Settings()


@pytest.fixture
def ready(home: Settings) -> Settings:
    """A home with its database and catalogue."""
    return stock(home)


@pytest.fixture(scope="session")
def suites() -> Catalogue:
    """What the suites expect."""
    return catalogue.from_code()


@pytest.fixture
def outputs_bundle(tmp_path: Path) -> Callable[..., Path]:
    """Makes a sound bundle of drawn pictures for the demo subset; keywords replace parts of its
    declaration."""

    def make(name: str = "bundle.zip", **changes: Any) -> Path:
        return drawn_outputs(tmp_path / name, **changes)

    return make
