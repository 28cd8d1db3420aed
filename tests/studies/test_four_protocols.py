"""People's scores of all four protocols reach the cells of the board, and equal a computation by
hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from sqlmodel import select

from evaluators.metrics.rubric import PARTS
from flows.nightly.staleness import entries
from flows.studies.board import publish, recomputed
from flows.studies.create import StudyPlan, create, invite, move
from flows.studies.data import erase
from flows.studies.items import items_of_board
from infra.db import session
from infra.settings import Settings
from infra.tables import Cell, Judge, Output, Run, Score, Verdict
from infra.tables.standing import Roster, Standing
from infra.tables.study import Rater, Seat, SeatEvent, StudyItem
from leaderboard.studies.forms import form_of
from leaderboard.studies.quality import ExclusionRule
from tests.studies.entries import chosen, enter
from tests.studies.making import board, by_chance, by_reading, rate

NAMES = {"Glassbead-7B": "Team Petrel", "Northwind-XL": "Team Skua"}
RATERS = 3


@dataclass(frozen=True)
class Held:
    """A published study and all that was said in it."""

    settings: Settings
    suite: str
    submissions: list[str]
    result: dict[str, Any]
    judge: str
    seats: list[tuple[Seat, StudyItem]]

    def cell(self, submission: str, metric: str, **address: str) -> Cell:
        """People's cell of an entry; what is not named is over all."""
        facets = {"scenario": "*", "task": "*", "setting": "*", "modality": "*", **address}
        with session(self.settings.database) as db:
            query = (
                select(Cell)
                .join(Run)
                .where(Run.submission_id == submission, Run.judge == self.judge)
            )
            found = [one for one in db.exec(query.where(Cell.metric == metric))]
            db.expunge_all()
        return next(
            one
            for one in found
            if all(getattr(one, name) == value for name, value in facets.items())
        )

    def about(self, submission: str) -> Iterator[tuple[str, str, Seat, StudyItem]]:
        """The letter and the sample of each time an entry was shown, with the answers."""
        for seat, item in self.seats:
            for letter, method in item.behind["methods"].items():
                if item.kind == "real" and method == submission:
                    yield letter, item.behind["samples"][letter], seat, item


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return board(tmp_path_factory.mktemp("four") / "home")


@pytest.fixture(scope="module")
def held(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Held]:
    known: dict[str, Held] = {}

    def hold(suite: str) -> Held:
        if suite not in known:
            known[suite] = _hold(settings, suite, tmp_path_factory.mktemp(suite))
        return known[suite]

    return hold


def _hold(settings: Settings, suite: str, folder: Path) -> Held:
    submissions = enter(settings, suite, NAMES, folder)
    items = items_of_board(settings, suite, submissions, max_samples=24, seed=2)
    each = 2 if suite in ("universe", "sc3") else RATERS
    everybody = ExclusionRule(attention_missed=99, gold_share=0.0, fastest=0.0, agreement=-2.0)
    create(
        settings,
        StudyPlan(
            f"people-{suite}",
            suite,
            suite,
            f"Study of {suite}",
            raters_per_item=each,
            rule=everybody,
        ),
        items,
    )
    keys = invite(settings, f"people-{suite}", RATERS)
    move(settings, f"people-{suite}", "open")
    for number, key in enumerate(keys):
        rate(settings, key, by_chance(number))
    move(settings, f"people-{suite}", "closed")
    result = publish(settings, f"people-{suite}")
    with session(settings.database) as db:
        judge = (
            db.exec(select(Judge).where(Judge.name == f"People: Study of {suite}"))
            .one()
            .fingerprint
        )
        seats = list(
            db.exec(
                select(Seat, StudyItem).join(StudyItem).where(Seat.study_id == f"people-{suite}")
            )
        )
        db.expunge_all()
    return Held(settings, suite, submissions, result, judge, seats)


