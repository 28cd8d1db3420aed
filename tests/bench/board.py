"""The board over 347 submissions and 10 million score rows, on SQLite and PostgreSQL, in Chromium,
and with 50 readers.

`python -m tests.bench.board --rows 1000000` is the same with fewer rows; `--only
sqlite|postgresql|page|readers` does a part.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from sqlmodel import Session, col

from flows.run.score_rows import store_results
from infra.db import engine, session
from infra.settings import Settings
from infra.tables import Run
from leaderboard.queries import addresses, entries, ranking
from leaderboard.queries.ranking import BoardAddress
from tests.bench import board_page, board_readers
from tests.bench import board_rows as made
from tests.bench.report import Row, at_most, report, shown
from tests.servers import postgres

SUBMISSIONS = 347
ROWS_EACH = 28_800
TIMES = 5
WRITE = {"sqlite": (3.0, "a plain insert"), "postgresql": (6.0, "COPY")}


@dataclass(frozen=True, slots=True)
class Written:
    """Seconds for the scores of one run alone, and for the same with their cells and places."""

    alone: float
    whole: float


def main() -> int:
    """Measure and report; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=SUBMISSIONS * ROWS_EACH)
    parser.add_argument("--only", choices=["sqlite", "postgresql", "page", "readers"])
    parser.add_argument(
        "--home", type=Path, help="a home that an earlier run filled: page and readers, no filling"
    )
    asked = parser.parse_args()
    runs = max(2, min(SUBMISSIONS, asked.rows // ROWS_EACH))
    if asked.home:
        return report("board", list(_web(Settings(home=asked.home), asked.only)))
    with tempfile.TemporaryDirectory(prefix="armillary-board-") as folder:
        return report("board", list(_rows(Path(folder), runs, asked.only)))


def _rows(folder: Path, runs: int, only: str | None) -> Iterator[Row]:
    settings = Settings(home=folder)
    if only != "postgresql":
        yield from _database(settings.database, runs, measured=only in (None, "sqlite"))
    if only in (None, "postgresql"):
        with postgres.serve() as server:
            yield from _database(server.fresh_database(), runs)
    yield from _web(settings, only)


def _web(settings: Settings, only: str | None) -> Iterator[Row]:
    if only in (None, "page"):
        yield from board_page.rows(settings)
    if only in (None, "readers"):
        yield from board_readers.rows(settings)


def _database(url: str, runs: int, measured: bool = True) -> Iterator[Row]:
    few = min(runs, 1_000_000 // ROWS_EACH)
    made.prepare(url)
    made.fill(url, range(few))
    early = _writing(url, 1000) if measured else None
    made.fill(url, range(few, runs))
    made.stand(url, runs)
    with session(url) as db:
        addresses.recount(db, "tailor")
    if early:
        yield from _written(url, early, _writing(url, 2000), runs)
        yield from _reading(url, runs)


def _writing(url: str, first: int) -> Written:
    """The best of several, one after the other in turn, so that a busy moment of the machine hits
    both."""
    alone, whole = [], []
    for number in range(first, first + 2 * TIMES, 2):
        with session(url) as db:
            made.enter(db, number)
            made.enter(db, number + 1)
        rows, scores, cells = (
            list(made.score_values(number)),
            made.scores(number + 1),
            made.cells(number + 1),
        )
        start = perf_counter()
        with closing(engine(url).raw_connection()) as connection:
            made.insert(connection.cursor(), "score", made.SCORE, rows)
            connection.commit()
        alone.append(perf_counter() - start)
        start = perf_counter()
        with session(url) as db, addresses.recounted(db, col(Run.id) == made.run_id(number + 1)):
            store_results(db, made.run_id(number + 1), scores, cells)
        whole.append(perf_counter() - start)
    return Written(min(alone), min(whole))


def _written(url: str, early: Written, late: Written, runs: int) -> Iterator[Row]:
    name = engine(url).dialect.name
    goal, plain = WRITE[name]
    rows = f"{runs * ROWS_EACH / 1e6:.1f} M rows"
    yield at_most(
        f"{name}, {rows}: 28,800 scores with cells and places / {plain}",
        late.whole / late.alone,
        goal,
    )
    yield at_most(f"{name}: the same at {rows} / at 1 M", late.whole / early.whole, 1.5)
    yield shown(f"{name}, {rows}: seconds with cells and places", late.whole)


def _reading(url: str, runs: int) -> Iterator[Row]:
    name = f"{engine(url).dialect.name}, {runs} entries"
    asked: dict[str, tuple[Callable[[Session], object], float | None]] = {
        "one ranking": (lambda db: ranking.ranking(db, "tailor", "index", BoardAddress()), 10.0),
        "one ranking at one action": (
            lambda db: ranking.ranking(db, "tailor", "index", BoardAddress(task="cut")),
            10.0,
        ),
        "all 7,524 cells of an entry": (
            lambda db: entries.figures_of(db, (made.run_id(1),)),
            100.0,
        ),
        "where a metric has figures": (lambda db: addresses.places(db, "tailor", "index"), 100.0),
        "all entries along the scenarios": (
            lambda db: entries.figures_along(db, "tailor", "index", "scenario", BoardAddress()),
            100.0,
        ),
    }
    for what, (question, goal) in asked.items():
        wall, cpu = _milliseconds(url, question)
        yield (
            at_most(f"{name}: {what}, ms", wall, goal)
            if goal
            else shown(f"{name}: {what}, ms", wall)
        )
        yield shown(f"{name}: {what}, ms of our own CPU", cpu)


def _milliseconds(url: str, question: Callable[[Session], object]) -> tuple[float, float]:
    """Best of many; the first fills caches."""
    walls, cpus = [], []
    for _ in range(40):
        with session(url) as db:
            wall, cpu = perf_counter(), process_time()
            question(db)
            walls.append(perf_counter() - wall)
            cpus.append(process_time() - cpu)
    return 1000 * min(walls), 1000 * min(cpus)


if __name__ == "__main__":
    raise SystemExit(main())
