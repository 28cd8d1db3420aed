"""Runs the policies on the table and in worlds that show nothing, and keeps what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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
from evaluators.suites.sc3.table.recordings import (
    EVERY,
    TableRecording,
    keep,
    save_recording,
)
from evaluators.suites.sc3.table.trials import (
    STARTS,
    TRIALS,
    TableTrial,
    read_trials,
    table_starts,
)
from evaluators.worlds.tabletop.blind import frozen, grey, noise
from evaluators.worlds.tabletop.cards import PolicyCard
from evaluators.worlds.tabletop.engine import TableTruth
from evaluators.worlds.tabletop.episodes import LIMIT, TableStage
from evaluators.worlds.tabletop.planner import EXECUTED
from evaluators.worlds.tabletop.running import TableRun, run_policy, run_recorded
from evaluators.worlds.tabletop.starts import TableStart
from evaluators.worlds.tabletop.trials import draw_trial

NOISY = 4.0
OTHERWISE = 0.05
"""Two chunks differ if some action of them does by this much, of a range of -1 to 1."""

BLIND_WORLDS: Mapping[str, Callable[[], FunctionWorld]] = {
    "grey": grey,
    "noise": noise,
    "frozen": frozen,
}


def record_trials(
    to: Path,
    starts: int = STARTS,
    secret: str = "",
    say: Callable[[str], None] = lambda _line: None,
) -> tuple[TableTrial, ...]:
    """All policies from so many starts each into a folder; killed, it goes on. An operator's secret
    makes private starts, whose names tell nothing of how they lie."""
    lines = to / TRIALS
    recorded = {trial.start for trial in read_trials(to)} if lines.is_file() else set()
    to.mkdir(parents=True, exist_ok=True)
    studio = Studio.open()
    with lines.open("a", encoding="utf-8") as file:
        for card, start in table_starts(starts, secret):
            if start.id not in recorded:
                real = studio.run_real(card, start)
                recording = keep(start, card.id, real.frames, real.actions)
                save_recording(recording, to)
                trial = studio.try_out(card, recording, real.truth)
                file.write(trial.line() + "\n")
                file.flush()
                os.fsync(file.fileno())
                say(trial.line())
    return read_trials(to)


@dataclass(frozen=True, slots=True)
class Studio:
    """A table as it is, one where nothing can be grasped, and everything that looks at them."""

    table: TableStage
    slippery: TableStage

    @classmethod
    def open(cls) -> Studio:
        """Both tables; NoSimulator says what is missing."""
        return cls(TableStage.open(), TableStage.open(grasps=False))

    def run_real(self, card: PolicyCard, start: TableStart) -> TableRun:
        """The run that stands for the real robot, every fourth frame of it."""
        return self._run(self.table, card, start, "real", every=EVERY)

    def try_out(self, card: PolicyCard, real: TableRecording, truth: TableTruth) -> TableTrial:
        """Every other run from the start of a real one; the annotator reads the real one as it is
        kept."""
        start = real.start
        again = self._run(self.table, card, start, "again")
        same = run_recorded(
            self.table, start, draw_trial(f"again-{start.id}"), real.actions, every=LIMIT
        )
        outcomes = {
            "real": truth.outcome(start),
            "real as annotated": shipped_annotator().read(real.kept_frames(), start.instruction),
            "again online": _outcome(again),
            "again offline": _outcome(same),
            "never grasps": _outcome(self._run(self.slippery, card, start, "real")),
            "noisy": _outcome(self._run(self.table, card, start, "noisy", NOISY)),
        }
        differ = {}
        for name, world in BLIND_WORLDS.items():
            rollout = _driven(world(), card, start, real.first)
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
