"""What travels to a worker and comes back from it: shards of work, where to do them, and the record
of one output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluators.contracts import Outcome


@dataclass(frozen=True, slots=True)
class WorkerPlace:
    """Where a worker finds objects and may keep files, and the submission that its log lines are
    about."""

    store: str
    endpoint: str | None
    work: str
    device: str
    shelf: str = ""
    private: str = ""
    submission: str = ""


@dataclass(frozen=True, slots=True)
class OutputsWork:
    """Make or take over the outputs of some samples. `files` maps a handed-in sample to its member
    in the bundle.

    `endpoint` names the model behind an API, if there is one. A `yardstick` is a row of our own
    beside the ranking.
    """

    suite: str
    sample_ids: tuple[str, ...]
    kind: str
    bundle_sha256: str
    sampling: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    media: dict[str, dict[str, Any]] = field(default_factory=dict)
    endpoint: dict[str, str] = field(default_factory=dict)
    steps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    agent: str = ""
    yardstick: bool = False


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """Judge some outputs. `media` maps a sample to its file's hash, `asked` to the hash of what is
    asked about it.

    `second` is the second look: the suite's questions about what went wrong instead of the sample's
    own. Where parts of outputs are judged, `items` holds each as a sample of its own.
    """

    suite: str
    judge: str
    fingerprint: str
    media: dict[str, str]
    suffixes: dict[str, str]
    asked: dict[str, str]
    repeat: int = 0
    second: bool = False
    items: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExamWork:
    """Ask a judge some items of a suite's exam; `sitting` is the first one, or a night."""

    suite: str
    judge: str
    fingerprint: str
    items_sha256: str
    item_ids: tuple[str, ...]
    sitting: str


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """What is stored of one output: its outcome, its file, and what was found in the file."""

    sample_id: str
    outcome: Outcome
    reason: str = ""
    media_sha256: str = ""
    size: int = 0
    media_type: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The record as it is written into a shard's result and into a row."""
        return {
            "sample_id": self.sample_id,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "media_sha256": self.media_sha256,
            "size": self.size,
            "media_type": self.media_type,
            "record": dict(self.record),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> OutputRecord:
        """A record that was read from a shard's result."""
        return cls(**{**fields, "outcome": Outcome(fields["outcome"])})
