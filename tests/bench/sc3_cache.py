"""Rolls the demo's starts out inside the shipped small video world model and keeps the rollouts
beside its weights.

`python -m tests.bench.sc3_cache` is run after the model or the recordings of the table have
changed: what is shipped in `rollouts.npz` has to come from both as they are.
"""

from __future__ import annotations

from time import process_time

import torch

from evaluators.suites.sc3.producing import open_folder
from evaluators.suites.sc3.samples import in_loop, samples
from evaluators.suites.sc3.table.cached import cache_rollouts
from evaluators.suites.sc3.yardsticks import SHIPPED_WORLD


def main() -> None:
    """All rollouts of the subset `loop`."""
    torch.set_num_threads(1)
    chosen = [sample for sample in samples() if in_loop(sample)]
    path = cache_rollouts(open_folder(SHIPPED_WORLD), chosen, SHIPPED_WORLD)
    size = path.stat().st_size / 1e6
    print(f"{len(chosen)} rollouts, {size:.1f} MB, {process_time():.0f} CPU seconds: {path.name}")


if __name__ == "__main__":
    main()
