"""Canonical JSON is written quickly where it can be, and never in another way."""

from __future__ import annotations

from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.publish.canonical import canonical

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | FLOATS | st.text()
VALUES = st.recursive(
    PLAIN, lambda some: st.lists(some) | st.dictionaries(st.text(), some), max_leaves=8
)


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_any_value_is_written_as_the_reference_writes_it(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800"])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises(rfc8785.CanonicalizationError):
        canonical({"value": value})
