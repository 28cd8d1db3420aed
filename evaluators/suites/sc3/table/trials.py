"""What the policies do from each start on the table, again with fresh trial noise, and in worlds
that bound every world model: a line of JSON a start."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluators.contracts import Json
from evaluators.contracts.world_model import FunctionWorld
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.models.robots.annotator import shipped_annotator
from evaluators.models.robots.policies import load_policies, read_arm
from evaluators.suites.sc3.rollouts.driving import (
    Actions,
    DriveConfig,
    DrivenEpisode,
    Frames,
    drive,
)
from evaluators.suites.sc3.rollouts.trajectories import CRITERIA
from evaluators.worlds.tabletop.blind import frozen, grey, noise
from evaluators.worlds.tabletop.cards import CARDS, PolicyCard
from evaluators.worlds.tabletop.episodes import LIMIT, TableStage
from evaluators.worlds.tabletop.planner import EXECUTED
from evaluators.worlds.tabletop.running import TableRun, run_policy, run_recorded
from evaluators.worlds.tabletop.starts import TableStart, draw_start
from evaluators.worlds.tabletop.trials import draw_trial

STARTS = 10
SHIPPED_TRIALS = Path(__file__).parents[1] / "data" / "table" / "trials.jsonl"
NOISY = 4.0
OTHERWISE = 0.05
"""Two chunks differ if some action of them does by this much, of a range of -1 to 1."""

BLIND: Mapping[str, Callable[[], FunctionWorld]] = {"grey": grey, "noise": noise, "frozen": frozen}


@dataclass(frozen=True, slots=True)
class TableTrial:
    """One start of a policy: what held in each run, by the simulator's truth or, where a world has
    none, as the annotator reads its frames; and the share of chunks that differ where a world shows
    nothing."""

    start: str
    policy: int
    split: str
    outcomes: Mapping[str, ObjectOutcome]
    differ: Mapping[str, float]

    def line(self) -> str:
        """The line of JSON."""
        outcomes = {name: _flags(outcome) for name, outcome in self.outcomes.items()}
        words: dict[str, Json] = {
            "start": self.start,
            "policy": self.policy,
            "split": self.split,
            "outcomes": {name: [*flags] for name, flags in outcomes.items()},
            "differ": {name: round(share, 4) for name, share in self.differ.items()},
        }
        return json.dumps(words)


def read_trials(path: Path = SHIPPED_TRIALS) -> tuple[TableTrial, ...]:
    """The trials of a file."""
    return tuple(_trial(json.loads(line)) for line in path.read_text("utf-8").splitlines())


def record_trials(
    to: Path,
    starts: int = STARTS,
    secret: str = "",
    say: Callable[[str], None] = lambda _line: None,
) -> tuple[TableTrial, ...]:
    """All policies from so many starts each; killed, it goes on. An operator's secret makes private
    starts, whose names tell nothing of how they lie."""
    recorded = {trial.start for trial in read_trials(to)} if to.is_file() else set()
    to.parent.mkdir(parents=True, exist_ok=True)
    studio = Studio.open()
    with to.open("a", encoding="utf-8") as file:
        for card, start in table_starts(starts, secret):
            if start.id not in recorded:
                trial = studio.try_out(card, start)
                file.write(trial.line() + "\n")
                file.flush()
                os.fsync(file.fileno())
                say(trial.line())
    return read_trials(to)


def table_starts(count: int, secret: str = "") -> Iterator[tuple[PolicyCard, TableStart]]:
    """The starts of each policy, one of each in turn."""
    for number in range(count):
        for card in CARDS:
            yield card, draw_start(f"test-p{card.id}-{number:02d}", card.task, secret)


@dataclass(frozen=True, slots=True)
class Studio:
    """A table as it is, one where nothing can be grasped, and everything that looks at them."""

    table: TableStage
    slippery: TableStage

    @classmethod
    def open(cls) -> Studio:
        """Both tables; NoSimulator says what is missing."""
        return cls(TableStage.open(), TableStage.open(grasps=False))

    def try_out(self, card: PolicyCard, start: TableStart) -> TableTrial:
        """Every run of one start."""
        real = self._run(self.table, card, start, "real", every=4)
        again = self._run(self.table, card, start, "again")
        same = run_recorded(
            self.table, start, draw_trial(f"again-{start.id}"), real.actions, every=LIMIT
        )
        outcomes = {
            "real": _outcome(real),
            "real as annotated": shipped_annotator().read(real.frames, start.instruction),
            "again online": _outcome(again),
            "again offline": _outcome(same),
            "never grasps": _outcome(self._run(self.slippery, card, start, "real")),
            "noisy": _outcome(self._run(self.table, card, start, "noisy", NOISY)),
        }
        differ = {}
        for name, world in BLIND.items():
            rollout = _driven(world(), card, start, real.frames[:, 0])
            outcomes[name] = shipped_annotator().read(rollout.frames[:, ::4], start.instruction)
            differ[name] = share_that_differs(real.actions, rollout.actions)
        return TableTrial(start.id, card.id, card.split, outcomes, differ)

    def _run(
        self,
        stage: TableStage,
        card: PolicyCard,
        start: TableStart,
        trial: str,
        scale: float = 1.0,
        every: int = EXECUTED,
    ) -> TableRun:
        noise_of_trial = draw_trial(f"{trial}-{start.id}", scale)
        return run_policy(stage, start, noise_of_trial, load_policies()[card.id], read_arm, every)


def share_that_differs(there: Actions, here: Actions) -> float:
    """Of the chunks after the first, those in which some action is another."""
    ends = range(EXECUTED, min(len(there), len(here)), EXECUTED)
    off = [np.abs(there[n : n + EXECUTED] - here[n : n + EXECUTED]).max() for n in ends]
    return float(np.mean([gap > OTHERWISE for gap in off]))


def _driven(world: FunctionWorld, card: PolicyCard, start: TableStart, first: Frames) -> RolledOut:
    episode = DrivenEpisode(
        start.id, card.id, start.instruction, start.seed, first, read_arm(first)
    )
    (rollout,) = drive(world, load_policies(), [episode], _arm, DriveConfig(limit=LIMIT))
    return RolledOut(rollout.frames, rollout.actions)


@dataclass(frozen=True, slots=True)
class RolledOut:
    """Frames and actions of a rollout."""

    frames: Frames
    actions: Actions


def _arm(_episode: DrivenEpisode, frames: Frames, _actions: Actions) -> Actions:
    return read_arm(frames)


def _outcome(run: TableRun) -> ObjectOutcome:
    return run.truth.outcome(run.start)


def _flags(outcome: ObjectOutcome) -> tuple[bool, ...]:
    return tuple(bool(getattr(outcome, name)) for name in CRITERIA)


def _trial(words: Mapping[str, object]) -> TableTrial:
    outcomes, differ = words["outcomes"], words["differ"]
    assert isinstance(outcomes, Mapping) and isinstance(differ, Mapping)
    return TableTrial(
        start=str(words["start"]),
        policy=int(str(words["policy"])),
        split=str(words["split"]),
        outcomes={str(name): _read_flags(flags) for name, flags in outcomes.items()},
        differ={str(name): float(share) for name, share in differ.items()},
    )


def _read_flags(flags: Sequence[bool]) -> ObjectOutcome:
    language, lifting, placing = (bool(flag) for flag in flags)
    return ObjectOutcome(language, lifting, placing)
