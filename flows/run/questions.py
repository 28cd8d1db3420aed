"""What a judge is asked in an evaluation: one thing an output, or one a part where a suite judges
parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from evaluators.contracts import Answer, Outcome, Output, Part, Sample, Suite
from evaluators.judges.card import question_key, request_key
from infra import tables


@dataclass(frozen=True, slots=True)
class QuestionedFile:
    """Questions about one file. `item` is the sample itself, or a part of it under an id of its
    own."""

    item: Sample
    media_sha256: str
    media_type: str
    key: str


def asked_of(
    suite: Suite, sample: Sample, row: tables.Output | None, key: str = ""
) -> tuple[QuestionedFile, ...]:
    """Everything to ask about one output; nothing about one that is not there, or in a suite scored
    by rule."""
    if suite.own_judge or row is None or row.outcome != Outcome.SCORED:
        return ()
    if suite.pieces:
        return tuple(_parts(suite.pieces.parts(sample, output_of(sample, row)), sample))
    return (
        (QuestionedFile(sample, row.media_sha256, row.media_type, key or _key(sample)),)
        if sample.questions
        else ()
    )


def _parts(parts: Sequence[Part], sample: Sample) -> Iterator[QuestionedFile]:
    for part in parts:
        item = replace(
            sample,
            id=f"{sample.id}#{part.id}",
            prompt=part.prompt,
            questions=part.questions,
            reference={},
        )
        yield QuestionedFile(item, part.media_sha256, part.media_type, _key(item))


def _key(item: Sample) -> str:
    return request_key(item.prompt, item.facets.modality, item.questions)


def output_of(sample: Sample, row: tables.Output | None) -> Output:
    """A stored output as the suite sees it."""
    if row is None:
        return Output(sample.id, Outcome.OUTPUT_MISSING)
    return Output(sample.id, Outcome(row.outcome), record=row.record, reason=row.reason)


def all_asked(
    suite: Suite,
    samples: Sequence[Sample],
    rows: Mapping[str, tables.Output],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, tuple[QuestionedFile, ...]]:
    """What is asked about each sample; `keys` are the hashes of requests that are known already."""
    return {one.id: asked_of(suite, one, rows.get(one.id), keys.get(one.id, "")) for one in samples}


def answers_to(
    asked: Sequence[QuestionedFile], answered: Mapping[tuple[str, str], Answer]
) -> dict[str, Answer]:
    """The answers that are there, by the question's id."""
    found = {
        question.id: answered.get((one.media_sha256, question_key(one.key, question.id)))
        for one in asked
        for question in one.item.questions
    }
    return given_to(found)


def given_to(answers: Mapping[str, Answer | None]) -> dict[str, Answer]:
    """Of the answers to some questions those that are there, each under its question's id."""
    return {
        name: Answer(name, said.outcome, said.value, said.reason)
        for name, said in answers.items()
        if said
    }
