"""SC3-Eval: can a video world model tell good robot policies from bad ones? (arXiv 2606.18610)"""

from evaluators.contracts import BankCard, Generation, Paper, Replay, Scoring, Suite
from evaluators.suites.sc3 import published
from evaluators.suites.sc3.metrics import METRICS
from evaluators.suites.sc3.own.mounting import mount as mount_robot
from evaluators.suites.sc3.producing import produce
from evaluators.suites.sc3.rating import RATING
from evaluators.suites.sc3.reading import card, read, read_yardstick
from evaluators.suites.sc3.real import hand_out, real_rollout
from evaluators.suites.sc3.samples import in_demo, in_full, in_loop, private_samples, samples
from evaluators.suites.sc3.scoring import score, tabulate
from evaluators.suites.sc3.yardsticks import yardsticks


def mount(card: BankCard) -> Suite:
    """A lab's own robot under the same rules, with boards of its own."""
    return mount_robot(card, SUITE)


SUITE = Suite(
    name="sc3",
    version="3.0",
    scorer_version="8",
    title="SC3-Eval",
    sentence="Robot policies inside a video world model: do they fare there as on the table, a "
    "robot simulator?",
    ranked="world models used as evaluators of policies",
    facet_titles={
        "scenario": "Split",
        "task": "Criterion or policy",
        "setting": "Mode",
        "modality": "Modality",
    },
    metrics=METRICS,
    samples=samples,
    subsets={"full": in_full, "demo": in_demo, "loop": in_loop},
    accepts=("outputs", "model"),
    paper=Paper("https://arxiv.org/abs/2606.18610", published.published, published.facts),
    scoring=Scoring(score, tabulate=tabulate),
    generation=Generation(produce),
    own_judge=card(),
    replay=Replay(read, real_rollout, read_yardstick),
    yardsticks=yardsticks(),
    hand_out=hand_out,
    private=private_samples,
    rating=RATING,
    mount=mount,
)
