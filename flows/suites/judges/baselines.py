"""Puts UNIVERSE's yardsticks on the board: answers made without an adapted judge, handed in like
any others."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluators.suites import suite_named
from evaluators.suites.universe import baselines
from evaluators.suites.universe.bank import SPACE
from flows.evaluate.door import receive
from infra.settings import Settings
from submissions.bundle.pack import pack_model, pack_outputs

TEAM = "yardsticks"


class NoClip(Exception):
    """The folder holds no CLIP; the message says what would."""


def hand_in_baselines(
    settings: Settings, subset: str, clip: Path | None
) -> Iterator[tuple[str, str]]:
    """Hand in each baseline and name its submission; evaluating them is the next step."""
    suite = suite_named("universe")
    samples = [sample for sample in suite.samples() if suite.subsets[subset](sample)]
    compare = None if clip is None else _clip(clip)
    labels = {"action_recognition": SPACE.actions, "character_recognition": SPACE.characters}
    yield _answers(
        settings, subset, "Chance", baselines.chance(samples), "A random option of each menu."
    )
    how = "Always yes, and the first label of equally frequent ones."
    yield _answers(settings, subset, "Majority class", baselines.majority(samples, labels), how)
    if clip is not None and compare is not None:
        answers = baselines.clip_score(samples, compare)
        yield _answers(
            settings,
            subset,
            f"CLIPScore, {clip.name}",
            answers,
            "The label nearest to most frames.",
        )
    yield _zero_shot(settings, subset)


def _clip(folder: Path) -> baselines.Compare:
    """The CLIP of a folder, opened before anything is handed in."""
    from evaluators.models.clip import open_clip

    try:
        return open_clip(folder)
    except (OSError, ValueError, AttributeError, KeyError):
        hint = "Give a folder as CLIPModel.save_pretrained wrote it."
        raise NoClip(f"{folder} cannot be opened as a CLIP. {hint}") from None


def _answers(
    settings: Settings, subset: str, name: str, answers: Mapping[str, str], how: str
) -> tuple[str, str]:
    with tempfile.TemporaryDirectory(prefix="armillary-baseline-") as folder:
        files = {}
        for sample, text in answers.items():
            files[sample] = Path(folder) / f"{sample}.txt"
            files[sample].write_text(text, "utf-8")
        bundle = pack_outputs(Path(folder) / "bundle.zip", _declaration(subset, name, how), files)
        return name, receive(settings, str(bundle), None, None, role="baseline").submission_id


def _zero_shot(settings: Settings, subset: str) -> tuple[str, str]:
    from evaluators.models.vlm.adapter import packaged_base

    name = "Small drawn reader, zero-shot"
    how = (
        "The small packaged model as it is: it learned from drawn pictures and has never seen the "
        "game."
    )
    with tempfile.TemporaryDirectory(prefix="armillary-baseline-") as folder:
        bundle = pack_model(
            Path(folder) / "bundle.zip", _declaration(subset, name, how), packaged_base()
        )
        return name, receive(settings, str(bundle), None, None, role="baseline").submission_id


def _declaration(subset: str, name: str, how: str) -> dict[str, Any]:
    suite = suite_named("universe")
    return {
        "suite": suite.name,
        "suite_version": suite.version,
        "subset": subset,
        "modalities": ["text"],
        "team": TEAM,
        "contact": "board@localhost",
        "model": {
            "name": name,
            "revision": "1",
            "organisation": "Armillary",
            "licence": "Apache-2.0",
            "open_weights": True,
        },
        "disclosure": {"trained_on_suite_data": "no", "statement": how},
        "sampling": {"seed": 0},
    }
