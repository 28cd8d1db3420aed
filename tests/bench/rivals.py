"""What lm_eval and inspect_ai need for as many requests, each installed into an environment of its
own and asked in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers.tools import installed
from tests.servers.unavailable import Unavailable

REQUIREMENTS = {"lm_eval": "lm_eval==0.4.13", "inspect_ai": "inspect_ai==0.3.285"}
SHARES = {"lm_eval": 1.0, "inspect_ai": 0.1}
"""inspect_ai needs minutes for all requests; it is asked a tenth of them, and the row says so."""
PROGRAM = Path(__file__).with_name("rival_main.py")


@dataclass(frozen=True, slots=True)
class RivalCost:
    """CPU seconds of a framework's evaluation of so many requests; None with the reason where it
    could not be run."""

    name: str
    requests: int
    seconds: float | None
    why_not: str = ""


def rivals(requests: int) -> list[RivalCost]:
    """All of them, one after the other, each asked its share."""
    return [
        _measured(name, requirement, round(requests * SHARES[name]))
        for name, requirement in REQUIREMENTS.items()
    ]


def _measured(name: str, requirement: str, requests: int) -> RivalCost:
    try:
        python = installed(name, requirement) / "bin" / "python"
    except Unavailable as reason:
        return RivalCost(requirement, requests, None, str(reason))
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), "-P", str(PROGRAM), name, str(requests)],
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return RivalCost(requirement, requests, None, done.stderr.strip().splitlines()[-1])
    told = json.loads(done.stdout.strip().splitlines()[-1])
    assert told["answered"] == requests, told
    return RivalCost(requirement, requests, float(told["seconds"]))
