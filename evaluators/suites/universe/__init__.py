"""UNIVERSE: how well does a vision-language model judge the rollouts of a world model? (arXiv
2506.17967)"""

from dataclasses import replace
from functools import cache

from evaluators.contracts import BankCard, Generation, Paper, Sample, Scoring, Suite
from evaluators.suites.universe import published
from evaluators.suites.universe.bank import (
    hand_out,
    in_demo,
    in_full,
    in_home,
    private_samples,
    samples,
)
from evaluators.suites.universe.metrics import METRICS
from evaluators.suites.universe.own_data import bank_samples
from evaluators.suites.universe.producing import prepare, produce
from evaluators.suites.universe.rating import RATING
from evaluators.suites.universe.scoring import OWN_JUDGE, score


def mount(card: BankCard) -> Suite:
    """A lab's own data under the same rules, with boards of their own."""

    @cache
    def own_clips() -> tuple[Sample, ...]:
        return bank_samples(card.folder)

    return replace(
        SUITE,
        name=card.suite_name,
        version=card.version,
        title=f"{SUITE.title}: {card.title}",
        samples=own_clips,
        subsets={"full": in_full},
        paper=None,
        private=None,
        mount=None,
    )


SUITE = Suite(
    name="universe",
    version="2.0",
    scorer_version="2",
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
    generation=Generation(produce, prepare=prepare),
    own_judge=OWN_JUDGE,
    private=private_samples,
    mount=mount,
    hand_out=hand_out,
    rating=RATING,
)
