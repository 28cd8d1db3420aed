"""The rooms of drawn scenes: five families in several variants, with no thing to be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluators.suites.liva.cases.canvas import EDGE, HEIGHT, WIDTH, SceneCanvas
from evaluators.suites.liva.cases.shapes import Colour, shade

WALLS: Mapping[str, tuple[Colour, ...]] = {
    "kitchen": ((226, 236, 232), (242, 234, 216), (214, 226, 238)),
    "workshop": ((214, 206, 192), (198, 204, 202), (222, 212, 186)),
    "garden": ((190, 222, 240), (206, 226, 234), (180, 212, 236)),
    "office": ((236, 230, 220), (222, 230, 232), (230, 224, 236)),
    "laundry": ((222, 228, 240), (226, 238, 234), (238, 230, 226)),
}
TABLES: Mapping[str, tuple[Colour, ...]] = {
    "kitchen": ((188, 150, 108), (206, 190, 168), (150, 116, 86)),
    "workshop": ((160, 124, 84), (140, 118, 92), (176, 142, 96)),
    "garden": ((150, 118, 82), (168, 140, 104), (132, 108, 84)),
    "office": ((120, 96, 78), (182, 156, 124), (96, 84, 80)),
    "laundry": ((214, 214, 210), (190, 172, 148), (206, 210, 220)),
}
FLOOR = (170, 158, 146)
SKY, GLASS = (206, 230, 244), (196, 220, 232)
LEFT_WINDOW, RIGHT_WINDOW = (70, 60, 300, 270), (980, 60, 1210, 270)


def draw_room(canvas: SceneCanvas, scenario: str, variant: int, window: str) -> None:
    """Walls and what is behind them; `window` is left, right or none."""
    wall = WALLS[scenario][variant]
    canvas.rect(0, 0, WIDTH, HEIGHT, wall)
    BACKGROUNDS[scenario](canvas, wall, variant)
    if window in ("left", "right") and scenario != "garden":
        _window(canvas, LEFT_WINDOW if window == "left" else RIGHT_WINDOW, scenario)


def draw_table(
    canvas: SceneCanvas, scenario: str, variant: int, left: float = 0, right: float = 100
) -> None:
    """A table in front, between two columns in hundredths of the width; the floor shows beside."""
    top = TABLES[scenario][variant]
    x0, x1 = canvas.column(left), canvas.column(right)
    slant = [0 if left == 0 else 46, 0 if right == 100 else 46]
    if left > 0 or right < 100:
        floor = (136, 166, 108) if scenario == "garden" else FLOOR
        canvas.rect(0, EDGE + 20, WIDTH, HEIGHT, floor)
    far = [(x0 + slant[0], EDGE), (x1 - slant[1], EDGE)]
    canvas.poly([*far, (x1, HEIGHT), (x0, HEIGHT)], top)
    canvas.poly([*far, (x1 - slant[1], EDGE + 8), (x0 + slant[0], EDGE + 8)], shade(top, 0.82))
    for depth in (0.22, 0.5, 0.82):
        height = canvas.row(depth)
        canvas.limb(((x0 + 60, height), (x1 - 60, height + 4)), 2, shade(top, 0.93))


def _kitchen(canvas: SceneCanvas, wall: Colour, variant: int) -> None:
    line = shade(wall, 0.93)
    for row in range(300, EDGE, 34):
        canvas.limb(((0, row), (WIDTH, row)), 2, line)
        for column in range(17 * (row % 3), WIDTH, 68):
            canvas.limb(((column, row), (column, row + 34)), 2, line)
    if variant == 1:
        canvas.limb(((640, 0), (640, 26)), 3, (90, 90, 90))
        canvas.half(596, 16, 684, 84, 180, 360, (196, 96, 72))


def _workshop(canvas: SceneCanvas, wall: Colour, variant: int) -> None:
    boards = shade(wall, 0.94)
    for column in range(0, WIDTH, 118 if variant else 160):
        canvas.limb(((column, 0), (column, EDGE)), 3, boards)
    canvas.rect(0, 300, WIDTH, 312, shade(wall, 0.86))


def _garden(canvas: SceneCanvas, _wall: Colour, variant: int) -> None:
    for x, y, size in ((150, 80, 60), (980, 60, 74), (560, 40, 46))[: 2 + variant % 2]:
        for dx in (-0.8, 0, 0.8):
            canvas.oval(x + dx * size - size, y - size / 2, x + dx * size + size, y + size / 2,
                        (240, 246, 250))  # fmt: skip
    hedge = (112, 152, 96)
    if variant == 1:
        for column in range(0, WIDTH, 64):
            canvas.poly([(column, EDGE), (column, 214), (column + 26, 196), (column + 52, 214),
                         (column + 52, EDGE)], (208, 196, 170))  # fmt: skip
        return
    for column in range(-20, WIDTH, 90):
        top = 210 + 22 * (column // 90 % 3)
        canvas.oval(column, top, column + 150, top + 190, shade(hedge, 0.94 + 0.06 * (column % 2)))
    canvas.rect(0, 300, WIDTH, EDGE, hedge)


def _office(canvas: SceneCanvas, wall: Colour, variant: int) -> None:
    canvas.rect(0, 330, WIDTH, 340, shade(wall, 0.88))
    if variant == 2:
        canvas.rect(0, 0, 26, EDGE, shade(wall, 0.8))
        canvas.rect(WIDTH - 26, 0, WIDTH, EDGE, shade(wall, 0.8))


def _laundry(canvas: SceneCanvas, wall: Colour, variant: int) -> None:
    size = (58, 76, 94)[variant]
    line = shade(wall, 0.95)
    for row in range(150, EDGE, size):
        canvas.limb(((0, row), (WIDTH, row)), 2, line)
    for column in range(0, WIDTH, size):
        canvas.limb(((column, 150), (column, EDGE)), 2, line)


def _window(canvas: SceneCanvas, place: tuple[int, int, int, int], scenario: str) -> None:
    x0, y0, x1, y1 = place
    canvas.framed(x0, y0, x1, y1, (250, 250, 246))
    canvas.rect(x0 + 12, y0 + 12, x1 - 12, y1 - 12, SKY)
    if scenario == "office":
        for number, top in enumerate((150, 110, 170, 130)):
            left = x0 + 20 + number * 48
            canvas.rect(left, top, left + 40, y1 - 12, (168, 182, 198))
    else:
        canvas.half(x0 + 12, y1 - 90, x1 - 12, y1 + 66, 180, 360, (140, 178, 120))
    middle = (x0 + x1) / 2
    canvas.rect(middle - 5, y0, middle + 5, y1, (250, 250, 246))
    canvas.rect(x0 - 10, y1 - 4, x1 + 10, y1 + 10, (236, 234, 226))


BACKGROUNDS: Mapping[str, Callable[[SceneCanvas, Colour, int], None]] = {
    "kitchen": _kitchen,
    "workshop": _workshop,
    "garden": _garden,
    "office": _office,
    "laundry": _laundry,
}
