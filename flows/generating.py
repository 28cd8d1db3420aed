"""The child that runs a handed-in model: `python -m flows.generating`. It loads once and then answers sample by sample.

Before anything of the model is opened it has no network, bounded memory and files, and none of our environment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from evaluators.contracts import Generator, Output, Production, Sample
from evaluators.suites import suite_named
from infra.confinement import cut_network, end_with_parent, limit

PATH = "path:"
"""Marks a path among plain values."""
Make = Callable[[Mapping[str, Any]], Generator]


def serve(make: Make) -> None:
    """Read the job, give up what it says, make the generator, and answer one request a line until there are no more."""
    job = json.loads(sys.stdin.readline())
    limit(job["memory"], job["file_bytes"], job["open_files"])
    cut = cut_network()
    end_with_parent()
    # Libraries print what they like; only we may write to the parent.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        generator = make(job)
        _say(answers, {"ready": True, "network": not cut})
        known = _known(job)
        for line in sys.stdin:
            _answer(generator, known, json.loads(line), answers)
    except Exception as error:
        _say(answers, {"error": f"{type(error).__name__}: {error}"[:2000]})


def _known(job: Mapping[str, Any]) -> dict[str, Sample]:
    """The suite's samples, and an operator's private ones where they are mounted."""
    suite, mounted = suite_named(job["suite"]), job["given"].get("private")
    folder = Path(mounted[PATH]) / suite.name if mounted else None
    private = suite.private(folder) if suite.private and folder and folder.is_dir() else ()
    return {sample.id: sample for sample in (*suite.samples(), *private)}


def _answer(generator: Generator, known: Mapping[str, Sample], asked: Mapping[str, Any], answers: TextIO) -> None:
    for output in generator.generate([known[name] for name in asked["samples"]], Path(asked["folder"])):
        _say(answers, _plain(output))
    _say(answers, {"end": True})


def _plain(output: Output) -> dict[str, Any]:
    file = str(output.file) if output.file else None
    outcome, record = output.outcome.value, dict(output.record)
    said = {"sample_id": output.sample_id, "outcome": outcome, "file": file, "reason": output.reason, "record": record}
    return {**said, "beside": {name: str(path) for name, path in output.beside.items()}}


def _say(answers: TextIO, said: Mapping[str, Any]) -> None:
    answers.write(json.dumps(said) + "\n")
    answers.flush()


def _produce(job: Mapping[str, Any]) -> Generator:
    produce = suite_named(job["suite"]).produce
    assert produce, f"{job['suite']} takes models and does not say how to run them"
    given: dict[str, Any] = {
        name: Path(value[PATH]) if _is_path(value) else value for name, value in job["given"].items()
    }
    return produce(Production(**given))


def _is_path(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {PATH}


if __name__ == "__main__":
    serve(_produce)
