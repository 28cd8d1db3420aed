"""SC3-Eval: can a video world model tell good robot policies from bad ones? (arXiv 2606.18610)"""

from evaluators.contracts import Sample, Suite
from evaluators.suites.sc3 import published
from evaluators.suites.sc3.metrics import METRICS


def no_samples() -> tuple[Sample, ...]:
    """Not open for submissions yet: the board shows what the paper prints."""
    return ()


SUITE = Suite(
    name="sc3",
    version="1.0",
    scorer_version="1",
    title="SC3-Eval",
    sentence="Robot policies inside a video world model: do they fare there as they fare on the real table?",
    paper="https://arxiv.org/abs/2606.18610",
    ranked="world models used as evaluators of policies",
    facet_titles={"scenario": "Split", "task": "Criterion", "setting": "Mode", "modality": "Modality"},
    metrics=METRICS,
    samples=no_samples,
    published=published.published,
    facts=published.facts,
)
