"""Draws the arena with numpy and Pillow: a wall and a floor that repeat, the player before them, a
display on top."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluators.worlds.arena.looks import COLOURS, Colour, Environment, Shape, Skin

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float64]
Spot: TypeAlias = tuple[float, float]
"""Across and down, as shares of a wall or a floor that repeats."""

X, Y, HEIGHT, LIFT, ROLL, RIDING, SWAY_X, SWAY_Y, CLOCK = range(9)
HORIZON = 0.5
"""Share of the picture that is wall."""
OCCLUDED = 0.25
"""Share of scenes with a post that passes before the player."""


class ArenaScene:
    """One arranged place with one player in it; `draw` gives the picture of any state, always the
    same one."""

    def __init__(
        self, environment: Environment, skin: Skin, seed: int, size: tuple[int, int]
    ) -> None:
        self.environment, self.skin, (self.width, self.height) = environment, skin, size
        rng = np.random.default_rng([seed, 5])
        self.wall_height = round(self.height * HORIZON)
        self.wall, self.landmark_at = self._wall(rng)
        self.floor, self.marking_at = self._floor(rng)
        self.post = float(rng.uniform(0.5, 1.5)) if rng.uniform() < OCCLUDED else None
        self.health = float(rng.uniform(0.3, 1.0))

    def draw(self, state: Floats) -> Pixels:
        """The picture of this state."""
        from PIL import Image, ImageDraw

        across = round((state[X] + state[SWAY_X]) * self.width)
        up = round((state[HEIGHT] + state[SWAY_Y]) * self.wall_height)
        along = round((state[Y] + state[SWAY_Y]) * (self.height - self.wall_height))
        wall = np.roll(self.wall, (up, -across), (0, 1))
        floor = np.roll(self.floor, (along, -across), (0, 1))
        image = Image.fromarray(np.concatenate([wall, floor]))
        pen = ImageDraw.Draw(image)
        self._player(pen, state)
        self._post(pen, state)
        self._display(pen, state)
        return np.asarray(image, dtype=np.uint8)

    def _wall(self, rng: np.random.Generator) -> tuple[Pixels, Spot]:
        look, height = self.environment, self.wall_height
        tile, pen = _tile(self.width, height, look.wall)
        for band in range(look.bands):
            edge = round(band * height / look.bands)
            pen.rectangle(
                (0, edge, self.width, edge + max(1, height // 30)), fill=_shade(look.wall, 0.8)
            )
        for _ in range(look.clutter):
            across, top = rng.uniform(0.02, 0.9) * self.width, rng.uniform(0.05, 0.85) * height
            side = 0.06 * self.width
            pen.rectangle(
                (across, top, across + side, top + side * 0.6),
                fill=_shade(look.wall, rng.uniform(0.7, 1.3)),
            )
        middle = (self.width / 2, height / 2)
        _figure(pen, look.landmark_shape, middle, 0.1 * self.width, 0.3 * height, look.landmark)
        return _shifted(tile, rng)

    def _floor(self, rng: np.random.Generator) -> tuple[Pixels, Spot]:
        look, height = self.environment, self.height - self.wall_height
        tile, pen = _tile(self.width, height, look.floor)
        for column in range(4):
            left = round(column * self.width / 4)
            pen.rectangle(
                (left, 0, left + max(1, self.width // 100), height), fill=_shade(look.floor, 0.85)
            )
        for _ in range(look.clutter):
            across, top = rng.uniform(0.02, 0.9) * self.width, rng.uniform(0.05, 0.85) * height
            side = 0.05 * self.width
            pen.ellipse(
                (across, top, across + side, top + side * 0.5),
                fill=_shade(look.floor, rng.uniform(0.7, 1.3)),
            )
        middle = (self.width / 2, height / 2)
        _figure(pen, look.marking_shape, middle, 0.11 * self.width, 0.28 * height, look.marking)
        return _shifted(tile, rng)

    def _player(self, pen: ImageDraw, state: Floats) -> None:
        wide, tall = 0.15 * self.width, 0.42 * self.height
        middle, ground = self.width / 2, 0.86 * self.height
        pen.ellipse(
            (
                middle - wide * 0.7,
                ground - 0.02 * self.height,
                middle + wide * 0.7,
                ground + 0.04 * self.height,
            ),
            fill=_shade(self.environment.floor, 0.5),
        )
        roll = float(state[ROLL])
        foot = ground - 0.16 * self.height * float(state[LIFT])
        if state[RIDING] > 0.5:
            foot -= 0.035 * self.height
            pen.ellipse(
                (middle - wide, foot, middle + wide, foot + 0.045 * self.height),
                fill=(250, 250, 250),
                outline=(20, 20, 20),
            )
        tall, wide = tall * (1 - 0.45 * roll), wide * (1 + 0.5 * roll)
        self._figure(pen, middle, foot, wide, tall)

    def _figure(self, pen: ImageDraw, middle: float, foot: float, wide: float, tall: float) -> None:
        body, head = COLOURS[self.skin.body], COLOURS[self.skin.head]
        half, neck = wide / 2, foot - tall * 0.62
        pen.rectangle(
            (middle - half * 0.7, foot - tall * 0.14, middle - half * 0.2, foot),
            fill=_shade(body, 0.5),
        )
        pen.rectangle(
            (middle + half * 0.2, foot - tall * 0.14, middle + half * 0.7, foot),
            fill=_shade(body, 0.5),
        )
        pen.rectangle((middle - half, neck, middle + half, foot - tall * 0.12), fill=body)
        top = foot - tall * 0.98
        pen.ellipse((middle - half * 0.8, top, middle + half * 0.8, neck + tall * 0.04), fill=head)
        dark = (245, 245, 245)
        if self.skin.hat == "cone":
            pen.polygon(
                [
                    (middle - half * 0.6, top + tall * 0.08),
                    (middle + half * 0.6, top + tall * 0.08),
                    (middle, top - tall * 0.16),
                ],
                fill=dark,
            )
        elif self.skin.hat == "brim":
            pen.rectangle(
                (middle - half * 1.2, top + tall * 0.04, middle + half * 1.2, top + tall * 0.11),
                fill=dark,
            )
        elif self.skin.hat == "horns":
            for side in (-1, 1):
                pen.polygon(
                    [
                        (middle + side * half * 0.4, top + tall * 0.1),
                        (middle + side * half, top + tall * 0.1),
                        (middle + side * half * 1.1, top - tall * 0.1),
                    ],
                    fill=dark,
                )

    def _post(self, pen: ImageDraw, state: Floats) -> None:
        """A post nearer than the player: it passes faster than the wall does."""
        if self.post is None:
            return
        left = ((self.post - 1.5 * float(state[X])) % 2.0 - 0.5) * self.width
        pen.rectangle((left, 0, left + 0.06 * self.width, self.height), fill=(12, 12, 14))

    def _display(self, pen: ImageDraw, state: Floats) -> None:
        colour, width, height = self.environment.hud, self.width, self.height
        pen.rectangle(
            (0.03 * width, 0.04 * height, 0.03 * width + 0.2 * width * self.health, 0.07 * height),
            fill=colour,
        )
        side = 0.05 * width
        pen.ellipse(
            (width - 1.4 * side, 0.04 * height, width - 0.4 * side, 0.04 * height + side),
            outline=colour,
        )
        lit = int(float(state[CLOCK]) * 2) % 3
        for number in range(3):
            left, top = width * (0.9 - 0.05 * number), 0.93 * height
            box = (left, top, left + 0.03 * width, top + 0.04 * height)
            pen.rectangle(box, fill=colour if number == lit else None, outline=colour)


def _tile(width: int, height: int, colour: Colour) -> tuple[object, ImageDraw]:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (width, height), colour)
    return image, ImageDraw.Draw(image)


def _shifted(tile: object, rng: np.random.Generator) -> tuple[Pixels, Spot]:
    """The tile, begun anywhere, and where its middle is now: it repeats in both directions."""
    pixels = np.asarray(tile, dtype=np.uint8)
    height, width, _ = pixels.shape
    right, down = int(rng.integers(width)), int(rng.integers(height))
    return np.roll(pixels, (down, right), (0, 1)), (
        (0.5 + right / width) % 1,
        (0.5 + down / height) % 1,
    )


def _figure(
    pen: ImageDraw,
    shape: Shape,
    middle: tuple[float, float],
    wide: float,
    tall: float,
    fill: Colour,
) -> None:
    x, y = middle
    box = (x - wide, y - tall, x + wide, y + tall)
    if shape == "disc":
        pen.ellipse(box, fill=fill)
    elif shape == "ring":
        pen.ellipse(box, outline=fill, width=max(2, round(wide * 0.45)))
    elif shape == "square":
        pen.rectangle(box, fill=fill)
    elif shape == "diamond":
        pen.polygon([(x, y - tall), (x + wide, y), (x, y + tall), (x - wide, y)], fill=fill)
    elif shape == "triangle":
        pen.polygon([(x, y - tall), (x + wide, y + tall), (x - wide, y + tall)], fill=fill)
    else:
        pen.rectangle((x - wide, y - tall / 3, x + wide, y + tall / 3), fill=fill)
        pen.rectangle((x - wide / 3, y - tall, x + wide / 3, y + tall), fill=fill)


def _shade(colour: Colour, by: float) -> Colour:
    red, green, blue = (min(255, round(part * by)) for part in colour)
    return red, green, blue
