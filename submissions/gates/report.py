"""The validation report that a person reads: what each gate found, then file by file, the worst
first."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from infra.store import Missing, Store
from submissions.gates.expectations import KEY, BrokenExpectation, Row

GATES = ("intake", "generation", "publication")
GOOD, WARNED, WRONG = "good", "warned", "wrong"
WORST_FIRST = (WRONG, WARNED, GOOD)
MOST_SCORES = 500
"""Of a table of scores only the lines that are not good are kept, and so many at the most."""


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One file, output or score: how it fared and why."""

    key: str
    state: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """What one gate found."""

    gate: str
    rows: int
    passed: bool
    findings: tuple[BrokenExpectation, ...]
    lines: tuple[ReportLine, ...]


def build_result(
    gate: str,
    rows: Sequence[Row],
    broken: Sequence[BrokenExpectation],
    notes: Mapping[str, Sequence[str]],
) -> Result:
    """Bring a gate's findings and the door's words (`notes`, by key) down to single lines."""
    notes_by_key: dict[str, list[str]] = defaultdict(list)
    wrong = {key for finding in broken if finding.severity == "critical" for key in finding.keys}
    for finding in broken:
        for key in finding.keys:
            notes_by_key[key].append(f"{finding.column}: not {finding.expectation}")
    lines = [
        _line(
            str(row[KEY]), row, [*notes_by_key[str(row[KEY])], *notes.get(str(row[KEY]), ())], wrong
        )
        for row in rows
    ]
    if gate == GATES[-1]:
        lines = [line for line in lines if line.state != GOOD][:MOST_SCORES]
    lines.sort(key=lambda line: (WORST_FIRST.index(line.state), line.key))
    passed = not any(finding.severity == "critical" for finding in broken)
    return Result(gate, len(rows), passed, tuple(broken), tuple(lines))


AS_EXPECTED = (None, "scored", "not_applicable")
"""Outcomes that are nobody's fault: a question that does not apply to a sample is none to mend."""


def _line(key: str, row: Row, notes: list[str], wrong: set[str]) -> ReportLine:
    outcome = row.get("outcome")
    if outcome not in AS_EXPECTED:
        notes = [f"outcome: {outcome}", *notes]
    state = WRONG if key in wrong or outcome not in AS_EXPECTED else WARNED if notes else GOOD
    return ReportLine(key, state, tuple(notes))


def key_of(submission_id: str, gate: str) -> str:
    """Where a gate's result lies in the store."""
    return f"validation/{submission_id}/{gate}.json"


def store_result(store: Store, submission_id: str, gate_result: Result) -> None:
    """Put a gate's result where pages and the API find it."""
    store.put(
        key_of(submission_id, gate_result.gate),
        json.dumps(gate_result, sort_keys=True, default=_fields).encode(),
    )


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def load_results(store: Store, submission_id: str) -> list[Result]:
    """The results of the gates that a submission has come to, in order."""
    return [
        gate_result
        for gate_result in (_read(store, key_of(submission_id, gate)) for gate in GATES)
        if gate_result
    ]


def _read(store: Store, key: str) -> Result | None:
    try:
        stored: dict[str, Any] = json.loads(store.get(key))
    except Missing:
        return None
    findings = tuple(
        BrokenExpectation(**{**entry, "keys": tuple(entry["keys"])}) for entry in stored["findings"]
    )
    lines = tuple(
        ReportLine(entry["key"], entry["state"], tuple(entry["notes"])) for entry in stored["lines"]
    )
    return Result(stored["gate"], stored["rows"], stored["passed"], findings, lines)


def finding_rows(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row a finding, and one for each gate that found nothing: for a terminal or a page."""
    rows = []
    for gate_result in results:
        for finding in gate_result.findings:
            expected = f"{finding.column}: {finding.expectation}"
            rows.append(
                {
                    "gate": gate_result.gate,
                    "rows": gate_result.rows,
                    "state": finding.severity,
                    "expected": expected,
                    "found": finding.found,
                }
            )
        if not gate_result.findings:
            rows.append(
                {
                    "gate": gate_result.gate,
                    "rows": gate_result.rows,
                    "state": GOOD,
                    "expected": "",
                    "found": "",
                }
            )
    return rows


def worst_lines(results: Iterable[Result], limit: int) -> list[dict[str, Any]]:
    """The lines worth reading, the worst first."""
    lines = [
        (gate_result.gate, line)
        for gate_result in results
        for line in gate_result.lines
        if line.state != GOOD
    ]
    lines.sort(key=lambda pair: (WORST_FIRST.index(pair[1].state), pair[0], pair[1].key))
    return [
        {"gate": gate, "file": entry.key, "state": entry.state, "why": "; ".join(entry.notes)}
        for gate, entry in lines[:limit]
    ]
