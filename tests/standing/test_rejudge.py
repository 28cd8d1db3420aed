"""A new judge or scorer: one command brings stored outputs onto a new board, and says what
changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import select

from evaluators.contracts import Question, Request
from evaluators.judges.scripted import ScriptedJudge
from evaluators.suites import suite_named
from flows.audit.audit import audit
from flows.audit.rejudge import Rejudged, into_changelog, rejudge
from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.run.case import Stopped
from flows.workers.judges import JudgeOptions, open_judge
from infra.db import session
from infra.settings import Settings
from infra.tables import Output, Run
from leaderboard.queries.ranking import BoardAddress, ranking
from tests.bundles import declaration, drawn_outputs

OTHER = "scripted-2"
ENTRIES, PICTURES = 2, 30


def _yes(request: Request, question: Question) -> str:
    """Half the pictures are liked and half are not, in another half than the first rule's."""
    return question.options[0 if int(request.media_sha256[:2], 16) % 2 else -1]


@pytest.fixture
def board(ready: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Two published entries, and a second judge that can be named."""
    monkeypatch.setenv("ARMILLARY_ENGINE", "here")
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    second = ScriptedJudge(_yes, "another scripted judge")

    def found(name: str, device: str, options: JudgeOptions):  # type: ignore[no-untyped-def]
        return second if name == OTHER else open_judge(name, device, options)

    for module in ("flows.run.case", "flows.workers.judges", "flows.workers.judging"):
        monkeypatch.setattr(f"{module}.open_judge", found)
    for number in range(ENTRIES):
        model = {**declaration()["model"], "name": f"Painter {number}"}
        bundle = drawn_outputs(
            tmp_path / f"{number}.zip", shift=60 * number, team=f"team {number}", model=model
        )
        run_here(receive(Settings(), str(bundle), None, None).submission_id, Settings())
    return Settings()


def test_one_command_judges_stored_outputs_again_onto_a_new_board(
    board: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(board.database) as db:
        before = {
            row.submission_id: row
            for row in ranking(db, "tailor", None, BoardAddress())
            if row.trust != "C"
        }
        outputs = len(db.exec(select(Output.sample_id)).all())

    (found,) = rejudge(board, "tailor", OTHER)

    with session(board.database) as db:
        runs = db.exec(select(Run).where(Run.state == "published", Run.board == found.board)).all()
        shown = [row for row in ranking(db, "tailor", None, BoardAddress()) if row.trust != "C"]
        assert len(db.exec(select(Output.sample_id)).all()) == outputs
        assert audit(db).findings == ()
    assert (found.entries, found.judged, found.failed, len(runs)) == (
        ENTRIES,
        ENTRIES * PICTURES,
        (),
        ENTRIES,
    )
    assert {row.board for row in shown} == {found.board_before, found.board}
    assert {r.submission_id: r.value for r in shown if r.board == found.board_before} == {
        name: row.value for name, row in before.items()
    }
    now = {row.submission_id: row.rank for row in shown if row.board == found.board}
    index = [row for row in found.changes if row.metric == "index"]
    assert {row.submission_id: row.rank for row in index} == now
    assert all("another judge: scripted judge" in row.reason for row in found.changes)
    _is_told(found, tmp_path)
    assert rejudge(board, "tailor", OTHER) == []
    _a_new_scorer_asks_nobody(board, monkeypatch)


def _is_told(found: Rejudged, folder: Path) -> None:
    log = folder / "CHANGELOG.md"
    log.write_text("# Changelog\n\n## 1.1\n- Old line.\n", "utf-8")

    assert (into_changelog(log, [found.line]), into_changelog(log, [found.line])) == (1, 0)

    assert found.line.startswith("Scores: TailOR")
    assert log.read_text("utf-8") == f"# Changelog\n\n## 1.1\n- {found.line}\n- Old line.\n"


def _a_new_scorer_asks_nobody(board: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = replace(suite_named("tailor"), scorer_version="next")
    found = lambda name: newer if name == "tailor" else suite_named(name)  # noqa: E731
    for module in (
        "flows.audit.rejudge",
        "flows.run.case",
        "flows.nightly.staleness",
        "flows.publish.seal_chain",
    ):
        monkeypatch.setattr(f"{module}.suite_named", found)

    (made,) = rejudge(board, "tailor", OTHER)

    assert (made.entries, made.judged) == (ENTRIES, 0)
    assert all(
        row.reason.startswith("scorer ") and row.reason.endswith(" now") for row in made.changes
    )
    assert all(
        row.value == row.value_before and row.rank == row.rank_before for row in made.changes
    )


def test_a_suite_that_is_scored_by_rule_has_no_judge_to_change(ready: Settings) -> None:
    with pytest.raises(Stopped, match="scored by rule"):
        rejudge(ready, "sc3", OTHER)
