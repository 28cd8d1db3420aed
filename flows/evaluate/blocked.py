"""Prompts that a safety filter blocked: another of the same kind is drawn in their place, by a
seed, once."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

from evaluators.contracts import Outcome, Sample
from flows.evaluate import stages
from flows.run.case import EvaluationCase
from flows.run.tables_io import outputs_of
from infra import tables
from infra.db import session


def replace_blocked(case: EvaluationCase) -> EvaluationCase:
    """Draw and generate until nothing that can be replaced is blocked; the case with its
    replacements.

    A replacement is of the same scenario, setting and modality and was not used for this model.
    Where the whole bank is in use there is none, and a blocked sample counts as the worst value.
    """
    while case.submission.kind != "outputs":
        with session(case.settings.database) as db:
            rows = outputs_of(db, case.submission.id)
        draws = dict(_draws(case, rows))
        if not draws:
            break
        stages.outputs(replace(case, chosen=tuple(draws.values())))
        _note(case, {name: drawn.id for name, drawn in draws.items()})
        case = replace(case)
    return case


def _draws(case: EvaluationCase, rows: Mapping[str, tables.Output]) -> Iterator[tuple[str, Sample]]:
    used = {*rows, *(sample.id for sample in case.samples)}
    for sample in case.samples:
        if rows[sample.id].outcome == Outcome.BLOCKED:
            drawn = next((one for one in _pool(case, sample) if one.id not in used), None)
            if drawn:
                used.add(drawn.id)
                yield sample.id, drawn


def _pool(case: EvaluationCase, blocked: Sample) -> list[Sample]:
    """Everything at the same scenario, setting and modality, in an order that the model's seed
    decides."""
    at = blocked.facets
    same = [
        one
        for one in case.suite.samples()
        if (one.facets.scenario, one.facets.setting, one.facets.modality)
        == (at.scenario, at.setting, at.modality)
    ]
    seed = case.submission.manifest["sampling"]["seed"]
    random.Random(f"{seed} {at.scenario} {at.setting} {at.modality}").shuffle(same)  # noqa: S311
    return same


def _note(case: EvaluationCase, drawn: Mapping[str, str]) -> None:
    """Both rows say which stands for which."""
    with session(case.settings.database) as db:
        for blocked, other in drawn.items():
            for name, word, partner in (
                (blocked, "replaced_by", other),
                (other, "replaces", blocked),
            ):
                row = db.get_one(tables.Output, (case.submission.id, name))
                row.record = {**row.record, word: partner}
                db.add(row)
