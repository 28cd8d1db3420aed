"""What a video world model is like: what it is shown, how it sees, how large it is, and how it is
trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

Mode = Literal["forward", "cross_view", "inverse"]
SHARES: Mapping[Mode, float] = {"forward": 0.65, "cross_view": 0.25, "inverse": 0.1}
"""Of the training instances; a model of one view has no cross-view mode. The paper has .8, .1, .1:
minutes of training meet a mode of a tenth too rarely."""

CELL = 8
MODEL_TYPE = "armillary_video_world"


@dataclass(frozen=True, slots=True)
class VideoWorldConfig:
    """Sizes and habits; the same code serves a small model on a CPU and a larger one on a GPU.

    The codec makes a cell of `latent` numbers of every 8 by 8 pixels, in squares of `patch` pixels.
    With `warp` each view in `group` frames is one token, of `code` numbers a frame that follow from
    its `glance` main patterns of change, and is painted by a layer of `paint` numbers: the newest
    known picture, displaced in `warp` by `warp` places, masked and changed. Without, each square in
    `group` frames is a token and is changed alone. The model sees `context` frames and imagines up
    to `horizon` at once, in `steps` of sampling. `motion` numbers of the optical flow between known
    frames are shown to the action tokens; `weighed`, what is noised comes in the weaker the noisier
    it is; times of sampling and training are drawn towards noise by `shift`. `rate` is the pace of
    the recordings; it learns at each of `paces` (so many recorded frames a step) and is rolled out
    at the first.
    """

    views: tuple[str, ...] = ("agent", "front", "wrist")
    height: int = 64
    width: int = 64
    rate: float = 10.0
    action_dim: int = 7
    patch: int = 16
    latent: int = 32
    context: int = 8
    horizon: int = 24
    group: int = 4
    motion: int = 128
    hidden: int = 256
    depth: int = 4
    heads: int = 4
    warp: int = 8
    glance: int = 128
    code: int = 128
    paint: int = 256
    weighed: bool = True
    shift: float = 4.0
    steps: int = 4
    paces: tuple[int, ...] = (1, 2)
    modes: tuple[str, ...] = ("forward", "cross_view", "inverse")
    action_mean: tuple[float, ...] = ()
    action_scale: tuple[float, ...] = ()
    tau: float | None = None

    @property
    def squares(self) -> int:
        """Tokens of a view at a moment."""
        return (self.height // self.patch) * (self.width // self.patch)

    @property
    def numbers(self) -> int:
        """Latent numbers of a square in one frame."""
        return self.latent * (self.patch // CELL) ** 2

    @property
    def groups(self) -> int:
        """The most moments of a clip, those of the context among them."""
        return (self.context + self.horizon) // self.group

    def checked(self) -> VideoWorldConfig:
        """Itself, or ValueError with what is wrong with it."""
        for multiple, divisor in _DIVIDES:
            whole, part = getattr(self, multiple), getattr(self, divisor)
            if part < 1 or whole < part or whole % part:
                raise ValueError(
                    f"The {multiple} is {whole} and the {divisor} {part}. Make the {multiple} a "
                    "multiple of it."
                )
        if self.patch % CELL:
            raise ValueError(f"The patch is {self.patch}. Make it a multiple of {CELL} pixels.")
        numbers = (self.steps, self.depth, self.latent, self.motion, self.action_dim, *self.paces)
        numbers += (self.glance, self.code, self.paint)
        if not self.views or not self.paces or min(numbers) < 1:
            raise ValueError(
                "A video world model needs at least one view, block, sampling step, pace, latent "
                "number and number of an action."
            )
        if self.warp < 0 or self.shift <= 0:
            raise ValueError("Displacements have no less than 0 places, and the shift is above 0.")
        if "forward" not in self.modes:
            raise ValueError("A world model has to practise forward.")
        return self

    def as_json(self) -> dict[str, object]:
        """For config.json."""
        return {"model_type": MODEL_TYPE, "architectures": ["ArmillaryVideoWorld"], **asdict(self)}


@dataclass(frozen=True, slots=True)
class VideoPlan:
    """The defaults are a small model's. `second_pace` is the share of minibatches at the other
    paces, `short` of those that look only two thirds as far ahead, `painted` the frames of a clip
    in which the painting is looked at each time. `half` multiplies in bfloat16, which is faster
    where the processor has it. Before all else come short courses of `sight_steps` and
    `motion_steps`."""

    steps: int = 4000
    batch: int = 16
    rate: float = 1e-3
    decay: float = 0.05
    warm_up: int = 100
    average: float = 0.995
    second_pace: float = 0.2
    short: float = 0.5
    painted: int = 6
    seed: int = 0
    keep_every: int = 250
    motion_steps: int = 1500
    sight_steps: int = 3000
    sight_rate: float = 1e-3
    half: bool = False


_BEFORE: Mapping[str, Any] = {"weighed": False, "warp": 0, "shift": 1.0}
"""What folders are like that do not say it: they were written before there was a choice."""

_DIVIDES = (
    ("height", "patch"),
    ("width", "patch"),
    ("context", "group"),
    ("horizon", "group"),
    ("hidden", "heads"),
)


def from_json(stored: Mapping[str, Any]) -> VideoWorldConfig:
    """The config of a config.json, checked; ValueError says what is wrong with it."""
    if stored.get("model_type") != MODEL_TYPE:
        raise ValueError(
            f"config.json says model_type {stored.get('model_type')!r}; a video world model of "
            f"ours says {MODEL_TYPE!r}."
        )
    names = {field.name for field in fields(VideoWorldConfig)}
    listed: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in {**_BEFORE, **stored}.items()
        if name in names
    }
    return VideoWorldConfig(**listed).checked()
