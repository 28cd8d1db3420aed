"""How often a judge changes its mind: it is asked again about a few outputs, and the rate goes onto
its card."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.judges.repeats import FlipRate, Repeated, flip_rate
from evaluators.statistics.raters import shared
from flows.durable.progress import start_progress
from flows.durable.shard_results import records_of
from flows.evaluate.judge import judge_work
from flows.evaluate.score import compute
from flows.publish.publish import republish
from flows.run.answers import answers_to
from flows.run.case import EvaluationCase, Stopped, open_case
from flows.run.output_rows import outputs_of
from flows.run.questions import QuestionedFile, output_of, questioned_files
from flows.run.verdict_rows import store_verdicts, verdicts_of
from flows.workers.executor import cut
from flows.workers.judging import ask_judge
from infra import tables
from infra.db import put, session
from infra.settings import Settings
from infra.tables import standing


@dataclass(frozen=True, slots=True)
class MeasuredFlipRate:
    """The measured rate, and how it was measured."""

    rate: FlipRate
    outputs: int
    times: int
    seed: int

    def as_card(self) -> dict[str, Any]:
        """What the judge's card says of it."""
        interval = self.rate.interval
        return {
            "flip_rate": self.rate.value,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "questions": self.rate.n_questions,
            "outputs": self.outputs,
            "times": self.times,
            "seed": self.seed,
        }


def measure(
    settings: Settings, submission_id: str, times: int, outputs: int, seed: int
) -> MeasuredFlipRate:
    """Ask the judge of a published submission again; the flip rate goes onto its card, what was
    asked stays asked."""
    case = open_case(settings, submission_id)
    chosen = _chosen(case, outputs, seed)
    start_progress("judging", len(chosen) * (times - 1))
    for repeat in range(1, times):
        _ask(case, chosen, repeat)
    noise = MeasuredFlipRate(flip_rate(_repeated(case, chosen, times)), len(chosen), times, seed)
    with session(settings.database) as db:
        row = db.get(tables.Judge, case.run.judge)
        assert row is not None
        put(
            db, tables.Judge, [{**row.model_dump(), "card": {**row.card, "noise": noise.as_card()}}]
        )
        put(db, standing.Noise, list(_shared(case, chosen, times)))
    computed = compute(case)
    with session(settings.database) as db:
        republish(db, case, computed.scores, computed.cells, computed.bounds)
    return noise


def _shared(case: EvaluationCase, chosen: list[str], times: int) -> Iterator[dict[str, Any]]:
    """What asking again moves each metric's mean by, for all outputs at once."""
    assert case.suite.scoring is not None
    samples = {sample.id: sample for sample in case.samples}
    with session(case.settings.database) as db:
        rows = outputs_of(db, case.submission.id)
        files_by_sample = questioned_files(
            case.suite, [samples[name] for name in chosen], rows, case.requests
        )
        media = [file.media_sha256 for files in files_by_sample.values() for file in files]
        answers = [verdicts_of(db, case.run.judge, media, repeat) for repeat in range(times)]
    values: dict[str, list[list[float]]] = {}
    for name in chosen:
        output = output_of(samples[name], rows[name])
        scored = [
            case.suite.scoring.score(
                samples[name], output, answers_to(files_by_sample[name], verdicts)
            )
            for verdicts in answers
        ]
        for repeats in zip(*scored, strict=True):
            row = [np.nan if score.value is None else score.value for score in repeats]
            values.setdefault(repeats[0].metric, []).append(row)
    for metric, table in values.items():
        if spread := shared(np.array(table, np.float64)):
            measured = {
                "error": spread.error,
                "outputs": spread.outputs,
                "times": spread.times,
                "at": tables.now(),
            }
            yield {"run_id": case.run.id, "metric": metric, "source": "judge", **measured}


def _chosen(case: EvaluationCase, outputs: int, seed: int) -> list[str]:
    """A seeded draw from the outputs that have been judged."""
    if case.run.state != "published":
        raise Stopped(
            "E_NOTHING",
            "submitter",
            f"{case.submission.id} is not published under this judge. Evaluate it first.",
        )
    with session(case.settings.database) as db:
        rows = outputs_of(db, case.submission.id)
    sample_ids = [sample.id for sample in case.samples if rows[sample.id].media_sha256]
    return sorted(random.Random(seed).sample(sample_ids, min(outputs, len(sample_ids))))  # noqa: S311


def _ask(case: EvaluationCase, chosen: list[str], repeat: int) -> None:
    questioned = _asked(case, chosen)
    with session(case.settings.database) as db:
        answered = verdicts_of(
            db, case.run.judge, [file.media_sha256 for file in questioned], repeat
        )
    answered_media = {media for media, _ in answered}
    todo = [file for file in questioned if file.media_sha256 not in answered_media]
    for piece in cut(todo, case.settings.shard_size):
        shard = ask_judge(judge_work(case, piece, repeat), case.place)
        files = {file.item.id: file for file in piece}
        with session(case.settings.database) as db:
            store_verdicts(db, case.run, shard, records_of(case.store, shard), files, repeat)


def _repeated(case: EvaluationCase, chosen: list[str], times: int) -> list[Repeated]:
    questioned = _asked(case, chosen)
    with session(case.settings.database) as db:
        media = [file.media_sha256 for file in questioned]
        answers = [verdicts_of(db, case.run.judge, media, repeat) for repeat in range(times)]
    repeated = []
    for file in questioned:
        for question in file.item.questions:
            key = (file.media_sha256, file.question_keys[question.id])
            repeated.append(
                Repeated(
                    file.item.id,
                    question.id,
                    tuple(verdicts[key] for verdicts in answers if key in verdicts),
                )
            )
    return repeated


def _asked(case: EvaluationCase, chosen: list[str]) -> list[QuestionedFile]:
    with session(case.settings.database) as db:
        rows = outputs_of(db, case.submission.id)
    samples = [sample for sample in case.samples if sample.id in set(chosen)]
    return [
        file
        for files in questioned_files(case.suite, samples, rows, case.requests).values()
        for file in files
    ]
