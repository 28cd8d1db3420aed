"""Rows that stand beside the ranking: a second real run as ceiling, worlds that know too little,
worlds that show nothing, fakes that look at nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from evaluators.contracts import Sample, Yardstick
from evaluators.contracts.world_model import World
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.producing import Rollouts, open_folder
from evaluators.suites.sc3.reading import ANNOTATED, MADE_UP, SIMULATED
from evaluators.suites.sc3.rollouts.trajectories import (
    OutcomeAnnotation,
    Trajectory,
    to_bytes,
)
from evaluators.suites.sc3.samples import recording_of, trial_of, truth_of
from evaluators.suites.sc3.table.cached import PackedWorld, write_cached
from evaluators.worlds.tabletop import blind

SHIPPED_WORLD = Path(__file__).parent / "data" / "video_world"
TRIALS = (
    "No model: what held is the simulator's own state in trials that were run once and are shipped "
    "with the suite; there are no frames of them."
)
BLIND = (
    "No model: online what the annotator saw in trials that were run once and are shipped with the "
    "suite; offline rolled out on the spot."
)
PRACTISED = (
    "A small video world model of ours, trained on practice on the same simulated table, from "
    "other starts; its frames go through H.264. Rollouts of the demo subset were made once by "
    "these weights and are shipped."
)

Fake = Callable[[Sequence[Match]], list[ObjectOutcome]]
OutputFiles = Mapping[str, Path]


def yardsticks() -> tuple[Yardstick, ...]:
    """All of them; none is ever ranked."""
    ceiling = {"offline": "again offline", "online": "again online"}
    runs = [
        ("Second real run (simulated)", "ceiling", ceiling),
        ("Simulator with four times the noise", "baseline", {"online": "noisy"}),
        ("Never grasps (simulated)", "baseline", {"online": "never grasps"}),
    ]
    shown = [
        ("Grey world", "grey", blind.grey),
        ("Noise world", "noise", blind.noise),
        ("Still world", "frozen", blind.frozen),
    ]
    fakes: list[tuple[str, Fake]] = [
        ("Criterion mean", criterion_mean),
        ("Shuffled policies", shuffled_policies),
    ]
    make = partial(Yardstick, modality="trajectory")
    return (
        *(
            make(title, role, make=partial(_run_again, titles), statement=TRIALS)  # type: ignore[arg-type]
            for title, role, titles in runs
        ),
        *_learned(),
        *(
            make(title, "sanity", make=partial(_blind, run, world), statement=BLIND)
            for title, run, world in shown
        ),
        *(make(title, "sanity", make=partial(_faked, fake)) for title, fake in fakes),
    )


def _learned() -> tuple[Yardstick, ...]:
    """The small model that is shipped, if one is."""
    if not (SHIPPED_WORLD / "config.json").is_file():
        return ()
    title = "Small video world model"
    return (Yardstick(title, "baseline", "trajectory", _rolled_small, statement=PRACTISED),)


def _rolled_small(
    samples: Sequence[Sample], outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    """The shipped rollouts of the small model where its weights made them, others on the spot."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {**write_cached(SHIPPED_WORLD, samples, folder)}
    lacking = [sample for sample in samples if sample.id not in files]
    if lacking:
        open_world = partial(open_folder, SHIPPED_WORLD)
        files |= _rolled(lambda: PackedWorld(open_world()), lacking, outputs, folder)
    return files


def _rolled(
    open_world: Callable[[], World], samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    """A world, rolled out as one that is handed in."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Rollouts(open_world()).generate(samples, folder)
    return {output.sample_id: output.file for output in made if output.file}


def _run_again(
    runs: Mapping[str, str], samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    """What held in another run from the same starts, in the modes in which there was one."""
    return {
        sample.id: _write(sample, trial_of(sample).outcomes[run], SIMULATED, folder)
        for sample in samples
        if (run := runs.get(sample.facets.setting))
    }


def _blind(
    run: str,
    open_world: Callable[[], World],
    samples: Sequence[Sample],
    outputs: OutputFiles,
    folder: Path,
) -> Mapping[str, Path]:
    """A world that shows nothing: online as it was annotated once, offline rolled out."""
    online = [sample for sample in samples if sample.facets.setting == "online"]
    offline = [sample for sample in samples if sample.facets.setting == "offline"]
    files = {
        sample.id: _write(sample, trial_of(sample).outcomes[run], ANNOTATED, folder)
        for sample in online
    }
    return {**files, **_rolled(open_world, offline, outputs, folder)}


def _faked(
    fake: Fake, samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    """Made-up labels: a fake looks at nothing."""
    files: dict[str, Path] = {}
    for mode in dict.fromkeys(sample.facets.setting for sample in samples):
        chosen = [sample for sample in samples if sample.facets.setting == mode]
        outcomes = fake([_match(sample) for sample in chosen])
        files |= {
            sample.id: _write(sample, outcome, MADE_UP, folder)
            for sample, outcome in zip(chosen, outcomes, strict=True)
        }
    return files


def _match(sample: Sample) -> Match:
    policy = sample.reference["policy"]
    assert isinstance(policy, int)
    return Match(sample.cluster, policy, sample.facets.scenario, (truth_of(sample),), None)


def _write(sample: Sample, outcome: ObjectOutcome, whose: str, folder: Path) -> Path:
    """A rollout of no steps: the first frame, and what is said to have held at the end."""
    recording = recording_of(sample)
    width = recording.actions.shape[1]
    claim = Trajectory(
        start=recording.start.id,
        policy=recording.policy,
        source="offline" if sample.facets.setting == "offline" else "online",
        evaluator=whose,
        frames=recording.first[:, None],
        actions=np.zeros((0, width), np.float32),
        recovered=np.zeros((0, 0, width), np.float32),
        u_chunk=np.zeros(0, np.float32),
        annotations=(OutcomeAnnotation(whose, recording.start.named_object, outcome),),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{sample.id}.npz"
    path.write_bytes(to_bytes(claim))
    return path
