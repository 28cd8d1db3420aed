"""What the packaged reader learns from: drawn figures and letters before drawn walls, under a
camera that slides, zooms, hops or blinks.

Nothing of the game is in it, neither its pictures nor its words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evaluators.media import Pixels
from evaluators.suites.universe.questions import AnswerSpace

EDGE = 96
VIEW = 64
"""Pixels of a wall that the camera sees without zoom, each way."""
WALL = (112, 176)
"""Height and width of a drawn wall; the camera sees a square of it."""
SHAPES = ("bar", "circle", "cross", "ring", "square", "star", "triangle")
LETTERS = ("A", "K", "R", "S", "X", "Z")
FIGURES = tuple(sorted((*SHAPES, *LETTERS)))
COLOURS = {
    "red": (205, 45, 40),
    "green": (50, 165, 60),
    "blue": (50, 80, 210),
    "yellow": (225, 200, 50),
    "white": (235, 235, 235),
    "black": (18, 18, 18),
}
MOTIONS = (
    "sliding left",
    "sliding right",
    "growing",
    "shrinking",
    "hopping",
    "blinking",
    "resting",
    "sinking",
)
SWINGS = ("swinging left", "swinging right")
"""What only a camera in a room does."""
SPACE = AnswerSpace(tuple(sorted((*MOTIONS, *SWINGS))), FIGURES)
FRAMES = 14


@dataclass(frozen=True, slots=True)
class DrawnWall:
    """A drawn wall and the figure before it: which one, its colour, and where its middle is."""

    picture: Pixels
    figure: str
    colour: str
    at: tuple[float, float]


@dataclass(frozen=True, slots=True)
class CameraPath:
    """Where the camera's middle is in every frame, how much of the wall it sees, and how bright."""

    motion: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    zoom: NDArray[np.float64]
    flash: NDArray[np.float64]

    @property
    def moves(self) -> tuple[float, ...]:
        """Across, down, closer, hop, blink and swing, each about 1 at most."""
        hop = float(self.y.min() - self.y[0]) / 8 if self.motion == "hopping" else 0.0
        return (
            float(self.x[-1] - self.x[0]) / 10,
            float(self.y[-1] - self.y[0]) / 10,
            float(np.log(self.zoom[-1] / self.zoom[0])) / 0.35,
            hop,
            float(self.flash.max()),
            0.0,
        )


