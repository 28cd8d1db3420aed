"""Whether the seven policies look: where a world shows nothing, they have to act otherwise than on
the table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from evaluators.contracts.robot_policy import PolicyView
from evaluators.contracts.world_model import FunctionWorld
from evaluators.models.robots.policies import load_policies, read_arm
from evaluators.suites.sc3.rollouts.driving import (
    Actions,
    DriveConfig,
    DrivenEpisode,
    Frames,
    drive,
)
from evaluators.suites.sc3.table.studio import BLIND_WORLDS, share_that_differs
from evaluators.worlds.tabletop.blind import frozen
from evaluators.worlds.tabletop.cards import CARDS
from evaluators.worlds.tabletop.episodes import LIMIT
from evaluators.worlds.tabletop.planner import EXECUTED
from evaluators.worlds.tabletop.running import TableRun, run_policy
from evaluators.worlds.tabletop.starts import draw_start
from evaluators.worlds.tabletop.trials import draw_trial
from tests.worlds.stages import open_stage


@dataclass(frozen=True, slots=True)
class Watched:
    """A policy on the table from one start."""

    policy: int
    run: TableRun


@cache
def on_the_table() -> tuple[Watched, ...]:
    """Each policy once, filmed at its replans only."""
    stage = open_stage()
    starts = {card.id: draw_start(f"validity-p{card.id}", card.task) for card in CARDS}
    return tuple(
        Watched(
            number,
            run_policy(
                stage, starts[number], draw_trial(f"validity-{number}"), policy, read_arm, EXECUTED
            ),
        )
        for number, policy in load_policies().items()
    )


def arm_of(_episode: DrivenEpisode, frames: Frames, _actions: Actions) -> Actions:
    return read_arm(frames)


def in_world(world: FunctionWorld) -> list[Actions]:
    episodes = [
        DrivenEpisode(
            watched.run.start.id,
            watched.policy,
            watched.run.start.instruction,
            watched.run.start.seed,
            watched.run.frames[:, 0],
            read_arm(watched.run.frames[:, 0]),
        )
        for watched in on_the_table()
    ]
    config = DriveConfig(limit=LIMIT)
    return [rollout.actions for rollout in drive(world, load_policies(), episodes, arm_of, config)]


@pytest.mark.parametrize("name", BLIND_WORLDS)
def test_in_a_world_that_shows_nothing_policies_act_otherwise_than_on_the_table(name: str) -> None:
    blind = in_world(BLIND_WORLDS[name]())
    differ = [
        share_that_differs(watched.run.actions, actions)
        for watched, actions in zip(on_the_table(), blind, strict=True)
    ]

    assert np.mean(differ) >= 0.8, f"only {np.mean(differ):.0%} of the chunks differ"


def test_the_first_chunk_is_the_same_where_the_first_frames_are() -> None:
    for watched, actions in zip(on_the_table(), in_world(frozen()), strict=True):
        assert np.array_equal(watched.run.actions[:EXECUTED], actions[:EXECUTED])


def test_a_policy_does_the_same_on_the_same_frames_alone_or_again() -> None:
    watched = on_the_table()[0]
    frames = watched.run.frames[:, 0]
    start = watched.run.start
    for policy in load_policies().values():
        view = PolicyView(frames, read_arm(frames), start.instruction, start.seed)
        assert np.array_equal(policy.act(view), policy.act(view))
        assert policy.act(view).shape == (25, 7) and np.abs(policy.act(view)).max() <= 1.0


def test_the_reader_of_the_arm_is_within_a_few_centimetres() -> None:
    stage = open_stage()
    state = stage.table.set(draw_start("reader", CARDS[0].task), draw_trial("reader"))
    read = read_arm(stage.cameras.render())

    assert np.linalg.norm(read[:3] - state.hand) < 0.06
