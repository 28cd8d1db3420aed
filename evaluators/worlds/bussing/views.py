"""The simulated bench in pictures: from above, from the front, and from the wrist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluators.worlds.bussing.bench import CEILING, BenchState, Floats
from evaluators.worlds.bussing.starts import BINS, COLOURS, OBJECTS, Start
from evaluators.worlds.pictures import Size

Frames = npt.NDArray[np.uint8]
Canvas = npt.NDArray[np.float32]

VIEWS = ("top", "front", "wrist")
AT_ONCE = 512
WRIST_HALF = 0.3
TABLE_COLOUR, WALL_COLOUR = (178, 170, 156), (120, 130, 138)
BIN_COLOURS = ((70, 96, 150), (25, 65, 45))
OPEN_COLOUR, CLOSED_COLOUR, HOLDING_COLOUR = (20, 20, 20), (185, 255, 60), (255, 0, 255)
OBJECT_RADIUS, FINGER_RADIUS, BIN_SIZE = 0.07, 0.042, 0.12


SMALL = Size()


@dataclass(frozen=True, slots=True)
class Camera:
    """The part of the world that a view shows, and in how many pixels."""

    left: float
    right: float
    bottom: float
    top: float
    size: Size

    @property
    def pixel(self) -> tuple[float, float]:
        """Width and height of a pixel in the world."""
        return (self.right - self.left) / self.size.width, (
            self.top - self.bottom
        ) / self.size.height

    @property
    def edge(self) -> int:
        """The margin around the picture, in pixels, wide enough for the largest disc just outside
        of it."""
        return 2 * self.reach(OBJECT_RADIUS) + 1

    def reach(self, radius: float) -> int:
        """How many pixels from its middle a disc touches."""
        return int(np.ceil(radius / min(self.pixel) + 0.5))

    def columns(self) -> Canvas:
        """The x of each pixel's middle."""
        return (self.left + (np.arange(self.size.width) + 0.5) * self.pixel[0]).astype(np.float32)

    def rows(self) -> Canvas:
        """The y of each pixel's middle, from the top of the picture downwards."""
        return (self.top - (np.arange(self.size.height) + 0.5) * self.pixel[1]).astype(np.float32)


def render(table: BenchState, starts: Sequence[Start], size: Size = SMALL) -> Frames:
    """All views of some states: [states, views, height, width, RGB]; one start a state."""
    numbers = range(0, len(starts), AT_ONCE)
    parts = [
        _render(_rows(table, slice(n, n + AT_ONCE)), starts[n : n + AT_ONCE], size) for n in numbers
    ]
    return (
        np.concatenate(parts)
        if parts
        else np.zeros((0, len(VIEWS), size.height, size.width, 3), np.uint8)
    )


def film(states: Sequence[BenchState], starts: Sequence[Start], size: Size = SMALL) -> Frames:
    """The frames of episodes that took several steps: [episodes, views, steps, height, width,
    RGB]."""
    frames = np.stack([render(table, starts, size) for table in states], axis=2)
    return np.ascontiguousarray(frames)


def empty_top(size: Size = SMALL) -> Canvas:
    """The view from above with nothing on the table: what a policy knows of its own bench."""
    camera = _above(size)
    return _bins(_blank(1, camera, TABLE_COLOUR), camera, np.zeros((1, 2)))[
        0, camera.edge :, camera.edge :
    ][: size.height, : size.width]


def pixel_places(size: Size) -> tuple[Floats, Floats]:
    """Where on the table the pixels of the view from above lie: x and y, [height, width] each."""
    x, y = np.meshgrid(_above(size).columns().astype(float), _above(size).rows().astype(float))
    return x, y


def _rows(table: BenchState, rows: slice) -> BenchState:
    return BenchState(*(getattr(table, name)[rows] for name in BenchState.__dataclass_fields__))


def _render(table: BenchState, starts: Sequence[Start], size: Size) -> Frames:
    colours = np.array(
        [[COLOURS[OBJECTS.index(name)] for name in start.objects] for start in starts], np.float32
    )
    views = (_top(table, colours, size), _front(table, colours, size), _wrist(table, colours, size))
    return np.stack([np.clip(np.rint(view), 0, 255).astype(np.uint8) for view in views], axis=1)


def _above(size: Size) -> Camera:
    return Camera(0.0, 1.0, 0.0, 1.0, size)


def _top(table: BenchState, colours: Canvas, size: Size) -> Canvas:
    camera = _above(size)
    canvas = _bins(_blank(1, camera, TABLE_COLOUR), camera, np.zeros((1, 2))).repeat(
        len(colours), axis=0
    )
    return _objects(
        canvas,
        camera,
        table,
        colours,
        table.objects[:, :, :2],
        table.hand[:, :2],
        fingers_of(table),
    )


def _wrist(table: BenchState, colours: Canvas, size: Size) -> Canvas:
    """The table around the hand, as a camera on it sees it."""
    camera, centre = (
        Camera(-WRIST_HALF, WRIST_HALF, -WRIST_HALF, WRIST_HALF, size),
        table.hand[:, :2],
    )
    canvas = _bins(_blank(len(colours), camera, TABLE_COLOUR), camera, centre)
    objects = table.objects[:, :, :2] - centre[:, None]
    return _objects(
        canvas, camera, table, colours, objects, np.zeros_like(centre), fingers_of(table)
    )