def test_task_success_plausibility_and_best_worst_stand_on_the_board_with_intervals(
    held: Callable[[str], Held],
) -> None:
    study = held("liva")

    for name in study.submissions:
        ticks: dict[str, list[float]] = {}
        marks: dict[str, list[float]] = {}
        leads = []
        for letter, sample, seat, item in study.about(name):
            goals = [
                ask.id
                for ask in form_of(item.form).asks
                if ask.about == letter and ask.id.startswith(f"{letter}.goal")
            ]
            ticks.setdefault(sample, []).append(
                fmean(bool(seat.answers.get(goal)) for goal in goals)
            )
            marks.setdefault(sample, []).append(float(seat.answers[f"{letter}.pps"]))
            leads.append((seat.answers["best"] == letter) - (seat.answers["worst"] == letter))
        assert study.cell(name, "tsr").value == pytest.approx(fmean(map(fmean, ticks.values())))
        assert study.cell(name, "pps").value == pytest.approx(fmean(map(fmean, marks.values())))
        best_worst = study.cell(name, "bws")
        assert best_worst.value == pytest.approx(100 * sum(leads) / len(leads)), (
            "over all ballots, each once"
        )
        assert best_worst.n_scored == len(leads)
        assert (
            best_worst.low is not None
            and best_worst.high is not None
            and best_worst.value is not None
        )
        assert best_worst.low <= best_worst.value <= best_worst.high
        assert study.cell(name, "tsr").low is not None and study.cell(name, "pps").low is not None
    assert sum(study.cell(name, "bws").value or 0 for name in study.submissions) == pytest.approx(0)
    table = study.result["kept"]["table"]
    assert set(table) == {
        f"{name} {loop}" for name in study.submissions for loop in ("closed_loop", "open_loop")
    }
    for method, figures in table.items():
        name, loop = method.split()
        assert figures["bws"] == pytest.approx(study.cell(name, "bws", setting=loop).value)
        assert figures["tsr"] == pytest.approx(study.cell(name, "tsr", setting=loop).value)


def test_a_set_of_avatars_shows_one_models_loops_beside_each_other(
    held: Callable[[str], Held],
) -> None:
    study = held("liva")
    sets = {item.id: item.behind for _, item in study.seats if item.kind == "real"}.values()

    owners = [set(behind["methods"].values()) for behind in sets]
    loops = [{name.rpartition(".")[2] for name in behind["samples"].values()} for behind in sets]
    assert all(len(owner) == 1 for owner in owners)
    assert {name for owner in owners for name in owner} == set(study.submissions)
    assert all(len(shown) > 1 for shown in loops)


def test_graded_and_strict_accuracy_stand_on_the_board(held: Callable[[str], Held]) -> None:
    study, worth = held("universe"), {"correct": 100.0, "partially_correct": 50.0, "incorrect": 0.0}

    for name in study.submissions:
        said: dict[str, list[str]] = {}
        for _, sample, seat, _ in study.about(name):
            said.setdefault(sample, []).append(seat.answers["grade"])
        settled = [one for one, other in said.values() if one == other and one in worth]
        graded, strict = study.cell(name, "graded_accuracy"), study.cell(name, "strict_accuracy")
        assert (graded.n_scored, graded.n_expected) == (len(settled), len(said)), (
            "what waits for a third is counted"
        )
        assert graded.value == pytest.approx(
            fmean(worth[one] for one in settled) if settled else None
        )
        assert strict.value == pytest.approx(
            100 * settled.count("correct") / len(settled) if settled else None
        )


def test_peoples_criteria_take_the_place_of_the_annotators(held: Callable[[str], Held]) -> None:
    study = held("sc3")

    for name in study.submissions:
        for policy in (1, 2):
            held_up = []
            said: dict[str, list[str]] = {}
            for _, sample, seat, item in study.about(name):
                if sample.endswith(".online") and f"policy_{policy}" == _policy(sample):
                    (object_name,) = {ask.id.partition(".")[0] for ask in form_of(item.form).asks}
                    said.setdefault(sample, []).append(
                        seat.answers[f"{object_name}.object_lifting"]
                    )
            held_up = [all(one == "yes" for one in two) for two in said.values()]
            task = f"policy_{policy} object_lifting"
            cell = study.cell(
                name,
                "predicted_rate",
                scenario="in_distribution",
                task=task,
                setting="online",
                modality="video",
            )
            assert cell.value == pytest.approx(fmean(held_up)), "two of two have to say yes"
    with session(study.settings.database) as db:
        details = db.exec(select(Score.detail).join(Run).where(Run.judge == study.judge)).all()
    assert {one["annotator"] for one in details if "annotator" in one} == {"people"}
    assert "real" in study.result["kept"]["table"], "what really happened is rated among the others"


def _policy(sample: str) -> str:
    return next(one.facets.task for one in chosen("sc3") if one.id == sample)


