"""A handed-in video model that films in a child with limits, for an agent that runs here."""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluators.agents.video_model import GeneratorFailed, Notes, VideoModel
from evaluators.contracts import Production
from flows.workers.confined.child import Child, ChildLimits, NotItsOwn, move_out
from flows.workers.confined.model import as_text, limits
from infra.settings import Settings
from submissions.media.facts import Refused, inspect

COMMAND = (sys.executable, "-m", "flows.workers.confined.video_main")


class ConfinedVideo:
    """Films one clip at a time; a clip that ends the child or does not pass the door's own look is
    a failed one."""

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

    def make(self, frame: Path, caption: str, seed: int, to: Path, notes: Notes) -> Path:  # noqa: ARG002
        """One clip, moved out of the child's folder and looked at like a handed-in one."""
        with self._busy:
            own = self._child.start(self._work)
            start_frame = shutil.copyfile(frame, own / f"frame{frame.suffix}")
            self._child.ask(
                {
                    "frame": str(start_frame),
                    "caption": caption,
                    "seed": seed,
                    "to": str(own / to.name),
                }
            )
            reply = self._child.answer()
            if reply is None:
                raise GeneratorFailed(self._child.fate())
            if "failed" in reply:
                raise GeneratorFailed(reply["failed"])
            return _clip(reply["made"], own, to)

    def close(self) -> None:
        """End the child."""
        self._child.close()

    def _ready(self) -> Mapping[str, Any]:
        with self._busy:
            if not self._child.ready:
                self._child.start(self._work)
            return self._child.ready


def _clip(named: str, own: Path, to: Path) -> Path:
    try:
        clip = move_out(named, own, to.parent)
        inspect(clip, clip.name, "video")
    except (NotItsOwn, Refused) as refused:
        raise GeneratorFailed(str(refused)) from None
    return clip.replace(to)


def confined_video(suite: str, production: Production, work: Path) -> VideoModel:
    """The suite's video model in a child, kept for all shards of a model."""
    return _confined_video_once(suite, as_text(production), limits(Settings()), work)


@lru_cache(maxsize=1)
def _confined_video_once(
    suite: str, production: str, bounds: ChildLimits, work: Path
) -> ConfinedVideo:
    work.mkdir(parents=True, exist_ok=True)
    return ConfinedVideo({"suite": suite, "given": json.loads(production)}, bounds, work / "agent")
