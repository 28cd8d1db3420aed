"""The stand-in for a pre-trained vision-language model: a small PaliGemma that learned to read
drawn pictures.

Run `python -m evaluators.suites.universe.course.reader FOLDER` to make it again. It has seen no
picture of the game and no answer about it; its tokenizer knows the game's words, which mean nothing
to it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import choose_frames
from evaluators.suites.universe.course import drawn
from evaluators.suites.universe.course.drawn import EDGE, CameraPath, DrawnWall
from evaluators.suites.universe.questions import NO, YES, AnswerSpace, pairs
from evaluators.worlds.doom.places import ACTIONS, CHARACTERS

if TYPE_CHECKING:
    from evaluators.models.adapt.practice import MotionLesson, PictureLesson, PracticeStep
    from evaluators.models.small import VlmSize

GAME = AnswerSpace(tuple(sorted(ACTIONS)), tuple(sorted(CHARACTERS)))
CLASSES = (len(drawn.FIGURES), len(drawn.COLOURS))
MOVES = "How does the picture move?"
FIGURE = "Which figure is drawn?"
COLOUR = "Which colour has the figure?"
ASKED = {
    MOVES: ("Is the picture {label}?", drawn.SPACE.actions),
    FIGURE: ("Is {label} drawn?", drawn.FIGURES),
    COLOUR: ("Is the figure {label}?", tuple(sorted(drawn.COLOURS))),
}
"""Each open question, the yes/no question that goes with it, and its answers."""
FORMS, WEIGHTS = ("binary", "choice", "open"), (0.35, 0.2, 0.45)


@dataclass(frozen=True, slots=True)
class PretrainingPlan:
    """How long each part of the pre-training takes, and from how many walls."""

    walls: int = 3000
    tower_steps: int = 1500
    motion_steps: int = 900
    aloud_steps: int = 400
    steps: int = 500
    seed: int = 0


def size() -> VlmSize:
    """A PaliGemma of about a million parameters: 16 visual tokens a frame, so that eight frames are
    quick."""
    from evaluators.models.small import VlmSize

    return VlmSize(
        image=EDGE,
        patch=16,
        vision_width=96,
        vision_layers=2,
        vision_heads=4,
        width=128,
        layers=4,
        heads=4,
        kv_heads=2,
        mlp=256,
        spread=0.05,
        embedding=1.0,
    )


def make(folder: Path, course: PretrainingPlan, report: Callable[[str], None]) -> Path:
    """Build the model from config, teach it, and save it as an ordinary folder."""
    from evaluators.models.adapt.practice import practise, teach_motion, teach_tower
    from evaluators.models.adapt.train import TrainingPlan
    from evaluators.models.small import make_paligemma
    from evaluators.models.vlm.judge import load_model

    model, processor = load_model(make_paligemma(folder, course.seed, size(), sentences()))
    walls = Walls(course.walls, course.seed)

    def plan(steps: int, rate: float) -> TrainingPlan:
        return TrainingPlan(steps=steps, rate=rate, seed=course.seed)

    def told(stage: str) -> Callable[[int, float], None]:
        return _report_every(50, report, stage)

    teach_tower(
        model, processor, walls.pictures, CLASSES, plan(course.tower_steps, 2e-3), told("tower")
    )
    teach_motion(model, processor, walls.motion, plan(course.motion_steps, 1e-3), told("motion"))
    model.save_pretrained(folder)
    teach_motion(
        model,
        processor,
        lambda step: walls.motion(step + course.motion_steps),
        plan(course.aloud_steps, 1e-3),
        told("aloud"),
        aloud=True,
    )
    model.save_pretrained(folder)
    practise(model, processor, walls.turn, plan(course.steps, 7e-4), told("words"))
    model.save_pretrained(folder)
    return folder


def sentences() -> tuple[str, ...]:
    """Every word of the drawn questions and of the game's, alone and behind a space: what the
    tokenizer is trained on."""
    text = " ".join(
        f"{question} {binary} {' '.join(labels)}" for question, (binary, labels) in ASKED.items()
    )
    for action, character in _labels():
        game_pairs = pairs(action, character, GAME, 0)
        text += " " + " ".join(f"{pair.question} {pair.answer}" for pair in game_pairs)
    words = sorted({"answer", "en", *(word.strip(",.:?") for word in text.split())})
    return tuple(f"{word} {word}" for word in words)


def shrunk(frames: Pixels) -> Pixels:
    """Frames at the model's size, resized as its image processor does."""
    from PIL import Image

    pictures = (
        Image.fromarray(frame).resize((EDGE, EDGE), Image.Resampling.BICUBIC) for frame in frames
    )
    return np.stack([np.asarray(picture) for picture in pictures])


