"""What ranking and sealing one more entry costs on boards of 20, 200 and 2,000: CPU seconds and
rows touched."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np
from sqlmodel import Session, func, select

from evaluators.aggregate.columns import Column
from evaluators.aggregate.summaries import Slot, Summary
from evaluators.contracts import Facets, Metric
from evaluators.suites import tailor
from flows.publish.ranking import enter, leave, store_summary
from flows.publish.seal_chain import seal_board
from flows.run.catalogue import judge_row, load
from infra import tables
from infra.db import add_new, migrate, session
from infra.tables.standing import Standing
from tests.bench.report import Row, at_most, report, shown
from tests.standing.tiny import JUDGE

BOARDS = (20, 200, 2_000)
METRICS, TASKS, ADDRESSES, TIMES = 4, 80, 6, 3
MOST_GROWTH_TO_200, MOST_GROWTH_TO_2000 = 2.0, 5.0


def main() -> int:
    """Measure each board in a database of its own."""
    seconds = dict(zip(BOARDS, map(_seconds, BOARDS), strict=True))
    return report("publication", list(_rows(seconds)))


def _rows(seconds: dict[int, tuple[float, int]]) -> Iterator[Row]:
    for models, (cost, rows) in seconds.items():
        yield shown(f"one more entry on a board of {models}: CPU seconds", cost)
        yield shown(f"one more entry on a board of {models}: standings written", rows)
    small, middle, large = (seconds[models][0] for models in BOARDS)
    yield at_most("a board of 200 / a board of 20", middle / small, MOST_GROWTH_TO_200)
    yield at_most("a board of 2,000 / a board of 20", large / small, MOST_GROWTH_TO_2000)


def _seconds(models: int) -> tuple[float, int]:
    """The mean of three entries that come to a board of so many."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        migrate(url)
        with session(url) as db:
            load(db)
            add_new(db, tables.Judge, [judge_row(JUDGE)])
            runs = [_run(db, number) for number in range(models + TIMES)]
            _fill(db, runs[:models])
            start = process_time()
            for number, run in enumerate(runs[models:]):
                found = _summary(models + number)
                store_summary(db, tailor.SUITE, run, found)
                enter(db, tailor.SUITE, run, found)
                seal_board(db, run.board)
            cost = (process_time() - start) / TIMES
            return cost, int(db.execute(select(func.count()).select_from(Standing)).scalar_one())


def _fill(db: Session, runs: list[tables.Run]) -> None:
    """All but the first are stored at once, and ranked in one go when the first leaves and comes
    again."""
    from infra.db import put
    from infra.tables.standing import Roster

    for number, run in enumerate(runs):
        store_summary(db, tailor.SUITE, run, _summary(number))
    enter(db, tailor.SUITE, runs[0], _summary(0))
    roster = db.exec(select(Roster)).one()
    put(db, Roster, [{**roster.model_dump(), "runs": [run.id for run in runs]}])
    db.expire_all()
    leave(db, tailor.SUITE, runs[0])
    enter(db, tailor.SUITE, runs[0], _summary(0))


def _summary(number: int) -> Summary:
    random = np.random.default_rng(number)
    skill = random.normal(60, 8)
    slots = [
        Slot(m.name, Facets("*", f"address {at}", "*", "*"), TASKS)
        for at in range(ADDRESSES)
        for m in _metrics()
    ]
    columns = []
    for _ in slots:
        by_task = skill + random.normal(0, 6, TASKS)
        columns.append(
            Column(by_task.mean(), np.arange(TASKS), (by_task - by_task.mean()) / TASKS, TASKS)
        )
    return Summary("*", "bench", 1_600, tuple(slots), tuple(columns))


def _metrics() -> list[Metric]:
    return list(tailor.SUITE.metrics[:METRICS])


def _run(db: Session, number: int) -> tables.Run:
    name = f"sub-{number}"
    row = tables.Submission(
        id=name,
        team=name,
        model=name,
        organisation="",
        suite="tailor",
        suite_version="1",
        subset="full",
        kind="outputs",
        trust="B",
        state="published",
        bundle_sha256="",
        manifest={},
    )
    judge = judge_row(JUDGE)["fingerprint"]
    run = tables.Run(
        id=f"run-{number}",
        submission_id=name,
        board="bench",
        suite="tailor",
        suite_version="1",
        scorer_version="1",
        subset="full",
        judge=judge,
        state="published",
        eligible=True,
        why_not="",
    )
    add_new(db, tables.Submission, [row.model_dump()])
    add_new(db, tables.Run, [run.model_dump()])
    return run


if __name__ == "__main__":
    raise SystemExit(main())
