"""Rollouts of the demo subset for the tests: rolled out, read, scored, bundled."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluators.contracts import ALL, Cell, Facets, Outcome, Output, Sample, Score
from evaluators.suites.sc3 import SUITE
from evaluators.suites.sc3.producing import Rollouts
from evaluators.suites.sc3.reading import read
from evaluators.suites.sc3.rollouts.loops import BENCH, RolloutConfig
from evaluators.suites.sc3.samples import in_demo, samples
from evaluators.suites.sc3.scoring import score
from evaluators.worlds.bussing.world_models import WorldModel
from tests.bundles import declaration, write

DEMO = [sample for sample in samples() if in_demo(sample)]


def rolled(
    world: WorldModel, chosen: Sequence[Sample], folder: Path, config: RolloutConfig = BENCH
) -> dict[str, Path]:
    """The files of rollouts, by sample."""
    made = Rollouts(world, config).generate(chosen, folder)
    return {output.sample_id: output.file for output in made if output.file}


def scored(
    files: Mapping[str, Path], reader: Callable[[Sample, Path], Mapping[str, Any]] = read
) -> list[Score]:
    """The scores of all of the demo; what has no file is missing."""
    found: list[Score] = []
    for sample in DEMO:
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


def model_folder(folder: Path, size: tuple[int, int] = (24, 24), **config: Any) -> Path:
    """A small dynamics model as it is before training, with pictures of this height and width."""
    import torch

    from evaluators.models.dynamics.model import Dynamics, DynamicsConfig
    from evaluators.models.dynamics.tokeniser import EyesConfig, Tokeniser
    from evaluators.models.dynamics.training import save

    torch.manual_seed(0)
    made = DynamicsConfig(**{"width": 32, "depth": 1, "heads": 2, **config})
    save(
        Dynamics(made),
        Tokeniser(EyesConfig(views=made.views, height=size[0], width=size[1])),
        folder,
    )
    return folder
