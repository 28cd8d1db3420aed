"""The walk of one submission through the modules, from the door to the board, and how often a step
calls back into a module that an earlier step had finished with."""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from flows.evaluate.door import receive
from flows.evaluate.flow import run_here
from flows.workers.executor import prepare
from infra.settings import Settings
from tests.boards import stock
from tests.bundles import drawn_outputs
from tests.command import ROOT

PACKAGES = frozenset(("flows", "submissions", "leaderboard", "evaluators", "infra"))
LEFT_OUT = {
    "infra": "database sessions, tables, the store, settings and logs serve every step",
    "evaluators.contracts": "the dataclasses that steps hand to each other",
    "submissions.format.errors": "how any step words a refusal",
    "flows.durable.progress": "how any step reports how far it is",
}
"""Modules that every step uses by nature, each with the reason."""
MOST_CALLS_BACK = 30


@dataclass
class Walk:
    """The modules in the order of their first entry, and the calls back among them."""

    entered: dict[str, frozenset[str]] = field(default_factory=dict)
    """A module, and those that had been entered and wholly left when it was entered first."""
    calls_back: Counter[tuple[str, str]] = field(default_factory=Counter)
    active: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    """How often each function was called."""

    def enter(self, caller: str, module: str) -> None:
        """Note a call from one module into another; `caller` is empty at the door itself."""
        if module not in self.entered:
            left = (name for name in self.entered if not self.active[name])
            self.entered[module] = frozenset(left)
        if caller and module in self.entered[caller]:
            self.calls_back[caller, module] += 1

    def rooms(self) -> list[tuple[str, list[str]]]:
        """The walk, neighbours of one room together."""
        walk: list[tuple[str, list[str]]] = []
        for module in self.entered:
            room, _, name = module.rpartition(".")
            if not walk or walk[-1][0] != room:
                walk.append((room, []))
            walk[-1][1].append(name)
        return walk


class Tracer:
    """A profile function that follows calls between modules of ours, in every thread."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._lock = threading.Lock()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Python calls this at each call and each return."""
        module = _counted(frame)
        if not module or event not in ("call", "return"):
            return
        with self._lock:
            if event == "return":
                self._walk.active[module] -= 1
                return
            self._walk.functions[f"{module}.{frame.f_code.co_name}"] += 1
            caller = _caller(frame)
            if caller != module:
                self._walk.enter(caller, module)
            self._walk.active[module] += 1


def _caller(frame: FrameType) -> str:
    """The nearest module of ours up the stack; what the left-out modules call is not counted."""
    back = frame.f_back
    while back is not None and not _counted(back):
        back = back.f_back
    return _counted(back) if back is not None else ""


def _counted(frame: FrameType) -> str:
    """The module of a frame, if it is one that counts; importing is no step."""
    name = str(frame.f_globals.get("__name__", ""))
    is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED  # not a module's or class's body
    if name.partition(".")[0] not in PACKAGES or not is_function:
        return ""
    left_out = any(f"{name}.".startswith(f"{prefix}.") for prefix in LEFT_OUT)
    return "" if left_out else name


def _walk_of(settings: Settings, bundle: Path) -> Walk:
    walk = Walk()
    tracer = Tracer(walk)
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        received = receive(settings, str(bundle), None, None)
        evaluated = run_here(received.submission_id, settings)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert evaluated.state == "published"
    return walk


def _printed(walk: Walk) -> str:
    rooms = [f"{room}: {' → '.join(names)}" for room, names in walk.rooms()]
    back = [f"  {caller} → {module}" for caller, module in sorted(walk.calls_back)]
    return "\n".join([*rooms, f"{len(back)} calls back:", *back])


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """One submission of drawn outputs, from the door to the board in this thread."""
    folder = tmp_path_factory.mktemp("walk")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("DATABASE_URL", "STORE", "S3_ENDPOINT", "JUDGE"):
            patch.delenv(f"ARMILLARY_{name}", raising=False)
        patch.setenv("ARMILLARY_HOME", str(folder / "home"))
        patch.setenv("ARMILLARY_ENGINE", "here")
        settings = stock(Settings())
        prepare(settings)
        yield _walk_of(settings, drawn_outputs(folder / "bundle.zip"))


def test_a_submission_walks_from_the_door_to_the_board_with_few_calls_back(walk: Walk) -> None:
    print(_printed(walk))

    assert walk.rooms()[0] == ("flows.evaluate", ["door"])
    assert "flows.publish.receipts" in walk.entered
    assert len(walk.calls_back) < MOST_CALLS_BACK


def test_this_process_opens_a_bundle_once_for_its_shards_and_leaves_the_rest_to_the_reader(
    walk: Walk,
) -> None:
    assert walk.functions["submissions.format.archive._table_of_contents"] == 1
    assert walk.functions["submissions.format.manifest.parse"] == 0


def test_the_steps_are_entered_in_the_order_in_which_the_architecture_lists_them(
    walk: Walk,
) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    listed = re.findall(r"^  \d\. `(flows/\w+/\w+)\.py`", text, re.MULTILINE)
    steps = [path.replace("/", ".") for path in listed]

    assert len(steps) == 8
    assert [module for module in walk.entered if module in steps] == steps
