"""UNIVERSE's worlds in the demo: the small trained world rolls eight starts out once, for the board
of the game and for the judged one, whose judge is the small reader adapted on recorded play. It
fails that board's exam, so the board shows its numbers and ranks nobody."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from flows.cli.demos.entry import DemoFacts, declaration_of, demo_samples
from infra.settings import Settings
from submissions.bundle.pack import pack_outputs

SUITES = ("universe_truth", "universe_worlds")
NAME = "Small trained world"


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in; nothing on a machine without the game."""
    there = find_spec("vizdoom") is not None
    return tuple(rolled_out(settings, suite) for suite in SUITES) if there else ()


def rolled_out(settings: Settings, suite: str) -> Path:
    """A bundle of the small world's rollouts, made once and kept by the hash of its weights."""
    bundle = settings.home / "demo" / f"small-world-{suite}.zip"
    if not bundle.exists():
        from evaluators.suites.universe.boards.worlds.rolling import roll_out
        from evaluators.suites.universe.boards.worlds.yardsticks import TRAINED, small_world

        world = small_world()
        folder = settings.home / "demo" / f"small-world-{world.card.revision}"
        outputs = roll_out(world, demo_samples(suite, "video"), folder)
        facts = DemoFacts(NAME, world.card.revision, {"seed": 0})
        declared = declaration_of(suite, "video", facts)
        disclosure = {"trained_on_suite_data": "no", "statement": TRAINED}
        pack_outputs(bundle, {**declared, "disclosure": disclosure}, outputs)
    return bundle
