"""One bad sample costs itself alone: the rest is scored, it fails after three tries, and hardly any
time is lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from evaluators.contracts import Facets, Outcome, Output, Sample
from flows.workers.confined.fault_rules import WorkerFault
from flows.workers.retry import MOST_TRIES, UNCHARGED_FAULTS, Tries, generate_with_retries
from flows.workers.specs import OutputRecord
from infra.store import Store, Unreachable, open_store

N = 400
BAD = "s217"


def samples(count: int = N) -> list[Sample]:
    return [Sample(f"s{number:03}", Facets("", "", "", "image"), "", "") for number in range(count)]


class Counting:
    """A generator that writes down what it is asked to make, and breaks at one sample."""

    def __init__(self, made: Path, kill: bool = False, times: int = 10**9) -> None:
        self.made, self.kill, self.times = made, kill, times

    def generate(self, some: Sequence[Sample]) -> Iterator[Output]:
        for sample in some:
            with self.made.open("a") as log:
                log.write(f"{sample.id}\n")
            if sample.id == BAD and self.made.read_text().count(BAD) <= self.times:
                if self.kill:
                    os.kill(os.getpid(), signal.SIGKILL)
                raise RuntimeError("this sample breaks the model")
            yield Output(sample.id, Outcome.SCORED)


def plain(output: Output) -> OutputRecord:
    return OutputRecord(output.sample_id, output.outcome, output.reason)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"))


def shards(store: Store, generator: Counting, size: int = 50) -> list[OutputRecord]:
    found: list[OutputRecord] = []
    every = samples()
    for start in range(0, N, size):
        tries = Tries(store, f"shard-{start}")
        found += generate_with_retries(
            every[start : start + size], generator.generate, plain, tries
        )
    return found


def test_of_400_one_always_fails_and_399_are_scored_with_at_most_a_tenth_more_work(
    store: Store, tmp_path: Path
) -> None:
    found = shards(store, Counting(tmp_path / "made"))

    outcomes = {record.sample_id: record.outcome for record in found}
    made = (tmp_path / "made").read_text().split()
    assert list(outcomes) == [sample.id for sample in samples()]
    assert [name for name, outcome in outcomes.items() if outcome != Outcome.SCORED] == [BAD]
    assert made.count(BAD) == MOST_TRIES
    assert len(made) <= 1.1 * N
    assert "failed 3 times (RuntimeError: this sample breaks the model)" in next(
        record.reason for record in found if record.sample_id == BAD
    )


def test_a_sample_that_kills_its_worker_is_set_aside_at_the_fourth_and_nothing_else_is_made_twice(
    store: Store, tmp_path: Path
) -> None:
    deaths = 0
    while died(store, tmp_path):
        deaths += 1

    found = shards(store, Counting(tmp_path / "made", kill=True))

    made = (tmp_path / "made").read_text().split()
    assert deaths == UNCHARGED_FAULTS + 1
    assert [record.sample_id for record in found if record.outcome != Outcome.SCORED] == [BAD]
    assert made.count(BAD) == deaths
    assert len(made) == N - 1 + deaths


def died(store: Store, tmp_path: Path, times: int = 10**9) -> bool:
    """Work in a child that the sample kills so many times; False when it came through."""
    child = os.fork()
    if child == 0:
        list(
            generate_with_retries(
                samples()[200:250],
                Counting(tmp_path / "made", True, times).generate,
                plain,
                tries_200(store),
            )
        )
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def tries_200(store: Store) -> Tries:
    return Tries(store, "shard-200")


def test_three_deaths_of_a_worker_are_told_and_leave_no_trace_in_the_result(
    store: Store, tmp_path: Path
) -> None:
    while died(store, tmp_path, UNCHARGED_FAULTS):
        pass

    found = tries_200(store).finished()
    told = tries_200(store).dead_workers()
    assert {record.outcome for record in found.values()} == {Outcome.SCORED}
    assert [(note.sample_id, note.reason) for note in told] == [
        (BAD, "the worker that made it ended")
    ] * UNCHARGED_FAULTS


def test_a_sample_that_fails_once_is_made_at_the_second_try(store: Store, tmp_path: Path) -> None:
    found = shards(store, Counting(tmp_path / "made", times=1))

    assert {record.outcome for record in found} == {Outcome.SCORED}


def test_killed_after_any_sample_the_finished_ones_are_not_made_again(
    store: Store, tmp_path: Path
) -> None:
    every, made = samples(40), 0

    class Cut(Exception):
        pass

    def cut_after(count: int) -> Any:
        def keep(output: Output) -> OutputRecord:
            nonlocal made
            made += 1
            if made % count == 0:
                raise Cut
            return plain(output)

        return keep

    def generate(some: Sequence[Sample]) -> Iterator[Output]:
        yield from (Output(sample.id, Outcome.SCORED) for sample in some)

    found: list[OutputRecord] = []
    cuts = 0
    while not found:
        try:
            found = list(
                generate_with_retries(every, generate, cut_after(7), Tries(store, "shard-cut"))
            )
        except Cut:
            cuts += 1

    assert len(found) == 40
    assert made == 40 + cuts


def test_a_store_that_fails_is_not_the_samples_fault(store: Store) -> None:
    def keep(_output: Output) -> OutputRecord:
        raise Unreachable("away")

    def generate(some: Sequence[Sample]) -> Iterator[Output]:
        yield from (Output(sample.id, Outcome.SCORED) for sample in some)

    for _ in range(2 * MOST_TRIES):
        with pytest.raises(Unreachable):
            list(generate_with_retries(samples(3), generate, keep, Tries(store, "shard-store")))
    found = list(generate_with_retries(samples(3), generate, plain, Tries(store, "shard-store")))

    assert {record.outcome for record in found} == {Outcome.SCORED}


class Losing:
    """A generator whose machine fails at one sample, so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def generate(self, some: Sequence[Sample]) -> Iterator[Output]:
        for sample in some:
            if sample.id == "s001" and self.left:
                self.left -= 1
                raise WorkerFault("the model's process was ended by SIGKILL")
            yield Output(sample.id, Outcome.SCORED)


def through_faults(store: Store, generator: Losing) -> tuple[int, list[OutputRecord]]:
    faults = 0
    while True:
        tries = Tries(store, "shard-lost")
        try:
            return faults, list(generate_with_retries(samples(3), generator.generate, plain, tries))
        except WorkerFault:
            faults += 1


def test_three_faults_of_ours_at_a_sample_leave_no_trace_in_its_result(store: Store) -> None:
    faults, found = through_faults(store, Losing(UNCHARGED_FAULTS))

    assert faults == UNCHARGED_FAULTS
    assert [record.outcome for record in found] == [Outcome.SCORED] * 3
    assert [note.sample_id for note in Tries(store, "shard-lost").faults()] == ["s001"] * 3


def test_a_sample_at_which_every_machine_fails_is_set_aside_at_the_fourth_time(
    store: Store,
) -> None:
    faults, found = through_faults(store, Losing(10**9))

    assert faults == UNCHARGED_FAULTS + 1
    assert [record.outcome for record in found] == [
        Outcome.SCORED,
        Outcome.MODEL_FAILED,
        Outcome.SCORED,
    ]
