"""UNIVERSE: how well does a vision-language model judge the rollouts of a world model? (arXiv
2506.17967)"""

from evaluators.contracts import Generation, Paper, Scoring, Suite
from evaluators.suites.universe import published
from evaluators.suites.universe.bank import in_demo, in_full, in_home, samples
from evaluators.suites.universe.metrics import METRICS
from evaluators.suites.universe.producing import produce
from evaluators.suites.universe.rating import RATING
from evaluators.suites.universe.scoring import OWN_JUDGE, score

SUITE = Suite(
    name="universe",
    version="1.0",
    scorer_version="1",
    title="UNIVERSE",
    sentence="Judges of rollouts: does a vision-language model see which action happened, and who "
    "is on the screen?",
    ranked="vision-language models as judges",
    facet_titles={
        "scenario": "Environment",
        "task": "Recognition",
        "setting": "Format",
        "modality": "Modality",
    },
    metrics=METRICS,
    samples=samples,
    subsets={"full": in_full, "home": in_home, "demo": in_demo},
    accepts=("outputs", "model"),
    paper=Paper("https://arxiv.org/abs/2506.17967", published.published, published.facts),
    scoring=Scoring(score),
    generation=Generation(produce),
    own_judge=OWN_JUDGE,
    rating=RATING,
)
