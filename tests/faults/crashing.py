"""An evaluation in a process that dies at a named moment: before or after each commit, put, rename
and acknowledgement.

As a script it takes [home, submission, moment] from `Warm`; without a moment the evaluation runs to
its end.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlmodel import Session

from flows.durable import shard_results
from flows.evaluate import judge, outputs
from infra import leases
from infra.store.folder import FolderStore
from tests.warm import leave_after

PASSED: list[str] = []
MOMENTS = "moments.json"


def point(name: str, die_at: str) -> None:
    """A moment with a name; the first time the wanted one is reached, the process is gone as if the
    power was cut."""
    PASSED.append(name)
    if name == die_at:
        os._exit(137)


def place() -> str:
    """The nearest function of ours that is at work, as the name of a moment."""
    frame: Any = sys._getframe(1)
    while frame:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(("flows.", "submissions.")) and frame.f_code.co_name not in (
            "session",
            "__enter__",
        ):
            return f"{module.partition('.')[2]}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "elsewhere"


def around(owner: Any, name: str, kind: str, die_at: str) -> None:
    """Put a moment before and one after every call."""
    real: Callable[..., Any] = getattr(owner, name)

    def watched(*arguments: Any, **named: Any) -> Any:
        where = place()
        point(f"before {kind} in {where}", die_at)
        result = real(*arguments, **named)
        point(f"after {kind} in {where}", die_at)
        return result

    setattr(owner, name, watched)


def watch(die_at: str) -> None:
    """Name the moments of one evaluation."""
    event.listen(Session, "before_commit", lambda _db: point(f"before commit in {place()}", die_at))
    event.listen(Session, "after_commit", lambda _db: point(f"after commit in {place()}", die_at))
    around(FolderStore, "put", "put", die_at)
    around(FolderStore, "put_file", "put", die_at)
    around(os, "replace", "rename", die_at)
    around(leases, "acquire", "lease", die_at)
    around(leases, "release", "giving back", die_at)
    around(outputs, "store_outputs", "acknowledgement", die_at)
    around(judge, "store_verdicts", "acknowledgement", die_at)
    around(shard_results, "compute_once", "shard", die_at)


def evaluated(home: str, submission: str, die_at: str) -> None:
    """Run the evaluation in this process, without Prefect, and leave the moments it passed in its
    home."""
    from flows.evaluate.flow import run_here
    from infra.settings import Settings

    os.environ["ARMILLARY_HOME"] = home
    watch(die_at)
    run_here(submission, Settings())
    (Path(home) / MOMENTS).write_text(json.dumps(list(dict.fromkeys(PASSED))))


if __name__ == "__main__":
    leave_after(evaluated, *sys.argv[1:])