class Walls:
    """Drawn walls, and the lessons that are filmed before them; each step has draws of its own."""

    def __init__(self, number: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 8])
        self.seed, self.walls = seed, [drawn.draw_wall(rng) for _ in range(number)]

    def pictures(self, step: int, number: int = 64) -> PictureLesson:
        """Single pictures, with figure, colour and place of each."""
        from evaluators.models.adapt.practice import PictureLesson

        rng = np.random.default_rng([self.seed, step, 9])
        frames, classes, places = [], [], []
        for wall, path in self._filmed(rng, number):
            frames.append(drawn.film(wall, path, (0,))[0])
            figure, colour = drawn.FIGURES.index(wall.figure), list(drawn.COLOURS)
            classes.append((figure, colour.index(wall.colour)))
            offsets = (wall.at[0] - path.x[0], wall.at[1] - path.y[0])
            places.append(tuple(0.5 + 0.4 * off * path.zoom[0] / (EDGE / 2) for off in offsets))
        return PictureLesson(np.stack(frames), tuple(classes), tuple(places))

    def motion(self, step: int, number: int = 24, count: int = 4) -> MotionLesson:
        """Clips of four frames, how the camera moved, and a question about it."""
        from evaluators.models.adapt.practice import MotionLesson

        rng = np.random.default_rng([self.seed, step, 19])
        chosen = choose_frames(drawn.FRAMES, count, "uniform_n")
        filmed = list(self._filmed(rng, number))
        frames = np.stack([drawn.film(wall, path, chosen) for wall, path in filmed])
        questions = tuple((ask(MOVES, path.motion, rng),) for _, path in filmed)
        return MotionLesson(frames, questions, tuple(path.moves for _, path in filmed))

    def turn(self, step: int, number: int = 20) -> PracticeStep:
        """Lessons of one step: two, four or eight frames, one question each, under the model's own
        mask."""
        from evaluators.models.adapt.batches import Lesson
        from evaluators.models.adapt.practice import PracticeStep

        rng = np.random.default_rng([self.seed, step, 10])
        count = int(rng.choice([1, 2, 4, 8], p=[0.1, 0.2, 0.45, 0.25]))
        chosen = choose_frames(drawn.FRAMES, count, "uniform_n")
        lessons = []
        for wall, path in self._filmed(rng, number if count < 8 else number // 2):
            truth = {MOVES: path.motion, FIGURE: wall.figure, COLOUR: wall.colour}
            question = str(rng.choice(list(truth), p=[0.5, 0.3, 0.2]))
            asked = ask(question, truth[question], rng)
            lessons.append(Lesson(drawn.film(wall, path, chosen), (asked,)))
        return PracticeStep("own", lessons)

    def _filmed(
        self, rng: np.random.Generator, number: int
    ) -> Iterator[tuple[DrawnWall, CameraPath]]:
        for wall_number in rng.integers(0, len(self.walls), number):
            wall = self.walls[int(wall_number)]
            yield wall, drawn.draw_path(rng, str(rng.choice(drawn.MOTIONS)), wall.at)


def ask(question: str, truth: str, rng: np.random.Generator) -> tuple[str, str]:
    """One of the three formats of a question, with its answer."""
    binary, labels = ASKED[question]
    form = str(rng.choice(FORMS, p=WEIGHTS))
    if form == "open":
        return question, truth
    if form == "choice":
        return f"{question} Choose one: {', '.join(labels)}.", truth
    wrong = str(rng.choice([label for label in labels if label != truth]))
    says = bool(rng.uniform() < 0.5)
    return binary.format(label=truth if says else wrong), YES if says else NO


def _labels() -> Sequence[tuple[str, str]]:
    actions, characters = GAME.actions, GAME.characters
    return [
        (actions[number % len(actions)], characters[number % len(characters)])
        for number in range(len(characters))
    ]


def _report_every(
    steps: int, report: Callable[[str], None], stage: str
) -> Callable[[int, float], None]:
    recent: list[float] = []
    began = time.monotonic()

    def tell(step: int, loss: float) -> None:
        recent.append(loss)
        if (step + 1) % steps == 0:
            report(
                f"{stage} step {step + 1}: loss {np.mean(recent[-steps:]):.3f}, "
                f"{time.monotonic() - began:.0f} s"
            )

    return tell


if __name__ == "__main__":
    make(Path(sys.argv[1]), PretrainingPlan(), lambda text: print(text, flush=True))  # noqa: T201
