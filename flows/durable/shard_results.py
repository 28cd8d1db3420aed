"""Shards of work and their results: one immutable object in the store for each, found again by the
hash of its inputs."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.logs import about
from infra.store import Store

log = logging.getLogger("armillary")


@dataclass(frozen=True, slots=True)
class ShardResult:
    """A finished shard: where its records lie and what they hash to."""

    inputs_sha256: str
    key: str
    sha256: str
    items: int
    seconds: float
    fresh: bool


def inputs_sha256(stage: str, inputs: Mapping[str, Any]) -> str:
    """The identity of a piece of work: its stage and everything that goes in."""
    return hashlib.sha256(json.dumps([stage, inputs], sort_keys=True).encode()).hexdigest()


def compute_once(
    store: Store, stage: str, inputs: str, records: Callable[[], Iterable[Mapping[str, Any]]]
) -> ShardResult:
    """Return the stored result of this work, or do it and store it.

    The key holds the hash of the inputs and of the records, so an object never changes; of two
    results for the same inputs the first by name counts, and the row in the database decides.
    """
    prefix = f"shards/{stage}/{inputs}/"
    for stored in store.list(prefix):
        data = store.get(stored.key)
        return ShardResult(
            inputs,
            stored.key,
            hashlib.sha256(data).hexdigest(),
            data.count(b"\n"),
            0.0,
            fresh=False,
        )
    start = time.monotonic()
    with about(stage=stage, shard=inputs[:12]):
        log.info("begins")
        data = b"".join(json.dumps(record, sort_keys=True).encode() + b"\n" for record in records())
        log.info("%d items made", data.count(b"\n"))
    sha256 = hashlib.sha256(data).hexdigest()
    key = f"{prefix}{sha256}.jsonl"
    store.put(key, data)
    return ShardResult(inputs, key, sha256, data.count(b"\n"), time.monotonic() - start, fresh=True)


def records_of(store: Store, shard: ShardResult) -> list[dict[str, Any]]:
    """A shard's records, checked against their hash."""
    data = store.get(shard.key)
    if hashlib.sha256(data).hexdigest() != shard.sha256:
        raise ValueError(
            f"The shard {shard.key} is not what it was. Restore it from a backup, or delete it and "
            "evaluate again."
        )
    return [json.loads(line) for line in data.splitlines()]
