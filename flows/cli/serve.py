"""Starting the board's page, and its API in a process of its own."""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from typing import TypedDict

from infra.settings import Settings

API_PORT = 8502


def run_board(settings: Settings, address: str = "127.0.0.1") -> None:
    """Replace this process by Streamlit serving the board, with the API under /api for what its
    pages send."""
    run_app("one_address.py", settings, settings.port, address)


def run_app(name: str, settings: Settings, port: int, address: str = "127.0.0.1") -> None:
    """Replace this process by Streamlit serving one of our programs."""
    app = str(files("leaderboard.apps") / name)
    options = {
        "server.address": address,
        "server.port": str(port),
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "server.fileWatcherType": "none",
        "server.maxUploadSize": "0",
        # One for each: a colour for both would hold every reader to light.
        "theme.light.primaryColor": "#0072B2",
        "theme.dark.primaryColor": "#56B4E9",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    sys.stdout.flush()
    # Streamlit leaves it to Uvicorn whom to believe, which reads this and trusts loopback else.
    environment = {**os.environ, "FORWARDED_ALLOW_IPS": settings.trusted_proxies}
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", app, *flags], environment)


def run_api(settings: Settings, address: str = "127.0.0.1", port: int = API_PORT) -> None:
    """Serve the API until somebody stops it."""
    import uvicorn

    from leaderboard.api.app import create

    proxies = settings.trusted_proxies
    uvicorn.run(
        create(settings), host=address, port=port, log_level="info", **proxy_options(proxies)
    )


class ProxyOptions(TypedDict):
    """Uvicorn's options about headers in which a proxy names the caller."""

    proxy_headers: bool
    forwarded_allow_ips: str


def proxy_options(trusted_proxies: str) -> ProxyOptions:
    """Believe `X-Forwarded-For` from these addresses only; from nobody when there are none."""
    return {"proxy_headers": bool(trusted_proxies), "forwarded_allow_ips": trusted_proxies}
