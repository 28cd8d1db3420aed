"""Generating sample by sample: one bad sample costs itself alone, and a dead worker's finished ones
stay done."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from evaluators.contracts import CannotProduce, Outcome, Output, Sample
from infra.db import add_new
from infra.store import Store, StoreError
from infra.tables import now
from infra.tables.operations import SetAside
from submissions.teams.lifecycle import record as tell

MOST_TRIES = 3
GIVEN_UP = "given_up_after"
Record = dict[str, Any]
Make = Callable[[Sequence[Sample]], Iterator[Output]]
Keep = Callable[[Output], Record]


@dataclass(frozen=True, slots=True)
class Tries:
    """What earlier tries at a shard left in the store: finished samples, and where each try
    began."""

    store: Store
    inputs: str

    def kept(self) -> dict[str, Record]:
        """The records of samples that are finished."""
        found = [
            json.loads(self.store.get(one.key)) for one in self.store.list(f"made/{self.inputs}/")
        ]
        return {record["sample_id"]: record for record in found}

    def keep(self, record: Record) -> None:
        """A sample is finished: nobody makes it again."""
        self.store.put(
            f"made/{self.inputs}/{record['sample_id']}.json",
            json.dumps(record, sort_keys=True).encode(),
        )

    def deaths(self, first: str) -> int:
        """How many earlier tries died in this sample, the first open one: where the next one began,
        one had died."""
        began = [
            self.store.get(one.key).decode() for one in self.store.list(f"begun/{self.inputs}/")
        ]
        return sum(sample == first for sample in [*began[1:], first]) if began else 0

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


def one_by_one(samples: Sequence[Sample], make: Make, keep: Keep, tries: Tries) -> Iterator[Record]:
    """Every sample's record, in order; one that ends three tries, by an error or with its worker,
    is set aside."""
    done = tries.kept()
    if len(done) < len(samples):
        first = _first(samples, done)
        failed = Counter({first: tries.deaths(first)})
        with tries.begun(first):
            _make_rest(samples, make, keep, tries, done, failed)
    yield from (done[sample.id] for sample in samples)


def _make_rest(
    samples: Sequence[Sample],
    make: Make,
    keep: Keep,
    tries: Tries,
    done: dict[str, Record],
    failed: Counter[str],
) -> None:
    why = "its worker died"
    while len(done) < len(samples):
        first = _first(samples, done)
        if failed[first] >= MOST_TRIES:
            done[first] = _set_aside(first, failed[first], why)
            tries.keep(done[first])
            continue
        outputs = make([sample for sample in samples if sample.id not in done])
        while (output := _next(outputs)) is not None:
            if isinstance(output, Exception):
                why = f"{type(output).__name__}: {str(output)[:200]}"
                failed[_first(samples, done)] += 1
                break
            done[output.sample_id] = keep(output)
            tries.keep(done[output.sample_id])


def _next(outputs: Iterator[Output]) -> Output | Exception | None:
    """The next output, what broke instead of it, or None at the end."""
    try:
        return next(outputs, None)
    except CannotProduce:
        raise
    except Exception as error:
        return error


def _first(samples: Sequence[Sample], done: Mapping[str, Record]) -> str:
    return next(sample.id for sample in samples if sample.id not in done)


def _set_aside(sample_id: str, tries: int, why: str) -> Record:
    reason = (
        f"Making this output failed {tries} times ({why}), so it was set aside and the rest went "
        "on."
    )
    return {
        "sample_id": sample_id,
        "outcome": Outcome.MODEL_FAILED,
        "reason": reason,
        "media_sha256": "",
        "size": 0,
        "media_type": "",
        "record": {GIVEN_UP: tries},
    }


def note_set_aside(db: Session, submission_id: str, records: Iterable[Record]) -> None:
    """Say in rows and in the timeline which samples were given up."""
    for one in records:
        if GIVEN_UP in one["record"]:
            row = {
                "owner": submission_id,
                "stage": "outputs",
                "sample_id": one["sample_id"],
                "at": now(),
            }
            add_new(
                db, SetAside, [{**row, "tries": one["record"][GIVEN_UP], "reason": one["reason"]}]
            )
            tell(db, submission_id, "set_aside", f"{one['sample_id']}: {one['reason']}")
