"""What a gate between two stages costs over a full suite of 1,600 outputs. `python -m
tests.bench.gates`."""

from __future__ import annotations

import time
from typing import Any

from submissions.gates import gates
from submissions.gates.expectations import findings
from tests.bench.report import at_most, report, shown

ROWS = 1_600


def main() -> int:
    """Measure and report CPU seconds; the library's import is paid once a process."""
    start = time.process_time()
    import great_expectations  # noqa: F401

    imported = time.process_time() - start
    rows = [_row(number) for number in range(ROWS)]
    expected = [row["key"] for row in rows]
    times = []
    for _ in range(3):
        start = time.process_time()
        assert findings(gates.after_generation(rows, expected, ["scored"])) == []
        times.append(time.process_time() - start)
    return report("gates", [
        at_most(f"CPU seconds of a gate over {ROWS} outputs", min(times), 3.0),
        shown("CPU seconds to import Great Expectations, once", imported),
    ])  # fmt: skip


def _row(number: int) -> dict[str, Any]:
    facts = {"media_type": "video/mp4", "width": 640, "height": 480, "frames": 24, "fps": 8.0}
    row = gates.media_row(f"sample-{number}", facts, warned=False)
    return {**row, "outcome": "scored", "media_sha256": f"{number:064x}", "size": 1}


if __name__ == "__main__":
    raise SystemExit(main())
