"""What the SC3 experiment trains: one tokeniser for all, and each variant of the small model for
each seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from time import process_time

from evaluators.models.dynamics.course import (
    EYES,
    DynamicsCourse,
    learn_to_foresee,
    lessons,
    load_or_train_eyes,
)
from evaluators.models.dynamics.flow_matching import SHARES
from evaluators.models.dynamics.model import Mode
from evaluators.models.dynamics.tokeniser import Tokeniser
from evaluators.models.dynamics.training import LatentLessons, load
from evaluators.models.dynamics.world import DynamicsWorld, open_world
from evaluators.suites.sc3.samples import SHIPPED

FOLDER = Path(".armillary/bench/sc3")
CODE = (
    "evaluators/models/dynamics/*.py",
    "evaluators/worlds/*/*.py",
    "evaluators/suites/sc3/**/*.py",
    "tests/bench/sc3*.py",
)
SEEDS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to train: which modes are practised, how far ahead is looked, whether it is told how
    near things come."""

    name: str
    shares: Mapping[Mode, float] = field(default_factory=lambda: dict(SHARES))
    horizon: int = 24
    nearness: bool = True

    def folder(self, where: Path, seed: int) -> Path:
        """Where its model of that seed lies."""
        return where / f"{self.name.replace(' ', '-')}-{seed}"


VARIANTS = (
    Variant("full"),
    Variant("without inverse", {"forward": 0.9, "cross_view": 0.1}),
    Variant("without cross-view", {"forward": 0.9, "inverse": 0.1}),
    Variant("without decoupled horizon", horizon=16),
    Variant("forward only", {"forward": 1.0}),
    Variant("without nearness", nearness=False),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is practised and measured: the experiment's, or a minute's worth for the tests."""

    course: DynamicsCourse = field(default_factory=DynamicsCourse)
    starts: int = 36
    seeds: tuple[int, ...] = SEEDS
    variants: tuple[Variant, ...] = VARIANTS
    shipped_eyes: bool = False

    def folder(self) -> Path:
        """Another effort, or other code, is kept elsewhere: nothing stale is ever read."""
        said = [repr(asdict(self)).encode()]
        said += [path.read_bytes() for pattern in CODE for path in sorted(Path().glob(pattern))]
        return FOLDER / sha256(b"".join(said)).hexdigest()[:12]


def tokeniser(where: Path, effort: Effort) -> Tokeniser:
    """Trained once and kept, or the shipped one: all seeds and variants see with the same eyes."""
    if effort.shipped_eyes:
        return load(SHIPPED / "full")[1]
    return load_or_train_eyes(where / EYES, effort.course, told("tokeniser"))


_LESSONS: dict[Path, LatentLessons] = {}


def model(where: Path, effort: Effort, variant: Variant, seed: int) -> DynamicsWorld:
    """A variant for a seed, trained if it is not there; a killed training goes on where it was."""
    spot, eyes = variant.folder(where, seed), tokeniser(where, effort)
    if where not in _LESSONS:
        _LESSONS[where] = lessons(effort.course, eyes)
    course = replace(
        effort.course,
        training=replace(effort.course.training, seed=seed, shares=variant.shares),
        dynamics=replace(
            effort.course.dynamics, horizon=variant.horizon, nearness=variant.nearness
        ),
    )
    learn_to_foresee(spot, course, eyes, told(spot.name), _LESSONS[where])
    return open_world(spot, f"{variant.name}, seed {seed}")


def told(name: str):  # type: ignore[no-untyped-def]
    """Progress: a line a hundred steps."""
    begun, seen = process_time(), list[float]()

    def each(_what: str, step: int, loss: float) -> None:
        seen.append(loss)
        if step % 100 == 0:
            recent = sum(seen[-100:]) / len(seen[-100:])
            print(
                f"{name}: step {step}, loss {recent:.3f}, {process_time() - begun:.0f} CPU s",
                flush=True,
            )

    return each
