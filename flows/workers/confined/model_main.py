"""The child that runs a handed-in model: `python -m flows.workers.confined.model_main`. It loads
once and then answers sample by sample.

Before anything of the model is opened it has no network, bounded memory and files, one folder to
write to, nothing of what we keep to read, and none of our environment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluators.contracts import CannotProduce, Generator, Output, Production, Sample
from evaluators.suites import suite_named
from infra.sandbox.confinement import cut_network, end_with_parent, limit
from infra.sandbox.fence import fence

PATH = "path:"
"""Marks a path among plain values."""
UNCONFINED = (
    "This worker cannot keep a model off its network and files, so no model runs on it. "
    "`armillary doctor` says what is missing; ARMILLARY_UNCONFINED=yes runs models all the same, "
    "and their entries say so."
)
Said = Mapping[str, Any]
Make = Callable[[Said], Generator]
Answer = Callable[[Said], Iterator[Said]]
"""From what is asked to what is answered, line by line."""


def serve(make: Make) -> None:
    """Make the generator of the job, and let it answer for samples until there are no more."""

    def begin(job: Said) -> tuple[Said, Answer]:
        generator, samples, own = make(job), _samples_of(job), Path(job["own"])

        def answer(request: Said) -> Iterator[Said]:
            for output in generator.generate([samples[name] for name in request["samples"]], own):
                yield _plain(output)
            yield {"end": True}

        return {}, answer

    confine(begin)


def confine(begin: Callable[[Said], tuple[Said, Answer]]) -> None:
    """Read the job, give up what it says, begin, and answer one request a line until there are no
    more."""
    job = json.loads(sys.stdin.readline())
    limit(job["memory"], job["file_bytes"], job["open_files"])
    is_confined = all([cut_network(), _fenced(job)])
    end_with_parent()
    # Libraries print what they like; only we may write to the parent.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(reply: Said) -> None:
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    if not is_confined and not job["unconfined"]:
        say({"error": f"{CannotProduce.__name__}: {UNCONFINED}"})
        return
    try:
        first, answer = begin(job)
        say({**first, "ready": True})
        for line in sys.stdin:
            for reply in answer(json.loads(line)):
                say(reply)
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"[:2000]})


def _fenced(job: Said) -> bool:
    """Where our own code or the interpreter lies inside what is hidden, hiding would end it before
    it began."""
    readable = [Path(value[PATH]) for value in job["given"].values() if _is_path(value)]
    ours = [Path(place).resolve() for place in (sys.prefix, sys.base_prefix, __file__)]
    hidden = [Path(name) for name in job["hidden"]]
    return fence(
        [Path(job["own"])],
        [path for path in hidden if not any(us.is_relative_to(path) for us in ours)],
        readable,
    )


def _samples_of(job: Mapping[str, Any]) -> dict[str, Sample]:
    """The suite's samples, and an operator's private ones where they are mounted."""
    suite, mounted = suite_named(job["suite"]), job["given"].get("private")
    folder = Path(mounted[PATH]) / suite.name if mounted else None
    private = suite.private(folder) if suite.private and folder and folder.is_dir() else ()
    return {sample.id: sample for sample in (*suite.samples(), *private)}


def _plain(output: Output) -> dict[str, Any]:
    file = str(output.file) if output.file else None
    outcome, record = output.outcome.value, dict(output.record)
    reply = {
        "sample_id": output.sample_id,
        "outcome": outcome,
        "file": file,
        "reason": output.reason,
        "record": record,
    }
    return {**reply, "beside": {name: str(path) for name, path in output.beside.items()}}


def _produce(job: Mapping[str, Any]) -> Generator:
    generation = suite_named(job["suite"]).generation
    assert generation, f"{job['suite']} takes models and does not say how to run them"
    return generation.produce(production(job))


def production(job: Said) -> Production:
    """What the suite is given, as it was before it travelled."""
    fields: dict[str, Any] = {
        name: Path(value[PATH]) if _is_path(value) else value
        for name, value in job["given"].items()
    }
    return Production(**fields)


def _is_path(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {PATH}


if __name__ == "__main__":
    serve(_produce)
