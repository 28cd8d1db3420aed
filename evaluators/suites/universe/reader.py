"""The stand-in for a pre-trained vision-language model: a small PaliGemma that learned to read the
practice rooms.

Run `python -m evaluators.suites.universe.reader FOLDER` to make it again; it knows all words of the
arena, but in the practice rooms a name means another look.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.sampling import choose_frames
from evaluators.suites.universe.questions import AnswerSpace, QuestionAnswer, pairs
from evaluators.worlds.arena import game
from evaluators.worlds.arena.drawing import ArenaScene
from evaluators.worlds.arena.looks import (
    CHARACTERS,
    COLOURS,
    ENVIRONMENTS,
    HATS,
    SKINS,
    Environment,
    Skin,
)

if TYPE_CHECKING:
    from evaluators.models.adapt.practice import MotionLesson, PictureLesson, PracticeStep
    from evaluators.models.small import VlmSize

Moves: TypeAlias = tuple[float, ...]
QuestionAnswers: TypeAlias = tuple[tuple[str, str], ...]
AskAbout: TypeAlias = Callable[[tuple[str, str], np.random.Generator], QuestionAnswers]
SPACE = AnswerSpace(tuple(sorted(game.ACTIONS)), tuple(sorted(CHARACTERS)))
PRACTICE = tuple(environment for environment in ENVIRONMENTS if environment.game == "practice")
EDGE = 64
CLASSES = (len(COLOURS), len(COLOURS), len(HATS), 2, 3)
"""Body, head, hat, riding, and whether somebody stands, jumps or rolls."""
SHARES = {"binary_pos": 0.22, "binary_neg": 0.22, "mc": 0.08, "oe": 0.48}
ACTION_SHARE = 0.65
"""Actions take longer to learn than characters."""
LEFT = 200
"""Pairs whose answers are never learned."""


@dataclass(frozen=True, slots=True)
class PretrainingPlan:
    """How long each part of the pre-training takes, and from how much; each round of motion begins
    with a warm-up."""

    pictures: int = 24000
    pairs: int = 12000
    clips: int = 3000
    tower_steps: int = 4000
    motion_steps: tuple[int, ...] = (800, 900)
    aloud_steps: int = 400
    steps: int = 1200
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Clips:
    """Labelled clips at the size the small model takes: clip, frame, height, width, RGB."""

    frames: Pixels
    labels: tuple[tuple[str, str], ...]


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
    pictures = _pictures(course.pictures, course.seed)
    plan = TrainingPlan(steps=course.tower_steps, rate=2e-3, seed=course.seed)
    teach_tower(
        model,
        processor,
        lambda step: _picture_batch(pictures, step),
        CLASSES,
        plan,
        _report_every(50, report, "tower"),
    )
    moving, moves = _moving(course.pairs, course.seed)

    def silent(step: int) -> MotionLesson:
        return _moved(moving, moves, np.random.default_rng([step, 19]), 64, _silent)

    def aloud(step: int) -> MotionLesson:
        return _moved(learned, moves, np.random.default_rng([step, 21]), 48, _aloud)

    for steps in course.motion_steps:
        plan = TrainingPlan(steps=steps, rate=1e-3, seed=course.seed)
        teach_motion(model, processor, silent, plan, _report_every(50, report, "motion"))
    learned = Clips(moving.frames[:-LEFT], moving.labels[:-LEFT])
    plan = TrainingPlan(steps=course.aloud_steps, rate=1e-3, decay=0.0, seed=course.seed)
    teach_motion(model, processor, aloud, plan, _report_every(50, report, "aloud"), aloud=True)
    clips = draw_clips([e.name for e in PRACTICE], course.clips, course.seed)
    plan = TrainingPlan(steps=course.steps, rate=1e-3, seed=course.seed)
    practise(
        model,
        processor,
        lambda step: _turn(clips, course.seed, step),
        plan,
        _report_every(50, report, "words"),
    )
    model.save_pretrained(folder)
    return folder


def sentences() -> tuple[str, ...]:
    """Every word of the arena's questions and answers, alone and behind a space: what the tokenizer
    is trained on."""
    question_pairs = [
        pair for action in SPACE.actions for pair in pairs(action, SPACE.characters[0], SPACE, 0)
    ]
    question_pairs += [
        pair
        for character in SPACE.characters
        for pair in pairs(SPACE.actions[0], character, SPACE, 0)
    ]
    text = " ".join(f"{pair.question} {pair.answer}" for pair in question_pairs)
    words = sorted({"answer", "en", *(word.strip(",.:?") for word in text.split())})
    return tuple(f"{word} {word}" for word in words)


def draw_clips(environments: Sequence[str], number: int, seed: int, first: int = 0) -> Clips:
    """So many clips from these environments in turn, labels balanced, shrunk as the image processor
    would."""
    labels = game.draw_labels(number, seed)
    frames = np.empty((number, game.CLIP_FRAMES, EDGE, EDGE, 3), np.uint8)
    for i, (action, character) in enumerate(labels):
        play = game.play_clip(
            environments[i % len(environments)],
            action,
            character,
            1_000_000 * (seed + 1) + first + i,
        )
        frames[i] = shrunk(game.render(play, game.clip_times()))
    return Clips(frames, tuple(labels))


def shrunk(frames: Pixels) -> Pixels:
    """Frames at the model's size, resized as its image processor does."""
    from PIL import Image

    pictures = (
        Image.fromarray(frame).resize((EDGE, EDGE), Image.Resampling.BICUBIC) for frame in frames
    )
    return np.stack([np.asarray(picture) for picture in pictures])


