"""Rollouts of the demo subset for the tests: rolled out, read, scored, bundled."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.contracts import ALL, Cell, Facets, Outcome, Output, Sample, Score
from evaluators.contracts.world_model import (
    ForwardRequest,
    FunctionWorld,
    InverseRequest,
    World,
    WorldCard,
)
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.producing import Rollouts
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.samples import in_demo, samples
from evaluators.suites.sc3.scoring import score
from evaluators.suites.sc3.table.recordings import read_recording
from evaluators.suites.sc3.table.trials import SHIPPED_TABLE
from evaluators.worlds.tabletop.episodes import LIMIT
from evaluators.worlds.tabletop.views import VIEWS, Frames
from tests.bundles import declaration, write

DEMO = [sample for sample in samples() if in_demo(sample)]
ONE_START = [sample for sample in DEMO if sample.cluster.endswith("-00")]


def playback(tau: float | None = None, doubted: frozenset[str] = frozenset()) -> FunctionWorld:
    """A world that shows the real run whatever is done: as good as eyes can tell, and a cheat. With
    a tau it reads actions back as nothing, and of some starts as something."""

    def forward(requests: Sequence[ForwardRequest]) -> list[Frames]:
        return [_next(request) for request in requests]

    def inverse(requests: Sequence[InverseRequest]) -> list[np.ndarray]:
        return [
            np.full((r.frames.shape[1] - 1, 7), 9.0 * (r.episode in doubted), np.float32)
            for r in requests
        ]

    card = WorldCard("playback", "1", VIEWS, 64, 64, context=LIMIT + 1, tau=tau)
    return FunctionWorld(card, forward, inverse if tau else None)


def _next(request: ForwardRequest) -> Frames:
    frames = _real(request.episode)
    now = request.context.shape[1]
    moments = np.minimum(np.arange(now, now + len(request.actions)), LIMIT)
    return frames[:, moments]


@cache
def _real(start: str) -> Frames:
    return read_recording(SHIPPED_TABLE, start).frames()


def rolled(world: World, chosen: Sequence[Sample], folder: Path) -> dict[str, Path]:
    """The files of rollouts, by sample."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Rollouts(world).generate(chosen, folder)
    return {output.sample_id: output.file for output in made if output.file}


def scored(
    files: Mapping[str, Path],
    reader: Callable[[Sample, Path], Mapping[str, Any]] = read,
    chosen: Sequence[Sample] = DEMO,
) -> list[Score]:
    """The scores of all that is chosen; what has no file is missing."""
    found: list[Score] = []
    for sample in chosen:
        if sample.id in files:
            output = Output(
                sample.id, Outcome.SCORED, record={"value": dict(reader(sample, files[sample.id]))}
            )
        else:
            output = Output(sample.id, Outcome.OUTPUT_MISSING)
        found += score(sample, output, {})
    return found


def cell(found: Sequence[Cell], metric: str, task: str, mode: str, split: str = ALL) -> Cell:
    """One cell of a table."""
    return next(
        c for c in found if c.metric == metric and c.facets == Facets(split, task, mode, "video")
    )


def said(**changes: Any) -> dict[str, Any]:
    """What a manifest of SC3 declares."""
    return declaration(
        suite="sc3", suite_version=SUITE.version, modalities=["trajectory"], **changes
    )


def bundle(to: Path, files: Mapping[str, Path]) -> Path:
    """A bundle of finished rollouts."""
    members = {f"outputs/{name}.npz": path.read_bytes() for name, path in files.items()}
    listed = [
        {
            "path": path,
            "sha256": hashlib.sha256(data).hexdigest(),
            "sample": path[len("outputs/") : -len(".npz")],
        }
        for path, data in members.items()
    ]
    return write(to, json.dumps({**said(), "files": listed}).encode(), members, zipfile.ZIP_STORED)


def model_folder(folder: Path, **config: Any) -> Path:
    """A very small video world model as it is before training."""
    import torch

    from evaluators.models.video_world.codec import VideoCodec
    from evaluators.models.video_world.config import VideoWorldConfig
    from evaluators.models.video_world.folder import TrainedWorld, save_model
    from evaluators.models.video_world.network import network_of

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden": 16, "depth": 1, "heads": 2, "steps": 1, "latent": 4}
    scale = {"action_mean": (0.0,) * 7, "action_scale": (1.0,) * 7}
    made = VideoWorldConfig(**{**sizes, **scale, **config}).checked()
    codec = VideoCodec(made)
    save_model(TrainedWorld(made, codec, network_of(made, codec)), folder)
    return folder