@pytest.mark.parametrize("suite", ["tailor", "liva", "universe", "sc3"])
def test_a_study_is_a_board_of_its_own_that_can_be_recomputed(
    suite: str, held: Callable[[str], Held]
) -> None:
    study = held(suite)

    with session(study.settings.database) as db:
        runs = db.exec(select(Run).where(Run.judge == study.judge)).all()
        rosters = db.exec(select(Roster).where(Roster.board == runs[0].board)).all()
        ranks = db.exec(select(Standing).where(Standing.board == runs[0].board)).all()
        verdicts = db.exec(select(Verdict).where(Verdict.judge == study.judge)).all()
        looked_at = entries(db, study.settings)
        db.expunge_all()
    assert len({run.board for run in runs}) == 1 and all(
        run.eligible and run.state == "published" for run in runs
    )
    assert {tuple(sorted(one.runs)) for one in rosters} == {tuple(sorted(run.id for run in runs))}
    assert suite == "sc3" or any(rank is not None for one in ranks for rank in one.rank), (
        "two policies are no ranking"
    )
    assert verdicts
    assert not [one for one in looked_at if one.run.judge == study.judge], (
        "a night never computes people again"
    )
    with session(study.settings.database) as db:
        again = recomputed(
            db, next(run for run in runs if run.submission_id == study.submissions[0])
        )
    assert again and {(one.sample_id, one.metric): one.value for one in again.scores} == _stored(
        study
    )


def _stored(study: Held) -> dict[tuple[str, str], float | None]:
    query = (
        select(Score)
        .join(Run)
        .where(Run.judge == study.judge, Run.submission_id == study.submissions[0])
    )
    with session(study.settings.database) as db:
        return {(one.sample_id, one.metric): one.value for one in db.exec(query)}


@pytest.mark.parametrize("suite", ["tailor", "liva", "universe", "sc3"])
def test_published_agreement_equals_an_independent_computation(
    suite: str, held: Callable[[str], Held]
) -> None:
    study = held(suite)
    found = study.result["all"]["agreement"]

    assert found["alpha"]["value"] == pytest.approx(independent_alpha(study.seats))
    assert found["kappa"]["value"] == pytest.approx(independent_kappa(study.seats))
    assert found["alpha"]["low"] <= found["alpha"]["value"] <= found["alpha"]["high"]


def test_tailors_agreement_is_six_alphas_and_their_mean_and_each_ratings_own(
    held: Callable[[str], Held],
) -> None:
    study = held("tailor")
    parts = {
        (sample.id, ask.id): ask.part for sample in chosen("tailor") for ask in sample.questions
    }

    found = study.result["all"]["agreement"]

    by_hand = {part: part_alpha(study.seats, parts, part) for part in PARTS}
    alphas = {part: figure["value"] for part, figure in found["parts"].items()}
    assert alphas == pytest.approx(by_hand)
    assert [part for part, alpha in alphas.items() if alpha is None] == ["motion_plausibility"], (
        "pictures do not move"
    )
    assert found["alpha_mean"]["value"] == pytest.approx(
        fmean(alpha for alpha in by_hand.values() if alpha)
    )
    assert found["alpha_mean"]["low"] < found["alpha_mean"]["value"] < found["alpha_mean"]["high"]
    marks = {
        name: mark_table(study.seats, name) for name in ("physical_realism", "perceptual_quality")
    }
    ratings = found["ratings"]
    for name, table in marks.items():
        alpha = krippendorff.alpha(reliability_data=table, level_of_measurement="ordinal")
        assert ratings[name]["alpha"]["value"] == pytest.approx(alpha)
        assert ratings[name]["spearman"]["value"] == pytest.approx(mean_rho(table))
    assert list(ratings) == list(marks)
    assert found["spearman"]["value"] == pytest.approx(fmean(map(mean_rho, marks.values())))


def part_alpha(
    seats: list[tuple[Seat, StudyItem]], parts: dict[tuple[str, str], str], part: str
) -> float | None:
    """The published package on the closed answers of one part; None if there are none."""
    mine = [
        (seat, item, name, value)
        for seat, item, name, value in closed(seats)
        if parts[item.behind["samples"]["A"], name] == part
    ]
    return unit_alpha(mine) if mine else None


def mark_table(seats: list[tuple[Seat, StudyItem]], name: str) -> list[list[float]]:
    """One rating's marks, raters as rows, items as columns."""
    given = {
        (seat.rater_id, item.id): float(seat.answers[name])
        for seat, item in seats
        if item.kind == "real"
    }
    raters, items = (sorted({key[at] for key in given}) for at in (0, 1))
    return [[given.get((rater, item), np.nan) for item in items] for rater in raters]


