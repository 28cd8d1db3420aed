"""Prompts that a safety filter blocked: another of the same kind is drawn in their place, by a
seed, once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from evaluators.contracts import Outcome, Sample
from flows.evaluate.outputs import OutputRows
from flows.run.case import EvaluationCase
from flows.run.output_rows import outputs_of
from infra import tables
from infra.db import session
from submissions.bundle.stand_ins import drawing_order

DECLARED = "The team declares that a safety filter blocked its prompt; nobody here saw it."


@dataclass(frozen=True, slots=True)
class WithReplacements:
    """A case whose blocked samples are replaced, and its outputs."""

    case: EvaluationCase
    outputs: OutputRows


def replace_blocked(
    case: EvaluationCase, outputs: OutputRows, generate: Callable[[EvaluationCase], object]
) -> WithReplacements:
    """Draw and generate until nothing that can be replaced is blocked; the case with its
    replacements.

    A replacement is of the same scenario, setting and modality and was not used for this model.
    Where the whole bank is in use there is none, and a blocked sample counts as the worst value.
    Of outputs that were made elsewhere those count as blocked that their manifest declares so.
    """
    declared = frozenset(case.submission.manifest.get("blocked", ()))
    while case.submission.kind != "outputs" or declared:
        outputs = _declare_blocked(case, outputs, declared)
        draws = dict(_draws(case, outputs))
        if not draws:
            break
        generate(replace(case, chosen=tuple(draws.values())))
        _note(case, {sample_id: drawn.id for sample_id, drawn in draws.items()})
        with session(case.settings.database) as db:
            outputs = outputs_of(db, case.submission.id)
        case = replace(case)
    return WithReplacements(case, outputs)


def _draws(case: EvaluationCase, rows: OutputRows) -> Iterator[tuple[str, Sample]]:
    used = {*rows, *(sample.id for sample in case.samples)}
    for sample in case.samples:
        if rows[sample.id].outcome == Outcome.BLOCKED:
            drawn = next((spare for spare in _pool(case, sample) if spare.id not in used), None)
            if drawn:
                used.add(drawn.id)
                yield sample.id, drawn


def _declare_blocked(
    case: EvaluationCase, outputs: OutputRows, declared: frozenset[str]
) -> OutputRows:
    """Mark handed-in samples without a file as blocked where the manifest says so."""
    blocked = [
        row.sample_id
        for row in outputs.values()
        if row.sample_id in declared and row.outcome == Outcome.OUTPUT_MISSING
    ]
    if not blocked:
        return outputs
    with session(case.settings.database) as db:
        for sample_id in blocked:
            row = db.get_one(tables.Output, (case.submission.id, sample_id))
            row.outcome, row.reason = Outcome.BLOCKED, DECLARED
            db.add(row)
    with session(case.settings.database) as db:
        return outputs_of(db, case.submission.id)


def _pool(case: EvaluationCase, blocked: Sample) -> list[Sample]:
    """Everything at the same scenario, setting and modality, in an order that the model's seed
    decides."""
    at = blocked.facets
    stratum = (at.scenario, at.setting, at.modality)
    same = {
        sample.id: sample
        for sample in case.suite.samples()
        if (sample.facets.scenario, sample.facets.setting, sample.facets.modality) == stratum
    }
    seed = case.submission.manifest["sampling"]["seed"]
    return [same[sample_id] for sample_id in drawing_order(same, stratum, seed)]


def _note(case: EvaluationCase, drawn: Mapping[str, str]) -> None:
    """Both rows say which stands for which."""
    with session(case.settings.database) as db:
        for blocked, replacement in drawn.items():
            for sample_id, word, partner in (
                (blocked, "replaced_by", replacement),
                (replacement, "replaces", blocked),
            ):
                row = db.get_one(tables.Output, (case.submission.id, sample_id))
                row.record = {**row.record, word: partner}
                db.add(row)
