"""UNIVERSE's second board: world models, by what a judge sees in their rollouts of a game (arXiv
2506.17967)"""

from evaluators.contracts import Paper, Scoring, Suite
from evaluators.suites.universe.boards.worlds.bank import hand_out, in_demo, in_full, samples
from evaluators.suites.universe.boards.worlds.exam import EXAM
from evaluators.suites.universe.boards.worlds.looking import JUDGED
from evaluators.suites.universe.boards.worlds.metrics import (
    JUDGE_METRICS,
    PEOPLE_METRICS,
    RULE_METRICS,
)
from evaluators.suites.universe.boards.worlds.rating import RATING
from evaluators.suites.universe.boards.worlds.scoring import score
from evaluators.suites.universe.boards.worlds.yardsticks import yardsticks

LINK = "https://arxiv.org/abs/2506.17967"

SUITE = Suite(
    name="universe_worlds",
    version="1.0",
    scorer_version="1",
    title="UNIVERSE worlds",
    sentence="World models of a game: does a judge, do people see in a rollout what the buttons "
    "did, and who was there?",
    ranked="world models by their rollouts",
    facet_titles={
        "scenario": "Setting",
        "task": "Action",
        "setting": "Question",
        "modality": "Modality",
    },
    metrics=(*JUDGE_METRICS, *PEOPLE_METRICS, *RULE_METRICS),
    samples=samples,
    subsets={"full": in_full, "demo": in_demo},
    accepts=("outputs",),
    paper=Paper(LINK, lambda: (), lambda: ()),
    scoring=Scoring(score),
    pieces=JUDGED,
    yardsticks=yardsticks(),
    hand_out=hand_out,
    rating=RATING,
    exam=EXAM,
)
