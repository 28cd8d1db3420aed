"""One shard of judging, away from the database: fetch the outputs from the store, ask the judge,
put its replies back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluators.contracts import Facets, Question, Request, Sample
from evaluators.judges.card import request_key
from evaluators.judges.exam.exam import request_of
from evaluators.suites import suite_named
from flows.durable.lease import check_lease
from flows.durable.progress import advance_progress
from flows.durable.shard_results import ShardResult, compute_once, inputs_sha256
from flows.workers.judges import JudgeOptions, check_card, open_judge
from flows.workers.reply_journal import judged
from flows.workers.samples import samples_of
from flows.workers.specs import ExamWork, JudgeWork, WorkerPlace
from infra.fields import fields_of
from infra.logs import about
from infra.settings import Settings
from infra.store import Store, lend_blob, open_store


def ask_judge(work: JudgeWork, place: WorkerPlace) -> ShardResult:
    """Run one shard of judging."""
    store = open_store(place.store, place.endpoint)
    inputs = {**fields_of(work), "judge": ""}
    with about(submission=place.submission):
        return compute_once(
            store, "judge", inputs_sha256("judge", inputs), lambda: _records(work, place, store)
        )


def ask_again(work: JudgeWork, place: WorkerPlace, night: str) -> ShardResult:
    """Ask the same questions again, word for word, in a night: has the judge changed?"""
    store = open_store(place.store, place.endpoint)
    inputs = {**fields_of(work), "judge": "", "night": night}
    tonight = replace(work, fingerprint=f"{work.fingerprint}-{night}")
    return compute_once(
        store, "drift", inputs_sha256("drift", inputs), lambda: _records(tonight, place, store)
    )


def ask_exam(work: ExamWork, place: WorkerPlace) -> ShardResult:
    """Ask items of an exam; what was answered in this sitting is not asked again."""
    store = open_store(place.store, place.endpoint)
    inputs = {**fields_of(work), "judge": ""}
    return compute_once(
        store, "exam", inputs_sha256("exam", inputs), lambda: _exam_records(work, place, store)
    )


def _exam_records(work: ExamWork, place: WorkerPlace, store: Store) -> Iterator[dict[str, Any]]:
    suite = suite_named(work.suite)
    exam = suite.exam
    assert exam, f"{work.suite} has no exam"
    judge = open_judge(work.judge, place.device, JudgeOptions.of(Settings(), suite.judging))
    check_card(judge, work.fingerprint)
    items = [item for item in exam.items() if item.id in set(work.item_ids)]
    journal = f"{work.fingerprint}-exam-{work.sitting}"
    Path(place.work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="exam-", dir=place.work) as folder:
        requests = [request_of(item, exam.write(item, Path(folder))) for item in items]
        keys = {
            request.sample_id: request_key(request.prompt, request.modality, request.questions)
            for request in requests
        }
        for record in judged(judge, journal, requests, keys, store):
            yield record
            advance_progress("exam")


def _records(work: JudgeWork, place: WorkerPlace, store: Store) -> Iterator[dict[str, Any]]:
    options = JudgeOptions.of(Settings(), suite_named(work.suite).judging)
    judge = open_judge(work.judge, place.device, options)
    check_card(judge, work.fingerprint)
    Path(place.work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="shard-", dir=place.work) as folder:
        samples = _samples(work, place)
        requests = [_request(sample, work, Path(folder), store) for sample in samples]
        for record in judged(judge, work.fingerprint, requests, work.asked, store):
            check_lease()
            yield record
            advance_progress("judging")


def _samples(work: JudgeWork, place: WorkerPlace) -> list[Sample]:
    """What is judged, each with its questions: samples, parts of them, or samples with the
    questions of the second look."""
    if work.items:
        return [_item(work.items[item_id]) for item_id in work.media]
    suite = suite_named(work.suite)
    samples = samples_of(suite, tuple(work.media), place.private)
    look = suite.second_look
    if not work.second:
        return samples
    assert look, f"{work.suite} has no second look"
    return [
        replace(sample, questions=look.questions(sample.facets.modality, sample.reference))
        for sample in samples
    ]


def _item(fields: Mapping[str, Any]) -> Sample:
    questions = tuple(
        Question(**{**question, "options": tuple(question["options"])})
        for question in fields["questions"]
    )
    return Sample(**{**fields, "facets": Facets(**fields["facets"]), "questions": questions})


def _request(sample: Sample, work: JudgeWork, folder: Path, store: Store) -> Request:
    sha256 = work.media[sample.id]
    path = folder / f"{sha256}{work.suffixes[sample.id]}"
    if not path.exists():
        lend_blob(store, sha256, path)
    return Request(
        sample.id,
        path,
        sha256,
        sample.facets.modality,
        sample.prompt,
        sample.questions,
        work.repeat,
    )
