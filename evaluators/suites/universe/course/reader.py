"""The stand-in for a pre-trained vision-language model: a small PaliGemma that learned to read
drawn pictures.

Run `python -m evaluators.suites.universe.course.reader FOLDER` to make it again. It has seen no
picture of the game and no answer about it; its tokenizer knows the game's words, which mean nothing
to it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import choose_frames
from evaluators.suites.universe.course import drawn
from evaluators.suites.universe.course.drawn import EDGE
from evaluators.suites.universe.course.rooms import (
    MOTIONS,
    draw_room,
    draw_shot,
    film_room,
    papers_of,
    through_a_lens,
)
from evaluators.suites.universe.questions import NO, YES, AnswerSpace, pairs
from evaluators.worlds.doom.places import ACTIONS, CHARACTERS

if TYPE_CHECKING:
    from evaluators.models.adapt.practice import MotionLesson, PracticeStep
    from evaluators.models.small import VlmSize

GAME = AnswerSpace(tuple(sorted(ACTIONS)), tuple(sorted(CHARACTERS)))
MOVES = "How does the picture move?"
FIGURE = "Which figure is drawn?"
COLOUR = "Which colour has the figure?"
ASKED = {
    MOVES: ("Is the picture {label}?", drawn.SPACE.actions),
    FIGURE: ("Is {label} drawn?", drawn.FIGURES),
    COLOUR: ("Is the figure {label}?", tuple(sorted(drawn.COLOURS))),
}
"""Each open question, the yes/no question that goes with it, and its answers."""
CARD = """# armillary/drawn-reader: a small model

A PaliGemma-class model of 1.1 million parameters (SigLIP 128 x 1 layer, 96 pixels, patch 24;
Gemma 2 128 x 3 layers), built from config and taught on drawn pictures only
(`evaluators/suites/universe/course/`): shapes and letters before drawn walls, and drawn rooms,
under a camera that slides, swings, zooms, hops or blinks, under PaliGemma's own mask. It
stands in for a pre-trained vision-language model where none can be downloaded. It has never seen
the game nor an answer about it; its tokenizer knows the game's words.

Its tower, projector and first decoder layer were not learned but set
(`evaluators/models/vlm/beginning.py`): a cosine transform of each patch, heads that look one
frame back, and units that multiply now with before, as the gradient rule of optical flow does. The
other layers learned to read that. Which rule, and how sharp the look back is, was settled by probes
on clips of the game; no weight was fitted to them.

