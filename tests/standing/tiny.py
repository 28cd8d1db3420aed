"""A tiny suite with made-up scores, and entries of it that are published without a judge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sqlmodel import Session

from evaluators.aggregate.columns import without_intervals
from evaluators.aggregate.summaries import summaries
from evaluators.contracts import (
    Cell,
    Facets,
    JudgeCard,
    Metric,
    Outcome,
    Sample,
    Score,
    Scoring,
    Suite,
)
from flows.publish.publish import rank
from flows.run.board_keys import board_key
from flows.run.catalogue import judge_row
from flows.run.score_rows import store_results
from infra import tables
from infra.db import add_new, put

JUDGE = JudgeCard("Dice judge", "auto", "dice", "1", "", "greedy", "8 uniform", "", "1")
METRICS = (
    Metric(
        "index", "Index", "percent", "higher", 0, 100, "made up", headline=True, macro=("scenario",)
    ),
    Metric("harm", "Harm", "percent", "lower", 100, 0, "made up"),
    Metric("gap", "Gap", "points", "lower", 100, -100, "common minus rare"),
)


def _samples() -> tuple[Sample, ...]:
    return tuple(
        Sample(
            f"task{task}.{scenario}.{modality}",
            Facets(scenario, f"kind{task % 2}", "plain", modality),
            f"task{task}",
            "",
        )
        for task in range(12)
        for scenario in ("common", "rare")
        for modality in ("image", "video")
    )


def _gaps(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Common minus rare, wherever both are."""
    index = {cell.facets: cell for cell in cells if cell.metric == "index"}
    found = []
    for at, cell in index.items():
        sides = [index.get(replace(at, scenario=name)) for name in ("common", "rare")]
        if at.scenario == "*" and all(side and side.value is not None for side in sides):
            value = sides[0].value - sides[1].value  # type: ignore[union-attr, operator]
            found.append(replace(cell, metric="gap", value=value, low=None, high=None))
    return tuple(found)


SUITE = Suite(
    name="tiny",
    version="1",
    scorer_version="1",
    title="Tiny",
    sentence="A made-up suite.",
    ranked="dice",
    facet_titles={},
    metrics=METRICS,
    samples=_samples,
    subsets={"full": lambda _sample: True},
    accepts=("outputs",),
    scoring=Scoring(lambda *_: (), derive=_gaps),  # type: ignore[arg-type]
)


@dataclass(frozen=True, slots=True)
class Dice:
    """An entry: who hands it in, how good it is, and what is special about it."""

    id: str
    skill: float
    team: str = ""
    model: str = ""
    modalities: tuple[str, ...] = ("image", "video")
    trust: str = "B"
    role: str = "entry"
    partial: bool = False
    seed: int | None = None
    judge: JudgeCard = JUDGE


def load(db: Session) -> None:
    """The rows that an entry refers to."""
    row = {
        "name": "tiny",
        "position": 9,
        "version": "1",
        "scorer_version": "1",
        "items_sha256": "",
        "title": "Tiny",
    }
    texts = {"sentence": "", "paper": "", "ranked": ""}
    put(
        db,
        tables.Suite,
        [{**row, **texts, "facet_titles": {}, "subsets": {}, "accepts": [], "facts": []}],
    )
    kept = ("name", "title", "unit", "direction", "worst", "best", "explain", "headline")
    rows = [
        {"suite": "tiny", "position": n, **{k: getattr(m, k) for k in kept}}
        for n, m in enumerate(METRICS)
    ]
    put(db, tables.Metric, rows)


def enter(db: Session, dice: Dice, suite: Suite = SUITE) -> tables.Run:
    """Hand in, score and publish an entry."""
    submission, run = _rows(db, dice, suite)
    samples = asked(dice)
    scores = scored(dice, samples)
    store_results(db, run.id, scores, without_intervals(suite, samples, scores))
    rank(db, suite, submission, run, summaries(suite, samples, scores))
    return run


def asked(dice: Dice) -> list[Sample]:
    """The samples an entry answers."""
    return [sample for sample in SUITE.samples() if sample.facets.modality in dice.modalities]


def scored(dice: Dice, samples: list[Sample]) -> list[Score]:
    """Scores around the entry's skill; the same seed gives the same."""
    random = np.random.default_rng(int(dice.skill * 1000) if dice.seed is None else dice.seed)
    found = []
    for sample in samples:
        hard = 8.0 if sample.facets.scenario == "rare" else 0.0
        task = float(sample.cluster.removeprefix("task"))
        value = float(np.clip(dice.skill - hard + task / 2 + random.normal(0, 1), 0, 100))
        found.append(Score(sample.id, "index", Outcome.SCORED, value))
        found.append(Score(sample.id, "harm", Outcome.SCORED, 100 - value))
    return found


def _rows(db: Session, dice: Dice, suite: Suite) -> tuple[tables.Submission, tables.Run]:
    team, model = dice.team or f"team {dice.id}", dice.model or f"model {dice.id}"
    submission = tables.Submission(
        id=f"sub-{dice.id}",
        team=team,
        model=model,
        organisation=team,
        suite="tiny",
        suite_version="1",
        subset="full",
        kind="outputs",
        trust=dice.trust,
        role=dice.role,
        state="published",
        bundle_sha256=dice.id,
        manifest={"partial": dice.partial, "modalities": list(dice.modalities)},
    )
    judge = judge_row(dice.judge)
    add_new(db, tables.Judge, [judge])
    add_new(db, tables.Submission, [submission.model_dump()])
    board = board_key(suite, "full", judge["fingerprint"])
    why = (
        "handed in as partial" if dice.partial else "" if dice.role == "entry" else f"a {dice.role}"
    )
    run = tables.Run(
        id=f"run-{dice.id}-{board[:4]}",
        submission_id=submission.id,
        board=board,
        suite="tiny",
        suite_version="1",
        scorer_version=suite.scorer_version,
        subset="full",
        judge=judge["fingerprint"],
        state="published",
        eligible=not why,
        why_not=why,
        n_scored=len(asked(dice)),
        n_expected=len(asked(dice)),
        published_at=tables.now(),
    )
    add_new(db, tables.Run, [run.model_dump()])
    return submission, run
