"""The simulated table itself: robosuite's PickPlace, seven numbers an action at 10 Hz, and the
exact truth of what happened."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluators.metrics.outcomes import ObjectOutcome
from evaluators.worlds.actions import RATE_HZ
from evaluators.worlds.tabletop.starts import OBJECTS, TableStart
from evaluators.worlds.tabletop.trials import NO_NOISE, TrialNoise

Floats = npt.NDArray[np.float64]

CONTROL_HZ, SUBSTEPS, CONTROL_EVERY = 20, 25, 5
"""Each action is held for two control steps of 25 physics steps; torques are computed anew at
every fifth, 100 times a second."""

TABLE_TOP = 0.8
REST_HEIGHTS = (0.085, 0.045, 0.1, 0.06)
LIFT = 0.05
REACH, LOW = 0.06, 0.17
"""A closing hand this near to an object, this low over the tray, has tried it."""

BIN_CENTRES = np.array(((0.0025, 0.1575), (0.1975, 0.1575), (0.0025, 0.4025), (0.1975, 0.4025)))
BIN_HALF = np.array((0.0975, 0.1225))
SETTLE = 6


class NoSimulator(RuntimeError):
    """The simulator cannot run on this machine; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class TableState:
    """Where everything is: the hand, how far it is turned and opened, the four objects."""

    hand: Floats
    hand_turn: Floats
    fingers: Floats
    objects: Floats
    yaws: Floats
    held: int

    @property
    def proprioception(self) -> npt.NDArray[np.float32]:
        """End effector's position and axis-angle, and two finger joints."""
        return np.concatenate([self.hand, self.hand_turn, self.fingers]).astype(np.float32)

    @property
    def bins(self) -> tuple[int, ...]:
        """The bin in which each object lies, -1 for none."""
        return tuple(bin_of(place) for place in self.objects)


Rearrangement = Callable[[TableState], Mapping[int, tuple[Floats, Floats]]]
"""From the table as it is to new places, position and quaternion by the object's number."""


@dataclass(frozen=True, slots=True)
class TableTruth:
    """What happened to the objects: which was tried first, which left the tray in the hand, where
    each lies now."""

    tried: int
    lifted: tuple[bool, ...]
    bins: tuple[int, ...]
    held: int

    def outcome(self, start: TableStart) -> ObjectOutcome:
        """The criteria: the first object tried is the named one; it left the tray in the hand; it
        lies, let go, in the bin of the instruction."""
        if self.tried < 0:
            return ObjectOutcome(False, False, False)
        lifted = self.lifted[self.tried]
        placed = lifted and self.bins[self.tried] == start.bin and self.held != self.tried
        return ObjectOutcome(self.tried == start.named, lifted, placed)


