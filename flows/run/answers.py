"""Each sample with its output and what its judge answered, from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sqlmodel import Session

from evaluators.contracts import Answer, Sample, Suite
from flows.run.output_rows import outputs_of
from flows.run.questions import QuestionedFile, questioned_files
from flows.run.verdict_rows import verdicts_of
from infra import tables

Files = Mapping[str, Sequence[QuestionedFile]]
"""The files that a judge was asked about, by sample."""


@dataclass(frozen=True, slots=True)
class AnsweredSample:
    """One sample, its output if there is one, and the answers about it, by question."""

    sample: Sample
    row: tables.Output | None
    answers: Mapping[str, Answer]


def load_answers(
    db: Session,
    suite: Suite,
    run: tables.Run,
    samples: Sequence[Sample],
    keys: Mapping[str, str] = MappingProxyType({}),
) -> list[AnsweredSample]:
    """Every sample in its order; `keys` are the hashes of what was asked, where they are computed
    already."""
    rows = outputs_of(db, run.submission_id)
    files = questioned_files(suite, samples, rows, keys)
    return answers_about(db, run.judge, samples, rows, files)


def answers_about(
    db: Session,
    judge: str,
    samples: Sequence[Sample],
    rows: Mapping[str, tables.Output],
    files: Files,
) -> list[AnsweredSample]:
    """Every sample in its order, with what this judge answered about its files."""
    media = [file.media_sha256 for of_sample in files.values() for file in of_sample]
    verdicts = verdicts_of(db, judge, media)
    return [
        AnsweredSample(sample, rows.get(sample.id), answers_to(files[sample.id], verdicts))
        for sample in samples
    ]


def answers_to(
    files: Sequence[QuestionedFile], verdicts: Mapping[tuple[str, str], Answer]
) -> dict[str, Answer]:
    """The answers that are stored, each under its question's id."""
    answers = {
        question_id: verdicts.get((file.media_sha256, key))
        for file in files
        for question_id, key in file.question_keys.items()
    }
    return {
        question_id: Answer(question_id, answer.outcome, answer.value, answer.reason)
        for question_id, answer in answers.items()
        if answer
    }
