"""Each sample with what was given for it and what its judge answered, from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlmodel import Session

from evaluators.contracts import Answer, Sample, Suite
from flows.run.questions import all_asked, answers_to
from flows.run.tables_io import outputs_of, verdicts_of
from infra import tables


@dataclass(frozen=True, slots=True)
class Answered:
    """One sample, its output if there is one, and the answers there are, by question."""

    sample: Sample
    row: tables.Output | None
    answers: Mapping[str, Answer]


def answered(
    db: Session,
    suite: Suite,
    run: tables.Run,
    samples: Sequence[Sample],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Answered]:
    """Every sample in its order; `keys` are the hashes of what was asked, where they are known."""
    rows = outputs_of(db, run.submission_id)
    asked = all_asked(suite, samples, rows, keys)
    given = verdicts_of(
        db, run.judge, [one.media_sha256 for every in asked.values() for one in every]
    )
    for sample in samples:
        yield Answered(sample, rows.get(sample.id), answers_to(asked[sample.id], given))
