"""The nightly: recomputes what is stale and nothing else, watches the judges, and says what moved
and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlmodel import SQLModel, col, select

from evaluators.contracts import Answer, Outcome, Reply
from evaluators.judges import scripted
from evaluators.judges.scripted import ScriptedJudge
from evaluators.suites.tailor import SUITE
from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.nightly.flow import run
from flows.publish.freeze import thaw
from flows.run import board_keys
from flows.workers.judges import open_judge
from infra.db import engine, session
from infra.settings import Settings
from infra.tables import Cell, Output, Run, Score, Submission, Verdict
from infra.tables.operations import Anchor, Change, CodeVersion, Drift, Freeze, Night, RunMark
from leaderboard.export.text import as_csv
from leaderboard.queries.ranking import BoardAddress, ranking
from submissions.teams.lifecycle import State
from tests.bundles import drawn_outputs

CELL_KEY = (Cell.metric, Cell.scenario, Cell.task, Cell.setting, Cell.modality)
FIRST = datetime(2026, 11, 16, 3, 5, tzinfo=UTC)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every sample that a judge is asked about."""
    asked: list[str] = []
    real = ScriptedJudge.judge

    def counted(self: ScriptedJudge, requests: Any) -> Iterator[Reply]:
        asked.extend(request.sample_id for request in requests)
        return real(self, requests)

    open_judge.cache_clear()
    monkeypatch.setattr(ScriptedJudge, "judge", counted)
    yield asked
    open_judge.cache_clear()


@pytest.fixture
def board(
    ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: list[str]
) -> Settings:
    """One published entry, small anchor set, and no Prefect server."""
    for name, value in {"ENGINE": "here", "ANCHORS": "5", "DRIFT_OUTPUTS": "3"}.items():
        monkeypatch.setenv(f"ARMILLARY_{name}", value)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    settings = Settings()
    publish(settings, drawn_outputs(tmp_path / "bundle.zip"))
    calls.clear()
    return settings


def publish(settings: Settings, bundle: Path) -> str:
    submission = receive(settings, str(bundle), None, None).submission_id
    run_here(submission, settings)
    return submission


def night(settings: Settings, days: int = 0) -> str:
    return run(settings, lambda: FIRST + timedelta(days=days))


def rows(settings: Settings, table: type[Any]) -> list[Any]:
    with session(settings.database) as db:
        return list(db.exec(select(table)))


def exported(settings: Settings) -> str:
    with session(settings.database) as db:
        return as_csv(ranking(db, "tailor", None, BoardAddress()))


def test_a_night_with_nothing_stale_asks_only_about_anchors_and_a_drawn_sample(
    board: Settings, calls: list[str]
) -> None:
    before = exported(board)

    said = night(board)

    (row,) = rows(board, Night)
    assert "1 entries looked at, nothing was stale" in said
    assert (row.state, row.stale, row.moved, row.alarms, row.late) == ("done", 0, 0, 0, False)
    assert len(calls) == row.judge_calls == 5 + 3
    assert exported(board) == before
    assert {
        (drift.what, drift.outputs, drift.agreement, drift.alarm) for drift in rows(board, Drift)
    } == {
        ("anchors", 5, 1.0, False),
        ("sample", 3, 1.0, False),
    }


