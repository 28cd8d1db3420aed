"""The whole API against its own description: schemathesis makes up requests, sound and unsound, for
every operation.

ARMILLARY_API_EXAMPLES sets how many an operation; the default keeps the run short, `make test-long`
takes 300.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import positive_data_acceptance

from infra.settings import Settings
from leaderboard.api.app import create

from .conftest import ON_BOTH, Desk

load_all_checks()
EXAMPLES = int(os.environ.get("ARMILLARY_API_EXAMPLES", "20"))
APP = create(Settings(home=Path("nowhere")))
SCHEMA = schemathesis.openapi.from_asgi("/v1/openapi.json", APP)
NOT_ASKED = [positive_data_acceptance]
"""A manifest may have the right form and still name a suite that there is not: that is refused, and
rightly."""
CALM: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
}


@pytest.fixture
def asked(desk: Desk) -> Iterator[Desk]:
    """The application over the machine of the tests."""
    before = APP.state.settings
    APP.state.settings = desk.settings.model_copy(update={"rate_wrong_tokens": 1_000_000})
    yield desk
    APP.state.settings = before


def check(case: Any, desk: Desk) -> None:
    case.call_and_validate(headers=desk.headers(), excluded_checks=NOT_ASKED)


@ON_BOTH
@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES, **CALM)
def test_every_operation_keeps_to_its_description(case: Any, asked: Desk) -> None:
    check(case, asked)


@pytest.mark.long
@ON_BOTH
@SCHEMA.parametrize()
@settings(max_examples=max(EXAMPLES, 300), **CALM)
def test_every_operation_keeps_to_its_description_300_times(case: Any, asked: Desk) -> None:
    check(case, asked)