def _front(table: BenchState, colours: Canvas, size: Size) -> Canvas:
    """The wall behind the table: height against width."""
    camera = Camera(0.0, 1.0, -0.12, CEILING + 0.08, size)
    canvas = _blank(1, camera, WALL_COLOUR)
    _box(canvas, camera, (0.5, -0.55), (1.0, 0.5), TABLE_COLOUR)
    for place, colour in zip(BINS, BIN_COLOURS, strict=True):
        _box(canvas, camera, (place[0], 0.0), (BIN_SIZE, 0.04), colour)
    canvas = canvas.repeat(len(colours), axis=0)
    fingers = fingers_of(table) * (1.0, 0.0)
    return _objects(
        canvas, camera, table, colours, table.objects[:, :, [0, 2]], table.hand[:, [0, 2]], fingers
    )


def fingers_of(table: BenchState) -> Floats:
    """From the middle of the hand to a finger: further the wider it is open, turned as the hand
    is."""
    spread = 0.065 + 0.04 * table.width
    fingers: Floats = np.stack([np.cos(table.turn), np.sin(table.turn)], axis=1) * spread[:, None]
    return fingers


def _hand_colour(table: BenchState) -> Canvas:
    """Dark when open, light when closed, glowing when something is in the hand."""
    closed = np.clip(1 - table.width, 0, 1)[:, None]
    plain = np.array(OPEN_COLOUR) * (1 - closed) + np.array(CLOSED_COLOUR) * closed
    return np.where((table.held >= 0)[:, None], np.array(HOLDING_COLOUR), plain).astype(np.float32)


def _objects(
    canvas: Canvas,
    camera: Camera,
    table: BenchState,
    colours: Canvas,
    objects: Floats,
    centre: Floats,
    fingers: Floats,
) -> Canvas:
    """Both objects and, over them, the two fingers; the margin is cut off."""
    for which in range(2):
        _disc(canvas, camera, objects[:, which], OBJECT_RADIUS, colours[:, which])
    for sign in (-1, 1):
        _disc(canvas, camera, centre + sign * fingers, FINGER_RADIUS, _hand_colour(table))
    edge, size = camera.edge, camera.size
    return canvas[:, edge : edge + size.height, edge : edge + size.width]


def _bins(canvas: Canvas, camera: Camera, origin: Floats) -> Canvas:
    for place, colour in zip(BINS, BIN_COLOURS, strict=True):
        _box(canvas, camera, np.array(place) - origin, (BIN_SIZE, BIN_SIZE), colour)
    return canvas


def _box(
    canvas: Canvas,
    camera: Camera,
    at: Floats | tuple[float, float],
    half: tuple[float, float],
    colour: tuple[int, int, int],
) -> None:
    """A box covers a pixel as far as it covers its row and its column, edges softened over a
    pixel."""
    middle = np.atleast_2d(np.asarray(at, np.float32))
    soft = camera.pixel[0]
    across = np.clip(0.5 - (np.abs(camera.columns() - middle[:, :1]) - half[0]) / soft, 0, 1)
    up = np.clip(0.5 - (np.abs(camera.rows() - middle[:, 1:]) - half[1]) / soft, 0, 1)
    cover = np.minimum(across[:, None, :], up[:, :, None])[..., None].astype(np.float32)
    edge, size = camera.edge, camera.size
    inner = canvas[:, edge : edge + size.height, edge : edge + size.width]
    inner += cover * (np.array(colour, np.float32) - inner)


def _disc(canvas: Canvas, camera: Camera, at: Floats, radius: float, colour: Canvas) -> None:
    """A disc touches only the pixels around it; edges are softened so that places can be read finer
    than a pixel."""
    wide, high = camera.pixel
    reach = camera.reach(radius)
    column = np.clip((at[:, 0] - camera.left) / wide - 0.5, -reach - 1, camera.size.width + reach)
    row = np.clip((camera.top - at[:, 1]) / high - 0.5, -reach - 1, camera.size.height + reach)
    window = np.arange(-reach, reach + 1)
    columns, rows = (
        np.rint(column).astype(int)[:, None] + window,
        np.rint(row).astype(int)[:, None] + window,
    )
    away = np.hypot(
        (columns - column[:, None])[:, None, :] * wide, (rows - row[:, None])[:, :, None] * high
    )
    cover = np.clip(0.5 - (away - radius) / wide, 0, 1).astype(np.float32)[..., None]
    spot = (
        np.arange(len(at))[:, None, None],
        rows[:, :, None] + camera.edge,
        columns[:, None, :] + camera.edge,
    )
    under = canvas[spot]
    canvas[spot] = under + cover * (colour[:, None, None, :] - under)


def _blank(count: int, camera: Camera, colour: tuple[int, int, int]) -> Canvas:
    shape = (count, camera.size.height + 2 * camera.edge, camera.size.width + 2 * camera.edge, 1)
    return np.tile(np.array(colour, np.float32), shape)
