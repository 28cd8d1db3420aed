"""The entry that the pipeline's bench hands in: one picture or clip a sample, of all samples, of
every tenth task, or of as many samples as come to a number of judgements."""

from __future__ import annotations

import hashlib
import io
import json
import random
import sqlite3
import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluators.contracts import Sample

SIDE = 512
CLIPS = 4
QUESTIONS = 18
"""A sample, ratings too, as TailOR's bank had when the goals were set; it asks fewer now."""


def declare(name: str, sample_ids: frozenset[str]) -> None:
    """A subset of TailOR, in this process only."""
    suite = _suite()
    suite.subsets[name] = lambda sample: sample.id in sample_ids


def lengthen() -> None:
    """Let TailOR ask as many questions as it did when the goals were set, in this process only:
    those of each sample again under other names."""
    suite = _suite()
    samples = tuple(map(_lengthened, suite.samples()))
    object.__setattr__(suite, "samples", lambda: samples)


def _lengthened(sample: Sample) -> Sample:
    checks = [question for question in sample.questions if question.kind == "yes_no"]
    again = (
        replace(question, id=f"again_{number}", text=f"{question.text} ({number})", parent="")
        for number, question in enumerate(cycle(checks))
    )
    more = islice(again, QUESTIONS - len(sample.questions))
    return replace(sample, questions=(*sample.questions, *more))


def tenth_of_tasks() -> frozenset[str]:
    """The samples of every tenth task."""
    samples = _suite().samples()
    tasks = frozenset(list(dict.fromkeys(sample.cluster for sample in samples))[::10])
    return frozenset(sample.id for sample in samples if sample.cluster in tasks)


def write_bundle(to: Path, subset: str) -> Path:
    """One picture or clip a sample, 512 px: smooth noise, so that it is neither trivial nor huge. A
    sample has the same file in every subset."""
    from tests.bundles import declaration

    suite = _suite()
    files: list[dict[str, Any]] = []
    clips = [_clip(number) for number in range(CLIPS)]
    with zipfile.ZipFile(to, "w") as bundle:
        for number, sample in enumerate(_full()):
            if not suite.subsets[subset](sample):
                continue
            still = sample.facets.modality == "image"
            data = _picture(number) if still else clips[number % CLIPS]
            name = f"outputs/{sample.id}.{'png' if still else 'mp4'}"
            bundle.writestr(name, data)
            files.append(
                {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "sample": sample.id}
            )
        manifest = {**declaration(subset=subset, modalities=["image", "video"]), "files": files}
        bundle.writestr("manifest.json", json.dumps(manifest))
    return to


def amounting_to(judgements: int, bundle: Path, database: Path) -> frozenset[str]:
    """Samples that were asked exactly so many questions about in an evaluation of the full entry,
    the second look too."""
    counts = _judgements_by_sample(bundle, database)
    for seed in range(1000):
        chosen, left = _filled(counts, judgements, seed)
        if left == 0:
            return chosen
    raise LookupError(f"no choice of samples comes to {judgements} judgements")


def _filled(counts: Mapping[str, int], judgements: int, seed: int) -> tuple[frozenset[str], int]:
    """Samples in a drawn order, each that still fits."""
    order, chosen, left = sorted(counts), set[str](), judgements
    random.Random(seed).shuffle(order)
    for sample in order:
        if counts[sample] <= left:
            chosen.add(sample)
            left -= counts[sample]
    return frozenset(chosen), left


def _judgements_by_sample(bundle: Path, database: Path) -> dict[str, int]:
    """How many verdicts there are about each sample; of samples that are asked the same about the
    same file only the first counts, and the others are left out."""
    from flows.run.questions import questioned_file

    look = _suite().second_look
    assert look, "TailOR has a second look"
    media = _media(bundle)
    with closing(sqlite3.connect(database)) as db:
        stored = set(db.execute("SELECT media_sha256, question_sha256 FROM verdict"))
    counts = {}
    for sample in _full():
        again = look.questions(sample.facets.modality, sample.reference)
        asked = (sample, replace(sample, questions=again))
        files = [questioned_file(item, media[sample.id], "") for item in asked]
        keys = {(file.media_sha256, key) for file in files for key in file.question_keys.values()}
        if answered := len(keys & stored):
            counts[sample.id] = answered
        stored -= keys
    return counts


def _media(bundle: Path) -> dict[str, str]:
    with zipfile.ZipFile(bundle) as archive:
        files = json.loads(archive.read("manifest.json"))["files"]
    return {file["sample"]: file["sha256"] for file in files}


def _suite() -> Any:
    from evaluators.suites import suite_named

    return suite_named("tailor")


def _full() -> list[Any]:
    suite = _suite()
    return [sample for sample in suite.samples() if suite.subsets["full"](sample)]


def _picture(number: int) -> bytes:
    data = io.BytesIO()
    _smooth(number).save(data, "PNG", compress_level=1)
    return data.getvalue()


def _smooth(number: int) -> Image.Image:
    noise = np.random.default_rng(number).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((SIDE, SIDE), Image.Resampling.BILINEAR)


def _clip(number: int) -> bytes:
    from evaluators.media import write_mp4

    frames = np.stack([np.asarray(_smooth(4 * number + frame)) for frame in range(4)])
    with tempfile.TemporaryDirectory() as folder:
        return write_mp4(frames, Path(folder) / "clip.mp4", 8).read_bytes()
