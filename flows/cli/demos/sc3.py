"""SC3-Eval in the demo: the shipped rollouts of the small video world model, and those of a world
that is grey all over, made on the spot; a second real run stands beside them as ceiling."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaluators.contracts import Sample
from evaluators.suites.sc3.producing import Rollouts
from evaluators.suites.sc3.samples import in_loop, samples
from evaluators.suites.sc3.table.cached import write_cached
from evaluators.suites.sc3.yardsticks import SHIPPED_WORLD
from evaluators.worlds.tabletop.blind import grey
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
    return tuple(bundle for make in (small_world, grey_world) if (bundle := make(folder)))


def small_world(folder: Path) -> Path | None:
    """Shipped rollouts, found by the hash of the weights that made them."""
    bundle = folder / "small-video-world.zip"
    if not bundle.exists():
        files = write_cached(SHIPPED_WORLD, _samples(), _place(folder, "small"))
        if not files:
            return None
        facts = DemoFacts("Small video world model (shipped rollouts)", "1", {"seed": 0})
        _pack(bundle, facts, files, {"trained_on_suite_data": "no", "statement": SHIPPED})
    return bundle


def grey_world(folder: Path) -> Path:
    """A world that is grey all over, rolled out once and kept."""
    bundle = folder / "grey-world.zip"
    if not bundle.exists():
        made = Rollouts(grey()).generate(_samples(), _place(folder, "grey"))
        files = {output.sample_id: output.file for output in made if output.file}
        facts = DemoFacts("World that is grey all over (no model)", "1", {"seed": 0})
        _pack(bundle, facts, files, {})
    return bundle


def _samples() -> list[Sample]:
    return [sample for sample in samples() if in_loop(sample)]


def _pack(
    bundle: Path, facts: DemoFacts, files: Mapping[str, Path], disclosure: Mapping[str, str]
) -> None:
    declared = {**declaration_of("sc3", "trajectory", facts), "subset": "loop"}
    pack_outputs(
        bundle, {**declared, "disclosure": {**declared["disclosure"], **disclosure}}, dict(files)
    )


def _place(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir(exist_ok=True)
    return place
