"""Rows for the board's bench: the real catalogue and made-up runs of TailOR, 28,800 scores and all
cells each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sqlmodel import Session

from evaluators.aggregate import cells as evaluators_cells
from evaluators.contracts import Cell, JudgeCard, Outcome, Score
from evaluators.judges.card import fingerprint
from evaluators.suites import suite_named
from flows.run.catalogue import judge_row, load
from flows.run.score_rows import cell_row
from infra import tables
from infra.db import add_new, engine, migrate, session
from infra.tables.board import Declared
from infra.tables.standing import AttemptRow, Roster, Standing
from leaderboard.cache import on_publish
from tests.boards import seen_by

METRICS = 18
CARD = JudgeCard("Dice judge", "auto", "dice", "1", "", "greedy", "8 uniform", "", "1")
SCORE = ("run_id", "sample_id", "metric", "outcome", "value", "detail")
Values = tuple[Any, ...]


def prepare(url: str) -> None:
    """Tables, catalogue, judge."""
    migrate(url)
    with session(url) as db:
        load(db)
        add_new(db, tables.Judge, [judge_row(CARD)])


def run_id(number: int) -> str:
    """The name of a run."""
    return f"run-{number:05d}"


def enter(db: Session, number: int) -> None:
    """One published submission with its run; scores and cells are still to come."""
    suite = suite_named("tailor")
    files = [{"sample": sample, "path": f"outputs/{sample}.mp4"} for sample in _samples()]
    manifest = {"model": {"open_weights": number % 2 == 0}, "files": files}
    facts: dict[str, Any] = {"suite_version": suite.version, "subset": "full", "state": "published"}
    names: dict[str, Any] = {"team": f"team {number % 40}", "model": f"Model {number}"}
    row = tables.Submission(
        id=f"sub-{number:05d}",
        suite="tailor",
        kind="outputs",
        trust="B",
        organisation="Lab",
        bundle_sha256="0" * 64,
        manifest=manifest,
        **names,
        **facts,
    )
    run = tables.Run(
        id=run_id(number),
        submission_id=row.id,
        board="bench",
        suite="tailor",
        scorer_version=suite.scorer_version,
        judge=fingerprint(CARD),
        eligible=True,
        published_at=tables.now(),
        n_scored=1600,
        n_expected=1600,
        **facts,
    )
    add_new(db, tables.Submission, [row.model_dump()])
    add_new(db, tables.Run, [run.model_dump()])
    seen_by(db, run.board, run.judge)
    add_new(db, Declared, [on_publish.declared(row)])


def scores(number: int) -> list[Score]:
    """A run's scores, seeded by its number."""
    return [
        Score(sample, metric, Outcome.SCORED, value)
        for _, sample, metric, _, value, _ in score_values(number)
    ]


def score_values(number: int) -> Iterator[Values]:
    """The same scores as the database keeps them."""
    values = np.random.default_rng(number).random(len(_samples()) * METRICS).round(6).tolist()
    names = [(sample, f"metric_{column:02d}") for sample in _samples() for column in range(METRICS)]
    for (sample, metric), value in zip(names, values, strict=True):
        yield run_id(number), sample, metric, "scored", value, "{}"


@cache
def _samples() -> tuple[str, ...]:
    return tuple(sample.id for sample in suite_named("tailor").samples())


def cells(number: int) -> list[Cell]:
    """A run's cells: the addresses that a full run of TailOR has, with values around one skill."""
    dice = np.random.default_rng(number)
    values = dice.normal(dice.normal(50, 10), 5, len(_pattern())).tolist()
    return [
        replace(one, value=value, low=value - 3, high=value + 3)
        for one, value in zip(_pattern(), values, strict=True)
    ]


@cache
def _pattern() -> tuple[Cell, ...]:
    suite = suite_named("tailor")
    metrics = [metric for metric in suite.metrics if not metric.name.endswith("_gap")]
    samples = suite.samples()
    perfect = [
        Score(one.id, metric.name, Outcome.SCORED, metric.best)
        for one in samples
        for metric in metrics
    ]
    return evaluators_cells.cells(metrics, samples, perfect, resamples=0)


def fill(url: str, numbers: range) -> None:
    """Write whole runs as fast as the database takes them; this is not what is measured."""
    with session(url) as db:
        for number in numbers:
            enter(db, number)
    with closing(engine(url).raw_connection()) as connection:
        cursor = connection.cursor()
        _haste(cursor, "OFF")
        for number in numbers:
            insert(cursor, "score", SCORE, score_values(number))
            rows = [cell_row(run_id(number), cell) for cell in cells(number)]
            insert(cursor, "cell", tuple(rows[0]), (tuple(row.values()) for row in rows))
            connection.commit()
        cursor.execute("ANALYZE")
        connection.commit()
        _haste(cursor, "FULL")


def _haste(cursor: Any, synchronous: str) -> None:
    """A bench's own rows need not survive a power cut; what is measured does."""
    if not hasattr(cursor, "copy"):
        cursor.execute(f"PRAGMA synchronous={synchronous}")


def stand(url: str, runs: int) -> None:
    """Ranks as publication keeps them, where the bench asks for them, and every run's attempt."""
    ranks, names = list(range(1, runs + 1)), [run_id(number) for number in range(runs)]
    facts: dict[str, Any] = {"board": "bench", "samples_sha256": "0" * 64, "modality": "*"}
    roster = Roster(**facts, suite="tailor", n_samples=1600, runs=names, columns=[])
    places: dict[str, Any] = {name: ranks for name in ("rank", "better", "worse", "above")}
    rungs = [
        AttemptRow(
            run_id=name,
            board="bench",
            team="t",
            model="m",
            attempt=1,
            metric="index",
            moves=True,
            stands=name,
        )
        for name in names
    ]
    with session(url) as db:
        add_new(db, Roster, [roster.model_dump()])
        for task in ("*", "cut"):
            where: dict[str, Any] = {
                "metric": "index",
                "scenario": "*",
                "task": task,
                "setting": "*",
            }
            add_new(
                db,
                Standing,
                [Standing(**facts, **where, clusters=80, bar=3.0, sizes=[], **places).model_dump()],
            )
        add_new(db, AttemptRow, [rung.model_dump() for rung in rungs])


def insert(cursor: Any, table: str, names: tuple[str, ...], rows: Iterable[Values]) -> None:
    """A plain insert on SQLite, COPY on PostgreSQL."""
    listed = ", ".join(names)
    if not hasattr(cursor, "copy"):
        marks = ", ".join("?" * len(names))
        cursor.executemany(f"INSERT INTO {table} ({listed}) VALUES ({marks})", rows)
        return
    with cursor.copy(f"COPY {table} ({listed}) FROM STDIN") as sink:
        for row in rows:
            sink.write_row(row)
