"""A child with a made-up video model whose deed is its caption: run by tests of the confinement."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evaluators.media import write_mp4, write_png
from flows.workers.confined.model_main import Answer, Said, confine


def begin(_job: Said) -> tuple[Said, Answer]:
    """Films a few frames, or does what the caption says."""

    def answer(asked: Said) -> Iterator[Said]:
        deed, to = asked["caption"], Path(asked["to"])
        if deed == "waits":
            time.sleep(1.5)
        if deed == "dies":
            os.kill(os.getpid(), 9)
        if deed == "quits":
            os._exit(3)
        if deed == "cannot":
            yield {"failed": "out of ideas"}
        elif deed == "spoils":
            to.write_bytes(b"no clip at all")
            yield {"made": str(to)}
        elif deed == "loses its device":
            raise RuntimeError("the device is gone")
        elif deed == "steals":
            yield {"made": "/etc/passwd"}
        else:
            frames = np.random.default_rng(asked["seed"]).integers(
                0, 255, (5, 32, 32, 3), dtype=np.uint8
            )
            reply = {"made": str(write_mp4(frames, to, 8))}
            if "last frame" in deed:
                last = frames[-1] if deed.startswith("hands") else frames[-1, :16, :16]
                reply |= {"last": str(write_png(last, to.with_suffix(".png")))}
            yield {**reply, "fitted": "32x32 as it is"}

    return {"name": "made", "profile": f"pid {os.getpid()}"}, answer


if __name__ == "__main__":
    confine(begin)
