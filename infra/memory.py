"""How much memory there is to share among children: the machine's, or what its container may take
of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
"""Where a container's limit stands, by the kernel's second way and by its first."""


def memory_here() -> int:
    """Bytes that all processes here may take together before the system ends one of them, or in a
    container all."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in LIMITS:
        with suppress(OSError, ValueError):  # no container, or "max"
            return min(machine, int(path.read_text()))
    return machine


def children_in_third(each: int) -> int:
    """How many children of so many bytes fit into a third of the memory: one at least, and no more
    than cores. Those that read bundles, that decode media and that encode what is shown have a
    third each."""
    return max(1, min(len(os.sched_getaffinity(0)), memory_here() // 3 // each))
