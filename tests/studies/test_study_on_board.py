"""A study on entries of the board: people's scores stand beside the judge's, and equal a
computation by hand."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import krippendorff
import numpy as np
import pytest
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from flows.studies.board import publish
from flows.studies.create import StudyPlan, create, invite, move
from flows.studies.data import erase
from flows.studies.items import items_of_board
from infra.db import session
from infra.settings import Settings
from infra.tables import Cell, Judge, Run, Score, Submission, Verdict
from infra.tables.board import FigurePlace
from infra.tables.standing import Noise
from infra.tables.study import Seat, StudyItem
from leaderboard.draw.suite_charts import fixed_of, table
from leaderboard.draw.suite_charts import tailor_tables as tables
from leaderboard.queries import addresses
from leaderboard.queries.entries import chart_figures
from leaderboard.queries.ranking import BoardAddress, ranking
from leaderboard.studies import desk
from leaderboard.studies.states import StudyError
from leaderboard.views.gaps import one_board_a_kind
from tests.bundles import drawn_outputs
from tests.command import Machine
from tests.servers.prefect import PrefectServer
from tests.studies.making import by_chance, by_reading, rate

SCALE = {"yes": 1, "no": 0, "unclear": 0}


@pytest.mark.xdist_group("servers")
def test_peoples_scores_stand_beside_the_judges(
    tmp_path: Path, prefect_server: PrefectServer
) -> None:
    machine = Machine(tmp_path / "home", prefect_server.environment)
    machine.run("init")
    submission = machine.submit(drawn_outputs(tmp_path / "bundle.zip"))
    machine.run("evaluate", submission)
    settings = Settings(home=machine.home)
    items = items_of_board(settings, "tailor", [submission], max_samples=8, seed=1)
    create(settings, StudyPlan("pilot", "tailor", "tailor", "Pilot", raters_per_item=2), items)
    keys = invite(settings, "pilot", 3)
    with pytest.raises(StudyError, match="close it"):
        publish(settings, "pilot")
    move(settings, "pilot", "open")
    for number, key in enumerate(keys):
        rate(settings, key, by_chance(number) if number else by_reading)
    move(settings, "pilot", "closed")

    result = publish(settings, "pilot")
    publish(settings, "pilot")

    with session(settings.database) as db:
        people = db.exec(select(Judge).where(Judge.kind == "human")).one()
        run = db.exec(select(Run).where(Run.judge == people.fingerprint)).one()
        scores = db.exec(
            select(Score).where(Score.run_id == run.id, Score.metric == "physical_realism")
        ).all()
        cells = db.exec(select(Cell).where(Cell.run_id == run.id)).all()
        verdicts = db.exec(select(Verdict).where(Verdict.judge == people.fingerprint)).all()
        noise = {row.metric: row for row in db.exec(select(Noise).where(Noise.run_id == run.id))}
        kept = {one["rater"] for one in result["raters"] if not one["left_out"]}
        seats = [
            (s, i) for s, i in db.exec(select(Seat, StudyItem).join(StudyItem)) if i.kind == "real"
        ]
    marks = [
        (i.behind["samples"]["A"], float(s.answers["physical_realism"]))
        for s, i in seats
        if s.rater_id in kept
    ]
    by_hand = {name: fmean(mark for sample, mark in marks if sample == name) for name, _ in marks}
    assert {score.sample_id: score.value for score in scores} == pytest.approx(by_hand)
    assert cells and verdicts
    assert {(row.source, row.times) for row in noise.values()} == {("raters", len(kept))}
    assert result["all"]["agreement"]["alpha"]["value"] == pytest.approx(_alpha(seats))
    assert _people_are_listed(machine.run("board", "tailor", "--format", "csv"))
    _people_stand_beside_the_judge_in_table_2(settings, submission)
    assert _counts_are_those_of_a_recount(settings)
    gone = next(iter(kept))
    erase(settings, gone)
    with session(settings.database) as db:
        assert not [
            one
            for one in db.exec(select(Verdict).where(Verdict.judge == people.fingerprint))
            if gone in one.reply_id
        ]
        assert len(db.exec(select(Verdict).where(Verdict.judge == people.fingerprint)).all()) < len(
            verdicts
        )
    assert _counts_are_those_of_a_recount(settings)


def _alpha(seats: list[tuple[Seat, StudyItem]]) -> float:
    """Independent: the published package on the same checks."""
    raters = sorted({seat.rater_id for seat, _ in seats})
    units = sorted(
        {
            (item.id, name)
            for seat, item in seats
            for name, value in seat.answers.items()
            if value in SCALE
        }
    )
    table = np.full((len(raters), len(units)), np.nan)
    for seat, item in seats:
        for name, value in seat.answers.items():
            if value in SCALE:
                table[raters.index(seat.rater_id), units.index((item.id, name))] = SCALE[value]
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


def _people_stand_beside_the_judge_in_table_2(settings: Settings, submission: str) -> None:
    """By the way that the page takes: the fullest board of a judge, and the people's."""
    with session(settings.database) as db:
        charted = one_board_a_kind(ranking(db, "tailor", None, BoardAddress()))
        runs = tuple(entry.run_id for entry in charted.entries)
        figures = table(chart_figures(db, "tailor", fixed_of("tailor"), runs))
        model = db.get_one(Submission, submission).model
        by_people = {
            (cell.scenario, cell.setting, cell.modality, cell.metric): cell.value
            for cell in db.exec(
                select(Cell).join(Run).join(Judge).where(Judge.kind == "human", Cell.task == "*")
            )
        }
    grid = tables.grid(tables.ours(figures))
    both = tables.judge_and_people(tables.ours(figures))

    assert set(figures["evaluator"]) == {"auto", "human"}
    assert set(grid["model"]) == {model} and len(both)
    assert not both["shown"].str.contains("—").any()
    assert [row.human for row in both.itertuples()] == [
        by_people[row.scenario, row.setting, row.modality, row.metric] for row in both.itertuples()
    ]


