"""The seven policies: they read pictures, differ in skill, and may sit behind a server."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from evaluators.suites.sc3.rollouts.loops import BENCH, Episode, real
from evaluators.worlds.actions import Actions
from evaluators.worlds.bussing.bench import arm_after, outcomes, run, set_table
from evaluators.worlds.bussing.starts import FORWARD, Start, draw_start
from evaluators.worlds.bussing.views import render
from evaluators.worlds.policies.http import HttpPolicy, PolicyServerError, serve_policy
from evaluators.worlds.policies.perception import NotUnderstood, parse_instruction, perceive
from evaluators.worlds.policies.plans import CHUNK, Observation
from evaluators.worlds.policies.policies import (
    Faults,
    Policy,
    Scripted,
    checkpoints,
    policy_of,
    starts_of,
)

STARTS = [draw_start(f"policy test {number}", FORWARD) for number in range(20)]


def first_sight(start: Start) -> Observation:
    arm = arm_after([start], np.zeros((1, 0, 7)))[0]
    return Observation(
        render(set_table([start]), [start])[0], arm, start.instruction, 0, start.seed
    )


def test_the_named_object_and_the_other_are_found_within_a_grasp() -> None:
    for start in STARTS:
        seen = perceive(first_sight(start).frames[0], start.named_object)

        assert np.linalg.norm(np.subtract(seen.named, start.places[start.named])) < 0.02
        assert np.linalg.norm(np.subtract(seen.distractor, start.places[1 - start.named])) < 0.02


def test_an_instruction_of_another_bench_is_not_guessed_at() -> None:
    with pytest.raises(NotUnderstood, match="put the OBJECT into the BIN"):
        parse_instruction("tidy up")


def test_a_policy_proposes_25_actions_of_7_numbers_and_the_same_again() -> None:
    policy = Scripted("any", Faults())

    first, second = (policy.propose([first_sight(start) for start in STARTS]) for _ in range(2))

    assert first.shape == (len(STARTS), CHUNK, 7) and np.array_equal(first, second)


def test_four_policies_are_for_the_forward_task_and_three_for_the_reversed() -> None:
    assert [one.split for one in checkpoints()] == ["in_distribution"] * 4 + [
        "out_of_distribution"
    ] * 3
    assert all(len({start.id for start in starts_of(one)}) == 36 for one in checkpoints())


def test_the_policies_spread_from_poor_to_good() -> None:
    policies = {one.id: one.policy for one in checkpoints()}
    rates = {}
    for one in checkpoints():
        starts = starts_of(one, 12)
        made = real(policies, [Episode(one.id, start) for start in starts], BENCH)
        tables = [
            run(set_table([s]), t.actions[None])[-1] for s, t in zip(starts, made, strict=True)
        ]
        ended = [outcomes(table, [start])[0] for table, start in zip(tables, starts, strict=True)]
        rates[one.id] = np.mean([done.object_placing and done.language_following for done in ended])

    assert rates[1] > 0.7 and min(rates.values()) < 0.35 and len(set(rates.values())) >= 4


def test_a_missing_policy_is_named() -> None:
    with pytest.raises(KeyError, match="Policy 3 is missing; there are 1, 2"):
        policy_of({1: checkpoints()[0].policy, 2: checkpoints()[1].policy}, 3)


@contextmanager
def served(policy: Policy) -> Iterator[str]:
    server = serve_policy(policy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/act"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_policy_behind_a_server_proposes_what_it_proposes_here() -> None:
    policy = checkpoints()[2].policy
    seen = [first_sight(start) for start in STARTS[:3]]

    with served(policy) as url:
        far = HttpPolicy(url).propose(seen)

    assert np.array_equal(far, policy.propose(seen))


class Broken:
    """Answers with too few numbers."""

    def propose(self, observations: Sequence[Observation]) -> Actions:
        return np.zeros((len(observations), CHUNK, 6), np.float32)


def test_a_server_that_answers_wrongly_or_not_at_all_is_told_apart() -> None:
    seen = [first_sight(STARTS[0])]

    with served(Broken()) as url, pytest.raises(PolicyServerError, match="7 finite numbers"):
        HttpPolicy(url).propose(seen)
    with pytest.raises(PolicyServerError, match="did not answer"):
        HttpPolicy(url, seconds=2).propose(seen)
    with pytest.raises(PolicyServerError, match="http://"):
        HttpPolicy("ftp://somewhere").propose(seen)
