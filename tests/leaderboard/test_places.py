"""What is kept up at publication is what counting everything anew would give, and no ranking reads a score."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import event
from sqlmodel import Session, select

from evaluators.cells import cells
from evaluators.contracts import Outcome, Score
from evaluators.suites import suite_named
from flows.catalogue import load
from flows.rows import cell_row
from infra import tables, tables_board
from infra.db import engine, migrate, session
from infra.settings import Settings
from leaderboard import entries, places, queries, settling
from leaderboard.choice import Choice
from leaderboard.queries import FACETS, Address
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

    places.recount(written, "tailor")

    assert _places(written) == kept
    assert any(row.ours > 1 for row in kept) and any(row.papers > 1 for row in kept)


def test_cells_kept_at_publication_are_those_that_the_stored_scores_give(written: Session) -> None:
    suite = suite_named("tailor")
    rows = written.exec(select(tables.Score).where(tables.Score.run_id == "run-cirrus-auto")).all()
    scores = [Score(row.sample_id, row.metric, Outcome(row.outcome), row.value, row.detail) for row in rows]
    named = {score.metric for score in scores}
    assert suite.derive is not None

    rebuilt = cells([metric for metric in suite.metrics if metric.name in named], samples(), scores, resamples=200)

    assert _figures([tables.Cell(**cell_row("run-cirrus-auto", one)) for one in rebuilt + suite.derive(rebuilt)]) == (
        _figures(written.exec(select(tables.Cell).where(tables.Cell.run_id == "run-cirrus-auto")).all())
    )


def test_publishing_counts_the_same_on_postgresql(postgres_server: PostgresServer) -> None:
    url = postgres_server.fresh_database()
    migrate(url)
    with session(url) as db:
        load(db)
        before = _places(db)
        run = db.exec(select(tables.Run.id).where(tables.Run.suite == "sc3")).first()
        assert run

        places.count(db, run)

        cell = db.exec(select(tables.Cell).where(tables.Cell.run_id == run)).first()
        assert cell
        at = Address(*(getattr(cell, facet) for facet in FACETS))
        now = next(one for one in places.places(db, "sc3", cell.metric) if one.at == at)
        kept = next(row for row in before if (row.metric, *_at(row)) == (cell.metric, *_at(cell)))
        assert now.papers == kept.papers + 1


def test_no_question_of_a_ranking_reads_scores_verdicts_or_outputs(board: Settings) -> None:
    with session(board.database) as db, _asked(db) as texts:
        settled = settling.settle(db, Choice(suite="tailor"))
        assert settled
        queries.ranking(db, "tailor", "index", Address())
        settling.leaders(db)
        entries.figures_along(db, "tailor", "index", "scenario", Address())

    assert len(texts) > 10
    assert not [text for text in texts if any(f"FROM {name}" in text for name in ("score", "verdict", "output"))]


@contextmanager
def _asked(db: Session) -> Iterator[list[str]]:
    texts: list[str] = []

    def keep(_connection: object, _cursor: object, text: str, *_rest: object) -> None:
        texts.append(text)

    event.listen(db.get_bind(), "before_cursor_execute", keep)
    yield texts
    event.remove(db.get_bind(), "before_cursor_execute", keep)


def _places(db: Session) -> list[tables_board.Place]:
    db.expunge_all()
    found = db.exec(select(tables_board.Place)).all()
    return sorted(found, key=lambda row: (row.suite, row.metric, *_at(row)))


def _at(row: object) -> tuple[str, ...]:
    return tuple(getattr(row, facet) for facet in FACETS)


def _figures(rows: object) -> dict[tuple[str, ...], tuple[object, ...]]:
    assert isinstance(rows, list)
    return {
        (row.metric, *_at(row)): (row.value, row.low, row.high, row.n_scored, row.n_expected, row.why_empty)
        for row in rows
    }
