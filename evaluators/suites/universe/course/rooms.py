"""Drawn rooms, filmed by a camera that slides, swings, comes closer, backs off, hops or is blinded:
boxes whose six faces are papered with drawn walls. Nothing of the game is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluators.media import Pixels
from evaluators.suites.universe.course.drawn import EDGE, FRAMES, WALL

Floats = NDArray[np.float32]
MOTIONS = (
    "sliding left",
    "sliding right",
    "swinging left",
    "swinging right",
    "growing",
    "shrinking",
    "hopping",
    "blinking",
    "resting",
)
SWING = 35.0
"""Degrees that a camera swings at most."""
CLEARANCE = 0.85
"""Share of the way to a wall that the camera may go."""


@dataclass(frozen=True, slots=True)
class RoomShot:
    """How a room is filmed: the camera's way [frame, (across, up, ahead, turn)], its light in every
    frame, and what that is called. `left` is where the picture goes, not the camera."""

    motion: str
    way: Floats
    flash: Floats

    @property
    def moves(self) -> tuple[float, ...]:
        """Across, down, closer, hop, blink and swing, each about 1 at most."""
        across, up, ahead, turn = self.way[-1] - self.way[0]
        hop = float(self.way[:, 1].max()) / 0.4
        return (float(across), float(-up), float(ahead), -hop, self.blink, float(turn) / 0.6)

    @property
    def blink(self) -> float:
        """The brightest flash."""
        return float(self.flash.max())


@dataclass(frozen=True, slots=True)
class DrawnRoom:
    """Half width, depth below and above the eye, distance of the far and near wall; where the
    camera stands and looks, its focal length each way, and the scale and paper of the faces."""

    side: float
    below: float
    above: float
    far: float
    near: float
    start: float
    heading: float
    focal: tuple[float, float]
    scale: float
    papers: tuple[int, ...]


def draw_room(rng: np.random.Generator, papers: int) -> DrawnRoom:
    """A room with any of so many papers on each face."""
    side, focal = float(rng.uniform(0.8, 3)), float(rng.uniform(0.7, 1.4))
    return DrawnRoom(
        side,
        float(rng.uniform(0.4, 0.8)),
        float(rng.uniform(0.4, 1.8)),
        float(rng.uniform(1, 4.5)),
        float(rng.uniform(3, 6)),
        float(rng.uniform(-0.5, 0.5)) * side,
        float(rng.uniform(-0.6, 0.6)),
        (focal, focal * float(rng.uniform(1, 1.8))),
        float(rng.uniform(40, 90)) * EDGE / 64,
        tuple(int(number) for number in rng.integers(0, papers, 6)),
    )


def draw_shot(rng: np.random.Generator, motion: str) -> RoomShot:
    """One motion that begins in frame 0 to 3 and mostly ends before the last frame."""
    onset, hold, far = rng.uniform(0, 3.5), rng.uniform(1.5, 8), rng.uniform(0.15, 1)
    numbers = np.arange(FRAMES)
    share = np.clip((numbers - onset) / hold, 0, 1)
    bump = np.sin(np.pi * np.clip((numbers - onset) / max(hold, 2.5), 0, 1))
    way, flash = np.zeros((FRAMES, 4), np.float32), np.zeros(FRAMES, np.float32)
    if motion.startswith("sliding"):
        way[:, 0] = share * far * (1 if motion.endswith("left") else -1)
    elif motion.startswith("swinging"):
        turn = np.deg2rad(rng.uniform(4, SWING))
        way[:, 3] = share * turn * (1 if motion.endswith("left") else -1)
    elif motion in ("growing", "shrinking"):
        way[:, 2] = share * 1.3 * far * (1 if motion == "growing" else -1)
    elif motion == "hopping":
        way[:, 1] = bump * rng.uniform(0.1, 0.5)
    elif motion == "blinking":
        lit = (bump > 0.3) & (numbers % int(rng.integers(2, 4)) != 0)
        flash = (lit * rng.uniform(0.3, 1)).astype(np.float32)
    return RoomShot(motion, way, flash)


def film_room(room: DrawnRoom, shot: RoomShot, papers: Pixels) -> Pixels:
    """All frames of a shot: every pixel's ray ends on the nearest face of the box."""
    camera, turn = _camera(room, shot)
    grid = ((np.arange(EDGE) - EDGE / 2 + 0.5) / (EDGE / 2)).astype(np.float32)
    across, up = grid[None, None, :] / room.focal[0], -grid[None, :, None] / room.focal[1]
    cosine, sine = np.cos(turn)[:, None, None], np.sin(turn)[:, None, None]
    rays = np.stack(
        np.broadcast_arrays(across * cosine + sine, up, cosine - across * sine), -1
    ).astype(np.float32)
    rays[np.abs(rays) < 1e-5] = 1e-5
    ends = np.where(
        rays > 0,
        np.array([room.side, room.above, room.far], np.float32),
        np.array([-room.side, -room.below, -room.near], np.float32),
    )
    reach = (ends - camera[:, None, None]) / rays
    axis = reach.argmin(-1)
    hit = camera[:, None, None] + reach.min(-1)[..., None] * rays
    pictures = _papered(room, axis, rays, hit, papers)
    pictures *= (1.15 - 0.12 * np.minimum(reach.min(-1), 5))[..., None]
    pictures += shot.flash[:, None, None, None] * 150 * _glow()[None, :, :, None]
    return np.asarray(np.clip(pictures, 0, 255), np.uint8)


