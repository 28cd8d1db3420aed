"""The judging step: the judge is asked about every output that it has not answered for yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.contracts import OUR_FAILURES, Answer, SecondLook
from flows.durable.progress import start_progress
from flows.evaluate.outputs import OutputRows, shard_task
from flows.run.answers import Files
from flows.run.board_keys import sample_fields
from flows.run.case import EvaluationCase
from flows.run.questions import QuestionedFile, questioned_file, questioned_files
from flows.run.verdict_rows import reply_key, store_verdicts, stored_replies, verdicts_of
from flows.workers import judging
from flows.workers.executor import cut, run_shards
from flows.workers.specs import JudgeWork
from infra.db import session

ask_judge = shard_task(judging.ask_judge)
Verdicts = Mapping[tuple[str, str], Answer]
"""A judge's answers by file and question key."""
SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "video/mp4": ".mp4",
    "video/webm": ".webm",
    "text/plain": ".txt",
    "application/json": ".json",
    "application/x-npz": ".npz",
}


@dataclass(frozen=True, slots=True)
class PlannedJudging:
    """What the judge is asked about each sample, and the shards of it without an answer."""

    files: Files
    shards: tuple[tuple[QuestionedFile, ...], ...]


@dataclass(frozen=True, slots=True)
class PlannedSecondLook:
    """Files with the questions of the second look, and the verdicts that are stored about them, by
    file and question key."""

    files: tuple[QuestionedFile, ...]
    verdicts: Verdicts

    def missing(self) -> list[QuestionedFile]:
        """Those with a question that has no answer, or only a failure of the judge's."""
        return [file for file in self.files if not _is_judged(file, self.verdicts)]


@dataclass(frozen=True, slots=True)
class Asked:
    """The records of what was just judged, and how many of them were new to the store."""

    records: Sequence[Mapping[str, Any]]
    judged: int


def plan_judging(case: EvaluationCase, outputs: OutputRows) -> PlannedJudging:
    """See what is to be asked and which answers are missing; shards are cut by the samples, always
    in the same places."""
    files = questioned_files(case.suite, case.samples, outputs)
    media = [file.media_sha256 for of_sample in files.values() for file in of_sample]
    with session(case.settings.database) as db:
        verdicts = verdicts_of(db, case.run.judge, media)
    shards = (
        tuple(
            file for sample in piece for file in files[sample.id] if not _is_judged(file, verdicts)
        )
        for piece in cut(case.samples, case.judged_at_once or case.settings.shard_size)
    )
    return PlannedJudging(files, tuple(shard for shard in shards if shard))


def ask(case: EvaluationCase, planned: PlannedJudging) -> int:
    """Ask the judge for the missing answers and store them; return how many files were judged."""
    works = [judge_work(case, shard) for shard in planned.shards]
    files = {file.item.id: file for shard in planned.shards for file in shard}
    return _run(case, works, files, "judge", "judging").judged


def plan_second_look(
    case: EvaluationCase, look: SecondLook, sample_ids: Collection[str], outputs: OutputRows
) -> PlannedSecondLook:
    """What is asked in the second look at these samples, and which of it is answered."""
    files = tuple(
        questioned_file(
            replace(sample, questions=look.questions(sample.facets.modality, sample.reference)),
            outputs[sample.id].media_sha256,
            outputs[sample.id].media_type,
        )
        for sample in case.samples
        if sample.id in sample_ids
    )
    judge = case.run.judge
    media_by_reply = {
        reply_key(judge, file.media_sha256, file.key): file.media_sha256 for file in files
    }
    with session(case.settings.database) as db:
        replies = stored_replies(db, list(media_by_reply))
        verdicts = verdicts_of(db, judge, [media_by_reply[reply] for reply in replies])
    return PlannedSecondLook(files, verdicts)


def ask_second_look(case: EvaluationCase, files: Sequence[QuestionedFile]) -> Asked:
    """Ask the judge what went wrong in these files, store its verdicts, and return what it said."""
    shards = cut(files, case.settings.shard_size)
    works = [replace(judge_work(case, shard), second=True) for shard in shards]
    files_by_item = {file.item.id: file for file in files}
    return _run(case, works, files_by_item, "second look", "second look")


def _run(
    case: EvaluationCase,
    works: Sequence[JudgeWork],
    files: Mapping[str, QuestionedFile],
    stage: str,
    progress: str,
) -> Asked:
    """Run shards of judging and store their verdicts, one transaction a shard."""
    start_progress(progress, sum(len(work.media) for work in works))
    judged, records = 0, list[Mapping[str, Any]]()
    where = case.place, case.store
    for shard, answers in run_shards(ask_judge, works, *where, "judge", progress):
        with session(case.settings.database) as db:
            store_verdicts(db, case.run, shard, answers, files, stage=stage)
        records += answers
        judged += shard.items * shard.fresh
    return Asked(records, judged)


def judge_work(case: EvaluationCase, files: Sequence[QuestionedFile], repeat: int = 0) -> JudgeWork:
    """A shard of judging: these files are asked about for the first time or again."""
    return JudgeWork(
        suite=case.suite.name,
        judge=case.settings.judge,
        fingerprint=case.run.judge,
        media={file.item.id: file.media_sha256 for file in files},
        suffixes={file.item.id: SUFFIXES[file.media_type] for file in files},
        asked={file.item.id: file.key for file in files},
        repeat=repeat,
        items={file.item.id: sample_fields(file.item) for file in files}
        if case.suite.pieces
        else {},
    )


def _is_judged(file: QuestionedFile, verdicts: Verdicts) -> bool:
    """Say whether every question has an answer that is not a failure of the judge's."""
    answers = (verdicts.get((file.media_sha256, key)) for key in file.question_keys.values())
    return all(answer and answer.outcome not in OUR_FAILURES for answer in answers)
