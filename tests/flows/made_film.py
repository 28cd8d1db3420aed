"""A child with a made-up video model whose deed is its caption: run by tests of the confinement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluators.media import write_mp4
from flows.workers.confined.model_main import Answer, Said, confine


def begin(_job: Said) -> tuple[Said, Answer]:
    """Films a few frames, or does what the caption says."""

    def answer(asked: Said) -> Iterator[Said]:
        deed, to = asked["caption"], Path(asked["to"])
        if deed == "dies":
            os.kill(os.getpid(), 9)
        if deed == "cannot":
            yield {"failed": "out of ideas"}
        elif deed == "spoils":
            to.write_bytes(b"no clip at all")
            yield {"made": str(to)}
        elif deed == "steals":
            yield {"made": "/etc/passwd"}
        else:
            frames = np.random.default_rng(asked["seed"]).integers(
                0, 255, (5, 32, 32, 3), dtype=np.uint8
            )
            yield {"made": str(write_mp4(frames, to, 8))}

    return {"name": "made", "profile": f"pid {os.getpid()}"}, answer


if __name__ == "__main__":
    confine(begin)
