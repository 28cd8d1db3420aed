"""The whole table."""

from __future__ import annotations

from pathlib import Path

from . import manifests, media, models, values, zips
from .case import Case

CASES = [*zips.CASES, *models.CASES, *manifests.CASES, *media.CASES, *values.CASES]
IDS = [case.id for case in CASES]
ONE_A_ROW = list({case.row: case for case in CASES if case.row}.values())
"""For the ways that only bring a bundle to the same reader."""
ONE_IDS = [case.id for case in ONE_A_ROW]


def made(case: Case, folder: Path) -> Path:
    """The case's bundle, made once in a folder that tests share."""
    path = folder / f"{CASES.index(case)}.zip"
    return path if path.exists() else case.make(path)
