"""UNIVERSE: how well does a vision-language model judge the rollouts of a world model? (arXiv 2506.17967)"""

from evaluators.contracts import Sample, Suite
from evaluators.suites.universe import published
from evaluators.suites.universe.metrics import METRICS


def no_samples() -> tuple[Sample, ...]:
    """Not open for submissions yet: the board shows what the paper prints."""
    return ()


SUITE = Suite(
    name="universe",
    version="1.0",
    scorer_version="1",
    title="UNIVERSE",
    sentence="Judges of rollouts: does a vision-language model see which action happened, and who is on the screen?",
    paper="https://arxiv.org/abs/2506.17967",
    ranked="vision-language models as judges",
    facet_titles={"scenario": "Environment", "task": "Recognition", "setting": "Format", "modality": "Modality"},
    metrics=METRICS,
    samples=no_samples,
    published=published.published,
    facts=published.facts,
)