def mean_rho(table: list[list[float]]) -> float:
    """scipy's rank correlation, averaged over the pairs of raters."""
    pairs = (
        stats.spearmanr(first, second, nan_policy="omit")
        for first, second in combinations(table, 2)
    )
    return fmean(float(pair.statistic) for pair in pairs)


def independent_alpha(seats: list[tuple[Seat, StudyItem]]) -> float:
    """The published package on all closed answers, raters as rows."""
    return unit_alpha(list(closed(seats)))


def unit_alpha(said: list[tuple[Seat, StudyItem, str, float]]) -> float:
    raters = sorted({seat.rater_id for seat, *_ in said})
    units: dict[tuple[str, str], dict[str, float]] = {}
    for seat, item, name, value in said:
        units.setdefault((item.id, name), {})[seat.rater_id] = value
    table = [[unit.get(rater, np.nan) for unit in units.values()] for rater in raters]
    return float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


def independent_kappa(seats: list[tuple[Seat, StudyItem]]) -> float:
    """scikit-learn's kappa of the first two places of each item."""
    units: dict[tuple[str, str], dict[int, float]] = {}
    for seat, item, name, value in closed(seats):
        if seat.slot < 2:
            units.setdefault((item.id, name), {})[seat.slot] = value
    both = [(unit[0], unit[1]) for unit in units.values() if len(unit) == 2]
    return float(cohen_kappa_score([str(one) for one, _ in both], [str(two) for _, two in both]))


def closed(seats: list[tuple[Seat, StudyItem]]) -> Iterator[tuple[Seat, StudyItem, str, float]]:
    worth = {
        "yes": 1.0,
        "no": 0.0,
        "correct": 2.0,
        "partially_correct": 1.0,
        "incorrect": 0.0,
        True: 1.0,
        False: 0.0,
    }
    for seat, item in seats:
        for name, value in seat.answers.items():
            if item.kind == "real" and seat.state == "done" and name not in ("best", "worst"):
                if value == "unclear" and name != "grade":
                    yield seat, item, name, 0.0
                elif value in worth:
                    yield seat, item, name, worth[value]


def test_a_judge_is_held_against_people_per_metric_and_place(held: Callable[[str], Held]) -> None:
    study = held("universe")

    ((judge, metrics),) = study.result["judges"].items()

    with session(study.settings.database) as db:
        assert db.get_one(Judge, judge).kind == "auto"
    assert set(metrics) == {"graded_accuracy", "strict_accuracy"}
    places = metrics["graded_accuracy"]
    assert {name.partition(" ")[0] for name in places} == {
        "everything",
        "scenario",
        "setting",
        "modality",
    }
    assert places["everything"]["n"] == sum(
        one["n"] for name, one in places.items() if name.startswith("setting")
    )


def test_an_output_that_failed_counts_as_the_worst_and_is_shown_to_nobody(tmp_path: Path) -> None:
    settings = board(tmp_path / "home")
    (name, other) = enter(settings, "tailor", NAMES, tmp_path)
    lost = chosen("tailor")[0].id
    with session(settings.database) as db:
        row = db.get_one(Output, (name, lost))
        row.outcome = "output_invalid"
        db.add(row)

    items = items_of_board(settings, "tailor", [name, other], max_samples=24, seed=2)
    create(settings, StudyPlan("s", "tailor", "tailor", "S", raters_per_item=1), items)
    (key,) = invite(settings, "s", 1)
    move(settings, "s", "open")
    rate(settings, key, by_reading)
    move(settings, "s", "closed")
    publish(settings, "s")

    assert len(items) == 2 * len(chosen("tailor")) - 1
    with session(settings.database) as db:
        query = select(Score).join(Run).where(Run.submission_id == name, Score.sample_id == lost)
        outcomes = {one.outcome for one in db.exec(query) if one.metric != "motion_plausibility"}
        assert outcomes == {"output_invalid"}, (
            "a picture has no motion; the rest counts as the worst"
        )
        rater = db.exec(select(Rater)).one()
    erase(settings, rater.id)
    with session(settings.database) as db:
        for table in (Rater, Seat, SeatEvent, Verdict):
            assert not db.exec(select(table)).all(), f"{table.__name__}: nothing of theirs stays"
        scored = db.exec(select(Score).where(Score.outcome == "scored")).all()
        assert not scored, "what rested on their answers is gone"
