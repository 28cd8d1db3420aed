"""What a shard costs beside others, and the order in which workers finish together: the dearest
first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TypeVar

from flows.workers.work import JudgeWork, OutputsWork

W = TypeVar("W")
DEFAULTS = {"steps": 30, "height": 512, "width": 512, "frames": 49}
"""What a sampler does when the manifest leaves it open."""


def cost(work: object) -> float:
    """Frames × steps × pixels of what has to be made, or the number of outputs to look at; only
    ratios mean anything.

    >>> still = OutputsWork("tailor", ("a.image",), "model", "", {"steps": 10, "height": 8, "width": 8, "frames": 5})
    >>> cost(still), cost(OutputsWork("tailor", ("a.video",), "model", "", still.sampling))
    (640.0, 3200.0)
    """
    if isinstance(work, OutputsWork) and work.kind == "model":
        chosen = {name: work.sampling.get(name) or value for name, value in DEFAULTS.items()}
        frames = sum(
            chosen["frames"] if sample.endswith("video") else 1 for sample in work.sample_ids
        )
        return float(frames * chosen["steps"] * chosen["height"] * chosen["width"])
    if isinstance(work, OutputsWork):
        return float(len(work.sample_ids))
    return float(len(work.media)) if isinstance(work, JudgeWork) else 1.0


def dearest_first(works: Iterable[W]) -> list[W]:
    """Workers that take the next shard when they are free then end within one cheap shard of each
    other."""
    return sorted(works, key=cost, reverse=True)


def finish(costs: Sequence[float], workers: int) -> float:
    """When the last of so many workers is done, each taking the next shard in the order given.

    >>> finish([1, 1, 1, 3], 2), finish([3, 1, 1, 1], 2)
    (4.0, 3.0)
    """
    busy = [0.0] * workers
    for one in costs:
        heapq.heappush(busy, heapq.heappop(busy) + one)
    return max(busy)
