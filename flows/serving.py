"""Starting the board's page."""

from __future__ import annotations

import os
import sys
from importlib.resources import files

from infra.settings import Settings


def run_board(settings: Settings, address: str = "127.0.0.1") -> None:
    """Replace this process by Streamlit serving the board."""
    app = str(files("leaderboard") / "app.py")
    options = {
        "server.address": address,
        "server.port": str(settings.port),
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "server.fileWatcherType": "none",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", app, *flags])
