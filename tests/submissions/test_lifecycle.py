"""The life of a submission: forward, to one end, with a timeline."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import Session

from flows.evaluate.door import receive
from infra.db import session
from infra.settings import Settings
from submissions.teams.lifecycle import (
    PATH,
    TERMINAL,
    State,
    advance,
    state_of,
    steps_from,
    timeline,
)
from tests.bundles import declaration, drawn_outputs


@given(st.lists(st.sampled_from(list(State)), max_size=30))
def test_no_walk_leaves_an_end_but_a_failure_and_a_withdrawal(wishes: list[State]) -> None:
    state, ends = State.RECEIVED, 0
    for wish in wishes:
        if wish in steps_from(state):
            assert state not in TERMINAL or wish in (State.RECEIVED, State.WITHDRAWN)
            state = wish
            ends += wish in TERMINAL

    assert state in PATH or state in TERMINAL


@pytest.fixture
def submission(ready: Settings, tmp_path: Path) -> str:
    return receive(ready, str(drawn_outputs(tmp_path / "bundle.zip")), None, None).submission_id


def test_a_step_back_changes_nothing_and_leaves_no_line(ready: Settings, submission: str) -> None:
    def lines(db: Session) -> list[str]:
        return [event.kind for event in timeline(db, submission)]

    with session(ready.database) as db:
        assert advance(db, submission, State.JUDGING, "Asking.")
        assert not advance(db, submission, State.GENERATING, "Back.")
        assert not advance(db, submission, State.JUDGING, "Again.")

    with session(ready.database) as db:
        assert state_of(db, submission) is State.JUDGING
        assert lines(db) == ["received", "judging"]


def test_a_failure_says_whose_fault_it_is_and_may_be_taken_up_again(
    ready: Settings, submission: str
) -> None:
    with session(ready.database) as db:
        advance(db, submission, State.FAILED, "It broke.", fault="ours", code="E_INTERNAL")
        assert advance(db, submission, State.RECEIVED, "Again.")

    with session(ready.database) as db:
        failed = timeline(db, submission)[1]
        assert failed.detail == {"code": "E_INTERNAL", "fault": "ours"}
        assert state_of(db, submission) is State.RECEIVED


def test_the_same_bundle_twice_is_one_submission_and_another_team_s_is_another(
    ready: Settings, tmp_path: Path
) -> None:
    bundle = drawn_outputs(tmp_path / "bundle.zip")
    card = {**declaration()["model"], "name": "Sculptor"}
    theirs = drawn_outputs(tmp_path / "theirs.zip", team="Other team", model=card)

    first = receive(ready, str(bundle), None, None)
    second = receive(ready, str(bundle), None, None)
    other = receive(ready, str(theirs), None, None)

    assert (first.duplicate, second.duplicate) == (False, True)
    assert first.submission_id == second.submission_id != other.submission_id