def _counts_are_those_of_a_recount(settings: Settings) -> bool:
    """Where figures are, as publishing kept it up and as all cells give it."""
    with session(settings.database) as db:
        kept = sorted(db.exec(select(FigurePlace)), key=repr)
        db.expunge_all()
        addresses.recount(db, "tailor")
        return bool(kept) and sorted(db.exec(select(FigurePlace)), key=repr) == kept


def _people_are_listed(board: str) -> bool:
    return "human" in board or "People: Pilot" in board


def test_the_page_asks_for_consent_shows_an_item_keeps_answers_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.studies.making import board, opened

    settings = board(tmp_path / "home")
    monkeypatch.setenv("ARMILLARY_HOME", str(settings.home))
    key = opened(settings, tmp_path, "tailor", count=2, raters=2, each=2)[0]
    page = AppTest.from_file("../../leaderboard/apps/rating.py", default_timeout=60)
    page.query_params["key"] = key

    page.run()
    page.button[0].click().run()
    page.radio[0].set_value("yes").run()
    submit(page)
    warned = page.warning[0].value
    with session(settings.database) as db:
        rater = desk.come_in(db, key)
        assert rater and rater.consent_version == "1"
        turn = desk.next_turn(db, rater)
    for radio, value in zip(page.radio, ("yes", "no", "4"), strict=True):
        radio.set_value(value)
    page.run()
    submit(page)

    assert turn and turn.answers == {"c1": "yes"}
    assert "no answer yet" in warned
    with session(settings.database) as db:
        assert desk.progress(db, rater).finished == 1


def submit(page: AppTest) -> None:
    next(button for button in page.button if button.label == "Submit and next").click().run()


def test_a_wrong_link_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.studies.making import board

    monkeypatch.setenv("ARMILLARY_HOME", str(board(tmp_path / "home").home))
    page = AppTest.from_file("../../leaderboard/apps/rating.py", default_timeout=60).run()

    assert "opens nothing" in page.info[0].value
