"""Generating sample by sample: one bad sample costs itself alone, and a dead worker's finished ones
stay done."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Literal

from evaluators.contracts import CannotProduce, Outcome, Output, Sample
from flows.durable.lease import LeaseLost
from flows.workers.confined.fault_rules import (
    GivenBack,
    MachineFault,
    OutOfTime,
    TooSlow,
    WorkerFault,
)
from flows.workers.specs import OutputRecord
from infra.store import Store, StoreError

MOST_TRIES = 3
UNCHARGED_FAULTS = 3
"""So often a process may die at a sample before the model pays for it, and so often a machine may
be too small before the submission is given back."""
MOST_TOO_SLOW = 2
"""So often our time limit, twice as long each time, may end a sample before that."""
FaultKind = Literal["", "machine", "time"]
GIVEN_UP = "given_up_after"
Generate = Callable[[Sequence[Sample]], Iterator[Output]]
StoreOutput = Callable[[Output], OutputRecord]


@dataclass(frozen=True, slots=True)
class FaultNote:
    """A fault of ours at a sample, what it was, and of which kind; only a process that died, which
    has none, is ever the model's to pay."""

    sample_id: str
    reason: str
    kind: FaultKind = ""


@dataclass(frozen=True, slots=True)
class Tries:
    """What earlier tries at a shard left in the store: finished samples, and where each try
    began."""

    store: Store
    inputs: str

    def finished(self) -> dict[str, OutputRecord]:
        """The records of samples that are finished, by sample."""
        stored = (self.store.get(entry.key) for entry in self.store.list(f"made/{self.inputs}/"))
        records = [OutputRecord.from_json(json.loads(text)) for text in stored]
        return {record.sample_id: record for record in records}

    def finish(self, record: OutputRecord) -> None:
        """Store the record of a finished sample, so that it is not made again."""
        self.store.put(
            f"made/{self.inputs}/{record.sample_id}.json",
            json.dumps(record.as_json(), sort_keys=True).encode(),
        )

    def deaths(self, first: str) -> int:
        """How many earlier tries died in this sample, the first open one: where the next one began,
        one had died."""
        began = self._began()
        return sum(sample == first for sample in [*began[1:], first]) if began else 0

    def dead_workers(self) -> list[FaultNote]:
        """The tries before the last that ended with the worker, in their order, each at the sample
        where the next one began."""
        return [FaultNote(sample, "the worker that made it ended") for sample in self._began()[1:]]

    def _began(self) -> list[str]:
        """Where the tries began that left their note, which are those that died and the last."""
        entries = self.store.list(f"begun/{self.inputs}/")
        return [self.store.get(entry.key).decode() for entry in entries]

    def faults(self) -> list[FaultNote]:
        """The faults of ours that ended tries at this shard, in their order."""
        notes = (self.store.get(entry.key) for entry in self.store.list(f"died/{self.inputs}/"))
        return [FaultNote(**json.loads(text)) for text in notes]

    def note_fault(self, fault: FaultNote) -> None:
        """Store a fault of ours, so that whoever tries next counts it."""
        self.store.put(
            f"died/{self.inputs}/{time.time_ns():020}",
            json.dumps(asdict(fault), sort_keys=True).encode(),
        )

    def timeouts(self) -> int:
        """How often our time limit ended a try at this shard."""
        return sum(fault.kind == "time" for fault in self.faults())

    def forget_faults(self) -> None:
        """Whoever evaluates it again begins with a clean slate."""
        for entry in list(self.store.list(f"died/{self.inputs}/")):
            self.store.delete(entry.key)

    @contextmanager
    def begun(self, first: str) -> Iterator[None]:
        """Note a try that begins at this sample; only one that dies leaves the note behind."""
        note = f"begun/{self.inputs}/{time.time_ns():020}"
        self.store.put(note, first.encode())
        try:
            yield
        except BaseException:
            with suppress(StoreError):
                self.store.delete(note)
            raise


def generate_with_retries(
    samples: Sequence[Sample], generate: Generate, store_output: StoreOutput, tries: Tries
) -> Iterator[OutputRecord]:
    """Every sample's record, in order. A sample is set aside after three errors of the model; a
    fault of ours is noted and raised as WorkerFault. A process that dies costs the model its fourth
    time; a machine that is too small or too slow gives the submission back."""
    finished = tries.finished()
    if len(finished) < len(samples):
        first = _first_open(samples, finished)
        noted = tries.faults()
        _give_back_if_hopeless(noted, tries)
        faults = Counter(fault.sample_id for fault in noted if not fault.kind)
        faults[first] += tries.deaths(first)
        with tries.begun(first):
            _generate_missing(samples, generate, store_output, tries, finished, faults)
    yield from (finished[sample.id] for sample in samples)


def _generate_missing(
    samples: Sequence[Sample],
    generate: Generate,
    store_output: StoreOutput,
    tries: Tries,
    finished: dict[str, OutputRecord],
    faults: Counter[str],
) -> None:
    failures, why = Counter[str](), ""
    while len(finished) < len(samples):
        first = _first_open(samples, finished)
        if failures[first] >= MOST_TRIES or faults[first] > UNCHARGED_FAULTS:
            tried = failures[first] or faults[first]
            finished[first] = _set_aside(first, tried, why or "its worker died")
            tries.finish(finished[first])
            continue
        outputs = generate([sample for sample in samples if sample.id not in finished])
        while (output := _next(outputs)) is not None:
            if isinstance(output, WorkerFault):
                at = _first_open(samples, finished)
                tries.note_fault(FaultNote(at, str(output), _kind(output)))
                raise output
            if isinstance(output, Exception):
                why = f"{type(output).__name__}: {str(output)[:200]}"
                failures[_first_open(samples, finished)] += 1
                break
            finished[output.sample_id] = store_output(output)
            tries.finish(finished[output.sample_id])


def _give_back_if_hopeless(noted: Sequence[FaultNote], tries: Tries) -> None:
    """Machines that failed a sample as often as we try are told to the operator."""
    counts = Counter((fault.sample_id, fault.kind) for fault in noted)
    for fault in reversed(noted):
        most = {"": None, "machine": UNCHARGED_FAULTS, "time": MOST_TOO_SLOW}[fault.kind]
        if most is not None and counts[fault.sample_id, fault.kind] > most:
            tries.forget_faults()
            raise (TooSlow if fault.kind == "time" else GivenBack)(
                f"No machine of ours could make an output of this model: {fault.reason}. It was "
                f"tried {most + 1} times, and nothing of it is scored. With a larger machine or a "
                "longer ARMILLARY_SAMPLE_SECONDS an operator can evaluate it again."
            )


def _kind(fault: WorkerFault) -> FaultKind:
    if isinstance(fault, OutOfTime):
        return "time"
    return "machine" if isinstance(fault, MachineFault) else ""


def _next(outputs: Iterator[Output]) -> Output | Exception | None:
    """The next output, the error that was raised instead of it, or None at the end."""
    try:
        return next(outputs, None)
    except (CannotProduce, LeaseLost):
        raise
    except Exception as error:
        return error


def _first_open(samples: Sequence[Sample], finished: Mapping[str, OutputRecord]) -> str:
    return next(sample.id for sample in samples if sample.id not in finished)


def _set_aside(sample_id: str, tries: int, why: str) -> OutputRecord:
    reason = (
        f"Making this output failed {tries} times ({why}), so it was set aside and the rest went "
        "on."
    )
    return OutputRecord(sample_id, Outcome.MODEL_FAILED, reason, record={GIVEN_UP: tries})
