"""A handed-in model, run in a child with limits: what it does to itself costs its own sample, and
nothing of ours."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluators.contracts import Generator, Outcome, Output, Production, Sample
from evaluators.suites import suite_named
from evaluators.worlds.doom.filming import FOLDER as CLIPS
from evaluators.worlds.doom.filming import clips_folder
from flows.workers.confined.child import Child, ChildLimits, NotItsOwn, move_out
from flows.workers.confined.model_main import PATH
from infra.settings import Settings

COMMAND = (sys.executable, "-m", "flows.workers.confined.model_main")
SQLITE = "sqlite:///"


class Confined:
    """A generator whose model lives in a child; a sample that ends the child is lost, the next gets
    a new one."""

    def __init__(
        self, job: Mapping[str, Any], limits: ChildLimits, command: Sequence[str] = COMMAND
    ) -> None:
        generation = suite_named(str(job["suite"])).generation
        self._prepare = generation.prepare if generation else None
        shown = {CLIPS: str(clips_folder())} if self._prepare else {}
        self._child = Child(job, limits, command, shown)
        self._busy = threading.Lock()

    def generate(self, samples: Sequence[Sample], folder: Path) -> Iterator[Output]:
        """One output a sample. A sample that ends the child is the model's failure, and the next
        gets a new child."""
        with self._busy:
            if self._prepare:
                self._prepare(samples)
            left = [sample.id for sample in samples]
            while left:
                for output in self._some(left, folder):
                    left.remove(output.sample_id)
                    yield output

    def _some(self, names: Sequence[str], folder: Path) -> Iterator[Output]:
        """What the child makes of these until it ends; then the sample it was at has failed, and
        the rest is left. An end that is ours is raised as WorkerFault."""
        own = self._child.start(folder)
        self._child.ask({"samples": list(names)})
        waiting = list(names)
        while waiting:
            reply = self._child.answer()
            if reply is None:
                yield Output(waiting[0], Outcome.MODEL_FAILED, reason=self._child.fate())
                return
            if "end" in reply:
                missing = (
                    Output(name, Outcome.MODEL_FAILED, reason="The model gave nothing.")
                    for name in waiting
                )
                yield from missing
                return
            waiting.remove(reply["sample_id"])
            if reply["outcome"] == Outcome.MODEL_FAILED and reply["reason"]:
                self._child.reason_of(reply["reason"])
            yield _output(reply, own, folder)
        self._child.answer()  # its word that this was all

    def close(self) -> None:
        """End the child."""
        self._child.close()


def _output(answer: Mapping[str, Any], own: Path, folder: Path) -> Output:
    try:
        file = move_out(answer["file"], own, folder) if answer["file"] else None
        beside = {
            name: move_out(path, own, folder) for name, path in answer.get("beside", {}).items()
        }
    except NotItsOwn as refused:
        return Output(answer["sample_id"], Outcome.MODEL_FAILED, reason=str(refused))
    return Output(
        answer["sample_id"],
        Outcome(answer["outcome"]),
        file,
        answer["record"],
        answer["reason"],
        beside,
    )


def confined(suite: str, production: Production, longer: int = 1) -> Generator:
    """The suite's generator in a child, kept for all shards of a model; each sample may take so
    many times the seconds that the settings say."""
    bounds = limits(Settings())
    return _confined_once(
        suite, as_text(production), replace(bounds, seconds=bounds.seconds * longer)
    )


@lru_cache(maxsize=1)
def _confined_once(suite: str, production: str, bounds: ChildLimits) -> Confined:
    return Confined({"suite": suite, "given": json.loads(production)}, bounds)


def as_text(production: Production) -> str:
    """What a suite is given, for a child and as a key; equal if and only if all is the same."""
    return json.dumps(plain(production), sort_keys=True)


def plain(production: Production) -> dict[str, Any]:
    """What a suite is given as JSON; paths are marked as such."""
    values = {entry.name: getattr(production, entry.name) for entry in fields(production)}
    return {
        name: {PATH: str(value.resolve())} if isinstance(value, Path) else value
        for name, value in values.items()
    }


def limits(settings: Settings) -> ChildLimits:
    """All the memory there is, and nothing of what we keep: rows, objects, other teams' models."""
    return ChildLimits(
        load_seconds=settings.load_seconds,
        seconds=settings.sample_seconds,
        memory=_memory(),
        hidden=tuple(str(place.resolve()) for place in _kept_by_us(settings)),
        unconfined=settings.unconfined,
    )


def _kept_by_us(settings: Settings) -> Iterator[Path]:
    yield settings.home
    yield from (folder for folder in (settings.secrets, settings.certificates) if folder)
    if "://" not in settings.objects:
        yield Path(settings.objects)
    if settings.database.startswith(SQLITE):
        yield Path(settings.database.removeprefix(SQLITE))


def _memory() -> int | None:
    """All the memory there is; no limit where an accelerator's driver maps more than that."""
    if Path("/dev/nvidia0").exists() or Path("/dev/kfd").exists():
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
