"""The API asked 1,000 times an operation: `ARMILLARY_BENCH_LONG=1 python -m
tests.bench.contract`."""

from __future__ import annotations

import os
import subprocess
import sys

EXAMPLES = "1000"


def main() -> int:
    """Run the contract tests with many examples, if the long form is asked for."""
    if not os.environ.get("ARMILLARY_BENCH_LONG"):
        print(
            "contract: left out; set ARMILLARY_BENCH_LONG=1 to ask every operation of the API "
            "1,000 times."
        )
        return 0
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-m",
        "long",
        "--timeout=0",
        "tests/api/test_contract.py",
    )
    environment = {**os.environ, "ARMILLARY_API_EXAMPLES": EXAMPLES}
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
