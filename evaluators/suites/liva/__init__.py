"""L-IVA with the ORCA agent: can a video avatar carry out an intention, step by step? (arXiv
2512.20615)"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.resources import files

from evaluators.contracts import BankCard, Generation, Paper, Pieces, Sample, Scoring, Suite
from evaluators.suites.liva import published
from evaluators.suites.liva.bank import (
    DEMO,
    SETTINGS,
    hand_out,
    private_samples,
    samples,
    samples_of,
)
from evaluators.suites.liva.cases.folder import load
from evaluators.suites.liva.exam import EXAM
from evaluators.suites.liva.metrics import METRICS
from evaluators.suites.liva.producing import film, produce, take_over
from evaluators.suites.liva.rating import RATING
from evaluators.suites.liva.scoring import parts, score, tabulate

FAMILY = "L-IVA"
"""What every bank of cases under these rules is called; ours are drawn."""


def in_full(_sample: Sample) -> bool:
    """Everything: each case in each loop."""
    return True


def in_demo(sample: Sample) -> bool:
    """Two short cases in the closed loop and without any."""
    return sample.facets.task in DEMO and sample.facets.setting in ("closed_loop", "single_clip")


def _in(setting: str) -> Callable[[Sample], bool]:
    return lambda sample: sample.facets.setting == setting


def mount(card: BankCard) -> Suite:
    """A lab's own cases under the same rules, with boards of their own."""

    @cache
    def cases_in_loops() -> tuple[Sample, ...]:
        return samples_of(load(card.folder))

    subsets = {name: chosen for name, chosen in SUITE.subsets.items() if name != "demo"}
    return replace(
        SUITE,
        name=card.suite_name,
        version=card.version,
        title=f"{FAMILY}: {card.title}",
        samples=cases_in_loops,
        subsets=subsets,
        paper=None,
        private=None,
        mount=None,
    )


SUITE = Suite(
    name="liva",
    version="2.1",
    scorer_version="3",
    title=f"{FAMILY}: drawn cases",
    sentence="Active video avatars: an agent plans, films, looks and corrects itself until the job "
    "is done. The 35 cases are drawings, not photographs.",
    ranked="avatar agents",
    facet_titles={
        "scenario": "Scene",
        "task": "Intention",
        "setting": "Loop",
        "modality": "Modality",
    },
    metrics=METRICS,
    samples=samples,
    subsets={"full": in_full, "demo": in_demo, **{setting: _in(setting) for setting in SETTINGS}},
    accepts=("outputs", "model"),
    paper=Paper("https://arxiv.org/abs/2512.20615", published.published, published.facts),
    scoring=Scoring(score, tabulate=tabulate),
    generation=Generation(produce, film=film),
    pieces=Pieces(take_over, parts),
    private=private_samples,
    mount=mount,
    hand_out=hand_out,
    rating=RATING,
    exam=EXAM,
    judging=(files(__name__) / "prompts" / "judge.txt").read_text("utf-8"),
)
