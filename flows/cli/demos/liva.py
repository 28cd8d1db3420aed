"""L-IVA in the demo: the picture of each case, panned across; no model films it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from evaluators.contracts import Sample
from evaluators.media import write_mp4
from evaluators.suites import suite_named
from flows.cli.demos.entry import DemoFacts, declaration_of, demo_samples
from infra.settings import Settings
from submissions.bundle.pack import pack_outputs

FRAMES, RATE, ZOOM = 24, 12, 0.85


def bundles(settings: Settings) -> tuple[Path, ...]:
    """What is handed in."""
    return (panned_pictures(settings),)


def panned_pictures(settings: Settings) -> Path:
    """A bundle of clips in which only the camera moves, made once and kept."""
    bundle = settings.home / "demo" / "panned-pictures.zip"
    if not bundle.exists():
        folder = settings.home / "demo" / "panned"
        folder.mkdir(parents=True, exist_ok=True)
        samples = demo_samples("liva", "video")
        outputs = {sample.id: _pan(sample, folder) for sample in samples}
        steps = {
            sample.id: [{"caption": sample.prompt, "start": 0, "end": FRAMES}] for sample in samples
        }
        facts = DemoFacts("Panned start pictures (no model)", "2026-11", {"seed": 0})
        pack_outputs(bundle, declaration_of("liva", "video", facts), outputs, steps)
    return bundle


def _pan(sample: Sample, folder: Path) -> Path:
    """A clip over the picture that the case starts from."""
    hand_out = suite_named("liva").hand_out
    assert hand_out is not None
    with Image.open(folder / hand_out(sample, folder)) as image:
        picture = image.convert("RGB").resize((320, 180))
    width, height = int(picture.width * ZOOM), int(picture.height * ZOOM)
    room = picture.width - width
    frames = [
        np.asarray(picture.crop((at, 8, at + width, 8 + height)).resize((320, 180)))
        for at in (room * number // (FRAMES - 1) for number in range(FRAMES))
    ]
    return write_mp4(frames, folder / f"{sample.id}.mp4", RATE)
