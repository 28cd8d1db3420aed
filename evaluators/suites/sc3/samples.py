"""What an evaluator has to roll out: seven policies from 36 starts each, offline and online."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from evaluators.contracts import Facets, Sample
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, real
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA, Trajectory
from evaluators.worlds.bussing.starts import Start
from evaluators.worlds.bussing.world_models import simulator
from evaluators.worlds.policies.policies import Policy, checkpoints, starts_of

MODES = ("offline", "online")
SHIPPED = Path(__file__).parent / "data"
"""Where the annotator and two small dynamics models lie."""

DEMO_STARTS = 3


@cache
def samples() -> tuple[Sample, ...]:
    """One sample a policy, start and mode; the prompt is what the robot is told."""
    return tuple(
        Sample(
            id=f"{start.id}.{mode}",
            facets=Facets(checkpoint.split, f"policy_{checkpoint.id}", mode, "trajectory"),
            cluster=start.id,
            prompt=start.instruction,
            reference={"policy": checkpoint.id, "start": start.id, "object": start.named_object},
        )
        for mode in MODES
        for checkpoint in checkpoints()
        for start in starts_of(checkpoint)
    )


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """The first starts of each policy: enough to see the whole path, too few to rank anybody by."""
    return int(sample.cluster.rpartition("-")[2]) < DEMO_STARTS


@cache
def policies() -> dict[int, Policy]:
    """The seven policies by number."""
    return {checkpoint.id: checkpoint.policy for checkpoint in checkpoints()}


@cache
def starts() -> dict[str, tuple[int, Start]]:
    """Every start with its policy, by its name."""
    return {
        start.id: (checkpoint.id, start)
        for checkpoint in checkpoints()
        for start in starts_of(checkpoint)
    }


@cache
def on_the_table(policy: int) -> dict[str, Trajectory]:
    """What a policy really does from its starts, by their names; the bench stands for the real
    table."""
    mine = [Episode(number, start) for number, start in starts().values() if number == policy]
    return {trajectory.start: trajectory for trajectory in real(policies(), mine, BENCH)}


@cache
def truth(policy: int) -> dict[str, ObjectOutcome]:
    """What really holds at the end, exactly."""
    trajectories = on_the_table(policy)
    listed = [starts()[name][1] for name in trajectories]
    outcomes_at_end = simulator().outcomes(
        listed, [trajectory.actions for trajectory in trajectories.values()]
    )
    return dict(zip(trajectories, outcomes_at_end, strict=True))


def episodes(chosen: Sequence[Sample]) -> list[Episode]:
    """What to roll out for some samples."""
    return [_episode(sample) for sample in chosen]


def _episode(sample: Sample) -> Episode:
    policy, start = starts()[sample.cluster]
    recorded = (
        on_the_table(policy)[start.id].actions if sample.facets.setting == "offline" else None
    )
    return Episode(policy, start, recorded)


def criteria_of(outcome: ObjectOutcome) -> dict[str, bool]:
    """The three criteria by name."""
    return {name: bool(getattr(outcome, name)) for name in CRITERIA}
