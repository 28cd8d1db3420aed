"""UNIVERSE's worlds in the demo: the small trained world rolls eight starts out once, for the board
of the game. The judged board waits for a judge that sees."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from flows.cli.demos.entry import DemoFacts, declaration_of, demo_samples
from infra.settings import Settings
from submissions.bundle.pack import pack_outputs

SUITE = "universe_truth"
NAME = "Small trained world"


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in; nothing on a machine without the game."""
    return (rolled_out(settings),) if find_spec("vizdoom") else ()


def rolled_out(settings: Settings) -> Path:
    """A bundle of the small world's rollouts, made once and kept by the hash of its weights."""
    bundle = settings.home / "demo" / "small-world.zip"
    if not bundle.exists():
        from evaluators.suites.universe.boards.worlds.rolling import roll_out
        from evaluators.suites.universe.boards.worlds.yardsticks import TRAINED, small_world

        world = small_world()
        folder = settings.home / "demo" / f"small-world-{world.card.revision}"
        outputs = roll_out(world, demo_samples(SUITE, "video"), folder)
        facts = DemoFacts(NAME, world.card.revision, {"seed": 0})
        declared = declaration_of(SUITE, "video", facts)
        disclosure = {"trained_on_suite_data": "no", "statement": TRAINED}
        pack_outputs(bundle, {**declared, "disclosure": disclosure}, outputs)
    return bundle
