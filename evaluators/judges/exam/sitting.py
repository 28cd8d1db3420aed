"""A judge sits an exam: the media are drawn a shard at a time, asked about, and thrown away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluators.contracts import Judge
from evaluators.judges.exam.competence import Mark, marks
from evaluators.judges.exam.exam import Exam, ExamItem, request_of, shards


def sit(
    exam: Exam, judge: Judge, work: Path | None = None, items: Sequence[ExamItem] | None = None
) -> tuple[Mark, ...]:
    """Ask a judge all items of an exam, or only these; `work` is where media lie meanwhile."""
    marked: list[Mark] = []
    for shard in shards(exam.items() if items is None else items):
        with TemporaryDirectory(prefix="exam-", dir=work) as folder:
            requests = [request_of(item, exam.write(item, Path(folder))) for item in shard]
            marked += marks(shard, judge.judge(requests))
    return tuple(marked)
