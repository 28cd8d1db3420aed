"""A child with a made-up model whose deeds are named by its sampling: run by tests of the
confinement."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluators.contracts import Outcome, Output, Sample
from flows.workers.confined.model_main import serve

ANSWERS = 3
"""Where the parent reads, for a model that has broken out of what we wrote."""
QUICK, SLOW, SLOW_FROM = 0.7, 5.0, 4
"""Seconds for a sample of a model that slows down, from its fourth sample on."""


class Made:
    """Does for its second sample what it was told, and writes a file for every other."""

    def __init__(self, deed: str) -> None:
        self.deed, self.made = deed, 0

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        for sample in samples:
            if self.deed == "slows down":
                self.made += 1
                time.sleep(QUICK if self.made < SLOW_FROM else SLOW)
            said = _do(self.deed, folder) if sample.id.endswith(".1.predictive.image") else ""
            file = folder / f"{sample.id}.txt"
            file.write_text(said or "fine")
            print("noise on stdout")
            yield Output(
                sample.id, Outcome.SCORED, Path(said) if said.startswith("/") else file, _note(said)
            )


def _note(said: str) -> dict[str, Any]:
    return {"said": said, "pid": os.getpid()}


def _do(deed: str, folder: Path) -> str:
    if deed == "dies":
        os.kill(os.getpid(), 9)
    if deed == "quits":
        os._exit(3)
    if deed == "loses the device":
        raise RuntimeError("CUDA error: unspecified launch failure")
    if deed == "sleeps":
        time.sleep(600)
    if deed == "begins a word":
        os.write(ANSWERS, b'{"sample_id": "')
        time.sleep(600)
    if deed == "never stops":
        while True:
            os.write(ANSWERS, b"x" * (1 << 16))
    if deed == "raises":
        raise ValueError("no such layer")
    if deed == "complains":
        sys.stderr.write("warning " * 20_000 + "\x1b[31mthe layer is missing\n")
        raise ValueError("no such layer")
    if deed == "fills":
        with (folder / "big").open("wb") as file:
            file.write(bytes(20 << 20))
    if deed == "eats":
        bytearray(8 << 30)
    if deed == "calls":
        try:
            socket.create_connection(("127.0.0.1", int(os.environ.get("PORT", "9"))), 2)
        except ConnectionRefusedError:
            return "reached the machine"
        except OSError as error:
            return f"no network: {error.strerror}"
    if " /" in deed:
        return _touch(deed.partition(" ")[0], deed.partition(" ")[2], folder)
    return str(sorted(os.environ)) if deed == "looks" else "done"


def _touch(deed: str, path: str, folder: Path) -> str:
    try:
        if deed == "reads":
            return Path(path).read_text()
        if deed == "writes":
            Path(path).write_text("here")
        if deed == "links":
            (folder / "link").symlink_to(path)
            return str(folder / "link")
    except OSError as error:
        return str(error.strerror)
    return path


def make(job: Mapping[str, Any]) -> Made:
    """The model; one that cannot be loaded ends at once."""
    if job["given"]["deed"] == "absent":
        sys.exit(3)
    return Made(job["given"]["deed"])


if __name__ == "__main__":
    serve(make)
