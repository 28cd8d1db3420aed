"""Entries of all four suites for studies: rows and files as the door would have left them, small
and quick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.contracts import Outcome, Output, Sample
from evaluators.judges.card import fingerprint
from evaluators.media import write_mp4, write_png
from evaluators.suites import suite_named
from evaluators.suites.sc3.real import as_rollout
from evaluators.suites.sc3.rollouts.trajectories import to_bytes
from evaluators.suites.sc3.samples import criteria_of, recording_of, truth_of
from flows.run.board_keys import board_key
from flows.run.catalogue import judge_row
from flows.run.score_rows import store_results
from infra import tables
from infra.db import add_new, session
from infra.settings import Settings
from infra.store import open_store, put_blob

TYPES = {
    ".png": "image/png",
    ".mp4": "video/mp4",
    ".txt": "text/plain",
    ".npz": "application/x-npz",
}


def chosen(suite: str) -> list[Sample]:
    """A few samples of a suite that together fill cells: whole cases, both modes, all formats."""
    every = suite_named(suite).samples()
    if suite == "tailor":
        return [sample for sample in every if sample.facets.modality == "image"][:6]
    if suite == "liva":
        cases = list(dict.fromkeys(sample.cluster for sample in every))[:3]
        return [
            s
            for s in every
            if s.cluster in cases and s.facets.setting in ("closed_loop", "open_loop")
        ]
    if suite == "sc3":
        return [
            s
            for s in every
            if s.reference["policy"] in (1, 2) and int(s.cluster.rpartition("-")[2]) < 2
        ]
    return [sample for sample in every if sample.cluster == every[0].cluster]


def enter(settings: Settings, suite: str, names: Mapping[str, str], folder: Path) -> list[str]:
    """One entry a model and team, each with an output for every chosen sample; their ids."""
    made = [f"sub-{suite}{number}" for number in range(len(names))]
    for number, (model, team) in enumerate(names.items()):
        _enter(settings, suite, made[number], model, team, number, folder)
    return made


def _enter(
    settings: Settings, suite: str, name: str, model: str, team: str, number: int, folder: Path
) -> None:
    store = open_store(settings.objects)
    samples = chosen(suite)
    rows: list[dict[str, Any]] = []
    for sample in samples:
        file = _file(sample, number, folder / f"{model}-{sample.id}")
        rows.append({
            "submission_id": name, "sample_id": sample.id, "outcome": "scored", "reason": "",
            "media_sha256": put_blob(store, file), "media_type": TYPES[file.suffix],
            "record": _record(suite, sample, number),
        })  # fmt: skip
    row = tables.Submission(
        id=name,
        team=team,
        model=model,
        organisation=team,
        suite=suite,
        suite_version=suite_named(suite).version,
        subset="full",
        kind="outputs",
        trust="B",
        state="published",
        bundle_sha256="",
        manifest={
            "model": {"name": model},
            "modalities": sorted({sample.facets.modality for sample in samples}),
        },
    )
    with session(settings.database) as db:
        add_new(db, tables.Submission, [row.model_dump()])
        add_new(db, tables.Output, [{**tables.Output(**one).model_dump(), **one} for one in rows])
        if suite_named(suite).own_judge:
            _by_rule(db, suite, name, samples, [one["record"] for one in rows])


def _by_rule(
    db: Any,
    name: str,
    submission: str,
    samples: Sequence[Sample],
    records: Sequence[dict[str, Any]],
) -> None:
    """The automatic run of a suite that is scored by rule."""
    suite = suite_named(name)
    assert suite.own_judge and suite.scoring
    judge = fingerprint(suite.own_judge)
    add_new(db, tables.Judge, [judge_row(suite.own_judge)])
    run = tables.Run(
        id=f"run-{submission}",
        submission_id=submission,
        board=board_key(suite, "full", judge),
        suite=name,
        suite_version=suite.version,
        scorer_version=suite.scorer_version,
        subset="full",
        judge=judge,
        state="published",
        eligible=True,
        n_scored=len(samples),
        n_expected=len(samples),
        published_at=tables.now(),
    )
    add_new(db, tables.Run, [run.model_dump()])
    outputs = [
        Output(sample.id, Outcome.SCORED, record=record)
        for sample, record in zip(samples, records, strict=True)
    ]
    scores = [
        score
        for sample, made in zip(samples, outputs, strict=True)
        for score in suite.scoring.score(sample, made, {})
    ]
    store_results(db, run.id, scores, ())


def _file(sample: Sample, number: int, path: Path) -> Path:
    modality = sample.facets.modality
    noise = np.random.default_rng([number, len(sample.id), sum(sample.id.encode())])
    if modality == "image":
        return write_png(
            noise.integers(0, 255, (24, 32, 3), dtype=np.uint8), path.with_name(f"{path.name}.png")
        )
    if modality == "video":
        frames = noise.integers(0, 255, (4, 24, 32, 3), dtype=np.uint8)
        return write_mp4(frames, path.with_name(f"{path.name}.mp4"), 8)
    if modality == "text":
        made = path.with_name(f"{path.name}.txt")
        made.write_text(answer(sample, number), "utf-8")
        return made
    real = as_rollout(recording_of(sample))
    made = path.with_name(f"{path.name}.npz")
    made.write_bytes(
        to_bytes(replace(real, source=sample.facets.setting, evaluator=f"evaluator {number}"))  # type: ignore[arg-type]
    )
    return made


def answer(sample: Sample, number: int) -> str:
    """The first entry answers rightly, others something else."""
    return str(sample.reference["answer"]) if number == 0 else f"something else {number}"


def _record(suite: str, sample: Sample, number: int) -> dict[str, Any]:
    if suite == "universe":
        return {"value": answer(sample, number)}
    if suite != "sc3":
        return {}
    said = criteria_of(truth_of(sample))
    return {
        "value": {
            "criteria": said,
            "annotator": "automatic",
            "psnr": 30.0,
            "ssim": 0.9,
            "terminated_at": None,
            "u_chunk": [],
        }
    }
