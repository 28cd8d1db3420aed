"""UNIVERSE in the demo: the small packaged reader as it is, and adapted on recorded play, answer
questions about clips that are played on the spot."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from evaluators.suites.universe.producing import PACKAGED_JUDGE
from flows.cli.demos.entry import DemoFacts, declaration_of
from infra.settings import Settings
from submissions.bundle.pack import pack_model

UNADAPTED = (
    "The small packaged model as it is: it learned from drawn pictures and has never seen the game."
)
ADAPTED = (
    "The small packaged model, its decoder behind the first layer trained on recorded play of "
    "environment 1 (`python -m tests.bench.universe_exam --keep FOLDER`); no clip of the bank."
)


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in; nothing on a machine without the game."""
    return (zero_shot(settings), adapted(settings)) if find_spec("vizdoom") else ()


def zero_shot(settings: Settings) -> Path:
    """A judge that nobody adapted, made once and kept."""
    from evaluators.models.vlm.adapter import packaged_base

    facts = DemoFacts("Small drawn reader, zero-shot", "1", {"seed": 0})
    return _packed(settings, "small-drawn-reader", facts, packaged_base(), UNADAPTED)


def adapted(settings: Settings) -> Path:
    """The same adapted, as it comes with the suite."""
    facts = DemoFacts("Small drawn reader, adapted, seed 0", "1", {"seed": 0})
    return _packed(settings, "small-adapted-reader", facts, PACKAGED_JUDGE, ADAPTED)


def _packed(settings: Settings, name: str, facts: DemoFacts, folder: Path, statement: str) -> Path:
    bundle = settings.home / "demo" / f"{name}.zip"
    if not bundle.exists():
        bundle.parent.mkdir(parents=True, exist_ok=True)
        declared = declaration_of("universe", "text", facts)
        disclosure = {"trained_on_suite_data": "no", "statement": statement}
        pack_model(bundle, {**declared, "disclosure": disclosure}, folder)
    return bundle
