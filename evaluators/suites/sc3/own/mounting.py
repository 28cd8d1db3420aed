"""A lab's bench as a suite: the same numbers, intervals and study as on our own table, against the
lab's real outcomes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from evaluators.contracts import (
    BankCard,
    Facets,
    Json,
    JudgeCard,
    Opinion,
    Output,
    Replay,
    Sample,
    Score,
    Suite,
)
from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.suites.sc3.own.bench import OwnBench, RealTrial, open_bench
from evaluators.suites.sc3.rating import RATING, objects_of, side_by_side
from evaluators.suites.sc3.rating import score as score_opinions
from evaluators.suites.sc3.reading import OWN, check_belongs, human_labels, likeness
from evaluators.suites.sc3.rollouts.replay import ReplayBench, check_by_replay
from evaluators.suites.sc3.rollouts.trajectories import Trajectory, from_bytes, to_bytes
from evaluators.suites.sc3.samples import MODES, criteria_of
from evaluators.suites.sc3.scoring import scoring_against

TRUSTED_NOTE = "The labels that come with rollouts count: whoever runs this board trusts them."
STUDY_NOTE = (
    "Labels that come with rollouts are shown and count for nothing; people label in a blinded "
    "study. Until then there are pictures and stops to compare, and no success rates."
)


@dataclass(frozen=True)
class MountedBench:
    """A bench behind the functions that a suite is made of; its folder is read when it is first
    asked."""

    card: BankCard

    @cached_property
    def bench(self) -> OwnBench:
        """The folder, opened."""
        return open_bench(self.card.folder)

    @cached_property
    def _samples(self) -> tuple[Sample, ...]:
        trials = self.bench.trials.values()
        return tuple(
            _sample(trial, mode)
            for mode in MODES
            for trial in trials
            if mode == "online" or trial.episode is not None
        )

    def samples(self) -> tuple[Sample, ...]:
        """Each start online, and offline where its actions are recorded."""
        return self._samples

    def truth(self, sample: Sample) -> tuple[ObjectOutcome, ...]:
        """What the lab saw."""
        return self.bench.trials[sample.cluster].outcomes

    def real(self, sample: Sample) -> bytes:
        """The lab's own run, for the panel."""
        return to_bytes(self.bench.real(sample.cluster))

    def read(self, sample: Sample, path: Path) -> Mapping[str, Json]:
        """What scoring needs to know of a rollout; a BadTrajectory says what is wrong with it."""
        rollout = self.open(path)
        check_belongs(rollout, sample)
        whole = self.bench.trials[sample.cluster].episode is not None
        if whole:
            size = rollout.frames.shape[2], rollout.frames.shape[3]
            check_by_replay(rollout, self._replay(sample, size))
        offline = rollout.source == "offline"
        real = self.bench.real(sample.cluster).frames if offline else None
        return {
            "evaluator": rollout.evaluator,
            **likeness(rollout.frames[:, 1:], None if real is None else real[:, 1:]),
            "steps": rollout.steps,
            "u_chunk": [round(float(value), 5) for value in rollout.u_chunk],
            "action_space": rollout.action_space,
            "terminated_at": rollout.terminated_at,
            "tau": rollout.tau,
            **self._labels(sample, rollout),
        }

    def open(self, path: Path) -> Trajectory:
        """A rollout of this robot, with as many views and numbers an action as it has."""
        dataset, data = self.bench.dataset, path.read_bytes()
        if dataset is None:
            return from_bytes(data, None, None)
        width = int(dataset.info["features"]["action"]["shape"][0])
        return from_bytes(data, len(dataset.cameras), width)

    def show(self, sample: Sample, file: Path | None, folder: Path) -> Path:
        """What raters look at: a rollout, or what really happened, in the same form."""
        rollout = self.open(file) if file else self.bench.real(sample.cluster)
        return side_by_side(rollout.frames, folder, self.bench.rate)

    def score_opinions(
        self, sample: Sample, output: Output, opinions: Sequence[Opinion]
    ) -> tuple[Score, ...]:
        """People's labels against what the lab saw."""
        return score_opinions(sample, output, opinions, self.truth)

    def judge_card(self) -> JudgeCard:
        """Who says what holds on this bench."""
        trusted = self.bench.settings.labels == "trusted"
        note = TRUSTED_NOTE if trusted else STUDY_NOTE
        digest = hashlib.sha256(json.dumps([self.bench.settings.labels, note]).encode())
        return JudgeCard(
            name="labels handed in" if trusted else "labels of a study",
            kind="auto",
            model="none",
            revision=digest.hexdigest(),
            prompt_sha256="",
            decoding="each criterion by majority",
            frames="all",
            precision="",
            code="sc3-own-2",
            note=note,
        )

    def _replay(self, sample: Sample, size: tuple[int, int]) -> ReplayBench:
        bench = self.bench
        episode = bench.driven(sample.cluster, sample.facets.setting, size)
        recording = bench.episode(sample.cluster).actions
        return ReplayBench(episode, None, bench.arm, recording, bench.config)

    def _labels(self, sample: Sample, rollout: Trajectory) -> dict[str, Json]:
        """Labels of each object, as the ones that count or as the submitter's own beside."""
        outcomes = [human_labels(rollout, name) for name in objects_of(sample)]
        labelled: list[Json] = [{**criteria_of(outcome)} for outcome in outcomes if outcome]
        whole = labelled if len(labelled) == len(outcomes) else None
        if self.bench.settings.labels != "trusted":
            return {"annotator": "", "labels": "", "own_labels": whole}
        people = sorted({note.annotator for note in rollout.annotations})
        return {"annotator": ", ".join(people), "labels": OWN, "objects": whole or []}


def mount(card: BankCard, ours: Suite) -> Suite:
    """The suite of a lab's bench."""
    bench = MountedBench(card)
    rating = replace(
        RATING,
        show=bench.show,
        score=bench.score_opinions,
        real=all(trial.episode is not None for trial in bench.bench.trials.values()),
    )
    return replace(
        ours,
        name=card.suite_name,
        version=card.version,
        title=f"{ours.title}: {card.title}",
        sentence="Policies of a lab's own robot inside world models: do they fare there as they "
        "did on the robot?",
        samples=bench.samples,
        subsets={"full": lambda _sample: True},
        accepts=("outputs",),
        paper=None,
        scoring=scoring_against(bench.truth),
        generation=None,
        own_judge=bench.judge_card(),
        replay=Replay(bench.read, bench.real),
        yardsticks=(),
        hand_out=None,
        private=None,
        rating=rating,
        mount=None,
    )


def _sample(trial: RealTrial, mode: str) -> Sample:
    return Sample(
        id=f"{trial.start}.{mode}",
        facets=Facets(trial.split, f"policy_{trial.policy}", mode, "trajectory"),
        cluster=trial.start,
        prompt=trial.instruction,
        reference={
            "policy": trial.policy,
            "start": trial.start,
            "object": trial.objects[0],
            "objects": [*trial.objects],
        },
    )
