"""The simulated table in pictures: two cameras in the room and one on the wrist."""

from __future__ import annotations

import atexit
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.worlds.pictures import Size
from evaluators.worlds.tabletop.engine import NoSimulator, Tabletop, headless

Frames = npt.NDArray[np.uint8]

VIEWS = ("agent", "front", "wrist")
WRIST_CAMERA = "robot0_eye_in_hand"
HIDDEN_GROUP, ARM_GROUP = 4, 3


NATIVE = Size(128, 128)


@dataclass(frozen=True, slots=True)
class RoomCamera:
    """A camera in the room: what it looks at, from how far, from which side and height."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float


ROOM_CAMERAS = (
    RoomCamera((0.07, 0.015, 0.86), 1.24, 180.0, -62.0),
    RoomCamera((0.09, 0.0, 0.91), 1.26, 150.0, -30.0),
)


@dataclass
class Cameras:
    """MuJoCo's renderer on one table. robosuite's own shows noise on a cold start."""

    table: Tabletop
    size: Size = NATIVE
    _renderer: Any = field(init=False)

    def __post_init__(self) -> None:
        headless()
        try:
            import mujoco

            _tune(self.table.model)
            self._renderer = mujoco.Renderer(self.table.model, self.size.height, self.size.width)
            atexit.register(self._renderer.close)
        except Exception as error:  # GL fails in as many ways as there are drivers
            raise NoSimulator(
                f"The robot simulator cannot draw without a screen here: {error}. On Linux install "
                "libegl1 and libegl-mesa0 (or set MUJOCO_GL=osmesa with libosmesa6)."
            ) from error

    def render(self) -> Frames:
        """The table as it stands, [views, height, width, RGB]."""
        return np.stack([self._draw(number) for number in range(len(VIEWS))])

    def close(self) -> None:
        """Gives the GL context back."""
        self._renderer.close()

    def _draw(self, number: int) -> Frames:
        import mujoco

        wrist = VIEWS[number] == "wrist"
        option = mujoco.MjvOption()
        option.geomgroup[:] = 0
        option.geomgroup[1] = 1
        option.geomgroup[ARM_GROUP] = not wrist
        camera = WRIST_CAMERA if wrist else self._camera(number)
        self._renderer.update_scene(self.table.data, camera, option)
        for flag in ("REFLECTION", "SHADOW", "SKYBOX"):
            self._renderer.scene.flags[getattr(mujoco.mjtRndFlag, f"mjRND_{flag}")] = 0
        return np.array(self._renderer.render(), np.uint8)

    def _camera(self, number: int) -> Any:
        import mujoco

        room, jitter = ROOM_CAMERAS[number], self.table.noise.camera[number]
        camera = mujoco.MjvCamera()
        camera.lookat[:] = np.array(room.lookat) + jitter[2:]
        camera.distance = room.distance
        camera.azimuth, camera.elevation = room.azimuth + jitter[0], room.elevation + jitter[1]
        return camera


def _tune(model: Any) -> None:
    """No reflections and samples; what no camera shows is not drawn: the mount, the phantoms that
    mark robosuite's own targets, and for the wrist the arm behind it."""
    model.vis.quality.offsamples = 0
    for geom in range(model.ngeom):
        body = model.body(model.geom_bodyid[geom]).name
        if body.startswith(("Visual", "fixed_mount", "robot0_link0", "robot0_base")):
            model.geom_group[geom] = HIDDEN_GROUP if model.geom_group[geom] == 1 else 0
        elif body.startswith("robot0_link") and model.geom_group[geom] == 1:
            model.geom_group[geom] = ARM_GROUP


def shrink(frames: Frames, size: int) -> Frames:
    """Frames [..., height, width, 3] as squares of a size that divides theirs, each pixel the mean
    of its block."""
    height, width = frames.shape[-3:-1]
    rows, columns = height // size, width // size
    if (rows * size, columns * size) != (height, width):
        raise ValueError(f"{height} x {width} pixels cannot be shrunk to {size} in whole blocks.")
    if rows == columns == 1:
        return frames
    blocks = frames.reshape(*frames.shape[:-3], size, rows, size, columns, 3)
    means: npt.NDArray[np.float64] = blocks.mean(axis=(-4, -2))
    return np.rint(means).astype(np.uint8)
