"""Processes that end with the block that started them, and with the process that started them."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BOUND = Path(__file__).with_name("bound.py")

PATIENCE = 15.0
"""Seconds that a process is given to end by itself."""


@dataclass(frozen=True, slots=True)
class Running:
    """A process and the file that takes what it prints."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """The process's id."""
        return self.process.pid

    def tail(self) -> str:
        """The end of what the process printed."""
        return self.log.read_text(errors="replace")[-2000:]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom a process runs as; -1 is whoever we are."""

    user: int
    group: int


OURSELVES = Identity(-1, -1)


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    identity: Identity = OURSELVES,
    end: signal.Signals = signal.SIGTERM,
    orphaned: signal.Signals = signal.SIGKILL,
) -> Iterator[Running]:
    """Run the command; `end` asks it to go, and `orphaned` reaches it when the thread that started
    it dies."""
    binding = (os.getpid(), int(orphaned), identity.user, identity.group)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(BOUND), *map(str, binding), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    try:
        yield Running(process, log)
    finally:
        _end(process, end)


def wait_until(ready: Callable[[], bool], processes: Sequence[Running], seconds: float) -> None:
    """Wait for the servers to answer; if one of them ends or time runs out, show what it
    printed."""
    deadline = time.monotonic() + seconds
    while not ready():
        for running in processes:
            if running.process.poll() is not None:
                raise RuntimeError(
                    f"{running.log.stem} ended with code "
                    f"{running.process.returncode}:\n{running.tail()}"
                )
        if time.monotonic() > deadline:
            logs = "\n".join(f"{running.log.stem}:\n{running.tail()}" for running in processes)
            raise RuntimeError(f"No answer within {seconds:.0f} seconds.\n{logs}")
        time.sleep(0.1)


def answers(port: int, path: str) -> bool:
    """Say whether a GET is answered with 200. Plain HTTP, for urllib might ask a proxy."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def free_ports(count: int) -> Sequence[int]:
    """Find ports that nobody listens on, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    process.send_signal(number)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        # It leads a session of its own, so the group is its children and nobody else.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
