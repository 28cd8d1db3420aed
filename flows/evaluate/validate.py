"""The checks between the steps: a case's rows are brought to a gate, and unsound rows stop the
case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

from evaluators.contracts import Outcome
from flows.evaluate.outputs import OutputRows
from flows.run.case import EvaluationCase, Stopped
from infra.tables import Output
from submissions.gates import gates, report
from submissions.gates.expectations import KEY, Gate, findings


def validate_bundle(case: EvaluationCase) -> None:
    """Check the rows of the bundle's files, before anything is made of them."""
    _pass(case, bundle_gate(case))


def validate_outputs(case: EvaluationCase, outputs: OutputRows) -> None:
    """Check the table of outputs as a whole, before the judge sees any."""
    _pass(case, outputs_gate(case, outputs))


def validate_scores(case: EvaluationCase, scores: Sequence[Any]) -> None:
    """Check the stored scores, before the run goes onto its board."""
    _pass(case, scores_gate(case, scores))


def bundle_gate(case: EvaluationCase) -> Gate:
    """One row a file of the bundle."""
    warned = _warned(case)
    media = case.report["media"]
    rows = []
    for file in case.submission.manifest["files"]:
        facts = media.get(file["sample"], {})
        rows.append(
            {
                **gates.media_row(file["path"], facts, file["sample"] in warned),
                "sha256": file["sha256"],
            }
        )
    # Of outputs, those are expected in which the door found something; of a model, every file.
    listed = [
        file
        for file in case.submission.manifest["files"]
        if not file["sample"] or file["sample"] in media
    ]
    return gates.after_intake(rows, [file["path"] for file in listed])


def outputs_gate(case: EvaluationCase, outputs: OutputRows) -> Gate:
    """One row an output; what was replaced or is private is not of this run."""
    warned, expected = _warned(case), [sample.id for sample in case.samples]
    rows = [_output(outputs[name], name in warned) for name in expected if name in outputs]
    return gates.after_generation(rows, expected, list(Outcome))


def scores_gate(case: EvaluationCase, stored: Sequence[Any]) -> Gate:
    """One row a score, each of a sample and a metric that are asked for; no sample is without
    any."""
    keys = [f"{row.sample_id} {row.metric}" for row in stored]
    rows = [
        {KEY: key, "metric": row.metric, "outcome": row.outcome, "value": row.value}
        for key, row in zip(keys, stored, strict=True)
    ]
    samples = {sample.id for sample in case.samples}
    metrics = {metric.name: metric for metric in case.suite.metrics}
    ours = [row.sample_id in samples and row.metric in metrics for row in stored]
    without = sorted(samples - {row.sample_id for row in stored})
    expected = [*compress(keys, ours), *(f"{name} *" for name in without)]
    ranges = [
        gates.Range(name, *sorted((metric.worst, metric.best))) for name, metric in metrics.items()
    ]
    return gates.before_publication(rows, expected, list(Outcome), ranges)


def _pass(case: EvaluationCase, gate: Gate) -> None:
    """Let a case through a gate, or stop it; either way the findings are kept for the report."""
    broken = findings(gate)
    result = report.build_result(gate.name, gate.rows, broken, _notes(case))
    report.store_result(case.store, case.submission.id, result)
    if not result.passed:
        critical = [finding for finding in broken if finding.severity == "critical"]
        listed = "; ".join(
            f"{finding.column}: {finding.expectation}, {finding.found}" for finding in critical[:5]
        )
        text = (
            f"The stored rows are not sound ({listed}). An operator has to look: armillary report "
            f"{case.submission.id}"
        )
        raise Stopped("E_VALIDATION", "ours", text)


def _output(row: Output, warned: bool) -> dict[str, Any]:
    facts = {**row.record, "media_type": row.media_type}
    named = {"outcome": row.outcome, "media_sha256": row.media_sha256 or None, "size": row.size}
    return {**gates.media_row(row.sample_id, facts, warned), **named}


def _warned(case: EvaluationCase) -> frozenset[str]:
    return frozenset(warning["where"] for warning in case.report["warnings"])


def _notes(case: EvaluationCase) -> Mapping[str, list[str]]:
    """The door's warnings, by sample and by file."""
    paths = {
        file["sample"]: file["path"] for file in case.submission.manifest["files"] if file["sample"]
    }
    notes: dict[str, list[str]] = defaultdict(list)
    for warning in case.report["warnings"]:
        where, text = warning["where"], f"{warning['code']}: {warning['message']}"
        notes[where].append(text)
        if where in paths:
            notes[paths[where]].append(text)
    return notes
