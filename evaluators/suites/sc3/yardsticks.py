"""Rows that stand beside the ranking: the simulator as ceiling, worlds that know too little, fakes
that see nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evaluators.contracts import Sample, Yardstick
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.agreement import Match
from evaluators.suites.sc3.fakes import criterion_mean, shuffled_policies
from evaluators.suites.sc3.producing import Rollouts, open_folder
from evaluators.suites.sc3.rollouts.loops import BENCH
from evaluators.suites.sc3.rollouts.trajectories import OutcomeAnnotation, to_bytes
from evaluators.suites.sc3.samples import SHIPPED, on_the_table, starts, truth
from evaluators.worlds.bussing.world_models import (
    NOISE_LEVELS,
    WorldModel,
    copy_last_frame,
    never_grasps,
    noisy_simulator,
    simulator,
)

PRACTISED = (
    "A small dynamics model of ours, trained on practice on the same simulated table, from other "
    "starts."
)

Fake = Callable[[Sequence[Match]], list[ObjectOutcome]]
OutputFiles = Mapping[str, Path]


def yardsticks() -> tuple[Yardstick, ...]:
    """All of them; none is ever ranked."""
    worlds = [
        ("Copy of the last frame", copy_last_frame()),
        ("Never grasps (simulated)", never_grasps().world()),
    ]
    worlds += [
        (f"Noisy simulator {level:g}", noisy_simulator(level).world()) for level in NOISE_LEVELS
    ]
    learned = [
        ("Small dynamics model", "full"),
        ("Small dynamics model, forward only", "forward_only"),
    ]
    fakes: list[tuple[str, Fake]] = [
        ("Criterion mean", criterion_mean),
        ("Shuffled policies", shuffled_policies),
    ]
    return (
        Yardstick("Simulator", "ceiling", "trajectory", partial(_rolled, simulator().world())),
        *(
            Yardstick(title, "baseline", "trajectory", partial(_rolled, world))
            for title, world in worlds
        ),
        *(
            Yardstick(
                title,
                "baseline",
                "trajectory",
                partial(_learned, SHIPPED / name),
                statement=PRACTISED,
            )
            for title, name in learned
        ),
        *(Yardstick(title, "sanity", "trajectory", partial(_faked, fake)) for title, fake in fakes),
    )


def _rolled(
    world: WorldModel, samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    return _files(Rollouts(world, BENCH), samples, folder)


def _learned(
    model: Path, samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    """A shipped model, rolled out as one that is handed in."""
    return _files(Rollouts(*open_folder(model, model.name)), samples, folder)


def _files(rollouts: Rollouts, samples: Sequence[Sample], folder: Path) -> Mapping[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return {
        output.sample_id: output.file
        for output in rollouts.generate(samples, folder)
        if output.file
    }


def _faked(
    fake: Fake, samples: Sequence[Sample], _outputs: OutputFiles, folder: Path
) -> Mapping[str, Path]:
    """The first frame alone, with made-up annotations: a fake looks at nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Path] = {}
    for mode in dict.fromkeys(sample.facets.setting for sample in samples):
        chosen = [sample for sample in samples if sample.facets.setting == mode]
        outcomes = fake([_match(sample) for sample in chosen])
        files |= {
            sample.id: _write(sample, outcome, folder)
            for sample, outcome in zip(chosen, outcomes, strict=True)
        }
    return files


def _match(sample: Sample) -> Match:
    policy, start = starts()[sample.cluster]
    return Match(start.id, policy, sample.facets.scenario, (truth(policy)[start.id],), None)


def _write(sample: Sample, outcome: ObjectOutcome, folder: Path) -> Path:
    policy, start = starts()[sample.cluster]
    real = on_the_table(policy)[start.id]
    fake = replace(
        real,
        source="offline" if sample.facets.setting == "offline" else "online",
        evaluator="fake",
        frames=real.frames[:, :1].repeat(real.frames.shape[1], axis=1),
        annotations=(OutcomeAnnotation("made up", start.named_object, outcome),),
    )
    path = folder / f"{sample.id}.npz"
    path.write_bytes(to_bytes(fake))
    return path