@dataclass
class Tabletop:
    """One table that is set again for every episode; making it takes some seconds.

    Where it does not grasp, objects and fingers have no friction: a world in which nothing stays in
    the hand.
    """

    grasps: bool = True
    _env: Any = field(init=False)
    _noise: TrialNoise = field(init=False, default=NO_NOISE)
    _step: int = field(init=False, default=0)
    _tried: int = field(init=False, default=-1)
    _closed: bool = field(init=False, default=False)
    _lifted: npt.NDArray[np.bool_] = field(init=False)
    _tips: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._env = _make()
        model = self.model
        self._bodies = [model.body(f"{name.capitalize()}_main").id for name in OBJECTS]
        self._addresses = [int(model.jnt_qposadr[model.body_jntadr[body]]) for body in self._bodies]
        self._friction, self._masses = model.geom_friction.copy(), model.body_mass.copy()
        self._inertias = model.body_inertia.copy()
        self._site = self._env.robots[0].eef_site_id["right"]
        fingers = [model.body(f"gripper0_right_{side}finger").id for side in ("left", "right")]
        self._tips = {
            body: side for side, finger in enumerate(fingers) for body in (finger, finger + 1)
        }

    @property
    def model(self) -> Any:
        """MuJoCo's own model, for the renderer."""
        return self._env.sim.model._model

    @property
    def data(self) -> Any:
        """MuJoCo's own data, for the renderer."""
        return self._env.sim.data._data

    @property
    def noise(self) -> TrialNoise:
        """The chance of the trial that is running."""
        return self._noise

    def set(self, start: TableStart, noise: TrialNoise = NO_NOISE) -> TableState:
        """The table as the start describes it, objects at rest; the trial's contacts hold from
        here on."""
        chance = np.random.get_state()
        try:
            np.random.seed(0)
            self._env.reset()
        finally:
            np.random.set_state(chance)
        self._noise, self._step, self._tried, self._closed = noise, 0, -1, False
        self._lifted = np.zeros(len(OBJECTS), np.bool_)
        self._contacts(noise)
        self._place(start)
        rest = np.array([0.0] * 6 + [-1.0])
        for _ in range(SETTLE):
            self._control(rest)
        return self.state()

    def step(self, action: npt.NDArray[np.floating]) -> TableState:
        """One tenth of a second: the action as the actuators of this trial carry it out.

        An action is a delta position (3), a delta axis-angle (3) and the gripper (closed above 0),
        each from -1 to 1.
        """
        actuated = self._noise.actuated(action, self._step)
        for _ in range(CONTROL_HZ // RATE_HZ):
            self._control(actuated)
        self._step += 1
        closes, self._closed = bool(action[6] > 0) and not self._closed, bool(action[6] > 0)
        state = self.state()
        self._watch(state, closes)
        return state

    def state(self) -> TableState:
        """Where everything is now."""
        data = self.data
        objects = np.array([data.xpos[body] for body in self._bodies])
        return TableState(
            hand=np.array(data.site_xpos[self._site]),
            hand_turn=_turn(np.array(data.site_xmat[self._site]).reshape(3, 3)),
            fingers=np.array(data.qpos[7:9]),
            objects=objects,
            yaws=np.array([_yaw(data.xquat[body]) for body in self._bodies]),
            held=self._held(),
        )

    def arrange(self, places: Rearrangement) -> TableState:
        """Puts objects elsewhere, at rest: practice for eyes, never part of an episode."""
        data = self.data
        for number, (place, quaternion) in places(self.state()).items():
            at = self._addresses[number]
            data.qpos[at : at + 7] = (*place, *quaternion)
            speed = int(self.model.jnt_dofadr[self.model.body_jntadr[self._bodies[number]]])
            data.qvel[speed : speed + 6] = 0.0
        self._env.sim.forward()
        return self.state()

    @contextmanager
    def arranged(self, places: Rearrangement, noise: TrialNoise) -> Iterator[TableState]:
        """The table with objects elsewhere and another trial's cameras, for one look."""
        data, trial = self.data, self._noise
        positions, speeds = data.qpos.copy(), data.qvel.copy()
        self._noise = noise
        try:
            yield self.arrange(places)
        finally:
            self._noise = trial
            data.qpos[:], data.qvel[:] = positions, speeds
            self._env.sim.forward()

    def truth(self) -> TableTruth:
        """What happened so far, from the simulator's own state."""
        state = self.state()
        lifted = tuple(bool(flag) for flag in self._lifted)
        return TableTruth(self._tried, lifted, state.bins, state.held)

    def _control(self, action: Floats) -> None:
        sim = self._env.sim
        for number in range(SUBSTEPS):
            sim.step1()
            if number % CONTROL_EVERY == 0:
                self._env._pre_action(action, number == 0)
            sim.step2()

    def _contacts(self, noise: TrialNoise) -> None:
        model = self.model
        model.geom_friction[:] = self._friction
        model.body_mass[:], model.body_inertia[:] = self._masses, self._inertias
        slippery = [*self._bodies, *self._tips]
        model.geom_friction[np.isin(model.geom_bodyid, slippery)] *= (
            noise.friction if self.grasps else 0.0
        )
        for number, body in enumerate(self._bodies):
            model.body_mass[body] *= noise.masses[number]
            model.body_inertia[body] *= noise.masses[number]

    def _place(self, start: TableStart) -> None:
        data = self.data
        data.qpos[:7] = np.array(self._env.robots[0].init_qpos) + start.joints
        data.qvel[:] = 0.0
        for number, place in enumerate(start.placements):
            at = self._addresses[number]
            height = TABLE_TOP + REST_HEIGHTS[number]
            half = place.yaw / 2
            data.qpos[at : at + 7] = (
                place.x, place.y, height, np.cos(half), 0.0, 0.0, np.sin(half),
            )  # fmt: skip
        self._env.sim.forward()
        self._env.robots[0].composite_controller.update_state()
        self._env.robots[0].composite_controller.reset()

    def _held(self) -> int:
        """The object between the closed fingers, touched by both; -1 for none."""
        if not self._closed:
            return -1
        data, bodies = self.data, self.model.geom_bodyid
        touching: dict[int, set[int]] = {}
        for contact in data.contact[: data.ncon]:
            pair = int(bodies[contact.geom1]), int(bodies[contact.geom2])
            for finger, thing in (pair, pair[::-1]):
                if finger in self._tips and thing in self._bodies:
                    touching.setdefault(self._bodies.index(thing), set()).add(self._tips[finger])
        both = [number for number, fingers in touching.items() if len(fingers) == 2]
        return min(both, default=-1)

    def _watch(self, state: TableState, closes: bool) -> None:
        """Remembers what the closing hand tried first and what it lifted."""
        if closes and self._tried < 0:
            gaps = np.linalg.norm(state.objects[:, :2] - state.hand[:2], axis=1)
            nearest = int(gaps.argmin())
            if gaps[nearest] < REACH and state.hand[2] < TABLE_TOP + LOW:
                self._tried = nearest
        if state.held >= 0:
            rise = state.objects[state.held, 2] - TABLE_TOP - REST_HEIGHTS[state.held]
            self._lifted[state.held] |= rise > LIFT


def bin_of(place: npt.NDArray[np.floating]) -> int:
    """The bin in which a thing at this place lies, -1 for none."""
    inside = (np.abs(BIN_CENTRES - place[:2]) < BIN_HALF).all(axis=1)
    low = place[2] < TABLE_TOP + 0.13
    return int(inside.argmax()) if inside.any() and low else -1


def _yaw(quaternion: Floats) -> float:
    w, x, y, z = quaternion
    return float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def _turn(matrix: Floats) -> Floats:
    """The hand's rotation against pointing straight down, as an axis-angle."""
    from scipy.spatial.transform import Rotation

    down = np.array(((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0)))
    return np.asarray(Rotation.from_matrix(matrix @ down.T).as_rotvec(), np.float64)


def headless() -> None:
    """Rendering without a screen, unless the caller chose a way; before MuJoCo is imported."""
    if os.uname().sysname == "Linux":
        os.environ.setdefault("MUJOCO_GL", "egl")


def _make() -> Any:
    """robosuite's own environment without its own renderer, which shows noise on a cold start."""
    headless()
    return _quietly(_imported())(
        "PickPlace",
        robots="Panda",
        has_renderer=False,
        has_offscreen_renderer=False,
        use_camera_obs=False,
        use_object_obs=False,
        control_freq=CONTROL_HZ,
        ignore_done=True,
        hard_reset=False,
        initialization_noise=None,
    )


def _quietly(make: Callable[..., Any]) -> Callable[..., Any]:
    """Without robosuite's own lines about where it reads its settings."""
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)
    return make


def _imported() -> Callable[..., Any]:
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        import robosuite
    except Exception as error:  # an import of GL or MuJoCo may fail in its own way
        raise NoSimulator(
            f"The robot simulator cannot be opened: {error}. Install the project's packages "
            "(`make install`) and, on Linux without a screen, libegl1 and libegl-mesa0."
        ) from error
    finally:
        logging.disable(before)
    return robosuite.make  # type: ignore[no-any-return]
