"""A handed-in video model that films in a child with limits, for an agent that runs here."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluators.agents.video_model import (
    FilmedClip,
    FilmingInterrupted,
    GeneratorFailed,
    Notes,
    VideoModel,
)
from evaluators.contracts import Production
from flows.workers.confined.child import (
    Child,
    ChildLimits,
    ModelBroke,
    NotItsOwn,
    move_out,
)
from flows.workers.confined.fault_rules import MachineFault, OutOfTime, WorkerFault
from flows.workers.confined.model import as_text, limits
from infra.settings import Settings
from submissions.media.facts import MediaFacts, Refused, inspect

COMMAND = (sys.executable, "-m", "flows.workers.confined.video_main")
PADDED = ((0, 0), (0, 1), (1, 0), (1, 1))


class FilmingFault(WorkerFault, FilmingInterrupted):
    """A process died twice while a clip was filmed; the episode goes on from its journal when the
    shard is tried again."""


class FilmingMachineFault(MachineFault, FilmingInterrupted):
    """The machine was too small for a clip, twice."""


class FilmingOutOfTime(OutOfTime, FilmingInterrupted):
    """A clip took longer than our limit; the next try has longer."""


class ConfinedVideo:
    """Films one clip at a time; a clip that does not pass the door's own look is a failed one, and
    so is one that ends the child. After a fault of the machine it is asked once more here."""

    def __init__(
        self,
        job: Mapping[str, Any],
        limits: ChildLimits,
        work: Path,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._child, self._work = Child(job, limits, command), work
        self._busy = threading.Lock()

    @property
    def name(self) -> str:
        """Who films, as the child says."""
        return str(self._ready()["name"])

    @property
    def profile(self) -> str:
        """How to write for it, as the child says."""
        return str(self._ready()["profile"])

    def make(
        self,
        frame: Path,
        caption: str,
        seed: int,
        to: Path,
        notes: Notes,  # noqa: ARG002
    ) -> FilmedClip:
        """One clip with its last frame, moved out of the child's folder and looked at like
        handed-in files."""
        with self._busy:
            try:
                return self._filmed(frame, caption, seed, to)
            except OutOfTime as late:
                raise FilmingOutOfTime(str(late)) from late
            except WorkerFault:
                return self._filmed_again(frame, caption, seed, to)

    def close(self) -> None:
        """End the child."""
        self._child.close()

    def _filmed_again(self, frame: Path, caption: str, seed: int, to: Path) -> FilmedClip:
        try:
            return self._filmed(frame, caption, seed, to)
        except MachineFault as fault:
            raise FilmingMachineFault(str(fault)) from fault
        except WorkerFault as fault:
            raise FilmingFault(str(fault)) from fault

    def _filmed(self, frame: Path, caption: str, seed: int, to: Path) -> FilmedClip:
        own = self._child.start(self._work)
        copy = shutil.copyfile(frame, own / f"frame{frame.suffix}")
        self._child.ask(
            {"frame": str(copy), "caption": caption, "seed": seed, "to": str(own / to.name)}
        )
        try:
            reply = self._child.answer()
        except ModelBroke as broke:
            raise FilmingInterrupted(str(broke)) from broke
        if reply is None:
            raise GeneratorFailed(self._child.fate())
        if "failed" in reply:
            raise GeneratorFailed(self._child.reason_of(reply["failed"]))
        return _clip(reply, own, to)

    def _ready(self) -> Mapping[str, Any]:
        with self._busy:
            if not self._child.ready:
                self._child.start(self._work)
            return self._child.ready


def _clip(reply: Mapping[str, Any], own: Path, to: Path) -> FilmedClip:
    try:
        facts = _brought(reply["made"], own, to, "video")
        if not reply.get("last"):
            return FilmedClip(to, fitted=str(reply.get("fitted", "")))
        last = to.with_suffix(".png")
        _check_last(_brought(reply["last"], own, last, "image"), facts)
    except (NotItsOwn, Refused) as refused:
        raise GeneratorFailed(str(refused)) from None
    return FilmedClip(to, last, str(reply.get("fitted", "")))


def _brought(named: str, own: Path, to: Path, modality: str) -> MediaFacts:
    file = move_out(named, own, to.parent)
    facts = inspect(file, file.name, modality)
    file.replace(to)
    return facts


def _check_last(frame: MediaFacts, clip: MediaFacts) -> None:
    """A clip of an odd size is a line wider or higher than the frames it was made of."""
    if (clip.width - frame.width, clip.height - frame.height) not in PADDED:
        raise GeneratorFailed(
            f"The clip has {clip.width} x {clip.height} pixels and its last frame "
            f"{frame.width} x {frame.height}; they must be of one size."
        )


def confined_video(suite: str, production: Production, work: Path, longer: int = 1) -> VideoModel:
    """The suite's video model in a child, kept for all shards of a model; each clip may take so
    many times the seconds that the settings say."""
    settings = Settings()
    bounds = replace(limits(settings), seconds=settings.agent_clip_seconds * longer)
    return _confined_video_once(suite, as_text(production), bounds, work)


@lru_cache(maxsize=1)
def _confined_video_once(
    suite: str, production: str, bounds: ChildLimits, work: Path
) -> ConfinedVideo:
    work.mkdir(parents=True, exist_ok=True)
    return ConfinedVideo({"suite": suite, "given": json.loads(production)}, bounds, work / "agent")
