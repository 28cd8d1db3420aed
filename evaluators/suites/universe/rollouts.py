"""Rollouts of world models on the arena: how they are conditioned, generated, cut, tagged and asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evaluators.media import Pixels
from evaluators.metrics.image import psnr
from evaluators.metrics.structure import ssim
from evaluators.metrics.text import Format, exact_match
from evaluators.metrics.voting import Ticket, Vote, majority_vote
from evaluators.suites.universe.bank import SPACE
from evaluators.suites.universe.construction import action_of
from evaluators.suites.universe.questions import TASKS, Pair, Task, pairs
from evaluators.worlds import arena
from evaluators.worlds.arena_looks import CHARACTERS, HOME

CONTEXT = arena.CLIP_FPS
"""Frames of real play a world model is shown: one second."""
GENERATED = 10 * arena.CLIP_FPS
"""Frames it then generates: ten seconds."""
VOTES, TEMPERATURE = 5, 0.7

DROP = ("no_interaction", "occluded", "no_agent")
"""Tags that make a chunk uninterpretable: nothing is done, something stands before it, nobody is to be seen."""
FLAWS = ("appearance_drift", "missing_or_corrupted_asset", "hud_occlusion")
"""Flaws that are tagged and kept: a judge has to cope with them."""
FADED = 12.0
"""PSNR in decibel below which the player is taken for gone, or an asset for corrupted."""
DRIFTED = 0.06
"""Mean change of colour of coarse fields, as a share of its range, from which an appearance has drifted."""
ROWS, COLUMNS = 4, 6


class WorldModel(Protocol):
    """Continues a video: given a second of frames and what the controller says, it makes the frames that follow."""

    @property
    def name(self) -> str: ...

    def rollout(self, o_initial: Pixels, a_seq: arena.Floats, timesteps: int) -> Pixels: ...


@dataclass(frozen=True, slots=True)
class Setting:
    """One of the eight settings of the study: which environment, at which size, by the large or the small model."""

    number: int
    environment: str
    size: tuple[int, int]
    small: bool = False


SETTINGS: tuple[Setting, ...] = (
    Setting(1, HOME, arena.SIZE),
    *(Setting(number, f"environment_{number}", arena.SIZE) for number in range(2, 8)),
    Setting(8, HOME, arena.LOW_RESOLUTION, small=True),
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Fourteen generated frames, the real ones, and what the controller asked for in them."""

    rollout: str
    number: int
    frames: Pixels
    truth: Pixels
    action: str | None
    character: str
    tags: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The rollout and which of its chunks."""
        return f"{self.rollout}.{self.number}"

    @property
    def readable(self) -> bool:
        """Whether a rater could say anything about it; flaws alone do not drop it."""
        return not set(self.tags) & set(DROP)


class RolloutGenerator:
    """Plays sessions and lets a world model continue them."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def play(self, setting: Setting, number: int) -> arena.Play:
        """A session of eleven seconds and a little more, never seen in training."""
        rng = np.random.default_rng([self.seed, setting.number, number, 14])
        actions = [str(rng.choice(arena.ACTIONS)) for _ in range(8)]
        key = 800_000_000 + 100_000 * self.seed + 1000 * setting.number + number
        return arena.play_session(setting.environment, CHARACTERS[number % len(CHARACTERS)], actions, key)

    def chunks(self, model: WorldModel, setting: Setting, number: int) -> Iterator[Chunk]:
        """Condition the model on a second of play, let it generate ten, and cut those into tagged chunks."""
        play = self.play(setting, number)
        times = np.arange(CONTEXT + GENERATED) / arena.CLIP_FPS
        real = arena.render(play, times, setting.size)
        buttons, states = arena.controls(play, times), arena.states(play, times)
        made = model.rollout(real[:CONTEXT], buttons[CONTEXT:], GENERATED)
        for chunk, start in enumerate(range(0, GENERATED - arena.CLIP_FRAMES + 1, arena.CLIP_FRAMES)):
            span = slice(start, start + arena.CLIP_FRAMES)
            whole = slice(CONTEXT + start, CONTEXT + start + arena.CLIP_FRAMES)
            action = action_of(buttons[whole], states[whole])
            tags = tagged(made[span], real[whole], action)
            name = f"{model.name}.{setting.number}.{number:03d}"
            yield Chunk(name, chunk, made[span], real[whole], action, play.character, tags)


