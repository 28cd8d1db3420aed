"""A shard that would never end: it says that it began, and when it was stopped."""

from __future__ import annotations

import os
import time
from pathlib import Path

from flows.durable.lease import LeaseLost, check_lease


def endless(folder: str) -> None:
    """Run until the lease is lost."""
    (Path(folder) / "begun").write_text(" ".join(sorted(os.environ)))
    try:
        while True:
            check_lease()
            time.sleep(0.1)
    except LeaseLost:
        (Path(folder) / "stopped").write_text(str(time.monotonic()))
        raise
