"""SC3's control rows in the robot simulator, printed from the shipped trials or run again.

`python -m tests.bench.sc3_table --record FOLDER` runs every policy from its starts again (12 s a
start on one busy core); without it the shipped trials are read.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluators.suites.sc3.table.controls import show
from evaluators.suites.sc3.table.studio import record_trials
from evaluators.suites.sc3.table.trials import SHIPPED_TABLE, read_trials


def main() -> None:
    """Record if asked to, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--starts", type=int, default=10)
    asked = parser.parse_args()
    if asked.record:
        trials = record_trials(asked.record, asked.starts, "", print)
    else:
        trials = read_trials(SHIPPED_TABLE)
    print(show(trials))


if __name__ == "__main__":
    main()
