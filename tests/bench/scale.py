"""The plan past one machine: the queue simulated from shard times, for 8, 64 and 512 GPUs, with
failures."""

from __future__ import annotations

import heapq
import random
import sys
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

SUBMISSIONS = 10_000
SAMPLES = 1_600
SHARD = 64
DAYS = 30
ASSUMED = 20.0
"""Seconds a sample where no board has measured any: an assumption for a clip of a video model with
its judging."""
SPREAD = 0.5
"""The log-normal spread between submissions: some models are four times as dear as others."""
LOSS_A_SHARD = 0.5
"""Handing over, fetching and storing: an assumption; `tests/bench/fanout.py` measures it."""
FAILURES_A_GPU_DAY = 0.05
DETECTION = 90.0
"""Seconds until a dead worker's shard is free again."""
PRICE_A_GPU_HOUR = 2.0
BYTES_A_CLIP = 1_500_000
QUESTIONS = 17
ROW_BYTES = 220


@dataclass(frozen=True, slots=True)
class Month:
    """What a month looks like on so many GPUs."""

    gpus: int
    utilisation: float
    wait_median: float
    wait_worst: float
    left_over: int
    lost_hours: float
    gpu_hours: float


def main() -> int:
    """Print what waiting, use, rows, storage and money come to."""
    each = measured() or ASSUMED
    print(
        f"{each:.2f} seconds a sample, "
        f"{'as this board measured it' if each != ASSUMED else 'assumed: no board here'}."
    )
    table = Table(
        "GPUs",
        "use",
        "median wait",
        "95 % wait",
        "not through",
        "GPU hours",
        "lost to failures",
        "cost",
        "a submission",
    )
    for gpus in (8, 64, 512):
        month = simulate(gpus, each, seed=1)
        through = SUBMISSIONS - month.left_over
        money = gpus * DAYS * 24 * PRICE_A_GPU_HOUR
        table.add_row(
            str(gpus),
            f"{month.utilisation:.0%}",
            _time(month.wait_median),
            _time(month.wait_worst),
            f"{month.left_over:,}",
            f"{month.gpu_hours:,.0f}",
            f"{month.lost_hours:,.1f} h",
            f"{money:,.0f}",
            f"{money / max(through, 1):,.2f}",
        )
    Console(width=140).print(table)
    for line in _growth():
        print(line)
    return 0


def measured() -> float | None:
    """Seconds a sample over all shards that this machine's board has made, if it has."""
    from sqlalchemy import func
    from sqlalchemy.exc import SQLAlchemyError
    from sqlmodel import select

    from infra.db import session
    from infra.settings import Settings
    from infra.tables import Shard

    try:
        with session(Settings().database) as db:
            seconds, items = db.exec(select(func.sum(Shard.seconds), func.sum(Shard.items))).one()
    except SQLAlchemyError:
        return None
    return 2 * seconds / items if seconds else None


def simulate(gpus: int, each: float, seed: int) -> Month:
    """Submissions arrive at random; each is cut into shards, and a free GPU takes the oldest
    shard."""
    dice, end = random.Random(seed), DAYS * 86_400.0
    arrivals = sorted(dice.uniform(0, end) for _ in range(SUBMISSIONS))
    free = [0.0] * gpus
    busy = lost = 0.0
    waits: list[float] = []
    shards = -(-SAMPLES // SHARD)
    for arrival in arrivals:
        work = SHARD * each * dice.lognormvariate(-(SPREAD**2) / 2, SPREAD) + LOSS_A_SHARD
        done = 0.0
        for _ in range(shards):
            start = max(heapq.heappop(free), arrival)
            took = work
            while dice.random() < FAILURES_A_GPU_DAY * took / 86_400:
                # The finished samples of a dead worker stay done: on average half a sample and the
                # detection are lost.
                lost += DETECTION + each / 2
                took += DETECTION + each / 2
                break
            heapq.heappush(free, start + took)
            done = max(done, start + took)
            busy += min(took, max(0.0, end - start))
        waits.append(done - arrival)
    through = [wait for arrival, wait in zip(arrivals, waits, strict=True) if arrival + wait <= end]
    ranked = sorted(waits)
    return Month(
        gpus,
        busy / (gpus * end),
        ranked[len(ranked) // 2],
        ranked[int(len(ranked) * 0.95)],
        SUBMISSIONS - len(through),
        lost / 3600,
        busy / 3600,
    )


def _growth() -> list[str]:
    outputs = SUBMISSIONS * SAMPLES
    verdicts = outputs * QUESTIONS
    rows = outputs * 2 + verdicts + outputs * 3
    return [
        f"Rows a month: {outputs:,} outputs and replies each, {verdicts:,} verdicts, "
        f"{outputs * 3:,} scores; "
        f"{rows:,} in all, about {rows * ROW_BYTES / 1e9:,.0f} GB with indexes.",
        f"Objects a month: {outputs:,} clips, about {outputs * BYTES_A_CLIP / 1e12:,.0f} TB, "
        f"and {SUBMISSIONS * 2 * -(-SAMPLES // SHARD):,} shard records.",
    ]


def _time(seconds: float) -> str:
    for unit, size in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