def draw_wall(rng: np.random.Generator) -> DrawnWall:
    """A wall of noise, bricks and blots with one figure before its middle."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(_texture(rng))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(4, 12))):
        _blot(draw, rng)
    figure, colour = str(rng.choice(FIGURES)), str(rng.choice(list(COLOURS)))
    at = (WALL[1] / 2 + float(rng.uniform(-24, 24)), WALL[0] / 2 + float(rng.uniform(-14, 14)))
    _draw_figure(draw, figure, COLOURS[colour], at, float(rng.uniform(9, 20)))
    return DrawnWall(np.asarray(image), figure, colour, at)


def draw_path(rng: np.random.Generator, motion: str, at: tuple[float, float]) -> CameraPath:
    """One motion that begins in frame 0 to 3 and is over before the last frame."""
    onset, hold = rng.uniform(0, 3), rng.uniform(4, 8)
    share = np.clip((np.arange(FRAMES) - onset) / hold, 0, 1)
    share = share * share * (3 - 2 * share)
    bump = np.sin(np.pi * np.clip((np.arange(FRAMES) - onset) / hold, 0, 1))
    x = np.full(FRAMES, at[0] + rng.uniform(-16, 16))
    y = np.full(FRAMES, at[1] + rng.uniform(-10, 10))
    zoom, flash, far = np.full(FRAMES, rng.uniform(0.8, 1.2)), np.zeros(FRAMES), rng.uniform(4, 14)
    if motion.startswith("sliding"):
        x = x + share * far * (1 if motion == "sliding left" else -1)
    elif motion == "sinking":
        y = y - share * far
    elif motion in ("growing", "shrinking"):
        zoom = zoom * np.exp(share * rng.uniform(0.15, 0.4) * (1 if motion == "growing" else -1))
    elif motion == "hopping":
        y = y - bump * rng.uniform(4, 10)
    elif motion == "blinking":
        flash = ((bump > 0.3) & (np.arange(FRAMES) % 3 != 2)).astype(float)
    return CameraPath(motion, x, y, zoom, flash)


def film(wall: DrawnWall, path: CameraPath, frames: tuple[int, ...]) -> Pixels:
    """What the camera sees in these frames."""
    rows = ((np.arange(EDGE) + 0.5) / EDGE - 0.5)[None] * VIEW
    number = list(frames)
    down = path.y[number, None] + rows / path.zoom[number, None]
    across = path.x[number, None] + rows / path.zoom[number, None]
    down = np.clip(np.rint(down), 0, WALL[0] - 1).astype(int)
    across = np.clip(np.rint(across), 0, WALL[1] - 1).astype(int)
    pictures: Pixels = wall.picture[down[:, :, None], across[:, None, :]]
    if not path.flash.any():
        return pictures
    glow = _glow()[None, :, :, None] * 150 * path.flash[number, None, None, None]
    return np.asarray(np.clip(pictures + glow, 0, 255), np.uint8)


@cache
def _glow() -> NDArray[np.float32]:
    """A light at the middle of the lower edge."""
    down, across = np.mgrid[0:EDGE, 0:EDGE]
    return np.asarray(
        np.exp(-((down / EDGE - 0.75) ** 2 + (across / EDGE - 0.5) ** 2) * 45), np.float32
    )


def _texture(rng: np.random.Generator) -> Pixels:
    coarse = rng.uniform(-1, 1, (WALL[0] // 8 + 1, WALL[1] // 8 + 1))
    noise = np.kron(coarse, np.ones((8, 8)))[: WALL[0], : WALL[1]] * rng.uniform(5, 30)
    noise += rng.normal(0, rng.uniform(2, 14), WALL)
    down, across = np.mgrid[0 : WALL[0], 0 : WALL[1]]
    tall, wide = int(rng.integers(8, 24)), int(rng.integers(10, 40))
    joints = ((down % tall < 2) | ((across + (down // tall % 2) * wide // 2) % wide < 2)) & (
        rng.uniform() < 0.7
    )
    base = rng.uniform(20, 150, 3)[None, None] * (0.7 + 0.6 * (down / WALL[0]))[..., None]
    return np.asarray(np.clip(base + noise[..., None] - 35 * joints[..., None], 0, 255), np.uint8)


def _blot(draw: object, rng: np.random.Generator) -> None:
    left, top = rng.uniform(0, WALL[1]), rng.uniform(0, WALL[0])
    wide, tall = rng.uniform(4, 40, 2)
    fill = tuple(int(value) for value in rng.uniform(0, 220, 3))
    kind = "rectangle" if rng.uniform() < 0.6 else "ellipse"
    getattr(draw, kind)((left, top, left + wide, top + tall), fill=fill)


def _draw_figure(
    draw: object,
    figure: str,
    colour: tuple[int, int, int],
    at: tuple[float, float],
    radius: float,
) -> None:
    from PIL import ImageFont

    x, y = at
    box = (x - radius, y - radius, x + radius, y + radius)
    if figure in LETTERS:
        font = ImageFont.load_default(2.2 * radius)
        draw.text((x, y), figure, colour, font, anchor="mm")  # type: ignore[attr-defined]
    elif figure == "circle":
        draw.ellipse(box, fill=colour)  # type: ignore[attr-defined]
    elif figure == "ring":
        draw.ellipse(box, outline=colour, width=max(2, int(radius / 3)))  # type: ignore[attr-defined]
    else:
        for corners in _polygons(figure):
            points = [(x + radius * across, y + radius * down) for across, down in corners]
            draw.polygon(points, fill=colour)  # type: ignore[attr-defined]


def _polygons(figure: str) -> list[list[tuple[float, float]]]:
    def box(wide: float, tall: float) -> list[tuple[float, float]]:
        return [(-wide, -tall), (wide, -tall), (wide, tall), (-wide, tall)]

    if figure == "star":
        angles = [np.pi * (number / 5 - 0.5) for number in range(10)]
        reach = [1.0, 0.4] * 5
        star = zip(angles, reach, strict=True)
        return [[(float(far * np.cos(turn)), float(far * np.sin(turn))) for turn, far in star]]
    return {
        "bar": [box(0.3, 1.0)],
        "cross": [box(0.3, 1.0), box(1.0, 0.3)],
        "square": [box(0.9, 0.9)],
        "triangle": [[(0.0, -1.0), (1.0, 0.9), (-1.0, 0.9)]],
    }[figure]
