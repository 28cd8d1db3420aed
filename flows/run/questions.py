"""What a judge is asked in an evaluation: questions about each output, or about each part of it
where a suite judges parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evaluators.contracts import Outcome, Output, Part, Sample, Suite
from evaluators.judges.card import request_key
from infra import tables
from infra.tables.results import question_key


@dataclass(frozen=True, slots=True)
class QuestionedFile:
    """Questions about one file. `item` is the sample itself, or a part of it under an id of its
    own.

    `key` is the hash of all that is asked; `question_keys` is that of each question, by its id.
    """

    item: Sample
    media_sha256: str
    media_type: str
    key: str
    question_keys: Mapping[str, str]


def questioned_file(
    item: Sample, media_sha256: str, media_type: str, key: str = ""
) -> QuestionedFile:
    """A file with its questions and their keys; `key` is the hash of the request, where it is
    computed already."""
    key = key or request_key(item.prompt, item.facets.modality, item.questions)
    question_keys = {question.id: question_key(key, question.id) for question in item.questions}
    return QuestionedFile(item, media_sha256, media_type, key, question_keys)


def questioned_files(
    suite: Suite,
    samples: Sequence[Sample],
    rows: Mapping[str, tables.Output],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, tuple[QuestionedFile, ...]]:
    """What is asked about each sample; `keys` are the hashes of requests that are computed
    already."""
    return {
        sample.id: _files_of(suite, sample, rows.get(sample.id), keys.get(sample.id, ""))
        for sample in samples
    }


def _files_of(
    suite: Suite, sample: Sample, row: tables.Output | None, key: str
) -> tuple[QuestionedFile, ...]:
    """Nothing is asked about an output that is missing, or in a suite scored by rule."""
    if suite.own_judge or row is None or row.outcome != Outcome.SCORED:
        return ()
    if suite.pieces:
        return tuple(_parts(suite.pieces.parts(sample, output_of(sample, row)), sample))
    if not sample.questions:
        return ()
    return (questioned_file(sample, row.media_sha256, row.media_type, key),)


def _parts(parts: Sequence[Part], sample: Sample) -> Iterator[QuestionedFile]:
    for part in parts:
        item = replace(
            sample,
            id=f"{sample.id}#{part.id}",
            prompt=part.prompt,
            questions=part.questions,
            reference={},
        )
        yield questioned_file(item, part.media_sha256, part.media_type)


def output_of(sample: Sample, row: tables.Output | None) -> Output:
    """A stored output as the suite sees it."""
    if row is None:
        return Output(sample.id, Outcome.OUTPUT_MISSING)
    return Output(sample.id, Outcome(row.outcome), record=row.record, reason=row.reason)
