"""What the SC3 experiment trains: each variant of the small video world model for each seed, from
the same practice, and the gates of each full one."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from evaluators.media import sha256_file
from evaluators.models.video_world.folder import CONFIG, WEIGHTS
from evaluators.models.video_world.gates import GateReport, measure_gates
from evaluators.models.video_world.table_course import (
    MOTION,
    TableCourse,
    TablePractice,
    practise_table,
    with_modes,
)
from evaluators.models.video_world.training import PreparedLessons, prepare, train_on
from evaluators.models.video_world.world import VideoWorld, open_world
from evaluators.suites.sc3.rollouts.trajectories import write_whole
from evaluators.suites.sc3.yardsticks import SHIPPED_WORLD

FOLDER = Path(".armillary/bench/sc3")
PRACTICE = Path(".armillary/bench/sc3_practice")
CODE = (
    "evaluators/models/video_world/**/*.py",
    "evaluators/worlds/tabletop/*.py",
    "evaluators/suites/sc3/**/*.py",
    "tests/bench/sc3*.py",
)
SEEDS = (0, 1, 2)
ALL, FORWARD = ("forward", "cross_view", "inverse"), ("forward",)


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to train: which modes are practised, how far ahead is looked. `about` is the mode that
    a comparison with it speaks of, so that the full model has to have learned it."""

    name: str
    modes: tuple[str, ...] = ALL
    horizon: int = 24
    about: str = "forward"

    def folder(self, where: Path, seed: int) -> Path:
        """Where its model of that seed lies."""
        return where / f"{self.name.replace(' ', '-')}-{seed}"


FULL = Variant("full")
VARIANTS = (
    FULL,
    Variant("without inverse", ("forward", "cross_view"), about="inverse"),
    Variant("without cross-view", ("forward", "inverse"), about="cross_view"),
    Variant("without decoupled horizon", horizon=16),
    Variant("forward only", FORWARD),
)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is practised and measured: the experiment's, or a minute's worth for the tests."""

    course: TableCourse = field(default_factory=TableCourse)
    starts: int = 10
    seeds: tuple[int, ...] = SEEDS
    variants: tuple[Variant, ...] = VARIANTS
    practice: Path = PRACTICE
    clips: int = 48

    def folder(self) -> Path:
        """Another effort, or other code, is kept elsewhere: nothing stale is ever read. What a seed
        gives hangs on no other, so of what is made fewer can be asked."""
        words = [repr(asdict(replace(self, seeds=()))).encode()]
        words += [path.read_bytes() for pattern in CODE for path in sorted(Path().glob(pattern))]
        return FOLDER / sha256(b"".join(words)).hexdigest()[:12]


@cache
def practice(effort: Effort) -> TablePractice:
    """Recorded once and kept, read once a process."""
    return practise_table(effort.course, effort.practice, lambda name: print(name, flush=True))


@cache
def prepared(effort: Effort) -> PreparedLessons:
    """Codec and lessons, which are the same for every variant and seed: made once a process."""
    return prepare(practice(effort).learned, effort.course.config)


def model(where: Path, effort: Effort, variant: Variant, seed: int) -> VideoWorld:
    """A variant for a seed, trained if it is not there; a killed training goes on where it was."""
    folder = variant.folder(where, seed)
    if not (folder / CONFIG).is_file():
        course = with_modes(effort.course, variant.modes, variant.horizon, seed)
        shown = _progress(folder.name)
        train_on(prepared(effort), course.config, course.plan, folder, shown)
    return open_world(folder)


def never_stopping(world: VideoWorld) -> VideoWorld:
    """The same world without a tau: what is stopped is decided afterwards."""
    trained = world.model
    return replace(world, model=replace(trained, config=replace(trained.config, tau=None)))


def shipped(effort: Effort) -> tuple[Path, Effort]:
    """Where and how the shipped model alone is asked; its gates are shipped beside it."""
    where = effort.folder() / sha256_file(SHIPPED_WORLD / WEIGHTS)[:12]
    shutil.copytree(SHIPPED_WORLD, FULL.folder(where, 0), dirs_exist_ok=True)
    return where, replace(effort, seeds=(0,), variants=(FULL,))


def gates(where: Path, effort: Effort, seed: int) -> GateReport:
    """The gates of the full model of a seed on practice it never learned from, measured once."""
    path = FULL.folder(where, seed) / "gates.json"
    if not path.is_file():
        world = model(where, effort, FULL, seed)
        report = measure_gates(world.model, practice(effort).held_out, MOTION, effort.clips, seed)
        write_whole(path, json.dumps(report.as_json()).encode())
    return GateReport.from_json(json.loads(path.read_text("utf-8")))


def _progress(name: str):  # type: ignore[no-untyped-def]
    """A line a hundred steps."""
    recent: list[float] = []

    def show(step: int, loss: float) -> None:
        recent.append(loss)
        if step % 100 == 0:
            print(f"{name}: step {step}, loss {sum(recent[-100:]) / 100:.3f}", flush=True)

    return show