def test_a_night_with_nothing_stale_reads_no_row_of_a_sample(
    board: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(board, drawn_outputs(tmp_path / "second.zip", shift=50))
    monkeypatch.setenv("ARMILLARY_ANCHORS", "0")
    monkeypatch.setenv("ARMILLARY_DRIFT_OUTPUTS", "0")
    seen: list[str] = []
    event.listen(
        engine(board.database),
        "before_cursor_execute",
        lambda _c, _k, text, *_: seen.append(text.lower()),
    )

    said = night(Settings())

    touched = {name for name in SQLModel.metadata.tables for text in seen if f" {name}" in text}
    assert "2 entries looked at" in said
    assert touched.isdisjoint({"output", "verdict", "reply", "score", "cell", "shard", "sample"})


def test_a_date_has_one_night_however_often_it_fires(board: Settings, calls: list[str]) -> None:
    night(board)
    asked = len(calls)

    again = [night(board), night(board)]

    assert all("The night of 2026-11-16 is done" in said for said in again)
    assert len(calls) == asked
    assert len(rows(board, Night)) == 1


def test_after_a_gap_there_is_one_night_and_a_clock_that_jumps_back_adds_none(
    board: Settings,
) -> None:
    night(board)

    night(board, days=30)
    back = night(board, days=3)

    assert [row.night for row in rows(board, Night)] == [date(2026, 11, 16), date(2026, 12, 16)]
    assert "The night of 2026-12-16 is done" in back


def test_a_night_that_was_cut_short_goes_on_and_asks_nothing_twice(
    board: Settings, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object) -> None:
        raise RuntimeError("cut")

    with monkeypatch.context() as patch:
        patch.setattr("flows.nightly.flow.stale", cut)
        with pytest.raises(RuntimeError, match="cut"):
            night(board)
    after_cut = [row.state for row in rows(board, Night)]

    night(board)

    assert after_cut == ["failed"]
    assert [row.state for row in rows(board, Night)] == ["done"]
    assert len(calls) == 5 + 3


def test_changed_code_is_computed_again_without_a_judge_and_every_moved_cell_is_told(
    board: Settings, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    night(board)
    calls.clear()
    with session(board.database) as db:
        mine = select(Run.id).where(col(Run.submission_id).startswith("sub-"))
        moved = db.exec(select(Cell).where(col(Cell.run_id).in_(mine)).limit(1)).one()
        address, stored = (moved.scenario, moved.task, moved.setting, moved.modality), moved.value
        moved.value = 0.123
    monkeypatch.setattr(board_keys, "code_sha256", lambda _suite: "other code")

    night(board, days=1)

    (change,) = rows(board, Change)
    assert (change.scenario, change.task, change.setting, change.modality) == address
    assert (change.before, change.after, change.cause) == (0.123, stored, "code")
    assert change.run_before == change.run_id
    second = rows(board, Night)[1]
    assert (second.stale, second.recomputed, second.moved) == (1, 1, 1)
    assert len(calls) == 5 + 3
    night(board, days=2)
    assert rows(board, Night)[2].stale == 0


def test_an_entry_of_an_older_bank_keeps_its_board_its_cells_and_its_rank(board: Settings) -> None:
    name = aged(board, "1.1")
    before, listed = standing(board, name), exported(board)

    said = night(board)

    (row,) = rows(board, Night)
    assert "1 entries looked at, nothing was stale" in said
    assert (row.stale, row.recomputed, row.moved) == (0, 0, 0)
    assert standing(board, name) == before and exported(board) == listed


def test_the_same_entry_of_today_s_bank_would_be_stale(board: Settings) -> None:
    aged(board, SUITE.version)

    assert "other prompts, questions or references" in night(board)


def aged(settings: Settings, version: str) -> str:
    """The entry's run, with the prompts, scorer, code and board of another time."""
    with session(settings.database) as db:
        entry = db.exec(select(Run).where(col(Run.submission_id).startswith("sub-"))).one()
        entry.suite_version, entry.scorer_version, entry.board = version, "1", "an older board"
        db.get_one(Submission, entry.submission_id).suite_version = version
        mark = db.get_one(RunMark, entry.id)
        mark.items_sha256, mark.code_sha256 = "older prompts", "older code"
        return entry.id


def standing(settings: Settings, run: str) -> list[dict[str, Any]]:
    """A run with its mark and its cells, as they are stored."""
    with session(settings.database) as db:
        cells = db.exec(select(Cell).where(Cell.run_id == run).order_by(*CELL_KEY)).all()
        kept = [db.get_one(Run, run), db.get_one(RunMark, run), *cells]
        return [one.model_dump() for one in kept]


def test_a_night_names_release_commit_and_modules_that_changed(
    board: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMILLARY_COMMIT", "b2b2b2b")
    with session(board.database) as db:
        (version,) = db.exec(select(CodeVersion).where(CodeVersion.suite == "tailor")).all()
        assert set(version.modules) >= {"evaluators.aggregate.cells", "evaluators.suites.tailor"}
        other = {"evaluators.aggregate.cells": "other", "evaluators.gone": "hash"}
        older = version.model_dump() | {"code_sha256": "older", "release": "0.0.9"}
        db.add(CodeVersion(**older | {"commit": "a1a1a1a", "modules": version.modules | other}))
        for mark in db.exec(select(RunMark)):
            mark.code_sha256 = "older"
        mine = select(Run.id).where(col(Run.submission_id).startswith("sub-"))
        db.exec(select(Cell).where(col(Cell.run_id).in_(mine)).limit(1)).one().value = 0.123

    said = night(board)

    (why,) = {change.text for change in rows(board, Change)}
    assert "release 0.1.0 at b2b2b2b, was release 0.0.9 at a1a1a1a" in why
    assert "changed evaluators.aggregate.cells; left out evaluators.gone" in why
    assert why in said and why in rows(board, Night)[0].text


def test_a_new_judge_makes_a_new_run_from_stored_outputs_and_the_difference_names_it(
    board: Settings, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (before,) = [
        row
        for row in rows(board, Run)
        if row.state == "published" and row.submission_id.startswith("sub-")
    ]
    with_other_judge(monkeypatch)

    night(board)

    mine = {row.id: row for row in rows(board, Run) if row.submission_id == before.submission_id}
    changes = rows(board, Change)
    assert len(mine) == 2
    assert {change.cause for change in changes} == {"judge"}
    assert all(f"({before.judge}) before" in change.text for change in changes)
    assert {(change.run_before, change.run_id) for change in changes} == {
        (before.id, (mine.keys() - {before.id}).pop())
    }
    assert all(change.before != change.after for change in changes)
    assert rows(board, Night)[0].stale == 1
    assert len(calls) >= 30


def test_a_named_change_of_the_judge_is_no_drift_and_the_new_board_gets_anchors_of_its_own(
    board: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    night(board)
    (before,) = {row.judge for row in rows(board, Anchor)}
    with_other_judge(monkeypatch)

    said = night(board, days=1)
    night(board, days=2)

    (after,) = {row.judge for row in rows(board, Anchor)} - {before}
    newest = [row for row in rows(board, Drift) if row.night == date(2026, 11, 18)]
    assert "ALARM" not in said and rows(board, Freeze) == []
    assert [row for row in rows(board, Drift) if row.night == date(2026, 11, 17)] == []
    assert {(row.judge, row.agreement, row.alarm) for row in newest} == {(after, 1.0, False)}


def with_other_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    def second_rule(request: Any, question: Any) -> str:
        return str(question.options[-1])

    open_judge.cache_clear()
    monkeypatch.setattr(
        "flows.workers.judges.ScriptedJudge", lambda: ScriptedJudge(rule=second_rule)
    )


def test_answers_that_the_judge_owed_are_asked_for_and_told_as_data(
    board: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: list[str]
) -> None:
    with session(board.database) as db:
        one = db.exec(select(Output).where(col(Output.media_sha256) != "").limit(1)).one()
        for score in db.exec(select(Score).where(Score.sample_id == one.sample_id)):
            score.outcome, score.value = Outcome.JUDGE_ERROR, None
        run_row = db.exec(select(Run).where(Run.submission_id == one.submission_id)).one()
        run_row.n_scored = 29
        for verdict in db.exec(select(Verdict).where(Verdict.media_sha256 == one.media_sha256)):
            verdict.outcome, verdict.value = Outcome.JUDGE_ERROR, None
        for cell in db.exec(select(Cell).where(Cell.run_id == run_row.id)):
            cell.value = -1.0

    night(board)

    assert one.sample_id in calls
    assert {change.cause for change in rows(board, Change)} == {"data"}
    assert [row.n_scored for row in rows(board, Run) if row.submission_id == one.submission_id] == [
        30
    ]


def drifted(monkeypatch: pytest.MonkeyPatch, share: int) -> None:
    """The same card, but other answers about every so-manieth output: weights that changed under
    one name."""
    real = scripted.by_hash

    def judge(self: ScriptedJudge, requests: Any) -> Iterator[Reply]:
        for number, request in enumerate(requests):
            answers = []
            for question in request.questions:
                said = real(request, question)
                if number % share == 0:
                    said = next(option for option in question.options if option != said)
                answers.append(Answer(question.id, Outcome.SCORED, said))
            yield Reply(request.sample_id, tuple(answers))

    monkeypatch.setattr(ScriptedJudge, "judge", judge)


@pytest.mark.parametrize("share", [1, 2, 5])
def test_a_judge_that_drifted_raises_the_alarm_and_freezes_its_board(
    board: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: int
) -> None:
    drifted(monkeypatch, share)

    said = night(board)

    (frozen,) = rows(board, Freeze)
    assert "ALARM" in said
    assert (frozen.suite, frozen.lifted_at) == ("tailor", None)
    anchors = next(row for row in rows(board, Drift) if row.what == "anchors")
    assert anchors.alarm and anchors.agreement < 0.98
    second = receive(
        board, str(drawn_outputs(tmp_path / "second.zip", shift=50)), None, None
    ).submission_id
    with pytest.raises(Exception, match="The board is frozen since"):
        run_here(second, board)
    assert states(board)[second] == State.FAILED
    with session(board.database) as db:
        assert thaw(db, "tailor", "operator") == 1
    run_here(second, board)
    assert states(board)[second] == State.PUBLISHED


def states(settings: Settings) -> dict[str, str]:
    return {row.id: row.state for row in rows(settings, Submission)}


def test_the_anchor_set_stays_the_same_when_more_is_published(
    board: Settings, tmp_path: Path, outputs_bundle: Callable[..., Path]
) -> None:
    night(board)
    first = {
        (row.submission_id, row.sample_id, row.question_id, row.value)
        for row in rows(board, Anchor)
    }
    publish(board, drawn_outputs(tmp_path / "second.zip", shift=50))

    night(board, days=1)

    assert {
        (row.submission_id, row.sample_id, row.question_id, row.value)
        for row in rows(board, Anchor)
    } == first
    assert {row.source for row in rows(board, Anchor)} == {"judge"}
