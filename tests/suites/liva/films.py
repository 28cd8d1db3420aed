"""Video models by rule: clips that are green when the action succeeds and red when it does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluators.agents.video_model import (
    FilmedClip,
    FilmingInterrupted,
    GeneratorFailed,
    Notes,
)
from evaluators.media import write_mp4
from evaluators.suites.liva.cases.case import AvatarCase, SceneObject

GREEN, RED = (40, 200, 60), (200, 40, 60)
Succeeds = Callable[[str, int], bool]


def always(_caption: str, _seed: int) -> bool:
    return True


def never(_caption: str, _seed: int) -> bool:
    return False


def every_second(_caption: str, seed: int) -> bool:
    """Attempts count up, so every second one fails."""
    return seed % 2 == 0


@dataclass
class RuledVideo:
    """Films three frames in one colour; `log` gets a line before and after each clip, `dies` in a
    caption kills it. Its first clips fail, `breaks` by its own fault and `interrupted` by ours."""

    succeeds: Succeeds = always
    log: Path | None = None
    seconds: float = 0.0
    dies: str = ""
    name: str = "ruled"
    profile: str = "a video model by rule"
    made: int = 0
    breaks: int = 0
    interrupted: int = 0

    def make(
        self,
        frame: Path,
        caption: str,
        seed: int,
        to: Path,
        notes: Notes,  # noqa: ARG002
    ) -> FilmedClip:
        self._write("begin")
        if self.dies and self.dies in caption:
            raise GeneratorFailed("RuntimeError: the video model died")
        if self.interrupted:
            self.interrupted -= 1
            raise FilmingInterrupted("AcceleratorError: the device is gone")
        if self.breaks:
            self.breaks -= 1
            raise GeneratorFailed("out of ideas")
        time.sleep(self.seconds)
        colour = GREEN if self.succeeds(caption, seed) else RED
        first = np.asarray(Image.open(frame).convert("RGB").resize((32, 32)), dtype=np.uint8)
        rest = np.full((2, 32, 32, 3), colour, dtype=np.uint8)
        path = write_mp4(np.concatenate([first[None], rest]), to, 8)
        self.made += 1
        self._write("end")
        return FilmedClip(path)

    def _write(self, line: str) -> None:
        if self.log:
            with self.log.open("a") as stream:
                stream.write(f"{line}\n")


def small_case(folder: Path, subgoals: int = 2) -> AvatarCase:
    """A case with a small picture."""
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64), (90, 90, 160)).save(folder / "first.png")
    goals = tuple(f"The mug is at place {number}." for number in range(subgoals))
    prompts = tuple(f"The person moves the mug to place {number}." for number in range(subgoals))
    things = (SceneObject("mug", "a red mug"),)
    named = {
        "case_id": "kitchen_case99",
        "scenario": "kitchen",
        "image": "first.png",
        "license": "CC0-1.0",
    }
    told = {
        "objects": things,
        "subgoals": goals,
        "reference_prompts": prompts,
        "intention": "Move the mug.",
    }
    fields: dict[str, Any] = {**named, **told, "source": "synthetic", "folder": folder}
    return AvatarCase(**fields)
