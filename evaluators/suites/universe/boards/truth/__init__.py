"""UNIVERSE's world models by rule: rollouts against what really follows in the game, no judge asked
(arXiv 2506.17967)"""

from dataclasses import replace

from evaluators.contracts import Scoring
from evaluators.suites.universe.boards import worlds
from evaluators.suites.universe.boards.worlds.looking import MEASURED
from evaluators.suites.universe.boards.worlds.metrics import RULE_METRICS
from evaluators.suites.universe.boards.worlds.scoring import OWN_JUDGE, score_by_rule

SUITE = replace(
    worlds.SUITE,
    name="universe_truth",
    title="UNIVERSE worlds, by the game",
    sentence="World models of a game: are their frames nearer to what really follows than a frozen "
    "picture, and does a probe read the buttons off them?",
    metrics=RULE_METRICS,
    scoring=Scoring(score_by_rule),
    pieces=MEASURED,
    own_judge=OWN_JUDGE,
    rating=None,
    exam=None,
)
