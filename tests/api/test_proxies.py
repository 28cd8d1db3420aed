"""Who the caller is, by the API: the address of the connection, unless a trusted proxy names
another."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import uvicorn

from flows.cli.serve import proxy_options


def caller_as_seen(trusted_proxies: str) -> str:
    """The caller's address, for a request from this machine that claims to come from elsewhere."""
    callers: list[str] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        callers.append(scope["client"][0])

    config = uvicorn.Config(app, log_config=None, **proxy_options(trusted_proxies))
    config.load()
    scope = {
        "type": "http",
        "client": ("127.0.0.1", 5000),
        "headers": [(b"x-forwarded-for", b"203.0.113.9")],
        "scheme": "http",
    }
    loaded: Any = config.loaded_app
    asyncio.run(loaded(scope, None, None))
    return callers[0]


@pytest.mark.parametrize(
    ("trusted_proxies", "caller"),
    [
        ("", "127.0.0.1"),
        ("10.0.0.0/8", "127.0.0.1"),
        ("127.0.0.1", "203.0.113.9"),
        ("10.0.0.0/8,127.0.0.0/8", "203.0.113.9"),
    ],
)
def test_a_forwarded_address_is_believed_from_a_trusted_proxy_only(
    trusted_proxies: str, caller: str
) -> None:
    assert caller_as_seen(trusted_proxies) == caller
