"""L-IVA with the ORCA agent: can a video avatar carry out an intention, step by step? (arXiv 2512.20615)"""

from evaluators.contracts import Sample, Suite
from evaluators.suites.liva import published
from evaluators.suites.liva.metrics import METRICS


def no_samples() -> tuple[Sample, ...]:
    """Not open for submissions yet: the board shows what the paper prints."""
    return ()


SUITE = Suite(
    name="liva",
    version="1.0",
    scorer_version="1",
    title="L-IVA",
    sentence="Active video avatars: an agent plans, films, looks and corrects itself until the job is done.",
    paper="https://arxiv.org/abs/2512.20615",
    ranked="avatar agents",
    facet_titles={"scenario": "Scene", "task": "Intention", "setting": "Loop", "modality": "Modality"},
    metrics=METRICS,
    samples=no_samples,
    published=published.published,
    facts=published.facts,
)
