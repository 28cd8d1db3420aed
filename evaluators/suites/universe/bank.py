"""What judges of rollouts are asked here: clips of the simulated arena in eight environments, eight
questions each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from evaluators.contracts import Facets, Sample
from evaluators.media import Pixels
from evaluators.suites.universe.questions import SHORT, AnswerSpace, QuestionAnswer, pairs
from evaluators.worlds.arena import game
from evaluators.worlds.arena.looks import CHARACTERS, HOME

SPACE = AnswerSpace(tuple(sorted(game.ACTIONS)), tuple(sorted(CHARACTERS)))
LOW_RESOLUTION = "environment_8"
"""The adaptation environment, shown at 128 x 128."""
CLIPS = {HOME: 120, **{f"environment_{number}": 24 for number in range(2, 9)}}
FIRST_SEED = 900_000_000
"""No clip that anything here is trained on has a seed from here up."""
DEMO_CLIPS = 4


@dataclass(frozen=True, slots=True)
class BankClip:
    """One clip of the bank: where it stands on the board, and the play behind it."""

    id: str
    environment: str
    number: int
    play: game.Play
    size: tuple[int, int]

    def frames(self) -> Pixels:
        """Its fourteen frames."""
        return game.render(self.play, game.clip_times(), self.size)


@cache
def clips() -> dict[str, BankClip]:
    """All clips by their id."""
    return {clip.id: clip for order, name in enumerate(CLIPS) for clip in _clips(order, name)}


@cache
def samples() -> tuple[Sample, ...]:
    """Every question about every clip; the clip is what belongs together in an interval."""
    return tuple(_sample(clip, pair) for clip in clips().values() for pair in questions_of(clip))


def questions_of(clip: BankClip) -> tuple[QuestionAnswer, ...]:
    """The eight pairs of a clip."""
    action = clip.play.turns[0].action
    assert action is not None
    return pairs(action, clip.play.character, SPACE, clip.play.seed)


def clip_of(sample: Sample) -> BankClip:
    """The clip a sample asks about."""
    return clips()[sample.cluster]


def in_full(_sample: Sample) -> bool:
    """Everything."""
    return True


def in_demo(sample: Sample) -> bool:
    """A few clips of the adaptation environment: enough to see the whole path, too few to rank
    anybody by."""
    clip = clip_of(sample)
    return clip.environment == HOME and clip.number < DEMO_CLIPS


def in_home(sample: Sample) -> bool:
    """The adaptation environment alone, as in the paper's own tables."""
    return sample.facets.scenario == HOME


def _clips(order: int, name: str) -> Iterator[BankClip]:
    place = HOME if name == LOW_RESOLUTION else name
    size = game.LOW_RESOLUTION if name == LOW_RESOLUTION else game.SIZE
    for number, (action, character) in enumerate(game.draw_labels(CLIPS[name], 77 + order)):
        play = game.play_clip(place, action, character, FIRST_SEED + 1000 * order + number)
        yield BankClip(f"{name}.{number:03d}", name, number, play, size)


def _sample(clip: BankClip, pair: QuestionAnswer) -> Sample:
    return Sample(
        id=f"{clip.id}.{SHORT[pair.task]}_{pair.kind}",
        facets=Facets(clip.environment, pair.task, pair.format, "text"),
        cluster=clip.id,
        prompt=pair.question,
        reference={"answer": pair.answer, "format": pair.format},
    )
