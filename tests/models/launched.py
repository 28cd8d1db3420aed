"""Two processes of one run on this machine, as a launcher starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys


def launch_two(module: str, *arguments: str) -> None:
    """Run a module in both to their end; what one of them complains of fails the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    told = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    both = [
        subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env={**os.environ, **told, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    complaints = [process.communicate(timeout=900)[1].decode()[-3000:] for process in both]
    assert not any(process.returncode for process in both), "\n".join(complaints)
