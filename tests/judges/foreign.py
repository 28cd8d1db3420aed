"""`transformers serve` as a process: a server of the chat protocol that nobody here wrote."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.process import answers, free_ports, running, wait_until


@contextmanager
def transformers_serving(folder: Path, home: Path) -> Iterator[str]:
    """Serve the model of a folder on the CPU and without any network; gives the base URL."""
    (home / "hub").mkdir(exist_ok=True)
    (port,) = free_ports(1)
    program = str(Path(sys.executable).parent / "transformers")
    command = [program, "serve", str(folder), "--device", "cpu", "--port", str(port)]
    offline = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_TELEMETRY": "1",
    }
    with running(command, home / "serve.log", environment=offline) as process:
        wait_until(lambda: answers(port, "/health"), [process], 240)
        yield f"http://127.0.0.1:{port}/v1"
