"""What an evaluator has to roll out: seven policies from ten starts each on the simulated table,
offline and online; and what really held from each of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from evaluators.contracts import Facets, Sample
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.suites.sc3.table.recordings import (
    TableRecording,
    read_recording,
    recorded_starts,
)
from evaluators.suites.sc3.table.trials import (
    SHIPPED_TABLE,
    STARTS,
    TRIALS,
    TableTrial,
    read_trials,
    table_starts,
)
from evaluators.worlds.tabletop.cards import CARDS
from evaluators.worlds.tabletop.starts import TableStart

MODES = ("offline", "online")
DEMO_STARTS, LOOP_STARTS = 3, 8
PRIVATE = "private."
"""Ids of an operator's own samples begin so; they stay on the server."""


class BadTable(ValueError):
    """The folder of an operator's private starts cannot be used; the message says why."""


@cache
def samples() -> tuple[Sample, ...]:
    """One sample a policy, start and mode; the prompt is what the robot is told."""
    drawn = sorted(table_starts(STARTS), key=lambda pair: (pair[0].id, pair[1].id))
    return tuple(_sample(card.id, start, mode) for mode in MODES for card, start in drawn)


def private_samples(folder: Path) -> tuple[Sample, ...]:
    """The starts that an operator recorded with a seed of their own."""
    if not (folder / TRIALS).is_file():
        raise BadTable(
            f"{folder} holds no trials. Record some: armillary sc3 trials --secret FILE --to FOLDER"
        )
    finished = {trial.start for trial in read_trials(folder)}
    recordings = [
        read_recording(folder, name) for name in recorded_starts(folder) if name in finished
    ]
    return tuple(
        _sample(recording.policy, recording.start, mode, folder)
        for mode in MODES
        for recording in recordings
    )


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """The first starts of each policy: enough to see the whole path, too few to rank anybody by."""
    return _number(sample) < DEMO_STARTS


def in_loop(sample: Sample) -> bool:
    """The closed loop alone, from the first eight starts of each policy: fewer starts do not tell a
    second real run from a noisy one."""
    return sample.facets.setting == "online" and _number(sample) < LOOP_STARTS


def folder_of(sample: Sample) -> Path:
    """Where the recordings and trials behind a sample lie."""
    return Path(str(sample.reference.get("folder", SHIPPED_TABLE)))


def recording_of(sample: Sample) -> TableRecording:
    """The run from a sample's start that stands for the real robot."""
    return read_recording(folder_of(sample), start_of(sample))


def trial_of(sample: Sample) -> TableTrial:
    """Every run from a sample's start."""
    return _trials(folder_of(sample))[start_of(sample)]


def truth_of(sample: Sample) -> ObjectOutcome:
    """What really held at the end, by the simulator's own state."""
    return trial_of(sample).outcomes["real"]


def start_of(sample: Sample) -> str:
    """The name of a sample's start."""
    return str(sample.reference["start"])


def criteria_of(outcome: ObjectOutcome) -> dict[str, bool]:
    """The three criteria by name."""
    return {name: bool(getattr(outcome, name)) for name in CRITERIA}


def _number(sample: Sample) -> int:
    return int(sample.cluster.rpartition("-")[2])


@cache
def _trials(folder: Path) -> dict[str, TableTrial]:
    return {trial.start: trial for trial in read_trials(folder)}


def _sample(policy: int, start: TableStart, mode: str, folder: Path | None = None) -> Sample:
    splits = {card.id: card.split for card in CARDS}
    prefix = PRIVATE if folder else ""
    return Sample(
        id=f"{prefix}{start.id}.{mode}",
        facets=Facets(splits[policy], f"policy_{policy}", mode, "trajectory"),
        cluster=f"{prefix}{start.id}",
        prompt=start.instruction,
        reference={
            "policy": policy,
            "start": start.id,
            "object": start.named_object,
            **({"folder": str(folder)} if folder else {}),
        },
    )
