"""The gates between stages: rows and keys first, an empty table never passes, and the report reads
worst first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from infra.store import open_store
from submissions.gates import gates, report
from submissions.gates.expectations import KEY, BrokenExpectation, findings, write_docs
from submissions.gates.gates import Range

OUTCOMES = ("scored", "output_missing", "judge_error")
NAMES = [f"sample-{number}" for number in range(60)]


def output(name: str, **changes: Any) -> dict[str, Any]:
    """A sound row of a clip."""
    facts = {
        "media_type": "video/mp4",
        "width": 64,
        "height": 48,
        "frames": 24,
        "fps": 8.0,
        "static": False,
        "black": 0,
    }
    row = gates.media_row(name, {**facts, **changes}, bool(changes.pop("warned", False)))
    digest = f"{NAMES.index(name) if name in NAMES else 99:064x}"
    named = {"outcome": "scored", "media_sha256": digest, "size": 1000}
    return {**row, **named, **{key: value for key, value in changes.items() if key in named}}


def check(rows: list[dict[str, Any]]) -> list[BrokenExpectation]:
    return findings(gates.after_generation(rows, NAMES, OUTCOMES))


def test_a_sound_table_passes() -> None:
    assert check([output(name) for name in NAMES]) == []


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "0 rows where 60"),
        ([output(name) for name in NAMES[1:]], "1 missing, first sample-0"),
        ([output(name) for name in [*NAMES, "sample-x"]], "1 too many, first sample-x"),
        ([output(name) for name in [*NAMES[:-1], NAMES[0]]], "1 missing, first sample-59"),
        ([{**output(name), KEY: None} for name in NAMES], "60 missing"),
    ],
    ids=["no rows", "one missing", "one too many", "one twice", "all null"],
)
def test_rows_and_keys_are_looked_at_first(rows: list[dict[str, Any]], says: str) -> None:
    found = check(rows)

    assert found and all(one.severity == "critical" for one in found)
    assert says in found[0].found


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"outcome": "perhaps"}, "outcome"),
        ({"media_sha256": "x"}, "media_sha256"),
        ({"size": 0}, "size"),
        ({"media_sha256": None}, "media_sha256"),
        ({"width": 8}, "width"),
        ({"height": 0}, "height"),
        ({"frames": 1}, "frames"),
        ({"fps": 0.001}, "duration"),
    ],
    ids=lambda value: str(value),
)
def test_one_bad_row_stops_the_table_and_is_named(change: dict[str, Any], column: str) -> None:
    found = check([output(NAMES[0], **change), *(output(name) for name in NAMES[1:])])

    named = [one for one in found if one.column == column and one.severity == "critical"]
    assert named and named[0].keys == (NAMES[0],)


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"static": True}, "static"),
        ({"black": 24}, "black"),
        ({"media_sha256": "0" * 64}, "media_sha256"),
    ],
)
def test_too_many_still_black_or_repeated_outputs_are_told_and_stop_nothing(
    change: dict[str, Any], column: str
) -> None:
    found = check(
        [output(name, **(change if number < 10 else {})) for number, name in enumerate(NAMES)]
    )

    assert [(one.column, one.severity) for one in found] == [(column, "warning")]
    assert report.build_result("generation", [], found, {}).passed


def test_a_score_is_in_range_just_where_something_was_scored() -> None:
    def row(name: str, outcome: str, value: float | None) -> dict[str, Any]:
        return {KEY: f"{name} m", "metric": "m", "outcome": outcome, "value": value}

    def columns(*rows: dict[str, Any]) -> list[str]:
        gate = gates.before_publication(
            rows, [one[KEY] for one in rows], OUTCOMES, [Range("m", 0, 1)]
        )
        return [one.column for one in findings(gate)]

    assert columns(row("a", "scored", 0.5), row("b", "output_missing", None)) == []
    assert columns(row("a", "scored", 1.5)) == ["value"]
    assert columns(row("a", "scored", None), row("b", "scored", 1.0)) == ["value"]
    assert columns(row("a", "perhaps", None)) == ["outcome"]


def test_files_of_a_model_need_only_their_hashes() -> None:
    rows = [
        {**gates.media_row(name, {}, False), "sha256": f"{number:064x}"}
        for number, name in enumerate(NAMES)
    ]

    assert findings(gates.after_intake(rows, NAMES)) == []
    assert findings(gates.after_intake([{**rows[0], "sha256": None}, *rows[1:]], NAMES))


def test_the_report_reads_worst_first_and_survives_the_store(tmp_path: Path) -> None:
    rows = [
        output("sample-0"),
        output("sample-1", outcome="output_missing"),
        output("sample-2"),
        output("sample-3", width=8),
    ]
    found = findings(gates.after_generation(rows, NAMES[:4], OUTCOMES))
    notes = {"sample-2": ["W_STATIC: One colour."]}

    made = report.build_result("generation", rows, found, notes)
    store = open_store(str(tmp_path))
    report.store_result(store, "sub-1", made)

    assert report.load_results(store, "sub-1") == [made] and not made.passed
    shown = report.worst_lines([made], 10)
    assert [(one["file"], one["state"]) for one in shown] == [
        ("sample-1", "wrong"), ("sample-3", "wrong"), ("sample-2", "warned")
    ]  # fmt: skip
    assert "width" in shown[1]["why"] and "W_STATIC" in shown[2]["why"]
    assert [row["state"] for row in report.finding_rows([made])] == ["critical"]


def test_data_docs_are_written_on_request(tmp_path: Path) -> None:
    gate = gates.after_generation([output(name) for name in NAMES], NAMES, OUTCOMES)

    index = write_docs([gate], tmp_path / "docs")

    assert index.is_file() and "generation" in index.read_text()
