"""The child that reads bundles: `python -m submissions.bundle.read_main BYTES`. It reads a job a
line, answers one line.

Its memory, time and open files are limited, it has no network and writes nowhere where the system
lets us, and its environment is empty: a bundle made to hang or to crash its reader costs its own
submission, and nothing else.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import traceback
from base64 import b64decode
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from infra.fields import fields_of
from infra.sandbox.confinement import cut_network, limit
from infra.sandbox.fence import fence
from submissions.bundle import check
from submissions.bundle.check import Catalogue, Contents
from submissions.format import manifest as manifests
from submissions.format.errors import IntakeError, unreadable
from submissions.media.facts import Looked

OPEN_FILES = 64
NO_MEMORY = 77
"""The code with which the child leaves when its memory is used up."""

Read = Callable[[Path, Catalogue], Contents]


def main(read: Read = check.read) -> None:
    """Answer jobs until there are no more."""
    limit(int(sys.argv[1]), 0, OPEN_FILES)
    cut_network()
    fence([])
    for line in sys.stdin.buffer:
        try:
            answer = _in_time(json.loads(line), read)
        except MemoryError:
            os._exit(NO_MEMORY)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


def _in_time(job: dict[str, Any], read: Read) -> str:
    """The answer, or the end of this process when it takes so much of the processor."""
    signal.setitimer(signal.ITIMER_PROF, job["seconds"])
    answer = json.dumps(_answer(job, read))
    signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def _answer(job: dict[str, Any], read: Read) -> dict[str, Any]:
    try:
        return {"found": _found(job, read)}
    except IntakeError as error:
        return {"problems": [asdict(problem) for problem in error.problems], "total": error.total}
    except RecursionError:
        return {"problems": [asdict(problem) for problem in unreadable().problems], "total": 1}
    except MemoryError:
        raise
    except Exception:  # a fault of ours: the parent raises it, where logs are kept
        return {"fault": traceback.format_exc()}


def _found(job: dict[str, Any], read: Read) -> Any:
    if job["task"] == "manifest":
        return manifests.parse(job["text"].encode()).model_dump_json()
    return _plain(read(Path(job["path"]), _catalogue(job["catalogue"])))


@lru_cache(maxsize=1)
def _catalogue(text: str) -> Catalogue:
    """What the suites expect, as the parent spells it, and nobody else."""
    catalogue: Catalogue = pickle.loads(b64decode(text))  # noqa: S301
    return catalogue


def _plain(contents: Contents) -> dict[str, Any]:
    return {
        "manifest": contents.manifest.model_dump_json(),
        "ignored": contents.ignored,
        "values": {number: _plain_value(looked) for number, looked in contents.values.items()},
        "media": {number: fields_of(span) for number, span in contents.media.items()},
        "warnings": [asdict(problem) for problem in contents.warnings],
    }


def _plain_value(looked: Looked) -> dict[str, Any]:
    return {**fields_of(looked), "facts": fields_of(looked.facts) if looked.facts else None}


if __name__ == "__main__":
    main()
