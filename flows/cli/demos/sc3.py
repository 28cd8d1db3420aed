"""SC3-Eval in the demo: the shipped rollouts of the small video world model. Fakes, a grey world
among them, and a second real run as ceiling stand beside it as yardsticks."""

from __future__ import annotations

from pathlib import Path

from evaluators.suites.sc3.samples import in_loop, samples
from evaluators.suites.sc3.table.cached import write_cached
from evaluators.suites.sc3.yardsticks import SHIPPED_WORLD
from flows.cli.demos.entry import DemoFacts, declaration_of
from infra.settings import Settings
from submissions.bundle.pack import pack_outputs

SHIPPED = (
    "A small video world model that practised on the same simulated table; its rollouts were made "
    "once by the shipped weights and come with them."
)


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in; the small model's only where it is shipped."""
    folder = settings.home / "demo" / "sc3"
    folder.mkdir(parents=True, exist_ok=True)
    bundle = small_world(folder)
    return (bundle,) if bundle else ()


def small_world(folder: Path) -> Path | None:
    """Shipped rollouts, found by the hash of the weights that made them."""
    bundle = folder / "small-video-world.zip"
    if bundle.exists():
        return bundle
    place = folder / "small"
    place.mkdir(exist_ok=True)
    files = write_cached(SHIPPED_WORLD, [s for s in samples() if in_loop(s)], place)
    if not files:
        return None
    facts = DemoFacts("Small video world model (shipped rollouts)", "1", {"seed": 0})
    declared = {**declaration_of("sc3", "trajectory", facts), "subset": "loop"}
    disclosure = {"trained_on_suite_data": "no", "statement": SHIPPED}
    pack_outputs(
        bundle, {**declared, "disclosure": {**declared["disclosure"], **disclosure}}, dict(files)
    )
    return bundle
