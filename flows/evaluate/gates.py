"""Bringing a case's rows to the gates, keeping what they find, and stopping where something is not
sound."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

from evaluators.contracts import Outcome
from flows.run.case import EvaluationCase, Stopped
from flows.run.tables_io import outputs_of
from infra.db import session
from infra.tables import Output
from submissions.gates import gates, report
from submissions.gates.expectations import KEY, Gate, findings


def after_intake(case: EvaluationCase) -> Gate:
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


def after_generation(case: EvaluationCase) -> Gate:
    """One row an output; what was replaced or is private is not of this run."""
    warned, expected = _warned(case), [sample.id for sample in case.samples]
    with session(case.settings.database) as db:
        found = outputs_of(db, case.submission.id)
    rows = [_output(found[name], name in warned) for name in expected if name in found]
    return gates.after_generation(rows, expected, list(Outcome))


def before_publication(case: EvaluationCase, stored: Sequence[Any]) -> Gate:
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


def hold(case: EvaluationCase, gate: Gate) -> None:
    """Let a case through a gate, or stop it; either way what was found is kept for the report."""
    found = findings(gate)
    kept = report.build_result(gate.name, gate.rows, found, _notes(case))
    report.store_result(case.store, case.submission.id, kept)
    if not kept.passed:
        critical = [one for one in found if one.severity == "critical"]
        said = "; ".join(f"{one.column}: {one.expectation}, {one.found}" for one in critical[:5])
        text = (
            f"The stored rows are not sound ({said}). An operator has to look: armillary report "
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
    for where, text in _said(case):
        notes[where].append(text)
        if where in paths:
            notes[paths[where]].append(text)
    return notes


def _said(case: EvaluationCase) -> Iterator[tuple[str, str]]:
    for warning in case.report["warnings"]:
        yield warning["where"], f"{warning['code']}: {warning['message']}"