def _pictures(number: int, seed: int) -> PictureLesson:
    """Single pictures of rooms and skins put together at random; no skin of the arena is among
    them."""
    from evaluators.models.adapt.practice import PictureLesson

    rng = np.random.default_rng([seed, 8])
    drawn = [_picture(rng) for _ in range(number)]
    frames = shrunk(np.stack([frame for frame, _, _ in drawn]))
    return PictureLesson(
        frames, tuple(classes for _, classes, _ in drawn), tuple(places for _, _, places in drawn)
    )


def _picture(rng: np.random.Generator) -> tuple[Pixels, tuple[int, ...], tuple[float, ...]]:
    body, head, hat = _skin(rng)
    scene = ArenaScene(_room(rng), _dressed(body, head, hat), int(rng.integers(2**31)), game.SIZE)
    state = np.zeros(game.STATES)
    state[[game.X, game.Y, game.HEIGHT]] = rng.uniform(0, 1, 3)
    pose = int(rng.integers(3))
    state[game.LIFT if pose == 1 else game.ROLL] = rng.uniform(0.3, 1.0) if pose else 0.0
    state[game.RIDING] = riding = int(rng.integers(2))
    across, along = state[game.X], state[game.Y]
    places = (scene.landmark_at[0] - across, scene.landmark_at[1] + state[game.HEIGHT],
              scene.marking_at[0] - across, scene.marking_at[1] + along)  # fmt: skip
    return (
        scene.draw(state),
        (body, head, hat, riding, pose),
        tuple(float(place) % 1 for place in places),
    )


def _skin(rng: np.random.Generator) -> tuple[int, int, int]:
    arena_skins = set(SKINS["arena"].values())
    while True:
        body, head, hat = int(rng.integers(6)), int(rng.integers(6)), int(rng.integers(4))
        if _dressed(body, head, hat) not in arena_skins:
            return body, head, hat


def _dressed(body: int, head: int, hat: int) -> Skin:
    return Skin(tuple(COLOURS)[body], tuple(COLOURS)[head], HATS[hat])


def _room(rng: np.random.Generator) -> Environment:
    """The wall of one room, the floor of another, and figures of a third."""
    wall, floor, figures = (PRACTICE[int(i)] for i in rng.integers(0, len(PRACTICE), 3))
    return replace(
        wall,
        floor=floor.floor,
        landmark=figures.landmark,
        landmark_shape=figures.landmark_shape,
        marking=figures.marking,
        marking_shape=floor.marking_shape,
    )


def _picture_batch(pictures: PictureLesson, step: int, number: int = 96) -> PictureLesson:
    from evaluators.models.adapt.practice import PictureLesson

    chosen = np.random.default_rng([step, 9]).integers(0, len(pictures.frames), number)
    classes, places = (
        [values[i] for i in chosen] for values in (pictures.classes, pictures.places)
    )
    return PictureLesson(pictures.frames[chosen], tuple(classes), tuple(places))


