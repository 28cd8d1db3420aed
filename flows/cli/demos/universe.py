"""UNIVERSE in the demo: the small packaged reader answers questions about recorded play, which is
played on the spot."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from flows.cli.demos.entry import DemoFacts, declaration_of
from infra.settings import Settings
from submissions.bundle.pack import pack_model

STATEMENT = (
    "The small packaged model as it is: it learned from drawn pictures and has never seen the game."
)


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in; nothing on a machine without the game."""
    return (zero_shot(settings),) if find_spec("vizdoom") else ()


def zero_shot(settings: Settings) -> Path:
    """A judge that nobody adapted, made once and kept."""
    bundle = settings.home / "demo" / "small-drawn-reader.zip"
    if not bundle.exists():
        from evaluators.models.vlm.adapter import packaged_base

        bundle.parent.mkdir(parents=True, exist_ok=True)
        facts = DemoFacts("Small drawn reader, zero-shot", "1", {"seed": 0})
        declared = declaration_of("universe", "text", facts)
        disclosure = {"trained_on_suite_data": "no", "statement": STATEMENT}
        pack_model(bundle, {**declared, "disclosure": disclosure}, packaged_base())
    return bundle
