"""SC3-Eval: can a video world model tell good robot policies from bad ones? (arXiv 2606.18610)"""

from evaluators.contracts import Generation, Paper, Replay, Scoring, Suite
from evaluators.suites.sc3 import published
from evaluators.suites.sc3.metrics import METRICS
from evaluators.suites.sc3.producing import produce
from evaluators.suites.sc3.rating import RATING
from evaluators.suites.sc3.reading import card, read
from evaluators.suites.sc3.real import real_rollout
from evaluators.suites.sc3.samples import in_demo, in_full, samples
from evaluators.suites.sc3.scoring import score, tabulate
from evaluators.suites.sc3.yardsticks import yardsticks

SUITE = Suite(
    name="sc3",
    version="1.0",
    scorer_version="3",
    title="SC3-Eval",
    sentence="Robot policies inside a video world model: do they fare there as on the (simulated) "
    "table?",
    ranked="world models used as evaluators of policies",
    facet_titles={
        "scenario": "Split",
        "task": "Criterion or policy",
        "setting": "Mode",
        "modality": "Modality",
    },
    metrics=METRICS,
    samples=samples,
    subsets={"full": in_full, "demo": in_demo},
    accepts=("outputs", "model"),
    paper=Paper("https://arxiv.org/abs/2606.18610", published.published, published.facts),
    scoring=Scoring(score, tabulate=tabulate),
    generation=Generation(produce),
    own_judge=card(),
    replay=Replay(read, real_rollout),
    yardsticks=yardsticks(),
    rating=RATING,
)