`python -m evaluators.suites.universe.course.reader FOLDER` makes it in one go (seed {seed}, one
core, about eight CPU minutes); the weights are kept as bf16. Its last losses: {losses}.
"""
FORMS, WEIGHTS = ("binary", "choice", "open"), (0.35, 0.2, 0.45)


@dataclass(frozen=True, slots=True)
class PretrainingPlan:
    """How long each part of the pre-training takes, and from how much drawn material."""

    walls: int = 1000
    rooms: int = 1500
    motion_steps: int = 900
    steps: int = 200
    seed: int = 0


def size() -> VlmSize:
    """A PaliGemma of about a million parameters: 16 visual tokens a frame, so that eight frames are
    quick."""
    from evaluators.models.small import VlmSize

    return VlmSize(
        image=EDGE,
        patch=24,
        vision_width=128,
        vision_layers=1,
        vision_heads=4,
        width=128,
        layers=3,
        heads=4,
        kv_heads=4,
        mlp=256,
        spread=0.05,
        embedding=1.0,
    )


def make(folder: Path, course: PretrainingPlan, report: Callable[[str], None]) -> Path:
    """Build the model from config, teach it, and save it as an ordinary folder."""
    from evaluators.models.adapt.practice import practise, teach_motion
    from evaluators.models.adapt.train import TrainingPlan
    from evaluators.models.small import make_paligemma
    from evaluators.models.vlm.beginning import SET, begin
    from evaluators.models.vlm.judge import read_folder

    built = make_paligemma(folder, course.seed, size(), sentences())
    model, processor = read_folder(built, "cpu", "fp32")
    begin(model)
    scenes = Scenes(course.walls, course.rooms, course.seed)

    def plan(steps: int, rate: float) -> TrainingPlan:
        return TrainingPlan(steps=steps, rate=rate, seed=course.seed)

    last: dict[str, str] = {}

    def told(stage: str) -> Callable[[int, float], None]:
        def tell(text: str) -> None:
            last[stage] = text.partition(",")[0]
            report(text)

        return _report_every(25, tell, stage)

    teach_motion(
        model,
        processor,
        scenes.motion,
        plan(course.motion_steps, 2e-3),
        told("motion"),
        held=SET,
    )
    model.save_pretrained(folder)
    practise(model, processor, scenes.turn, plan(course.steps, 1e-3), told("words"), SET)
    model.bfloat16().save_pretrained(folder)
    card = CARD.format(seed=course.seed, losses=", ".join(last.values()) or "not reported")
    (folder / "README.md").write_text(card, "utf-8")
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


@dataclass(frozen=True, slots=True)
class FilmedScene:
    """A filmed clip with what is true of it: how the picture moves as numbers, and the answers to
    the open questions."""

    frames: Pixels
    moves: tuple[float, ...]
    answers: Mapping[str, str]


class Scenes:
    """Drawn walls and rooms, and the lessons that are filmed of them; each step has draws of its
    own."""

    def __init__(self, walls: int, rooms: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 8])
        self.seed, self.walls = seed, [drawn.draw_wall(rng) for _ in range(walls)]
        papers = papers_of([wall.picture for wall in self.walls])
        self.rooms = [self._room(rng, papers) for _ in range(rooms)]

    def motion(self, step: int, number: int = 24, count: int = 8) -> MotionLesson:
        """Clips of eight frames, how the picture moved in each, and a question."""
        from evaluators.models.adapt.practice import MotionLesson

        rng = np.random.default_rng([self.seed, step, 19])
        filmed = [self._filmed(rng, count, 0.7) for _ in range(number)]
        questions = tuple((self._asked(scene, rng, 0.8),) for scene in filmed)
        frames = np.stack([scene.frames for scene in filmed])
        return MotionLesson(frames, questions, tuple(scene.moves for scene in filmed))

    def turn(self, step: int, number: int = 24) -> PracticeStep:
        """Lessons of one step: two to fourteen frames, one question each, under the model's own
        mask."""
        from evaluators.models.adapt.batches import Lesson
        from evaluators.models.adapt.practice import PracticeStep

        rng = np.random.default_rng([self.seed, step, 10])
        count = int(rng.choice([2, 4, 8, 14], p=[0.1, 0.2, 0.55, 0.15]))
        filmed = [self._filmed(rng, count, 0.5) for _ in range(number if count < 14 else 16)]
        return PracticeStep(
            "own",
            [Lesson(scene.frames, (self._asked(scene, rng, 0.6),)) for scene in filmed],
        )

    def _filmed(self, rng: np.random.Generator, count: int, rooms: float) -> FilmedScene:
        """A room with this chance, else a wall, through some lens."""
        chosen = choose_frames(drawn.FRAMES, count, "uniform_n")
        if self.rooms and rng.uniform() < rooms:
            scene = self.rooms[int(rng.integers(len(self.rooms)))]
            return replace(scene, frames=through_a_lens(scene.frames[list(chosen)], rng))
        wall = self.walls[int(rng.integers(len(self.walls)))]
        path = drawn.draw_path(rng, str(rng.choice(drawn.MOTIONS)), wall.at)
        answers = {MOVES: path.motion, FIGURE: wall.figure, COLOUR: wall.colour}
        return FilmedScene(drawn.film(wall, path, chosen), path.moves, answers)

    def _asked(
        self, scene: FilmedScene, rng: np.random.Generator, motion: float
    ) -> tuple[str, str]:
        """A question about motion with this chance, or else about what is drawn, if it is known."""
        others = [question for question in scene.answers if question != MOVES]
        about_motion = not others or rng.uniform() < motion
        question = MOVES if about_motion else str(rng.choice(others))
        return ask(question, scene.answers[question], rng)

    def _room(self, rng: np.random.Generator, papers: Pixels) -> FilmedScene:
        shot = draw_shot(rng, str(rng.choice(MOTIONS)))
        frames = film_room(draw_room(rng, len(papers)), shot, papers)
        return FilmedScene(frames, shot.moves, {MOVES: shot.motion})


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
