"""What is kept up at publication is what counting everything anew would give, and no ranking reads
a score."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import event, update
from sqlmodel import Session, col, select

from evaluators.aggregate.cells import cells
from evaluators.contracts import Outcome, Score
from evaluators.suites import suite_named
from flows.run.catalogue import load
from flows.run.score_rows import cell_row
from infra import tables
from infra.db import engine, migrate, session
from infra.settings import Settings
from infra.tables.board import FigurePlace
from leaderboard.queries import addresses, entries, ranking
from leaderboard.queries.ranking import FACETS, BoardAddress
from leaderboard.selection import settle
from leaderboard.selection.choice import Choice
from tests.leaderboard.made_board import samples
from tests.servers.postgres import PostgresServer


@pytest.fixture
def written(board: Settings) -> Iterator[Session]:
    """A session whose writes nobody keeps."""
    with Session(engine(board.database)) as db:
        yield db
        db.rollback()


def test_places_kept_up_run_by_run_are_the_places_counted_anew(written: Session) -> None:
    kept = _places(written)

    addresses.recount(written, "tailor")

    assert _places(written) == kept
    assert any(row.ours > 1 for row in kept) and any(row.papers > 1 for row in kept)


def test_cells_kept_at_publication_are_those_that_the_stored_scores_give(written: Session) -> None:
    suite = suite_named("tailor")
    rows = written.exec(select(tables.Score).where(tables.Score.run_id == "run-cirrus-auto")).all()
    scores = [
        Score(row.sample_id, row.metric, Outcome(row.outcome), row.value, row.detail)
        for row in rows
    ]
    named = {score.metric for score in scores}
    assert suite.derive is not None

    rebuilt = cells(
        [metric for metric in suite.metrics if metric.name in named],
        samples(),
        scores,
        resamples=200,
    )

    assert _figures(
        [tables.Cell(**cell_row("run-cirrus-auto", one)) for one in rebuilt + suite.derive(rebuilt)]
    ) == (
        _figures(
            written.exec(select(tables.Cell).where(tables.Cell.run_id == "run-cirrus-auto")).all()
        )
    )


@pytest.fixture
def on_postgresql(postgres_server: PostgresServer) -> str:
    """The catalogue with the papers' runs, on PostgreSQL."""
    url = postgres_server.fresh_database()
    migrate(url)
    with session(url) as db:
        load(db)
    return url


def test_taking_a_run_off_the_board_and_publishing_it_again_counts_the_same_on_postgresql(
    on_postgresql: str,
) -> None:
    with session(on_postgresql) as db:
        before = _places(db)
        run = db.exec(select(tables.Run.id).where(tables.Run.suite == "sc3")).first()
        assert run

        _put_in_state(db, run, "scored")
        without = _places(db)
        addresses.recount(db, "sc3")
        counted_without = _places(db)
        _put_in_state(db, run, "published")
        _put_in_state(db, run, "published")

        assert without == counted_without
        assert sum(row.papers for row in without) < sum(row.papers for row in before)
        assert _places(db) == before


def test_two_that_publish_at_once_on_postgresql_both_count_and_neither_waits_for_good(
    on_postgresql: str,
) -> None:
    with session(on_postgresql) as db:
        before = _places(db)
        first, second = db.exec(select(tables.Run.id).where(tables.Run.suite == "tailor").limit(2))

    def publish_often(run: str) -> None:
        for state in ("scored", "published") * 5:
            with session(on_postgresql) as db:
                _put_in_state(db, run, state)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(publish_often, run) for run in (first, second)]:
            done.result(timeout=60)

    with session(on_postgresql) as db:
        assert _places(db) == before


def _put_in_state(db: Session, run: str, state: str) -> None:
    with addresses.recounted(db, col(tables.Run.id) == run):
        db.connection().execute(
            update(tables.Run).where(col(tables.Run.id) == run).values(state=state)
        )


def test_no_question_of_a_ranking_reads_scores_verdicts_or_outputs(board: Settings) -> None:
    with session(board.database) as db, _asked(db) as texts:
        settled = settle.settle(db, Choice(suite="tailor"))
        assert settled
        ranking.ranking(db, "tailor", "index", BoardAddress())
        settle.leaders(db)
        entries.figures_along(db, "tailor", "index", "scenario", BoardAddress())

    assert len(texts) > 10
    assert not [
        text
        for text in texts
        if any(f"FROM {name}" in text for name in ("score", "verdict", "output"))
    ]


@contextmanager
def _asked(db: Session) -> Iterator[list[str]]:
    texts: list[str] = []

    def keep(_connection: object, _cursor: object, text: str, *_rest: object) -> None:
        texts.append(text)

    event.listen(db.get_bind(), "before_cursor_execute", keep)
    yield texts
    event.remove(db.get_bind(), "before_cursor_execute", keep)


def _places(db: Session) -> list[FigurePlace]:
    db.expunge_all()
    found = db.exec(select(FigurePlace)).all()
    return sorted(found, key=lambda row: (row.suite, row.metric, *_at(row)))


def _at(row: object) -> tuple[str, ...]:
    return tuple(getattr(row, facet) for facet in FACETS)


def _figures(rows: object) -> dict[tuple[str, ...], tuple[object, ...]]:
    assert isinstance(rows, list)
    return {
        (row.metric, *_at(row)): (
            row.value,
            row.low,
            row.high,
            row.n_scored,
            row.n_expected,
            row.why_empty,
        )
        for row in rows
    }
