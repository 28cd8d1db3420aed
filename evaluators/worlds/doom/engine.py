"""The engine as a child: a process in a folder and a process group of its own, which ends with us
and leaves nothing behind."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np

from evaluators.worlds.doom.sessions import PlayedSession, SessionOrder

LENGTH = struct.Struct(">Q")
ROOT = Path(__file__).parents[3]
WANTED = "Install the game: pip install vizdoom==1.3.2."


class NoGame(RuntimeError):
    """The game does not run on this machine; the message says why and what to do."""


class Engine:
    """Records sessions in a child process; open it with `running`."""

    def __init__(self, process: subprocess.Popen[bytes], complaints: Path) -> None:
        self.process, self.complaints = process, complaints

    def record(self, order: SessionOrder) -> PlayedSession:
        """Play and record a session."""
        arrays = self._ask({"order": asdict(order)})
        return PlayedSession(order, arrays["frames"], arrays["controls"], arrays["states"])

    def _ask(self, wish: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
        try:
            sender, receiver = self.process.stdin, self.process.stdout
            assert sender and receiver
            sender.write(json.dumps(wish).encode() + b"\n")
            sender.flush()
            (size,) = LENGTH.unpack(_exactly(receiver, LENGTH.size))
            with np.load(io.BytesIO(_exactly(receiver, size)), allow_pickle=False) as data:
                return {name: data[name] for name in data.files}
        except (OSError, EOFError):
            last = self.complaints.read_text("utf-8", "replace").strip().splitlines()[-1:]
            reason = last[0] if last else "it said nothing"
            raise NoGame(f"The game's process ended: {reason}. {WANTED}") from None


@contextlib.contextmanager
def running() -> Iterator[Engine]:
    """An engine in a folder and group of its own; both are gone afterwards, whatever happens."""
    with tempfile.TemporaryDirectory(prefix="armillary-doom-") as folder:
        complaints = Path(folder) / "complaints.txt"
        with complaints.open("wb") as heard:
            process = subprocess.Popen(
                [sys.executable, "-m", "evaluators.worlds.doom.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=heard,
                cwd=folder,
                env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": folder},
                start_new_session=True,
            )
        try:
            yield Engine(process, complaints)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, which lets it close the game; then end whatever is left of its group."""
    with contextlib.suppress(OSError):
        if process.stdin:
            process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data
