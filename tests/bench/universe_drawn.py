"""What the packaged base reads of newly drawn clips of its own course, in each format: whether it
came to the game with the means to answer.

`python -m tests.bench.universe_drawn` prints it, in a CPU minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import choose_frames
from evaluators.models.adapt.batches import Lesson, Teacher
from evaluators.models.adapt.exam import exam
from evaluators.models.vlm.adapter import packaged_base
from evaluators.models.vlm.judge import read_folder
from evaluators.suites.universe.course import drawn, rooms
from evaluators.suites.universe.course.reader import ASKED, COLOUR, FIGURE, MOVES
from evaluators.suites.universe.questions import NO, YES

SEED, NUMBER, PAPERS = 77, 150, 60
"""Draws of their own: the course has other seeds."""
KINDS = ("yes", "no", "choice", "open")


@dataclass(frozen=True, slots=True)
class Filmed:
    """A clip as the base is shown it, and the true answers to the course's open questions."""

    frames: Pixels
    answers: Mapping[str, str]


def filmed_walls(rng: np.random.Generator, number: int = NUMBER) -> Iterator[Filmed]:
    """Figures before drawn walls."""
    shown = choose_frames(drawn.FRAMES, 8, "uniform_n")
    for _ in range(number):
        wall = drawn.draw_wall(rng)
        path = drawn.draw_path(rng, str(rng.choice(drawn.MOTIONS)), wall.at)
        answers = {MOVES: path.motion, FIGURE: wall.figure, COLOUR: wall.colour}
        yield Filmed(drawn.film(wall, path, shown), answers)


def filmed_rooms(rng: np.random.Generator, number: int = NUMBER) -> Iterator[Filmed]:
    """Rooms papered with walls."""
    shown = list(choose_frames(drawn.FRAMES, 8, "uniform_n"))
    papers = rooms.papers_of([drawn.draw_wall(rng).picture for _ in range(PAPERS)])
    for _ in range(number):
        shot = rooms.draw_shot(rng, str(rng.choice(rooms.MOTIONS)))
        frames = rooms.film_room(rooms.draw_room(rng, len(papers)), shot, papers)
        yield Filmed(rooms.through_a_lens(frames[shown], rng), {MOVES: shot.motion})


def asked(question: str, truth: str, rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    """A question in the order of `KINDS`."""
    binary, labels = ASKED[question]
    wrong = str(rng.choice([label for label in labels if label != truth]))
    return (
        (binary.format(label=truth), YES),
        (binary.format(label=wrong), NO),
        (f"{question} Choose one: {', '.join(labels)}.", truth),
        (question, truth),
    )


def main() -> int:
    """Print right answers in percent."""
    rng = np.random.default_rng([SEED, 8])
    model, processor = read_folder(packaged_base(), "cpu", "fp32")
    teacher = Teacher(model, processor)
    for place, clips in (("walls", [*filmed_walls(rng)]), ("rooms", [*filmed_rooms(rng)])):
        for question in clips[0].answers:
            lessons = [Lesson(c.frames, asked(question, c.answers[question], rng)) for c in clips]
            right = 100 * np.mean(exam(teacher, lessons), 0)
            told = ", ".join(
                f"{kind} {share:.1f}" for kind, share in zip(KINDS, right, strict=True)
            )
            print(f"{place}: {question} {told} (of {len(ASKED[question][1])} labels)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
