"""TailOR in the demo: a small random model that we run, and drawn pictures that are handed in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from evaluators.contracts import Sample
from flows.cli.demos.entry import DemoFacts, declaration_of, demo_samples
from flows.durable.progress import advance_progress, start_progress
from infra.settings import Settings
from submissions.bundle.pack import pack_model, pack_outputs


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in."""
    return model_bundle(settings), outputs_bundle(settings)


def model_bundle(settings: Settings) -> Path:
    """A model bundle, made once and kept, so that a second demo hands in the very same bytes."""
    bundle = settings.home / "demo" / "small-random-model.zip"
    if not bundle.exists():
        from evaluators.models.small import make_text_to_image

        folder = make_text_to_image(
            settings.home.resolve() / "models" / "small-random-text-to-image"
        )
        sampling = {"seed": 7, "steps": 2, "guidance": 5.0, "height": 64, "width": 64}
        facts = DemoFacts("Small random text-to-image model", "random weights, seed 0", sampling)
        declaration = declaration_of("tailor", "image", facts)
        pack_model(bundle, declaration, folder)
    return bundle


def outputs_bundle(settings: Settings) -> Path:
    """A bundle of drawn pictures, made once and kept."""
    bundle = settings.home / "demo" / "drawn-pictures.zip"
    if not bundle.exists():
        folder = settings.home / "demo" / "drawn"
        folder.mkdir(parents=True, exist_ok=True)
        outputs: dict[str, Path] = {}
        samples = demo_samples("tailor", "image")
        start_progress("drawing", len(samples))
        for sample in samples:
            outputs[sample.id] = _draw(sample, folder / f"{sample.id}.png")
            advance_progress("drawing")
        facts = DemoFacts("Drawn pictures (no model)", "2026-11", {"seed": 0})
        pack_outputs(bundle, declaration_of("tailor", "image", facts), outputs)
    return bundle


def _draw(sample: Sample, path: Path) -> Path:
    """A plain still life: a table, a target and a tool, in colours that follow from the prompt."""
    from PIL import Image, ImageDraw

    seed = hashlib.sha256(sample.prompt.encode()).digest()
    image = Image.new(
        "RGB", (256, 192), (200 + seed[0] % 40, 205 + seed[1] % 40, 210 + seed[2] % 40)
    )
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 130, 256, 192), fill=(120 + seed[3] % 60, 90 + seed[4] % 40, 60))
    left = 30 + seed[5] % 60
    draw.ellipse(
        (left, 80, left + 70, 140), fill=(seed[6], seed[7], seed[8]), outline=(30, 30, 30), width=2
    )
    draw.rectangle(
        (140 + seed[9] % 40, 60, 160 + seed[9] % 40, 140),
        fill=(seed[10], seed[11], seed[12]),
        outline=(30, 30, 30),
    )
    image.save(path, "PNG")
    return path
