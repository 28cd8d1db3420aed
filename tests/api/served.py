"""The API behind a real port, in a thread of the test's process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from infra.settings import Settings
from leaderboard.api.door import create_app


@contextmanager
def served(app: Settings | ASGIApp) -> Iterator[str]:
    """The address of a server for these settings, or of this application."""
    served_app = create_app(app) if isinstance(app, Settings) else app
    config = uvicorn.Config(served_app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
