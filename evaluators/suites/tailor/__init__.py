"""TailOR: does an image or video generator keep to physics when the tool is an unusual one? (arXiv
2606.24256)"""

from functools import cache
from pathlib import Path

from evaluators.contracts import Generation, Paper, Sample, Scoring, Suite
from evaluators.suites.tailor import published
from evaluators.suites.tailor.bank import samples
from evaluators.suites.tailor.exam import EXAM
from evaluators.suites.tailor.failures import SECOND_LOOK
from evaluators.suites.tailor.gaps import gaps
from evaluators.suites.tailor.metrics import METRICS
from evaluators.suites.tailor.producing import produce
from evaluators.suites.tailor.rating import RATING
from evaluators.suites.tailor.sanity import yardsticks
from evaluators.suites.tailor.scoring import score

DEMO_TASKS = ("cut_", "pour_", "tie_")


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """The first task of a few actions: enough to see the whole path, too few to rank anybody by."""
    return sample.cluster in _demo_clusters()


@cache
def _demo_clusters() -> frozenset[str]:
    clusters = dict.fromkeys(sample.cluster for sample in samples())
    return frozenset(
        next(name for name in clusters if name.startswith(start)) for start in DEMO_TASKS
    )


def private_samples(folder: Path) -> tuple[Sample, ...]:
    """An operator's own samples, checked as they are read; the checks are loaded only where there
    are any."""
    from evaluators.suites.tailor.private import samples as read

    return read(folder)


SUITE = Suite(
    name="tailor",
    version="1.1",
    scorer_version="1",
    title="TailOR",
    sentence="Long-tail tool use: what happens when the job is done with a shoe instead of a "
    "hammer, or with a banana?",
    ranked="image and video generators",
    facet_titles={
        "scenario": "Scenario",
        "task": "Action",
        "setting": "Setting",
        "modality": "Modality",
    },
    metrics=METRICS,
    samples=samples,
    subsets={"full": in_full, "demo": in_demo},
    accepts=("outputs", "model"),
    paper=Paper("https://arxiv.org/abs/2606.24256", published.published, published.facts),
    scoring=Scoring(score, derive=gaps),
    generation=Generation(produce),
    yardsticks=yardsticks(),
    second_look=SECOND_LOOK,
    private=private_samples,
    rating=RATING,
    exam=EXAM,
)