def tagged(frames: Pixels, truth: Pixels, action: str | None) -> tuple[str, ...]:
    """What is wrong with a chunk, by rule, where the truth is known; raters may add to it."""
    found = [] if action else ["no_interaction"]
    player, shown = _player(truth), _player(frames)
    if _dark(player) > 0.5:
        found.append("occluded")
    elif _alike(player, shown) < FADED:
        found.append("no_agent" if _alike(player, shown) < FADED - 4 else "missing_or_corrupted_asset")
    drift = np.abs(_coarse(frames) - _coarse(truth)).mean() / 255
    return (*found, *(["appearance_drift"] if drift > DRIFTED else []))


def keep(chunks: Sequence[Chunk], number: int, seed: int = 0) -> list[Chunk]:
    """So many readable chunks, drawn by seed, no rollout twice before all were drawn from."""
    rng = np.random.default_rng([seed, 15])
    readable = [chunks[i] for i in rng.permutation(len(chunks)) if chunks[i].readable]
    seen: dict[str, int] = {}
    order: list[tuple[int, int, Chunk]] = []
    for chunk in readable:
        order.append((seen.get(chunk.rollout, 0), len(order), chunk))
        seen[chunk.rollout] = seen.get(chunk.rollout, 0) + 1
    return [chunk for _, _, chunk in sorted(order, key=lambda entry: entry[:2])[:number]]


class Sampler(Protocol):
    """A judge that can be asked several times: frames and questions in, words out."""

    def __call__(
        self, frames: Pixels, questions: Sequence[str], temperature: float = 0.0, seed: int = 0, /
    ) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class RolloutJudge:
    """Asks a judge about rollouts: several draws and a vote, or one greedy answer at temperature 0."""

    ask: Sampler
    votes: int = VOTES
    temperature: float = TEMPERATURE
    seed: int = 0

    def evaluate(self, chunk: Chunk, questions: Sequence[str]) -> list[Vote]:
        """The vote on each question about a chunk."""
        draws = self.votes if self.temperature > 0 else 1
        said = [self.ask(chunk.frames, questions, self.temperature, self.seed + draw) for draw in range(draws)]
        return [
            majority_vote([answers[i] for answers in said], Ticket(self.seed, chunk.id, question))
            for i, question in enumerate(questions)
        ]

    def evaluate_rollout(self, chunk: Chunk, target: Task, complexity: Format) -> bool | None:
        """Whether the answer to one question about the target is what the controller asked for; None of no action."""
        wanted = [pair for pair in study_pairs(chunk, self.seed) if (pair.task, pair.format) == (target, complexity)]
        if not wanted:
            return None
        vote = self.evaluate(chunk, [wanted[0].question])[0]
        return exact_match(vote.answer or "", wanted[0].answer).normalised


def study_pairs(chunk: Chunk, seed: int = 0) -> tuple[Pair, ...]:
    """The six questions of the study about a chunk: one yes/no question a task, drawn by seed; none of no action."""
    if chunk.action is None:
        return ()
    rng = np.random.default_rng([seed, chunk.number, len(chunk.rollout), 16])
    eight = pairs(chunk.action, chunk.character, SPACE, int(rng.integers(2**31)))
    drawn = {task: ("binary_pos", "binary_neg")[int(rng.integers(2))] for task in TASKS}
    return tuple(pair for pair in eight if pair.format != "binary" or pair.kind == drawn[pair.task])


def fidelity(chunks: Sequence[Chunk]) -> Mapping[str, Mapping[str, float | None]]:
    """PSNR and SSIM of every chunk against the truth, by its id."""
    return {
        chunk.id: {
            "psnr": psnr(reference=chunk.truth, generated=chunk.frames).value,
            "ssim": ssim(reference=chunk.truth, generated=chunk.frames),
        }
        for chunk in chunks
    }


def _player(frames: Pixels) -> Pixels:
    """The middle of the picture, where the camera keeps the player."""
    _, height, width, _ = frames.shape
    return frames[:, int(0.42 * height) : int(0.88 * height), int(0.42 * width) : int(0.58 * width)]


def _coarse(frames: Pixels) -> arena.Floats:
    """The colours of a few large fields."""
    count, height, width, _ = frames.shape
    down, across = height // ROWS, width // COLUMNS
    cut = frames[:, : ROWS * down, : COLUMNS * across].reshape(count, ROWS, down, COLUMNS, across, 3)
    return np.asarray(cut.mean((2, 4)))


def _dark(frames: Pixels) -> float:
    return float((frames.max(-1) < 20).mean())


def _alike(reference: Pixels, generated: Pixels) -> float:
    return psnr(reference=np.ascontiguousarray(reference), generated=np.ascontiguousarray(generated)).value or 0.0