def through_a_lens(frames: Pixels, rng: np.random.Generator) -> Pixels:
    """The frames in other colours and light, with grain, and with marks that stand still on the
    lens."""
    pictures = frames.copy()
    for _ in range(int(rng.integers(0, 3))):
        left, top = (int(number) for number in rng.integers(-EDGE // 8, EDGE - 4, 2))
        wide, tall = (int(number) for number in rng.integers(EDGE // 10, EDGE // 3, 2))
        pictures[:, max(top, 0) : top + tall, max(left, 0) : left + wide] = rng.uniform(0, 220, 3)
    haze = rng.uniform(0, 60, 3) * (rng.uniform() < 0.3)
    levels = np.arange(256)[:, None] * rng.uniform(0.4, 1.2) + haze[None]
    table = np.clip(levels, 0, 255).astype(np.uint8)
    shades = [table[pictures[..., int(c)], n] for n, c in enumerate(rng.permutation(3))]
    lit = np.stack(shades, -1)
    if rng.uniform() < 0.4:
        grain = int(rng.integers(2, 14))
        noise = rng.integers(-grain, grain + 1, lit.shape, np.int8)
        lit = np.clip(lit.astype(np.int16) + noise, 0, 255).astype(np.uint8)
    return lit


def papers_of(walls: Sequence[Pixels]) -> Pixels:
    """Drawn walls as one array of papers."""
    return np.stack(list(walls))


def _camera(room: DrawnRoom, shot: RoomShot) -> tuple[Floats, Floats]:
    """Where the camera is and where it looks in every frame; it moves along its first heading and
    stays off the walls."""
    cosine, sine = np.cos(room.heading), np.sin(room.heading)
    across, up, ahead, turn = shot.way.T
    x = np.clip(room.start + across * cosine + ahead * sine, -room.side * 0.9, room.side * 0.9)
    z = np.clip(ahead * cosine - across * sine, -room.near * CLEARANCE, room.far * CLEARANCE)
    y = np.minimum(up, room.above * CLEARANCE)
    return np.stack([x, y, z], -1).astype(np.float32), np.asarray(room.heading + turn, np.float32)


def _papered(
    room: DrawnRoom, axis: NDArray[np.int64], rays: Floats, hit: Floats, papers: Pixels
) -> Floats:
    """The paper's pixel where each ray ends."""
    ahead = np.take_along_axis(rays, axis[..., None], -1)[..., 0] > 0
    paper = np.array(room.papers)[2 * axis + ahead]
    along = np.where(axis == 0, hit[..., 2], hit[..., 0]) * room.scale
    upward = np.where(axis == 1, hit[..., 2], hit[..., 1]) * room.scale
    column = np.mod(np.rint(along).astype(int), WALL[1])
    row = np.mod(np.rint(-upward).astype(int), WALL[0])
    return np.asarray(papers[paper, row, column], np.float32)


def _glow() -> Floats:
    """A light at the middle of the lower edge."""
    down, across = (np.mgrid[0:EDGE, 0:EDGE] + 0.5) / EDGE
    return np.asarray(np.exp(-((down - 0.75) ** 2 + (across - 0.5) ** 2) * 45), np.float32)