def _moves(states: game.Floats) -> Moves:
    """From first to last frame: across, along and up, each about 1 at most, and whether somebody
    got on a board."""
    change = states[-1] - states[0]
    return tuple(
        float(part) for part in (*(3 * change[[game.X, game.Y, game.HEIGHT]]), change[game.RIDING])
    )


def _moving(number: int, seed: int) -> tuple[Clips, list[Moves]]:
    """First and last frames of clips in rooms and skins put together at random, and what moved
    between them."""
    rng = np.random.default_rng([seed, 20])
    frames = np.empty((number, 2, EDGE, EDGE, 3), np.uint8)
    labels = game.draw_labels(number, seed)
    moves = []
    for i, (action, character) in enumerate(labels):
        skin = _dressed(*_skin(rng))
        play = game.play_clip(PRACTICE[0].name, action, character, int(rng.integers(2**31)))
        scene = ArenaScene(_room(rng), skin, play.seed, game.SIZE)
        states = game.states(play, game.clip_times()[[0, -1]])
        frames[i] = shrunk(np.stack([scene.draw(state) for state in states]))
        moves.append(_moves(states))
    return Clips(frames, tuple(labels)), moves


def _moved(
    clips: Clips, moves: Sequence[Moves], rng: np.random.Generator, number: int, ask: AskAbout
) -> MotionLesson:
    """Some of them, with what is asked about each."""
    from evaluators.models.adapt.practice import MotionLesson

    chosen = rng.integers(0, len(clips.frames), number)
    questions = tuple(ask(clips.labels[i], rng) for i in chosen)
    return MotionLesson(clips.frames[chosen], questions, tuple(moves[i] for i in chosen))


def _silent(labels: tuple[str, str], rng: np.random.Generator) -> QuestionAnswers:
    """A question about the action, and no answer yet."""
    yes, no, _, open_ended, *_ = pairs(*labels, SPACE, int(rng.integers(2**31)))
    return (((yes, no, open_ended)[int(rng.integers(3))].question, ""),)


def _aloud(labels: tuple[str, str], rng: np.random.Generator) -> QuestionAnswers:
    """Which action it is, and whether it is a certain one."""
    yes, no, _, open_ended, *_ = pairs(*labels, SPACE, int(rng.integers(2**31)))
    binary = (yes, no)[int(rng.integers(2))]
    return (open_ended.question, open_ended.answer), (binary.question, binary.answer)


def _turn(clips: Clips, seed: int, step: int) -> PracticeStep:
    """Lessons of one step: two, four or eight frames, under either mask, so that the model can do
    all of it."""
    from evaluators.models.adapt.batches import Lesson
    from evaluators.models.adapt.practice import PracticeStep

    rng = np.random.default_rng([seed, step, 10])
    frames = int(rng.choice([2, 4, 8], p=[0.65, 0.15, 0.2]))
    own = bool(rng.uniform() < 0.25)
    mask: Literal["own", "image_first"] = "own" if own else "image_first"
    frame_numbers = choose_frames(game.CLIP_FRAMES, frames, "uniform_n")
    chosen = rng.integers(0, len(clips.frames), 16)
    questions = [_draw_questions(clips.labels[i], rng, 2 if own else 4) for i in chosen]
    return PracticeStep(
        mask,
        [
            Lesson(clips.frames[i][list(frame_numbers)], lesson_questions)
            for i, lesson_questions in zip(chosen, questions, strict=True)
        ],
    )


def _draw_questions(
    labels: tuple[str, str], rng: np.random.Generator, number: int
) -> QuestionAnswers:
    eight = pairs(*labels, SPACE, int(rng.integers(2**31)))
    weights = np.array([_weight(pair) for pair in eight])
    chosen = rng.choice(len(eight), number, replace=False, p=weights / weights.sum())
    return tuple((eight[i].question, eight[i].answer) for i in chosen)


def _weight(pair: QuestionAnswer) -> float:
    return SHARES[pair.kind] * (
        ACTION_SHARE if pair.task == "action_recognition" else 1 - ACTION_SHARE
    )


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
