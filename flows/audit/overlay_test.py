"""What words painted into pictures win from a judge: measured on outputs of a published entry, kept
on its card."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from evaluators.contracts import Outcome, Request
from evaluators.judges.overlays import Uplift, measure
from flows.run.case import EvaluationCase, Stopped, open_case
from flows.run.output_rows import outputs_of
from flows.workers.judges import JudgeOptions, open_judge
from infra import tables
from infra.db import put, session
from infra.settings import Settings
from infra.store import fetch_blob


def uplift(settings: Settings, submission_id: str, outputs: int, seed: int) -> Uplift:
    """Judge some pictures as they are and with words on them; the difference goes onto the judge's
    card."""
    case = open_case(settings, submission_id)
    if case.suite.own_judge:
        raise Stopped(
            "E_NO_JUDGE",
            "submitter",
            f"{case.suite.title} is scored by rule: no judge looks at pictures.",
        )
    settings.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="overlays-", dir=settings.work) as folder:
        requests = _pictures(case, outputs, seed, Path(folder))
        options = JudgeOptions.of(settings, case.suite.judging)
        judge = open_judge(settings.judge, settings.device, options)
        measured = measure(judge, requests, Path(folder))
    with session(settings.database) as db:
        row = db.get(tables.Judge, case.run.judge)
        assert row is not None
        new_card = {**row.card, "overlays": _as_card(measured, len(requests), seed)}
        put(db, tables.Judge, [{**row.model_dump(), "card": new_card}])
    return measured


def _pictures(case: EvaluationCase, outputs: int, seed: int, folder: Path) -> list[Request]:
    with session(case.settings.database) as db:
        rows = outputs_of(db, case.submission.id)
    candidates = [
        s for s in case.samples if s.facets.modality == "image" and s.id in rows and s.questions
    ]
    candidates = [sample for sample in candidates if rows[sample.id].outcome == Outcome.SCORED]
    if not candidates:
        raise Stopped(
            "E_NOTHING", "submitter", "This entry has no judged pictures. Name one that has."
        )
    chosen = random.Random(seed).sample(candidates, min(outputs, len(candidates)))  # noqa: S311
    requests = []
    for sample in chosen:
        path = folder / f"{rows[sample.id].media_sha256}.png"
        fetch_blob(case.store, rows[sample.id].media_sha256, path)
        requests.append(
            Request(
                sample.id,
                path,
                rows[sample.id].media_sha256,
                "image",
                sample.prompt,
                sample.questions,
            )
        )
    return requests


def _as_card(uplift: Uplift, pictures: int, seed: int) -> dict[str, Any]:
    interval = uplift.interval
    return {
        "points": uplift.points,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "pairs": uplift.n_pairs,
        "left_out": uplift.n_left_out,
        "pictures": pictures,
        "seed": seed,
        "alarm": uplift.alarm,
    }
