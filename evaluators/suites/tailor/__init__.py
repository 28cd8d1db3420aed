"""TailOR: does an image or video generator keep to physics when the tool is an unusual one? (arXiv
2606.24256)"""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from evaluators.contracts import Generation, Paper, Sample, Scoring, Suite
from evaluators.suites.tailor import published
from evaluators.suites.tailor.bank import MODALITIES, SETTINGS, samples
from evaluators.suites.tailor.exam import EXAM
from evaluators.suites.tailor.failures import SECOND_LOOK
from evaluators.suites.tailor.gaps import gaps
from evaluators.suites.tailor.metrics import METRICS
from evaluators.suites.tailor.producing import produce
from evaluators.suites.tailor.rating import RATING
from evaluators.suites.tailor.sanity import yardsticks
from evaluators.suites.tailor.scoring import score

INSTANCES = 5
DEMO_TASKS = ("cut_garden_twine", "pour_rice_bottle", "tie_newspaper_bundle")


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """One task of a few actions: enough to see the whole path, too few to rank anybody by."""
    return sample.cluster in DEMO_TASKS


def in_human80(sample: Sample) -> bool:
    """One prompt a task, for people: a fifth regular, two fifths unconventional and impossible
    each, and as many of each setting and modality."""
    return sample.id in _human80()


@cache
def _human80() -> frozenset[str]:
    """Tasks in an order by hash, dealt in turn to the twenty prompts that a task has."""
    tasks = sorted(
        {sample.cluster for sample in samples()}, key=lambda task: sha256(task.encode()).hexdigest()
    )
    kinds = [
        f"{index}.{setting}.{modality}"
        for index in range(INSTANCES)
        for setting in SETTINGS
        for modality in MODALITIES
    ]
    return frozenset(f"{task}.{kinds[place % len(kinds)]}" for place, task in enumerate(tasks))


def private_samples(folder: Path) -> tuple[Sample, ...]:
    """An operator's own samples, checked as they are read; the checks are loaded only where there
    are any."""
    from evaluators.suites.tailor.private import samples as read

    return read(folder)


SUITE = Suite(
    name="tailor",
    version="3.8",
    scorer_version="3",
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
    subsets={"full": in_full, "human80": in_human80, "demo": in_demo},
    accepts=("outputs", "model"),
    paper=Paper("https://arxiv.org/abs/2606.24256", published.published, published.facts),
    scoring=Scoring(score, derive=gaps),
    generation=Generation(produce),
    yardsticks=yardsticks(),
    second_look=SECOND_LOOK,
    private=private_samples,
    rating=RATING,
    exam=EXAM,
    judging=(files(__name__) / "prompts" / "judge.txt").read_text("utf-8"),
)
