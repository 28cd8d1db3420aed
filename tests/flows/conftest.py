"""Flows in the test's own process: the same flow, without the seconds that each command takes to
start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra.settings import Settings
from tests.servers.prefect import PrefectServer


@pytest.fixture
def here(ready: Settings, prefect_server: PrefectServer) -> Iterator[Settings]:
    """A machine with its catalogue whose flows report to the shared Prefect server."""
    from prefect.settings import PREFECT_API_URL, PREFECT_LOGGING_LEVEL, temporary_settings

    with temporary_settings(
        {PREFECT_API_URL: prefect_server.api_url, PREFECT_LOGGING_LEVEL: "CRITICAL"}
    ):
        yield ready
