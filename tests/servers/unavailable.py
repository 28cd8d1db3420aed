"""What to do about a server that this machine cannot have: skip the test here, fail it in CI."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeVar

import pytest

Server = TypeVar("Server")


class Unavailable(Exception):
    """This machine cannot have the server, for the reason given."""


@contextmanager
def needs(server: AbstractContextManager[Server]) -> Iterator[Server]:
    """Start the server; where it cannot be had, skip, or fail if the variable CI is set."""
    with ExitStack() as stack:
        try:
            started = stack.enter_context(server)
        except Unavailable as reason:
            if os.environ.get("CI"):
                pytest.fail(f"In CI every server must be there: {reason}", pytrace=False)
            pytest.skip(str(reason))
        yield started
